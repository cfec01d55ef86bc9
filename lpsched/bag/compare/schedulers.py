"""Other schedulers of bags: run or read, checked, and measured."""

from __future__ import annotations

import operator
import time
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.bag.files import SUFFIXES as ROWS
from lpsched.bag.files import read_rows, read_schedule
from lpsched.bag.heuristics import names
from lpsched.bag.recovery.plans import ended
from lpsched.bag.schedule import MachineGroup, Run, Schedule, TaskRow
from lpsched.bag.verify import Examined, examine, gather
from lpsched.errors import InstanceError, MissingExtraError
from lpsched.io.rows import FAILED, plain_words, reason, unreadable
from lpsched.model.violation import Violation

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from lpsched.bag.heuristics import Heuristic
    from lpsched.bag.model import Bag


# Running other people's schedulers: whatever they hand back is checked, whatever they raise is written down.
#
# A heuristic may hand back a compact schedule, or single tasks with or without starts. It is a stranger: its
# numbers are made plain first, the verifier judges the rest, and an exception of its is an entry like any
# other.
#
# Waiting is free for any mapping: where one draws more than the average-power cap allows, it stays on idle
# until it no longer does, as our own schedules do (`bag/recovery/plans.py`).
CAPPED: Final = {"over-power-cap"}


@dataclass(frozen=True, slots=True)
class Ran:
    """What a scheduler handed back, checked; and how long it took."""

    examined: Examined
    seconds: float | None
    schedule: Schedule | None = None


def run(bag: Bag, scheduler: Heuristic, *, seed: int, may_wait: bool) -> Ran:
    """Run a scheduler, with a generator of its own, and check what it hands back."""
    began = time.perf_counter()
    try:
        given = _plain(scheduler(bag, np.random.default_rng(seed)), bag.tasks)
    except Exception as error:  # noqa: BLE001 - it is somebody else's code
        return failed(reason(error), time.perf_counter() - began)
    return checked(bag, given, time.perf_counter() - began, may_wait=may_wait)


def failed(sentence: str, seconds: float | None = None, code: str = FAILED) -> Ran:
    """Return what there is of a scheduler that has no schedule."""
    return Ran(Examined((Violation(code, plain_words(sentence)),), None), seconds)


def checked(bag: Bag, given: Schedule | list[TaskRow], seconds: float, *, may_wait: bool) -> Ran:
    """Check a schedule; one that draws too much waits, where waiting helps."""
    if isinstance(given, Schedule):
        schedule = given
    else:
        gathered = gather(bag, given)
        if gathered.violations:
            return Ran(Examined(gathered.violations, None), seconds)
        schedule = gathered.schedule
    examined = examine(bag, schedule, may_wait=may_wait)
    if {each.code for each in examined.violations} == CAPPED:
        later = _waiting(bag, schedule)
        again = examine(bag, later)
        if not again.violations and (later.makespan_seconds or 0.0) >= (schedule.makespan_seconds or 0.0):
            return Ran(again, seconds, later)
    return Ran(examined, seconds, schedule)


def _waiting(bag: Bag, schedule: Schedule) -> Schedule:
    """Return the same work with the earliest end that the cap allows."""
    return ended(bag, schedule, late=False)


def _plain(found: object, tasks: int) -> Schedule | list[TaskRow]:
    """Return what was handed back with Python's own numbers (NumPy's overflow); no more rows than needed."""
    if isinstance(found, Schedule):
        groups = tuple(
            MachineGroup(
                _text(each.machine_type),
                operator.index(each.machines),
                tuple(Run(_text(run.task_type), operator.index(run.count), _state(run.p_state)) for run in each.runs),
            )
            for each in found.groups
        )
        return Schedule(groups, _seconds(found.makespan_seconds))
    if not isinstance(found, Iterable):
        raise TypeError(f"it handed back {type(found).__name__}, where a Schedule or TaskRows are needed")
    return [_row(each) for each in islice(found, tasks + 1)]


def _row(row: object) -> TaskRow:
    if not isinstance(row, TaskRow):
        raise TypeError(f"it handed back {type(row).__name__} where a TaskRow is needed")
    names = _text(row.task_type), _text(row.machine_type)
    return TaskRow(*names, operator.index(row.machine), _state(row.p_state), _seconds(row.start_seconds))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"it handed back {type(value).__name__} where a name is needed")
    return str(value)


def _state(value: object) -> str | None:
    return None if value is None else _text(value)


def _seconds(value: float | None) -> float | None:
    return None if value is None else float(value)


# The names of schedulers of a bag: heuristics, `lp`, `nsga2`; and `all` of those that can run.
ALL, LP, NSGA2 = "all", "lp", "nsga2"
COUNT_JOULES: Final = ("min-energy", NSGA2)


@dataclass(frozen=True, slots=True)
class Everything:
    """All schedulers that can run, and why others were left out."""

    names: tuple[str, ...]
    left_out: tuple[str, ...]


def everything(bag: Bag) -> Everything:
    """Return the names that `all` stands for."""
    from lpsched.evolve.running import require_evolution  # noqa: PLC0415 - loads pymoo and a compiler

    found, left_out = (LP, *names(), NSGA2), []
    try:
        require_evolution()
    except MissingExtraError as error:
        found, left_out = found[:-1], [str(error)]
    if bag.watts is None:
        lacking = [name for name in COUNT_JOULES if name in found]
        found = tuple(name for name in found if name not in lacking)
        left_out.append(f"no joules without watts, so no {' and no '.join(lacking)}")
    return Everything(found, tuple(left_out))


def spelled_out(bag: Bag, given: Sequence[str | Heuristic]) -> list[str | Heuristic]:
    """Return the schedulers asked for, with `all` written out and no name twice."""
    asked: list[str | Heuristic] = []
    for each in given:
        if not isinstance(each, str):
            asked.append(each)
            continue
        asked += [name for name in (everything(bag).names if each == ALL else (each,)) if name not in asked]
    return asked


def read_and_checked(bag: Bag, path: Path, *, may_wait: bool = False) -> Ran:
    """Return the schedule in a file, checked; one that cannot be read breaks the first rule of all."""
    try:
        if path.suffix.lower() not in ROWS:
            schedule = read_schedule(path)
            return Ran(examine(bag, schedule, may_wait=may_wait), None, schedule)
        gathered = gather(bag, read_rows(path))
    except InstanceError as error:
        return Ran(Examined(unreadable(error), None), None)
    if gathered.violations:
        return Ran(Examined(gathered.violations, None), None)
    return Ran(examine(bag, gathered.schedule, may_wait=may_wait), None, gathered.schedule)
