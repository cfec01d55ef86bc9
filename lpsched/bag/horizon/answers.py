"""What a plan over a horizon is compared with, and what more would be worth."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.bag.horizon.certificate import HorizonMultipliers, prove
from lpsched.bag.horizon.recovery import recover
from lpsched.bag.horizon.relaxation import Prices, best_choices, machine_values, relax_work
from lpsched.bag.horizon.result import AT_ONCE, BASELINES, MEAN, Baseline, MachineWorth
from lpsched.bag.horizon.runs import machine_prices_of
from lpsched.bag.horizon.schedule import Plan, PlanGroup, TimedRun
from lpsched.bag.horizon.solve import HorizonProblem, costs_of, plan_of
from lpsched.bag.horizon.verify import PlanMeasurement, measure_plan, verify_plan
from lpsched.bag.schedule import Schedule, numbered, run_of
from lpsched.bag.solve import solve as solve_bag
from lpsched.errors import InfeasibleError, NotFoundError
from lpsched.model.fixed_point import rounded_down, rounded_up

if TYPE_CHECKING:
    from lpsched.bag.horizon.arrays import HorizonArrays
    from lpsched.bag.model import Bag
    from lpsched.cancellation import CancelToken
    from lpsched.lp.program import Solver

BASELINE_WORK: Final = 1.0  # counted seconds of the search for a plan to compare with
REASONS: Final = {
    "over-power-cap": "it draws more than the power cap",
    "after-horizon": "it takes longer than the horizon",
}
EARLIER: Final = 1e-3  # what the mean price rises by until the end of the horizon, so that tasks run early


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


def at_once(problem: HorizonProblem, solver: Solver) -> Plan:
    """Return the shortest schedule, from the start of the horizon."""
    bag = problem.bag.without_limits()
    return plan_of_schedule(bag, solve_bag(bag, objective="makespan", effort="balanced", solver=solver).schedule)


def plan_of_schedule(bag: Bag, schedule: Schedule) -> Plan:
    """Return a schedule as a plan: each machine runs its tasks from the start, in their order."""
    groups = []
    for j, machines, own in numbered(bag, schedule):
        ready, runs = Fraction(0), []
        for i, column, count in own:
            begin, run = rounded_up(ready), run_of(bag, i, column, count)
            runs.append(TimedRun(begin, run.task_type, run.count, run.p_state))
            ready = Fraction(begin) + count * Fraction(bag.seconds[i, column] or 0.0)
        groups.append(PlanGroup(bag.machine_types[j].name, machines, tuple(runs)))
    return Plan(tuple(groups))


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


# What more would be worth.
def machine_worth(
    problem: HorizonProblem, arrays: HorizonArrays, prices: Prices, multipliers: HorizonMultipliers, value: Fraction
) -> tuple[MachineWorth, ...]:
    """Return, for each machine type, the derivative of the bound, and what one more can save at most."""
    rates = prices.machine_prices
    if rates is None or arrays.switch_on.any():  # being on may lose money until the next run: prices of machines do not
        values = machine_values(arrays, best_choices(arrays, prices).rates)
    else:
        values = rates @ arrays.lengths
    found = []
    for j, machine in enumerate(problem.bag.machine_types):
        types = list(problem.bag.machine_types)
        types[j] = machine.model_copy(update={"count": machine.count + 1})
        more = problem.bag.model_copy(update={"machine_types": tuple(types)})
        bound = prove(more, problem.slots, problem.weights, multipliers)
        least = -bound if problem.objective == "profit" else bound
        saved = least - value if problem.objective == "profit" else value - least
        found.append(MachineWorth(machine.name, float(values[j]), max(0.0, rounded_up(saved))))
    return tuple(found)
