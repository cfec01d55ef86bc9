"""Who slows whom: a map of applications, those that suffer in rows, those beside them in columns.

    shade of (a, b)  =  PD[a][b]: how much longer a takes for each core that runs b, as a share of its time

The darker a cell, the larger its share; numbers are percentages, where there is room. Calm applications come
first, so that memory-intensive ones are in the lower right corner. A pair that was not measured is hatched.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.io.pictures import drawing_style
from lpsched.measure.measurements import class_rank
from lpsched.report.figures.measured import titled
from lpsched.report.figures.style import GREY, INK, MOST_SPOTS, RULE, SMALL_LETTERS, STRIPE, WIDTH_INCHES, blank_picture
from lpsched.report.html.page import Spot
from lpsched.report.measured_tables import share_text
from lpsched.units import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lpsched.measure.measurements import MeasuredApplication, Measurements

MOST: Final = 60  # applications
MOST_NUMBERED: Final = 16
CELL_INCHES: Final = 0.24  # of a row
SMALL_CELL_INCHES: Final = 0.14
AROUND_INCHES: Final = 1.75  # names above, the scale of shades below
LONGEST_NAME: Final = 18
MAP_WIDTH_INCHES: Final = WIDTH_INCHES - 1.8
LETTER_INCHES: Final = 0.062
SHADES: Final = "Oranges"  # from white to dark, also in grey
DARK: Final = 0.6  # of the scale, from which on numbers are white
HATCH: Final = "//////"


def degradation_map(measurements: Measurements) -> Figure:
    """Draw how much longer each application takes beside each other one."""
    with drawing_style():
        shown = mapped(measurements)
        inches = CELL_INCHES if len(shown) <= MOST_NUMBERED else SMALL_CELL_INCHES
        figure = blank_picture(AROUND_INCHES + inches * len(shown))
        axes = figure.subplots()
        _shade(axes, measurements, shown)
        if len(shown) <= MOST_NUMBERED:
            _write(axes, measurements, shown)
        _name(axes, shown)
        figure.colorbar(
            axes.collections[0],
            ax=axes,
            location="bottom",
            shrink=0.5,
            aspect=40,
            pad=0.03,
            label="longer for each core that runs the one above, %",
        )
        return figure


def degradation_spots(measurements: Measurements) -> tuple[Spot, ...]:
    """Return what to tell about each pair; of many, those that suffer most."""
    shown = [each.name for each in mapped(measurements)]
    cells = [
        (share, i, j)
        for i, name in enumerate(shown)
        for j, other in enumerate(shown)
        if (share := _share(measurements, name, other)) is not None
    ]
    largest = sorted(cells, key=lambda cell: -cell[0])[:MOST_SPOTS]
    return tuple(
        Spot(j + 0.5, i + 0.5, f"{shown[i]} beside {shown[j]}\n{share_text(share)} longer for each such core")
        for share, i, j in sorted(largest, key=lambda cell: cell[1:])
    )


def mapped(measurements: Measurements, most: int | None = MOST) -> tuple[MeasuredApplication, ...]:
    """Return the applications of some measured pair, calm ones first; of very many, the first."""
    names = {each.name for each in measurements.applications}
    pairs = {(a, b) for a, row in measurements.degradation.items() for b in row if {a, b} <= names}
    known = [each for each in measurements.applications if any(each.name in pair for pair in pairs)]
    return tuple(sorted(known, key=lambda each: class_rank(each.memory_class or "-"))[:most])


def has_gaps(measurements: Measurements) -> bool:
    """Whether some pair on the map was not measured."""
    return bool(np.isnan(_percents(measurements, mapped(measurements))).any())


def _share(measurements: Measurements, name: str, other: str) -> float | None:
    row = measurements.degradation.get(name)
    return None if row is None else row.get(other)


def _percents(
    measurements: Measurements, shown: tuple[MeasuredApplication, ...]
) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Return the map; what was not measured is not a number."""
    percents = np.full((len(shown), len(shown)), np.nan)
    for i, suffers in enumerate(shown):
        for j, other in enumerate(shown):
            share = _share(measurements, suffers.name, other.name)
            if share is not None:
                percents[i, j] = 100.0 * share
    return percents


def _shade(axes: Axes, measurements: Measurements, shown: tuple[MeasuredApplication, ...]) -> None:
    percents = _percents(measurements, shown)
    axes.set_facecolor(STRIPE)
    edges = np.arange(len(shown) + 1)
    top = max(1.0, float(np.nanmax(percents)))  # a map of noise is not dark
    many = len(shown) > MOST_NUMBERED  # then cells are pixels, which keep a page small
    edge = "none" if many else RULE
    axes.pcolormesh(
        edges, edges, percents, cmap=SHADES, vmin=0.0, vmax=top, edgecolors=edge, linewidth=0.3, rasterized=many
    )
    for i, j in zip(*np.nonzero(np.isnan(percents)), strict=True):
        corners = [j, j + 1, j + 1, j], [i, i, i + 1, i + 1]
        axes.fill(*corners, facecolor=STRIPE, edgecolor=GREY, hatch=None if many else HATCH, lw=0)
    axes.set_xlim(0, len(shown))
    axes.set_ylim(len(shown), 0)


def _write(axes: Axes, measurements: Measurements, shown: tuple[MeasuredApplication, ...]) -> None:
    """Write percentages into the cells."""
    percents = _percents(measurements, shown)
    top = max(1.0, float(np.nanmax(percents)))
    for (i, j), percent in np.ndenumerate(percents):
        if not np.isnan(percent):
            colour = "white" if percent > DARK * top else INK
            axes.text(
                j + 0.5, i + 0.5, number(round(percent, 2) + 0.0, 2), ha="center", va="center", color=colour, fontsize=7
            )


def _name(axes: Axes, shown: tuple[MeasuredApplication, ...]) -> None:
    centres = [place + 0.5 for place in range(len(shown))]
    axes.set_yticks(centres, [titled(each) for each in shown])
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    names = [titled(each, LONGEST_NAME) for each in shown]
    axes.set_xticks(centres, names)
    if max(map(len, names)) * LETTER_INCHES > MAP_WIDTH_INCHES / len(names):
        for label in axes.get_xticklabels():
            label.set(rotation=40, rotation_mode="anchor", horizontalalignment="left")
    axes.tick_params(length=0, labelsize=SMALL_LETTERS if len(shown) <= MOST_NUMBERED else 5)
    axes.set_xlabel("beside")
    axes.set_ylabel("takes longer")
    for spine in axes.spines.values():
        spine.set_visible(True)
        spine.set_color(RULE)
