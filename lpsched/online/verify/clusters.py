"""Verify a schedule of clusters: every rule, by plain loops and exact sums."""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from lpsched.model.violation import UNIT, Violation, rounded_up
from lpsched.online.schedule import ClustersSchedule, Nodes, PlacedOnNodes, written_nodes
from lpsched.online.verify.accounts import (
    MOST,
    Account,
    PlacedRuns,
    Run,
    WaitAndRun,
    Waits,
    broken_start,
    clearly_before,
    seconds_of,
    waits_and_runs,
    waits_of,
    whole,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.online.clusters import Clusters, Kind
    from lpsched.online.utility import CostSegment
    from lpsched.online.verify.accounts import Broken, Counted, UtilityTotals


# The last holder of each node of a cluster, by ranges of nodes that one holder took. The segments lie side by side from
# node 1 to the last one, in chunks of some hundred, so that taking a range costs as much as the segments that it covers
# and the chunks at its ends, however many nodes there are. A taken range leaves at most two segments more than there
# were.
NO_HOLDER: Final = -1
CHUNK: Final = 512  # segments; a chunk of twice as many is cut in two


class Segment(NamedTuple):
    """Nodes `first` to `last`, and who held them."""

    first: int
    last: int
    holder: int


class NodeAllocation:
    """The last holder of each node; at first none.

    >>> held = NodeAllocation(10)
    >>> held.take(3, 6, holder=0), held.take(5, 9, holder=1)
    ([], [Segment(first=5, last=6, holder=0)])
    """

    def __init__(self, nodes: int) -> None:
        self._nodes = nodes
        self._heads = [1]  # the first node of each chunk
        self._chunks: list[tuple[list[int], list[int]]] = [([1], [NO_HOLDER])]  # first nodes, and holders

    def take(self, first: int, last: int, holder: int) -> list[Segment]:
        """Give the nodes from first to last to a holder; return who held them before, by node."""
        c, d = bisect_right(self._heads, first) - 1, bisect_right(self._heads, last) - 1
        firsts, holders = self._joined(c, d)
        a, b = bisect_right(firsts, first) - 1, bisect_right(firsts, last) - 1
        found = [
            Segment(max(first, firsts[p]), firsts[p + 1] - 1 if p < b else last, holders[p])
            for p in range(a, b + 1)
            if holders[p] != NO_HOLDER
        ]
        following = firsts[b + 1] if b + 1 < len(firsts) else self._begin_of(d + 1)
        is_left, leaves = firsts[a] < first, last + 1 < following  # whether a segment is left before, and after
        own, after = slice(a + is_left, b + 1), holders[b]
        firsts[own] = [first, last + 1] if leaves else [first]
        holders[own] = [holder, after] if leaves else [holder]
        self._put(c, d, firsts, holders)
        return found

    def _begin_of(self, c: int) -> int:
        return self._heads[c] if c < len(self._heads) else self._nodes + 1

    def _joined(self, c: int, d: int) -> tuple[list[int], list[int]]:
        """Return the segments of some chunks; of one chunk its own lists."""
        if c == d:
            return self._chunks[c]
        chunks = self._chunks[c : d + 1]
        return [each for firsts, _ in chunks for each in firsts], [each for _, own in chunks for each in own]

    def _put(self, c: int, d: int, firsts: list[int], holders: list[int]) -> None:
        """Put segments in the place of some chunks."""
        if c == d and len(firsts) < 2 * CHUNK:
            return  # they have been changed in their place
        cuts = range(0, len(firsts), CHUNK)
        self._chunks[c : d + 1] = [(firsts[k : k + CHUNK], holders[k : k + CHUNK]) for k in cuts]
        self._heads[c : d + 1] = [firsts[k] for k in cuts]


# Is this a schedule of those clusters, and when does each task really run? It runs when all its nodes are free and it
# has arrived. Tasks of a cluster are looked at by their starts; who had each node before, `HeldNodes` knows by ranges.
MOST_RANGES: Final = 6  # ranges of nodes in a sentence


class ClusterRuns(PlacedRuns["PlacedOnNodes"]):
    """Looks at each task by itself, then at the tasks of each cluster by their starts."""

    def __init__(self, clusters: Clusters, schedule: ClustersSchedule) -> None:
        self._clusters = clusters
        self._kinds, self._kind_of = clusters.kinds, memoryview(clusters.kind_numbers).cast("q")
        super().__init__(clusters, schedule.placed)

    def _broken(self, placed: PlacedOnNodes) -> Broken:
        task, name = placed.task, placed.cluster
        if name not in self._number:
            return "unknown-cluster", f"task {task}: there is no cluster {name!r}"
        column = self._column.get((name, placed.p_state))
        if column is None:
            states = self._clusters.clusters[self._number[name]].p_states
            only = "it has none" if states is None else f"only {', '.join(map(repr, states))}"
            return "unknown-p-state", f"task {task}: {name!r} has no P-state {placed.p_state!r}, {only}"
        kind = self._kinds[self._kind_of[task]]
        if self._cell(self._kind_of[task], column) is None:
            state = "" if placed.p_state is None else f" in P-state {placed.p_state!r}"
            own = f"task {task} of type {self._clusters.task_types[kind.task_type].name!r}"
            return "cannot-run", f"{own}, {kind.cores} cores, cannot run on {name!r}{state}"
        return self._broken_nodes(placed, kind) or broken_start(
            task, float(placed.start_seconds), self._arrivals[task], self._ends_at
        )

    def _broken_nodes(self, placed: PlacedOnNodes, kind: Kind) -> Broken:
        """Return the first rule that the nodes of a task break; ranges may come in any order."""
        cluster = self._clusters.clusters[self._number[placed.cluster]]
        broken = _broken_ranges(placed.nodes, cluster.nodes)
        if broken is None:
            count, needed = placed.count, cluster.nodes_for(kind.cores)
            if count == needed:
                return None
            why = f"{kind.cores} cores at {cluster.cores_per_node} a node"
            broken = "wrong-nodes", f"it takes {count} nodes, but needs {needed}: {why}"
        code, why = broken
        return code, f"task {placed.task} on nodes {_abbreviated(placed.nodes)} of {cluster.name!r}: {why}"

    def _run(self, valid: list[PlacedOnNodes]) -> None:
        own: list[list[PlacedOnNodes]] = [[] for _ in self._number]
        for placed in valid:
            own[self._number[placed.cluster]].append(placed)
        for c, several in enumerate(own):
            self._run_cluster(c, several)
        if self._clusters.waiting is not None:
            self._require_all()

    def _run_cluster(self, c: int, own: list[PlacedOnNodes]) -> None:
        """Let the tasks of a cluster run by their starts."""
        allocation, holders = NodeAllocation(self._clusters.clusters[c].nodes), self.runs
        for placed in sorted(own, key=lambda each: each.start_seconds):
            start = whole(float(placed.start_seconds))
            free, declared = 0, set()
            for first, last in placed.nodes:
                for segment in allocation.take(first, last, len(holders)):
                    before = holders[segment.holder]
                    free = max(free, before.end)
                    is_early = start < before.end and clearly_before(start, before.end)
                    if is_early and segment.holder not in declared:
                        declared.add(segment.holder)
                        self._add_overlap(placed, before, (segment.first, segment.last))
            cell = self._cell(self._kind_of[placed.task], self._column[placed.cluster, placed.p_state])
            assert cell is not None, "what cannot run has been left out"
            seconds, watts = cell
            begin = max(start, whole(self._arrivals[placed.task]), free)
            holders.append(Run(placed.task, c, 0, placed.count, begin, begin + seconds, watts))

    def _add_overlap(self, placed: PlacedOnNodes, before: Run, nodes: tuple[int, int]) -> None:
        if len(self.violations) >= MOST:
            return
        where = f"task {placed.task} on nodes {_abbreviated((nodes,))} of {placed.cluster!r}"
        starts = f"starts at {float(placed.start_seconds)!r} s"
        ends = f"task {before.task} ends there at {seconds_of(before.end)!r} s"
        self.violations.append(Violation("overlap", f"{where} {starts}, but {ends}"))

    def _cell(self, number: int, column: int) -> tuple[int, int] | None:
        """Return the seconds and the watts of a kind; `None` where it cannot run."""
        if (number, column) not in self._cells:
            kind = self._kinds[number]
            seconds, watts = self._clusters.seconds_of(kind, column), self._clusters.watts_of(kind, column)
            self._cells[number, column] = None if seconds is None else (whole(seconds), whole(watts or 0.0))
        return self._cells[number, column]

    def _require_all(self) -> None:
        """Report the tasks that do not run, where all have to."""
        for task in range(self._tasks):
            if len(self.violations) >= MOST:
                return
            if task not in self._seen:
                sentence = f"task {task} is not placed, but what tasks wait is judged, and all have to run"
                self.violations.append(Violation("not-placed", sentence))


def _abbreviated(nodes: Nodes) -> str:
    """Write ranges of nodes for a sentence."""
    more = f";... ({len(nodes)} ranges)" if len(nodes) > MOST_RANGES else ""
    return (written_nodes(nodes[:MOST_RANGES]) or "(none)") + more


def _broken_ranges(nodes: Nodes, available: int) -> Broken:
    """Return the first rule that ranges of nodes break, and why."""
    before = 0
    for first, last in sorted(nodes):
        if last < first:
            return "bad-nodes", f"a range ends at node {last}, before it begins at node {first}"
        if not 1 <= first <= last <= available:
            return "no-such-node", f"there are only nodes 1 to {available}"
        if first <= before:
            return "node-twice", f"node {first} is named twice"
        before = last
    return None


# What does a schedule of clusters earn, and what does it take? By plain loops and exact sums.
#
# Whether it is one, and when each task really runs: `ClusterRuns`. What counts of it, and how much by which
# time, how long tasks waited: `accounts.py`.
#   utility      the sum of what counts of each task's; or, where tasks are judged by their waiting, minus the
#                sum of their costs (`online/utility.py`), each exact and rounded up
#   energy       exact, rounded up once; not known without watts
#   utilisation  node-seconds busy within a span / node-seconds that there are; in all, weighted by cores. The
#                span is the period; where that never ends, it is from the first arrival to the last end
@dataclass(frozen=True, slots=True)
class ClustersMeasurement:
    """What a valid schedule of clusters earns and takes, as far as it counts."""

    utility: float  # where tasks are judged by their waiting, minus what it costs
    energy_joules: float | None  # `None` if the clusters have no watts
    makespan_seconds: float | None  # the end of the last task; `None` if nothing runs
    completed: int  # tasks that end in the period that counts
    dropped: int  # tasks that never run; one may be neither
    utilisation: float | None  # of all cores; `None` if there is no time in which they could be busy
    utilisation_by_cluster: tuple[float, ...]  # of each cluster's nodes; nothing likewise
    waits: Waits | None  # of tasks that arrive in the period and start; `None` if there is none
    cost: float | None = None  # minus the utility, where tasks are judged by their waiting


@dataclass(frozen=True, slots=True)
class ClustersDetails:
    """More of a valid schedule, for reports."""

    utility_by_declaration: tuple[UtilityTotals, ...]  # by declared utility; nothing where tasks are judged by waiting
    if_none_waits: float  # the no-wait reference, or minus what that costs
    busy_node_seconds: dict[str, float]  # of each cluster, in the period


class ClustersAccount(Account[ClustersMeasurement]):
    """A schedule of clusters, gone through once."""

    def __init__(self, clusters: Clusters, schedule: ClustersSchedule) -> None:
        self._clusters = clusters
        self._segments: dict[int, tuple[CostSegment, ...]] = {}  # of each kind that was asked for
        self._kind_of = memoryview(clusters.kind_numbers).cast("q")
        super().__init__(clusters, ClusterRuns(clusters, schedule))

    @cached_property
    def _waited(self) -> list[WaitAndRun]:
        return waits_and_runs(self._clusters, self._runs)

    def by_group(self, group_of: Sequence[int], groups: int) -> list[tuple[Waits | None, float]]:
        """Return the waits of the tasks of each group, and what they earned in all; `group_of` is by task."""
        self.require_measured()
        waited: list[list[WaitAndRun]] = [[] for _ in range(groups)]
        for each in self._waited:
            waited[group_of[each.task]].append(each)
        earned: list[list[float]] = [[] for _ in range(groups)]
        for counted, amount in zip(self._counted, self._earned, strict=True):
            earned[group_of[counted.run.task]].append(amount)
        return [(waits_of(own), math.fsum(amounts)) for own, amounts in zip(waited, earned, strict=True)]

    def _measure(self, joules: int) -> ClustersMeasurement:
        busy, span = self._busy(), self._span()
        clusters, sums = self._clusters.clusters, self._sums(joules)
        cores_busy = sum(time * each.cores_per_node for time, each in zip(busy, clusters, strict=True))
        if self._clusters.watts is None:
            sums["energy_joules"] = None
        return ClustersMeasurement(
            **sums,
            utilisation=cores_busy / (span * self._clusters.cores) if span else None,
            utilisation_by_cluster=tuple(
                time / (span * each.nodes) for time, each in zip(busy, clusters, strict=True) if span
            ),
            waits=waits_of(self._waited),
            cost=None if self._clusters.waiting is None else 0.0 - sums["utility"],  # no cost is 0, not -0
        )

    def _busy(self) -> list[int]:
        """Return the node-seconds of each cluster in the period, in UNIT."""
        busy = [0] * len(self._clusters.clusters)
        for run in self._runs:
            busy[run.place] += run.nodes * self._counting.within(run)
        return busy

    def _span(self) -> int:
        """Return how long nodes could be busy, in UNIT."""
        period = self._clusters.period
        begin = whole(period.begins_at)
        if period.length_seconds is not None:
            return whole(period.ends_at) - begin
        last_end = max((run.end for run in self._runs), default=0)
        return max(0, last_end - max(begin, whole(self._clusters.arriving.arrival_seconds[0])))

    def _earned_by(self, counted: Counted) -> float:
        """Return the utility that counts of a run, or minus the cost of its waiting."""
        if self._clusters.waiting is None:
            return super()._earned_by(counted)
        task = counted.run.task
        waited = Fraction(counted.run.start - whole(self._clusters.arriving.arrival_seconds[task]), UNIT)
        return -self._cost(self._kind_of[task], waited)

    def _cost(self, number: int, waited: Fraction) -> float:
        """Return what a task of a kind costs that waited so long, rounded up."""
        waiting = self._clusters.waiting
        assert waiting is not None, "tasks are judged by their waiting"
        if number not in self._segments:
            kind = self._clusters.kinds[number]
            fastest = self._clusters.fastest_seconds(kind)
            assert fastest is not None, "a kind with tasks can run"
            self._segments[number] = waiting.segments(fastest, cores=kind.cores)
        now = [segment for segment in self._segments[number] if segment.after_seconds <= waited][-1]
        more = Fraction(now.per_second) * (waited - Fraction(now.after_seconds))
        return rounded_up(Fraction(now.cost) + more)

    def details(self) -> ClustersDetails:
        """Return utility by declaration, the no-wait reference, and how busy clusters were."""
        self.require_measured()
        clusters = self._clusters
        busy = {each.name: seconds_of(time) for each, time in zip(clusters.clusters, self._busy(), strict=True)}
        if clusters.waiting is not None:
            costs = math.fsum(self._cost(number, Fraction(0)) for number in self._kind_of)
            return ClustersDetails((), -costs, busy)
        fastest = [clusters.fastest_seconds(kind) or 0.0 for kind in clusters.kinds]
        return ClustersDetails(*self._by_declaration(self._kind_of, fastest), busy)


examine = ClustersAccount  # checks a schedule against every rule, and measures it if it breaks none
