"""Price curve and sensitivity in tables: the break-even price first, the current price in the picture, 100 columns."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from lpsched.bag.files import read_bag
from lpsched.bag.parts import Prices
from lpsched.bag.pricing.price_curve import price_curve
from lpsched.bag.pricing.result import PricePoint
from lpsched.bag.pricing.sensitivity import sensitivity
from lpsched.bag.relaxation import Regime
from lpsched.report.solution import MOST_SEGMENTS, price_tables, sensitivity_tables
from lpsched.report.tables import MOST_ROWS
from tests.report import bags

INSTANCES = Path(__file__).parent.parent.parent / "instances"
TINY = read_bag(INSTANCES / "tiny.yaml")


def printed(tables, width=250) -> str:
    out = io.StringIO()
    console = Console(file=out, width=width)
    for part in tables:
        console.print(part)
    return out.getvalue()


def joined(text: str) -> str:
    return " ".join(text.split())


@pytest.fixture(scope="module")
def found():
    return sensitivity(TINY)


@pytest.fixture(scope="module")
def curve():
    return price_curve(TINY)


def test_the_break_even_price_comes_first_between_proved_and_achieved(curve, found):
    text = joined(printed(price_tables(curve, found)))
    # The bag costs 0.0066 at least, as proved and as achieved but for the rounding of doubles; 0.0066 / 0.02 is 33 %.
    assert text.startswith(
        "tiny: Break-even at 0.0066 USD per bag (proved: below it no schedule earns; verified: a schedule earns above "
        "it): 33 % of current prices."
    )
    # (0.02 - 0.0084) / 12 s = 3.48 an hour; 1 - 0.33 is 67 %.
    assert "At the current price of 0.02 USD per bag a verified schedule earns 3.48 USD/h, at most 3.48 USD/h" in text
    assert "prices may fall by 67 % before break-even (verified)." in text
    assert "Best not to run up to 0.0054 USD per bag (proved)." in text


def test_the_current_price_has_a_row_among_the_segments(curve, found):
    rows = curve.rows(found.current)
    assert [(row[0], row[1], row[4]) for row in rows] == [
        ("0", "0.0054", "best not to run"),
        ("0.0054", "0.0066", "loss"),
        ("0.0066", "0.0096", "profitable"),
        ("0.0096", "and up", "profitable"),
        ("0.02", "(current)", "profitable"),
    ]
    assert [row[2] for row in rows] == ["0 %", "27 %", "33 %", "48 %", "100 %"]
    cheap = sensitivity(TINY, price=0.006)  # between 0.0054 and 0.0066
    assert [row[1] for row in curve.rows(cheap.current)][2] == "(current)"
    assert curve.rows(cheap.current)[2][4] == "loss"
    # A schedule that earns at the current price is achieved, too, whatever else was found.
    earning = replace(found, price_need=replace(found.price_need, enough=0.03))
    assert "prices may fall by 0 % before break-even (verified)" in earning.current_text()
    assert "and 0.02 USD per bag (above it a verified" in earning.headline()
    # All on 'slow': (0.006 - 0.0066) / 30 s = -0.072 USD an hour, rounded down.
    assert "every schedule loses at least 0.072 USD/h (proved)" in cheap.current_text()
    assert "to earn, prices must rise by at least 10 % (proved)" in cheap.current_text()  # 0.0066 / 0.006 - 1
    free = sensitivity(TINY, price=0.001)
    assert curve.rows(free.current)[1][4] == "best not to run"
    assert "it is best not to run (proved), which loses 0.144 USD/h" in free.current_text()  # 40 W at 3.6 USD/kWh


def test_only_a_schedule_that_runs_makes_a_segment_profitable():
    earned, running = (0.0, 4.0), bags.SCHEDULE
    segment = bags.piece(2.0, 4.0, Regime.PROFIT, (0.5, 4.0), earned)
    statuses = [
        bags.curve(each).rows()[0][3]
        for each in (
            replace(segment, schedule=running),
            replace(segment, schedule=replace(running, groups=())),  # it waits, at no cost
            replace(segment, schedule=running, value_at_from=-0.1),
        )
    ]
    assert statuses == ["profitable", "profit possible", "profit possible"]


def test_of_many_segments_the_changes_the_current_one_and_the_widest_are_shown():
    losses = [bags.piece(1.0 + k / 10, 1.1 + k / 10, Regime.LOSS, (-1.0, -1.0), (-1.0, -1.0)) for k in range(20)]
    last = bags.piece(3.0, None, Regime.PROFIT, (0.0, None), (0.0, None))
    many = bags.curve(bags.piece(0.0, 1.0, Regime.DO_NOT_RUN, (-1.0, -1.0), (-1.0, -1.0)), *losses, last)
    assert len(many.rows()) == 22
    rows = many.rows(most=4)
    assert [row[0] for row in rows[:2]] == ["0", "1"]  # where the regime changes
    assert rows[-1][1] == "and up"
    current = PricePoint(1.25, 2.55, -1.0, -1.0)
    assert ("2.5", "2.6") in [row[:2] for row in many.rows(current, most=4)]
    assert len(many.rows(current, most=4)) == 5
    # The price up to which it is best not to run is proved: 16.84 would be more than that.
    bare = bags.piece(0.0, 16.835026287424792, Regime.DO_NOT_RUN, (-1.0, -1.0), (-1.0, -1.0))
    assert [row[1] for row in replace(bags.curve(bare, last), least_price_to_run=16.835026287424792).rows()] == [
        "16.835",
        "and up",
    ]


@pytest.mark.parametrize("name", ["tiny", "ai-service", "video-transcoding"])
def test_no_line_is_wider_than_100_columns(name):
    bag = read_bag(INSTANCES / f"{name}.yaml")
    tables = price_tables(price_curve(bag, effort="fast"), sensitivity(bag, effort="fast"))
    assert max(map(len, printed(tables, width=10_000).splitlines())) <= 100
    assert len(price_curve(bag, effort="fast").rows(most=MOST_SEGMENTS)) <= MOST_SEGMENTS


def test_electricity_and_machines_have_their_tables(found):
    text = printed(sensitivity_tables(found))
    for words in (
        "break-even, achieved  10.9 USD/kWh   a verified schedule earns up to 3.03 times the current price",
        "break-even, proved    10.91 USD/kWh  from there on no schedule earns",
        "best not to run from  13.34 USD/kWh  proved",  # 72 / 5.4, rounded up: there it is proved
        "one more (LP), USD/h",
        "(proved), USD/h",
        "worthwhile at",
        "More than the first number cannot pay for themselves (proved); the second number do (verified).",
    ):
        assert words in text
    none = tuple(replace(need, most_more=0) for need in found.machines)
    said = printed(sensitivity_tables(replace(found, machines=none)))
    assert "No number of further machines of any one type pays for itself (proved)." in said
    assert "worthwhile" not in said


def test_columns_about_purchases_are_there_only_if_a_price_or_a_life_is_known(found):
    def heads(result) -> str:
        return joined(" ".join(result.one_more_table()[0]))

    assert "paid back in" not in heads(found)
    assert "pays up to" not in heads(found)
    assert "pays up to a price of (LP), USD" in heads(sensitivity(TINY, lifetime_hours=10.0))
    fast, slow = TINY.machine_types
    bought = fast.model_copy(update={"purchase_price": 1.0, "mean_hours_to_failure": 100.0})
    needs = sensitivity(TINY.model_copy(update={"machine_types": (bought, slow)}))
    assert "paid back in (LP)" in heads(needs)
    far = replace(
        needs.machines[0], pays_back_hours=25_745.0, pays_up_to=86_442.0, step_at_most=0.216, step_at_least=0.216
    )
    cells = replace(needs, machines=(far,)).one_more_table()[1][0]
    assert cells[3:] == ("0.216", "2.94 years", "86,440")


def test_notes_say_what_is_missing(curve):
    unpriced = sensitivity(TINY.model_copy(update={"prices": Prices(electricity_per_kwh=3.6)}))
    text = printed(price_tables(curve, unpriced))
    assert "Without a current price, electricity and machines are left out" in text
    assert "of current" not in text
    assert "One more machine" not in text


def test_a_price_that_was_never_found_is_said_in_words(found):
    none = replace(found, price_need=replace(found.price_need, enough=None), value=None)
    assert none.headline().endswith("no schedule that earns was found.")
    assert "no schedule was found; at most 3.48 USD/h possible (proved)" in none.current_text()
    never = replace(found.electricity, no_profit_from=None, do_not_run_from=None)
    said = printed(sensitivity_tables(replace(found, electricity=never)))
    assert "break-even, proved    no price found  at which that is proved" in said
    assert "best not to run from  no price found  at which that is proved" in said


def test_names_are_printed_as_they_stand_and_long_lists_are_cut(found):
    need = replace(found.machines[0], name="[red]x<script>$")
    text = printed(sensitivity_tables(replace(found, machines=(need,) * (MOST_ROWS + 2))))
    assert text.count("[red]x<script>$") == 2 * MOST_ROWS  # in both tables
    assert text.count("... and 2 more (--json has all)") == 2
