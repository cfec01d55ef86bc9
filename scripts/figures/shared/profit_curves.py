"""Profit over the profit ratio: what is best of all, and what is best on the energy/makespan front.

Both are exact: lines between the ratios at which something else becomes best. A line upright marks the ratio
below which they part, another the one up to which waiting is best.

Nothing is solved here: the numbers are given.

Source: Tarplee, Maciejewski and Siegel, 2014, figure 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lpsched.io.figure_files import drawing_style
from lpsched.report.figures.style import (
    BLUE,
    CURVE_LINE,
    GREY,
    LIMIT_LINE,
    SMALL_LETTERS,
    VERMILION,
    blank_figure,
    draw_grid,
    legend_above,
    lettered,
    write_numbers,
)
from lpsched.units import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

INCHES: Final = 3.4
STYLES: Final = ((BLUE, "-", 1.5 * CURVE_LINE), (VERMILION, "--", CURVE_LINE))


@dataclass(frozen=True, slots=True)
class ProfitCurve:
    """A name, and the profit at each ratio where the line bends."""

    name: str
    ratios: tuple[float, ...]
    profits: tuple[float, ...]


def profit_curves_figure(curves: Sequence[ProfitCurve], marks: Sequence[tuple[str, float]], *, unit: str) -> Figure:
    """Draw two curves, and what happens at some ratios, named at the foot of the figure.

    Raises
    ------
    MissingExtraError
        If Matplotlib is not installed.
    """
    with drawing_style():
        figure = blank_figure(INCHES)
        axes = figure.subplots()
        draw_grid(axes, "y")
        axes.axhline(0.0, color=GREY, linewidth=0.8)
        for curve, (colour, dashes, width) in zip(curves, STYLES, strict=False):
            name = lettered(curve.name, 60)
            axes.plot(curve.ratios, curve.profits, dashes, color=colour, linewidth=width, label=name)
        ratios = [ratio for curve in curves for ratio in curve.ratios]
        axes.set_xlim(min(ratios), max(ratios))
        for words, ratio in marks:
            axes.axvline(ratio, color=GREY, linewidth=LIMIT_LINE, linestyle=":")
            axes.annotate(
                f"{lettered(words, 60)}\n{number(ratio)}",
                (ratio, 0.04),
                xycoords=("data", "axes fraction"),
                xytext=(4, 0),
                textcoords="offset points",
                fontsize=SMALL_LETTERS,
            )
        axes.set_xlabel("profit ratio")
        axes.set_ylabel(f"profit, {lettered(unit)}")
        write_numbers(axes.xaxis)
        write_numbers(axes.yaxis)
        legend_above(figure, axes)
        return figure
