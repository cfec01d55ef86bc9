"""From a day or clusters to a proved bound, and its certificate."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.cancellation import Watch
from lpsched.jit import require_compiler
from lpsched.model.fields import FrozenDict
from lpsched.model.fixed_point import rounded_up
from lpsched.online.bound.no_waiting import naive_of
from lpsched.online.bound.offers import ArrivalPrices, offers_of
from lpsched.online.bound.prices import arrival_prices, crowded_slots, even_slots, proved_by
from lpsched.online.certificate.claim import DayCertificate, machines_of, objective_of, of_clusters, proved_bound
from lpsched.online.clusters import Clusters
from lpsched.units import JOULES_PER_KWH, SECONDS_PER_HOUR

if TYPE_CHECKING:
    from lpsched.model.arrays import Floats
    from lpsched.online.bound.offers import Offers
    from lpsched.online.day import Day


# The bound of a day or of clusters: how much any schedule can earn, with the prices that prove it.
#
# Prices are found in stages, each of which begins with those of the one before:
#
#     a sample of the tasks   24 slots        the soft maximum very soft first, then harder
#     all tasks               24 slots
#     all tasks               96, 288 slots   finer slots, closer bound; a fraction of a percent
#
# Where tasks cost what they wait, slots are many and most of them where time is crowded (`prices.py`), and
# the soft maximum gets harder: what is left to find is small beside what is at stake. Few slots and all tasks
# come first: of a sample, each of whose tasks stands for many, too many would have to wait. Before all of
# that it is proved, without any prices, that nobody can do better than not to wait.
#
# Bounds of the sample prove nothing and are not told; from then on the best prices so far are kept. On the
# way bounds are sums of doubles, each rounded up by more than it may be wrong: some 1e-12 in all. What is
# told in the end is proved from the last prices in exact arithmetic, as whoever checks a certificate does.
SAMPLE: Final = 5_000
SLOTS: Final = 24
SOFTEST: Final = (0.1, 0.03, 0.01)
HARDER: Final = (0.01, 0.003)
FINER: Final = ((96, (0.003, 0.001)), (288, (0.003, 0.001)))
CROWDED: Final = ((96, (0.01, 0.003, 0.001)), (384, (0.003, 0.001)), (1536, (0.003, 0.001, 3e-4)))
SLOTS_PER_TASK: Final = 4  # at most, where slots are crowded
OF_SAMPLE: Final = 0.3  # of the time there is, at most
BITS: Final = 30  # of a price: its exact decimals are short


@dataclass(frozen=True, slots=True)
class ArrivalBound:
    """No schedule earns more than `bound`, proved exactly; `naive` is the thesis's figure, beside it.

    Where tasks cost what they wait both are minus a cost, and `naive` is what nobody's waiting costs.
    """

    bound: float
    naive: float
    prices: ArrivalPrices
    seconds: float  # that finding it took

    @property
    def per_machine_hour(self) -> tuple[float, ...]:
        """What an hour of one machine of each type is worth at most, the mean over the slots; of one node."""
        lengths = np.diff(self.prices.edges)
        means = self.prices.per_second @ lengths / (lengths.sum() or 1.0)
        return tuple((SECONDS_PER_HOUR * means).tolist())

    @property
    def per_kwh(self) -> float:
        """What one more kilowatt-hour is worth at most, in utility; 0 where energy is not scarce."""
        return JOULES_PER_KWH * self.prices.per_joule


def arrival_bound(
    instance: Day | Clusters, *, time_limit: float | None = None, watch: Watch | None = None
) -> ArrivalBound:
    """Find prices of machine time and energy, and prove with them how much utility can be earned at most.

    The longer it may take, the closer the bound; whenever it is stopped, the bound holds. That of clusters holds for
    schedulers that know how long tasks really run, whatever was requested; nodes of a cluster are taken as one. Where
    tasks cost what they wait, it is minus what their waiting costs at least.
    """
    kind = "clusters" if isinstance(instance, Clusters) else "a day"
    require_compiler(f"the bound of {kind}", "simulate")
    offers = offers_of(instance)
    began = time.monotonic()
    outer = watch if watch is not None else Watch()
    inner = outer if time_limit is None else outer.part(time_limit)
    naive = naive_of(offers, instance.period)
    kept = _Kept(outer, naive if offers.waits else 0.0)
    _search(offers.risen() if offers.waits else offers, kept, inner)
    assert kept.prices is not None, "prices are told before the watch is looked at"
    short = shortened(kept.prices)
    proved = rounded_up(proved_bound(instance, certificate_of(instance, short, 0.0)))
    return ArrivalBound(proved, naive, short, time.monotonic() - began)


def _search(offers: Offers, kept: _Kept, watch: Watch) -> None:
    """Find prices on finer and finer slots, and let all that are better be kept."""
    most = SLOTS_PER_TASK * offers.count

    def cut(slots: int) -> Floats:
        return crowded_slots(offers, min(slots, most)) if offers.waits else even_slots(offers, slots)

    edges = cut(SLOTS)
    free = ArrivalPrices(edges, np.zeros((len(offers.machine_counts), len(edges) - 1)), 0.0)
    kept.hear(proved_by(offers, free), free)  # if nothing costs anything; where nothing is short, none is lower
    prices = None
    if not offers.waits and offers.count > 2 * SAMPLE:  # of a sample of many tasks
        left = watch.left()
        sketch = watch if left is None else watch.part(OF_SAMPLE * left)
        prices = arrival_prices(offers.thinned(SAMPLE), edges, temperatures=SOFTEST, watch=sketch)
    first = HARDER if prices is not None else (*SOFTEST, *HARDER)
    for slots, temperatures in ((SLOTS, first), *(CROWDED if offers.waits else FINER)):
        if watch.is_over():
            break
        prices = arrival_prices(
            offers, cut(slots), start=prices, temperatures=temperatures, watch=watch, listener=kept.hear
        )


class _Kept:
    """Keeps the prices that prove the lowest bound, and tells how it comes along; `base` goes on top."""

    def __init__(self, watch: Watch, base: float) -> None:
        self._base = base
        self.prices: ArrivalPrices | None = None
        self._lowest = math.inf
        self._watch = watch

    def hear(self, bound: float, prices: ArrivalPrices) -> None:
        """Take a bound, if it is lower."""
        if bound < self._lowest:
            self.prices, self._lowest = prices, bound
        self._watch.tell(f"bound {self._base + self._lowest:,.0f}")


def certificate_of(instance: Day | Clusters, prices: ArrivalPrices, bound: float) -> DayCertificate:
    """Return the certificate that these prices make, claiming so much."""
    rows = (tuple(Fraction(each) for each in row) for row in prices.per_second.tolist())
    day = DayCertificate(
        instance_name=instance.name,
        instance_hash=instance.content_hash,
        bound=Fraction(bound),
        edges=tuple(Fraction(each) for each in prices.edges.tolist()),
        machine_prices=FrozenDict(zip(machines_of(instance), rows, strict=True)),
        per_joule=Fraction(prices.per_joule),
    )
    return of_clusters(day, objective_of(instance)) if isinstance(instance, Clusters) else day


def shortened(prices: ArrivalPrices) -> ArrivalPrices:
    """Return prices of a few bits each, hardly different: any prove a bound, and these are short to write."""

    def few(numbers: np.ndarray) -> np.ndarray:
        parts, exponents = np.frexp(numbers)
        rounded: np.ndarray = np.ldexp(np.round(np.ldexp(parts, BITS)), exponents - BITS)
        return rounded

    return ArrivalPrices(prices.edges, few(prices.per_second), float(few(np.array([prices.per_joule]))[0]))


def certify(instance: Day | Clusters, *, time_limit: float | None = None, watch: Watch | None = None) -> DayCertificate:
    """Find a bound that no schedule of a day or of clusters can pass, and the prices that prove it."""
    found = arrival_bound(instance, time_limit=time_limit, watch=watch)
    return certificate_of(instance, found.prices, found.bound)
