"""Parts of a facility: node types, CRAC units, arriving task types, and how air gets around."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final, Literal, Protocol

from pydantic import BeforeValidator, ConfigDict, PlainValidator, WithJsonSchema
from pydantic.dataclasses import dataclass as checked

from lpsched.model.fields import Amount, Name, Seconds, WithPStates, check_p_states, describe, refusal

if TYPE_CHECKING:
    from lpsched.model.table import SparseMatrix, Table


# The parts of a facility as users write them: node types, CRAC units, task types and the air.
#
# Units are in the names. Numbers stay within a dozen orders of magnitude of 1: no building is outside, and a
# linear program with wider ones would be solved to noise.
COLDEST: Final = -50.0  # celsius
HOTTEST: Final = 150.0
LEAST: Final = 1e-12
MOST: Final = 1e12
MOST_CORES: Final = 1024
MOST_COEFFICIENTS: Final = 3
MOORE_COP: Final = (0.458, 0.0008, 0.0068)  # of a chilled-water unit, by Moore and others 2005

check_celsius: Final = Amount("degrees celsius", least=COLDEST, most=HOTTEST)
check_flow: Final = Amount("cubic metres per second", least=LEAST, most=MOST)
check_facility_watts: Final = Amount("watts", most=MOST)
check_cap: Final = Amount("watts", least=LEAST, most=MOST)
check_speed: Final = Amount("tasks per second", least=LEAST, most=MOST)
check_arrivals: Final = Amount("tasks per second", most=MOST)
check_reward: Final = Amount("a reward", most=MOST)
check_degradation: Final = Amount("a share of the time", most=1e6)
_check_density: Final = Amount("kilograms per cubic metre", least=1e-3, most=1e3)
_check_capacity: Final = Amount("joules per kilogram and kelvin", least=1.0, most=1e6)


def _check_cores(value: object) -> int:
    needed = f"a whole number from 1 to {MOST_CORES}"
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise refusal(describe(value), needed, "write it as a number")
    if not 1 <= value <= MOST_CORES or value != int(value):
        raise refusal(describe(value), needed, "correct it, or split the node")
    return int(value)


def _check_range(value: object) -> tuple[float, float]:
    needed = "[lowest, highest] in degrees celsius"
    if not isinstance(value, list | tuple) or len(value) != 2:  # noqa: PLR2004 - from and to
        raise refusal(describe(value), needed, "write both; twice the same where it cannot be changed")
    low, high = (check_celsius(each) for each in value)
    if low > high:
        raise refusal(f"[{low:g}, {high:g}]", needed, "put the lower one first")
    return low, high


def _check_cop(value: object) -> tuple[float, ...]:
    needed = "1 to 3 coefficients: constant, linear, quadratic"
    if not isinstance(value, list | tuple) or not 1 <= len(value) <= MOST_COEFFICIENTS:
        raise refusal(describe(value), needed, "write the polynomial of the outlet temperature as a list")
    for each in value:
        if isinstance(each, bool) or not isinstance(each, int | float) or not -MOST <= each <= MOST:
            raise refusal(describe(each), f"a number from {-MOST:g} to {MOST:g}", "write it as a plain number")
    return tuple(float(each) + 0.0 for each in value)


Celsius = Annotated[float, check_celsius]
Flow = Annotated[float, check_flow]
FacilityWatts = Annotated[float, check_facility_watts]
Arrivals = Annotated[float, check_arrivals]
Reward = Annotated[float, check_reward]
Cores = Annotated[
    int, PlainValidator(_check_cores), WithJsonSchema({"type": "integer", "minimum": 1, "maximum": MOST_CORES})
]
OutletRange = Annotated[
    tuple[float, float],
    PlainValidator(_check_range),
    WithJsonSchema({"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}),
]
Polynomial = Annotated[
    tuple[float, ...],
    PlainValidator(_check_cop),
    WithJsonSchema({"type": "array", "items": {"type": "number"}, "minItems": 1, "maxItems": MOST_COEFFICIENTS}),
]
PStates = Annotated[tuple[Name, ...], BeforeValidator(check_p_states)]

CONFIG: Final = ConfigDict(extra="forbid")  # every field has a strict check of its own


@checked(frozen=True, slots=True, config=CONFIG)
class NodeType(WithPStates):
    """Nodes that are alike: their cores, their air and what they draw when idle.

    >>> NodeType("blade", 4, 30.0, 0.02, 27.0, ("P0", "P1")).columns
    ('blade:P0', 'blade:P1')
    """

    name: Name
    cores: Cores
    overhead_watts: FacilityWatts
    airflow_m3_per_second: Flow
    redline_celsius: Celsius
    p_states: PStates | None = None


@checked(frozen=True, slots=True, config=CONFIG)
class CracUnit:
    """A computer room air conditioner: how much air it moves, how cold, and how well (its CoP)."""

    name: Name
    airflow_m3_per_second: Flow
    outlet_celsius: OutletRange
    cop: Polynomial = MOORE_COP
    redline_celsius: Celsius | None = None

    def performance(self, celsius: float) -> float:
        """Return the coefficient of performance at an outlet temperature."""
        return sum(each * celsius**power for power, each in enumerate(self.cop))


@checked(frozen=True, slots=True, config=CONFIG)
class ArrivingType:
    """Tasks that are alike: how many arrive, what each brings, and by when it must be done."""

    name: Name
    arrivals_per_second: Arrivals
    reward: Reward
    deadline_seconds: Seconds | None = None
    memory_class: Name | None = None


@checked(frozen=True, slots=True, config=CONFIG)
class Air:
    """The air that carries the heat."""

    density_kg_per_m3: Annotated[float, _check_density] = 1.205
    joules_per_kg_kelvin: Annotated[float, _check_capacity] = 1005.0


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


@dataclass(frozen=True, slots=True)
class Mixing:
    """A matrix, and what its entries mean.

    inlet_mix      [v][u]: the share of the air that v draws in that left u; rows sum to 1
    alpha          [u][v]: the share of the air that leaves u that goes to v; rows sum to 1
    recirculation  [v][w]: kelvin at the inlet of node v for each watt of node w; N x N, one CRAC unit
    """

    form: MixingForm
    matrix: SparseMatrix


class Room(Protocol):
    """A facility as the rules of air and cooling see it: nodes, CRAC units and the air between them."""

    @property
    def node_types(self) -> tuple[NodeType, ...]:
        """The kinds of nodes."""

    @property
    def nodes(self) -> tuple[int, ...]:
        """The type of each node."""

    @property
    def crac_units(self) -> tuple[CracUnit, ...]:
        """The CRAC units."""

    @property
    def watts(self) -> Table:
        """Watts of a core: a row per task type, a column per node type and P-state."""

    @property
    def mixing(self) -> Mixing:
        """Which share of the air goes from where to where."""

    @property
    def air(self) -> Air:
        """What the air takes and carries."""

    @property
    def power_cap_watts(self) -> float:
        """What nodes and cooling may draw together."""
