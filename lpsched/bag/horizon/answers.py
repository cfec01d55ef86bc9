"""What a plan over a horizon is compared with, and what one more machine or another hour would change."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.bag.horizon.certificate import HorizonMultipliers, prove
from lpsched.bag.horizon.fronts import PlanSearch, Solved
from lpsched.bag.horizon.recovery import recover
from lpsched.bag.horizon.relaxation import Relaxed, best_choices, machine_values, relax_work
from lpsched.bag.horizon.result import AT_ONCE, BASELINES, MEAN, Baseline, MachineWorth, OtherHorizon
from lpsched.bag.horizon.runs import machine_prices_of
from lpsched.bag.horizon.slots import require_idle_power, slots_of
from lpsched.bag.horizon.solve import (
    HorizonProblem,
    at_once,
    costs_of,
    multipliers_of,
    plan_of,
    relax,
    require_possible,
    require_time,
)
from lpsched.bag.horizon.verify import PlanMeasurement, measure_plan, verify_plan
from lpsched.bag.model import with_machines
from lpsched.bag.pricing.one_more import Marginals, selected_types
from lpsched.errors import InfeasibleError, InstanceError, NotFoundError, SolverError
from lpsched.model.fields import MOST, FrozenDict
from lpsched.model.fixed_point import rounded_down, rounded_up
from lpsched.units import SECONDS_PER_HOUR

if TYPE_CHECKING:
    from lpsched.bag.horizon.arrays import HorizonArrays
    from lpsched.bag.horizon.schedule import Plan
    from lpsched.cancellation import CancelToken
    from lpsched.lp.program import Solver

NO_PLAN: Final = "no plan then (proved)"
BASELINE_WORK: Final = 1.0  # counted seconds of the search for a plan to compare with
REASONS: Final = {
    "over-power-cap": "it draws more than the power cap",
    "after-horizon": "it takes longer than the horizon",
}
EARLIER: Final = 1e-3  # what the mean price rises by until the end of the horizon, so that tasks run early
MOST_HOUR_SLOTS: Final = 2_000  # up to which horizons of an hour more and less are solved, too
MOST_HOUR_PAIRS: Final = 1_000_000  # likewise: pairs times slots


# Plans to compare with.
def baselines_of(
    problem: HorizonProblem, own_plan: PlanMeasurement, solver: Solver, cancel: CancelToken, seed: int
) -> tuple[Baseline, ...]:
    """Return other plans, verified and measured, and what this plan saves of them."""
    value = problem.value(own_plan)
    made = []
    for name in (AT_ONCE, MEAN):
        try:
            other = at_once(problem, solver) if name == AT_ONCE else at_mean(problem, solver, cancel, seed)
            broken = verify_plan(problem.bag, problem.slots, other, optional=problem.weights.optional)
            if broken:
                made.append(
                    Baseline(name, BASELINES[name], None, None, reason=REASONS.get(broken[0].code, "not valid"))
                )
                continue
            measured = measure_plan(problem.bag, problem.slots, other)
            own = problem.value(measured)
            saves = None
            if own:
                saves = float((own - value) / abs(own)) * (-1 if problem.objective == "profit" else 1)
            rounded = rounded_down(own) if problem.objective == "profit" else rounded_up(own)
            market = _market_saves(problem, own_plan, measured)
            made.append(Baseline(name, BASELINES[name], rounded, costs_of(measured), saves, market_saves=market))
        except (InfeasibleError, NotFoundError) as error:
            made.append(Baseline(name, BASELINES[name], None, None, reason=str(error)))
    return tuple(made)


def _market_saves(problem: HorizonProblem, own: PlanMeasurement, other: PlanMeasurement) -> float | None:
    """Return the share of what another plan pays at market prices that is saved; `None` where there are no fees."""
    if problem.objective != "cost" or not other.fees or not other.electricity:
        return None
    return float((other.electricity - own.electricity) / abs(other.electricity))


def at_mean(problem: HorizonProblem, solver: Solver, cancel: CancelToken, seed: int) -> Plan:
    """Return a plan at the mean of each series, which rises a little so that tasks run early."""
    slots = problem.slots
    lengths = np.diff(slots.edges)
    middle = 0.5 * (np.array(slots.edges[1:]) + np.array(slots.edges[:-1])) / slots.horizon

    def mean(values: tuple[float, ...] | None) -> tuple[float, ...] | None:
        if values is None:
            return None
        average = float(np.array(values) @ lengths / lengths.sum())
        return tuple((average + abs(average) * EARLIER * middle).tolist())

    sites = tuple(replace(site, tariff=mean(site.tariff) or (), carbon=mean(site.carbon)) for site in slots.sites)
    flat = replace(problem, slots=replace(slots, sites=sites))
    arrays = flat.arrays()
    work = relax_work(arrays, solver, cancel)
    prices = replace(work.prices, machine_prices=machine_prices_of(arrays, work.prices))
    found = recover(arrays, prices, solver, cancel, work=BASELINE_WORK, seed=seed, peaks=work.peaks)
    return plan_of(flat, arrays, found)


# What more would be worth: one more machine, and another horizon.
#
# The best value with a change lies between a proved bound and a verified plan, as it does without it: so what the
# change saves of the best value is known between two numbers. Where a plan without the change is one with it, at a
# known extra cost, the best value rises by no more than that. All is written here for what is minimised.
@dataclass(frozen=True, slots=True)
class Present:
    """A problem, what is proved and found of it, and how others are solved to compare with it."""

    problem: HorizonProblem
    arrays: HorizonArrays
    relaxed: Relaxed
    multipliers: HorizonMultipliers
    plan: Plan
    value: Fraction  # of the plan, as it is minimised
    bound: Fraction  # likewise
    solver: Solver
    cancel: CancelToken
    budget: CancelToken  # of the searches for plans with a change, all together
    work: float  # counted seconds of each
    seed: int

    def again(self, problem: HorizonProblem) -> tuple[Fraction, Fraction | None]:
        """Return the bound of a problem and the value of a verified plan, `None` if none was looked for or found.

        Raises
        ------
        InfeasibleError
            If there is no plan.
        """
        if problem.objective != "profit":
            require_time(problem, self.solver)
        arrays = problem.arrays()
        relaxed = relax(arrays, self.solver, self.cancel)
        multipliers = multipliers_of(problem, arrays, relaxed.prices, relaxed.fine_prices)
        bound = prove(problem.bag, problem.slots, problem.weights, multipliers)
        require_possible(problem, bound)
        if self.budget.expired():
            return bound, None
        search = PlanSearch(self.solver, self.budget, self.work, self.seed)
        made = search.near(Solved(problem, arrays, relaxed), relaxed.prices, float(bound))
        return bound, None if made is None else made[1].value(problem.weights)

    def kept(self, problem: HorizonProblem) -> Fraction | None:
        """Return the value of the plan as it is in another problem; `None` if it is not valid there."""
        if verify_plan(problem.bag, problem.slots, self.plan, optional=problem.weights.optional):
            return None
        return measure_plan(problem.bag, problem.slots, self.plan).value(problem.weights)


def machine_worth(now: Present, marginals: Marginals) -> tuple[MachineWorth, ...]:
    """Return, for each machine type, the derivative of the bound, and between what one more saves, proved."""
    arrays, prices, types = now.arrays, now.relaxed.prices, now.problem.bag.machine_types
    rates, fine = prices.machine_prices, now.relaxed.fine_prices
    if fine is not None:  # of parts of slots, all of the same length
        rates = fine.reshape(len(types), len(arrays.lengths), -1).mean(axis=2)
    if rates is None or arrays.switch_on.any():  # being on may lose money until the next run: prices of machines do not
        values = machine_values(arrays, best_choices(arrays, prices).rates)
    else:
        values = rates @ arrays.lengths
    marginal = FrozenDict(zip([machine.name for machine in types], values.tolist(), strict=True))
    chosen = [] if marginals is Marginals.LP else selected_types(marginals, marginal)
    if marginals is Marginals.TOP:  # a plan with as large a gap would prove nothing of the others
        chosen = [name for name in chosen if marginal[name] > now.value - now.bound]
    if now.problem.bag.machines >= MOST:  # of any file
        return ()
    return tuple(
        _one_more(now, j, marginal[machine.name], search=machine.name in chosen) for j, machine in enumerate(types)
    )


def _one_more(now: Present, j: int, marginal: float, *, search: bool) -> MachineWorth:
    """Return what one more machine of a type saves at most and at least; with or without a search for a plan."""
    problem, machine = now.problem, now.problem.bag.machine_types[j]
    more = replace(problem, bag=with_machines(problem.bag, {machine.name: machine.count + 1}))
    try:
        require_idle_power(more.bag, more.slots)
    except InfeasibleError:
        return MachineWorth(machine.name, marginal, None, reason=NO_PLAN)
    bound = prove(more.bag, problem.slots, problem.weights, now.multipliers)
    site, least = problem.slots.sites[problem.slots.site_of[j]], []
    value = now.value if machine.may_be_off else now.kept(more)  # off, or idle
    if value is not None and (machine.may_be_off or (site.cap_watts is None and not site.demand_charge)):
        least.append(now.value - value)  # likewise in any other plan, at the same extra cost
    if search and not now.cancel.expired():
        try:
            proved, found = now.again(more)
        except InfeasibleError:
            if not machine.may_be_off:  # its idle power leaves too little below a cap
                return MachineWorth(machine.name, marginal, None, reason=NO_PLAN)
            proved, found = bound, None
        except SolverError:
            proved, found = bound, None
        bound, value = max(bound, proved), min((each for each in (value, found) if each is not None), default=None)
    if value is not None:
        least.append(now.bound - value)
    low = rounded_down(max(least)) if least else None
    return MachineWorth(machine.name, marginal, rounded_up(now.value - bound), low)


def other_horizons(now: Present) -> tuple[OtherHorizon, ...]:
    """Return what is proved if the horizon ends an hour earlier or later; nothing of large problems."""
    slots = now.problem.slots
    if slots.count > MOST_HOUR_SLOTS or now.arrays.can_run.size * slots.count > MOST_HOUR_PAIRS:
        return ()
    ends = (slots.horizon - SECONDS_PER_HOUR, slots.horizon + SECONDS_PER_HOUR)
    return tuple(_other_horizon(now, end) for end in ends if end > 0 and not now.cancel.expired())


def _other_horizon(now: Present, end: float) -> OtherHorizon:
    problem, slots, earns = now.problem, now.problem.slots, now.problem.objective == "profit"
    try:
        changed = slots_of(problem.bag, horizon=end, start=slots.start, need=())
    except InstanceError:  # of a bag that is valid
        return OtherHorizon(end, None, None, None, "not known: a series ends before")
    except InfeasibleError:
        return OtherHorizon(end, None, None, None, "idle machines draw more than the power cap then")
    other = replace(problem, slots=changed)
    try:
        bound, value = now.again(other)
    except InfeasibleError:
        return OtherHorizon(end, None, None, None, "no plan finishes all tasks (proved)")
    except SolverError:
        return OtherHorizon(end, None, None, None, "not known: the solver failed")
    kept, rise = now.kept(other), None
    if end > slots.horizon and not any(site.demand_charge or site.cap_watts for site in slots.sites):
        rise = None if kept is None else kept - now.value  # of any plan: machines that must stay on idle for longer
    if end > slots.horizon and all(machine.may_be_off for machine in problem.bag.machine_types):
        rise = Fraction(0) if rise is None else min(rise, Fraction(0))
    most = [each - now.bound for each in (value, kept) if each is not None]
    most += [] if rise is None else [rise]
    low, high = rounded_down(bound - now.value), rounded_up(min(most)) if most else None
    if earns:
        return OtherHorizon(end, rounded_up(-bound), None if high is None else -high, -low)
    return OtherHorizon(end, rounded_down(bound), low, high)
