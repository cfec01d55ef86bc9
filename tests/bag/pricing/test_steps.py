"""One whole machine or task more: on paper, within what is proved, and where nothing is asked."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lpsched.bag.model import Bag
from lpsched.bag.parts import MachineType, Prices, Site, TaskType
from lpsched.bag.pricing.one_more import with_one_more
from lpsched.bag.pricing.what_if import what_if
from lpsched.bag.solve import solve
from lpsched.cancellation import CancelToken
from lpsched.model.table import Table

HOUR = 3600.0


def three_tasks(**changes) -> Bag:
    """Return three tasks of an hour on two machines: 10 W idle, 100 W busy, 60 USD a bag, 0.20 USD a kWh."""
    parts = {
        "machine_types": (MachineType(name="m", count=2, idle_watts=10.0),),
        "task_types": (TaskType(name="t", count=3),),
        "seconds": Table.of([[HOUR]]),
        "watts": Table.of([[100.0]]),
        "prices": Prices(per_bag=60.0, electricity_per_kwh=0.2),
    }
    return Bag("three", **(parts | changes))


# A task costs 0.09 kWh above idle, 0.018 USD; two idle machines cost 0.004 USD an hour. Whole tasks take 2 hours:
# (60 - 0.054) / 2 - 0.004 = 29.969 an hour, which is optimal. Split they would take 1.5: 39.964 - 0.004 = 39.96.
VALUE, SPLIT = 29.969, 39.96


def test_a_third_machine_brings_more_than_the_derivative_of_the_bound():
    # On three machines the three tasks take an hour: 59.946 - 0.006 = 59.94; 29.971 more than before. The derivative
    # of the bound at two machines is 39.964 / 2 - 0.002 = 19.98, and it is no limit.
    result = solve(three_tasks())
    assert (result.value, result.bound) == pytest.approx((VALUE, VALUE), rel=1e-9)
    assert result.worth.machine_types["m"] == pytest.approx(19.98, rel=1e-9)
    step = with_one_more(three_tasks(), result, marginals="proved").one_more.machine_types["m"]
    assert (step.at_least, step.at_most) == pytest.approx((29.971, 29.971), rel=1e-9)
    assert what_if(three_tasks(), {"m": 3}).best_changes_by()[1] == pytest.approx(29.971, rel=1e-9)


def test_a_fourth_task_fits_into_idle_time_and_needs_no_more_than_its_electricity():
    # Two machines run four tasks in the same 2 hours: the fourth costs 0.018 USD, and is worth taking from there on.
    # The linear program would ask 20 USD for it, as for each of the other three.
    result = solve(three_tasks())
    assert result.worth.task_types["t"] == pytest.approx(20.0, rel=1e-9)
    step = with_one_more(three_tasks(), result, marginals="proved").one_more.task_types["t"]
    assert (step.at_least, step.at_most) == pytest.approx((0.018, 0.018), rel=1e-9)


def test_with_a_weaker_bound_the_same_is_proved_within_the_gap():
    # From 39.96 (bound) to 59.94 it is at least 19.98, from 29.969 (value) at most 29.971. The fourth task is worth
    # taking where a schedule of 2 hours earns the bound: 2 * (39.96 + 0.004) + 0.072 - 60 = 20 USD.
    found = with_one_more(three_tasks(), replace(solve(three_tasks()), bound=SPLIT)).one_more
    machine, task = found.machine_types["m"], found.task_types["t"]
    assert (machine.at_least, machine.at_most) == pytest.approx((19.98, 29.971), rel=1e-9)
    assert (task.at_least, task.at_most) == pytest.approx((0.018, 20.0), rel=1e-9)
    assert found.to_dict()["machine_types"]["m"]["best_changes_by_at_most"] == machine.at_most
    assert found.to_dict()["task_types"]["t"]["break_even_price_at_least"] == task.at_least


def test_a_machine_without_a_task_costs_its_idle_power_and_depreciation():
    # 10 W at 0.2 USD a kWh and 20 USD in 40 hours: 0.002 + 0.5 an hour, exactly that.
    lasting = MachineType(name="m", count=3, idle_watts=10.0, purchase_price=20.0, mean_hours_to_failure=40.0)
    bag = three_tasks(machine_types=(lasting,))
    step = with_one_more(bag, solve(bag)).one_more.machine_types["m"]
    assert (step.at_least, step.at_most) == pytest.approx((-0.502, -0.502), rel=1e-9)


def test_one_more_machine_never_makes_the_makespan_longer():
    # Three tasks of an hour on two machines: 2 hours; on three 1 hour; four take 2 hours on two machines.
    found = with_one_more(three_tasks(), solve(three_tasks(), objective="makespan"), marginals="proved").one_more
    machine, task = found.machine_types["m"], found.task_types["t"]
    assert (machine.at_least, machine.at_most) == (-HOUR, -HOUR)
    assert (task.at_least, task.at_most) == (0.0, 0.0)
    assert found.to_dict()["task_types"]["t"] == {"best_changes_by_at_least": 0.0, "best_changes_by_at_most": 0.0}


def test_only_the_three_types_of_largest_value_are_asked_about_by_default():
    seconds = [[HOUR * (1 + i + j) for j in range(4)] for i in range(4)]
    bag = three_tasks(
        machine_types=tuple(MachineType(name=f"m{j}", count=2) for j in range(4)),
        task_types=tuple(TaskType(name=f"t{i}", count=20) for i in range(4)),
        seconds=Table.of(seconds),
        watts=Table.of([[100.0] * 4] * 4),
    )
    result = solve(bag, effort="fast")
    found = with_one_more(bag, result).one_more
    machines = sorted(result.worth.machine_types, key=lambda name: -result.worth.machine_types[name])
    tasks = sorted(result.worth.task_types, key=lambda name: -result.worth.task_types[name])
    assert set(found.machine_types) == set(machines[:3])
    assert set(found.task_types) == set(tasks[:3])
    every = with_one_more(bag, result, marginals="proved").one_more
    assert set(every.machine_types) == set(machines)
    assert set(every.task_types) == set(tasks)


def test_nothing_is_said_where_nothing_is_asked_or_time_is_up():
    bag = three_tasks()
    assert with_one_more(bag, solve(bag), marginals="lp").one_more is None
    assert with_one_more(bag, solve(bag, objective="makespan")).one_more is None
    over = CancelToken()
    over.stop()
    assert with_one_more(bag, solve(bag, cancel=over), marginals="proved").one_more is None  # no finished program
    late = with_one_more(bag, solve(bag), cancel=over).one_more
    assert (dict(late.machine_types), dict(late.task_types)) == ({}, {})
    with pytest.raises(ValueError, match="marginals is 'all', expected one of lp, top, proved"):
        with_one_more(bag, solve(bag), marginals="all")


def test_one_more_that_leaves_no_schedule_has_no_numbers():
    # 220 W for two machines of 100 W; three of them idle at 80 W draw 240 W.
    hot = MachineType(name="m", count=2, idle_watts=80.0)
    bag = three_tasks(machine_types=(hot,), site=Site(average_power_cap_watts=220.0))
    step = with_one_more(bag, solve(bag)).one_more.machine_types["m"]
    assert (step.at_least, step.at_most) == (None, None)
    # By a deadline of 2 hours two machines do four tasks, and not five.
    bag = three_tasks(task_types=(TaskType(name="t", count=4),)).model_copy(
        update={"site": Site(deadline_seconds=2 * HOUR)}
    )
    step = with_one_more(bag, solve(bag), marginals="proved").one_more.task_types["t"]
    assert (step.at_least, step.at_most) == (None, None)


@pytest.mark.parametrize("marginals", ["top", "proved"])
def test_solve_computes_what_one_more_changes(marginals):
    bag = three_tasks()
    plain, found = solve(bag, price=40.0), solve(bag, price=40.0, marginals=marginals)
    expected = with_one_more(bag, plain, marginals=marginals, price=40.0)
    assert plain.one_more is None
    assert (found.value, found.bound, found.one_more) == (plain.value, plain.bound, expected.one_more)
    assert found.one_more.machine_types.keys() == {"m"}
    assert "one more" in found.timings


def test_marginals_are_checked_before_anything_is_solved(monkeypatch):
    monkeypatch.setattr("lpsched.bag.solve.solve_problem", None)
    with pytest.raises(ValueError, match="marginals is 'all', expected one of lp, top, proved"):
        solve(three_tasks(), marginals="all")
