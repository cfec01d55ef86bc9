from __future__ import annotations

import numpy as np
import pytest

from lpsched.bag.model import Bag
from lpsched.bag.parts import MachineType, TaskType
from lpsched.bag.schedule import NOTHING, MachineGroup, Run, Schedule
from lpsched.io.figure_files import figure_bytes
from lpsched.model.table import Table
from lpsched.report.figures.schedule import share_map, share_tooltips, shares_of
from tests.report.bags import BAG, SCHEDULE


def map_of(bag, schedule):
    axes, _scale = share_map(bag, schedule).axes
    return axes


def texts(axes):
    return {(text.get_position(), text.get_text()) for text in axes.texts}


def test_p_states_are_joined_and_absent_pairs_are_none():
    # Of 8 tasks to render, 2 are on a CPU, 2 + 4 on the GPU in two P-states; the GPU cannot zip.
    assert shares_of(BAG, SCHEDULE).counts == ((2, 6), (2, None))


def test_a_pair_that_can_run_in_one_p_state_can_run():
    gpu = MachineType(name="gpu", count=1, p_states=("P0", "P1"))
    bag = Bag("one", (gpu,), (TaskType(name="a", count=1),), Table.of([[None, 2.0]]))
    assert shares_of(bag, NOTHING).counts == ((0,),)


def test_cells_are_shaded_by_the_share_and_have_its_percentage():
    axes = map_of(BAG, SCHEDULE)
    cells = axes.collections[0].get_array().reshape(2, 2)
    assert cells[0].tolist() == [25.0, 75.0]
    assert cells[1, 0] == pytest.approx(100.0)
    assert texts(axes) == {((0.5, 0.5), "25"), ((1.5, 0.5), "75"), ((0.5, 1.5), "100")}
    assert [label.get_text() for label in axes.get_xticklabels()] == ["cpu", r"\$gpu\$"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["render", "<zip>"]
    assert axes.get_ylim() == (2, 0)  # the first task type on top


def test_the_pair_that_cannot_run_is_hatched_and_said_to():
    axes = map_of(BAG, SCHEDULE)
    (shape,) = axes.patches
    assert shape.get_hatch()
    assert shape.get_path().contains_point((1.5, 1.5))
    assert not shape.get_path().contains_point((0.5, 1.5))
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["cannot run"]


def test_what_does_not_run_is_white_and_small_shares_are_not_rounded_to_nothing():
    tasks = (TaskType(name="a", count=1000), TaskType(name="b", count=1))
    machines = (MachineType(name="x", count=1), MachineType(name="y", count=1))
    bag = Bag("small", machines, tasks, Table.of([[1.0, 1.0], [1.0, 1.0]]))
    schedule = Schedule((MachineGroup("x", 1, (Run("a", 999), Run("b", 1))), MachineGroup("y", 1, (Run("a", 1),))))
    axes = map_of(bag, schedule)
    assert ((1.5, 0.5), "<1") in texts(axes)
    cells = np.ma.filled(axes.collections[0].get_array().reshape(2, 2), np.nan)
    assert np.isnan(cells[1, 1])
    assert axes.get_legend() is None


def wide(rows: int, columns: int) -> tuple[Bag, Schedule]:
    machines = tuple(MachineType(name=f"machine {j}", count=1) for j in range(columns))
    tasks = tuple(TaskType(name=f"task {i}", count=i + 1) for i in range(rows))
    runs = tuple(Run(task.name, task.count) for task in tasks)
    table = Table.of([[1.0, *[None] * (columns - 1)] for _ in tasks])
    return Bag("wide", machines, tasks, table), Schedule((MachineGroup("machine 0", 1, runs),))


def test_two_hundred_by_a_hundred_types_are_pixels_with_thinned_names_and_no_numbers():
    axes = map_of(*wide(200, 100))
    assert axes.collections[0].get_rasterized()
    assert not axes.texts
    assert axes.patches[0].get_hatch() is None  # in a pixel it would be noise
    assert len(axes.get_yticklabels()) <= 62  # 8 inches of 0.13
    assert len(axes.get_xticklabels()) <= 27  # 5.4 inches of 0.2


def test_of_more_types_the_largest_are_drawn_and_the_rest_is_counted():
    shares = shares_of(*wide(300, 130))
    assert shares.tasks == tuple(f"task {i}" for i in range(60, 300))  # the first have the fewest tasks
    assert (shares.tasks_left_out, shares.machines_left_out) == (60, 10)
    assert shares.machines[0] == "machine 0"
    axes = map_of(*wide(300, 130))
    assert axes.get_ylabel() == "task type; 60 types with fewer tasks are not drawn"
    assert axes.get_title(loc="left") == "10 machine types that run less are not drawn"


def test_a_schedule_of_nothing_is_an_empty_map():
    axes = map_of(BAG, NOTHING)
    assert not axes.texts
    assert b"<?xml" in figure_bytes(axes.figure, ".svg")


def test_spots_tell_how_many_tasks_run_in_a_cell():
    found = share_tooltips(BAG, SCHEDULE)
    assert [(spot.x, spot.y) for spot in found] == [(0.5, 0.5), (1.5, 0.5), (0.5, 1.5)]
    assert found[1].label == "render on $gpu$: 6 of 8 tasks (75 %)"
    assert len(share_tooltips(*wide(300, 130))) == 240
    assert shares_of(BAG, SCHEDULE).words(1, 1) == "<zip> on $gpu$: cannot run"
