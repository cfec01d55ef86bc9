"""What a policy answers, checked: every decision must be possible, or the policy is told which one is not.

A decision names a task that may be mapped now, and that it has not named before; a machine that may get
tasks, and in polling no second one; and a column of that machine's type in which the task's type can run and
that the energy filter lets pass. Whether there is energy and time for it is another question: what does not
fit waits, and nobody is blamed (see `machines.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from lpsched.compiled import compiled
from lpsched.errors import LpschedError, PolicyError
from lpsched.simulation.state import Assignments

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lpsched.instance.array_types import Integers, Mask
    from lpsched.simulation.policy import Policy
    from lpsched.simulation.state import Assignment, State

Answer = TypeVar("Answer")
LONGEST_SHOWN: Final = 200  # characters of an answer that is none
RULES: Final = (
    "that task is not among those to be mapped now (state.tasks)",
    "that task was mapped before in the same answer",
    "that machine gets no tasks now (state.available)",
    "there is no such column",
    "that column is of other machines",
    "that task cannot run there",
    "the energy filter does not let that pass (state.allowed)",
    "an idle machine gets one task at a mapping event",
)


def answer_of(policy: Policy, state: State, rng: np.random.Generator) -> Assignments:
    """Ask a policy, and return what it decided if all of it is possible.

    Raises
    ------
    PolicyError
        If it fails, or answers with something that cannot be.
    """
    decided = _as_columns(policy, asked(policy.name, lambda: policy.choose(state, rng), state.now))
    if len(decided.tasks):
        _check(policy, state, decided)
    return decided


def asked(name: str, question: Callable[[], Answer], now: float) -> Answer:
    """Ask a policy of a name; whatever goes wrong in it is its own error.

    Raises
    ------
    PolicyError
        If it fails.
    """
    try:
        return question()
    except LpschedError:
        raise
    except Exception as error:  # whatever somebody's own policy may raise
        said = f"{type(error).__name__}: {error}"
        raise PolicyError(f"policy {name!r} failed at {now!r} s: {said}") from error


def shown(answer: object) -> str:
    """Return an answer that is none, not too long."""
    found = repr(answer)
    return found if len(found) <= LONGEST_SHOWN else found[:LONGEST_SHOWN] + "..."


def _as_columns(policy: Policy, answer: Assignments | Sequence[Assignment]) -> Assignments:
    """Return an answer as three arrays of whole numbers."""
    columns: Sequence[Any]
    try:
        if isinstance(answer, Assignments):
            columns = (answer.tasks, answer.machines, answer.columns)
        else:
            columns = tuple(zip(*answer, strict=True)) or ((), (), ())
        tasks, machines, column = (_whole_numbers(each) for each in columns)
    except (TypeError, ValueError, OverflowError):
        raise _no_assignments(policy, answer) from None
    if not len(tasks) == len(machines) == len(column):
        raise _no_assignments(policy, answer)
    return Assignments(tasks, machines, column)


def _whole_numbers(numbers: object) -> Integers:
    array = np.asarray(numbers)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise TypeError
    return np.array(array, dtype=np.int64)


def _no_assignments(policy: Policy, answer: object) -> PolicyError:
    needed = "assignments of whole numbers: task, machine, column; an empty list maps nothing"
    return PolicyError(f"policy {policy.name!r} answered {shown(answer)}; needed are {needed}")


def _check(policy: Policy, state: State, decided: Assignments) -> None:
    """Raise an error that names the first decision that cannot be, and why."""
    system = state.system
    n, rule = _first_broken(
        decided.tasks, decided.machines, decided.columns, state.tasks, state.types, state.available,
        system.machine_type, system.column_type, system.can_run, state.allowed, state.polled,
    )  # fmt: skip
    if rule >= 0:
        task, machine, column = (int(each[n]) for each in (decided.tasks, decided.machines, decided.columns))
        what = f"task {task} on machine {machine} in column {column}"
        raise PolicyError(f"policy {policy.name!r} mapped {what} at {state.now!r} s: {RULES[rule]}")


@compiled
def _first_broken(  # noqa: PLR0911, PLR0913, PLR0917 - one for each rule; arrays are what it takes
    tasks: Integers,
    machines: Integers,
    columns: Integers,
    mappable: Integers,
    types: Integers,
    available: Integers,
    machine_type: Integers,
    column_type: Integers,
    can_run: Mask,
    allowed: Mask,
    polled: bool,  # noqa: FBT001
) -> tuple[int, int]:
    """Return the first decision that breaks a rule, and the number of that rule: -1 if none does."""
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
