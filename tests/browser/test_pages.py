from __future__ import annotations

import math
from itertools import pairwise

import pytest

from lpsched.report.html.page import PageFigure, Reading, Scale, Section, Segment, Slider, Table, page, written
from tests.browser.pages import HOSTILE, figure, slider, whole_page

pytestmark = pytest.mark.slow

LONG = "a_very_long_name_without_a_space_" * 6  # 198 letters
WIDE = Table(tuple(f"column {at}" for at in range(12)), ((LONG, *["1,234,567.8 USD/h"] * 11),) * 3, numbers=True)

# Every text has at least 4.5 times the light of what is behind it, or the other way round (WCAG 2, AA).
CONTRASTS = """() => {
  const light = (rgb) => rgb.map((part) => part / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
  const parts = (colour) => colour.match(/[0-9.]+/g).map(Number);
  const behind = (element) => {
    const colour = parts(getComputedStyle(element).backgroundColor);
    return colour.length === 3 ? colour : behind(element.parentElement);
  };
  const errors = [];
  for (const element of document.querySelectorAll("body *:not(svg *):not(script):not(:disabled)")) {
    if (!Array.from(element.childNodes).some((node) => node.nodeType === 3 && node.data.trim())) continue;
    const pair = [parts(getComputedStyle(element).color).slice(0, 3), behind(element)].map(light);
    const contrast = (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
    if (!(contrast >= 4.5)) errors.push(element.tagName + " " + element.className + " " + contrast);
  }
  return errors;
}"""


def readings(opened):
    return opened.locator(".readings dd").all_text_contents()


def cells(opened):
    return opened.evaluate("""() => Array.from(document.querySelectorAll(".following tbody tr"),
      (row) => Array.from(row.cells, (cell) => cell.textContent))""")


def expected(x):
    moved = slider()
    here = moved.segment_at(x)
    return [written(reading, here, x) for reading in here.readings]


def type_in(opened, text: str) -> None:
    opened.get_by_label("profit ratio, exactly").fill(text)
    opened.keyboard.press("Enter")


def test_a_slider_shows_the_numbers_of_where_it_stands(open_page):
    opened = open_page(page("t", "", [Section("s", (figure(), slider()))]))
    assert readings(opened) == ["500 USD/h", "loss", "12.5 %", "-"]  # half of the way from 1 to 1.5: 0.5 / 4
    assert cells(opened) == [["a", "0", "0 W"], ["b", "1", "5 W"]]
    opened.get_by_label("profit ratio", exact=True).fill("750")  # of a thousand steps
    assert readings(opened) == ["250 USD/h", "profit", "-", "0 %"]  # half of the way from 1000 to -500
    assert cells(opened) == [["a", "0", "10 W"], ["b", "-1", "10 W"]]
    assert opened.get_by_label("profit ratio, exactly").input_value() == "1.75"
    for x in (1.0, 1.1, 1.3000000000000003, 1.4999999999999998, 1.5, 1.7, 2.0):
        type_in(opened, repr(x))
        assert readings(opened) == expected(x)


def test_a_slider_goes_from_breakpoint_to_breakpoint_and_says_what_it_needs(open_page):
    opened = open_page(page("t", "", [Section("s", (slider(),))]))
    box = opened.get_by_label("profit ratio, exactly")
    after, before = (opened.get_by_role("button", name=f"{way} breakpoint") for way in ("next", "previous"))
    after.click()
    assert box.input_value() == "1.5"
    assert readings(opened) == [
        "1,000 USD/h",
        "profit",
        "-100 %",
        "200 %",
    ]  # a breakpoint begins a segment; gaps are rounded up
    after.click()
    assert (box.input_value(), after.is_disabled()) == ("2", True)
    before.click()
    before.click()
    assert (box.input_value(), before.is_disabled()) == ("1", True)
    assert opened.locator(".where").text_content() == "segment 1 of 2"
    for wrong in ("3", "", "x", "0.999", "1,25", "80%"):
        type_in(opened, wrong)
        assert opened.locator(".where").text_content() == f"got {wrong or 'nothing'}, expected a number from 1 to 2"
        assert opened.locator(".slider [role=status]").first.text_content().startswith("got ")
        assert box.input_value() == "1"  # what the readings are for
    assert readings(opened)[0] == "0 USD/h"


def test_buttons_go_to_the_breakpoints_that_are_given_and_amounts_keep_their_decimals(open_page):
    segments = tuple(
        Segment(start, start + 1.0, (Reading(1000.0 * start, -1000.0, decimals=2),)) for start in (1.0, 2.0, 3.0)
    )
    moved = Slider((Scale("x"),), "", 1.0, ("itself",), segments, breakpoints=(1.0, 3.0))
    opened = open_page(page("t", "", [Section("s", (moved,))]))
    assert readings(opened) == ["1,000.00"]
    opened.get_by_role("button", name="next breakpoint").click()
    assert opened.get_by_label("x, exactly").input_value() == "3"
    assert opened.locator(".where").text_content() == "segment 2 of 2"
    for text, expected in (("3.75", "0.00"), ("3.7500001", "0.00"), ("3.7500025", "-0.01"), ("1.5", "0.00")):
        opened.get_by_label("x, exactly").fill(text)
        opened.keyboard.press("Enter")
        assert readings(opened) == [expected]
        here = moved.segment_at(float(text))
        assert written(here.readings[0], here, float(text)) == expected


def of_itself(label, *breakpoints):
    """Return a slider that shows its own position."""
    segments = tuple(Segment(start, stop, (Reading(start, stop),)) for start, stop in pairwise(breakpoints))
    return Slider((Scale(label),), "", breakpoints[0], ("itself",), segments)


STEPS = """range => Array.from({ length: 1001 }, (_, step) => {
  range.value = step;
  range.dispatchEvent(new Event("input"));
  return [range.value, range.closest(".controls").querySelector(".exactly input").value];
})"""


def test_crowded_breakpoints_get_more_room_and_every_step_is_a_round_number(open_page):
    crammed = of_itself("crammed", 1.0, math.nextafter(1.0, 2.0), 2.0)  # a quarter of the steps are 1 or the next
    sliders = (of_itself("crowded", 0.0, 1.0, 9.0), of_itself("odd", 0.0005, 1.0005), crammed)
    opened = open_page(page("t", "", [Section("s", sliders)]))
    assert opened.locator(".scale").evaluate_all("all => all.map((each) => each.hidden)") == [False, True, False]
    crowded = opened.get_by_label("crowded", exact=True)
    # Half of the track is even, half is shared by two segments: 1 is at (1 / 9 + 1 / 2) / 2 = 0.30556. Half of it
    # is 0.19444 beyond, of the 0.69444 for the numbers from 1 to 9: 1 + 8 * 0.28 = 3.24; a step is worth 0.0115.
    crowded.fill("500")
    assert readings(opened)[0] == "3.24"
    opened.get_by_label("crowded, exactly").fill("1")
    opened.keyboard.press("Enter")
    assert crowded.input_value() == "306"
    for label, last, digits in (("crowded", "9", 4), ("odd", "1.0005", 5), ("crammed", "2", 5)):
        steps = opened.get_by_label(label, exact=True).evaluate(STEPS)
        assert [int(step) for step, _ in steps] == list(range(1001))  # none falls back to the one before
        told = [float(x) for _, x in steps]
        assert told == sorted(told)
        assert label == "crammed" or len(set(told)) == 1001
        assert (steps[-1][1], max(len(x) for _, x in steps[1:-1])) == (last, digits + 1)  # and a point


def test_a_link_keeps_where_the_slider_stands_and_it_is_said_aloud(open_page):
    both = Section("s", (slider(), slider()))
    opened = open_page(page("t", "", [both]), after="#profit-ratio=1.6&profit-ratio-2=1")
    assert readings(opened)[0] == "700 USD/h"  # a fifth of the way from 1000 to -500
    assert readings(opened)[4] == "0 USD/h"
    opened.get_by_label("profit ratio", exact=True).first.focus()
    opened.keyboard.press("ArrowRight")
    assert readings(opened)[0] == "697 USD/h"  # a thousandth costs 3
    opened.wait_for_url("**#profit-ratio=1.601&profit-ratio-2=1")  # 404 of a thousand from -1 to 1: 1 / -0.596
    said = opened.locator(".slider [role=status]").first.text_content()
    assert said == "profit ratio 1.601, most 697 USD/h, regime profit, gap -167.7 %, share 200 %"
    opened.evaluate("location.hash = '#profit-ratio=1.25'")
    opened.locator(".readings dd", has_text="500 USD/h").first.wait_for()
    opened.evaluate("location.hash = '#profit-ratio=7'")  # nowhere: it stays
    opened.evaluate("location.hash = '#section-1'")
    assert readings(opened)[0] == "500 USD/h"


def test_a_sorted_table_stays_sorted_as_the_slider_moves(open_page):
    opened = open_page(page("t", "", [Section("s", (slider(("a", "b", "c")),))]))
    opened.get_by_role("button", name="tasks", exact=True).click()
    assert [row[:2] for row in cells(opened)] == [["a", "0"], ["b", "1"], ["c", "2"]]
    type_in(opened, "1.8")
    assert [row[:2] for row in cells(opened)] == [["c", "-2"], ["b", "-1"], ["a", "0"]]


def centre(opened, chosen: str) -> tuple[float, float]:
    box = opened.locator(chosen).bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


@pytest.mark.parametrize("log", [False, True])
def test_marks_and_tooltips_are_where_the_picture_has_them(open_page, log):
    other = PageFigure(figure().figure, "other", name="other")  # in which nothing moves
    opened = open_page(page("t", "", [Section("s", (figure(log=log), other, slider()))]))
    assert opened.locator(".mark:visible").count() == 1  # the other is outside
    type_in(opened, "1.5")
    first, last = (centre(opened, f".point >> nth={at}") for at in (0, 1))
    # Matplotlib draws the ends of the line as two equal marks.
    middles = opened.evaluate("""() => Array.from(
      document.querySelectorAll("[data-figure=line] svg [id*=line2d] use"),
      (mark) => mark.getBoundingClientRect()).map((box) => [box.x + box.width / 2, box.y + box.height / 2])""")
    for spot in (first, last):
        assert min(abs(x - spot[0]) + abs(y - spot[1]) for x, y in middles) < 1.0
    # The mark at 1.5 is at (5, 10): half of the way across; 10 is 9 of 99 up, or half of it on a logarithmic axis.
    share = 0.5 if log else 9 / 99
    x, y = centre(opened, ".mark:visible")
    assert x == pytest.approx((first[0] + last[0]) / 2, abs=0.6)
    assert y == pytest.approx(first[1] + share * (last[1] - first[1]), abs=0.6)


def test_tooltips_are_shown_by_pointer_by_keyboard_and_by_touch(open_page):
    opened = open_page(page("t", "", [Section("s", (figure(),))]), touch=True)
    tip = opened.locator(".tip")
    assert tip.is_hidden()
    x, y = centre(opened, ".point >> nth=1")
    opened.mouse.move(x - 8, y + 8)
    assert tip.text_content() == "last\n10 m"
    opened.mouse.move(x - 80, y + 80)
    assert tip.is_hidden()
    opened.keyboard.press("Tab")  # the skip link
    opened.keyboard.press("Tab")
    assert tip.text_content() == "first\n0 m"
    opened.keyboard.press("ArrowRight")
    assert (tip.text_content(), tip.is_visible()) == ("last\n10 m", True)
    assert opened.locator(":focus").get_attribute("aria-label") == "last\n10 m"
    opened.keyboard.press("Tab")
    assert tip.is_hidden()
    opened.keyboard.press("Shift+Tab")  # back to where one was, not to the first
    assert (tip.text_content(), tip.is_visible()) == ("last\n10 m", True)
    opened.keyboard.press("Escape")
    assert tip.is_hidden()
    opened.touchscreen.tap(*centre(opened, ".point >> nth=0"))
    assert tip.text_content() == "first\n0 m"
    assert opened.locator(".point").count() == 2  # the third is outside the figure, and in the list
    assert opened.locator(".tooltips li").all_text_contents() == ["first\n0 m", "last\n10 m", "outside"]


CODES = str.maketrans({"\u2028": "\\u2028", "\u2029": "\\u2029", "\u202e": "\\u202e"})  # ends of lines, and a turn
SHOWN = [name.translate(CODES) for name in HOSTILE]


def test_hostile_names_are_shown_and_nothing_of_them_runs(open_page):
    opened = open_page(whole_page(HOSTILE))
    assert opened.locator("h1").text_content() == HOSTILE[0]
    assert opened.locator("h2").first.text_content() == HOSTILE[0]
    for chosen in (".numbers >> nth=0 >> tbody td:first-child", ".following td:first-child"):
        assert opened.locator(chosen).all_text_contents() == SHOWN
    type_in(opened, "1.7")
    assert [row[0] for row in cells(opened)] == SHOWN
    opened.mouse.move(*centre(opened, ".point >> nth=2"))
    assert opened.locator(".tip").text_content() == HOSTILE[0]
    assert opened.locator("img").count() == 0
    assert opened.locator("script").count() == 2  # ours, and the slider's numbers


def test_no_script_runs_but_ours(open_page):
    text = whole_page().replace("</main>", "<script>document.title = 'changed'</script></main>")
    opened = open_page(text)
    assert opened.title() == "a"
    (complaint,) = open_page.complaints
    assert "Content Security Policy" in complaint
    open_page.complaints.clear()


def test_a_page_fits_a_phone_in_light_and_in_dark(open_page):
    wide = Section(LONG, (WIDE, figure(), slider((LONG, *HOSTILE))))
    text = page(LONG, "1.7 % of <it>", [wide, *[Section(LONG, ())] * 4], footer=LONG)
    papers, filters = set(), set()
    for dark in (False, True):
        opened = open_page(text, width=360, height=640, dark=dark)
        assert opened.evaluate("document.documentElement.scrollWidth") == 360
        assert opened.evaluate(CONTRASTS) == []
        assert opened.locator(".summary").text_content() == "1.7\u00a0% of <it>"  # stays together
        papers.add(opened.evaluate("getComputedStyle(document.body).backgroundColor"))
        filters.add(opened.evaluate("getComputedStyle(document.querySelector('figure svg')).filter"))
        opened.locator(".table.more[tabindex='0']").first.wait_for()  # keys can scroll it, and its edge says so
    assert len(papers) == len(filters) == 2


def test_a_printed_page_has_all_its_rows_and_no_buttons(open_page):
    many = Table(("type", "count"), tuple((f"type {at}", str(at)) for at in range(200)))
    follows = slider(tuple(f"name {at}" for at in range(50)))
    opened = open_page(page("t", "", [Section("s", (many, figure(), follows))]), prints=True, dark=True)
    assert opened.get_by_role("button", name="breakpoint").count() == 0
    assert opened.locator(".tools").first.is_hidden()
    heights = opened.locator(".table").evaluate_all("all => all.map((box) => box.scrollHeight - box.clientHeight)")
    assert (len(heights), max(heights)) == (2, 0)
    assert opened.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert opened.locator("figure svg").evaluate("svg => getComputedStyle(svg).filter") == "none"


def test_a_page_reads_without_javascript(open_page):
    text = whole_page()
    opened = open_page(text, javascript=False)
    assert readings(opened) == ["500 USD/h", "loss", "12.5 %", "-"]
    assert "profit ratio: 1.25" in opened.locator(".slider").inner_text()
    assert opened.locator("button, input").count() == 0
    assert opened.locator("figure svg title").text_content() == "a"
