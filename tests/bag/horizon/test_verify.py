"""Plans checked and measured by hand; each rule is broken singly."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from fractions import Fraction

import pytest

from lpsched.bag.horizon.schedule import IdleSpan, Plan, PlanGroup, TimedRun
from lpsched.bag.horizon.slots import SiteSlots, Slots, Weights
from lpsched.bag.horizon.verify import measure_plan, verify_plan
from lpsched.bag.model import Bag
from lpsched.bag.parts import MachineType, Prices, TaskType
from lpsched.model.table import Table

PER_JOULE = 3.6e6  # a tariff at which a joule costs 1

# Two sites of one machine type each. "on" must stay on: 2 machines, 10 W idle. "off" may be off: 3 machines with
# P-states, 5 W idle, 7 to switch on. Three slots of 10 s.
BAG = Bag(
    "by hand",
    (
        MachineType("on", 2, 10.0, wear_per_busy_hour=3600.0),
        MachineType("off", 3, 5.0, p_states=("high", "low"), may_be_off=True, switch_on_cost=7.0),
    ),
    (TaskType("a", 3), TaskType("b", 2)),
    Table.of([[4.0, 2.0, 8.0], [6.0, None, 5.0]]),
    Table.of([[30.0, 50.0, 20.0], [40.0, None, 25.0]]),
    prices=Prices(per_task={"a": 11.0, "b": 100.0}),
)
HERE = SiteSlots(
    "here",
    (PER_JOULE, 2 * PER_JOULE, -PER_JOULE),
    (0.0, PER_JOULE, 0.0),
    (70.0, 100.0, 100.0),
    pue=1.5,
    cap_pue=1.25,
    demand_charge=2000.0,
)
THERE = SiteSlots(
    "there", (PER_JOULE, PER_JOULE, -3 * PER_JOULE), (PER_JOULE, 0.0, 2 * PER_JOULE), moving_costs=(1.0, 2.0)
)
SLOTS = Slots((0.0, 10.0, 20.0, 30.0), (HERE, THERE), (0, 1))

# On "on": one machine runs a at 8 (8 to 12), then b at 14 (14 to 20); the other is in no group.
# On "off": one machine runs two a at "high" from 0 (0 to 4), idles from 4 to 6, is off, and runs b at "low" from 22 to 27.
PLAN = Plan(
    (
        PlanGroup("on", 1, (TimedRun(8.0, "a", 1), TimedRun(14.0, "b", 1))),
        PlanGroup("off", 1, (TimedRun(0.0, "a", 2, "high"), TimedRun(22.0, "b", 1, "low")), (IdleSpan(4.0, 6.0),)),
    )
)


def changed(group: int, **fields) -> Plan:
    groups = list(PLAN.groups)
    groups[group] = replace(groups[group], **fields)
    return Plan(tuple(groups))


def whole(numbers) -> tuple[int, ...]:
    """Return fractions that are whole numbers as such."""
    assert all(each.denominator == 1 for each in numbers)
    return tuple(each.numerator for each in numbers)


def codes(plan: Plan, **options) -> list[str]:
    return [each.code for each in verify_plan(BAG, SLOTS, plan, **options)]


def test_a_plan_by_hand():
    assert verify_plan(BAG, SLOTS, PLAN) == ()
    found = measure_plan(BAG, SLOTS, PLAN)
    # Here: 20 W when all idle; a adds 20 W for 2 s in slots 0 and 1 each, b 30 W for 6 s in slot 1.
    assert whole(found.joules[0]) == (200 + 40, 200 + 40 + 180, 200)
    # There: 50 W for 4 s and 5 W for 2 s in slot 0; 25 W for 5 s in slot 2.
    assert whole(found.joules[1]) == (200 + 10, 0, 125)
    assert found.electricity == Fraction(3, 2) * (240 + 2 * 420 - 200) + (210 + 0 - 3 * 125)
    assert found.demand == 2 * Fraction(3, 2) * 42  # 42 W at the machines in slot 1, 1.5 times that at the meter
    assert found.wear == 4 + 6
    assert found.moving == 2 * 1 + 1 * 2
    assert found.switching == 2 * 7
    assert found.switch_ons == 2
    assert found.grams == Fraction(3, 2) * 420 + 210 + 2 * 125
    assert found.energy_joules == 860 + 335
    assert found.kwh == (Fraction(3, 2) * 860 + 335) / 3_600_000
    assert whole(found.highest_average_watts) == (42, 21)
    assert whole(found.highest_watts) == (10 + 40, 50)
    assert tuple(map(whole, found.task_joules)) == ((2 * 30 + 200, 2 * 30, 0), (0, 6 * 40, 5 * 25))
    assert whole(found.idle_joules) == (200 - 20 + 10, 200 - 20 - 60, 200)
    assert found.finished == (3, 2)
    assert found.revenue == 3 * 11 + 2 * 100
    assert found.last_end == 27
    money = found.electricity + found.demand + found.wear + found.moving + found.switching
    assert found.money == money
    assert found.value(Weights(2.0, 0.5)) == 2 * money + found.grams / 2
    assert found.value(Weights(2.0, 0.5, optional=True)) == 2 * (money - 233) + found.grams / 2


def test_spans_that_touch_are_one_and_machines_of_a_group_are_switched_on_each():
    runs = (TimedRun(0.0, "a", 1, "high"), TimedRun(4.0, "a", 1, "high"))
    for idle, times in (((), 2), ((IdleSpan(2.0, 4.0),), 1), ((IdleSpan(2.0, 3.0),), 2), ((IdleSpan(6.0, 9.0),), 2)):
        plan = Plan((PlanGroup("off", 3, runs, idle),))
        assert measure_plan(BAG, SLOTS, plan).switch_ons == 3 * times


def test_nothing_at_all_still_draws_what_must_stay_on():
    assert codes(Plan(()), optional=True) == []
    found = measure_plan(BAG, SLOTS, Plan(()))
    assert tuple(map(whole, found.joules)) == ((200, 200, 200), (0, 0, 0))
    assert found.last_end == 0


def test_grams_are_unknown_where_a_site_has_no_carbon():
    slots = replace(SLOTS, sites=(HERE, replace(THERE, carbon=None)))
    found = measure_plan(BAG, slots, PLAN)
    assert found.grams is None
    assert found.value(Weights()) == found.money
    with pytest.raises(AssertionError, match="carbon"):
        found.value(Weights(1.0, 1.0))


ON = PLAN.groups[0]
BROKEN = {
    "unknown-machine-type": changed(0, machine_type="of"),
    "unknown-task-type": Plan((*PLAN.groups, PlanGroup("on", 1, (TimedRun(0.0, "c", 1),)))),
    "unknown-p-state": Plan((*PLAN.groups, PlanGroup("off", 1, (TimedRun(0.0, "a", 1),)))),
    "cannot-run": Plan((*PLAN.groups, PlanGroup("off", 1, (TimedRun(0.0, "b", 1, "high"),)))),
    "no-such-machine": Plan((*PLAN.groups, PlanGroup("off", 3, ()))),
    "overlap": changed(0, runs=(TimedRun(8.0, "a", 1), TimedRun(math.nextafter(12.0, 0.0), "b", 1))),
    "before-horizon": changed(0, runs=(TimedRun(-1.0, "a", 1), TimedRun(14.0, "b", 1))),
    "after-horizon": changed(0, runs=(TimedRun(8.0, "a", 1), TimedRun(math.nextafter(24.0, 30.0), "b", 1))),
    "must-stay-on": changed(0, idle=(IdleSpan(0.0, 1.0),)),
}


def test_the_plan_is_valid_up_to_the_edges():
    late = changed(0, runs=(TimedRun(8.0, "a", 1), TimedRun(24.0, "b", 1)))  # ends with the horizon
    touching = changed(0, runs=(TimedRun(8.0, "a", 1), TimedRun(12.0, "b", 1)))
    unordered = changed(0, runs=(TimedRun(14.0, "b", 1), TimedRun(8.0, "a", 1)))
    assert codes(late) == codes(touching) == codes(unordered) == []


@pytest.mark.parametrize("code", BROKEN)
def test_each_rule_broken_singly(code):
    found = codes(BROKEN[code])
    assert [each for each in found if each != "wrong-count"] == [code]


def test_a_cap_names_site_slot_and_both_numbers():
    # In slot 0: 200 J of idling, 20 W * 4 s and 30 W * 6 s more: 46 W, 57.5 W where the cap is measured.
    plan = changed(0, runs=(TimedRun(0.0, "a", 1), TimedRun(4.0, "b", 1)))
    at_cap = replace(SLOTS, sites=(replace(HERE, cap_watts=(57.5, 100.0, 100.0)), THERE))
    below = replace(SLOTS, sites=(replace(HERE, cap_watts=(57.25, 100.0, 100.0)), THERE))
    assert verify_plan(BAG, at_cap, plan) == ()
    (found,) = verify_plan(BAG, below, plan)
    assert found.code == "over-power-cap"
    assert found.sentence == "site 'here' draws 57.5 W on average in slot 0 (0.0 to 10.0 s), but its cap is 57.25 W"


def test_every_task_runs_once_unless_it_is_optional():
    fewer = changed(0, runs=(TimedRun(8.0, "a", 1),))
    more = changed(0, runs=(TimedRun(0.0, "a", 3), TimedRun(14.0, "b", 1)))
    assert [each.sentence for each in verify_plan(BAG, SLOTS, fewer)] == ["1 tasks of type 'b' run, but there are 2"]
    assert codes(fewer, optional=True) == []
    assert codes(more) == codes(more, optional=True) == ["wrong-count"]


@pytest.mark.parametrize(
    ("group", "fields"),
    [
        (0, {"runs": (*ON.runs, TimedRun(0.0, "a", 0))}),
        (0, {"runs": (*ON.runs, TimedRun(math.nan, "a", 1))}),
        (1, {"machines": 0}),
        (1, {"idle": (IdleSpan(6.0, 4.0),)}),
        (1, {"idle": (IdleSpan(4.0, 4.0),)}),
        (1, {"idle": (IdleSpan(4.0, math.inf),)}),
    ],
)
def test_numbers_that_make_no_sense(group, fields):
    assert "bad-number" in codes(changed(group, **fields), optional=True)
    assert set(codes(changed(group, **fields), optional=True)) == {"bad-number"}


@pytest.mark.parametrize(
    ("code", "idle"), [("before-horizon", IdleSpan(-1.0, 0.0)), ("after-horizon", IdleSpan(28.0, 31.0))]
)
def test_idle_spans_have_rules_too(code, idle):
    assert codes(changed(1, idle=(idle,))) == [code]


@pytest.mark.parametrize(
    ("given", "same"),
    [
        ((IdleSpan(3.5, 6.0),), (IdleSpan(4.0, 6.0),)),  # with the run before
        ((IdleSpan(20.0, 23.0),), (IdleSpan(20.0, 22.0),)),  # with the run after
        ((IdleSpan(1.0, 2.0),), ()),  # within a run
        ((IdleSpan(1.0, 24.0),), (IdleSpan(4.0, 22.0),)),  # from one to the other
    ],
)
def test_a_machine_that_runs_during_an_idle_span_runs(given, same):
    left, right = (measure_plan(BAG, SLOTS, changed(1, idle=idle)) for idle in (given, same))
    assert left == right


def test_idle_spans_do_not_overlap_each_other():
    assert codes(changed(1, idle=(IdleSpan(4.0, 6.0), IdleSpan(5.0, 7.0)))) == ["overlap"]


def test_a_short_run_within_a_long_one_does_not_hide_the_next_overlap():
    runs = (TimedRun(0.0, "b", 2, "low"), TimedRun(1.0, "a", 1, "high"), TimedRun(5.0, "a", 1, "high"))
    assert codes(Plan((PlanGroup("off", 1, runs),)), optional=True) == ["overlap", "overlap"]


def test_the_overlap_is_exact():
    # 0.1 as a double is a little above a tenth: ten of them take longer than a second.
    bag = Bag("tenths", (MachineType("m", 1),), (TaskType("t", 11),), Table.of([[0.1]]), Table.of([[1.0]]))
    slots = Slots((0.0, 5.0), (SiteSlots("s", (1.0,)),), (0,))
    plan = Plan((PlanGroup("m", 1, (TimedRun(0.0, "t", 10), TimedRun(1.0, "t", 1))),))
    assert [each.code for each in verify_plan(bag, slots, plan)] == ["overlap"]
    later = Plan((PlanGroup("m", 1, (TimedRun(0.0, "t", 10), TimedRun(math.nextafter(1.0, 2.0), "t", 1))),))
    assert verify_plan(bag, slots, later) == ()
    assert measure_plan(bag, slots, later).energy_joules == 11 * Fraction(0.1)


def test_a_bag_without_watts_cannot_be_measured():
    bag = BAG.model_copy(update={"watts": None})
    assert [each.code for each in verify_plan(bag, SLOTS, PLAN)] == ["unknown-power"]


def test_a_million_tasks_on_a_thousand_machines_are_one_span():
    bag = Bag("many", (MachineType("m", 1000, 1.0),), (TaskType("t", 10**9),), Table.of([[0.5]]), Table.of([[3.0]]))
    slots = Slots(tuple(3600.0 * h for h in range(169)), (SiteSlots("s", (1.0,) * 168),), (0,))
    plan = Plan((PlanGroup("m", 1000, (TimedRun(100.0, "t", 10**6),)),))
    before = time.perf_counter()
    assert verify_plan(bag, slots, plan) == ()
    found = measure_plan(bag, slots, plan)
    assert time.perf_counter() - before < 1.0
    assert found.finished == (10**9,)
    # 1 kW for the whole week when idle, 2 kW more for 500,000 s
    assert found.energy_joules == 168 * 3600 * 1000 + 2000 * 500_000
    assert found.joules[0][0] == 3600 * 1000 + 2000 * 3500
    assert found.joules[0][5] == 3600 * 3000
