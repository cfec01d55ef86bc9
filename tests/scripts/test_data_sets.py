from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from lpsched.bag.arrays import arrays_of
from lpsched.online.arrays import day_arrays
from scripts.figures.shared.data_sets import chapter_5, chapter_6_first, chapter_6_second, chapter_7, grown_desktop
from scripts.figures.shared.desktop import desktop_bag


def test_the_first_investigation_has_the_thesis_sizes_and_means():
    bag = chapter_6_first()
    assert (bag.tasks, len(bag.task_types), bag.machines, len(bag.machine_types)) == (1_000, 50, 50, 10)
    arrays = arrays_of(bag)
    assert arrays.watts is not None
    assert (arrays.seconds.mean(), arrays.watts.mean()) == pytest.approx((10.0, 200.0), rel=0.05)
    assert not arrays.idle_watts.any()
    assert len({machine.count for machine in bag.machine_types}) > 1  # at random


def test_the_environments_of_the_second_investigation_share_their_tasks():
    two, six, nine = (chapter_6_second(types) for types in (2, 6, 9))
    assert two.task_types == six.task_types == nine.task_types
    assert (len(nine.task_types), nine.tasks) == (30, 1_000)
    assert [[m.count for m in bag.machine_types] for bag in (two, six, nine)] == [[18] * 2, [6] * 6, [4] * 9]
    assert [row[:2] for row in nine.seconds] == list(two.seconds)
    assert [row[:6] for row in nine.watts] == list(six.watts)
    assert [row for _, row in zip(range(5), nine.seconds, strict=False)] == list(desktop_bag().seconds)


def test_more_machine_types_allow_a_smaller_makespan_and_less_energy():
    # What the thesis finds of its three environments: 36 machines each, ever better ones.
    def least(bag):
        arrays = arrays_of(bag)
        return (arrays.task_counts * (arrays.seconds * arrays.watts).min(axis=1)).sum()

    two, six, nine = (chapter_6_second(types) for types in (2, 6, 9))
    assert least(two) > least(six) > least(nine)


@pytest.mark.parametrize(
    ("tasks", "task_types", "machines", "minutes"), [(250, 5, 9, 15), (1_000, 30, 30, 15), (4_000, 30, 30, 60)]
)
def test_the_data_sets_of_chapter_5_have_the_thesis_sizes(tasks, task_types, machines, minutes):
    day = chapter_5(tasks)
    assert (day.tasks, len(day.task_types), day.machines) == (tasks, task_types, machines)
    arrays = day_arrays(day)
    assert 0 <= arrays.arrivals[0] <= arrays.arrivals[-1] <= 60 * minutes
    # Even at random: the mean of n is within 5 deviations of the middle, span / sqrt(12 n) each.
    assert arrays.arrivals.mean() == pytest.approx(30 * minutes, abs=5 * 60 * minutes / (12 * tasks) ** 0.5)
    assert np.bincount(arrays.task_type, minlength=task_types).min() > 0


def test_table_5_3_gives_the_machines_and_the_special_ones_come_first():
    day = chapter_5(1_000)
    assert [machine.count for machine in day.machine_types] == [1, 1, 1, 1, 2, 3, 3, 3, 2, 4, 2, 5, 2]
    assert day.seconds == chapter_5(4_000).seconds == grown_desktop().bag.seconds
    special = day_arrays(day).can_run[:, :4].sum(axis=0)
    assert set(special.tolist()) <= {2, 3}


def test_chapter_7_has_a_hundred_machines_with_three_p_states():
    day = chapter_7(np.random.default_rng(1))
    assert [machine.count for machine in day.machine_types] == [2, 2, 3, 3, 5, 5, 5, 10, 10, 10, 10, 15, 20]
    assert {machine.p_states for machine in day.machine_types} == {("P0", "P1", "P2")}
    assert (day.tasks, len(day.task_types)) == (6_000, 100)
    arrays = day_arrays(day)
    assert 14_000 < arrays.arrivals[-1] <= 14_400  # four hours
    first = np.arange(0, arrays.can_run.shape[1], 3)
    general = arrays.seconds[:, first[4:]]
    assert general.mean() == pytest.approx(600.0, rel=0.05)
    # All of the power is dynamic: 133 W on average, three quarters and half of it in the other P-states.
    assert arrays.watts[:, first[4:]].mean() == pytest.approx(133.0, rel=0.05)
    assert arrays.watts[:, first[4:] + 2] == pytest.approx(arrays.watts[:, first[4:]] / 2, rel=1e-4)
    assert Counter(arrays.task_type.tolist()).most_common()[-1][1] > 20  # of 60 on average
    assert chapter_7(np.random.default_rng(2)).content_hash != day.content_hash
