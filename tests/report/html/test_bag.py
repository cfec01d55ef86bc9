"""Pages of a bag: what stands on top, which parts there are, and what stands in place of one that is not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from rich.text import Text

from lpsched.bag import overview as pipeline
from lpsched.bag.exact_front import front
from lpsched.bag.files import read_bag
from lpsched.bag.model import Bag
from lpsched.bag.overview import overview
from lpsched.bag.parts import MachineType, Prices, Site, TaskType
from lpsched.bag.pricing.price_curve import price_curve
from lpsched.bag.pricing.sensitivity import sensitivity
from lpsched.bag.solve import solve
from lpsched.bag.terms import Terms
from lpsched.model.risk import RiskOptions
from lpsched.model.table import Table
from lpsched.report.answers import front_tables
from lpsched.report.html.bag import front_page, price_page, price_sections, solve_page
from lpsched.report.html.bag_sections import (
    APART,
    answer_section,
    front_lead,
    price_lead,
    result_lead,
    risk_section,
    schedule_sections,
)
from lpsched.report.html.page import Paragraph
from lpsched.units import lower_text, number
from tests.report.html_reader import Reader
from tests.support import half_full, simple_bag

pytestmark = pytest.mark.rotate_tests(4)

INSTANCES = Path(__file__).parents[3] / "instances"
TINY = read_bag(INSTANCES / "tiny.yaml")
HOSTILE = "</script><script>alert(1)</script>"


def looked_at(bag, **asked):
    return overview(bag, terms_of(asked), result=solve(bag, **asked))


def terms_of(asked):
    return Terms(*(asked.get(name) for name in ("objective", "price", "profit_ratio", "power_cap", "deadline")))


def test_a_large_bag_keeps_the_curve_it_was_given_and_says_why_nothing_moves(monkeypatch):
    monkeypatch.setattr(pipeline, "MOST_CURVE_PAIRS", 1)  # tiny has 4
    curve = price_curve(TINY, points=2)
    page = price_page(overview(TINY, curve=curve, sensitivity=sensitivity(TINY)))
    told = Reader(page).of("p")
    assert any(each.startswith("The slider along it: it is left out here, because the bag has ") for each in told)
    assert "The most profit at every price" in page
    assert 'class="slider"' not in page
    left = front_page(overview(TINY, front=front(TINY)))
    assert any(each.startswith("The price curve: it is left out here") for each in Reader(left).of("p"))
    assert "The slider along it" not in left


def headings(page):
    return Reader(page).of("h2")


def lead_of(page):
    reader = Reader(page)
    places = [place for place, (tag, _) in enumerate(reader.tags) if tag == "p"]
    assert reader.faults == []
    assert reader.tags[places[0]][1] == {"class": "lead"}
    return reader.of("p")[0]


def test_the_page_of_an_answer_has_every_part():
    page = solve_page(looked_at(TINY))
    assert lead_of(page) == (
        # 3.48 rounded up: the doubles of watts, seconds and prices make it a little more
        "This bag can earn at most 3.48001 USD/hour at a price of 0.02 USD, proved; here is a schedule that earns 3.48, "
        "which is the best possible, in 12 seconds with 0.00233333 kWh."
    )
    assert headings(page) == [
        "The answer",
        "At every price",
        "Machine by machine",
        "Which task runs where",
        "What one more is worth",
    ]
    assert page.count("<svg") == 4
    assert 'data-key="profit-ratio"' in page
    assert TINY.content_hash in page


@pytest.mark.parametrize(
    ("asked", "lead"),
    [
        ({"objective": "makespan"}, "This bag takes at least 12 seconds, proved; here is a schedule that takes 12, "),
        (
            {"objective": "energy"},
            "This bag takes at least 6,600 joules, proved; here is a schedule that takes 6,600, ",
        ),
        (
            {"price": 0.005},
            "Better not run at a price of 0.005 USD: waiting costs 0.144 USD/hour, and every schedule loses more, proved.",
        ),
        (
            {"price": 0.006},  # the thrifty end: (0.006 - 0.0066) in 30 s, rounded down
            "This bag loses at least 0.0719999 USD/hour at a price of 0.006 USD, proved; here is a schedule that",
        ),
        (
            {"price": 0.001, "deadline": 30.0},  # 0.001 - 0.0066 in 30 s, rounded down
            "This bag loses at least 0.671999 USD/hour at a price of 0.001 USD, proved; here is a schedule that",
        ),
    ],
)
def test_every_outcome_has_its_sentence(asked, lead):
    ends = {0.006: "0.072, in 30 seconds with 0.00183333 kWh: running loses less than waiting."}
    ends[0.001] = "0.672, in 30 seconds with 0.00183333 kWh: the deadline forces the work."
    result = solve(TINY, **asked)
    told = overview(TINY, terms_of(asked), result=result, front=front(TINY), curve=price_curve(TINY))
    found = result_lead(told, result)
    assert found.startswith(lead)
    assert found.endswith(ends.get(asked.get("price"), "."))


def test_a_schedule_may_lose_where_the_bound_earns():
    # As in test_price_stretches: from 0.008 the bound earns, the schedule only from 0.012.
    bag = half_full(watts=3600.0, idle=3600.0).model_copy(update={"prices": Prices(electricity_per_kwh=1.0)})
    result = solve(bag, price=0.01, effort="fast")
    lead = result_lead(overview(bag, Terms(price=0.01), result=result), result)
    assert lead.startswith(
        "This bag can earn at most 1.80001 USD/hour at a price of 0.01 USD, proved; "
    )  # 0.002 / 4 s, rounded up
    assert "here is a schedule that loses 1.2, in 6 seconds" in lead  # 0.002 / 6 s


def test_where_nothing_runs_the_page_says_so():
    result = solve(TINY, price=0.001)
    first, worths = schedule_sections(TINY, result.schedule, result)
    assert (first.heading, first.parts) == ("Machine by machine", (Paragraph("Nothing runs: all machines wait."),))
    assert worths.heading == "What one more is worth"


def test_a_bag_without_watts_and_prices_has_a_page_too():
    page = solve_page(looked_at(simple_bag([[2.0, 3.0]], [5], [1, 2])))
    # One task after 2 s, 2 + 2 after 4 s, the fifth at 6 s.
    assert lead_of(page).startswith("This bag takes at least 6 seconds")
    assert "The price curve: there is none, because the bag does not tell what a kWh costs." in page
    assert (
        "The front of energy and makespan: there is none, because the bag does not tell the watts of every pair that can run."
        in page
    )


def test_what_would_take_too_long_is_left_out_and_said(monkeypatch):
    monkeypatch.setattr(pipeline, "MOST_CURVE_PAIRS", 3)
    monkeypatch.setattr(pipeline, "MOST_FRONT_PAIRS", 3)
    found = looked_at(TINY)
    names = ("price curve", "front of energy and makespan")
    for section, name in zip(price_sections(found), names, strict=True):
        (said,) = section.parts
        assert said.text.startswith(f"The {name}: it is left out here, because the bag has 4 pairs of ")


def told_by(found):
    return [part.text for part in answer_section(found, found.result).parts if isinstance(part, Paragraph)]


@pytest.mark.parametrize("change", [{"bound": 3.6}, {"value": 3.4}])
def test_a_page_whose_slider_says_something_else_than_its_answer_says_why(change):
    result = solve(TINY)
    assert APART not in told_by(overview(TINY, result=result))
    assert APART in told_by(overview(TINY, result=replace(result, **change)))


def test_a_tight_answer_and_its_risk_are_told():
    found = solve(TINY, effort="tight", risk=RiskOptions(samples=50))
    assert APART not in told_by(overview(TINY, result=found))
    assert risk_section(found.risk).parts[1].rows == tuple(found.risk.rows())


@pytest.mark.slow
def test_names_are_shown_and_never_run():
    bag = Bag(
        HOSTILE,
        (MachineType(name=HOSTILE, count=2), MachineType(name="$x$ \u05d0\u05d1", count=1)),
        (TaskType(name=HOSTILE, count=3), TaskType(name="a" * 200, count=10**9)),
        Table.of([[1.0, 2.0], [3.0, None]]),
        Table.of([[100.0, 20.0], [90.0, None]]),
        Prices(per_bag=1e6, electricity_per_kwh=0.1, currency='<b>"'),
    )
    found = looked_at(bag)
    for page in (solve_page(found), price_page(replace(found, sensitivity=sensitivity(bag)))):
        reader = Reader(page)
        assert reader.faults == []
        assert [attributes for tag, attributes in reader.tags if tag == "script"] == [{"type": "application/json"}, {}]
        assert reader.of("h1") == [HOSTILE]


def test_the_page_of_prices_answers_what_the_profit_depends_on():
    page = price_page(overview(TINY, curve=price_curve(TINY), sensitivity=sensitivity(TINY)))
    assert lead_of(page) == (
        # 0.0066, rounded down
        "Below a price of 0.00659999 USD no schedule of this bag earns anything, proved; up to 0.0054 USD it is better not "
        "run; the whole curve has 4 pieces."
    )
    assert headings(page) == [
        "At every price",
        "Which price is needed for profit?",
        "What may electricity cost?",
        "How many more machines are worthwhile?",
        "All pieces",
    ]


def test_the_page_of_a_front_lists_its_corners():
    page = front_page(overview(TINY, front=front(TINY, sample=5)))
    assert lead_of(page) == (
        "No schedule takes less than 6,600 joules, and none less than 12 seconds, proved. The linear program, which "
        "may split tasks, has a front from 6,600 joules in 30 seconds to 8,400 joules in 12 seconds, with 2 corners: "
        "no schedule lies below it, proved, and whole tasks may not reach it. There is a verified schedule near "
        "each corner."
    )
    assert headings(page) == ["Energy against makespan", "At every price", "All corners of the front"]
    assert "A sample of 5 evenly spaced weights finds 2 of them." in page


def test_a_corner_that_whole_tasks_do_not_reach_is_not_called_a_schedule():
    seconds = [[31.7, 17.3], [47.1, 29.9], [83.3, 41.9]]
    watts = [[140.0, 310.0], [150.0, 290.0], [160.0, 333.0]]
    found = front(simple_bag(seconds, [7, 5, 4], [3, 2], watts, [40.0, 90.0]))
    (vertex,), (point,) = found.vertices, found.measured
    assert vertex.energy_joules < found.least_joules <= point.energy_joules
    assert vertex.makespan_seconds < found.least_seconds <= point.makespan_seconds
    lead, least = front_lead(found), f"less than {lower_text(found.least_joules)} joules"
    assert "best in both" not in lead
    assert lead.startswith(f"No schedule takes {least}, and none less than 125.6")
    ours = f"{number(point.energy_joules)} joules and {number(point.makespan_seconds)} seconds"
    assert f"The schedule here takes {ours}, verified." in lead
    assert lead.endswith("has one corner, 125,507 joules in 114.708 seconds, which whole tasks may not reach.")
    assert front_lead(replace(found, measured=(None,))).count("verified") == 0
    texts = [str(each) for each in front_tables(found) if isinstance(each, Text)]
    assert texts[0].endswith("1 vertex of the linear program, which may split tasks; whole tasks may not reach it")
    assert texts[-1].startswith(f"proved: no schedule lies below the front; no schedule takes {least}, and none")


def test_a_front_does_not_promise_schedules_that_are_not_there():
    found = front(TINY)
    late = replace(found, measured=(None, found.measured[1]))
    assert front_lead(late).endswith("There is a verified schedule near 1 of the corners.")


def test_a_front_of_one_corner_and_a_curve_without_changes_have_their_sentence():
    bag = simple_bag([[2.0]], [4], [2], [[50.0]]).model_copy(update={"prices": Prices(electricity_per_kwh=0.0)})
    assert front_lead(front(bag)).startswith("One schedule is best in both: 400 joules and 4 seconds")
    # 3 tasks of 2 s on 2 machines: split they take 3 s, whole ones 4 s.
    odd = front_lead(front(simple_bag([[2.0]], [3], [2], [[50.0]])))
    assert odd.startswith("One schedule is best in both: 300 joules and 4 seconds, verified")
    forced = bag.model_copy(update={"site": Site(deadline_seconds=9.0)})
    assert price_lead(price_curve(forced)) == "The most that this bag can earn at every price, proved, in 1 piece."
