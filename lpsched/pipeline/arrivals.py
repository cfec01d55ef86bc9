"""The bound of a day: how much utility any schedule of it can earn, with the prices that prove it.

Prices are found in stages, each of which begins with those of the one before:

    a sample of the tasks   24 slots        the soft maximum very soft first, then harder
    all tasks               24 slots
    all tasks               96, 288 slots   finer slots, closer bound; a fraction of a percent

Bounds of the sample prove nothing and are not told; from then on the best prices so far are kept.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.compiled import require_compiler
from lpsched.formulations.arrival_offers import offers_of
from lpsched.formulations.arrivals import arrival_prices, even_slots, proved_by
from lpsched.formulations.naive_arrivals import naive_utility
from lpsched.relaxation import ArrivalPrices
from lpsched.watch import Watch

if TYPE_CHECKING:
    from lpsched.instance.day import Day

SAMPLE: Final = 5_000
SLOTS: Final = 24
SOFTEST: Final = (0.1, 0.03, 0.01)
HARDER: Final = (0.01, 0.003)
FINER: Final = ((96, (0.003, 0.001)), (288, (0.003, 0.001)))
OF_SAMPLE: Final = 0.3  # of the time there is, at most
BITS: Final = 30  # of a price: its exact decimals are short
SECONDS_PER_HOUR: Final = 3600.0
JOULES_PER_KWH: Final = 3.6e6


@dataclass(frozen=True, slots=True)
class ArrivalBound:
    """No schedule of the day earns more than `bound`; `naive` is the thesis's figure, beside it."""

    bound: float
    naive: float
    prices: ArrivalPrices
    seconds: float  # that finding it took

    @property
    def per_machine_hour(self) -> tuple[float, ...]:
        """What an hour of one machine of each type is worth, the mean over the slots: utility at most."""
        lengths = np.diff(self.prices.edges)
        means = self.prices.per_second @ lengths / (lengths.sum() or 1.0)
        return tuple((SECONDS_PER_HOUR * means).tolist())

    @property
    def per_kwh(self) -> float:
        """What one more kilowatt-hour is worth at most, in utility; 0 where energy is not scarce."""
        return JOULES_PER_KWH * self.prices.per_joule


def arrival_bound(day: Day, *, time_limit: float | None = None, watch: Watch | None = None) -> ArrivalBound:
    """Find prices of machine time and energy, and prove with them how much utility the day can earn at most.

    The longer it may take, the closer the bound; whenever it is stopped, the bound holds.

    Raises
    ------
    MissingExtraError
        If Numba is not installed.
    """
    require_compiler("the bound of a day", "simulate")
    began = time.monotonic()
    outer = watch if watch is not None else Watch()
    inner = outer if time_limit is None else outer.part(time_limit)
    offers = offers_of(day)
    kept = _Kept(outer)
    left = inner.left()
    edges = even_slots(offers, SLOTS)
    prices = None
    if offers.count > 2 * SAMPLE:
        sketch = inner if left is None else inner.part(OF_SAMPLE * left)
        prices = arrival_prices(offers.thinned(SAMPLE), edges, temperatures=SOFTEST, watch=sketch)
    first = HARDER if prices is not None else (*SOFTEST, *HARDER)
    for slots, temperatures in ((SLOTS, first), *FINER):
        if kept.prices is not None and inner.is_over():
            break
        edges = even_slots(offers, slots)
        prices = arrival_prices(
            offers, edges, start=prices, temperatures=temperatures, watch=inner, listener=kept.hear
        )
    assert kept.prices is not None, "prices are told before the watch is looked at"
    short = shortened(kept.prices)
    bound = proved_by(offers, short)
    return ArrivalBound(bound, naive_utility(day), short, time.monotonic() - began)


class _Kept:
    """Keeps the prices that prove the lowest bound, and tells how it comes along."""

    def __init__(self, watch: Watch) -> None:
        self.prices: ArrivalPrices | None = None
        self._lowest = math.inf
        self._watch = watch

    def hear(self, bound: float, prices: ArrivalPrices) -> None:
        """Take a bound, if it is lower."""
        if bound < self._lowest:
            self.prices, self._lowest = prices, bound
        self._watch.tell(f"bound {self._lowest:,.0f}")


def shortened(prices: ArrivalPrices) -> ArrivalPrices:
    """Return prices of a few bits each, hardly different: any prove a bound, and these are short to write."""

    def few(numbers: np.ndarray) -> np.ndarray:
        parts, exponents = np.frexp(numbers)
        rounded: np.ndarray = np.ldexp(np.round(np.ldexp(parts, BITS)), exponents - BITS)
        return rounded

    return ArrivalPrices(prices.edges, few(prices.per_second), float(few(np.array([prices.per_joule]))[0]))
