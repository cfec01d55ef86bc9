"""Every schedule of a tiny bag against what `solve` says, without a tolerance: all numbers are fractions.

A bound is rounded to the side that stays true, and a value to the worse side, so nothing here is approximate.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import pytest
from hypothesis import currently_in_test_context, event, given, settings
from hypothesis import strategies as st

import lpsched
from lpsched.bag.model import Bag
from lpsched.bag.parts import MachineType, Prices, Site, TaskType
from lpsched.bag.relaxation import Regime
from lpsched.errors import InfeasibleError, NotFoundError
from lpsched.model.table import Table
from tests.property.tiny import Case, Ledger, case_of, cases

# The papers' method: what is tested here is about the relaxation, not about how hard is searched.
solve = partial(lpsched.solve, effort="fast")


@dataclass(frozen=True)
class Measured:
    """What a schedule takes, exactly."""

    seconds: Fraction
    joules: Fraction | None
    money_per_hour: Fraction | None


def measured(bag, schedule) -> Measured:
    """Check a schedule that runs something against every rule, machine by machine, and measure it."""
    machine_types = {each.name: each for each in bag.machine_types}
    row = {task.name: i for i, task in enumerate(bag.task_types)}
    column = {
        (bag.machine_types[j].name, (bag.machine_types[j].p_states or (None,))[k]): c
        for c, (j, k) in enumerate(bag.modes)
    }
    done: Counter[str] = Counter()
    busy_joules, worn, machines = Fraction(0), Fraction(0), []
    for group in schedule.groups:
        for _ in range(group.machines):
            load = Fraction(0)
            for run in group.runs:
                cell = row[run.task_type], column[group.machine_type, run.p_state]
                seconds = Fraction(bag.seconds[cell])  # an absent pair is None, and fails here
                load += run.count * seconds
                if bag.watts is not None:
                    busy_joules += run.count * seconds * Fraction(bag.watts[cell])
                done[run.task_type] += run.count
            machines.append((group.machine_type, load))
            worn += load * Fraction(machine_types[group.machine_type].wear_per_busy_hour) / 3600
    assert done == {task.name: task.count for task in bag.task_types}
    used = Counter(name for name, _ in machines)
    assert all(used[name] <= machine_types[name].count for name in used)
    makespan = max(load for _, load in machines)
    if schedule.makespan_seconds is not None:
        assert schedule.makespan_seconds >= makespan
        makespan = Fraction(schedule.makespan_seconds)
    machines += [(name, Fraction(0)) for name, each in machine_types.items() for _ in range(each.count - used[name])]
    joules = None
    if bag.watts is not None:
        waiting = sum((makespan - load) * Fraction(machine_types[name].idle_watts) for name, load in machines)
        joules = busy_joules + waiting
    site = bag.site
    if site.deadline_seconds is not None:
        assert makespan <= site.deadline_seconds
    if site.average_power_cap_watts is not None:
        assert joules is not None
        metered = joules * Fraction(site.pue) if site.cap_measured_at == "facility" else joules
        assert metered / makespan <= site.average_power_cap_watts
    prices, money = bag.prices, None
    if prices.per_bag is not None:
        revenue = Fraction(prices.per_bag)
        revenue += sum(task.count * Fraction(prices.per_task.get(task.name, 0.0)) for task in bag.task_types)
        kilowatt_hours = (joules or 0) * Fraction(site.pue) / 3_600_000
        paid = kilowatt_hours * Fraction(prices.electricity_per_kwh) + worn + Fraction(prices.overhead_per_bag)
        money = (revenue - paid) / (makespan / 3600) - 3600 * Ledger(bag).lost
    return Measured(makespan, joules, money)


def is_rounded_up(rounded: float, exact: Fraction) -> bool:
    return math.nextafter(rounded, -math.inf) < exact <= rounded


def is_rounded_down(rounded: float, exact: Fraction) -> bool:
    return is_rounded_up(-rounded, -exact)


def note(outcome: str) -> None:
    """Count an outcome in Hypothesis's statistics (`--hypothesis-show-statistics`)."""
    if currently_in_test_context():
        event(outcome)


def check_minimum(case: Case, objective: str) -> None:
    best = case.best(objective)
    try:
        result = solve(case.bag, objective=objective)
    except InfeasibleError:
        note("infeasible")
        assert best is None
        return
    except NotFoundError:
        note(f"not found, though there is one: {best is not None}")
        return
    note("solved")
    took = measured(case.bag, result.schedule)
    assert best is not None
    exact = took.seconds if objective == "makespan" else took.joules
    assert exact is not None
    assert is_rounded_up(result.value, exact)
    assert result.bound <= best <= result.value
    assert result.measured.makespan_seconds is not None
    assert is_rounded_up(result.measured.makespan_seconds, took.seconds)


@settings(deadline=None, max_examples=60)
@given(cases())
def test_no_schedule_is_done_before_the_bound_and_none_is_shorter_than_the_best(case):
    check_minimum(case, "makespan")


@settings(deadline=None, max_examples=60)
@given(cases(watts=True))
def test_no_schedule_takes_less_energy_than_the_bound_and_none_beats_the_best(case):
    check_minimum(case, "energy")


def check_profit(case: Case) -> None:
    ledger, best = Ledger(case.bag), case.best("profit")
    try:
        result = solve(case.bag, objective="profit")
    except InfeasibleError:
        note("infeasible")
        assert best is None
        return
    except NotFoundError:
        note(f"not found, though there is one: {best is not None}")
        return
    note(f"{result.regime}, bound {result.bound_regime}")
    waiting = -3600 * ledger.standing
    if result.schedule.groups:
        exact = measured(case.bag, result.schedule).money_per_hour
        assert exact is not None
    else:
        assert case.bag.site.deadline_seconds is None  # else the work is owed
        exact = waiting
    assert is_rounded_down(result.value, exact)
    assert result.value <= result.bound
    assert best is None or result.value <= 3600 * best <= result.bound


@settings(deadline=None, max_examples=100)
@given(cases())
def test_no_schedule_earns_more_than_the_bound_and_the_value_is_earned(case):
    check_profit(case)


@settings(deadline=None, max_examples=80)
@given(cases())
def test_the_regimes_are_named_by_their_definitions(case):
    try:
        result = solve(case.bag, objective="profit")
    except (InfeasibleError, NotFoundError):
        return  # no answer, no regime
    ledger = Ledger(case.bag)
    not_worth_it = ledger.income <= ledger.least_running_cost() and ledger.deadline is None
    assert (result.bound_regime is Regime.DO_NOT_RUN) == not_worth_it
    assert (result.regime is Regime.PROFIT) == (result.value > 0)
    assert (result.regime is Regime.DO_NOT_RUN) == (not result.schedule.groups)
    if not_worth_it:  # then waiting is best, and nothing is left between value and bound but their rounding
        assert result.regime is Regime.DO_NOT_RUN
        assert result.bound in (result.value, math.nextafter(result.value, math.inf))


@settings(deadline=None, max_examples=60)
@given(cases(), st.sampled_from(["makespan", "profit"]))
def test_terms_beside_the_bag_say_what_the_bag_could_say_itself(case, objective):
    bag, site = case.bag, case.bag.site
    prices = bag.prices.model_copy(update={"per_task": {}})
    said = bag.model_copy(update={"prices": prices})
    beside = bag.model_copy(
        update={
            "prices": bag.prices.model_copy(update={"per_bag": None}),
            "site": site.model_copy(update={"average_power_cap_watts": None, "deadline_seconds": None}),
        }
    )

    def answer(bag, **terms):
        try:
            result = solve(bag, objective=objective, **terms)
        except (InfeasibleError, NotFoundError) as error:
            return type(error)
        return result.value, result.bound, result.regime, result.schedule

    assert answer(said) == answer(
        beside, price=prices.per_bag, power_cap=site.average_power_cap_watts, deadline=site.deadline_seconds
    )


def one_task(seconds, watts, *, idle, wear=(0.0, 0.0), price=0.0, tasks=1, machines=(1, 1), **site) -> Case:
    """Return equal tasks on two machine types; electricity costs nothing."""
    parts = enumerate(zip(machines, idle, wear, strict=True))
    bag = Bag(
        "one",
        tuple(MachineType(name=f"m{j}", count=m, idle_watts=b, wear_per_busy_hour=w) for j, (m, b, w) in parts),
        (TaskType(name="t", count=tasks),),
        Table.of([seconds]),
        Table.of([watts]),
        Prices(per_bag=price, electricity_per_kwh=0.0),
        Site(**site),
    )
    return case_of(bag)


def check(case: Case, objective: str) -> None:
    if objective == "profit":
        check_profit(case)
    else:
        check_minimum(case, objective)


@pytest.mark.parametrize("objective", ["makespan", "energy", "profit"])
def test_a_cap_below_idle_is_kept_by_a_slow_machine_that_draws_less(objective):
    # Two machines idle at 10 W: 20 W. The task takes 1 s at 18 W, 8 J above idle, or 4 s at 2 W, 32 J below. A cap
    # of 13 W asks for D <= -7 t: the slow machine keeps it for 4 to 32 / 7 s, the fast one never does.
    case = one_task([1.0, 4.0], [18.0, 2.0], idle=[10.0, 10.0], average_power_cap_watts=13.0, deadline_seconds=5.0)
    assert case.best("makespan") == 4
    check(case, objective)


def test_doing_nothing_never_earns_more_than_the_bound_even_where_the_cap_is_below_idle():
    # 4 s at 18 W cost nothing but break the cap of 13 W; 4 s at 2 W keep it and wear 4 off. A bag brings 1: more
    # than the 0 that its cheapest tasks cost, so it is not refused; but at best it loses 3, and waiting nothing.
    case = one_task(
        [4.0, 4.0], [18.0, 2.0], idle=[10.0, 10.0], wear=[0.0, 3600.0], price=1.0, average_power_cap_watts=13.0
    )
    assert case.best("profit") == 0
    check_profit(case)


@pytest.mark.parametrize("objective", ["makespan", "energy", "profit"])
@pytest.mark.parametrize("watts", [2.0 - 2e-12, 2.0 - 4.5e-16, 2.0, 2.0 + 4.5e-16, 2.0 + 2e-12, 2.0 + 2e-10])
def test_a_cap_a_hair_from_the_idle_floor_is_kept_by_a_task_that_draws_less(objective, watts):
    # Two machines idle at 1 W: 2 W. The task takes 1 s at 2 W, or 1 s at 0 W, which is 1 J below idle: that keeps
    # any cap from 1 W up.
    case = one_task([1.0, 1.0], [2.0, 0.0], idle=[1.0, 1.0], price=1.0, average_power_cap_watts=watts)
    assert case.best(objective) == 1
    check(case, objective)


def test_a_price_one_double_above_the_marginal_cost_is_answered():
    # 5 tasks of 1 s wear 0.1 off each on one machine (360 per hour), and more on two others.
    case = one_task(
        [1.0, 1.0],
        [0.0, 0.0],
        idle=[0.0, 0.0],
        wear=[360.0, 13000.0],
        price=math.nextafter(0.5, 1.0),
        tasks=5,
        machines=(1, 2),
    )
    check_profit(case)
