from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from lpsched.report.figures.style import blank_figure
from lpsched.report.html.page import (
    FollowingTable,
    Mark,
    PageFigure,
    Reading,
    Scale,
    Section,
    Segment,
    Slider,
    page,
    written,
)
from tests.report.html_reader import Reader

HOSTILE = "</script><!--&\u2028"
HALF = Segment(1.0, 3.0, ())


def slider(*, name="a", figure="there", begins_at=1.5):
    """Return a slider of two segments that share a reading: it costs 5 J all along."""
    segments = tuple(
        Segment(
            start,
            start + 1.0,
            (Reading(start, start + 1.0, "USD"), Reading(5.0, 5.0, "J")),
            (((Reading(name, name),),),),
            (Mark(figure, (0.0, 1.0), (0.0, 1.0)),),
        )
        for start in (1.0, 2.0)
    )
    return Slider(
        (Scale(name),), name, begins_at, ("price", name), segments, (FollowingTable(name, ("", name), (name,)),)
    )


@pytest.mark.parametrize(
    ("reading", "expected"),
    [
        (Reading(1000.0, 3000.0, "J"), "1,500 J"),  # at 1.5 a quarter of the way
        (Reading(4.0, 0.0), "3"),
        (Reading(1.0, 1 / 3, digits=3), "0.833"),
        (Reading("off", "on", "J"), "off"),
        (Reading(None, None, "J"), "-"),
        (Reading(1.0, None, "J"), "-"),
        (Reading(0.0, 0.5, "%"), "12.5 %"),
        (Reading(0.0, 1.0, over=(1.0, 5.0)), "12.5 %"),  # 0.25 / 2
        (Reading(1.0, 1.0, over=(-1.0, 3.0)), "-"),  # over 0
        (Reading(-1.0, 3.0, over=(-1.0, 3.0)), "0 %"),  # 0 over 0
        (Reading(-0.0, -0.0, "W"), "0 W"),
        (Reading(1000.0, 3000.0, "USD", decimals=2), "1,500.00 USD"),
        (Reading(-0.004, -0.004, decimals=2), "0.00"),
        (Reading(2 / 3, 2 / 3, "USD", upper=True), "0.6667 USD"),
        (Reading(2 / 3, 2 / 3, "USD", upper=False), "0.6666 USD"),
    ],
)
def test_a_reading_says_what_it_is_a_quarter_of_the_way(reading, expected):
    assert written(reading, HALF, 1.5) == expected


def test_a_reading_ends_exactly_where_its_stretch_ends():
    # 0.3 + (0.1 - 0.3) * 1 is 0.09999999999999998.
    assert written(Reading(0.3, 0.1, digits=17), HALF, 3.0) == "0.10000000000000001"


def test_a_breakpoint_belongs_to_the_stretch_that_it_begins_and_the_end_to_the_last():
    moved = slider()
    assert [moved.segment_at(x).start for x in (1.0, 1.999, 2.0, 3.0)] == [1.0, 1.0, 2.0, 2.0]


@pytest.mark.parametrize(
    "segments",
    [
        (),
        (Segment(1.0, 1.0, ()),),
        (Segment(0.0, 1.0, ()), Segment(2.0, 3.0, ())),
        (Segment(2.0, 3.0, ()),),  # it begins at 1
        (Segment(0.0, 3.0, (Reading(1.0, 1.0),)),),  # no label
        (Segment(0.0, 3.0, (), ((),)),),  # no table
    ],
)
def test_a_slider_with_holes_or_without_a_label_is_our_own_mistake(segments):
    with pytest.raises((AssertionError, ValueError)):
        Slider((Scale("x"),), "", 1.0, (), segments)


def data(text):
    (found,) = re.findall(r'<script type="application/json">(.*?)</script>', text)
    return found, json.loads(found)


def test_the_numbers_for_the_browser_name_every_reading_once_and_exactly():
    _, found = data(page("t", "", [Section("s", (slider(begins_at=1.1),))]))
    assert found["begins"] == 1.1
    assert (found["current"], found["scales"], found["totals"]) == (None, [["a", "a", 1.0]], [[]])
    assert found["breakpoints"] == [1.0, 2.0]
    assert found["formats"] == [["USD", 4, None, None], ["J", 4, None, None]]
    assert found["readings"] == [[0, 1.0, 2.0], [1, 5.0, 5.0], "a", [0, 2.0, 3.0]]
    marks = [["there", [0.0, 1.0], [0.0, 1.0], None]]
    assert found["segments"] == [[1.0, 2.0, [0, 1], [[[2]]], marks], [2.0, 3.0, [3, 1], [[[2]]], marks]]


def test_no_name_ends_the_element_that_holds_the_numbers():
    text = page("t", "", [Section("s", (slider(name=HOSTILE),))])
    written_data, found = data(text)
    assert not set("<>&\u2028") & set(written_data)
    assert found["readings"][2] == HOSTILE
    assert not Reader(text).issues
    assert text.count("</script") == 2  # the numbers, and what the page can do


def test_the_figures_of_a_slider_stand_between_its_readings_and_its_tables():
    drawn = PageFigure(blank_figure(1.0), "drawn", name="there")
    text = page("t", "", [Section("s", (replace(slider(), figures=(drawn,)),))])
    assert not Reader(text).issues
    places = [text.index(words) for words in ('class="readings"', 'data-figure="there"', 'class="table', "</section>")]
    assert places == sorted(places)
