"""What a validation of clusters returns: schedules, each beside what no schedule can pass.

Where tasks are judged by their waiting, utility is minus the cost, and an entry's share of the bound is the
cost that no schedule can avoid divided by its own; so either share is at most 1.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from lpsched.online.result.policy import busy_of, facts_of
from lpsched.units import MEGA, bound_text, html_table, number, percent, share_text

if TYPE_CHECKING:
    from lpsched.model.provenance import Provenance
    from lpsched.model.violation import Violation
    from lpsched.online.parts import Cluster, Period
    from lpsched.online.schedule import ClustersSchedule
    from lpsched.online.utility import WaitingCost
    from lpsched.online.verify.clusters import ClustersMeasurement

FORMAT: Final = "lpsched-validate-clusters/1"
AFTER: Final = ("of bound", "energy, MJ", "utilisation", "mean wait, s", "completed", "dropped", "makespan, s", "valid")


@dataclass(frozen=True, slots=True)
class ClustersEntry:
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

    @property
    def valid(self) -> bool:
        """Whether it breaks no rule."""
        return not self.violations


@dataclass(frozen=True, slots=True)
class ClustersValidation:
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

    @property
    def valid(self) -> bool:
        """Whether every schedule is valid."""
        return all(entry.valid for entry in self.entries)

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

    def to_dict(self) -> dict[str, Any]:
        """Return what `lpsched validate CLUSTERS --json` prints; its keys are stable."""
        return self.provenance.header(FORMAT) | {
            "judged_by": "waiting" if self.is_cost else "utility",
            "waiting": None if self.waiting is None else asdict(self.waiting),
            "period": None if self.period.is_whole else asdict(self.period),
            "bound": self.bound,
            "naive_bound": self.naive_bound,
            "cost_bound": 0.0 - self.bound if self.is_cost else None,
            "naive_cost": 0.0 - self.naive_bound if self.is_cost else None,
            "bound_seconds": self.bound_seconds,
            "entries": [self._told(entry) for entry in self.entries],
        }

    def _told(self, entry: ClustersEntry) -> dict[str, Any]:
        measured = entry.measured
        told = {
            "name": entry.name,
            "kind": entry.kind,
            "valid": entry.valid,
            "utility": None if measured is None else measured.utility,
            "cost": None if measured is None else measured.cost,
            "share_of_bound": self.share_of_bound(entry),
            "share_of_naive": self._share(entry, self.naive_bound),
            "energy_joules": None if measured is None else measured.energy_joules,
            "completed": None if measured is None else measured.completed,
            "dropped": None if measured is None else measured.dropped,
            "makespan_seconds": None if measured is None else measured.makespan_seconds,
        }
        violations = [{"code": each.code, "sentence": each.sentence} for each in entry.violations]
        busy = {"busy": busy_of(measured, self.clusters)}
        return told | facts_of(measured) | busy | {"violations": violations}

    @property
    def headers(self) -> tuple[str, ...]:
        """The headers of `rows`."""
        return ("schedule", "cost" if self.is_cost else "utility", *AFTER)

    def rows(self) -> list[tuple[str, ...]]:
        """Return one row for what no schedule can pass, and one for each schedule, as in `headers`."""
        name = "no schedule below" if self.is_cost else "bound"
        bound = (name, self.limit_text(self.bound), "proved")
        return [bound + ("",) * (len(self.headers) - len(bound)), *map(self._row, self.entries)]

    def limit_text(self, utility: float) -> str:
        """Write a bound as an amount of what is judged: utility from above, or cost from below."""
        return bound_text(0.0 - utility if self.is_cost else utility, upper=not self.is_cost)

    def _amount(self, utility: float) -> str:
        return number(0.0 - utility if self.is_cost else utility)

    def _row(self, entry: ClustersEntry) -> tuple[str, ...]:
        measured = entry.measured
        if measured is None:
            return (entry.name, *("-" for _ in self.headers[1:-1]), "no")
        joules, waits = measured.energy_joules, measured.waits
        return (
            entry.name,
            self._amount(measured.utility),
            share_text(self.share_of_bound(entry)),
            number(None if joules is None else joules / MEGA),
            percent(measured.utilisation),
            number(None if waits is None else waits.mean_seconds),
            f"{measured.completed:,}",
            f"{measured.dropped:,}",
            number(measured.makespan_seconds),
            "yes",
        )

    def _repr_html_(self) -> str:
        return html_table(self.headers, self.rows())
