"""Columns of arriving tasks, of days and of clusters, and what makes them valid."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from itertools import islice
from operator import le, ne
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, NamedTuple, Protocol, TypeAlias

from pydantic_core import PydanticCustomError

from lpsched.errors import Fault
from lpsched.model.fields import LARGEST, MOST, SMALLEST, Amount, check_count, describe, refusal
from lpsched.model.problems import too_many

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence


# Columns of numbers of tasks, as they are in a file: one per task, packed where all of them are valid.
MOST_TASKS: Final = 10_000_000
MOST_JOB: Final = 2**63 - 1
TYPE: Final = "task_type"
TOLD: Final = ("priority", "urgency", "utility_class", "utility")  # the columns that tell a utility
check_arrival: Final = Amount("seconds")
check_work: Final = Amount("work, by which seconds are multiplied", least=SMALLEST)


def check_job(value: object) -> int:
    """Return a whole number of 64 bits."""
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if isinstance(value, bool) or not whole or not -MOST_JOB <= value <= MOST_JOB:  # type: ignore[operator]
        raise refusal(describe(value), "a whole number of 64 bits", "correct it, or drop the column")
    return int(value)  # type: ignore[call-overload,no-any-return]


def _are_times(values: Sequence[float]) -> bool:
    if any(map(ne, values, values)):  # NaN
        return False
    return max(values, default=0.0) <= LARGEST and min(filter(None, values), default=1.0) >= SMALLEST


def _are_counts(values: Sequence[float]) -> bool:
    return _are_whole(values) and (not values or 1 <= min(values) <= max(values) <= MOST)


def _are_works(values: Sequence[float]) -> bool:
    if any(map(ne, values, values)):  # NaN
        return False
    return not values or SMALLEST <= min(values) <= max(values) <= LARGEST


def _are_jobs(values: Sequence[float]) -> bool:
    return _are_whole(values) and (not values or -MOST_JOB <= min(values) <= max(values) <= MOST_JOB)


def _are_whole(values: Sequence[float]) -> bool:
    """Tell whether all are whole numbers, perhaps written as 4.0."""
    return set(map(type, values)) <= {int} or all(isinstance(each, int) or each.is_integer() for each in values)


@dataclass(frozen=True, slots=True)
class NumberColumn:
    """One column: the check of a single number, and the quick one of many that says the same.

    Every task has a number of a column that is `needed`. An `empty` cell of another stands for a number, or
    for what is in the column of that name; without that, all tasks have a number or none has.
    """

    key: str
    check: Callable[[object], float]
    are_valid: Callable[[Sequence[float]], bool]
    code: Literal["d", "q"]  # doubles, or 64-bit numbers
    schema: dict[str, Any] = field(hash=False)  # of a single number
    needed: str = ""  # words for what must be there
    empty: float | str | None = None
    at_least: str | None = None  # the column whose number it is not below

    @property
    def all_or_none(self) -> bool:
        """Whether all tasks have a number, or none has."""
        return not self.needed and self.empty is None

    def packed(self, values: list[Any]) -> array[Any] | None:
        """Pack the numbers; `None` if any is not valid."""
        kinds = set(map(type, values))
        if kinds <= {int, float}:
            if not self.are_valid(values):
                return None
            if self.code == "q":
                return array("q", values if kinds <= {int} else map(int, values))
            return array("d", (x + 0.0 for x in values))  # turns -0.0 into 0.0, for equal hashes
        try:
            return array(self.code, map(self.check, values))  # numbers of NumPy, perhaps
        except PydanticCustomError:
            return None

    def problems(self, values: Sequence[float]) -> Iterator[Fault]:
        """Return a problem for each number that is not valid."""
        for n, each in enumerate(() if self.are_valid(values) else values):
            try:
                self.check(each)
            except PydanticCustomError as refused:
                yield Fault(("tasks", n, self.key), **(refused.context or {}))


_WORK_SCHEMA: Final = {"type": "number", "minimum": SMALLEST, "maximum": LARGEST}
ARRIVAL: Final = NumberColumn(
    "arrival_seconds", check_arrival, _are_times, "d", {"type": "number", "minimum": 0, "maximum": LARGEST}, "seconds"
)
CORES: Final = NumberColumn(
    "cores",
    check_count,
    _are_counts,
    "q",
    {"type": "integer", "minimum": 1, "maximum": MOST},
    "a whole number from 1 to 10^15",
)
WORK: Final = NumberColumn("work", check_work, _are_works, "d", _WORK_SCHEMA, empty=1.0)
REQUESTED: Final = NumberColumn(
    "requested_work", check_work, _are_works, "d", _WORK_SCHEMA, empty=WORK.key, at_least=WORK.key
)
JOB: Final = NumberColumn(
    "job", check_job, _are_jobs, "q", {"type": "integer", "minimum": -MOST_JOB, "maximum": MOST_JOB}
)


class _HasColumns(Protocol):
    @property
    def arrivals(self) -> bytes: ...

    @property
    def types(self) -> bytes: ...

    @property
    def utilities(self) -> bytes: ...

    @property
    def told(self) -> tuple[Told, ...]: ...


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

    def told_columns(self: _HasColumns) -> dict[str, list[Any]]:
        """Return the columns of a file that tell utility; `None` where a task has nothing to say."""
        cells = [(*each, None) if isinstance(each, Levels) else (None, None, None, each) for each in self.told]
        return {
            key: [cells[u][place] for u in memoryview(self.utilities).cast("q")]
            for place, key in enumerate(TOLD)
            if any(each[place] is not None for each in cells)
        }


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

    NUMBERS: ClassVar[tuple[NumberColumn, ...]] = (ARRIVAL,)

    arrivals: bytes = field(repr=False)  # doubles: seconds, never falling
    types: bytes = field(repr=False)  # 64-bit numbers of task types
    utilities: bytes = field(repr=False)  # 64-bit numbers into `told`
    told: tuple[Told, ...]  # in the order of first use

    @classmethod
    def of(cls, arrivals: Iterable[float], types: Iterable[int], utilities: Iterable[Told]) -> ArrivingTasks:
        """Pack columns of equal length; a day that holds them checks them."""
        number: dict[Told, int] = {}
        numbers = array("q", (number.setdefault(told, len(number)) for told in utilities))
        return cls(_doubles(arrivals), array("q", types).tobytes(), numbers.tobytes(), tuple(number))

    @classmethod
    def of_columns(cls, columns: Mapping[str, bytes], told: tuple[Told, ...]) -> ArrivingTasks:
        """Return the tasks that columns of a file make, packed and checked."""
        return cls(columns[ARRIVAL.key], columns[TYPE], columns["utility"], told)

    def columns(self, task_types: Sequence[str]) -> dict[str, list[Any]]:
        """Return the columns of a file that the tasks use; `None` where a task has nothing to say."""
        columns: dict[str, list[Any]] = {
            ARRIVAL.key: self.arrival_seconds.tolist(),
            TYPE: [task_types[i] for i in self.type_numbers],
        }
        return columns | self.told_columns()

    def problems(self, task_types: int | None) -> Iterator[Fault]:
        """Return what is wrong with the columns, quickly where nothing is."""
        lengths = {len(self.arrivals), len(self.types), len(self.utilities)}
        if len(lengths) > 1 or any(each % 8 for each in lengths):
            needed = "arrival, type and utility of each task"
            yield Fault(("tasks",), "columns of different lengths", needed, "complete them")
            return
        yield from _in_common(self, task_types, "use ArrivingTasks.of")


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

    NUMBERS: ClassVar[tuple[NumberColumn, ...]] = (ARRIVAL, CORES, WORK, REQUESTED, JOB)

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

    @classmethod
    def of_columns(cls, columns: Mapping[str, bytes], told: tuple[Told, ...]) -> ParallelTasks:
        """Return the tasks that columns of a file make, packed and checked."""
        return cls(
            arrivals=columns[ARRIVAL.key],
            types=columns[TYPE],
            cores=columns[CORES.key],
            work=columns[WORK.key],
            requested=columns[REQUESTED.key],
            utilities=columns["utility"],
            told=told,
            jobs=columns[JOB.key] or None,
        )

    def columns(self, task_types: Sequence[str]) -> dict[str, list[Any]]:
        """Return the columns of a file that the tasks use; what says nothing is left out."""
        columns: dict[str, list[Any]] = {
            ARRIVAL.key: self.arrival_seconds.tolist(),
            TYPE: [task_types[i] for i in self.type_numbers],
            CORES.key: self.core_counts.tolist(),
        }
        work, requested = self.work_factors.tolist(), self.requested_factors.tolist()
        if set(work) != {1.0}:
            columns[WORK.key] = work
        if requested != work:
            columns[REQUESTED.key] = requested
        if self.job_numbers is not None:
            columns[JOB.key] = self.job_numbers.tolist()
        return columns | self.told_columns()

    def problems(self, task_types: int | None) -> Iterator[Fault]:
        """Return what is wrong with the columns, quickly where nothing is."""
        lengths = {len(each) for each in (self.arrivals, self.types, self.cores, self.work, self.requested)}
        lengths |= {len(each) for each in (self.utilities, self.jobs) if each}
        if len(lengths) > 1 or any(each % 8 for each in lengths):
            needed = "arrival, type, cores, work and request of each task"
            yield Fault(("tasks",), "columns of different lengths", needed, "complete them")
            return
        yield from _in_common(self, task_types, "use ParallelTasks.of")
        if self.count > MOST_TASKS:
            return
        work, requested = self.work_factors.tolist(), self.requested_factors.tolist()
        found = [*CORES.problems(self.core_counts.tolist()), *WORK.problems(work), *REQUESTED.problems(requested)]
        yield from found
        if not found and not all(map(le, work, requested)):
            for n, (low, high) in enumerate(zip(work, requested, strict=True)):
                if high < low:
                    words = f"{high!r}, below the work of {low!r}"
                    yield Fault(("tasks", n, REQUESTED.key), words, "at least the work", "raise it")

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


def _in_common(tasks: ArrivingTasks | ParallelTasks, task_types: int | None, do: str) -> Iterator[Fault]:
    """Return the problems of arrivals, types and utilities; `task_types`: how many there are, if it is known."""
    if tasks.count > MOST_TASKS:
        yield too_many(("tasks",), tasks.count, MOST_TASKS)
        return
    arrivals = tasks.arrival_seconds.tolist()
    unsound = list(ARRIVAL.problems(arrivals))
    yield from unsound
    if not unsound and not all(map(le, arrivals, islice(arrivals, 1, None))):
        first = next(n for n in range(1, len(arrivals)) if arrivals[n] < arrivals[n - 1])
        yield falling_arrival(first, arrivals[first - 1], arrivals[first])
    numbers, told = tasks.utility_numbers.tolist(), tasks.told
    if list(dict.fromkeys(numbers)) != list(range(len(told))) or len(set(told)) < len(told):
        needed = "each way to tell a utility once, by first use"
        yield Fault(("tasks",), "numbers of utilities in another order", needed, do)
    types = tasks.type_numbers.tolist()
    if task_types is None or not types or 0 <= min(types) <= max(types) < task_types:
        return
    for n, i in enumerate(types):
        if not 0 <= i < task_types:
            needed = f"a number from 0 to {task_types - 1}, of a task type"
            yield Fault(("tasks", n, TYPE), str(i), needed, "correct it")


def falling_arrival(task: int, before: float, arrival: float) -> Fault:
    """Return the problem of a task that comes after a later one."""
    place, found = ("tasks", task, ARRIVAL.key), f"{arrival!r} s after {before!r} s"
    return Fault(place, found, "tasks by never-falling arrival", "sort them by arrival_seconds")
