"""What does not change while a day runs, made once of the day's arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.errors import Fault, InstanceError
from lpsched.simulation.state import System

if TYPE_CHECKING:
    from lpsched.instance.day_arrays import DayArrays

MOST_MACHINES: Final = 10_000_000  # each has its own queue


def system_of(arrays: DayArrays) -> System:
    """Return the system of a day.

    Raises
    ------
    InstanceError
        If there are more machines than can be followed one by one.
    """
    counts = arrays.machine_counts
    if int(counts.sum()) > MOST_MACHINES:
        found, needed = f"{int(counts.sum()):,} machines", f"at most {MOST_MACHINES:,} in all"
        fault = Fault(("machine_types",), found, needed, "take fewer machines, and as many fewer tasks")
        raise InstanceError("simulating the day", (fault,))
    types = np.arange(len(counts))
    system = System(
        machine_counts=counts,
        machine_type=np.repeat(types, counts),
        first_column=np.searchsorted(arrays.mode_type, np.arange(len(counts) + 1)),
        column_type=arrays.mode_type,
        can_run=arrays.can_run,
        seconds=arrays.seconds,
        joules=arrays.seconds * arrays.watts,
        first_interval=arrays.first_interval,
        after_seconds=arrays.after_seconds,
        starts_at=arrays.starts_at,
        falls_to=arrays.falls_to,
        rate_per_second=arrays.rate_per_second,
    )
    for name in System.__dataclass_fields__:
        getattr(system, name).flags.writeable = False
    return system
