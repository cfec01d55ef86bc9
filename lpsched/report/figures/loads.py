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
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lpsched.bag.compare.result import machine_loads
from lpsched.io.pictures import drawing_style
from lpsched.report.figures import style
from lpsched.report.figures.machine_bars import MachineRow
from lpsched.report.html.page import Spot
from lpsched.units import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from lpsched.bag.compare.result import MachineLoad
    from lpsched.bag.model import Bag
    from lpsched.bag.parts import MachineType
    from lpsched.bag.schedule import Schedule
    from lpsched.report.figures.style import Unit

MOST_TYPES: Final = 60
MOST_NAMES: Final = 40
MOST_BARS: Final = 8  # of one machine type: more are steps
MOST_BARRED: Final = 24  # machine types: of more, all are steps
SLOT: Final = 0.8  # of the room of a machine type that its machines take
AROUND_INCHES: Final = 1.1
ROW_INCHES: Final = 0.27
MOST_INCHES: Final = 7.5
IDLE_HATCH: Final = "////"


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

    def words(self, seconds: Unit, joules: Unit) -> str:
        """Return what they do in a sentence."""
        first, last = self.loads[-1].completion_seconds, self.loads[0].completion_seconds
        done = f"{number(last / seconds.size, 4)} {seconds.name}"
        if first < last:
            done = f"{number(first / seconds.size, 4)} to {done}"
        told = f"{self.name}: {self.machines:,} machine{'s' if self.machines > 1 else ''}, done after {done}"
        if self.busy_joules is None or self.idle_joules is None:
            return told
        busy, idle = (number(each / joules.size, 4) for each in (self.busy_joules, self.idle_joules))
        return f"{told}; {busy} {joules.name} busy, {idle} {joules.name} idle"


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
    return BagLoads(
        types,
        len(every) - len(types),
        makespan,
        style.fitting(style.SECONDS, makespan),
        style.fitting(style.JOULES, joules),
    )


def _type_load(machine: MachineType, loads: Sequence[MachineLoad], makespan: float) -> TypeLoad:
    """Split the energy of a machine type; what is only rounding is no energy."""
    joules = [load.machines * load.energy_joules for load in loads if load.energy_joules is not None]
    if not joules:
        return TypeLoad(machine.name, tuple(loads), None, None)
    waited = math.fsum(load.machines * max(0.0, makespan - load.completion_seconds) for load in loads)
    idle = machine.idle_watts * waited
    return TypeLoad(machine.name, tuple(loads), max(0.0, math.fsum(joules) - idle), idle)


def loads_picture(bag: Bag, schedule: Schedule) -> Figure:
    """Draw when the machines of a valid schedule are done, and the energy of each machine type."""
    with drawing_style():
        drawn = bag_loads(bag, schedule)
        figure = style.blank_picture(loads_inches(drawn))
        draw_loads(figure, drawn)
        return figure


def loads_inches(drawn: BagLoads) -> float:
    """Return how high the picture is."""
    return AROUND_INCHES + min(MOST_INCHES, ROW_INCHES * max(3, len(drawn.types)))


def draw_loads(figure: Figure | SubFigure, drawn: BagLoads) -> None:
    """Draw machine types in rows, into a picture or a part of one."""
    several = figure.subplots(1, 2 if drawn.has_energy else 1, sharey=True, squeeze=False)[0]
    _draw_times(several[0], drawn)
    if drawn.has_energy:
        _draw_energy(several[1], drawn)
    for axes in several:
        for row in range(0, len(drawn.types), 2):
            axes.axhspan(row - 0.5, row + 0.5, color=style.STRIPE, linewidth=0, zorder=-1)
        axes.tick_params(axis="y", length=0)
        axes.set_xlim(left=0.0)
        style.write_numbers(axes.xaxis)
        style.draw_grid(axes, "x")
    _name_types(several[0], drawn)
    style.legend_above(figure, *several)


def loads_spots(bag: Bag, schedule: Schedule) -> tuple[Spot, ...]:
    """Return what to tell about each machine type, on both sides."""
    drawn = bag_loads(bag, schedule)
    found = []
    for row, each in enumerate(drawn.types):
        words = each.words(drawn.seconds, drawn.joules)
        last = each.loads[0].completion_seconds / drawn.seconds.size
        found.append(Spot(last, row, words))
        if each.busy_joules is not None and each.idle_joules is not None:
            found.append(Spot((each.busy_joules + each.idle_joules) / drawn.joules.size, row, words, 1))
    return tuple(found)


def _draw_times(axes: Axes, drawn: BagLoads) -> None:
    """Draw the completion times, and the makespan as a line."""
    for row, each in enumerate(drawn.types):
        amounts = [(load.machines, load.completion_seconds / drawn.seconds.size) for load in each.loads]
        machines = MachineRow(amounts, row - SLOT / 2, SLOT)
        label = "a machine works" if row == 0 else None
        if machines.machines <= MOST_BARS and len(drawn.types) <= MOST_BARRED:
            starts, lengths, height = machines.bars()
            axes.barh(starts, lengths, height, align="edge", color=style.BLUE, linewidth=0, label=label)
        else:
            edges, lengths = machines.steps()
            axes.stairs(lengths, edges, orientation="horizontal", fill=True, color=style.BLUE, linewidth=0, label=label)
    if drawn.makespan_seconds > 0.0:
        end = drawn.makespan_seconds / drawn.seconds.size
        label = f"makespan: {number(end, 4)} {drawn.seconds.name}"
        axes.axvline(end, color=style.INK, linewidth=style.LIMIT_LINE, linestyle="--", label=label)
        axes.set_xlim(right=1.04 * end)
    else:
        axes.annotate("nothing runs", (0.5, 0.5), xycoords="axes fraction", ha="center", style="italic")
    axes.set_xlabel(f"time, {drawn.seconds.name}")
    axes.set_title("When each machine is done")


def _draw_energy(axes: Axes, drawn: BagLoads) -> None:
    """Draw the energy of each type, busy and then idle, and the sum beside it."""
    scale = drawn.joules.size
    busy = [(each.busy_joules or 0.0) / scale for each in drawn.types]
    idle = [(each.idle_joules or 0.0) / scale for each in drawn.types]
    rows = range(len(drawn.types))
    parts = [(busy, [0.0] * len(busy), style.ORANGE, "", "energy while busy")]
    parts += [(idle, busy, "white", IDLE_HATCH, "energy while idle")] if any(idle) else []
    for widths, lefts, colour, hatch, label in parts:
        axes.barh(rows, widths, 0.6, lefts, color=colour, hatch=hatch, edgecolor=style.INK, linewidth=0.5, label=label)
    if len(drawn.types) <= MOST_NAMES:
        for row, total in enumerate(x + y for x, y in zip(busy, idle, strict=True)):
            axes.annotate(number(total, 3), (total, row), (3, 0), textcoords="offset points", va="center", fontsize=6.5)
    axes.set_xlim(right=1.14 * max(x + y for x, y in zip(busy, idle, strict=True)) or 1.0)
    axes.set_xlabel(f"energy, {drawn.joules.name}")
    axes.set_title("Energy of each machine type")


def _name_types(axes: Axes, drawn: BagLoads) -> None:
    """Name the rows from the top down, as many as there is room for."""
    rows = len(drawn.types)
    shown = range(0, rows, -(-rows // MOST_NAMES))
    names = [f"{style.lettered(drawn.types[row].name)} ({drawn.types[row].machines:,})" for row in shown]
    axes.set_yticks(list(shown), names)
    axes.set_ylim(rows - 0.5, -0.5)
    left = f"; {drawn.left_out:,} types that work less are not drawn" if drawn.left_out else ""
    axes.set_ylabel(f"machine type (machines){left}")
