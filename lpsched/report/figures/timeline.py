"""Figures of what runs when: on the nodes of clusters, and on the machines of a day."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, groupby, pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from lpsched.model.fields import column_numbers
from lpsched.model.results import along
from lpsched.online.day import Day
from lpsched.online.result.groups import UNIT_WORDS
from lpsched.online.result.policy import AS_LOGGED
from lpsched.online.result.simulation import kinds_by_worth, kinds_of
from lpsched.online.schedule import ClustersSchedule, DaySchedule
from lpsched.report.figures import style
from lpsched.report.figures.simulation import quarters
from lpsched.units import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.path import Path

    from lpsched.model.table import Floats
    from lpsched.online.clusters import Clusters
    from lpsched.online.result.policy import PolicyEntry
    from lpsched.report.figures.style import PriorityMark, Unit


# What the look of a run on nodes means: its P-state, its task type, or how long it had waited.
#
# The P-state where clusters have some; else the task type, where there are a few; else the wait. Whatever it
# is, there is an order, so that colours go from dark to light (the longer a wait, the darker), and each has a
# hatch of its own besides.
MOST_LOOKS: Final = 6  # the rest are drawn as one
MOST_TYPES: Final = 24  # more are not distinguished at all
OTHERS: Final = "all others"
NO_STATE: Final = "no P-states"
WAITS: Final = (0.0, 600.0, 7200.0, math.inf)  # seconds, at most
WAIT_NAMES: Final = ("began at once", "waited up to 10 min", "up to 2 hours", "longer")


@dataclass(frozen=True, slots=True)
class Looks:
    """The looks there are, what they mean, and that of each run, in the order of the schedule."""

    names: tuple[str, ...]
    meaning: str
    numbers: tuple[int, ...]
    light_first: bool = False  # whether colours go from light to dark


def looks_of(clusters: Clusters, schedule: ClustersSchedule) -> Looks:
    """Choose what looks mean."""
    placed, types = schedule.placed, clusters.arriving.type_numbers
    if any(cluster.modes > 1 for cluster in clusters.clusters):
        states = [state for cluster in clusters.clusters for state in cluster.p_states or (NO_STATE,)]
        return _named(states, [each.p_state or NO_STATE for each in placed], "P-state")
    found = Counter(types[each.task] for each in placed)
    if 1 < len(found) <= MOST_TYPES:
        most_first = sorted(found, key=lambda i: (-found[i], i))
        names = [clusters.task_types[i].name for i in most_first]
        return _named(names, [clusters.task_types[types[each.task]].name for each in placed], "task type")
    arrivals = clusters.arriving.arrival_seconds
    waited = [WAIT_NAMES[bisect_left(WAITS, each.start_seconds - arrivals[each.task])] for each in placed]
    return replace(_named(WAIT_NAMES, waited, "wait"), light_first=True)


def _named(order: Sequence[str], of_runs: Sequence[str], meaning: str) -> Looks:
    """Return the names that occur, in order, and which each run has; of too many, the last are one."""
    known, occur = dict.fromkeys(order), set(of_runs)
    names = [name for name in known if name in occur]
    shown = names if len(names) <= MOST_LOOKS else [*names[: MOST_LOOKS - 1], OTHERS]
    number = {name: min(place, len(shown) - 1) for place, name in enumerate(names)}
    return Looks(tuple(shown), meaning, tuple(number[name] for name in of_runs))


# Which nodes of which cluster run what, and when: what the figure of nodes over time shows.
#
# Every run is a rectangle for each range of its nodes, from its start to its end; its look shows something of
# it (`Looks`). Of more rectangles than can be seen, cells are made, a thousand in time and some hundred
# in nodes: each shows the look that takes most of it, or nothing where nodes are idle for most of it. So the
# figure stays small, however many tasks and nodes there are.
#
#     busy    of a cluster in a column of time: node-seconds that runs take of it / node-seconds that it has.
#             Until t a run takes nodes x (t - start), but at least 0, and at most nodes x (end - start).
COLUMNS: Final = 1000  # of time
ROWS: Final = 240  # of nodes, in a cluster
BUSY_COLUMNS: Final = 112
MOST_RECTANGLES: Final = 3000
MOST_CLUSTERS: Final = 12
BEYOND: Final = 0.03  # of the period's length, that is shown after its end
HALF: Final = 0.5


class Rectangle(NamedTuple):
    """Nodes between two edges (0 is that of the first node) that show one look for some seconds."""

    look: int
    low: float
    high: float
    start: float
    end: float


class Bar(NamedTuple):
    """Columns of one row that show one look, or in which one kind of task runs."""

    row: int
    kind: int
    first: int
    end: int


@dataclass(frozen=True, slots=True)
class ClusterTimes:
    """One cluster: its rectangles, and how busy it is in each of some even columns of time."""

    name: str
    nodes: int
    rectangles: tuple[Rectangle, ...]
    busy: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class NodeTimes:
    """What the figure shows, from `begin` to `end`, in seconds of the instance."""

    clusters: tuple[ClusterTimes, ...]  # the largest, where there are many
    looks: Looks
    begin: float
    end: float
    edges: tuple[float, ...]  # of the period
    unit: str  # what its nodes are: node, core or GPU
    epoch: str | None  # the date and time of second 0
    is_exact: bool  # a rectangle for each run and range, not cells

    @property
    def busy(self) -> tuple[float, ...]:
        """How busy all nodes that are shown are."""
        if len(self.clusters) == 1:
            return self.clusters[0].busy
        weights = [each.nodes for each in self.clusters]
        return tuple(np.average([each.busy for each in self.clusters], axis=0, weights=weights).tolist())


def node_times(clusters: Clusters, schedule: ClustersSchedule) -> NodeTimes:
    """Return what the nodes run."""
    looks = looks_of(clusters, schedule)
    rectangles = _rectangles(clusters, schedule, looks)
    begin, end = _span(clusters, rectangles)
    by_size = sorted(range(len(clusters.clusters)), key=lambda c: -clusters.clusters[c].nodes)
    shown = sorted(by_size[:MOST_CLUSTERS])
    is_exact = sum(len(rectangles[c]) for c in shown) <= MOST_RECTANGLES
    made = []
    for c in shown:
        name, nodes = clusters.clusters[c].name, clusters.clusters[c].nodes
        seen = [each for each in rectangles[c] if each.end > begin and each.start < end]
        own = [each._replace(start=max(begin, each.start), end=min(end, each.end)) for each in seen]
        drawn = own if is_exact else list(_cells(own, nodes, begin, end))
        made.append(ClusterTimes(name, nodes, tuple(drawn), _busy(own, nodes, begin, end)))
    own_edges = [] if clusters.period.is_whole else [clusters.period.begins_at, clusters.period.ends_at]
    edges = tuple(edge for edge in own_edges if begin <= edge <= end)
    unit = UNIT_WORDS[clusters.unit]
    return NodeTimes(tuple(made), looks, begin, end, edges, unit, clusters.epoch, is_exact)


def _rectangles(clusters: Clusters, schedule: ClustersSchedule, looks: Looks) -> list[list[Rectangle]]:
    """Return the rectangles of each cluster."""
    column_of = column_numbers(clusters.clusters)
    kinds, kind_of = clusters.kinds, memoryview(clusters.kind_numbers).cast("q")
    seconds: dict[tuple[int, int], float] = {}
    made: list[list[Rectangle]] = [[] for _ in clusters.clusters]
    for placed, look in zip(schedule.placed, looks.numbers, strict=True):
        key = kind_of[placed.task], column_of[placed.cluster, placed.p_state]
        if key not in seconds:
            seconds[key] = clusters.seconds_of(kinds[key[0]], key[1]) or 0.0
        start, end = placed.start_seconds, placed.start_seconds + seconds[key]
        own = made[clusters.modes[key[1]][0]]
        own += (Rectangle(look, first - 1, last, start, end) for first, last in placed.nodes)
    return made


def _span(clusters: Clusters, rectangles: Sequence[Sequence[Rectangle]]) -> tuple[float, float]:
    """Return what time is shown: until shortly after the period, or until the last run ends."""
    period = clusters.period
    last = max((each.end for own in rectangles for each in own), default=0.0)
    if period.length_seconds is not None:
        beyond = period.ends_at + BEYOND * period.length_seconds
        return 0.0, max(period.ends_at, min(last, beyond))
    first = clusters.arriving.arrival_seconds[0] if clusters.tasks else 0.0
    return first, max(first, last)


def _cells(rectangles: Sequence[Rectangle], nodes: int, begin: float, end: float) -> Iterator[Rectangle]:
    """Return cells, those beside each other that look alike in one."""
    rows, width = min(ROWS, nodes), (end - begin) / COLUMNS
    height = nodes / rows
    places = (
        Rectangle(
            each.look, each.low / height, each.high / height, (each.start - begin) / width, (each.end - begin) / width
        )
        for each in rectangles
    )
    for row, look, first, after in _joined_cells(places, rows, 1 + max((each.look for each in rectangles), default=0)):
        yield Rectangle(look, row * height, (row + 1) * height, begin + width * first, begin + width * after)


def _joined_cells(places: Iterable[Rectangle], rows: int, looks: int) -> Iterator[Bar]:
    """Return the look that takes most of a cell, where at least half is taken.

    Rectangles are measured in rows and columns; cells of a row side by side that look alike are joined.
    """
    taken = np.zeros((looks, rows, COLUMNS))
    for each in places:
        top, over_rows = _overlaps(each.low, each.high, rows)
        left, over_columns = _overlaps(each.start, each.end, COLUMNS)
        part = taken[each.look, top : top + len(over_rows), left : left + len(over_columns)]
        part += np.outer(over_rows, over_columns)
    shown = np.where(taken.sum(axis=0) >= HALF, taken.argmax(axis=0), -1)
    for row, line in enumerate(shown.tolist()):
        column = 0
        for look, several in groupby(line):
            first, column = column, column + len(list(several))
            if look >= 0:
                yield Bar(row, look, first, column)


def _overlaps(low: float, high: float, count: int) -> tuple[int, Floats]:
    """Return the first of the unit intervals that [low, high) touches, and how much of each it covers."""
    first = min(int(low), count - 1)
    edges = np.arange(first, min(count, int(np.ceil(high))) + 1)
    return first, np.diff(np.clip(edges, low, high))


def _busy(rectangles: Sequence[Rectangle], nodes: int, begin: float, end: float) -> tuple[float, ...]:
    """Return the busy share of each column of time."""
    if end <= begin:
        return (0.0,) * BUSY_COLUMNS
    times = np.linspace(begin, end, BUSY_COLUMNS + 1)
    _, low, high, start, after = np.array(rectangles, dtype=float).reshape(-1, 5).T
    until = [float(np.clip(at - start, 0.0, after - start) @ (high - low)) for at in times]
    shares = np.diff(until) / (nodes * np.diff(times))
    return tuple(np.clip(shares, 0.0, 1.0).tolist())  # rounding only


# The figure of nodes over time: a panel for each cluster, and below how busy they were.
#
# A panel's height grows with the root of the cluster's nodes, so that a small one can be seen beside a large
# one. A look is a colour, from dark to light in its order, and a hatch. Dashed lines are the edges of the
# period that counts.
FIRST_INCHES, MORE_INCHES, MOST_INCHES = 2.6, 0.6, 5.4  # of all panels together
LEAST_INCHES, BUSY_INCHES, AROUND_INCHES = 0.45, 1.2, 1.0
HATCHES: Final = (*style.HATCHES, "||||")
LINE: Final = 0.3
LARGE: Final = 0.004  # of all time, and of all nodes
MOST_LINES: Final = len(style.MARKS)


def node_figure(times: NodeTimes, name: str) -> Figure:
    """Draw what the nodes run under a policy."""
    roots = [cluster.nodes**0.5 for cluster in times.clusters]
    inches = min(MOST_INCHES, FIRST_INCHES + MORE_INCHES * (len(roots) - 1))
    heights = [*(max(LEAST_INCHES, inches * root / sum(roots)) for root in roots), BUSY_INCHES]
    with style.begun(AROUND_INCHES + sum(heights)) as figure:
        several = figure.subplots(len(heights), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
        unit = style.fitting(style.SECONDS, times.end)
        for axes, cluster in zip(several[:-1], times.clusters, strict=True):
            _draw_cluster(axes, times, cluster, unit)
        _draw_busy(several[-1], times, unit)
        for axes in several:
            for edge in times.edges:
                axes.axvline(edge / unit.size, color=style.RED, linestyle="--", linewidth=0.9)
        end = times.end / unit.size
        several[-1].set_xlim(times.begin / unit.size, end if times.end > times.begin else end + 1.0)
        quarters(several[-1], unit, end)
        dashed = "; dashed: the edges of the period" if times.edges else ""
        label = unit.name if times.epoch is None else style.write_dates(several[-1], times.epoch, unit)
        several[-1].set_xlabel(f"{label}, {name if name == AS_LOGGED else f'under {style.lettered(name)}'}{dashed}")
        _legends(figure, several[-1], times)
        return figure


def _draw_cluster(axes: Axes, times: NodeTimes, cluster: ClusterTimes, unit: Unit) -> None:
    """Draw the rectangles of a cluster, each look as one outline, filled, then hatched; the thinnest is a line."""
    from matplotlib.patches import PathPatch  # noqa: PLC0415 - optional

    for look, colour in enumerate(_colours(times)):
        own = [each for each in cluster.rectangles if each.look == look]
        if own:
            outline, ink = _outline(own, unit.size), style.letters_upon(colour)
            width = LINE if times.is_exact else 0.0  # and no smooth edges, or light lines would show between cells
            filled: style.Look = {"color": colour, "linewidth": width, "antialiased": times.is_exact}
            hatched: style.Look = {"fill": False, "hatch": HATCHES[look], "edgecolor": ink, "linewidth": 0.0}
            for shape in [filled, hatched] if HATCHES[look] else [filled]:
                # As a patch its outline would be measured, rectangle by rectangle.
                axes.add_artist(PathPatch(outline, rasterized=not times.is_exact, **shape))
    wide, high = LARGE * (times.end - times.begin), LARGE * sum(each.nodes for each in times.clusters)
    large = [each for each in cluster.rectangles if each.end - each.start > wide and each.high - each.low > high]
    if times.is_exact and large:  # white lines about those, so that neighbours can be distinguished
        axes.add_artist(PathPatch(_outline(large, unit.size), fill=False, edgecolor="white", linewidth=LINE))
    axes.set_title(
        f"{style.lettered(cluster.name)}, {counted(cluster.nodes, times.unit)}", fontweight="normal", fontsize=8, pad=2
    )
    axes.set_ylim(0, cluster.nodes)
    axes.set_yticks([0, cluster.nodes], ["1", f"{cluster.nodes:,}" if cluster.nodes > 1 else ""])
    axes.tick_params(axis="both", length=0)


def _colours(times: NodeTimes) -> list[str]:
    """Return the colour of each look."""
    colours = [mark.colour for mark in style.priority_marks(len(times.looks.names))]
    return colours[::-1] if times.looks.light_first else colours


def _outline(rectangles: Sequence[Rectangle], size: float = 1.0) -> Path:
    """Return rectangles as one path, their seconds in a unit of that size."""
    corners: list[tuple[float, float]] = []
    for _, low, high, start, end in rectangles:
        left, right = start / size, end / size
        corners += [(left, low), (left, high), (right, high), (right, low), (left, low)]
    return style.outline(corners)


def _draw_busy(axes: Axes, times: NodeTimes, unit: Unit) -> None:
    """Draw how busy all nodes were, and those of each cluster."""
    edges = (np.linspace(times.begin, times.end, BUSY_COLUMNS + 1) / unit.size).tolist()
    axes.stairs([100.0 * share for share in times.busy], edges, fill=True, color=style.RULE, label=f"all {times.unit}s")
    if 1 < len(times.clusters) <= MOST_LINES:
        middles = [(a + b) / 2 for a, b in pairwise(edges)]
        for place, cluster in enumerate(times.clusters):
            shares, look = [100.0 * share for share in cluster.busy], style.DASHES[place % len(style.DASHES)]
            label = style.lettered(cluster.name)
            axes.plot(middles, shares, color=style.MARKS[place][0], linestyle=look, linewidth=1.0, label=label)
    axes.set(ylim=(0.0, 100.0), ylabel=f"busy {times.unit}s, %")
    style.draw_grid(axes, "y")


def _legends(figure: Figure, busy: Axes, times: NodeTimes) -> None:
    """Say what looks mean above, and which line is which below."""
    from matplotlib.patches import Patch  # noqa: PLC0415 - optional

    labels = [style.lettered(look) for look in times.looks.names]
    if labels:
        looks = [(each, style.letters_upon(each), hatch) for each, hatch in zip(_colours(times), HATCHES, strict=False)]
        marks = [Patch(facecolor=face, edgecolor=ink, linewidth=0.0, hatch=hatch) for face, ink, hatch in looks]
        title = f"{times.looks.meaning}:"
        style.draw_legend(figure, marks, labels, "outside upper left", title=title, alignment="left")
    handles, names = busy.get_legend_handles_labels()
    if len(names) > 1:
        figure.legend(handles, names, loc="outside lower left", ncols=style.legend_columns(names))


# What each machine runs when: a row for each machine, bars for tasks, by priority.
#
# The higher the priority, the darker the bar and the taller: colour does not carry the meaning alone. The
# period is cut into a thousand columns; each shows the priority that takes most of it, or nothing where the
# machine is idle for most of it. So a day of a hundred machines stays a small file, and nothing is drawn that
# is too thin to be seen. Of more machines than there is room for, some of each type are drawn; of many
# priorities, the lowest as one.
MOST_MACHINES: Final = 120
MOST_BARS: Final = 3000  # as outlines; more are painted as points, which take less room in a file
ROW_INCHES, LEAST_ROWS_INCHES, MOST_ROWS_INCHES, LABEL_INCHES, AROUND_ROWS_INCHES = 0.17, 1.4, 8.2, 0.13, 1.0


@dataclass(frozen=True, slots=True)
class Timeline:
    """Which machines are drawn, by type, and what they run in the columns of the period."""

    machines: tuple[tuple[str, int], ...]
    kinds: tuple[str, ...]
    bars: tuple[Bar, ...]
    span_seconds: float


def timeline_of(day: Day, schedule: DaySchedule) -> Timeline:
    """Return what the machines run, column by column."""
    machines = _shown_machines(day)
    row_of = {machine: row for row, machine in enumerate(machines)}
    kinds = _named(kinds_by_worth(day), kinds_of(day), "priority")
    column_of = {(day.machine_types[j].name, day.p_state(column)): column for column, (j, _) in enumerate(day.modes)}
    types, declared, begin = day.arriving.type_numbers, day.arriving.utility_numbers, day.period.begins_at
    runs = [
        (
            row_of[placed.machine_type, placed.machine],
            kinds.numbers[declared[placed.task]],
            placed.start_seconds - begin,
            day.seconds[types[placed.task], column_of[placed.machine_type, placed.p_state]] or 0.0,
        )
        for placed in schedule.placed
        if (placed.machine_type, placed.machine) in row_of
    ]
    last = max((start + seconds for _, _, start, seconds in runs), default=0.0)
    span = day.period.length_seconds if day.period.length_seconds is not None else max(last, 0.0)
    width = span / COLUMNS
    places = (
        Rectangle(kind, row, row + 1, max(0.0, start) / width, min(span, start + seconds) / width)
        for row, kind, start, seconds in runs
    )
    bars = _joined_cells(places, len(machines), max(1, len(kinds.names))) if width else ()
    return Timeline(machines, kinds.names, tuple(bars), span)


def _shown_machines(day: Day) -> tuple[tuple[str, int], ...]:
    """Return the machines that are drawn: all, or some of each type."""
    if day.machines <= MOST_MACHINES:
        return tuple((each.name, at + 1) for each in day.machine_types for at in range(each.count))
    types = [day.machine_types[at] for at in along(len(day.machine_types), MOST_MACHINES)]
    left, others = MOST_MACHINES - len(types), sum(each.count - 1 for each in types)
    room = {each.name: (each.count, 1 + left * (each.count - 1) // max(1, others)) for each in types}
    some = {name: along(count, most) if most > 1 else [0] for name, (count, most) in room.items()}
    return tuple((name, at + 1) for name, several in some.items() for at in several)


def timeline_figure(timeline: Timeline, name: str) -> Figure:
    """Draw what the machines run in the period."""
    rows = len(timeline.machines)
    inches = max(LEAST_ROWS_INCHES, min(ROW_INCHES * rows, MOST_ROWS_INCHES))
    with style.one_panel(AROUND_ROWS_INCHES + inches) as (figure, axes):
        from matplotlib.patches import Patch  # noqa: PLC0415 - optional

        unit = style.fitting(style.SECONDS, timeline.span_seconds)
        marks = style.priority_marks(len(timeline.kinds))
        for kind, mark in enumerate(marks):
            _draw_kind(axes, timeline, kind, mark, unit)
        axes.set(xlim=(0.0, timeline.span_seconds / unit.size or 1.0), ylim=(rows, 0))
        quarters(axes, unit, timeline.span_seconds / unit.size)
        axes.set_xlabel(f"{unit.name} of the period, under {style.lettered(name)}")
        _name_types(axes, timeline.machines, rows * LABEL_INCHES / inches)
        patches = [Patch(facecolor=mark.colour, edgecolor=style.INK, linewidth=0.4) for mark in marks]
        style.draw_legend(figure, patches, [style.lettered(kind) for kind in timeline.kinds], "outside upper left")
        return figure


def _draw_kind(axes: Axes, timeline: Timeline, kind: int, mark: PriorityMark, unit: Unit) -> None:
    """Draw all bars of one kind as one outline."""
    from matplotlib.patches import PathPatch  # noqa: PLC0415 - optional

    width = timeline.span_seconds / COLUMNS / unit.size
    own = [(bar.row + style.TALLEST, bar.first * width, bar.end * width) for bar in timeline.bars if bar.kind == kind]
    if own:
        outline = _outline([Rectangle(kind, foot, foot - mark.height, *ends) for foot, *ends in own])
        look: style.Look = {"facecolor": mark.colour, "linewidth": 0, "rasterized": len(timeline.bars) > MOST_BARS}
        axes.add_artist(PathPatch(outline, **look))  # as a patch it would be measured, bar by bar


def _name_types(axes: Axes, machines: Sequence[tuple[str, int]], room: float) -> None:
    """Write each machine type beside its machines, where there is room, and divide the types by lines."""
    groups = [(name, len(list(several))) for name, several in groupby(machines, key=lambda each: each[0])]
    edges = list(accumulate((count for _, count in groups), initial=0))
    ticks: list[tuple[float, str]] = []
    for (name, _), (top, foot) in zip(groups, pairwise(edges), strict=True):
        middle = (top + foot) / 2
        if not ticks or middle - ticks[-1][0] >= room:
            ticks.append((middle, style.lettered(name)))
    axes.set_yticks([at for at, _ in ticks], [label for _, label in ticks])
    axes.tick_params(axis="y", length=0)
    for edge in edges[1:-1]:
        axes.axhline(edge, color=style.RULE, linewidth=0.5, zorder=0)


def times_figure(instance: Day | Clusters, entry: PolicyEntry) -> Figure:
    """Draw the schedule of a policy, which it has."""
    if isinstance(instance, Day):
        assert isinstance(entry.schedule, DaySchedule), "of a day"
        return timeline_figure(timeline_of(instance, entry.schedule), entry.name)
    assert isinstance(entry.schedule, ClustersSchedule), "of clusters"
    return node_figure(node_times(instance, entry.schedule), entry.name)
