"""The result of asking for the most profit at each level of market prices."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Final

from lpsched.model.fixed_point import rounded_down, rounded_up
from lpsched.model.results import JsonObject, frame_of
from lpsched.model.series import moment_text
from lpsched.units import lower_text, money_text, number, paired, upper_text

if TYPE_CHECKING:
    from lpsched.bag.horizon.schedule import Plan
    from lpsched.model.fields import FrozenDict
    from lpsched.model.provenance import Provenance

TODAY: Final = 1.0


@dataclass(frozen=True, slots=True)
class LevelPoint(JsonObject):
    """One level of market prices: the linear program, a proved bound, and the best of the verified plans there."""

    level: float  # what market prices are multiplied by
    lp_profit: float  # of the linear program, which may split tasks
    bound: float  # proved: no plan earns more at this level
    value: float  # of the best of the verified plans of all points
    finished: FrozenDict[str, int]  # its tasks
    energy_kwh: float  # at the meters
    plan: Plan = field(repr=False)

    _KEYS: ClassVar = "level lp_profit bound value finished energy_kwh"


@dataclass(frozen=True, slots=True)
class LevelCurve(JsonObject):
    """The most profit over a horizon, over the level of market prices: convex, and piecewise linear.

    Each plan earns a line in the level, and the most profit is the highest of all lines. So between two points no plan
    earns more than the line between their bounds, and what a verified plan earns is known at every level.
    """

    currency: str
    points: tuple[LevelPoint, ...]  # by rising level: breakpoints of the linear program, both ends, and level 1
    lines: tuple[tuple[float, float], ...]  # of verified plans: at least the profit at level 0, at most the cost of one
    never_rises: bool  # whether no price is negative: then more profit at a higher level is not possible
    mean_tariff: float  # money per kWh, at level 1
    tasks: int
    horizon_seconds: float
    start: int | None
    solves: int
    missed: float  # relative: no breakpoint that is missing is further from the line between its neighbours (LP)
    timings: FrozenDict[str, float]
    provenance: Provenance
    stopped: str = ""

    _FORMAT: ClassVar = "lpsched-horizon-levels/1"
    _KEYS: ClassVar = (
        "currency start_time horizon_seconds never_rises mean_tariff none_earns_from earns_until missed points timings"
    )

    @property
    def start_time(self) -> str | None:
        """When the horizon begins, in UTC."""
        return None if self.start is None else moment_text(self.start)

    def _corners(self) -> list[tuple[Fraction, Fraction]]:
        """Return the bounds that are on or below all lines between two others, by rising level."""
        kept: list[tuple[Fraction, Fraction]] = []
        for each in self.points:
            x, y = Fraction(each.level), Fraction(each.bound)
            while len(kept) > 1 and (kept[-1][1] - kept[-2][1]) * (x - kept[-2][0]) >= (y - kept[-2][1]) * (
                kept[-1][0] - kept[-2][0]
            ):
                kept.pop()
            kept.append((x, y))
        return kept

    def bound_at(self, level: float) -> float:
        """Return what no plan earns more than at a level of the curve, proved; rounded up."""
        at = Fraction(level)
        for (x, y), (after, other) in pairwise(self._corners()):
            if x <= at <= after:
                return rounded_up(y + (other - y) * (at - x) / (after - x))
        raise ValueError(f"level is {level!r}, expected {self.points[0].level:g} to {self.points[-1].level:g}")

    def value_at(self, level: float) -> float:
        """Return what the best of the verified plans earns at a level, up to rounding."""
        return max(zero - level * paid for zero, paid in self.lines)

    @property
    def none_earns_from(self) -> float | None:
        """The level from which on no plan earns anything, proved; `None` if that is not proved of any.

        Up to the last level of the curve, and beyond it where no price is negative.
        """
        corners = self._corners()
        if corners[-1][1] > 0:
            return None
        for (x, y), (after, other) in reversed(list(pairwise(corners))):
            if y > 0:
                return rounded_up(x + (after - x) * y / (y - other))
        return float(corners[0][0])

    @property
    def earns_until(self) -> float | None:
        """A level up to which a verified plan earns something; `None` if that holds for none, or for all."""
        ends = [Fraction(zero) / Fraction(paid) for zero, paid in self.lines if zero > 0 and paid > 0]
        if any(zero > 0 and paid <= 0 for zero, paid in self.lines):
            return None
        return rounded_down(max(ends)) if ends else None

    def rows(self) -> list[tuple[str, ...]]:
        """Return one row for each point."""
        return [
            (
                number(each.level),
                money_text(number(each.level * self.mean_tariff)),
                money_text(number(each.lp_profit)),
                money_text(upper_text(each.bound, largest=self._largest)),
                money_text(lower_text(each.value)),
                f"{sum(each.finished.values()):,}",
                number(each.energy_kwh),
            )
            for each in self.points
        ]

    @property
    def _largest(self) -> float:
        return max(abs(each.bound) for each in self.points)

    def csv_rows(self) -> list[dict[str, Any]]:
        """Return one row for each point, for a file."""
        return [
            {
                "level": each.level,
                "lp_profit": each.lp_profit,
                "proved_at_most": each.bound,
                "plan_earns": each.value,
                "energy_kwh": each.energy_kwh,
            }
            | {f"tasks_{name}": count for name, count in each.finished.items()}
            for each in self.points
        ]

    def to_frame(self) -> Any:  # noqa: ANN401 - pandas is no dependency
        """Return the rows of `csv_rows` as a pandas data frame."""
        rows = self.csv_rows()
        return frame_of(tuple(rows[0]), [tuple(row.values()) for row in rows])

    def headline(self) -> str:
        """Return what is earned at the market prices of today, and from which level on nothing is."""
        today = next((each for each in self.points if each.level == TODAY), None)
        said = []
        if today is not None:
            value, bound = paired(today.value, today.bound, upper=True)
            said.append(
                f"At level 1, the market prices of today, a verified plan earns {value} {self.currency}; "
                f"no plan earns more than {bound} (proved)."
            )
        until, none = self.earns_until, self.none_earns_from
        if none is None:
            said.append(f"No level up to {number(self.points[-1].level)} is proved at which no plan earns anything.")
        else:
            reach = "" if self.never_rises else f", up to {number(self.points[-1].level)}"
            made = f"; up to {lower_text(until)} a verified plan does" if until is not None else ""
            said.append(f"From {upper_text(none)} times these prices on{reach}, no plan earns anything (proved){made}.")
        if self.stopped:
            said.append(f"{self.stopped.capitalize()}: what is here holds, but there may be more breakpoints.")
        return "\n".join(said)
