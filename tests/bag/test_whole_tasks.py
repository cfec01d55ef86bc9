"""The least makespan that whole tasks imply: by hand, and where numbers are large, small or absent."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from lpsched.bag import relaxation as whole_tasks
from lpsched.bag.arrays import arrays_of, usable_arrays, usable_bag
from lpsched.bag.model import Bag
from lpsched.bag.parts import MachineType, Site, TaskType
from lpsched.bag.relaxation import is_redundant, least_makespan, scaling_of
from lpsched.model.table import Table
from models.whole_tasks import shortest
from tests.support import half_full, simple_bag


def test_no_schedule_is_done_before_its_longest_task():
    # 9,000 s on the faster machine; the 900 short tasks are no matter.
    bag = simple_bag([[9000.0, 20_000.0], [10.0, 30.0]], [1, 900], [2, 8])
    assert least_makespan(bag) == (Fraction(9000), (0,))


def test_the_second_and_third_task_of_a_machine_are_counted():
    # 5 tasks of 3 s on 2 machines: one of them runs three.
    assert least_makespan(simple_bag([[3.0]], [5], [2])) == (Fraction(9), (0,))
    # Two machines in 3 s, one in 5 s: 2 tasks after 3 s, 3 after 5 s, 5 after 6 s, 7 after 9 s.
    assert least_makespan(simple_bag([[3.0, 5.0]], [6], [2, 1])) == (Fraction(9), (0,))


def test_task_types_that_take_long_are_counted_together():
    # 4 s, 4 s and 3 s on two machines: one runs two of them, 6 s or more; alone, no type shows more than 4 s.
    assert least_makespan(simple_bag([[4.0], [3.0], [0.5]], [2, 1, 4], [2])) == (Fraction(6), (0, 1))


def test_the_fastest_p_state_counts_and_absent_pairs_finish_nothing():
    machines = (MachineType(name="a", count=1, p_states=("P0", "P1")), MachineType(name="b", count=5))
    bag = Bag("p", machines, (TaskType(name="t", count=3),), Table.of([[4.0, 2.0, None]]))
    assert least_makespan(bag) == (Fraction(6), (0,))  # three in a row at 2 s; the five others cannot run it


@pytest.mark.parametrize("factor", [1e-27, 2.0**-40, 1.0, 1e27])
def test_any_unit_of_time_gives_the_same_count(factor):
    exact, types = least_makespan(simple_bag([[3.0 * factor, 5.0 * factor]], [6], [2, 1]))
    assert (exact, types) == (3 * Fraction(3.0 * factor), (0,))


def test_huge_counts_are_counted_exactly():
    # 10^15 tasks of 1/3 s on 7 machines: one runs ceil(10^15 / 7) of them.
    rounds = -(-(10**15) // 7)
    exact, _ = least_makespan(simple_bag([[1 / 3]], [10**15], [7]))
    assert exact == rounds * Fraction(1 / 3)


def test_a_bag_of_very_many_pairs_has_its_longest_task_at_least(monkeypatch):
    monkeypatch.setattr(whole_tasks, "MANY", 1)
    assert least_makespan(simple_bag([[3.0, 4.0]], [5], [1, 1])) == (Fraction(3), (0,))


def test_it_is_that_of_the_definition_for_bags_of_many_types():
    rng = np.random.default_rng(0)
    for _ in range(20):
        seconds = np.where(rng.random((6, 4)) < 0.3, np.nan, rng.integers(1, 40, (6, 4)) / 4)
        seconds[:, 0] = rng.integers(1, 40, 6)
        bag = simple_bag(seconds.tolist(), rng.integers(1, 9, 6).tolist(), rng.integers(1, 5, 4).tolist())
        assert least_makespan(bag)[0] == shortest(bag)


def test_the_row_is_left_out_where_the_work_alone_takes_longer():
    # 8 tasks of 3 s on 2 machines: 12 s of work on each, and L is 12 s.
    even = simple_bag([[3.0]], [8], [2])
    assert is_redundant(arrays_of(even), 12.0)
    assert scaling_of(even).shortest == 0
    # Of 9 tasks one machine has five, 15 s, where the work is 13.5 s.
    odd = simple_bag([[3.0]], [9], [2])
    assert not is_redundant(arrays_of(odd), 15.0)
    assert scaling_of(odd).shortest == 15
    assert scaling_of(odd, whole=False).shortest == 0


def due(bag: Bag, deadline: float) -> Bag:
    return Bag("due", bag.machine_types, bag.task_types, bag.seconds, bag.watts, site=Site(deadline_seconds=deadline))


def test_pairs_beyond_the_deadline_are_left_out_and_those_at_it_stay():
    bag = due(simple_bag([[2.0, 5.0], [7.0, 3.0]], [1, 1], [1, 1], [[10.0, 20.0], [30.0, 40.0]]), 5.0)
    assert usable_arrays(bag).can_run.tolist() == [[True, True], [False, True]]
    assert usable_arrays(bag).watts.tolist() == [[10.0, 20.0], [0.0, 40.0]]
    left = usable_bag(bag)
    assert (left.site.deadline_seconds, list(map(list, left.seconds))) == (None, [[2.0, 5.0], [None, 3.0]])
    assert list(map(list, left.watts)) == [[10.0, 20.0], [None, 40.0]]


def test_a_task_type_that_no_machine_finishes_in_time_keeps_its_pairs():
    # There is no schedule; what is proved then is about all pairs, as without a deadline.
    bag = due(half_full(), 3.0)
    assert usable_arrays(bag).can_run.tolist() == arrays_of(bag).can_run.tolist()
    assert usable_bag(bag).seconds == bag.seconds
