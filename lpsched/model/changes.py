"""Changes of what-if questions: a new value, or by how much the current one changes."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from lpsched.errors import InputIssue, InstanceError, quote
from lpsched.model.fields import MOST, describe

AMOUNT: Final = re.compile(r"([+-]?)(\d{1,40}(?:\.\d{1,40})?(?:[eE][+-]?\d{1,3})?)\s*(%|[A-Za-z]*)", re.ASCII)
NO_UNIT: Final = {"": Decimal(1)}


@dataclass(frozen=True, slots=True)
class Amount:
    """A new value, or what to add to the current one, or by which share to change it; `None`: no limit.

    >>> read_amount("gpu", "+10%").applied_to(0.15), read_amount("gpu", "-2").applied_to(8)
    (0.165, 6.0)
    """

    value: Any
    how: str = ""  # "", "+" or "%"

    def applied_to(self, current: float | None) -> Any:  # noqa: ANN401 - checked afterwards
        """Return the new value."""
        if not self.how:
            return float(self.value) if isinstance(self.value, Decimal) else self.value
        now = Decimal(repr(current or 0))  # so that 10 % more than 0.15 are 0.165
        return float(now + self.value if self.how == "+" else now + now * self.value / 100)

    def count(self, name: str, current: float | None) -> int:
        """Return a new number of machines, nodes or tasks; 10 % more than 125 are 138."""
        count = self.applied_to(current)
        if isinstance(self.value, Decimal) and math.isfinite(count) and (self.how == "%" or count.is_integer()):
            count = round(count)
        if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= MOST:
            hint = "round it" if isinstance(count, float) and math.isfinite(count) else "correct it"
            raise change_error(name, describe(count), "a whole number from 0 to 10^15", hint)
        return count


def read_amount(
    name: str, value: float | str | None, units: Mapping[str, Decimal] = NO_UNIT, *, may_be_none: bool = False
) -> Amount:
    """Read a value; texts may have a sign, a unit or a percent sign."""
    if not isinstance(value, str):
        if value is None and not may_be_none:
            raise change_error(name, describe(value), "a number or a text such as +10%", "correct it")
        return Amount(value)
    if value == "none" and may_be_none:
        return Amount(None)
    match = AMOUNT.fullmatch(value.strip())
    if match is None or match[3] not in {"%", *units}:
        more = f", perhaps with a unit ({', '.join(filter(None, units))})" if len(units) > 1 else ""
        expected = f"an amount such as 8, or a change such as +4, -2, +10%{more}"
        raise change_error(name, quote(value), expected, "correct it")
    sign, number, unit = match.groups()
    amount = Decimal(sign + number)
    if unit == "%" and not sign:
        raise change_error(name, quote(value), "a sign before a percentage", f"write +{value} or -{value}")
    return Amount(amount, "%") if unit == "%" else Amount(amount * units[unit], "+" if sign else "")


def change_error(name: str, got: str, expected: str, hint: str) -> InstanceError:
    """Return the error for a change that cannot be made."""
    return InstanceError("", (InputIssue((name,), got, expected, hint),))
