"""Curves of what a study measured: over the values of a setting, or over the hours of a day.

A curve for each case, with marks that tell it apart without colour. Over the values of a setting the points
stand evenly, each with its value below it and a whisker for its 95 % confidence interval; over time the
interval is a band. What may not be passed, as an energy constraint, is a dashed line. Panels stand side by
side, and may differ in everything.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lpsched.io.figure_files import drawing_style
from lpsched.report.figures.style import (
    CURVE_LINE,
    LIMIT_LINE,
    RED,
    STYLES,
    blank_figure,
    draw_grid,
    legend_above,
    lettered,
    write_numbers,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lpsched.model.provenance import Estimate

INCHES: Final = 3.2
BAND: Final = 0.18  # opacity
MARKS_ON_A_LINE: Final = 8
HALF_A_DAY: Final = 12.0  # hours
MANY: Final = 8  # values of a setting
SMALL: Final = 6.5  # points


@dataclass(frozen=True, slots=True)
class Curve:
    """One case: an estimate at each place of its panel."""

    name: str
    estimates: tuple[Estimate, ...]


@dataclass(frozen=True, slots=True)
class CurvePanel:
    """What one panel shows. `places` are hours, or the names of a setting's values."""

    x_label: str
    y_label: str
    places: tuple[float, ...] | tuple[str, ...]
    curves: tuple[Curve, ...]
    limit: tuple[str, float] | None = None
    from_zero: bool = True


def curves_figure(panels: Sequence[CurvePanel]) -> Figure:
    """Draw panels side by side, with one legend above them.

    Raises
    ------
    MissingExtraError
        If Matplotlib is not installed.
    """
    with drawing_style():
        figure = blank_figure(INCHES)
        several = figure.subplots(1, len(panels), squeeze=False)[0]
        for axes, panel in zip(several, panels, strict=True):
            _draw_panel(axes, panel)
        legend_above(figure, *several)
        return figure


def _draw_panel(axes: Axes, panel: CurvePanel) -> None:
    hours = [place for place in panel.places if not isinstance(place, str)]
    for place, curve in enumerate(panel.curves):
        if hours:
            _draw_over_time(axes, hours, curve, place)
        else:
            _draw_over_setting(axes, curve, place)
    if not hours:
        axes.set_xticks(range(len(panel.places)), [lettered(str(place), 12) for place in panel.places])
        axes.tick_params(axis="x", labelsize=SMALL if len(panel.places) > MANY else None)
    elif hours[-1] >= HALF_A_DAY:
        axes.locator_params(axis="x", steps=[1, 2, 3, 6, 10])
    if panel.limit is not None:
        name, height = panel.limit
        axes.axhline(height, color=RED, linestyle="--", linewidth=LIMIT_LINE, label=lettered(name))
    axes.set_xlabel(panel.x_label)
    axes.set_ylabel(panel.y_label)
    if panel.from_zero:
        axes.set_ylim(bottom=0.0)
    write_numbers(axes.yaxis)
    draw_grid(axes, "y")


def _draw_over_setting(axes: Axes, curve: Curve, place: int) -> None:
    """Draw a point with a whisker for each value."""
    colour, mark = STYLES[place % len(STYLES)]
    axes.errorbar(
        range(len(curve.estimates)),
        [each.mean for each in curve.estimates],
        yerr=[each.half_width or 0.0 for each in curve.estimates],
        color=colour,
        linewidth=1.0,
        marker=mark,
        markersize=4.5,
        elinewidth=0.9,
        capsize=2.0,
        label=lettered(curve.name),
    )


def _draw_over_time(axes: Axes, hours: Sequence[float], curve: Curve, place: int) -> None:
    """Draw a line with a band, and marks that begin elsewhere on each line."""
    colour, mark = STYLES[place % len(STYLES)]
    step = max(1, len(hours) // MARKS_ON_A_LINE)
    means = [each.mean for each in curve.estimates]
    axes.plot(
        hours,
        means,
        color=colour,
        linewidth=CURVE_LINE,
        marker=mark,
        markersize=4,
        markevery=((place * step) // len(STYLES), step),
        label=lettered(curve.name),
    )
    halves = [each.half_width or 0.0 for each in curve.estimates]
    if any(halves):
        low = [mean - half for mean, half in zip(means, halves, strict=True)]
        high = [mean + half for mean, half in zip(means, halves, strict=True)]
        axes.fill_between(hours, low, high, color=colour, alpha=BAND, linewidth=0)
    axes.margins(x=0.0)
