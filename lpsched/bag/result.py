"""What a solve returns: value and bound together, built after verification."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from lpsched.model.provenance import Status
from lpsched.units import bound_text, gap_text, html_table, number

if TYPE_CHECKING:
    from lpsched.bag.pricing.worth import OneMore, Worth
    from lpsched.bag.relaxation import Regime
    from lpsched.bag.schedule import Schedule
    from lpsched.bag.verify import Measurement
    from lpsched.model.fields import FrozenDict
    from lpsched.model.provenance import Provenance
    from lpsched.model.risk import Risk


FORMAT: Final = "lpsched-solve/1"
TRY_TIGHT: Final = "; --effort tight may close it"
SEARCHED: Final = " after about 1 s of search"
CUT: Final = ": cut by the clock, a rerun may differ"


class Effort(StrEnum):
    """How hard to try."""

    FAST = "fast"  # one linear program, rounded
    BALANCED = "balanced"  # and tasks exchanged until the loads of the machines are even
    AUTO = "auto"  # balanced, and about a second of search where the gap is wide
    TIGHT = "tight"  # patterns and search, for bags with few tasks a machine


@dataclass(frozen=True, slots=True)
class Result:
    """A verified schedule, what it was measured to take, and the bound that no schedule can pass."""

    objective: str
    unit: str
    effort: Effort  # as asked for
    status: Status
    regime: Regime | None
    bound_regime: Regime | None
    value: float
    bound: float
    gap: float | None
    tasks: int
    machines: int
    measured: Measurement
    schedule: Schedule
    worth: Worth | None
    timings: FrozenDict[str, float]
    provenance: Provenance
    effort_used: Effort = Effort.FAST  # the last of fast, balanced and tight that was at work
    tight_may_help: bool = False  # whether more effort is likely to bring value and bound closer
    risk_asked: bool = False
    risk: Risk | None = None  # if asked for, and anything runs
    one_more: OneMore | None = None  # if asked for: what one whole machine or task more changes

    def to_dict(self) -> dict[str, Any]:
        """Return what `lpsched solve --json` prints; its keys are stable."""
        return self.provenance.header(FORMAT) | {
            "objective": self.objective,
            "effort": self.effort.value,
            "effort_used": self.effort_used.value,
            "status": self.status.value,
            "regime": self.regime,
            "bound_regime": self.bound_regime,
            "value": self.value,
            "bound": self.bound,
            "unit": self.unit,
            "gap": self.gap,
            "tight_may_help": self.tight_may_help,
            "makespan_seconds": self.measured.makespan_seconds,
            "energy_joules": self.measured.energy_joules,
            "tasks": self.tasks,
            "machines": self.machines,
            "worth": None if self.worth is None else self.worth.to_dict(),
            "one_more": None if self.one_more is None else self.one_more.to_dict(),
            "timings": dict(self.timings),
            **({"risk": None if self.risk is None else self.risk.to_dict()} if self.risk_asked else {}),
        }

    def bound_text(self) -> str:
        """Write the bound, rounded to the side on which it stays true."""
        return bound_text(self.bound, upper=self.regime is not None)

    def facts(self) -> list[tuple[str, str, str]]:
        """Return the answer in rows: a word, a number with its unit, where it comes from."""
        best = "earns more" if self.regime is not None else f"has a smaller {self.objective}"
        rows = [
            ("bound", f"{self.bound_text()} {self.unit}", f"proved: no schedule {best}"),
            ("value", f"{number(self.value)} {self.unit}", f"verified: {_this(self)}"),
            ("gap", gap_text(self.gap), self._how_good()),
        ]
        if self.regime is not None:
            rows.append(("regime", self.regime.value, _meaning(self)))
        makespan, energy = self.measured.makespan_seconds, self.measured.energy_joules
        if self.objective != "makespan" and makespan is not None:
            rows.append(("makespan", f"{number(makespan)} seconds", f"measured: {number(makespan / 3600)} hours"))
        if energy is not None:
            rows.append(("energy", f"{number(energy)} joules", f"measured: {number(energy / 3.6e6)} kWh"))
        return rows

    def _how_good(self) -> str:
        """Say what was reached, what that took, and what more would do."""
        if self.status is Status.LIMIT:
            return self.status.value + CUT
        searched = self.effort is Effort.AUTO and self.effort_used is Effort.TIGHT
        after = SEARCHED if searched and self.status is Status.FEASIBLE else ""
        return self.status.value + after + (TRY_TIGHT if self.tight_may_help else "")

    def _repr_html_(self) -> str:
        return html_table((self.provenance.instance_name, "", ""), self.facts())


def _this(result: Result) -> str:
    return "this schedule" if result.schedule.groups else "doing nothing"


def _meaning(result: Result) -> str:
    words = {
        "profit": "running pays",
        "loss": "running loses less than waiting",
        "do-not-run": "the price does not cover what the tasks cost; waiting loses least",
    }
    meaning = words[result.regime or ""]
    if result.regime != result.bound_regime:
        return f"{meaning}; the bound leaves room for {result.bound_regime}"
    return meaning
