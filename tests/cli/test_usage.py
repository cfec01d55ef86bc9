"""Usage errors: where, what was got, what is expected, and a hint; in lines that fit a terminal."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from lpsched.cli.console import print_notice

ROOT = Path(__file__).parents[2]
TINY, DAY, CLUSTERS, ROOM = (
    str(ROOT / "instances" / f"{name}.yaml") for name in ("tiny", "utility-250", "clusters-small", "facility-tiny")
)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["solve"], "bag: got nothing, expected a file; add it"),
        (["solve", TINY, "--gap", "1%"], "--gap: got '1%', expected a number from 0 to 1; write 0.01"),
        (["solve", TINY, "--gap", "2"], "--gap: got '2', expected a number from 0 to 1; correct it"),
        (["solve", TINY, "--price", "3USD"], "--price: got '3USD', expected a number; write a plain number"),
        (["solve", TINY, "--seed", "1.5"], "--seed: got '1.5', expected a whole number of at least 0; correct it"),
        (["solve", TINY, "--objective", "x"], "--objective: got 'x', expected one of profit, makespan, energy, cost, carbon; choose one"),
        (["solve", TINY, "--objective", "profits"], "expected one of profit, makespan, energy, cost, carbon; did you mean 'profit'?"),
        (["solve", TINY, "--gap"], "--gap: got no value, expected a number from 0 to 1; add it"),
        (["solve", TINY, "--quiet=1"], "--quiet: got an unknown option, expected an option of 'lpsched solve'; see 'lpsched solve --help'"),
        (["front", TINY, "--falling=1"], "--falling: got a value, expected none; leave it out"),
        (["solve", TINY, "--efort", "fast"], "--efort: got an unknown option, expected an option of 'lpsched solve'; did you mean --effort?"),
        (["solve", TINY, "more"], "solve: got 'more', expected no such argument; see 'lpsched solve --help'"),
        (["sovle", TINY], "; did you mean 'solve'?"),
        (["study", "x"], "COMMAND: got 'x', expected one of run, report; see 'lpsched study --help'"),
        (["--quiet"], "COMMAND: got nothing, expected one of solve, "),
        (["solve", TINY, "--deadline", "5x"], "--deadline: got '5x', expected a time such as 90, 90s, 5min, 2h, 1d; a number without a unit means seconds"),
        (["price", TINY, "--lifetime", "5x"], "; a number without a unit means hours"),
        (["solve", TINY, "--deadline", "-5"], "--deadline: got -5.0, expected seconds: a number from 1e-30 to 1e+30; correct it"),
        (["solve", TINY, "--price", "-1", "--power-cap", "-2"], "correct it\n  --power-cap: got -2.0, expected watts"),
        (["solve", TINY, "--price", "1", "--profit-ratio", "2"], "--price: got a price and a profit ratio, expected one of them"),
        (["solve", TINY, "--solver", "x"], "--solver: got 'x', expected 'highs' or 'pulp:NAME'; for example pulp:COIN_CMD"),
        (["solve", TINY, "--risk", "samples=1"], "--risk samples: got 1, expected a whole number from 2 to 10,000,000"),
        (["price", TINY, "--from-ratio", "3", "--to-ratio", "2"], "--to-ratio: got 2.0, expected a ratio above 3"),
        (["whatif", TINY, "--set", "fast=2.5"], "--set fast: got 2.5, expected a whole number from 0 to 10^15; round it"),
        (["whatif", TINY, "--set", "fast=x"], "--set fast: got 'x', expected an amount such as 8, or a change such as +4, -2, +10%; correct it"),
        (["whatif", TINY, "--set", "fast=0,slow=0"], "--set: got no machines, expected at least one; leave some"),
        (["generate", "bag", "--seed", "1", "-o", "x.yaml", "--tasks", "-1"], "--tasks: got -1, expected 1 to 1e+15; change the option"),
        (["facility", ROOM, "--outlets", "20,21"], "--outlets: got 2 temperatures, expected 1, one for each CRAC unit"),
        (["facility", ROOM, "--outlets", "99"], "--outlets crac: got 99 °C, expected 10 to 30 °C; correct it"),
        (["simulate", DAY, "--every", "-3"], "--every: got -3.0, expected a number of seconds from 0.001"),
        (["simulate", DAY, "--trials", "2"], "--trials: got 2, expected 1, as no generator made this file; make one with 'lpsched generate day'"),
        (["validate", CLUSTERS], "schedules: got none, expected files of schedules of clusters; add some, or run policies with 'lpsched simulate'"),
        (["validate", TINY, "--scheduler", "x"], "--scheduler: got 'x', expected one of min-min, max-min, sufferage, met, mct, olb, k-percent-best, min-energy, random, lp, nsga2, all, FILE.py:FUNCTION; choose one"),
        (["validate", ROOM, "--scheduler", "x"], "nlp-blind, all; choose one"),
        (["front", TINY, "--scheduler", "x"], "random, lp-dense, nsga2, FILE.py:FUNCTION, files or folders of schedules; choose one"),
        (["front", TINY, "--scheduler", "nsga2", "--seed-with", "x"], "--seed-with: got 'x', expected one of min-min, "),
        (["front", DAY], "--scheduler: got none, expected schedulers to compare with the envelope of a day"),
        (["simulate", DAY, "--scheduler", "x"], "weighted-util, all, FILE.py:FUNCTION; choose one"),
        (["simulate", CLUSTERS, "--scheduler", "x"], "max-upe, all, FILE.py:FUNCTION; choose one"),
    ],
)  # fmt: skip
def test_a_usage_error_says_where_it_is_what_was_got_and_what_is_expected(
    lpsched, tmp_path, monkeypatch, arguments, message
):
    monkeypatch.chdir(tmp_path)
    code, _, err = lpsched(*arguments)
    assert (code, err.startswith("lpsched: "), message in err) == (2, True, True), err
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "needed", "command"),
    [
        (["solve", DAY], "'lpsched-bag/1'", "simulate' for a day"),
        (["simulate", ROOM], "'lpsched-day/1' or 'lpsched-clusters/1' or 'lpsched-bag/1'", "facility' for a facility"),
        (["front", ROOM], "'lpsched-bag/1' or 'lpsched-day/1'", "facility' for a facility"),
        (["measure", TINY], "'lpsched-bench/1'", "solve' for a bag"),
        (["study", "report", TINY], "'lpsched-study/1'", "solve' for a bag"),
        (["certify", ROOM, "-o", "no-proof.json"], "'lpsched-bag/1' or 'lpsched-day/1' or", "facility' for a facility"),
    ],
)
def test_a_file_of_another_kind_gets_the_same_error_in_every_command(lpsched, arguments, needed, command):
    code, _, err = lpsched(*arguments)
    assert code == 2
    assert ", format: got the text 'lpsched-" in err
    assert f"expected {needed}" in err
    assert f"; use 'lpsched {command}" in err


@pytest.mark.parametrize("arguments", [[], ["study"]])
def test_a_group_without_a_command_prints_its_help_and_no_error(lpsched, arguments):
    code, out, err = lpsched(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("Usage: lpsched")


@pytest.mark.parametrize("limit", [("--deadline", "1s"), ("--power-cap", "0.001W")])
def test_limits_that_no_schedule_meets_are_not_exported(lpsched, tmp_path, limit):
    output = tmp_path / "tiny.lp"
    exported, solved = lpsched("export", TINY, "-o", str(output), *limit), lpsched("solve", TINY, *limit)
    assert (exported[0], exported[2]) == (solved[0], solved[2])
    assert exported[0] == 1
    assert not output.exists()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_notices_wrap_between_words_on_a_terminal_only(monkeypatch):
    message = f"a.yaml: 1 error\n  format: got {'word ' * 30}/a/path-with-hyphens/{'x' * 90}"
    monkeypatch.setenv("COLUMNS", "60")
    for stream, count in ((Terminal(), 5), (io.StringIO(), 2)):
        monkeypatch.setattr("sys.stderr", stream)
        print_notice(*message.split("\n"))
        lines = stream.getvalue().splitlines()
        assert " ".join(stream.getvalue().split()) == " ".join(f"lpsched: {message}".split())
        assert len(lines) == count
        assert max(map(len, lines[:-1])) <= 60


def test_a_command_in_a_notice_stays_on_one_line_and_can_be_copied(monkeypatch):
    command = f"python -m pip install {'package ' * 20}end"
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr("sys.stderr", Terminal())
    print_notice(f"{'word ' * 20}install it:", f"    {command}")
    assert sys.stderr.getvalue().splitlines()[-1] == f"    {command}"
