"""A day: machines, and tasks that arrive and are worth the less the later they end.

    N tasks n     arrival in seconds (never falling: tasks are numbered as they arrive), task type i, utility
    m_j           machines of type j, each running one task at a time; idle ones take no energy
    e_ijk, a_ijk  seconds and watts of a task of type i on machine type j in P-state k; absent = cannot run

Of all this a period counts (`online/parts.py`), by default the whole. A `Day` is immutable and validated on
construction. This module imports no NumPy; the array views that the numerics use are in `arrays.py`.

Source: Friese, thesis of 2015, chapters 2 and 5.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Annotated, Any, ClassVar, Final

from pydantic import Field, field_serializer

from lpsched.errors import MOST_ISSUES, InputIssue, quote
from lpsched.model.base import Entries, Rule
from lpsched.model.fields import MOST, check_seconds, check_watts
from lpsched.model.table import Axes, Cells, Table, labels_differ, rows_of
from lpsched.online.arriving import ArrivingInstance, TaskTypes, half_specified
from lpsched.online.arriving_rows import Rows
from lpsched.online.parts import ArrivingTasks, DayMachineType, DayTaskType, Levels

__all__ = ["FORMAT", "ArrivingTasks", "Day", "DayMachineType", "DayTaskType", "Levels", "day_from_dict"]

FORMAT: Final = "lpsched-day/1"
MachineTypes = tuple[DayMachineType, ...]


# What the fields of a day must satisfy together, besides what `ArrivingInstance` asks: a function per rule.
def machine_types_can_be_told_apart(machine_types: MachineTypes) -> Iterator[InputIssue]:
    """Check the names of machine types and of their P-states."""
    return labels_differ(machine_types, "machine_types", "machine type")


def machines_can_be_counted(machine_types: MachineTypes) -> Iterator[InputIssue]:
    """Check that the number of machines is exact in a double."""
    total = sum(each.count for each in machine_types)
    if total > MOST:
        found = f"{total:,} machines in total"
        yield InputIssue(("machine_types",), found, "at most 10^15", "scale the instance down")


def every_task_can_run(seconds: Table, task_types: TaskTypes, arriving: ArrivingTasks) -> Iterator[InputIssue]:
    """Check that each task type of which there are tasks has a time."""
    idle = _idle(seconds)
    of_type = Counter(arriving.type_numbers.tolist()) if idle else Counter[int]()
    for i in idle:
        if of_type[i]:
            name = quote(task_types[i].name)
            found = f"no machine type that can run task type {name} ({of_type[i]:,} tasks)"
            yield InputIssue(("seconds", i), found, "at least one time", "give one a time, or drop its tasks")


def _idle(seconds: Table) -> list[int]:
    """Return the task types that no machine type can run."""
    absent = Counter(flat // seconds.columns for flat in seconds.absent())
    return [i for i in range(seconds.rows) if absent[i] == seconds.columns]


def times_and_powers_go_together(
    seconds: Table, watts: Table, machine_types: MachineTypes, task_types: TaskTypes
) -> Iterator[InputIssue]:
    """Check that the tables have the same cells."""
    places = [(j, k) for j, machine in enumerate(machine_types) for k in range(machine.modes)]
    for flat in islice(sorted(set(seconds.absent()) ^ set(watts.absent())), MOST_ISSUES):
        i, column = divmod(flat, len(places))
        j, k = places[column]
        place = (i, j) if machine_types[j].p_states is None else (i, j, k)
        yield half_specified(task_types[i], machine_types[j], k, place, has_time=seconds[i, column] is not None)


class Day(ArrivingInstance):
    """Machine types, task types, the tables between them, and the tasks that arrive.

    Raises
    ------
    InstanceError
        If a field is not valid, or the fields do not fit together; the error lists every problem.

    Examples
    --------
    Two tasks that are worth 8 if they end within a minute:

    >>> from lpsched.model.table import Table
    >>> from lpsched.online.utility import Interval, UtilityFunction
    >>> soon = UtilityFunction((Interval(0.0, 8.0, 8.0, 0.0), Interval(60.0, 0.0, 0.0, 0.0)))
    >>> tasks = ArrivingTasks.of([0.0, 1.5], [0, 0], ["soon", "soon"])
    >>> day = Day(name="two", machine_types=(DayMachineType("cpu", 1),), task_types=(DayTaskType("render"),),
    ...     seconds=Table.of([[40.0]]), watts=Table.of([[100.0]]), tasks=tasks, utility_functions={"soon": soon})
    >>> day, day.utility_of(1).at(59.0)
    (<Day 'two': 2 tasks on 1 machine (1 task type, 1 machine type)>, 8.0)
    >>> Day.model_validate(day.model_dump()) == day
    True
    """

    FORMAT: ClassVar[str] = FORMAT
    RULES: ClassVar[tuple[Rule, ...]] = (
        *ArrivingInstance.RULES,
        machine_types_can_be_told_apart,
        machines_can_be_counted,
        every_task_can_run,
        times_and_powers_go_together,
    )

    machine_types: Annotated[MachineTypes, Entries("machine type", stand_in={"count": 1})] = Field(
        description="a list of machine types"
    )
    seconds: Annotated[Table, Cells(check_seconds, axes=partial(Axes, kind="day"))] = Field(
        description="a table of seconds"
    )
    watts: Annotated[Table, Cells(check_watts, axes=partial(Axes, kind="day"))] = Field(
        description="a table of watts: schedules are judged by the energy that they take (0 where it costs nothing)"
    )
    arriving: Annotated[ArrivingTasks, Rows(ArrivingTasks)] = Field(
        alias="tasks", description="a list of tasks, or {file: NAME}"
    )

    @field_serializer("seconds", "watts")
    def _table_rows(self, table: Table) -> list[list[Any]]:
        return rows_of(table, self.machine_types)

    @property
    def machines(self) -> int:
        """How many machines there are in all."""
        return sum(machine.count for machine in self.machine_types)

    def runs_on(self) -> MachineTypes:
        """Return the machine types."""
        return self.machine_types

    def mean_seconds(self, i: int) -> float | None:
        """Return a task type's mean over the machine types that can run it, each in its first P-state that can."""
        return self._mean(self.seconds.row(i))

    def _alike(self) -> tuple[Sequence[int], Callable[[int], float | None]]:
        return self.arriving.type_numbers, self.mean_seconds

    def _said(self) -> dict[str, Any]:
        return super()._said() | {"machine_types": [each.model_dump() for each in self.machine_types]}

    def _packed(self) -> Iterator[tuple[str, bytes]]:
        tasks = self.arriving
        yield from (("d", self.seconds.packed), ("d", self.watts.packed))
        yield from (("d", tasks.arrivals), ("q", tasks.types), ("q", tasks.utilities))

    def remarks(self) -> tuple[str, ...]:
        """Return what is legal but worth a second look, in sentences."""
        idle = (self.task_types[i].name for i in _idle(self.seconds))
        return (
            *(f"no machine type can run {name!r}, and no task is of that type" for name in idle),
            *super().remarks(),
        )


def day_from_dict(raw: object, *, source: str = "day") -> Day:
    """Return the day that a mapping with the keys of a day file describes.

    The same as `Day.read`: an error, which begins with `source`, lists every problem in the order of `raw`.

    Examples
    --------
    >>> day_from_dict({"format": "lpsched-day/1", "name": "d", "machine_types": [{"name": "cpu", "count": 1}],
    ...     "task_types": [{"name": "zip"}], "seconds": [[2.0]], "watts": [[50.0]],
    ...     "utility_functions": {"film": [{"after_seconds": 0, "starts_at": 3}]},
    ...     "tasks": [{"arrival_seconds": 0, "task_type": "zip", "utility": "film"}]})
    <Day 'd': 1 task on 1 machine (1 task type, 1 machine type)>
    """
    return Day.read(raw, source)
