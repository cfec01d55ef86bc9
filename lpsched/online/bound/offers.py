"""The choices of each task, and prices: arrays, and tuples of them for the compiled loops."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from lpsched.online.arrays import ClusterArrays, DayArrays, cluster_arrays, day_arrays
from lpsched.online.clusters import Clusters
from lpsched.online.parts import COMPLETED
from lpsched.online.utility import UtilityArrays, WaitingCost, decayed_arrays, intervals_at, utilities

if TYPE_CHECKING:
    from lpsched.model.table import Floats, Integers, Mask
    from lpsched.online.day import Day


# Tasks of a day or of clusters, or expected ones, as plain arrays. A price policy plans with expected tasks, thinned:
# one of them may weigh as much as ten. A day's own tasks weigh 1 each, and take one machine each.
@dataclass(frozen=True, slots=True)
class Offers(UtilityArrays):
    """N offers, T task types, C columns of M machine types."""

    arrivals: Floats  # N, seconds
    task_type: Integers  # N
    function: Integers  # N
    weights: Floats  # N: how many tasks each stands for
    machine_counts: Integers  # M
    mode_type: Integers  # C: the machine type of each column
    can_run: Mask  # T x C
    seconds: Floats  # T x C
    joules: Floats  # T x C
    width: Floats  # T x C: how many machines a task takes there
    begins_at: float  # of the period that counts
    ends_at: float  # infinite if it never ends
    completed: bool  # only tasks that end in the period count, and wholly; else runs are prorated
    energy_joules: float | None  # that may be taken in the period, rounding granted
    waits: bool = False  # tasks must run and cost what they wait: intervals start at minus a cost, rates raise it

    @property
    def count(self) -> int:
        """How many offers there are."""
        return len(self.arrivals)

    @property
    def fastest_seconds(self) -> Floats:
        """The seconds of each offer where it runs fastest; 0 where it cannot run."""
        fastest = np.where(self.can_run, self.seconds, np.inf).min(axis=1)
        return np.where(np.isfinite(fastest), fastest, 0.0)[self.task_type]

    @property
    def least_machine_seconds(self) -> Floats:
        """The machine time of each offer where it takes least; 0 where it cannot run."""
        least = np.where(self.can_run, self.width * self.seconds, np.inf).min(axis=1)
        return np.where(np.isfinite(least), least, 0.0)[self.task_type]

    @property
    def smallest_columns(self) -> Integers:
        """The column of each offer where it takes least machine time."""
        least: Integers = np.where(self.can_run, self.width * self.seconds, np.inf).argmin(axis=1)[self.task_type]
        return least

    def worths(self, seconds: Floats) -> Floats:
        """Return what each is worth so long after its arrival: at its end, or at its start if that costs."""
        if not self.waits:
            return utilities(self, self.function, seconds)
        now = intervals_at(self, self.function, seconds)
        costs: Floats = self.starts_at[now] - self.rate_per_second[now] * (seconds - self.after_seconds[now])
        return costs

    @property
    def stakes(self) -> Floats:
        """What is at stake for each: its utility at first; or what it costs to wait as long as it runs."""
        at_once = self.worths(np.zeros(self.count))
        return at_once - self.worths(self.fastest_seconds) if self.waits else at_once

    def risen(self) -> Offers:
        """Return them with the cost of waiting beyond not waiting at all: the rest no price can change."""
        first, sizes = self.first_interval[:-1], np.diff(self.first_interval)
        return replace(self, starts_at=self.starts_at - np.repeat(self.starts_at[first], sizes))

    def thinned(self, number: int) -> Offers:
        """Return about `number` of them, evenly, heavier by as much."""
        step = max(1, self.count // number)
        return replace(
            self,
            arrivals=self.arrivals[::step],
            task_type=self.task_type[::step],
            function=self.function[::step],
            weights=self.weights[::step] * (self.weights.sum() / self.weights[::step].sum()),
        )


# Of clusters a type is here a *kind*: a task type with cores, work and request. A task takes q nodes of one cluster for
# as long as it really runs: the bound also holds against schedulers that know that. Where waiting has a cost
# (`online/utility.py`), a kind has a function of straight segments of its own: intervals start at minus a cost, and the
# rate is the cost per second.
def offers_of(instance: Day | Clusters) -> Offers:
    """Return the tasks of a day or of clusters."""
    arrays: DayArrays | ClusterArrays
    if isinstance(instance, Clusters):
        arrays = nodes = cluster_arrays(instance)
        types, counts, columns = nodes.kind, nodes.node_counts, nodes.column_cluster
        joules, width = nodes.joules, nodes.nodes.astype(float)
    else:
        arrays = machines = day_arrays(instance)
        types, counts, columns = machines.task_type, machines.machine_counts, machines.mode_type
        joules, width = machines.seconds * machines.watts, np.ones(machines.seconds.shape)
    period = instance.period
    offers = Offers(
        arrivals=arrays.arrivals,
        task_type=types,
        function=arrays.function,
        weights=np.ones(len(arrays.arrivals)),
        machine_counts=counts,
        mode_type=columns,
        can_run=arrays.can_run,
        seconds=arrays.seconds,
        joules=joules,
        width=width,
        **arrays.curves._asdict(),
        begins_at=period.begins_at,
        ends_at=period.ends_at,
        completed=period.edge == COMPLETED,
        energy_joules=None if math.isinf(period.most_joules) else period.most_joules,
    )
    if not isinstance(instance, Clusters) or instance.waiting is None:
        return offers
    return _waiting(offers, nodes, instance.waiting)


def _waiting(offers: Offers, arrays: ClusterArrays, waiting: WaitingCost) -> Offers:
    """Return the offers with minus the cost of waiting in place of utility."""
    fastest = np.where(arrays.can_run, arrays.seconds, np.inf).min(axis=1)
    runs = zip(fastest.tolist(), arrays.cores.tolist(), strict=True)
    costs = [waiting.segments(seconds, cores=cores) for seconds, cores in runs]
    after, cost, per_second = np.array([segment for each in costs for segment in each]).T
    return replace(
        offers,
        function=arrays.kind,
        first_interval=np.cumsum([0, *(len(each) for each in costs)], dtype=np.int64),
        after_seconds=after,
        starts_at=-cost,
        falls_to=np.zeros(len(cost)),
        rate_per_second=per_second,
        waits=True,
    )


@dataclass(frozen=True, slots=True)
class ArrivalPrices:
    """Prices of a day: what a second on each machine type costs in each slot of time, and what a joule costs.

    Any prices that are not negative prove a bound (`online/bound/prices.py`), and show a policy which tasks
    are worth their time and energy. Outside the slots machine time is free.
    """

    edges: Floats  # S + 1 rising times in seconds; slot s is from edges[s] to edges[s + 1]
    per_second: Floats  # M x S, utility for a second of one machine of type j in slot s
    per_joule: float  # utility


MARGIN: Final = 2.0**-40  # these three: see `choices.py`
LATE: Final = 2.0**-49
SUMS: Final = 2.0**-50
NO_COLUMN: Final = -1
FEW: Final = 3  # tasks of a type for which a list of corners is not worth its time
FIELDS: Final = 4  # of a listed choice: share U, share J, start, end


class Tables(NamedTuple):
    """What does not change with the prices; the arrays and numbers of `Offers` and two more."""

    arrivals: Floats
    function: Integers
    can_run: Mask  # T x C
    seconds: Floats  # T x C
    joules: Floats  # T x C
    width: Floats  # T x C
    mode_type: Integers  # C
    first_interval: Integers
    after_seconds: Floats
    starts_at: Floats
    falls_to: Floats
    rate_per_second: Floats
    begins_at: float
    ends_at: float
    completed: bool
    waits: bool
    is_often: Mask  # T: whether there are enough tasks to list breakpoints
    last: Floats  # what an interval has fallen to when the next begins, its margin included


class Grid(NamedTuple):
    """Slots and prices."""

    edges: Floats  # S + 1
    prices: Floats  # M x S, per second
    sums: Floats  # M x (S + 1): W at the edges
    lowest: Floats  # M x S: the least price from a slot on
    hair: Floats  # M: how far off the cost of a run may be, at most
    per_joule: float


class Corners(NamedTuple):
    """Where the cost of a run has corners, for each column: room for two in a slot, and the last start."""

    number: Integers  # C: how many there are
    starts: Floats  # C x (2 S + 3)
    costs: Floats
    least: Floats  # from there on
    cheaper: Integers  # the next one that costs less
    cheapest: Floats  # C: what a whole run costs at least


class ChoiceTable(NamedTuple):
    """The best choice of each offer; or, if choices are listed, all those above its floor."""

    is_list: bool
    floor: Floats  # N
    best: Floats  # N: its value, or 0 if none is worth anything; of tasks that must run, less than 0
    column: Integers  # N
    start: Floats  # N
    number: Integers  # one: how many choices are above the floors; may be more than there is room for
    offer: Integers  # room for the list
    listed: Integers  # likewise: the column of each
    near: Floats  # room x FIELDS


def tables_of(offers: Offers) -> Tables:
    """Return offers as the loops take them."""
    lengths = np.maximum(np.diff(offers.after_seconds, append=0.0), 0.0)  # that of a last interval is not used
    if offers.waits:
        rises = offers.rate_per_second * lengths
        last = offers.starts_at - rises + MARGIN * (np.abs(offers.starts_at) + rises)
    else:
        last = decayed_arrays(offers.starts_at, offers.falls_to, offers.rate_per_second, lengths)
        last = last + MARGIN * offers.starts_at
    same: dict[str, Any] = {name: getattr(offers, name) for name in Tables._fields[:-2]}
    copies = {name: np.array(each) for name, each in same.items() if isinstance(each, np.ndarray)}
    times = {name: float(same[name]) for name in ("begins_at", "ends_at")}
    is_often = np.bincount(offers.task_type, minlength=len(offers.seconds)) > FEW
    return Tables(**same | copies | times, is_often=is_often, last=np.array(last))  # copies: compiled once for all


def grid_of(edges: Floats, prices: ArrivalPrices) -> Grid:
    """Return prices as the loops take them."""
    per_second = np.ascontiguousarray(prices.per_second, dtype=float)
    sums = np.zeros((len(per_second), len(edges)))
    np.cumsum(per_second * np.diff(edges), axis=1, out=sums[:, 1:])
    farthest, highest = np.abs(edges).max(), per_second.max(axis=1, initial=0.0)
    hair = (len(edges) + 8) * SUMS * sums[:, -1] + 48.0 * LATE * farthest * highest
    lowest = np.minimum.accumulate(per_second[:, ::-1], axis=1)[:, ::-1]
    return Grid(edges, per_second, sums, np.ascontiguousarray(lowest), hair, float(prices.per_joule))


def room_for_corners(columns: int, edges: int) -> Corners:
    """Return room for two corners at every edge, and the last start."""
    starts, costs, least = np.zeros((3, columns, 2 * edges + 1))
    number, cheaper = np.zeros(columns, dtype=np.int64), np.zeros(starts.shape, dtype=np.int64)
    return Corners(number, starts, costs, least, cheaper, np.zeros(columns))


def room_for_choices(offers: int, floor: Floats | None, room: int, *, must_run: bool) -> ChoiceTable:
    """Return room for the best choice of each offer, or for a list of all above the floor."""
    nothing = np.full(offers, -np.inf if must_run else 0.0)
    best = nothing, np.full(offers, NO_COLUMN, dtype=np.int64), np.full(offers, np.nan)
    listed = np.zeros(room, dtype=np.int64), np.zeros(room, dtype=np.int64), np.zeros((room, FIELDS))
    floors = nothing.copy() if floor is None else floor
    return ChoiceTable(floor is not None, floors, *best, np.zeros(1, dtype=np.int64), *listed)
