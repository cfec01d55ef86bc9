"""The figure of what each machine runs when."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Final

from lpsched.bag.compare.result import along
from lpsched.io.pictures import drawing_style
from lpsched.online.day import Day
from lpsched.online.result.simulation import kinds_by_worth, kinds_of
from lpsched.online.schedule import DaySchedule
from lpsched.report.figures import style
from lpsched.report.figures.nodes import node_picture, node_times
from lpsched.report.figures.simulation import quarters

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lpsched.online.clusters import Clusters
    from lpsched.online.result.policy import PolicyEntry
    from lpsched.report.figures.style import PriorityMark, Unit


# What each machine runs when: a row for each machine, bars for tasks, by priority.
#
# The higher the priority, the darker the bar and the taller: colour does not carry the meaning alone. The
# period is cut into a thousand columns; each shows the priority that takes most of it, or nothing where the
# machine is idle for most of it. So a day of a hundred machines stays a small file, and nothing is drawn that
# is too thin to be seen. Of more machines than there is room for, some of each type are drawn.
COLUMNS: Final = 1000
MOST_MACHINES: Final = 120
MOST_KINDS: Final = 6  # those worth less are drawn as one
OTHERS: Final = "all others"
MOST_BARS: Final = 3000  # as outlines; more are painted as points, which take less room in a file
ROW_INCHES, LEAST_INCHES, MOST_INCHES, LABEL_INCHES, AROUND_INCHES = 0.17, 1.4, 8.2, 0.13, 1.0


@dataclass(frozen=True, slots=True)
class Bar:
    """Columns of one row in which one kind of task runs."""

    row: int
    kind: int
    first: int
    end: int


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
    kinds, kind_of_told = _kinds(day)
    column_of = {(day.machine_types[j].name, day.p_state(column)): column for column, (j, _) in enumerate(day.modes)}
    types, told, begin = day.arriving.type_numbers, day.arriving.utility_numbers, day.period.begins_at
    runs = [
        (
            row_of[placed.machine_type, placed.machine],
            kind_of_told[told[placed.task]],
            placed.start_seconds - begin,
            day.seconds[types[placed.task], column_of[placed.machine_type, placed.p_state]] or 0.0,
        )
        for placed in schedule.placed
        if (placed.machine_type, placed.machine) in row_of
    ]
    last = max((start + seconds for _, _, start, seconds in runs), default=0.0)
    span = day.period.length_seconds if day.period.length_seconds is not None else max(last, 0.0)
    return Timeline(machines, kinds, tuple(_bars(runs, span)), span)


def _shown_machines(day: Day) -> tuple[tuple[str, int], ...]:
    """Return the machines that are drawn: all, or some of each type."""
    if day.machines <= MOST_MACHINES:
        return tuple((each.name, at + 1) for each in day.machine_types for at in range(each.count))
    types = [day.machine_types[at] for at in along(len(day.machine_types), MOST_MACHINES)]
    left, others = MOST_MACHINES - len(types), sum(each.count - 1 for each in types)
    room = {each.name: 1 + left * (each.count - 1) // max(1, others) for each in types}
    return tuple((each.name, at + 1) for each in types for at in _some(each.count, room[each.name]))


def _some(count: int, most: int) -> list[int]:
    return along(count, most) if most > 1 else [0]


def _kinds(day: Day) -> tuple[tuple[str, ...], list[int]]:
    """Return the kinds of tasks that are told apart, and which each way to tell a utility is."""
    names = kinds_by_worth(day)
    shown = names if len(names) <= MOST_KINDS else (*names[: MOST_KINDS - 1], OTHERS)
    place = {name: min(at, len(shown) - 1) for at, name in enumerate(names)}
    return shown, [place[kind] for kind in kinds_of(day)]


def _bars(runs: Iterable[tuple[int, int, float, float]], span: float) -> Iterable[Bar]:
    """Join columns of one row that show the same kind."""
    width = span / COLUMNS
    if not width:
        return
    taken: defaultdict[tuple[int, int], defaultdict[int, float]] = defaultdict(lambda: defaultdict(float))
    for row, kind, start, seconds in runs:
        low, high = max(0.0, start) / width, min(span, start + seconds) / width
        for column in range(int(low), min(COLUMNS, int(high) + 1)):
            part = min(high, column + 1) - max(low, column)
            if part > 0.0:
                taken[row, column][kind] += part
    shown = [(row, column, _most(parts)) for (row, column), parts in sorted(taken.items())]
    for (row, kind, _), several in groupby(
        ((row, kind, column - place, column) for place, (row, column, kind) in enumerate(shown)),
        key=lambda each: each[:3],
    ):
        columns = [column for *_, column in several]
        if kind is not None:
            yield Bar(row, kind, columns[0], columns[-1] + 1)


def _most(parts: Mapping[int, float]) -> int | None:
    """Return the kind that takes most of a column; `None` if the machine is idle for most of it."""
    return max(parts, key=lambda kind: (parts[kind], -kind)) if sum(parts.values()) >= 0.5 else None  # noqa: PLR2004 - half


def timeline_picture(timeline: Timeline, name: str) -> Figure:
    """Draw what the machines run in the period."""
    with drawing_style():
        rows = len(timeline.machines)
        inches = max(LEAST_INCHES, min(ROW_INCHES * rows, MOST_INCHES))
        figure = style.blank_picture(AROUND_INCHES + inches)
        axes = figure.subplots()
        unit = style.fitting(style.SECONDS, timeline.span_seconds)
        marks = style.priority_marks(len(timeline.kinds))
        for kind, mark in enumerate(marks):
            _draw_kind(axes, timeline, kind, mark, unit)
        axes.set_xlim(0.0, timeline.span_seconds / unit.size or 1.0)
        axes.set_ylim(rows, 0)
        quarters(axes, unit, timeline.span_seconds / unit.size)
        axes.set_xlabel(f"{unit.name} of the period, under {style.lettered(name)}")
        _name_types(axes, timeline.machines, rows * LABEL_INCHES / inches)
        _legend(figure, timeline.kinds, marks)
        return figure


def _draw_kind(axes: Axes, timeline: Timeline, kind: int, mark: PriorityMark, unit: Unit) -> None:
    """Draw all bars of one kind as one outline."""
    from matplotlib.patches import PathPatch  # noqa: PLC0415 - optional
    from matplotlib.path import Path  # noqa: PLC0415 - optional

    width = timeline.span_seconds / COLUMNS / unit.size
    corners: list[tuple[float, float]] = []
    for bar in timeline.bars:
        if bar.kind == kind:
            left, right, foot = bar.first * width, bar.end * width, bar.row + style.TALLEST
            top = foot - mark.height
            corners += [(left, foot), (left, top), (right, top), (right, foot), (left, foot)]
    if corners:
        codes = [Path.MOVETO, *[Path.LINETO] * 3, Path.CLOSEPOLY] * (len(corners) // 5)
        patch = PathPatch(Path(corners, codes), facecolor=mark.colour, linewidth=0)
        patch.set_rasterized(len(timeline.bars) > MOST_BARS)
        axes.add_artist(patch)  # as a patch its outline would be measured, bar by bar


def _name_types(axes: Axes, machines: Sequence[tuple[str, int]], room: float) -> None:
    """Write each machine type beside its machines, where there is room, and divide the types by lines."""
    groups = [(name, len(list(several))) for name, several in groupby(machines, key=lambda each: each[0])]
    edges = [0]
    for _, count in groups:
        edges.append(edges[-1] + count)
    ticks: list[tuple[float, str]] = []
    for (name, _), (top, foot) in zip(groups, pairwise(edges), strict=True):
        middle = (top + foot) / 2
        if not ticks or middle - ticks[-1][0] >= room:
            ticks.append((middle, style.lettered(name)))
    axes.set_yticks([at for at, _ in ticks], [label for _, label in ticks])
    axes.tick_params(axis="y", length=0)
    for edge in edges[1:-1]:
        axes.axhline(edge, color=style.RULE, linewidth=0.5, zorder=0)


def _legend(figure: Figure, kinds: Sequence[str], looks: Sequence[PriorityMark]) -> None:
    from matplotlib.patches import Patch  # noqa: PLC0415 - optional

    labels = [style.lettered(kind) for kind in kinds]
    marks = [Patch(facecolor=look.colour, edgecolor=style.INK, linewidth=0.4) for look in looks]
    columns = style.legend_columns(labels)
    figure.legend(
        style.line_by_line(marks, columns), style.line_by_line(labels, columns), loc="outside upper left", ncols=columns
    )


def times_picture(instance: Day | Clusters, entry: PolicyEntry) -> Figure:
    """Draw the schedule of a policy, which it has."""
    assert entry.schedule is not None, "asked only where there is one"
    if isinstance(instance, Day):
        assert isinstance(entry.schedule, DaySchedule), "of a day"
        return timeline_picture(timeline_of(instance, entry.schedule), entry.name)
    assert not isinstance(entry.schedule, DaySchedule), "of clusters"
    return node_picture(node_times(instance, entry.schedule), entry.name)
