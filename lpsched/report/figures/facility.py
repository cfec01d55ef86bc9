"""Figures of a facility: what its cores run, its machine room with air and power, and what methods earn."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from lpsched.io.figure_files import drawing_style
from lpsched.report.figures import style
from lpsched.units import counted, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    from lpsched.facility.model import Facility
    from lpsched.facility.parts import CoreAllocation, CoreFraction
    from lpsched.model.provenance import Estimate


# Which few of many nodes show best how task types share cores.
#
# Five are shown, as in the paper: three of the type with the most cores, two of the next (if there is none,
# five of the one). Of a type we take the nodes that run the most task types, then those with the most busy
# cores, then the first in the file; a node that runs the same task types as one before it comes only when
# there are no others.
FIRST_NODES, SHOWN_NODES = 3, 5  # of the type with the most cores, and in all
VISIBLE: Final = 0.001  # of the time; less would be thinner than a line


def shown_nodes(facility: Facility, allocation: CoreAllocation) -> tuple[int, ...]:
    """Return the nodes to show, as places in the file."""
    kinds = sorted(set(facility.nodes), key=lambda j: (-facility.node_types[j].cores, j))
    first = _chosen(facility, allocation, kinds[0])
    if len(kinds) == 1:
        return tuple(sorted(first[:SHOWN_NODES]))
    second = _chosen(facility, allocation, kinds[1])
    return (*sorted(first[:FIRST_NODES]), *sorted(second[: SHOWN_NODES - FIRST_NODES]))


def _chosen(facility: Facility, allocation: CoreAllocation, kind: int) -> tuple[int, ...]:
    """Return the nodes of a type, the most informative first."""
    ranked = []
    for v in (v for v, j in enumerate(facility.nodes) if j == kind):
        names = shown_types(allocation.nodes[v])
        busy = math.fsum(part.fraction for core in allocation.nodes[v] for part in core)
        ranked.append((-len(names), -round(busy, 3), v, names))  # rounding of doubles decides nothing
    ranked.sort(key=lambda each: each[:3])
    fresh = set({names: v for *_, v, names in reversed(ranked)}.values())  # the first that runs just these
    return tuple(sorted((v for _, _, v, _ in ranked), key=lambda v: v not in fresh))


def shown_types(cores: Sequence[Sequence[CoreFraction]]) -> frozenset[str]:
    """Return the task types that can be seen on some of the cores."""
    return frozenset(name for core in cores for name, fraction in fractions(core).items() if fraction >= VISIBLE)


def fractions(core: Sequence[CoreFraction]) -> dict[str, float]:
    """Return the fraction of each task type; one may come in several parts."""
    found: dict[str, float] = {}
    for part in core:
        found[part.task_type] = found.get(part.task_type, 0.0) + part.fraction
    return found


# Which task types share which cores: the paper's figure 3.
#
# A bar is a core, its parts the fractions of its time for each task type, the most memory-intensive at the
# bottom; what is left blank is idle. Cores of one node stand together, for they slow each other down.
#
# Of a huge node the first cores are shown, and the label says so. Which nodes are shown: `shown_nodes`.
#
# Source: Oxley and others, section VI, figure 3.
MOST_CORES: Final = 16  # of a node
LEAST_CORES: Final = 10  # that there is room for
TOLD: Final = 0.06  # of the time, from which a part has room for its number
BAR: Final = 0.86  # of the room of a core
GAP: Final = 0.7  # of it, between nodes
LEAST_ROOM: Final = 0.13  # inches of a bar, for a number of two digits
LEGEND_ROW_INCHES: Final = 0.17


def core_shares_figure(
    facility: Facility, allocations: Mapping[str, CoreAllocation], *, nodes: Sequence[int] | None = None
) -> Figure:
    """Draw the core shares of some allocations, by their titles, one below the other, on the same nodes.

    Nodes are places in the file; if not given, the most informative of the first allocation.
    """
    nodes = nodes if nodes is not None else shown_nodes(facility, next(iter(allocations.values())))
    with drawing_style():
        marks = style.task_marks(facility)
        legend = shares_legend(allocations.values(), nodes, marks)
        figure = style.blank_figure(2.1 * len(allocations) + 0.2 + _legend_inches(legend))
        all_axes = figure.subplots(len(allocations), 1, squeeze=False)[:, 0]
        for axes, (title, allocation) in zip(all_axes, allocations.items(), strict=True):
            draw_core_shares(axes, facility, allocation, nodes, marks)
            axes.set_title(style.lettered(title, 60))
        style.draw_legend(figure, list(legend.values()), list(legend), "outside lower center")
        return figure


def draw_core_shares(
    axes: Axes,
    facility: Facility,
    allocation: CoreAllocation,
    nodes: Sequence[int],
    marks: Mapping[str, style.TaskMark],
) -> None:
    """Draw the bars of some nodes into a part of a figure."""
    places, labels, end = [], [], 0.0
    for v in nodes:
        kind = facility.node_types[facility.nodes[v]]
        cores = min(MOST_CORES, kind.cores)
        places.append([end + k for k in range(cores)])
        end += cores + GAP
        cut = f"\n{MOST_CORES} of {kind.cores:,} cores" if kind.cores > MOST_CORES else ""
        labels.append(f"node {v:,}\n{style.lettered(kind.name, 16)}{cut}")
    numbered = style.WIDTH_INCHES * BAR / end > LEAST_ROOM
    for v, at in zip(nodes, places, strict=True):
        for place, core in zip(at, allocation.nodes[v], strict=False):  # of a huge node the first cores
            _draw_core(axes, place, fractions(core), marks, numbered=numbered)
        axes.plot([at[0] - 0.5, at[-1] + 0.5], [0.0, 0.0], color=style.INK, linewidth=style.LIMIT_LINE, clip_on=False)
    axes.set_xticks([(at[0] + at[-1]) / 2 for at in places], labels)
    axes.tick_params(axis="x", length=0)
    axes.spines["bottom"].set_visible(False)
    spare = max(0.0, LEAST_CORES - end) / 2  # a lone core shall not be as broad as the figure
    axes.set(xlim=(-0.5 - GAP / 2 - spare, end - 0.5 - GAP / 2 + spare), ylim=(0.0, 1.0))
    axes.set_yticks([0.0, 0.25, 0.5, 0.75, 1.0], ["0", "25", "50", "75", "100"])
    axes.set_ylabel("time of a core, %")


def _draw_core(
    axes: Axes, place: float, shares: Mapping[str, float], marks: Mapping[str, style.TaskMark], *, numbered: bool
) -> None:
    """Draw one core: an outline for all of its time, and what it runs from the bottom up."""
    axes.bar(place, 1.0, BAR, color="none", edgecolor=style.GREY, linewidth=0.5, label="_all of its time")
    bottom = 0.0
    for name, mark in marks.items():  # the most memory-intensive first
        fraction = shares.get(name, 0.0)
        if fraction < VISIBLE:
            continue
        look: style.Look = {"hatch": mark.hatch, "edgecolor": style.INK, "linewidth": 0.5, "label": mark.label}
        axes.bar(place, fraction, BAR, bottom=bottom, color=mark.colour, **look)
        if numbered and fraction >= TOLD:
            at = (place, bottom + fraction / 2)
            ground = {"facecolor": mark.colour, "edgecolor": "none", "pad": 0.2}  # no hatch behind a number
            axes.annotate(str(mark.number), at, ha="center", va="center", fontsize=6, color=mark.letters, bbox=ground)
        bottom += fraction


def shares_legend(
    allocations: Iterable[CoreAllocation], nodes: Sequence[int], marks: Mapping[str, style.TaskMark]
) -> dict[str, Patch]:
    """Return the legend's signs: task types that the nodes run, the most memory-intensive first, and idle time."""
    from matplotlib.patches import Patch  # noqa: PLC0415 - optional

    shown = {
        name for allocation in allocations for v in nodes for name in shown_types(allocation.nodes[v][:MOST_CORES])
    }
    signs = {
        mark.label: Patch(facecolor=mark.colour, hatch=mark.hatch, edgecolor=style.INK, linewidth=0.5)
        for name, mark in marks.items()
        if name in shown
    }
    return signs | {"idle": Patch(facecolor="none", edgecolor=style.GREY, linewidth=0.5)}


def _legend_inches(signs: Mapping[str, Patch]) -> float:
    return LEGEND_ROW_INCHES * math.ceil(len(signs) / style.legend_columns(signs))


# The air of a room: what every node draws in against its redline, and what the CRAC units blow out.
#
# Nodes stand in the order of the file, which is often that of the racks; each type has its own mark.
# Where there are more types than marks, the last is for the rest.
COLOURS: Final = (style.BLUE, style.ORANGE, style.GREEN, style.PURPLE, style.SKY, style.YELLOW, style.VERMILION)
MARKS: Final = tuple(zip("os^DvPX*", (*COLOURS, style.GREY), strict=True))
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
        inlets = [(v, inlets_celsius[v]) for v in at]
        style.draw_dots(axes, inlets, marker, colour, ms=size, label=label, rasterized=count > MOST_DOTS)
    limits, starts, ends = zip(*_runs(redlines), strict=True)
    look: style.Look = {"color": style.RED, "linewidth": style.LIMIT_LINE, "rasterized": len(limits) > MOST_DOTS}
    axes.hlines(limits, starts, ends, label="redline", **look)
    axes.set_xlim(-0.5 - 0.01 * count, count - 0.5 + 0.01 * count)
    if count <= MOST_TICKS:  # where a locator would put fractions of nodes
        axes.set_xticks(range(count))
    axes.set(xlabel="node, by its place in the file", ylabel="air drawn in, °C")
    least = min(redline - inlet for redline, inlet in zip(redlines, inlets_celsius, strict=True))
    hottest = f"{number(least, 2)} K below" if least > AT_REDLINE else "at"
    axes.set_title(f"Inlet air: the hottest node is {hottest} its redline")
    handles, labels = axes.get_legend_handles_labels()
    look = {"markerscale": max(1.0, 3.0 / size), "width_inches": LEGEND_INCHES}
    style.draw_legend(axes, handles, labels, "lower left", fontsize=style.SMALL_LETTERS, **look)
    rows = math.ceil(len(labels) / style.legend_columns(labels, LEGEND_INCHES))
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
#
# Parts of a bar have a name, a colour and a hatch.
PARTS: Final = (("overhead", style.SKY, "////"), ("cores", style.BLUE, ""), ("cooling", style.RULE, r"\\\\"))
MOST_TYPES: Final = 8  # node types in rows of their own
KILO: Final = 1e4  # watts, from which they are written in kilowatts


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
        label = f"{style.lettered(kind.name, 16)} ({counted(len(drawn), 'node')})"
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
        look: style.Look = {"color": colour, "hatch": hatch, "edgecolor": style.INK, "linewidth": 0.5, "label": name}
        axes.barh(range(len(rows)), widths, 0.7, left=lefts, **look)
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


# The room in one figure: how warm the nodes are, where the power goes, and what the cores run.
#
#     top      the air that each node draws in, in the order of the file, below its redline; beside it the air
#              that each CRAC unit blows out, within its range
#     middle   watts of each node type, overhead and cores, and of the cooling; all together below the cap
#     bottom   which task types share which cores (above)
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
    @property
    def crac_inlets_celsius(self) -> Sequence[float]: ...  # noqa: D102
    @property
    def heat_removed_watts(self) -> Sequence[float]: ...  # noqa: D102


def room_figure(facility: Facility, measured: Measured, cores: CoreAllocation) -> Figure:
    """Draw the room of an allocation core by core; its outlet temperatures are those of the room."""
    with drawing_style():
        marks, nodes = style.task_marks(facility), shown_nodes(facility, cores)
        legend = shares_legend([cores], nodes, marks)
        rows = power_rows(facility, measured.node_watts, measured.cooling_watts)
        heights = [2.3, 0.6 + 0.22 * len(rows), 2.2]
        figure = style.blank_figure(sum(heights) + 0.4 + _legend_inches(legend))
        grid = figure.add_gridspec(3, 2, height_ratios=heights, width_ratios=[5.5, 1.0])
        inlets = figure.add_subplot(grid[0, 0])
        draw_outlets(figure.add_subplot(grid[0, 1], sharey=inlets), facility, cores.outlets_celsius)
        draw_inlets(inlets, facility, measured.node_inlets_celsius, coolest=min(cores.outlets_celsius))
        draw_power(figure.add_subplot(grid[1, :]), rows, facility.power_cap_watts)
        shares = figure.add_subplot(grid[2, :])
        draw_core_shares(shares, facility, cores, nodes, marks)
        shares.set_title("Which task types share which cores")
        style.draw_legend(figure, list(legend.values()), list(legend), "outside lower center")
        return figure


# What methods earn, in bars, as the paper's figure 2.
#
# Bars: the reward rate of each method with co-location (CRR) plain, and without (RR) hatched where it is given;
# both as shares of what all arrivals would bring, as means of several trials with 95 % confidence intervals.
# The bound is a line that no verified allocation passes. Nothing is solved here: the numbers are given.
#
# Source: Oxley and others, section VI, figure 2.
METHOD_BAR: Final = 0.36  # of the room of a method


@dataclass(frozen=True, slots=True)
class MethodReward:
    """What one method earns, as a share of what all arrivals would bring."""

    name: str
    colocated: Estimate  # CRR
    plain: Estimate | None = None  # RR


def reward_bars_figure(methods: Sequence[MethodReward], *, bound: Estimate | None = None) -> Figure:
    """Draw what methods earn as bars, and the bound (of the co-located reward rate) as a line."""
    with style.one_panel(3.4) as (figure, axes):
        half = METHOD_BAR / 2
        plain = [(place - half, each.plain) for place, each in enumerate(methods) if each.plain is not None]
        if plain:
            _draw_bars(axes, plain, style.ORANGE, "////", "reward rate as if cores did not slow each other (RR)")
        shifts = [0.0 if each.plain is None else half for each in methods]
        colocated = [(place + shifts[place], each.colocated) for place, each in enumerate(methods)]
        _draw_bars(axes, colocated, style.SKY, "", "co-located reward rate (CRR)")
        if bound is not None:
            draw_bound(axes, bound, "bound of the co-located reward rate")
        axes.set_xticks(range(len(methods)), [style.lettered(each.name, 16) for each in methods])
        axes.tick_params(axis="x", length=0)
        axes.set_ylim(bottom=0.0)
        axes.set_ylabel("reward rate, % of what all arrivals bring")
        axes.yaxis.set_major_formatter(lambda share, _: f"{100 * share:g}")
        figure.legend(loc="outside upper left", ncols=1)
        return figure


def _draw_bars(axes: Axes, bars: Sequence[tuple[float, Estimate]], colour: str, hatch: str, label: str) -> None:
    """Draw some bars with their intervals, and the mean at its foot."""
    means = [each.mean for _, each in bars]
    widths = [each.half_width or 0.0 for _, each in bars]
    look: style.Look = {"color": colour, "hatch": hatch, "edgecolor": style.INK, "linewidth": 0.5, "label": label}
    whisker = {"elinewidth": 0.8, "ecolor": style.INK}
    yerr = widths if any(widths) else None
    axes.bar([place for place, _ in bars], means, METHOD_BAR, yerr=yerr, capsize=3, error_kw=whisker, **look)
    ground = style.paper(0.15)
    look = {"textcoords": "offset points", "ha": "center", "fontsize": style.SMALL_LETTERS, "bbox": ground}
    for place, each in bars:  # at the foot, where neither interval nor bound is
        axes.annotate(f"{100 * each.mean:.3g}", (place, 0.0), (0, 6), **look)


def draw_bound(axes: Axes, bound: Estimate, label: str) -> None:
    """Draw a bound as a line, with its interval."""
    if bound.half_width:
        ends = bound.mean - bound.half_width, bound.mean + bound.half_width
        axes.axhspan(*ends, color=style.BLUE, alpha=0.15, linewidth=0)
    axes.axhline(bound.mean, color=style.BLUE, linestyle="--", linewidth=style.LIMIT_LINE, label=label)
