"""Timelines of single machines: what one machine runs over a horizon, and when, by dynamic programming over a grid.

A **batch** is a number of tasks of one type in one mode, one after the other, that nearly fills a whole number of grid
steps: it is never planned shorter than it is. At a grid point it costs what its runs cost, less what the machine would
cost if it ran nothing. At given task values the best timeline of a machine is a longest path over the grid. Where
switching on costs something, the path has two states, on and off, and the machine is off unless it runs or idles.
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

POINTS: Final = 6000 if is_there() else 500  # of the grid, about; without Numba a step takes a hundred times as long
WASTE: Final = 0.004  # of its steps that a batch may leave unused to be good enough
LONGEST: Final = 7200.0  # seconds of a batch of several tasks
DYADIC: Final = 1024  # steps are multiples of a second divided by this: times on the grid are exact
ROUNDS: Final = 6  # of filling a timeline with limited tasks
CALL: Final = 300_000  # steps that a call takes beside its batches, roughly
NO_BATCHES: Final = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Grid:
    """Equal steps over the horizon, whose multiples are exact doubles."""

    step: float
    points: int  # steps

    @property
    def times(self) -> Floats:
        """When each step begins."""
        return np.arange(self.points, dtype=float) * self.step


def grid_of(arrays: HorizonArrays, points: int = POINTS) -> Grid:
    """Return steps of which the slots are multiples, where they can be."""
    horizon, shortest = float(arrays.edges[-1]), float(arrays.lengths.min())
    wanted = horizon / points
    if shortest >= wanted and shortest.is_integer():
        parts = [part for part in range(1, int(4 * shortest / wanted) + 2) if (shortest * DYADIC) % part == 0]
        step = shortest / min(parts, key=lambda part: abs(np.log(shortest / part / wanted)))
    else:
        step = max(1, int(wanted * DYADIC)) / DYADIC
    return Grid(step, int(Fraction(horizon) / Fraction(step)))


@dataclass(frozen=True, slots=True)
class Batches:
    """What machines of one type may run: A batches, G grid steps."""

    tasks: Integers  # A: the task type
    modes: Integers  # A
    counts: Integers  # A
    spans: Integers  # A: grid steps
    seconds: Floats  # A
    watts: Floats  # A: above those of a machine that must stay on
    costs: Floats  # G x A: above those of a machine that runs nothing


def batches_of(arrays: HorizonArrays, grid: Grid, j: int, kept: Mask) -> Batches:
    """Return the batches of one machine type, of the pairs that are kept."""
    found = [
        (i, mode, count, span)
        for i, mode in np.argwhere(kept & arrays.can_run & (arrays.machine_of == j)).tolist()
        for count, span in _sizes(float(arrays.seconds[i, mode]), grid)
    ]
    tasks, modes, counts, spans = np.array(found, dtype=np.int64).reshape(-1, 4).T
    costs, idle = np.full((grid.points, len(found)), np.inf), np.zeros(len(arrays.lengths))
    if not arrays.switch_on[j]:
        idle = arrays.idle_costs[j]
    energy, rest = Integral(arrays.edges, arrays.joule_costs[j]), Integral(arrays.edges, arrays.wear[j] - idle)
    at_energy, at_rest, horizon = energy.at(grid.times), rest.at(grid.times), float(arrays.edges[-1])
    waste = arrays.idle_watts[j] if arrays.switch_on[j] else 0.0
    for number, (i, mode, count, span) in enumerate(found):
        size = grid.points - span + 1
        starts = grid.times[:size]
        ends = np.minimum(starts + count * arrays.seconds[i, mode], horizon)
        spent = energy.at(ends) - at_energy[:size]
        costs[:size, number] = arrays.watts[i, mode] * spent + rest.at(ends) - at_rest[:size]
        costs[:size, number] += count * arrays.moving[i, j]
        if waste:  # the rest of the steps is idle
            costs[:size, number] += waste * (
                energy.at(np.minimum(starts + span * grid.step, horizon)) - energy.at(ends)
            )
    floor = 0.0 if arrays.may_be_off[j] else arrays.idle_watts[j]
    seconds = counts * arrays.seconds[tasks, modes]
    return Batches(tasks, modes, counts, spans, seconds, arrays.watts[tasks, modes] - floor, costs)


def _sizes(seconds: float, grid: Grid) -> list[tuple[int, int]]:
    """Return numbers of tasks and the steps that they take: one task, and more while that wastes less."""
    exact, step = Fraction(seconds), Fraction(grid.step)
    found: list[tuple[int, int]] = []
    least, count = np.inf, 1
    while True:
        span = -int(-(count * exact) // step)
        waste = 1.0 - float(count * exact / (span * step))
        if span <= grid.points and (count == 1 or waste < least - WASTE / 4):
            found.append((count, span))
            least = waste
        if least <= WASTE or (count + 1) * seconds > LONGEST or span >= grid.points:
            return found
        count = max(count + 1, int((span + 1) * step / exact))


@compiled
def longest_path(  # noqa: PLR0913, PLR0917 - compiled
    costs: Floats, spans: Integers, gains: Floats, kept: Integers, room: Integers, idle: Floats, switch_on: float
) -> tuple[Integers, Integers]:
    """Return the batches of the timeline that earns most, of those kept: where each begins, and which it is.

    `room` has the free steps from each point on, within which a batch must fit; `idle` what each step costs in which a
    machine is on and idle, if switching it on costs something.
    """
    points = len(costs)
    on, off = np.zeros(points + 1), np.zeros(points + 1)
    choice, starts = np.full(points, -1), np.zeros(points, dtype=np.bool_)
    for g in range(points - 1, -1, -1):
        most, which = on[g + 1] - idle[g] if switch_on else on[g + 1], -1
        for place in range(len(kept) if room[g] > 0 else 0):
            b = kept[place]
            if spans[b] <= room[g]:
                earned = gains[b] - costs[g, b] + on[g + spans[b]]
                if earned > most:
                    most, which = earned, b
        choice[g] = which
        on[g] = most
        if switch_on:
            off[g] = max(off[g + 1], most - switch_on)
            starts[g] = most - switch_on > off[g + 1]
            if off[g + 1] >= most:
                on[g], choice[g] = off[g + 1], -2
    begins, chosen = [], []
    g, is_on = 0, not switch_on
    while g < points:
        if not is_on and not starts[g]:
            g += 1
            continue
        is_on = True
        if choice[g] >= 0:
            begins.append(g)
            chosen.append(choice[g])
            g += spans[choice[g]]
            continue
        is_on = choice[g] != -2  # noqa: PLR2004 - switched off
        g += 1
    return np.array(begins, dtype=np.int64), np.array(chosen, dtype=np.int64)


@compiled
def limited_costs(  # noqa: PLR0913, PLR0917 - compiled
    costs: Floats,
    watts: Floats,
    ends: Integers,
    within: Floats,
    sums: Floats,
    power: Floats,
    spent: Floats,
    short: Integers,
    begins: Integers,
) -> Floats:
    """Return costs with a price of power, G x A, infinite where a batch meets a slot that is short of joules for it.

    `sums` is the integral of the price `power` up to each slot, `spent` up to each grid point; `ends` and `within` say
    where a batch ends, `begins` in which slot a grid point lies; `short` counts the slots that are short up to each.
    """
    points, batches = costs.shape
    found = np.empty((points, batches))
    for g in range(points):
        for b in range(batches):
            slot = ends[g, b]
            if short[slot + 1, b] > short[begins[g], b]:
                found[g, b] = np.inf
            else:
                found[g, b] = costs[g, b] + watts[b] * (sums[slot] + power[slot] * within[g, b] - spent[g])
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Timeline:
    """What one machine of type j runs: batches by their numbers, and the grid points at which they begin."""

    j: int
    begins: Integers
    batches: Integers
    tasks: Floats  # T: how many of each type
    cost: float  # above that of a machine that runs nothing
    joules: Floats  # H: above those of a machine that must stay on; empty where power does not matter


class TimelineMaker:
    """Makes timelines of the machines of a bag from some of its pairs."""

    def __init__(
        self, arrays: HorizonArrays, kept: Mask, points: int = POINTS, batches: list[Batches] | None = None
    ) -> None:
        self.arrays, self.grid, machines = arrays, grid_of(arrays, points), len(arrays.machine_counts)
        self.batches = batches or [batches_of(arrays, self.grid, j, kept) for j in range(machines)]
        ready = np.zeros(machines) if arrays.ready is None else arrays.ready
        begun = np.arange(self.grid.points) >= np.ceil(ready / self.grid.step)[:, np.newaxis]
        self.free = np.where(begun, self.grid.points - np.arange(self.grid.points), 0)  # M x G
        self.ends: dict[int, tuple[Integers, Floats]] = {}
        self.steps = 0  # counted: batches times grid points that were looked at
        self.power_matters = arrays.has_limits
        self.slot = np.searchsorted(arrays.edges, self.grid.times, side="right") - 1
        times = np.append(self.grid.times, self.grid.points * self.grid.step)
        self.idle = [
            np.diff(Integral(arrays.edges, b * row).at(np.minimum(times, arrays.edges[-1])))
            for b, row in zip(arrays.idle_watts, arrays.joule_costs, strict=True)
        ]

    def empty(self, j: int) -> Timeline:
        """Return the timeline of a machine that runs nothing."""
        return self.timeline(j, NO_BATCHES, NO_BATCHES)

    def timeline(self, j: int, begins: Integers, batches: Integers) -> Timeline:
        """Return the timeline of some batches in the order of time."""
        own, arrays = self.batches[j], self.arrays
        tasks = np.bincount(own.tasks[batches], own.counts[batches], len(arrays.task_counts)).astype(float)
        cost = float(own.costs[begins, batches].sum()) + self._switching(j, begins, batches)
        return Timeline(j, begins, batches, tasks, cost, self.joules(j, begins, batches).sum(axis=0))

    def without(self, timeline: Timeline, start: float, end: float) -> Timeline:
        """Return a timeline without what begins between two shares of the horizon."""
        at = timeline.begins / self.grid.points
        kept = (at < start) | (at >= end)
        return self.timeline(timeline.j, timeline.begins[kept], timeline.batches[kept])

    def joules(self, j: int, begins: Integers, batches: Integers) -> Floats:
        """Return the energy of each batch in each slot, if power matters."""
        if not self.power_matters:
            return np.zeros((len(begins), 0))
        own, starts = self.batches[j], begins * self.grid.step
        clipped = np.clip(self.arrays.edges, starts[:, np.newaxis], (starts + own.seconds[batches])[:, np.newaxis])
        return np.asarray(np.diff(clipped, axis=1) * own.watts[batches][:, np.newaxis])

    def gaps(self, j: int, begins: Integers, batches: Integers) -> tuple[Floats, Mask]:
        """Return what idling from each batch to the next would cost, and whether it is cheaper than switching on."""
        ends = begins[:-1] + self.batches[j].spans[batches[:-1]]
        sums = np.concatenate(([0.0], np.cumsum(self.idle[j])))
        idle = sums[begins[1:]] - sums[ends]
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
        parts = [(NO_BATCHES, NO_BATCHES)] if given is None else [(given.begins, given.batches)]
        for _ in range(1 if limit is None and headroom is None else ROUNDS):
            usable = np.ones(len(own.tasks), dtype=bool) if left is None else own.counts <= left[own.tasks]
            kept = np.flatnonzero(usable)
            if not len(kept):
                break
            room = self._room(j, parts)
            costs = own.costs if power is None and joules is None else self._limited_costs(j, power, joules)
            gains = values[own.tasks] * own.counts
            self.steps += len(kept) * self.grid.points + CALL
            begins, which = longest_path(costs, own.spans, gains, kept, room, self.idle[j], self.arrays.switch_on[j])
            fits = np.ones(len(begins), dtype=bool)
            if left is not None or joules is not None:
                fits, left, joules = self._within(j, begins, which, values, left, joules)
            parts.append((begins[fits], which[fits]))
            if fits.all():
                break
        begins, which = (np.concatenate(each) for each in zip(*parts, strict=True))
        order = np.argsort(begins, kind="stable")
        return self.timeline(j, begins[order], which[order])

    def _within(  # noqa: PLR0913, PLR0917 - all that limits a timeline
        self, j: int, begins: Integers, which: Integers, values: Floats, left: Floats | None, joules: Floats | None
    ) -> tuple[Mask, Floats | None, Floats | None]:
        """Return which batches the limits allow, those that earn most first, and what is left of the limits."""
        own = self.batches[j]
        left = np.full(len(values), np.inf) if left is None else left.copy()
        drawn = self.joules(j, begins, which)
        rest = None if joules is None else joules.copy()
        earned = values[own.tasks[which]] - own.costs[begins, which] / own.counts[which]
        fits = np.zeros(len(begins), dtype=bool)
        for place in np.argsort(-earned, kind="stable").tolist():
            i, count = own.tasks[which[place]], own.counts[which[place]]
            if left[i] < count or (rest is not None and (drawn[place] > rest).any()):
                continue
            left[i] -= count
            if rest is not None:
                rest -= drawn[place]
            fits[place] = True
        return fits, left, rest

    def _room(self, j: int, parts: list[tuple[Integers, Integers]]) -> Integers:
        """Return how many free steps there are from each point on."""
        if not any(len(begins) for begins, _ in parts):
            return np.asarray(self.free[j])
        points = self.grid.points
        following = np.full(points + 1, points)
        for begins, which in parts:
            for begin, span in zip(begins.tolist(), self.batches[j].spans[which].tolist(), strict=True):
                following[begin : begin + span] = np.arange(begin, begin + span)
        free = np.minimum.accumulate(following[::-1])[::-1][:points] - np.arange(points)
        return np.asarray(np.minimum(free, self.free[j]))

    def _limited_costs(self, j: int, power: Floats | None, joules: Floats | None) -> Floats:
        """Return the costs of batches at a price of power, infinite where a slot has not enough joules left."""
        own, arrays = self.batches[j], self.arrays
        slot, within = self._ends(j)
        power = np.zeros(len(arrays.lengths)) if power is None else np.ascontiguousarray(power)
        integral = Integral(arrays.edges, power)
        short = np.zeros((len(arrays.lengths) + 1, len(own.tasks)), dtype=np.int64)
        if joules is not None:
            needed = own.watts * np.minimum(own.seconds, arrays.lengths[:, np.newaxis])
            short[1:] = np.cumsum(needed > joules[:, np.newaxis], axis=0)
        spent = integral.at(self.grid.times)
        return limited_costs(own.costs, own.watts, slot, within, integral.sums, power, spent, short, self.slot)

    def _ends(self, j: int) -> tuple[Integers, Floats]:
        """Return, G x A, the slot in which each batch ends, and how many seconds after its beginning."""
        key = id(self.batches[j])  # machine types may share their batches
        if key not in self.ends:
            edges = self.arrays.edges
            ends = np.minimum(self.grid.times[:, np.newaxis] + self.batches[j].seconds, edges[-1])
            slot = np.searchsorted(edges, ends, side="left") - 1
            self.ends[key] = slot, ends - edges[slot]
        return self.ends[key]
