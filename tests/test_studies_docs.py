"""What docs/studies.md shows is what happens."""

from __future__ import annotations

import re
import shlex
import shutil

import pytest

from lpsched.cli.main import run
from lpsched.studies.methods import method_names
from tests.test_readme import ROOT, parts, taken_apart

PAGE = (ROOT / "docs" / "studies.md").read_text(encoding="utf-8")
(STUDY,) = re.findall(r"```yaml\n(.*?)```", PAGE, flags=re.DOTALL)
(CONSOLE,) = re.findall(r"```console\n(.*?)```", PAGE, flags=re.DOTALL)
(PYTHON,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)


def same(printed, expected):
    """Compare two tables, but for the seconds in their last column."""
    assert len(printed.splitlines()) == len(expected.splitlines())
    timed = False
    for now, then in zip(printed.splitlines(), expected.splitlines(), strict=True):
        words, numbers = taken_apart(now)
        shown, known = taken_apart(then)
        assert words == shown
        timed = bool(now) and (timed or now.endswith("  seconds"))
        if timed or "made now" in now:  # the last two are seconds, and how sure we are of them
            numbers, known = numbers[:-2], known[:-2]
        assert numbers == pytest.approx(known, rel=0.02, abs=1e-3), now


def test_the_study_of_the_page_runs_and_reports_as_shown(tmp_path, monkeypatch, capsys):
    (tmp_path / "instances").mkdir()
    shutil.copy(ROOT / "instances" / "profit-30x9.yaml", tmp_path / "instances")
    (tmp_path / "sweep.yaml").write_text(STUDY, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for command, expected in parts(CONSOLE):
        assert run(shlex.split(command)[1:]) == 0
        same(capsys.readouterr().out, expected)
    exec(PYTHON, {})  # noqa: S102 - our own page
    assert capsys.readouterr().out.splitlines() == [
        "27 0 sweep.runs.jsonl",
        "balanced 1.5",
        "['lp', 'balanced', 'min-min']",
    ]


def test_the_page_names_every_method_of_ours():
    others = {"max-min", "sufferage", "met", "mct", "olb", "k-percent-best", "min-energy"}  # heuristics
    for kind in ("bag", "facility"):
        assert [name for name in method_names(kind) if f"`{name}`" not in PAGE and name not in others] == []
