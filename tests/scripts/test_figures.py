"""The scripts of the Heat paper's figures: nothing is run twice, and what has run is drawn and told."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from lpsched.errors import NotFoundError
from scripts.figures import heat_2 as figure_heat_2
from scripts.figures import heat_3 as figure_heat_3
from scripts.figures.shared import heat_runs
from scripts.figures.shared.heat_runs import Runs, lines, thinned

pytestmark = [pytest.mark.unwatched, pytest.mark.slow]  # scripts are not covered code

ROOT = Path(__file__).parents[2]
EARNED = {"lp": 0.6, "nlp": 0.59, "nlp-blind": 0.3, "ga": 0.4, "ga-blind": 0.35, "greedy": 0.25}


@pytest.fixture
def known(tmp_path):
    """Runs of two facilities by all methods; with seed 1 everything earns 0.02 more."""
    path = tmp_path / "runs.jsonl"
    with path.open("w") as file:
        for seed in (0, 1):
            for name, crr in EARNED.items():
                line: dict[str, Any] = {
                    "platform": "small",
                    "seed": seed,
                    "name": name,
                    "seconds": 2.0,
                    "possible": 2.0,
                    "watts": 1.0,
                }
                line |= {"crr": crr + 0.02 * seed, "rr": 0.7, "bound": 0.61, "history": [[0.5, 1, 0.1], [1.0, 2, crr]]}
                file.write(json.dumps(line) + "\n")
        file.write('{"platform": "small", "seed": 1, "na')  # cut off by a kill
    return path


def run(monkeypatch, main, *arguments):
    monkeypatch.setattr(sys, "argv", ["figure", *map(str, arguments)])
    main()


def test_figure_2_draws_what_has_run_and_prints_means_with_intervals(known, tmp_path, monkeypatch, capsys):
    before = known.read_text()
    figure = tmp_path / "two.svg"
    run(monkeypatch, figure_heat_2.main, "--trials", 2, "--runs", known, "--figure", figure)
    assert known.read_text() == before  # nothing ran again
    assert figure.read_text().startswith("<?xml")
    printed = capsys.readouterr().out
    # 0.59 and 0.61 of 2 are 29.5 and 30.5 %: mean 30, deviation 0.7071, so 12.706 x 0.7071 / sqrt(2) = 6.353.
    assert "| NLPCL | 2 | 30.00 ± 6.35 | 35.00 ± 0.00 | 2 |" in printed
    assert "| bound, proved | | 30.50 ± 0.00 | | |" in printed
    assert "ours earns more than NLPCL in 2 of 2 trials (CRR)" in printed
    assert "NLPCL takes 1 times as long as ours (median; 1 to 1)" in printed


def test_figure_4_draws_rewards_over_time(known, tmp_path, monkeypatch, capsys):
    figure = tmp_path / "four.svg"
    arguments = ("--seed", 0, "--runs", known, "--figure", figure)
    run(monkeypatch, lambda: heat_runs.reward_over_time("x", "heat-4", "small", ("greedy", "ga", "nlp")), *arguments)
    assert figure.exists()
    printed = capsys.readouterr().out
    assert "| NLPCL | 2 | 0.59 | 3.28 % |" in printed  # 1 - 0.59 / 0.61
    assert "| ours | 2 | 0.6 | 1.64 % |" in printed


def test_figure_3_runs_on_any_facility(tmp_path, monkeypatch, capsys):
    figure = tmp_path / "three.svg"
    run(monkeypatch, figure_heat_3.main, ROOT / "instances" / "facility-tiny.yaml", "--figure", figure)
    assert figure.exists()
    printed = capsys.readouterr().out
    assert "NLPCL: CRR 1.169" in printed  # see tests/compare
    assert "NLP: CRR 1.1" in printed


def test_a_method_that_fails_is_a_line_too(tmp_path, monkeypatch):
    path = tmp_path / "runs.jsonl"
    runs = Runs(path, "small", 0)
    monkeypatch.setattr(heat_runs, "allocate", failing)
    told = runs.theirs("nlp")
    assert told["failure"] == "no luck"
    assert [line["name"] for line in lines(path)] == ["nlp"]
    monkeypatch.setattr(heat_runs, "allocate", None)  # and is not tried again
    assert runs.theirs("nlp") == told


def failing(*_, **__):
    raise NotFoundError("no luck")


def test_a_history_keeps_its_first_and_last_moments_and_thins_the_rest():
    history = tuple((1.0 + step / 100, step, float(step)) for step in range(101))  # from 1 s to 2 s
    kept = thinned(history)
    assert (kept[0], kept[-1]) == (history[0], history[-1])
    assert len(kept) <= 9  # 1.1^7 < 2 < 1.1^8, and the last
    assert thinned(()) == []
