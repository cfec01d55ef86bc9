"""What methods earn over their run time, as in the paper's figures 4 and 5.

One point for a method that answers once, steps for one that gets better as it runs. The bound is a line that no
verified allocation passes. Nothing is solved here: the numbers are given.

Source: Oxley and others, section VI, figures 4 and 5.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lpsched.io.figure_files import drawing_style
from lpsched.model.provenance import Estimate
from lpsched.report.figures.facility import draw_bound
from lpsched.report.figures.style import (
    GREEN,
    INK,
    ORANGE,
    PURPLE,
    SKY,
    VERMILION,
    blank_figure,
    draw_grid,
    lettered,
    write_numbers,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LEAST_SECONDS: Final = 1e-3
CURVES: Final = (  # colour, marker and line of each method in turn
    (VERMILION, "s", "-"),
    (GREEN, "^", "--"),
    (PURPLE, "D", "-."),
    (ORANGE, "v", ":"),
    (SKY, "P", "-"),
    (INK, "X", "--"),
)
TIMES: Final = (  # seconds that have a name, and it
    *((10.0**power, f"{10.0**power:g} s") for power in range(-3, 2)),
    (60.0, "1 min"),
    (600.0, "10 min"),
    (3_600.0, "1 h"),
    (43_200.0, "12 h"),
    (604_800.0, "1 week"),
)


@dataclass(frozen=True, slots=True)
class RewardCurve:
    """The best that a method had after so many seconds: (seconds, reward rate) in the order of time.

    At least one point; times below a millisecond are drawn as one, for the axis is logarithmic.
    """

    name: str
    points: tuple[tuple[float, float], ...]


def reward_over_time_figure(
    curves: Sequence[RewardCurve], *, bound: float | None = None, unit: str = "reward/second"
) -> Figure:
    """Draw what methods earn after so many seconds, on a logarithmic axis of time."""
    with drawing_style():
        figure = blank_figure(3.4)
        axes = figure.subplots()
        lines = [[(max(at, LEAST_SECONDS), reward) for at, reward in curve.points] for curve in curves]
        for place, (curve, points) in enumerate(zip(curves, lines, strict=True)):
            _draw_curve(axes, lettered(curve.name), points, CURVES[place % len(CURVES)])
        if bound is not None:
            draw_bound(axes, Estimate(bound), "bound")
        axes.set_xscale("log")
        _name_times(axes, [at for points in lines for at, _ in points])
        axes.set_ylim(bottom=0.0)
        axes.set_xlabel("run time of the method")
        axes.set_ylabel(f"co-located reward rate, {lettered(unit)}")
        write_numbers(axes.yaxis)
        draw_grid(axes, "y")
        figure.legend(loc="outside upper left", ncols=5)
        return figure


def _draw_curve(axes: Axes, label: str, points: Sequence[tuple[float, float]], style: tuple[str, str, str]) -> None:
    """Draw a point, or steps: what a method has found lasts until it finds something better."""
    colour, marker, line = style
    seconds, rewards = zip(*points, strict=True)
    once = len(points) == 1
    axes.plot(
        seconds,
        rewards,
        color=colour,
        marker=marker,
        linestyle="none" if once else line,
        drawstyle="steps-post",
        markersize=5 if once else 3,
        label=label,
    )


def _name_times(axes: Axes, seconds: Sequence[float]) -> None:
    """Label the times that have a name, and let the axis go from one such time to another."""
    starts = [at for at, _ in TIMES if at <= min(seconds)]
    ends = [at for at, _ in TIMES if at >= max(seconds)]
    low, high = starts[-1] if starts else min(seconds), ends[0] if ends else max(seconds)
    if math.isclose(low, high):
        low, high = low / 10, high * 10
    shown = [(at, name) for at, name in TIMES if low <= at <= high]
    axes.set_xticks([at for at, _ in shown], [name for _, name in shown])
    axes.set_xticks([], minor=True)
    axes.set_xlim(low * 0.8, high * 1.25)
