from __future__ import annotations

import base64
import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from lpsched.facility.files import read_facility
from lpsched.facility.solve import facility
from lpsched.report.figures.facility import room_figure
from lpsched.report.figures.style import blank_figure
from lpsched.report.html.facility import facility_page, room_in_words, room_section
from lpsched.report.html.page import PageFigure, Paragraph, Section, Table, page, style
from lpsched.units import number
from tests.report.html_reader import Reader
from tests.report.rooms import AWKWARD_NAMES, awkward_room, small_room

pytestmark = pytest.mark.rotate_tests(4)

INSTANCES = Path(__file__).parents[3] / "instances"


def example(*, name="room <1>"):
    rows = ((name, "1.5"), ("b", "2"))
    parts = (
        Paragraph("1 < 2 & 3"),
        Table(("what", "W"), rows, numbers=True),
        PageFigure(blank_figure(1.0), name, "<as> it is"),
    )
    return page(name, "All is <well>.", [Section(f"About {name}", parts)], footer="made by us")


def test_a_page_holds_what_it_is_given_in_its_order():
    read = Reader(example())
    assert not read.issues
    assert [text for text in read.texts[:4] if text[0] not in {"style", "a"}] == [
        ("title", "room <1>"),
        ("h1", "room <1>"),
    ]
    assert read.texts[2] == ("a", "Skip to the answer")
    assert read.texts[-1][0] == "script"
    assert [text for text in read.texts[4:-1] if text[0] not in {"style", "path", "g"}] == [
        ("p", "All is <well>."),
        ("h2", "About room <1>"),
        ("p", "1 < 2 & 3"),
        ("th", "what"),
        ("th", "W"),
        ("td", "room <1>"),
        ("td", "1.5"),
        ("td", "b"),
        ("td", "2"),
        ("title", "room <1>"),
        ("figcaption", "<as> it is"),
        ("footer", "made by us"),
    ]


def test_a_page_says_its_language_its_letters_and_that_it_fits_a_phone():
    tags = Reader(example()).tags
    assert ("html", {"lang": "en"}) in tags
    assert ("meta", {"charset": "utf-8"}) in tags
    assert ("meta", {"name": "viewport", "content": "width=device-width, initial-scale=1"}) in tags
    assert example().startswith("<!DOCTYPE html>\n")
    assert "prefers-color-scheme: dark" in example()
    assert "@media print" in example()


def test_a_table_of_numbers_is_set_to_the_right_and_one_of_texts_is_not():
    rows = (("a", "b"),)
    tables = (Table(("", ""), rows), Table(("", ""), rows, numbers=True))
    tags = Reader(page("", "", [Section("", tables)])).tags
    assert [attributes for tag, attributes in tags if tag == "div"] == [
        {"class": "table facts brief"},
        {"class": "table numbers brief"},
    ]
    assert ".numbers :is(th, td):not(:first-child) { text-align: right;" in style()
    assert not [tag for tag, _ in tags if tag == "thead"]  # no header is empty


def test_a_number_and_its_unit_stay_together_and_a_long_table_scrolls():
    rows = (("a name", "1 W", "words that may well be broken"),) * 30
    tables = (Table(("", "", ""), rows, numbers=True), Table(("", "", ""), rows * 2))
    read = Reader(page("", "", [Section("", tables)]))
    assert read.of("td")[:3] == ["a name", "1\u00a0W", "words that may well be broken"]
    assert read.of("td")[90:93] == ["a name", "1 W", "words that may well be broken"]
    assert [attributes for tag, attributes in read.tags if tag == "div"] == [
        {"class": "table numbers brief"},
        {"class": "table facts brief long"},
    ]


def test_a_page_of_many_sections_begins_with_its_contents():
    few = Reader(page("t", "", [Section(f"<{name}>", ()) for name in "abc"]))
    many = Reader(page("t", "", [Section(f"<{name}>", ()) for name in "abcd"]))
    assert "nav" not in [tag for tag, _ in few.tags]
    assert many.of("a")[1:] == many.of("h2") == ["<a>", "<b>", "<c>", "<d>"]
    links = [attributes["href"] for tag, attributes in many.tags if tag == "a"]
    ids = [attributes["id"] for tag, attributes in many.tags if tag in {"main", "h2"}]
    assert links == [f"#{each}" for each in ids]


def test_the_policy_lets_nothing_run_but_the_script_of_the_page():
    read = Reader(example())
    (policy,) = [tag["content"] for name, tag in read.tags if name == "meta" and "http-equiv" in tag]
    (script,) = read.of("script")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy.split("; ")[:4] == [
        "default-src 'none'",
        "style-src 'unsafe-inline'",
        "img-src data:",
        f"script-src 'sha256-{digest}'",
    ]


def test_a_picture_is_inline_and_has_a_description():
    read = Reader(example())
    (svg,) = [attributes for tag, attributes in read.tags if tag == "svg"]
    assert svg["role"] == "img"
    assert ("title", {"id": svg["aria-labelledby"]}) in read.tags


@pytest.fixture(scope="module")
def awkward_page():
    facility, measured, cores = awkward_room()
    facts = Table(("", "", ""), tuple((name, "1 W", name) for name in AWKWARD_NAMES))
    sections = [Section("The answer", (facts,)), room_section(facility, measured, cores)]
    return page(facility.name, AWKWARD_NAMES[5], sections, footer=AWKWARD_NAMES[1])


def test_names_appear_exactly_as_they_stand_and_do_nothing(awkward_page):
    read = Reader(awkward_page)
    assert not read.issues
    assert {tag for tag, _ in read.tags} <= {
        *(
            "html",
            "head",
            "meta",
            "title",
            "style",
            "script",
            "body",
            "a",
            "main",
            "section",
            "footer",
            "h1",
            "h2",
            "p",
            "div",
        ),
        *("table", "thead", "tbody", "tr", "th", "td", "figure", "figcaption"),
        *("svg", "defs", "g", "path", "use", "clippath", "rect", "pattern", "image"),
    }
    assert read.of("h1") == [AWKWARD_NAMES[1]]
    assert read.of("td")[: 3 * len(AWKWARD_NAMES)] == [cell for name in AWKWARD_NAMES for cell in (name, "1 W", name)]
    assert set(AWKWARD_NAMES[:4]) <= set(read.of("td")[3 * len(AWKWARD_NAMES) :])  # the CRAC units


def test_a_page_needs_nothing_from_elsewhere(awkward_page):
    for tag, attributes in Reader(awkward_page).tags:
        assert tag not in {"link", "iframe", "base"}
        assert tag != "script" or not attributes
        for key, value in attributes.items():
            assert not key.startswith("on")
            if key in {"href", "src", "xlink:href"}:
                assert value.startswith(("#", "data:image/png;base64,"))
    assert awkward_page.count("http:") == awkward_page.count("http://example.org/")  # a name, as text
    assert "https:" not in awkward_page
    assert "url(http" not in awkward_page
    assert "@import" not in awkward_page


def test_ids_are_unique_in_a_page_of_several_pictures():
    facility, measured, cores = small_room()
    room = Section("The room", (PageFigure(room_figure(facility, measured, cores), "a room"),))
    again = Section("Again", (PageFigure(blank_figure(1.0), "nothing"), PageFigure(blank_figure(1.0), "nothing")))
    text = page(facility.name, "", [room, again])
    ids = [attributes["id"] for _, attributes in Reader(text).tags if "id" in attributes]
    assert len(ids) > 3
    assert len(set(ids)) == len(ids)


def test_the_same_room_gives_the_same_page():
    first, second = (page("a room", "", [room_section(*small_room())]) for _ in range(2))
    assert first == second


def test_the_page_of_a_room_tells_its_units_in_a_table():
    read = Reader(page("a room", "It is cool.", [room_section(*small_room())]))
    assert read.of("th") == ["CRAC unit", "outlet, °C", "inlet, °C", "heat removed", "power"]
    rows = ["left", "18", "21", "30\u00a0W", "8\u00a0W", "right", "19", "22", "26\u00a0W", "6\u00a0W"]
    assert read.of("td") == rows


def test_the_figure_is_described_in_words():
    facility, measured, _ = small_room()
    # 56 W of the nodes and 14 W for cooling.
    assert room_in_words(facility, measured) == (
        "3 nodes draw in air of 21 to 23.5 °C. 70 W of at most 200 W are drawn, 14 W of it for cooling. "
        "Bars show how the cores of a few nodes divide their time between task types."
    )


def test_the_page_of_a_facility_has_what_the_terminal_has():
    tiny = read_facility(INSTANCES / "facility-tiny.yaml")
    result = facility(tiny)
    text = facility_page(tiny, result)
    read = Reader(text)
    assert read.issues == []
    for column in ("CRAC unit", "node type", "task type"):
        assert column in read.of("th")
    cells = read.of("td")
    assert number(result.worth.kilowatt) in cells
    assert number(result.worth.redline_kelvin) in cells
    summary = read.of("p")[0]
    assert "at most 1.2007 reward/s possible (gap" in summary
    assert "Limits reached: the power cap (280 W) and the redline of node 0." in summary
    assert result.facts()[0][0] in cells
    fixed = facility_page(tiny, replace(result, fixed_outlets=True))
    assert "possible at these outlet temperatures (gap" in Reader(fixed).of("p")[0]
