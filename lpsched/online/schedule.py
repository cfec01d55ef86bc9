"""Schedules of days and of clusters, and their files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lpsched.online.day import Day


# A schedule of a day: which machine runs which task, in which P-state, and from when on.
#
# Tasks are numbered from 0 in the order of the day's file, machines of a type from 1. A task that is not
# placed is dropped: it earns nothing and takes no energy.
@dataclass(frozen=True, slots=True)
class PlacedTask:
    """One task on one machine; the P-state is `None` where the machine type has none."""

    task: int
    machine_type: str
    machine: int
    start_seconds: float
    p_state: str | None = None


@dataclass(frozen=True, slots=True)
class DaySchedule:
    """All tasks that run, in any order."""

    placed: tuple[PlacedTask, ...]


def schedule_of_columns(day: Day, rows: Iterable[tuple[int, int, int, float]]) -> DaySchedule:
    """Return the schedule of rows of task, column (machine type and P-state), number of the machine, and start."""
    modes = [(day.machine_types[j].name, day.p_state(column)) for column, (j, _) in enumerate(day.modes)]
    placed = (
        PlacedTask(task, modes[column][0], number, start, modes[column][1]) for task, column, number, start in rows
    )
    return DaySchedule(tuple(placed))


# A schedule of clusters: which nodes run which task, in which P-state, and from when on.
#
# Tasks are numbered from 0 in the order of the file, nodes of a cluster from 1. A task that is not placed is
# dropped: it earns nothing and takes no energy. How long a task runs, the instance says.
Nodes: TypeAlias = tuple[tuple[int, int], ...]  # first and last node of each range


@dataclass(frozen=True, slots=True)
class PlacedOnNodes:
    """One task on nodes of one cluster; the P-state is `None` where the cluster has none.

    >>> PlacedOnNodes(0, "fat", ((1, 4), (9, 9)), 60.0).count
    5
    """

    task: int
    cluster: str
    nodes: Nodes  # rising
    start_seconds: float
    p_state: str | None = None

    @property
    def count(self) -> int:
        """How many nodes it takes."""
        return sum(last - first + 1 for first, last in self.nodes)


@dataclass(frozen=True, slots=True)
class ClustersSchedule:
    """All tasks that run, in any order."""

    placed: tuple[PlacedOnNodes, ...]


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
    joules: float | None  # of its whole run; `None` if nobody knows
    earned: float  # what counts of its utility, or minus what its waiting costs

    @property
    def node_count(self) -> int:
        """How many nodes it took."""
        return sum(last - first + 1 for first, last in self.nodes)


@dataclass(frozen=True, slots=True)
class ToldTask:
    """A task, what was asked for it, and how it ran; a task that was dropped never did."""

    task: int
    job: int | None  # the number that it has elsewhere
    type_number: int
    cores: int
    arrival_seconds: float
    ran: Ran | None
    requested_seconds: float | None  # there where it ran


@dataclass(frozen=True, slots=True)
class ToldPlace:
    """A cluster, or a type of machines that run one task each."""

    name: str
    nodes: int
    cores_per_node: int = 1


@dataclass(frozen=True, slots=True)
class ToldSystem:
    """What tasks ran on, and the names of their types."""

    name: str
    places: tuple[ToldPlace, ...]
    task_types: tuple[str, ...]
