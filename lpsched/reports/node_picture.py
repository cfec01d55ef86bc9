"""The picture of nodes over time: a panel for each cluster, and below how busy they were.

A panel's height grows with the root of the cluster's nodes, so that a small one can be seen beside a large
one. A look is a colour, from dark to light in its order, and a hatch. Dashed lines are the edges of the
period that counts.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from lpsched.files.pictures import drawing_style
from lpsched.reports.front_marks import MARKS, SECONDS, fitting
from lpsched.reports.pictures import (
    INK,
    RED,
    RULE,
    blank_picture,
    draw_grid,
    legend_columns,
    lettered,
    line_by_line,
)
from lpsched.reports.priority_marks import priority_marks
from lpsched.reports.simulation_traces import quarters

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.path import Path

    from lpsched.reports.front_marks import Unit
    from lpsched.reports.node_times import ClusterTimes, NodeTimes, Rectangle

FIRST_INCHES, MORE_INCHES, MOST_INCHES = 2.6, 0.6, 5.4  # of all panels together
LEAST_INCHES, BUSY_INCHES, AROUND_INCHES = 0.45, 1.2, 1.0
HATCHES: Final = ("", "////", "----", r"\\\\", "xxxx", "||||")
DARK: Final = 0.5  # of the brightness, below which hatches are white
LINE: Final = 0.3
LARGE: Final = 0.004  # of all time, and of all nodes
MOST_LINES: Final = len(MARKS)
DASHES: Final = ("-", "--", "-.", ":")


def node_picture(times: NodeTimes, name: str) -> Figure:
    """Draw what the nodes run under a policy.

    Raises
    ------
    MissingExtraError
        If Matplotlib is not installed.
    """
    with drawing_style():
        heights = [*_heights(times), BUSY_INCHES]
        figure = blank_picture(AROUND_INCHES + sum(heights))
        several = figure.subplots(len(heights), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
        unit = fitting(SECONDS, times.end)
        for axes, cluster in zip(several[:-1], times.clusters, strict=True):
            _draw_cluster(axes, times, cluster, unit)
        _draw_busy(several[-1], times, unit)
        for axes in several:
            for edge in times.edges:
                axes.axvline(edge / unit.size, color=RED, linestyle="--", linewidth=0.9)
        end = times.end / unit.size
        several[-1].set_xlim(times.begin / unit.size, end if times.end > times.begin else end + 1.0)
        quarters(several[-1], unit, end)
        dashed = "; dashed: the edges of the period" if times.edges else ""
        several[-1].set_xlabel(f"{unit.name}, under {lettered(name)}{dashed}")
        _legends(figure, several[-1], times)
        return figure


def _heights(times: NodeTimes) -> list[float]:
    """Return how high the panels of the clusters are."""
    roots = [cluster.nodes**0.5 for cluster in times.clusters]
    inches = min(MOST_INCHES, FIRST_INCHES + MORE_INCHES * (len(roots) - 1))
    return [max(LEAST_INCHES, inches * root / sum(roots)) for root in roots]


def _draw_cluster(axes: Axes, times: NodeTimes, cluster: ClusterTimes, unit: Unit) -> None:
    """Draw the rectangles of a cluster, each look as one outline."""
    for look, colour in enumerate(_colours(times)):
        own = [each for each in cluster.rectangles if each.look == look]
        if own:
            _draw_look(axes, _outline(own, unit), colour, HATCHES[look], is_exact=times.is_exact)
    if times.is_exact:
        _draw_edges(axes, times, cluster, unit)
    nodes = "1 node" if cluster.nodes == 1 else f"{cluster.nodes:,} nodes"
    axes.set_title(f"{lettered(cluster.name)}, {nodes}", fontweight="normal", fontsize=8, pad=2)
    axes.set_ylim(0, cluster.nodes)
    axes.set_yticks([0, cluster.nodes], ["1", f"{cluster.nodes:,}" if cluster.nodes > 1 else ""])
    axes.tick_params(axis="both", length=0)


def _colours(times: NodeTimes) -> list[str]:
    """Return the colour of each look."""
    colours = [mark.colour for mark in priority_marks(len(times.looks.names))]
    return colours[::-1] if times.looks.light_first else colours


def _outline(rectangles: Sequence[Rectangle], unit: Unit) -> Path:
    """Return rectangles as one path."""
    from matplotlib.path import Path  # noqa: PLC0415 - optional

    corners: list[tuple[float, float]] = []
    for _, low, high, start, end in rectangles:
        left, right = start / unit.size, end / unit.size
        corners += [(left, low), (left, high), (right, high), (right, low), (left, low)]
    return Path(corners, [Path.MOVETO, *[Path.LINETO] * 3, Path.CLOSEPOLY] * len(rectangles))


def _draw_look(axes: Axes, outline: Path, colour: str, hatch: str, *, is_exact: bool) -> None:
    """Draw all rectangles of one look, filled, then hatched; the thinnest is a line."""
    from matplotlib.patches import PathPatch  # noqa: PLC0415 - optional

    filled = PathPatch(
        outline,
        facecolor=colour,
        edgecolor=colour,
        linewidth=LINE if is_exact else 0.0,
        antialiased=is_exact,  # else light lines would show between cells
    )
    hatched = PathPatch(outline, fill=False, hatch=hatch, edgecolor=_hatch_colour(colour), linewidth=0.0)
    for patch in [filled, *([hatched] if hatch else [])]:
        patch.set_rasterized(not is_exact)
        axes.add_artist(patch)  # as a patch its outline would be measured, rectangle by rectangle


def _draw_edges(axes: Axes, times: NodeTimes, cluster: ClusterTimes, unit: Unit) -> None:
    """Draw white lines about those that are large enough, so that neighbours can be told apart."""
    from matplotlib.patches import PathPatch  # noqa: PLC0415 - optional

    wide, high = LARGE * (times.end - times.begin), LARGE * sum(each.nodes for each in times.clusters)
    own = [
        each for each in cluster.rectangles if each.end - each.start > wide and each.high - each.low > high
    ]
    if own:
        axes.add_artist(PathPatch(_outline(own, unit), fill=False, edgecolor="white", linewidth=LINE))


def _hatch_colour(colour: str) -> str:
    """Return white upon dark colours, ink upon light ones."""
    from matplotlib.colors import to_rgb  # noqa: PLC0415 - optional

    red, green, blue = to_rgb(colour)
    return "white" if 0.3 * red + 0.59 * green + 0.11 * blue < DARK else INK


def _draw_busy(axes: Axes, times: NodeTimes, unit: Unit) -> None:
    """Draw how busy all nodes were, and those of each cluster."""
    count = len(times.busy)
    step = (times.end - times.begin) / max(1, count) / unit.size
    edges = [times.begin / unit.size + step * place for place in range(count + 1)]
    axes.stairs([100.0 * share for share in times.busy], edges, fill=True, color=RULE, label="all nodes")
    if 1 < len(times.clusters) <= MOST_LINES:
        middles = [(a + b) / 2 for a, b in pairwise(edges)]
        for place, cluster in enumerate(times.clusters):
            axes.plot(
                middles,
                [100.0 * share for share in cluster.busy],
                color=MARKS[place][0],
                linestyle=DASHES[place % len(DASHES)],
                linewidth=1.0,
                label=lettered(cluster.name),
            )
    axes.set_ylim(0.0, 100.0)
    axes.set_ylabel("busy nodes, %")
    draw_grid(axes, "y")


def _legends(figure: Figure, busy: Axes, times: NodeTimes) -> None:
    """Say what looks tell above, and which line is which below."""
    from matplotlib.patches import Patch  # noqa: PLC0415 - optional

    labels = [lettered(look) for look in times.looks.names]
    if labels:
        marks = [
            Patch(facecolor=colour, edgecolor=_hatch_colour(colour), linewidth=0.0, hatch=hatch)
            for colour, hatch in zip(_colours(times), HATCHES, strict=False)
        ]
        columns = legend_columns(labels)
        figure.legend(
            line_by_line(marks, columns),
            line_by_line(labels, columns),
            loc="outside upper left",
            ncols=columns,
            title=f"{times.looks.tell}:",
            alignment="left",
        )
    handles, names = busy.get_legend_handles_labels()
    if len(names) > 1:
        figure.legend(handles, names, loc="outside lower left", ncols=legend_columns(names))
