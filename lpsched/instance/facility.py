"""A facility: nodes, the air between them, the units that cool it, and the tasks that arrive.

    N nodes v of types j      cores, overhead watts O_j, airflow f_j, redline R_v of the air they draw in
    U CRAC units u            airflow, range of outlet temperatures, CoP as a polynomial of the outlet
    I task types i            arrivals per second, reward, deadline, memory class
    speeds s_ijk, watts a_ijk of a core of node type j that runs task type i in P-state k; absent = cannot run
    PD[a][b]                  how much longer a task of class a takes for each other core that runs class b

Places of the air are numbered nodes first, then CRAC units; so are rows and columns of the mixing matrix.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Literal

from lpsched.instance.table import Table

FORMAT: Final = "lpsched-facility/1"
MixingForm = Literal["inlet_mix", "alpha", "recirculation"]


@dataclass(frozen=True, slots=True)
class NodeType:
    name: str
    cores: int
    overhead_watts: float
    airflow_m3_per_second: float
    redline_celsius: float
    p_states: tuple[str, ...] | None = None

    @property
    def modes(self) -> int:
        return len(self.p_states) if self.p_states is not None else 1


@dataclass(frozen=True, slots=True)
class CracUnit:
    name: str
    airflow_m3_per_second: float
    outlet_celsius: tuple[float, float]  # lowest and highest
    cop: tuple[float, ...] = (0.458, 0.0008, 0.0068)  # constant, linear, quadratic coefficient
    redline_celsius: float | None = None


@dataclass(frozen=True, slots=True)
class ArrivingType:
    name: str
    arrivals_per_second: float
    reward: float
    deadline_seconds: float | None = None
    memory_class: str | None = None


@dataclass(frozen=True, slots=True)
class Air:
    density_kg_per_m3: float = 1.205
    joules_per_kg_kelvin: float = 1005.0


@dataclass(frozen=True, slots=True)
class SparseMatrix:
    """Rows of (column, value), packed; what is not there is 0."""

    rows: int
    columns: int
    starts: bytes = field(repr=False)  # int64, rows + 1
    places: bytes = field(repr=False)  # int64, the column of each value
    packed: bytes = field(repr=False)  # float64

    @classmethod
    def of(cls, rows: list[list[tuple[int, float]]], columns: int) -> SparseMatrix:
        starts, places, values = array("q", [0]), array("q"), array("d")
        for row in rows:
            for place, value in sorted(row):
                places.append(place)
                values.append(value)
            starts.append(len(places))
        return cls(len(rows), columns, starts.tobytes(), places.tobytes(), values.tobytes())

    def row(self, index: int) -> list[tuple[int, float]]:
        starts = memoryview(self.starts).cast("q")
        span = slice(starts[index], starts[index + 1])
        return list(
            zip(memoryview(self.places).cast("q")[span], memoryview(self.packed).cast("d")[span], strict=True)
        )


@dataclass(frozen=True, slots=True)
class Mixing:
    """How air gets around.

    inlet_mix      [v][u]: the share of the air that v draws in that left u; rows sum to 1
    alpha          [u][v]: the share of the air that leaves u that goes to v; rows sum to 1
    recirculation  [v][w]: kelvin at the inlet of node v for each watt of node w; N x N, one CRAC unit
    """

    form: MixingForm
    matrix: SparseMatrix


@dataclass(frozen=True)
class Facility:
    name: str
    node_types: tuple[NodeType, ...]
    nodes: tuple[int, ...]  # the type of each node
    crac_units: tuple[CracUnit, ...]
    task_types: tuple[ArrivingType, ...]
    speeds: Table  # tasks per second of one core: a row per task type, a column per node type and P-state
    watts: Table  # of that core
    mixing: Mixing
    power_cap_watts: float
    classes: tuple[str, ...] = ()  # memory classes, or the names of the task types; empty: no degradation
    degradation: Table | None = None  # classes x classes
    air: Air = Air()

    @cached_property
    def modes(self) -> tuple[tuple[int, int], ...]:
        """Node type and P-state (j, k) of each column of the tables."""
        return tuple((j, k) for j, kind in enumerate(self.node_types) for k in range(kind.modes))

    @cached_property
    def class_of(self) -> tuple[int, ...]:
        """The row of each task type in the degradation table; empty where there is none."""
        if not self.classes:
            return ()
        return tuple(self.classes.index(task.memory_class or task.name) for task in self.task_types)
