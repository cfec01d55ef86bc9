"""Columns of numbers of tasks, as they stand in a file: one per task, packed where all of them are sound."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from operator import ne
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic_core import PydanticCustomError

from lpsched.instance.arrival_rules import are_times, check_arrival
from lpsched.instance.fields import LARGEST, MOST, SMALLEST, Amount, check_count, describe, refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MOST_JOB: Final = 2**63 - 1
check_work: Final = Amount("work, by which seconds are multiplied", least=SMALLEST)


def check_job(value: object) -> int:
    """Return a whole number of 64 bits."""
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if isinstance(value, bool) or not whole or not -MOST_JOB <= value <= MOST_JOB:  # type: ignore[operator]
        raise refusal(describe(value), "a whole number of 64 bits", "correct it, or drop the column")
    return int(value)  # type: ignore[call-overload,no-any-return]


def _are_counts(values: Sequence[float]) -> bool:
    return are_whole(values) and (not values or 1 <= min(values) <= max(values) <= MOST)


def _are_works(values: Sequence[float]) -> bool:
    if any(map(ne, values, values)):  # NaN
        return False
    return not values or SMALLEST <= min(values) <= max(values) <= LARGEST


def _are_jobs(values: Sequence[float]) -> bool:
    return are_whole(values) and (not values or -MOST_JOB <= min(values) <= max(values) <= MOST_JOB)


def are_whole(values: Sequence[float]) -> bool:
    """Tell whether all are whole numbers, perhaps written as 4.0."""
    return set(map(type, values)) <= {int} or all(
        isinstance(each, int) or each.is_integer() for each in values
    )


@dataclass(frozen=True, slots=True)
class NumberColumn:
    """One column: the check of a single number, and the quick one of many that says the same.

    Every task has a number of a column that is `needed`. An `empty` cell of another stands for a number, or
    for what is in the column of that name; without that, all tasks have a number or none has.
    """

    key: str
    check: Callable[[object], float]
    are_sound: Callable[[Sequence[float]], bool]
    code: Literal["d", "q"]  # doubles, or 64-bit numbers
    needed: str = ""  # words for what must stand there
    empty: float | str | None = None
    at_least: str | None = None  # the column whose number it is not below

    @property
    def all_or_none(self) -> bool:
        """Whether all tasks have a number, or none has."""
        return not self.needed and self.empty is None

    def packed(self, values: list[Any]) -> array[Any] | None:
        """Pack the numbers; `None` if any is not sound."""
        kinds = set(map(type, values))
        if kinds <= {int, float}:
            if not self.are_sound(values):
                return None
            if self.code == "q":
                return array("q", values if kinds <= {int} else map(int, values))
            return array("d", (x + 0.0 for x in values))  # turns -0.0 into 0.0, for equal hashes
        try:
            return array(self.code, map(self.check, values))  # numbers of NumPy, perhaps
        except PydanticCustomError:
            return None


ARRIVAL: Final = NumberColumn("arrival_seconds", check_arrival, are_times, "d", "seconds")
CORES: Final = NumberColumn("cores", check_count, _are_counts, "q", "a whole number from 1 to 10^15")
WORK: Final = NumberColumn("work", check_work, _are_works, "d", empty=1.0)
REQUESTED: Final = NumberColumn(
    "requested_work", check_work, _are_works, "d", empty=WORK.key, at_least=WORK.key
)
JOB: Final = NumberColumn("job", check_job, _are_jobs, "q")
