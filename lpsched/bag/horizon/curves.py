"""Curves of plans over a horizon: cost against carbon, cost against the deadline, and offers of less power.

Each number says what it is: **LP** numbers come from the linear program of the work relaxation, which may split tasks,
and promise nothing; **bounds** are proved exactly, for every plan; **plans** are verified, and their costs measured.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Final

from lpsched.bag.horizon.result import PlanCosts, mass_text
from lpsched.bag.result import Between
from lpsched.model.results import JsonObject, frame_of
from lpsched.model.series import moment_text
from lpsched.units import counted, duration, lower_text, money_text, number, power_text, upper_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.bag.horizon.schedule import Plan
    from lpsched.model.fields import FrozenDict
    from lpsched.model.provenance import Provenance

WATTS_PER_KW: Final = 1000.0
KG_PER_TONNE: Final = 1000.0
GRAMS_PER_KG: Final = 1000.0
SAME: Final = 1e-6  # relative: corners that are this near to the last one are the same
EARLY: Final = "what is here holds, but there may be more vertices, and better plans."


@dataclass(frozen=True, slots=True)
class CostHalfPlane(JsonObject):
    """A proof: money_weight * cost + grams_weight * grams of CO2 is at least the bound, for every plan."""

    money_weight: float
    grams_weight: float
    bound: float


@dataclass(frozen=True, slots=True)
class CarbonVertex(JsonObject):
    """A vertex of the front of the linear program, and a verified plan near it if one was looked for and found."""

    cost: float  # of the linear program, as are the grams
    carbon_grams: float
    best_from_per_kg: float  # the prices of carbon from which and to which it costs least (LP)
    best_to_per_kg: float | None  # `None`: at every higher price, too
    carbon_price_per_kg: float  # the price of carbon of its bound
    bound: float  # proved: cost + that price * kilograms of every plan is at least this
    costs: PlanCosts | None = None  # of the verified plan
    plan: Plan | None = field(default=None, repr=False)

    _KEYS: ClassVar = "cost carbon_grams best_from_per_kg best_to_per_kg carbon_price_per_kg bound plan=costs"

    def price_text(self) -> str:
        """Return at which prices of a tonne of CO2 it is best: from one to another, or above one."""
        low, high = self.best_from_per_kg * KG_PER_TONNE, self.best_to_per_kg
        if high is None:
            return f"above {number(low)}" if low else "any"
        return f"{number(low)} to {number(high * KG_PER_TONNE)}"


@dataclass(frozen=True, slots=True)
class HorizonFront(JsonObject):
    """The front between cost and carbon over a horizon, by rising cost.

    The vertices are those of the work relaxation, which may split tasks: plans need not reach them. No plan lies below
    any of the half-planes in `proofs`: one for each price of carbon that was tried, and one for carbon alone.
    """

    currency: str
    vertices: tuple[CarbonVertex, ...]
    proofs: tuple[CostHalfPlane, ...]  # by rising price of carbon; carbon alone comes last
    horizon_seconds: float
    start: int | None
    solves: int
    missed: float  # relative: no vertex that is missing lies further below the line between its neighbours (LP)
    timings: FrozenDict[str, float]
    provenance: Provenance
    stopped: str = ""

    _FORMAT: ClassVar = "lpsched-horizon-front/1"
    _KEYS: ClassVar = (
        "axes currency start_time horizon_seconds least_cost least_carbon_grams missed vertices proofs timings"
    )

    @property
    def axes(self) -> tuple[str, str]:
        """What the front is between."""
        return ("cost", "carbon")

    @property
    def start_time(self) -> str | None:
        """When the horizon begins, in UTC."""
        return None if self.start is None else moment_text(self.start)

    @property
    def least_cost(self) -> float:
        """What no plan costs less than, proved."""
        return max(each.bound for each in self.proofs if not each.grams_weight)

    @property
    def least_carbon_grams(self) -> float:
        """What no plan emits less than, proved."""
        return max(each.bound for each in self.proofs if not each.money_weight)

    def cost_bound(self, grams: float) -> float:
        """Return what every plan costs at least that emits this much, up to rounding."""
        return max(each.bound - each.grams_weight * grams for each in self.proofs if each.money_weight)

    def bound_corners(self) -> tuple[tuple[float, float], ...]:
        """Return the corners (cost, grams) of what the half-planes leave, by rising cost, up to rounding."""
        lines = sorted({(each.grams_weight, each.bound) for each in self.proofs if each.money_weight})
        kept: list[tuple[float, float]] = []
        for weight, bound in lines:  # the upper envelope of cost = bound - weight * grams, by falling grams
            while kept and (
                weight == kept[-1][0]
                or (len(kept) > 1 and _meet(kept[-1], (weight, bound)) >= _meet(kept[-2], kept[-1]))
            ):
                kept.pop()
            kept.append((weight, bound))
        least = self.least_carbon_grams
        corners = [
            (one[1] - one[0] * grams, grams)
            for one, two in pairwise(kept)
            if (grams := _meet(one, two)) > least + SAME * abs(least)
        ]
        return (*corners, (self.cost_bound(least), least))

    def price_bounds(self) -> tuple[tuple[float, float], ...]:
        """Return prices of a kg of CO2, rising, and what cost + price * kg of every plan is at least there.

        At a price between two of them, every plan is above the line between their bounds too: its cost + price * kg is
        the mean of what it is at both. Prices whose bound is below such a line are left out.
        """
        best: dict[float, float] = {}
        for each in self.proofs:
            if each.money_weight:
                price = each.grams_weight / each.money_weight * GRAMS_PER_KG
                best[price] = max(each.bound / each.money_weight, best.get(price, -math.inf))
        return tuple((price, -bound) for price, bound in _lower_hull([(price, -best[price]) for price in sorted(best)]))

    def price_bound(self, price: float) -> float:
        """Return what cost + price * kg of every plan is at least, at a price of a kg of CO2; up to rounding."""
        known = self.price_bounds()
        for (low, one), (high, two) in pairwise(known):
            if price <= high:
                return one + (two - one) * (price - low) / (high - low)
        last, bound = known[-1]  # beyond, each kg counts that no plan avoids
        return bound + (price - last) * self.least_carbon_grams / GRAMS_PER_KG

    def measured(self) -> tuple[PlanCosts, ...]:
        """Return what the verified plans cost and emit, by rising cost."""
        return tuple(
            sorted((each.costs for each in self.vertices if each.costs is not None), key=lambda each: each.cost)
        )

    def rows(self) -> list[tuple[str, ...]]:
        """Return one row for each vertex: the LP, its price per tonne, the proved cost at its carbon, and the plan."""
        rows: list[tuple[str, ...]] = []
        for place, each in enumerate(self.vertices, start=1):
            plan = ("-", "-") if each.costs is None else (number(each.costs.cost), mass_text(each.costs.carbon_grams))
            lp = number(each.cost), mass_text(each.carbon_grams)
            rows.append((str(place), *lp, each.price_text(), lower_text(self.cost_bound(each.carbon_grams)), *plan))
        return rows

    def csv_rows(self) -> list[dict[str, Any]]:
        """Return one row for each vertex, for a file."""
        return [
            {
                "lp_cost": each.cost,
                "lp_carbon_grams": each.carbon_grams,
                "best_from_per_kg": each.best_from_per_kg,
                "best_to_per_kg": each.best_to_per_kg,
                "carbon_price_per_kg": each.carbon_price_per_kg,
                "proved_at_least": each.bound,
                "plan_cost": None if each.costs is None else each.costs.cost,
                "plan_carbon_grams": None if each.costs is None else each.costs.carbon_grams,
            }
            for each in self.vertices
        ]

    def to_frame(self) -> Any:  # noqa: ANN401 - pandas is no dependency
        """Return the rows of `csv_rows` as a pandas data frame."""
        return _frame(self.csv_rows())

    def headline(self) -> str:
        """Return the plans at both ends, the number of vertices, and what is proved."""
        plans = self.measured()
        ends = [f"{number(each.cost)} {self.currency} and {mass_text(each.carbon_grams)}" for each in plans]
        found = f"verified plans from {ends[0]} to {ends[-1]}" if len(ends) > 1 else "".join(ends)
        found = (
            found if len(ends) > 1 else f"a verified plan of {found}" if found else "no plan was looked for or found"
        )
        along = f"along {counted(len(self.vertices), 'vertex', 'vertices')} of the linear program (LP)"
        least = f"no plan costs less than {lower_text(self.least_cost)} {self.currency}, and none emits less than "
        early = f"\n{self.stopped.capitalize()}: {EARLY}" if self.stopped else ""
        found = f"{found[:1].upper()}{found[1:]}"
        return f"{found}, {along}.\nProved: {least}{mass_text(self.least_carbon_grams, upper=False)}.{early}"


def best_at_prices(plans: Sequence[PlanCosts]) -> list[tuple[float, PlanCosts]]:
    """Return the plans that are best at some price of a kg of CO2, each with the price from which on it is."""
    known = {(each.carbon_grams or 0.0, each.cost): each for each in plans}
    least = dict(sorted(known, reverse=True))  # the last one counts, which costs least
    hull = _lower_hull([(grams, least[grams]) for grams in sorted(least)])
    front = [each for place, each in enumerate(hull) if all(each[1] < other[1] for other in hull[:place])][::-1]
    prices = [(cost - low) / (most - grams) * GRAMS_PER_KG for (most, low), (grams, cost) in pairwise(front)]
    return [(price, known[point]) for price, point in zip([0.0, *prices], front, strict=bool(front))]


def _lower_hull(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the points, by rising x, that are below every line between two others."""
    kept: list[tuple[float, float]] = []
    for x, y in points:
        while len(kept) > 1:
            (left, low), (middle, high) = kept[-2:]
            if (high - low) * (x - left) < (y - low) * (middle - left):
                break
            kept.pop()
        kept.append((x, y))
    return kept


def _meet(one: tuple[float, float], two: tuple[float, float]) -> float:
    """Return the grams at which two half-planes (weight of a gram, bound) ask for the same cost."""
    return (two[1] - one[1]) / (two[0] - one[0])


@dataclass(frozen=True, slots=True)
class DeadlinePoint(JsonObject):
    """The least cost until one deadline: the linear program, a proved bound, and a verified plan where there is one."""

    deadline_seconds: float
    lp_cost: float
    bound: float  # proved: every plan that ends by then costs at least this
    value: float | None = None  # of the cheapest verified plan that is known
    plan: Plan | None = field(default=None, repr=False)

    _KEYS: ClassVar = "deadline_seconds lp_cost bound value"


@dataclass(frozen=True, slots=True)
class HourLater(JsonObject):
    """What another hour until the deadline changes: the cost of the best plan changes by this, proved."""

    deadline_seconds: float
    at_least: float
    at_most: float
    lp_change: float  # of the linear program: no promise about plans

    def between(self) -> Between:
        """Return the interval."""
        return Between(self.at_least, self.at_most)


@dataclass(frozen=True, slots=True)
class DeadlineCurve(JsonObject):
    """The least cost over the deadline: a staircase, not convex; each deadline is a problem of its own.

    The deadline is the horizon: machines that must stay on are paid for until then, and no longer. So where machines
    may be off, later deadlines never cost more; where they must stay on, they may.
    """

    currency: str
    points: tuple[DeadlinePoint, ...]  # by rising deadline; the last one is the horizon
    shortest_seconds: float  # proved: no plan ends before
    never_rises: bool  # whether all machines may be off: then a later deadline never costs more
    hour_later: HourLater | None  # than the horizon; `None` where the series end before, or no plan was found
    start: int | None
    timings: FrozenDict[str, float]
    provenance: Provenance
    stopped: str = ""

    _FORMAT: ClassVar = "lpsched-horizon-deadlines/1"
    _KEYS: ClassVar = "axes currency start_time shortest_seconds never_rises hour_later points timings"

    @property
    def axes(self) -> tuple[str, str]:
        """What the curve is between."""
        return ("cost", "deadline")

    @property
    def start_time(self) -> str | None:
        """When the horizon begins, in UTC."""
        return None if self.start is None else moment_text(self.start)

    def rows(self) -> list[tuple[str, ...]]:
        """Return one row for each deadline."""
        return [
            (duration(each.deadline_seconds), number(each.lp_cost), lower_text(each.bound), upper_text(each.value))
            for each in self.points
        ]

    def csv_rows(self) -> list[dict[str, Any]]:
        """Return one row for each deadline, for a file."""
        return [
            {
                "deadline_seconds": each.deadline_seconds,
                "lp_cost": each.lp_cost,
                "proved_at_least": each.bound,
                "plan_cost": each.value,
            }
            for each in self.points
        ]

    def to_frame(self) -> Any:  # noqa: ANN401 - pandas is no dependency
        """Return the rows of `csv_rows` as a pandas data frame."""
        return _frame(self.csv_rows())

    def headline(self) -> str:
        """Return the least cost at the first and the last deadline, and what an hour more is worth."""
        first, last = self.points[0], self.points[-1]
        ends = " and ".join(
            f"{lower_text(each.bound)} {self.currency} by {duration(each.deadline_seconds)}"
            for each in (first, last)[-len(self.points) :]
        )
        made = "" if last.value is None else f"; a verified plan costs {upper_text(last.value)} by then"
        known = self.hour_later
        more = ""
        if known is not None:
            low, high = known.between().texts()
            change = low if low == high else f"{low} to {high}"
            more = f"\nAnother hour changes the least cost by {change} {self.currency} (proved)."
        early = f"\n{self.stopped.capitalize()}: {EARLY}" if self.stopped else ""
        return f"Costs at least {ends} (proved){made}.{more}{early}"


@dataclass(frozen=True, slots=True)
class PlanBounds:
    """Beside a plan: what is proved at other prices of carbon and for other deadlines; what is left out, and why."""

    carbon: HorizonFront | None = None
    deadlines: DeadlineCurve | None = None
    left_out: str = ""


@dataclass(frozen=True, slots=True)
class OfferPoint(JsonObject):
    """What drawing some kW less than the baseline costs: the linear program, and what is proved."""

    kw: float  # less than the baseline at the meter, on average over each chosen slot that draws so much above idle
    delivered_kw: float  # less than the baseline on average over all chosen slots, at least
    marginal: float  # money for another kW over all chosen slots together: the slope of the linear program
    lp_extra: float  # of the linear program, above the least cost without an event
    at_least: float  # proved: the best plan with the reduction costs at least so much more than the best without it
    at_most: float | None  # proved by a verified plan: at most so much more
    bound: float  # proved: every plan with the reduction costs at least this
    value: float | None = None  # of the cheapest verified plan with the reduction
    plan: Plan | None = field(default=None, repr=False)

    _KEYS: ClassVar = "kw delivered_kw marginal lp_extra at_least at_most bound value"


@dataclass(frozen=True, slots=True)
class EventSlot(JsonObject):
    """A slot in which less power is offered."""

    start_seconds: float
    end_seconds: float
    baseline_kw: float  # at the meter, on average
    idle_kw: float  # at the meter, of machines that must stay on: no plan draws less


@dataclass(frozen=True, slots=True)
class OfferCurve(JsonObject):
    """The least extra cost of drawing less than a baseline in chosen slots, over how much less.

    Offers are differences of two optima, the best plan with the reduction and the best without any event: each is known
    within a proved interval. Power is averaged over each slot.
    """

    currency: str
    site: str
    baseline: str  # its name
    slots: tuple[EventSlot, ...]
    points: tuple[OfferPoint, ...]  # by rising kW: the breakpoints of the linear program, and the ends
    full_kw: float  # up to here, every chosen slot draws so much less
    most_kw: float  # beyond, no plan finishes all tasks (LP), or nothing is left to reduce
    free_bound: float  # proved: every plan costs at least this, without an event
    free_value: float | None  # of the cheapest verified plan without an event
    start: int | None
    solves: int
    timings: FrozenDict[str, float]
    provenance: Provenance
    stopped: str = ""

    _FORMAT: ClassVar = "lpsched-offers/1"
    _KEYS: ClassVar = "currency site baseline start_time full_kw most_kw free_bound free_value slots points timings"

    @property
    def start_time(self) -> str | None:
        """When the horizon begins, in UTC."""
        return None if self.start is None else moment_text(self.start)

    def rows(self) -> list[tuple[str, ...]]:
        """Return one row for each point."""
        return [
            (
                number(each.kw),
                number(each.delivered_kw),
                money_text(number(each.marginal)),
                money_text(number(each.lp_extra)),
                money_text(lower_text(each.at_least)),
                self.at_most_text(each),
            )
            for each in self.points
        ]

    def at_most_text(self, point: OfferPoint) -> str:
        """Write what a verified plan proves: at most so much more."""
        return money_text(upper_text(point.at_most, largest=abs(point.bound)))

    def csv_rows(self) -> list[dict[str, Any]]:
        """Return one row for each point, for a file."""
        return [
            {
                "kw": each.kw,
                "delivered_kw": each.delivered_kw,
                "marginal_per_kw": each.marginal,
                "lp_extra": each.lp_extra,
                "proved_at_least": each.at_least,
                "achieved_at_most": each.at_most,
            }
            for each in self.points
        ]

    def to_frame(self) -> Any:  # noqa: ANN401 - pandas is no dependency
        """Return the rows of `csv_rows` as a pandas data frame."""
        return _frame(self.csv_rows())

    def headline(self) -> str:
        """Return how much can be offered, and what that costs."""
        early = f"\n{self.stopped.capitalize()}: {EARLY}" if self.stopped else ""
        if not self.most_kw:
            return f"Nothing to offer: the baseline ({self.baseline}) draws no more than idle power then.{early}"
        last = self.points[-1]
        most = power_text(WATTS_PER_KW * self.most_kw)
        cost = f"at least {money_text(lower_text(last.at_least))} {self.currency} more (proved)"
        made = "" if last.at_most is None else f", at most {self.at_most_text(last)} (a verified plan)"
        return f"Up to {most} less than the baseline ({self.baseline}): that costs {cost}{made}.{early}"


def _frame(rows: list[dict[str, Any]]) -> Any:  # noqa: ANN401 - pandas is no dependency
    return frame_of(tuple(rows[0]) if rows else (), [tuple(row.values()) for row in rows])
