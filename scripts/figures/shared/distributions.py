"""How numbers are distributed: violins side by side, one for each method at each place of a setting.

A violin is as wide as the numbers are dense, and goes from the least to the largest; a dash across it is the
median, whose value stands above. The axis is logarithmic, because methods differ by orders of magnitude: so
the densities are those of the logarithms. Colour never stands alone: methods are in the order of the legend,
and all but the first are hatched.

Nothing is solved here: the numbers are given.

Source: Tarplee, Maciejewski and Siegel, 2014, figure 2.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from lpsched.io.figure_files import drawing_style
from lpsched.report.figures.style import (
    BLUE,
    GREEN,
    INK,
    ORANGE,
    PURPLE,
    SKY,
    SMALL_LETTERS,
    blank_figure,
    draw_grid,
    lettered,
)
from lpsched.units import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INCHES: Final = 3.6
LEAST: Final = 1e-6  # what is drawn for less, which a logarithm cannot tell
FILLS: Final = ((ORANGE, ""), (BLUE, "////"), (GREEN, "...."), (PURPLE, "xxxx"), (SKY, "----"))
BETWEEN: Final = 0.8  # of a place: what all its violins have together
ROOM: Final = 0.25  # of a factor of ten, above and below


@dataclass(frozen=True, slots=True)
class Violin:
    """The numbers of one method at one place."""

    method: str
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class ViolinPanel:
    """What one panel shows: its title, and the violins at each place."""

    title: str
    places: tuple[tuple[str, tuple[Violin, ...]], ...]


def distributions_figure(panels: Sequence[ViolinPanel], *, x_label: str, y_label: str) -> Figure:
    """Draw panels side by side on one logarithmic scale; the numbers are shares, in percent.

    Raises
    ------
    MissingExtraError
        If Matplotlib is not installed.
    """
    methods = list(dict.fromkeys(each.method for panel in panels for _, violins in panel.places for each in violins))
    everything = [
        _shown(value) for panel in panels for _, violins in panel.places for each in violins for value in each.values
    ]
    with drawing_style():
        figure = blank_figure(INCHES)
        row = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
        for axes, panel in zip(row, panels, strict=True):
            _draw_panel(axes, panel, methods)
            axes.set_xlabel(lettered(x_label, 60))
        first = figure.axes[0]
        first.set_ylim(min(everything) - ROOM, max(everything) + 2 * ROOM)
        first.set_ylabel(lettered(y_label, 60))
        _write_shares(first)
        _explain(figure, methods)
        return figure


def _draw_panel(axes: Axes, panel: ViolinPanel, methods: list[str]) -> None:
    axes.set_title(lettered(panel.title, 40))
    draw_grid(axes, "y")
    width = BETWEEN / len(methods)
    for place, (_, violins) in enumerate(panel.places):
        for each in violins:
            number_of = methods.index(each.method)
            middle = place + width * (number_of - (len(methods) - 1) / 2)
            _draw_violin(axes, each, middle, 0.9 * width, FILLS[number_of % len(FILLS)])
    axes.set_xticks(range(len(panel.places)), [lettered(name) for name, _ in panel.places])
    axes.set_xlim(-0.5, len(panel.places) - 0.5)


def _draw_violin(axes: Axes, violin: Violin, middle: float, width: float, fill: tuple[str, str]) -> None:
    values = [_shown(value) for value in violin.values]
    if not values:
        return
    colour, hatch = fill
    if max(values) > min(values):
        bodies: Any = axes.violinplot([values], [middle], widths=width, showextrema=False)["bodies"]
        for body in bodies:
            body.set(facecolor=colour, edgecolor=INK, alpha=0.75, linewidth=0.6, hatch=hatch)
    median = statistics.median(values)
    half = width / 3
    axes.plot([middle - half, middle + half], [median, median], color=INK, linewidth=1.6, zorder=4)
    axes.annotate(
        f"{number(100 * 10**median, 2)} %",
        (middle, max(values)),
        xytext=(0, 2),
        textcoords="offset points",
        ha="center",
        va="bottom",
        fontsize=SMALL_LETTERS - 1,
    )


def _shown(value: float) -> float:
    return math.log10(max(value, LEAST))


def _write_shares(axes: Axes) -> None:
    """Write whole powers of ten as per cent."""
    low, high = axes.get_ylim()
    powers = range(math.ceil(low), math.floor(high) + 1)
    axes.set_yticks(list(powers), [f"{number(100 * 10.0**power, 3)} %" for power in powers])


def _explain(figure: Figure, methods: list[str]) -> None:
    """Write a legend above all panels."""
    from matplotlib.patches import Patch  # noqa: PLC0415 - optional

    patches = [
        Patch(facecolor=colour, edgecolor=INK, alpha=0.75, hatch=hatch, label=lettered(name, 60))
        for name, (colour, hatch) in zip(methods, FILLS * len(methods), strict=False)
    ]
    figure.legend(handles=patches, loc="outside upper center", ncols=len(methods), frameon=False)
