"""What a validation of clusters returns: schedules, each beside what no schedule can pass.

Where tasks are judged by their waiting, utility is minus the cost, and an entry's share of the bound is the
cost that no schedule can avoid divided by its own; so either share is at most 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from lpsched.model.results import Column, Compared, Comparison, Score, json_of
from lpsched.online.result.policy import busy_of, facts_of
from lpsched.units import MEGA, bound_text, number, percent, share_text

if TYPE_CHECKING:
    from lpsched.model.provenance import Provenance
    from lpsched.model.violation import Violation
    from lpsched.online.parts import Cluster, Period
    from lpsched.online.schedule import ClustersSchedule
    from lpsched.online.utility import WaitingCost
    from lpsched.online.verify.clusters import ClustersMeasurement


@dataclass(frozen=True, slots=True)
class ClustersEntry(Compared):
    """One schedule: what it was measured to earn and take, or the rules that it breaks.

    Attributes
    ----------
    kind
        Where it came from: a `file`, or a `schedule` given in Python.
    """

    name: str
    kind: str
    measured: ClustersMeasurement | None
    violations: tuple[Violation, ...] = ()
    schedule: ClustersSchedule | None = None


@dataclass(frozen=True, slots=True)
class ClustersValidation(Comparison[ClustersEntry]):
    """What no schedule can pass, and every schedule held against it.

    Attributes
    ----------
    bound
        No schedule earns more; where tasks are judged by their waiting, minus what it costs at least.
    naive_bound
        What the tasks would earn, or minus what they would cost, if each began at once where it is quickest.
    bound_seconds
        How long finding the bound took.
    """

    clusters: tuple[Cluster, ...]
    period: Period
    waiting: WaitingCost | None
    bound: float
    naive_bound: float
    bound_seconds: float
    entries: tuple[ClustersEntry, ...]
    provenance: Provenance

    _FORMAT: ClassVar = "lpsched-validate-clusters/1"
    _KEYS: ClassVar = "judged_by waiting period bound naive_bound cost_bound naive_cost bound_seconds entries"
    _ENTRY_KEYS: ClassVar = (
        "name kind valid measured.utility measured.cost share_of_bound share_of_naive measured.energy_joules "
        "measured.completed measured.dropped measured.makespan_seconds utilisation wait_seconds mean_slowdown "
        "mean_bounded_slowdown busy violations"
    )
    _WHO: ClassVar = "schedule"

    @property
    def is_cost(self) -> bool:
        """Whether tasks are judged by their waiting."""
        return self.waiting is not None

    def share_of_bound(self, entry: ClustersEntry) -> float | None:
        """Return utility as a share of the bound, or the least cost as a share of the cost."""
        return self._share(entry, self.bound)

    def _share(self, entry: ClustersEntry, most: float) -> float | None:
        if entry.measured is None:
            return None
        part, all_of_it = (most, entry.measured.utility) if self.is_cost else (entry.measured.utility, most)
        return part / all_of_it if all_of_it else None

    @property
    def quantity(self) -> str:
        """What tasks are judged by."""
        return "cost of waiting" if self.is_cost else "utility"

    @property
    def is_upper(self) -> bool:
        """Whether the bound is from above."""
        return not self.is_cost

    @property
    def common_bound(self) -> float:
        """The most utility, or the least cost."""
        return (-1.0 if self.is_cost else 1.0) * self.bound + 0.0

    def score(self, entry: ClustersEntry) -> Score:
        """Return the utility or the cost of a schedule, what none can pass, and the gap between them."""
        bound = self.common_bound
        if entry.measured is None:
            return Score(None, bound, None)
        value = (-1.0 if self.is_cost else 1.0) * entry.measured.utility + 0.0
        return Score(value, bound, abs(value - bound) / abs(bound) if bound else None)

    def to_dict(self) -> dict[str, Any]:
        """Return what `lpsched validate CLUSTERS --json` prints; its keys are stable."""
        return self.provenance.header(self._FORMAT) | json_of(
            self,
            self._KEYS,
            judged_by="waiting" if self.is_cost else "utility",
            period=None if self.period.is_whole else self.period,
            cost_bound=0.0 - self.bound if self.is_cost else None,
            naive_cost=0.0 - self.naive_bound if self.is_cost else None,
            entries=[self._told(entry) for entry in self.entries],
        )

    def _told(self, entry: ClustersEntry) -> dict[str, Any]:
        return json_of(
            entry,
            self._ENTRY_KEYS,
            share_of_bound=self.share_of_bound(entry),
            share_of_naive=self._share(entry, self.naive_bound),
            busy=busy_of(entry.measured, self.clusters),
            **facts_of(entry.measured),
        )

    def _bound_cells(self) -> tuple[str, ...]:
        return ("no schedule below" if self.is_cost else "bound", self.limit_text(self.bound), "proved")

    def _has_seconds(self) -> bool:
        return False

    def _columns(self) -> list[Column]:
        return [
            Column("cost" if self.is_cost else "utility", lambda entry: self._amount(entry.measured.utility)),
            Column("of bound", lambda entry: share_text(self.share_of_bound(entry))),
            Column("energy, MJ", lambda entry: number(_over(entry.measured.energy_joules, MEGA))),
            Column("utilisation", lambda entry: percent(entry.measured.utilisation)),
            Column("mean wait, s", lambda entry: number(getattr(entry.measured.waits, "mean_seconds", None))),
            Column("completed", lambda entry: f"{entry.measured.completed:,}"),
            Column("dropped", lambda entry: f"{entry.measured.dropped:,}"),
            Column("makespan, s", lambda entry: number(entry.measured.makespan_seconds)),
        ]

    def limit_text(self, utility: float) -> str:
        """Write a bound as an amount of what is judged: utility from above, or cost from below."""
        return bound_text(0.0 - utility if self.is_cost else utility, upper=not self.is_cost)

    def _amount(self, utility: float) -> str:
        return number(0.0 - utility if self.is_cost else utility)


def _over(amount: float | None, unit: float) -> float | None:
    return None if amount is None else amount / unit
