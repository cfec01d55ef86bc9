"""Break-even price of a bag, break-even price of electricity, and worthwhile numbers of machines."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.bag import profit
from lpsched.bag.certificate.bounds import Multipliers, Prover
from lpsched.bag.cost import cost_model, exact_cost_model, has_price
from lpsched.bag.model import Bag, Terms
from lpsched.bag.pricing.machines import Baseline, is_large, machine_needs
from lpsched.bag.pricing.marginals import marginal_values
from lpsched.bag.pricing.one_more import Marginals, marginals_named, nearby
from lpsched.bag.pricing.price_curve import feasible_prover, least_price, price_of_ratio_one
from lpsched.bag.pricing.result import ElectricityBreakEven, ElectricityCurveSegment, PriceBreakEven, Sensitivity
from lpsched.bag.problem import PROFIT, Problem, Proved, build_problem, prove, prover_of
from lpsched.bag.recovery.stages import candidates
from lpsched.bag.relaxation import Regime, Relaxation, scaling_of
from lpsched.bag.result import Effort, Result
from lpsched.bag.schedule import NOTHING, Schedule
from lpsched.bag.search.curves import ElectricitySearch, ElectricitySegment, PriceSearch, with_electricity
from lpsched.bag.solve import DEFAULT_GAP, effort_named, run_stages
from lpsched.bag.verify import Measurement, examine
from lpsched.cancellation import timed
from lpsched.errors import InfeasibleError, InstanceError, NotFoundError
from lpsched.lp.solvers import default_solver
from lpsched.model.fields import SMALLEST, Amount, FrozenDict
from lpsched.model.fixed_point import rounded_down, rounded_up
from lpsched.model.problems import checked
from lpsched.model.provenance import provenance_of
from lpsched.units import SECONDS_PER_HOUR

if TYPE_CHECKING:
    from lpsched.lp.program import Solver
    from lpsched.model.table import Floats


# The break-even price: what the bag costs at least, proved; and what a verified schedule costs.
#
# The best rate at an income N is f(N) = max over (x, t) of (N - kappa x) / t - K: convex, and rising where
# anything runs. It is 0 at the break-even income, the least kappa x + K t. From the best (x, t) at some income
# to the income at which it breaks even is a Newton step; after the first they decrease (Dinkelbach's method).
MOST_STEPS: Final = 100
SAME: Final = 1e-13  # relative: a step no longer than that is none


def price_need(bag: Bag, prover: Prover, solver: Solver, *, price: float | None) -> PriceBreakEven:
    """Return the break-even price; `price` is the current one, if any."""
    costs, cheapest = exact_cost_model(bag), _cheapest_relaxation(bag, solver)
    needed = max(0.0, rounded_down(costs.price_at(prover.break_even(cheapest.multipliers))))
    gamma = price_of_ratio_one(bag, solver)
    return PriceBreakEven(
        needed=needed,
        needed_ratio=None if gamma is None else needed / gamma,
        needed_factor=needed / price if price else None,
        enough=_achieved_price(bag, cheapest, needed, solver),
        least_to_run=least_price(bag, prover),
    )


def _cheapest_relaxation(bag: Bag, solver: Solver) -> Relaxation:
    """Return the relaxation that is best at the income where it breaks even."""
    search, scales = PriceSearch(bag, solver), scaling_of(bag)
    money = profit.profit_model(scales)
    used = np.where(np.isfinite(money.costs), money.costs, 0.0)

    def breaks_even_at(shares: Floats, seconds: float) -> float:
        return float((used * shares).sum()) + money.fixed_rate * seconds

    soonest = scales.to_least(scales.loads)
    income = breaks_even_at(soonest, scales.makespan_of(soonest))
    best = search.at(income)
    for _ in range(MOST_STEPS):
        lower = breaks_even_at(best.shares, best.makespan_seconds)
        if math.isclose(lower, income, rel_tol=SAME):
            break
        income = lower
        best = search.at(income)
    return best


def _achieved_price(bag: Bag, relaxation: Relaxation, needed: float, solver: Solver) -> float | None:
    """Return the least price at which a verified schedule of this relaxation loses nothing."""
    priced = _priced(bag, needed)
    if priced is None:
        return None
    found = candidates(priced, PROFIT, relaxation, solver)
    if isinstance(found, str):
        return None
    prices = []
    for each in found:
        if each.schedule != NOTHING:
            price = max(0.0, needed - _earned(each.measured))
            prices.append(nearby(price, partial(_loses_nothing, partial(_priced, bag), each.schedule)))
    return min((price for price in prices if price is not None), default=None)


def _earned(measured: Measurement) -> float:
    """Return the profit per bag of a schedule that runs."""
    assert measured.makespan_seconds is not None
    assert measured.profit_per_hour is not None
    return measured.profit_per_hour * measured.makespan_seconds / SECONDS_PER_HOUR


def _loses_nothing(priced: Callable[[float], Bag | None], schedule: Schedule, price: float) -> bool:
    """Return whether a schedule is verified to lose nothing at a price, of the bag or of electricity."""
    bag = priced(price)
    measured = None if bag is None else examine(bag, schedule).measured
    return measured is not None and (measured.profit_per_hour or 0.0) >= 0


def _priced(bag: Bag, price: float) -> Bag | None:
    """Return the bag at a price; `None` if that is out of the range of files."""
    try:
        return Terms(price=price).applied_to(bag)
    except InstanceError:
        return None


# What electricity may cost: segments of the relaxation, each bound proved.
ROUNDING: Final = 1e-12  # relative: breakpoints this near are one
HIGHEST: Final = 1e30  # money per kWh in a file


def electricity_need(bag: Bag, present: Schedule | None, solver: Solver) -> ElectricityBreakEven:
    """Return what electricity may cost; `present` is the schedule at the current price."""
    curve = _ElectricityCurve(bag, ElectricitySearch(bag, solver), prover_of(bag))
    for piece in curve.search.segments():
        if piece.from_per_kwh < HIGHEST:
            curve.add(piece)
    tried = [] if present is None else [present]
    if curve.last_to_earn is not None and curve.even is not None:
        at = with_electricity(bag, curve.even)
        found = candidates(at, PROFIT, curve.last_to_earn, solver)
        tried += [] if isinstance(found, str) else [each.schedule for each in found]
    waits_from, waits_to = curve.do_not_run()
    return ElectricityBreakEven(
        price_per_kwh=bag.prices.electricity_per_kwh or 0.0,
        earns_up_to=_earns_up_to(bag, [each for each in tried if each != NOTHING]),
        no_profit_from=curve.no_profit_from(),
        do_not_run_from=waits_from,
        pieces=tuple(curve.pieces),
        do_not_run_to=waits_to,
    )


@dataclass(slots=True)
class _ElectricityCurve:
    """The segments so far; `even` is the break-even price of the relaxation, `last_to_earn` what is best there."""

    bag: Bag
    search: ElectricitySearch
    prover: Prover
    pieces: list[ElectricityCurveSegment] = field(default_factory=list)
    even: float | None = None
    last_to_earn: Relaxation | None = None

    def add(self, piece: ElectricitySegment) -> None:
        """Add a segment, split where it passes from profit to loss."""
        start, stop = piece.from_per_kwh, piece.to_per_kwh
        if piece.relaxation is None:
            self.even = start if self.even is None else self.even
            self._add(start, stop, Regime.DO_NOT_RUN, None)
            return
        even = self._breaks_even_at(piece)
        if self.even is not None or even <= start or (start and math.isclose(even, start, rel_tol=ROUNDING)):
            self.even = start if self.even is None else self.even
            self._add(start, stop, Regime.LOSS, piece.at_from)
            return
        self.last_to_earn = piece.relaxation
        if stop is not None and (stop <= even or math.isclose(even, stop, rel_tol=ROUNDING)):
            self._add(start, stop, Regime.PROFIT, piece.at_from)
        elif even >= HIGHEST:
            self._add(start, None, Regime.PROFIT, piece.at_from)
        else:
            self.even = even
            self._add(start, even, Regime.PROFIT, piece.at_from)
            self._add(even, stop, Regime.LOSS, self.search.at(even))

    def no_profit_from(self) -> float | None:
        """Return a price just above break-even at which no schedule earns (proved), and so at all prices above."""
        if self.even is None:
            return None
        return nearby(
            self.even, lambda price: min(self._bound(price, None), self._bound(price, self.search.at(price))) <= 0
        )

    def do_not_run(self) -> tuple[float | None, float | None]:
        """Return the first and the last price at which it is proved best not to run; no last one: it has no end.

        The least running cost, sum_i n_i min_jk kappa_ijk, is a sum of minima of lines in the price of a joule:
        concave, so that it covers the income between any two prices at which it does. It never falls again if
        the least joules above idle, its slope at the highest prices, are not negative.
        """
        for piece in self.pieces:
            if piece.regime is Regime.DO_NOT_RUN:
                first = nearby(piece.from_price_per_kwh, self._waits)
                if first is None or self.prover.least_joules_above_idle() >= 0:
                    return first, None
                last = piece.to_price_per_kwh
                end = None if last is None else nearby(last, self._waits, upwards=False)
                return first, first if end is None else max(first, end)
        return None, None

    def _breaks_even_at(self, piece: ElectricitySegment) -> float:
        """Return the price of a kilowatt-hour at which a segment earns nothing; infinite if it draws nothing."""
        watts = piece.watts_above_idle + float(self.prover.idle_watts)
        money = piece.money_per_second - float(self.prover.at_electricity(0.0).fixed_rate())
        if watts <= 0:
            return math.inf if money > 0 else 0.0
        return cost_model(self.bag).kwh_price(money / watts)

    def _add(self, start: float, stop: float | None, regime: Regime, at_start: Relaxation | None) -> None:
        if stop is not None and stop <= start:  # no wider than rounding
            return
        bound = self._bound(start, at_start)
        if self.pieces:
            self.pieces[-1] = replace(self.pieces[-1], to_price_per_kwh=start, bound_at_to=bound)
        self.pieces.append(ElectricityCurveSegment(start, None, regime, bound, None))

    def _bound(self, per_kwh: float, best: Relaxation | None) -> float:
        """Return the bound at a price, proved with the multipliers of the relaxation there, if anything runs."""
        prices = Multipliers.zero(self.bag) if best is None else best.multipliers
        return rounded_up(SECONDS_PER_HOUR * self.prover.at_electricity(per_kwh).rate(prices))

    def _waits(self, per_kwh: float) -> bool:
        """Return whether it is proved best not to run."""
        prover = self.prover.at_electricity(per_kwh)
        return prover.income() <= prover.least_running_cost()


def _earns_up_to(bag: Bag, schedules: list[Schedule]) -> float | None:
    """Return the highest price of a kilowatt-hour at which one of these schedules loses nothing: verified."""
    highest: float | None = None
    free = with_electricity(bag, 0.0)
    for schedule in schedules:
        measured = examine(free, schedule).measured
        if measured is None or not (measured.profit_per_hour or 0.0) > 0 or not measured.energy_joules:
            continue
        price = _earned(measured) / cost_model(bag).metered_kwh(measured.energy_joules)
        near = nearby(price, partial(_loses_nothing, partial(with_electricity, bag), schedule), upwards=False)
        highest = max((each for each in (near, highest) if each is not None), default=None)
    return highest


CHECK_HOURS: Final = Amount("hours", least=SMALLEST)
MOST_PAIRS: Final = 5_000  # some 200 segments, each some programs of 0.1 s
NO_PRICE: Final = (
    "Without a current price, electricity and machines are left out; give one (--price or --profit-ratio)."
)


def sensitivity(  # noqa: PLR0913 - options are keyword-only
    bag: Bag | Path | str,
    *,
    price: float | None = None,
    profit_ratio: float | None = None,
    power_cap: float | None = None,
    deadline: float | None = None,
    lifetime_hours: float | None = None,
    effort: str | None = None,
    marginals: str = "top",
    seed: int = 0,
    solver: Solver | None = None,
) -> Sensitivity:
    """Return the break-even price, what electricity may cost, and how many more machines are worthwhile.

    Parameters
    ----------
    bag
        A bag, or the path of its file.
    price, profit_ratio
        Price of the whole bag, in place of its own prices; or that as a multiple of the current cost of its least
        energy. Without any price, only the break-even price is computed.
    power_cap, deadline
        Watts and seconds, in place of the site's own.
    lifetime_hours
        Life of machines whose type has none.
    marginals
        `top`: what one whole machine more changes, proved, for the three types of largest marginal value.
        `proved`: for all types, with that effort. `lp`: for none.
    effort, seed, solver
        As in `solve`, for the current machines.

    Raises
    ------
    ValueError, InstanceError, InfeasibleError, SolverError, InvalidScheduleError
        As `solve` does; also if there are no such marginals, or the bag lacks watts or the price of electricity.

    Examples
    --------
    >>> from lpsched.bag.model import Bag
    >>> from lpsched.bag.parts import MachineType, Prices, TaskType
    >>> from lpsched.model.table import Table
    >>> cpu, render = MachineType(name="cpu", count=2), TaskType(name="render", count=4)
    >>> prices = Prices(per_bag=10.0, electricity_per_kwh=1.0)
    >>> one = Bag("b", (cpu,), (render,), Table.of([[3600.0]]), Table.of([[1000.0]]), prices)
    >>> found = sensitivity(one)  # 4 kWh; 10 USD cover them up to 2.5 a kWh; 2 more machines halve 2 hours
    >>> found.price_need.needed, found.electricity.no_profit_from, found.machines[0].most_more
    (4.0, 2.5, 2)
    """
    bag = Bag.given(bag)
    solver = solver if solver is not None else default_solver()
    level = Effort.AUTO if effort is None else effort_named(effort)
    steps = marginals_named(marginals)
    hours = checked("lifetime_hours", lifetime_hours, CHECK_HOURS)
    known = price is not None or profit_ratio is not None or has_price(bag)
    question = build_problem(bag, Terms("profit", price if known else 0.0, profit_ratio, power_cap, deadline), solver)
    timings: dict[str, float] = {}
    with timed(timings, "price"):
        prover = feasible_prover(question.bag, solver)
        revenue = cost_model(question.bag).revenue if known else None
        needed = price_need(question.bag, prover, solver, price=revenue)
        ratio = None
        if revenue is not None and needed.needed_ratio:
            ratio = revenue * needed.needed_ratio / needed.needed
    result = Sensitivity(
        unit=question.objective.unit(bag),
        price=revenue,
        profit_ratio=ratio,
        bound=None,
        value=None,
        price_need=needed,
        electricity=None,
        machines=(),
        notes=(NO_PRICE,),
        timings=FrozenDict(),
        provenance=provenance_of(bag, solver.name),
    )
    if known:
        with timed(timings, "present"):
            proved, found = prove(question, solver), None
            with suppress(InfeasibleError, NotFoundError):  # whole tasks may miss the deadline
                found = run_stages(question, solver, gap=DEFAULT_GAP, effort=level, seed=seed)
        result = _at_price(
            result, question, proved, found, solver, lifetime_hours=hours, marginals=steps, timings=timings
        )
    return replace(result, timings=FrozenDict(timings))


def _at_price(  # noqa: PLR0913 - the options of `sensitivity`
    result: Sensitivity,
    question: Problem,
    proved: Proved,
    found: Result | None,
    solver: Solver,
    *,
    lifetime_hours: float | None,
    marginals: Marginals,
    timings: dict[str, float],
) -> Sensitivity:
    """Return the result with electricity and machines at the bag's price."""
    bag, notes, electricity = question.bag, [], None
    bound, value = (proved.bound, None) if found is None else (found.bound, found.value)
    pairs = len(bag.task_types) * len(bag.modes)
    if pairs > MOST_PAIRS:
        note = f"Electricity and machines are left out: {pairs:,} pairs of types, {MOST_PAIRS:,} at most."
        return replace(result, bound=bound, value=value, notes=(note,))
    if bag.watts is None:
        notes.append("Electricity is left out: the bag has no watts.")
    else:
        with timed(timings, "electricity"):
            electricity = electricity_need(bag, None if found is None else found.schedule, solver)
    with timed(timings, "machines"):
        makespan = None if proved.relaxed is None else proved.relaxed.makespan_seconds
        worth = marginal_values(bag, proved.relaxed, solver) if found is None else found.worth
        present = Baseline(bound, found, worth, makespan)
        machines = machine_needs(question, present, solver, lifetime_hours=lifetime_hours, marginals=marginals)
    if is_large(bag):
        notes.append(f"How the bound grows machine by machine is left out: {pairs:,} pairs of task and machine types.")
    return replace(result, bound=bound, value=value, electricity=electricity, machines=machines, notes=tuple(notes))
