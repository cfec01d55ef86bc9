"""The line that tells how far work is: what it says, and what it guesses of the time left."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from lpsched.cancellation import COMPILING, Progress
from lpsched.cli.console import ProgressLine


class Clock:
    """A clock that goes when it is told to."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def line(clock):
    return ProgressLine(clock)


def test_a_stage_and_its_gap_are_told(line):
    line.update(Progress("columns", 0.125))
    assert line.text == "columns: gap 12.5 %"
    line.update(Progress("columns", 1.3e-10))
    assert line.text == "columns: gap under 0.001 %"
    line.update(Progress("columns", -1e-14))  # rounding
    assert line.text == "columns: gap 0 %"
    line.update(Progress("rounding"))
    assert line.text == "rounding"


def test_the_time_left_is_that_of_the_rest_at_the_pace_since_the_first_count(line, clock):
    # 100 were there before; 10 more took 20 s, so the 890 that are left take 1,780 s, 29 min 40 s.
    line.update(Progress("runs", None, 100, 1000))
    assert line.text == "runs: 100 of 1,000"  # nothing is known of the pace yet
    clock.now += 20.0
    line.update(Progress("runs", None, 110, 1000))
    assert line.remaining_seconds() == pytest.approx(1780.0)
    assert line.text == "runs: 110 of 1,000, about 29 min 40 s left"


def test_compilation_does_not_count_towards_the_pace(line, clock):
    line.update(Progress("min-min", None, 0, 3))
    line.update(Progress(COMPILING))
    assert line.text == "compiling: 0 of 3"
    clock.now += 60.0
    line.update(Progress("min-min"))
    clock.now += 2.0
    line.update(Progress("max-min", None, 1, 3))
    assert line.text == "max-min: 1 of 3, about 4 s left"


def test_one_piece_is_not_worth_counting(line):
    line.update(Progress("min-min", None, 0, 1))
    assert line.text == "min-min"


def test_nothing_is_left_when_all_is_done(line, clock):
    line.update(Progress("runs", None, 0, 2))
    clock.now += 1.0
    line.update(Progress("runs", None, 2, 2))
    assert line.text == "runs: 2 of 2"


def test_a_step_that_counts_nothing_keeps_the_count_until_all_is_done(line):
    line.update(Progress("min-min", None, 1, 3))
    line.update(Progress("hour 7"))
    assert line.text == "hour 7: 1 of 3"
    line.update(Progress("sufferage", None, 3, 3))
    line.update(Progress("verifying"))
    assert line.text == "verifying"


def test_another_work_is_timed_anew(line, clock):
    line.update(Progress("runs", None, 0, 2))
    clock.now += 1000.0
    line.update(Progress("runs", None, 0, 4))
    clock.now += 1.0
    line.update(Progress("runs", None, 1, 4))
    assert line.remaining_seconds() == pytest.approx(3.0)


def test_names_are_shown_as_they_are_and_a_bar_beside_a_count(line):
    def shown(width=100):
        file = io.StringIO()
        Console(file=file, width=width, force_terminal=False).print(line.rendered(width))
        return file.getvalue()

    line.update(Progress("[bold]mine"))
    assert shown() == "[bold]mine\n"
    line.update(Progress("[bold]mine", None, 1, 2))
    assert shown().rstrip().endswith(" [bold]mine: 1 of 2")
    assert shown().count("━") == 15  # half of 30 columns: without colours, the rest is left empty
    assert shown(33).count("━") == 7  # half of 33 - 18 of the text - 1
    assert shown(26) == "[bold]mine: 1 of 2\n"  # no place for 8
    assert shown(12) == "[bold]mine:…\n"
