"""The proved bound of a day or of clusters, and its certificate."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.cancellation import CancelToken
from lpsched.jit import require_compiler
from lpsched.model.fields import FrozenDict
from lpsched.model.fixed_point import rounded_up
from lpsched.online.bound.no_waiting import no_wait_reference
from lpsched.online.bound.offers import ArrivalPrices, Offers, offers_of
from lpsched.online.bound.prices import arrival_prices, crowded_slots, even_slots, proved_by
from lpsched.online.bound.waiting import waiting_prices
from lpsched.online.certificate.claim import DayCertificate, machines_of, objective_of, of_clusters, proved_parts
from lpsched.online.clusters import Clusters
from lpsched.units import JOULES_PER_KWH, SECONDS_PER_HOUR

if TYPE_CHECKING:
    from lpsched.online.day import Day


# Prices are found in stages, each of which begins with those of the one before:
#     a sample of the tasks   24 slots        the soft maximum very soft first, then harder
#     all tasks               24 slots
#     all tasks               96, 288 slots   finer slots, closer bound; a fraction of a percent
# Where waiting has a cost, slots are many and most of them where time is crowded (`prices.py`), and prices begin with
# those of mean busy times (`waiting.py`): all tasks, since of a sample, each of whose tasks stands for many, too many
# would have to wait. Before that, the cost of no waiting is a bound without any prices.
#
# Bounds of the sample prove nothing; after it the best prices so far are kept. On the way bounds are sums of doubles,
# each rounded up by more than it may be wrong: some 1e-12 in all. The final bound is proved from the last prices in
# exact arithmetic, as by the checker of certificates.
SAMPLE: Final = 5_000
SLOTS: Final = 24
SOFTEST: Final = (0.1, 0.03, 0.01)
HARDER: Final = (0.01, 0.003)
FINER: Final = ((96, (0.003, 0.001)), (288, (0.003, 0.001)))
CROWDED: Final = ((384, (0.1, 0.03, 0.01)), (1536, (0.03, 0.01)), (6144, (0.03, 0.01, 0.003, 0.001)))
SLOTS_PER_TASK: Final = 4  # at most, where slots are crowded; but any number up to `FEW_SLOTS`
FEW_SLOTS: Final = 96
OF_SAMPLE: Final = 0.3  # of the time there is, at most
BITS: Final = 30  # of a price: its exact decimals are short


@dataclass(frozen=True, slots=True)
class ArrivalBound:
    """No schedule earns more than `bound`, proved exactly; `naive` is the no-wait reference of the thesis.

    Where waiting has a cost both are minus a cost, and `naive` is the cost if no task waits. `by_cluster`: no schedule
    earns more with the tasks of each cluster, if each task can run in one cluster only, and energy has no price.
    """

    bound: float
    naive: float
    prices: ArrivalPrices
    seconds: float  # that finding it took
    by_cluster: tuple[float, ...] | None = None

    @property
    def per_machine_hour(self) -> tuple[float, ...]:
        """The marginal value of an hour of one machine (or node) of each type, at most; the mean over the slots."""
        lengths = np.diff(self.prices.edges)
        means = self.prices.per_second @ lengths / (lengths.sum() or 1.0)
        return tuple((SECONDS_PER_HOUR * means).tolist())

    @property
    def per_kwh(self) -> float:
        """The marginal value of one more kilowatt-hour, at most, in utility; 0 where energy is not scarce."""
        return JOULES_PER_KWH * self.prices.per_joule


def arrival_bound(
    instance: Day | Clusters, *, time_limit: float | None = None, cancel: CancelToken | None = None
) -> ArrivalBound:
    """Find prices of machine time and energy, and prove with them how much utility can be earned at most.

    The longer it may take, the closer the bound; whenever it is stopped, the bound holds. That of clusters holds for
    schedulers that know how long tasks really run, whatever was requested; nodes of a cluster are taken as one. Where
    waiting has a cost, it is minus the least cost.
    """
    kind = "clusters" if isinstance(instance, Clusters) else "a day"
    require_compiler(f"the bound of {kind}", "simulate")
    offers = offers_of(instance)
    began = time.monotonic()
    outer = cancel if cancel is not None else CancelToken()
    inner = outer if time_limit is None else outer.part(time_limit)
    naive = no_wait_reference(offers, instance.period)
    kept = _BestPrices(outer, naive if offers.waits else 0.0)
    _search(offers.risen() if offers.waits else offers, kept, inner)
    assert kept.prices is not None, "prices come before the token is checked"
    short = shortened(kept.prices)
    proved, parts = proved_parts(instance, certificate_of(instance, short, 0.0))
    by_cluster = None if parts is None else tuple(map(rounded_up, parts))
    return ArrivalBound(rounded_up(proved), naive, short, time.monotonic() - began, by_cluster)


def _search(offers: Offers, kept: _BestPrices, cancel: CancelToken) -> None:
    """Find prices on finer and finer slots, and keep all that are better."""
    edges = even_slots(offers, SLOTS)
    free = ArrivalPrices(edges, np.zeros((len(offers.machine_counts), SLOTS)), 0.0)
    kept.update(proved_by(offers, free), free)  # if nothing costs anything; where nothing is short, none is lower
    if offers.waits:
        _search_waiting(offers, kept, cancel)
        return
    prices = None
    if offers.count > 2 * SAMPLE:  # of a sample of many tasks
        left = cancel.remaining()
        sketch = cancel if left is None else cancel.part(OF_SAMPLE * left)
        prices = arrival_prices(offers.thinned(SAMPLE), edges, temperatures=SOFTEST, cancel=sketch)
    first = HARDER if prices is not None else (*SOFTEST, *HARDER)
    for slots, temperatures in ((SLOTS, first), *FINER):
        if cancel.expired():
            break
        prices = arrival_prices(
            offers,
            even_slots(offers, slots),
            start=prices,
            temperatures=temperatures,
            cancel=cancel,
            listener=kept.update,
        )


def _search_waiting(offers: Offers, kept: _BestPrices, cancel: CancelToken) -> None:
    """Do the same where waiting has a cost."""
    most, prices = max(FEW_SLOTS, SLOTS_PER_TASK * offers.count), None
    for slots, temperatures in CROWDED:
        if cancel.expired():
            break
        edges = crowded_slots(offers, min(slots, most))
        prices = waiting_prices(
            offers, edges, start=prices, temperatures=temperatures, cancel=cancel, listener=kept.update
        )


class _BestPrices:
    """The prices that prove the lowest bound so far; `base` is added to the bound that is reported."""

    def __init__(self, cancel: CancelToken, base: float) -> None:
        self._base = base
        self.prices: ArrivalPrices | None = None
        self._lowest = math.inf
        self._cancel = cancel

    def update(self, bound: float, prices: ArrivalPrices) -> None:
        """Keep prices, if their bound is lower."""
        if bound < self._lowest:
            self.prices, self._lowest = prices, bound
        self._cancel.report(f"bound {self._base + self._lowest:,.0f}")


def certificate_of(instance: Day | Clusters, prices: ArrivalPrices, bound: float) -> DayCertificate:
    """Return the certificate of these prices, which claims a bound."""
    edges, *rows = (tuple(map(Fraction, row.tolist())) for row in (prices.edges, *prices.per_second))
    machine_prices = FrozenDict(zip(machines_of(instance), rows, strict=True))
    of_prices = Fraction(bound), edges, machine_prices, Fraction(prices.per_joule)
    day = DayCertificate(instance.name, instance.content_hash, *of_prices)
    return of_clusters(day, objective_of(instance)) if isinstance(instance, Clusters) else day


def shortened(prices: ArrivalPrices) -> ArrivalPrices:
    """Return prices of a few bits each, hardly different: any prices prove a bound, and these are short to write."""

    def few(numbers: np.ndarray) -> np.ndarray:
        parts, exponents = np.frexp(numbers)
        rounded: np.ndarray = np.ldexp(np.round(np.ldexp(parts, BITS)), exponents - BITS)
        return rounded

    return ArrivalPrices(prices.edges, few(prices.per_second), float(few(np.array([prices.per_joule]))[0]))


def certify(
    instance: Day | Clusters, *, time_limit: float | None = None, cancel: CancelToken | None = None
) -> DayCertificate:
    """Find a bound that no schedule of a day or of clusters can pass, and the prices that prove it."""
    found = arrival_bound(instance, time_limit=time_limit, cancel=cancel)
    return certificate_of(instance, found.prices, found.bound)
