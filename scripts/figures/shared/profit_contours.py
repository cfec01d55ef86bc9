"""Profit over the feasible region: lines of equal profit in the plane of energy and makespan.

A panel for each profit ratio. What no way to run the bag can take is shaded; the border around the rest is
exact, and goes on upwards where it leaves the figure. A line of equal profit v is E = (N - v t) / c: all of
them meet where t is 0 and E is N / c, so they are not parallel. Losses are dashed. The best of the region is
a star at a corner, or, where nothing covers its cost, an arrow along the border to the far end: to wait.

Nothing is solved here: the numbers are given.

Source: Tarplee, Maciejewski and Siegel, 2014, figure 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.io.figure_files import drawing_style
from lpsched.report.figures.style import (
    BLUE,
    CURVE_LINE,
    FORBIDDEN,
    INK,
    JOULES,
    SECONDS,
    SMALL_LETTERS,
    VERMILION,
    blank_figure,
    fitting,
    lettered,
    write_numbers,
)
from lpsched.units import SECONDS_PER_HOUR, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lpsched.bag.result import Point
    from lpsched.model.table import Floats, Mask

INCHES: Final = 3.5
CELLS: Final = 160  # of the grid that lines of equal profit are drawn from, each way
LOSSES: Final = 7  # lines of equal loss
SMALL_LOSS: Final = 0.25  # of the one in the middle: a line too near to that of none
GAINS: Final = (0.1, 0.25, 0.5)  # of the best profit
ROOM: Final = 0.08  # of each axis


@dataclass(frozen=True, slots=True)
class ProfitPanel:
    """One ratio: the income of the bag, and where its best profit is (`None`: to wait is best)."""

    ratio: float
    income: float
    best: Point | None
    profit: float  # money per hour


@dataclass(frozen=True, slots=True)
class ProfitPlane:
    """A region, and what energy costs in it."""

    corners: tuple[Point, ...]
    idle_watts: float
    cost_per_joule: float
    unit: str


def profit_contours_figure(plane: ProfitPlane, panels: Sequence[ProfitPanel]) -> Figure:
    """Draw the lines of equal profit over a region, a panel for each ratio.

    Raises
    ------
    MissingExtraError
        If Matplotlib is not installed.
    """
    with drawing_style():
        figure = blank_figure(INCHES)
        frame = _Frame(plane)
        row = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
        for axes, panel in zip(row, panels, strict=True):
            frame.set(axes)
            _draw_lines(axes, frame, plane, panel)
            _draw_region(axes, frame, plane)
            _draw_best(axes, frame, plane, panel)
            axes.set_title(f"profit ratio {number(panel.ratio)}")
        figure.axes[0].set_ylabel(f"makespan, {frame.seconds.name}")
        return figure


class _Frame:
    """The units of the figure, and where its axes end."""

    def __init__(self, plane: ProfitPlane) -> None:
        joules = [point.energy_joules for point in plane.corners]
        seconds = [point.makespan_seconds for point in plane.corners]
        self.joules, self.seconds = fitting(JOULES, max(joules)), fitting(SECONDS, max(seconds))
        width, height = max(joules) - min(joules), max(seconds) - min(seconds)
        width, height = width or max(joules), height or max(seconds)
        self.left, self.right = max(0.0, min(joules) - ROOM * width), max(joules) + ROOM * width
        self.bottom = min(seconds) - min(ROOM * height, 0.5 * min(seconds))
        self.top = max(seconds) + ROOM * height

    def set(self, axes: Axes) -> None:
        """Name the axes and let them end beyond the region."""
        axes.set_xlim(self.left / self.joules.size, self.right / self.joules.size)
        axes.set_ylim(self.bottom / self.seconds.size, self.top / self.seconds.size)
        axes.set_xlabel(f"energy, {self.joules.name}")
        write_numbers(axes.xaxis)
        write_numbers(axes.yaxis)


def _draw_lines(axes: Axes, frame: _Frame, plane: ProfitPlane, panel: ProfitPanel) -> None:
    """Draw lines of equal profit, each with its money."""
    joules = np.linspace(frame.left, frame.right, CELLS)
    seconds = np.linspace(frame.bottom, frame.top, CELLS)
    profits = SECONDS_PER_HOUR * (panel.income - plane.cost_per_joule * joules) / seconds[:, np.newaxis]
    inside = np.ma.masked_where(~_is_inside(plane, joules, seconds[:, np.newaxis]), profits)
    for sign, colour, style in ((1, BLUE, "solid"), (0, INK, "solid"), (-1, VERMILION, "dashed")):
        levels = [level for level in _levels(inside.compressed(), panel.profit) if np.sign(level) == sign]
        if levels:
            drawn = axes.contour(
                joules / frame.joules.size,
                seconds / frame.seconds.size,
                inside,
                levels=levels,
                colors=[colour],
                linestyles=[style],
                linewidths=0.8,
            )
            axes.clabel(drawn, fontsize=SMALL_LETTERS - 1, fmt=lambda level: number(level, 2))


def _draw_region(axes: Axes, frame: _Frame, plane: ProfitPlane) -> None:
    """Shade what is outside, and draw the border; both ends go on to the top."""
    first, last = plane.corners[0], plane.corners[-1]
    xs = [point.energy_joules for point in plane.corners]
    ys = [point.makespan_seconds for point in plane.corners]
    far = 2.0 * frame.top
    xs = [first.energy_joules + plane.idle_watts * (far - first.makespan_seconds), *xs]
    xs.append(last.energy_joules + plane.idle_watts * (far - last.makespan_seconds))
    ys = [far, *ys, far]
    border = (np.array(xs) / frame.joules.size, np.array(ys) / frame.seconds.size)
    box = np.array([frame.left, frame.left, frame.right, frame.right]) / frame.joules.size
    walls = np.array([far, 0.0, 0.0, far]) / frame.seconds.size
    axes.fill(
        np.append(border[0], box[::-1]),
        np.append(border[1], walls[::-1]),
        color=FORBIDDEN,
        alpha=0.8,
        linewidth=0,
        zorder=2.5,
    )
    axes.plot(*border, color=INK, linewidth=CURVE_LINE, zorder=3)


def _draw_best(axes: Axes, frame: _Frame, plane: ProfitPlane, panel: ProfitPanel) -> None:
    """Mark the best profit of the region."""
    words = f"{number(panel.profit, 3)} {lettered(plane.unit)}"
    if panel.best is not None:
        at = panel.best.energy_joules / frame.joules.size, panel.best.makespan_seconds / frame.seconds.size
        (star,) = axes.plot(*at, marker="*", markersize=12, linestyle="none", zorder=5)
        star.set(markerfacecolor="white", markeredgecolor=INK)
        words = f"best: {words}"
    else:
        words = f"best: to wait, {words}"
        _draw_arrow(axes, frame, plane)
    axes.annotate(
        words,
        (0.97, 0.03),
        xycoords="axes fraction",
        ha="right",
        va="bottom",
        fontsize=SMALL_LETTERS,
        bbox={"boxstyle": "round,pad=0.25", "facecolor": "white", "edgecolor": INK, "linewidth": 0.5},
        zorder=6,
    )


def _draw_arrow(axes: Axes, frame: _Frame, plane: ProfitPlane) -> None:
    """Draw an arrow to where the region has no end."""
    tip, tail = (
        (
            (plane.corners[0].energy_joules + plane.idle_watts * (seconds - plane.corners[0].makespan_seconds))
            / frame.joules.size,
            seconds / frame.seconds.size,
        )
        for seconds in (frame.top, frame.top - 0.25 * (frame.top - frame.bottom))
    )
    arrow = {"arrowstyle": "-|>", "color": INK, "linewidth": 2.0}
    axes.annotate("", tip, xytext=tail, arrowprops=arrow, zorder=5)


def _is_inside(plane: ProfitPlane, joules: Floats, seconds: Floats) -> Mask:
    """Tell which points of a grid are in the region: above its chain, between its ends."""
    chain = [each.energy_joules - plane.idle_watts * each.makespan_seconds for each in plane.corners]
    above = joules - plane.idle_watts * seconds
    least = np.interp(above, chain, [each.makespan_seconds for each in plane.corners])
    inside: Mask = (chain[0] <= above) & (above <= chain[-1]) & (seconds >= least)
    return inside


def _levels(profits: Floats, best: float) -> list[float]:
    """Return rising profits of two digits: losses as there is room for them, parts of the best, and 0."""
    if not len(profits):
        return []
    spread = np.quantile(np.minimum(profits, 0.0), np.linspace(0.05, 0.9, LOSSES))
    losses = spread[spread < SMALL_LOSS * np.median(spread)].tolist()
    gains = [share * best for share in GAINS if best > 0]
    none = [0.0] if profits.min() < 0.0 < profits.max() else []
    return sorted({float(f"{level:.1e}") for level in (*losses, *gains, *none)})
