"""Schedules of days and of clusters, and their files."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

from pydantic_core import CoreSchema, core_schema

from lpsched.model.answers import AnswerPart, AnyName, AnyNumber, AnyWhole
from lpsched.model.fields import Checked, Message, describe
from lpsched.model.results import brief, placed_html

if TYPE_CHECKING:
    from lpsched.online.day import Day


# In schedules tasks are numbered from 0 in the order of the file, machines of a type and nodes of a cluster from 1. A
# task that is not placed is dropped: it earns nothing and takes no energy.
@dataclass(frozen=True, slots=True)
class PlacedTask(AnswerPart):
    """One task on one machine; the P-state is `None` where the machine type has none."""

    task: AnyWhole
    machine_type: AnyName
    machine: AnyWhole
    start_seconds: AnyNumber
    p_state: AnyName | None = None


@dataclass(frozen=True, slots=True)
class DaySchedule:
    """All tasks that run, in any order."""

    placed: tuple[PlacedTask, ...]
    __repr__, _repr_html_ = brief, placed_html


def schedule_of_columns(day: Day, rows: Iterable[tuple[int, int, int, float]]) -> DaySchedule:
    """Return the schedule of rows of task, column (machine type and P-state), number of the machine, and start."""
    modes = [(day.machine_types[j].name, day.p_state(column)) for column, (j, _) in enumerate(day.modes)]
    placed = (
        PlacedTask(task, modes[column][0], number, start, modes[column][1]) for task, column, number, start in rows
    )
    return DaySchedule(tuple(placed))


Nodes: TypeAlias = tuple[tuple[int, int], ...]  # first and last node of each range
RANGE: Final = re.compile(r"\s*([0-9]{1,18})\s*(?:-\s*([0-9]{1,18})\s*)?")
BETWEEN: Final = re.compile("[;,]")


class _Ranges(Checked[Nodes]):
    """Ranges of nodes as they stand in files, such as 1-4;9."""

    __slots__ = ()

    def core(self) -> CoreSchema:
        """Return what Pydantic checks."""
        text = core_schema.str_schema(pattern=r"^\s*[0-9]+[0-9\s;,-]*$")
        schema = core_schema.union_schema([text, core_schema.int_schema(ge=0)])
        return core_schema.no_info_plain_validator_function(_ranges, json_schema_input_schema=schema)

    def message(self, value: object) -> Message:
        """Return what was found, what is needed, and what to do."""
        return describe(value), "nodes as in 1-4;9", "correct it"


def _ranges(value: object) -> Nodes:
    if isinstance(value, int | float) and not isinstance(value, bool) and value == value // 1:
        return ((int(value), int(value)),)
    found = [RANGE.fullmatch(part) for part in BETWEEN.split(value)] if isinstance(value, str) else [None]
    pairs = [each.groups() for each in found if each is not None]
    if len(pairs) < len(found):
        raise ValueError("no ranges")
    return tuple(sorted((int(first), int(first if last is None else last)) for first, last in pairs))


@dataclass(frozen=True, slots=True)
class PlacedOnNodes(AnswerPart):
    """One task on nodes of one cluster; the P-state is `None` where the cluster has none.

    >>> PlacedOnNodes(0, "fat", ((1, 4), (9, 9)), 60.0).count
    5
    """

    task: AnyWhole
    cluster: AnyName
    nodes: Annotated[Nodes, _Ranges()]  # rising
    start_seconds: AnyNumber
    p_state: AnyName | None = None

    @property
    def count(self) -> int:
        """How many nodes it takes."""
        return sum(last - first + 1 for first, last in self.nodes)


@dataclass(frozen=True, slots=True)
class ClustersSchedule:
    """All tasks that run, in any order."""

    placed: tuple[PlacedOnNodes, ...]
    __repr__, _repr_html_ = brief, placed_html


# Rows of files. `task_type` and `end_seconds` follow from the instance: they are written for readers, and where a file
# has them, they are checked against the instance.
@dataclass(frozen=True, slots=True, kw_only=True)
class DayRow(AnswerPart):
    """One task on one machine, as it stands in a file; fields in the order of columns."""

    task: AnyWhole
    task_type: AnyName | None = None
    machine_type: AnyName
    machine: AnyWhole
    p_state: AnyName | None = None
    start_seconds: AnyNumber
    end_seconds: AnyNumber | None = None

    @property
    def place(self) -> str:
        """The name of the machine type."""
        return self.machine_type

    def placed(self) -> PlacedTask:
        """Return the task without what follows from the day."""
        return PlacedTask(self.task, self.machine_type, self.machine, self.start_seconds, self.p_state)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClustersRow(AnswerPart):
    """One task on nodes of one cluster, as it stands in a file; fields in the order of columns."""

    task: AnyWhole
    task_type: AnyName | None = None
    cluster: AnyName
    nodes: Annotated[Nodes, _Ranges()]
    p_state: AnyName | None = None
    start_seconds: AnyNumber
    end_seconds: AnyNumber | None = None

    @property
    def place(self) -> str:
        """The name of the cluster."""
        return self.cluster

    def placed(self) -> PlacedOnNodes:
        """Return the task without what follows from the clusters."""
        return PlacedOnNodes(self.task, self.cluster, self.nodes, self.start_seconds, self.p_state)


def written_nodes(nodes: Nodes) -> str:
    """Write ranges of nodes as they stand in files.

    >>> written_nodes(((1, 4), (9, 9)))
    '1-4;9'
    """
    return ";".join(f"{first}-{last}" if last != first else str(first) for first, last in nodes)


@dataclass(frozen=True, slots=True)
class Ran:
    """Where and when a task ran."""

    place: int  # the number of its cluster, or machine type, from 0
    nodes: Nodes  # from 1, rising
    p_state: str | None
    start_seconds: float
    end_seconds: float
    run_seconds: float
    joules: float | None  # of its whole run; `None` if not known
    earned: float  # what counts of its utility, or minus what its waiting costs

    @property
    def node_count(self) -> int:
        """How many nodes it took."""
        return sum(last - first + 1 for first, last in self.nodes)


@dataclass(frozen=True, slots=True)
class TaskRecord:
    """A task, its request, and how it ran; `ran` is `None` of a dropped task."""

    task: int
    job: int | None  # the number that it has elsewhere
    type_number: int
    cores: int
    arrival_seconds: float
    ran: Ran | None
    requested_seconds: float | None  # there where it ran


@dataclass(frozen=True, slots=True)
class PlaceRecord:
    """A cluster, or a type of machines that run one task each."""

    name: str
    nodes: int
    cores_per_node: int = 1


@dataclass(frozen=True, slots=True)
class SystemRecord:
    """What tasks ran on, and the names of their types."""

    name: str
    places: tuple[PlaceRecord, ...]
    task_types: tuple[str, ...]
    epoch: str | None = None  # the date and time of second 0
    has_own_numbers: bool = True  # no two tasks have the same number elsewhere
