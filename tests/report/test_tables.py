from __future__ import annotations

import io

import pytest
from rich.console import Console

from lpsched.bag.arrays import heterogeneity
from lpsched.bag.model import bag_from_dict
from lpsched.report.answers import bag_tables
from lpsched.report.tables import FoldingTable, table
from lpsched.units import number, percent
from tests.support import SOUND, sound


def shown(*renderables, width=200) -> str:
    out = io.StringIO()
    console = Console(file=out, width=width)
    for each in renderables:
        console.print(each)
    return out.getvalue()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (12.0, "12"),
        (28204.71, "28,204.7"),
        (1234567.8, "1,234,568"),
        (0.00233333333, "0.00233333"),
        (-1234.5, "-1,234.5"),
        (1e-9, "1e-09"),
        (3e20, "3e+20"),
        (99.99999999, "100"),
        (None, "-"),
    ],
)
def test_numbers_have_six_digits_and_thousands(value, text):
    assert number(value) == text


def test_a_gap_is_a_percentage():
    assert percent(0.0266666) == "2.667 %"
    assert percent(None) == "-"


@pytest.mark.parametrize("name", ["[red]x", "<b>", ":smile:", "[/]", "[link=http://x]y[/link]"])
def test_a_name_is_printed_as_it_stands(name):
    assert name in shown(table(("name", "n"), [(name, "1")]))
    raw = sound(machine_types=[{"name": name, "count": 1}], seconds=[[1.0], [2.0]], watts=...)
    bag = bag_from_dict(raw)
    assert name in shown(*bag_tables(bag, heterogeneity(bag)))


FOLDING = FoldingTable(("name", "long one", "b", "c"), (("best", "1", "", ""), ("[red]", "22", "3", "444")))


def test_a_table_that_fits_stays_one():
    # 5 + 2 + 8 + 2 + 1 + 2 + 3 = 23 places
    assert shown(FOLDING, width=23).splitlines() == shown(FOLDING).splitlines()
    assert [line.split() for line in shown(FOLDING).splitlines()] == [
        ["name", "long", "one", "b", "c"], ["best", "1"], ["[red]", "22", "3", "444"]
    ]  # fmt: skip


def test_columns_that_do_not_fit_stand_below_and_rows_without_any_of_them_are_left_out():
    lines = [line.split() for line in shown(FOLDING, width=22).splitlines()]
    assert lines == [
        ["name", "long", "one", "b"], ["best", "1"], ["[red]", "22", "3"], [], ["name", "c"], ["[red]", "444"]
    ]  # fmt: skip


def test_a_bag_is_described():
    site = {"pue": 1.25, "average_power_cap_watts": 900, "deadline_seconds": 60}
    prices = {"per_bag": 2, "per_task": {"zip": 1}, "electricity_per_kwh": 0.5, "currency": "EUR"}
    bag = bag_from_dict(sound(site=site, prices=prices))
    text = shown(*bag_tables(bag, heterogeneity(bag)))
    for part in (
        "45 of 2 types",
        "4 of 6 can run; watts: yes",
        "2 EUR per bag, 1 task types priced, 0.5 EUR per kWh",
        "PUE 1.25, cap 900 W (facility), deadline 60 s",
        "P0, P1",
        bag.content_hash,
    ):
        assert part in text
    bare = bag_from_dict(sound(site=..., prices=..., watts=...))
    text = shown(*bag_tables(bare, heterogeneity(bare)))
    assert "not given" in text
    assert "watts: no" in text
    assert SOUND["name"] in text
