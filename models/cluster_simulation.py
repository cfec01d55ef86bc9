"""Clusters with arriving tasks, simulated straight from the definitions: every node has a list of its tasks.

The clock goes from one time at which something happens to the next: a task ends, a reservation starts, a task
arrives, the grid of mapping events has a point. At each, in this order:

    1. tasks that end leave their nodes; where one ended before its planned end, permanent reservations of
       that cluster, by start, each move to an earlier start if there is one and energy for it
    2. reservations and place-holders that are due start
    3. tasks arrive
    4. if it is time for a mapping event and something waits: place-holders are forgotten, tasks are dropped,
       choices are filtered, the policy is asked, and what it says is done as far as there is energy

The twin of `lpsched/online/nodes/`, which knows no single node. A policy here places tasks in a plain
draft (`cluster_nodes.py`, `cluster_first_come.py`).

Source: Machovec et al. (2016), section III.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lpsched.online.arrays import cluster_arrays
from models.cluster_filters import offered
from models.cluster_nodes import Held, PlainDraft, PlainNodes
from models.day_mapping import pieces_of

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from lpsched.online.clusters import Clusters
    from lpsched.online.simulate.options import ClusterOptions

    Plain = Callable[[PlainDraft, np.random.Generator], None]


@dataclass
class Run:
    """A task on nodes."""

    task: int
    column: int
    start: float
    nodes: list[int]


@dataclass
class PlainClusters:
    """What happened: (column, start, nodes) of each task that ran, when tasks were dropped, the events."""

    ran: dict[int, tuple[int, float, list[int]]] = field(default_factory=dict)
    dropped_at: dict[int, float] = field(default_factory=dict)
    event_at: list[float] = field(default_factory=list)
    refused: int = 0
    starts_promised: dict[int, list[float]] = field(default_factory=dict)  # of each permanent reservation


def simulate(  # noqa: PLR0913 - options are keyword-only
    clusters: Clusters,
    policy: Plain,
    rng: np.random.Generator,
    options: ClusterOptions,
    *,
    placeholders: bool = False,
    drops: bool = True,
    filtered: bool = True,
) -> PlainClusters:
    """Run clusters under a policy."""
    twin = _Twin(clusters, policy, rng, options, placeholders=placeholders)
    twin.drops, twin.filtered = drops, filtered
    twin.run()
    return twin.happened


class _Twin:
    def __init__(
        self,
        clusters: Clusters,
        policy: Plain,
        rng: np.random.Generator,
        options: ClusterOptions,
        *,
        placeholders: bool,
    ) -> None:
        self.clusters, self.policy, self.rng, self.options = clusters, policy, rng, options
        self.arrays = cluster_arrays(clusters)
        self.nodes = PlainNodes(cluster.nodes for cluster in clusters.clusters)
        self.pieces = pieces_of(clusters)
        self.used = [0.0] * len(self.pieces)  # joules of what has started, and of permanent reservations
        self.placeholders, self.drops, self.filtered = placeholders, True, True
        self.running: list[Run] = []
        self.reserved: list[Run] = []  # or held for the time being
        self.waiting: list[int] = []
        self.arrived = 0
        self.happened = PlainClusters()

    def run(self) -> None:
        """Go from time to time at which something happens."""
        every, steps = self.options.every_seconds, 1
        ends_at, expired = self.clusters.period.ends_at, False
        while not expired:
            tick = math.inf if every is None else steps * every
            now = min(tick, self.arrival(), self.next_change())
            if now >= ends_at or math.isinf(now):
                break
            had_end = self.end_tasks(now)
            self.start_due(now)
            had_arrival = self.arrive(now)
            if every is None:
                is_time = had_end or had_arrival
            else:
                is_time = now >= tick
                steps += is_time
            if is_time:
                self.event(now)
            left = self.running or self.reserved or self.arrived < self.clusters.tasks
            stands_still = is_time and math.isinf(ends_at)
            expired = not left and (stands_still or not self.waiting)
        while self.running or self.reserved:
            now = self.next_change()
            self.end_tasks(now)
            self.start_due(now)

    def arrival(self) -> float:
        """Return when the next task arrives."""
        return float(self.arrays.arrivals[self.arrived]) if self.arrived < self.clusters.tasks else math.inf

    def next_change(self) -> float:
        """Return when something ends or starts next."""
        return min([math.inf, *map(self.end, self.running), *(run.start for run in self.reserved)])

    def cell(self, name: str, run: Run) -> float:
        """Return a number of a run's kind and column."""
        return float(getattr(self.arrays, name)[self.arrays.kind[run.task], run.column])

    def cluster(self, run: Run) -> int:
        """Return the cluster of a run."""
        return self.clusters.modes[run.column][0]

    def end(self, run: Run) -> float:
        """Return when a run really ends."""
        return run.start + self.cell("seconds", run)

    def planned_end(self, run: Run) -> float:
        """Return when a run ends as planned."""
        return run.start + self.cell("requested_seconds", run)

    def arrive(self, now: float) -> bool:
        """Let tasks arrive; tell whether some did."""
        before = self.arrived
        while self.arrival() <= now:
            self.waiting.append(self.arrived)
            self.arrived += 1
        return self.arrived > before

    def end_tasks(self, now: float) -> bool:
        """Let tasks end; tell whether some did."""
        ended = [run for run in self.running if self.end(run) <= now]
        early = {self.cluster(run) for run in ended if self.end(run) < self.planned_end(run)}
        for run in ended:
            self.running.remove(run)
            self.nodes.clear(run.task)
        if not self.placeholders:
            for run in sorted(self.reserved, key=lambda run: (run.start, run.task)):
                if self.cluster(run) in early:
                    self.move_up(run, now)
        return bool(ended)

    def move_up(self, run: Run, now: float) -> None:
        """Move a reservation to an earlier start, if there is one."""
        cluster, seconds = self.cluster(run), self.cell("requested_seconds", run)
        self.nodes.clear(run.task)
        start = self.nodes.earliest(cluster, len(run.nodes), seconds, now, run.start)
        if start < run.start:
            self.charge(run, self.used, -1.0)
            earlier = Run(run.task, run.column, start, run.nodes)
            if self.has_energy(earlier, self.used):
                run.start = start
                run.nodes = self.nodes.choose(cluster, len(run.nodes), seconds, start, now)
                self.happened.starts_promised[run.task].append(start)
            self.charge(run, self.used, 1.0)
        self.nodes.put(cluster, run.nodes, Held(run.start, self.planned_end(run), run.task))

    def start_due(self, now: float) -> None:
        """Let what is reserved for now begin."""
        for run in [run for run in self.reserved if run.start <= now]:
            self.reserved.remove(run)
            if self.placeholders:
                self.waiting.remove(run.task)
                self.charge(run, self.used, 1.0)
                self.put(run)
            self.begin(run)

    def put(self, run: Run) -> None:
        """Give its nodes to a run."""
        self.nodes.put(self.cluster(run), run.nodes, Held(run.start, self.planned_end(run), run.task))

    def begin(self, run: Run) -> None:
        """Let a run begin."""
        self.running.append(run)
        self.happened.ran[run.task] = run.column, run.start, run.nodes

    def share(self, piece: int, start: float, end: float) -> float:
        """Return which part of a run counts in a piece."""
        begin, finish = self.pieces[piece][:2]
        if self.clusters.period.edge == "completed":
            return 1.0 if begin < end <= finish else 0.0
        return max(0.0, min(end, finish) - max(start, begin)) / (end - start)

    def charge(self, run: Run, used: list[float], sign: float) -> None:
        """Charge every piece with its share of a run's energy."""
        for p in range(len(used)):
            used[p] += sign * self.cell("joules", run) * self.share(p, run.start, self.end(run))

    def has_energy(self, run: Run, used: list[float]) -> bool:
        """Tell whether every piece has the energy that a run takes in it."""
        return all(
            used[p] + self.cell("joules", run) * self.share(p, run.start, self.end(run)) <= limit
            for p, (_, _, limit, _) in enumerate(self.pieces)
        )

    def event(self, now: float) -> None:
        """Drop, filter, ask, and do."""
        if self.placeholders:
            self.reserved.clear()
        if not self.waiting:
            return
        self.happened.event_at.append(now)
        if self.drops and self.options.drop_below > 0.0:
            self.drop(now)
        if not self.waiting:
            return
        piece = max(p for p, (begin, *_) in enumerate(self.pieces) if begin <= now)
        which = self.options.energy_filter if self.filtered else None
        _, end, limit, _ = self.pieces[piece]
        left = max(0.0, limit - self.used[piece])
        allowed = self.arrays.can_run
        if which is not None and not math.isinf(limit):
            allowed = offered(self.arrays, self.nodes, (now, end), left, which, self.options.factor)
        draft = PlainDraft(
            self.arrays,
            self.nodes,
            list(self.waiting),
            [allowed[self.arrays.kind[task]].tolist() for task in self.waiting],
            now=now,
            ends_at=self.pieces[piece][3],
            energy_left=self.pieces[piece][2] - self.used[piece],
            reservations=len(self.reserved),
        )
        self.policy(draft, self.rng)
        self.place(draft, now)

    def place(self, draft: PlainDraft, now: float) -> None:
        """Do what the draft says, as far as there is energy."""
        used = list(self.used)
        for placement in draft.placements:
            run = Run(*placement)
            if not self.has_energy(run, used):
                self.happened.refused += 1
                continue
            self.charge(run, used, 1.0)
            if run.start <= now or not self.placeholders:
                self.charge(run, self.used, 1.0)
                self.waiting.remove(run.task)
                self.put(run)
            if run.start <= now:
                self.begin(run)
            else:
                self.reserved.append(run)
                self.happened.starts_promised.setdefault(run.task, []).append(run.start)

    def drop(self, now: float) -> None:
        """Drop tasks that would earn too little where they are fastest."""
        for task in list(self.waiting):
            k = self.arrays.kind[task]
            seconds = self.arrays.requested_seconds[k][self.arrays.can_run[k]]
            function = self.clusters.functions[self.arrays.function[task]]
            waited = now + float(seconds.min()) - float(self.arrays.arrivals[task])
            if function.at(waited) < self.options.drop_below:
                self.happened.dropped_at[task] = now
                self.waiting.remove(task)
