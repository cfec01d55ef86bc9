"""The figures and the benchmark of uncertainty: what they print is so."""

from __future__ import annotations

import re
import sys

import pytest

from lpsched.report.figures.day_fronts import fuzzy_front_figure
from scripts.benches import risk as bench_risk
from scripts.figures.shared import uncertain_fronts
from tests.days import decaying, simple_day


def small_day(_):
    functions = [decaying(8.0, 0.01, until=90.0), decaying(4.0, until=60.0), decaying(2.0, 0.05)]
    arriving = [(2.0 * n, n % 2, functions[n % 3]) for n in range(20)]
    return simple_day([[10.0, 15.0], [20.0, None]], [[100.0, 30.0], [70.0, None]], [2, 1], arriving)


@pytest.mark.slow
def test_the_figures_evolve_a_front_for_each_percentile_and_tell_of_it(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(uncertain_fronts, "chapter_7", small_day)
    picture = tmp_path / "fuzzy.svg"
    arguments = ["--generations", "2", "--samples", "5", "--size", "8", "--figure", str(picture)]
    monkeypatch.setattr(sys, "argv", ["figure", *arguments])
    uncertain_fronts.main("x", "y", [50.0, None], fuzzy_front_figure)
    printed = capsys.readouterr().out
    assert "percentile 50: 2 generations" in printed
    assert "expected values: 2 generations" in printed
    assert printed.count("| energy, MJ | utility |") == 2
    assert picture.read_text().startswith("<?xml")


@pytest.mark.slow
def test_the_benchmark_of_percentiles_prints_three_factors(monkeypatch, capsys):
    monkeypatch.setattr(bench_risk, "chapter_7", small_day)
    bench_risk.main(["--generations", "1", "--before", "1", "--samples", "3", "--size", "8"])
    printed = capsys.readouterr().out
    assert len(re.findall(r"factor \d", printed)) == 3
    assert "20 tasks, 8 chromosomes, 3 samples" in printed
