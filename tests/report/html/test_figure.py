from __future__ import annotations

import json
import math

import pytest

from lpsched.io.figure_files import drawing_style
from lpsched.report.figures.style import Tooltip, blank_figure
from lpsched.report.html.page import PageFigure, Section, page, place_of
from tests.report.html_reader import Reader


def two_axes():
    """Return a figure whose axes fill it: below from (0, 0) to (10, 1), above logarithmic from 1 to 100."""
    with drawing_style():
        figure = blank_figure(2.0)
        figure.set_layout_engine("none")
        below, above = figure.add_axes((0.0, 0.0, 1.0, 0.5)), figure.add_axes((0.0, 0.5, 1.0, 0.5))
        below.set(xlim=(0, 10), ylim=(0, 1))
        above.set(xlim=(0, 10), ylim=(1, 100), yscale="log")
    return figure


def read(*tooltips, name=""):
    return Reader(page("t", "", [Section("s", (PageFigure(two_axes(), "d", name=name, tooltips=tooltips),))]))


def test_places_are_percent_from_the_left_and_the_top():
    below, above = two_axes().axes
    assert place_of(below, 0.0, 0.0) == pytest.approx((0.0, 100.0))
    assert place_of(below, 2.5, 1.0) == pytest.approx((25.0, 50.0))
    assert place_of(above, 10.0, 10.0) == pytest.approx((100.0, 25.0))  # half of the way up, in powers of ten


def test_tooltips_have_a_place_and_those_outside_are_only_listed():
    page_read = read(
        Tooltip(5, 0.5, "middle <b>"),
        Tooltip(5, 10, "above", axes=1),
        Tooltip(11, 0, "out"),
        Tooltip(math.nan, 0, "no"),
    )
    assert [attributes for tag, attributes in page_read.tags if tag == "li"] == [
        {"data-left": "50.00", "data-top": "75.00"},
        {"data-left": "50.00", "data-top": "25.00"},
        {},
        {},
    ]
    assert page_read.of("li") == ["middle <b>", "above", "out", "no"]
    assert page_read.of("summary") == ["All 4 points of the figure as text"]
    assert read(Tooltip(1, 1, "one")).of("summary") == ["One point of the figure as text"]
    assert not page_read.issues


def test_a_figure_with_a_name_has_its_scales():
    (figure,) = [attributes for tag, attributes in read(name='a"b').tags if tag == "figure"]
    assert figure["data-figure"] == 'a"b'
    assert json.loads(figure["data-scales"]) == [
        [[False, 0.0, 10.0, 0.0, 100.0], [False, 0.0, 1.0, 100.0, 50.0]],
        [[False, 0.0, 10.0, 0.0, 100.0], [True, 1.0, 100.0, 50.0, 0.0]],
    ]
    assert ("figure", {}) in read().tags
