"""Every script of a figure runs as a program, on small sizes, draws, and prints a table or a sentence."""

from __future__ import annotations

import json
import re
import runpy
import sys
from pathlib import Path

import pytest

from scripts.figures.shared import arriving_days, dropped_shares, uncertain_fronts
from tests.scripts.test_arriving_days import quick_bound
from tests.scripts.test_figures import EARNED
from tests.test_uncertainty import small_day

pytestmark = [pytest.mark.unwatched, pytest.mark.slow]  # scripts are not covered code

ROOT = Path(__file__).parents[2]
A_PART = ["--part", "0.004", "--trials", "1", "--jobs", "1", "--runs", "{runs}"]
FEW = ["--generations", "1,2"]
SAMPLED = ["--generations", "1", "--samples", "3", "--size", "8"]
KNOWN = ["--runs", "{known}"]
ARGUMENTS = {
    **dict.fromkeys(("heat_4", "heat_5"), KNOWN),
    **dict.fromkeys(("jobs_7", "jobs_8", "jobs_9", "jobs_10"), A_PART),
    **{f"thesis_{name}": A_PART for name in ("2_5", "2_6", "3_5", "3_13", "3_14", "4_4", "4_6", "g_1")},
    **{f"thesis_{name}": FEW for name in ("5_3", "5_4", "5_6")},
    **{f"thesis_{name}": ["--generations", "3"] for name in ("6_3", "6_6", "6_7", "6_8")},
    **{f"thesis_{name}": SAMPLED for name in ("7_4", "7_6", "7_7")},
}


@pytest.fixture
def known(tmp_path):
    """Runs of all methods on both platforms, as if they had been made."""
    path = tmp_path / "known.jsonl"
    history = [[0.5, 1, 0.1], [1.0, 2, 0.2]]
    shared = {"seed": 0, "seconds": 2.0, "possible": 2.0, "watts": 1.0, "rr": 0.7, "bound": 0.61, "history": history}
    lines = [
        {"platform": platform, "name": name, "crr": crr, **shared}
        for platform in ("medium", "large")
        for name, crr in EARNED.items()
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.mark.parametrize("name", ARGUMENTS)
def test_a_script_draws_and_tells(name, known, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(arriving_days, "arrival_bound", quick_bound)
    monkeypatch.setattr(dropped_shares, "CHAPTER_2", ("max-util", "max-max-upt"))
    monkeypatch.setattr(uncertain_fronts, "chapter_7", small_day)
    figure = tmp_path / "figure.svg"
    given = [word.format(runs=tmp_path / "runs.jsonl", known=known) for word in ARGUMENTS[name]]
    monkeypatch.setattr(sys, "argv", ["figure", *given, "--figure", str(figure)])
    runpy.run_path(str(ROOT / "scripts" / "figures" / f"{name}.py"), run_name="__main__")
    assert figure.read_text(encoding="utf-8").startswith("<?xml")
    assert len(capsys.readouterr().out) > 50


def test_every_script_is_run_here_or_imported_by_its_own_tests():
    scripts = {path.stem for path in (ROOT / "scripts" / "figures").glob("*.py")}
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "tests" / "scripts").glob("test_*.py")]
    texts.append((ROOT / "tests" / "test_uncertainty.py").read_text(encoding="utf-8"))
    imported = {name for text in texts for name in re.findall(r"(?:\bfigure_|scripts\.figures import )(\w+)", text)}
    assert scripts - set(ARGUMENTS) <= imported
