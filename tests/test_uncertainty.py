"""The page, the figures and the benchmark of uncertainty: what they print is so."""

from __future__ import annotations

import re
import sys

import pytest

from lpsched.reports.fuzzy_fronts import fuzzy_front_picture
from scripts import bench_risk, uncertain_fronts
from tests.days import decaying, simple_day
from tests.test_readme import ROOT, folder, parts, run, taken_apart  # noqa: F401 - a fixture

PAGE = (ROOT / "docs" / "uncertainty.md").read_text(encoding="utf-8")
COMMANDS = [
    pair for block in re.findall(r"```console\n(.*?)```", PAGE, flags=re.DOTALL) for pair in parts(block)
]


def small_day(_):
    functions = [decaying(8.0, 0.01, until=90.0), decaying(4.0, until=60.0), decaying(2.0, 0.05)]
    arriving = [(2.0 * n, n % 2, functions[n % 3]) for n in range(20)]
    return simple_day([[10.0, 15.0], [20.0, None]], [[100.0, 30.0], [70.0, None]], [2, 1], arriving)


def test_there_are_commands_on_the_page():
    assert len(COMMANDS) == 2


@pytest.mark.parametrize(("command", "expected"), COMMANDS, ids=[command for command, _ in COMMANDS])
def test_a_command_prints_what_the_page_says(folder, command, expected):  # noqa: F811
    printed = run(command, folder)
    for now, then in zip(printed.splitlines(), expected.splitlines(), strict=True):
        words, numbers = taken_apart(now)
        shown, known = taken_apart(then)
        assert words == shown
        assert numbers == pytest.approx(known, rel=1e-3, abs=1e-3), now  # gap, and Wilson's interval


def test_every_link_of_the_page_leads_to_a_file():
    for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", PAGE):
        assert (ROOT / "docs" / target).exists(), target


def test_the_figures_evolve_a_front_for_each_percentile_and_tell_of_it(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(uncertain_fronts, "chapter_7", small_day)
    picture = tmp_path / "fuzzy.svg"
    arguments = ["--generations", "2", "--samples", "5", "--size", "8", "--figure", str(picture)]
    monkeypatch.setattr(sys, "argv", ["figure", *arguments])
    uncertain_fronts.main("x", "y", [50.0, None], fuzzy_front_picture)
    printed = capsys.readouterr().out
    assert "percentile 50: 2 generations" in printed
    assert "expected values: 2 generations" in printed
    assert printed.count("| energy, MJ | utility |") == 2
    assert picture.read_text().startswith("<?xml")


def test_the_benchmark_of_percentiles_prints_three_factors(monkeypatch, capsys):
    monkeypatch.setattr(bench_risk, "chapter_7", small_day)
    bench_risk.main(["--generations", "1", "--before", "1", "--samples", "3", "--size", "8"])
    printed = capsys.readouterr().out
    assert len(re.findall(r"factor \d", printed)) == 3
    assert "20 tasks, 8 chromosomes, 3 samples" in printed
