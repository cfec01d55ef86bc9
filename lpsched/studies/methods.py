"""Methods in studies: of bags, of facilities, and policies for arriving tasks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from lpsched.bag.compare.schedules import NSGA2, validate
from lpsched.bag.exact_front import MOST_SAMPLED, feasible_region, front
from lpsched.bag.heuristics import names
from lpsched.bag.model import check_ratio
from lpsched.bag.pricing.price_curve import MOST_POINTS, price_curve
from lpsched.bag.problem import OBJECTIVES
from lpsched.bag.result import Effort
from lpsched.bag.solve import solve
from lpsched.errors import InstanceError, NotFoundError
from lpsched.facility.compare import METHODS, STARTS, allocate
from lpsched.facility.solve import METHOD, facility
from lpsched.model.fields import Amount, OneOf, Whole, check_money, check_power, check_seconds, check_yes, rejection
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
Check: TypeAlias = Callable[[object], object]  # raises a PydanticCustomError
HEADER: Final = ("format", "lpsched", "solver", "instance", "timings")


@dataclass(frozen=True, slots=True)
class Order:
    """The options of a method for one run, besides the instance."""

    parameters: Mapping[str, Any]
    seed: int
    seconds: float | None


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a method: the same everywhere, but for the timings."""

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


check_gap: Final = Amount("a relative gap", most=1.0)
check_generations: Final = Whole(0, 10**9)


def without_header(content: Mapping[str, Any], *others: str) -> dict[str, Any]:
    """Return what a command's JSON says, without its provenance and times."""
    return {key: value for key, value in content.items() if key not in (*HEADER, *others)}


def answer_of(result: Any) -> Answer:  # noqa: ANN401 - any result with a JSON object
    """Return a result of the library as an answer."""
    return Answer(without_header(result.to_dict()), result.provenance.solver, result.timings)


# Methods for bags, by the names that a study has for them.
#
#     solve     `lpsched solve`, as hard as its parameter `effort` says: `auto` unless another is given
#     lp        `lpsched solve --effort fast`: one linear program, rounded: the Profit paper's method
#     balanced  `lpsched solve --effort balanced`: then tasks exchanged until the loads are even
#     tight     `lpsched solve --effort tight`: then patterns and search, up to 30 s or the limit given
#     front     `lpsched front`: every vertex, and a schedule near each
#     price     `lpsched price`: the whole profit curve; `points` of it are read off
#     region    every energy and makespan that the bag can take, if tasks could be split
#     nsga2     the genetic algorithm; the schedule of its front that is best for the objective
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
        options = order.parameters if effort is None else {**order.parameters, "effort": effort}
        return answer_of(solve(bag, seed=order.seed, time_limit=order.seconds, **options))

    return run


def _scheduler(name: str) -> Callable[[Bag, Order], Answer]:
    """Return what runs one scheduler against the bound."""

    def run(bag: Bag, order: Order) -> Answer:
        found = validate(bag, heuristics=[name], seed=order.seed, time_limit=order.seconds, **order.parameters)
        entry = found.entries[0]
        if entry.violations:
            raise NotFoundError("; ".join(each.sentence for each in entry.violations))
        content = {"objective": found.objective, "unit": found.unit, "bound": found.bound, **entry.to_dict()}
        outcome = without_header(content, "seconds", "violations", "name", "kind", "valid")
        return Answer(outcome, found.provenance.solver, {} if entry.seconds is None else {"method": entry.seconds})

    return run


def bag_methods() -> list[Method]:
    """Return every method for bags that there is now; packages may add heuristics."""
    solved: dict[str, Check] = QUESTION | {"gap": check_gap}
    compared: dict[str, Check] = QUESTION | EFFORT
    sampled: dict[str, Check] = LIMITS | EFFORT | {"sample": Whole(0, MOST_SAMPLED)}
    ratios: dict[str, Check] = {"from_ratio": check_ratio, "to_ratio": check_ratio}
    priced = ratios | LIMITS | {"points": Whole(0, MOST_POINTS)}
    evolved: dict[str, Check] = compared | {"generations": check_generations}
    return [
        Method("solve", "bag", _solve(), solved | EFFORT, seeded=True, limited=True, apart=PRICES),
        Method("lp", "bag", _solve("fast"), solved, limited=True, apart=PRICES),
        Method("balanced", "bag", _solve("balanced"), solved, limited=True, apart=PRICES),
        Method("tight", "bag", _solve("tight"), solved, seeded=True, limited=True, apart=PRICES),
        Method("front", "bag", lambda bag, order: answer_of(front(bag, **order.parameters)), sampled),
        Method("region", "bag", lambda bag, _order: answer_of(feasible_region(bag)), {}),
        Method("price", "bag", lambda bag, order: answer_of(price_curve(bag, **order.parameters)), priced),
        Method(NSGA2, "bag", _scheduler(NSGA2), evolved, seeded=True, limited=True, apart=PRICES),
        *(
            Method(name, "bag", _scheduler(name), compared, seeded=name not in DETERMINED, apart=PRICES)
            for name in names()
        ),
    ]


# Methods for facilities: `lp` (ours), and those of the Heat paper, each held against our bound.
#
# With `colocation: false` the method does not count that cores of a node slow each other down, nor does the
# bound that it is held against.
GA: Final = "ga"
TAKES: Final[dict[str, Check]] = {"colocation": check_yes, "gap": check_gap}
WITH_SECONDS: Final = ("history", "details")  # of a method: how long its parts took is in them


def _allocation(found: Any, **others: object) -> Answer:  # noqa: ANN401 - the result of either of two functions
    content = found.to_dict()
    outcome = without_header(content, *WITH_SECONDS) | {"value": content["reward_rate"]} | others
    return Answer(outcome, found.provenance.solver, found.timings)


def _other(name: str) -> Callable[[Facility, Order], Answer]:
    def run(instance: Facility, order: Order) -> Answer:
        found = allocate(instance, method=name, seed=order.seed, time_limit=order.seconds, **order.parameters)
        details = {key: each for key, each in found.details.items() if not key.endswith("_seconds")}
        return _allocation(found, details=details)

    return run


def facility_methods() -> list[Method]:
    """Return every method for facilities."""

    def lp(instance: Facility, order: Order) -> Answer:
        return _allocation(facility(instance, time_limit=order.seconds, **order.parameters))

    found = [Method(METHOD, "facility", lp, TAKES, limited=True)]
    for name in METHODS:
        evolved: dict[str, Check] = {"generations": check_generations, "start": OneOf(STARTS)} if name == GA else {}
        chance = name != "greedy"
        takes = TAKES | {"bound": check_yes} | evolved
        found.append(Method(name, "facility", _other(name), takes, seeded=chance, limited=chance))
    return found


# Methods for days and clusters: the policies of `lpsched simulate`, one run of one policy each.
#
# `value` is the utility, `bound` what no schedule can pass, if `bound: true` asks for it.
REPORTED: Final = (
    "utility share_of_naive share_of_bound energy_joules completed dropped waiting events utilisation "
    "mean_bounded_slowdown cost cost_per_task wait_seconds by_priority busy"
)


def _checked(class_: type[SimulationOptions | ClusterOptions], name: str) -> Check:
    """Return the check of one option: that a run with nothing else can have it."""

    def check(value: object) -> object:
        if class_ is ClusterOptions and name == "every_seconds" and value == 0:
            return value
        options: dict[str, Any] = {name: value} | ({"energy_filter": PER_TASK} if name == "leniency" else {})
        try:
            class_(**options)
        except InstanceError as error:
            issue = error.issues[0]
            raise rejection(issue.got, issue.expected, issue.hint) from None
        return value

    return check


def _run(name: str) -> Callable[[Day | Clusters, Order], Answer]:
    def run(instance: Day | Clusters, order: Order) -> Answer:
        parameters = dict(order.parameters)
        bound, options = bool(parameters.pop("bound", False)), _options(instance, parameters)
        found = simulate(instance, [name], options=options, bound=bound, seed=order.seed, time_limit=order.seconds)
        entry = found.policies[0]
        if entry.reasons:
            raise NotFoundError(entry.reasons[0][1])
        content, took = entry.to_dict(), entry.mean("seconds")
        proved = None if found.bound is None else found.bound.mean
        value = content["utility"]
        outcome: dict[str, Any] = {
            "value": value,
            "bound": proved,
            "gap": None if proved is None else relative_gap(value, proved),
            "naive_bound": None if found.naive_bound is None else found.naive_bound.mean,
        } | {key: content[key] for key in REPORTED.split() if key in content}
        return Answer(outcome, found.provenance.solver, {} if took is None else {"method": took.mean})

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
TABLES: Final = {"bag": bag_methods, "facility": facility_methods}


def method_names(kind: str) -> tuple[str, ...]:
    """Return the names of methods for a kind of instance; policies may have a number after a colon."""
    if kind in TABLES:
        return tuple(method.name for method in TABLES[kind]())
    return (POLICIES if kind == "day" else CLUSTER_POLICIES).names()


def find_method(name: str, kind: str) -> Method | None:
    """Return the method of a name, if there is one for that kind of instance."""
    if kind in TABLES:
        return next((method for method in TABLES[kind]() if method.name == name), None)
    find, options = (policy, SimulationOptions) if kind == "day" else (cluster_policy, ClusterOptions)
    try:
        find(name)
    except InstanceError:
        return None
    takes: dict[str, Check] = {each.name: _checked(options, each.name) for each in fields(options)}
    return Method(name, kind, _run(name), {"bound": check_yes, **takes}, seeded=True, limited=True)
