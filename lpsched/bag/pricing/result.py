"""Results about prices: the price curve and its segments, sensitivities, and what-ifs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeAlias

from lpsched.bag.result import TWO_SIDED, Between, MarginalValues, Result, both_sides, changes_between, writer_of
from lpsched.model.results import JsonObject, frame_of, json_of
from lpsched.units import (
    DIGITS,
    NOISE,
    ROUNDING,
    SAME_RANGE,
    are_equal,
    duration,
    energy_text,
    gap_text,
    html_table,
    long_time,
    lower_text,
    number,
    paired,
    percent,
    power_text,
    range_text,
    upper_text,
)

if TYPE_CHECKING:
    from lpsched.bag.breakdown import Breakdown
    from lpsched.bag.relaxation import Regime
    from lpsched.bag.schedule import Schedule
    from lpsched.bag.verify import Measurement
    from lpsched.model.fields import FrozenDict
    from lpsched.model.provenance import Provenance


@dataclass(frozen=True, slots=True)
class ScheduleSegment:
    """The prices at which one schedule is the best found; money per hour at both ends.

    Finer than a segment of the bound, in which rounding may make another schedule better. The bound is proved at
    both ends and, being convex, below the line between them; marginal values are lines too (`None` where they are
    not). Value, its regime, measurement and schedule are `None` where no schedule was found; ratios if energy is free.
    """

    from_ratio: float | None
    to_ratio: float | None
    from_price: float
    to_price: float
    regime: Regime | None  # of the value
    bound_regime: Regime
    bound_at_from: float
    bound_at_to: float
    value_at_from: float | None
    value_at_to: float | None
    measured: Measurement | None  # makespan and energy; its profit is that at the first price
    schedule: Schedule | None
    worth_at_from: MarginalValues
    worth_at_to: MarginalValues
    breakdown: Breakdown | None = None  # of the schedule; its revenue is that at the bag's own price


@dataclass(frozen=True, slots=True)
class PriceCurveSegment(JsonObject):
    """A segment of the price curve; money per hour at both ends.

    The bound is proved at both ends and, being convex in the price, below the line between them. `to_price`
    and its bound and value are `None` if the segment has no end; ratios if energy is free; values if no schedule met
    the deadline. The regime is that of the bound: `do-not-run`, waiting is best; `loss`, no schedule earns;
    `profit`, the bound is above 0.
    """

    from_ratio: float | None
    to_ratio: float | None
    from_price: float
    to_price: float | None
    regime: Regime
    bound_at_from: float
    bound_at_to: float | None
    value_at_from: float | None
    value_at_to: float | None
    schedule: Schedule | None

    _KEYS: ClassVar = (
        "from_ratio to_ratio from_price to_price regime bound_at_from bound_at_to value_at_from value_at_to"
    )


@dataclass(frozen=True, slots=True)
class PricePoint(JsonObject):
    """The curve at one price."""

    ratio: float | None
    price: float
    bound: float
    value: float | None


@dataclass(frozen=True, slots=True)
class PriceCurve(JsonObject):
    """All segments by rising price, and the prices at which the regime changes."""

    unit: str
    pieces: tuple[PriceCurveSegment, ...]
    points: tuple[PricePoint, ...]
    least_price_to_run: float | None  # up to here it is best not to run; None if a deadline forces the work
    break_even_price: float | None  # below, no schedule earns: proved; None if outside the range
    timings: FrozenDict[str, float]
    provenance: Provenance
    schedules: tuple[Schedule, ...] = ()  # the pool: each price has the best of them

    _FORMAT: ClassVar = "lpsched-price/1"
    _KEYS: ClassVar = "unit least_price_to_run break_even_price pieces points timings"

    def to_frame(self) -> Any:  # noqa: ANN401 - pandas is no dependency
        """Return a pandas data frame with a row for each segment, by rising price; its columns are the keys in JSON."""
        pieces = [piece.to_dict() for piece in self.pieces]
        return frame_of(tuple(pieces[0]), [tuple(piece.values()) for piece in pieces])

    @property
    def currency(self) -> str:
        """The currency of all amounts."""
        return self.unit.removesuffix("/hour")

    def headers(self, current: PricePoint | None = None) -> tuple[str, ...]:
        """Return the headers of `rows`."""
        money, share = self.currency, ("of\ncurrent",) if current is not None else ()
        amounts = f"bound,\n{money}/h", f"value,\n{money}/h"
        return (f"from,\n{money}/bag", f"to,\n{money}/bag", *share, "profit\nratio", "status", *amounts)

    def rows(self, current: PricePoint | None = None, *, most: int | None = None) -> list[tuple[str, ...]]:
        """Return a row for each segment with bound and value where it begins, and one for the current price.

        With more than `most` segments: those where the regime changes, that of the current price, and the widest.
        """
        largest = max(NOISE / ROUNDING, *(abs(segment.bound_at_from) for segment in self.pieces))
        shown = [
            (
                PricePoint(each.from_ratio, each.from_price, each.bound_at_from, each.value_at_from),
                "and up" if each.to_price is None else self._price(each.to_price),
                _status(each, largest),
            )
            for each in self._shown(current, most)
        ]
        if current is not None:
            shown.append((current, "(current)", self._current_status(current)))
            shown.sort(key=lambda row: row[0].price)
        rows = []
        for at, to, status in shown:
            share = () if current is None else (percent(at.price / current.price) if current.price else "-",)
            value = None if at.value is None else 0.0 if abs(at.value) <= ROUNDING * largest else at.value
            bound = 0.0 if abs(at.bound) <= ROUNDING * largest else at.bound
            rows.append((self._price(at.price), to, *share, number(at.ratio), status, *earned_texts(bound, value)))
        return rows

    def _price(self, price: float) -> str:
        """Write the price at an end of a segment; that up to which it is best not to run as where that is claimed."""
        least = self.least_price_to_run
        return not_run_text(least) if least is not None and are_equal(price, least) else number(price)

    def _shown(self, current: PricePoint | None, most: int | None) -> Sequence[PriceCurveSegment]:
        """Return at most `most` segments, by rising price."""
        if most is None or len(self.pieces) <= most:
            return self.pieces
        ends = [math.inf if each.to_price is None else each.to_price for each in self.pieces]
        first = {each.regime: k for k, each in reversed(list(enumerate(self.pieces)))}.values()
        own = [k for k, each in enumerate(self.pieces) if current and each.from_price <= current.price <= ends[k]]
        widest = sorted(range(len(ends)), key=lambda k: self.pieces[k].from_price - ends[k])
        return [self.pieces[k] for k in sorted(list(dict.fromkeys([*first, *own, *widest]))[:most])]

    def _current_status(self, current: PricePoint) -> str:
        if current.value is not None and current.value > 0:
            return PROFITABLE
        if self.least_price_to_run is not None and current.price <= self.least_price_to_run:
            return STATUS["do-not-run"]
        return STATUS["profit" if current.bound > 0 else "loss"]

    def _repr_html_(self) -> str:
        return html_table(self.headers(), self.rows())


def earned_texts(bound: float, value: float | None) -> tuple[str, str]:
    """Write a bound on the profit, and the profit of a schedule if there is one."""
    return (upper_text(bound), "-") if value is None else paired(value, bound, upper=True)[::-1]


def not_run_text(price: float) -> str:
    """Write the price up to which it is best not to run, proved: with as many digits as it takes not to round it up."""
    return paired(price, price, upper=False)[1]


PROFITABLE: Final = "profitable"  # a verified schedule earns
STATUS: Final = {"profit": "profit possible", "loss": "loss", "do-not-run": "best not to run"}  # of the bound


def _status(segment: PriceCurveSegment, largest: float) -> str:
    """Return the regime in words: `profitable` only where a schedule that runs is verified to lose nothing."""
    runs = segment.schedule is not None and bool(segment.schedule.groups)
    if segment.regime.value == "profit" and runs and (segment.value_at_from or 0.0) >= -ROUNDING * largest:
        return PROFITABLE
    return STATUS[segment.regime.value]


# Sensitivities: the break-even price, the price of electricity, the number of machines, each alone.
#
# The LP bound on profit is piecewise linear in each, with exact breakpoints: convex in both prices, concave in
# the number of machines of a type.
UNPROVED: Final = ("no price found", "at which that is proved")
FORCED: Final = ("never", "a deadline forces the work")
TableOfTexts: TypeAlias = "tuple[tuple[str, ...], list[tuple[str, ...]]]"


@dataclass(frozen=True, slots=True)
class PriceBreakEven:
    """The break-even price of a bag."""

    needed: float  # below, no schedule earns: proved. The least cost of the bag
    needed_ratio: float | None  # that as a profit ratio; None if energy costs nothing
    needed_factor: float | None  # that as a share of the current price; None without any
    enough: float | None  # a verified schedule loses nothing; None if none was found
    least_to_run: float | None  # up to it it is best not to run; None if a deadline forces the work


@dataclass(frozen=True, slots=True)
class ElectricityCurveSegment:
    """A segment over the price of a kilowatt-hour; the bound, in money per hour, is convex in it."""

    from_price_per_kwh: float
    to_price_per_kwh: float | None  # None: no end
    regime: Regime
    bound_at_from: float
    bound_at_to: float | None


@dataclass(frozen=True, slots=True)
class ElectricityBreakEven:
    """What electricity may cost.

    From `no_profit_from` on no schedule earns: proved there, and so at every price above, because no schedule uses
    negative energy. From `do_not_run_from` to `do_not_run_to` it is best not to run: proved at both ends, and so
    between them, because the least cost of the tasks above waiting is concave in the price. There is such an end
    only where tasks draw less than idle machines.
    """

    price_per_kwh: float  # now
    earns_up_to: float | None  # a verified schedule loses nothing; None if there is no such price, or no end
    no_profit_from: float | None  # None if there is none
    do_not_run_from: float | None  # None: that is proved nowhere
    pieces: tuple[ElectricityCurveSegment, ...]
    do_not_run_to: float | None = None  # None: there is no end


@dataclass(frozen=True, slots=True)
class MachineCurveSegment:
    """A segment over the count of a machine type, which need not be whole at its ends; money per hour, proved."""

    from_count: float
    to_count: float
    adds_per_hour: float  # to the LP bound: after electricity, wear and depreciation
    bound_at_from: float


@dataclass(frozen=True, slots=True)
class MachineSensitivity:
    """The value of more machines of a type, all others as they are; marginal values are those of `solve`."""

    name: str
    count: int
    purchase_price: float
    mean_hours_to_failure: float | None
    adds_per_hour: float | None  # the marginal value of one more, after all that a machine costs
    pays_back_hours: float | None  # at the marginal value; None without a purchase price, or if never
    pays_up_to: float | None  # the purchase price that one more earns within its life; None without a life
    most_more: int | None  # more cannot earn more than this many or fewer do: proved. None: no limit found
    bound_at_most: float  # for any number of machines of this type: proved
    sure_more: int  # with them a verified schedule earns more than any without; 0 if none found
    value_at_sure: float | None  # its profit
    sure_adds_at_least: float | None  # to the best possible: proved
    sure_adds_at_most: float | None
    pieces: tuple[MachineCurveSegment, ...]  # up to the highest bound; none for large bags
    fewer_adds_per_hour: float | None = None  # the marginal value for one fewer
    step_at_least: float | None = None  # change of the best possible with one whole machine more: proved;
    step_at_most: float | None = None  # None if not computed, or infeasible

    def adds_text(self) -> str:
        """Return the marginal value, and that for one fewer where it is another."""
        return both_sides(self.adds_per_hour, self.fewer_adds_per_hour)


@dataclass(frozen=True, slots=True)
class Sensitivity(JsonObject):
    """The three sensitivities of a bag at one price; without a price only the first. `notes` says what is left out."""

    unit: str
    price: float | None
    profit_ratio: float | None
    bound: float | None  # at this price: proved
    value: float | None  # verified
    price_need: PriceBreakEven
    electricity: ElectricityBreakEven | None
    machines: tuple[MachineSensitivity, ...]
    notes: tuple[str, ...]
    timings: FrozenDict[str, float]
    provenance: Provenance

    @property
    def currency(self) -> str:
        """The currency of all amounts."""
        return self.unit.removesuffix("/hour")

    _FORMAT: ClassVar = "lpsched-sensitivity/1"
    _KEYS: ClassVar = "unit price profit_ratio bound value price_need electricity machine_types=machines notes timings"

    @property
    def current(self) -> PricePoint | None:
        """The current price, with bound and value there; `None` without a price."""
        if self.price is None or self.bound is None:
            return None
        return PricePoint(self.profit_ratio, self.price, self.bound, self.value)

    @property
    def achieved(self) -> float | None:
        """The least price at which a verified schedule is known to lose nothing."""
        known = [] if self.price_need.enough is None else [self.price_need.enough]
        return min([*known, self.price] if self.price is not None and (self.value or 0.0) > 0 else known, default=None)

    def headline(self, *, proved: float | None = None) -> str:
        """Return between what the break-even price lies; `proved` is what else is proved, by the price curve."""
        least, money = max(self.price_need.needed, proved or 0.0), f"{self.currency} per bag"
        known = f"{lower_text(least)} {money} (proved: below it no schedule earns)"
        if self.achieved is None:
            return f"Break-even at {known} or above; no schedule that earns was found."
        share = f": {self._share(least)} of current prices" if self.price else ""
        if lower_text(least) == upper_text(self.achieved):
            known = "(proved: below it no schedule earns; verified: a schedule earns above it)"
            return f"Break-even at {lower_text(least)} {money} {known}{share}."
        earned = f"{upper_text(self.achieved)} {money} (above it a verified schedule earns)"
        return f"Break-even between {known} and {earned}{share}."

    def _share(self, least: float) -> str:
        """Return the break-even price as a share of the current one."""
        if not self.price:
            return "-"
        low, high = (
            None if each is None else 100 * Fraction(each) / Fraction(self.price) for each in (least, self.achieved)
        )
        return "-" if low is None else f"{lower_text(low) if high is None else range_text(low, high)} %"

    def _move(self, price: float) -> str:
        """Return how far a price is from the current one, as a share of that, rounded down."""
        assert self.price
        return lower_text(100 * abs(1 - Fraction(price) / Fraction(self.price)))

    def current_text(self) -> str:
        """Return the profit at the current price, and how far prices may fall, or must rise."""
        now, need, money = self.current, self.price_need, self.currency
        if now is None:
            return ""
        at = f"At the current price of {number(now.price)} {money} per bag"
        bound, value = earned_texts(now.bound, now.value)
        most = f"at most {bound} {money}/h possible (proved)"
        if now.bound < 0:
            most = f"every schedule loses at least {bound.removeprefix('-')} {money}/h (proved)"
        if now.value is None:
            return f"{at}: no schedule was found; {most}."
        move = "whether any schedule earns there is open"
        if self.achieved is not None and self.achieved <= now.price:
            fall = self._move(self.achieved)
            move = f"prices may fall by {fall} % before break-even (verified)"
        elif need.needed > now.price:
            rise = self._move(need.needed)
            move = f"to earn, prices must rise by at least {rise} % (proved)"
        earns = f"{'earns' if now.value >= 0 else 'loses'} {value.removeprefix('-')} {money}/h"
        if need.least_to_run is not None and now.price <= need.least_to_run:
            return f"{at} it is best not to run (proved), which {earns}; {move}."
        gap = f", gap {gap_text((now.bound - now.value) / abs(now.bound))}" if now.bound else ""
        return f"{at} a verified schedule {earns}, {most}{gap}; {move}."

    def not_run(self) -> tuple[str, str]:
        """Return the prices at which it is best not to run; what it means."""
        least = self.price_need.least_to_run
        return FORCED if least is None else (f"up to {not_run_text(least)} {self.currency} per bag", "proved")

    def electricity_rows(self) -> list[tuple[str, str, str]]:
        """Return what electricity may cost: a name, the amount, what it means."""
        need, money = self.electricity, f"{self.currency}/kWh"
        if need is None:
            return []
        now, most = need.price_per_kwh, need.earns_up_to
        rows = [("current price", f"{number(now)} {money}", "")]
        if most is not None:
            times = f" {lower_text(Fraction(most) / Fraction(now))} times the current price" if now else " there"
            rows.append(
                ("break-even, achieved", f"{lower_text(most)} {money}", f"a verified schedule earns up to{times}")
            )
        first = need.no_profit_from
        proved = UNPROVED if first is None else (f"{upper_text(first)} {money}", "from there on no schedule earns")
        return [*rows, ("break-even, proved", *proved), ("best not to run from", *self._waits(need))]

    def _waits(self, need: ElectricityBreakEven) -> tuple[str, str]:
        """Return the prices of electricity between which it is best not to run, rounded inwards; what it means."""
        if self.price_need.least_to_run is None:
            return FORCED
        if need.do_not_run_from is None:
            return UNPROVED
        last = "" if need.do_not_run_to is None else f" to {lower_text(need.do_not_run_to)}"
        return f"{upper_text(need.do_not_run_from)}{last} {self.currency}/kWh", "proved"

    def machine_notes(self) -> list[str]:
        """Return what the cells of `one_more_table` mean, where that does not stand in their headers."""
        return [TWO_SIDED] if any(" / " in need.adds_text() for need in self.machines) else []

    def one_more_table(self) -> TableOfTexts:
        """Return headers and rows about one more machine; columns only where there is something to say."""
        needs, short = self.machines, f"{self.currency}/h"
        columns = [
            ("machine type", *(need.name for need in needs)),
            ("count", *(f"{need.count:,}" for need in needs)),
            (f"marginal value of\none more (LP), {short}", *(need.adds_text() for need in needs)),
        ]
        steps = [Between(need.step_at_least, need.step_at_most).text() for need in needs]
        if any(step != "-" for step in steps):
            columns.append((f"gain of one more\n(proved), {short}", *steps))
        if any(need.purchase_price for need in needs):
            columns.append(("paid back in\n(LP)", *(long_time(need.pays_back_hours) for need in needs)))
        if any(need.mean_hours_to_failure for need in needs):
            columns.append(
                (f"pays up to a price\nof (LP), {self.currency}", *(_rounded(need.pays_up_to) for need in needs))
            )
        headers, *rows = zip(*columns, strict=True)
        return headers, rows

    def how_many_table(self) -> TableOfTexts:
        """Return headers and rows about how many more machines are worthwhile."""
        added = f"which add\n(proved), {self.currency}/h"
        return ("machine type", "worthwhile at\nmost (proved)", "at least\n(verified)", added), [
            (
                need.name,
                most_text(need),
                f"{need.sure_more:,}",
                Between(need.sure_adds_at_least, need.sure_adds_at_most).text(),
            )
            for need in self.machines
        ]


def _rounded(amount: float | None) -> str:
    """Write an amount of the linear program with four digits, of a large one too.

    >>> _rounded(86_442.0), _rounded(None)
    ('86,440', '-')
    """
    return number(None if amount is None else float(f"{amount:.{DIGITS}g}"))


def most_text(need: MachineSensitivity) -> str:
    """Return how many more are worthwhile at most."""
    return "no limit found" if need.most_more is None else f"{need.most_more:,}"


# What-if: two results side by side, and how far apart the best possible ones are.
SAME: Final = 1e-12  # relative: numbers this near are the same
WHAT_IF_HEADERS: Final = ("", "before", "after", "change")


@dataclass(frozen=True, slots=True)
class Change:
    """One change, named as in `what_if`: in machines, tasks, money, watts or seconds; `None`: no price, or no limit."""

    name: str
    unit: str
    before: float | None
    after: float | None

    def __str__(self) -> str:
        """Return the change in words: gpu from 4 to 8 machines."""
        write = {"W": power_text, "s": duration}.get(self.unit, number)
        before, after = ("none" if each is None else write(each) for each in (self.before, self.after))
        name = "power cap" if self.name == "power-cap" else self.name
        name = name.removeprefix("machines.").removeprefix("tasks.").replace("price.", "price of ")
        return f"{name} from {before} to {after}" + (f" {self.unit}" if write is number else "")


@dataclass(frozen=True, slots=True)
class WhatIf:
    """The result for a bag as it is, and with some changes.

    Attributes
    ----------
    counts_before, counts_after
        Machines by type; a type that is no more has 0 after.
    before, after
        The results of `solve`.
    changes
        What was changed.
    """

    counts_before: FrozenDict[str, int]
    counts_after: FrozenDict[str, int]
    before: Result
    after: Result
    changes: tuple[Change, ...] = ()

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
        counts = self.counts_before.items()
        return self.before.provenance.header("lpsched-whatif/1") | json_of(
            self,
            "before.objective before.unit changes machines best_changes_by_at_least best_changes_by_at_most "
            "before after",
            machines={name: {"before": count, "after": self.counts_after[name]} for name, count in counts},
            best_changes_by_at_least=least,
            best_changes_by_at_most=most,
        )

    def sentence(self) -> str:
        """Return by how much the best possible changes."""
        least, most = self.best_changes_by()
        low, high = self._signed(least, upper=False), self._signed(most, upper=True)
        near = self._signed(least, upper=None)
        if most - least <= SAME_RANGE * max(abs(least), abs(most)) and near == self._signed(most, upper=None):
            low = high = near
        change = f"{low if low == high else f'{low} to {high}'} {self._unit}".rstrip()
        made = f"with {', '.join(map(str, self.changes))}, " if self.changes else ""
        return f"{made}the best possible changes by {change} (proved)"

    def facts(self) -> list[tuple[str, str, str, str]]:
        """Return the two results in rows: value, bound, gap and status, makespan and energy."""
        before, after, objective = self.before, self.after, self.before.objective
        unit, upper = f", {self._unit}" if self._unit else "", objective == "profit"
        values, bounds = zip(before.texts(), after.texts(), strict=True)
        changes = [
            self._compared("", *pair, self._text)[3]
            for pair in ((before.value, after.value), (before.bound, after.bound))
        ]
        rows = [
            (f"{objective} (verified){unit}", *values, changes[0]),
            (f"{'at most' if upper else 'at least'} (proved){unit}", *bounds, changes[1]),
            ("gap", gap_text(before.gap), gap_text(after.gap), ""),
        ]
        if before.regime is not None and after.regime is not None:
            rows.append(("status", _result_status(before), _result_status(after), ""))
        old, new = before.measured, after.measured
        if objective != "makespan":
            rows.append(self._compared("makespan", old.makespan_seconds, new.makespan_seconds, duration))
        if objective != "energy":
            rows.append(self._compared("energy", old.energy_joules, new.energy_joules, energy_text))
        return rows

    def machines(self) -> list[tuple[str, ...]]:
        """Return one row for each machine type: how many, and the marginal value of one more."""
        return [
            (name, f"{count:,}", f"{self.counts_after[name]:,}", _worth(self.before, name), _worth(self.after, name))
            for name, count in self.counts_before.items()
        ]

    def tasks(self) -> list[tuple[str, ...]]:
        """Return one row for each task type: the minimum price for one more; the largest relative changes first."""
        if self.before.worth is None or self.after.worth is None:
            return []
        old, new, rows = self.before.worth, self.after.worth, []
        for name, price in old.task_types.items():
            other = new.task_types.get(name)
            if name in new.task_types:
                change = None if not price or other is None else other / price - 1.0
                text = "-" if change is None else f"{'+' if change > SAME else ''}{percent(change)}"
                rows.append((-abs(change or 0.0), (name, old.task_text(name), new.task_text(name), text)))
        return [row for _, row in sorted(rows, key=lambda each: each[0])]

    @property
    def _unit(self) -> str:
        """The unit of profit; makespan and energy are written with theirs."""
        return self.before.unit.replace("/hour", "/h") if self.before.objective == "profit" else ""

    def _text(self, value: float, *, upper: bool | None = None) -> str:
        return writer_of(self.before.objective)(value, upper=upper)

    def _signed(self, change: float, *, upper: bool | None) -> str:
        """Write a change of the objective with its sign, rounded to the side on which it stays true."""
        if abs(change) <= ROUNDING * max(abs(self.before.bound), abs(self.after.bound)):
            change = 0.0
        sign = "-" if change < 0 else "+" if change else ""
        upper = not upper if change < 0 and upper is not None else upper
        return sign + self._text(abs(change), upper=upper)

    def _compared(
        self, label: str, before: float | None, after: float | None, write: Callable[..., str]
    ) -> tuple[str, str, str, str]:
        if before is None or after is None:
            return (label, write(before), write(after), "-")
        change = after - before
        if abs(change) <= SAME * max(abs(after), abs(before)):
            return (label, write(before), write(after), "0")
        return (label, write(before), write(after), f"{'+' if change > 0 else '-'}{write(abs(change))}")

    def _repr_html_(self) -> str:
        return html_table(WHAT_IF_HEADERS, self.facts())


def _result_status(result: Result) -> str:
    """Return the regime of a schedule; that it is best not to run only where that is proved."""
    regime, is_proved = result.regime, result.regime == result.bound_regime
    if regime is None or regime.value == "profit":
        return PROFITABLE
    return STATUS[regime.value] if regime.value == "loss" or is_proved else "not run"


def _worth(result: Result, name: str) -> str:
    worth = result.worth
    return "-" if worth is None or name not in worth.machine_types else worth.machine_text(name)
