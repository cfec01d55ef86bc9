"""What is best at one profit ratio after another, in the plane of energy and makespan.

The exact front is a line. At each ratio a square is where tasks that could be split would be best, which is
what the bound says, and a diamond is the schedule; the ratio stands beside the square. The bar over the
schedule is as long as its profit, the one below it as its loss; a short word tells how long the longest is.
Where a power cap is given, what keeps it lies above a dashed line, and what breaks it is shaded.

Nothing is solved here: the numbers are given.

Source: Tarplee, Maciejewski and Siegel, 2014, figures 1 and 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lpsched.io.figure_files import drawing_style
from lpsched.report.figures.style import (
    BLUE,
    CURVE_LINE,
    FORBIDDEN,
    GREEN,
    GREY,
    INK,
    JOULES,
    LIMIT_LINE,
    RED,
    SECONDS,
    SMALL_LETTERS,
    VERMILION,
    blank_figure,
    fitting,
    legend_above,
    lettered,
    room_about,
    write_numbers,
)
from lpsched.units import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lpsched.bag.result import Point

INCHES: Final = 4.6
LONGEST_BAR: Final = 0.34  # of the height of all points
BAR: Final = 5.0  # points
ROOM: Final = 0.1  # of the height, below all points
NEAR: Final = 0.05  # of the width and the height: labels that would cover each other
BEYOND: Final = 0.5  # of the width of all points: how much of the front's end is shown


@dataclass(frozen=True, slots=True)
class SweepPoint:
    """What is best at one ratio: split tasks, a schedule (`None`: not run), and what that earns an hour."""

    ratio: float
    split: Point | None
    schedule: Point | None
    profit: float


@dataclass(frozen=True, slots=True)
class Sweep:
    """All that a figure shows; `border` is that of the feasible region, where it is more than the front."""

    front: tuple[Point, ...]
    points: tuple[SweepPoint, ...]
    unit: str
    border: tuple[Point, ...] = ()
    cap_watts: float | None = None


def profit_sweep_figure(sweep: Sweep) -> Figure:
    """Draw the front, and what is best at each ratio.

    Raises
    ------
    MissingExtraError
        If Matplotlib is not installed.
    """
    with drawing_style():
        figure = blank_figure(INCHES)
        axes = figure.subplots()
        frame = _Frame(sweep)
        frame.set(axes)
        if sweep.cap_watts is not None:
            _draw_cap(axes, frame, sweep.cap_watts)
        if sweep.border:
            xs, ys = frame.columns(sweep.border)
            axes.plot(xs, ys, color=GREY, linewidth=LIMIT_LINE, linestyle=":", label="border of what is feasible")
        xs, ys = frame.columns(sweep.front)
        axes.plot(xs, ys, color=BLUE, linewidth=CURVE_LINE, label="exact front")
        _draw_bars(axes, frame, sweep)
        _draw_points(axes, frame, sweep.points)
        legend_above(figure, axes)
        return figure


class _Frame:
    """The units of a figure, and where its axes end."""

    def __init__(self, sweep: Sweep) -> None:
        ran = [each for point in sweep.points for each in (point.split, point.schedule) if each is not None]
        least, most = (choose(each.energy_joules for each in ran or sweep.front) for choose in (min, max))
        last = most + BEYOND * (most - least)
        shown = [*ran, *(point for point in sweep.front if point.energy_joules <= last or not ran)]
        self.joules = fitting(JOULES, max(point.energy_joules for point in shown))
        self.seconds = fitting(SECONDS, max(point.makespan_seconds for point in shown))
        self.xs, self.ys = self.columns(shown)
        self.height = max(self.ys) - min(self.ys) or max(self.ys)
        self.longest = max((abs(point.profit) for point in sweep.points if point.schedule is not None), default=0.0)
        self.ends = [end for point in sweep.points if (end := self.bar_end(point)) is not None]

    def bar_end(self, point: SweepPoint) -> float | None:
        """Return where the bar of a schedule ends."""
        if point.schedule is None:
            return None
        share = point.profit / self.longest if self.longest else 0.0
        return point.schedule.makespan_seconds / self.seconds.size + LONGEST_BAR * self.height * share

    def columns(self, points: Sequence[Point]) -> tuple[list[float], list[float]]:
        """Return points in the figure's units."""
        return (
            [point.energy_joules / self.joules.size for point in points],
            [point.makespan_seconds / self.seconds.size for point in points],
        )

    def set(self, axes: Axes) -> None:
        """Name the axes and let them end beyond all points and bars."""
        left, right = room_about(self.xs)
        axes.set_xlim(left - ROOM * (right - left), right)  # the first label is left of its square
        low, high = min(self.ys + self.ends), max(self.ys + self.ends)
        axes.set_ylim(max(0.0, low - ROOM * self.height), high + 0.5 * ROOM * self.height)
        axes.set_xlabel(f"energy, {self.joules.name}")
        axes.set_ylabel(f"makespan, {self.seconds.name}")
        write_numbers(axes.xaxis)
        write_numbers(axes.yaxis)


def _draw_cap(axes: Axes, frame: _Frame, watts: float) -> None:
    """Draw the line of the cap, and shade what breaks it: more joules in as many seconds."""
    left, right = axes.get_xlim()
    bottom, _ = axes.get_ylim()
    seconds = [joules * frame.joules.size / watts / frame.seconds.size for joules in (left, right)]
    axes.fill_between([left, right], seconds, bottom, color=FORBIDDEN, linewidth=0, zorder=0)
    name = f"{number(watts / 1e3)} kW on average; shaded: more"
    axes.plot([left, right], seconds, color=RED, linewidth=LIMIT_LINE, linestyle="--", label=name)


def _draw_bars(axes: Axes, frame: _Frame, sweep: Sweep) -> None:
    """Draw what each schedule earns above it, or loses below it."""
    named: set[str] = set()
    notes = _bar_notes(frame, sweep)
    for point in sweep.points:
        end = frame.bar_end(point)
        if point.schedule is None or end is None:
            continue
        (x,), (y,) = frame.columns([point.schedule])
        earns = point.profit >= 0
        name = "profit" if earns else "loss"
        axes.plot(
            [x, x],
            [y, end],
            color=GREEN if earns else VERMILION,
            linewidth=BAR,
            solid_capstyle="butt",
            alpha=0.75,
            zorder=2,
            label="" if name in named else notes[name],
        )
        named.add(name)


def _bar_notes(frame: _Frame, sweep: Sweep) -> dict[str, str]:
    """Return what the legend says of bars: how long the longest is, where it belongs."""
    ran = [point.profit for point in sweep.points if point.schedule is not None]
    earns = max(ran, default=0.0) == frame.longest
    told = f" (longest bar: {_money(frame.longest, sweep.unit)})"
    return {"profit": f"profit{told if earns else ''}", "loss": f"loss{'' if earns else told}"}


def _draw_points(axes: Axes, frame: _Frame, points: Sequence[SweepPoint]) -> None:
    """Draw squares and diamonds, and the ratio beside each square."""
    for kind, marker, size, face in (("split", "s", 7.0, "white"), ("schedule", "D", 3.2, INK)):
        found = [each for point in points if (each := getattr(point, kind)) is not None]
        xs, ys = frame.columns(found)
        name = "bound: best if tasks were split" if kind == "split" else "schedule"
        (marks,) = axes.plot(xs, ys, linestyle="none", marker=marker, markersize=size, zorder=4, label=name)
        marks.set(markeredgecolor=INK, markerfacecolor=face, markeredgewidth=0.9)
    for words, at in _labels(points, frame):
        axes.annotate(
            words,
            at,
            xytext=(-6, -5),
            textcoords="offset points",
            ha="right",
            va="top",
            fontsize=SMALL_LETTERS,
            bbox={"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.7},
        )


def _labels(points: Sequence[SweepPoint], frame: _Frame) -> list[tuple[str, tuple[float, float]]]:
    """Return the ratio of each square; squares that would cover each other have one label."""
    width = max(frame.xs) - min(frame.xs) or 1.0
    found: list[tuple[list[float], tuple[float, float]]] = []
    for point in points:
        if point.split is None:
            continue
        (x,), (y,) = frame.columns([point.split])
        if found:
            across, up = abs(x - found[-1][1][0]) / width, abs(y - found[-1][1][1]) / frame.height
            if across < NEAR and up < NEAR:
                found[-1][0].append(point.ratio)
                continue
        found.append(([point.ratio], (x, y)))
    return [(", ".join(number(ratio) for ratio in ratios), at) for ratios, at in found]


def _money(amount: float, unit: str) -> str:
    return f"{number(amount, 3)} {lettered(unit)}"
