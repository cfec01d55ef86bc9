"""Into which slots is time cut? Any prove a bound; these are where prices matter.

even        the period in equal parts; one without end is cut where hardly anything is left to earn
crowded     where tasks cost what they wait, time may be months of which only some hours are crowded.
            Let every task start as it arrives, where it takes least machine time. In a cluster more
            machines may be wanted than there are; what is too much is left for later:

                X(t)  =  integral of (wanted - machines)        B(t)  =  X(t) - min(0, least X until t)

            Time is crowded while more is wanted than there is, or B, what is left, is above 0. Of the
            slots a tenth is spread over all time, four tenths over crowded time, and half of them over
            the tasks that arrive in it. Four times as many slots are the same, each cut in four.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.formulations.arrival_prices import ArrivalPrices

if TYPE_CHECKING:
    from lpsched.formulations.arrival_offers import Offers
    from lpsched.instance.array_types import Floats

OF_ALL_TIME: Final = 0.1  # shares of the slots
OF_ARRIVALS: Final = 0.5


def even_slots(offers: Offers, slots: int) -> Floats:
    """Return edges of equal slots over the period."""
    end = offers.ends_at if math.isfinite(offers.ends_at) else _horizon(offers)
    return np.linspace(offers.begins_at, end, slots + 1)


def crowded_slots(offers: Offers, slots: int) -> Floats:
    """Return edges of slots, most of them where more machines are wanted than there are."""
    even = even_slots(offers, slots)
    columns = np.where(offers.can_run, offers.width * offers.seconds, np.inf).argmin(axis=1)
    chosen = columns[offers.task_type]
    begins, ends = [np.zeros(0)], [np.zeros(0)]
    for j, machines in enumerate(offers.machine_counts.tolist()):
        own = offers.mode_type[chosen] == j
        some = offers.task_type[own], chosen[own]
        begin, end = _crowded(offers.arrivals[own], offers.seconds[some], offers.width[some], machines)
        begins.append(begin)
        ends.append(end)
    begin, end = np.concatenate(begins), np.concatenate(ends)
    if not len(begin):
        return even
    at = np.unique(np.concatenate((even[[0, -1]], begin, end, offers.arrivals)))
    return _quantiles(at, _level(at, begin, end, offers.arrivals), slots)


def on_slots(prices: ArrivalPrices, edges: Floats) -> ArrivalPrices:
    """Return the mean prices in other slots."""
    sums = np.concatenate(
        (
            np.zeros((len(prices.per_second), 1)),
            np.cumsum(prices.per_second * np.diff(prices.edges), axis=1),
        ),
        axis=1,
    )
    at = np.array([np.interp(edges, prices.edges, row) for row in sums])
    return ArrivalPrices(edges, np.maximum(0.0, np.diff(at, axis=1)) / np.diff(edges), prices.per_joule)


def _horizon(offers: Offers) -> float:
    """Return when hardly anything is left to earn, or all work done."""
    last = float(offers.arrivals.max(initial=offers.begins_at))
    work = float(offers.least_machine_seconds @ offers.weights) / float(offers.machine_counts.sum())
    longest = float(np.where(offers.can_run, offers.seconds, 0.0).max(initial=0.0))
    return max(last, offers.begins_at) + work + longest


def _crowded(arrivals: Floats, seconds: Floats, widths: Floats, machines: int) -> tuple[Floats, Floats]:
    """Return begins and ends of the times in which a cluster is crowded."""
    times = np.concatenate((arrivals, arrivals + seconds))
    order = np.argsort(times, kind="stable")
    wanted = np.cumsum(np.concatenate((widths, -widths))[order])
    begin = times[order]
    end = np.append(begin[1:], np.inf)
    excess = wanted - machines
    risen = np.concatenate(([0.0], np.cumsum(excess[:-1] * np.diff(begin))))
    left = risen - np.minimum(0.0, np.minimum.accumulate(risen))
    with np.errstate(divide="ignore", invalid="ignore"):
        until = np.where(excess < 0.0, begin + left / np.maximum(-excess, 1e-300), np.inf)
    end = np.minimum(end, until)
    is_crowded = ((excess > 0.0) | (left > 0.0)) & (end > begin) & np.isfinite(end)
    return begin[is_crowded], end[is_crowded]


def _level(at: Floats, begin: Floats, end: Floats, arrivals: Floats) -> Floats:
    """Return which share of the slots is to be before each time."""
    deep = np.cumsum(_counted(at, begin) - _counted(at, end))  # how many clusters are crowded from there on
    crowded, lengths = (deep > 0)[:-1], np.diff(at)
    parts = (
        (OF_ALL_TIME, lengths),
        (1.0 - OF_ALL_TIME - OF_ARRIVALS, lengths * crowded),
        (OF_ARRIVALS, _counted(at, arrivals)[:-1] * crowded),
    )
    level = np.zeros(len(lengths))
    for share, part in parts:
        level += share * part / (part.sum() or 1.0)
    return np.concatenate(([0.0], np.cumsum(level)))


def _counted(at: Floats, times: Floats) -> Floats:
    """Return how many of some times are at each of others, which have them all."""
    return np.bincount(np.searchsorted(at, times), minlength=len(at)).astype(float)


def _quantiles(at: Floats, level: Floats, slots: int) -> Floats:
    """Return times that share out a rising level evenly."""
    return np.unique(np.interp(np.linspace(0.0, level[-1], slots + 1), level, at))
