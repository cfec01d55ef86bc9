"""What the cores of nodes run."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lpsched.io.pictures import drawing_style
from lpsched.report.figures import style

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    from lpsched.facility.model import Facility
    from lpsched.facility.parts import CoreAllocation, CoreFraction


# Which few of many nodes show best how task types share cores.
#
# Five are shown, as in the paper: three of the type with the most cores, two of the next (if there is none,
# five of the one). Of a type we take the nodes that run the most task types, then those with the most busy
# cores, then the first in the file; a node that runs the same task types as one before it comes only when
# there are no others.
FIRST_NODES: Final = 3  # of the type with the most cores
SHOWN_NODES: Final = 5
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
    """Return the nodes of a type, the most telling first."""
    ranked = []
    for v in (v for v, j in enumerate(facility.nodes) if j == kind):
        names = shown_types(allocation.nodes[v])
        busy = math.fsum(part.fraction for core in allocation.nodes[v] for part in core)
        ranked.append((-len(names), -round(busy, 3), v, names))  # rounding of doubles decides nothing
    ranked.sort(key=lambda each: each[:3])
    seen: set[frozenset[str]] = set()
    fresh: list[int] = []
    others: list[int] = []
    for *_, v, names in ranked:
        (others if names in seen else fresh).append(v)
        seen.add(names)
    return (*fresh, *others)


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
BLANK: Final = style.GREY  # the outline of idle time


def core_shares_picture(
    facility: Facility, allocations: Mapping[str, CoreAllocation], *, nodes: Sequence[int] | None = None
) -> Figure:
    """Draw the core shares of some allocations of a facility, one below the other, on the same nodes.

    Parameters
    ----------
    allocations
        By the title of each, such as the method that found it.
    nodes
        Which to show, as places in the file; if not given, those that tell the most of the first allocation.
    """
    nodes = nodes if nodes is not None else shown_nodes(facility, next(iter(allocations.values())))
    with drawing_style():
        marks = style.task_marks(facility)
        legend = shares_legend(allocations.values(), nodes, marks)
        figure = style.blank_picture(2.1 * len(allocations) + 0.2 + legend.height_inches)
        all_axes = figure.subplots(len(allocations), 1, squeeze=False)[:, 0]
        for axes, (title, allocation) in zip(all_axes, allocations.items(), strict=True):
            draw_core_shares(axes, facility, allocation, nodes, marks)
            axes.set_title(style.lettered(title, 60))
        legend.draw(figure)
        return figure


def draw_core_shares(
    axes: Axes,
    facility: Facility,
    allocation: CoreAllocation,
    nodes: Sequence[int],
    marks: Mapping[str, style.TaskMark],
) -> None:
    """Draw the bars of some nodes into a part of a picture."""
    places, end = [], 0.0
    for v in nodes:
        cores = min(MOST_CORES, facility.node_types[facility.nodes[v]].cores)
        places.append([end + k for k in range(cores)])
        end += cores + GAP
    numbered = style.WIDTH_INCHES * BAR / end > LEAST_ROOM
    for v, at in zip(nodes, places, strict=True):
        for place, core in zip(at, allocation.nodes[v], strict=False):  # of a huge node the first cores
            _draw_core(axes, place, fractions(core), marks, numbered=numbered)
        axes.plot([at[0] - 0.5, at[-1] + 0.5], [0.0, 0.0], color=style.INK, linewidth=style.LIMIT_LINE, clip_on=False)
    labels = [_node_label(facility, v) for v in nodes]
    axes.set_xticks([(at[0] + at[-1]) / 2 for at in places], labels)
    axes.tick_params(axis="x", length=0)
    axes.spines["bottom"].set_visible(False)
    spare = max(0.0, LEAST_CORES - end) / 2  # a lone core shall not be as broad as the picture
    axes.set_xlim(-0.5 - GAP / 2 - spare, end - 0.5 - GAP / 2 + spare)
    axes.set_ylim(0.0, 1.0)
    axes.set_yticks([0.0, 0.25, 0.5, 0.75, 1.0], ["0", "25", "50", "75", "100"])
    axes.set_ylabel("time of a core, %")


def _draw_core(
    axes: Axes, place: float, shares: Mapping[str, float], marks: Mapping[str, style.TaskMark], *, numbered: bool
) -> None:
    """Draw one core: an outline for all of its time, and what it runs from the bottom up."""
    axes.bar(place, 1.0, BAR, color="none", edgecolor=BLANK, linewidth=0.5, label="_all of its time")
    bottom = 0.0
    for name, mark in marks.items():  # the most memory-intensive first
        fraction = shares.get(name, 0.0)
        if fraction < VISIBLE:
            continue
        axes.bar(
            place,
            fraction,
            BAR,
            bottom=bottom,
            color=mark.colour,
            hatch=mark.hatch,
            edgecolor=style.INK,
            linewidth=0.5,
            label=mark.label,
        )
        if numbered and fraction >= TOLD:
            at = (place, bottom + fraction / 2)
            ground = {"facecolor": mark.colour, "edgecolor": "none", "pad": 0.2}  # no hatch behind a number
            axes.annotate(str(mark.number), at, ha="center", va="center", fontsize=6, color=mark.letters, bbox=ground)
        bottom += fraction


def _node_label(facility: Facility, v: int) -> str:
    kind = facility.node_types[facility.nodes[v]]
    cut = f"\n{MOST_CORES} of {kind.cores:,} cores" if kind.cores > MOST_CORES else ""
    return f"node {v:,}\n{style.lettered(kind.name, 16)}{cut}"


@dataclass(frozen=True, slots=True)
class SharesLegend:
    """The legend below the bars, read line by line."""

    handles: tuple[Patch, ...]

    @property
    def columns(self) -> int:
        """How many entries fit side by side."""
        return style.legend_columns(str(each.get_label()) for each in self.handles)

    @property
    def height_inches(self) -> float:
        """How high it is."""
        return LEGEND_ROW_INCHES * math.ceil(len(self.handles) / self.columns)

    def draw(self, figure: Figure) -> None:
        """Draw it below everything else."""
        handles = style.line_by_line(self.handles, self.columns)
        figure.legend(handles=handles, ncols=self.columns, loc="outside lower center")


def shares_legend(
    allocations: Iterable[CoreAllocation], nodes: Sequence[int], marks: Mapping[str, style.TaskMark]
) -> SharesLegend:
    """Return the legend: task types that the nodes run, the most memory-intensive first, and idle time."""
    from matplotlib.patches import Patch  # noqa: PLC0415 - optional

    shown = {
        name for allocation in allocations for v in nodes for name in shown_types(allocation.nodes[v][:MOST_CORES])
    }
    handles = [
        Patch(facecolor=mark.colour, hatch=mark.hatch, edgecolor=style.INK, linewidth=0.5, label=mark.label)
        for name, mark in marks.items()
        if name in shown
    ]
    idle = Patch(facecolor="none", edgecolor=BLANK, linewidth=0.5, label="idle")
    return SharesLegend((*handles, idle))
