"""What the look of a run on nodes tells: its P-state, its task type, or how long it had waited.

The P-state where clusters have some; else the task type, where there are a few; else the wait. Whatever it
is, there is an order, so that colours go from dark to light (the longer a wait, the darker), and each has a
hatch of its own besides.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.instance.clusters import Clusters
    from lpsched.schedule.clusters import ClustersSchedule

MOST_LOOKS: Final = 6  # the rest are drawn as one
MOST_TYPES: Final = 24  # more are not told apart at all
OTHERS: Final = "all others"
NO_STATE: Final = "no P-states"
WAITS: Final = (0.0, 600.0, 7200.0, math.inf)  # seconds, at most
WAIT_NAMES: Final = ("began at once", "waited up to 10 min", "up to 2 hours", "longer")


@dataclass(frozen=True, slots=True)
class Looks:
    """The looks there are, what they tell, and that of each run, in the order of the schedule."""

    names: tuple[str, ...]
    tell: str
    numbers: tuple[int, ...]
    light_first: bool = False  # whether colours go from light to dark


def looks_of(clusters: Clusters, schedule: ClustersSchedule) -> Looks:
    """Choose what looks tell."""
    placed, types = schedule.placed, clusters.arriving.type_numbers
    if any(cluster.modes > 1 for cluster in clusters.clusters):
        states = [state for cluster in clusters.clusters for state in cluster.p_states or (NO_STATE,)]
        return _named(states, [each.p_state or NO_STATE for each in placed], "P-state")
    found = Counter(types[each.task] for each in placed)
    if 1 < len(found) <= MOST_TYPES:
        most_first = sorted(found, key=lambda i: (-found[i], i))
        names = [clusters.task_types[i].name for i in most_first]
        return _named(names, [clusters.task_types[types[each.task]].name for each in placed], "task type")
    arrivals = clusters.arriving.arrival_seconds
    waited = [WAIT_NAMES[bisect_left(WAITS, each.start_seconds - arrivals[each.task])] for each in placed]
    return replace(_named(WAIT_NAMES, waited, "wait"), light_first=True)


def _named(order: Sequence[str], of_runs: Sequence[str], tell: str) -> Looks:
    """Return the names that occur, in order, and which each run has; of too many, the last are one."""
    known, occur = dict.fromkeys(order), set(of_runs)
    names = [name for name in known if name in occur]
    shown = names if len(names) <= MOST_LOOKS else [*names[: MOST_LOOKS - 1], OTHERS]
    number = {name: min(place, len(shown) - 1) for place, name in enumerate(names)}
    return Looks(tuple(shown), tell, tuple(number[name] for name in of_runs))
