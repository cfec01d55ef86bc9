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

from lpsched.display import number
from lpsched.result.confidence import estimate_of
from lpsched.result.policy_run import Earned, Traces

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.result.confidence import Estimate
    from lpsched.result.policy_run import PolicyRun
    from lpsched.schedule.day import DaySchedule

MEGA: Final = 1e6
OFFLINE: Final = "offline"
HEADERS: Final = (
    "policy",
    "utility",
    "of naive",
    "of bound",
    "energy, MJ",
    "completed",
    "dropped",
    "waiting",
    "events",
    "ms/event",
)
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
    """

    name: str
    kind: str
    runs: tuple[PolicyRun, ...]
    schedule: DaySchedule | None = None

    @property
    def answers(self) -> tuple[PolicyRun, ...]:
        """The runs that could be measured."""
        return tuple(run for run in self.runs if run.measured is not None)

    @property
    def reasons(self) -> tuple[tuple[int, str], ...]:
        """The trials without an answer, and why."""
        return tuple((run.trial, run.reason) for run in self.runs if run.reason is not None)

    def mean(self, quantity: str) -> Estimate | None:
        """Return the mean of one of `QUANTITIES` over the trials that have such a number, if any has."""
        values = [run.to_dict()[quantity] for run in self.answers]
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
        for quantity in QUANTITIES:
            estimate = self.mean(quantity)
            told[quantity] = None if estimate is None else estimate.mean
            told[f"{quantity}_half_width"] = None if estimate is None else estimate.half_width
        return told | {
            "reasons": [{"trial": trial, "reason": reason} for trial, reason in self.reasons],
            "by_priority": [each.to_dict() for each in self.earned],
            "busy": dict(self.busy),
            "traces": None if self.traces is None else self.traces.to_dict(),
            "trials": [run.to_dict() for run in self.runs],
        }

    def row(self) -> tuple[str, ...]:
        """Return the entry as a row of a table, as in `HEADERS`."""
        counts = ("completed", "dropped", "waiting", "events")
        return (
            self.name,
            shown(self.mean("utility")),
            shown_share(self.mean("share_of_naive")),
            shown_share(self.mean("share_of_bound")),
            shown(self.mean("energy_joules"), unit=MEGA),
            *(shown(self.mean(quantity)) for quantity in counts),
            shown(self.mean("milliseconds_per_event"), digits=3),
        )


def shown(estimate: Estimate | None, *, unit: float = 1.0, digits: int = 6) -> str:
    """Write a mean, and how far its confidence interval goes to each side; no digits that mean nothing.

    >>> from lpsched.result.confidence import Estimate
    >>> shown(Estimate(12345.678, 9.87)), shown(Estimate(3.0)), shown(Estimate(3.0, 0.0)), shown(None)
    ('12,345.7 ± 9.9', '3', '3', '-')
    """
    if estimate is None:
        return "-"
    mean, half = estimate.mean / unit, (estimate.half_width or 0.0) / unit
    if not half:
        return number(mean, digits)
    sure = math.floor(math.log10(abs(mean) or half)) - math.floor(math.log10(half)) + 2
    return f"{number(mean, max(1, min(digits, sure)))} ± {number(half, 2)}"


def shown_share(estimate: Estimate | None) -> str:
    """Write a mean share in percent, likewise.

    >>> from lpsched.result.confidence import Estimate
    >>> shown_share(Estimate(0.5313, 0.0021)), shown_share(Estimate(0.5))
    ('53.13 ± 0.21 %', '50 %')
    """
    return "-" if estimate is None else f"{shown(estimate, unit=0.01, digits=4)} %"


def _means(rows: Sequence[tuple[float, ...]]) -> tuple[float, ...]:
    return tuple(fmean(column) for column in zip(*rows, strict=True))
