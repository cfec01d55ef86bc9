"""Pictures and pages of `solve`, `price`, `front` and `validate`: written whole, or refused before the work."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from lpsched.online.files import write_day
from tests.report.html_reader import Reader
from tests.simulated import two_tasks

TINY = str(Path(__file__).parent.parent.parent / "instances" / "tiny.yaml")
COMMANDS = {
    "solve": ("solve", TINY),
    "price": ("price", TINY),
    "front": ("front", TINY),
    "validate": ("validate", TINY, "--heuristic", "met"),
}


@pytest.mark.rotate(2)
@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_command_draws_and_writes_a_page(command, lpsched, tmp_path):
    figure, report = tmp_path / "a.svg", tmp_path / "a.html"
    code, out, _ = lpsched(*command, "--figure", str(figure), "--report", str(report))
    assert code == 0
    assert "tiny: " in out[:200]
    assert figure.read_text().startswith("<?xml")
    reader = Reader(report.read_text(encoding="utf-8"))
    assert (reader.issues, reader.of("h1")) == ([], ["tiny"])


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        (("--report", "a.pdf"), "expected the ending .html"),
        (("--figure", "a.html"), "expected the ending .png or .svg or .pdf"),
        (("--report", "/no/such/folder/a.html"), "cannot write"),
    ],
)
def test_what_cannot_be_written_is_refused_before_the_work(command, asked, problem, lpsched, monkeypatch):
    for module in ("solve", "front", "validate"):
        monkeypatch.setattr(f"lpsched.cli.{module}.console_of", lambda _: pytest.fail("the work began"))
    code, out, err = lpsched(*command, *asked)
    assert (code, out) == (2, "")
    assert problem in err


def test_without_matplotlib_a_page_is_refused_in_words(lpsched, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    code, _, err = lpsched("solve", TINY, "--report", "a.html")
    assert code == 1
    assert "needs the extra 'report'" in err


def test_the_json_of_prices_has_what_they_depend_on(lpsched):
    code, answer, _ = lpsched("price", TINY, "--json", "--profit-ratio", "2")
    assert code == 0
    assert answer["format"] == "lpsched-price/1"
    assert answer["points"] == []
    needs = answer["sensitivity"]
    assert needs["format"] == "lpsched-sensitivity/1"
    assert needs["profit_ratio"] == pytest.approx(2.0)
    assert needs["price_need"]["needed"] == pytest.approx(0.0066)
    assert [each["name"] for each in needs["machine_types"]] == ["fast", "slow"]


def test_where_nothing_runs_the_picture_is_not_drawn_and_that_is_said(lpsched, tmp_path):
    figure = tmp_path / "a.png"
    code, _, err = lpsched("solve", TINY, "--price", "0.001", "--figure", str(figure))
    assert (code, figure.exists()) == (0, False)
    assert f"{figure} is not drawn: nothing runs" in err


def test_a_page_never_overwrites_what_is_read(lpsched, tmp_path):
    bag = tmp_path / "bag.html"  # a bag by any name
    bag.write_bytes(Path(TINY).read_bytes())
    code, _, err = lpsched("solve", str(bag), "--report", str(bag))
    assert code == 2
    assert "it is what is read" in err


def test_a_day_has_its_page(lpsched, tmp_path):
    day, report = tmp_path / "day.yaml", tmp_path / "day.html"
    write_day(two_tasks(), day)
    code, _, _ = lpsched("validate", str(day), "--heuristic", "min-energy", "--report", str(report))
    assert code == 0
    assert "min-energy: utility " in report.read_text(encoding="utf-8")
    code, _, _ = lpsched("front", str(day), "--compare", "min-energy", "--report", str(report), "--force")
    assert code == 0
    assert "proved; min-energy earns most" in report.read_text(encoding="utf-8")


def test_a_bag_without_prices_is_refused_by_price_but_has_a_page_of_its_makespan(lpsched, tmp_path):
    bag, report = tmp_path / "bag.json", tmp_path / "a.html"
    bag.write_text(
        json.dumps(
            {
                "format": "lpsched-bag/1",
                "name": "plain",
                "machine_types": [{"name": "m", "count": 1}],
                "task_types": [{"name": "t", "count": 2}],
                "seconds": {"t": {"m": 3.0}},
            }
        )
    )
    assert lpsched("solve", str(bag), "--report", str(report))[0] == 0
    assert "Done in 6 s, the least possible (gap 0 %, proved)." in report.read_text(encoding="utf-8")
    other = tmp_path / "b.html"
    assert lpsched("price", str(bag), "--report", str(other))[0] == 2
    assert not other.exists()
