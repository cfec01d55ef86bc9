"""Running other people's schedulers: whatever they hand back is checked, whatever they raise is written down.

A heuristic may hand back a compact schedule, or single tasks with or without starts. It is a stranger: its
numbers are made plain first, the verifier judges the rest, and an exception of its is an entry like any
other.

Waiting is free for any mapping: where one draws more than the average-power cap allows, it stays on idle
until it no longer does, as our own schedules do (`recovery/waiting.py`).
"""

from __future__ import annotations

import operator
import time
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.compare.outside import FAILED, plain_words, reason
from lpsched.recovery.waiting import ended
from lpsched.schedule.bag import MachineGroup, Run, Schedule
from lpsched.schedule.task_counts import task_counts
from lpsched.schedule.tasks import TaskRow
from lpsched.verify.bag import Examined, examine
from lpsched.verify.tasks import gather
from lpsched.verify.violation import Violation

if TYPE_CHECKING:
    from lpsched.heuristics.registry import Heuristic
    from lpsched.instance import Bag

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
    return ended(bag, task_counts(bag, schedule), schedule, late=False)


def _plain(found: object, tasks: int) -> Schedule | list[TaskRow]:
    """Return what was handed back with Python's own numbers (NumPy's overflow); no more rows than needed.

    Raises
    ------
    TypeError
        If it is something else.
    """
    if isinstance(found, Schedule):
        groups = tuple(
            MachineGroup(
                _text(each.machine_type),
                operator.index(each.machines),
                tuple(
                    Run(_text(run.task_type), operator.index(run.count), _state(run.p_state))
                    for run in each.runs
                ),
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
