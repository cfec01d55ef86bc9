"""The checker rejects each rule, broken singly, and measures what can be measured on paper."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from lpsched.bag.model import Terms, bag_from_dict
from lpsched.bag.schedule import NOTHING, MachineGroup, Run, Schedule
from lpsched.bag.verify import examine, measure, violations
from tests.support import SOUND, simple_bag, sound

CPU = MachineGroup("cpu", 1, (Run("render", 10), Run("zip", 5)))
GPU = MachineGroup("gpu", 1, (Run("render", 20, "P0"), Run("render", 10, "P1")))


@pytest.fixture
def bag():
    return bag_from_dict(SOUND)


def test_a_valid_schedule_has_no_violations(bag):
    assert violations(bag, Schedule((CPU, GPU))) == ()


@pytest.mark.parametrize(
    ("groups", "code", "sentence"),
    [
        pytest.param((CPU,), "wrong-count", "10 tasks of type 'render' run, but there are 40", id="tasks-missing"),
        pytest.param((CPU, GPU, MachineGroup("cpu", 1, (Run("zip", 1),))), "wrong-count", "6 tasks of type 'zip' run, but there are 5", id="a-task-too-many"),
        pytest.param((), "wrong-count", "0 tasks of type 'zip' run, but there are 5", id="nothing-runs"),
        pytest.param((CPU, GPU, MachineGroup("cpu", 2, ())), "no-such-machine", "3 machines of type 'cpu' are used, but there are 2", id="a-machine-too-many"),
        pytest.param((CPU, GPU, MachineGroup("tpu", 1, ())), "unknown-machine-type", "there is no machine type 'tpu'", id="unknown-machine-type"),
        pytest.param((CPU, GPU, MachineGroup("cpu", 1, (Run("rip", 1),))), "unknown-task-type", "there is no task type 'rip'", id="unknown-task-type"),
        pytest.param((CPU, MachineGroup("gpu", 1, (Run("render", 30),))), "unknown-p-state", "'gpu' has no P-state None", id="p-state-missing"),
        pytest.param((MachineGroup("cpu", 1, (Run("render", 10, "P0"), Run("zip", 5))), GPU), "unknown-p-state", "'cpu' has no P-state 'P0'", id="p-state-where-there-is-none"),
        pytest.param((CPU, MachineGroup("gpu", 1, (*GPU.runs, Run("zip", 1, "P1")))), "cannot-run", "'zip' on 'gpu' cannot run in P-state 'P1'", id="cannot-run"),
        pytest.param((CPU, GPU, MachineGroup("cpu", 0, ())), "bad-number", "a group of 'cpu' has 0 machines", id="no-machines"),
        pytest.param((CPU, GPU, MachineGroup("cpu", 1, (Run("zip", 0),))), "bad-number", "a run of 'zip' on 'cpu' has 0 tasks", id="no-tasks"),
    ],
)  # fmt: skip
def test_each_broken_rule_is_named(bag, groups, code, sentence):
    assert (code, sentence) in {(each.code, each.sentence) for each in violations(bag, Schedule(groups))}


def test_a_pair_that_cannot_run_is_named_without_a_p_state():
    bag = simple_bag([[1.0, None]], [1], [1, 1])
    (found,) = violations(bag, Schedule((MachineGroup("m1", 1, (Run("t0", 1),)),)))
    assert found.sentence == "'t0' on 'm1' cannot run"


def test_makespan_and_energy_by_hand(bag):
    # cpu: 10 x 8 + 5 x 3 = 95 s at 10 x 8 x 50 + 5 x 3 x 40 = 4,600 J; gpu: 20 + 20 = 40 s at 4,000 + 1,800 J.
    # Idle: two cpus at 5 W for 2 x 95 - 95 = 95 s: 475 J; the gpu's idle power is 0.
    measured = measure(bag, Schedule((CPU, GPU)))
    assert measured.makespan_seconds == 95.0
    assert measured.energy_joules == 4600 + 5800 + 475


def test_energy_is_unknown_without_watts():
    assert measure(bag_from_dict(sound(watts=...)), Schedule((CPU, GPU))).energy_joules is None


def test_measured_numbers_are_never_below_the_exact_ones():
    # Three times the double nearest to 0.1 is no double; the nearest one is below or above it.
    for seconds in (0.1, 0.7, 1 / 3):
        for count in range(1, 60):
            bag = simple_bag([[seconds]], [count], [1], watts=[[0.3]])
            measured = measure(bag, Schedule((MachineGroup("m0", 1, (Run("t0", count),)),)))
            assert measured.makespan_seconds is not None
            assert Fraction(measured.makespan_seconds) >= count * Fraction(seconds)
            assert measured.makespan_seconds == pytest.approx(count * seconds, rel=1e-15)
            assert measured.energy_joules is not None
            assert Fraction(measured.energy_joules) >= count * Fraction(seconds) * Fraction(0.3)


# The bag of `SOUND` takes 95 s and 10,875 J this way (above): 114.47 W at the machines, 171.7 W at PUE 1.5.
@pytest.mark.parametrize(
    ("site", "end", "code", "sentence"),
    [
        pytest.param({"deadline_seconds": 94.0}, None, "after-deadline", "the schedule ends at 95.0 s, but the deadline is 94.0 s", id="deadline"),
        pytest.param({"deadline_seconds": 95.0}, 96.0, "after-deadline", "the schedule ends at 96.0 s, but the deadline is 95.0 s", id="waits-too-long"),
        pytest.param({"pue": 1.5, "average_power_cap_watts": 171.0}, None, "over-power-cap", "W on average, but the cap is 171.0 W", id="cap-at-the-facility"),
        pytest.param({"average_power_cap_watts": 114.0, "cap_measured_at": "it"}, None, "over-power-cap", "W on average, but the cap is 114.0 W", id="cap-at-the-machines"),
        pytest.param({}, 94.0, "ends-too-early", "the schedule ends at 94.0 s, but a machine works for 95.0 s", id="ends-before-its-tasks"),
    ],
)  # fmt: skip
def test_each_broken_limit_is_named(site, end, code, sentence):
    (found,) = violations(bag_from_dict(sound(site=site)), Schedule((CPU, GPU), end))
    assert found.code == code
    assert sentence in found.sentence


@pytest.mark.parametrize(
    "site",
    [
        {"deadline_seconds": 95.0},
        {"pue": 1.5, "average_power_cap_watts": 171.8},
        {"pue": 1.5, "average_power_cap_watts": 114.5, "cap_measured_at": "it"},
    ],
)
def test_limits_that_are_just_kept_are_no_violation(site):
    assert violations(bag_from_dict(sound(site=site)), Schedule((CPU, GPU))) == ()


def test_waiting_costs_idle_power_and_lowers_the_average():
    # Waiting from 95 s to 195 s: 100 s of 10 W more; (10,875 + 1,000) J / 195 s = 60.9 W.
    bag = bag_from_dict(sound(site={"average_power_cap_watts": 61.0, "cap_measured_at": "it"}))
    measured = measure(bag, Schedule((CPU, GPU), 195.0))
    assert (measured.makespan_seconds, measured.energy_joules) == (195.0, 11_875.0)


def test_a_cap_without_watts_cannot_be_checked_and_says_so():
    bag = bag_from_dict(sound(watts=..., site={"average_power_cap_watts": 61.0}))
    assert violations(bag, Schedule((CPU, GPU)))[0].sentence == "the site has a power cap, but the bag has no watts"


def test_profit_by_hand():
    # 2 + 5 x 0.5 - 1 of overhead; 10,875 J at PUE 1.5 and 3.6 a kWh (a microdollar a joule): 0.0163125; wear: the
    # cpu is busy for 95 s at 3.6 an hour: 0.095; per hour of 95 s. Depreciation: 2 x 100 / 1,000 an hour.
    machines = [{"name": "cpu", "count": 2, "idle_watts": 5, "wear_per_busy_hour": 3.6, "purchase_price": 100,
                 "mean_hours_to_failure": 1000}, sound()["machine_types"][1]]  # fmt: skip
    prices = {"per_bag": 2.0, "per_task": {"zip": 0.5}, "electricity_per_kwh": 3.6, "overhead_per_bag": 1.0}
    bag = bag_from_dict(sound(machine_types=machines, prices=prices))
    measured = measure(bag, Schedule((CPU, GPU)))
    assert measured.profit_per_hour == pytest.approx((3.5 - 0.0163125 - 0.095) / 95 * 3600 - 0.2, rel=1e-14)
    # If the whole bag sells for 20 instead, and if nothing runs: both machines idle at 5 W, and lose value.
    waiting = examine(bag, NOTHING, may_wait=True).measured
    assert measured.earnings is not None
    assert measured.earnings.at(20.0) == pytest.approx((19 - 0.0163125 - 0.095) / 95 * 3600 - 0.2, rel=1e-14)
    assert waiting is not None
    assert waiting.earnings is not None
    assert waiting.earnings.at(20.0) == pytest.approx(-10 * 1.5e-6 * 3600 - 0.2, rel=1e-14)


def test_earnings_at_a_price_are_to_the_last_bit_what_is_measured_there(bag):
    earnings = measure(bag, Schedule((CPU, GPU))).earnings
    assert earnings is not None
    for price in (0.0, 1 / 3, 1e-9, 0.1, 7e11):
        exact = earnings.bags_per_hour * Fraction(price) - earnings.hourly_cost
        assert Fraction(earnings.at(price)) <= exact < Fraction(math.nextafter(earnings.at(price), math.inf))
        assert earnings.at(price) == measure(Terms(price=price).applied_to(bag), Schedule((CPU, GPU))).profit_per_hour


@pytest.mark.parametrize(
    "changes",
    [
        {"prices": {"electricity_per_kwh": 1.0}},  # nothing is earned
        {"prices": {"per_bag": 1.0}},  # energy has no price
        {"prices": {"per_bag": 1.0, "electricity_per_kwh": 1.0}, "watts": ...},  # how much of it is unknown
    ],
)
def test_profit_is_unknown_where_a_price_is(changes):
    assert measure(bag_from_dict(sound(**changes)), Schedule((CPU, GPU))).profit_per_hour is None


def test_nothing_is_a_schedule_only_where_waiting_is_allowed(bag):
    assert examine(bag, NOTHING).measured is None
    measured = examine(bag, NOTHING, may_wait=True).measured
    assert measured is not None
    assert (measured.makespan_seconds, measured.energy_joules) == (None, None)
    # 10 W idle at PUE 1.5 and 0.1 a kWh.
    assert measured.profit_per_hour == pytest.approx(-0.0015, rel=1e-14)


@pytest.mark.parametrize("end", [float("nan"), float("inf"), -1.0, 0.0])
def test_an_end_that_is_no_time_is_a_violation(bag, end):
    (found,) = violations(bag, Schedule((CPU, GPU), end))
    assert (found.code, found.sentence) == ("bad-number", f"the schedule ends at {end!r} s")
