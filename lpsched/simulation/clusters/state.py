"""What a policy for clusters sees at a mapping event. Never the future.

A policy answers with placements in the order in which it makes them. A placement that starts now begins; one
that starts later is a permanent reservation, or a place-holder, as the policy says (`policy.py`). What is
left out waits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from lpsched.instance.array_types import Integers, Mask
    from lpsched.instance.cluster_arrays import ClusterArrays
    from lpsched.simulation.clusters.profile import Profile


class Placement(NamedTuple):
    """One decision: this task on these nodes of a cluster, in the P-state of this column, from then on."""

    task: int
    column: int
    start: float
    nodes: tuple[tuple[int, int], ...]  # ranges of nodes from 0, the end of each excluded, rising


@dataclass(frozen=True, slots=True)
class ClusterState:
    """The present. All arrays are read-only; B tasks may be mapped, by rising number, that is by arrival."""

    arrays: ClusterArrays
    now: float  # seconds
    ends_at: float  # nothing may start then or later; infinite if the day never ends
    energy_left: float  # joules of this period that neither running nor reserved tasks take; infinite if free
    tasks: Integers  # B: numbers of the tasks that may be mapped
    allowed: Mask  # B x C: can run, and passes the energy filter
    profiles: tuple[Profile, ...]  # of each cluster, with what runs and is reserved; copies
    reservations: int  # that stand now
    memory: dict[str, Any]  # the policy's own, empty when the day begins
    until: float = math.inf  # what starts later may be left out: it would be forgotten before that
