"""Parts of days and clusters: columns of arriving tasks, the period that counts, machine types and clusters."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from operator import le, ne
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Literal, NamedTuple, Self, TypeAlias

from pydantic_core import PydanticCustomError

from lpsched.errors import InputIssue, InstanceError
from lpsched.model.base import Part
from lpsched.model.fields import (
    LARGEST,
    MOST,
    SMALLEST,
    Amount,
    Count,
    Name,
    OneOf,
    PStates,
    WithPStates,
    check_count,
    describe,
    rejection,
)
from lpsched.model.problems import too_many
from lpsched.model.results import brief
from lpsched.units import counted

MOST_TASKS: Final = 10_000_000
MOST_JOB: Final = 2**63 - 1
TYPE: Final = "task_type"
UTILITY_COLUMNS: Final = ("priority", "urgency", "utility_class", "utility")  # the columns that declare a utility


def check_job(value: object) -> int:
    """Return a whole number of 64 bits."""
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if isinstance(value, bool) or not whole or not -MOST_JOB <= value <= MOST_JOB:  # type: ignore[operator]
        raise rejection(describe(value), "a whole number of 64 bits", "correct it, or drop the column")
    return int(value)  # type: ignore[call-overload,no-any-return]


@dataclass(frozen=True, slots=True)
class NumberColumn:
    """One column: the check of a single number, and the quick one of many that says the same.

    Every task has a number of a column that is `needed`. An `empty` cell of another stands for a number, or
    for what is in the column of that name; without that, all tasks have a number or none has.
    """

    key: str
    check: Callable[[object], float]
    code: Literal["d", "q"]  # doubles, or 64-bit numbers
    least: float  # 0 stands for itself, and for what is not below SMALLEST
    most: float
    needed: str = ""  # words for what must be there
    empty: float | str | None = None
    at_least: str | None = None  # the column whose number it is not below

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of a single number."""
        return {"type": "number" if self.code == "d" else "integer", "minimum": self.least, "maximum": self.most}

    def are_valid(self, values: Sequence[float]) -> bool:
        """Return quickly whether all numbers are valid; whole ones may be written as 4.0."""
        if self.code == "d":
            is_valid = not any(map(ne, values, values))  # no NaN
        else:
            is_valid = set(map(type, values)) <= {int} or all(
                isinstance(each, int) or each.is_integer() for each in values
            )
        if not is_valid:
            return False
        some, least = (values, self.least) if self.least else (list(filter(None, values)), SMALLEST)
        return not some or least <= min(some) <= max(some) <= self.most

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

    def problems(self, values: Sequence[float]) -> Iterator[InputIssue]:
        """Return a problem for each number that is not valid."""
        for n, each in enumerate(() if self.are_valid(values) else values):
            try:
                self.check(each)
            except PydanticCustomError as refused:
                yield InputIssue(("tasks", n, self.key), **(refused.context or {}))


_WORK: Final = Amount("work, by which seconds are multiplied", least=SMALLEST)
ARRIVAL: Final = NumberColumn("arrival_seconds", Amount("seconds"), "d", 0, LARGEST, "seconds")
CORES: Final = NumberColumn("cores", check_count, "q", 1, MOST, "a whole number from 1 to 10^15")
WORK: Final = NumberColumn("work", _WORK, "d", SMALLEST, LARGEST, empty=1.0)
REQUESTED: Final = NumberColumn("requested_work", _WORK, "d", SMALLEST, LARGEST, empty=WORK.key, at_least=WORK.key)
JOB: Final = NumberColumn("job", check_job, "q", -MOST_JOB, MOST_JOB)
LOGGED_START: Final = NumberColumn("logged_start_seconds", Amount("seconds"), "d", 0, LARGEST, at_least=ARRIVAL.key)


# The utility of a task is declared by three levels, or by the name of a utility function of the file. Few of these
# differ among many tasks, so each task has a number of one of them.
class Levels(NamedTuple):
    """A utility declared by levels: how much, how urgent, and how it falls."""

    priority: str
    urgency: str
    utility_class: str


DeclaredUtility: TypeAlias = Levels | str

_IN_COMMON: Final = {ARRIVAL.key: "arrivals", TYPE: "types", "utility": "utilities"}


class ArrivingColumns:
    """Columns of doubles and 64-bit numbers, one of each per task, by arrival."""

    __slots__ = ()
    NUMBERS: ClassVar[tuple[NumberColumn, ...]]
    _HELD: ClassVar[dict[str, str]]  # the field that holds each column of a file
    _MAY_LACK: ClassVar[tuple[str, ...]] = ()  # fields that may hold nothing
    _OPTIONAL: ClassVar[tuple[str, ...]] = ()  # those of them that are then `None`
    _NEEDED: ClassVar[str]
    if TYPE_CHECKING:
        arrivals: bytes
        types: bytes
        utilities: bytes
        declared: tuple[DeclaredUtility, ...]

    @classmethod
    def of_columns(cls, columns: Mapping[str, bytes], declared: tuple[DeclaredUtility, ...]) -> Self:
        """Return the tasks that columns of a file make, packed and checked."""
        held = {field: columns[key] for key, field in cls._HELD.items() if columns[key] or field not in cls._OPTIONAL}
        return cls(declared=declared, **held)  # type: ignore[call-arg]

    @property
    def count(self) -> int:
        """How many tasks there are."""
        return len(self.arrival_seconds)

    def headline(self) -> str:
        """Return the number of tasks."""
        return counted(self.count, "task")

    @property
    def arrival_seconds(self) -> memoryview[float]:
        """When each arrives."""
        return memoryview(self.arrivals).cast("d")

    @property
    def type_numbers(self) -> memoryview[int]:
        """The type of each."""
        return memoryview(self.types).cast("q")

    @property
    def utility_numbers(self) -> memoryview[int]:
        """The number of the declared utility of each."""
        return memoryview(self.utilities).cast("q")

    def columns(self, task_types: Sequence[str]) -> dict[str, Sequence[Any]]:
        """Return the columns of a file that the tasks use; `None` where a task has nothing to say."""
        columns: dict[str, Sequence[Any]] = {ARRIVAL.key: self.arrival_seconds}
        types = {TYPE: [task_types[i] for i in self.type_numbers]}
        cells = [(*each, None) if isinstance(each, Levels) else (None, None, None, each) for each in self.declared]
        declared = {
            key: [cells[u][place] for u in self.utility_numbers]
            for place, key in enumerate(UTILITY_COLUMNS)
            if any(each[place] is not None for each in cells)
        }
        return columns | types | self._more_columns() | declared

    def _more_columns(self) -> dict[str, Sequence[Any]]:
        return {}

    def problems(self, task_types: int | None) -> Iterator[InputIssue]:
        """Return what is wrong with the columns, quickly where nothing is; `task_types`: how many, if it is known."""
        held = {field: getattr(self, field) for field in self._HELD.values()}
        lengths = {len(each) for field, each in held.items() if each or field not in self._MAY_LACK}
        if len(lengths) > 1 or any(each % 8 for each in lengths):
            yield InputIssue(
                ("tasks",), "columns of different lengths", f"{self._NEEDED} of each task", "complete them"
            )
            return
        if self.count > MOST_TASKS:
            yield too_many(("tasks",), self.count, MOST_TASKS)
            return
        arrivals = self.arrival_seconds
        invalid = list(ARRIVAL.problems(arrivals))
        yield from invalid
        if not invalid and not all(map(le, arrivals, islice(arrivals, 1, None))):
            first = next(n for n in range(1, len(arrivals)) if arrivals[n] < arrivals[n - 1])
            yield falling_arrival(first, arrivals[first - 1], arrivals[first])
        numbers, declared = self.utility_numbers, self.declared
        if list(dict.fromkeys(numbers)) != list(range(len(declared))) or len(set(declared)) < len(declared):
            needed = "each declared utility once, by first use"
            do = f"use {type(self).__name__}.of"
            yield InputIssue(("tasks",), "numbers of utilities in another order", needed, do)
        types = self.type_numbers
        if task_types is not None and types and not 0 <= min(types) <= max(types) < task_types:
            for n, i in enumerate(types):
                if not 0 <= i < task_types:
                    needed = f"a number from 0 to {task_types - 1}, of a task type"
                    yield InputIssue(("tasks", n, TYPE), str(i), needed, "correct it")
        yield from self._more_problems()

    def _more_problems(self) -> Iterator[InputIssue]:
        yield from ()


def falling_arrival(task: int, before: float, arrival: float) -> InputIssue:
    """Return the problem of a task that comes after a later one."""
    place, found = ("tasks", task, ARRIVAL.key), f"{arrival!r} s after {before!r} s"
    return InputIssue(place, found, "tasks by never-falling arrival", "sort them by arrival_seconds")


def _doubles(values: Iterable[float]) -> bytes:
    """Pack numbers; turns -0.0 into 0.0, for equal hashes."""
    return array("d", (each + 0.0 for each in values)).tobytes()


def _numbered(utilities: Iterable[DeclaredUtility]) -> tuple[bytes, tuple[DeclaredUtility, ...]]:
    """Return the number of each utility, packed, and what the numbers stand for, in the order of first use."""
    number: dict[DeclaredUtility, int] = {}
    numbers = array("q", (number.setdefault(declared, len(number)) for declared in utilities))
    return numbers.tobytes(), tuple(number)


@dataclass(frozen=True, slots=True)
class ArrivingTasks(ArrivingColumns):
    """The tasks of a day, packed: columns of one number per task, by arrival.

    >>> tasks = ArrivingTasks.of([0.0, 2.5, 2.5], [0, 0, 1], ["film", Levels("high", "low", "A"), "film"])
    >>> tasks.count, tasks.declared, tasks.utility_numbers.tolist()
    (3, ('film', Levels(priority='high', urgency='low', utility_class='A')), [0, 1, 0])
    """

    NUMBERS: ClassVar = (ARRIVAL,)
    _HELD: ClassVar = _IN_COMMON
    _NEEDED: ClassVar = "arrival, type and utility"
    __repr__ = brief

    arrivals: bytes = field(repr=False)  # doubles: seconds, never falling
    types: bytes = field(repr=False)  # 64-bit numbers of task types
    utilities: bytes = field(repr=False)  # 64-bit numbers of declared utilities
    declared: tuple[DeclaredUtility, ...]  # in the order of first use

    @classmethod
    def of(cls, arrivals: Iterable[float], types: Iterable[int], utilities: Iterable[DeclaredUtility]) -> ArrivingTasks:
        """Pack columns of equal length; a day that holds them checks them."""
        return cls(_doubles(arrivals), array("q", types).tobytes(), *_numbered(utilities))


# Columns of parallel tasks:
#     cores       in a cluster with c cores per node a task takes ceil(cores / c) nodes
#     work        how many times the seconds of its type's table it runs; in traces, whose tables say 1 second, its
#                 seconds
#     requested   the work that was requested, at least `work`: schedulers plan with it
#     job         the number that a task has elsewhere, for instance in the log it is from
#     logged_start_seconds   when it started in that log, counted as arrivals are
@dataclass(frozen=True, slots=True)
class ParallelTasks(ArrivingColumns):
    """Columns of one number per task, by arrival; doubles and 64-bit numbers.

    >>> tasks = ParallelTasks.of([0.0, 2.5], [0, 0], [64, 1], utilities=["film", "film"])
    >>> tasks.count, tasks.work_factors.tolist(), tasks.declared
    (2, [1.0, 1.0], ('film',))
    """

    NUMBERS: ClassVar = (ARRIVAL, CORES, WORK, REQUESTED, JOB, LOGGED_START)
    _HELD: ClassVar = _IN_COMMON | {
        CORES.key: "cores",
        WORK.key: "work",
        REQUESTED.key: "requested",
        JOB.key: "jobs",
        LOGGED_START.key: "logged_starts",
    }
    _OPTIONAL: ClassVar = ("jobs", "logged_starts")
    _MAY_LACK: ClassVar = ("utilities", *_OPTIONAL)
    _NEEDED: ClassVar = "arrival, type, cores, work and request"
    __repr__ = brief

    arrivals: bytes = field(repr=False)  # seconds, never falling
    types: bytes = field(repr=False)
    cores: bytes = field(repr=False)
    work: bytes = field(repr=False)
    requested: bytes = field(repr=False)
    utilities: bytes = field(repr=False)  # numbers of declared utilities; nothing if waiting has a cost
    declared: tuple[DeclaredUtility, ...]  # in the order of first use
    jobs: bytes | None = field(default=None, repr=False)
    logged_starts: bytes | None = field(default=None, repr=False)

    @classmethod
    def of(  # noqa: PLR0913 - one for each column
        cls,
        arrivals: Iterable[float],
        types: Iterable[int],
        cores: Sequence[int],
        *,
        work: Sequence[float] | None = None,
        requested: Sequence[float] | None = None,
        utilities: Iterable[DeclaredUtility] = (),
        jobs: Iterable[int] | None = None,
        logged_starts: Iterable[float] | None = None,
    ) -> ParallelTasks:
        """Pack columns of equal length; the clusters that hold them check them."""
        numbers, declared = _numbered(utilities)
        work = work if work is not None else [1.0] * len(cores)
        return cls(
            arrivals=_doubles(arrivals),
            types=array("q", types).tobytes(),
            cores=array("q", cores).tobytes(),
            work=_doubles(work),
            requested=_doubles(requested if requested is not None else work),
            utilities=numbers,
            declared=declared,
            jobs=None if jobs is None else array("q", jobs).tobytes(),
            logged_starts=None if logged_starts is None else _doubles(logged_starts),
        )

    def _more_columns(self) -> dict[str, Sequence[Any]]:
        columns: dict[str, Sequence[Any]] = {CORES.key: self.core_counts}
        work, requested = self.work_factors, self.requested_factors
        if any(each != 1.0 for each in work):
            columns[WORK.key] = work
        if requested != work:
            columns[REQUESTED.key] = requested
        if self.job_numbers is not None:
            columns[JOB.key] = self.job_numbers
        if self.logged_start_seconds is not None:
            columns[LOGGED_START.key] = self.logged_start_seconds
        return columns

    def _more_problems(self) -> Iterator[InputIssue]:
        work, requested = self.work_factors, self.requested_factors
        found = [*CORES.problems(self.core_counts), *WORK.problems(work), *REQUESTED.problems(requested)]
        yield from found
        if not found and not all(map(le, work, requested)):
            for n, (low, high) in enumerate(zip(work, requested, strict=True)):
                if high < low:
                    words = f"{high!r}, below the work of {low!r}"
                    yield InputIssue(("tasks", n, REQUESTED.key), words, "at least the work", "raise it")
        logged = self.logged_start_seconds
        starts = () if logged is None else logged
        invalid = list(LOGGED_START.problems(starts))
        yield from invalid
        for n, (arrival, start) in enumerate(() if invalid else zip(self.arrival_seconds, starts, strict=False)):
            if start < arrival:
                words = f"{start!r} s, before its arrival at {arrival!r} s"
                yield InputIssue(("tasks", n, LOGGED_START.key), words, "at least the arrival", "raise it")

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

    @property
    def logged_start_seconds(self) -> memoryview[float] | None:
        """When each started in the log it is from, without a copy."""
        return None if self.logged_starts is None else memoryview(self.logged_starts).cast("d")


# The period that counts, and how its edges are cut:
#    w, L        warm-up before the period, and its length, in seconds; without a length it never ends
#    begin, end  w and w + L (the double nearest to it)
#    E           joules that may be taken in the period; none: no limit. Sums of doubles may be above it by a billionth;
#                bounds must grant that (`most_joules`)
#    share       which part of a task that runs from s to f counts:
#                `prorated`    the part of its run within the period, (min(f, end) - max(s, begin)) / (f - s)
#                `completed`   all of a task that ends in the period, begin < f <= end; nothing of any other
# Utility and energy of a task count by its share. Nothing may start at `end` or later. Sources: Friese, thesis of 2015,
# 2.6.4 and 2.7.1 (26 hours, tasks that complete), 3.2.2 and 3.5.1 (prorated).
PRORATED: Final = "prorated"
COMPLETED: Final = "completed"
EDGES: Final = (PRORATED, COMPLETED)
FORGIVEN: Final = 1e-9  # share of the energy constraint by which a sum of doubles may be above it


class Period(Part):
    """What is judged of a day.

    >>> day = Period(warm_up_seconds=100.0, length_seconds=1000.0)
    >>> day.share(60.0, 160.0), day.share(1000.0, 1400.0), day.share(0.0, 50.0)
    (0.6, 0.25, 0.0)
    """

    warm_up_seconds: Annotated[float, Amount("seconds")] = 0.0
    length_seconds: Annotated[float, Amount("seconds", least=SMALLEST)] | None = None
    edge: Annotated[Literal["prorated", "completed"], OneOf(EDGES)] = PRORATED
    energy_constraint_joules: Annotated[float, Amount("joules")] | None = None

    @property
    def begins_at(self) -> float:
        """When it begins, in seconds."""
        return self.warm_up_seconds

    @property
    def ends_at(self) -> float:
        """When it ends; infinite if it has no length."""
        return math.inf if self.length_seconds is None else self.warm_up_seconds + self.length_seconds

    @property
    def most_joules(self) -> float:
        """What a bound must grant: the energy constraint, and the billionth that passes for rounding."""
        if self.energy_constraint_joules is None:
            return math.inf
        granted = self.energy_constraint_joules * math.nextafter(1.0 + FORGIVEN, math.inf)
        return math.nextafter(granted, math.inf) if granted else 0.0

    @property
    def is_whole(self) -> bool:
        """Whether every task counts wholly, and energy is free."""
        return self == WHOLE

    def share(self, start: float, end: float) -> float:
        """Return which part of a run counts."""
        if self.edge == COMPLETED:
            return 1.0 if self.begins_at < end <= self.ends_at else 0.0
        within = min(end, self.ends_at) - max(start, self.begins_at)
        if within >= end - start:
            return 1.0
        return within / (end - start) if within > 0.0 else 0.0  # a short run late may take no time in doubles


WHOLE: Final = Period()


def require_whole(name: str, period: Period, what: str) -> None:
    """Raise an error if only a part of a day counts, for methods that do not support a period."""
    if not period.is_whole:
        needed = f"a day that counts as a whole: {what} can do no other"
        do = "remove the key 'period', or see 'lpsched simulate'"
        raise InstanceError(name, (InputIssue(("period",), "a period that counts", needed, do),))


def period_has_an_end(period: Period) -> Iterator[InputIssue]:
    """Check the length of a period: the rule of days and of clusters."""
    if period.length_seconds is None:
        if period.edge == COMPLETED:
            needed = "a length, since tasks count that end before the period does"
            yield InputIssue(("period", "length_seconds"), "nothing", needed, "add it, or let the edge be prorated")
    elif period.ends_at <= period.begins_at:
        found = f"{period.length_seconds!r} s after a warm-up of {period.warm_up_seconds!r} s"
        needed = "an end after the begin, in doubles"
        yield InputIssue(("period", "length_seconds"), found, needed, "lengthen it, or shorten the warm-up")


class DayMachineType(WithPStates, Part):
    """Identical machines, each running one task at a time; idle ones cost nothing.

    >>> DayMachineType("gpu", 2, ("fast", "saving")).columns
    ('gpu:fast', 'gpu:saving')
    """

    name: Name
    count: Count
    p_states: PStates | None = None


class DayTaskType(Part):
    """Tasks that take equally long; how many there are, the list of tasks says."""

    name: Name


class Cluster(WithPStates, Part):
    """Identical nodes; a node runs one task at a time, with all its cores in one P-state.

    >>> fat = Cluster("fat", nodes=12, cores_per_node=64)
    >>> fat.cores, fat.nodes_for(65)
    (768, 2)
    """

    name: Name
    nodes: Count
    cores_per_node: Count = 1
    p_states: PStates | None = None

    @property
    def cores(self) -> int:
        """How many cores all nodes have."""
        return self.nodes * self.cores_per_node

    def nodes_for(self, cores: int) -> int:
        """Return how many nodes a task with these cores takes."""
        return -(-cores // self.cores_per_node)
