"""Running other people's schedulers of a day: whatever they hand back is made plain, what they raise is told.

The same for days as `schedulers.py` for bags; the verifier judges the rest.
"""

from __future__ import annotations

import operator
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lpsched.compare.outside import FAILED
from lpsched.compare.within_period import within_period
from lpsched.schedule.day import DaySchedule, PlacedTask
from lpsched.verify.violation import Violation

if TYPE_CHECKING:
    from lpsched.heuristics.arrivals import DayHeuristic
    from lpsched.instance.day import Day


@dataclass(frozen=True, slots=True)
class DayRan:
    """What a scheduler of a day handed back, or why there is nothing; and how long it took."""

    made: DaySchedule | Violation
    seconds: float


def run_on_day(day: Day, function: DayHeuristic, *, seed: int, drop_below: float | None) -> DayRan:
    """Run a scheduler, with a generator of its own; what the day's period does not allow is left out."""
    began = time.perf_counter()
    made: DaySchedule | Violation
    try:
        made = _plain(function(day, np.random.default_rng(seed), drop_below=drop_below))
        made = within_period(day, made)
    except Exception as error:  # noqa: BLE001 - it may be somebody else's code
        made = Violation(FAILED, f"{type(error).__name__}: {error}")
    return DayRan(made, time.perf_counter() - began)


def _plain(found: object) -> DaySchedule:
    """Return what a stranger handed back with Python's own numbers.

    Raises
    ------
    TypeError
        If it is something else.
    """
    if not isinstance(found, DaySchedule):
        raise TypeError(f"it handed back {type(found).__name__}, where a DaySchedule is needed")
    return DaySchedule(
        tuple(
            PlacedTask(
                operator.index(each.task),
                str(each.machine_type),
                operator.index(each.machine),
                float(each.start_seconds),
                None if each.p_state is None else str(each.p_state),
            )
            for each in found.placed
        )
    )
