"""The exact front of energy and makespan as a line, and what methods found above it as marks.

Below the line is shaded: a half-plane for each of its edges proves that no schedule is there. The height of
a mark above the line is its distance; our own schedules are dots near the corners of the line. Nothing is
solved here: the numbers are given.

Source: Friese, thesis of 2015, figures 6.2 and 6.3, without the exact front.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from lpsched.files.pictures import drawing_style
from lpsched.reports.front_marks import (
    FORBIDDEN,
    JOULES,
    OURS,
    ROOM,
    SECONDS,
    draw_marks,
    fitting,
    legend_above,
    room_about,
)
from lpsched.reports.pictures import INK, blank_picture, lettered
from lpsched.result.front_comparison import OURS as OUR_NAME
from lpsched.result.front_comparison import FrontComparison

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lpsched.result.front import FrontResult, Point

WORDS: Final = 0.12  # of the height, for the words below the front
FAR: Final = 30.0  # times the least; then an axis is logarithmic
EXACT: Final = "exact front, proved"
OUR_SCHEDULES: Final = "our schedules"
Spots = list[tuple[float, float]]


class Frame:
    """The units of a picture of a front, and where its axes end."""

    def __init__(self, exact: FrontResult, compared: FrontComparison | None) -> None:
        points = [*exact.vertices, *(point for point in exact.measured if point is not None)]
        if compared is not None:
            points += [point for entry in compared.entries for point in entry.points]
        self.joules = fitting(JOULES, max(point.energy_joules for point in points))
        self.seconds = fitting(SECONDS, max(point.makespan_seconds for point in points))
        self.all = self.spots(points)

    def spots(self, points: Sequence[Point]) -> Spots:
        """Return points in the picture's units."""
        return [
            (each.energy_joules / self.joules.size, each.makespan_seconds / self.seconds.size)
            for each in points
        ]

    def set(self, axes: Axes) -> None:
        """Name the axes and let them end a little beyond all points."""
        joules, seconds = zip(*self.all, strict=True)
        low, high = room_about(joules)
        axes.set_xlim(max(low, 0.0), high)
        if max(seconds) > FAR * min(seconds):
            axes.set_yscale("log")
            low, high = math.log(min(seconds)), math.log(max(seconds))
            axes.set_ylim(math.exp(low - WORDS * (high - low)), math.exp(high + ROOM * (high - low)))
        else:
            axes.set_ylim(max(room_about(seconds, WORDS)[0], 0.0), room_about(seconds)[1])
        axes.set_xlabel(f"energy, {self.joules.name}")
        axes.set_ylabel(f"makespan, {self.seconds.name}")


def front_picture(result: FrontResult | FrontComparison) -> Figure:
    """Draw the exact front, our schedules, and what other methods found.

    Raises
    ------
    MissingExtraError
        If Matplotlib is not installed.
    """
    with drawing_style():
        figure = blank_picture(4.2)
        axes = figure.subplots()
        draw_front(axes, result)
        legend_above(figure, axes)
        return figure


def draw_front(axes: Axes, result: FrontResult | FrontComparison) -> Frame:
    """Draw a front into some axes, and return its frame."""
    compared = result if isinstance(result, FrontComparison) else None
    exact = result.front if isinstance(result, FrontComparison) else result
    frame = Frame(exact, compared)
    frame.set(axes)
    _draw_exact(axes, frame.spots(exact.vertices))
    measured = frame.spots([point for point in exact.measured if point is not None])
    axes.plot(
        [x for x, _ in measured],
        [y for _, y in measured],
        linestyle="none",
        marker="o",
        markersize=3.5,
        markerfacecolor="white",
        markeredgecolor=OURS,
        zorder=4,
        label=OUR_SCHEDULES,
    )
    others = [] if compared is None else [each for each in compared.entries if each.name != OUR_NAME]
    for place, entry in enumerate(each for each in others if each.points):
        draw_marks(axes, entry.name, frame.spots(entry.points), place)
    return frame


def _draw_exact(axes: Axes, vertices: Spots) -> None:
    """Draw the chain, its ends straight up and to the right, and shade what is below and left of it."""
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    xs = [vertices[0][0], *(x for x, _ in vertices), right]
    ys = [top, *(y for _, y in vertices), vertices[-1][1]]
    axes.fill_between([left, *xs], [top, *ys], bottom, color=FORBIDDEN, linewidth=0, zorder=0)
    axes.plot(xs, ys, color=OURS, linewidth=1.4, zorder=2, label=EXACT)
    axes.plot(
        [x for x, _ in vertices], [y for _, y in vertices], linestyle="none", marker=".", color=OURS, zorder=2
    )
    axes.annotate(
        lettered("no schedule is here"),
        (0.015, 0.02),
        xycoords="axes fraction",
        color=INK,
        fontsize=7,
        style="italic",
    )
