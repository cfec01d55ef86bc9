"""Figures of utility over energy: fronts of methods, the envelope above them, and sampled fronts."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lpsched.model.results import along
from lpsched.report.figures import style
from lpsched.report.figures.simulation import KWH
from lpsched.report.figures.style import Tooltip
from lpsched.report.tables import line, table
from lpsched.units import energy_text, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from rich.console import ConsoleRenderable

    from lpsched.online.result.comparisons import DayFront, FuzzyFront, FuzzyPoint, UtilityPoint


# Utility over energy of a day: fronts of methods, the envelope above them, and where a joule brings most.
#
# Above the envelope is shaded: no schedule earns as much with as little. Nothing is solved here: the numbers
# are given.
#
# Source: Friese, thesis of 2015, figures 5.3, 5.4 and 5.6 (fronts of several first populations after some
# generations) and 5.5 (utility per energy over utility and over energy, and its peak in all three).
ENVELOPE: Final = "no schedule is above, proved"
PEAK: Final = "most utility per energy"
LONGEST_TITLE: Final = 80  # letters


@dataclass(frozen=True, slots=True)
class NamedFront:
    """The points of one method or first population, by rising energy."""

    name: str
    points: tuple[UtilityPoint, ...]


@dataclass(frozen=True, slots=True)
class Panel:
    """One of several figures side by side: its title, and the fronts in it."""

    title: str
    fronts: tuple[NamedFront, ...]


def day_front_figure(result: DayFront) -> Figure:
    """Draw what methods found on a day, below the envelope."""
    fronts = tuple(NamedFront(entry.name, entry.points) for entry in result.entries)
    return populations_figure([Panel("", fronts)], result.envelope)


def day_front_tooltips(result: DayFront) -> tuple[Tooltip, ...]:
    """Return the text at the points of each method in `day_front_figure`."""
    unit = _unit([point for entry in result.entries for point in entry.points], result.envelope)
    most = max(2, style.MOST_TOOLTIPS // max(1, len(result.entries)))
    tooltips = []
    for entry in result.entries:
        for point in (entry.points[place] for place in along(len(entry.points), most)):
            words = f"{entry.name}: {energy_text(point.energy_joules)}, utility {number(point.utility)}"
            tooltips.append(Tooltip(point.energy_joules / unit.size, point.utility, words))
    return tuple(tooltips)


def _unit(points: Sequence[UtilityPoint], envelope: Sequence[UtilityPoint] = ()) -> style.Unit:
    return style.fitting(
        style.ENERGIES[KWH:], max((point.energy_joules for point in (*points, *envelope)), default=0.0)
    )


def populations_figure(panels: Sequence[Panel], envelope: Sequence[UtilityPoint] = ()) -> Figure:
    """Draw panels of fronts, two beside each other, each with its own axes; the peaks are circled."""
    rows = -(-len(panels) // 2)
    with style.begun(4.2 if len(panels) == 1 else 0.5 + 2.7 * rows) as figure:
        grid = figure.subplots(rows, min(2, len(panels)), squeeze=False)
        points = [point for panel in panels for front in panel.fronts for point in front.points]
        unit = _unit(points, envelope)
        for axes, panel in zip(grid.flat, panels, strict=False):
            _draw_panel(axes, panel, envelope, unit)
        for axes in grid.flat[len(panels) :]:
            axes.set_axis_off()
        style.legend_above(figure, *grid.flat[: len(panels)])
        return figure


def _draw_panel(axes: Axes, panel: Panel, envelope: Sequence[UtilityPoint], unit: style.Unit) -> None:
    """Draw some fronts below the envelope; the axes show the fronts, and the envelope as far as it goes."""
    found = [point for front in panel.fronts for point in front.points]
    points = found or list(envelope)
    axes.set_xlim(*style.room_about([point.energy_joules / unit.size for point in points]))
    above = [_height(envelope, point.energy_joules) for point in points] if envelope else []
    axes.set_ylim(*style.room_about([*(point.utility for point in points), *above]))
    if envelope:  # the chain and its level end; what is above is shaded
        xs, ys = [point.energy_joules / unit.size for point in envelope], [point.utility for point in envelope]
        xs, ys = [*xs, max(axes.get_xlim()[1], xs[-1])], [*ys, ys[-1]]
        axes.fill_between(xs, ys, max(axes.get_ylim()[1], ys[-1]), color=style.FORBIDDEN, linewidth=0, zorder=0)
        axes.plot(xs, ys, color=style.OURS, linewidth=style.CURVE_LINE, zorder=2, label=ENVELOPE)
    for place, front in enumerate(panel.fronts):
        if front.points:
            dots = [(point.energy_joules / unit.size, point.utility) for point in front.points]
            style.draw_marks(axes, front.name, dots, place)
    using = [point for point in found if point.energy_joules > 0]
    if using:
        peak = max(using, key=lambda point: point.utility / point.energy_joules)
        style.draw_ring(axes, (peak.energy_joules / unit.size, peak.utility), ms=11, zorder=5, label=PEAK)
    axes.set(xlabel=f"energy, {unit.name}", ylabel="utility", title=panel.title)
    style.write_numbers(axes.xaxis, axes.yaxis)


def _height(envelope: Sequence[UtilityPoint], joules: float) -> float:
    """Return the envelope at an energy."""
    after = bisect_right(envelope, joules, key=lambda vertex: vertex.energy_joules)
    if after in {0, len(envelope)}:
        return envelope[min(after, len(envelope) - 1)].utility
    left, right = envelope[after - 1], envelope[after]
    share = (joules - left.energy_joules) / (right.energy_joules - left.energy_joules)
    return left.utility + share * (right.utility - left.utility)


def peak_figure(front: NamedFront) -> Figure:
    """Draw one front, and utility per energy over utility and over energy; its peak is in all three."""
    with style.begun(2.9) as figure:
        unit = _unit(front.points)
        using = [point for point in front.points if point.energy_joules > 0]
        joules = [point.energy_joules / unit.size for point in using]
        utility = [point.utility for point in using]
        rate = [value / energy for value, energy in zip(utility, joules, strict=True)]
        peak = max(range(len(using)), key=lambda place: rate[place], default=None)
        energy_label, rate_label = f"energy, {unit.name}", f"utility per {unit.name}"
        panels = (
            ("A: the front", joules, utility, energy_label, "utility"),
            ("B: over utility", utility, rate, "utility", rate_label),
            ("C: over energy", joules, rate, energy_label, rate_label),
        )
        (colour, mark), look = style.MARKS[0], style.Look(color=style.INK, linewidth=0.8, zorder=1)
        for axes, (title, xs, ys, x_label, y_label) in zip(figure.subplots(1, 3), panels, strict=True):
            style.draw_dots(axes, zip(xs, ys, strict=True), mark, colour, ms=style.MARK_SIZE - 0.5)
            axes.set(title=title, xlabel=x_label, ylabel=y_label)
            if peak is not None:  # its energy is a dashed line, its utility a solid one, wherever they are an axis
                style.draw_ring(axes, (xs[peak], ys[peak]), ms=11, zorder=5)
                axes.axvline(xs[peak], linestyle="--" if xs is joules else "-", **look)
                if ys is utility:
                    axes.axhline(ys[peak], **look)
        figure.suptitle(style.lettered(front.name, LONGEST_TITLE), fontsize=9, x=0.01, ha="left")
        return figure


# Fuzzy fronts: where the schedules of a front land when tasks do not take what was expected.
#
# Figures 7.4 to 7.6: a square for every schedule, at the two numbers it was ranked by, and a small circle for
# each of its samples; fronts differ in colour and in the shape of their marks. Figure 7.7: an ellipse for
# every schedule, centred at the mean of its samples, one standard deviation wide in every direction (so it is
# tilted where energy and utility depend on each other). Energy is divided by the least energy, utility by the
# most utility of all, and both axes have one scale, so that a round ellipse means equal relative spread. How
# many tasks are dropped is shown by colour, and by a number at some of the ellipses.
#
# Nothing is drawn at random here: the samples are given. Samples are painted as points of a raster inside SVG
# and PDF files, because 10,000 circles would make them huge.
#
# Source: Friese, thesis of 2015, section 7.4, figures 7.4 to 7.7.
COLOURS: Final = (style.BLUE, style.ORANGE, style.GREEN, style.PURPLE)  # of fronts in turn
FRONTS: Final = tuple(zip(COLOURS, "sDPX", "o^vs", strict=True))  # with the marks of their schedules and samples
MOST_ELLIPSES: Final = 33
NUMBERED: Final = 9  # of them, with their number of dropped tasks beside them
LEAST_PERCENT: Final = 1e-6
LOWEST, HIGHEST, AROUND = 2.0, 7.0, 1.45  # inches; above and below the axes
SHADES: Final = "cividis"  # distinguishable for all readers, and in grey


def fuzzy_front_tables(front: FuzzyFront) -> list[ConsoleRenderable]:
    """Return some schedules along a front: what they were ranked by, and how they fare in the samples."""
    samples = front.points[0].risk.samples if front.points else 0
    heading = f"{front.name}, ranked by {front.ranked_by}: some of its schedules, each in {samples:,} samples"
    return [line(heading), table(front.headers(), front.rows(), numbers=range(len(front.headers())))]


def fuzzy_front_figure(fronts: Sequence[FuzzyFront]) -> Figure:
    """Draw fronts with the samples of each schedule around it."""
    with style.one_panel(4.4) as (figure, axes):
        most = max((max(point.sampled_energy_joules) for each in fronts for point in each.points), default=1.0)
        unit = style.fitting(style.ENERGIES[KWH:], most)
        for place, front in enumerate(fronts):
            _draw_front(axes, front, unit.size, FRONTS[place % len(FRONTS)])
        axes.set_xlabel(f"energy, {unit.name}")
        axes.set_ylabel("utility" if fronts[0].value_key == "utility" else "makespan, seconds")
        style.draw_grid(axes, "both")
        figure.legend(loc="outside upper left", ncols=1, markerscale=1.4)
        return figure


def _draw_front(axes: Axes, front: FuzzyFront, scale: float, marks: tuple[str, str, str]) -> None:
    """Draw the samples of a schedule, and the schedules over those of all fronts."""
    colour, square, circle = marks
    name, samples = style.lettered(front.name), len(front.points[0].sampled_values) if front.points else 0
    ranked = "" if front.ranked_by == front.name else f", ranked by {style.lettered(front.ranked_by)}"
    sampled = [
        (joules / scale, value)
        for point in front.points
        for joules, value in zip(point.sampled_energy_joules, point.sampled_values, strict=True)
    ]
    # Half way to white, and not half transparent, which makes files several times as large.
    paler = tuple(0.5 + int(colour[at : at + 2], 16) / 510.0 for at in (1, 3, 5))
    label = f"{name}: {samples:,} samples of each"
    style.draw_dots(axes, sampled, circle, paler, ms=2.2, mfc="none", mew=0.4, rasterized=True, label=label)
    label = f"{name}: {len(front.points):,} schedules" + ranked
    planned = [(point.energy_joules / scale, point.value) for point in front.points]
    style.draw_dots(axes, planned, square, colour, ms=4.5, mec=style.INK, mew=0.6, zorder=3, label=label)


def variance_figure(front: FuzzyFront) -> Figure:
    """Draw schedules as ellipses of one standard deviation, coloured by their dropped tasks.

    Of many schedules, some are drawn, evenly along the front: ellipses on top of each other cannot be read.
    """
    with style.one_panel(HIGHEST) as (figure, axes):
        from matplotlib import colormaps  # noqa: PLC0415 - optional
        from matplotlib.cm import ScalarMappable  # noqa: PLC0415 - optional
        from matplotlib.colors import Normalize  # noqa: PLC0415 - optional

        shown = [front.points[place] for place in along(len(front.points), MOST_ELLIPSES)]
        numbered = along(len(shown), NUMBERED)
        unit = min(_means(each, front)[0] for each in shown), max(_means(each, front)[1] for each in shown)
        dropped = [100.0 * (each.mean_dropped or 0.0) / front.tasks for each in shown]
        most = max([*dropped, LEAST_PERCENT])
        for place, point in enumerate(shown):
            _draw_ellipse(axes, point, front, unit, colormaps[SHADES](dropped[place] / most))
            if place in numbered and front.value_key == "utility":
                _number(axes, point, front, unit, f"{dropped[place]:.0f} %")
        axes.set_aspect("equal", adjustable="box")
        axes.margins(0.08, 0.16)
        axes.autoscale_view()
        (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()  # both axes have one scale
        plotted = (style.WIDTH_INCHES - 0.6) * (top - bottom) / (right - left)
        figure.set_size_inches(style.WIDTH_INCHES, min(HIGHEST, max(LOWEST, plotted + AROUND)))
        axes.set_xlabel("energy / least energy")
        best = "most utility" if front.value_key == "utility" else "longest makespan"
        axes.set_ylabel(f"{front.value_key.removesuffix('_seconds')} / {best}")
        style.draw_grid(axes, "both")
        axes.set_title(f"{style.lettered(front.name)}: one standard deviation about each schedule's mean")
        if front.value_key == "utility":
            shades = ScalarMappable(Normalize(0.0, most), colormaps[SHADES])
            figure.colorbar(shades, ax=axes, location="bottom", shrink=0.5, aspect=40, label="tasks dropped, %")
        return figure


def _means(point: FuzzyPoint, front: FuzzyFront) -> tuple[float, float]:
    """Return the means of energy and of the other number over the samples."""
    quantities = point.risk.quantities
    joules, value = quantities["energy_joules"].mean, quantities[front.value_key].mean
    return joules or 0.0, value or 0.0


def _draw_ellipse(
    axes: Axes, point: FuzzyPoint, front: FuzzyFront, unit: tuple[float, float], colour: tuple[float, ...]
) -> None:
    """Draw the points one standard deviation away: of the covariance S, all x with x' S^-1 x = 1."""
    from matplotlib.patches import Ellipse  # noqa: PLC0415 - optional

    names = list(point.risk.quantities)
    x, y = names.index("energy_joules"), names.index(front.value_key)
    covariance = point.risk.covariance
    xx = (covariance[x][x] or 0.0) / unit[0] ** 2
    yy = (covariance[y][y] or 0.0) / unit[1] ** 2
    xy = (covariance[x][y] or 0.0) / (unit[0] * unit[1])
    middle, half = (xx + yy) / 2.0, math.hypot((xx - yy) / 2.0, xy)  # of the two eigenvalues
    joules, value = _means(point, front)
    width, height = 2.0 * math.sqrt(middle + half), 2.0 * math.sqrt(max(0.0, middle - half))
    angle = math.degrees(0.5 * math.atan2(2.0 * xy, xx - yy))
    look: style.Look = {"facecolor": (*colour[:3], 0.35), "edgecolor": colour, "linewidth": 1.0}
    axes.add_patch(Ellipse((joules / unit[0], value / unit[1]), width, height, angle=angle, **look))
    axes.plot([joules / unit[0]], [value / unit[1]], color=style.INK, marker=".", markersize=2.5)


def _number(axes: Axes, point: FuzzyPoint, front: FuzzyFront, unit: tuple[float, float], text: str) -> None:
    joules, value = _means(point, front)
    arrow = {"arrowstyle": "-", "linewidth": 0.4, "color": style.GREY, "shrinkB": 2}
    look: style.Look = {"ha": "right", "fontsize": style.SMALL_LETTERS, "color": style.INK}
    dot, ground = (joules / unit[0], value / unit[1]), style.paper(0.1, alpha=0.7)
    axes.annotate(text, dot, (-14, 9), textcoords="offset points", arrowprops=arrow, bbox=ground, **look)
