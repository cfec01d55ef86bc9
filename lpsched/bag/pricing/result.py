"""Results about prices: the curve, its segments, how far each price may move; and what if there were other machines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

from lpsched.bag.result import TWO_SIDED, Between, Result, Worth, both_sides, changes_between, machine_heading
from lpsched.model.results import JsonObject, frame_of, json_of
from lpsched.units import ROUNDING, bound_text, gap_text, html_table, lower_text, number, upper_text

if TYPE_CHECKING:
    from lpsched.bag.relaxation import Regime
    from lpsched.bag.schedule import Schedule
    from lpsched.bag.verify import Measurement
    from lpsched.model.fields import FrozenDict
    from lpsched.model.provenance import Provenance


@dataclass(frozen=True, slots=True)
class PriceStretch:
    """One schedule and the prices for which it is the best that was found; money per hour at both ends.

    Finer than a piece of the bound: within one, rounding may make another schedule better. The bound is proved at
    both ends and, being convex, below the line between them; marginal values of machines and tasks are lines too
    (`None` where they are not). Value, its regime, measurement and schedule are `None` where no schedule was found
    that keeps the limits; ratios if energy costs nothing.
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
    worth_at_from: Worth
    worth_at_to: Worth


# What a pricing study is: for every price, the most that can be earned, piece by piece.
@dataclass(frozen=True, slots=True)
class PricePiece(JsonObject):
    """Prices between which one way to run the bag is best; money per hour at both ends.

    The bound is proved at both ends and, being convex in the price, below the line between them. `to_price`
    and what belongs to it is `None` if the piece goes on for ever; ratios are `None` if energy costs nothing;
    values are `None` if no schedule met the deadline.

    The regime is what is proved: `do-not-run`, waiting is best; `loss`, no schedule earns, the bound is not
    above 0; `profit`, the bound leaves room for it. Where it changes the bound is 0, but for rounding.
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
    """The curve at one price, for drawing."""

    ratio: float | None
    price: float
    bound: float
    value: float | None


@dataclass(frozen=True, slots=True)
class PriceCurve(JsonObject):
    """All pieces by rising price, and the prices at which the regime changes."""

    unit: str
    pieces: tuple[PricePiece, ...]
    points: tuple[PricePoint, ...]
    least_price_to_run: float | None  # up to here, waiting is best; None if a deadline forces the work
    break_even_price: float | None  # below, no schedule earns: proved; None if outside the range asked for
    timings: FrozenDict[str, float]
    provenance: Provenance
    schedules: tuple[Schedule, ...] = ()  # all that were found: each price has the best of them

    _FORMAT: ClassVar = "lpsched-price/1"
    _KEYS: ClassVar = "unit least_price_to_run break_even_price pieces points timings"

    def to_frame(self) -> Any:  # noqa: ANN401 - pandas is no dependency
        """Return a pandas data frame with a row for each piece, by rising price.

        Its columns are the keys of a piece in JSON: ratios and prices at both ends, the regime, and what is proved
        and verified there, in money per hour.
        """
        pieces = [piece.to_dict() for piece in self.pieces]
        return frame_of(tuple(pieces[0]), [tuple(piece.values()) for piece in pieces])

    def headers(self) -> tuple[str, ...]:
        """Return the headers of `rows`."""
        return ("from ratio", "from price", "to price", "regime", f"bound, {self.unit}", f"value, {self.unit}")

    def rows(self) -> list[tuple[str, ...]]:
        """Return one row for each piece, with bound and value where it begins."""
        largest = max(abs(piece.bound_at_from) for piece in self.pieces)
        rows: list[tuple[str, ...]] = []
        for piece in self.pieces:
            value = piece.value_at_from
            if value is not None and abs(value) <= ROUNDING * largest:
                value = 0.0  # only the rounding of the largest amount: a break-even price earns nothing
            line = _piece_row(piece.from_price, piece.to_price, piece, largest)
            rows.append((number(piece.from_ratio), *line, number(value)))
        return rows

    def _repr_html_(self) -> str:
        return html_table(self.headers(), self.rows())


def _piece_row(
    start: float, stop: float | None, piece: PricePiece | ElectricityPiece, largest: float
) -> tuple[str, str, str, str]:
    """Return the prices between which a piece holds, its regime, and the bound where it begins."""
    bound = upper_text(piece.bound_at_from, largest=largest)
    return number(start), "and up" if stop is None else number(stop), piece.regime.value, bound


# What an answer depends on: the price needed, what electricity may cost, how many machines pay.
#
# Each is a function of one number with finitely many breakpoints, all of them exact: the LP bound on profit
# bends upwards in the price of the bag and in the price of electricity, and downwards in the number of
# machines of a type. Each is asked alone, with everything else as it is.
UNPROVED: Final = ("no price found", "at which that is proved")


@dataclass(frozen=True, slots=True)
class PriceNeed:
    """Which price a bag needs."""

    needed: float  # below, no schedule earns anything: proved. What the bag costs at least, everything counted
    needed_ratio: float | None  # that as a profit ratio; None if energy costs nothing
    needed_factor: float | None  # by what to multiply the present prices to get there; None without any
    enough: float | None  # a verified schedule loses nothing; None if none keeps the deadline, or no bag can say it
    least_to_run: float | None  # up to it waiting is best; None if a deadline forces the work


@dataclass(frozen=True, slots=True)
class ElectricityPiece:
    """Prices of a kilowatt-hour between which one way to run is best; the bound in money per hour.

    The bound is proved at both ends and, being convex in the price, below the line between them.
    """

    from_price_per_kwh: float
    to_price_per_kwh: float | None  # None: for ever
    regime: Regime
    bound_at_from: float
    bound_at_to: float | None


@dataclass(frozen=True, slots=True)
class ElectricityNeed:
    """What electricity may cost.

    From `no_profit_from` on no schedule earns anything: proved there, and so at every price above, because no
    schedule uses less than no energy. From `do_not_run_from` to `do_not_run_to` waiting is best: proved at both
    ends, and so between them, because the least that the tasks cost above waiting is concave in the price. There
    is such an end only where tasks draw less than idle machines: from some price on running them saves more than
    it costs.
    """

    price_per_kwh: float  # now
    earns_up_to: float | None  # a verified schedule loses nothing; None if that has no end, or begins nowhere
    no_profit_from: float | None  # None if there is none
    do_not_run_from: float | None  # None: that is proved nowhere
    pieces: tuple[ElectricityPiece, ...]
    do_not_run_to: float | None = None  # None: there is no end


@dataclass(frozen=True, slots=True)
class MachinePiece:
    """Counts of one machine type between which each more adds the same to the bound; money per hour, proved.

    Counts are exact, and need not be whole.
    """

    from_count: float
    to_count: float
    adds_per_hour: float  # to the LP bound: after electricity, wear and depreciation
    bound_at_from: float


@dataclass(frozen=True, slots=True)
class MachineNeed:
    """What more machines of a type are worth, all others staying as they are.

    The marginal values are those of `solve` (`Worth`): derivatives of the LP bound, no promise about schedules.
    """

    name: str
    count: int
    purchase_price: float
    mean_hours_to_failure: float | None
    adds_per_hour: float | None  # the marginal value of one more, after all that a machine costs
    pays_back_hours: float | None  # until one more earns its purchase price so; None if it has none, or never does
    pays_up_to: float | None  # the purchase price that one more earns so within its life; None without that
    most_more: int | None  # more cannot earn more than so many or fewer do: proved. None: no limit was found
    bound_at_most: float  # what no number of machines of this type can pass: proved
    sure_more: int  # with so many a verified schedule earns more than any without them; 0 if none was found
    value_at_sure: float | None  # what it earns
    sure_adds_at_least: float | None  # how much more than now the best possible earns with them: proved
    sure_adds_at_most: float | None
    pieces: tuple[MachinePiece, ...]  # up to the number where the bound is highest; none for large bags
    fewer_adds_per_hour: float | None = None  # the marginal value for one fewer
    step_at_least: float | None = None  # what one whole machine more changes of the best possible: proved;
    step_at_most: float | None = None  # None if that was not asked, or one more leaves no schedule

    def adds_text(self) -> str:
        """Return the marginal value, and that for one fewer where it is another."""
        return both_sides(self.adds_per_hour, self.fewer_adds_per_hour)


@dataclass(frozen=True, slots=True)
class Sensitivity(JsonObject):
    """The three answers about one bag at one price.

    Without a price only the first can be given. `notes` says in sentences what was left out, and why.
    """

    unit: str
    price: float | None
    profit_ratio: float | None
    bound: float | None  # at this price, as it is: proved
    value: float | None  # verified
    price_need: PriceNeed
    electricity: ElectricityNeed | None
    machines: tuple[MachineNeed, ...]
    notes: tuple[str, ...]
    timings: FrozenDict[str, float]
    provenance: Provenance

    @property
    def currency(self) -> str:
        """What money is counted in."""
        return self.unit.removesuffix("/hour")

    _FORMAT: ClassVar = "lpsched-sensitivity/1"
    _KEYS: ClassVar = "unit price profit_ratio bound value price_need electricity machine_types=machines notes timings"

    def price_rows(self) -> list[tuple[str, str, str]]:
        """Return which price is needed: a name, the amount, what it means."""
        need, money = self.price_need, self.currency
        rows = [("price needed", f"{lower_text(need.needed)} {money}", "below, no schedule earns (proved)")]
        if need.needed_ratio is not None:
            rows.append(("as a profit ratio", lower_text(need.needed_ratio), "of what the least energy costs"))
        if need.needed_factor is not None:
            rows.append(("present prices times", lower_text(need.needed_factor), "would be that"))
        enough = "none found" if need.enough is None else f"{upper_text(need.enough)} {money}"
        return [*rows, ("price enough", enough, "from here a verified schedule earns")]

    def electricity_rows(self) -> list[tuple[str, str, str]]:
        """Return what electricity may cost: a name, the amount, what it means."""
        need, money = self.electricity, f"{self.currency}/kWh"
        if need is None:
            return []
        rows = [("electricity costs", f"{number(need.price_per_kwh)} {money}", "now")]
        if need.earns_up_to is not None:
            rows.append(("earns up to", f"{lower_text(need.earns_up_to)} {money}", "a verified schedule does"))
        if need.no_profit_from is None:
            rows.append(("no profit from", *UNPROVED))
        else:
            stop = f"{upper_text(need.no_profit_from)} {money}"
            rows.append(("no profit from", stop, "no schedule earns (proved)"))
        return [*rows, ("do not run from", *self._waits(need))]

    def _waits(self, need: ElectricityNeed) -> tuple[str, str]:
        """Return the prices of electricity between which waiting is best, rounded inwards; what it means."""
        if self.price_need.least_to_run is None:
            return "never", "a deadline forces the work"
        if need.do_not_run_from is None:
            return UNPROVED
        first, last = bound_text(need.do_not_run_from, upper=True), need.do_not_run_to
        to = "" if last is None else f" to {bound_text(last, upper=False)}"
        return f"{first}{to} {self.currency}/kWh", "waiting is best (proved)"

    def electricity_headers(self) -> tuple[str, ...]:
        """Return the headers of `electricity_pieces`."""
        return (f"from {self.currency}/kWh", "to", "regime", f"bound, {self.unit}")

    def electricity_pieces(self) -> list[tuple[str, ...]]:
        """Return one row for each piece, with the bound where it begins."""
        pieces = () if self.electricity is None else self.electricity.pieces
        largest = max((abs(piece.bound_at_from) for piece in pieces), default=0.0)
        return [_piece_row(each.from_price_per_kwh, each.to_price_per_kwh, each, largest) for each in pieces]

    def machine_headers(self) -> tuple[str, ...]:
        """Return the headers of `machine_rows`."""
        return tuple(header for header, *_ in self._machine_columns())

    def machine_rows(self) -> list[tuple[str, ...]]:
        """Return one row for each machine type: what one more is worth, and how many more are worthwhile."""
        return list(zip(*(column[1:] for column in self._machine_columns()), strict=True))

    def machine_notes(self) -> list[str]:
        """Return what the cells of `machine_rows` mean, where that does not stand in their headers."""
        return [TWO_SIDED] if any(" / " in need.adds_text() for need in self.machines) else []

    def _machine_columns(self) -> list[tuple[str, ...]]:
        """Return the columns with their headers, but for those about which no machine type says anything."""
        needs = self.machines
        columns = [
            ("machine type", *(need.name for need in needs)),
            ("count", *(f"{need.count:,}" for need in needs)),
            (machine_heading(self.unit), *(need.adds_text() for need in needs)),
        ]
        short = f"{self.currency}/h"
        if any(need.step_at_most is not None or need.step_at_least is not None for need in needs):
            steps = [Between(need.step_at_least, need.step_at_most).texts() for need in needs]
            heading = f"one more adds at least (proved), {short}"
            columns.append((heading, *(low for low, _ in steps)))
            columns.append(("at most", *(high for _, high in steps)))
        if any(need.purchase_price for need in needs):
            columns.append(("paid back in (LP), hours", *(number(need.pays_back_hours) for need in needs)))
        if any(need.mean_hours_to_failure for need in needs):
            pays = f"pays up to a price of (LP), {self.currency}"
            columns.append((pays, *(number(need.pays_up_to) for need in needs)))
        added = [Between(need.sure_adds_at_least, need.sure_adds_at_most).texts() for need in needs]
        return [
            *columns,
            ("worthwhile at most (proved)", *(most_text(need) for need in needs)),
            ("at least (verified)", *(f"{need.sure_more:,}" for need in needs)),
            (f"which add at least (proved), {short}", *(low for low, _ in added)),
            ("at most", *(high for _, high in added)),
        ]


def most_text(need: MachineNeed) -> str:
    """Return how many more are worthwhile at most."""
    return "no limit found" if need.most_more is None else f"{need.most_more:,}"


# What-if: two results side by side, and how far apart the best possible ones are.
SAME: Final = 1e-12  # relative: numbers this near are the same
WHAT_IF_HEADERS: Final = ("", "before", "after", "change")


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
        counts = self.counts_before.items()
        return self.before.provenance.header("lpsched-whatif/1") | json_of(
            self,
            "before.objective before.unit machines best_changes_by_at_least best_changes_by_at_most before after",
            machines={name: {"before": count, "after": self.counts_after[name]} for name, count in counts},
            best_changes_by_at_least=least,
            best_changes_by_at_most=most,
        )

    def facts(self) -> list[tuple[str, str, str, str]]:
        """Return the two answers in rows."""
        before, after, unit = self.before, self.after, self.before.unit
        change = _signed(number(after.bound - before.bound))
        rows = [
            (f"bound (proved), {unit}", before.bound_text(), after.bound_text(), change),
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
        return [
            (name, f"{count:,}", f"{self.counts_after[name]:,}", _worth(self.before, name), _worth(self.after, name))
            for name, count in self.counts_before.items()
        ]

    def tasks(self) -> list[tuple[str, ...]]:
        """Return one row for each task type: the minimum price for one more."""
        if self.before.worth is None or self.after.worth is None:
            return []
        old, new = self.before.worth, self.after.worth
        return [
            (name, old.task_text(name), new.task_text(name), _compared(name, price, new.task_types[name])[3])
            for name, price in old.task_types.items()
        ]

    def sentence(self) -> str:
        """Say how much the best possible changes."""
        least, most = self.best_changes_by()
        low, high = _signed(lower_text(least)), _signed(upper_text(most))
        return f"proved: the best possible changes by {low} to {high} {self.before.unit}"

    def _repr_html_(self) -> str:
        return html_table(WHAT_IF_HEADERS, self.facts())


def _worth(result: Result, name: str) -> str:
    if result.worth is None or name not in result.worth.machine_types:
        return "-"
    return result.worth.machine_text(name)


def _compared(label: str, before: float | None, after: float | None) -> tuple[str, str, str, str]:
    if before is None or after is None:
        return (label, number(before), number(after), "-")
    same = abs(after - before) <= SAME * max(abs(after), abs(before))
    return (label, number(before), number(after), _signed(number(0.0 if same else after - before)))


def _signed(change: str) -> str:
    return change if change.startswith("-") or change == "0" else f"+{change}"
