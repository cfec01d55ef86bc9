from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from lpsched.bag.arrays import heterogeneity
from lpsched.bag.model import bag_from_dict
from lpsched.cli.console import print_tables
from lpsched.report.answers import bag_tables
from lpsched.report.tables import CountTable, FoldingTable, fitted, table
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
        (28204.71, "28,205"),
        (1234567.8, "1,234,568"),
        (0.00233333333, "0.002333"),
        (-1234.6, "-1,235"),
        (1e-9, "1e-09"),
        (3e20, "3e+20"),
        (99.99999999, "100"),
        (None, "-"),
    ],
)
def test_numbers_have_four_digits_and_thousands(value, text):
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


def test_columns_that_name_a_row_stand_in_every_table():
    folding = FoldingTable(("a", "b", "c", "d"), (("one", "two", "1 h", "22"),), labels=2)
    lines = [line.split() for line in shown(folding, width=15).splitlines()]  # 3 + 2 + 3 + 2 + 3 = 13, 17 with d
    assert lines == [["a", "b", "c"], ["one", "two", "1", "h"], [], ["a", "b", "d"], ["one", "two", "22"]]


def test_a_number_stays_with_its_unit_where_a_line_ends():
    text = "Done in 46 min 44 s with 5.277 kWh (gap 21.44 %), for 3.5 USD/h, in 12 months"
    kept = ("46 min 44 s", "5.277 kWh", "21.44 %", "3.5 USD/h")
    for width in range(16, 40):
        for each in (shown(fitted(text), width=width), shown(table(("", ""), [("x", text)]), width=width)):
            assert all(part in each for part in kept), width
            assert "\ue000" not in each


def test_what_is_long_in_a_table_of_facts_folds_in_a_pipe_but_a_name_does_not():
    facts = table(("", ""), [("at the limit", "machine " * 20), ("file", "x" * 120)])
    lines = [line.rstrip() for line in shown(facts, width=10_000).splitlines()]
    assert max(len(line) for line in lines if "x" not in line) <= 14 + 120
    assert sum("machine" in line for line in lines) == 2
    assert "x" * 120 in lines[-1]


def test_no_line_ends_in_blanks_on_a_terminal(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setenv("TERM", "xterm")
    out = Terminal()
    print_tables([table(("n", "runs on"), [("1", "a machine type"), ("2", "b")], numbers=(0,)), fitted("End.")], out)
    lines = re.sub(r"\x1b\[[0-9;]*m", "", out.getvalue()).splitlines()
    assert lines == ["n  runs on", "1  a machine type", "2  b", "", "End."]
    assert "\x1b" in out.getvalue()


def test_a_bag_is_described():
    site = {"pue": 1.25, "average_power_cap_watts": 900, "deadline_seconds": 60}
    prices = {"per_bag": 2, "per_task": {"zip": 1}, "electricity_per_kwh": 0.5, "currency": "EUR"}
    bag = bag_from_dict(sound(site=site, prices=prices))
    text = shown(*bag_tables(bag, heterogeneity(bag)))
    for part in (
        "sound: 45 tasks of 2 types on 3 machines of 2 types",
        "4 of 6 pairs of task type and machine type can run, with watts",
        "2 EUR per bag, 1 task type priced per task",
        "0.5 EUR per kWh, PUE 1.25",
        "900 W on average, at the meter",
        "deadline     1 min",
        "P0, P1",
    ):
        assert part in text
    (render,) = [line.split() for line in text.splitlines() if line.startswith("render")]
    assert render == ["render", "40", "1", "s", "gpu", "P0", "8", "s", "2", "-"]  # 1 or 2 s on 'gpu', 8 s on 'cpu'
    assert text.splitlines()[-1].split() == ["hash", bag.content_hash]
    bare = bag_from_dict(sound(site=..., prices=..., watts=...))
    text = shown(*bag_tables(bare, heterogeneity(bare)))
    assert "not given" in text
    assert "no watts" in text
    assert SOUND["name"] in text
    alone = bag_from_dict(sound(machine_types=[{"name": "one", "count": 1}], seconds=[[1.0], [2.0]], watts=...))
    text = shown(*bag_tables(alone, heterogeneity(alone)))
    assert "machine performance homogeneity    -  fewer than two machine types can run any task" in text
    assert "task-machine affinity              -  fewer than two machine types can run all task types" in text


COUNTS = CountTable(
    ("task type", "tasks", "big", "small", "price\n(LP)"),
    (("scan", "1,200", "1,000", "200", "0.5"), ("print", "7", "-", "7", "0.25")),
    (2, 4),
    "runs on",
)


def test_counts_stand_in_columns_where_they_fit():
    # 9 + 2 + 5 + 2 + 5 + 2 + 5 + 2 + 5 = 37 places
    lines = [line.split() for line in shown(COUNTS, width=37).splitlines()]
    assert lines[1] == ["task", "type", "tasks", "big", "small", "(LP)"]  # headers end on the same line
    assert lines[2] == ["scan", "1,200", "1,000", "200", "0.5"]


def test_counts_are_turned_where_they_do_not_fit():
    lines = [line.split() for line in shown(COUNTS, width=36).splitlines()]  # 10 + 2 + 5 + 2 + 5 = 24 places
    assert lines[0] == ["task", "type", "scan", "print"]
    assert ["small", "200", "7"] in lines
    assert ["price", "(LP)", "0.5", "0.25"] in lines


def test_counts_are_lists_where_nothing_else_fits_and_what_is_not_there_is_left_out():
    machines = tuple(f"machine-{j}" for j in range(9))
    many = CountTable(
        ("task type", *machines), tuple((f"t{i}", *("-" if j < i else str(j + 1) for j in range(9))) for i in range(20)),
        (1, 10), "runs on"
    )  # fmt: skip
    text = shown(many, width=80)
    assert max(map(len, text.splitlines())) <= 80
    (last,) = [line.split() for line in text.splitlines() if line.startswith("t8 ")]
    assert last == ["t8", "machine-8", "9"]
    first = text.split("t1 ")[0].split("t0 ")[1].split()  # nine types: the six with most tasks, and three more
    assert first[:4] == ["machine-8", "9,", "machine-7", "8,"]
    assert first[-3:] == ["3", "more", "types"]


def test_a_table_of_counts_is_not_wider_in_a_pipe():
    wide = CountTable(
        ("t", *(f"a-rather-long-name-{j}" for j in range(9))), (("t0", *"123456789"),) * 12, (1, 10), "on"
    )
    assert max(len(line.rstrip()) for line in shown(wide, width=10_000).splitlines()) <= 100
