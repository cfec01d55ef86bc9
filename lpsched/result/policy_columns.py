"""The columns of a table of policies: which quantity each shows, how, and what it means.

There are three such tables: of days, of clusters whose tasks have a utility, and of clusters whose tasks are
judged by what they wait.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from lpsched.display import bound_text, gap_text, number, share_text

if TYPE_CHECKING:
    from lpsched.result.confidence import Estimate

MEGA: Final = 1e6
GIGA: Final = 1e9
PERCENT: Final = 0.01


class Judged(StrEnum):
    """What was simulated, and by what its tasks are judged."""

    DAY = "day"
    CLUSTERS = "clusters"
    WAITING = "waiting"


@dataclass(frozen=True, slots=True)
class Column:
    """One column: a quantity of `PolicyEntry.mean`, divided by the unit."""

    header: str
    quantity: str
    meaning: str
    unit: float = 1.0
    digits: int = 6

    def shown(self, estimate: Estimate | None, *, upper: bool | None = None) -> str:
        """Write a mean as this column does; a bound rounded to its side."""
        if self.unit == PERCENT:
            return shown_share(estimate, upper=False if self.quantity == OF_BOUND.quantity else upper)
        return shown(estimate, unit=self.unit, digits=self.digits, upper=upper)


UTILITY: Final = Column(
    "utility", "utility", "what the tasks earned in the period that counts, measured from the schedule"
)
OF_BOUND: Final = Column(
    "of bound", "share_of_bound", "divided by what no schedule of the day can pass, proved", PERCENT
)
COMPLETED: Final = Column("completed", "completed", "tasks that ended within the period")
COUNTS: Final = (
    COMPLETED,
    Column("dropped", "dropped", "tasks given up for good within the period"),
    Column(
        "waiting",
        "waiting",
        "tasks that had arrived, and neither begun nor been dropped, when the period ended",
    ),
)
EVENTS: Final = (
    Column("events", "events", "mapping events, at which the policy was asked, of the warm-up too"),
    Column(
        "ms/event",
        "milliseconds_per_event",
        "mean milliseconds that a mapping event took: the policy, dropping and energy filter",
        digits=3,
    ),
)
NODES: Final = (
    Column("utilisation", "utilisation", "share of all nodes' time in the period that tasks took", PERCENT),
    Column(
        "mean wait, s",
        "wait_seconds.mean",
        "from arrival to start, of tasks that arrive in the period and start",
        digits=4,
    ),
    Column("95 % wait, s", "wait_seconds.p95", "that 95 % of these tasks do not wait longer than", digits=4),
)
QUICKEST: Final = "divided by what they would earn if each began on arrival where it is quickest"
COLUMNS: Final = {
    Judged.DAY: (
        UTILITY,
        Column("of naive", "share_of_naive", QUICKEST, PERCENT),
        OF_BOUND,
        Column("energy, MJ", "energy_joules", "what machines took in the period while they were busy", MEGA),
        *COUNTS,
        *EVENTS,
    ),
    Judged.CLUSTERS: (
        UTILITY,
        Column("of naive", "share_of_naive", QUICKEST, PERCENT),
        OF_BOUND,
        Column("energy, GJ", "energy_joules", "what nodes took in the period while they were busy", GIGA),
        *COUNTS,
        *NODES,
        *EVENTS,
    ),
    Judged.WAITING: (
        Column("cost", "cost", "what the tasks' waiting costs in all, measured from the schedule"),
        Column("per task", "cost_per_task", "the mean of it", digits=4),
        Column(
            "unavoidable",
            "share_of_bound",
            "the part of the cost that no schedule can avoid, proved: at 100 % there is none better",
            PERCENT,
        ),
        *NODES,
        COMPLETED,
        *EVENTS,
    ),
}  # fmt: skip


def headers_of(judged: Judged) -> tuple[str, ...]:
    """Return the headers of a table."""
    return ("policy", *(column.header for column in COLUMNS[judged]))


def shown(estimate: Estimate | None, *, unit: float = 1.0, digits: int = 6, upper: bool | None = None) -> str:
    """Write a mean, and how far its confidence interval goes to each side; no digits that mean nothing.

    With `upper` it is the mean of bounds, upper or lower ones, and rounded to the side that stays true.

    >>> from lpsched.result.confidence import Estimate
    >>> shown(Estimate(12345.678, 9.87)), shown(Estimate(3.0)), shown(Estimate(3.0, 0.0)), shown(None)
    ('12,345.7 ± 9.9', '3', '3', '-')
    """
    if estimate is None:
        return "-"
    mean, half = estimate.mean / unit, (estimate.half_width or 0.0) / unit
    if half:
        sure = math.floor(math.log10(abs(mean) or half)) - math.floor(math.log10(half)) + 2
        digits = max(1, min(digits, sure))
    told = number(mean, digits) if upper is None else bound_text(mean, upper=upper, digits=digits)
    return f"{told} ± {number(half, 2)}" if half else told


def shown_share(estimate: Estimate | None, *, upper: bool | None = None) -> str:
    """Write a mean share in percent, likewise.

    >>> from lpsched.result.confidence import Estimate
    >>> shown_share(Estimate(0.5313, 0.0021)), shown_share(Estimate(0.5))
    ('53.13 ± 0.21 %', '50 %')
    """
    if estimate is not None and upper is not None and not estimate.half_width:
        return gap_text(estimate.mean) if upper else share_text(estimate.mean)
    return "-" if estimate is None else f"{shown(estimate, unit=PERCENT, digits=4, upper=upper)} %"
