"""The most profit of a bag over a horizon, over the level of market prices.

At level s a kWh costs s times its market price; fees, wear, moving, switching and demand charges stay. A plan that
earns R, pays E for electricity at the market prices of today and F for all else has a profit of R - F - s E: a line in
s. The most profit P(s) is the highest of these lines. So it is convex and piecewise linear, whatever the signs of the
prices, and never rises where no price is negative.

    proved     at some levels, each by a certificate; between two of them P is no higher than the line between their
               bounds, because it is convex
    verified   the line of any verified plan, at every level

The program at level s is that of cost and a price of carbon, with the tariff in the place of the carbon intensity and s
in that of the price: its breakpoints are found as the vertices of the front of cost and carbon are.

No run pays from the level on at which each one, by itself and at its best time, costs as much as it sells for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lpsched.bag.horizon.arrays import Integral
from lpsched.bag.horizon.certificate import HorizonMultipliers, prove
from lpsched.bag.horizon.fronts import FrontSearch, PlanSearch, Solved, proved_at
from lpsched.bag.horizon.level_curve import LevelCurve, LevelPoint
from lpsched.bag.horizon.schedule import Plan
from lpsched.bag.horizon.solve import HorizonProblem, build_horizon, search_of
from lpsched.bag.horizon.verify import PlanMeasurement, measure_plan, verify_plan
from lpsched.bag.pricing.one_more import nearby
from lpsched.cancellation import CancelToken, timed
from lpsched.errors import NotFoundError
from lpsched.model.fields import FrozenDict
from lpsched.model.fixed_point import rounded_down, rounded_up
from lpsched.model.provenance import provenance_of
from lpsched.model.results import along

if TYPE_CHECKING:
    from pathlib import Path

    from lpsched.bag.horizon.arrays import HorizonArrays
    from lpsched.bag.horizon.relaxation import Prices
    from lpsched.bag.model import Bag
    from lpsched.lp.program import Solver

TODAY: Final = 1.0
NOTHING: Final = Plan(())  # which runs no task
PLANS: Final = 6  # verified, along the curve
HIGHEST: Final = 4.0  # the last level where runs pay at any: at prices of 0, or negative ones
BELOW: Final = 0.99  # of the level at which nothing pays: a plan there runs little
SAME: Final = 1e-9  # relative: levels that are this near are one
ROUNDING: Final = Fraction(1, 10**12)  # relative: proofs are rounded down
GRAMS_PER_KG: Final = 1000.0


def profit_by_level(  # noqa: PLR0913 - options are keyword-only
    bag: Bag | Path | str,
    *,
    highest: float | None = None,
    plans: int = PLANS,
    effort: str = "auto",
    time_limit: float | None = None,
    cancel: CancelToken | None = None,
    seed: int = 0,
    solver: Solver | None = None,
    **options: Any,  # noqa: ANN401 - those of `build_horizon`
) -> LevelCurve:
    """Find the most profit over the level of market prices: proved bounds, verified plans, and the break-even level.

    Parameters
    ----------
    bag
        A bag with watts and prices of its tasks (`prices.per_task`), or the path of its file.
    highest
        The last level of the curve; by default that from which on no run pays, and at least 1.
    plans
        The number of breakpoints, evenly spaced, for which a verified plan is looked for; with any, also at level 1 and
        where runs hardly pay. 0: none.
    effort
        `fast`, `auto` or `tight`: about 1, 10 or 40 seconds of search for all plans together.
    time_limit, cancel, seed, solver
        As in `solve`.
    options
        `horizon`, `start`, `tariff`, `power_cap`, `grid_fee`, `switch_off` and `fill`, as in `plan`.

    Raises
    ------
    ValueError
        If the highest level is not a positive number, or there is a price of carbon.
    InstanceError, InfeasibleError
        As `plan` does.

    Examples
    --------
    Two tasks of half a kWh sell for 0.2 each. The first fits into the hour at 0.1 per kWh, and costs 0.05 at level 1;
    so does the second.

    >>> from lpsched import Bag, MachineType, Prices, Table, TaskType
    >>> from lpsched.model.series import Series
    >>> cpu, render = MachineType("cpu", 1, may_be_off=True), TaskType("render", 2)
    >>> sold = Prices(per_task={"render": 0.2})
    >>> bag = Bag("b", (cpu,), (render,), Table.of([[1800.0]]), Table.of([[1000.0]]), prices=sold)
    >>> curve = profit_by_level(bag, horizon=7200, start=0, tariff=Series((0, 3600), 7200, (0.3, 0.1)))
    >>> round(curve.bound_at(1.0), 6), round(curve.value_at(1.0), 6), round(curve.none_earns_from, 6)
    (0.3, 0.3, 4.0)
    """
    if highest is not None and not 0 < highest < np.inf:
        raise ValueError(f"highest is {highest!r}, expected a positive number")
    if options.get("carbon_price"):
        raise ValueError("carbon_price is given, expected none: levels are of market prices")
    work, solver, cancel = search_of(effort, solver, cancel, time_limit)
    problem = build_horizon(bag, objective="profit", **options)
    return levels_of(problem, solver, cancel, highest=highest, plans=plans, work=work, seed=seed)


def levels_of(  # noqa: PLR0913 - the options of `profit_by_level`
    problem: HorizonProblem,
    solver: Solver,
    cancel: CancelToken,
    *,
    highest: float | None,
    plans: int,
    work: float,
    seed: int,
) -> LevelCurve:
    """Run the stages of `profit_by_level`; `work` are counted seconds of the search for plans."""
    timings: dict[str, float] = {}
    levels = _Levels(problem)
    with timed(timings, "relax"):
        none_pays = levels.no_run_pays()
        end = highest if highest is not None else max(TODAY, HIGHEST if none_pays is None else none_pays)
        search = FrontSearch(levels.problem, solver, cancel, highest=end)
        missed = search.run()
        chosen = _chosen(search, none_pays, end)
    with timed(timings, "prove"):
        proved = [_Proved(each, *proved_at(each, solver, cancel), levels.alone(each.problem)) for each in chosen]
    with timed(timings, "recover"):
        wanted = [TODAY] + ([] if none_pays is None else [BELOW * none_pays])
        nearest = {min(range(len(proved)), key=lambda place: abs(proved[place].level - level)) for level in wanted}
        places = sorted(nearest | {*along(len(proved), plans)}) if plans else []
        looking = PlanSearch(solver, cancel, work / max(len(places), 1), seed)
        made = [] if verify_plan(problem.bag, problem.slots, NOTHING, optional=True) else [NOTHING]
        for place in places:
            each = proved[place]
            found = looking.near(each.at, each.prices, each.least)
            made += [] if found is None else [found[0]]
        if not made:
            raise NotFoundError("no plan was found")
        lines = [levels.line(plan) for plan in made]
    points = []
    for each in proved:
        level = Fraction(each.level)
        best = max(lines, key=lambda line: line.profit(level))
        names = [task.name for task in problem.bag.task_types]
        points.append(
            LevelPoint(
                level=each.level,
                lp_profit=-each.at.relaxed.value,
                bound=rounded_up(min(-each.least_exact, -each.alone)),
                value=rounded_down(best.profit(level)),
                finished=FrozenDict(zip(names, best.measured.finished, strict=True)),
                energy_kwh=rounded_up(best.measured.kwh),
                plan=best.plan,
            )
        )
    return LevelCurve(
        currency=problem.bag.prices.currency,
        points=tuple(points),
        lines=tuple((rounded_down(line.at_zero), rounded_up(line.paid)) for line in lines),
        never_rises=all(price >= 0 for site in problem.slots.sites for price in site.tariff),
        mean_tariff=levels.mean_tariff(),
        tasks=problem.bag.tasks,
        horizon_seconds=problem.slots.horizon,
        start=problem.slots.start,
        solves=len(search.found),
        missed=missed,
        timings=FrozenDict(timings),
        provenance=provenance_of(problem.bag, solver.name),
        stopped=cancel.why_cut(),
    )


@dataclass(frozen=True, slots=True)
class _Line:
    """A verified plan: what it earns at level 0, and what its electricity costs at level 1."""

    plan: Plan
    measured: PlanMeasurement

    @property
    def paid(self) -> Fraction:
        return self.measured.electricity

    @property
    def at_zero(self) -> Fraction:
        return self.measured.revenue - (self.measured.money - self.measured.electricity)

    def profit(self, level: Fraction) -> Fraction:
        """Return what it earns at a level, exactly."""
        return self.at_zero - level * self.paid


@dataclass(frozen=True, slots=True)
class _Proved:
    """A level: its relaxation, prices, and what they and the prices of tasks alone prove; as it is minimised."""

    at: Solved
    prices: Prices
    least: float
    alone: Fraction

    @property
    def level(self) -> float:
        return self.at.problem.weights.grams

    @property
    def least_exact(self) -> Fraction:
        return Fraction(self.least)


class _Levels:
    """The problem with its tariff in the place of the carbon intensity: a level is a price of carbon."""

    def __init__(self, problem: HorizonProblem) -> None:
        self.original = problem
        zero = (0.0,) * problem.slots.count
        sites = tuple(replace(site, tariff=zero, carbon=site.tariff) for site in problem.slots.sites)
        self.problem = replace(problem, slots=replace(problem.slots, sites=sites), carbon_price_per_kg=0.0)

    def at(self, level: float) -> HorizonProblem:
        """Return the problem at a level."""
        return replace(self.problem, carbon_price_per_kg=level * GRAMS_PER_KG)

    def line(self, plan: Plan) -> _Line:
        """Measure a plan at the market prices of today."""
        return _Line(plan, measure_plan(self.original.bag, self.original.slots, plan))

    def mean_tariff(self) -> float:
        """Return the mean market price over time, and over sites."""
        lengths = np.diff(self.original.slots.edges)
        means = [float(np.array(site.tariff) @ lengths / lengths.sum()) for site in self.original.slots.sites]
        return sum(means) / len(means)

    def alone(self, problem: HorizonProblem) -> Fraction:
        """Return what follows of the prices that tasks sell for: what each costs by itself, at its best time."""
        bag, slots = problem.bag, problem.slots
        values = tuple(bag.prices.per_task.get(task.name, 0.0) for task in bag.task_types)
        free = ((0.0,) * slots.count,) * len(bag.machine_types)
        return prove(bag, slots, problem.weights, HorizonMultipliers(values, free))

    def no_run_pays(self) -> float | None:
        """Return the level from which on no run pays; `None` if there is none."""
        found = _last_paying(self.at(TODAY).arrays())
        if found is None:
            return None
        nothing = self.line(NOTHING)

        def none_pays(level: float) -> bool:
            problem = self.at(level)
            idle = nothing.profit(Fraction(problem.weights.grams))
            return -self.alone(problem) <= idle + abs(idle) * ROUNDING

        return nearby(found, none_pays)


def _last_paying(arrays: HorizonArrays) -> float | None:
    """Return the last level at which some run pays, up to rounding; `None` if runs pay at any.

    Where t or t + e is the edge of a slot, a run costs least. A machine that must stay on would idle in its place.
    """
    assert arrays.joule_grams is not None, "the tariff"
    assert arrays.earnings is not None, "tasks are optional"
    integral, last = Integral(arrays.edges, arrays.joule_grams), 0.0
    fees = Integral(arrays.edges, arrays.joule_costs - arrays.joule_grams)  # at level 1
    idle = np.where(arrays.may_be_off, 0.0, arrays.idle_watts)
    if (arrays.joule_grams.min(axis=1) < 0).any() and (arrays.idle_watts * arrays.may_be_off).any():
        return None  # idling may earn
    for i, column in zip(*np.nonzero(arrays.can_run), strict=True):
        j, e = arrays.machine_of[column], float(arrays.seconds[i, column])
        edges = arrays.edges
        starts = np.unique(np.concatenate((edges, edges - e)))
        starts = starts[(starts >= 0) & (starts + e <= edges[-1])]
        watts = arrays.watts[i, column] - idle[j]
        paid = watts * integral.over(starts, e)[j]
        gain = arrays.earnings[i] - arrays.moving[i, j] - arrays.wear[j] * e - watts * fees.over(starts, e)[j]
        if ((paid <= 0) & ((gain > 0) | (paid < 0))).any():
            return None
        pays = (gain > 0) & (paid > 0)
        last = max([last, *(gain[pays] / paid[pays]).tolist()])
    return last


def _chosen(search: FrontSearch, none_pays: float | None, end: float) -> list[Solved]:
    """Return relaxations at both ends, at the breakpoints of the linear program, and at level 1."""
    vertices = [search.found[place] for place in search.vertices()]
    levels = [(two.cost - one.cost) / (one.grams - two.grams) for one, two in pairwise(vertices)]
    levels += [0.0, end, TODAY] + ([] if none_pays is None else [none_pays, BELOW * none_pays])
    known = {each.problem.weights.grams: each for each in search.found}
    found: list[Solved] = []
    for level in sorted(each for each in levels if 0 <= each <= end):
        if found and level - found[-1].problem.weights.grams <= SAME * level:
            if level != TODAY:
                continue
            found.pop()
        near = min(known, key=lambda other: abs(other - level))
        same = near == level if level == TODAY else abs(near - level) <= SAME * level
        found.append(known[near] if same else search.at(level))
    return found
