"""The commands in the pages on facilities, heuristics and days print what they say, but for the last digits of a search."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.test_readme import ROOT, folder, parts, run, taken_apart  # noqa: F401 - a fixture

PAGES = [
    (ROOT / "docs" / name).read_text(encoding="utf-8")
    for name in ("facilities.md", "methods.md", "heuristics.md", "days.md")
]
COMMANDS = [
    pair
    for page in PAGES
    for block in re.findall(r"```console\n(.*?)```", page, flags=re.DOTALL)
    for pair in parts(block)
]
NEARLY = 0.05  # of a number: another processor may end its search elsewhere, within the gap
ANY = ("gap", "hottest inlet", "co-located")  # rows whose numbers depend on which of several optima is found


def test_there_are_commands():
    assert len(COMMANDS) == 6


@pytest.mark.parametrize(("command", "expected"), COMMANDS, ids=[command for command, _ in COMMANDS])
def test_a_command_prints_what_the_page_says(folder, command, expected):  # noqa: F811
    printed = run(command, folder)
    assert len(printed.splitlines()) == len(expected.splitlines())
    timed = False
    for now, then in zip(printed.splitlines(), expected.splitlines(), strict=True):
        words, numbers = taken_apart(now)
        shown, known = taken_apart(then)
        assert words == shown
        timed = bool(now) and (timed or now.endswith("  seconds"))
        if timed:  # rows that end with seconds
            numbers, known = numbers[:-1], known[:-1]
        if not now.startswith(ANY):
            assert numbers == pytest.approx(known, rel=NEARLY, abs=1e-3), now


def test_the_own_heuristic_of_the_page_runs_and_is_judged(folder):  # noqa: F811
    (block,) = re.findall(r"```python\n(.*?)```", PAGES[2], flags=re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-c", block], cwd=folder, capture_output=True, text=True, check=True
    )
    assert 0.0 < float(done.stdout) < 2.0
