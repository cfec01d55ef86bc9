"""Figures of measurements: series, panels, and all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from lpsched.io.figure_files import drawing_style
from lpsched.measure.evidence import PROBES
from lpsched.measure.measurements import MeasuredApplication, Measurements, class_rank
from lpsched.report.figures import style
from lpsched.report.figures.style import Tooltip
from lpsched.report.measured_tables import at_clock, in_words, with_half
from lpsched.units import SECONDS_PER_HOUR, counted, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lpsched.measure.evidence import Measured, Spread


# What stands side by side in a figure of an application: runs alone, and beside co-running applications of each kind.
#
# Co-runners are distinguished by their memory classes, as in "beside 2 x I, III", so that what an application
# suffers from shows; where not all have a class, by their names, and where that makes too many kinds, by how
# many there are. The whisker of a point is its confidence interval. One kind may join several settings: then
# the point is the mean of their means, and the whisker goes from the lowest end of their intervals to the
# highest.
Quantity = Literal["misses_per_instruction", "seconds", "joules"]
QUANTITIES: Final[dict[Quantity, tuple[str, str, float]]] = {  # on an axis, after a number, and how many it is of
    "misses_per_instruction": ("misses per instruction", "misses per instruction", 1.0),
    "seconds": ("seconds", "s", 1.0),
    "joules": ("energy of all, Wh", "Wh", SECONDS_PER_HOUR),
}
ALONE: Final = "alone"
MOST_SERIES: Final = 12  # of a figure; more cannot be distinguished


@dataclass(frozen=True, slots=True)
class Series:
    """Settings of one application, whose co-runners are of one kind."""

    label: str  # what runs beside it, in words
    together: int  # how many run at once: 1 is alone
    measured: tuple[Measured, ...]

    def at(self, mhz: float | None, quantity: Quantity) -> Point | None:
        """Return the point at a clock; `None` where nothing was measured."""
        known = [each for each in self.measured if each.setting.mhz == mhz and getattr(each, quantity) is not None]
        return _point(self.label, known, quantity) if known else None


@dataclass(frozen=True, slots=True)
class Point:
    """A mean with its whisker, in the unit of the axis, and what it says when it is pointed at."""

    mean: float
    low: float
    high: float
    words: str


def quantities_of(measurements: Measurements) -> tuple[Quantity, ...]:
    """Return what there is to draw: what some setting has a number of."""
    known = _together(measurements)
    return tuple(name for name in QUANTITIES if any(getattr(each, name) is not None for each in known))


def series_of(measurements: Measurements, application: str) -> tuple[Series, ...]:
    """Return an application alone, in pairs and in larger groups, in the order of `labels_of`."""
    labels = labels_of(measurements)
    found: dict[str, list[Measured]] = {label: [] for label in labels.values()}
    for each in _together(measurements):
        if each.setting.application == application:
            found[labels[each.setting.beside]].append(each)
    return tuple(
        Series(label, 1 + len(several[0].setting.beside), tuple(several)) for label, several in found.items() if several
    )


def labels_of(measurements: Measurements) -> dict[tuple[str, ...], str]:
    """Return in words what kind the co-runners are: none, one, more, and of equally many the calm ones first."""
    classes = {each.name: each.memory_class for each in measurements.applications}
    beside = {each.setting.beside for each in _together(measurements)}
    names = {name for several in beside for name in several} - set(PROBES)
    words = {name: f"the {name.replace('-', ' ')}" for name in PROBES}
    words |= {name: classes.get(name) or "" for name in names}
    if not all(words.values()):
        words |= {name: name for name in names}
    kinds = {several: sorted((words[name] for name in several), key=_rank) for several in beside}
    order = sorted(beside, key=lambda several: (len(several), *map(_rank, kinds[several])))
    labels = {several: _label(kinds[several]) for several in order}
    if len(set(labels.values())) <= MOST_SERIES:
        return labels
    named = {several for several in order if not several or set(several) & set(PROBES)}
    return {each: labels[each] if each in named else f"beside {counted(len(each), 'other')}" for each in order}


def _together(measurements: Measurements) -> list[Measured]:
    """Return the settings in which one application is measured, alone or beside others."""
    return [each for each in measurements.measured if not each.setting.batch]


def _rank(word: str) -> tuple[bool, int, str]:
    """Return where a word stands: classes from calm to intensive, then names."""
    return not class_rank(word), class_rank(word), word


def _label(kind: Iterable[str]) -> str:
    """Return what stands in the legend.

    >>> _label(()), _label(("I", "I", "III"))
    ('alone', 'beside 2 x I, III')
    """
    counts = Counter(kind)
    words = ", ".join(word if count == 1 else f"{count} x {word}" for word, count in counts.items())
    return f"beside {words}" if words else ALONE


def _point(label: str, found: Sequence[Measured], quantity: Quantity) -> Point:
    spreads: list[Spread] = [getattr(each, quantity) for each in found]
    (_, unit, size), setting, first = QUANTITIES[quantity], found[0].setting, spreads[0]
    mean = fmean(each.mean for each in spreads) / size
    low = min(each.mean if each.low is None else each.low for each in spreads) / size
    high = max(each.mean if each.high is None else each.high for each in spreads) / size
    if len(found) == 1:
        words = f"{in_words(setting)}\n{with_half(first, size=size)} {unit}, of {counted(first.count, 'run')}"
    else:
        what = f"{setting.application} {label}{at_clock(setting.mhz)}, {len(found):,} settings"
        words = f"{what}\n{number(mean)} {unit}, between {number(low)} and {number(high)}"
    return Point(mean, low, high, words)


# Panels of measured applications: one quantity of one application, along clocks or as bars.
LEVELS: Final = (style.VERMILION, style.GREEN, style.BLUE)  # one, two, more at once
MARKS: Final = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">", "p", "h")
ROW_INCHES, LEGEND_INCHES = 1.7, 0.6
BAR_INCHES, AROUND_INCHES = 0.17, 0.6  # the second of a row of bars: its name and numbers
FEW_CLOCKS: Final = 5  # then each has a tick
LONGEST: Final = 40  # letters of an application or its co-runners
APART: Final = 0.35  # of the distance between clocks, for the marks of one


@dataclass(frozen=True, slots=True)
class Panel:
    """One quantity of one application."""

    title: str
    quantity: Quantity
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


def titled(application: MeasuredApplication, longest: int = LONGEST) -> str:
    """Return an application as a figure names it, with its memory class.

    >>> from lpsched.measure.measurements import MeasuredApplication
    >>> titled(MeasuredApplication("canneal", ("run",), memory_class="III"))
    'canneal (III)'
    """
    memory_class = f" ({application.memory_class})" if application.memory_class else ""
    return f"{style.lettered(application.name, longest)}{style.lettered(memory_class)}"


def lines_figure(measurements: Measurements, rows: Sequence[Sequence[Panel]]) -> Figure:
    """Draw along the clocks."""
    figure = style.blank_figure(LEGEND_INCHES + ROW_INCHES * len(rows))
    grid = figure.subplots(len(rows), len(rows[0]), squeeze=False)
    marks = {label: place for place, label in enumerate(dict.fromkeys(labels_of(measurements).values()))}
    for row, panels in enumerate(rows):
        for axes, panel in zip(grid[row], panels, strict=True):
            _draw_lines(axes, measurements, panel, marks)
            axes.set_xlabel("clock, GHz" if row == len(rows) - 1 else "")
        grid[row, 0].set_title(panels[0].title)
    style.legend_above(figure, *grid.flat)
    return figure


def _draw_lines(axes: Axes, measurements: Measurements, panel: Panel, marks: dict[str, int]) -> None:
    points = panel.points(measurements)
    for series in panel.series:
        own = [(panel.across(measurements, series, mhz), point) for each, mhz, point in points if each is series]
        means, lows, highs = np.array([(point.mean, point.low, point.high) for _, point in own]).reshape(-1, 3).T
        place = marks[series.label]
        look: style.Look = {"marker": MARKS[place % len(MARKS)], "linestyle": style.DASHES[place % len(style.DASHES)]}
        look |= {"linewidth": style.CURVE_LINE / 1.4, "markersize": 4, "capsize": 2, "elinewidth": 0.8}
        look |= {"color": _colour(series), "label": style.lettered(series.label, LONGEST)}
        axes.errorbar([x for x, _ in own], means, yerr=(means - lows, highs - means), **look)
    clocks = [mhz / 1000.0 for mhz in measurements.frequencies_mhz]
    if len(clocks) <= FEW_CLOCKS:
        axes.set_xticks(clocks, [number(each, 3) for each in clocks])
    every = [point.low for _, _, point in points]
    if every and min(every) > 0 and max(every) > style.FAR * min(every):
        axes.set_yscale("log")
    else:
        style.write_numbers(axes.yaxis)
    axes.set_ylabel(QUANTITIES[panel.quantity][0])
    style.draw_grid(axes, "y")


def _colour(series: Series) -> str:
    return LEVELS[min(series.together, len(LEVELS)) - 1]


def bars_figure(measurements: Measurements, rows: Sequence[Sequence[Panel]]) -> Figure:
    """Draw a bar for each kind of co-runners."""
    heights = [AROUND_INCHES + BAR_INCHES * len(panels[0].series) for panels in rows]
    figure = style.blank_figure(sum(heights))
    grid = figure.subplots(len(rows), len(rows[0]), squeeze=False, height_ratios=heights)
    for row, panels in enumerate(rows):
        for column, (axes, panel) in enumerate(zip(grid[row], panels, strict=True)):
            _draw_bars(axes, measurements, panel)
            names = [style.lettered(series.label, LONGEST) for series in panel.series]
            axes.set_yticks(range(len(names)), names if column == 0 else [""] * len(names))
        grid[row, 0].set_title(panels[0].title)
    return figure


def _draw_bars(axes: Axes, measurements: Measurements, panel: Panel) -> None:
    places = {series.label: place for place, series in enumerate(panel.series)}
    for series, _, point in panel.points(measurements):
        axes.barh(places[series.label], point.mean, height=0.7, color=_colour(series))
        whisker = [point.mean - point.low], [point.high - point.mean]
        axes.errorbar(point.mean, places[series.label], xerr=whisker, color=style.INK, capsize=2, elinewidth=0.8)
    axes.set_ylim(len(places) - 0.4, -0.6)
    axes.set_xlim(left=0.0)
    axes.tick_params(axis="y", length=0, labelsize=style.SMALL_LETTERS)
    axes.set_xlabel(QUANTITIES[panel.quantity][0])
    style.write_numbers(axes.xaxis, grid="x")


# Applications alone and together: memory intensity, time and energy, after figures 8.1 to 8.4 of the thesis.
#
# A row of panels for each application. Where clocks were set, they are the x axis, and every kind of
# co-runners is a line of marks; else every kind is a bar. The colour says how many run at once: one, two or
# more; marks and words say beside whom. Energy is that of everything the meter sees until the application has
# ended, and so that of its co-runners, too. What was not measured has no panel.
#
# Source: Friese, thesis of 2015, section 8.5.
MOST_APPLICATIONS: Final = 12  # in one figure
NOTHING: Final = "the file has no setting to draw"


def measure_figure(measurements: Measurements, application: str | None = None) -> Figure:
    """Draw one application, or all; of many, those that co-runners slow most."""
    with drawing_style():
        rows = _rows(measurements, application)
        if rows:
            return (lines_figure if has_clocks(measurements) else bars_figure)(measurements, rows)
        figure = style.blank_figure(1.0)
        figure.text(0.5, 0.5, NOTHING, ha="center", va="center")
        return figure


def measure_tooltips(measurements: Measurements, application: str | None = None) -> tuple[Tooltip, ...]:
    """Return what each mark of the figure says when it is pointed at."""
    clocks = has_clocks(measurements)
    panels = [panel for row in _rows(measurements, application) for panel in row]
    dots = []
    for axes, panel in enumerate(panels):
        for series, mhz, point in panel.points(measurements):
            bar = point.mean, float(panel.series.index(series))
            x, y = (panel.across(measurements, series, mhz), point.mean) if clocks else bar
            dots.append(Tooltip(x, y, point.words, axes))
    return tuple(dots[: style.MOST_TOOLTIPS])


def drawn_applications(measurements: Measurements, most: int = MOST_APPLICATIONS) -> tuple[MeasuredApplication, ...]:
    """Return the applications that are drawn; of many, those that co-runners slow most."""
    slowed = {each.name: _slowed(series_of(measurements, each.name)) for each in measurements.applications}
    known = [each for each in measurements.applications if slowed[each.name]]
    chosen = sorted(known, key=lambda each: -slowed[each.name])[:most]
    return tuple(each for each in known if each in chosen)


def has_clocks(measurements: Measurements) -> bool:
    """Whether clocks make an axis."""
    return len(measurements.frequencies_mhz) > 1


def _rows(measurements: Measurements, application: str | None) -> list[tuple[Panel, ...]]:
    """Return the panels of each application."""
    quantities, chosen = quantities_of(measurements), drawn_applications(measurements)
    if application is not None:
        chosen = tuple(each for each in measurements.applications if each.name == application)
    rows = [(titled(each), series_of(measurements, each.name)) for each in chosen]
    return [tuple(Panel(title, each, series) for each in quantities) for title, series in rows if series]


def _slowed(several: Sequence[Series]) -> float:
    """Return the longest mean time as a multiple of the shortest at the same clock; 0 without any."""
    found: dict[float | None, list[float]] = {}
    for series in several:
        for each in series.measured:
            found.setdefault(each.setting.mhz, []).append(each.seconds.mean)
    return max((max(times) / min(times) for times in found.values() if min(times)), default=0.0)
