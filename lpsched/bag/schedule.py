"""Schedules of a bag: groups of machines that run the same tasks, or one row for each task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, ClassVar

from lpsched.bag.model import Bag
from lpsched.model.answers import AnswerPart, AnyName, AnyWhole
from lpsched.model.fields import Several, column_numbers
from lpsched.model.results import frame_of
from lpsched.units import counted, html_table

MOST_ROWS = 40  # of a schedule in a notebook


# A schedule of a bag: groups of machines that do the same. A machine runs its tasks one after the other from time 0, in
# the order of its runs. A billion tasks is a few hundred groups. All machines stay on until the makespan, which may be
# later than the last task's end: idle time lowers the average power.
@dataclass(frozen=True, slots=True)
class Run(AnswerPart):
    """Some tasks of one type in a row, in one P-state (`None` where the machine type has none)."""

    _KEYS: ClassVar[str] = "task_type count p_state?"

    task_type: AnyName
    count: AnyWhole
    p_state: AnyName | None = None


@dataclass(frozen=True, slots=True)
class MachineGroup(AnswerPart):
    """How many machines of a type run the same, and what each of them runs, in order."""

    machine_type: AnyName
    machines: AnyWhole
    runs: Annotated[tuple[Run, ...], Several()]


@dataclass(frozen=True, slots=True)
class Schedule:
    """All groups; machines in none of them stay idle. No groups at all: nothing runs.

    `makespan_seconds` is when all machines may be switched off; `None` means with the end of the last task.
    """

    groups: tuple[MachineGroup, ...]
    makespan_seconds: float | None = None

    def __repr__(self) -> str:
        """Return the sizes of the schedule."""
        machines = sum(group.machines for group in self.groups)
        tasks = sum(group.machines * run.count for group in self.groups for run in group.runs)
        return f"<Schedule: {counted(tasks, 'task')} on {counted(machines, 'machine')}>"

    def _repr_html_(self) -> str:
        counts = self._counts()
        rows = [
            (task, machine, state or "", f"{tasks:,}")
            for (task, machine, state), tasks in counts.most_common(MOST_ROWS)
        ]
        return html_table(("task type", "machine type", "P-state", "tasks"), rows)

    def to_frame(self) -> Any:  # noqa: ANN401 - pandas is no dependency
        """Return how many tasks of each type run where, as a pandas data frame.

        Its columns are `task_type`, `machine_type`, `p_state` (`None` where a machine type has none) and `tasks`.
        """
        rows = [(*key, tasks) for key, tasks in self._counts().items()]
        return frame_of(("task_type", "machine_type", "p_state", "tasks"), rows)

    def _counts(self) -> Counter[tuple[str, str, str | None]]:
        """Return the tasks of each type on each machine type in each P-state."""
        tasks: Counter[tuple[str, str, str | None]] = Counter()
        for group in self.groups:
            for run in group.runs:
                tasks[run.task_type, group.machine_type, run.p_state] += group.machines * run.count
        return tasks


NOTHING = Schedule(())


# A schedule task by task: which machine runs it, and when it starts. Machines of a type are numbered from 1. `expand`
# streams the rows of a compact schedule; nothing is held but one group, so a billion tasks take no memory.
COLUMNS = ("task_type", "machine_type", "machine", "p_state", "start_seconds")


@dataclass(frozen=True, slots=True)
class TaskRow:
    """One task; P-state and start are optional."""

    task_type: str
    machine_type: str
    machine: int
    p_state: str | None = None
    start_seconds: float | None = None


def expand(bag: Bag | Path | str, schedule: Schedule) -> Iterator[TaskRow]:
    """Yield every task of a valid schedule, machine by machine, in the order of its start."""
    bag = Bag.given(bag)
    used = [0] * len(bag.machine_types)
    for j, machines, runs in numbered(bag, schedule):
        starts: list[tuple[Fraction, float, Run]] = []
        ready = Fraction(0)
        for i, column, count in runs:
            seconds = bag.seconds[i, column]
            assert seconds is not None, "only valid schedules are expanded"
            starts.append((ready, seconds, run_of(bag, i, column, count)))
            ready += count * Fraction(seconds)
        for number in range(used[j] + 1, used[j] + machines + 1):
            for first, seconds, run in starts:
                begin = float(first)
                for k in range(run.count):
                    start = begin + k * seconds
                    yield TaskRow(run.task_type, bag.machine_types[j].name, number, run.p_state, start)
        used[j] += machines


def numbered(bag: Bag, schedule: Schedule) -> Iterator[tuple[int, int, list[tuple[int, int, int]]]]:
    """Yield each group of a valid schedule by numbers: machine type, machines, and (i, column, count) of each run."""
    row = {task.name: i for i, task in enumerate(bag.task_types)}
    kind = {machine.name: j for j, machine in enumerate(bag.machine_types)}
    column = column_numbers(bag.machine_types)
    for group in schedule.groups:
        name = group.machine_type
        yield kind[name], group.machines, [(row[r.task_type], column[name, r.p_state], r.count) for r in group.runs]


def run_of(bag: Bag, i: int, column: int, count: int) -> Run:
    """Return a run of `count` tasks of type i in the mode of a column."""
    j, k = bag.modes[column]
    states = bag.machine_types[j].p_states
    return Run(bag.task_types[i].name, count, None if states is None else states[k])


def task_counts(bag: Bag, schedule: Schedule) -> list[dict[int, int]]:
    """Return ``counts[i][column]`` of a valid schedule, as recovery starts from."""
    counts: list[dict[int, int]] = [{} for _ in bag.task_types]
    for _, machines, runs in numbered(bag, schedule):
        for i, column, count in runs:
            counts[i][column] = counts[i].get(column, 0) + machines * count
    return counts
