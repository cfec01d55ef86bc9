"""Cost against carbon, and cost against the deadline, over a horizon.

**Cost and carbon.** Both are linear in the work relaxation, so its front is a convex chain: at a price of p per gram of
CO2 some vertex of it has the least cost + p grams. Between two prices with different vertices, the price at which those
two cost the same is tried: either nothing is cheaper there, and the line between them is an edge of the front, or
there is a new vertex below the line. Intervals that may hide the deepest vertex come first: where the lines that two
prices prove meet, no vertex is deeper. Each price proves a half-plane, by the certificate, for every plan.

**Cost and deadline.** Not convex: each deadline is a horizon of its own, with a relaxation and a proof of its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from heapq import heappop, heappush
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lpsched.bag.horizon.certificate import prove
from lpsched.bag.horizon.curves import (
    GRAMS_PER_KG,
    CarbonVertex,
    CostHalfPlane,
    DeadlineCurve,
    DeadlinePoint,
    HorizonFront,
    HourLater,
)
from lpsched.bag.horizon.recovery import recover
from lpsched.bag.horizon.relaxation import Prices, Relaxed, relax_work
from lpsched.bag.horizon.runs import machine_prices_of, relax_runs
from lpsched.bag.horizon.solve import (
    MOST_RUN_ROWS,
    HorizonProblem,
    build_horizon,
    costs_of,
    multipliers_of,
    plan_of,
    require_possible,
    require_time,
    search_of,
)
from lpsched.bag.horizon.verify import measure_plan, verify_plan
from lpsched.bag.result import changes_between
from lpsched.cancellation import CancelToken, timed
from lpsched.errors import InfeasibleError, InstanceError, NotFoundError
from lpsched.model.fields import FrozenDict
from lpsched.model.fixed_point import rounded_down, rounded_up
from lpsched.model.provenance import provenance_of
from lpsched.model.results import along
from lpsched.units import SECONDS_PER_HOUR

if TYPE_CHECKING:
    from pathlib import Path

    from lpsched.bag.horizon.arrays import HorizonArrays
    from lpsched.bag.horizon.schedule import Plan
    from lpsched.bag.horizon.slots import Slots
    from lpsched.bag.horizon.verify import PlanMeasurement
    from lpsched.bag.model import Bag
    from lpsched.lp.program import Solver

FLAT: Final = 1e-5  # relative: a vertex that is less below a line between two others is left out
GAP: Final = 1e-4  # relative: a plan this near to its bound is good enough
MOST_SOLVES: Final = 80  # programs of a front; some 60 vertices
HIGHEST: Final = 1e6  # the price of carbon at one end, as a multiple of the usual price of energy per gram
PLANS: Final = 8  # verified, along a front
MOST_DEADLINES: Final = 200
DEADLINE_PLANS: Final = 6


@dataclass(frozen=True, slots=True)
class Solved:
    """One relaxation of a problem: its arrays, prices and value."""

    problem: HorizonProblem
    arrays: HorizonArrays
    relaxed: Relaxed

    @property
    def grams(self) -> float:
        """Of the program's solution."""
        return self.relaxed.grams or 0.0

    @property
    def cost(self) -> float:
        """Money of the program's solution."""
        return self.relaxed.value - self.problem.weights.grams * self.grams

    def full_prices(self, solver: Solver, cancel: CancelToken) -> Prices:
        """Return prices of machines too: those of the relaxation of runs, unless there are too many slots."""
        arrays, work = self.arrays, self.relaxed
        if arrays.joule_costs.size > MOST_RUN_ROWS or arrays.switch_on.any() or cancel.expired():
            return replace(work.prices, machine_prices=machine_prices_of(arrays, work.prices))
        return relax_runs(arrays, work, solver, cancel).prices

    def bound(self, prices: Prices) -> Fraction:
        """Return what prices prove of this problem."""
        problem = self.problem
        return prove(problem.bag, problem.slots, problem.weights, multipliers_of(problem, self.arrays, prices))


def solved(problem: HorizonProblem, solver: Solver, cancel: CancelToken) -> Solved:
    """Solve the work relaxation of a problem."""
    arrays = problem.arrays()
    return Solved(problem, arrays, relax_work(arrays, solver, cancel))


@dataclass(frozen=True, slots=True)
class PlanSearch:
    """How plans are looked for: counted seconds for each."""

    solver: Solver
    cancel: CancelToken
    work: float
    seed: int

    def near(self, at: Solved, prices: Prices, bound: float) -> tuple[Plan, PlanMeasurement] | None:
        """Return a verified plan at these prices, `None` if none was found, or if what was found breaks a rule."""
        if self.cancel.is_cut():
            return None
        enough, peaks = bound + 0.5 * GAP * abs(bound), at.relaxed.peaks
        try:
            found = recover(
                at.arrays, prices, self.solver, self.cancel, work=self.work, seed=self.seed, enough=enough, peaks=peaks
            )
        except NotFoundError:
            return None
        made, bag, slots = plan_of(at.problem, at.arrays, found), at.problem.bag, at.problem.slots
        # Idling between two runs counts against a cap, but not in the search.
        if verify_plan(bag, slots, made, optional=at.problem.weights.optional):
            return None
        return made, measure_plan(bag, slots, made)


# Cost and carbon.
def cost_carbon_front(  # noqa: PLR0913 - options are keyword-only
    bag: Bag | Path | str,
    *,
    plans: int = PLANS,
    effort: str = "auto",
    time_limit: float | None = None,
    cancel: CancelToken | None = None,
    seed: int = 0,
    solver: Solver | None = None,
    **options: Any,  # noqa: ANN401 - those of `build_horizon`
) -> HorizonFront:
    """Find the front between cost and carbon over a horizon: vertices, proved half-planes, and verified plans.

    Parameters
    ----------
    bag
        A bag with watts, or the path of its file.
    plans
        The number of vertices, evenly spaced, near which a verified plan is looked for.
    effort
        `fast`, `auto` or `tight`: about 1, 10 or 40 seconds of search for all plans together.
    time_limit, cancel, seed, solver
        As in `solve`.
    options
        `horizon`, `start`, `tariff`, `carbon`, `power_cap`, `grid_fee`, `switch_off` and `fill`, as in `plan`.

    Raises
    ------
    ValueError, InstanceError, InfeasibleError
        As `plan` does.

    Examples
    --------
    >>> from lpsched import Bag, MachineType, Table, TaskType
    >>> from lpsched.model.series import Series
    >>> cpu, render, table = MachineType("cpu", 1, may_be_off=True), TaskType("render", 2), Table.of([[1800.0]])
    >>> bag = Bag("b", (cpu,), (render,), table, table)
    >>> prices, grams = Series((0, 3600), 7200, (0.1, 0.3)), Series((0, 3600), 7200, (400.0, 100.0))
    >>> front = cost_carbon_front(bag, horizon=7200, start=0, tariff=prices, carbon=grams)
    >>> [(round(each.cost, 3), round(each.carbon_grams)) for each in front.vertices]
    [(0.18, 720), (0.54, 180)]
    """
    work, solver, cancel = search_of(effort, solver, cancel, time_limit)
    priced = build_horizon(bag, **options | {"objective": "cost", "carbon_price": 1.0})  # asks for a carbon intensity
    return front_of(replace(priced, carbon_price_per_kg=0.0), solver, cancel, plans=plans, work=work, seed=seed)


def front_of(  # noqa: PLR0913 - the options of `cost_carbon_front`
    problem: HorizonProblem,
    solver: Solver,
    cancel: CancelToken,
    *,
    plans: int,
    work: float,
    seed: int,
    most: int = MOST_SOLVES,
    runs: bool = True,
) -> HorizonFront:
    """Run the stages of `cost_carbon_front`: at most that number of programs, with the relaxation of `runs` or not.

    `work` are counted seconds of the search for plans.
    """
    timings: dict[str, float] = {}
    require_time(problem, solver)
    with timed(timings, "relax"):
        search = FrontSearch(problem, solver, cancel, most=most)
        require_possible(problem, search.found[0].bound(search.found[0].relaxed.prices))
        missed = search.run()
    with timed(timings, "prove"):
        proved = [proved_at(each, solver, cancel, runs=runs) for each in search.found]
        proofs = [
            CostHalfPlane(1.0, each.problem.weights.grams, bound)
            for each, (_, bound) in zip(search.found, proved, strict=True)
        ]
        last = search.found[-1]
        alone = replace(last, problem=replace(problem, objective="carbon"))
        scaled = proved[-1][0].scaled(1.0 / last.problem.weights.grams)
        least = alone.bound(scaled)
        if least < last.grams - FLAT * abs(last.grams):  # the highest price of carbon still trades it for money
            carbon = solved(alone.problem, solver, cancel)
            least = max(least, carbon.bound(carbon.relaxed.prices))
        proofs.append(CostHalfPlane(0.0, 1.0, rounded_down(least)))
    with timed(timings, "recover"):
        places = search.vertices()
        ends = [0.0, *(search.price_between(one, two) for one, two in pairwise(places)), None]
        chosen = {places[place] for place in along(len(places), plans)} if plans else set()
        looking = PlanSearch(solver, cancel, work / max(len(chosen), 1), seed)
        vertices = []
        for place, best in zip(places, pairwise(ends), strict=True):
            at, (prices, bound) = search.found[place], proved[place]
            made = looking.near(at, prices, bound) if place in chosen else None
            own = (None, None) if made is None else (costs_of(made[1]), made[0])
            price = at.problem.carbon_price_per_kg
            vertices.append(CarbonVertex(at.cost, at.grams, best[0] or 0.0, best[1], price, bound, *own))
    return HorizonFront(
        currency=problem.bag.prices.currency,
        vertices=tuple(vertices),
        proofs=tuple(proofs),
        horizon_seconds=problem.slots.horizon,
        start=problem.slots.start,
        solves=len(search.found),
        missed=missed,
        timings=FrozenDict(timings),
        provenance=provenance_of(problem.bag, solver.name),
        stopped=cancel.why_cut(),
    )


def proved_at(at: Solved, solver: Solver, cancel: CancelToken, *, runs: bool = True) -> tuple[Prices, float]:
    """Return full prices, and the better bound of them and those of the work relaxation; or these alone."""
    bound = at.bound(at.relaxed.prices)
    if not runs:
        return at.relaxed.prices, rounded_down(bound)
    prices = at.full_prices(solver, cancel)
    return prices, rounded_down(max(at.bound(prices), bound))


class FrontSearch:
    """Relaxations by rising price of carbon, from 0 to the highest; by default one at which carbon alone counts."""

    def __init__(
        self,
        problem: HorizonProblem,
        solver: Solver,
        cancel: CancelToken,
        *,
        highest: float | None = None,
        most: int = MOST_SOLVES,
    ) -> None:
        self.problem, self.solver, self.cancel, self.most = problem, solver, cancel, most
        first = self.at(0.0)
        if highest is not None:
            self.found = [first, self.at(highest)]
            return
        arrays = first.arrays
        assert arrays.joule_grams is not None, "a carbon intensity at each site"
        emitted = float(np.where(arrays.can_run, arrays.seconds * arrays.watts, 0.0).mean() * arrays.joule_grams.mean())
        usual = arrays.usual_cost / (emitted or 1.0)
        self.found = [first, self.at(HIGHEST * usual)]

    def at(self, price: float) -> Solved:
        """Return the relaxation at a price of a gram."""
        return solved(replace(self.problem, carbon_price_per_kg=price * GRAMS_PER_KG), self.solver, self.cancel)

    def run(self) -> float:
        """Try prices until no vertex is missing; return how far below the front one may still be, relative."""
        one, two = self.found
        queue, pushed, missed = [(-self._depth(one, two)[0], 0, one, two)], 0, FLAT
        while queue:
            _, _, one, two = heappop(queue)
            depth, price, allowed = self._depth(one, two)
            if depth <= allowed:
                continue
            if len(self.found) >= self.most or self.cancel.expired():
                missed = FLAT * depth / allowed if allowed else FLAT
                break
            new = self.at(price)
            self.found.append(new)
            if one.cost + price * one.grams - new.relaxed.value <= allowed:  # an edge
                continue
            for pair in ((one, new), (new, two)):
                pushed += 1
                heappush(queue, (-self._depth(*pair)[0], pushed, *pair))
        self.found.sort(key=lambda each: each.problem.carbon_price_per_kg)
        return missed

    def _depth(self, one: Solved, two: Solved) -> tuple[float, float, float]:
        """Return how deep below the line between two points a vertex may be, at which price, and what is allowed."""
        width, height = one.grams - two.grams, two.cost - one.cost
        low, high = one.problem.weights.grams, two.problem.weights.grams
        if width <= 0 or height <= 0 or not low < height / width < high:
            return 0.0, 0.0, 0.0
        price = height / width
        grams = (two.relaxed.value - one.relaxed.value) / (high - low)
        apex = one.relaxed.value - low * grams + price * grams
        line = one.cost + price * one.grams
        return line - apex, price, FLAT * (abs(one.cost) + price * abs(one.grams))

    def vertices(self) -> list[int]:
        """Return the places of those whose points form the front, by rising cost."""
        kept: list[int] = []
        order = sorted(range(len(self.found)), key=lambda place: (self.found[place].cost, self.found[place].grams))
        for place in order:
            point = self.found[place]
            if kept and self.found[kept[-1]].grams - point.grams <= FLAT * abs(point.grams):
                continue  # no better, but for rounding
            while kept and point.cost - self.found[kept[-1]].cost <= FLAT * abs(point.cost):
                kept.pop()
            while len(kept) > 1 and self._is_above(kept[-2], kept[-1], place):
                kept.pop()
            kept.append(place)
        return kept

    def price_between(self, left: int, right: int) -> float:
        """Return the price of a kg of CO2 at which two points cost the same."""
        one, two = self.found[left], self.found[right]
        return (two.cost - one.cost) / (one.grams - two.grams) * GRAMS_PER_KG

    def _is_above(self, left: int, middle: int, right: int) -> bool:
        """Return whether a point is on or above the line between two others."""
        a, b, c = self.found[left], self.found[middle], self.found[right]
        slope = (c.cost - a.cost) / (a.grams - c.grams)
        return b.cost + slope * b.grams >= a.cost + slope * a.grams - FLAT * 0.1 * (abs(a.cost) + slope * abs(a.grams))


# Cost and deadline.
def cost_deadline(  # noqa: PLR0913 - options are keyword-only
    bag: Bag | Path | str,
    *,
    most: int = MOST_DEADLINES,
    plans: int = DEADLINE_PLANS,
    effort: str = "auto",
    time_limit: float | None = None,
    cancel: CancelToken | None = None,
    seed: int = 0,
    solver: Solver | None = None,
    **options: Any,  # noqa: ANN401 - those of `build_horizon`
) -> DeadlineCurve:
    """Find the least cost for each deadline up to the horizon: proved bounds, and verified plans at some of them.

    The deadline is the horizon: machines that must stay on are paid for until then, and no longer.

    Parameters
    ----------
    bag
        A bag with watts, or the path of its file.
    most
        The most deadlines: edges of slots, and whole hours where slots are longer; evenly chosen where there are more.
    plans
        The number of deadlines, evenly spaced, for which a verified plan is looked for.
    effort
        `fast`, `auto` or `tight`: about 1, 10 or 40 seconds of search for all plans together.
    time_limit, cancel, seed, solver
        As in `solve`.
    options
        `horizon`, `start`, `tariff`, `carbon`, `power_cap`, `grid_fee`, `carbon_price`, `switch_off` and
        `fill`, as in `plan`.

    Raises
    ------
    ValueError, InstanceError, InfeasibleError
        As `plan` does.
    """
    work, solver, cancel = search_of(effort, solver, cancel, time_limit)
    problem = build_horizon(bag, objective="cost", **options)
    later = _an_hour_later(bag, problem, options)
    return deadlines_of(problem, later, solver, cancel, most=most, plans=plans, work=work, seed=seed)


def deadlines_of(  # noqa: PLR0913 - the options of `cost_deadline`
    problem: HorizonProblem,
    later: HorizonProblem | None,
    solver: Solver,
    cancel: CancelToken,
    *,
    most: int,
    plans: int,
    work: float,
    seed: int,
    runs: bool = True,
) -> DeadlineCurve:
    """Run the stages of `cost_deadline`, with the relaxation of `runs` or not; `later` has an hour more."""
    timings: dict[str, float] = {}
    shortest = require_time(problem, solver)
    falls = all(machine.may_be_off for machine in problem.bag.machine_types)
    ends = [end for end in _deadlines(problem.slots) if end >= shortest]
    found: list[tuple[Solved, Prices, float]] = []
    for place in along(len(ends), most):
        short = replace(problem, slots=until(problem.slots, ends[place]))
        with timed(timings, "relax"):
            at = solved(short, solver, cancel)
        with timed(timings, "prove"):
            prices, bound = proved_at(at, solver, cancel, runs=runs)
        try:
            require_possible(short, Fraction(bound))
        except InfeasibleError:
            if ends[place] == problem.slots.horizon:
                raise
            shortest = max(shortest, ends[place])
            continue
        found.append((at, prices, bound))
    if later is not None:
        at = solved(later, solver, cancel)
        found.append((at, *proved_at(at, solver, cancel)))
    count = len(found) - (later is not None)
    with timed(timings, "recover"):
        chosen = {*along(count, plans), *range(count - 1, len(found))} if plans else set()
        looking = PlanSearch(solver, cancel, work / max(len(chosen), 1), seed)
        made = [looking.near(*each) if place in chosen else None for place, each in enumerate(found)]
    points = []
    for (at, _, least), own in zip(found, made, strict=True):
        value, plan = (None, None) if own is None else (rounded_up(at.problem.value(own[1])), own[0])
        points.append(DeadlinePoint(at.problem.slots.horizon, at.relaxed.value, least, value, plan))
    points = _never_rising(points) if falls else points
    return DeadlineCurve(
        currency=problem.bag.prices.currency,
        points=tuple(points[:count]),
        shortest_seconds=shortest,
        never_rises=falls,
        hour_later=_hour_later(points[-2], points[-1], falls=falls) if later is not None else None,
        start=problem.slots.start,
        timings=FrozenDict(timings),
        provenance=provenance_of(problem.bag, solver.name),
        stopped=cancel.why_cut(),
    )


def _an_hour_later(bag: Bag | Path | str, problem: HorizonProblem, options: dict[str, Any]) -> HorizonProblem | None:
    """Return the problem with an hour more, `None` where a series does not cover it."""
    try:
        return build_horizon(bag, objective="cost", **options | {"horizon": problem.slots.horizon + SECONDS_PER_HOUR})
    except (InstanceError, InfeasibleError):
        return None


def _hour_later(before: DeadlinePoint, after: DeadlinePoint, *, falls: bool) -> HourLater | None:
    if before.value is None or after.value is None:
        return None
    change = changes_between((before.value, before.bound), (after.value, after.bound))
    assert change.at_least is not None
    assert change.at_most is not None
    most = min(change.at_most, 0.0) if falls else change.at_most  # the plan of before is one of after, at the same cost
    return HourLater(after.deadline_seconds, min(change.at_least, most), most, after.lp_cost - before.lp_cost)


def _deadlines(slots: Slots) -> list[float]:
    """Return the edges of slots and, unless power is averaged over slots, whole hours."""
    ends = set(slots.edges[1:])
    if all(site.cap_watts is None and not site.demand_charge for site in slots.sites):
        hours = min(math.floor(slots.horizon / SECONDS_PER_HOUR), MOST_DEADLINES * SECONDS_PER_HOUR)
        ends |= {float(hour * SECONDS_PER_HOUR) for hour in range(1, hours + 1)}
    return sorted(ends)


def until(slots: Slots, end: float) -> Slots:
    """Return the slots up to a moment; the last of them may be shorter than it was."""
    kept = next(h for h in range(1, slots.count + 1) if slots.edges[h] >= end)
    sites = []
    for site in slots.sites:
        carbon = None if site.carbon is None else site.carbon[:kept]
        caps = None if site.cap_watts is None else site.cap_watts[:kept]
        sites.append(replace(site, tariff=site.tariff[:kept], carbon=carbon, cap_watts=caps))
    return replace(slots, edges=(*slots.edges[:kept], float(end)), sites=tuple(sites))


def _never_rising(points: list[DeadlinePoint]) -> list[DeadlinePoint]:
    """Use that a plan until one deadline is one until all later ones, at no higher cost."""
    kept, bound = [], -math.inf
    for point in reversed(points):  # what is proved of a later deadline holds for this one
        bound = max(bound, point.bound)
        kept.append(replace(point, bound=bound))
    value: float | None = None
    plan: Plan | None = None
    made = []
    for point in reversed(kept):
        if point.value is not None and (value is None or point.value <= value):
            value, plan = point.value, point.plan
        made.append(point if point.value is None else replace(point, value=value, plan=plan))
    return made
