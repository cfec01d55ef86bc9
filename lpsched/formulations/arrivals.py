"""Tasks that arrive: prices of machine time and energy bound what any schedule of them can earn.

Data       tasks n     arrival, utility function U_n, type i            m_j   machines of type j
           e, J, q     seconds, joules and machines of a task on a column (machine type j and P-state)
           B, T, E     begin and end of the period that counts, and the joules that may be taken in it
           share       which part of a run from tau to tau + e counts (`instance/period.py`)
Prices     w_j(t) >= 0    of a second on a machine of type j at time t, the same within each slot; 0 elsewhere
           lambda >= 0    of a joule; 0 if energy is free

No machine of type j is busy longer than there is time, and no more than E joules are taken. So, for every
schedule, adding   sum_j (m_j integral w_j - integral w_j over all runs)   and   lambda (E - sum share J)   to
what it earns makes nothing smaller. What is then the most falls apart into tasks:

    bound(w, lambda)  =  sum_n max(0, max over columns, tau >= arrival of v_n)  +  sum_j m_j W_j  +  lambda E
    v_n(tau)          =  share (U_n(tau + e - arrival) - lambda J)  -  q integral of w_j from tau to tau + e

`arrival_choices.py` finds that maximum, rounded up. Any prices do: bad ones prove less, never something
false. A run's time outside the slots is free, which is true as well: time before the period is there for
nothing else, and after its end nothing starts. Nor are the rules used by which a policy must wait for its
mapping events, or keep to the energy of days before the period: they only make schedules fewer. In clusters
j is a cluster, its nodes are the machines, and e is how long a task really runs, whatever was requested.

Where tasks cost what they wait and all must run, - cost_n(tau - arrival) is in the place of U_n, there is no
0 to choose, the period never ends, and energy is free. What is bounded is minus the sum of all costs.

The best prices are those of the LP that lets tasks be split and machines of a type be one (`arrivals.py` and
`clusters.py` in `models/`). The bound is convex in the prices; with a soft maximum it is smooth as well, and
`lp/projected_descent.py` goes downhill, the temperature falling. A pass over all choices is slow, so the
descent sees only those that are nearly best at the prices where it begins; then all are looked at again,
which gives the next bound that is proved. Coarse slots and a sample of the tasks come first, then all tasks,
then finer slots; each begins with the prices of the one before.

The LP's optimum falls as slots get finer, but can never pass what machines of one type, taken as one, could
do: whole tasks on whole machines may earn less.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.formulations.arrival_looks import Looker
from lpsched.formulations.arrival_offers import offers_of
from lpsched.formulations.arrival_prices import ArrivalPrices
from lpsched.formulations.arrival_slots import on_slots
from lpsched.formulations.arrival_softening import NearList, SoftBound
from lpsched.formulations.arrival_tables import NO_COLUMN
from lpsched.lp.projected_descent import descend
from lpsched.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Callable

    from lpsched.formulations.arrival_offers import Offers
    from lpsched.instance.array_types import Floats, Integers
    from lpsched.instance.day import Day

TEMPERATURES: Final = (0.1, 0.03, 0.01, 0.003, 0.001)  # of the mean utility
AWAY: Final = 6.0  # temperatures: choices nearer than that to the best are seen by the descent
WIDE: Final = 0.03  # of the mean utility: at least so near
MOST_ROUNDS: Final = 3  # at one temperature
STEPS: Final = 60  # of one descent
SETTLED: Final = 1e-4  # of the bound: less is not worth another round
ROUNDING: Final = 1e-9  # of the utility: a gain that is less is rounding
STILL: Final = 1e-5  # likewise, of a few steps of a descent


@dataclass(frozen=True, slots=True)
class BestChoices:
    """What each task does best at some prices; column -1 and start NaN where it is better not run."""

    columns: Integers
    starts: Floats  # seconds
    values: Floats  # beyond what time and energy cost; at least 0


def best_choices(day: Day, prices: ArrivalPrices) -> BestChoices:
    """Return each task's best column, start and value at these prices.

    A start just before utility breaks, or the period begins to count, is told as the moment itself.
    """
    offers = offers_of(day)
    found = Looker(offers, prices.edges).best(prices)
    gains = found.best > ROUNDING * offers.starts_at[offers.first_interval[offers.function]]
    return BestChoices(
        np.where(gains, found.column, NO_COLUMN),
        np.where(gains, found.start, np.nan),
        np.where(gains, found.best, 0.0),
    )


def proved_by(offers: Offers, prices: ArrivalPrices) -> float:
    """Return what these prices prove: no schedule earns more. Rounded up."""
    return _total(offers, prices, Looker(offers, prices.edges).best(prices).best)


def arrival_prices(  # noqa: PLR0913 - options are keyword-only
    offers: Offers,
    edges: Floats,
    *,
    start: ArrivalPrices | None = None,
    temperatures: tuple[float, ...] = TEMPERATURES,
    steps: int = STEPS,
    watch: Watch | None = None,
    listener: Callable[[float, ArrivalPrices], object] | None = None,
) -> ArrivalPrices:
    """Return good prices on these slots: the best of those whose bound was worked out on the way.

    Parameters
    ----------
    start
        Prices to begin with, on any slots.
    listener
        Hears of every bound, and of the prices that prove it.
    """
    watch = watch if watch is not None else Watch()
    best = _first_prices(offers, edges) if start is None else on_slots(start, edges)
    looker, scales = Looker(offers, edges), _Scales(offers, edges)
    found = looker.best(best)
    prices, lowest, seen = best, _total(offers, best, found.best), NearList()
    tell = listener if listener is not None else _nobody
    tell(lowest, best)
    for temperature in temperatures:
        warmth = temperature * scales.utility
        for _ in range(MOST_ROUNDS):
            if watch.is_over():
                return best
            width = max(AWAY * warmth, WIDE * scales.utility)
            seen = seen.with_more(looker.near(prices, found.best - width))
            prices = scales.descended(SoftBound(offers, edges, seen), best, warmth, steps, watch)
            found = looker.best(prices)
            bound, before = _total(offers, prices, found.best), lowest
            if bound < lowest:
                best, lowest = prices, bound
                tell(lowest, best)
            if abs(bound - before) <= SETTLED * abs(before):
                break  # there is nothing more to see at this temperature
    return best


def _nobody(bound: float, prices: ArrivalPrices) -> None:
    """Listen to nothing."""


class _Scales:
    """Prices as the descent sees them: numbers of about the same size, whose curvatures are alike."""

    def __init__(self, offers: Offers, edges: Floats) -> None:
        weights = offers.weights / offers.weights.sum()
        self.utility = float(weights @ offers.stakes) or 1.0
        self.seconds = float(weights @ offers.least_machine_seconds) or 1.0
        supply = offers.machine_counts[:, np.newaxis] * np.diff(edges)
        self.time = 1.0 / np.sqrt(np.maximum(supply * self.seconds, 1e-300))
        joules = np.where(offers.can_run, offers.joules, 0.0).mean()
        self.joule = 1.0 / math.sqrt(float(offers.weights.sum())) / float(joules or 1.0)
        self.has_energy = offers.energy_joules is not None

    def descended(
        self, soft: SoftBound, prices: ArrivalPrices, warmth: float, steps: int, watch: Watch
    ) -> ArrivalPrices:
        """Return the prices to which the descent leads."""
        shape = prices.per_second.shape

        def parts(point: Floats) -> tuple[Floats, float]:
            return point[:-1].reshape(shape) * self.time, float(point[-1]) * self.joule

        def smooth(point: Floats) -> tuple[float, Floats]:
            per_second, per_joule = parts(point)
            value, time, energy = soft.at(per_second, per_joule, warmth)
            last = energy * self.joule if self.has_energy else 0.0
            return value, np.append((time * self.time).ravel(), last)

        start = np.append((prices.per_second / self.time).ravel(), prices.per_joule / self.joule)
        point = descend(smooth, start, steps=steps, settled=STILL, watch=watch)
        per_second, per_joule = parts(point)
        return ArrivalPrices(prices.edges, per_second, per_joule)


def _total(offers: Offers, prices: ArrivalPrices, values: Floats) -> float:
    """Return the bound: values of the tasks, all machine time and all energy; rounded up."""
    weighed = values * offers.weights
    total = Fraction(math.fsum(weighed.tolist())) + Fraction(math.fsum(np.abs(weighed).tolist())) / 2**50
    lengths = [Fraction(b) - Fraction(a) for a, b in zip(prices.edges[:-1], prices.edges[1:], strict=True)]
    for count, row in zip(offers.machine_counts.tolist(), prices.per_second.tolist(), strict=True):
        total += count * sum(
            (Fraction(w) * length for w, length in zip(row, lengths, strict=True)), Fraction(0)
        )
    if offers.energy_joules is not None:
        total += Fraction(prices.per_joule) * Fraction(offers.energy_joules)
    rounded = float(total)
    return rounded if Fraction(rounded) >= total else math.nextafter(rounded, math.inf)


def _first_prices(offers: Offers, edges: Floats) -> ArrivalPrices:
    """Return prices of the right size: half of all utility shared out among machine time and energy."""
    half = 0.25 * float(offers.stakes @ offers.weights)
    supply = float(offers.machine_counts.sum()) * float(edges[-1] - edges[0])
    per_second = np.full((len(offers.machine_counts), len(edges) - 1), half / (supply or 1.0))
    energy = offers.energy_joules
    return ArrivalPrices(edges, per_second, half / energy if energy else 0.0)
