"""Pages of real bags in a browser: the slider's numbers are the words of `lpsched solve` at that ratio."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

import lpsched
from lpsched.bag.files import read_bag
from lpsched.bag.model import Terms
from lpsched.bag.overview import overview
from lpsched.report.html.bag import STATUSES, solve_page
from lpsched.report.html.horizon_curves import carbon_trade_off, deadline_trade_off, offer_trade_off
from lpsched.units import duration, energy_text, gap_text, number
from tests.report.test_horizon import page_by_hand
from tests.report.test_horizon_curves import PAGES, deadlines, front, offers, readings_at

pytestmark = pytest.mark.slow

INSTANCES = Path(__file__).parent.parent.parent / "instances"
TINY = read_bag(INSTANCES / "tiny.yaml")
IDLE = read_bag(INSTANCES / "profit-30x9-idle.yaml")
PROFIT, BOUND = "profit (verified)", "at most (proved)"

# Without searches, which look at some prices harder than at others.
price_curve = partial(lpsched.price_curve, effort="fast")
solve = partial(lpsched.solve, effort="fast")


def readings(opened):
    names = opened.locator(".readings dt").all_text_contents()
    return dict(zip(names, opened.locator(".readings dd").all_text_contents(), strict=True))


@pytest.mark.parametrize(
    ("bag", "ratios"), [(TINY, (0.5, 0.9, 1.2, 1.9)), (IDLE, (1.2, 1.07, 1.0831, 1.11))], ids=["tiny", "idle"]
)
def test_the_slider_changes_the_numbers_to_those_of_solve_at_that_ratio(bag, ratios, open_page):
    curve = price_curve(bag, from_ratio=0.0 if bag is TINY else 1.06, to_ratio=2.5 if bag is TINY else 1.2)
    result = solve(bag, profit_ratio=ratios[0])
    found = overview(bag, Terms(profit_ratio=ratios[0]), result=result, curve=curve)
    opened = open_page(solve_page(replace(found, front="It is left out.")))
    box = opened.get_by_label("profit ratio, exactly")
    for ratio in ratios:
        box.fill(repr(ratio))
        box.press("Enter")
        result = solve(bag, profit_ratio=ratio)
        measured, said = result.measured, readings(opened)
        if bag is TINY:  # of a larger bag, a schedule that was found at another price may be better at this one
            words = (duration(measured.makespan_seconds), energy_text(measured.energy_joules), gap_text(result.gap))
            assert (said["makespan"], said["energy"], said["gap"]) == words
        assert said["status"] == STATUSES[result.regime or ""]
        profit, bound = (float(said[name].split()[0]) for name in (PROFIT, BOUND))
        assert bound == pytest.approx(result.bound, rel=2e-3)  # four digits, rounded up
        assert profit >= result.value - 1e-3 * abs(result.value)
        tables = opened.locator(".following")
        machines = tables.nth(2).locator("tbody tr td:last-child").all_text_contents()
        told = [number(worth) for worth in result.worth.machine_types.values()]
        # Where a value bends inside a piece, it is left out along that piece.
        assert all(one in {two, "-"} for one, two in zip(machines, told, strict=True))
        assert machines[1] == told[1]
        tasks = tables.nth(3).locator("tbody tr td:last-child").all_text_contents()
        told = [number(worth) for worth in result.worth.task_types.values()]
        assert all(one in {two, "-"} for one, two in zip(tasks, told, strict=True))
        assert tasks[0] == told[0]


def test_a_mark_moves_along_the_front_and_is_gone_where_nothing_runs(open_page):
    opened = open_page(solve_page(overview(TINY, result=solve(TINY))))
    mark = opened.locator('figure[data-figure="front"] .mark')
    places = []
    for ratio in ("1.1", "1.9"):
        opened.get_by_label("profit ratio, exactly").fill(ratio)
        opened.keyboard.press("Enter")
        places.append(mark.bounding_box())
    assert places[0]["x"] < places[1]["x"]  # from 6,600 J in 30 s to 8,400 J in 12 s
    assert places[0]["y"] < places[1]["y"]
    opened.get_by_label("profit ratio, exactly").fill("0.5")
    opened.keyboard.press("Enter")
    assert mark.is_hidden()


def test_price_percent_and_ratio_are_one_position_and_the_current_price_is_marked(open_page):
    opened = open_page(solve_page(overview(TINY, result=solve(TINY))))  # sold for 0.02 USD; a ratio of 1 is 0.0066 USD
    boxes = [opened.get_by_label(f"{name}, exactly") for name in ("price, USD", "% of current price", "profit ratio")]
    assert [box.input_value() for box in boxes] == ["0.02", "100", "3.0303"]
    now = opened.locator(".now").bounding_box()
    handle = opened.get_by_label("price, USD", exact=True).bounding_box()
    assert handle["x"] < now["x"] < handle["x"] + handle["width"]
    boxes[0].fill("50%")  # a percentage in every box
    boxes[0].press("Enter")
    assert [box.input_value() for box in boxes] == ["0.01", "50", "1.51515"]
    revenue = opened.locator(".following").nth(0).locator("tbody tr").nth(0).locator("td")
    assert revenue.nth(2).text_content() == "0.01000"
    opened.get_by_role("button", name="current price").click()
    assert boxes[0].input_value() == "0.02"
    shares = opened.locator(".heat td[style]").evaluate_all(
        "all => all.map((cell) => [Number(cell.style.getPropertyValue('--share')), Number(cell.textContent.replace('-', '0'))])"
    )
    assert sum(count for _, count in shares) == TINY.tasks
    assert all((share > 0) == (count > 0) for share, count in shares)


def test_the_page_of_a_plan_fits_a_phone_and_its_slider_goes_from_point_to_point(open_page):
    text = page_by_hand()
    for dark in (False, True):
        opened = open_page(text, width=360, height=640, dark=dark)
        assert opened.evaluate("document.documentElement.scrollWidth") == 360
    opened = open_page(text)
    slider = opened.locator(".slider").first
    assert slider.locator("dd").all_text_contents()[2:] == ["0.1 USD", "0.1 USD", "0 %"]
    slider.get_by_role("button", name="next breakpoint").click()  # 0.1 more for 150 g less
    assert slider.get_by_label("carbon price, USD/t, exactly").input_value() == "666.667"
    assert slider.locator("dd").all_text_contents()[:2] == ["0.1 USD", "200 g"]  # this plan
    assert opened.locator("dd").first.text_content() == "0.1 USD"  # the answer's own tiles stay
    opened.locator(".point").nth(1).hover(force=True)
    assert opened.locator(".tip").text_content().splitlines()[1] == "1 kW at the machines"


@pytest.mark.parametrize(
    ("name", "trade_off", "positions"),
    [
        ("carbon", lambda: carbon_trade_off(front()), (0.0, 100.0, 1234.5, 2500.0)),
        ("deadline", lambda: deadline_trade_off(deadlines()), (1.0, 1.5, 2.0, 3.0)),
        ("offer", lambda: offer_trade_off(offers()), (0.0, 0.25, 0.5, offers().points[-1].kw)),
    ],
)
def test_the_page_of_a_curve_fits_a_phone_and_shows_what_python_writes_at_each_position(
    name, trade_off, positions, open_page
):
    text = PAGES[name][0]()
    assert open_page(text, width=360, height=640).evaluate("document.documentElement.scrollWidth") == 360
    opened, found = open_page(text), trade_off()
    box = opened.get_by_label(f"{found.scales[0].label}, exactly")
    for x in positions:
        box.fill(repr(x))
        box.press("Enter")
        assert readings(opened) == readings_at(found, x)
    assert opened.locator(".mark:visible").count() == 1
