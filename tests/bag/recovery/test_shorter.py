"""The program of shorter deadlines, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from lpsched.bag.parts import Site
from lpsched.bag.recovery.deadline import shorter_deadlines
from lpsched.lp.solvers import default_solver
from tests.support import simple_bag

# Four tasks: 1 s and 300 J on the fast machine, 3 s and 30 J on the thrifty one.
BAG = simple_bag([[1.0, 3.0]], [4], [1, 1], watts=[[300.0, 10.0]])


def program(bag, deadline, objective="energy", **site):
    return shorter_deadlines(
        bag.model_copy(update={"site": Site(deadline_seconds=deadline, **site)}), objective, default_solver()
    )


def test_less_time_on_the_thrifty_machine_sends_tasks_to_the_fast_one():
    # Within 6 s the thrifty machine runs 2 of 4 tasks; with half of its time, one.
    shorter = program(BAG, 6.0)
    assert shorter.cheapest(np.array([1.0, 1.0, 1.0])).shares[0] == pytest.approx([0.5, 0.5])
    half = shorter.cheapest(np.array([1.0, 0.5, 1.0]))
    assert half.shares[0] == pytest.approx([0.75, 0.25])
    assert half.makespan_seconds == pytest.approx(3.0)
    assert shorter.cheapest(np.array([1.0, 1.0, 1.0])).shares[0] == pytest.approx([0.5, 0.5])


def test_there_is_no_way_within_too_little_time_and_more_time_is_enough_again():
    # 0.4 of 6 s are 2.4 s: the machines run 2.4 and 0.8 tasks, of four.
    shorter = program(BAG, 6.0)
    assert shorter.cheapest(np.array([0.4, 0.4, 1.0])) is None
    assert shorter.cheapest(np.array([0.5, 0.5, 1.0])).makespan_seconds == pytest.approx(3.0)


def test_the_fastest_way_has_both_machines_busy_until_the_end():
    # x tasks on the fast machine, 4 - x on the other: x = 3 (4 - x), x = 3.
    fastest = program(BAG, 6.0).fastest()
    assert fastest.makespan_seconds == pytest.approx(3.0)
    assert fastest.shares[0] == pytest.approx([0.75, 0.25])


def test_a_task_that_ends_after_the_deadline_goes_nowhere_near():
    # 3 s are longer than 2.9 s: all of the four tasks need the fast machine, and that takes 4 s.
    assert program(BAG, 2.9).cheapest(np.ones(3)) is None
    alone = program(simple_bag([[1.0, 3.0]], [2], [1, 1], watts=[[300.0, 10.0]]), 2.9)
    assert alone.cheapest(np.ones(3)).shares[0] == pytest.approx([1.0, 0.0])
    assert program(simple_bag([[3.0]], [2], [1]), 2.9, "makespan") is None


def test_a_share_of_the_cap_is_a_share_of_its_joules():
    # 100 W for 6 s are 600 J: 300 x + 30 (4 - x) <= 600 leaves 1.78 tasks on the fast machine, and the
    # thrifty one would need 6.67 s for the others. With 130 W, 780 J: 2.44 tasks; the cheapest way has 2.
    assert program(BAG, 6.0, average_power_cap_watts=100.0).cheapest(np.ones(3)) is None
    shorter = program(BAG, 6.0, average_power_cap_watts=130.0)
    assert shorter.cheapest(np.ones(3)).shares[0] == pytest.approx([0.5, 0.5])
    assert shorter.cheapest(np.array([1.0, 1.0, 0.8])) is None  # 624 J: 1.87 tasks


def test_reduced_costs_are_what_leaving_the_best_way_costs():
    # All on the thrifty machine by 12 s: a task on the fast one costs 270 J more, of 120 J in all.
    shorter = program(BAG, 24.0)
    assert shorter.cheapest(np.ones(3)).reduced_costs[0] == pytest.approx([270 / 120, 0.0])
