"""Pages of a bag: what stands on top, which parts there are, and what stands in place of one that is not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lpsched.bag import overview as pipeline
from lpsched.bag.exact_front import front
from lpsched.bag.files import read_bag
from lpsched.bag.model import Bag, Terms
from lpsched.bag.overview import Known, overview, schedule_segments
from lpsched.bag.parts import MachineType, Prices, Site, TaskType
from lpsched.bag.pricing.price_curve import price_curve
from lpsched.bag.pricing.sensitivity import sensitivity
from lpsched.bag.solve import solve
from lpsched.model.risk import RiskOptions
from lpsched.model.table import Table
from lpsched.report.html.bag import front_page, price_page, price_sections, solve_page
from lpsched.report.html.bag_sections import (
    answer_section,
    front_summary,
    price_summary,
    result_summary,
    risk_section,
    schedule_sections,
)
from lpsched.report.html.page import Paragraph
from lpsched.units import duration, energy_text
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


def summary_of(page):
    reader = Reader(page)
    places = [place for place, (tag, _) in enumerate(reader.tags) if tag == "p"]
    assert reader.issues == []
    assert reader.tags[places[0]][1] == {"class": "summary"}
    return reader.of("p")[0]


def test_the_page_of_an_answer_has_every_part():
    page = solve_page(looked_at(TINY))
    assert summary_of(page) == (
        "Earns 3.48 USD/h, the most possible (gap 0 %, proved). "
        "At a price of 0.02 USD; one bag takes 12 s and 2.333 Wh."
    )
    assert headings(page) == [
        "The answer",
        "At every price",
        "Machine by machine",
        "Which task runs where",
        "Marginal values",
    ]
    assert page.count("<svg") == 4
    assert '"% of today' in page
    assert '"profit-ratio"' in page
    assert TINY.content_hash in page


@pytest.mark.parametrize(
    ("asked", "summary"),
    [
        ({"objective": "makespan"}, "Done in 12 s, the least possible (gap 0 %, proved). One bag takes 2.333 Wh."),
        (
            {"objective": "energy"},
            "Takes 1.833 Wh, the least possible (gap 0 %, proved). One bag takes 30 s.",
        ),  # 6,600 J
        (
            {"price": 0.005},
            "Best not to run: that loses 0.144 USD/h, the least possible (gap 0 %, proved). At a price of 0.005 USD.",
        ),
        (
            {"price": 0.006},  # with the least energy: (0.006 - 0.0066) in 30 s
            (
                "Loses 0.072 USD/h, the least possible (gap 0 %, proved); not running would lose more, 0.144 USD/h. "
                "At a price of 0.006 USD; one bag takes 30 s and 1.833 Wh."
            ),
        ),
        (
            {"price": 0.001, "deadline": 30.0},  # 0.001 - 0.0066 in 30 s
            (
                "Loses 0.672 USD/h, the least possible (gap 0 %, proved); the deadline forces the work; not running "
                "would lose 0.144 USD/h. At a price of 0.001 USD; one bag takes 30 s and 1.833 Wh."
            ),
        ),
    ],
)
def test_every_outcome_has_its_sentence(asked, summary):
    result = solve(TINY, **asked)
    told = overview(TINY, terms_of(asked), result=result, front=front(TINY), curve=price_curve(TINY))
    assert result_summary(told, result) == summary


def test_a_schedule_may_lose_where_the_bound_earns():
    # As in test_price_stretches: from 0.008 the bound earns, the schedule only from 0.012.
    bag = half_full(watts=3600.0, idle=3600.0).model_copy(update={"prices": Prices(electricity_per_kwh=1.0)})
    result = solve(bag, price=0.01, effort="fast")
    summary = result_summary(overview(bag, Terms(price=0.01), result=result), result)
    assert summary == (  # 0.002 / 6 s; 0.002 / 4 s; 3 / 1.8
        "Loses 1.2 USD/h, at most 1.8 possible (gap 166.7 %, proved); not running would lose more, 7.2 USD/h. "
        "At a price of 0.01 USD; one bag takes 6 s and 12 Wh."
    )


def test_where_nothing_runs_the_page_says_so():
    result = solve(TINY, price=0.001)
    first, marginals = schedule_sections(TINY, result.schedule, result)
    assert (first.heading, first.parts) == ("Machine by machine", (Paragraph("Nothing runs: all machines wait."),))
    assert marginals.heading == "Marginal values"


def test_a_bag_without_watts_and_prices_has_a_page_too():
    page = solve_page(looked_at(simple_bag([[2.0, 3.0]], [5], [1, 2])))
    # One task after 2 s, 2 + 2 after 4 s, the fifth at 6 s.
    assert summary_of(page).startswith("Done in 6 s, the least possible (gap 0 %, proved).")
    assert "The price curve: there is none, because the bag does not specify what a kWh costs." in page
    assert (
        "The front of energy and makespan: there is none, because the bag does not specify the watts of every pair that can run."
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


@pytest.mark.parametrize("bound", [3.6, 3.481, 3.479])
def test_all_parts_of_a_page_show_the_lower_bound_and_the_better_schedule(bound):
    # The true optimum is 3.48 (see above); a bound below it only tests that the lower one is shown everywhere.
    answer = replace(solve(TINY), bound=bound, value=3.4, schedule=solve(TINY, price=0.007).schedule)
    found = overview(TINY, result=answer)
    here = next(each for each in found.stretches if each.from_price == 0.02)
    before = next(each for each in found.stretches if each.to_price == 0.02)
    piece = next(each for each in found.curve.pieces if each.from_price == 0.02)
    best = min(bound, solve(TINY).bound)
    assert found.result.bound == here.bound_at_from == before.bound_at_to == piece.bound_at_from
    assert found.result.bound == pytest.approx(best, rel=1e-12)
    assert found.result.value == here.value_at_from == piece.value_at_from == pytest.approx(3.48, rel=1e-12)
    assert found.result.schedule == here.schedule == solve(TINY).schedule
    assert found.result.gap == pytest.approx(abs(best - 3.48) / best, abs=1e-12)


def test_the_schedule_of_an_answer_is_among_those_along_the_curve():
    curve = price_curve(TINY, effort="fast")
    late = replace(solve(TINY).schedule, makespan_seconds=12.5)
    known = Known(0.02, schedule=late)
    stretches = schedule_segments(TINY, curve, known=known)
    assert all(each.schedule != late for each in stretches)  # there are better ones
    assert any(each.schedule == solve(TINY).schedule for each in stretches)
    alone = schedule_segments(TINY, replace(curve, schedules=()), known=known)
    assert any(each.schedule == late for each in alone)


def test_a_tight_answer_and_its_risk_are_shown():
    found = solve(TINY, effort="tight", risk=RiskOptions(samples=50))
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
        assert reader.issues == []
        assert [attributes for tag, attributes in reader.tags if tag == "script"] == [{"type": "application/json"}, {}]
        assert reader.of("h1") == [HOSTILE]


def test_the_page_of_prices_answers_what_the_profit_depends_on():
    page = price_page(overview(TINY, curve=price_curve(TINY), sensitivity=sensitivity(TINY)))
    assert summary_of(page) == (
        # 0.0066, rounded down; of 0.02, 33 %
        "Below a price of 0.0066 USD (33 % of today's) no schedule earns anything, proved; up to 0.0054 USD it is "
        "best not to run; the whole curve has 5 segments."
    )
    assert headings(page) == [
        "At every price",
        "Which price is needed for profit?",
        "What may electricity cost?",
        "How many more machines are worthwhile?",
        "All segments",
    ]


def test_the_page_of_a_front_lists_its_vertices():
    page = front_page(overview(TINY, front=front(TINY, sample=5)))
    assert summary_of(page) == (
        "Verified schedules from 1.833 Wh in 30 s to 2.333 Wh in 12 s, along 2 vertices of the linear program (LP). "
        "Proved: no schedule lies below the front; no schedule takes less than 1.833 Wh, and none less than 12 s. "
        "The LP may split tasks: whole tasks may not reach its vertices."
    )
    assert headings(page) == ["Energy against makespan", "At every price", "All vertices of the front"]
    assert "A sample of 5 evenly spaced weights finds 2 of them." in page


def test_a_vertex_that_whole_tasks_do_not_reach_is_not_called_a_schedule():
    seconds = [[31.7, 17.3], [47.1, 29.9], [83.3, 41.9]]
    watts = [[140.0, 310.0], [150.0, 290.0], [160.0, 333.0]]
    found = front(simple_bag(seconds, [7, 5, 4], [3, 2], watts, [40.0, 90.0]))
    (vertex,), (point,) = found.vertices, found.measured
    assert vertex.energy_joules < found.least_joules <= point.energy_joules
    assert vertex.makespan_seconds < found.least_seconds <= point.makespan_seconds
    summary, least = front_summary(found), f"less than {energy_text(found.least_joules, upper=False)}"
    ours = f"{energy_text(point.energy_joules)} in {duration(point.makespan_seconds)}"
    assert summary.startswith(f"A verified schedule of {ours}, along 1 vertex of the linear program (LP).")
    assert (
        f"Proved: no schedule lies below the front; no schedule takes {least}, and none less than 2 min 5 s" in summary
    )
    assert summary.endswith("whole tasks may not reach its vertices.")
    assert front_summary(replace(found, measured=(None,))).startswith("No schedule was found, along 1 vertex")


def test_a_front_does_not_promise_schedules_that_are_not_there():
    found = front(TINY)
    late = replace(found, measured=(None, found.measured[1]))
    assert front_summary(late).startswith("A verified schedule of 2.333 Wh in 12 s, along 2 vertices")


def test_a_front_of_one_vertex_and_a_curve_without_changes_have_their_sentence():
    bag = simple_bag([[2.0]], [4], [2], [[50.0]]).model_copy(update={"prices": Prices(electricity_per_kwh=0.0)})
    assert front_summary(front(bag)).startswith("A verified schedule of 0.1111 Wh in 4 s, along 1 vertex")  # 400 J
    # 3 tasks of 2 s on 2 machines: split they take 3 s, whole ones 4 s.
    odd = front_summary(front(simple_bag([[2.0]], [3], [2], [[50.0]])))
    assert odd.startswith("A verified schedule of 0.08333 Wh in 4 s")  # 300 J
    assert "no schedule takes less than 0.08333 Wh, and none less than 4 s" in odd
    forced = bag.model_copy(update={"site": Site(deadline_seconds=9.0)})
    assert price_summary(price_curve(forced)) == "The most that this bag can earn at every price, proved, in 1 segment."
