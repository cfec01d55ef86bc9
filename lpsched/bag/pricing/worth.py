"""Results about marginal values: derivatives of the bound, one more of something, and what-if.

Worth      marginal values, from the multipliers of the linear program: no promise about schedules
OneMore    between which two numbers the best possible changes, from bounds and verified schedules with and
           without it
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from lpsched.model.fields import FrozenDict
from lpsched.model.fixed_point import rounded_down, rounded_up
from lpsched.model.results import json_of
from lpsched.units import bound_text, number

if TYPE_CHECKING:
    from collections.abc import Iterable


SAME: Final = 1e-6  # relative: derivatives no further apart are shown as one


KILOWATT: Final = "marginal value of one more kilowatt under the cap (LP)"


TWO_SIDED: Final = "a / b: one more / one fewer. The linear program is degenerate there: its bound has two derivatives."


def machine_heading(unit: str) -> str:
    """Return the heading above marginal values of machines; `unit` is that of the profit.

    >>> machine_heading("USD/hour"), task_heading("USD/hour")
    ('marginal value of one more (LP), USD/h', 'minimum price for one more task (LP), USD')
    """
    return f"marginal value of one more (LP), {_short(unit)}"


def task_heading(unit: str) -> str:
    """Return the heading above marginal prices of tasks."""
    return f"minimum price for one more task (LP), {unit.removesuffix('/hour')}"


def _short(unit: str) -> str:
    return unit.removesuffix("our") if unit.endswith("/hour") else unit


@dataclass(frozen=True, slots=True)
class Worth:
    """Marginal values of one more, in money: derivatives of the LP bound on profit.

    They say how the bound of the linear program begins to change, of split tasks and of the longest task, and
    promise nothing about schedules: whole tasks move in steps (`OneMore`). `None` instead of a number: the
    bound changes without end, since the limits leave no room for any more (or fewer).

    Attributes
    ----------
    machine_types
        One more machine of a type, per hour, after all that it costs.
    kilowatt_per_hour
        One more kilowatt under the cap, where it is measured; `None` without a cap.
    task_types
        The minimum price for one more task of a type.
    one_fewer
        The same for one fewer: larger for machines and kilowatts, smaller for tasks, where the program is
        degenerate, else equal. `None` if only one set of the solver's multipliers is known (large bags).
    """

    machine_types: FrozenDict[str, float | None]
    kilowatt_per_hour: float | None
    task_types: FrozenDict[str, float | None]
    one_fewer: Worth | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the marginal values as they appear in JSON."""
        keys, fewer = "machine_types kilowatt_per_hour task_types", self.one_fewer
        return json_of(self, keys) | {"one_fewer": None if fewer is None else json_of(fewer, keys)}

    def machine_text(self, name: str) -> str:
        """Return the marginal value of a machine type; two, where one fewer has another."""
        more, fewer = self.machine_types[name], self.one_fewer
        return number(more) if fewer is None else both_sides(more, fewer.machine_types[name])

    def task_text(self, name: str) -> str:
        """Return the minimum price of a task type; two, where one fewer has another."""
        more, fewer = self.task_types[name], self.one_fewer
        return number(more) if fewer is None else both_sides(more, fewer.task_types[name])

    def kilowatt_text(self) -> str:
        """Return the marginal value of a kilowatt; two, where one fewer has another."""
        more, fewer = self.kilowatt_per_hour, self.one_fewer
        return number(more) if fewer is None else both_sides(more, fewer.kilowatt_per_hour)

    @property
    def is_two_sided(self) -> bool:
        """Whether anything is worth more or less if there is one fewer."""
        texts = [self.kilowatt_text(), *map(self.machine_text, self.machine_types)]
        return any(" / " in text for text in [*texts, *map(self.task_text, self.task_types)])


def both_sides(more: float | None, fewer: float | None) -> str:
    """Return one number, or two that differ.

    >>> both_sides(1.0, 1.0 + 1e-9), both_sides(1.0, 2.0), both_sides(1.0, None)
    ('1', '1 / 2', '1 / -')
    """
    if more == fewer:
        return number(more)
    if more is not None and fewer is not None and abs(more - fewer) <= SAME * max(abs(more), abs(fewer)):
        return number(more)
    return f"{number(more)} / {number(fewer)}"


@dataclass(frozen=True, slots=True)
class Between:
    """Two numbers between which another lies, rounded outwards; `None`: nothing is known on that side."""

    at_least: float | None
    at_most: float | None

    @classmethod
    def of(cls, at_least: Fraction, at_most: Fraction) -> Between:
        """Return the doubles around two exact numbers.

        >>> Between.of(Fraction(1, 3), Fraction(1, 2))
        Between(at_least=0.3333333333333333, at_most=0.5)
        """
        return cls(rounded_down(at_least), rounded_up(at_most))

    def texts(self) -> tuple[str, str]:
        """Return both, rounded outwards; a change of 0 is written as such."""
        return bound_text(self.at_least, upper=False), bound_text(self.at_most, upper=True)


def changes_between(before: tuple[float, float], after: tuple[float, float]) -> Between:
    """Return between what the change of the best possible lies; each of both is (value, bound).

    The best lies between value and bound, before and after. So of something to be maximised the change is at
    least (value after) - (bound before), and at most (bound after) - (value before); of something to be
    minimised, the other way round.

    >>> changes_between((18.0, 20.0), (12.0, 15.0))
    Between(at_least=-8.0, at_most=-3.0)
    """
    (old_value, old_bound), (value, bound) = before, after
    ends = Fraction(value) - Fraction(old_bound), Fraction(bound) - Fraction(old_value)
    return Between.of(min(ends), max(ends))


@dataclass(frozen=True, slots=True)
class OneMore:
    """What one whole machine or task more changes, all else as it is: proved on both sides.

    Attributes
    ----------
    unit
        Of the objective.
    machine_types
        Between what the change of the best possible lies, with one more machine of a type.
    task_types
        Likewise with one more task; for profit it is a price instead (`sells`). Below `at_least` no schedule
        with the task earns more than the best without it (proved); at `at_most` a verified schedule with it
        earns as much as the bound without it.
    effort
        How hard the schedules and bounds with one more were looked for.
    """

    unit: str
    machine_types: FrozenDict[str, Between] = field(default_factory=lambda: FrozenDict({}))
    task_types: FrozenDict[str, Between] = field(default_factory=lambda: FrozenDict({}))
    sells: bool = False
    effort: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the steps as they appear in JSON."""
        word = "break_even_price" if self.sells else "best_changes_by"
        return {
            "effort": self.effort,
            "machine_types": _words(self.machine_types, "best_changes_by"),
            "task_types": _words(self.task_types, word),
        }

    def machine_table(self) -> tuple[tuple[str, str, str], list[tuple[str, ...]]]:
        """Return headers and rows: a machine type, and between what the best possible changes."""
        changes = f"changes the best possible by at least (proved), {_short(self.unit)}"
        return ("one more machine", changes, "at most"), _rows(self.machine_types.items())

    def task_table(self) -> tuple[tuple[str, str, str], list[tuple[str, ...]]]:
        """Return headers and rows: a task type, and between what its break-even price lies."""
        first = f"changes the best possible by at least (proved), {_short(self.unit)}"
        if self.sells:
            first = f"break-even price at least (proved), {self.unit.removesuffix('/hour')}"
        return ("one more task", first, "at most"), _rows(self.task_types.items())


def _words(steps: FrozenDict[str, Between], word: str) -> dict[str, Any]:
    return {name: {f"{word}_at_least": each.at_least, f"{word}_at_most": each.at_most} for name, each in steps.items()}


def _rows(steps: Iterable[tuple[str, Between]]) -> list[tuple[str, ...]]:
    return [(name, *step.texts()) for name, step in steps]
