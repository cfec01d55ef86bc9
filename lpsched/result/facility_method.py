"""What another method than ours answers for a facility: a verified allocation, and how far from the bound.

The JSON object has the keys of `result/facility.py`, so that a reader of one reads all; what only the linear
program knows (boxes, worths) is null.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lpsched.display import gap_text, html_table, number
from lpsched.result.facility import FORMAT
from lpsched.result.facility_facts import UNIT, bound_fact, colocated, hottest_inlet, measured_keys, power

if TYPE_CHECKING:
    from lpsched.instance.frozen import FrozenDict
    from lpsched.result.provenance import Provenance
    from lpsched.result.status import Status
    from lpsched.schedule.facility import CoreAllocation
    from lpsched.verify.facility import Measurement

Moment = tuple[float, int, float]  # seconds, generations, best score by then


@dataclass(frozen=True, slots=True)
class MethodResult:
    """The allocation of one method, what it was measured to bring and take, and the bound if asked for."""

    method: str
    colocation: bool  # whether method, value and bound count it
    status: Status
    reward_rate: float  # CRR, or RR without co-location
    bound: float | None
    gap: float | None
    measured: Measurement
    cap_watts: float
    unit_names: tuple[str, ...]
    allocation: CoreAllocation
    seed: int | None  # where chance matters
    ended: str  # in a few words, for people
    details: FrozenDict[str, float | None]  # what else the method tells of itself
    history: tuple[Moment, ...]  # of a method that goes on improving
    timings: FrozenDict[str, float]
    provenance: Provenance
    exactly_proved: bool | None = None  # whether the bound is; `None` without one

    @property
    def rates(self) -> tuple[float, ...]:
        """Tasks of each type done in a second, co-location counted as the question does."""
        return self.measured.rates if self.colocation else self.measured.plain_rates

    def to_dict(self) -> dict[str, Any]:
        """Return what `lpsched facility --method NAME --json` prints; its keys are stable."""
        measured = measured_keys(self.measured, self.cap_watts)
        return (
            self.provenance.header(FORMAT)
            | measured
            | {
                "method": self.method,
                "colocation": self.colocation,
                "seed": self.seed,
                "status": self.status.value,
                "reward_rate": self.reward_rate,
                "bound": self.bound,
                "unit": UNIT,
                "gap": self.gap,
                "fixed_outlets": False,
                "boxes": None,
                "exactly_proved": self.exactly_proved,
                "outlet_celsius": list(self.allocation.outlets_celsius),
                "cores_reward_rate": self.reward_rate,
                "task_rates_per_second": list(self.rates),
                "worth": None,
                "ended": self.ended,
                "details": dict(self.details),
                "history": [list(each) for each in self.history],
                "timings": dict(self.timings),
            }
        )

    def facts(self) -> list[tuple[str, str, str]]:
        """Return the answer in rows: a word, a number with its unit, where it comes from."""
        rows = []
        if self.bound is not None:
            rows.append(bound_fact(self.bound, exactly_proved=bool(self.exactly_proved), at="any"))
        rows.append(("value", f"{number(self.reward_rate)} {UNIT}", f"verified: {self.method}, {self.ended}"))
        if not self.colocation:
            rows.append(colocated(self.measured))
        if self.bound is not None:
            rows.append(("gap", gap_text(self.gap), self.status.value))
        return [*rows, power(self.measured, self.cap_watts), hottest_inlet(self.measured)]

    def _repr_html_(self) -> str:
        return html_table((self.provenance.instance_name, "", ""), self.facts())
