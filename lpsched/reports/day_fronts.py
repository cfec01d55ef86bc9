"""Utility over energy of a day: fronts of methods, the envelope above them, and where a joule brings most.

Above the envelope is shaded: no schedule earns as much with as little. Nothing is solved here: the numbers
are given.

Source: Friese, thesis of 2015, figures 5.3, 5.4 and 5.6 (fronts of several first populations after so many
generations) and 5.5 (utility per energy over utility and over energy, and its peak in all three).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lpsched.display import number
from lpsched.files.pictures import drawing_style
from lpsched.reports.front_marks import (
    JOULES,
    MARK_SIZE,
    MARKS,
    OURS,
    draw_marks,
    fitting,
    legend_above,
    room_about,
)
from lpsched.reports.page_picture import Spot
from lpsched.reports.pictures import CURVE_LINE, FORBIDDEN, INK, MOST_SPOTS, blank_picture, lettered
from lpsched.result.machine_point import along

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lpsched.reports.front_marks import Unit
    from lpsched.result.day_front import DayFront, UtilityPoint

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
    """One of several pictures side by side: its title, and the fronts in it."""

    title: str
    fronts: tuple[NamedFront, ...]


def day_front_picture(result: DayFront) -> Figure:
    """Draw what methods found on a day, below the envelope.

    Raises
    ------
    MissingExtraError
        If Matplotlib is not installed.
    """
    fronts = tuple(NamedFront(entry.name, entry.points) for entry in result.entries)
    return populations_picture([Panel("", fronts)], result.envelope)


def day_front_spots(result: DayFront) -> tuple[Spot, ...]:
    """Return what to tell about the points of each method in `day_front_picture`."""
    unit = _unit([point for entry in result.entries for point in entry.points], result.envelope)
    most = max(2, MOST_SPOTS // max(1, len(result.entries)))
    spots = []
    for entry in result.entries:
        for point in (entry.points[place] for place in along(len(entry.points), most)):
            energy = point.energy_joules / unit.size
            words = f"{entry.name}: {number(energy, 5)} {unit.name}, utility {number(point.utility)}"
            spots.append(Spot(energy, point.utility, words))
    return tuple(spots)


def _unit(points: Sequence[UtilityPoint], envelope: Sequence[UtilityPoint]) -> Unit:
    return fitting(JOULES, max((point.energy_joules for point in (*points, *envelope)), default=0.0))


def populations_picture(panels: Sequence[Panel], envelope: Sequence[UtilityPoint] = ()) -> Figure:
    """Draw panels of fronts, two beside each other, each with its own axes; the peaks are circled.

    Raises
    ------
    MissingExtraError
        If Matplotlib is not installed.
    """
    with drawing_style():
        columns = min(2, len(panels))
        rows = -(-len(panels) // 2)
        figure = blank_picture(4.2 if len(panels) == 1 else 0.5 + 2.7 * rows)
        grid = figure.subplots(rows, columns, squeeze=False)
        points = [point for panel in panels for front in panel.fronts for point in front.points]
        unit = _unit(points, envelope)
        for axes, panel in zip(grid.flat, panels, strict=False):
            _draw_panel(axes, panel, envelope, unit)
        for axes in grid.flat[len(panels) :]:
            axes.set_axis_off()
        legend_above(figure, *grid.flat[: len(panels)])
        return figure


def _draw_panel(axes: Axes, panel: Panel, envelope: Sequence[UtilityPoint], unit: Unit) -> None:
    """Draw some fronts below the envelope; the axes show the fronts, and the envelope as far as it goes."""
    found = [point for front in panel.fronts for point in front.points]
    points = found or list(envelope)
    axes.set_xlim(*room_about([point.energy_joules / unit.size for point in points]))
    above = [_height(envelope, point.energy_joules) for point in points] if envelope else []
    axes.set_ylim(*room_about([*(point.utility for point in points), *above]))
    if envelope:
        _draw_envelope(axes, envelope, unit)
    for place, front in enumerate(panel.fronts):
        if front.points:
            spots = [(point.energy_joules / unit.size, point.utility) for point in front.points]
            draw_marks(axes, front.name, spots, place)
    _circle(axes, [point for point in found if point.energy_joules > 0], unit)
    axes.set_xlabel(f"energy, {unit.name}")
    axes.set_ylabel("utility")
    axes.set_title(panel.title)


def _circle(axes: Axes, points: Sequence[UtilityPoint], unit: Unit) -> None:
    """Circle the point at which a joule brings most."""
    if points:
        peak = max(points, key=lambda point: point.utility / point.energy_joules)
        _draw_ring(axes, (peak.energy_joules / unit.size, peak.utility), PEAK)


def _draw_ring(axes: Axes, spot: tuple[float, float], label: str | None = None) -> None:
    axes.plot(
        *spot,
        linestyle="none",
        marker="o",
        markersize=11,
        markerfacecolor="none",
        markeredgecolor=INK,
        zorder=5,
        label=label,
    )


def _draw_envelope(axes: Axes, envelope: Sequence[UtilityPoint], unit: Unit) -> None:
    """Draw the chain and its level end, and shade what is above."""
    (_, right), (_, top) = axes.get_xlim(), axes.get_ylim()
    xs = [point.energy_joules / unit.size for point in envelope]
    ys = [point.utility for point in envelope]
    xs, ys = [*xs, max(right, xs[-1])], [*ys, ys[-1]]
    axes.fill_between(xs, ys, max(top, ys[-1]), color=FORBIDDEN, linewidth=0, zorder=0)
    axes.plot(xs, ys, color=OURS, linewidth=CURVE_LINE, zorder=2, label=ENVELOPE)


def _height(envelope: Sequence[UtilityPoint], joules: float) -> float:
    """Return the envelope at an energy."""
    before = [corner for corner in envelope if corner.energy_joules <= joules]
    after = [corner for corner in envelope if corner.energy_joules > joules]
    if not before or not after:
        return (before or after)[-1 if before else 0].utility
    left, right = before[-1], after[0]
    share = (joules - left.energy_joules) / (right.energy_joules - left.energy_joules)
    return left.utility + share * (right.utility - left.utility)


def peak_picture(front: NamedFront) -> Figure:
    """Draw one front, and utility per energy over utility and over energy; its peak is in all three.

    Raises
    ------
    MissingExtraError
        If Matplotlib is not installed.
    """
    with drawing_style():
        figure = blank_picture(2.9)
        unit = fitting(JOULES, max((point.energy_joules for point in front.points), default=0.0))
        using = [point for point in front.points if point.energy_joules > 0]
        joules = [point.energy_joules / unit.size for point in using]
        utility = [point.utility for point in using]
        rate = [worth / energy for worth, energy in zip(utility, joules, strict=True)]
        peak = max(range(len(using)), key=lambda place: rate[place], default=None)
        energy_label, rate_label = f"energy, {unit.name}", f"utility per {unit.name}"
        panels = (
            ("A: the front", joules, utility, energy_label, "utility"),
            ("B: over utility", utility, rate, "utility", rate_label),
            ("C: over energy", joules, rate, energy_label, rate_label),
        )
        for axes, (title, xs, ys, x_label, y_label) in zip(figure.subplots(1, 3), panels, strict=True):
            axes.plot(
                xs, ys, linestyle="none", marker=MARKS[0][1], markersize=MARK_SIZE - 0.5, color=MARKS[0][0]
            )
            axes.set_title(title)
            axes.set_xlabel(x_label)
            axes.set_ylabel(y_label)
            if peak is not None:
                _mark_peak(axes, (xs[peak], ys[peak]), (joules[peak], utility[peak]), title[0])
        figure.suptitle(lettered(front.name, LONGEST_TITLE), fontsize=9, x=0.01, ha="left")
        return figure


def _mark_peak(axes: Axes, spot: tuple[float, float], peak: tuple[float, float], panel: str) -> None:
    """Circle the peak; its energy is a dashed line, its utility a solid one, wherever they are an axis."""
    joules, utility = peak
    _draw_ring(axes, spot)
    if panel in "AC":
        axes.axvline(joules, color=INK, linewidth=0.8, linestyle="--", zorder=1)
    if panel == "A":
        axes.axhline(utility, color=INK, linewidth=0.8, zorder=1)
    if panel == "B":
        axes.axvline(utility, color=INK, linewidth=0.8, zorder=1)
