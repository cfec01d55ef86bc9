"""What-if, as an answer: two results side by side, and how far apart the best possible ones are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from lpsched.bag.pricing.worth import changes_between
from lpsched.model.results import json_of
from lpsched.units import gap_text, html_table, lower_text, number, upper_text

if TYPE_CHECKING:
    from lpsched.bag.result import Result
    from lpsched.model.fields import FrozenDict

FORMAT: Final = "lpsched-whatif/1"


ROUNDING: Final = 1e-12  # relative: numbers this near are the same


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
        before, after = self.before, self.after
        change = changes_between((before.value, before.bound), (after.value, after.bound))
        assert change.at_least is not None
        assert change.at_most is not None
        return change.at_least, change.at_most

    def to_dict(self) -> dict[str, Any]:
        """Return what `lpsched whatif --json` prints; its keys are stable."""
        least, most = self.best_changes_by()
        counts = ((name, count, self.counts_after[name]) for name, count in self.counts_before.items())
        return self.before.provenance.header(FORMAT) | json_of(
            self,
            "before.objective before.unit machines best_changes_by_at_least best_changes_by_at_most before after",
            machines={name: {"before": before, "after": after} for name, before, after in counts},
            best_changes_by_at_least=least,
            best_changes_by_at_most=most,
        )

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
        """Return one row for each machine type: how many, and the marginal value of one more."""
        rows = []
        for name, count in self.counts_before.items():
            other = self.counts_after[name]
            row: tuple[str, ...] = (name, f"{count:,}", f"{other:,}")
            rows.append((*row, *(_worth(result, name) for result in (self.before, self.after))))
        return rows

    def tasks(self) -> list[tuple[str, ...]]:
        """Return one row for each task type: the minimum price for one more."""
        if self.before.worth is None or self.after.worth is None:
            return []
        old, new = self.before.worth, self.after.worth
        rows: list[tuple[str, ...]] = []
        for name, price in old.task_types.items():
            change = _compared(name, price, new.task_types[name])[3]
            rows.append((name, old.task_text(name), new.task_text(name), change))
        return rows

    def sentence(self) -> str:
        """Say how much the best possible changes."""
        least, most = self.best_changes_by()
        unit = self.before.unit
        low, high = _signed(lower_text(least)), _signed(upper_text(most))
        return f"proved: the best possible changes by {low} to {high} {unit}"

    def _repr_html_(self) -> str:
        return html_table(HEADERS, self.facts())


def _worth(result: Result, name: str) -> str:
    if result.worth is None or name not in result.worth.machine_types:
        return "-"
    return result.worth.machine_text(name)


def _compared(label: str, before: float | None, after: float | None) -> tuple[str, str, str, str]:
    if before is None or after is None:
        return (label, number(before), number(after), "-")
    same = abs(after - before) <= ROUNDING * max(abs(after), abs(before))
    return (label, number(before), number(after), _signed(number(0.0 if same else after - before)))


def _signed(change: str) -> str:
    return change if change.startswith("-") or change == "0" else f"+{change}"
