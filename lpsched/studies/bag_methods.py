"""Methods for bags, by the names that a study has for them.

    solve     `lpsched solve`, as hard as its parameter `effort` says: `auto` unless another is given
    lp        `lpsched solve --effort fast`: one linear program, rounded: the Profit paper's method
    balanced  `lpsched solve --effort balanced`: then tasks exchanged until the loads are even
    tight     `lpsched solve --effort tight`: then patterns and search, up to 30 s or the limit given
    front     `lpsched front`: every vertex, and a schedule near each
    price     `lpsched price`: the whole profit curve; `points` of it are read off
    region    every energy and makespan that the bag can take, if tasks could be split
    nsga2     the genetic algorithm; the schedule of its front that is best for what is asked

All others are the heuristics of `lpsched validate` (min-min, random, ...) and those of installed packages.
Their bound, and the front, are as good as their parameter `effort` says. A report takes, for each question,
the best bound that a run of the study proved (`files/study_reports.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lpsched.compare.scheduler_names import NSGA2
from lpsched.compare.schedules import validate
from lpsched.errors import NotFoundError
from lpsched.heuristics.registry import names
from lpsched.instance.fields import check_money, check_power, check_seconds
from lpsched.instance.terms import check_ratio
from lpsched.pipeline.fronts import MOST_SAMPLED, front
from lpsched.pipeline.objectives import OBJECTIVES
from lpsched.pipeline.pricing import MOST_POINTS, price_curve
from lpsched.pipeline.regions import feasible_region
from lpsched.pipeline.solving import solve
from lpsched.result.solve import Effort
from lpsched.studies.method import Answer, Method, OneOf, Order, Whole, check_gap, without_header

if TYPE_CHECKING:
    from collections.abc import Callable

    from lpsched.instance import Bag
    from lpsched.studies.method import Check

LIMITS: Final[dict[str, Check]] = {"power_cap": check_power, "deadline": check_seconds}
QUESTION: Final[dict[str, Check]] = {
    "objective": OneOf(tuple(OBJECTIVES)),
    "price": check_money,
    "profit_ratio": check_ratio,
    **LIMITS,
}
EFFORT: Final[dict[str, Check]] = {"effort": OneOf(tuple(each.value for each in Effort))}
PRICES: Final = ("price", "profit_ratio")
DETERMINED: Final = frozenset(
    ("min-min", "max-min", "sufferage", "met", "mct", "olb", "k-percent-best", "min-energy")
)


def _solve(effort: str | None = None) -> Callable[[Bag, Order], Answer]:
    def run(bag: Bag, order: Order) -> Answer:
        asked = order.parameters if effort is None else {**order.parameters, "effort": effort}
        found = solve(bag, seed=order.seed, time_limit=order.seconds, **asked)
        return Answer(without_header(found.to_dict()), found.provenance.solver, found.timings)

    return run


def _front(bag: Bag, order: Order) -> Answer:
    found = front(bag, **order.parameters)
    return Answer(without_header(found.to_dict()), found.provenance.solver, found.timings)


def _region(bag: Bag, order: Order) -> Answer:  # noqa: ARG001 - it takes nothing
    found = feasible_region(bag)
    return Answer(without_header(found.to_dict()), found.provenance.solver, found.timings)


def _price(bag: Bag, order: Order) -> Answer:
    found = price_curve(bag, **order.parameters)
    return Answer(without_header(found.to_dict()), found.provenance.solver, found.timings)


def _scheduler(name: str) -> Callable[[Bag, Order], Answer]:
    """Return what runs one scheduler against the bound.

    Raises
    ------
    NotFoundError
        When run, if it hands back no valid schedule.
    """

    def run(bag: Bag, order: Order) -> Answer:
        found = validate(
            bag, heuristics=[name], seed=order.seed, time_limit=order.seconds, **order.parameters
        )
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
    evolves: dict[str, Check] = {**judged, "generations": Whole(0)}
    sampled: dict[str, Check] = {**LIMITS, **EFFORT, "sample": Whole(0, MOST_SAMPLED)}
    priced: dict[str, Check] = {"from_ratio": check_ratio, "to_ratio": check_ratio, **LIMITS}
    found = [
        Method("solve", "bag", _solve(), {**asked, **EFFORT}, seeded=True, limited=True, apart=PRICES),
        Method("lp", "bag", _solve("fast"), asked, limited=True, apart=PRICES),
        Method("balanced", "bag", _solve("balanced"), asked, limited=True, apart=PRICES),
        Method("tight", "bag", _solve("tight"), asked, seeded=True, limited=True, apart=PRICES),
        Method("front", "bag", _front, sampled),
        Method("region", "bag", _region, {}),
        Method("price", "bag", _price, {**priced, "points": Whole(0, MOST_POINTS)}),
        Method(NSGA2, "bag", _scheduler(NSGA2), evolves, seeded=True, limited=True, apart=PRICES),
    ]
    found += [
        Method(name, "bag", _scheduler(name), judged, seeded=name not in DETERMINED, apart=PRICES)
        for name in names()
    ]
    return {each.name: each for each in found}
