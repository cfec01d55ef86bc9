"""One policy on the day of one trial: what the verifier measured of it, or why there is nothing to measure.

utility, energy     counted in the period, by share (`instance/period.py`); energy is not known without watts
completed           tasks that end within the period
dropped             tasks that were given up for good within the period
waiting             tasks that had arrived, and neither begun nor been dropped, when the period ended
events              mapping events, of the warm-up too
event_seconds       the mean time that a mapping event took: the policy, dropping and filter
share_of_naive      utility / what the tasks would earn if each began at once where it is quickest
share_of_bound      utility / what no schedule can pass, proved

Where tasks are judged by what they wait (`instance/waiting.py`), utility is minus the cost, and

cost, cost_per_task minus the utility; divided by the tasks
share_of_naive      cost if nothing waited / cost
share_of_bound      cost that no schedule can avoid, proved / cost; both are at most 1

Of clusters:

utilisation         core-seconds of the nodes that were taken in the period / all that there are
wait_seconds        from arrival to start, of tasks that arrive in the period and start: mean, median, what
                    95 % do not wait longer than, longest
mean_bounded_slowdown  of the same tasks, the mean of max(1, (wait + run) / max(run, 10 s))
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lpsched.result.cluster_facts import facts_of
from lpsched.verify.clusters import ClustersMeasurement

if TYPE_CHECKING:
    from lpsched.verify.day import DayMeasurement


@dataclass(frozen=True, slots=True)
class Earned:
    """What tasks of one priority, or with one own function, earned, and would have if none had waited."""

    name: str
    utility: float
    if_none_waits: float  # the naive figure, which tasks of the warm-up may pass

    @property
    def share(self) -> float | None:
        """The earned part of that; `None` where it is nothing."""
        return self.utility / self.if_none_waits if self.if_none_waits > 0.0 else None

    def to_dict(self) -> dict[str, Any]:
        """Return the sums as they appear in JSON."""
        return {
            "name": self.name,
            "utility": self.utility,
            "if_none_waits": self.if_none_waits,
            "share": self.share,
        }


@dataclass(frozen=True, slots=True)
class Traces:
    """What had been counted by some times of the period: utility, and joules."""

    seconds: tuple[float, ...]  # since the period began
    utility: tuple[float, ...]
    energy_joules: tuple[float, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the traces as they appear in JSON."""
        return {
            "seconds": list(self.seconds),
            "utility": list(self.utility),
            "energy_joules": list(self.energy_joules),
        }


@dataclass(frozen=True, slots=True)
class PolicyRun:
    """What a policy did in one trial. Only one of `measured` and `reason` is there."""

    trial: int
    measured: DayMeasurement | ClustersMeasurement | None = None
    reason: str | None = None  # why there is nothing
    dropped: int | None = None  # as the next three, `None` of an offline schedule
    waiting: int | None = None
    events: int | None = None
    event_seconds: float | None = None
    seconds: float = 0.0  # that the whole took
    naive: float = 0.0
    bound: float | None = None
    earned: tuple[Earned, ...] = ()
    busy: tuple[tuple[str, float], ...] = ()  # machine types or clusters, and their share of the period
    traces: Traces | None = None
    costly_tasks: int | None = None  # whose waiting is what costs; `None`: they have a utility

    @property
    def utility(self) -> float | None:
        """What was earned."""
        return None if self.measured is None else self.measured.utility

    @property
    def share_of_naive(self) -> float | None:
        """Utility as a share of the naive figure; `None` where that is 0."""
        return self._share(self.naive)

    @property
    def share_of_bound(self) -> float | None:
        """Utility as a share of the bound; `None` where that is 0, or nobody asked."""
        return None if self.bound is None else self._share(self.bound)

    def _share(self, most: float) -> float | None:
        """Return the earned part of what can be earned; of costs, the part that has to be paid."""
        if self.utility is None:
            return None
        part, whole = (self.utility, most) if self.costly_tasks is None else (most, self.utility)
        return part / whole if whole else None

    def to_dict(self) -> dict[str, Any]:
        """Return the run as it appears in JSON."""
        measured = self.measured
        told: dict[str, Any] = {"trial": self.trial, "reason": self.reason}
        if measured is None:
            return told
        told |= {
            "utility": measured.utility,
            "share_of_naive": self.share_of_naive,
            "share_of_bound": self.share_of_bound,
            "energy_joules": measured.energy_joules,
            "completed": measured.completed,
            "dropped": self.dropped,
            "waiting": self.waiting,
            "events": self.events,
            "milliseconds_per_event": None if self.event_seconds is None else 1e3 * self.event_seconds,
            "seconds": self.seconds,
        }
        return told | self._of_clusters(measured) if isinstance(measured, ClustersMeasurement) else told

    def _of_clusters(self, measured: ClustersMeasurement) -> dict[str, Any]:
        """Return what only runs on clusters have."""
        tasks = self.costly_tasks
        cost = None if tasks is None else 0.0 - measured.utility  # no cost is 0, not -0
        return facts_of(measured) | {
            "cost": cost,
            "cost_per_task": cost / tasks if cost is not None and tasks else None,
            "busy": dict(self.busy),
        }
