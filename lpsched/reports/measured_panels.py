"""Panels of measured applications: one quantity of one application, along clocks or as bars."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from lpsched.display import number
from lpsched.reports.front_marks import JOULES, Unit, fitting, legend_above
from lpsched.reports.measured_series import Point, Quantity, Series, labels_of
from lpsched.reports.pictures import (
    BLUE,
    CURVE_LINE,
    GREEN,
    INK,
    SMALL_LETTERS,
    VERMILION,
    blank_picture,
    draw_grid,
    lettered,
    write_numbers,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lpsched.instance.measurements import MeasuredApplication, Measurements

LEVELS: Final = (VERMILION, GREEN, BLUE)  # one, two, more at once
MARKS: Final = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">", "p", "h")
DASHES: Final = ("-", "--", "-.", ":")
ROW_INCHES: Final = 1.7
LEGEND_INCHES: Final = 0.6
BAR_INCHES: Final = 0.17
AROUND_INCHES: Final = 0.6  # of a row of bars: its name and numbers
FEW_CLOCKS: Final = 5  # then each has a tick
FAR: Final = 30.0  # times the least; then an axis is logarithmic
LONGEST: Final = 40  # letters of an application or its companions
APART: Final = 0.35  # of the distance between clocks, for the marks of one
UNITS: Final = {"intensity": (Unit("misses per instruction", 1.0),), "seconds": (Unit("seconds", 1.0),)}


@dataclass(frozen=True, slots=True)
class Panel:
    """One quantity of one application."""

    title: str
    quantity: Quantity
    unit: Unit
    series: tuple[Series, ...]

    def points(self, measurements: Measurements) -> list[tuple[Series, float | None, Point]]:
        """Return the points there are, series by series, the slowest clock first."""
        clocks: list[float | None] = [*sorted(measurements.frequencies_mhz)] or [None]
        found = [(series, mhz, series.at(mhz, self.quantity)) for series in self.series for mhz in clocks]
        return [(series, mhz, point) for series, mhz, point in found if point is not None]

    def across(self, measurements: Measurements, series: Series, mhz: float | None) -> float:
        """Return where a point stands along the clocks, in GHz: about its clock, beside the other series."""
        clocks = sorted(measurements.frequencies_mhz)
        closest = min(after - before for before, after in pairwise(clocks))
        place = self.series.index(series) - (len(self.series) - 1) / 2
        return ((mhz or 0.0) + APART * closest * place / len(self.series)) / 1000.0


def panels_of(
    application: MeasuredApplication, series: tuple[Series, ...], quantities: Sequence[Quantity]
) -> tuple[Panel, ...]:
    """Return a row of panels, one for each quantity, in units that fit its numbers."""
    joules = [each.joules.mean for several in series for each in several.measured if each.joules is not None]
    energy = fitting(JOULES, max(joules, default=0.0))
    units = UNITS | {"joules": (Unit(f"energy of all, {energy.name}", energy.size),)}
    return tuple(Panel(titled(application), each, units[each][0], series) for each in quantities)


def titled(application: MeasuredApplication, longest: int = LONGEST) -> str:
    """Return an application as a picture names it, with its memory class.

    >>> from lpsched.instance.measurements import MeasuredApplication
    >>> titled(MeasuredApplication("canneal", ("run",), memory_class="III"))
    'canneal (III)'
    """
    memory_class = f" ({application.memory_class})" if application.memory_class else ""
    return f"{lettered(application.name, longest)}{lettered(memory_class)}"


def lines_picture(measurements: Measurements, rows: Sequence[Sequence[Panel]]) -> Figure:
    """Draw along the clocks."""
    figure = blank_picture(LEGEND_INCHES + ROW_INCHES * len(rows))
    grid = figure.subplots(len(rows), len(rows[0]), squeeze=False)
    marks = {label: place for place, label in enumerate(dict.fromkeys(labels_of(measurements).values()))}
    for row, panels in enumerate(rows):
        for axes, panel in zip(grid[row], panels, strict=True):
            _draw_lines(axes, measurements, panel, marks)
            axes.set_xlabel("clock, GHz" if row == len(rows) - 1 else "")
        grid[row, 0].set_title(panels[0].title)
    legend_above(figure, *grid.flat)
    return figure


def _draw_lines(axes: Axes, measurements: Measurements, panel: Panel, marks: dict[str, int]) -> None:
    points = panel.points(measurements)
    for series in panel.series:
        own = [
            (panel.across(measurements, series, mhz), point) for each, mhz, point in points if each is series
        ]
        means = [point.mean / panel.unit.size for _, point in own]
        below = [(point.mean - point.low) / panel.unit.size for _, point in own]
        above = [(point.high - point.mean) / panel.unit.size for _, point in own]
        place = marks[series.label]
        axes.errorbar(
            [x for x, _ in own],
            means,
            yerr=(below, above),
            color=LEVELS[min(series.together, len(LEVELS)) - 1],
            marker=MARKS[place % len(MARKS)],
            linestyle=DASHES[place % len(DASHES)],
            linewidth=CURVE_LINE / 1.4,
            markersize=4,
            capsize=2,
            elinewidth=0.8,
            label=lettered(series.label, LONGEST),
        )
    clocks = [mhz / 1000.0 for mhz in measurements.frequencies_mhz]
    if len(clocks) <= FEW_CLOCKS:
        axes.set_xticks(clocks, [number(each, 3) for each in clocks])
    every = [point.low for _, _, point in points]
    if every and min(every) > 0 and max(every) > FAR * min(every):
        axes.set_yscale("log")
    else:
        write_numbers(axes.yaxis)
    axes.set_ylabel(panel.unit.name)
    draw_grid(axes, "y")


def bars_picture(measurements: Measurements, rows: Sequence[Sequence[Panel]]) -> Figure:
    """Draw a bar for each kind of companions."""
    heights = [AROUND_INCHES + BAR_INCHES * len(panels[0].series) for panels in rows]
    figure = blank_picture(sum(heights))
    grid = figure.subplots(len(rows), len(rows[0]), squeeze=False, height_ratios=heights)
    for row, panels in enumerate(rows):
        for column, (axes, panel) in enumerate(zip(grid[row], panels, strict=True)):
            _draw_bars(axes, measurements, panel)
            names = [lettered(series.label, LONGEST) for series in panel.series]
            axes.set_yticks(range(len(names)), names if column == 0 else [""] * len(names))
        grid[row, 0].set_title(panels[0].title)
    return figure


def _draw_bars(axes: Axes, measurements: Measurements, panel: Panel) -> None:
    places = {series.label: place for place, series in enumerate(panel.series)}
    size = panel.unit.size
    for series, _, point in panel.points(measurements):
        level = min(series.together, len(LEVELS)) - 1
        axes.barh(
            places[series.label],
            point.mean / size,
            height=0.7,
            color=LEVELS[level],
        )
        whisker = ([(point.mean - point.low) / size], [(point.high - point.mean) / size])
        axes.errorbar(
            point.mean / size, places[series.label], xerr=whisker, color=INK, capsize=2, elinewidth=0.8
        )
    axes.set_ylim(len(places) - 0.4, -0.6)
    axes.set_xlim(left=0.0)
    axes.tick_params(axis="y", length=0, labelsize=SMALL_LETTERS)
    axes.set_xlabel(panel.unit.name)
    write_numbers(axes.xaxis)
    draw_grid(axes, "x")
