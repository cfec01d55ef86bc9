from __future__ import annotations

import sys
from dataclasses import replace

import pytest

from lpsched.bag.result import Point
from lpsched.errors import MissingExtraError
from lpsched.evolve.fronts import FrontEntry
from lpsched.io.figure_files import figure_bytes
from lpsched.report.figures.fronts import front_figure, front_tooltips
from lpsched.report.figures.style import ENERGIES, JOULES, SECONDS, fitting
from tests.report.fronts import EVOLVED, EXACT, compared


def drawn(result):
    (axes,) = front_figure(result).axes
    return axes


def points(axes, label):
    line = next(each for each in axes.lines if each.get_label() == label)
    return [tuple(map(float, pair)) for pair in line.get_xydata()]


def test_the_exact_front_is_a_line_that_goes_on_straight_up_and_to_the_right():
    axes = drawn(compared(EVOLVED))
    (_, right), (_, top) = axes.get_xlim(), axes.get_ylim()
    # In Wh, of 3,600 J, and minutes: 600 s are 10, 240 s are 4.
    least, most = 2e6 / 3600, 4e6 / 3600
    assert points(axes, "exact front, proved") == [(least, top), (least, 10.0), (most, 4.0), (right, 4.0)]
    assert (right > 6e6 / 3600, top > 15.0) == (True, True)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("energy, Wh", "makespan, minutes")


def test_below_the_front_is_shaded_and_said_to_have_no_schedule():
    axes = drawn(EXACT)
    (shade,) = axes.collections
    path = shade.get_paths()[0]
    assert path.contains_point((2.9e6 / 3600, 7.0))  # the front is at 7.3 there
    assert not path.contains_point((2.9e6 / 3600, 7.5))
    assert path.contains_point((1.95e6 / 3600, 10.5))  # left of the least energy
    assert "no schedule is here" in [text.get_text() for text in axes.texts]


def test_our_schedules_and_the_methods_are_marks_of_their_own_shape_and_colour():
    axes = drawn(compared(EVOLVED, FrontEntry("my $x$", (Point(5e6, 600.0),)), FrontEntry("failed")))
    assert points(axes, "our schedules") == [(2.1e6 / 3600, pytest.approx(620 / 60))]
    assert points(axes, "nsga2") == [(3e6 / 3600, 15.0), (6e6 / 3600, 5.0)]
    assert points(axes, r"my \$x\$") == [(5e6 / 3600, 10.0)]
    marks = [
        (line.get_marker(), line.get_markeredgecolor())
        for line in axes.lines
        if line.get_label() in {"our schedules", "nsga2", r"my \$x\$"}
    ]
    assert len({mark for mark, _ in marks}) == 3
    assert "failed" not in [line.get_label() for line in axes.lines]


def test_many_points_are_thinned_and_far_ones_make_the_axis_logarithmic():
    many = tuple(Point(2e6 + 1e3 * place, 900.0 - 0.1 * place) for place in range(5000))
    axes = drawn(compared(FrontEntry("a", many), FrontEntry("b", (Point(5e6, 240.0 * 31),))))
    assert len(points(axes, "a")) == 400
    assert axes.get_yscale() == "log"
    assert drawn(EXACT).get_yscale() == "linear"


def test_a_front_of_one_point_can_be_drawn():
    point = Point(1.0, 1.0)
    one = replace(EXACT, vertices=(point,), measured=(point,))
    axes = drawn(one)
    assert axes.get_xlim()[0] < 1.0 < axes.get_xlim()[1]
    assert figure_bytes(front_figure(one), ".svg").startswith(b"<?xml")


def test_a_bag_whose_tasks_take_no_energy_can_be_drawn():
    none = Point(0.0, 5.0)
    axes = drawn(replace(EXACT, vertices=(none,), measured=(none,)))
    assert axes.get_xlabel() == "energy, J"


@pytest.mark.parametrize(
    ("units", "largest", "name"),
    [
        (SECONDS, 119.0, "seconds"),
        (SECONDS, 120.0, "minutes"),
        (SECONDS, 7200.0, "hours"),
        (JOULES, 1.9e3, "J"),
        (JOULES, 2e3, "kJ"),
        (ENERGIES, 7199.0, "J"),
        (ENERGIES, 7200.0, "Wh"),  # two of them
        (ENERGIES, 5e20, "GWh"),
    ],
)
def test_units_fit_the_largest_number(units, largest, name):
    assert fitting(units, largest).name == name


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match="needs the extra 'report'"):
        front_figure(EXACT)


def test_tooltips_name_vertices_our_schedules_and_methods_in_words():
    found = front_tooltips(compared(EVOLVED, FrontEntry("failed")))
    assert [(each.x, each.y, each.label) for each in found] == [
        (2e6 / 3600, 10.0, "vertex of the linear program: 555.5 Wh, 10 min"),  # rounded down
        (4e6 / 3600, 4.0, "vertex of the linear program: 1.111 kWh, 4 min"),
        (2.1e6 / 3600, pytest.approx(620 / 60), "our schedule: 583.3 Wh, 10 min 20 s"),
        (3e6 / 3600, 15.0, "nsga2: 833.3 Wh, 15 min"),
        (6e6 / 3600, 5.0, "nsga2: 1.667 kWh, 5 min"),
    ]
    assert {each.axes for each in found} == {0}


def test_tooltips_of_a_long_front_are_thinned():
    long = replace(EXACT, vertices=tuple(Point(2e6 + k, 600.0 - 0.1 * k) for k in range(3000)))
    assert len(front_tooltips(long)) == 125 + 1  # half of 250 for each of two kinds
