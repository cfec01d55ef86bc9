"""The exact front of energy and makespan as a line, what methods found above it as marks, and machines along it.

Below the line is shaded: a half-plane for each of its edges proves that no schedule is there. The height of
a mark above the line is its distance; our own schedules are dots near the vertices of the line. Nothing is
solved here: the numbers are given.

Source: Friese, thesis of 2015, figures 6.2 and 6.3, without the exact front.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Final, Literal

from lpsched.bag.compare.result import OURS as OUR_NAME
from lpsched.bag.compare.result import FrontComparison, MachineLoad, MachinePoint
from lpsched.model.results import along
from lpsched.report.figures import style
from lpsched.report.figures.style import Tooltip
from lpsched.units import duration, energy_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lpsched.bag.result import FrontResult, Point
    from lpsched.bag.schedule import Schedule
    from lpsched.evolve.fronts import FrontEntry


WORDS: Final = 0.12  # of the height, for the words below the front
Dots = list[tuple[float, float]]


class Frame:
    """The units of a figure of a front, and where its axes end, with room for some more points."""

    def __init__(self, result: FrontResult | FrontComparison, also: Sequence[Point] = ()) -> None:
        exact = exact_of(result)
        points = [*exact.vertices, *(point for point in exact.measured if point is not None), *also]
        if isinstance(result, FrontComparison):
            points += [point for entry in result.entries for point in entry.points]
        self.joules = style.fitting(style.ENERGIES, max(point.energy_joules for point in points))
        self.seconds = style.fitting(style.SECONDS, max(point.makespan_seconds for point in points))
        self.all = self.dots(points)

    def dots(self, points: Sequence[Point]) -> Dots:
        """Return points in the figure's units."""
        return [(each.energy_joules / self.joules.size, each.makespan_seconds / self.seconds.size) for each in points]

    def set(self, axes: Axes) -> None:
        """Name the axes and let them end a little beyond all points."""
        joules, seconds = zip(*self.all, strict=True)
        low, high = style.room_about(joules)
        axes.set_xlim(max(low, 0.0), high)
        if max(seconds) > style.FAR * min(seconds):
            axes.set_yscale("log")
            low, high = math.log(min(seconds)), math.log(max(seconds))
            axes.set_ylim(math.exp(low - WORDS * (high - low)), math.exp(high + style.ROOM * (high - low)))
        else:
            axes.set_ylim(max(style.room_about(seconds, WORDS)[0], 0.0), style.room_about(seconds)[1])
            style.write_numbers(axes.yaxis)
        style.write_numbers(axes.xaxis)
        axes.set(xlabel=f"energy, {self.joules.name}", ylabel=f"makespan, {self.seconds.name}")


def front_figure(
    result: FrontResult | FrontComparison, *, chosen: Point | None = None, also: Sequence[Point] = ()
) -> Figure:
    """Draw the exact front, our schedules, and what other methods found.

    The schedule `chosen` is marked as the answer; for the points `also`, which are not drawn, there is room.
    """
    with style.one_panel(4.2) as (figure, axes):
        frame = draw_front(axes, result, [*also, *([] if chosen is None else [chosen])])
        if chosen is not None:
            look: style.Look = {"ms": 13, "mec": style.INK, "mew": 0.7, "zorder": 6, "label": "the answer"}
            style.draw_dots(axes, frame.dots([chosen]), "*", style.VERMILION, **look)
        style.legend_above(figure, axes)
        return figure


def front_tooltips(result: FrontResult | FrontComparison, also: Sequence[Point] = ()) -> tuple[Tooltip, ...]:
    """Return the text at the vertices of the front, at our schedules and at the points of other methods."""
    exact, frame = exact_of(result), Frame(result, also)
    named = [("vertex of the linear program", exact.vertices)]
    named.append(("our schedule", tuple(point for point in exact.measured if point is not None)))
    named += [(entry.name, entry.points) for entry in _others(result)]
    tooltips = []
    for name, points in named:
        upper = False if points is exact.vertices else None  # what bounds schedules from below is rounded down
        for point in (points[place] for place in along(len(points), max(2, style.MOST_TOOLTIPS // len(named)))):
            words = f"{energy_text(point.energy_joules, upper=upper)}, {duration(point.makespan_seconds, upper=upper)}"
            tooltips.append(Tooltip(*frame.dots([point])[0], f"{name}: {words}"))
    return tuple(tooltips)


def exact_of(result: FrontResult | FrontComparison) -> FrontResult:
    """Return the exact front, alone or with what is compared with it."""
    return result.front if isinstance(result, FrontComparison) else result


def _others(result: FrontResult | FrontComparison) -> list[FrontEntry[Point, Schedule]]:
    """Return the methods beside ours that found something."""
    entries = result.entries if isinstance(result, FrontComparison) else ()
    return [each for each in entries if each.name != OUR_NAME and each.points]


def draw_front(axes: Axes, result: FrontResult | FrontComparison, also: Sequence[Point] = ()) -> Frame:
    """Draw a front into some axes, with room for some more points, and return its frame."""
    exact, frame = exact_of(result), Frame(result, also)
    frame.set(axes)
    _draw_exact(axes, frame.dots(exact.vertices))
    measured = frame.dots([point for point in exact.measured if point is not None])
    look = {"ms": 3.5, "mfc": "white", "mec": style.OURS, "zorder": 4, "label": "our schedules"}
    style.draw_dots(axes, measured, "o", None, **look)
    for place, entry in enumerate(_others(result)):
        style.draw_marks(axes, entry.name, frame.dots(entry.points), place)
    return frame


def _draw_exact(axes: Axes, vertices: Dots) -> None:
    """Draw the chain, its ends straight up and to the right, and shade what is below and left of it."""
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    xs = [vertices[0][0], *(x for x, _ in vertices), right]
    ys = [top, *(y for _, y in vertices), vertices[-1][1]]
    axes.fill_between([left, *xs], [top, *ys], bottom, color=style.FORBIDDEN, linewidth=0, zorder=0)
    axes.plot(xs, ys, color=style.OURS, linewidth=style.CURVE_LINE, zorder=2, label="exact front, proved")
    style.draw_dots(axes, vertices, ".", style.OURS, zorder=2)
    axes.annotate("no schedule is here", (0.015, 0.02), xycoords="axes fraction", **style.ASIDE)


# Machines in a row, each with a number: bars where they are few, steps where they are many.
#
# 10^12 machines are as many steps as there are different numbers; of very many, what the machines at even
# distances have.
MOST_BARS: Final = 120  # machines that are drawn one by one
MOST_STEPS: Final = 200  # of one machine type, or of all machines together
BAR: Final = 0.8  # of the room of a machine


@dataclass(frozen=True, slots=True)
class MachineRow:
    """Machines side by side: how many have which number each, and the room that they share."""

    amounts: Sequence[tuple[int, float]]
    start: float
    room: float

    @property
    def machines(self) -> int:
        """How many there are."""
        return sum(count for count, _ in self.amounts)

    def draw(self, axes: Axes, colour: str, *, bars: bool, across: bool = False, label: str | None = None) -> None:
        """Draw a bar for each machine, or steps; upwards, or across from the left."""
        each, look = self.room / self.machines, style.Look(color=colour, linewidth=0, label=label)
        if bars:
            numbers = [number for count, number in self.amounts for _ in range(count)]
            starts = [self.start + each * (place + (1 - BAR) / 2) for place in range(len(numbers))]
            (axes.barh if across else axes.bar)(starts, numbers, each * BAR, align="edge", **look)
        else:
            thinned = self._thinned()
            edges = list(accumulate((each * count for count, _ in thinned), initial=self.start))
            way: Literal["horizontal", "vertical"] = "horizontal" if across else "vertical"
            axes.stairs([amount for _, amount in thinned], edges, orientation=way, fill=True, **look)

    def _thinned(self) -> list[tuple[float, float]]:
        """Return not too many steps: how many machines each stands for, and their number."""
        if len(self.amounts) <= MOST_STEPS:
            return [(float(count), number) for count, number in self.amounts]
        step, seen = self.machines / MOST_STEPS, 0
        kept: list[tuple[float, float]] = []
        for count, amount in self.amounts:
            seen += count
            while len(kept) < MOST_STEPS and len(kept) * step < seen:
                kept.append((step, amount))
        return kept


# When each machine is done and what it takes, for some points along a front.
#
# A few machines are bars; many are steps, so that 10^12 of them are as many steps as there are different
# loads. By machine type each type is as broad as any other, with its machines from left to right by falling
# completion time; in falling order all machines stand together, whatever their type. The points are lettered
# from A, the least energy, and the front is above them with the letters at its points. All panels of one kind
# have one scale, so that heights can be compared.
#
# Source: Friese, thesis of 2015, figures 6.6 to 6.8 (by machine type), 6.4 and 6.5 (falling).
MOST_NAMES: Final = 12  # of machine types below the figure
SLOT: Final = 0.86  # of the room of a machine type that its machines take
FRONT_INCHES, ROW_INCHES, NAMES_INCHES = 2.6, 1.05, 0.9


@dataclass(frozen=True, slots=True)
class _Kind:
    """One of the two numbers of a machine: its name, colour, unit and size of the unit."""

    name: str
    colour: str
    unit: style.Unit
    number_of: Callable[[MachineLoad], float]

    def highest(self, points: Sequence[MachinePoint]) -> float:
        """Return the largest number of all."""
        return max(self.number_of(load) for point in points for load in point.loads) / self.unit.size

    def amounts(self, loads: Iterable[MachineLoad]) -> list[tuple[int, float]]:
        """Return how many machines have which number each."""
        return [(load.machines, self.number_of(load) / self.unit.size) for load in loads]


def machine_figure(
    result: FrontResult | FrontComparison, points: Sequence[MachinePoint], *, falling: bool = False
) -> Figure:
    """Draw the loads of all machines at points of a front, by machine type or all in falling order."""
    with style.begun(FRONT_INCHES + ROW_INCHES * len(points) + NAMES_INCHES) as figure:
        heights = [FRONT_INCHES / ROW_INCHES, *(1.0 for _ in points)]
        grid = figure.add_gridspec(len(points) + 1, 2, height_ratios=heights)
        top = figure.add_subplot(grid[0, :])
        shown: FrontResult | FrontComparison = result
        if isinstance(result, FrontComparison):  # without what is a point or two, and may be far away
            shown = replace(result, entries=tuple(each for each in result.entries if each.generations is not None))
        _letter(top, draw_front(top, shown), points)
        style.legend_above(figure, top)
        for column, kind in enumerate(_kinds(points)):
            below = [figure.add_subplot(grid[row + 1, column]) for row in range(len(points))]
            below[0].set_title(f"{kind.name}, {kind.unit.name}")
            for axes, point in zip(below, points, strict=True):
                (_draw_falling if falling else _draw_types)(axes, point, kind, named=axes is below[-1])
                axes.set_ylim(0.0, 1.08 * kind.highest(points) or 1.0)
                axes.locator_params(axis="y", nbins=3)
                if column == 0:
                    axes.set_ylabel(point.letter, rotation=0, fontweight="bold", fontsize=10, labelpad=10)
        return figure


def _kinds(points: Sequence[MachinePoint]) -> tuple[_Kind, _Kind]:
    """Return completion time and energy, in units that fit."""
    loads = [load for point in points for load in point.loads]
    seconds = style.fitting(style.SECONDS, max(load.completion_seconds for load in loads))
    joules = style.fitting(style.ENERGIES, max(load.energy_joules or 0.0 for load in loads))
    return (
        _Kind("completion time of each machine", style.BLUE, seconds, lambda load: load.completion_seconds),
        _Kind("energy of each machine", style.ORANGE, joules, lambda load: load.energy_joules or 0.0),
    )


def _draw_types(axes: Axes, point: MachinePoint, kind: _Kind, *, named: bool) -> None:
    """Draw the machines of each type in a place of its own."""
    of_type: dict[str, list[MachineLoad]] = {}
    for load in point.loads:
        of_type.setdefault(load.machine_type, []).append(load)
    bars = sum(load.machines for load in point.loads) <= MOST_BARS
    for place, loads in enumerate(of_type.values()):
        if place % 2:
            axes.axvspan(place, place + 1, color=style.STRIPE, linewidth=0, zorder=0)
        MachineRow(kind.amounts(loads), place + (1 - SLOT) / 2, SLOT).draw(axes, kind.colour, bars=bars)
    axes.set_xlim(0.0, len(of_type))
    texts = style.shortened(list(of_type)) if named else []
    shown = range(0, len(texts), -(-len(texts) // MOST_NAMES) or 1)  # as many names as there is room for
    axes.set_xticks([place + 0.5 for place in shown], [texts[place] for place in shown])
    axes.tick_params(axis="x", length=0)
    style.slant(axes, "right")


def _draw_falling(axes: Axes, point: MachinePoint, kind: _Kind, *, named: bool) -> None:
    """Draw all machines together, those with most to the left."""
    amounts = sorted(kind.amounts(point.loads), key=lambda each: -each[1])
    machines = sum(count for count, _ in amounts)
    MachineRow(amounts, 0.0, float(machines)).draw(axes, kind.colour, bars=machines <= MOST_BARS)
    axes.set_xlim(0.0, machines)
    if named:
        axes.set_xlabel("machines, in falling order")
    else:
        axes.set_xticks([])


def _letter(axes: Axes, frame: Frame, points: Sequence[MachinePoint]) -> None:
    """Mark the points on the front with their letters."""
    for each, dot in zip(points, frame.dots([each.point for each in points]), strict=True):
        axes.plot(*dot, marker="s", markersize=7, markerfacecolor="none", markeredgecolor=style.INK, zorder=5)
        look: style.Look = {"fontweight": "bold", "fontsize": 9, "bbox": style.paper(0.1, alpha=0.8), "zorder": 6}
        axes.annotate(each.letter, dot, (7, 5), textcoords="offset points", **look)
