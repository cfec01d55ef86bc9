"""Prices of machine time and energy, and the bound that they prove."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from lpsched.cancellation import CancelToken
from lpsched.jit import compiled
from lpsched.lp.soft_prices import descend
from lpsched.model.fixed_point import rounded_up
from lpsched.online.bound.choices import look
from lpsched.online.bound.offers import ArrivalPrices, grid_of, room_for_choices, room_for_corners, tables_of

if TYPE_CHECKING:
    from lpsched.model.table import Floats, Integers
    from lpsched.online.bound.offers import ChoiceTable, Offers


# Slots of time: any prove a bound; these are where prices matter.
#     even        the period in equal parts; one without end is cut where hardly anything is left to earn
#     crowded     where waiting has a cost, time may be months of which only some hours are crowded. Let every task
#                 start as it arrives, where it takes least machine time. In a cluster more machines may be wanted than
#                 there are; the excess is left for later: X(t) = integral of (wanted - machines), B(t) = X(t) - min(0,
#                 least X until t). Time is crowded while more is wanted than there is, or B, what is left, is above 0.
#                 Of the slots a tenth is spread over all time, four tenths over crowded time, and half of them over the
#                 tasks that arrive in it. Four times as many slots are the same, each cut in four.
OF_ALL_TIME: Final = 0.1  # shares of the slots
OF_ARRIVALS: Final = 0.5


def even_slots(offers: Offers, slots: int) -> Floats:
    """Return edges of equal slots over the period."""
    end = offers.ends_at
    if not math.isfinite(end):  # when hardly anything is left to earn, or all work done
        last = float(offers.arrivals.max(initial=offers.begins_at))
        work = float(offers.least_machine_seconds @ offers.weights) / float(offers.machine_counts.sum())
        longest = float(np.where(offers.can_run, offers.seconds, 0.0).max(initial=0.0))
        end = max(last, offers.begins_at) + work + longest
    return np.linspace(offers.begins_at, end, slots + 1)


def crowded_slots(offers: Offers, slots: int) -> Floats:
    """Return edges of slots, most of them where more machines are wanted than there are."""
    even = even_slots(offers, slots)
    chosen = offers.smallest_columns
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
    level = _level(at, begin, end, offers.arrivals)
    return np.unique(np.interp(np.linspace(0.0, level[-1], slots + 1), level, at))  # share the level out evenly


def on_slots(prices: ArrivalPrices, edges: Floats) -> ArrivalPrices:
    """Return the mean prices in other slots."""
    sums = np.concatenate(
        (np.zeros((len(prices.per_second), 1)), np.cumsum(prices.per_second * np.diff(prices.edges), axis=1)), axis=1
    )
    at = np.array([np.interp(edges, prices.edges, row) for row in sums])
    return ArrivalPrices(edges, np.maximum(0.0, np.diff(at, axis=1)) / np.diff(edges), prices.per_joule)


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
    """Return how many of some times are at each of others, which include them all."""
    return np.bincount(np.searchsorted(at, times), minlength=len(at)).astype(float)


ROOM: Final = 8  # near choices of an offer, more or less
SPARE: Final = 1.3  # times as much room as was needed


class Looker:
    """Looks at the choices of some offers on some slots, at any prices."""

    def __init__(self, offers: Offers, edges: Floats) -> None:
        self.edges = np.array(edges, dtype=float)
        self._tables = tables_of(offers)
        self._types = np.array(offers.task_type, dtype=np.int64)
        self._room = ROOM * offers.count
        self._order = np.lexsort((offers.function, offers.task_type)).astype(np.int64)

    def best(self, prices: ArrivalPrices) -> ChoiceTable:
        """Return the best choice of each offer."""
        return self._looked(prices, None, 1)

    def near(self, prices: ArrivalPrices, floor: Floats) -> ChoiceTable:
        """Return the choices above the floors; if there are more than there is room for, it is enlarged."""
        found = self._looked(prices, floor, self._room)
        while found.number[0] > len(found.offer):
            self._room = int(SPARE * found.number[0])
            found = self._looked(prices, floor, self._room)
        return found

    def _looked(self, prices: ArrivalPrices, floor: Floats | None, room: int) -> ChoiceTable:
        corners = room_for_corners(self._tables.seconds.shape[1], len(self.edges))
        found = room_for_choices(len(self._types), floor, room, must_run=self._tables.waits)
        look(self._tables, grid_of(self.edges, prices), corners, found, self._order, self._types)
        return found


# The soft sum over offers: smooth in the prices, with its slope. Compiled.
#     g(w, lambda)  =  sum_n weight_n tau log(1 + sum_c exp(v_c / tau))  +  sum_j m_j W_j  +  lambda E
# v_c = share U - lambda share J - q (W_j(end) - W_j(start)) is straight in the prices; the 1 is for not
# running at all. The slope is what there is of each slot's machine time and of energy, less what the soft choices
# use. W_j(t) is the sum of all slots before t, and of t's own up to there; so a choice adds to two places of a list
# from which the use of all slots is summed in the end. Where waiting has a cost, see `waiting.py`.
class NearChoices(NamedTuple):
    """Choices worth a look, those of one offer next to each other."""

    firsts: Integers  # offers + 1
    weights: Floats  # of the offers
    worth: Floats  # share U
    joules: Floats  # share J
    machine_type: Integers
    width: Floats  # how many machines
    from_slot: Integers
    from_seconds: Floats  # within that slot
    to_slot: Integers
    to_seconds: Floats


@compiled
def soft_sum(  # noqa: PLR0913, PLR0917 - compiled
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
        highest = 0.0
        for k in range(first, last):
            j = near.machine_type[k]
            s, t = near.from_slot[k], near.to_slot[k]
            cost = sums[j, t] + prices[j, t] * near.to_seconds[k]
            cost -= sums[j, s] + prices[j, s] * near.from_seconds[k]
            values[k - first] = near.worth[k] - per_joule * near.joules[k] - near.width[k] * cost
            highest = max(highest, values[k - first])
        weight = math.exp(-highest / temperature)
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

    def with_more(self, found: ChoiceTable) -> NearList:
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


class SoftSum(ABC):
    """A smooth function of the prices: a soft sum over tasks, all machine time and all energy."""

    def __init__(self, offers: Offers, edges: Floats) -> None:
        self.edges, self.lengths = edges, np.diff(edges)
        self.supply = offers.machine_counts[:, np.newaxis] * self.lengths
        self.energy = 0.0 if offers.energy_joules is None else offers.energy_joules

    @abstractmethod
    def summed(  # noqa: PLR0913, PLR0917 - as it is compiled
        self, prices: Floats, sums: Floats, per_joule: float, temperature: float, within: Floats, before: Floats
    ) -> tuple[float, float]:
        """Return the soft sum of values and the energy used; add up machine time in the last two."""

    def at(self, per_second: Floats, per_joule: float, temperature: float) -> tuple[float, Floats, float]:
        """Return the value, and its slope in the prices of machine time and of energy."""
        machines, slots = per_second.shape
        sums = np.zeros((machines, slots + 1))
        np.cumsum(per_second * self.lengths, axis=1, out=sums[:, 1:])
        prices = np.concatenate((per_second, np.zeros((machines, 1))), axis=1)
        within, before = np.zeros_like(prices), np.zeros_like(prices)
        total, energy = self.summed(prices, sums, per_joule, temperature, within, before)
        after = np.cumsum(before[:, ::-1], axis=1)[:, ::-1]
        used = within[:, :-1] + self.lengths * after[:, 1:]
        value = total + float((self.supply * per_second).sum()) + per_joule * self.energy
        return value, self.supply - used, self.energy - energy


class SoftBound(SoftSum):
    """The smooth function of the prices that some near choices make."""

    def __init__(self, offers: Offers, edges: Floats, seen: NearList) -> None:
        super().__init__(offers, edges)
        near = seen.near
        some, counts = np.unique(seen.offer, return_counts=True)
        columns = near[:, 0], near[:, 1], offers.mode_type[seen.column]
        width = offers.width[offers.task_type[seen.offer], seen.column]
        firsts = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
        arrays = map(np.ascontiguousarray, (offers.weights[some], *columns, width))
        places = *_places(edges, near[:, 2]), *_places(edges, near[:, 3])
        self.near = NearChoices._make((firsts, *arrays, *places))

    def summed(  # noqa: PLR0913, PLR0917 - as it is compiled
        self, prices: Floats, sums: Floats, per_joule: float, temperature: float, within: Floats, before: Floats
    ) -> tuple[float, float]:
        """Return the soft sum over the near choices."""
        if not len(self.near.weights):
            return 0.0, 0.0
        return soft_sum(self.near, prices, sums, per_joule, temperature, within, before)


def _places(edges: Floats, times: Floats) -> tuple[Integers, Floats]:
    """Return the slot of each time, and how far into it; after the last slot there is one more, for free."""
    times = np.clip(times, edges[0], edges[-1])
    slot = np.searchsorted(edges, times, side="right") - 1
    return slot.astype(np.int64), np.where(slot < len(edges) - 1, times - edges[slot], 0.0)


# Prices of machine time and energy bound what any schedule of arriving tasks can earn.
#
# Data       tasks n     arrival, utility function U_n, type i            m_j   machines of type j
#            e, J, q     seconds, joules and machines of a task on a column (machine type j and P-state)
#            B, T, E     begin and end of the period that counts, and the joules that may be taken in it
#            share       which part of a run from tau to tau + e counts (`online/parts.py`)
# Prices     w_j(t) >= 0    of a second on a machine of type j at time t, the same within each slot; 0 elsewhere
#            lambda >= 0    of a joule; 0 if energy is free
# No machine of type j is busy longer than there is time, and no more than E joules are taken. So, for every schedule,
# adding   sum_j (m_j integral w_j - integral w_j over all runs)   and   lambda (E - sum share J)   to what it earns
# makes nothing smaller. The most of that falls apart into tasks:
#    bound(w, lambda)  =  sum_n max(0, max over columns, tau >= arrival of v_n)  +  sum_j m_j W_j  +  lambda E
#    v_n(tau)          =  share (U_n(tau + e - arrival) - lambda J)  -  q integral of w_j from tau to tau + e
# `choices.py` finds that maximum, rounded up. Any prices do: bad ones prove less, never something false. A run's time
# outside the slots is free, which is valid as well: time before the period is there for nothing else, and after its end
# nothing starts. The rules by which a policy must wait for its scheduling events, or keep to the energy of days before
# the period, are not used: they only make schedules fewer. In clusters j is a cluster, its nodes are the machines, and
# e is how long a task really runs, whatever was requested.
#
# Where waiting has a cost and all tasks must run, - cost_n(tau - arrival) is in the place of U_n, there is no 0 to
# choose, the period never ends, and energy is free. What is bounded is minus the sum of all costs.
#
# The best prices are those of the LP that lets tasks be split and machines of a type be one (`models/arrivals.py`,
# `models/clusters.py`). The bound is convex in the prices; with a soft maximum it is smooth as well, and
# `lp/soft_prices.py` descends, the temperature falling. A pass over all choices is slow, so the descent sees only those
# that are nearly best at the prices where it begins; then all are evaluated again, which gives the next proved bound.
# Coarse slots and a sample of the tasks come first, then all tasks, then finer slots; each begins with the prices of
# the one before. (Where waiting has a cost: `waiting.py`.) The LP's optimum falls as slots get finer, but never below
# what machines of one type, taken as one, could do: whole tasks on whole machines may earn less.
TEMPERATURES: Final = (0.1, 0.03, 0.01, 0.003, 0.001)  # of the mean utility
AWAY: Final = 6.0  # temperatures: choices nearer than that to the best are seen by the descent
WIDE: Final = 0.03  # of the mean utility: at least so near
MOST_ROUNDS: Final = 3  # at one temperature
STEPS: Final = 60  # of one descent
SETTLED: Final = 1e-4  # of the bound: less is not worth another round
STILL: Final = 1e-5  # of the utility: a gain of a few steps of a descent that is less is rounding


def proved_by(offers: Offers, prices: ArrivalPrices) -> float:
    """Return what these prices prove: no schedule earns more. Rounded up."""
    return total_of(offers, prices, Looker(offers, prices.edges).best(prices).best)


def arrival_prices(  # noqa: PLR0913 - options are keyword-only
    offers: Offers,
    edges: Floats,
    *,
    start: ArrivalPrices | None = None,
    temperatures: tuple[float, ...] = TEMPERATURES,
    cancel: CancelToken | None = None,
    listener: Callable[[float, ArrivalPrices], object] | None = None,
) -> ArrivalPrices:
    """Return the best prices found on these slots, from `start` on; `listener` gets each bound and its prices."""
    cancel = cancel if cancel is not None else CancelToken()
    best = _first_prices(offers, edges) if start is None else on_slots(start, edges)
    looker, scales = Looker(offers, edges), Scales(offers, edges)
    found = looker.best(best)
    prices, lowest, seen = best, total_of(offers, best, found.best), NearList()
    report = listener if listener is not None else lambda *_: None
    report(lowest, best)
    for temperature in temperatures:
        warmth = temperature * scales.utility
        for _ in range(MOST_ROUNDS):
            if cancel.expired():
                return best
            width = max(AWAY * warmth, WIDE * scales.utility)
            seen = seen.with_more(looker.near(prices, found.best - width))
            prices = scales.descended(SoftBound(offers, edges, seen), best, warmth, cancel)
            found = looker.best(prices)
            bound, before = total_of(offers, prices, found.best), lowest
            if bound < lowest:
                best, lowest = prices, bound
                report(lowest, best)
            if abs(bound - before) <= SETTLED * abs(before):
                break  # there is nothing more to see at this temperature
    return best


class Scales:
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

    def descended(  # noqa: PLR0913 - options are keyword-only
        self,
        soft: SoftSum,
        prices: ArrivalPrices,
        warmth: float,
        cancel: CancelToken,
        *,
        steps: int = STEPS,
        settled: float = STILL,
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
        return ArrivalPrices(prices.edges, *parts(descend(smooth, start, steps=steps, settled=settled, cancel=cancel)))


def total_of(offers: Offers, prices: ArrivalPrices, values: Floats) -> float:
    """Return the bound: values of the tasks, all machine time and all energy; rounded up."""
    weighed = values * offers.weights
    total = Fraction(math.fsum(weighed.tolist())) + Fraction(math.fsum(np.abs(weighed).tolist())) / 2**50
    lengths = [Fraction(b) - Fraction(a) for a, b in zip(prices.edges[:-1], prices.edges[1:], strict=True)]
    for count, row in zip(offers.machine_counts.tolist(), prices.per_second.tolist(), strict=True):
        total += count * sum((Fraction(w) * length for w, length in zip(row, lengths, strict=True)), Fraction(0))
    if offers.energy_joules is not None:
        total += Fraction(prices.per_joule) * Fraction(offers.energy_joules)
    return rounded_up(total)


def _first_prices(offers: Offers, edges: Floats) -> ArrivalPrices:
    """Return prices of the right size: half of all utility shared out among machine time and energy."""
    half = 0.25 * float(offers.stakes @ offers.weights)
    supply = float(offers.machine_counts.sum()) * float(edges[-1] - edges[0])
    per_second = np.full((len(offers.machine_counts), len(edges) - 1), half / (supply or 1.0))
    energy = offers.energy_joules
    return ArrivalPrices(edges, per_second, half / energy if energy else 0.0)
