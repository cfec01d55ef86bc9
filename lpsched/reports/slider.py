"""A slider on a page: numbers that follow a position exactly, because they are lines between breakpoints.

Between two breakpoints every number is constant, a line or a quotient of two lines, so it is told at both
ends of the stretch and the page needs no solver: what it shows at a position is exact, not interpolated
between samples. From `start` to `stop`, at the position x, a line from a to b is

    a + (b - a) (x - start) / (stop - start)

in doubles, from left to right, here and in the browser. A breakpoint belongs to the stretch that it begins.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from lpsched.display import gap_text, number, percent, upper_text


@dataclass(frozen=True, slots=True)
class Reading:
    """A number along a stretch: a line from `at_start` to `at_stop`; or a word, which does not change.

    Numbers are written as `lpsched.display.number` writes them, with that many `digits`; where the unit is
    "%" the number is a share, and is written as `percent` writes it. With `over`, it is that line divided by
    the line between these two, and told in percent: how far a value is from its bound is no line, but one
    divided by another, and is written as `gap_text` writes it. Over 0 it is `-`, unless it is 0 itself. With
    `upper` it is a bound from above, and is written as `bound_text` writes it.
    """

    at_start: float | str | None
    at_stop: float | str | None
    unit: str = ""
    digits: int = 6
    over: tuple[float, float] | None = None
    upper: bool = False


@dataclass(frozen=True, slots=True)
class Mark:
    """A point that moves in a picture of the page, in that picture's data coordinates."""

    picture: str  # the picture's `name`
    x: tuple[float, float]  # at the start and the stop of the stretch
    y: tuple[float, float]
    label: str
    axes: int = 0  # which of the figure's axes


@dataclass(frozen=True, slots=True)
class Stretch:
    """From one breakpoint to the next.

    `readings` belong to the slider's `labels`; `tables` holds, for each of the slider's tables, one row for
    each of its rows' names.
    """

    start: float
    stop: float
    readings: tuple[Reading, ...]
    tables: tuple[tuple[tuple[Reading, ...], ...], ...] = ()
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True, slots=True)
class FollowingTable:
    """A table whose cells follow the slider: what it is called, its headers, and the name of each row.

    The first header is that of the names; a row of a stretch has a reading for each of the others.
    """

    title: str
    headers: tuple[str, ...]
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Slider:
    """A labelled slider, where it stands at first, and all its stretches by rising position.

    Each stretch stops where the next one starts, and all are finite.
    """

    label: str  # "profit ratio"
    explanation: str  # a sentence for those who do not see it
    begins_at: float
    labels: tuple[str, ...]
    stretches: tuple[Stretch, ...]
    tables: tuple[FollowingTable, ...] = ()

    def __post_init__(self) -> None:
        """Hold the stretches against each other and against the labels."""
        assert self.stretches, "a slider has a stretch"
        assert all(each.start < each.stop for each in self.stretches), "a stretch has a length"
        assert all(left.stop == right.start for left, right in pairwise(self.stretches)), "without holes"
        assert self.stretches[0].start <= self.begins_at <= self.stretches[-1].stop, "it begins on a stretch"
        for each in self.stretches:
            assert len(each.readings) == len(self.labels), "a reading for each label"
            for table, rows in zip(self.tables, each.tables, strict=True):
                assert len(rows) == len(table.names), "a row for each name"
                assert all(len(row) + 1 == len(table.headers) for row in rows), "a reading for each header"

    def stretch_at(self, x: float) -> Stretch:
        """Return the stretch on which a position lies; a breakpoint begins one."""
        return next((each for each in self.stretches if x < each.stop), self.stretches[-1])


def line_at(x: float, stretch: Stretch, ends: tuple[float, float]) -> float:
    """Return the number at a position of a line along a stretch.

    >>> line_at(1.5, Stretch(1.0, 2.0, ()), (10.0, 20.0))
    15.0
    """
    if x == stretch.stop:
        return ends[1]
    return ends[0] + (ends[1] - ends[0]) * (x - stretch.start) / (stretch.stop - stretch.start)


def written(reading: Reading, stretch: Stretch, x: float) -> str:
    """Write what a reading says at a position.

    >>> along = Stretch(1.0, 2.0, ())
    >>> written(Reading(1000.0, 2000.0, "J"), along, 1.5), written(Reading("off", "off"), along, 1.5)
    ('1,500 J', 'off')
    >>> written(Reading(1.0, 3.0, over=(4.0, 4.0)), along, 1.5)
    '50 %'
    """
    if isinstance(reading.at_start, str):
        return reading.at_start
    if reading.at_start is None or reading.at_stop is None or isinstance(reading.at_stop, str):
        return "-"
    value = line_at(x, stretch, (reading.at_start, reading.at_stop)) + 0.0  # no minus before a zero
    if reading.over is not None:
        below = line_at(x, stretch, reading.over)
        return gap_text(value / below if below else None if value else 0.0)
    if reading.unit == "%":
        return percent(value)
    told = upper_text(value, reading.digits) if reading.upper else number(value, reading.digits)
    return f"{told} {reading.unit}".rstrip()
