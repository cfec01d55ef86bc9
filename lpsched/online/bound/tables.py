"""What the loops of `choices.py` work on: tuples of arrays, because that is what they take apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from lpsched.online.utility import decayed_arrays

if TYPE_CHECKING:
    from lpsched.model.arrays import Floats, Integers, Mask
    from lpsched.online.bound.offers import Offers


MARGIN: Final = 2.0**-40  # these three: see `choices.py`
LATE: Final = 2.0**-49
SUMS: Final = 2.0**-50
NO_COLUMN: Final = -1
FEW: Final = 3  # tasks of a type for which a list of corners is not worth its time
FIELDS: Final = 4  # of a listed choice: share U, share J, start, end


class Tables(NamedTuple):
    """What does not change with the prices; see `Offers`."""

    arrivals: Floats
    function: Integers
    can_run: Mask  # T x C
    seconds: Floats  # T x C
    joules: Floats  # T x C
    width: Floats  # T x C: how many machines a task takes
    column_type: Integers  # C
    is_often: Mask  # T: whether there are so many tasks that corners are listed
    first_interval: Integers
    after: Floats
    high: Floats  # where an interval starts
    low: Floats  # what it falls towards; nothing if tasks cost what they wait
    rate: Floats  # of decay; or what a second costs
    last: Floats  # what it has fallen to when the next begins, its margin included
    begin: float
    end: float
    completed: bool
    waits: bool  # tasks cost what they wait, and must run


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


class Found(NamedTuple):
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
    return Tables(
        arrivals=_floats(offers.arrivals),
        function=_integers(offers.function),
        can_run=np.ascontiguousarray(offers.can_run),
        seconds=_floats(offers.seconds),
        joules=_floats(offers.joules),
        width=_floats(offers.width),
        column_type=_integers(offers.mode_type),
        is_often=np.bincount(offers.task_type, minlength=len(offers.seconds)) > FEW,
        first_interval=_integers(offers.first_interval),
        after=_floats(offers.after_seconds),
        high=_floats(offers.starts_at),
        low=_floats(offers.falls_to),
        rate=_floats(offers.rate_per_second),
        last=_floats(last),
        begin=float(offers.begins_at),
        end=float(offers.ends_at),
        completed=bool(offers.completed),
        waits=bool(offers.waits),
    )


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
    shape = (columns, 2 * edges + 1)
    return Corners(
        np.zeros(columns, dtype=np.int64),
        np.zeros(shape),
        np.zeros(shape),
        np.zeros(shape),
        np.zeros(shape, dtype=np.int64),
        np.zeros(columns),
    )


def room_for_choices(offers: int, floor: Floats | None, room: int, *, must_run: bool) -> Found:
    """Return room for the best choice of each offer, or for a list of all above the floor."""
    nothing = np.full(offers, -np.inf if must_run else 0.0)
    return Found(
        floor is not None,
        nothing.copy() if floor is None else floor,
        nothing,
        np.full(offers, NO_COLUMN, dtype=np.int64),
        np.full(offers, np.nan),
        np.zeros(1, dtype=np.int64),
        np.zeros(room, dtype=np.int64),
        np.zeros(room, dtype=np.int64),
        np.zeros((room, FIELDS)),
    )


def _floats(array: Floats) -> Floats:
    return np.array(array, dtype=float)  # a copy that may be written to: compiled once for all


def _integers(array: Integers) -> Integers:
    return np.array(array, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class ArrivalPrices:
    """Prices of a day: what a second on each machine type costs in each slot of time, and what a joule costs.

    Any prices that are not negative prove a bound (`online/bound/prices.py`), and tell a policy which tasks
    are worth their time and energy. Outside the slots machine time is free.
    """

    edges: Floats  # S + 1 rising times in seconds; slot s is from edges[s] to edges[s + 1]
    per_second: Floats  # M x S, utility for a second of one machine of type j in slot s
    per_joule: float  # utility
