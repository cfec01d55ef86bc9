"""Offers of demand response: what drawing less than a baseline costs, over how much less.

    b_h     the baseline in the chosen slots: average watts at the meter of the site
    f       the power at the meter of idle machines that must stay on
    X       the reduction: in each chosen slot the average power at the meter is at most max(f, b_h - X)

Between two of the reductions b_h - f at which a slot reaches idle power, the caps fall linearly, so the least cost of
the work relaxation is convex and piecewise linear in X. The prices mu_h of the caps, per joule, give its slope, sum_h
mu_h L_h / PUE per watt, and with it a line that lies nowhere above it. Two such lines meet where a breakpoint may be:
there the program is solved again, until every breakpoint is known.

An offer is the difference of two optima, the best plan with the reduction and the best one without any event. Each
is known between a proved bound and the cost of a verified plan, so the difference is known between two numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lpsched.bag.horizon.curves import WATTS_PER_KW, EventSlot, OfferCurve, OfferPoint
from lpsched.bag.horizon.events import BASELINES, baseline_watts, event_slots, site_named
from lpsched.bag.horizon.fronts import PlanSearch, Solved, solved
from lpsched.bag.horizon.relaxation import most_watts, relax_work
from lpsched.bag.horizon.solve import HorizonProblem, build_horizon, require_possible, require_time, search_of
from lpsched.cancellation import CancelToken, timed
from lpsched.errors import InfeasibleError
from lpsched.model.fields import FrozenDict
from lpsched.model.fixed_point import rounded_down, rounded_up
from lpsched.model.provenance import provenance_of
from lpsched.model.results import along
from lpsched.units import counted, power_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from lpsched.bag.horizon.arrays import HorizonArrays
    from lpsched.bag.horizon.schedule import Plan
    from lpsched.bag.model import Bag
    from lpsched.lp.program import Solver

PLANS: Final = 6  # verified, along the curve
MOST_SOLVES: Final = 80
FLAT: Final = 3e-6  # of the cost: a breakpoint that is less above a line is none
MISSING: Final = 1e-7  # share of the tasks that may be left out by rounding
SLACK: Final = 1e-12  # relative: by which sums may be off by rounding
ABOVE_IDLE: Final = 1e-8  # relative: a cap at idle power is this much higher, so that rounding does not break it


def offer_curve(  # noqa: PLR0913 - options are keyword-only
    bag: Bag | Path | str,
    *,
    hours: str | Sequence[int],
    baseline: str | float = "mean",
    site: str | None = None,
    plans: int = PLANS,
    effort: str = "auto",
    time_limit: float | None = None,
    cancel: CancelToken | None = None,
    seed: int = 0,
    solver: Solver | None = None,
    **options: Any,  # noqa: ANN401 - those of `build_horizon`
) -> OfferCurve:
    """Find the least extra cost of drawing less than a baseline in some slots, over how much less.

    Power is averaged over each slot. Where the baseline draws less than the reduction above idle power, the slot is
    reduced to idle power. Extra costs are above the best plan without any event: a reduction of 0 costs something where
    that plan would draw more than the baseline.

    Parameters
    ----------
    bag
        A bag with watts, or the path of its file.
    hours
        When less is drawn: local times of each day, such as `17-20` or `7-9,17:30-20`; or numbers of slots, from 0 on.
    baseline
        What is drawn otherwise: `mean`, a plan that knows only the mean price; `at-once`, the shortest schedule from
        the start; `plan`, the plan of least cost; or a number of kW at the meter.
    site
        At which site, where there are several.
    plans
        The number of points, evenly spaced, for which a verified plan is looked for.
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
    NotFoundError
        If no plan was found for the baseline.

    Examples
    --------
    >>> from lpsched import Bag, MachineType, Table, TaskType
    >>> from lpsched.model.series import Series
    >>> cpu, render, watts = MachineType("cpu", 1, may_be_off=True), TaskType("render", 2), Table.of([[1000.0]])
    >>> bag = Bag("b", (cpu,), (render,), Table.of([[1800.0]]), watts)
    >>> prices = Series((0, 3600), 7200, (0.1, 0.3))
    >>> offers = offer_curve(bag, hours=[0], baseline="plan", horizon=7200, start=0, tariff=prices)
    >>> [(each.kw, round(each.lp_extra, 6), round(each.marginal, 6)) for each in offers.points]
    [(0.0, 0.0, 0.2), (1.0, 0.2, 0.2)]
    """
    work, solver, cancel = search_of(effort, solver, cancel, time_limit)
    if isinstance(baseline, str) and baseline not in BASELINES:
        raise ValueError(f"baseline is {baseline!r}, expected one of {', '.join(BASELINES)}, or kW")
    problem = build_horizon(bag, objective="cost", **options)
    at = site_named(problem, site)
    problem, chosen = event_slots(problem, hours)
    return offers_of(problem, at, chosen, solver, cancel, baseline=baseline, plans=plans, work=work, seed=seed)


def offers_of(  # noqa: PLR0913 - the options of `offer_curve`
    problem: HorizonProblem,
    at: int,
    chosen: list[int],
    solver: Solver,
    cancel: CancelToken,
    *,
    baseline: str | float,
    plans: int,
    work: float,
    seed: int,
) -> OfferCurve:
    """Run the stages of `offer_curve`, for a site and some slots by their numbers."""
    timings: dict[str, float] = {}
    require_time(problem, solver)
    with timed(timings, "relax"):
        free = solved(problem, solver, cancel)
        free_prices = free.full_prices(solver, cancel)
        free_bound = max(free.bound(free_prices), free.bound(free.relaxed.prices))
        require_possible(problem, free_bound)
    with timed(timings, "recover"):
        looking = PlanSearch(solver, cancel, 0.5 * work, seed)
        first = looking.near(free, free_prices, rounded_down(free_bound))
    with timed(timings, "baseline"):
        drawn = baseline_watts(problem, at, baseline, solver, cancel, None if first is None else first[0], seed)
    with timed(timings, "relax"):
        search = _OfferSearch(problem, at, chosen, [drawn[h] for h in chosen], solver, cancel)
        points = search.points()
    with timed(timings, "prove"):
        full = [each.at.full_prices(solver, cancel) for each in points]
        bounds = [
            max(each.at.bound(own), each.at.bound(each.at.relaxed.prices))
            for each, own in zip(points, full, strict=True)
        ]
    with timed(timings, "recover"):
        tried = set(along(len(points), plans)) if plans else set()
        looking = PlanSearch(solver, cancel, 0.5 * work / max(len(tried), 1), seed)
        made = [
            looking.near(each.at, full[place], rounded_down(bounds[place])) if place in tried else None
            for place, each in enumerate(points)
        ]
    values = [None if own is None else (problem.value(own[1]), own[0]) for own in made]
    known = [] if first is None else [problem.value(first[1])]
    known += [own[0] for own in values if own is not None]  # a plan that draws less is one without an event too
    free_value = min(known, default=None)
    made_points = _offers(search, points, bounds, values, free, free_bound, free_value)
    return OfferCurve(
        currency=problem.bag.prices.currency,
        site=problem.slots.sites[at].name,
        baseline=BASELINES[baseline]
        if isinstance(baseline, str)
        else f"{power_text(baseline * WATTS_PER_KW)} at all times",
        slots=search.event(),
        points=made_points,
        full_kw=min(search.full, search.most) / WATTS_PER_KW,
        most_kw=search.most / WATTS_PER_KW,
        free_bound=rounded_down(free_bound),
        free_value=None if free_value is None else rounded_up(free_value),
        start=problem.slots.start,
        solves=search.solves,
        timings=FrozenDict(timings),
        provenance=provenance_of(problem.bag, solver.name),
        stopped=cancel.why_cut(),
    )


def _offers(  # noqa: PLR0913, PLR0917 - the two optima
    search: _OfferSearch,
    points: list[_Point],
    bounds: list[Fraction],
    values: list[tuple[Fraction, Plan] | None],
    free: Solved,
    free_bound: Fraction,
    free_value: Fraction | None,
) -> tuple[OfferPoint, ...]:
    """Return the points; what is proved of less reduction holds for more, plans for more are plans for less."""
    best: list[tuple[Fraction, Plan] | None] = []
    for own in reversed(values):
        later = best[-1] if best else None
        best.append(own if later is None or (own is not None and own[0] <= later[0]) else later)
    best.reverse()
    made, bound = [], free_bound
    for place, point in enumerate(points):
        bound = max(bound, bounds[place])
        one, two = (place, place + 1) if place + 1 < len(points) else (max(place - 1, 0), place)
        width = points[two].watts - points[one].watts
        slope = (points[two].value - points[one].value) / width if width else 0.0
        known = best[place]
        made.append(
            OfferPoint(
                kw=point.watts / WATTS_PER_KW,
                delivered_kw=search.delivered(point.watts) / WATTS_PER_KW,
                marginal=max(slope * WATTS_PER_KW, 0.0),
                lp_extra=max(point.value - free.relaxed.bound, 0.0),
                at_least=0.0 if free_value is None else max(0.0, rounded_down(bound - free_value)),
                at_most=None if known is None else max(0.0, rounded_up(known[0] - free_bound)),
                bound=rounded_down(bound),
                value=None if known is None else rounded_up(known[0]),
                plan=None if known is None else known[1],
            )
        )
    return tuple(made)


# The search for breakpoints.
@dataclass(frozen=True, slots=True)
class _Point:
    """The relaxation at one reduction, in watts."""

    watts: float
    at: Solved

    @property
    def value(self) -> float:
        return self.at.relaxed.bound


class _OfferSearch:
    """Relaxations by rising reduction."""

    def __init__(  # noqa: PLR0913, PLR0917 - the event and how to solve
        self,
        problem: HorizonProblem,
        site: int,
        chosen: list[int],
        drawn: list[float],
        solver: Solver,
        cancel: CancelToken,
    ) -> None:
        self.problem, self.site, self.solver, self.cancel = problem, site, solver, cancel
        arrays, own = problem.arrays(), problem.slots.sites[site]
        self.chosen, self.lengths = np.array(chosen), arrays.lengths[chosen]
        self.floor = float(arrays.floor_watts[site]) * own.pue
        self.drawn = np.maximum(np.array(drawn), self.floor)
        self.rooms = self.drawn - self.floor  # of each chosen slot, above idle power
        self.largest = float(most_watts(arrays)[site]) * own.pue  # more is never drawn
        self.solves, self.nothing = 0, 0.0  # the value of leaving out all tasks
        self.full, self.most = float(self.rooms.min()), self._most()

    def event(self) -> tuple[EventSlot, ...]:
        """Return the chosen slots."""
        edges = self.problem.slots.edges
        return tuple(
            EventSlot(edges[h], edges[h + 1], watts / WATTS_PER_KW, self.floor / WATTS_PER_KW)
            for h, watts in zip(self.chosen.tolist(), self.drawn.tolist(), strict=True)
        )

    def delivered(self, watts: float) -> float:
        """Return by how much less is drawn on average over all chosen slots."""
        return float(np.minimum(self.rooms, watts) @ self.lengths / self.lengths.sum())

    def limited(self, watts: float) -> HorizonProblem:
        """Return the problem with caps in the chosen slots."""
        slots = self.problem.slots
        site = slots.sites[self.site]
        per_meter = 1.0 if site.cap_watts is None else site.cap_pue / site.pue  # caps may be measured at the machines
        caps = list(site.cap_watts) if site.cap_watts is not None else [self.largest] * slots.count
        allowed = np.maximum(self.drawn - watts, self.floor * (1.0 + ABOVE_IDLE)) * per_meter
        for h, most in zip(self.chosen.tolist(), allowed.tolist(), strict=True):
            caps[h] = min(caps[h], most)
        cap_pue = site.pue if site.cap_watts is None else site.cap_pue
        sites = list(slots.sites)
        sites[self.site] = replace(site, cap_watts=tuple(caps), cap_pue=cap_pue)
        return replace(self.problem, slots=replace(slots, sites=tuple(sites)))

    def _at(self, watts: float) -> _Point:
        self.solves += 1
        return _Point(watts, solved(self.limited(watts), self.solver, self.cancel))

    def _slope(
        self, prices: np.ndarray[Any, np.dtype[np.float64]], problem: HorizonProblem, watts: float, end: float
    ) -> float:
        """Return by how much the bound rises with each watt: the prices of those caps that fall, until `end`."""
        site = problem.slots.sites[self.site]
        caps = np.array(site.cap_watts)[self.chosen] * (site.pue / site.cap_pue)
        falls = (self.rooms >= end * (1.0 - SLACK)) & (caps >= (self.drawn - watts) * (1.0 - SLACK))
        return float(prices[self.site, self.chosen] @ (self.lengths * falls)) / site.pue

    def _most(self) -> float:
        """Return the largest reduction at which all tasks can be done: where the least that is left out becomes 0."""
        ends: list[float] = [0.0, *sorted(set(self.rooms[self.rooms > 0].tolist()))]
        if self._missing(0.0)[0] > MISSING:
            least = power_text(float(self.drawn.min()))
            raise InfeasibleError(
                f"{self.problem.bag.name}: a baseline of {least} leaves too little energy for "
                f"all tasks in the {counted(len(self.chosen), 'chosen slot')} and outside; raise it (--baseline)"
            )
        low, high = 0, len(ends) - 1  # ends[low] is possible
        if self._missing(ends[high])[0] <= MISSING:
            return ends[high]
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._missing(ends[middle])[0] <= MISSING else (low, middle)
        watts, end = ends[high], ends[high]
        for _ in range(MOST_SOLVES):  # Newton's method on a convex function ends at its first zero
            missing, slope = self._missing(watts, end)
            if missing <= MISSING or slope <= 0:
                break
            watts = max(ends[low], watts - missing / slope)
        return watts

    def _missing(self, watts: float, end: float | None = None) -> tuple[float, float]:
        """Return the least share of tasks left out, and by how much it rises with each watt."""
        self.solves += 1
        problem = self.limited(watts)
        arrays = _without_costs(problem.arrays())
        found = relax_work(arrays, self.solver, self.cancel)
        if not self.nothing:
            arrays = replace(arrays, can_run=np.zeros_like(arrays.can_run))
            self.nothing = relax_work(arrays, self.solver, self.cancel).value
        slope = self._slope(found.prices.cap_prices, problem, watts, watts if end is None else end)
        return found.value / self.nothing, slope / self.nothing

    def points(self) -> list[_Point]:
        """Return both ends, all breakpoints between them, and the reductions at which slots reach idle power."""
        inner = {each for each in self.rooms.tolist() if 0 < each < self.most}
        ends = [self._at(watts) for watts in sorted({0.0, *inner, self.most})]
        found = ends[:1]
        for one, two in pairwise(ends):
            found += [*self._between(one, two, two.watts), two]
        return _bent(found)

    def _between(self, one: _Point, two: _Point, end: float) -> list[_Point]:
        """Return the breakpoints strictly between two reductions."""
        rises = self._slope(one.at.relaxed.prices.cap_prices, one.at.problem, one.watts, end)
        falls = self._slope(two.at.relaxed.prices.cap_prices, two.at.problem, two.watts, end)
        width, allowed = two.watts - one.watts, FLAT * max(abs(one.value), abs(two.value))
        reached = two.value - one.value <= rises * width + allowed or two.value - one.value >= falls * width - allowed
        if reached or self.solves >= MOST_SOLVES or self.cancel.expired():
            return []
        ahead = (two.value - one.value - rises * width) / (falls - rises)  # from the second back to where lines meet
        middle = self._at(two.watts - ahead)
        if middle.value <= two.value - falls * ahead + allowed:
            return [middle]
        return [*self._between(one, middle, end), middle, *self._between(middle, two, end)]


def _without_costs(arrays: HorizonArrays) -> HorizonArrays:
    """Return arrays in which only tasks that are left out cost something."""
    return replace(
        arrays,
        wear=0.0 * arrays.wear,
        moving=0.0 * arrays.moving,
        switch_on=0.0 * arrays.switch_on,
        joule_costs=0.0 * arrays.joule_costs,
        peak_costs=0.0 * arrays.peak_costs,
    )


def _bent(points: list[_Point]) -> list[_Point]:
    """Leave out points on the line between their neighbours."""
    kept = points[:1]
    for point, following in pairwise(points[1:]):
        share = (point.watts - kept[-1].watts) / (following.watts - kept[-1].watts)
        line = kept[-1].value + share * (following.value - kept[-1].value)
        if abs(point.value - line) > FLAT * abs(point.value):
            kept.append(point)
    return kept + points[1:][-1:]
