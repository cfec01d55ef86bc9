from __future__ import annotations

import sys

import pytest

from lpsched.errors import MissingExtraError
from lpsched.io.figure_files import figure_bytes
from lpsched.model.provenance import Estimate
from scripts.figures.shared.case_curves import Curve, CurvePanel, curves_figure

ONE = Curve("one", (Estimate(1.0, 0.5), Estimate(3.0, 0.25)))
TWO = Curve("two", (Estimate(2.0), Estimate(4.0)))
SETTING = CurvePanel("leniency", "utility", ("0.3", "none"), (ONE, TWO), ("constraint", 5.0))
OVER_TIME = CurvePanel("hours", "energy", (0.0, 24.0), (ONE, TWO), from_zero=False)


@pytest.fixture
def panels():
    return curves_figure([SETTING, OVER_TIME]).axes


def test_values_of_a_setting_stand_evenly_under_their_names(panels):
    assert [text.get_text() for text in panels[0].get_xticklabels()] == ["0.3", "none"]
    line = panels[0].containers[0][0]
    assert (list(line.get_xdata()), list(line.get_ydata())) == ([0, 1], [1.0, 3.0])


def test_whiskers_of_a_setting_are_its_intervals(panels):
    segments = panels[0].collections[0].get_segments()
    assert [tuple(each[:, 1]) for each in segments] == [(0.5, 1.5), (2.75, 3.25)]


def test_over_time_the_interval_is_a_band_and_a_single_trial_has_none(panels):
    (band,) = panels[1].collections  # of the first curve
    heights = {(float(x), float(y)) for x, y in band.get_paths()[0].vertices}
    assert {(0.0, 0.5), (0.0, 1.5), (24.0, 2.75), (24.0, 3.25)} <= heights
    first, second = panels[1].lines
    assert list(first.get_xdata()) == [0.0, 24.0]
    assert list(second.get_ydata()) == [2.0, 4.0]


def test_curves_differ_in_colour_and_mark(panels):
    styles = [(line.get_color(), line.get_marker()) for line in panels[1].lines]
    assert len({colour for colour, _ in styles}) == len({mark for _, mark in styles}) == 2


def test_a_limit_is_a_dashed_line_in_its_panel_alone(panels):
    limits = [[line for line in axes.lines if line.get_label() == "constraint"] for axes in panels]
    assert list(limits[0][0].get_ydata()) == [5.0, 5.0]
    assert limits[1] == []


def test_axes_have_names_and_begin_at_zero_unless_told(panels):
    assert [(axes.get_xlabel(), axes.get_ylabel()) for axes in panels] == [("leniency", "utility"), ("hours", "energy")]
    assert panels[0].get_ylim()[0] == 0.0
    assert panels[1].get_ylim()[0] != 0.0


def test_hours_of_a_day_are_marked_in_quarters_or_eighths(panels):
    assert {6.0, 12.0, 18.0} <= set(panels[1].get_xticks())


def test_names_that_could_be_formulas_or_tags_can_be_written():
    odd = Curve("$x_1 <script>", ONE.estimates)
    assert b"<script" not in figure_bytes(curves_figure([CurvePanel("a", "b", ("$", "_"), (odd,))]), ".svg")


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match="report"):
        curves_figure([SETTING])
