"""One policy and its trials: means, how sure we are of them, and what tasks of each priority earned.

Of several trials every number is a mean, with the half width of its 95 % confidence interval
(`result/confidence.py`). Shares are means of the trials' shares, not shares of means; but the share of a
priority is what its tasks earned in all trials, divided by what they would have earned if none had waited.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final

from lpsched.result.confidence import estimate_of
from lpsched.result.policy_columns import COLUMNS, Judged
from lpsched.result.policy_run import Earned, Traces

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lpsched.result.confidence import Estimate
    from lpsched.result.policy_run import PolicyRun
    from lpsched.schedule.clusters import ClustersSchedule
    from lpsched.schedule.day import DaySchedule

OFFLINE: Final = "offline"
QUANTITIES: Final = (
    "utility",
    "share_of_naive",
    "share_of_bound",
    "energy_joules",
    "completed",
    "dropped",
    "waiting",
    "events",
    "milliseconds_per_event",
    "seconds",
)
OF_CLUSTERS: Final = ("utilisation", "mean_bounded_slowdown", "cost", "cost_per_task")  # besides
WAITS: Final = ("mean", "median", "p95", "longest")  # seconds, as in `wait_seconds.mean`


@dataclass(frozen=True, slots=True)
class PolicyEntry:
    """One policy and its runs, by trial.

    Attributes
    ----------
    kind
        A `policy` by its name, a `function` given in Python, or `offline`: the schedule from the bound's own
        prices, which knows the whole day.
    schedule
        That of the first trial.
    judged
        By what its tasks are.
    """

    name: str
    kind: str
    runs: tuple[PolicyRun, ...]
    schedule: DaySchedule | ClustersSchedule | None = None
    judged: Judged = Judged.DAY

    @property
    def answers(self) -> tuple[PolicyRun, ...]:
        """The runs that could be measured."""
        return tuple(run for run in self.runs if run.measured is not None)

    @property
    def reasons(self) -> tuple[tuple[int, str], ...]:
        """The trials without an answer, and why."""
        return tuple((run.trial, run.reason) for run in self.runs if run.reason is not None)

    def mean(self, quantity: str) -> Estimate | None:
        """Return the mean of one of `QUANTITIES` over the trials that have such a number, if any has.

        Of clusters there are also `OF_CLUSTERS`, and `wait_seconds.mean` and the other `WAITS`.
        """
        values = [_value(run.to_dict(), quantity) for run in self.answers]
        known = [float(value) for value in values if value is not None]
        return estimate_of(known) if known else None

    @property
    def earned(self) -> tuple[Earned, ...]:
        """What tasks of each priority, or own function, earned in a trial, and would if none waited."""
        found: dict[str, list[Earned]] = {}
        for each in (each for run in self.answers for each in run.earned):
            found.setdefault(each.name, []).append(each)
        return tuple(
            Earned(
                name,
                math.fsum(each.utility for each in several) / len(self.answers),
                math.fsum(each.if_none_waits for each in several) / len(self.answers),
            )
            for name, several in found.items()
        )

    @property
    def busy(self) -> tuple[tuple[str, float], ...]:
        """Machine types, and which share of the period their machines were busy, on average."""
        found: dict[str, list[float]] = {}
        for name, share in (each for run in self.answers for each in run.busy):
            found.setdefault(name, []).append(share)
        return tuple((name, fmean(shares)) for name, shares in found.items())

    @property
    def traces(self) -> Traces | None:
        """The mean of the trials' traces, as far as they are at the same times; `None` if there are none."""
        traces = [run.traces for run in self.answers if run.traces is not None]
        several = [each for each in traces if each.seconds == traces[0].seconds]
        if not several:
            return None
        utility = _means([each.utility for each in several])
        return Traces(several[0].seconds, utility, _means([each.energy_joules for each in several]))

    def to_dict(self) -> dict[str, Any]:
        """Return the entry as it appears in JSON."""
        told: dict[str, Any] = {"name": self.name, "kind": self.kind}
        on_clusters = self.judged is not Judged.DAY
        for quantity in (*QUANTITIES, *(OF_CLUSTERS if on_clusters else ())):
            told[quantity], told[f"{quantity}_half_width"] = self._mean_and_half(quantity)
        if on_clusters:
            waits = {name: self._mean_and_half(f"wait_seconds.{name}") for name in WAITS}
            told["wait_seconds"] = {name: mean for name, (mean, _) in waits.items()}
            told["wait_seconds_half_width"] = {name: half for name, (_, half) in waits.items()}
        return told | {
            "reasons": [{"trial": trial, "reason": reason} for trial, reason in self.reasons],
            "by_priority": [each.to_dict() for each in self.earned],
            "busy": dict(self.busy),
            "traces": None if self.traces is None else self.traces.to_dict(),
            "trials": [run.to_dict() for run in self.runs],
        }

    def _mean_and_half(self, quantity: str) -> tuple[float | None, float | None]:
        estimate = self.mean(quantity)
        return (None, None) if estimate is None else (estimate.mean, estimate.half_width)

    def row(self) -> tuple[str, ...]:
        """Return the entry as a row of a table, as in `COLUMNS`."""
        cells = (column.shown(self.mean(column.quantity)) for column in COLUMNS[self.judged])
        return (self.name, *cells)


def _value(run: Mapping[str, Any], quantity: str) -> float | None:
    """Return a number of a run by its name; one within another after a dot."""
    name, _, part = quantity.partition(".")
    found = run.get(name)
    return found[part] if part and found is not None else found


def _means(rows: Sequence[tuple[float, ...]]) -> tuple[float, ...]:
    return tuple(fmean(column) for column in zip(*rows, strict=True))
