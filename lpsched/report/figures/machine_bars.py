"""Machines as bars: what each runs, one by one or as steps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from lpsched.bag.result import FrontResult
from lpsched.io.pictures import drawing_style
from lpsched.report.figures import style
from lpsched.report.figures.fronts import draw_front

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lpsched.bag.compare.result import FrontComparison, MachineLoad, MachinePoint
    from lpsched.report.figures.fronts import Frame


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

    def bars(self) -> tuple[list[float], list[float], float]:
        """Return where the bar of each machine begins, its number, and how broad all bars are."""
        each = self.room / self.machines
        numbers = [number for count, number in self.amounts for _ in range(count)]
        starts = [self.start + each * (place + (1 - BAR) / 2) for place in range(len(numbers))]
        return starts, numbers, each * BAR

    def steps(self) -> tuple[list[float], list[float]]:
        """Return the edges of the steps, and the number of each."""
        each = self.room / self.machines
        edges, numbers = [self.start], []
        for count, number in self._thinned():
            edges.append(edges[-1] + each * count)
            numbers.append(number)
        return edges, numbers

    def _thinned(self) -> list[tuple[float, float]]:
        """Return not too many steps: how many machines each stands for, and their number."""
        if len(self.amounts) <= MOST_STEPS:
            return [(float(count), number) for count, number in self.amounts]
        step, seen = self.machines / MOST_STEPS, 0
        kept: list[tuple[float, float]] = []
        for count, number in self.amounts:
            seen += count
            while len(kept) < MOST_STEPS and len(kept) * step < seen:
                kept.append((step, number))
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
MOST_NAMES: Final = 12  # of machine types below the picture
SLOT: Final = 0.86  # of the room of a machine type that its machines take
FRONT_INCHES: Final = 2.6
ROW_INCHES: Final = 1.05
NAMES_INCHES: Final = 0.9


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


def machine_picture(
    result: FrontResult | FrontComparison, points: Sequence[MachinePoint], *, falling: bool = False
) -> Figure:
    """Draw the loads of all machines at points of a front, by machine type or all in falling order."""
    with drawing_style():
        figure = style.blank_picture(FRONT_INCHES + ROW_INCHES * len(points) + NAMES_INCHES)
        heights = [FRONT_INCHES / ROW_INCHES, *(1.0 for _ in points)]
        grid = figure.add_gridspec(len(points) + 1, 2, height_ratios=heights)
        top = figure.add_subplot(grid[0, :])
        _letter(top, draw_front(top, _evolved_only(result)), points)
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


def _evolved_only(result: FrontResult | FrontComparison) -> FrontResult | FrontComparison:
    """Leave out what is a point or two, and may be far away."""
    if isinstance(result, FrontResult):
        return result
    return replace(result, entries=tuple(each for each in result.entries if each.generations is not None))


def _kinds(points: Sequence[MachinePoint]) -> tuple[_Kind, _Kind]:
    """Return completion time and energy, in units that fit."""
    one = style.Unit("", 1.0)
    seconds = _Kind("completion time of each machine", style.BLUE, one, lambda load: load.completion_seconds)
    joules = _Kind("energy of each machine", style.ORANGE, one, lambda load: load.energy_joules or 0.0)
    return (
        replace(seconds, unit=style.fitting(style.SECONDS, seconds.highest(points))),
        replace(joules, unit=style.fitting(style.JOULES, joules.highest(points))),
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
        row = MachineRow(kind.amounts(loads), place + (1 - SLOT) / 2, SLOT)
        _draw_row(axes, row, kind.colour, bars=bars)
    axes.set_xlim(0.0, len(of_type))
    _name_types(axes, list(of_type) if named else [])


def _name_types(axes: Axes, names: Sequence[str]) -> None:
    """Write machine types below their places, aslant, as many as there is room for."""
    shown = range(0, len(names), -(-len(names) // MOST_NAMES) or 1)
    axes.set_xticks([place + 0.5 for place in shown], [style.lettered(names[place]) for place in shown])
    axes.tick_params(axis="x", length=0)
    for label in axes.get_xticklabels():
        label.set(rotation=40, rotation_mode="anchor", horizontalalignment="right")


def _draw_falling(axes: Axes, point: MachinePoint, kind: _Kind, *, named: bool) -> None:
    """Draw all machines together, those with most to the left."""
    amounts = sorted(kind.amounts(point.loads), key=lambda each: -each[1])
    machines = sum(count for count, _ in amounts)
    row = MachineRow(amounts, 0.0, float(machines))
    _draw_row(axes, row, kind.colour, bars=machines <= MOST_BARS)
    axes.set_xlim(0.0, machines)
    if named:
        axes.set_xlabel("machines, in falling order")
    else:
        axes.set_xticks([])


def _draw_row(axes: Axes, row: MachineRow, colour: str, *, bars: bool) -> None:
    """Draw a bar for each machine, or steps."""
    if bars:
        lefts, heights, width = row.bars()
        axes.bar(lefts, heights, width, align="edge", color=colour, linewidth=0)
    else:
        edges, heights = row.steps()
        axes.stairs(heights, edges, fill=True, color=colour, linewidth=0)


def _letter(axes: Axes, frame: Frame, points: Sequence[MachinePoint]) -> None:
    """Mark the points on the front with their letters."""
    for each, spot in zip(points, frame.spots([each.point for each in points]), strict=True):
        axes.plot(*spot, marker="s", markersize=7, markerfacecolor="none", markeredgecolor=style.INK, zorder=5)
        paper = {"facecolor": "white", "edgecolor": "none", "boxstyle": "round,pad=0.1", "alpha": 0.8}
        axes.annotate(
            each.letter, spot, (7, 5), textcoords="offset points", fontweight="bold", fontsize=9, bbox=paper, zorder=6
        )
