from __future__ import annotations

import pytest

from lpsched.measure.evidence import Failed, Setting
from lpsched.measure.measurements import MeasuredApplication
from lpsched.model.fields import FrozenDict
from lpsched.report.html.measurements import MOST_ROWS, measure_page
from tests.report.html_reader import Reader
from tests.report.measurements import APPLICATIONS, changed, made_measurements
from tests.report.test_measure_tables import BARE

EVIL = "<script>alert(1)</script>$x_1$"
TWO = {name: APPLICATIONS[name] for name in ("canneal", "bodytrack")}


@pytest.fixture(scope="module")
def whole():
    return Reader(measure_page(made_measurements(TWO, clocks=(), groups=(), counters=False, failed=())))


def test_a_page_has_a_section_for_all_that_was_measured_and_a_figure_for_each_application(whole):
    assert whole.issues == []
    assert whole.of("h2") == [
        "Times, powers and memory intensity",
        "Alone and together",
        "Slowdown beside others",
        "What running together saves",
        "How it was measured",
        "Every setting",
        "What the columns mean",
    ]
    titles = [text for tag, text in whole.texts if tag == "title"]
    assert sum("alone and together:" in title for title in titles) == 2
    assert sum(tag == "figure" for tag, _ in whole.tags) == 4


def test_every_mark_that_tells_more_is_in_its_figure(whole):
    inside = sum("data-left" in attributes for tag, attributes in whole.tags if tag == "li")
    # of two applications two panels of alone, beside I, beside III; four pairs on the map; three savings
    assert inside == 2 * 2 * 3 + 4 + 3
    assert sum(text.startswith("canneal") for text in whole.of("li")) == 2 * 3 + 2  # panels, and its row


def test_what_is_absent_and_what_failed_are_said_with_their_reasons():
    told = changed(
        BARE,
        absent=("no energy: /sys/class/powercap is not there",),
        failed=(Failed.of(Setting("zip", ("tar",)), "was ended by SIGSEGV"),),
        degradation=FrozenDict({"I": FrozenDict({"I": 0.015})}),
    )
    page = Reader(measure_page(told))
    assert "No energy: /sys/class/powercap is not there." in page.of("p")
    assert {"zip beside tar", "was ended by SIGSEGV", "1.5\u00a0%"} <= set(page.of("td"))
    assert "No energy was measured." in page.of("p")[0]
    assert not any(tag == "figure" for tag, _ in page.tags)
    assert "Alone and together" not in page.of("h2")


def test_names_and_commands_appear_as_they_stand():
    evil = MeasuredApplication(EVIL, ("run", "a b", EVIL))
    text = measure_page(
        changed(BARE, name=EVIL, applications=(evil,), seconds=FrozenDict({EVIL: (1.0,)}), absent=(EVIL,))
    )
    assert "<script>alert" not in text
    assert f"run 'a b' '{EVIL}'" in Reader(text).of("td")


def test_long_tables_are_cut_and_say_how_much_is_left():
    failed = tuple(Failed.of(Setting(f"a{place}"), "crashed") for place in range(MOST_ROWS + 7))
    page = Reader(measure_page(changed(BARE, failed=failed)))
    assert page.of("td").count("crashed") == MOST_ROWS
    assert "... and 7 more (--json has all)" in page.of("p")
