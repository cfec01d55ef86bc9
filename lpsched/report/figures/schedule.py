"""What the machines of a bag do: when each is done, and the energy of each type, busy and idle.

A row for each machine type. On the left its machines from top to bottom by falling completion time: a bar for
each where they are few, else steps, so that 10^6 machines are as readable as ten; a line is the makespan,
until which all machines stay on. On the right what they take together:

    idle energy  =  sum over machines of (makespan - completion) * idle watts
    busy energy  =  the rest of what the verifier measured

Of very many machine types those that work the longest are drawn.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.bag.compare.result import MachineLoad, machine_loads
from lpsched.report.figures import style
from lpsched.report.figures.fronts import MachineRow
from lpsched.report.figures.style import Tooltip
from lpsched.units import counted, duration, energy_text, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from lpsched.bag.model import Bag
    from lpsched.bag.parts import MachineType
    from lpsched.bag.schedule import Schedule
    from lpsched.report.figures.style import Unit


MOST_TYPES, MOST_NAMES = 60, 40
MOST_BARS: Final = 8  # of one machine type: more are steps
MOST_BARRED: Final = 24  # machine types: of more, all are steps
SLOT: Final = 0.8  # of the room of a machine type that its machines take
AROUND_INCHES, ROW_INCHES, MOST_INCHES = 1.1, 0.27, 7.5


@dataclass(frozen=True, slots=True)
class TypeLoad:
    """What all machines of one type do until the makespan; no energy without watts."""

    name: str
    loads: tuple[MachineLoad, ...]
    busy_joules: float | None
    idle_joules: float | None

    @property
    def machines(self) -> int:
        """How many there are."""
        return sum(load.machines for load in self.loads)

    @property
    def busy_seconds(self) -> float:
        """How long they work, all together."""
        return math.fsum(load.machines * load.completion_seconds for load in self.loads)

    def words(self) -> str:
        """Return what they do in a sentence."""
        first, last = (duration(self.loads[at].completion_seconds) for at in (-1, 0))
        done = last if first == last else f"{first} to {last}"
        text = f"{self.name}: {counted(self.machines, 'machine')}, done after {done}"
        if self.busy_joules is None or self.idle_joules is None:
            return text
        return f"{text}; {energy_text(self.busy_joules)} busy, {energy_text(self.idle_joules)} idle"


@dataclass(frozen=True, slots=True)
class BagLoads:
    """The machine types that are drawn, the makespan, and the units that fit."""

    types: tuple[TypeLoad, ...]
    left_out: int
    makespan_seconds: float
    seconds: Unit
    joules: Unit

    @property
    def has_energy(self) -> bool:
        """Whether the bag has watts."""
        return self.types[0].busy_joules is not None


def bag_loads(bag: Bag, schedule: Schedule, most: int = MOST_TYPES) -> BagLoads:
    """Return what the machine types of a valid schedule do, in the order of the bag; of very many, some."""
    loads = machine_loads(bag, schedule)
    makespan = max(load.completion_seconds for load in loads)
    makespan = schedule.makespan_seconds if schedule.makespan_seconds is not None else makespan
    of_type: dict[str, list[MachineLoad]] = {machine.name: [] for machine in bag.machine_types}
    for load in loads:
        of_type[load.machine_type].append(load)
    every = [_type_load(machine, of_type[machine.name], makespan) for machine in bag.machine_types]
    longest = sorted(range(len(every)), key=lambda j: -every[j].busy_seconds)[:most]
    types = tuple(every[j] for j in sorted(longest))
    joules = max((each.busy_joules or 0.0) + (each.idle_joules or 0.0) for each in types)
    units = style.fitting(style.SECONDS, makespan), style.fitting(style.ENERGIES, joules)
    return BagLoads(types, len(every) - len(types), makespan, *units)


def _type_load(machine: MachineType, loads: Sequence[MachineLoad], makespan: float) -> TypeLoad:
    """Split the energy of a machine type; what is only rounding is no energy."""
    joules = [load.machines * load.energy_joules for load in loads if load.energy_joules is not None]
    if not joules:
        return TypeLoad(machine.name, tuple(loads), None, None)
    waited = math.fsum(load.machines * max(0.0, makespan - load.completion_seconds) for load in loads)
    idle = machine.idle_watts * waited
    return TypeLoad(machine.name, tuple(loads), max(0.0, math.fsum(joules) - idle), idle)


def loads_figure(bag: Bag, schedule: Schedule) -> Figure:
    """Draw when the machines of a valid schedule are done, and the energy of each machine type."""
    return style.stacked(_loads_part(bag_loads(bag, schedule)))


def _loads_part(drawn: BagLoads) -> tuple[float, Callable[[Figure | SubFigure], None]]:
    inches = AROUND_INCHES + min(MOST_INCHES, ROW_INCHES * max(3, len(drawn.types)))
    return inches, lambda figure: draw_loads(figure, drawn)


def draw_loads(figure: Figure | SubFigure, drawn: BagLoads) -> None:
    """Draw machine types in rows, into a figure or a part of one."""
    several = figure.subplots(1, 2 if drawn.has_energy else 1, sharey=True, squeeze=False)[0]
    _draw_times(several[0], drawn)
    if drawn.has_energy:
        _draw_energy(several[1], drawn)
    for axes in several:
        for row in range(0, len(drawn.types), 2):
            axes.axhspan(row - 0.5, row + 0.5, color=style.STRIPE, linewidth=0, zorder=-1)
        axes.tick_params(axis="y", length=0)
        axes.set_xlim(left=0.0)
        style.write_numbers(axes.xaxis, grid="x")
    _name_types(several[0], drawn)
    style.legend_above(figure, *several)


def loads_tooltips(bag: Bag, schedule: Schedule) -> tuple[Tooltip, ...]:
    """Return the text at each machine type, on both sides."""
    drawn = bag_loads(bag, schedule)
    found = []
    for row, each in enumerate(drawn.types):
        words = each.words()
        found.append(Tooltip(each.loads[0].completion_seconds / drawn.seconds.size, row, words))
        if each.busy_joules is not None and each.idle_joules is not None:
            found.append(Tooltip((each.busy_joules + each.idle_joules) / drawn.joules.size, row, words, 1))
    return tuple(found)


def _draw_times(axes: Axes, drawn: BagLoads) -> None:
    """Draw the completion times, and the makespan as a line."""
    for row, each in enumerate(drawn.types):
        amounts = [(load.machines, load.completion_seconds / drawn.seconds.size) for load in each.loads]
        machines = MachineRow(amounts, row - SLOT / 2, SLOT)
        label = "a machine works" if row == 0 else None
        bars = machines.machines <= MOST_BARS and len(drawn.types) <= MOST_BARRED
        machines.draw(axes, style.BLUE, bars=bars, across=True, label=label)
    if drawn.makespan_seconds > 0.0:
        end = drawn.makespan_seconds / drawn.seconds.size
        label = f"makespan: {duration(drawn.makespan_seconds)}"
        axes.axvline(end, color=style.INK, linewidth=style.LIMIT_LINE, linestyle="--", label=label)
        axes.set_xlim(right=1.04 * end)
    else:
        axes.annotate("nothing runs", (0.5, 0.5), xycoords="axes fraction", ha="center", style="italic")
    axes.set(xlabel=f"time, {drawn.seconds.name}", title="When each machine is done")


def _draw_energy(axes: Axes, drawn: BagLoads) -> None:
    """Draw the energy of each type, busy and then idle, and the sum beside it."""
    scale = drawn.joules.size
    busy = [(each.busy_joules or 0.0) / scale for each in drawn.types]
    idle = [(each.idle_joules or 0.0) / scale for each in drawn.types]
    rows = range(len(drawn.types))
    parts = [(busy, [0.0] * len(busy), style.ORANGE, "", "energy while busy")]
    parts += [(idle, busy, "white", "////", "energy while idle")] if any(idle) else []
    for widths, lefts, colour, hatch, label in parts:
        axes.barh(rows, widths, 0.6, lefts, color=colour, hatch=hatch, edgecolor=style.INK, linewidth=0.5, label=label)
    if len(drawn.types) <= MOST_NAMES:
        for row, total in enumerate(x + y for x, y in zip(busy, idle, strict=True)):
            style.write_beside(axes, number(total, 3), (total, row), 3, fontsize=6.5)
    axes.set_xlim(right=1.14 * max(x + y for x, y in zip(busy, idle, strict=True)) or 1.0)
    axes.set(xlabel=f"energy, {drawn.joules.name}", title="Energy of each machine type")


def _name_types(axes: Axes, drawn: BagLoads) -> None:
    """Name the rows from the top down, as many as there is room for."""
    rows = len(drawn.types)
    shown = range(0, rows, -(-rows // MOST_NAMES))
    texts = style.shortened([each.name for each in drawn.types])
    names = [f"{texts[row]} ({drawn.types[row].machines:,})" for row in shown]
    axes.set_yticks(list(shown), names)
    axes.set_ylim(rows - 0.5, -0.5)
    left = f"; {drawn.left_out:,} types that work less are not drawn" if drawn.left_out else ""
    axes.set_ylabel(f"machine type (machines){left}")


# Which tasks run where: a map of task types by machine types, shaded by how many of a type run there.
#
#     share of (i, j)  =  tasks of type i that machine type j runs, in any P-state, of all tasks of type i
#
# The darker a cell, the larger its share; numbers are percentages, where there is room. A pair that cannot run
# is hatched, or grey where a cell is too small for that. Names are thinned where they would touch, and of very
# many types those with the most tasks, or that run the most, are drawn.
MOST_ROWS, MOST_COLUMNS = 240, 120
MOST_CELLS: Final = 2_500  # drawn one by one; more are pixels
MOST_NUMBERED_COLUMNS: Final = 16
MAP_ROW_INCHES: Final = 0.17
LEAST_MAP_INCHES, MOST_MAP_INCHES = 0.7, 8.0  # of the map
AROUND_MAP_INCHES: Final = 1.45  # names of machine types above, the scale of shades below
NAME_INCHES, COLUMN_NAME_INCHES = 0.13, 0.2  # that the name of a row, or of a column, needs at least
MAP_WIDTH_INCHES: Final = style.WIDTH_INCHES - 1.6
NUMBER_INCHES: Final = 0.12  # that a row needs for numbers in it
LETTER_INCHES: Final = 0.075
LONGEST_NAME: Final = 18  # letters of a machine type
SHADES: Final = "Blues"  # from white to dark, also in grey
DARK: Final = 0.55  # a share from which on numbers are white
LEAST_SHARE: Final = 0.005  # less is written as "<1"


@dataclass(frozen=True, slots=True)
class Shares:
    """How many tasks of each type run on each machine type; `None` where a pair cannot run."""

    tasks: tuple[str, ...]
    task_counts: tuple[int, ...]
    machines: tuple[str, ...]
    counts: tuple[tuple[int | None, ...], ...]
    tasks_left_out: int = 0
    machines_left_out: int = 0

    @property
    def many(self) -> bool:
        """Whether the cells are no more than pixels."""
        return len(self.tasks) * len(self.machines) > MOST_CELLS

    def share(self, i: int, j: int) -> float:
        """Return the share of a task type that a machine type runs."""
        return (self.counts[i][j] or 0) / self.task_counts[i]

    def words(self, i: int, j: int) -> str:
        """Return a cell in a sentence."""
        pair = f"{self.tasks[i]} on {self.machines[j]}"
        count = self.counts[i][j]
        if count is None:
            return f"{pair}: cannot run"
        return f"{pair}: {count:,} of {self.task_counts[i]:,} tasks ({number(100 * self.share(i, j), 3)} %)"


def shares_of(bag: Bag, schedule: Schedule) -> Shares:
    """Return where the tasks of a schedule run; of very many types, the largest."""
    counts: Counter[tuple[str, str]] = Counter()
    for group in schedule.groups:
        for run in group.runs:
            counts[run.task_type, group.machine_type] += group.machines * run.count
    run_by: Counter[str] = Counter()
    for (_, machine), tasks_run in counts.items():
        run_by[machine] += tasks_run
    rows = _largest([task.count for task in bag.task_types], MOST_ROWS)
    columns = _largest([run_by[machine.name] for machine in bag.machine_types], MOST_COLUMNS)
    modes: dict[int, list[int]] = {}
    for mode, (j, _) in enumerate(bag.modes):
        modes.setdefault(j, []).append(mode)
    tasks, machines = [bag.task_types[i] for i in rows], [bag.machine_types[j].name for j in columns]
    runs = [[any(bag.seconds[i, mode] is not None for mode in modes[j]) for j in columns] for i in rows]
    found = tuple(
        tuple(counts[task.name, name] if can else None for name, can in zip(machines, able, strict=True))
        for task, able in zip(tasks, runs, strict=True)
    )
    left_out = len(bag.task_types) - len(rows), len(bag.machine_types) - len(columns)
    names, sizes = tuple(task.name for task in tasks), tuple(task.count for task in tasks)
    return Shares(names, sizes, tuple(machines), found, *left_out)


def _largest(sizes: Sequence[int], most: int) -> list[int]:
    """Return the places of the largest, in their own order."""
    return sorted(sorted(range(len(sizes)), key=lambda place: -sizes[place])[:most])


def share_map(bag: Bag, schedule: Schedule) -> Figure:
    """Draw which share of each task type runs on which machine type."""
    return style.stacked(_map_part(shares_of(bag, schedule)))


def _map_part(shares: Shares) -> tuple[float, Callable[[Figure | SubFigure], None]]:
    return _cells_inches(shares) + AROUND_MAP_INCHES, lambda figure: draw_map(figure, shares)


def _cells_inches(shares: Shares) -> float:
    return min(MOST_MAP_INCHES, max(LEAST_MAP_INCHES, MAP_ROW_INCHES * len(shares.tasks)))


def draw_map(figure: Figure | SubFigure, shares: Shares) -> None:
    """Draw the map into a figure or a part of one."""
    axes, inches = figure.subplots(), _cells_inches(shares)
    rows, columns = range(len(shares.tasks)), range(len(shares.machines))
    percents = np.array([[100.0 * shares.share(i, j) for j in columns] for i in rows])
    percents[percents == 0.0] = np.nan  # is white, and not the first shade
    style.draw_cells(axes, percents, SHADES, 100.0, many=shares.many)
    _draw_absent(axes, shares)
    if inches / len(shares.tasks) >= NUMBER_INCHES and len(shares.machines) <= MOST_NUMBERED_COLUMNS:
        _write_shares(axes, shares)
    _name(axes, shares, inches)
    style.add_scale(figure, axes, "share of the task type's tasks, %", pad=0.02, anchor=(0.0, 1.0))
    if axes.patches:
        beside = axes.legend(loc="upper right", bbox_to_anchor=(1.0, 0.0))
        beside.set_in_layout(False)  # the scale of shades is as high as it


def share_tooltips(bag: Bag, schedule: Schedule) -> tuple[Tooltip, ...]:
    """Return the text at the cells that run something; of many, at those that run the most tasks."""
    shares = shares_of(bag, schedule)
    cells = [(count, i, j) for i, row in enumerate(shares.counts) for j, count in enumerate(row) if count]
    return style.cell_tooltips(cells, lambda _, i, j: shares.words(i, j))


def _draw_absent(axes: Axes, shares: Shares) -> None:
    """Hatch the pairs that cannot run, as one shape, in which neighbours are joined."""
    from matplotlib.patches import PathPatch  # noqa: PLC0415 - optional

    corners: list[tuple[float, float]] = []
    for i, row in enumerate(shares.counts):
        for left, right in _absent_ranges(row):
            corners += [(left, i), (right, i), (right, i + 1), (left, i + 1), (left, i)]
    if corners:
        hatch = None if shares.many else style.HATCH  # in a pixel it would be noise
        shade = style.FORBIDDEN if shares.many else style.STRIPE
        shape = PathPatch(style.outline(corners), facecolor=shade, edgecolor=style.GREY, hatch=hatch, linewidth=0.0)
        shape.set(zorder=2, label="cannot run")
        axes.add_patch(shape)


def _absent_ranges(row: Sequence[int | None]) -> list[tuple[int, int]]:
    """Return where pairs that cannot run begin and end.

    >>> _absent_ranges([None, None, 3, None])
    [(0, 2), (3, 4)]
    """
    found: list[tuple[int, int]] = []
    for j, count in enumerate(row):
        if count is None:
            joined = found and found[-1][1] == j
            start = found.pop()[0] if joined else j
            found.append((start, j + 1))
    return found


def _write_shares(axes: Axes, shares: Shares) -> None:
    """Write percentages into the cells that run something."""
    for i, j in np.ndindex(len(shares.tasks), len(shares.machines)):
        if shares.counts[i][j]:
            share = shares.share(i, j)
            words, colour = f"{100 * share:.0f}", "white" if share > DARK else style.INK
            words = words if share >= LEAST_SHARE else "<1"
            axes.text(j + 0.5, i + 0.5, words, ha="center", va="center", fontsize=6, color=colour)


def _name(axes: Axes, shares: Shares, inches: float) -> None:
    """Name rows and columns, as many as there is room for, and say how many types are not drawn."""
    rows, columns = len(shares.tasks), len(shares.machines)
    every_row = max(1, -(-rows * NAME_INCHES // inches))
    every_column = max(1, -(-columns * COLUMN_NAME_INCHES // MAP_WIDTH_INCHES))
    down, across = range(0, rows, int(every_row)), range(0, columns, int(every_column))
    tasks, machines = style.shortened(shares.tasks), style.shortened(shares.machines, LONGEST_NAME)
    axes.set_yticks([i + 0.5 for i in down], [tasks[i] for i in down])
    axes.xaxis.tick_top()
    names = [machines[j] for j in across]
    axes.set_xticks([j + 0.5 for j in across], names)
    if max(map(len, names)) * LETTER_INCHES > MAP_WIDTH_INCHES / len(names):
        style.slant(axes, "left")
    axes.tick_params(length=0 if every_row == every_column == 1 else 2, labelsize=7)
    if shares.tasks_left_out:
        axes.set_ylabel(f"task type; {shares.tasks_left_out:,} types with fewer tasks are not drawn")
    if shares.machines_left_out:
        axes.set_title(f"{shares.machines_left_out:,} machine types that run less are not drawn", pad=12)


def schedule_figure(bag: Bag, schedule: Schedule) -> Figure:
    """Draw a valid schedule."""
    return style.stacked(_loads_part(bag_loads(bag, schedule)), _map_part(shares_of(bag, schedule)))
