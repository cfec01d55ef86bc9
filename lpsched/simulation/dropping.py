"""Dropping: tasks that can no longer earn enough are given up for good.

Batch mode, before the policy is asked: the most that a task could earn on any machine, in any P-state, if it
started right after the unmovable tasks there; the energy filter does not matter here. Utility never rises, so
that is its utility at the earliest completion, which is the same for all tasks of a type. Less than the
threshold: it is dropped.

Immediate mode, after the policy has answered: what the task would earn where the policy puts it.

Source: Friese, thesis of 2015, 2.4.4, 3.3.3 and 4.3.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lpsched.compiled import compiled
from lpsched.simulation.earning import earned

if TYPE_CHECKING:
    from lpsched.instance.array_types import Floats, Integers
    from lpsched.instance.day_arrays import DayArrays
    from lpsched.simulation.state import System


def most_utility(arrays: DayArrays, system: System, tasks: Integers, ready: Floats) -> Floats:
    """Return the most that each task could earn if it were the next on some machine."""
    return earned_at(
        tasks, earliest_completion(system, ready), arrays.arrivals, arrays.task_type, arrays.function,
        arrays.first_interval, arrays.after_seconds, arrays.starts_at, arrays.falls_to,
        arrays.rate_per_second,
    )  # fmt: skip


def earliest_completion(system: System, ready: Floats) -> Floats:
    """Return when a task of each type could be complete at the earliest; infinite where nothing runs it."""
    first = np.cumsum(system.machine_counts) - system.machine_counts
    of_type = np.minimum.reduceat(ready, first)
    completion = of_type[system.column_type] + system.seconds
    earliest: Floats = np.where(system.can_run, completion, np.inf).min(axis=1)
    return earliest


@compiled
def earned_at(  # noqa: PLR0913, PLR0917 - arrays are what compiled functions take
    tasks: Integers,
    completion: Floats,
    arrivals: Floats,
    types: Integers,
    functions: Integers,
    first_interval: Integers,
    after_seconds: Floats,
    starts_at: Floats,
    falls_to: Floats,
    rate_per_second: Floats,
) -> Floats:
    """Return what each task earns if it completes when its type (or kind) can at the earliest."""
    utility = np.zeros(len(tasks))
    for n in range(len(tasks)):
        task = tasks[n]
        seconds = completion[types[task]] - arrivals[task]
        utility[n] = earned(
            functions[task], seconds, first_interval, after_seconds, starts_at, falls_to, rate_per_second
        )
    return utility
