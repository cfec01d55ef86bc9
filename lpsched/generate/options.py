"""Options of the generators: type, range, default and help text of each, in one place.

The library makes these models, commands take their options from them, studies check values with them, and days and
clusters note them in their files. Nothing heavy is loaded here: help texts are made of this.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Self, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, ValidationError
from pydantic_core import CoreSchema, ErrorDetails, core_schema

from lpsched.errors import InputIssue, InstanceError, nearest
from lpsched.model.fields import MOST, describe, numbered, rejection
from lpsched.online.parts import COMPLETED, MOST_TASKS, PRORATED, Cluster, Period
from lpsched.units import GIGA, SECONDS_PER_HOUR

SOURCE: Final = ""  # of errors: they are about options
CHANGE: Final = "change the option"
WORDS: Final = {int: "a whole number", float: "a number", Literal: "a word", NoneType: "null"}  # of types


@dataclass(frozen=True, slots=True)
class Within:
    """Metadata of a field type: a number from `least` to `most`; where `or_zero`, also 0."""

    least: float
    most: float
    or_zero: bool = False

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Check the range after the type; the integers of NumPy are integers, too."""
        schema = handler(source)
        if source is int:
            schema = core_schema.no_info_before_validator_function(_plain, schema)
        return core_schema.no_info_after_validator_function(self._checked, schema)

    def _checked(self, value: float) -> float:
        if self.least <= value <= self.most or (self.or_zero and value == 0):  # false for NaN
            return value + 0  # no -0.0, which NumPy takes for a negative number
        raise rejection(repr(value), f"{'0, or ' * self.or_zero}{self.least:g} to {self.most:g}", CHANGE)


def _plain(value: object) -> object:
    return operator.index(value) if hasattr(value, "__index__") and not isinstance(value, bool) else value


class Options(BaseModel):
    """Options of a generator; invalid ones raise an `InstanceError` that lists all errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    if not TYPE_CHECKING:  # for a type checker the fields are the arguments

        def __init__(self, **given: object) -> None:
            issues, made = [], self
            try:
                super().__init__(**given)
            except ValidationError as error:
                issues = [self._issue(each, given) for each in error.errors(include_url=False)]
                if misfits := [each for each in issues if each.hint != CHANGE]:
                    order = [*given, *type(self).model_fields]
                    misfits.sort(key=lambda each: order.index(each.path[0]))
                    raise InstanceError(SOURCE, tuple(dict.fromkeys(misfits))) from None
                made = self.model_construct(**given)
            if issues := [*issues, *made.at_odds(in_range=not issues)]:
                raise InstanceError(SOURCE, tuple(dict.fromkeys(issues)))

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return the same options but for some, which are checked."""
        del deep  # nothing in them can change
        return type(self)(**dict(self) | dict(update or {}))

    def at_odds(self, *, in_range: bool) -> Iterator[InputIssue]:  # noqa: ARG002 - of subclasses
        """Yield errors of options that do not go together; `in_range`: each is valid by itself."""
        yield from ()

    @classmethod
    def types(cls) -> dict[str, Any]:
        """Return the type of each option, without null."""
        hints = {name: kind for name, kind in get_type_hints(cls).items() if name in cls.model_fields}
        return {name: get_args(kind)[0] if NoneType in get_args(kind) else kind for name, kind in hints.items()}

    def note(self, generator: str, seed: int, trial: tuple[int, ...]) -> dict[str, Any]:
        """Return what makes an instance again, without options that are not given."""
        said = {"generator": generator, "seed": seed} | ({"trial": trial} if trial else {})
        return said | self.model_dump(exclude_none=True)

    @classmethod
    def _issue(cls, detail: ErrorDetails, given: Mapping[str, object]) -> InputIssue:
        """Return the error of an option; the hint is `CHANGE` where its value is of the right type.

        The path of an option is its name, and its description a help text: so not by `model/problems.py`.
        """
        name, value = str(detail["loc"][0]), detail["input"]
        match detail["type"]:
            case "missing":
                return InputIssue((name,), "nothing", f"the key {name!r}", "add it")
            case "extra_forbidden":
                return unknown(name, cls.model_fields)
            case "issue":
                return InputIssue((name,), repr(value), detail["ctx"]["expected"], CHANGE)
            case "literal_error" if isinstance(value, str):
                return InputIssue((name,), repr(value), f"one of {', '.join(get_args(cls.types()[name]))}", CHANGE)
        return InputIssue((name,), describe(given[name]), _needed(get_type_hints(cls)[name]), "correct it")


def unknown(name: str, known: Iterable[str]) -> InputIssue:
    """Return the error of a name that is not among those that are known."""
    known = tuple(known)
    return InputIssue((name,), "an unknown name", "one of " + ", ".join(known), nearest(name, known) or "remove it")


def _needed(kind: Any) -> str:  # noqa: ANN401 - what an annotation is
    """Return the words for a type.

    >>> _needed(tuple[int, ...] | None)
    'a list, each a whole number or null'
    """
    origin, parts = get_origin(kind), get_args(kind)
    if origin is tuple:
        return f"a list, each {WORDS[parts[0]]}"
    return WORDS.get(origin or kind) or " or ".join(map(_needed, parts))


# What several generators have.
POWER_SCALING: Final = (1.0, 0.75, 0.5)  # of each P-state: dynamic power in the thesis, power in the Jobs paper
HOURS_PER_DAY: Final = 24.0
MOST_PAIRS: Final = 20_000_000
MOST_TYPES: Final = 1_000_000
MOST_LISTED: Final = 1_000  # machine types or clusters of a kind: more do not fit into the note of what made them
Counts = tuple[Annotated[int, Within(1, MOST)], ...]
PStates = Annotated[int, Within(1, len(POWER_SCALING))]
Cov = Annotated[float, Within(0, 2)]
Positive = Annotated[float, Within(1e-6, 1e12)]
Arriving = Annotated[int, Within(1, MOST_TASKS)]
Watts = Annotated[float, Within(1e-6, 1e12, or_zero=True)]
Hours = Annotated[float, Within(0.01, 24 * 366), Field(description="Length of the period that counts, in hours.")]
WarmUp = Annotated[
    float, Within(1e-6, 24 * 366, or_zero=True), Field(description="Hours of warm-up before it, not counted.")
]
Gigajoules = Annotated[float, Within(1e-12, 1e12, or_zero=True)]
ENERGY: Final = "Energy limit of the period, in gigajoules."


def state_names(p_states: int) -> tuple[str, ...] | None:
    """Return the names of P-states; one alone has no name."""
    return tuple(f"P{k}" for k in range(p_states)) if p_states > 1 else None


def _period(options: EsscOptions | MachovecOptions, edge: Literal["prorated", "completed"] = PRORATED) -> Period:
    energy = options.energy_gigajoules
    return Period(
        warm_up_seconds=SECONDS_PER_HOUR * options.warm_up_hours,
        length_seconds=SECONDS_PER_HOUR * options.hours,
        edge=edge,
        energy_constraint_joules=None if energy is None else GIGA * energy,
    )


# Options of bags: by coefficients of variation, and grown from a small one.
BagTypes = Annotated[
    int, Within(1, MOST_TYPES), Field(description="Number of task types; grow: with those of the small bag.")
]
BagTasks = Annotated[int, Within(1, MOST), Field(description="Total number of tasks.")]
SpecialMachines = Annotated[Counts, Field(description="Machines of each special-purpose type, e.g. 2,2,3,3.")]
OwnTypes = Annotated[int, Within(1, MOST_PAIRS)]
Speedup = Annotated[float, Within(1e-3, 1e6), Field(description="Speed-up of special-purpose machines.")]


class CovOptions(Options):
    """Options of `cov_bag`; the defaults are those of the thesis, with 11,000 tasks."""

    task_types: BagTypes = 100
    machines: Counts = Field(
        default=(5, 5, 5, 10, 10, 10, 10, 15, 20),
        description="Machines of each general-purpose type, e.g. 40,40,20; grow: if not given, those of the small bag.",
    )
    special_machines: SpecialMachines = ()
    tasks: BagTasks = 11_000
    mean_seconds: Positive = Field(default=600.0, description="cov: mean seconds on a general-purpose machine.")
    task_cov: Cov = Field(default=0.1, description="cov: coefficient of variation of times across task types.")
    machine_cov: Cov = Field(default=0.25, description="cov: variation of times across machine types.")
    power_task_cov: Cov = Field(default=0.1, description="cov: variation of power across task types.")
    power_machine_cov: Cov = Field(default=0.25, description="cov: variation of power across machine types.")
    special_speedup: Speedup = 10.0
    special_cov: Cov = Field(default=0.1, description="cov: variation of times on special-purpose machines.")
    special_least: OwnTypes = Field(default=3, description="Least number of task types of a special-purpose type.")
    special_most: OwnTypes = Field(default=5, description="Largest number of task types of a special-purpose type.")
    special_task_types: int | None = None  # in all; None: as the numbers of each are drawn
    idle_watts: Watts = Field(default=66.0, description="cov: mean idle power, in watts.")
    dynamic_watts: Watts = Field(default=133.0, description="cov: mean power above idle while running, in watts.")
    p_states: PStates = Field(default=1, description="cov: P-states of each machine, 1 to 3.")

    def at_odds(self, *, in_range: bool) -> Iterator[InputIssue]:  # noqa: ARG002
        """Yield errors of options that do not go together."""
        if not self.machines:
            yield InputIssue(("machines",), "none", "at least one general-purpose type", "add one")
        yield from _bag_at_odds(self)
        number, types = self.special_task_types, len(self.special_machines)
        least, most = self.special_least * types, self.special_most * types
        if number is not None and not least <= number <= most and least <= most:
            needed = f"{least} to {most}, as {types} special-purpose types can have"
            yield InputIssue(("special_task_types",), str(number), needed, CHANGE)
        yield from too_many_pairs(self.task_types * (len(self.machines) + types) * self.p_states)


class GrowOptions(Options):
    """Options of `grow`; the defaults are the thesis's second data set without its special-purpose machines."""

    task_types: BagTypes = 30  # in all, with the real ones
    tasks: BagTasks = 1_000
    machines: Counts | None = None  # of each machine type; None: as many as the small bag has
    special_machines: SpecialMachines = ()
    special_speedup: Speedup = 10.0
    special_least: Annotated[int, Within(1, MOST_TYPES)] = 2
    special_most: Annotated[int, Within(1, MOST_TYPES)] = 3

    def at_odds(self, *, in_range: bool) -> Iterator[InputIssue]:  # noqa: ARG002
        """Yield errors of options that do not go together; `grow` checks them with the small bag."""
        yield from _bag_at_odds(self)


def _bag_at_odds(options: CovOptions | GrowOptions) -> Iterator[InputIssue]:
    if options.tasks < options.task_types:
        yield InputIssue(("tasks",), str(options.tasks), "at least one of each type", "ask for more")
    if options.special_least > options.special_most:
        yield InputIssue(("special_least",), str(options.special_least), "at most special_most", "lower it")
    special = options.special_most * len(options.special_machines)
    if special > options.task_types:
        needed = f"{special}, so that all special-purpose types have tasks of their own"
        yield InputIssue(("task_types",), str(options.task_types), needed, "ask for more")


def too_many_pairs(pairs: int) -> Iterator[InputIssue]:
    """Find a table that would be too large."""
    if pairs > MOST_PAIRS:
        yield InputIssue(("task_types",), f"{pairs:,} pairs", f"at most {MOST_PAIRS:,}", "ask for fewer")


# Options of the thesis's day.
Affinity = Literal["example", "low", "high"]
SPECIAL_TASK_TYPES: Final = 17 / 4  # for each special-purpose machine type


class EsscOptions(Options):
    """Options of `essc_day`; the defaults are the day of chapter 2 with 33,000 tasks."""

    tasks: Arriving = Field(
        default=33_000, description="Mean number of tasks that arrive in the period, without those of the warm-up."
    )
    hours: Hours = 24.0
    warm_up_hours: WarmUp = 2.0
    p_states: PStates = Field(default=1, description="P-states of each machine, 1 to 3.")
    affinity: Affinity = Field(default="example", description="How much task types differ in their best machines.")
    edge: Literal["completed", "prorated"] | None = Field(  # None: completed with one P-state, prorated with more
        default=None,
        description="What counts of a task at the edges of the period: all if it ends within, or the part within.",
    )
    energy_gigajoules: Gigajoules | None = Field(default=None, description=ENERGY)
    task_types: Annotated[int, Within(1, 10_000)] = Field(default=100, description="Number of task types.")
    machines: Counts = Field(
        default=(5, 5, 5, 10, 10, 10, 10, 15, 20), description="Machines of each general-purpose type."
    )
    special_machines: Counts = Field(default=(2, 2, 3, 3), description="Machines of each special-purpose type.")
    special_task_types: int | None = Field(  # None: 17 for four machine types, and so on
        default=None, description="Total number of task types of special-purpose machines."
    )

    @property
    def tables(self) -> CovOptions:
        """How the tables are drawn."""
        special = self.special_task_types
        return CovOptions(
            task_types=self.task_types,
            machines=self.machines,
            special_machines=self.special_machines,
            special_task_types=round(SPECIAL_TASK_TYPES * len(self.special_machines)) if special is None else special,
            tasks=max(1, self.task_types),
            p_states=self.p_states,
        )

    @property
    def period(self) -> Period:
        """The period that counts."""
        return _period(self, self.edge or (COMPLETED if self.p_states == 1 else PRORATED))

    def at_odds(self, *, in_range: bool) -> Iterator[InputIssue]:
        """Yield errors of options that do not go together."""
        for key in ("machines", "special_machines"):
            if (types := len(getattr(self, key))) > MOST_LISTED:
                yield InputIssue((key,), f"{types:,} types", f"at most {MOST_LISTED:,}", "ask for fewer")
        if in_range and self.tasks * (1.0 + self.warm_up_hours / self.hours) > MOST_TASKS:
            found = f"{self.tasks:,} and {self.warm_up_hours / self.hours:g} times as many in the warm-up"
            yield InputIssue(("tasks",), found, f"at most {MOST_TASKS:,} in all", "ask for fewer")
        try:
            _ = self.tables
        except InstanceError as refused:
            yield from refused.issues


# Options of the Jobs paper's clusters. The paper leaves some of it out; these defaults are ours:
#     nodes, cores_per_node   1,900 nodes with 48 or 64 cores, 100,000 cores in all. The paper's energy constraints are
#                             70 % of 17.1 and 21.4 GJ a day: at 133 W these are 1,490 and 1,860 nodes that are always
#                             busy, so there are some more
#     parallelism_share       of a task type (Downey's A): log-evenly from 0.5 to 2 % of its cores, at least 1. A task
#                             then takes about as much as it would on one core, times 100, whatever its cores: those
#                             that run long, and have much utility, take much, as the paper says. With as much
#                             parallelism as cores, 5,000 tasks a day would keep 2 % of them busy
#     wave_amplitude          of the sine: drawn for each task type from 0.25 to 0.9, as cycles a day and phase are, all
#                             as in Friese's thesis of 2015; a number here holds for all types
#     single_core             `home`: the Gaussian single-core time is that of a home cluster, drawn evenly among those
#                             of the type, and others vary around it; `mean`: all vary around it
#     core_steps              where the rows of table II end; tasks above the last one arrive in work hours
AMPLITUDES: Final = (0.25, 0.9)
STEPS: Final = 3  # of table II, below the size of a cluster
MOST_CELLS: Final = 100_000  # of a table: task types times clusters times P-states
FEWEST_TASKS: Final = 0.1  # on average: with fewer, draws without a task would be drawn again too often
Nodes = tuple[Annotated[int, Within(1, 10_000_000)], ...]
Cores = Annotated[tuple[Annotated[int, Within(1, 10_000)], ...], Field(description="Cores per node of these clusters.")]
ClusterTypes = Annotated[int, Within(1, 10_000, or_zero=True)]
OnOneCore = Annotated[float, Within(1e-6, 1e6)]
Share = Annotated[float, Within(1e-9, 1)]
Sigma = Annotated[float, Within(0, 1_000)]


class MachovecOptions(Options):
    """Options of `machovec_clusters`; the defaults are those of the paper with 5,000 tasks a day."""

    tasks: Arriving = Field(default=5_000, description="Mean number of tasks that arrive in 24 hours.")
    hours: Hours = 24.0
    warm_up_hours: WarmUp = 4.0
    begins_at_hour: Annotated[float, Within(0, 24)] = Field(
        default=0.0, description="Hour of the day at which the period begins; 0 is midnight."
    )
    energy_gigajoules: Gigajoules | None = Field(default=None, description=ENERGY)
    p_states: PStates = Field(default=3, description="P-states of each node, 1 to 3.")
    nodes: Nodes = Field(default=(350, 225, 300, 300), description="Nodes of each general-purpose cluster.")
    cores_per_node: Cores = (48, 64, 48, 48)
    special_nodes: Nodes = Field(default=(325, 400), description="Nodes of each special-purpose cluster, or none.")
    special_cores_per_node: Cores = (64, 48)
    general_task_types: ClusterTypes = Field(default=60, description="Task types of general-purpose clusters, in all.")
    special_task_types: ClusterTypes = Field(default=20, description="Task types of each special-purpose cluster.")
    core_steps: Counts = Field(
        default=(4, 256, 4_096),
        description="Largest number of cores of small, medium and large tasks; larger tasks arrive in work hours.",
    )
    shortest_hours: OnOneCore = Field(default=1.0, description="Mean hours on one core of tasks with utility 1.")
    longest_hours: OnOneCore = Field(default=18.0, description="Mean hours on one core of tasks with utility 8.")
    time_cov: Annotated[float, Within(0, 0.3)] = Field(
        default=0.15, description="Coefficient of variation of these times."
    )
    cluster_cov: Cov = Field(default=0.3, description="Coefficient of variation of times across clusters.")
    single_core: Literal["home", "mean"] = Field(
        default="home", description="Whether these times are those of one cluster (home) or the mean of all."
    )
    node_watts: Positive = Field(default=133.0, description="Mean power of a busy node, in watts.")
    watts_cov: Cov = Field(default=0.2, description="Coefficient of variation of power.")
    parallelism_share_least: Share = Field(default=0.005, description="Least average parallelism, as a share of cores.")
    parallelism_share_most: Share = Field(default=0.02, description="Largest average parallelism, as a share of cores.")
    sigma_least: Sigma = Field(default=4.0, description="Least variation of parallelism, Downey's sigma.")
    sigma_most: Sigma = Field(default=10.0, description="Largest variation of parallelism, Downey's sigma.")
    wave_amplitude: Annotated[float, Within(0, 1)] | None = Field(
        default=None, description="Amplitude of arrival rates around their mean, 0 to 1."
    )

    @property
    def clusters(self) -> tuple[Cluster, ...]:
        """The clusters, general-purpose ones first."""
        names = numbered("general", len(self.nodes)) + numbered("special", len(self.special_nodes))
        cores = (*self.cores_per_node, *self.special_cores_per_node)
        sizes = zip(names, (*self.nodes, *self.special_nodes), cores, strict=True)
        return tuple(Cluster(*size, state_names(self.p_states)) for size in sizes)

    @property
    def task_types(self) -> int:
        """How many task types there are in all."""
        return self.general_task_types + self.special_task_types * len(self.special_nodes)

    @property
    def period(self) -> Period:
        """The period that counts."""
        return _period(self)

    def at_odds(self, *, in_range: bool) -> Iterator[InputIssue]:
        """Yield errors of options that do not go together."""
        pairs = tuple(self._pairs_at_odds())
        yield from pairs
        if in_range and not pairs:
            yield from self._sizes_at_odds()

    def _pairs_at_odds(self) -> Iterator[InputIssue]:
        if len(self.core_steps) != STEPS or any(b <= a for a, b in pairwise(self.core_steps)):
            yield InputIssue(("core_steps",), repr(self.core_steps), "three rising numbers", CHANGE)
        for nodes, cores in (("nodes", "cores_per_node"), ("special_nodes", "special_cores_per_node")):
            clusters = len(getattr(self, nodes))
            if clusters != len(getattr(self, cores)):
                found = f"{len(getattr(self, cores))} numbers"
                yield InputIssue((cores,), found, f"{clusters}, one for each of {nodes}", CHANGE)
            if clusters > MOST_LISTED:
                yield InputIssue((nodes,), f"{clusters:,} clusters", f"at most {MOST_LISTED:,}", "ask for fewer")
        for least, most in (
            ("shortest_hours", "longest_hours"),
            ("parallelism_share_least", "parallelism_share_most"),
            ("sigma_least", "sigma_most"),
        ):
            below, above = getattr(self, least), getattr(self, most)
            if below > above:
                yield InputIssue((least,), repr(below), f"at most {most}, {above!r}", "lower it")
        if self.general_task_types and not self.nodes:
            yield InputIssue(("nodes",), "none", "a general-purpose cluster for its task types", "add one")

    def _sizes_at_odds(self) -> Iterator[InputIssue]:
        if not self.task_types:
            yield InputIssue(("general_task_types",), "no task type at all", "at least one", "ask for one")
        cells = self.task_types * len(self.clusters) * self.p_states
        if cells > MOST_CELLS:
            found = f"{cells:,} cells of a table"
            yield InputIssue(("general_task_types",), found, f"at most {MOST_CELLS:,}", "ask for fewer")
        tasks = self.tasks * (self.hours + self.warm_up_hours) / HOURS_PER_DAY
        found = f"{self.tasks:,} a day, {tasks:,.4g} in all"
        if tasks > MOST_TASKS:
            yield InputIssue(("tasks",), found, f"at most {MOST_TASKS:,} in all", "ask for fewer")
        if tasks < FEWEST_TASKS:
            yield InputIssue(("tasks",), found, f"at least {FEWEST_TASKS:g} on average", "ask for more, or longer")


# Options of facilities after the three platforms of the Heat paper.
MOST_BENCHMARKS: Final = 16  # as the paper has
MOST_SERVERS: Final = 4
LITTLE: Final = 1e-3


class FacilityOptions(Options):
    """Options of `facility_of`; `PLATFORMS` has the three of the paper."""

    nodes: Annotated[int, Within(1, 20_000)] = Field(description="Number of nodes.")
    crac_units: Annotated[int, Within(1, 1_000)] = Field(description="Number of CRAC units.")
    task_types: Annotated[int, Within(1, MOST_BENCHMARKS)] = Field(description="Number of task types, 1 to 16.")
    node_types: Annotated[int, Within(1, MOST_SERVERS)] = Field(description="Number of node types, 1 to 4.")
    rack: Annotated[int, Within(1, 1_000)] = 25  # nodes in a rack
    recirculation: Annotated[float, Within(0, 0.6)] = Field(
        default=0.2, description="Share of the nodes' inlet air that comes straight from nodes, 0 to 0.6."
    )
    cap_share: Annotated[float, Within(1e-6, 10)] = Field(
        default=0.6, description="Power cap, as a share of full power."
    )

    def at_odds(self, *, in_range: bool) -> Iterator[InputIssue]:  # noqa: ARG002
        """Yield errors of options that do not go together."""
        if 0 < self.recirculation < LITTLE:  # of a difference of flows, few digits would be left
            yield InputIssue(("recirculation",), repr(self.recirculation), f"0, or at least {LITTLE:g}", CHANGE)
        if self.nodes < self.node_types:
            needed = f"at least {self.node_types}, one of each node type"
            yield InputIssue(("nodes",), str(self.nodes), needed, "ask for more")


PLATFORMS: Final = {
    "small": FacilityOptions(nodes=150, crac_units=3, task_types=8, node_types=2),
    "medium": FacilityOptions(nodes=500, crac_units=4, task_types=10, node_types=3),
    "large": FacilityOptions(nodes=5000, crac_units=60, task_types=16, node_types=4),
}
