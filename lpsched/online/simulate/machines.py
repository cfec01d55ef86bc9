"""Machines of a simulated day: what they run and are charged for."""

from __future__ import annotations

import math
from bisect import bisect_right
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from lpsched.errors import Fault, InstanceError
from lpsched.jit import compiled, compiled_inside
from lpsched.online.parts import PRORATED

if TYPE_CHECKING:
    from lpsched.model.arrays import Floats, Integers, Mask
    from lpsched.online.parts import Period
    from lpsched.online.simulate.state import Assignments, System


# Energy by the day: of all simulated time, which pieces have an energy constraint, and what is left of it.
#
#    L, w        length of the period that counts, and the warm-up before it
#    pieces      the period itself; before it, counted backwards from its beginning, whole days of the same
#                length L, each with the same energy constraint E; and what is left at the very beginning,
#                shorter than a day, which has none. 48 hours with 24 of warm-up are two days, each with its
#                own E; 26 hours with two of warm-up are one day and two hours that are free.
#    used        joules of a piece that are taken, or that executing and pending tasks will take: each task by
#                its share of the piece, prorated, or wholly where it ends (see `online/parts.py`)
#    energy left E - used
#
# At a mapping event in a whole day nothing is mapped that would start in the next one. The first hours,
# shorter than a day, have no such rule, so that machines are not made idle when the period begins. After the
# period nothing starts at all.
#
# Source: Friese, thesis of 2015, 3.2.2, 3.3.1 and 3.5.1 (two days), 2.6.4 and 4.4.1 (26 hours).
MOST_DAYS: Final = 100_000  # before the period that counts; each has an account of its own


class Accounts(NamedTuple):  # a tuple, because that is what compiled functions take apart
    """The pieces of simulated time, from 0 to the end of the period; `used` changes while a day runs."""

    edges: Floats  # pieces + 1
    limits: Floats  # pieces: joules, infinite where there is no constraint
    used: Floats  # pieces: joules
    has_free_start: bool  # whether the first piece is shorter than a day
    prorated: bool

    def piece(self, now: float) -> int:
        """Return the number of the piece that a time is in."""
        return bisect_right(self.edges, now, 1, len(self.edges) - 1) - 1

    def ends_at(self, piece: int) -> float:
        """Return when nothing may start any more that is mapped in this piece."""
        is_free = piece == 0 and self.has_free_start
        return float(self.edges[-1] if is_free else self.edges[piece + 1])

    def left(self, piece: int) -> float:
        """Return the joules of a piece that are neither taken nor promised."""
        return float(self.limits[piece] - self.used[piece])


def accounts_of(period: Period) -> Accounts:
    """Open an account for each piece.

    >>> from lpsched.online.parts import Period
    >>> accounts_of(Period(26.0, 12.0, energy_constraint_joules=5.0)).edges.tolist()
    [0.0, 2.0, 14.0, 26.0, 38.0]
    """
    begin, length = period.begins_at, period.length_seconds or math.inf
    earlier = begin / length
    if earlier >= MOST_DAYS + 1:
        found, needed = f"{earlier:.6g} days of its length", f"at most {MOST_DAYS:,}"
        fault = Fault(("period", "warm_up_seconds"), found, needed, "shorten it, or lengthen the period")
        raise InstanceError("simulating the day", (fault,))
    days = [begin - k * length for k in range(int(earlier) + 1, 0, -1) if begin - k * length >= 0.0]
    whole = [*days, begin]
    has_free_start = whole[0] > 0.0
    edges = [*([0.0] if has_free_start else []), *whole, period.ends_at]
    limit = period.energy_constraint_joules
    limits = np.full(len(edges) - 1, math.inf if limit is None else limit)
    if has_free_start:
        limits[0] = math.inf
    return Accounts(np.array(edges), limits, np.zeros(len(limits)), has_free_start, period.edge == PRORATED)


# Energy of a run by the pieces of simulated time, for compiled loops and for engines (see `Accounts`).
@compiled
def has_energy(accounts: Accounts, piece: int, start: float, end: float, joules: float) -> bool:
    """Tell whether every piece from this one on has the energy that a run takes in it."""
    edges, limits, used, prorated = accounts.edges, accounts.limits, accounts.used, accounts.prorated
    for p in range(piece, len(used)):
        if edges[p] > end:
            break
        if used[p] + joules * share(edges[p], edges[p + 1], start, end, prorated) > limits[p]:
            return False
    return True


@compiled
def charge(accounts: Accounts, piece: int, start: float, end: float, joules: float) -> None:
    """Charge every piece from this one on with the energy that a run takes in it."""
    edges, used, prorated = accounts.edges, accounts.used, accounts.prorated
    for p in range(piece, len(used)):
        if edges[p] > end:
            break
        used[p] += joules * share(edges[p], edges[p + 1], start, end, prorated)


@compiled_inside
def share(begin: float, end: float, starts: float, ends: float, prorated: bool) -> float:  # noqa: FBT001
    """Return which part of a run counts in a piece; as `Period.share` does."""
    if not prorated:
        return 1.0 if begin < ends <= end else 0.0
    within = min(ends, end) - max(starts, begin)
    if within >= ends - starts:
        return 1.0
    return within / (ends - starts) if within > 0.0 else 0.0


# Machines and their queues: when each is free, what is lined up on it, and what of that stays.
#
# A machine runs one task at a time. The task next in line is pending. Both are unmovable: neither is mapped again.
# Since times are known, all there is to know of a machine is when its last unmovable task starts and ends:
#
#    ready       = max(end, now)      when it has done all its unmovable tasks
#    pending at  = max(start, now)    when the next task mapped to it gets unmovable: an idle machine starts
#                                     it at once, a busy one without pending task takes it as pending, else it
#                                     waits in the virtual queue until the pending task starts
#
# A task lined up behind another starts as that ends, and gets unmovable as that starts. It is left out, and
# the ones behind it move up, if it would start too late, or take more energy of some account than is left
# there by the unmovable tasks and by those lined up before it.
class LinedUp(NamedTuple):
    """What was mapped at an event, in the order in which it was decided."""

    tasks: Integers
    machines: Integers
    columns: Integers
    starts: Floats
    ends: Floats
    stays_from: Floats  # when each gets unmovable

    def keep(self, which: Mask) -> LinedUp:
        """Return some of it."""
        return LinedUp._make(each[which] for each in self)


NOTHING: Final = LinedUp._make([np.zeros(0, dtype=np.int64)] * 3 + [np.zeros(0)] * 3)


class Machines:
    """When the last unmovable task of each machine starts and ends."""

    def __init__(self, system: System, accounts: Accounts) -> None:
        self.system, self.accounts = system, accounts
        self.last_start, self.last_end = np.zeros((2, len(system.machine_type)))

    def ready(self, now: float) -> Floats:
        """Return when each machine has done its unmovable tasks."""
        return np.maximum(self.last_end, now)

    def pending_at(self, now: float) -> Floats:
        """Return when the next task mapped to each machine gets unmovable."""
        return np.maximum(self.last_start, now)

    def line_up(self, mapped: Assignments, types: Integers, *, now: float) -> LinedUp:
        """Return the assignments that can be done, with their times; nothing is changed."""
        size, system, accounts = len(mapped.tasks), self.system, self.accounts
        if not size:
            return NOTHING
        made = LinedUp(mapped.tasks, mapped.machines, mapped.columns, np.zeros(size), np.zeros(size), np.zeros(size))
        piece, kept = accounts.piece(now), accounts._replace(used=accounts.used.copy())
        free = self.pending_at(now), self.ready(now)
        fits = _line_up(made, types, system.seconds, system.joules, free, accounts.ends_at(piece), piece, kept)
        return made if fits.all() else made.keep(fits)

    def fix(self, made: LinedUp, types: Integers) -> None:
        """Take over tasks that have got unmovable, and charge their energy."""
        _fix(made, types, self.system.joules, self.last_start, self.last_end, self.accounts)


@compiled
def _line_up(  # noqa: PLR0913, PLR0917 - arrays are what compiled functions take
    made: LinedUp, types: Integers, seconds: Floats, joules: Floats, free: tuple[Floats, Floats], ends_at: float,
    piece: int, accounts: Accounts,
) -> Mask:  # fmt: skip
    """Tell which assignments can be done, and write their times; changes `free` and what is used."""
    fits = np.zeros(len(types), dtype=np.bool_)
    pending_at, ready = free
    for n in range(len(types)):
        i, machine, column = types[n], made.machines[n], made.columns[n]
        start = ready[machine]
        end = start + seconds[i, column]
        if start >= ends_at or not has_energy(accounts, piece, start, end, joules[i, column]):
            continue
        charge(accounts, piece, start, end, joules[i, column])
        fits[n] = True
        made.starts[n], made.ends[n], made.stays_from[n] = start, end, pending_at[machine]
        pending_at[machine], ready[machine] = start, end
    return fits


@compiled
def _fix(  # noqa: PLR0913, PLR0917 - likewise
    made: LinedUp, types: Integers, joules: Floats, last_start: Floats, last_end: Floats, accounts: Accounts
) -> None:
    """Make tasks the last ones of their machines, and charge their energy."""
    for n in range(len(types)):
        last_start[made.machines[n]], last_end[made.machines[n]] = made.starts[n], made.ends[n]
        charge(accounts, 0, made.starts[n], made.ends[n], joules[types[n], made.columns[n]])
