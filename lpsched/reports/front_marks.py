"""What pictures of fronts share: units that fit the numbers, and a colour and a mark for each method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lpsched.reports.pictures import (
    BLUE,
    BROWN,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PURPLE,
    SKY,
    VERMILION,
    legend_columns,
    lettered,
    line_by_line,
)
from lpsched.result.machine_point import along

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

MARKS: Final = (  # colour and mark of each method in turn; the colours can be told apart by anybody
    (VERMILION, "s"),
    (GREEN, "^"),
    (PURPLE, "D"),
    (ORANGE, "v"),
    (SKY, "P"),
    (INK, "X"),
    (BROWN, "<"),
    (GREY, "*"),
)
OURS: Final = BLUE
STYLES: Final = ((OURS, "o"), *MARKS)  # where ours is one of them
MARK_SIZE: Final = 3.5
ROOM: Final = 0.06  # of an axis, beyond all points
MOST_MARKS: Final = 400  # of one method; more cover each other, and fill the file


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit, and how many of the base unit it is."""

    name: str
    size: float


JOULES: Final = (
    Unit("J", 1.0),
    Unit("kJ", 1e3),
    Unit("MJ", 1e6),
    Unit("GJ", 1e9),
    Unit("TJ", 1e12),
)
SECONDS: Final = (
    Unit("seconds", 1.0),
    Unit("minutes", 60.0),
    Unit("hours", 3_600.0),
    Unit("days", 86_400.0),
    Unit("years", 31_557_600.0),
)


def fitting(units: Sequence[Unit], largest: float) -> Unit:
    """Return the largest unit that the largest number is at least two of, else the smallest.

    >>> fitting(SECONDS, 100.0).name, fitting(SECONDS, 200.0).name, fitting(JOULES, 0.5).name
    ('seconds', 'minutes', 'J')
    """
    return max(
        (unit for unit in units if largest >= 2 * unit.size), key=lambda unit: unit.size, default=units[0]
    )


def draw_marks(axes: Axes, name: str, spots: Sequence[tuple[float, float]], place: int) -> None:
    """Draw the points of one method."""
    colour, mark = MARKS[place % len(MARKS)]
    shown = [spots[each] for each in along(len(spots), MOST_MARKS)]
    few = len(spots) == 1
    axes.plot(
        [x for x, _ in shown],
        [y for _, y in shown],
        linestyle="none",
        marker=mark,
        markersize=2 * MARK_SIZE if few else MARK_SIZE,
        markerfacecolor=colour,
        markeredgecolor="white" if few else colour,
        markeredgewidth=0.5,
        zorder=3,
        label=lettered(name),
    )


def legend_above(figure: Figure | SubFigure, *several: Axes) -> None:
    """Name all marks above the picture, each once."""
    handles: dict[str, Artist] = {
        label: handle
        for axes in several
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    if handles:
        columns = legend_columns(handles)
        entries = line_by_line(list(handles.items()), columns)
        labels, marks = [label for label, _ in entries], [mark for _, mark in entries]
        figure.legend(marks, labels, loc="outside upper left", ncols=columns)


def room_about(values: Iterable[float], share: float = ROOM) -> tuple[float, float]:
    """Return the ends of an axis that has some room about all values.

    >>> room_about([1.0, 2.0], 0.1)
    (0.9, 2.1)
    """
    known = list(values)
    low, high = min(known), max(known)
    room = share * (high - low) or share * abs(high) or 1.0
    return low - room, high + room
