"""What a pricing study is: for every price, the most that can be earned, piece by piece."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from lpsched.display import ROUNDING, html_table, number, upper_text

if TYPE_CHECKING:
    from lpsched.instance.frozen import FrozenDict
    from lpsched.relaxation import Regime
    from lpsched.result.provenance import Provenance
    from lpsched.schedule.bag import Schedule

FORMAT: Final = "lpsched-price/1"


@dataclass(frozen=True, slots=True)
class PricePiece:
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

    def to_dict(self) -> dict[str, Any]:
        """Return the piece as it appears in JSON."""
        return {
            "from_ratio": self.from_ratio,
            "to_ratio": self.to_ratio,
            "from_price": self.from_price,
            "to_price": self.to_price,
            "regime": self.regime,
            "bound_at_from": self.bound_at_from,
            "bound_at_to": self.bound_at_to,
            "value_at_from": self.value_at_from,
            "value_at_to": self.value_at_to,
        }


@dataclass(frozen=True, slots=True)
class PricePoint:
    """The curve at one price, for drawing."""

    ratio: float | None
    price: float
    bound: float
    value: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return the point as it appears in JSON."""
        return {"ratio": self.ratio, "price": self.price, "bound": self.bound, "value": self.value}


@dataclass(frozen=True, slots=True)
class PriceCurve:
    """All pieces by rising price, and the prices at which the regime changes."""

    unit: str
    pieces: tuple[PricePiece, ...]
    points: tuple[PricePoint, ...]
    least_price_to_run: float | None  # up to here, waiting is best; None if a deadline forces the work
    break_even_price: float | None  # below, no schedule earns: proved; None if outside the range asked for
    timings: FrozenDict[str, float]
    provenance: Provenance
    schedules: tuple[Schedule, ...] = ()  # all that were found: each price has the best of them

    def to_dict(self) -> dict[str, Any]:
        """Return what `lpsched price --json` prints; its keys are stable."""
        return self.provenance.header(FORMAT) | {
            "unit": self.unit,
            "least_price_to_run": self.least_price_to_run,
            "break_even_price": self.break_even_price,
            "pieces": [piece.to_dict() for piece in self.pieces],
            "points": [point.to_dict() for point in self.points],
            "timings": dict(self.timings),
        }

    def headers(self) -> tuple[str, ...]:
        """Return the headers of `rows`."""
        return (
            "from ratio",
            "from price",
            "to price",
            "regime",
            f"bound, {self.unit}",
            f"value, {self.unit}",
        )

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
