"""Timelines of single machines: what one machine runs over a horizon, and when, by dynamic programming over time.

A **batch** is a number of tasks of one type in one mode, one after the other. It costs what its runs cost, less what
the machine would cost if it ran nothing. At given task values the best timeline of a machine is a longest path: the
horizon is cut into equal steps, and for each the best way to be free within it is kept, with the exact time. So nothing
is rounded up to the steps; a way is lost only where a better one ends within the same step. Ways that end at different
times are compared with the machine's time paid for at the prices of the relaxation.

Where switching on costs something, the path has two states, on and off, and the machine is off unless it runs or idles.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.bag.horizon.arrays import HorizonArrays, Integral
from lpsched.jit import compiled, is_there

if TYPE_CHECKING:
    from lpsched.model.table import Floats, Integers, Mask

POINTS: Final = 6000 if is_there() else 500  # steps, about; without Numba a step takes a hundred times as long
TICKS: Final = 1024  # of a second: all times are whole ticks, so that they are exact doubles
SLACK: Final = 0.3  # of its cost that a batch may lose in a slot, at the prices of machines, to be tried there
ROUNDS: Final = 6  # of filling a timeline with limited tasks
CALL: Final = 120_000  # evaluations that a call takes beside its own, roughly
NONE: Final = np.zeros(0, dtype=np.int64)
NOT_SHORT: Final = np.zeros((0, 0), dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Grid:
    """Equal steps over the horizon, in ticks; the last may be shorter."""

    step: int
    points: int  # steps
    horizon: int


def grid_of(arrays: HorizonArrays, points: int = POINTS) -> Grid:
    """Return steps of which the slots are multiples, where they can be."""
    horizon, shortest = float(arrays.edges[-1]), float(arrays.lengths.min())
    wanted = horizon / points
    if shortest >= wanted and shortest.is_integer():
        parts = [part for part in range(1, int(4 * shortest / wanted) + 2) if (shortest * TICKS) % part == 0]
        step = round(shortest * TICKS) // min(parts, key=lambda part: abs(np.log(shortest / part / wanted)))
    else:
        step = max(1, int(wanted * TICKS))
    ticks = int(Fraction(horizon) * TICKS)
    return Grid(step, -(-ticks // step), ticks)


@dataclass(frozen=True, slots=True)
class Batches:
    """What machines of one type may run: A batches."""

    tasks: Integers  # A: the task type
    modes: Integers  # A
    counts: Integers  # A
    ticks: Integers  # A: busy, rounded up
    spans: Integers  # A: ticks until the next batch may begin, no fewer than a step
    seconds: Floats  # A: busy
    watts: Floats  # A
    above: Floats  # A: watts above those of a machine that must stay on
    moving: Floats  # A: cost of moving the tasks


def batches_of(arrays: HorizonArrays, grid: Grid, j: int, kept: Mask) -> Batches:
    """Return the batches of one machine type, of the pairs that are kept."""
    found = [
        (i, mode, count, ticks)
        for i, mode in np.argwhere(kept & arrays.can_run & (arrays.machine_of == j)).tolist()
        for count, ticks in _sizes(float(arrays.seconds[i, mode]), grid)
    ]
    tasks, modes, counts, ticks = np.array(found, dtype=np.int64).reshape(-1, 4).T
    watts = arrays.watts[tasks, modes]
    return Batches(
        tasks,
        modes,
        counts,
        ticks,
        np.maximum(ticks, grid.step),
        counts * arrays.seconds[tasks, modes],
        watts,
        watts - (0.0 if arrays.may_be_off[j] else arrays.idle_watts[j]),
        counts * arrays.moving[tasks, j],
    )


def _sizes(seconds: float, grid: Grid) -> list[tuple[int, int]]:
    """Return numbers of tasks and the ticks that they take: as many as fill a step, and fewer for the last tasks."""
    exact = Fraction(seconds) * TICKS
    count, found = max(1, -int(-grid.step // exact)), []
    while True:
        ticks = -int(-count * exact // 1)
        if ticks <= grid.horizon:
            found.append((count, ticks))
        if count == 1:
            return found
        count //= 2


@dataclass(frozen=True, slots=True, eq=False)
class Timeline:
    """What one machine of type j runs: batches by their numbers, and the ticks at which they begin."""

    j: int
    begins: Integers
    batches: Integers
    tasks: Floats  # T: how many of each type
    cost: float  # above that of a machine that runs nothing
    joules: Floats  # H: above those of a machine that must stay on; empty where power does not matter


@compiled
def longest_path(  # noqa: C901, PLR0912, PLR0913, PLR0915, PLR0917 - compiled: calls would cost more than they hide
    step: int,
    edges: Integers,
    slot_of: Integers,
    lines: Floats,
    kept: Integers,
    spans: Integers,
    watts: Floats,
    gains: Floats,
    slack: Floats,
    short: Integers,
    blocks: Integers,
    switch_on: float,
) -> tuple[Integers, Integers, int]:
    """Return the batches of the timeline that earns most, of those kept: when each begins, which it is, and the work.

    `lines` has for each slot integrals of costs up to a time within it, each as its value at 0 and its slope: for each
    watt of a batch, of a machine that is busy, of one that waits, and of one that has run its last batch. `slot_of`
    says in which slot each step begins. Where a batch loses more than `slack` at its best start in a slot, it is not
    tried there. `short` counts, for each batch, the slots before each edge that have too few joules left for it; it is
    empty where power does not matter. `blocks` are spans, in the order of time, in which the machine is taken.
    """
    points, horizon, number = len(slot_of) - 1, edges[-1], len(blocks)
    on, off = np.full(points + 1, -np.inf), np.full(points + 1, -np.inf)  # the best way to be on and free, or off
    # How it came to be on: the step before, times `kinds`, plus the batch, or that it waited or was off.
    way, when = np.full(points + 1, -1), np.zeros(points + 1, dtype=np.int64)
    off_since = np.full(points + 1, -1)  # the step in which the machine was on at last
    kinds, waiting, switching = len(spans) + 2, len(spans), len(spans) + 1
    if switch_on:
        off[0] = 0.0
    else:
        on[0] = 0.0
    tried, tries, tried_in = np.zeros(len(kept), dtype=np.int64), 0, -1
    whole, part = spans // step, spans % step
    most, last, block, looked = -np.inf, -1, 0, 0
    for g in range(points):
        begin = g * step
        free = min(begin + step, horizon)  # after waiting
        while block < number and blocks[block, 1] <= begin:
            block += 1
        following = block
        while following < number and blocks[following, 0] < free:
            free = max(free, blocks[following, 1])
            following += 1
        later, taken = min(free // step, points), following > block
        if off[g] > -np.inf:
            if taken:  # the block pays for switching on
                if off[g] > on[later]:
                    on[later], when[later], way[later] = off[g], free, g * kinds + switching
            else:
                if off[g] - switch_on > on[g]:
                    on[g], when[g], way[g] = off[g] - switch_on, begin, g * kinds + switching
                if off[g] > off[later]:
                    off[later], off_since[later] = off[g], off_since[g]
        if on[g] == -np.inf:
            continue
        if way[g] >= 0 and way[g] % kinds < waiting:
            when[g] = when[way[g] // kinds] + spans[way[g] % kinds]
        time, value, slot = when[g], on[g], slot_of[g]
        while edges[slot + 1] <= time and slot + 2 < len(edges):
            slot += 1
        if slot != tried_in:
            tries, tried_in = 0, slot
            for b in kept:
                if best_in_slot(edges, lines, slot, spans[b], watts[b]) >= -slack[b] - gains[b]:
                    tried[tries] = b
                    tries += 1
        line = lines[slot]
        at_energy, at_busy = line[0] + line[1] * time, line[2] + line[3] * time
        ended = value + line[6] + line[7] * time - lines[-1, 6] - lines[-1, 7] * horizon
        if ended > most:
            most, last = ended, g
        until, following = horizon, block
        while following < number and blocks[following, 0] < time:
            following += 1
        if following < number:
            until = blocks[following, 0]
        looked += tries
        here, within = g * kinds, time - begin
        for place in range(tries):
            b = tried[place]
            end = time + spans[b]
            if end > until:
                continue
            to = g + whole[b] + np.int64(within + part[b] >= step)
            h = slot_of[to]
            while edges[h + 1] < end:
                h += 1
            if len(short) and short[h + 1, b] > short[slot, b]:
                continue
            spent = watts[b] * (lines[h, 0] + lines[h, 1] * end - at_energy) + lines[h, 2] + lines[h, 3] * end - at_busy
            earned = value + gains[b] - spent
            if earned > on[to]:
                on[to], way[to] = earned, here + b
        h = slot_of[later]
        while edges[h + 1] < free:
            h += 1
        waited = lines[h, 4] + lines[h, 5] * free - line[4] - line[5] * time
        if free > time and value - waited > on[later]:
            on[later], when[later], way[later] = value - waited, free, g * kinds + waiting
        if switch_on and not taken and value > off[later]:
            off[later], off_since[later] = value, g
    begins, chosen = traced(way, when, off_since, kinds, points if on[points] > most else last)
    return begins, chosen, looked


@compiled
def traced(way: Integers, when: Integers, off_since: Integers, kinds: int, last: int) -> tuple[Integers, Integers]:
    """Return the batches on the way to a step, and when each begins; see `longest_path`."""
    begins, chosen, g = [], [], last
    while g >= 0 and way[g] >= 0:
        b, g = way[g] % kinds, way[g] // kinds
        if b < kinds - 2:
            begins.append(when[g])
            chosen.append(b)
        elif b == kinds - 1:  # it was off
            g = off_since[g]
    return np.array(begins[::-1], dtype=np.int64), np.array(chosen[::-1], dtype=np.int64)


@compiled
def best_in_slot(edges: Integers, lines: Floats, slot: int, span: int, watts: float) -> float:
    """Return what a batch earns at its best start within a slot, its gain left out: less than 0, as it costs."""
    best, time, horizon = -np.inf, edges[slot], edges[-1]
    h = slot
    while time <= edges[slot + 1] and time + span <= horizon:
        while edges[h + 1] < time + span:
            h += 1
        start, end = lines[slot], lines[h]
        spent = watts * (end[0] + end[1] * (time + span) - start[0] - start[1] * time)
        spent += end[2] + end[3] * (time + span) - start[2] - start[3] * time
        best = max(best, -spent)
        # The next start at which it begins or ends at an edge.
        if time == edges[slot + 1]:
            break
        time = min(max(edges[h + 1] - span, time + 1), edges[slot + 1])
    return best


@compiled
def batch_costs(edges: Integers, lines: Floats, begins: Integers, ticks: Floats, watts: Floats) -> Floats:
    """Return what batches cost, in the order of time, of lines for watts and for being busy."""
    costs, first = np.empty(len(begins)), 0
    for k in range(len(begins)):
        begin, end = begins[k], min(begins[k] + ticks[k], edges[-1])
        while edges[first + 1] <= begin and first + 2 < len(edges):
            first += 1
        last = first
        while edges[last + 1] < end:
            last += 1
        energy = lines[last, 0] + lines[last, 1] * end - lines[first, 0] - lines[first, 1] * begin
        costs[k] = watts[k] * energy + lines[last, 2] + lines[last, 3] * end - lines[first, 2] - lines[first, 3] * begin
    return costs


@compiled
def first_fitting(  # noqa: PLR0913, PLR0917 - compiled
    order: Integers, tasks: Integers, counts: Integers, drawn: Floats, left: Floats, joules: Floats
) -> Mask:
    """Return which batches the tasks and joules suffice for, in this order; what is left is updated."""
    fits = np.zeros(len(order), dtype=np.bool_)
    for k in order:
        if left[tasks[k]] < counts[k] or (drawn[k, : len(joules)] > joules).any():
            continue
        left[tasks[k]] -= counts[k]
        joules -= drawn[k, : len(joules)]
        fits[k] = True
    return fits


class TimelineMaker:
    """Makes timelines of the machines of a bag from some of its pairs; `wages` (M x H) is what a second is worth."""

    def __init__(
        self,
        arrays: HorizonArrays,
        kept: Mask,
        wages: Floats | None = None,
        points: int = POINTS,
        batches: list[Batches] | None = None,
    ) -> None:
        self.arrays, self.grid = arrays, grid_of(arrays, points)
        machines = range(len(arrays.machine_counts))
        self.batches = batches or [batches_of(arrays, self.grid, j, kept) for j in machines]
        ready = np.zeros(len(machines)) if arrays.ready is None else arrays.ready
        self.ready = np.ceil(ready * TICKS).astype(np.int64)
        self.steps = 0  # counted: batches times steps that were looked at
        self.power_matters = arrays.has_limits
        self.edges = np.round(arrays.edges * TICKS).astype(np.int64)
        self.edges[-1] = self.grid.horizon
        begins = np.arange(self.grid.points) * self.grid.step
        self.slot_of = np.searchsorted(self.edges, np.append(begins, self.grid.horizon - 1), side="right") - 1
        switched = (arrays.switch_on > 0)[:, np.newaxis]
        self.rest_rates = arrays.wear[:, np.newaxis] - np.where(switched, 0.0, arrays.idle_costs)
        self.idle_rates = arrays.idle_watts[:, np.newaxis] * arrays.joule_costs
        wages = np.zeros(arrays.joule_costs.shape) if wages is None else wages
        waits = np.where(switched, self.idle_rates, wages)
        busy, ended = self.rest_rates + np.where(switched, 0.0, wages), np.where(switched, 0.0, wages)
        self.lines = [self._lines(np.stack((arrays.joule_costs[j], self.rest_rates[j]))) for j in machines]
        self.usual = np.abs(arrays.joule_costs).mean(axis=1) / TICKS
        self.rates = [np.stack([arrays.joule_costs[j], busy[j], waits[j], ended[j]]) for j in machines]

    def empty(self, j: int) -> Timeline:
        """Return the timeline of a machine that runs nothing."""
        return self.timeline(j, NONE, NONE)

    def timeline(self, j: int, begins: Integers, batches: Integers) -> Timeline:
        """Return the timeline of some batches in the order of time."""
        own, arrays = self.batches[j], self.arrays
        tasks = np.bincount(own.tasks[batches], own.counts[batches], len(arrays.task_counts)).astype(float)
        cost = float(self.costs(j, begins, batches).sum()) + self._switching(j, begins, batches)
        return Timeline(j, begins, batches, tasks, cost, self.joules(j, begins, batches).sum(axis=0))

    def costs(self, j: int, begins: Integers, batches: Integers) -> Floats:
        """Return what each batch costs above what a machine costs that runs nothing."""
        own = self.batches[j]
        spent = batch_costs(self.edges, self.lines[j], begins, own.seconds[batches] * TICKS, own.watts[batches])
        return np.asarray(spent + own.moving[batches])

    def runs(self, timeline: Timeline) -> list[tuple[int, int, int, int]]:
        """Return begin, task type, mode and number of the tasks that a machine runs without a pause.

        Batches of the same pair become one where power is not limited: their tasks then begin up to a tick earlier.
        """
        own, end = self.batches[timeline.j], -1
        found: list[tuple[int, int, int, int]] = []
        for begin, b in zip(timeline.begins.tolist(), timeline.batches.tolist(), strict=True):
            run = begin, int(own.tasks[b]), int(own.modes[b]), int(own.counts[b])
            if begin == end and found[-1][1:3] == run[1:3] and not self.power_matters:
                first, *_, before = found.pop()
                run = first, run[1], run[2], before + run[3]
            found.append(run)
            end = begin + int(own.ticks[b])
        return found

    def without(self, timeline: Timeline, start: float, end: float) -> Timeline:
        """Return a timeline without what begins between two shares of the horizon."""
        at = timeline.begins / self.grid.horizon
        kept = (at < start) | (at >= end)
        return self.timeline(timeline.j, timeline.begins[kept], timeline.batches[kept])

    def joules(self, j: int, begins: Integers, batches: Integers) -> Floats:
        """Return the energy of each batch in each slot, if power matters."""
        if not self.power_matters:
            return np.zeros((len(begins), 0))
        own, starts = self.batches[j], begins / TICKS
        clipped = np.clip(self.arrays.edges, starts[:, np.newaxis], (starts + own.seconds[batches])[:, np.newaxis])
        return np.asarray(np.diff(clipped, axis=1) * own.above[batches][:, np.newaxis])

    def gaps(self, j: int, begins: Integers, batches: Integers) -> tuple[Floats, Mask]:
        """Return what idling from each batch to the next would cost, and whether it is cheaper than switching on."""
        ends = begins[:-1] / TICKS + self.batches[j].seconds[batches[:-1]]
        integral = Integral(self.arrays.edges, self.idle_rates[j])
        idle = integral.at(begins[1:] / TICKS) - integral.at(ends)
        if self.power_matters:  # idling would draw power that the caps may not leave
            return idle, np.zeros(len(idle), dtype=bool)
        return idle, idle <= self.arrays.switch_on[j]

    def _switching(self, j: int, begins: Integers, batches: Integers) -> float:
        cost = float(self.arrays.switch_on[j])
        if not cost or not len(begins):
            return 0.0
        idle, stays = self.gaps(j, begins, batches)
        return cost + float(np.where(stays, idle, cost).sum())

    def best(  # noqa: PLR0913 - options are keyword-only
        self,
        j: int,
        values: Floats,
        *,
        limit: Floats | None = None,
        given: Timeline | None = None,
        power: Floats | None = None,
        headroom: Floats | None = None,
    ) -> Timeline:
        """Return the best timeline at these task values, or a given one with the best batches added.

        `limit` is how many tasks of each type there are, `power` (H) the price of a joule above its cost, `headroom`
        (H) the joules that are left in each slot.
        """
        own = self.batches[j]
        left, joules = None if limit is None else limit.copy(), headroom
        lines = self._lines(self._rates(j, power))
        gains = values[own.tasks] * own.counts - own.moving
        begins, which = (NONE, NONE) if given is None else (given.begins, given.batches)
        for _ in range(1 if limit is None and headroom is None else ROUNDS):
            kept = np.flatnonzero(own.spans == own.ticks if left is None else own.counts <= left[own.tasks])
            if not len(kept):
                break
            slack = SLACK * (np.abs(gains) + own.spans * (own.watts * self.usual[j]))
            short = NOT_SHORT if joules is None else self._short(j, joules)
            blocks = np.stack((begins, begins + own.ticks[which]), axis=1)
            if self.ready[j]:
                blocks = np.concatenate(([[0, self.ready[j]]], blocks))
            found, fresh, looked = longest_path(
                self.grid.step,
                self.edges,
                self.slot_of,
                lines,
                kept,
                own.spans,
                own.watts,
                gains,
                slack,
                short,
                blocks,
                float(self.arrays.switch_on[j]),
            )
            self.steps += looked + CALL
            fits = np.ones(len(found), dtype=bool)
            if left is not None or joules is not None:
                fits, left, joules = self._within(j, found, fresh, values, left, joules)
            begins, which = np.concatenate((begins, found[fits])), np.concatenate((which, fresh[fits]))
            order = np.argsort(begins, kind="stable")
            begins, which = begins[order], which[order]
            if fits.all():
                break
        return self.timeline(j, begins, which)

    def fitted(
        self,
        timeline: Timeline,
        values: Floats,
        *,
        limit: Floats,
        power: Floats | None = None,
        headroom: Floats | None = None,
    ) -> Timeline:
        """Return as much of a timeline as the limits allow, with the best batches of what is left in its gaps."""
        j, begins, batches = timeline.j, timeline.begins, timeline.batches
        fits, left, joules = self._within(j, begins, batches, values, limit, headroom)
        part = self.timeline(j, begins[fits], batches[fits])
        return self.best(j, values, limit=left, given=part, power=power, headroom=joules)

    def _rates(self, j: int, power: Floats | None) -> Floats:
        """Return what a second costs in each slot, as `longest_path` takes it, with a price of power."""
        if power is None:
            return self.rates[j]
        floor = 0.0 if self.arrays.may_be_off[j] else self.arrays.idle_watts[j]
        return np.asarray(self.rates[j] + np.stack([power, -floor * power, 0.0 * power, 0.0 * power]))

    def _lines(self, rates: Floats) -> Floats:
        """Return the integrals of rates over time, for each slot and rate: the value at 0 and the slope."""
        slopes = rates / TICKS
        sums = np.cumsum(slopes * np.diff(self.edges), axis=1)
        lines = np.stack((sums - slopes * self.edges[1:], slopes), axis=1)
        return np.ascontiguousarray(lines.reshape(-1, slopes.shape[1]).T)

    def _short(self, j: int, joules: Floats) -> Integers:
        """Return how many slots before each edge have fewer joules left than a batch may need."""
        own, lengths = self.batches[j], self.arrays.lengths[:, np.newaxis]
        short = np.zeros((len(self.edges), len(own.tasks)), dtype=np.int64)
        short[1:] = np.cumsum(own.above * np.minimum(own.seconds, lengths) > joules[:, np.newaxis], axis=0)
        return short

    def _within(  # noqa: PLR0913, PLR0917 - all that limits a timeline
        self, j: int, begins: Integers, which: Integers, values: Floats, left: Floats | None, joules: Floats | None
    ) -> tuple[Mask, Floats | None, Floats | None]:
        """Return which batches the limits allow, those that earn most first, and what is left of the limits."""
        own = self.batches[j]
        left = np.full(len(values), np.inf) if left is None else left.copy()
        drawn = self.joules(j, begins, which)
        rest = None if joules is None else joules.copy()
        earned = values[own.tasks[which]] - self.costs(j, begins, which) / own.counts[which]
        order = np.argsort(-earned, kind="stable")
        fits = first_fitting(
            order, own.tasks[which], own.counts[which], drawn, left, np.zeros(0) if rest is None else rest
        )
        return fits, left, rest
