from __future__ import annotations

import numpy as np
import pytest

from lpsched.bag.compare.result import MachineLoad, MachinePoint, along
from lpsched.bag.result import Point
from lpsched.io.figure_files import figure_bytes
from lpsched.report.figures.fronts import machine_figure
from tests.report.fronts import EVOLVED, EXACT, compared

POINTS = (
    MachinePoint(
        "A",
        Point(3e6, 900.0),
        (MachineLoad("cpu", 2, 900.0, 3e5), MachineLoad("cpu", 1, 600.0, 4e5), MachineLoad("$gpu$", 1, 0.0, 0.0)),
    ),
    MachinePoint("B", Point(6e6, 300.0), (MachineLoad("cpu", 3, 300.0, 5e5), MachineLoad("$gpu$", 1, 300.0, 1e6))),
)


def panels(**options):
    return machine_figure(compared(EVOLVED), POINTS, **options).axes


def heights(axes):
    return [round(bar.get_height(), 9) for bar in axes.patches if bar.get_width() < 1.0]


def in_wh(*joules):
    return pytest.approx([each / 3600 for each in joules])


def test_machines_stand_by_type_with_completion_on_the_left_and_energy_on_the_right():
    _, a_time, b_time, a_energy, b_energy = panels()
    assert a_time.get_title(loc="left") == "completion time of each machine, minutes"
    assert a_energy.get_title(loc="left") == "energy of each machine, Wh"
    # 900 s are 15 minutes, 3e5 J are 83.3 Wh; the same machine has the same place on both sides.
    assert heights(a_time) == [15.0, 15.0, 10.0, 0.0]
    assert heights(a_energy) == in_wh(3e5, 3e5, 4e5, 0.0)
    assert heights(b_time) == [5.0, 5.0, 5.0, 5.0]
    assert heights(b_energy) == in_wh(5e5, 5e5, 5e5, 1e6)
    lefts = [bar.get_x() for bar in a_time.patches if bar.get_width() < 1.0]
    assert [int(left) for left in lefts] == [0, 0, 0, 1]  # a unit of width for each type
    assert [label.get_text() for label in b_time.get_xticklabels()] == ["cpu", r"\$gpu\$"]
    assert a_time.get_ylim() == b_time.get_ylim()


def test_in_falling_order_each_side_has_its_own():
    _, a_time, _, a_energy, b_energy = panels(falling=True)
    assert heights(a_time) == [15.0, 15.0, 10.0, 0.0]
    assert heights(a_energy) == in_wh(4e5, 3e5, 3e5, 0.0)
    assert heights(b_energy) == in_wh(1e6, 5e5, 5e5, 5e5)
    assert b_energy.get_xlabel() == "machines, in falling order"


def test_the_front_has_the_letters_at_its_points():
    front = panels()[0]
    letters = {text.get_text(): tuple(text.xy) for text in front.texts if text.get_text() in "AB"}
    assert letters == {"A": (3e6 / 3600, 15.0), "B": (6e6 / 3600, 5.0)}


def steps(axes):
    (each,) = [patch for patch in axes.patches if hasattr(patch, "get_data")]
    return each.get_data()


def test_a_million_machines_are_steps():
    loads = (MachineLoad("cpu", 10**12, 400.0, 2e3), MachineLoad("cpu", 3 * 10**12, 100.0, 1e3))
    point = MachinePoint("A", Point(3e6, 900.0), loads)
    _, time, _ = machine_figure(EXACT, [point]).axes
    values, edges, _ = steps(time)
    assert list(values) == pytest.approx([400 / 60, 100 / 60])
    # A quarter of the machines takes a quarter of the width.
    assert (edges[1] - edges[0]) / (edges[2] - edges[0]) == pytest.approx(0.25)


def test_a_thousand_different_loads_are_thinned_to_even_distances():
    loads = tuple(MachineLoad("cpu", 1000, 10_000.0 - place, 1e3) for place in range(1000))
    _, time, _ = machine_figure(EXACT, [MachinePoint("A", Point(3e6, 900.0), loads)], falling=True).axes
    values, edges, _ = steps(time)
    # 200 steps of 5,000 machines: those of the loads 0, 5, 10, ..., 995.
    assert list(values) == pytest.approx([(10_000 - 5 * place) / 3600 for place in range(200)])
    assert np.diff(edges) == pytest.approx(5000.0)


def test_names_below_are_not_more_than_there_is_room_for():
    loads = tuple(MachineLoad(f"type {place}", 1, 1.0, 1.0) for place in range(30))
    _, time, _ = machine_figure(EXACT, [MachinePoint("A", Point(3e6, 900.0), loads)]).axes
    assert [label.get_text() for label in time.get_xticklabels()] == [f"type {place}" for place in range(0, 30, 3)]


def test_machines_that_do_nothing_at_all_can_be_drawn():
    loads = (MachineLoad("<script>", 1, 0.0, None),)
    figure = machine_figure(EXACT, [MachinePoint("A", Point(3e6, 900.0), loads)])
    assert b"<script>" not in figure_bytes(figure, ".svg")


@pytest.mark.parametrize(
    ("count", "places"),
    [(1, [0]), (4, [0, 1, 2, 3]), (5, [0, 1, 2, 3, 4]), (9, [0, 2, 4, 6, 8]), (101, [0, 25, 50, 75, 100])],
)
def test_points_along_a_front_are_its_ends_its_middle_and_the_two_between(count, places):
    assert along(count) == places
