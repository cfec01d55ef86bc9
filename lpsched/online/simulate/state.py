"""What a policy sees and what it returns; a partial schedule to write one with."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np

from lpsched.errors import LpschedError, PolicyError
from lpsched.jit import compiled
from lpsched.online.utility import UtilityArrays, utility_at

if TYPE_CHECKING:
    from lpsched.model.table import Floats, Integers, Mask


# What a policy sees at a scheduling event: the system, the waiting tasks, the machines; never the future. Machines are
# numbered from 0 over all types, in the order of the types; columns are those of the tables (machine type and P-state).
# A policy returns assignments in the order in which it makes them: the tasks of one machine queue up in that order
# behind what is already there. Tasks left out wait.
class Assignment(NamedTuple):
    """One decision: this task on this machine, in the P-state of this column."""

    task: int
    machine: int
    column: int


@dataclass(frozen=True, slots=True)
class Assignments:
    """Many decisions as three columns of equal length, in the order in which they were made."""

    tasks: Integers
    machines: Integers
    columns: Integers


@dataclass(frozen=True, slots=True)
class System(UtilityArrays):
    """What does not change while a day runs. T task types, C columns, M machine types, m machines in all."""

    machine_counts: Integers  # M
    machine_type: Integers  # m: the type of each machine
    first_column: Integers  # M + 1: machine type j has the columns first_column[j] to first_column[j + 1]
    column_type: Integers  # C: the machine type of each column
    can_run: Mask  # T x C
    seconds: Floats  # T x C, 0 where it cannot run
    joules: Floats  # T x C, likewise


@dataclass(frozen=True, slots=True)
class State:
    """The current state. All arrays are read-only; B tasks may be mapped, by rising number, that is by arrival."""

    system: System
    now: float  # seconds
    begins_at: float  # of the period that `now` belongs to, for energy; see `machines.py`
    ends_at: float  # nothing may start then or later; infinite if the day never ends
    until: float  # the next scheduling event is then at the latest; what is not pending by then is mapped anew
    energy_left: float  # joules of this period that neither are taken nor belong to unmovable tasks
    allowed: Mask  # T x C: can run, and passes the energy filter
    tasks: Integers  # B: numbers of the tasks that may be mapped
    arrivals: Floats  # B
    types: Integers  # B
    functions: Integers  # B: utility functions
    polled: bool  # whether an available machine takes one task only, which starts at once
    available: Integers  # machines that may get tasks, by rising number
    ready: Floats  # m: when each machine has done its unmovable tasks; never before `now`
    pending_at: Floats  # m: when the next task mapped to it becomes unmovable: as its pending task starts, or `now`
    memory: dict[str, Any]  # the policy's own, empty when the day begins; the only thing here it may change


class Choose(Protocol):
    """Decides at a scheduling event."""

    def __call__(self, state: State, rng: np.random.Generator, /) -> Assignments | Sequence[Assignment]:
        """Return what to map, in the order in which it was decided."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What the engine calls at each scheduling event; in immediate mode at each arrival, with that task."""

    name: str
    choose: Choose
    immediate: bool = False


# A partial schedule, for users' own policies: what the state says and what was taken since, that is when machines are
# ready, which may still get tasks, and what is left of the day's energy. Tasks are given by their place in the state.
# `docs/guides/policies.md` has an example.
class PartialSchedule:
    """A partial schedule; `assignments` is what a policy returns."""

    def __init__(self, state: State) -> None:
        self.state, self.system = state, state.system
        self.ready = state.ready.copy()
        self.free = np.zeros(len(state.ready), dtype=bool)
        self.free[state.available] = True
        self.energy_left = state.energy_left
        self.assignments: list[Assignment] = []
        self._first: dict[int, int | None] = {}  # of each machine type, as far as known

    def choices(self, place: int) -> list[tuple[int, int]]:
        """Return machines and columns where a task fits; of a machine type the one that is ready first."""
        columns = np.flatnonzero(self.state.allowed[self.state.types[place]])
        types = self.system.column_type[columns]
        pairs = zip(map(self.first_ready, types.tolist()), columns.tolist(), strict=True)
        return [(m, column) for m, column in pairs if m is not None and self.fits(place, m, column)]

    def first_ready(self, machine_type: int) -> int | None:
        """Return the machine of a type that is ready first, the lowest of several; `None`: there is none."""
        if machine_type not in self._first:
            first, last = np.searchsorted(self.system.machine_type, [machine_type, machine_type + 1]).tolist()
            ready = np.where(self.free[first:last], self.ready[first:last], math.inf)
            found = first + int(np.argmin(ready))
            self._first[machine_type] = found if self.free[found] else None
        return self._first[machine_type]

    def fits(self, place: int, machine: int, column: int) -> bool:
        """Return whether a task may run there, starts before the day ends, and has the energy it needs."""
        allowed = self.free[machine] and self.state.allowed[self.state.types[place], column]
        starts = self.ready[machine] < self.state.ends_at
        return bool(allowed and starts and self.joules(place, machine, column) <= self.energy_left)

    def end(self, place: int, machine: int, column: int) -> float:
        """Return when a task would end there."""
        return float(self.ready[machine] + self.system.seconds[self.state.types[place], column])

    def utility(self, place: int, machine: int, column: int) -> float:
        """Return what a task would earn there."""
        elapsed = self.end(place, machine, column) - float(self.state.arrivals[place])
        return utility_at(self.system, self.state.functions.item(place), elapsed)

    def joules(self, place: int, machine: int, column: int) -> float:
        """Return the energy of a task there that counts today: the part of its run before the day ends."""
        i, start = self.state.types[place], float(self.ready[machine])
        seconds, joules = float(self.system.seconds[i, column]), float(self.system.joules[i, column])
        within = (self.state.ends_at - start) / seconds if start + seconds > self.state.ends_at else 1.0
        return joules * within

    def take(self, place: int, machine: int, column: int) -> None:
        """Decide on this: the machine is busy until the task ends, and its energy is spent."""
        self.energy_left -= self.joules(place, machine, column)
        self.ready[machine] = self.end(place, machine, column)
        self.free[machine] = not self.state.polled
        self._first.pop(int(self.system.machine_type[machine]), None)
        self.assignments.append(Assignment(int(self.state.tasks[place]), machine, column))


# Every decision of a policy is checked: it names a task that may be mapped now and was not named before; a machine that
# may get tasks, in polling only once; and a column of that machine's type in which the task's type can run and that
# passes the energy filter. Decisions for which energy or time is not left are no errors: their tasks wait
# (`machines.py`).
Answer = TypeVar("Answer")
LONGEST_SHOWN: Final = 200  # characters of an invalid answer
RULES: Final = (
    "that task is not among those to be mapped now (state.tasks)",
    "that task was mapped before in the same answer",
    "that machine gets no tasks now (state.available)",
    "there is no such column",
    "that column is of other machines",
    "that task cannot run there",
    "the energy filter does not let that pass (state.allowed)",
    "an idle machine gets one task at a scheduling event",
)


def answer_of(policy: Policy, state: State, rng: np.random.Generator) -> Assignments:
    """Call a policy, and return its decisions if all of them are possible."""
    decided = _as_columns(policy, call_policy(policy.name, lambda: policy.choose(state, rng), state.now))
    if len(decided.tasks):
        _check(policy, state, decided)
    return decided


def call_policy(name: str, call: Callable[[], Answer], now: float) -> Answer:
    """Return what a policy returns; turn the exceptions of a user's policy into a `PolicyError`."""
    try:
        return call()
    except LpschedError:
        raise
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        raise PolicyError(f"policy {name!r} failed at {now!r} s: {said}") from error


def abbreviated(answer: object) -> str:
    """Return the text of an invalid answer, not too long."""
    found = repr(answer)
    return found if len(found) <= LONGEST_SHOWN else found[:LONGEST_SHOWN] + "..."


def _as_columns(policy: Policy, answer: Assignments | Sequence[Assignment]) -> Assignments:
    columns: Sequence[Any]
    try:
        if isinstance(answer, Assignments):
            columns = (answer.tasks, answer.machines, answer.columns)
        else:
            columns = tuple(zip(*answer, strict=True)) or ((), (), ())
        tasks, machines, column = (_whole_numbers(each) for each in columns)
        if not len(tasks) == len(machines) == len(column):
            raise ValueError  # noqa: TRY301 - the same error
    except (TypeError, ValueError, OverflowError):
        needed = "assignments of whole numbers: task, machine, column; an empty list maps nothing"
        raise PolicyError(f"policy {policy.name!r} answered {abbreviated(answer)}; needed are {needed}") from None
    return Assignments(tasks, machines, column)


def _whole_numbers(numbers: object) -> Integers:
    array = np.asarray(numbers)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise TypeError
    return np.array(array, dtype=np.int64)


def _check(policy: Policy, state: State, decided: Assignments) -> None:
    """Raise an error that names the first impossible decision, and why."""
    system, (tasks, machines, columns) = state.system, (decided.tasks, decided.machines, decided.columns)
    waiting, types = (state.tasks, state.types, state.available), (system.machine_type, system.column_type)
    n, rule = _first_broken((tasks, machines, columns), waiting, types, (system.can_run, state.allowed), state.polled)
    if rule >= 0:
        what = f"task {tasks[n]} on machine {machines[n]} in column {columns[n]}"
        raise PolicyError(f"policy {policy.name!r} mapped {what} at {state.now!r} s: {RULES[rule]}")


Numbers: TypeAlias = "tuple[Integers, ...]"


@compiled
def _first_broken(  # noqa: PLR0911 - one for each rule
    decided: Numbers,
    waiting: Numbers,
    of_types: Numbers,
    pairs: tuple[Mask, Mask],
    polled: bool,  # noqa: FBT001
) -> tuple[int, int]:
    """Return the first decision that breaks a rule, and the number of that rule: -1 if none does."""
    tasks, machines, columns = decided
    mappable, types, available = waiting
    machine_type, column_type = of_types
    can_run, allowed = pairs
    mapped = np.zeros(len(mappable), dtype=np.bool_)
    has_task = np.zeros(len(available), dtype=np.bool_)
    for n in range(len(tasks)):
        place = np.searchsorted(mappable, tasks[n])
        if place == len(mappable) or mappable[place] != tasks[n]:
            return n, 0
        if mapped[place]:
            return n, 1
        mapped[place] = True
        where = np.searchsorted(available, machines[n])
        if where == len(available) or available[where] != machines[n]:
            return n, 2
        if columns[n] < 0 or columns[n] >= len(column_type):
            return n, 3
        if column_type[columns[n]] != machine_type[machines[n]]:
            return n, 4
        if not can_run[types[place], columns[n]]:
            return n, 5
        if not allowed[types[place], columns[n]]:
            return n, 6
        if polled and has_task[where]:
            return n, 7
        has_task[where] = True
    return 0, -1
