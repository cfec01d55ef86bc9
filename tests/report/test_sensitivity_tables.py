"""The three questions in tables: every answer in words, columns only where there is something to say."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from lpsched.bag.files import read_bag
from lpsched.bag.parts import Prices
from lpsched.bag.pricing.sensitivity import sensitivity
from lpsched.report.answers import sensitivity_tables
from lpsched.report.tables import MOST_ROWS

TINY = read_bag(Path(__file__).parent.parent.parent / "instances" / "tiny.yaml")


def printed(result) -> str:
    out = io.StringIO()
    console = Console(file=out, width=250)
    for part in sensitivity_tables(result):
        console.print(part)
    return out.getvalue()


@pytest.fixture(scope="module")
def found():
    return sensitivity(TINY)


def test_every_question_and_its_answer_are_printed(found):
    text = printed(found)
    for words in (
        "tiny: which price is needed for profit?",
        "price needed          0.00659999 USD",  # 0.0066 rounded down
        "present prices times  0.33",
        "tiny: what may electricity cost at a price of 0.02 USD?",
        "no profit from     10.9091 USD/kWh  no schedule earns (proved)",
        "do not run from    13.3334 USD/kWh",  # 72 / 5.4, rounded up: there it is proved
        "tiny: how many more machines of a type are worthwhile at a price of 0.02 USD, all others as now?",
        "marginal value of one more (LP), USD/h",
        "one more adds at least (proved), USD/h",
        "worthwhile at most (proved)",
        "at least (verified)",
    ):
        assert words in text


def test_columns_about_purchases_are_there_only_if_a_price_or_a_life_is_known(found):
    assert "paid back in" not in printed(found)
    assert "pays up to a price of" not in printed(found)
    assert "pays up to a price of (LP), USD" in printed(sensitivity(TINY, lifetime_hours=10.0))
    fast, slow = TINY.machine_types
    bought = fast.model_copy(update={"purchase_price": 1.0, "mean_hours_to_failure": 100.0})
    text = printed(sensitivity(TINY.model_copy(update={"machine_types": (bought, slow)})))
    assert "paid back in (LP), hours" in text


def test_notes_say_what_is_missing():
    unpriced = TINY.model_copy(update={"prices": Prices(electricity_per_kwh=3.6)})
    text = printed(sensitivity(unpriced))
    assert "without a price only the first question has an answer" in text
    assert "how many more machines" not in text
    assert "may electricity cost" not in text


def test_a_price_that_was_never_found_is_said_in_words(found):
    need = replace(found.price_need, enough=None)
    assert "price enough          none found" in printed(replace(found, price_need=need))
    never = replace(found.electricity, no_profit_from=None, do_not_run_from=None)
    said = printed(replace(found, electricity=never))
    assert "no profit from     no price found  at which that is proved" in said
    assert "do not run from    no price found  at which that is proved" in said
    assert "waiting is best" not in said


def test_names_are_printed_as_they_stand_and_long_lists_are_cut(found):
    need = replace(found.machines[0], name="[red]x<script>$")
    text = printed(replace(found, machines=(need,) * (MOST_ROWS + 2)))
    assert text.count("[red]x<script>$") == MOST_ROWS
    assert "... and 2 more (--json has all)" in text


def test_pieces_of_the_electricity_price_have_rows(found):
    rows = found.electricity_pieces()
    assert [row[:3] for row in rows] == [
        ("0", "7.5", "profit"),
        ("7.5", "10.9091", "profit"),
        ("10.9091", "13.3333", "loss"),
        ("13.3333", "and up", "do-not-run"),
    ]
    assert float(rows[2][3]) == pytest.approx(0.0, abs=1e-14)
    assert len(rows[2][3]) <= len("3e-16")  # not all digits of the rounding
    assert found.electricity_headers() == ("from USD/kWh", "to", "regime", "bound, USD/hour")
