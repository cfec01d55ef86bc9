"""Parts of a facility: node types, CRAC units, arriving task types, how air gets around; and its allocations.

Units are in the names. Numbers stay within a dozen orders of magnitude of 1: no building is outside, and a linear
program with wider ones would be solved to noise.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Literal

from pydantic import BeforeValidator, WithJsonSchema
from pydantic_core import CoreSchema, core_schema

from lpsched.model.answers import AnswerPart, AnyName, AnyNumber, AnyWhole
from lpsched.model.base import Part
from lpsched.model.fields import (
    Amount,
    Message,
    Name,
    PStates,
    Seconds,
    Several,
    Whole,
    WithPStates,
    describe,
    rejection,
)
from lpsched.model.results import brief, frame_of

if TYPE_CHECKING:
    from lpsched.model.table import SparseMatrix

COLDEST: Final = -50.0  # celsius
HOTTEST: Final = 150.0
LEAST: Final = 1e-12
MOST: Final = 1e12
MOST_CORES: Final = 1024
MOST_COEFFICIENTS: Final = 3
MOORE_COP: Final = (0.458, 0.0008, 0.0068)  # of a chilled-water unit, by Moore and others 2005
MOST_NODES: Final = 20_000  # the heat map is a dense matrix
MOST_UNITS: Final = 1_000
MOST_NODE_TYPES: Final = 1_000
MOST_TASK_TYPES: Final = 10_000
MOST_CLASSES: Final = 1_000


@dataclass(frozen=True, slots=True)
class _Cap(Amount):
    """A limit that must be given, even where it never binds."""

    def message(self, value: object) -> Message:
        """Return what was found, what is needed, and what to do."""
        if value is None:
            return "nothing", "the most watts, cooling included", "add it; a large number where there is none"
        return Amount.message(self, value)


check_celsius: Final = Amount("degrees celsius", least=COLDEST, most=HOTTEST)
check_facility_watts: Final = Amount("watts", most=MOST)
check_speed: Final = Amount("tasks per second", least=LEAST, most=MOST)
check_degradation: Final = Amount("a share of the time", most=1e6)


def _check_range(value: object) -> tuple[float, float]:
    needed = "[lowest, highest] in degrees celsius"
    if not isinstance(value, list | tuple) or len(value) != 2:  # noqa: PLR2004 - from and to
        raise rejection(describe(value), needed, "write both; twice the same where it cannot be changed")
    low, high = (check_celsius(each) for each in value)
    if low > high:
        raise rejection(f"[{low:g}, {high:g}]", needed, "put the lower one first")
    return low, high


def _check_cop(value: object) -> tuple[float, ...]:
    needed = "1 to 3 coefficients: constant, linear, quadratic"
    if not isinstance(value, list | tuple) or not 1 <= len(value) <= MOST_COEFFICIENTS:
        raise rejection(describe(value), needed, "write the polynomial of the outlet temperature as a list")
    for each in value:
        if isinstance(each, bool) or not isinstance(each, int | float) or not -MOST <= each <= MOST:
            raise rejection(describe(each), f"a number from {-MOST:g} to {MOST:g}", "write it as a plain number")
    return tuple(float(each) + 0.0 for each in value)


Celsius = Annotated[float, check_celsius]
Flow = Annotated[float, Amount("cubic metres per second", least=LEAST, most=MOST)]
PowerCap = Annotated[float, _Cap("watts", least=LEAST, most=MOST)]
OutletRange = Annotated[tuple[Celsius, Celsius], BeforeValidator(_check_range)]
Polynomial = Annotated[
    tuple[float, ...],
    BeforeValidator(_check_cop),
    WithJsonSchema({"type": "array", "items": {"type": "number"}, "minItems": 1, "maxItems": MOST_COEFFICIENTS}),
]


class NodeType(WithPStates, Part):
    """Nodes that are alike: their cores, their air and what they draw when idle."""

    name: Name
    cores: Annotated[int, Whole(1, MOST_CORES, do="correct it, or split the node")]
    overhead_watts: Annotated[float, check_facility_watts]
    airflow_m3_per_second: Flow
    redline_celsius: Celsius
    p_states: PStates | None = None


class CracUnit(Part):
    """A computer room air conditioner: how much air it moves, how cold, and how well (its CoP)."""

    name: Name
    airflow_m3_per_second: Flow
    outlet_celsius: OutletRange
    cop: Polynomial = MOORE_COP
    redline_celsius: Celsius | None = None

    def performance(self, celsius: float) -> float:
        """Return the coefficient of performance at an outlet temperature."""
        return sum(each * celsius**power for power, each in enumerate(self.cop))


class ArrivingType(Part):
    """Tasks that are alike: how many arrive, what each brings, and by when it must be done."""

    name: Name
    arrivals_per_second: Annotated[float, Amount("tasks per second", most=MOST)]
    reward: Annotated[float, Amount("a reward", most=MOST)]
    deadline_seconds: Seconds | None = None
    memory_class: Name | None = None


class Air(Part):
    """The air that carries the heat."""

    density_kg_per_m3: Annotated[float, Amount("kilograms per cubic metre", least=1e-3, most=1e3)] = 1.205
    joules_per_kg_kelvin: Annotated[float, Amount("joules per kilogram and kelvin", least=1.0, most=1e6)] = 1005.0


class NodeRun(Part):
    """As many nodes of one type in a row."""

    type: Name
    count: Annotated[int, Whole(1, MOST_NODES, do="correct it, or drop the entry")] = 1


# How air gets around in a facility: the matrix that a user brings, in one of three forms.
#
# Places are numbered nodes first, then CRAC units. Most pairs of places exchange no air, so the matrix is
# kept by its entries: immutable bytes, readable without NumPy and seen by NumPy without a copy.
MixingForm = Literal["inlet_mix", "alpha", "recirculation"]

# what the forms are called in a file
MIXING_KEYS: Final[dict[MixingForm, str]] = {
    "inlet_mix": "inlet_mix",
    "alpha": "alpha",
    "recirculation": "recirculation_kelvin_per_watt",
}
MIXING_CHECKS: Final[dict[MixingForm, Amount]] = {
    "inlet_mix": Amount("a share", most=1.0),
    "alpha": Amount("a share", most=1.0),
    "recirculation": Amount("kelvin per watt", most=1e6),
}


@dataclass(frozen=True, slots=True)
class Mixing:
    """A matrix, and what its entries mean.

    inlet_mix      [v][u]: the share of the air that v draws in that left u; rows sum to 1
    alpha          [u][v]: the share of the air that leaves u that goes to v; rows sum to 1
    recirculation  [v][w]: kelvin at the inlet of node v for each watt of node w; N x N, one CRAC unit
    """

    form: MixingForm
    matrix: SparseMatrix

    def as_dict(self) -> dict[str, list[list[float]]]:
        """Return the matrix with its zeros, by the key that a file has for its form."""
        return {MIXING_KEYS[self.form]: self.matrix.dense()}

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: object) -> CoreSchema:
        """Let Pydantic know the type; `MixingMatrix` reads one from a file."""
        written = core_schema.plain_serializer_function_ser_schema(cls.as_dict)
        return core_schema.is_instance_schema(cls, serialization=written)


# Allocations of a facility, in the two forms that are verified.
#
# **Gang**: a node runs patterns in turn; a pattern says what all its cores run at one moment, for a share of
# the time. **Cores**: every core divides its time on its own, as the paper's DF(i, k) and PS(i, k) say.
@dataclass(frozen=True, slots=True)
class CoreRun(AnswerPart):
    """Some cores of a node that run tasks of one type, in one P-state (`None` where there are none)."""

    _KEYS: ClassVar[str] = "task_type cores p_state?"

    task_type: AnyName
    cores: AnyWhole
    p_state: AnyName | None = None


@dataclass(frozen=True, slots=True)
class PatternShare(AnswerPart):
    """What a node's cores run at once, for a share of the time; cores in no run are idle."""

    share: AnyNumber
    runs: Annotated[tuple[CoreRun, ...], Several()]


@dataclass(frozen=True, slots=True)
class GangAllocation:
    """Outlet temperatures, and for each node its patterns; in the time that is left a node is idle."""

    outlets_celsius: tuple[float, ...]
    nodes: tuple[tuple[PatternShare, ...], ...]
    __repr__ = brief

    def to_frame(self) -> Any:  # noqa: ANN401 - pandas is no dependency
        """Return how many cores of each node run what on average, as a pandas data frame.

        Its columns are `node` (from 0), `task_type`, `p_state` (`None` where a node type has none) and `cores`.
        """
        parts = (
            (v, run, share.share * run.cores)
            for v, node in enumerate(self.nodes)
            for share in node
            for run in share.runs
        )
        return _cores_frame(parts)


@dataclass(frozen=True, slots=True)
class CoreFraction(AnswerPart):
    """The fraction of a core's time for tasks of one type, always in the same P-state."""

    _KEYS: ClassVar[str] = "task_type fraction p_state?"

    task_type: AnyName
    fraction: AnyNumber
    p_state: AnyName | None = None


@dataclass(frozen=True, slots=True)
class CoreAllocation:
    """Outlet temperatures, and for each core of each node what it divides its time between."""

    outlets_celsius: tuple[float, ...]
    nodes: tuple[tuple[tuple[CoreFraction, ...], ...], ...]
    __repr__ = brief

    def to_frame(self) -> Any:  # noqa: ANN401 - pandas is no dependency
        """Return how many cores of each node run what on average; see `GangAllocation.to_frame`."""
        return _cores_frame(
            (v, part, part.fraction) for v, node in enumerate(self.nodes) for core in node for part in core
        )


def _cores_frame(parts: Iterable[tuple[int, CoreRun | CoreFraction, float]]) -> Any:  # noqa: ANN401
    cores: defaultdict[tuple[int, str, str | None], float] = defaultdict(float)
    for node, run, amount in parts:
        cores[node, run.task_type, run.p_state] += amount
    return frame_of(("node", "task_type", "p_state", "cores"), [(*key, amount) for key, amount in cores.items()])
