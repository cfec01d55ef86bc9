"""Days small enough for paper: where each rule sends the tasks, and what they earn."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lpsched.model.table import Table
from lpsched.online.day import ArrivingTasks, Day
from lpsched.online.heuristics import heuristic_for_days
from lpsched.online.parts import DayMachineType, DayTaskType
from lpsched.online.utility import Interval, UtilityFunction
from lpsched.online.verify.day import measure
from tests.days import decaying, simple_day
from tests.online.plain import read

HALVING = decaying(8.0, math.log(2.0) / 10.0)  # 8, after 10 s 4, after 20 s 2, after 40 s 0.5
STEADY = decaying(8.0)


def run(name, day, **options):
    return heuristic_for_days(name)(day, np.random.default_rng(0), **options)


@pytest.fixture
def fast_or_thrifty():
    """Two tasks at once: m0 takes 10 s at 100 W (1,000 J), m1 takes 20 s at 20 W (400 J)."""
    return simple_day([[10.0, 20.0]], [[100.0, 20.0]], [1, 1], [(0.0, 0, HALVING), (0.0, 0, HALVING)])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("min-energy", [(0, 1, 0.0), (1, 1, 20.0)]),  # the second waits for m1
        ("max-utility", [(0, 0, 0.0), (1, 1, 0.0)]),  # the second earns 2 on either, on m1 for 400 J
        ("mct", [(0, 0, 0.0), (1, 1, 0.0)]),  # the second ends at 20 s on either, on m1 for 400 J
        ("min-min", [(0, 0, 0.0), (1, 1, 0.0)]),
        ("utility-per-energy", [(0, 1, 0.0), (1, 0, 0.0)]),  # 2/400 beats 4/1000; then 4/1000 beats 0.5/400
        ("max-max-utility", [(0, 0, 0.0), (1, 1, 0.0)]),
        ("max-max-utility-per-time", [(0, 0, 0.0), (1, 0, 10.0)]),  # 4/10 beats 2/20; then 2/10 beats 2/20
        ("max-max-utility-per-power", [(0, 1, 0.0), (1, 0, 0.0)]),  # 2/20 beats 4/100; 4/100 beats 0.5/20
        ("max-max-utility-per-energy", [(0, 1, 0.0), (1, 0, 0.0)]),
    ],
)
def test_each_rule_sends_the_tasks_where_it_says(fast_or_thrifty, name, expected):
    assert read(fast_or_thrifty, run(name, fast_or_thrifty)) == expected


def test_min_energy_earns_what_waiting_leaves(fast_or_thrifty):
    # The first ends after 20 s and earns 2, the second after 40 s and earns 0.5; twice 400 J.
    measured = measure(fast_or_thrifty, run("min-energy", fast_or_thrifty))
    assert measured.utility == pytest.approx(2.5)
    assert measured.energy_joules == 800.0


def test_no_task_starts_before_it_arrives():
    day = simple_day([[2.0]], [[1.0]], [1], [(0.0, 0, STEADY), (5.0, 0, STEADY), (6.0, 0, STEADY)])
    for name in ("mct", "min-min", "max-max-utility", "random"):
        assert read(day, run(name, day)) == [(0, 0, 0.0), (1, 0, 5.0), (2, 0, 7.0)]


def test_min_min_lets_a_short_task_of_later_overtake_a_long_one_that_waits():
    # At first the task of 1 s that arrives at 0.5 s ends first (1.5 s), then the one of 10 s that came at 0.
    day = simple_day([[10.0], [1.0]], [[1.0], [1.0]], [1], [(0.0, 0, STEADY), (0.5, 1, STEADY)])
    assert read(day, run("min-min", day)) == [(0, 0, 1.5), (1, 0, 0.5)]
    assert read(day, run("mct", day)) == [(0, 0, 0.0), (1, 0, 10.0)]


def test_max_max_maps_the_worthiest_task_of_a_minute_first():
    # Of three tasks at once on one machine the one worth 8 goes first, then the one worth 2: the machine has work
    # for the whole minute. In the next one the task worth 9 overtakes the one worth 1.
    tasks = [(0.0, 0, decaying(1.0)), (0.0, 0, decaying(8.0)), (0.0, 0, decaying(2.0)), (60.0, 0, decaying(9.0))]
    day = simple_day([[30.0]], [[1.0]], [1], tasks)
    assert read(day, run("max-max-utility", day)) == [(0, 0, 90.0), (1, 0, 0.0), (2, 0, 30.0), (3, 0, 60.0)]


def test_max_max_looks_again_at_a_task_whose_machine_was_given_another():
    # Both would earn most on m0, the first 4, the second 3. Then the second would end there after 20 s, for 1.5;
    # on m1 it ends after 12 s, for 2.6.
    tasks = [(0.0, 0, HALVING), (0.0, 1, decaying(6.0, math.log(2.0) / 10.0))]
    day = simple_day([[10.0, 20.0], [10.0, 12.0]], [[1.0, 1.0]] * 2, [1, 1], tasks)
    assert read(day, run("max-max-utility", day)) == [(0, 0, 0.0), (1, 1, 0.0)]


def test_a_task_that_would_earn_too_little_is_dropped_and_takes_no_time():
    # One machine, 10 s each, all at once: the first earns 4, the second 2, the third would earn 1. At 60 s the
    # machine has been free since 20 s.
    day = simple_day([[10.0]], [[1.0]], [1], [(0.0, 0, HALVING)] * 3 + [(15.0, 0, HALVING)])
    assert read(day, run("mct", day, drop_below=1.5)) == [(0, 0, 0.0), (1, 0, 10.0), (3, 0, 20.0)]
    assert read(day, run("min-min", day, drop_below=1.5)) == [(0, 0, 0.0), (1, 0, 10.0), (3, 0, 20.0)]
    assert read(day, run("random", day, drop_below=1.5)) == [(0, 0, 0.0), (1, 0, 10.0), (3, 0, 20.0)]


def test_a_task_that_earns_just_the_limit_is_run():
    day = simple_day([[10.0]], [[1.0]], [1], [(0.0, 0, STEADY)])
    for name in ("mct", "min-min", "max-max-utility", "random"):
        assert len(run(name, day, drop_below=8.0).placed) == 1
        assert not run(name, day, drop_below=8.1).placed


def test_a_task_without_energy_has_the_most_utility_per_energy_and_goes_where_it_earns_most():
    # m0 takes 1 s and 1 J, m1 20 s and m2 10 s without energy.
    day = simple_day([[1.0, 20.0, 10.0]], [[1.0, 0.0, 0.0]], [1, 1, 1], [(0.0, 0, HALVING)])
    assert read(day, run("utility-per-energy", day)) == [(0, 2, 0.0)]
    assert read(day, run("max-max-utility-per-power", day)) == [(0, 2, 0.0)]


def test_of_equal_scores_more_utility_wins_then_less_energy_then_the_earlier_end():
    # 8 for 800 J and 4 for 400 J are the same per joule: the 8 is taken. 200 J on either machine: the 10 s are.
    steps = UtilityFunction((Interval(0.0, 8.0, 8.0, 0.0), Interval(15.0, 4.0, 4.0, 0.0)))
    ratio = simple_day([[20.0, 10.0]], [[20.0, 80.0]], [1, 1], [(0.0, 0, steps)])
    assert read(ratio, run("utility-per-energy", ratio)) == [(0, 1, 0.0)]
    same = simple_day([[20.0, 10.0]], [[10.0, 20.0]], [1, 1], [(0.0, 0, STEADY)])
    assert read(same, run("min-energy", same)) == [(0, 1, 0.0)]


def test_a_task_goes_to_the_machine_that_is_free_first_or_of_several_to_the_one_free_last():
    # Two machines: tasks of 5, 3 and 1 s at once; the third goes to machine 2, which is free at 3 s. The fourth
    # arrives at 9 s, when machine 1 has been free since 5 s and machine 2 since 4 s.
    tasks = [(0.0, 0, STEADY), (0.0, 1, STEADY), (0.0, 2, STEADY), (9.0, 2, STEADY)]
    day = simple_day([[5.0], [3.0], [1.0]], [[1.0]] * 3, [2], tasks)
    placed = run("mct", day).placed
    assert [(each.task, each.machine, each.start_seconds) for each in placed] == [
        (0, 1, 0),
        (1, 2, 0),
        (2, 2, 3),
        (3, 1, 9),
    ]


def test_p_states_are_told_by_name():
    day = Day(
        name="states",
        machine_types=(DayMachineType("cpu", 1, ("fast", "saving")), DayMachineType("gpu", 1)),
        task_types=(DayTaskType("render"),),
        seconds=Table.of([[10.0, 20.0, 30.0]]),
        watts=Table.of([[10.0, 4.0, 1.0]]),  # 100 J, 80 J, 30 J
        tasks=ArrivingTasks.of([0.0], [0], ["own"]),
        utility_functions={"own": HALVING},
    )
    (fast,) = run("max-utility", day).placed
    (thrifty,) = run("min-energy", day).placed
    assert (fast.machine_type, fast.p_state) == ("cpu", "fast")
    assert (thrifty.machine_type, thrifty.p_state) == ("gpu", None)


def test_random_machines_are_alike_likely_whatever_their_type():
    # 1 machine of m0, 3 of m1 with two columns' worth of choice: m0 gets a quarter of 2,000 tasks.
    day = simple_day([[1.0, 1.0, None]], [[1.0, 1.0, None]], [1, 3, 5], [(float(n), 0, STEADY) for n in range(2000)])
    placed = run("random", day).placed
    on = [sum(each.machine_type == name for each in placed) for name in ("m0", "m1", "m2")]
    assert on[0] == pytest.approx(500, abs=80)  # four standard deviations of 19.4
    assert on[2] == 0
    numbers = {each.machine for each in placed if each.machine_type == "m1"}
    assert numbers == {1, 2, 3}


def test_random_depends_on_the_seed_alone():
    day = simple_day([[1.0]], [[1.0]], [1000], [(0.0, 0, STEADY)] * 20)
    random = heuristic_for_days("random")
    same = [random(day, np.random.default_rng(7)) for _ in range(2)]
    assert same[0] == same[1] != random(day, np.random.default_rng(8))


def test_a_huge_number_of_machines_costs_nothing():
    day = simple_day([[5.0]], [[1.0]], [10**12], [(0.0, 0, STEADY)] * 3)
    assert [each.machine for each in run("mct", day).placed] == [1, 2, 3]
    assert all(1 <= each.machine <= 10**12 for each in run("random", day).placed)
