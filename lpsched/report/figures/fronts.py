"""The exact front of energy and makespan as a line, and what methods found above it as marks.

Below the line is shaded: a half-plane for each of its edges proves that no schedule is there. The height of
a mark above the line is its distance; our own schedules are dots near the corners of the line. Nothing is
solved here: the numbers are given.

Source: Friese, thesis of 2015, figures 6.2 and 6.3, without the exact front.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from lpsched.bag.compare.result import OURS as OUR_NAME
from lpsched.bag.compare.result import FrontComparison, along
from lpsched.io.pictures import drawing_style
from lpsched.report.figures import style
from lpsched.report.html.page import Spot
from lpsched.units import lower_text, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lpsched.bag.result import FrontResult, Point

WORDS: Final = 0.12  # of the height, for the words below the front
FAR: Final = 30.0  # times the least; then an axis is logarithmic
EXACT: Final = "exact front, proved"
OUR_SCHEDULES: Final = "our schedules"
Spots = list[tuple[float, float]]


class Frame:
    """The units of a picture of a front, and where its axes end."""

    def __init__(self, exact: FrontResult, compared: FrontComparison | None, also: Sequence[Point] = ()) -> None:
        points = [*exact.vertices, *(point for point in exact.measured if point is not None), *also]
        if compared is not None:
            points += [point for entry in compared.entries for point in entry.points]
        self.joules = style.fitting(style.JOULES, max(point.energy_joules for point in points))
        self.seconds = style.fitting(style.SECONDS, max(point.makespan_seconds for point in points))
        self.all = self.spots(points)

    def spots(self, points: Sequence[Point]) -> Spots:
        """Return points in the picture's units."""
        return [(each.energy_joules / self.joules.size, each.makespan_seconds / self.seconds.size) for each in points]

    def words(self, point: Point, *, proved: bool = False) -> str:
        """Return a point in the picture's units; one that bounds schedules from below is rounded down."""
        joules, seconds = (
            lower_text(each, 5) if proved else number(each, 5)
            for each in (point.energy_joules / self.joules.size, point.makespan_seconds / self.seconds.size)
        )
        return f"{joules} {self.joules.name}, {seconds} {self.seconds.name}"

    def set(self, axes: Axes) -> None:
        """Name the axes and let them end a little beyond all points."""
        joules, seconds = zip(*self.all, strict=True)
        low, high = style.room_about(joules)
        axes.set_xlim(max(low, 0.0), high)
        if max(seconds) > FAR * min(seconds):
            axes.set_yscale("log")
            low, high = math.log(min(seconds)), math.log(max(seconds))
            axes.set_ylim(math.exp(low - WORDS * (high - low)), math.exp(high + style.ROOM * (high - low)))
        else:
            axes.set_ylim(max(style.room_about(seconds, WORDS)[0], 0.0), style.room_about(seconds)[1])
            style.write_numbers(axes.yaxis)
        style.write_numbers(axes.xaxis)
        axes.set_xlabel(f"energy, {self.joules.name}")
        axes.set_ylabel(f"makespan, {self.seconds.name}")


def front_picture(
    result: FrontResult | FrontComparison, *, chosen: Point | None = None, also: Sequence[Point] = ()
) -> Figure:
    """Draw the exact front, our schedules, and what other methods found.

    Parameters
    ----------
    chosen
        A schedule to mark as the answer.
    also
        Points that are not drawn, but for which there has to be room.
    """
    with drawing_style():
        figure = style.blank_picture(4.2)
        axes = figure.subplots()
        frame = draw_front(axes, result, [*also, *([] if chosen is None else [chosen])])
        if chosen is not None:
            _mark(axes, *frame.spots([chosen])[0])
        style.legend_above(figure, axes)
        return figure


def front_spots(result: FrontResult | FrontComparison, also: Sequence[Point] = ()) -> tuple[Spot, ...]:
    """Return what to tell about the corners of the front, our schedules and the points of other methods."""
    compared = result if isinstance(result, FrontComparison) else None
    exact = result.front if isinstance(result, FrontComparison) else result
    frame = frame_of(result, also)
    named = [("corner of the linear program", exact.vertices)]
    named.append(("our schedule", tuple(point for point in exact.measured if point is not None)))
    named += [
        (entry.name, entry.points)
        for entry in (() if compared is None else compared.entries)
        if entry.name != OUR_NAME and entry.points
    ]
    return tuple(
        Spot(*frame.spots([points[place]])[0], f"{name}: {frame.words(points[place], proved=points is exact.vertices)}")
        for name, points in named
        for place in along(len(points), max(2, style.MOST_SPOTS // len(named)))
    )


def frame_of(result: FrontResult | FrontComparison, also: Sequence[Point] = ()) -> Frame:
    """Return the frame of a front's picture, with room for some more points."""
    if isinstance(result, FrontComparison):
        return Frame(result.front, result, also)
    return Frame(result, None, also)


def draw_front(axes: Axes, result: FrontResult | FrontComparison, also: Sequence[Point] = ()) -> Frame:
    """Draw a front into some axes, with room for some more points, and return its frame."""
    compared = result if isinstance(result, FrontComparison) else None
    exact = result.front if isinstance(result, FrontComparison) else result
    frame = frame_of(result, also)
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
        markeredgecolor=style.OURS,
        zorder=4,
        label=OUR_SCHEDULES,
    )
    others = [] if compared is None else [each for each in compared.entries if each.name != OUR_NAME]
    for place, entry in enumerate(each for each in others if each.points):
        style.draw_marks(axes, entry.name, frame.spots(entry.points), place)
    return frame


def _mark(axes: Axes, x: float, y: float) -> None:
    """Mark the answer."""
    axes.plot(
        x,
        y,
        linestyle="none",
        marker="*",
        markersize=13,
        color=style.VERMILION,
        markeredgecolor=style.INK,
        markeredgewidth=0.7,
        zorder=6,
        label="the answer",
    )


def _draw_exact(axes: Axes, vertices: Spots) -> None:
    """Draw the chain, its ends straight up and to the right, and shade what is below and left of it."""
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    xs = [vertices[0][0], *(x for x, _ in vertices), right]
    ys = [top, *(y for _, y in vertices), vertices[-1][1]]
    axes.fill_between([left, *xs], [top, *ys], bottom, color=style.FORBIDDEN, linewidth=0, zorder=0)
    axes.plot(xs, ys, color=style.OURS, linewidth=style.CURVE_LINE, zorder=2, label=EXACT)
    axes.plot(
        [x for x, _ in vertices], [y for _, y in vertices], linestyle="none", marker=".", color=style.OURS, zorder=2
    )
    axes.annotate(
        style.lettered("no schedule is here"),
        (0.015, 0.02),
        xycoords="axes fraction",
        color=style.INK,
        fontsize=style.SMALL_LETTERS,
        style="italic",
    )
