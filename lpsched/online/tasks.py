"""Columns of arriving tasks, of days and of clusters."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class _HasColumns(Protocol):
    @property
    def arrivals(self) -> bytes: ...

    @property
    def types(self) -> bytes: ...

    @property
    def utilities(self) -> bytes: ...


class ArrivingColumns:
    """Columns of doubles and 64-bit numbers, one of each per task."""

    __slots__ = ()

    @property
    def count(self: _HasColumns) -> int:
        """How many tasks there are."""
        return len(memoryview(self.arrivals).cast("d"))

    @property
    def arrival_seconds(self: _HasColumns) -> memoryview[float]:
        """When each arrives."""
        return memoryview(self.arrivals).cast("d")

    @property
    def type_numbers(self: _HasColumns) -> memoryview[int]:
        """The type of each."""
        return memoryview(self.types).cast("q")

    @property
    def utility_numbers(self: _HasColumns) -> memoryview[int]:
        """Which of `told` each has."""
        return memoryview(self.utilities).cast("q")


# The tasks of a day, packed: when each arrives, of which type it is, and how its utility is told.
#
# A task's utility is told by three levels, or by the name of a utility function of the file's own. Few of
# these differ among many tasks, so each task has a number of one of them.
class Levels(NamedTuple):
    """A utility told by levels: how much, how urgent, and how it falls."""

    priority: str
    urgency: str
    utility_class: str


Told: TypeAlias = Levels | str


@dataclass(frozen=True, slots=True)
class ArrivingTasks(ArrivingColumns):
    """Columns of one number per task, by arrival.

    >>> tasks = ArrivingTasks.of([0.0, 2.5, 2.5], [0, 0, 1], ["film", Levels("high", "low", "A"), "film"])
    >>> tasks.count, tasks.told, tasks.utility_numbers.tolist()
    (3, ('film', Levels(priority='high', urgency='low', utility_class='A')), [0, 1, 0])
    """

    arrivals: bytes = field(repr=False)  # doubles: seconds, never falling
    types: bytes = field(repr=False)  # 64-bit numbers of task types
    utilities: bytes = field(repr=False)  # 64-bit numbers into `told`
    told: tuple[Told, ...]  # in the order of first use

    @classmethod
    def of(cls, arrivals: Iterable[float], types: Iterable[int], utilities: Iterable[Told]) -> ArrivingTasks:
        """Pack columns of equal length; a day that holds them checks them."""
        number: dict[Told, int] = {}
        numbers = array("q", (number.setdefault(told, len(number)) for told in utilities))
        seconds = array("d", (each + 0.0 for each in arrivals))  # turns -0.0 into 0.0, for equal hashes
        return cls(seconds.tobytes(), array("q", types).tobytes(), numbers.tobytes(), tuple(number))


# Tasks that arrive and take many nodes, packed: one number of each column per task.
#
# cores       how many a task needs: in a cluster with c cores per node it takes ceil(cores / c) nodes
# work        how many times the seconds of its type's table it runs; in traces, whose tables say 1 second,
# the seconds themselves
# requested   what was asked for in place of `work`: schedulers see it, and end a task that lasts longer
# never, for it is at least `work`
# job         the number that a task has elsewhere, for instance in the trace it is from
@dataclass(frozen=True, slots=True)
class ParallelTasks(ArrivingColumns):
    """Columns of one number per task, by arrival; doubles and 64-bit numbers.

    >>> tasks = ParallelTasks.of([0.0, 2.5], [0, 0], [64, 1], utilities=["film", "film"])
    >>> tasks.count, tasks.work_factors.tolist(), tasks.told
    (2, [1.0, 1.0], ('film',))
    """

    arrivals: bytes = field(repr=False)  # seconds, never falling
    types: bytes = field(repr=False)
    cores: bytes = field(repr=False)
    work: bytes = field(repr=False)
    requested: bytes = field(repr=False)
    utilities: bytes = field(repr=False)  # numbers into `told`; nothing if tasks are judged by their waiting
    told: tuple[Told, ...]  # in the order of first use
    jobs: bytes | None = field(default=None, repr=False)

    @classmethod
    def of(  # noqa: PLR0913 - one for each column
        cls,
        arrivals: Iterable[float],
        types: Iterable[int],
        cores: Sequence[int],
        *,
        work: Sequence[float] | None = None,
        requested: Sequence[float] | None = None,
        utilities: Iterable[Told] = (),
        jobs: Iterable[int] | None = None,
    ) -> ParallelTasks:
        """Pack columns of equal length; whoever holds them checks them."""
        number: dict[Told, int] = {}
        numbers = array("q", (number.setdefault(told, len(number)) for told in utilities))
        work = work if work is not None else [1.0] * len(cores)
        return cls(
            arrivals=_doubles(arrivals),
            types=array("q", types).tobytes(),
            cores=array("q", cores).tobytes(),
            work=_doubles(work),
            requested=_doubles(requested if requested is not None else work),
            utilities=numbers.tobytes(),
            told=tuple(number),
            jobs=None if jobs is None else array("q", jobs).tobytes(),
        )

    @property
    def core_counts(self) -> memoryview[int]:
        """The cores of each, without a copy."""
        return memoryview(self.cores).cast("q")

    @property
    def work_factors(self) -> memoryview[float]:
        """The work of each, without a copy."""
        return memoryview(self.work).cast("d")

    @property
    def requested_factors(self) -> memoryview[float]:
        """What was requested for each, without a copy."""
        return memoryview(self.requested).cast("d")

    @property
    def job_numbers(self) -> memoryview[int] | None:
        """The number of each elsewhere, without a copy."""
        return None if self.jobs is None else memoryview(self.jobs).cast("q")


def _doubles(values: Iterable[float]) -> bytes:
    """Pack numbers; turns -0.0 into 0.0, for equal hashes."""
    return array("d", (each + 0.0 for each in values)).tobytes()
