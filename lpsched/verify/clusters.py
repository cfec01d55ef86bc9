"""What does a schedule of clusters earn, and what does it take? By plain loops and exact sums.

Whether it is one, and when each task really runs, `cluster_runs.py` says; what counts of it,
`day_counting.py`; how long tasks waited, `waits.py`; how much by which time, `day_traces.py`.

    utility      the sum of what counts of each task's; or, where tasks are judged by their waiting, minus the
                 sum of their costs (`instance/waiting.py`), each exact and rounded up
    energy       exact, rounded up once; not known without watts
    utilisation  node-seconds busy within a span / node-seconds that there are; in all, weighted by cores. The
                 span is the period; where that never ends, it is from the first arrival to the last end

The counted energy may be above the energy constraint by one part in 10^9, as in a day (`day.py`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from lpsched.verify.cluster_runs import ClusterRuns
from lpsched.verify.day_counting import Counting, too_much_energy
from lpsched.verify.day_traces import traces_of
from lpsched.verify.exact_times import MOST, seconds_of, whole
from lpsched.verify.task_accounts import TaskAccount, task_accounts
from lpsched.verify.told_utility import if_none_waits, utility_by_told
from lpsched.verify.violation import UNIT, Violation, rounded_up
from lpsched.verify.waits import Waits, waits_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.instance.clusters import Clusters
    from lpsched.instance.waiting import CostPiece
    from lpsched.schedule.clusters import ClustersSchedule
    from lpsched.verify.cluster_runs import RunOnNodes
    from lpsched.verify.day_counting import Counted
    from lpsched.verify.told_utility import ToldUtility


@dataclass(frozen=True, slots=True)
class ClustersMeasurement:
    """What a valid schedule of clusters earns and takes.

    Attributes
    ----------
    utility
        What counts; where tasks are judged by their waiting, minus what it costs.
    energy_joules
        What counts; `None` if the clusters have no watts.
    makespan_seconds
        The end of the last task; `None` if nothing runs.
    completed, dropped
        Tasks that end in the period that counts, and tasks that never run. One may be neither.
    utilisation, utilisation_by_cluster
        Of all cores, and of each cluster's nodes, in the order of the clusters; `None` and nothing if there
        is no time in which they could be busy.
    waits
        Of tasks that arrive in the period and start; `None` if there is none.
    cost
        Minus the utility, where tasks are judged by their waiting.
    """

    utility: float
    energy_joules: float | None
    makespan_seconds: float | None
    completed: int
    dropped: int
    utilisation: float | None
    utilisation_by_cluster: tuple[float, ...]
    waits: Waits | None
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class ExaminedClusters:
    """Every broken rule; if there is none, what the schedule earns and takes."""

    violations: tuple[Violation, ...]
    measured: ClustersMeasurement | None


@dataclass(frozen=True, slots=True)
class ClustersDetails:
    """More of a valid schedule, for reports.

    Attributes
    ----------
    utility_by_told
        In the order of `clusters.arriving.told`; nothing where tasks are judged by their waiting.
    if_none_waits
        The naive figure: every task starts on arrival where it is fastest, and its share counts; or minus
        what that costs. Where only a part counts that is no bound: a task of the warm-up that is kept waiting
        may count for more.
    busy_node_seconds
        For each cluster, in the period.
    """

    utility_by_told: tuple[ToldUtility, ...]
    if_none_waits: float
    busy_node_seconds: dict[str, float]


class ClustersAccount:
    """One schedule, gone through once: what is broken, what it earns and takes, and more for reports.

    Attributes
    ----------
    violations
        Every broken rule.
    measured
        What a schedule that breaks none earns and takes; `None` of others.
    """

    def __init__(self, clusters: Clusters, schedule: ClustersSchedule) -> None:
        ran, counting = ClusterRuns(clusters, schedule), Counting(clusters)
        self._clusters, self._counting, self._runs = clusters, counting, ran.runs
        self._pieces: dict[int, tuple[CostPiece, ...]] = {}  # of each kind that was asked for
        self._kind_of = memoryview(clusters.kind_numbers).cast("q")
        self._counted = list(counting.counted(ran.runs))
        joules = sum(each.joules for each in self._counted)
        self.violations = (*ran.violations, *too_much_energy(clusters.period, joules))[:MOST]
        self._earned = [] if self.violations else [self._earned_by(each) for each in self._counted]
        self.measured = None if self.violations else self._measure(joules)

    def _measure(self, joules: int) -> ClustersMeasurement:
        last_end = max((run.end for run in self._runs), default=None)
        busy, span = self._busy(), self._span(last_end)
        clusters = self._clusters.clusters
        cores_busy = sum(time * each.cores_per_node for time, each in zip(busy, clusters, strict=True))
        utility = math.fsum(self._earned)
        return ClustersMeasurement(
            utility=utility,
            energy_joules=None if self._clusters.watts is None else rounded_up(Fraction(joules, UNIT * UNIT)),
            makespan_seconds=None if last_end is None else seconds_of(last_end),
            completed=sum(self._counting.ends_within(run) for run in self._runs),
            dropped=self._clusters.tasks - len(self._runs),
            utilisation=cores_busy / (span * self._clusters.cores) if span else None,
            utilisation_by_cluster=tuple(
                time / (span * each.nodes) for time, each in zip(busy, clusters, strict=True) if span
            ),
            waits=waits_of(self._clusters, self._runs),
            cost=None if self._clusters.waiting is None else 0.0 - utility,  # no cost is 0, not -0
        )

    def _busy(self) -> list[int]:
        """Return the node-seconds of each cluster in the period, in UNIT."""
        busy = [0] * len(self._clusters.clusters)
        for run in self._runs:
            busy[run.cluster] += run.nodes * self._counting.within(run)
        return busy

    def _span(self, last_end: int | None) -> int:
        """Return how long nodes could be busy, in UNIT."""
        period = self._clusters.period
        begin = whole(period.begins_at)
        if period.length_seconds is not None:
            return whole(period.ends_at) - begin
        if last_end is None:
            return 0
        return max(0, last_end - max(begin, whole(self._clusters.arriving.arrival_seconds[0])))

    def _earned_by(self, counted: Counted[RunOnNodes]) -> float:
        """Return the utility that counts of a run, or minus the cost of its waiting."""
        if self._clusters.waiting is None:
            return self._counting.utility(counted)
        task = counted.run.task
        waited = Fraction(counted.run.start - whole(self._clusters.arriving.arrival_seconds[task]), UNIT)
        return -self._cost(self._kind_of[task], waited)

    def _cost(self, number: int, waited: Fraction) -> float:
        """Return what a task of a kind costs that waited so long, rounded up."""
        waiting = self._clusters.waiting
        assert waiting is not None, "tasks are judged by their waiting"
        if number not in self._pieces:
            kind = self._clusters.kinds[number]
            fastest = self._clusters.fastest_seconds(kind)
            assert fastest is not None, "a kind with tasks can run"
            self._pieces[number] = waiting.pieces(fastest, cores=kind.cores)
        now = [piece for piece in self._pieces[number] if piece.after_seconds <= waited][-1]
        more = Fraction(now.per_second) * (waited - Fraction(now.after_seconds))
        return rounded_up(Fraction(now.cost) + more)

    def traces(self, times: Sequence[float]) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Return utility and energy, in joules, that have been counted by each of some times.

        The utility of a task, or minus its cost, is credited when it ends, or when the period does if that is
        earlier; its energy evenly while the part of it that counts runs. In the end both are as measured, but
        for rounding. Without watts no energy is taken.
        """
        assert self.measured is not None, "only valid schedules are measured"
        return traces_of(self._counted, self._earned, times)

    def tasks(self) -> dict[int, TaskAccount]:
        """Return the account of each task that ran, by its number."""
        assert self.measured is not None, "only valid schedules are measured"
        return task_accounts(self._runs, self._counted, self._earned)

    def details(self) -> ClustersDetails:
        """Return utility by the way it is told, the naive figure, and how busy clusters were."""
        assert self.measured is not None, "only valid schedules are measured"
        clusters = self._clusters
        busy = {
            each.name: seconds_of(time) for each, time in zip(clusters.clusters, self._busy(), strict=True)
        }
        if clusters.waiting is not None:
            costs = math.fsum(self._cost(number, Fraction(0)) for number in self._kind_of)
            return ClustersDetails((), -costs, busy)
        fastest = [clusters.fastest_seconds(kind) or 0.0 for kind in clusters.kinds]
        naive = if_none_waits(clusters, self._kind_of, fastest)
        told = utility_by_told(clusters.arriving, self._counted, self._earned, naive)
        return ClustersDetails(told, math.fsum(amount for own in naive for amount in own), busy)


def examine(clusters: Clusters, schedule: ClustersSchedule) -> ExaminedClusters:
    """Check a schedule against every rule, and measure it if it breaks none."""
    account = ClustersAccount(clusters, schedule)
    return ExaminedClusters(account.violations, account.measured)


def violations(clusters: Clusters, schedule: ClustersSchedule) -> tuple[Violation, ...]:
    """Return every broken rule; an empty tuple means that the schedule is valid."""
    return ClustersAccount(clusters, schedule).violations


def measure(clusters: Clusters, schedule: ClustersSchedule) -> ClustersMeasurement:
    """Measure a valid schedule."""
    measured = ClustersAccount(clusters, schedule).measured
    assert measured is not None, "only valid schedules are measured"
    return measured
