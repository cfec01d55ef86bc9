"""Results about prices: the curve, its segments, and how far each price may move."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

from lpsched.bag.pricing.worth import TWO_SIDED, Between, both_sides, machine_heading
from lpsched.model.results import JsonObject, frame_of
from lpsched.units import ROUNDING, bound_text, html_table, lower_text, number, upper_text

if TYPE_CHECKING:
    from lpsched.bag.pricing.worth import Worth
    from lpsched.bag.relaxation import Regime
    from lpsched.bag.schedule import Schedule
    from lpsched.bag.verify import Measurement
    from lpsched.model.fields import FrozenDict
    from lpsched.model.provenance import Provenance


# Prices between which one schedule stays best: everything about it is a line in the price.
#
# Finer than a piece of the bound: within one, rounding may make another schedule better. The bound is proved
# at both ends and, being convex, below the line between them; marginal values of machines and tasks are lines
# too (`None` where they are not).
@dataclass(frozen=True, slots=True)
class PriceStretch:
    """One schedule and the prices for which it is the best that was found; money per hour at both ends.

    Value, its regime, measurement and schedule are `None` where no schedule was found that keeps the limits;
    ratios if energy costs nothing.
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
        return [
            (
                number(piece.from_ratio),
                number(piece.from_price),
                "and up" if piece.to_price is None else number(piece.to_price),
                piece.regime.value,
                upper_text(piece.bound_at_from, largest=largest),
                number(_rounded(piece.value_at_from, largest)),
            )
            for piece in self.pieces
        ]

    def _repr_html_(self) -> str:
        return html_table(self.headers(), self.rows())


def _rounded(money: float | None, largest: float) -> float | None:
    """Return 0 for what is only the rounding of the largest amount: a break-even price earns nothing."""
    return 0.0 if money is not None and abs(money) <= ROUNDING * largest else money


# What an answer depends on: the price needed, what electricity may cost, how many machines pay.
#
# Each is a function of one number with finitely many breakpoints, all of them exact: the LP bound on profit
# bends upwards in the price of the bag and in the price of electricity, and downwards in the number of
# machines of a type. Each is asked alone, with everything else as it is.
UNPROVED: Final = ("no price found", "at which that is proved")


@dataclass(frozen=True, slots=True)
class PriceNeed:
    """Which price a bag needs.

    Attributes
    ----------
    needed
        Below it no schedule earns anything: proved. What the bag costs at least, everything counted.
    needed_ratio
        That as a profit ratio; `None` if energy costs nothing.
    needed_factor
        By what to multiply the present prices to get there; `None` without any.
    enough
        At it a verified schedule loses nothing; `None` if none was found that keeps the deadline, or the
        price is beyond what a bag can say.
    least_to_run
        Up to it waiting is best; `None` if a deadline forces the work.
    """

    needed: float
    needed_ratio: float | None
    needed_factor: float | None
    enough: float | None
    least_to_run: float | None


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

    Attributes
    ----------
    price_per_kwh
        What it costs now.
    earns_up_to
        The price up to which a verified schedule loses nothing; `None` if that has no end, or begins nowhere.
    no_profit_from
        The price from which on no schedule earns anything: proved there, and so at every price above,
        because no schedule uses less than no energy; `None` if there is none.
    do_not_run_from, do_not_run_to
        The prices between which waiting is best: proved at both ends, and so between them, because the least
        that the tasks cost above waiting is concave in the price. From `None`: that is proved nowhere. To
        `None`: there is no end. There is one only where tasks draw less than idle machines: from some price
        on running them saves more than it costs.
    """

    price_per_kwh: float
    earns_up_to: float | None
    no_profit_from: float | None
    do_not_run_from: float | None
    pieces: tuple[ElectricityPiece, ...]
    do_not_run_to: float | None = None


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

    Attributes
    ----------
    adds_per_hour, fewer_adds_per_hour
        The marginal value of one more, as `solve` has it: the derivative of the LP bound, after all that a
        machine costs, and that for one fewer (`Worth`). No promise about schedules.
    step_at_least, step_at_most
        By how much the best possible changes with one whole machine more: proved on both sides; `None` if
        that was not asked, or one more leaves no schedule.
    pays_back_hours
        After how many hours one more earns its purchase price at its marginal value; `None` if it has none,
        or never does.
    pays_up_to
        The purchase price up to which one more pays within its mean time to failure at its marginal value;
        `None` without that.
    most_more
        More than this many cannot earn more than this many or fewer do: proved. `None`: no limit was found.
    bound_at_most
        What no number of machines of this type can pass, all others as they are: proved.
    sure_more, value_at_sure
        With how many more a verified schedule earns more than any without them, and what it earns; 0 if none
        was found.
    sure_adds_at_least, sure_adds_at_most
        How much more than now the best possible earns with `sure_more`: proved on both sides.
    pieces
        From the machines there are to the number where the bound is highest; none for large bags.
    """

    name: str
    count: int
    purchase_price: float
    mean_hours_to_failure: float | None
    adds_per_hour: float | None
    pays_back_hours: float | None
    pays_up_to: float | None
    most_more: int | None
    bound_at_most: float
    sure_more: int
    value_at_sure: float | None
    sure_adds_at_least: float | None
    sure_adds_at_most: float | None
    pieces: tuple[MachinePiece, ...]
    fewer_adds_per_hour: float | None = None
    step_at_least: float | None = None
    step_at_most: float | None = None

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
        rows.append(("price enough", _money(need.enough, money), "from here a verified schedule earns"))
        return rows

    def electricity_rows(self) -> list[tuple[str, str, str]]:
        """Return what electricity may cost: a name, the amount, what it means."""
        need, money = self.electricity, f"{self.currency}/kWh"
        if need is None:
            return []
        rows = [("electricity costs", f"{number(need.price_per_kwh)} {money}", "now")]
        if need.earns_up_to is not None:
            earns = f"{lower_text(need.earns_up_to)} {money}"
            rows.append(("earns up to", earns, "a verified schedule does"))
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
        return [
            (
                number(piece.from_price_per_kwh),
                "and up" if piece.to_price_per_kwh is None else number(piece.to_price_per_kwh),
                piece.regime.value,
                upper_text(piece.bound_at_from, largest=largest),
            )
            for piece in pieces
        ]

    def machine_headers(self) -> tuple[str, ...]:
        """Return the headers of `machine_rows`."""
        return tuple(column[0] for column in self._machine_columns())

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


def _money(amount: float | None, unit: str) -> str:
    return "none found" if amount is None else f"{upper_text(amount)} {unit}"
