"""Tasks of a day or of clusters as they ran, one by one: what exports write."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lpsched.schedule.clusters import Nodes


@dataclass(frozen=True, slots=True)
class Ran:
    """Where and when a task ran.

    Attributes
    ----------
    place
        The number of its cluster, or machine type, from 0.
    nodes
        Which of them, from 1: ranges, rising.
    joules
        Of its whole run; `None` if nobody knows.
    earned
        What counts of its utility, or minus what its waiting costs.
    """

    place: int
    nodes: Nodes
    p_state: str | None
    start_seconds: float
    end_seconds: float
    run_seconds: float
    joules: float | None
    earned: float

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
