"""Is this a schedule of those clusters, and when does each task really run? By plain loops, by rising start.

Shares nothing with the code that makes schedules. Times are exact, and starts may be a little too early, for
someone rounded them (`exact_times.py`). That earns nothing: a task runs from when it really could, that is
when all its nodes are free and it has arrived.

Tasks of a cluster are looked at by their starts; who had each node before, `held_nodes.py` knows by ranges.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from lpsched.schedule.clusters import written_nodes
from lpsched.verify.exact_times import MOST, broken_start, clearly_before, seconds_of, whole
from lpsched.verify.held_nodes import HeldNodes
from lpsched.verify.violation import Violation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lpsched.instance.clusters import Clusters, Kind
    from lpsched.schedule.clusters import ClustersSchedule, Nodes, PlacedOnNodes

TOLD: Final = 6  # ranges of nodes in a sentence


class RunOnNodes(NamedTuple):
    """A task as it really ran; times and watts are whole numbers of 2^-160, watts of all its nodes."""

    task: int
    cluster: int
    nodes: int  # how many
    start: int
    end: int
    watts: int


class ClusterRuns:
    """Looks at each task by itself, then at the tasks of each cluster by their starts.

    Attributes
    ----------
    violations
        Every broken rule, as far as it was looked.
    runs
        What ran, cluster by cluster.
    """

    def __init__(self, clusters: Clusters, schedule: ClustersSchedule) -> None:
        self.violations: list[Violation] = []
        self.runs: list[RunOnNodes] = []
        self._clusters, self._tasks = clusters, clusters.tasks
        self._arrivals = clusters.arriving.arrival_seconds
        self._kinds, self._kind_of = clusters.kinds, memoryview(clusters.kind_numbers).cast("q")
        self._number = {cluster.name: c for c, cluster in enumerate(clusters.clusters)}
        self._column: dict[tuple[str, str | None], int] = {}
        for cluster in clusters.clusters:
            for state in cluster.p_states if cluster.p_states is not None else (None,):
                self._column[cluster.name, state] = len(self._column)
        self._placed: list[list[PlacedOnNodes]] = [[] for _ in clusters.clusters]
        self._seen: set[int] = set()
        self._cells: dict[tuple[int, int], tuple[int, int] | None] = {}  # of a kind and a column, once needed
        self._take_all(schedule)

    def _take_all(self, schedule: ClustersSchedule) -> None:
        for placed in schedule.placed:
            broken = self._broken(placed)
            if broken is None:
                self._placed[self._number[placed.cluster]].append(placed)
                continue
            self.violations.append(Violation(*broken))
            if len(self.violations) >= MOST:
                return
        for c in range(len(self._placed)):
            self._run_cluster(c)
        if self._clusters.waiting is not None:
            self._require_all()

    def _broken(self, placed: PlacedOnNodes) -> tuple[str, str] | None:  # noqa: PLR0911 - one for each rule
        """Return the first rule that a task breaks by itself."""
        task, name = placed.task, placed.cluster
        if not 0 <= task < self._tasks:
            return "unknown-task", f"there is no task {task}, only 0 to {self._tasks - 1}"
        if task in self._seen:
            return "task-twice", f"task {task} is placed more than once"
        self._seen.add(task)
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
        broken = self._broken_nodes(placed, kind)
        if broken is not None:
            return broken
        return broken_start(
            task, float(placed.start_seconds), self._arrivals[task], self._clusters.period.ends_at
        )

    def _broken_nodes(self, placed: PlacedOnNodes, kind: Kind) -> tuple[str, str] | None:
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
        return code, f"task {placed.task} on nodes {_told(placed.nodes)} of {cluster.name!r}: {why}"

    def _run_cluster(self, c: int) -> None:
        """Let the tasks of a cluster run by their starts."""
        held, holders = HeldNodes(self._clusters.clusters[c].nodes), self.runs
        for placed in sorted(self._placed[c], key=lambda each: each.start_seconds):
            start = whole(float(placed.start_seconds))
            free, told = 0, set()
            for first, last in placed.nodes:
                for piece in held.take(first, last, len(holders)):
                    before = holders[piece.holder]
                    free = max(free, before.end)
                    is_early = start < before.end and clearly_before(start, before.end)
                    if is_early and piece.holder not in told:
                        told.add(piece.holder)
                        self._tell_overlap(placed, before, (piece.first, piece.last))
            cell = self._cell(self._kind_of[placed.task], self._column[placed.cluster, placed.p_state])
            assert cell is not None, "what cannot run has been left out"
            seconds, watts = cell
            begin = max(start, whole(self._arrivals[placed.task]), free)
            holders.append(RunOnNodes(placed.task, c, placed.count, begin, begin + seconds, watts))

    def _tell_overlap(self, placed: PlacedOnNodes, before: RunOnNodes, nodes: tuple[int, int]) -> None:
        if len(self.violations) >= MOST:
            return
        where = f"task {placed.task} on nodes {_told((nodes,))} of {placed.cluster!r}"
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
        """Tell which tasks do not run, where all have to."""
        missing: Iterator[int] = (task for task in range(self._tasks) if task not in self._seen)
        for task in missing:
            if len(self.violations) >= MOST:
                return
            sentence = f"task {task} is not placed, but what tasks wait is judged, and all have to run"
            self.violations.append(Violation("not-placed", sentence))


def _told(nodes: Nodes) -> str:
    """Write ranges of nodes for a sentence."""
    more = f";... ({len(nodes)} ranges)" if len(nodes) > TOLD else ""
    return (written_nodes(nodes[:TOLD]) or "(none)") + more


def _broken_ranges(nodes: Nodes, available: int) -> tuple[str, str] | None:
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
