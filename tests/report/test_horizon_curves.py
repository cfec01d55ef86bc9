"""Sliders and pages of fronts, deadlines and offers over a horizon: the numbers are those of the results."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import pairwise

import pytest

from lpsched.bag.horizon import bounds
from lpsched.bag.horizon.bounds import bounds_beside
from lpsched.bag.horizon.curves import PlanBounds
from lpsched.bag.horizon.fronts import cost_carbon_front, cost_deadline
from lpsched.bag.horizon.offers import offer_curve
from lpsched.bag.horizon.result import mass_text
from lpsched.bag.horizon.solve import plan
from lpsched.bag.model import Bag
from lpsched.bag.parts import MachineType, TaskType
from lpsched.cancellation import CancelToken
from lpsched.model.series import Series
from lpsched.model.table import Table
from lpsched.report.figures.horizon_curves import deadline_tooltips, front_figure, front_tooltips, offer_tooltips
from lpsched.report.html.horizon import plan_page
from lpsched.report.html.horizon_curves import (
    TradeOff,
    TradeOffPoint,
    carbon_front_page,
    carbon_trade_off,
    deadline_page,
    deadline_trade_off,
    offer_page,
    offer_trade_off,
    plan_carbon_trade_off,
    trade_off_section,
)
from lpsched.report.html.page import Scale, Slider, line_at, written
from lpsched.units import lower_text, number
from tests.report.html_reader import Reader

pytestmark = pytest.mark.rotate_tests(10)

# One machine of 1 kW and two tasks of half an hour: a kWh in one of three hours, at these prices and grams.
TIMES, END = (0, 3600, 7200), 10_800
TARIFF, GRAMS = (0.1, 0.2, 0.4), (900.0, 500.0, 400.0)


def tiny(name="b"):
    cpu, table = MachineType("cpu", 1, may_be_off=True), Table.of([[1800.0]])
    return Bag(name, (cpu,), (TaskType("render", 2),), table, Table.of([[1000.0]]))


GIVEN = {
    "horizon": END,
    "start": 0,
    "tariff": Series(TIMES, END, TARIFF),
    "carbon": Series(TIMES, END, GRAMS),
    "effort": "fast",
}


@cache
def front():
    return cost_carbon_front(tiny(), **GIVEN)


@cache
def deadlines():
    """Return the curve of prices that fall: 0.4, 0.2, 0.1."""
    return cost_deadline(tiny(), plans=2, **GIVEN | {"tariff": Series(TIMES, END, TARIFF[::-1])})


@cache
def offers():
    return offer_curve(tiny(), hours=[0], baseline="plan", **GIVEN)


@cache
def planned(carbon_price=0.0):
    return plan(tiny(), carbon_price=carbon_price, **GIVEN)


def slider_of(found: TradeOff) -> Slider:
    slider = trade_off_section(found).parts[0]
    assert isinstance(slider, Slider)
    return slider


def readings_at(found: TradeOff, x: float) -> dict[str, str]:
    slider = slider_of(found)
    segment = slider.segment_at(x)
    texts = [written(each, segment, x) for each in segment.readings]
    return dict(zip(slider.labels, texts, strict=True))


# A trade-off.
TWO = TradeOff(
    "Cost against carbon",
    "Move the slider.",
    "Each point is a verified plan.",
    (Scale("carbon price, USD/kg"),),
    ("cost (verified)", "carbon (verified)"),
    (TradeOffPoint(0.0, ("1 USD", "3 kg")), TradeOffPoint(0.5, ("2 USD", "1 kg"))),
)


def test_a_trade_off_moves_from_point_to_point_and_ends_at_the_last_one():
    slider = slider_of(TWO)
    assert (slider.segments[0].start, slider.segments[-1].stop) == (0.0, 0.5)
    assert slider.breakpoints == (0.0,)  # and the end
    assert readings_at(TWO, 0.499) == {"cost (verified)": "1 USD", "carbon (verified)": "3 kg"}
    assert readings_at(TWO, 0.5) == {"cost (verified)": "2 USD", "carbon (verified)": "1 kg"}
    alone = trade_off_section(replace(TWO, points=TWO.points[:1]))
    assert [type(part).__name__ for part in alone.parts] == ["Paragraph"]
    ended = slider_of(replace(TWO, points=TWO.points[:1], end=2.0))
    assert [(each.start, each.stop) for each in ended.segments] == [(0.0, 2.0)]


# Cost against carbon: (0.1, 900 g), (0.2, 500 g), (0.4, 400 g). They cost the same at 0.1 / 400 g, that is 250 a tonne,
# and at 0.2 / 100 g, that is 2,000 a tonne.
def test_each_vertex_has_the_prices_at_which_it_is_best_and_the_last_one_no_end():
    ranges = [(each.best_from_per_kg, each.best_to_per_kg) for each in front().vertices]
    assert ranges == [(0.0, pytest.approx(0.25)), (pytest.approx(0.25), pytest.approx(2.0)), (pytest.approx(2.0), None)]
    assert [row[3] for row in front().rows()] == ["0 to 250", "250 to 2,000", "above 2,000"]


def test_the_slider_over_the_carbon_price_shows_the_best_verified_plan_and_what_is_proved():
    found, plans = carbon_trade_off(front()), front().measured()
    for price in (0.0, 100.0, 300.0, 1000.0, 1900.0, 2400.0):
        best = min(plans, key=lambda each: each.cost + price * each.carbon_grams / 1e6)
        least = min(cost + price * grams / 1e6 for cost, grams in zip(TARIFF, GRAMS, strict=True))
        at = readings_at(found, price)
        assert at["cost (verified)"] == f"{number(best.cost, 6)} USD"
        assert at["CO2 (verified)"] == mass_text(best.carbon_grams, finer=2)
        value = float(at["cost + price x CO2 (verified)"].split()[0])
        assert value == pytest.approx(best.cost + price * best.carbon_grams / 1e6, rel=1e-5)
        assert 0.999 * least <= float(at["at least (proved)"].split()[0]) <= least + 1e-12
    assert slider_of(found).segments[-1].stop == pytest.approx(1.25 * 2000.0)
    dots = {(each.marks[0].x[0], each.marks[0].y[0]) for each in slider_of(found).segments}
    assert dots <= {(each.carbon_grams, each.cost) for each in plans}  # in grams, as the figure
    assert len(dots) > 1


def test_the_proved_reading_is_never_above_what_a_price_alone_proves():
    found = carbon_trade_off(front())
    slider, place = slider_of(found), found.labels.index("at least (proved)")
    for price in (0.0, 100.0, 249.0, 251.0, 600.0, 1999.0, 2400.0):
        segment = slider.segment_at(price)
        shown = line_at(price, segment, segment.readings[place].ends)
        least = min(cost + price * grams / 1e6 for cost, grams in zip(TARIFF, GRAMS, strict=True))
        assert shown == pytest.approx(front().price_bound(price / 1000))
        assert 0.999 * least <= shown <= least + 1e-12


def test_without_plans_the_slider_says_so():
    none = replace(front(), vertices=tuple(replace(each, costs=None, plan=None) for each in front().vertices))
    at = readings_at(carbon_trade_off(none), 1000.0)
    assert at["cost + price x CO2 (verified)"] == "none found"
    assert at["gap"] == "-"


def test_a_front_of_one_vertex_has_no_slider():
    same = cost_carbon_front(tiny(), **GIVEN | {"carbon": Series(TIMES, END, (100.0, 200.0, 300.0))})
    assert [each.price_text() for each in same.vertices] == ["any"]
    read = Reader(carbon_front_page(same))
    assert not read.issues
    assert "slider" not in {attributes.get("class") for _, attributes in read.tags}
    assert not any("slider" in text for text in [*read.of("p"), *read.of("figcaption")])
    left, right = front_figure(same).axes[0].get_xlim()
    assert right - left > 0.1  # of 100 g: rounding is not enlarged


def test_where_nothing_can_be_offered_there_is_no_slider_and_no_figure():
    nothing = offer_curve(tiny(), hours=[2], baseline="plan", **GIVEN)  # the plan runs in the first hour
    read = Reader(offer_page(nothing, None))
    assert read.of("p")[0].startswith("Nothing to offer")
    assert not {"svg", "figure"} & {tag for tag, _ in read.tags}


# Cost against the deadline.
def test_the_slider_over_the_deadline_names_the_deadline_of_its_numbers():
    curve, found = deadlines(), deadline_trade_off(deadlines())
    for point in curve.points:
        at = readings_at(found, point.deadline_seconds / 3600)
        assert at["costs at least (proved)"] == f"{lower_text(point.bound, 6)} USD"
    assert readings_at(found, 1.5)["deadline"] == "1 h"
    assert readings_at(found, 3.0)["deadline"] == "3 h"
    assert readings_at(found, 3.0)["a verified plan costs"] == "0.1 USD"
    assert slider_of(found).segments[-1].stop == 3.0


def test_a_plan_that_ends_earlier_counts_where_machines_may_be_off():
    curve = deadlines()
    assert curve.never_rises
    made = [place for place, each in enumerate(curve.points) if each.value is not None]
    first, then = curve.points[made[0]], curve.points[made[0] + 1]
    assert then.value is None
    said = readings_at(deadline_trade_off(curve), then.deadline_seconds / 3600)["a verified plan costs"]
    assert said.endswith(f", by {int(first.deadline_seconds // 3600)} h")
    stays = readings_at(deadline_trade_off(replace(curve, never_rises=False)), then.deadline_seconds / 3600)
    assert stays["a verified plan costs"] == "none was looked for or found"


# Offers: half an hour at 0.1 moves to 0.2, a kW for 0.1.
def test_the_slider_over_the_reduction_has_the_numbers_of_each_breakpoint():
    curve, found = offers(), offer_trade_off(offers())
    for point in curve.points:
        at = readings_at(found, point.kw)
        assert at["at most (verified plan)"] == f"{curve.at_most_text(point)} USD"
        assert at["extra cost at least (proved)"].removesuffix(" USD") == lower_text(point.at_least)
    assert readings_at(found, 0.5)["extra cost (LP)"] == "0.05 USD"
    assert slider_of(found).breakpoints == tuple(each.kw for each in curve.points[:-1])
    assert {each.marks[0].axes for each in slider_of(found).segments} == {0}  # not among the prices of a kW


def test_between_two_breakpoints_the_bound_is_that_of_less_and_the_plan_that_of_more():
    found = offer_trade_off(offers())
    for one, two in pairwise(offers().points):
        at = readings_at(found, 0.5 * (one.kw + two.kw))
        assert at["extra cost at least (proved)"].removesuffix(" USD") == lower_text(one.at_least)
        assert at["at most (verified plan)"] == f"{offers().at_most_text(two)} USD"


# Bounds beside a plan.
def test_the_bounds_beside_a_plan_hold_and_are_those_of_its_certificate_at_its_price():
    result = planned()
    beside = bounds_beside(result)
    assert beside.carbon is not None
    assert beside.deadlines is not None
    assert beside.carbon.price_bound(0.0) == result.bound
    assert not any(each.costs for each in beside.carbon.vertices)  # nothing but bounds
    last = beside.deadlines.points[-1]
    assert (last.bound, last.value) == (result.bound, result.value)
    assert [each.value for each in beside.deadlines.points[:-1]] == [None] * (len(beside.deadlines.points) - 1)
    at = readings_at(plan_carbon_trade_off(beside.carbon, result.costs, 0.0), 1000.0)
    assert at["this plan: cost + price x CO2 (verified)"] == "1 USD"  # 0.1 and 900 g at 1 a kg
    assert at["proved bound, of any plan"] in {"0.7 USD", "0.699999 USD"}
    assert at["gap"].startswith("42.8")  # 0.3 / 0.7


def test_the_slider_begins_at_the_carbon_price_of_the_plan():
    result = planned(carbon_price=1.0)
    found = bounds_beside(result).carbon
    assert found.price_bound(1.0) == pytest.approx(result.bound)
    slider = slider_of(plan_carbon_trade_off(found, result.costs, result.carbon_price_per_kg))
    assert slider.begins_at == 1000.0
    assert readings_at(plan_carbon_trade_off(found, result.costs, 1.0), 1000.0)["gap"] in {"0 %", "under 0.001 %"}


def test_bounds_are_left_out_where_they_take_long_and_the_page_says_so(monkeypatch):
    monkeypatch.setattr(bounds, "ALL", 27_000)
    beside = bounds_beside(planned())
    assert (beside.carbon, beside.deadlines) == (None, None)
    read = Reader(plan_page(planned(), bounds=beside))
    assert beside.left_out in read.of("p")
    monkeypatch.undo()
    late = bounds_beside(planned(), cancel=CancelToken(0.0))
    assert (late.carbon, late.left_out) == (None, "Bounds at other carbon prices and deadlines: no time was left.")


def test_a_plan_of_least_carbon_has_no_such_bounds():
    assert bounds_beside(plan(tiny(), objective="carbon", **GIVEN)) == PlanBounds()


# Pages.
COMMANDS = [("lpsched verify b.yaml plan.json", "check it")]
PAGES = {
    "carbon": (lambda: carbon_front_page(front(), COMMANDS), front, ["Cost against carbon", "All vertices"]),
    "deadline": (
        lambda: deadline_page(deadlines(), COMMANDS),
        deadlines,
        ["Cost against the deadline", "All deadlines"],
    ),
    "offer": (
        lambda: offer_page(offers(), "Europe/Berlin", COMMANDS),
        offers,
        ["Offers of less power", "All breakpoints", "The chosen slots"],
    ),
}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_the_curve_the_table_what_is_proved_and_how_to_check(name):
    make, result, headings = PAGES[name]
    read = Reader(make())
    assert not read.issues
    assert read.of("h1") == ["b"]
    assert read.of("p")[0] == result().headline().replace("\n", " ")
    assert read.of("h2") == [*headings, "How to check"]
    assert any("hold for every plan" in each for each in read.of("p"))
    cells = [each.replace("\u00a0", " ") for each in read.of("td")]
    assert all(cell in cells for row in result().rows() for cell in row)
    assert COMMANDS[0][0] in cells
    assert make() == make()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_asks_for_nothing_and_its_ids_differ(name):
    read = Reader(PAGES[name][0]())
    assert not [tag for tag, _ in read.tags if tag in {"link", "img", "iframe", "base"}]
    links = [attributes["href"] for tag, attributes in read.tags if tag == "a"]
    assert all(link.startswith("#") for link in links)
    ids = [attributes["id"] for _, attributes in read.tags if "id" in attributes]
    assert len(set(ids)) == len(ids)


def test_offers_have_local_times():
    assert "1970-01-01 01:00 to 02:00 CET" in Reader(PAGES["offer"][0]()).of("td")


def test_names_appear_as_they_stand():
    made = cost_carbon_front(tiny("<script>alert(1)</script>"), **GIVEN)
    read = Reader(carbon_front_page(made))
    assert not read.issues
    assert read.of("h1") == ["<script>alert(1)</script>"]


# Figures.
def test_tooltips_stand_at_the_points_and_say_what_is_known():
    by_text = {each.label: (each.x, each.y) for each in front_tooltips(front())}
    assert by_text["verified plan\n0.1 USD\n900 g of CO2"] == pytest.approx((900.0, 0.1))
    assert sum(label.startswith("LP:") for label in by_text) == 3
    assert any(label.endswith("best at above 2,000 USD per t of CO2 (LP)") for label in by_text)
    last = deadline_tooltips(deadlines())[-1]
    assert (last.x, last.y) == pytest.approx((3.0, 0.1))
    assert last.label.splitlines()[-1] == "a verified plan costs 0.1 USD"
    assert [each.x for each in offer_tooltips(offers())] == [1000.0 * each.kw for each in offers().points]


def test_the_figure_of_one_plan_has_no_vertices():
    figure = front_figure(front(), planned().costs)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["proved: no plan is below", "this plan"]
