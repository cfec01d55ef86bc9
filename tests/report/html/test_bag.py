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
from lpsched.bag.parts import MachineType, Prices, TaskType
from lpsched.bag.pricing.one_more import with_fewer, with_one_more
from lpsched.bag.pricing.price_curve import price_curve
from lpsched.bag.pricing.sensitivity import sensitivity
from lpsched.bag.solve import solve
from lpsched.model.risk import RiskOptions
from lpsched.model.table import Table
from lpsched.report.html.bag import (
    front_page,
    front_summary,
    own_segments,
    price_page,
    price_sections,
    schedule_sections,
    solve_page,
)
from lpsched.report.html.page import Paragraph, from_terminal
from lpsched.report.solution import advice, result_parts
from lpsched.units import energy_text
from tests.report.html_reader import Reader
from tests.support import simple_bag

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
    assert any(
        each.startswith("The slider along the price curve: it is left out here, because the bag has ") for each in told
    )
    assert "The most profit at every price" in page
    assert 'class="slider"' not in page
    left = front_page(overview(TINY, front=front(TINY)))
    assert any(each.startswith("The price curve: it is left out here") for each in Reader(left).of("p"))
    assert "The slider along" not in left


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
    assert summary_of(page) == "Earns 3.48 USD/h, the most possible (gap 0 %, proved)."
    assert headings(page) == ["The answer", "At every price", "Machine by machine", "Which task runs where"]
    assert page.count("<svg") == 4
    assert '"% of current' in page
    assert '"profit-ratio"' in page
    assert TINY.content_hash in page


def texts_of(page):
    """Return all that stands in paragraphs and tables of a page, without unbreakable spaces and line breaks."""
    reader = Reader(page)
    return " ".join(" ".join(reader.of(tag)) for tag in ("p", "th", "td")).replace("\u00a0", " ").replace("\n", " ")


def test_a_page_says_all_that_the_terminal_says():
    # Depreciation, wear and overhead, a PUE, idle machines: advice to run fewer, and what one more would lose.
    bag = read_bag(INSTANCES / "ai-service.yaml")
    result = with_fewer(with_one_more(bag, solve(bag), marginals="top"))
    said = texts_of(solve_page(overview(bag, result=result)))
    (advised,) = (line for line in advice(result) if line.startswith("Fewer machines earn more"))
    assert advised in said
    for renderables in result_parts(result).values():
        for part in from_terminal(renderables):
            words = [part.text] if isinstance(part, Paragraph) else [cell for row in part.rows for cell in row]
            assert all(word.replace("\n", " ") in said for word in words)
    assert "at the meter (PUE 1.25)" in said


def test_an_answer_for_another_objective_is_told_from_the_schedules_of_the_slider():
    page = solve_page(looked_at(TINY, objective="makespan"))
    assert "Its schedules are those for profit: the answer above, for makespan, is another." in page
    assert "is another." not in solve_page(looked_at(TINY))
    bag = TINY.model_copy(update={"prices": Prices(electricity_per_kwh=3.6)})
    (told,) = (each for each in Reader(solve_page(looked_at(bag))).of("p") if each.startswith("Move the slider"))
    assert "type a price or a profit ratio" in told  # and no percentage of a price that is not there
    assert "The bag has no price: the slider begins at 0.00792 USD, 1.2 times the break-even price." in told


def test_where_nothing_runs_the_page_says_so():
    result = solve(TINY, price=0.001)
    parts = {name: from_terminal(each) for name, each in result_parts(result).items()}
    machines, tasks = schedule_sections(TINY, result.schedule, parts)
    nothing = Paragraph("Nothing runs: all machines wait.")
    assert (machines.heading, machines.parts) == ("Machine by machine", (nothing, *parts["machines"]))
    assert (tasks.heading, tasks.parts) == ("Tasks", tuple(parts["tasks"]))
    alone = schedule_sections(TINY, result.schedule)
    assert [section.parts for section in alone] == [(nothing,)]


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
    (section,) = price_sections(found)
    assert section.heading == "What is left out"
    for said, name in zip(section.parts, names, strict=True):
        assert said.text.startswith(f"The {name}: it is left out here, because the bag has 4 pairs of ")


@pytest.mark.parametrize("bound", [3.6, 3.481, 3.479])
def test_all_from_terminal_a_page_show_the_lower_bound_and_the_better_schedule(bound):
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
    risk = from_terminal(result_parts(found)["risk"])
    assert risk[1].rows == tuple(found.risk.rows())
    assert found.risk.heading() in texts_of(solve_page(overview(TINY, result=found)))


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
        "Break-even at 0.0066 USD per bag (proved: below it no schedule earns; verified: a schedule earns above it): 33 % of "
        "current prices. At the current price of 0.02 USD per bag a verified schedule earns 3.48 USD/h, at most 3.48 USD/h "
        "possible (proved), gap 0 %; prices may fall by 67 % before break-even (verified). "
        "Best not to run up to 0.0054 USD per bag (proved)."
    )
    assert headings(page) == [
        "At every price",
        "What may electricity cost?",
        "How many more machines are worthwhile?",
        "All 4 segments",
    ]


def test_segments_are_those_of_the_terminal_with_the_current_price_among_them():
    curve = price_curve(TINY)
    found = overview(TINY, curve=curve, sensitivity=sensitivity(TINY))
    assert len(found.curve.pieces) == 5  # one for each schedule, and one that begins at the current price
    own = own_segments(found.curve, found.breakpoints)
    assert [(each.from_price, each.to_price) for each in own.pieces] == [
        (each.from_price, each.to_price) for each in curve.pieces
    ]
    current = found.sensitivity.current
    assert own.rows(current) == curve.rows(current)


def test_the_same_input_gives_the_same_page():
    one, two = (price_page(overview(TINY, curve=price_curve(TINY), sensitivity=sensitivity(TINY))) for _ in range(2))
    assert one == two


def test_the_page_of_a_front_lists_its_vertices():
    page = front_page(overview(TINY, front=front(TINY, sample=5)))
    assert summary_of(page) == (
        "Verified schedules from 1.833 Wh in 30 s to 2.333 Wh in 12 s, along 2 vertices of the linear program (LP). "
        "Proved: no schedule lies below the front; no schedule takes less than 1.833 Wh, and none less than 12 s. "
        "The LP may split tasks: whole tasks may not reach its vertices."
    )
    assert headings(page) == ["Energy against makespan", "All vertices of the front"]
    assert "a sample of 5 evenly spaced weights finds 2 of the 2 vertices" in page


def test_a_vertex_that_whole_tasks_do_not_reach_is_not_called_a_schedule():
    seconds = [[31.7, 17.3], [47.1, 29.9], [83.3, 41.9]]
    watts = [[140.0, 310.0], [150.0, 290.0], [160.0, 333.0]]
    found = front(simple_bag(seconds, [7, 5, 4], [3, 2], watts, [40.0, 90.0]))
    (vertex,), (point,) = found.vertices, found.measured
    assert vertex.energy_joules < found.least_joules <= point.energy_joules
    assert vertex.makespan_seconds < found.least_seconds <= point.makespan_seconds
    summary, least = front_summary(found), f"less than {energy_text(found.least_joules, upper=False)}"
    ours = f"{energy_text(point.energy_joules)} in 2 min {point.makespan_seconds - 120:.1f} s"
    assert summary.startswith(f"A verified schedule of {ours}, along 1 vertex of the linear program (LP).")
    assert (
        f"Proved: no schedule lies below the front; no schedule takes {least}, and none less than 2 min 5." in summary
    )
    assert summary.endswith("whole tasks may not reach its vertices.")
    assert front_summary(replace(found, measured=(None,))).startswith("No schedule was found, along 1 vertex")


def test_a_front_does_not_promise_schedules_that_are_not_there():
    found = front(TINY)
    late = replace(found, measured=(None, found.measured[1]))
    assert front_summary(late).startswith("A verified schedule of 2.333 Wh in 12 s, along 2 vertices")


def test_a_front_of_one_vertex_has_its_sentence():
    bag = simple_bag([[2.0]], [4], [2], [[50.0]]).model_copy(update={"prices": Prices(electricity_per_kwh=0.0)})
    assert front_summary(front(bag)).startswith("A verified schedule of 0.1111 Wh in 4 s, along 1 vertex")  # 400 J
    # 3 tasks of 2 s on 2 machines: split they take 3 s, whole ones 4 s.
    odd = front_summary(front(simple_bag([[2.0]], [3], [2], [[50.0]])))
    assert odd.startswith("A verified schedule of 0.08333 Wh in 4 s")  # 300 J
    assert "no schedule takes less than 0.08333 Wh, and none less than 4 s" in odd
