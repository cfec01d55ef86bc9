"""Dropping: at the beginning of a mapping event, tasks that can no longer earn enough are given up for good.

The most that a task could earn: its utility if it started now where it is planned to run the fewest seconds,
in any cluster and P-state that can run it. Less than the threshold: it is dropped.

Source: Machovec et al. (2016), sections III.C and IV.C.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lpsched.simulation.dropping import earned_at

if TYPE_CHECKING:
    from lpsched.instance.array_types import Floats, Integers
    from lpsched.instance.cluster_arrays import ClusterArrays


def fastest_seconds(arrays: ClusterArrays) -> Floats:
    """Return the fewest seconds that each kind is planned to run; infinite where nothing runs it."""
    fastest: Floats = np.where(arrays.can_run, arrays.requested_seconds, np.inf).min(axis=1)
    return fastest


def most_utility(arrays: ClusterArrays, tasks: Integers, fastest: Floats, now: float) -> Floats:
    """Return what each task would earn if it started now where it is fastest."""
    return earned_at(
        tasks, now + fastest, arrays.arrivals, arrays.kind, arrays.function, arrays.first_interval,
        arrays.after_seconds, arrays.starts_at, arrays.falls_to, arrays.rate_per_second,
    )  # fmt: skip
