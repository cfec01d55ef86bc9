"""The page on simulating days: its commands print what it says, but for times; its Python runs."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.test_readme import ROOT, folder, parts, run, taken_apart  # noqa: F401 - a fixture

PAGE = (ROOT / "docs" / "simulation.md").read_text(encoding="utf-8")
COMMANDS = [
    pair for block in re.findall(r"```console\n(.*?)```", PAGE, flags=re.DOTALL) for pair in parts(block)
]
NEARLY = 0.05  # of a number: another processor may end its search elsewhere
COLUMNS = 10  # of a table of policies, at least
CELLS = re.compile(r"\s{2,}")


def untimed(printed):
    """Return the lines, without the last column of the table, and without how long the bound took."""
    lines = [re.sub(r"found in \S+ s", "found", line) for line in printed.splitlines()]
    rows = [CELLS.split(line) for line in lines]
    return ["  ".join(row[:-1] if len(row) >= COLUMNS else row) for row in rows]


def test_there_are_commands():
    assert len(COMMANDS) == 4


@pytest.mark.parametrize(("command", "expected"), COMMANDS, ids=[command for command, _ in COMMANDS])
def test_a_command_prints_what_the_page_says(folder, command, expected):  # noqa: F811
    now, then = untimed(run(command, folder)), untimed(expected)
    assert len(now) == len(then)
    for line, known in zip(now, then, strict=True):
        words, numbers = taken_apart(line)
        shown, known_numbers = taken_apart(known)
        assert words == shown
        assert numbers == pytest.approx(known_numbers, rel=NEARLY, abs=1e-3), line


def test_the_own_policy_of_the_page_runs(folder):  # noqa: F811
    (block,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-c", block], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert done.stdout == "first_come True\nmax-max-upt True\n"
