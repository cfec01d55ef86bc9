"""A schedule of a day becomes a chromosome, and a chromosome with its starts a schedule."""

from __future__ import annotations

import numpy as np
import pytest

from lpsched.online.day import day_from_dict
from lpsched.online.evolve import genes_of_day, to_day_schedule
from lpsched.online.schedule import DaySchedule, PlacedTask
from lpsched.online.verify.day import examine
from tests.days import decaying, simple_day, sound_day

DAY = day_from_dict(sound_day())  # tasks render, zip, zip, render; 2 cpu, 1 gpu with P0 and P1
PLACED = (
    PlacedTask(0, "gpu", 1, 0.0, "P1"),
    PlacedTask(2, "cpu", 1, 2.5),
    PlacedTask(1, "cpu", 1, 32.5),
    PlacedTask(3, "cpu", 2, 100.0),
)


def violations(day, schedule):
    return examine(day, schedule).violations


def test_a_schedule_comes_back_as_it_was():
    assert violations(DAY, DaySchedule(PLACED)) == ()
    genes = genes_of_day(DAY, DaySchedule(PLACED))
    assert genes.machines.tolist() == [2, 0, 0, 1]
    assert genes.columns.tolist() == [2, 0, 0, 0]
    assert genes.orders.tolist() == [0, 2, 1, 3]  # by their starts: 0, 32.5, 2.5, 100
    back = to_day_schedule(DAY, genes, np.array([0.0, 32.5, 2.5, 100.0]))
    assert back.placed == tuple(sorted(PLACED, key=lambda placed: placed.task))


def test_tasks_that_are_not_placed_come_last_where_they_take_the_least_energy():
    genes = genes_of_day(DAY, DaySchedule(PLACED[2:3]))
    # render takes 80 x 50 = 4000 J on cpu, 10 x 200 = 2000 J and 20 x 90 = 1800 J on gpu; zip only runs on cpu.
    assert genes.columns.tolist() == [2, 0, 0, 2]
    assert genes.machines.tolist() == [2, 0, 0, 2]
    assert genes.orders.tolist() == [1, 0, 2, 3]


def test_a_task_without_a_start_is_left_out():
    genes = genes_of_day(DAY, DaySchedule(PLACED))
    found = to_day_schedule(DAY, genes, np.array([0.0, np.nan, 2.5, np.nan]))
    assert [placed.task for placed in found.placed] == [0, 2]


def test_of_a_trillion_machines_only_those_that_work_have_numbers():
    day = simple_day([[1.0]], [[1.0]], [10**12], [(0.0, 0, decaying(1.0))] * 3)
    placed = [PlacedTask(task, "m0", number, 0.0) for task, number in enumerate((10**12, 7, 10**9))]
    genes = genes_of_day(day, DaySchedule(tuple(placed)))
    assert genes.machines.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("placed", "message"),
    [
        (PlacedTask(4, "cpu", 1, 0.0), "there is no task 4, or it runs twice"),
        (PlacedTask(-1, "cpu", 1, 0.0), "there is no task -1, or it runs twice"),
        (PlacedTask(0, "cpu", 1, 0.0), "there is no task 0, or it runs twice"),
        (PlacedTask(1, "gpu", 1, 0.0, "P0"), "task 1 cannot run on 'gpu' in P-state 'P0'"),
        (PlacedTask(3, "gpu", 1, 0.0), "task 3 cannot run on 'gpu' in P-state None"),
        (PlacedTask(3, "tpu", 1, 0.0), "task 3 cannot run on 'tpu' in P-state None"),
        (PlacedTask(1, "cpu", 3, 0.0), "there is no machine 3 of type 'cpu'"),
        (PlacedTask(1, "cpu", 0, 0.0), "there is no machine 0 of type 'cpu'"),
    ],
)
def test_what_is_no_schedule_of_the_day_is_refused_in_words(placed, message):
    with pytest.raises(ValueError, match=message):
        genes_of_day(DAY, DaySchedule((PLACED[0], placed)))
