"""The soft sum over offers: smooth in the prices, with its slope. Compiled.

    g(w, lambda)  =  sum_n weight_n tau log(1 + sum_c exp(v_c / tau))  +  sum_j m_j W_j  +  lambda E

v_c = share U - lambda share J - q (W_j(end) - W_j(start)) is straight in the prices; the 1 is for not running
at all, and is left out where tasks must run. The slope is what there is of each slot's machine time and of
energy, less what the soft choices use. W_j(t) is the sum of all slots before t, and of t's own up to there;
so a choice adds to two places of a list from which the use of all slots is summed in the end.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lpsched.compiled import compiled

if TYPE_CHECKING:
    from lpsched.formulations.arrival_offers import Offers
    from lpsched.formulations.arrival_tables import Found
    from lpsched.instance.array_types import Floats, Integers


class NearChoices(NamedTuple):
    """Choices worth a look, those of one offer next to each other."""

    firsts: Integers  # offers + 1
    weights: Floats  # of the offers
    worth: Floats  # share U
    joules: Floats  # share J
    machine_type: Integers
    width: Floats  # how many machines
    must_run: bool
    from_slot: Integers
    from_seconds: Floats  # within that slot
    to_slot: Integers
    to_seconds: Floats


@compiled
def soft_sum(  # noqa: PLR0913, PLR0917 - compiled functions take no options by name
    near: NearChoices,
    prices: Floats,
    sums: Floats,
    per_joule: float,
    temperature: float,
    within: Floats,
    before: Floats,
) -> tuple[float, float]:
    """Return the soft sum of values and the energy used; add up machine time in the last two."""
    total, energy = 0.0, 0.0
    values = np.empty(np.max(near.firsts[1:] - near.firsts[:-1]))
    for n in range(len(near.weights)):
        first, last = near.firsts[n], near.firsts[n + 1]
        highest = -np.inf if near.must_run else 0.0
        for k in range(first, last):
            j = near.machine_type[k]
            s, t = near.from_slot[k], near.to_slot[k]
            cost = sums[j, t] + prices[j, t] * near.to_seconds[k]
            cost -= sums[j, s] + prices[j, s] * near.from_seconds[k]
            values[k - first] = near.worth[k] - per_joule * near.joules[k] - near.width[k] * cost
            highest = max(highest, values[k - first])
        weight = 0.0 if near.must_run else math.exp(-highest / temperature)
        for k in range(last - first):
            values[k] = math.exp((values[k] - highest) / temperature)
            weight += values[k]
        total += near.weights[n] * (highest + temperature * math.log(weight))
        for k in range(first, last):
            part = near.weights[n] * values[k - first] / weight
            j = near.machine_type[k]
            s, t = near.from_slot[k], near.to_slot[k]
            energy += part * near.joules[k]
            part *= near.width[k]
            before[j, t] += part
            within[j, t] += part * near.to_seconds[k]
            before[j, s] -= part
            within[j, s] -= part * near.from_seconds[k]
    return total, energy


@dataclass(frozen=True, slots=True)
class NearList:
    """Choices that were near the best at some prices, each once."""

    offer: Integers = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    column: Integers = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    near: Floats = field(default_factory=lambda: np.zeros((0, 4)))  # as in `Found`

    def with_more(self, found: Found) -> NearList:
        """Return the list with what else was found, by offer; of choices with one start the best stays."""
        number = int(found.number[0])
        offer = np.concatenate((self.offer, found.offer[:number]))
        column = np.concatenate((self.column, found.listed[:number]))
        near = np.concatenate((self.near, found.near[:number]))
        order = np.lexsort((-near[:, 0], near[:, 2], column, offer))
        offer, column, near = offer[order], column[order], near[order]
        is_new = np.ones(len(offer), dtype=bool)
        is_new[1:] = (np.diff(offer) != 0) | (np.diff(column) != 0) | (np.diff(near[:, 2]) != 0.0)
        return NearList(offer[is_new], column[is_new], near[is_new])


class SoftBound:
    """The smooth function of the prices that some near choices make."""

    def __init__(self, offers: Offers, edges: Floats, seen: NearList) -> None:
        near = seen.near
        some, counts = np.unique(seen.offer, return_counts=True)
        self.edges, self.lengths = edges, np.diff(edges)
        self.supply = offers.machine_counts[:, np.newaxis] * self.lengths
        self.energy = 0.0 if offers.energy_joules is None else offers.energy_joules
        from_slot, from_seconds = _places(edges, near[:, 2])
        to_slot, to_seconds = _places(edges, near[:, 3])
        self.near = NearChoices(
            np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
            np.ascontiguousarray(offers.weights[some]),
            np.ascontiguousarray(near[:, 0]),
            np.ascontiguousarray(near[:, 1]),
            np.ascontiguousarray(offers.mode_type[seen.column]),
            np.ascontiguousarray(offers.width[offers.task_type[seen.offer], seen.column]),
            offers.waits,
            from_slot,
            from_seconds,
            to_slot,
            to_seconds,
        )

    def at(self, per_second: Floats, per_joule: float, temperature: float) -> tuple[float, Floats, float]:
        """Return the value, and its slope in the prices of machine time and of energy."""
        machines, slots = per_second.shape
        sums = np.zeros((machines, slots + 1))
        np.cumsum(per_second * self.lengths, axis=1, out=sums[:, 1:])
        prices = np.concatenate((per_second, np.zeros((machines, 1))), axis=1)
        within, before = np.zeros_like(prices), np.zeros_like(prices)
        total, energy = 0.0, 0.0
        if len(self.near.weights):
            total, energy = soft_sum(self.near, prices, sums, per_joule, temperature, within, before)
        after = np.cumsum(before[:, ::-1], axis=1)[:, ::-1]
        used = within[:, :-1] + self.lengths * after[:, 1:]
        value = total + float((self.supply * per_second).sum()) + per_joule * self.energy
        return value, self.supply - used, self.energy - energy


def _places(edges: Floats, times: Floats) -> tuple[Integers, Floats]:
    """Return the slot of each time, and how far into it; after the last slot there is one more, for free."""
    times = np.clip(times, edges[0], edges[-1])
    slot = np.searchsorted(edges, times, side="right") - 1
    return slot.astype(np.int64), np.where(slot < len(edges) - 1, times - edges[slot], 0.0)
