"""What a validation says of each scheduler: its number, the bound on it, and the distance in words.

bag        makespan, energy or profit; one bound for all
day        utility; the bound is that of the energy which the schedule takes
clusters   utility, or the cost of waiting; one bound for all
facility   co-located reward rate; one bound for all
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from lpsched.display import bound_text, gap_text, number
from lpsched.result.clusters_validation import ClustersValidation
from lpsched.result.day_validation import DayValidation
from lpsched.result.facility_facts import UNIT
from lpsched.result.facility_validation import FacilityValidation
from lpsched.result.validation import Validation

if TYPE_CHECKING:
    from collections.abc import Iterable

Judged: TypeAlias = Validation | DayValidation | ClustersValidation | FacilityValidation


@dataclass(frozen=True, slots=True)
class Verdict:
    """One scheduler. It has no value where it breaks a rule or found nothing; `refused` then says so."""

    name: str
    value: float | None
    bound: float | None
    gap: float | None
    refused: str = ""
    at_most: bool = True  # whether the bound is from above

    @property
    def bound_words(self) -> str:
        """The bound, rounded to the side on which it stays true."""
        return bound_text(self.bound, upper=self.at_most, digits=5)

    @property
    def words(self) -> str:
        """What it achieves, and how far that is from the bound."""
        if self.value is None:
            return self.refused or "no answer"
        value = number(self.value, 4)
        return value if self.gap is None else f"{value}, {gap_text(self.gap)} from the bound"


@dataclass(frozen=True, slots=True)
class Verdicts:
    """All schedulers, what their numbers are, and the bound if all have the same."""

    label: str
    bound: float | None
    rows: tuple[Verdict, ...]


def verdicts_of(result: Judged) -> Verdicts:
    """Return what a validation says of each scheduler."""
    match result:
        case Validation():
            return _of_bag(result)
        case DayValidation():
            return _of_day(result)
        case ClustersValidation():
            return _of_clusters(result)
        case FacilityValidation():
            return _of_facility(result)


def _of_bag(result: Validation) -> Verdicts:
    at_most = result.objective == "profit"
    rows = []
    for each in result.entries:
        broken = _broken(rule.code for rule in each.violations)
        found = (each.value, result.bound, each.gap) if each.valid else (None, result.bound, None)
        rows.append(Verdict(each.name, *found, broken, at_most))
    return Verdicts(f"{result.objective}, {result.unit}", result.bound, tuple(rows))


def _of_day(result: DayValidation) -> Verdicts:
    rows = []
    for each in result.entries:
        broken = _broken(rule.code for rule in each.violations)
        utility = None if each.measured is None else each.measured.utility
        gap = None if each.share_of_bound is None else 1.0 - each.share_of_bound
        rows.append(Verdict(each.name, utility, each.bound, gap, broken))
    return Verdicts("utility", None, tuple(rows))


def _of_clusters(result: ClustersValidation) -> Verdicts:
    sign = -1.0 if result.is_cost else 1.0
    bound = sign * result.bound + 0.0
    rows = []
    for each in result.entries:
        broken = _broken(rule.code for rule in each.violations)
        value = None if each.measured is None else sign * each.measured.utility + 0.0
        gap = None if value is None or not bound else abs(value - bound) / abs(bound)
        rows.append(Verdict(each.name, value, bound, gap, broken, not result.is_cost))
    return Verdicts("cost of waiting" if result.is_cost else "utility", bound, tuple(rows))


def _of_facility(result: FacilityValidation) -> Verdicts:
    rows = []
    for each in result.entries:
        refused = _broken(rule.code for rule in each.violations)
        if each.failure is not None:
            refused = f"no answer: {each.failure}"
        rate = None if each.measured is None else each.measured.reward_rate
        rows.append(Verdict(each.name, rate, result.bound, each.gap, refused))
    return Verdicts(f"co-located reward rate, {UNIT}", result.bound, tuple(rows))


def _broken(codes: Iterable[str]) -> str:
    """Return the first rule that is broken, and how many more there are."""
    found = list(codes)
    more = f" and {len(found) - 1:,} more" if len(found) > 1 else ""
    return f"invalid: {found[0]}{more}" if found else ""
