"""A draft of an answer: what own policies need while they decide, and nothing about how they do.

A draft keeps what the state says and what was taken since: which nodes are free when, and what is left of the
day's energy. Tasks are meant by their place in the state.

    def last_come_first(state, rng):
        draft = Draft(state)
        for place in reversed(range(len(state.tasks))):
            fitting = [column for column in draft.columns(place) if draft.fits(place, column)]
            if fitting:
                draft.take(place, min(fitting, key=lambda column: draft.earliest(place, column)))
        return draft.placements
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from lpsched.simulation.clusters.state import Placement

if TYPE_CHECKING:
    from lpsched.simulation.clusters.profile import Profile
    from lpsched.simulation.clusters.state import ClusterState


class Draft:
    """Placements in the making; `placements` is the answer."""

    def __init__(self, state: ClusterState) -> None:
        self.state, self.arrays = state, state.arrays
        self.kinds = self.arrays.kind[state.tasks].tolist()
        self.energy_left = state.energy_left
        self.placements: list[Placement] = []
        self._own: dict[int, Profile] = {}  # profiles with something taken
        self._late: dict[int, tuple[int, float, float, tuple[tuple[int, int], ...]]] = {}
        self._found: dict[tuple[int, int, float], float] = {}  # earliest starts, while nothing is taken

    def columns(self, place: int) -> list[int]:
        """Return the columns in which a task can run and that the energy filter lets pass."""
        found: list[int] = np.flatnonzero(self.state.allowed[place]).tolist()
        return found

    def nodes(self, place: int, column: int) -> int:
        """Return how many nodes a task takes there."""
        return int(self.arrays.nodes.item(self.kinds[place], column))

    def seconds(self, place: int, column: int) -> float:
        """Return how long a task is planned to run there: what was requested for it."""
        return float(self.arrays.requested_seconds.item(self.kinds[place], column))

    def earliest(self, place: int, column: int) -> float:
        """Return when a task could first start there, before the day ends; infinite if it cannot."""
        cluster = self.arrays.column_cluster.item(column)
        nodes, seconds = self.nodes(place, column), self.seconds(place, column)
        known = self._found.get((cluster, nodes, seconds))
        if known is None:
            profile = self._profile(cluster)
            known = profile.earliest(nodes, seconds, self.state.now, self.state.ends_at)
            self._found[cluster, nodes, seconds] = known
        return known

    def starts_now(self, place: int, column: int) -> bool:
        """Tell whether a task could start there now; to ask that is quicker than to ask when."""
        now = self.state.now
        nodes, seconds = self.nodes(place, column), self.seconds(place, column)
        profile = self._profile(self.arrays.column_cluster.item(column))
        return profile.earliest(nodes, seconds, now, math.nextafter(now, math.inf)) <= now

    def free_nodes(self, cluster: int) -> int:
        """Return how many nodes of a cluster run nothing now."""
        return self._profile(cluster).free_nodes(self.state.now)

    def utility(self, place: int, column: int) -> float:
        """Return what a task would earn there if it started as early as it can; 0 if it cannot start."""
        arrays, task = self.arrays, self.state.tasks[place]
        end = self.earliest(place, column) + self.seconds(place, column)
        if math.isinf(end):
            return 0.0
        f, elapsed = arrays.function[task], end - float(arrays.arrivals[task])
        first, last = arrays.first_interval[f : f + 2].tolist()
        p = first + int(np.searchsorted(arrays.after_seconds[first:last], elapsed, side="right")) - 1
        decay = math.exp(-float(arrays.rate_per_second[p]) * (elapsed - float(arrays.after_seconds[p])))
        falls_to = float(arrays.falls_to[p])
        return falls_to + (float(arrays.starts_at[p]) - falls_to) * decay

    def joules(self, place: int, column: int) -> float:
        """Return the energy of a task there that counts today: of the part of its run before the day ends."""
        start, seconds = self.earliest(place, column), self.seconds(place, column)
        joules = float(self.arrays.watts.item(self.kinds[place], column)) * seconds
        ends_at = self.state.ends_at
        return joules * max(0.0, (ends_at - start) / seconds) if start + seconds > ends_at else joules

    def fits(self, place: int, column: int) -> bool:
        """Tell whether a task may run there, can start before the day ends, and has the energy it needs."""
        if not self.state.allowed[place, column] or math.isinf(self.earliest(place, column)):
            return False
        return self.has_energy(place, column)

    def has_energy(self, place: int, column: int) -> bool:
        """Tell whether the energy is left that a task needs which starts there as early as it can."""
        return math.isinf(self.energy_left) or self.joules(place, column) <= self.energy_left

    def take(self, place: int, column: int) -> Placement:
        """Decide on this, as early as it can start: its nodes are busy then, and the energy is gone."""
        cluster, task = int(self.arrays.column_cluster[column]), int(self.state.tasks[place])
        start, seconds = self.earliest(place, column), self.seconds(place, column)
        nodes = self._profile(cluster).choose(self.nodes(place, column), seconds, start)
        if not math.isinf(self.energy_left):
            self.energy_left -= self.joules(place, column)
        if start < start + seconds:
            self._late[cluster] = (task, start, start + seconds, nodes)
            self._found = {key: known for key, known in self._found.items() if key[0] != cluster}
        made = Placement(task, column, start, nodes)
        self.placements.append(made)
        return made

    def _profile(self, cluster: int) -> Profile:
        """Return a cluster's profile with all that was taken; a copy of the state's if something was."""
        if cluster in self._late:
            if cluster not in self._own:
                self._own[cluster] = self.state.profiles[cluster].copy()
            self._own[cluster].insert(*self._late.pop(cluster))
        return self._own.get(cluster, self.state.profiles[cluster])
