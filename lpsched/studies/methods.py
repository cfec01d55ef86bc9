"""Methods in studies: of bags, of facilities, and policies for arriving tasks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from lpsched.bag.compare.schedules import NSGA2, validate
from lpsched.bag.exact_front import MOST_SAMPLED, feasible_region, front
from lpsched.bag.heuristics import names
from lpsched.bag.pricing.price_curve import MOST_POINTS, price_curve
from lpsched.bag.problem import OBJECTIVES
from lpsched.bag.result import Effort
from lpsched.bag.solve import solve
from lpsched.bag.terms import check_ratio
from lpsched.errors import InstanceError, NotFoundError
from lpsched.facility.compare import METHODS, STARTS, allocate
from lpsched.facility.solve import METHOD, facility
from lpsched.model.fields import Amount, OneOf, check_money, check_power, check_seconds, describe, refusal
from lpsched.model.provenance import relative_gap
from lpsched.online.cluster_policies import POLICIES as CLUSTER_POLICIES
from lpsched.online.cluster_policies import cluster_policy
from lpsched.online.clusters import Clusters
from lpsched.online.compare.backend import usual_options
from lpsched.online.compare.simulations import simulate
from lpsched.online.policies import POLICIES, policy
from lpsched.online.simulate.options import PER_TASK, ClusterOptions, SimulationOptions

if TYPE_CHECKING:
    from lpsched.bag.model import Bag
    from lpsched.facility.model import Facility
    from lpsched.online.day import Day


# What a method of a study is: a name, what it takes, and a function from an instance to plain numbers.
#
# An outcome has the keys of the command's own JSON, and always `value`, `bound` and `gap` where there are such
# numbers; times and where it was made are not part of it, so that it is the same wherever it is made.
Check: TypeAlias = Callable[[object], object]  # raises a `refusal`
HEADER: Final = ("format", "lpsched", "solver", "instance", "timings")


@dataclass(frozen=True, slots=True)
class Order:
    """What a method is asked for, beside the instance."""

    parameters: Mapping[str, Any]
    seed: int
    seconds: float | None


@dataclass(frozen=True, slots=True)
class Answer:
    """What came out: the same everywhere, but for the timings."""

    outcome: Mapping[str, Any]
    solver: str
    timings: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Method:
    """One way to answer an instance."""

    name: str
    kind: str  # of the instances that it is for
    run: Callable[[Any, Order], Answer]
    takes: Mapping[str, Check]  # its parameters, each with the check of a value
    seeded: bool = False  # whether it leaves something to chance; else every seed gives the same: one run is made
    limited: bool = False  # whether it heeds a limit of seconds: if that is reached, its outcome depends on the machine
    apart: tuple[str, ...] = ()  # parameters of which a run can have one only


@dataclass(frozen=True, slots=True)
class WholeUpTo:
    """The check of a whole number from 0 on."""

    most: int = 10**9

    def __call__(self, value: object) -> int:
        """Return the number, if it is one."""
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= self.most:
            return value
        raise refusal(describe(value), f"a whole number from 0 to {self.most:,}", "correct it")


def yes_or_no(value: object) -> bool:
    """Return a truth, if it is one."""
    if isinstance(value, bool):
        return value
    raise refusal(describe(value), "true or false", "correct it")


check_gap: Final = Amount("a relative gap", most=1.0)


def without_header(told: Mapping[str, Any], *others: str) -> dict[str, Any]:
    """Return what a command's JSON says, without where it comes from, and without times."""
    return {key: value for key, value in told.items() if key not in (*HEADER, *others)}


def told_by(found: Any) -> Answer:  # noqa: ANN401 - any result with a JSON object
    """Return a result of the library as an answer."""
    return Answer(without_header(found.to_dict()), found.provenance.solver, found.timings)


# Methods for bags, by the names that a study has for them.
#
#     solve     `lpsched solve`, as hard as its parameter `effort` says: `auto` unless another is given
#     lp        `lpsched solve --effort fast`: one linear program, rounded: the Profit paper's method
#     balanced  `lpsched solve --effort balanced`: then tasks exchanged until the loads are even
#     tight     `lpsched solve --effort tight`: then patterns and search, up to 30 s or the limit given
#     front     `lpsched front`: every vertex, and a schedule near each
#     price     `lpsched price`: the whole profit curve; `points` of it are read off
#     region    every energy and makespan that the bag can take, if tasks could be split
#     nsga2     the genetic algorithm; the schedule of its front that is best for what is asked
#
# All others are the heuristics of `lpsched validate` (min-min, random, ...) and those of installed packages.
# Their bound, and the front, are as good as their parameter `effort` says. A report takes, for each question,
# the best bound that a run of the study proved (`studies/report.py`).
LIMITS: Final[dict[str, Check]] = {"power_cap": check_power, "deadline": check_seconds}
QUESTION: Final[dict[str, Check]] = {
    "objective": OneOf(tuple(OBJECTIVES)),
    "price": check_money,
    "profit_ratio": check_ratio,
    **LIMITS,
}
EFFORT: Final[dict[str, Check]] = {"effort": OneOf(tuple(each.value for each in Effort))}
PRICES: Final = ("price", "profit_ratio")
DETERMINED: Final = frozenset(("min-min", "max-min", "sufferage", "met", "mct", "olb", "k-percent-best", "min-energy"))


def _solve(effort: str | None = None) -> Callable[[Bag, Order], Answer]:
    def run(bag: Bag, order: Order) -> Answer:
        asked = order.parameters if effort is None else {**order.parameters, "effort": effort}
        return told_by(solve(bag, seed=order.seed, time_limit=order.seconds, **asked))

    return run


def _scheduler(name: str) -> Callable[[Bag, Order], Answer]:
    """Return what runs one scheduler against the bound."""

    def run(bag: Bag, order: Order) -> Answer:
        found = validate(bag, heuristics=[name], seed=order.seed, time_limit=order.seconds, **order.parameters)
        entry = found.entries[0]
        if entry.violations:
            raise NotFoundError("; ".join(each.sentence for each in entry.violations))
        told = {"objective": found.objective, "unit": found.unit, "bound": found.bound, **entry.to_dict()}
        outcome = without_header(told, "seconds", "violations", "name", "kind", "valid")
        seconds = {} if entry.seconds is None else {"method": entry.seconds}
        return Answer(outcome, found.provenance.solver, seconds)

    return run


def bag_methods() -> dict[str, Method]:
    """Return every method for bags that there is now; packages may add heuristics."""
    asked: dict[str, Check] = {**QUESTION, "gap": check_gap}
    judged: dict[str, Check] = {**QUESTION, **EFFORT}
    sampled: dict[str, Check] = {**LIMITS, **EFFORT, "sample": WholeUpTo(MOST_SAMPLED)}
    priced: dict[str, Check] = {"from_ratio": check_ratio, "to_ratio": check_ratio, **LIMITS}
    evolves: dict[str, Check] = {**judged, "generations": WholeUpTo()}
    found = [
        Method("solve", "bag", _solve(), {**asked, **EFFORT}, seeded=True, limited=True, apart=PRICES),
        Method("lp", "bag", _solve("fast"), asked, limited=True, apart=PRICES),
        Method("balanced", "bag", _solve("balanced"), asked, limited=True, apart=PRICES),
        Method("tight", "bag", _solve("tight"), asked, seeded=True, limited=True, apart=PRICES),
        Method("front", "bag", lambda bag, order: told_by(front(bag, **order.parameters)), sampled),
        Method("region", "bag", lambda bag, _order: told_by(feasible_region(bag)), {}),
        Method(
            "price",
            "bag",
            lambda bag, order: told_by(price_curve(bag, **order.parameters)),
            {**priced, "points": WholeUpTo(MOST_POINTS)},
        ),
        Method(NSGA2, "bag", _scheduler(NSGA2), evolves, seeded=True, limited=True, apart=PRICES),
    ]
    found += [
        Method(name, "bag", _scheduler(name), judged, seeded=name not in DETERMINED, apart=PRICES) for name in names()
    ]
    return {each.name: each for each in found}


# Methods for facilities: `lp` (ours), and those of the Heat paper, each held against our bound.
#
# With `colocation: false` the method does not count that cores of a node slow each other down, nor does the
# bound that it is held against.
GA: Final = "ga"
TAKES: Final[dict[str, Check]] = {"colocation": yes_or_no, "gap": check_gap}
WITH_SECONDS: Final = ("history", "details")  # of a method: how long its parts took is in them


def _ours(instance: Facility, order: Order) -> Answer:
    found = facility(instance, time_limit=order.seconds, **order.parameters)
    return Answer(_outcome(found.to_dict()), found.provenance.solver, found.timings)


def _theirs(name: str) -> Callable[[Facility, Order], Answer]:
    def run(instance: Facility, order: Order) -> Answer:
        found = allocate(instance, method=name, seed=order.seed, time_limit=order.seconds, **order.parameters)
        details = {key: each for key, each in found.details.items() if not key.endswith("_seconds")}
        outcome = _outcome(found.to_dict()) | {"details": details}
        return Answer(outcome, found.provenance.solver, found.timings)

    return run


def _outcome(told: dict[str, Any]) -> dict[str, Any]:
    return without_header(told, *WITH_SECONDS) | {"value": told["reward_rate"]}


def facility_methods() -> dict[str, Method]:
    """Return every method for facilities."""
    found = [Method(METHOD, "facility", _ours, TAKES, limited=True)]
    for name in METHODS:
        takes = TAKES | {"bound": yes_or_no}
        if name == GA:
            takes |= {"generations": WholeUpTo(), "start": OneOf(STARTS)}
        chance = name != "greedy"
        found.append(Method(name, "facility", _theirs(name), takes, seeded=chance, limited=chance))
    return {each.name: each for each in found}


# Methods for days and clusters: the policies of `lpsched simulate`, one run of one policy each.
#
# `value` is the utility, `bound` what no schedule can pass, if `bound: true` asks for it.
KEPT: Final = (
    "utility share_of_naive share_of_bound energy_joules completed dropped waiting events utilisation "
    "mean_bounded_slowdown cost cost_per_task wait_seconds by_priority busy"
)


def policy_method(name: str, kind: str) -> Method:
    """Return the method that runs a policy on days or on clusters."""
    find, options = (policy, SimulationOptions) if kind == "day" else (cluster_policy, ClusterOptions)
    find(name)
    takes = {"bound": yes_or_no} | {each.name: _checked(options, each.name) for each in fields(options)}
    return Method(name, kind, _run(name), takes, seeded=True, limited=True)


def _checked(class_: type[SimulationOptions | ClusterOptions], name: str) -> Check:
    """Return the check of one option: that a run with nothing else can have it."""

    def check(value: object) -> object:
        if class_ is ClusterOptions and name == "every_seconds" and value == 0:
            return value
        given: dict[str, Any] = {name: value} | ({"energy_filter": PER_TASK} if name == "leniency" else {})
        try:
            class_(**given)
        except InstanceError as error:
            fault = error.faults[0]
            raise refusal(fault.found, fault.needed, fault.do) from None
        return value

    return check


def _run(name: str) -> Callable[[Day | Clusters, Order], Answer]:
    def run(instance: Day | Clusters, order: Order) -> Answer:
        given = dict(order.parameters)
        bound = bool(given.pop("bound", False))
        found = simulate(
            instance, [name], options=_options(instance, given), bound=bound, seed=order.seed, time_limit=order.seconds
        )
        entry = found.policies[0]
        if entry.reasons:
            raise NotFoundError(entry.reasons[0][1])
        told, took = entry.to_dict(), entry.mean("seconds")
        proved = None if found.bound is None else found.bound.mean
        value = told["utility"]
        outcome: dict[str, Any] = {
            "value": value,
            "bound": proved,
            "gap": None if proved is None else relative_gap(value, proved),
            "naive_bound": None if found.naive_bound is None else found.naive_bound.mean,
        } | {key: told[key] for key in KEPT.split() if key in told}
        seconds = {} if took is None else {"method": took.mean}
        return Answer(outcome, found.provenance.solver, seconds)

    return run


def _options(instance: Day | Clusters, given: dict[str, Any]) -> SimulationOptions | ClusterOptions:
    """Return how to run: as it is usual for such an instance, but for what is given."""
    if isinstance(instance, Clusters):
        if given.get("every_seconds") == 0:  # as on the command line: at every arrival and end
            given = given | {"every_seconds": None}
        return replace(usual_options(instance), **given)
    if "every_arrivals" in given:
        given = {"every_seconds": None} | given
    return SimulationOptions(**given)


# Every method of a study by its name and the kind of instance that it is for.
def method_names(kind: str) -> tuple[str, ...]:
    """Return the names of methods for a kind of instance; policies may have a number after a colon."""
    if kind == "bag":
        return tuple(bag_methods())
    if kind == "facility":
        return tuple(facility_methods())
    return (POLICIES if kind == "day" else CLUSTER_POLICIES).names()


def find_method(name: str, kind: str) -> Method | None:
    """Return the method of a name, if there is one for that kind of instance."""
    if kind == "bag":
        return bag_methods().get(name)
    if kind == "facility":
        return facility_methods().get(name)
    try:
        return policy_method(name, kind)
    except InstanceError:
        return None
