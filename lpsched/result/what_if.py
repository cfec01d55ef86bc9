"""What other machines would change: two answers side by side, and how far apart the best possible ones are.

The best that is possible lies between value and bound, before and after. So the change of the best is at
least (the value after) - (the bound before), and at most (the bound after) - (the value before); of something
to be minimised, the other way round.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from lpsched.certificate.bounds import rounded_down, rounded_up
from lpsched.display import gap_text, html_table, lower_text, number, upper_text

if TYPE_CHECKING:
    from lpsched.instance.frozen import FrozenDict
    from lpsched.result.solve import Result

FORMAT: Final = "lpsched-whatif/1"
HEADERS: Final = ("", "before", "after", "change")


@dataclass(frozen=True, slots=True)
class WhatIf:
    """The answer for the machines there are, and the answer for others.

    Attributes
    ----------
    counts_before, counts_after
        Machines by type; a type that is no more has 0 after.
    before, after
        What `solve` says of either; the price of the bag is the same in both.
    """

    counts_before: FrozenDict[str, int]
    counts_after: FrozenDict[str, int]
    before: Result
    after: Result

    def best_changes_by(self) -> tuple[float, float]:
        """Return between which two numbers the change of the best possible lies: proved, rounded outwards."""
        up = Fraction(self.after.bound) - Fraction(self.before.value)
        down = Fraction(self.after.value) - Fraction(self.before.bound)
        return rounded_down(min(up, down)), rounded_up(max(up, down))

    def to_dict(self) -> dict[str, Any]:
        """Return what `lpsched whatif --json` prints; its keys are stable."""
        least, most = self.best_changes_by()
        return self.before.provenance.header(FORMAT) | {
            "objective": self.before.objective,
            "unit": self.before.unit,
            "machines": {
                name: {"before": count, "after": self.counts_after[name]}
                for name, count in self.counts_before.items()
            },
            "best_changes_by_at_least": least,
            "best_changes_by_at_most": most,
            "before": self.before.to_dict(),
            "after": self.after.to_dict(),
        }

    def facts(self) -> list[tuple[str, str, str, str]]:
        """Return the two answers in rows."""
        before, after, unit = self.before, self.after, self.before.unit
        rows = [
            (
                f"bound (proved), {unit}",
                before.bound_text(),
                after.bound_text(),
                _signed(number(after.bound - before.bound)),
            ),
            _compared(f"value (verified), {unit}", before.value, after.value),
            ("gap", gap_text(before.gap), gap_text(after.gap), ""),
        ]
        if before.regime is not None and after.regime is not None:
            rows.append(("regime", before.regime.value, after.regime.value, ""))
        old, new = before.measured, after.measured
        if before.objective != "makespan":
            rows.append(_compared("makespan, seconds", old.makespan_seconds, new.makespan_seconds))
        if before.objective != "energy":
            rows.append(_compared("energy, joules", old.energy_joules, new.energy_joules))
        return rows

    def machines(self) -> list[tuple[str, ...]]:
        """Return one row for each machine type: how many, and what one more is worth."""
        rows = []
        for name, count in self.counts_before.items():
            other = self.counts_after[name]
            row: tuple[str, ...] = (name, f"{count:,}", f"{other:,}")
            rows.append((*row, *(number(_worth(result, name)) for result in (self.before, self.after))))
        return rows

    def tasks(self) -> list[tuple[str, ...]]:
        """Return one row for each task type: the price from which one more is worth taking."""
        if self.before.worth is None or self.after.worth is None:
            return []
        old, new = self.before.worth.task_types, self.after.worth.task_types
        return [_compared(name, price, new[name]) for name, price in old.items()]

    def sentence(self) -> str:
        """Say how much the best possible changes."""
        least, most = self.best_changes_by()
        unit = self.before.unit
        low, high = _signed(lower_text(least)), _signed(upper_text(most))
        return f"proved: the best possible changes by {low} to {high} {unit}"

    def _repr_html_(self) -> str:
        return html_table(HEADERS, self.facts())


def _worth(result: Result, name: str) -> float | None:
    return None if result.worth is None else result.worth.machine_types.get(name)


def _compared(label: str, before: float | None, after: float | None) -> tuple[str, str, str, str]:
    change = "-" if before is None or after is None else _signed(number(after - before))
    return (label, number(before), number(after), change)


def _signed(change: str) -> str:
    return change if change.startswith("-") or change == "0" else f"+{change}"
