"""Tiny bags with all their plans on a grid of whole seconds, each integrated second by second."""

from __future__ import annotations

import random
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING

import pytest

from lpsched.bag.horizon.certificate import HorizonMultipliers, fitted, prove, prove_runs, prove_work
from lpsched.bag.horizon.schedule import IdleSpan, Plan, PlanGroup, TimedRun
from lpsched.bag.horizon.verify import measure_plan, verify_plan
from models.horizon import least_by_runs, least_by_work
from tests.bag.horizon.tiny_horizons import WEIGHTS, drawn, with_fee

if TYPE_CHECKING:
    from lpsched.bag.horizon.slots import Slots, Weights
    from lpsched.bag.model import Bag

OFF, IDLE = (-1, -1), (-2, -1)
CASES = 50
Seconds = tuple[tuple[int, int, bool], ...]  # of each second: task type (or OFF, IDLE), column, whether a task begins


@dataclass(frozen=True)
class Timeline:
    """One machine, second by second; what each slot draws, and what is paid whatever electricity costs."""

    seconds: Seconds
    counts: tuple[int, ...]
    joules: tuple[float, ...]
    money: Fraction


def slot_of(slots: Slots, second: int) -> int:
    return next(h for h in range(slots.count) if slots.edges[h] <= second < slots.edges[h + 1])


def timelines(bag: Bag, slots: Slots, j: int) -> list[Timeline]:
    """Return all that one machine can do, of those alike in tasks and joules the cheapest."""
    horizon, machine = int(slots.horizon), bag.machine_types[j]
    modes = [
        (i, c, int(bag.seconds[i, c]))
        for i in range(len(bag.task_types))
        for c, (of, _) in enumerate(bag.modes)
        if of == j and bag.seconds[i, c] is not None
    ]

    def grown(done: Seconds, counts: tuple[int, ...]):
        if len(done) == horizon:
            yield done, counts
            return
        for state in (OFF, IDLE) if machine.may_be_off else (IDLE,):
            yield from grown((*done, (*state, False)), counts)
        for i, c, length in modes:
            if len(done) + length <= horizon and counts[i] < bag.task_types[i].count:
                more = ((i, c, True), *((i, c, False),) * (length - 1))
                yield from grown(done + more, (*counts[:i], counts[i] + 1, *counts[i + 1 :]))

    best: dict[tuple[tuple[int, ...], tuple[float, ...]], Timeline] = {}
    for seconds, counts in grown((), (0,) * len(bag.task_types)):
        made = Timeline(seconds, counts, drawn_by(bag, slots, j, seconds), paid_for(bag, slots, j, seconds))
        key = (made.counts, made.joules)
        if key not in best or made.money < best[key].money:
            best[key] = made
    return list(best.values())


def drawn_by(bag: Bag, slots: Slots, j: int, seconds: Seconds) -> tuple[float, ...]:
    joules = [0.0] * slots.count
    assert bag.watts is not None
    for at, (i, c, _) in enumerate(seconds):
        if (i, c) == IDLE:
            joules[slot_of(slots, at)] += bag.machine_types[j].idle_watts
        elif (i, c) != OFF:
            joules[slot_of(slots, at)] += bag.watts[i, c]
    return tuple(joules)


def paid_for(bag: Bag, slots: Slots, j: int, seconds: Seconds) -> Fraction:
    """Return wear, moving and switching on."""
    machine, site, money, was_on = bag.machine_types[j], slots.sites[slots.site_of[j]], Fraction(0), False
    for i, c, begins in seconds:
        is_on = (i, c) != OFF
        if is_on and not was_on and machine.may_be_off:
            money += Fraction(machine.switch_on_cost)
        if i >= 0:
            money += Fraction(machine.wear_per_busy_hour) / 3600
        if begins and site.moving_costs:
            money += Fraction(site.moving_costs[i])
        was_on = is_on
    return money


def value_of(bag: Bag, slots: Slots, weights: Weights, chosen: tuple[Timeline, ...]) -> Fraction | None:
    """Return the value of a plan; `None` if it exceeds a cap."""
    money, grams = sum((each.money for each in chosen), Fraction(0)), Fraction(0)
    for s, site in enumerate(slots.sites):
        highest = Fraction(0)
        for h in range(slots.count):
            own = [each.joules[h] for j, each in enumerate(chosen) if slots.site_of[j] == s]
            joules, length = Fraction(sum(own)), Fraction(slots.edges[h + 1] - slots.edges[h])
            if site.cap_watts is not None and joules / length * Fraction(site.cap_pue) > Fraction(site.cap_watts[h]):
                return None
            kwh = joules * Fraction(site.pue) / 3_600_000
            money += kwh * (Fraction(site.tariff[h]) + Fraction(site.fee))
            grams += kwh * Fraction((site.carbon or ())[h])
            highest = max(highest, joules / length * Fraction(site.pue) / 1000)
        money += highest * Fraction(site.demand_charge)
    if weights.optional:
        for i, task in enumerate(bag.task_types):
            money -= sum(each.counts[i] for each in chosen) * Fraction(bag.prices.per_task.get(task.name, 0.0))
    return Fraction(weights.money) * money + Fraction(weights.grams) * grams


def plan_of(bag: Bag, chosen: tuple[Timeline, ...]) -> Plan:
    """Return a plan in which each second of idling is a span of its own, and each task a run of its own."""
    groups = []
    for j, each in enumerate(chosen):
        machine = bag.machine_types[j]
        runs, idle = [], []
        for at, (i, c, begins) in enumerate(each.seconds):
            if begins:
                state = None if machine.p_states is None else machine.p_states[bag.modes[c][1]]
                runs.append(TimedRun(float(at), bag.task_types[i].name, 1, state))
            elif (i, c) == IDLE and machine.may_be_off:
                idle.append(IdleSpan(float(at), at + 1.0))
        groups.append(PlanGroup(machine.name, 1, tuple(runs), tuple(idle)))
    return Plan(tuple(groups))


@dataclass(frozen=True)
class Case:
    bag: Bag
    slots: Slots
    weights: Weights
    best: Fraction | None
    best_plan: Plan | None
    plans: tuple[tuple[Plan, Fraction | None], ...]  # some of all, with their values


@lru_cache(maxsize=CASES)
def case(seed: int) -> Case:
    rng = random.Random(seed)  # noqa: S311
    weights = WEIGHTS[seed % len(WEIGHTS)]
    while True:
        bag, slots = drawn(rng, most_tasks=2, most_seconds=2 if seed % 2 else 3)
        slots = with_fee(slots, seed % 3 == 1)
        if slots.horizon > 5:
            continue
        ways = [timelines(bag, slots, j) for j in range(len(bag.machine_types))]
        if len(ways[0]) * len(ways[1]) < 40_000:
            break
    wanted = tuple(task.count for task in bag.task_types)
    best, best_plan, plans = None, None, []
    for chosen in product(*ways):
        counts = tuple(map(sum, zip(*(each.counts for each in chosen), strict=True)))
        if any(done > n for done, n in zip(counts, wanted, strict=True)) or (not weights.optional and counts != wanted):
            continue
        value = value_of(bag, slots, weights, chosen)
        if rng.random() < 0.01:
            plans.append((plan_of(bag, chosen), value))
        if value is not None and (best is None or value < best):
            best, best_plan = value, plan_of(bag, chosen)
    return Case(bag, slots, weights, best, best_plan, tuple(plans[:20]))


@pytest.mark.rotate(12)
@pytest.mark.parametrize("seed", range(CASES))
def test_no_bound_exceeds_the_best_of_all_plans(seed):
    at = case(seed)
    if at.best is None:
        return
    given = (at.bag, at.slots, at.weights)
    for relaxed, proved_by in ((least_by_work(*given), prove_work), (least_by_runs(*given), prove_runs)):
        prices = (relaxed.task_values, relaxed.machine_prices, relaxed.cap_prices, relaxed.peak_prices)
        multipliers = fitted(*given, HorizonMultipliers(*prices))
        proved = proved_by(*given, multipliers)
        assert relaxed.value - 1e-6 <= proved <= at.best
        assert proved <= prove(*given, multipliers) <= at.best
    rng = random.Random(seed)  # noqa: S311
    for _ in range(5):
        assert prove(*given, at_random(rng, *given)) <= at.best


@pytest.mark.rotate(12)
@pytest.mark.parametrize("seed", range(CASES))
def test_machine_prices_of_parts_of_slots_prove_more_and_not_too_much(seed):
    at = case(seed)
    if at.best is None or any(site.cap_watts or site.demand_charge for site in at.slots.sites):
        return
    whole = least_by_runs(at.bag, at.slots, at.weights)
    parts = least_by_runs(at.bag, at.slots.cut(2), at.weights)
    multipliers = HorizonMultipliers(parts.task_values, parts.machine_prices)
    proved = prove_runs(at.bag, at.slots, at.weights, fitted(at.bag, at.slots, at.weights, multipliers))
    assert whole.value - 1e-6 <= parts.value - 1e-6 <= proved <= at.best


def test_machine_prices_of_parts_can_close_the_gap():
    at = case(42)
    whole, parts = (least_by_runs(at.bag, slots, at.weights).value for slots in (at.slots, at.slots.cut(2)))
    assert whole < parts - 0.5
    assert parts == pytest.approx(float(at.best))


def at_random(rng: random.Random, bag: Bag, slots: Slots, weights: Weights) -> HorizonMultipliers:
    """Return multipliers without any sense, but valid."""

    def rows(count: int, parts: int = 1) -> tuple[tuple[float, ...], ...]:
        return tuple(tuple(rng.uniform(-2, 4) for _ in range(slots.count * parts)) for _ in range(count))

    values = tuple(rng.uniform(-20, 40) for _ in bag.task_types)
    machines = rows(len(bag.machine_types), rng.choice([1, 2, 3])) if rng.random() < 0.5 else None
    made = HorizonMultipliers(values, machines, rows(len(slots.sites)), rows(len(slots.sites)))
    return fitted(bag, slots, weights, made)


@pytest.mark.rotate(12)
@pytest.mark.parametrize("seed", range(CASES))
def test_the_verifier_integrates_as_second_by_second(seed):
    at = case(seed)
    optional = at.weights.optional
    for plan, value in at.plans:
        codes = {each.code for each in verify_plan(at.bag, at.slots, plan, optional=optional)}
        assert codes == (set() if value is not None else {"over-power-cap"})
        if value is not None:
            assert measure_plan(at.bag, at.slots, plan).value(at.weights) == value
    if at.best_plan is not None:
        assert verify_plan(at.bag, at.slots, at.best_plan, optional=optional) == ()
        assert measure_plan(at.bag, at.slots, at.best_plan).value(at.weights) == at.best


@pytest.mark.slow
def test_the_cases_are_of_many_kinds():
    cases = [case(seed) for seed in range(CASES)]
    assert sum(each.best is not None for each in cases) > CASES / 2
    assert sum(any(value is None for _, value in each.plans) for each in cases) > 10  # caps matter
    assert any(min(site.tariff) < 0 for each in cases for site in each.slots.sites)
    assert any(len(each.slots.sites) == 2 for each in cases)
    assert any(kind.may_be_off and kind.switch_on_cost for each in cases for kind in each.bag.machine_types)
    assert any(group.idle for each in cases if each.best_plan for group in each.best_plan.groups)
    tight = 0
    for each in cases:
        relaxed = None if each.best is None else least_by_runs(each.bag, each.slots, each.weights)
        tight += relaxed is not None and abs(relaxed.value - each.best) < 1e-6
    assert tight > 5  # a bound that never is reached would not be much of a test
