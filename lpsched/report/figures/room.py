"""A machine room: air, power, and what its nodes run."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from lpsched.io.pictures import drawing_style
from lpsched.report.figures import style
from lpsched.report.figures.cores import draw_core_shares, shares_legend, shown_nodes
from lpsched.units import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lpsched.facility.model import Facility
    from lpsched.facility.parts import CoreAllocation


# The air of a room: what every node draws in against its redline, and what the CRAC units blow out.
#
# Nodes stand in the order of the file, which is often that of the racks; each type has its own mark.
MARKS: Final = (  # of node types in turn: marker and colour; where there are more, the last is for the rest
    ("o", style.BLUE),
    ("s", style.ORANGE),
    ("^", style.GREEN),
    ("D", style.PURPLE),
    ("v", style.SKY),
    ("P", style.YELLOW),
    ("X", style.VERMILION),
    ("*", style.GREY),
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
        color=style.RED,
        linewidth=style.LIMIT_LINE,
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
    groups = [(style.lettered(facility.node_types[j].name, 16), at) for j, at in nodes.items()]
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
    columns = style.legend_columns(labels, LEGEND_INCHES)
    axes.legend(
        style.line_by_line(handles, columns),
        style.line_by_line(labels, columns),
        loc="lower left",
        ncols=columns,
        fontsize=style.SMALL_LETTERS,
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
    axes.vlines(at, lows, highs, color=style.RULE, linewidth=min(4.0, 40.0 / len(at)), label="range")
    axes.plot(at, outlets_celsius, linestyle="none", marker="_", markersize=8, color=style.INK, label="outlet")
    axes.set_xlim(-0.7, len(at) - 0.3)
    if len(at) <= MOST_NAMED:
        names = [style.lettered(unit.name, 12) for unit in facility.crac_units]
        axes.set_xticks(list(at), names, rotation=90 if len(at) > 1 else 0)
    else:
        axes.set_xlabel("CRAC unit")
    axes.tick_params(labelleft=False)
    axes.set_title("Outlet air")


# Where the power of a room goes: to node types, their overhead and their cores, and to the cooling.
PARTS: Final = (  # of a bar: name, colour, hatch
    ("overhead", style.SKY, "////"),
    ("cores", style.BLUE, ""),
    ("cooling", style.RULE, r"\\\\"),
)
MOST_TYPES: Final = 8  # node types in rows of their own
KILO: Final = 1e4  # watts, from which they are told in kilowatts


@dataclass(frozen=True, slots=True)
class PowerRow:
    """What one bar of the power says: watts of the overhead, of the cores and of the cooling."""

    label: str
    overhead: float = 0.0
    cores: float = 0.0
    cooling: float = 0.0


def power_rows(facility: Facility, node_watts: Sequence[float], cooling_watts: Sequence[float]) -> list[PowerRow]:
    """Return the watts of each node type, of the cooling, and of all; small types together in one row."""
    kinds = []
    for j in sorted(set(facility.nodes)):
        kind = facility.node_types[j]
        drawn = [watts for at, watts in zip(facility.nodes, node_watts, strict=True) if at == j]
        overhead = len(drawn) * kind.overhead_watts
        label = f"{style.lettered(kind.name, 16)} ({len(drawn):,} node{'s' if len(drawn) > 1 else ''})"
        kinds.append(PowerRow(label, overhead, max(0.0, math.fsum(drawn) - overhead)))
    cooling = math.fsum(cooling_watts)
    total = PowerRow("all", sum(each.overhead for each in kinds), sum(each.cores for each in kinds), cooling)
    if len(kinds) > MOST_TYPES:
        kinds.sort(key=lambda each: -(each.overhead + each.cores))
        few = kinds[MOST_TYPES - 1 :]
        rest = sum(each.overhead for each in few), sum(each.cores for each in few)
        kinds = [*kinds[: MOST_TYPES - 1], PowerRow(f"{len(few)} other types", *rest)]
    return [*kinds, PowerRow("cooling", cooling=cooling), total]


def draw_power(axes: Axes, rows: Sequence[PowerRow], cap_watts: float) -> None:
    """Draw the rows as bars from the top down, each part with its hatch, and the cap as a line."""
    unit, scale = ("kW", 1e-3) if cap_watts >= KILO else ("W", 1.0)
    lefts = [0.0] * len(rows)
    for name, colour, hatch in PARTS:
        widths = [scale * getattr(row, name) for row in rows]
        axes.barh(
            range(len(rows)),
            widths,
            0.7,
            left=lefts,
            color=colour,
            hatch=hatch,
            edgecolor=style.INK,
            linewidth=0.5,
            label=name,
        )
        lefts = [left + width for left, width in zip(lefts, widths, strict=True)]
    for place, end in enumerate(lefts):
        axes.annotate(number(end, 4), (end, place), (3, 0), textcoords="offset points", va="center")
    cap = scale * cap_watts
    axes.axvline(cap, color=style.RED, linewidth=style.LIMIT_LINE)
    axes.annotate("cap", (cap, 1.0), (3, -8), ("data", "axes fraction"), "offset points", color=style.RED)
    axes.set_yticks(range(len(rows)), [row.label for row in rows])
    axes.tick_params(axis="y", length=0)
    axes.invert_yaxis()
    axes.set_xlim(0.0, 1.12 * max(cap, *lefts))
    style.write_numbers(axes.xaxis)
    axes.set_xlabel(f"power, {unit}")
    axes.set_title(f"Power: {number(lefts[-1], 4)} {unit} of the cap of {number(cap, 4)} {unit}")
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.2, ncols=3, fontsize=style.SMALL_LETTERS)


# The room in one picture: how warm the nodes are, where the power goes, and what the cores run.
#
#     top      the air that each node draws in, in the order of the file, below its redline; beside it the air
#              that each CRAC unit blows out, within its range
#     middle   watts of each node type, overhead and cores, and of the cooling; all together below the cap
#     bottom   which task types share which cores (`cores.py`)
#
# The numbers are those of the verifier. Bars begin at 0; temperatures do not, for 0 celsius means nothing
# here.
class Measured(Protocol):
    """What the verifier measures; see `lpsched.facility.verify.Measurement`."""

    @property
    def node_watts(self) -> Sequence[float]: ...  # noqa: D102 - the verifier says what they are
    @property
    def node_inlets_celsius(self) -> Sequence[float]: ...  # noqa: D102
    @property
    def cooling_watts(self) -> Sequence[float]: ...  # noqa: D102


def room_picture(facility: Facility, measured: Measured, cores: CoreAllocation) -> Figure:
    """Draw the room of an allocation.

    Parameters
    ----------
    measured
        What the verifier measured.
    cores
        The allocation core by core; its outlet temperatures are those of the room.
    """
    with drawing_style():
        marks, nodes = style.task_marks(facility), shown_nodes(facility, cores)
        legend = shares_legend([cores], nodes, marks)
        rows = power_rows(facility, measured.node_watts, measured.cooling_watts)
        heights = [2.3, 0.6 + 0.22 * len(rows), 2.2]
        figure = style.blank_picture(sum(heights) + 0.4 + legend.height_inches)
        grid = figure.add_gridspec(3, 2, height_ratios=heights, width_ratios=[5.5, 1.0])
        inlets = figure.add_subplot(grid[0, 0])
        draw_outlets(figure.add_subplot(grid[0, 1], sharey=inlets), facility, cores.outlets_celsius)
        draw_inlets(inlets, facility, measured.node_inlets_celsius, coolest=min(cores.outlets_celsius))
        draw_power(figure.add_subplot(grid[1, :]), rows, facility.power_cap_watts)
        shares = figure.add_subplot(grid[2, :])
        draw_core_shares(shares, facility, cores, nodes, marks)
        shares.set_title("Which task types share which cores")
        legend.draw(figure)
        return figure
