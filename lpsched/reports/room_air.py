"""The air of a room: what every node draws in against its redline, and what the CRAC units blow out.

Nodes stand in the order of the file, which is often that of the racks; each type has its own mark.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from lpsched.display import number
from lpsched.reports.pictures import (
    BLUE,
    GREEN,
    GREY,
    INK,
    LIMIT_LINE,
    ORANGE,
    PURPLE,
    RED,
    RULE,
    SKY,
    SMALL_LETTERS,
    VERMILION,
    YELLOW,
    legend_columns,
    lettered,
    line_by_line,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from lpsched.instance.facility import Facility

MARKS: Final = (  # of node types in turn: marker and colour; where there are more, the last is for the rest
    ("o", BLUE),
    ("s", ORANGE),
    ("^", GREEN),
    ("D", PURPLE),
    ("v", SKY),
    ("P", YELLOW),
    ("X", VERMILION),
    ("*", GREY),
)
MOST_DOTS: Final = 1_000  # nodes; more are drawn as pixels, so that no file gets huge
MOST_NAMED: Final = 4  # CRAC units whose names have room
MOST_TICKS: Final = 10
LEGEND_INCHES: Final = 5.2  # of width
AT_REDLINE: Final = 0.005  # kelvin; nearer to it is at it


def draw_inlets(axes: Axes, facility: Facility, inlets_celsius: Sequence[float], *, coolest: float) -> None:
    """Draw the inlet of every node, with the mark of its type, and its redline above it.

    `coolest` is what the axis must reach at least, for what is drawn beside it.
    """
    redlines = [facility.node_types[j].redline_celsius for j in facility.nodes]
    count = len(facility.nodes)
    size = min(4.0, max(1.0, 400.0 / count))
    for (label, at), (marker, colour) in zip(_groups(facility), MARKS, strict=False):
        axes.plot(
            at,
            [inlets_celsius[v] for v in at],
            linestyle="none",
            marker=marker,
            markersize=size,
            color=colour,
            label=label,
            rasterized=count > MOST_DOTS,
        )
    limits, starts, ends = zip(*_runs(redlines), strict=True)
    axes.hlines(
        limits,
        starts,
        ends,
        color=RED,
        linewidth=LIMIT_LINE,
        label="redline",
        rasterized=len(limits) > MOST_DOTS,
    )
    axes.set_xlim(-0.5 - 0.01 * count, count - 0.5 + 0.01 * count)
    if count <= MOST_TICKS:  # where a locator would put fractions of nodes
        axes.set_xticks(range(count))
    axes.set_xlabel("node, by its place in the file")
    axes.set_ylabel("air drawn in, °C")
    axes.set_title(f"Inlet air: the hottest node is {_hottest(redlines, inlets_celsius)} its redline")
    rows = _draw_legend(axes, markerscale=max(1.0, 3.0 / size))
    low, high = min(coolest, *inlets_celsius), max(*redlines, *inlets_celsius)
    span = max(1.0, high - low)
    axes.set_ylim(low - (0.1 + 0.13 * rows) * span, high + 0.08 * span)


def _groups(facility: Facility) -> list[tuple[str, list[int]]]:
    """Return the nodes that have one mark, and its label: those of a type, or of all the last types."""
    nodes: dict[int, list[int]] = {j: [] for j in sorted(set(facility.nodes))}
    for v, j in enumerate(facility.nodes):
        nodes[j].append(v)
    groups = [(lettered(facility.node_types[j].name, 16), at) for j, at in nodes.items()]
    if len(groups) <= len(MARKS):
        return groups
    rest = groups[len(MARKS) - 1 :]
    return [*groups[: len(MARKS) - 1], (f"{len(rest)} other types", [v for _, at in rest for v in at])]


def _hottest(redlines: Sequence[float], inlets_celsius: Sequence[float]) -> str:
    least = min(redline - inlet for redline, inlet in zip(redlines, inlets_celsius, strict=True))
    return f"{number(least, 2)} K below" if least > AT_REDLINE else "at"


def _draw_legend(axes: Axes, *, markerscale: float) -> int:
    """Draw the legend at the foot, and return how many lines it has."""
    handles, labels = axes.get_legend_handles_labels()
    columns = legend_columns(labels, LEGEND_INCHES)
    axes.legend(
        line_by_line(handles, columns),
        line_by_line(labels, columns),
        loc="lower left",
        ncols=columns,
        fontsize=SMALL_LETTERS,
        markerscale=markerscale,
    )
    return math.ceil(len(labels) / columns)


def _runs(redlines: Sequence[float]) -> list[tuple[float, float, float]]:
    """Return each redline with where it begins and ends, nodes side by side that share it taken together."""
    found: list[tuple[float, float, float]] = []
    for v, limit in enumerate(redlines):
        start = found.pop()[1] if found and found[-1][0] == limit else v - 0.5
        found.append((limit, start, v + 0.5))
    return found


def draw_outlets(axes: Axes, facility: Facility, outlets_celsius: Sequence[float]) -> None:
    """Draw what each CRAC unit blows out, and the range that it may be set to."""
    at = range(len(outlets_celsius))
    lows, highs = zip(*(unit.outlet_celsius for unit in facility.crac_units), strict=True)
    axes.vlines(at, lows, highs, color=RULE, linewidth=min(4.0, 40.0 / len(at)), label="range")
    axes.plot(at, outlets_celsius, linestyle="none", marker="_", markersize=8, color=INK, label="outlet")
    axes.set_xlim(-0.7, len(at) - 0.3)
    if len(at) <= MOST_NAMED:
        names = [lettered(unit.name, 12) for unit in facility.crac_units]
        axes.set_xticks(list(at), names, rotation=90 if len(at) > 1 else 0)
    else:
        axes.set_xlabel("CRAC unit")
    axes.tick_params(labelleft=False)
    axes.set_title("Outlet air")
