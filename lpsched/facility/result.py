"""Results about a facility: the allocation, the bound, marginal values, methods compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final, cast

from lpsched.facility.parts import PatternShare
from lpsched.model.provenance import Status
from lpsched.model.results import (
    Column,
    Compared,
    Comparison,
    JsonObject,
    Score,
    gap_words,
    optimal_words,
    stopped_words,
)
from lpsched.units import gap_text, html_table, number, paired, percent, power_text

if TYPE_CHECKING:
    from lpsched.facility.certificate.boxes import FacilityCertificate
    from lpsched.facility.model import Facility
    from lpsched.facility.parts import CoreAllocation, CoreFraction, GangAllocation
    from lpsched.facility.verify import Measurement
    from lpsched.model.fields import FrozenDict
    from lpsched.model.provenance import Provenance
    from lpsched.model.violation import Violation


# What was measured of an allocation: as JSON, and in rows of a word, a number with its unit, its source.
UNIT: Final = "reward/second"  # in JSON
PER_SECOND: Final = "reward/s"  # for people
AT_CAP: Final = 1e-6  # power this near to the cap, as a share of it, is at the cap
AT_REDLINE: Final = 1e-3  # kelvin: an inlet this near to its redline is at the redline
NOT_CERTIFIED: Final = "not certified"  # of a bound that was not derived again in exact arithmetic
MEASURED: Final = (  # keys of the JSON of every method
    "colocated_reward_rate=measured.reward_rate measured.plain_reward_rate power_watts=measured.total_watts "
    "power_cap_watts=cap_watts cooling_watts measured.hottest_inlet_margin_celsius "
)


class Allocated(JsonObject):
    """What the results of all methods have in common."""

    __slots__ = ()
    unit: ClassVar = UNIT
    _FORMAT: ClassVar = "lpsched-facility-result/1"
    if TYPE_CHECKING:
        colocation: bool
        measured: Measurement
        provenance: Provenance

    @property
    def rates(self) -> tuple[float, ...]:
        """Tasks of each type done in a second, with co-location as in the problem."""
        return self.measured.rates if self.colocation else self.measured.plain_rates

    @property
    def cooling_watts(self) -> float:
        """Power of all CRAC units."""
        return sum(self.measured.cooling_watts)

    def facts(self) -> list[tuple[str, str, str]]:
        """Return the result in rows: a word, a number with its unit, where it comes from."""
        return _facts(cast("FacilityResult | MethodResult", self))

    def headline(self) -> str:
        """Return reward, bound and gap in one sentence, and the limits that are reached in another."""
        answer = cast("FacilityResult | MethodResult", self)
        (value, bound), measured = _texts(answer), answer.measured
        text = f"Earns {value} {PER_SECOND}"
        if answer.bound is not None:
            proof = "proved" if answer.exactly_proved else NOT_CERTIFIED
            at = " at these outlet temperatures" if answer.fixed_outlets else ""
            text += f"; at most {bound} {PER_SECOND} possible{at} ({gap_words(answer.gap)}{proof})"
        limits = []
        if measured.total_watts >= (1.0 - AT_CAP) * answer.cap_watts:
            limits.append(f"the power cap ({power_text(answer.cap_watts)})")
        if abs(measured.hottest_inlet_margin_celsius) < AT_REDLINE:
            limits.append(f"the redline of node {measured.hottest_node}")
        reached = f"Limits reached: {' and '.join(limits)}" if limits else "Neither power cap nor redline is reached"
        early = f" {stopped_words(answer.stopped)}" if answer.stopped else ""
        return f"{text}. {reached}.{early}"

    def _repr_html_(self) -> str:
        return html_table((self.provenance.instance_name, "", ""), self.facts())


def _facts(answer: FacilityResult | MethodResult) -> list[tuple[str, str, str]]:
    measured, rows = answer.measured, []
    how = "this allocation" if isinstance(answer, FacilityResult) else f"{answer.method}, {answer.ended}"
    value, bound = _texts(answer)
    rows.append(("value", f"{value} {PER_SECOND}", f"verified: {how}"))
    if answer.bound is not None:
        how = "proved" if answer.exactly_proved else f"of linear programs in doubles, {NOT_CERTIFIED}"
        where = f"at {'these' if answer.fixed_outlets else 'any'} outlet temperatures"
        rows.append(("bound", f"{bound} {PER_SECOND}", f"{how}: no allocation earns more {where}"))
        rows.append(("gap", gap_text(answer.gap), _status_text(answer)))
    if not answer.colocation:
        how = "verified: the same allocation, with cores slowing each other"
        rows.append(("co-located", f"{number(measured.reward_rate)} {PER_SECOND}", how))
    share = f"{percent(measured.total_watts / answer.cap_watts)} of the cap of {power_text(answer.cap_watts)}"
    how = f"measured: {share}; {power_text(answer.cooling_watts)} of it for cooling"
    rows.append(("power", power_text(measured.total_watts), how))
    inlet, margin = hottest_inlet_celsius(measured), measured.hottest_inlet_margin_celsius
    redline = f"redline of {number(inlet + margin)} °C"
    where = f"at its {redline}" if abs(margin) < AT_REDLINE else f"{number(margin, 3)} K under its {redline}"
    rows.append(("hottest inlet", f"{number(inlet)} °C", f"measured: node {measured.hottest_node}, {where}"))
    if isinstance(answer, FacilityResult):
        how = "verified: every core divides its time on its own"
        rows.append(("core by core", f"{number(answer.cores_reward_rate)} {PER_SECOND}", how))
    return rows


def _texts(answer: FacilityResult | MethodResult) -> tuple[str, str]:
    """Write the reward rate, and the bound if there is one, with as many digits as their gap needs."""
    if answer.bound is None:
        return number(answer.reward_rate), "-"
    return paired(answer.reward_rate, answer.bound, upper=True)


def _status_text(answer: FacilityResult | MethodResult) -> str:
    """Return how near to the bound the search came, and what ended it early."""
    if answer.status is Status.OPTIMAL:
        return optimal_words(answer.gap)
    if answer.status is Status.LIMIT or answer.stopped:
        return stopped_words(answer.stopped)
    return "Further from the bound than the gap asked for; a better allocation may exist."


def hottest_inlet_celsius(measured: Measurement) -> float:
    """Return the temperature of the inlet that is nearest to its redline."""
    return measured.node_inlets_celsius[measured.hottest_node]


# Which task type runs on which node type, summed up from an allocation.
@dataclass(frozen=True, slots=True)
class CoreTime(JsonObject):
    """How many cores of a node type run a task type, on average over time."""

    task_type: str
    node_type: str
    cores: float
    share: float  # of all cores of the node type


def core_time(facility: Facility, allocation: GangAllocation | CoreAllocation) -> tuple[CoreTime, ...]:
    """Return the core time of each pair that has any, by node types and task types in the order of the facility."""
    own = [0] * len(facility.node_types)
    cores: dict[tuple[int, str], float] = {}
    nodes: Iterable[Iterable[PatternShare | tuple[CoreFraction, ...]]] = allocation.nodes
    for j, node in zip(facility.nodes, nodes, strict=True):
        own[j] += facility.node_types[j].cores
        for name, amount in _core_times(node):
            cores[j, name] = cores.get((j, name), 0.0) + amount
    return tuple(
        CoreTime(task.name, kind.name, found, found / own[j])
        for j, kind in enumerate(facility.node_types)
        for task in facility.task_types
        if (found := cores.get((j, task.name), 0.0)) > 0.0
    )


def _core_times(node: Iterable[PatternShare | tuple[CoreFraction, ...]]) -> Iterator[tuple[str, float]]:
    """Yield what the patterns, or the cores, of a node run, and for how much core time."""
    for part in node:
        if isinstance(part, PatternShare):
            yield from ((run.task_type, part.share * run.cores) for run in part.runs)
        else:
            yield from ((each.task_type, each.fraction) for each in part)


# What `facility` returns: a verified allocation, the bound, and the marginal value of each limit.
@dataclass(frozen=True, slots=True)
class FacilityMarginalValues(JsonObject):
    """Marginal values of one more, in reward: derivatives of the LP bound at the outlet temperatures found.

    They say how the optimum of the linear program begins to change with a limit, and hold for small changes only: a
    whole kilowatt may bring far less than its derivative says. A node brings its cores and its overhead, in the place
    of a node of its type, on average; below 0 it costs more of the cap and of the redlines than its cores earn.
    """

    kilowatt: float  # under the cap, per second
    redline_kelvin: float  # all node redlines one kelvin higher, per second
    node_types: FrozenDict[str, float]  # one more node, per second
    task_types: FrozenDict[str, float]  # one more arriving task


@dataclass(frozen=True, slots=True)
class FacilityResult(Allocated):
    """A verified allocation, its measured reward and power, and the bound on all allocations."""

    method: str
    colocation: bool
    status: Status
    reward_rate: float
    bound: float
    gap: float | None
    fixed_outlets: bool  # whether value and bound are for given temperatures only
    boxes: int  # of outlet temperatures that the bound rests on
    certificate: FacilityCertificate | None  # of the bound in exact arithmetic, if requested
    measured: Measurement
    cap_watts: float
    unit_names: tuple[str, ...]
    allocation: GangAllocation
    cores: CoreAllocation
    cores_reward_rate: float
    worth: FacilityMarginalValues | None  # none where the linear program was not solved to the end
    timings: FrozenDict[str, float]
    provenance: Provenance
    stopped: str = ""  # by what the search was cut short, in words
    core_time: tuple[CoreTime, ...] = ()  # of the allocation

    _KEYS: ClassVar = MEASURED + (
        "method colocation status reward_rate bound unit gap fixed_outlets boxes exactly_proved "
        "outlet_celsius=allocation.outlets_celsius cores_reward_rate task_rates_per_second=rates core_time worth "
        "timings"
    )

    @property
    def exactly_proved(self) -> bool:
        """Whether the bound was derived in exact arithmetic, and is the one that the certificate claims."""
        return self.certificate is not None


# The result of another method for a facility: a verified allocation, and its gap.
#
# The JSON object has the keys of `FacilityResult`; what only the linear program has (boxes, marginal values) is null.
Moment = tuple[float, int, float]  # seconds, generations, best score by then


@dataclass(frozen=True, slots=True)
class MethodResult(Allocated):
    """The allocation of one method, its measured reward and power, and the bound if requested."""

    method: str
    colocation: bool  # whether method, value and bound count it
    status: Status
    reward_rate: float  # CRR, or RR without co-location
    bound: float | None
    gap: float | None
    measured: Measurement
    cap_watts: float
    unit_names: tuple[str, ...]
    allocation: CoreAllocation
    seed: int | None  # of randomised methods
    ended: str  # in a few words, for people
    details: FrozenDict[str, float | None]  # what else the method reports
    history: tuple[Moment, ...]  # of iterative methods
    timings: FrozenDict[str, float]
    provenance: Provenance
    exactly_proved: bool | None = None  # whether the bound is; `None` without one
    stopped: str = ""  # by what method or bound were interrupted, in words; limits of the method itself are in `ended`
    core_time: tuple[CoreTime, ...] = ()  # of the allocation

    fixed_outlets: ClassVar = False
    boxes: ClassVar = None
    worth: ClassVar = None
    _KEYS: ClassVar = MEASURED + (
        "method colocation seed status reward_rate bound unit gap fixed_outlets boxes exactly_proved "
        "outlet_celsius=allocation.outlets_celsius cores_reward_rate=reward_rate task_rates_per_second=rates "
        "core_time worth ended details history timings"
    )


# What a validation of a facility returns: methods and allocations, each with its gap.
@dataclass(frozen=True, slots=True)
class Judged(Compared, JsonObject):
    """One method or file: the measured reward of its allocation, or why there is none."""

    name: str
    measured: Measurement | None
    gap: float | None = None  # of the co-located reward rate
    seconds: float | None = None  # run time; `None` of a file
    ended: str = ""
    allocation: CoreAllocation | GangAllocation | None = None
    violations: tuple[Violation, ...] = ()
    failure: str | None = None  # why the method found no allocation

    _KEYS: ClassVar = (
        "name valid value=measured.reward_rate gap colocated_reward_rate=measured.reward_rate "
        "measured.plain_reward_rate power_watts=measured.total_watts hottest_inlet_celsius "
        "measured.hottest_inlet_margin_celsius outlet_celsius=allocation.outlets_celsius seconds ended=how "
        "violations failure"
    )

    @property
    def valid(self) -> bool:
        """Whether there is an allocation that breaks no rule."""
        return self.measured is not None

    @property
    def hottest_inlet_celsius(self) -> float | None:
        """The temperature of the inlet that is nearest to its redline."""
        return None if self.measured is None else hottest_inlet_celsius(self.measured)

    @property
    def how(self) -> str | None:
        """How the method ended, if it reports that."""
        return self.ended or None


@dataclass(frozen=True, slots=True)
class FacilityValidation(Comparison[Judged]):
    """The bound, whether it is proved in exact arithmetic, and every method or allocation compared with it."""

    bound: float
    seed: int
    cap_watts: float
    entries: tuple[Judged, ...]
    provenance: Provenance
    exactly_proved: bool = False

    unit: ClassVar = UNIT
    _FORMAT: ClassVar = "lpsched-validate-facility/1"
    _KEYS: ClassVar = "seed bound exactly_proved unit power_cap_watts=cap_watts entries"
    _UNIT: ClassVar = f" {PER_SECOND}"
    _COLUMNS: ClassVar = (
        Column("gap", lambda entry: gap_text(entry.gap)),
        Column("without\nco-location", lambda entry: number(entry.measured.plain_reward_rate)),
        Column("power", lambda entry: power_text(entry.measured.total_watts)),
        Column("hottest\ninlet, °C", lambda entry: number(entry.hottest_inlet_celsius)),
    )

    quantity: ClassVar = f"co-located reward rate, {UNIT}"

    @property
    def common_bound(self) -> float:
        """The bound of all allocations."""
        return self.bound

    def score(self, entry: Judged) -> Score:
        """Return the reward rate of an allocation, the bound, and the gap between them."""
        return Score(None if entry.measured is None else entry.measured.reward_rate, self.bound, entry.gap)

    @property
    def proof(self) -> str:
        """How the bound is known."""
        return "proved" if self.exactly_proved else NOT_CERTIFIED

    def _bound_cells(self) -> tuple[str, ...]:
        return ("bound", self.limit_text(), self.proof)

    def _columns(self) -> list[Column]:
        return [Column(PER_SECOND, self.value_text), *self._COLUMNS]
