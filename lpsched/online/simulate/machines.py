"""Machines of a simulated day: their queues, and the energy that is charged."""

from __future__ import annotations

import math
from bisect import bisect_right
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from lpsched.errors import InputIssue, InstanceError
from lpsched.jit import compiled, compiled_inside
from lpsched.online.parts import PRORATED, Period

if TYPE_CHECKING:
    from lpsched.model.table import Floats, Integers, Mask
    from lpsched.online.simulate.state import Assignments, System


# Energy accounts of segments of simulated time:
#    L, w        length of the period that counts, and the warm-up before it
#    segments    the period itself; before it, counted backwards from its beginning, whole days of the same length L,
#                each with the same energy constraint E; and the rest at the very beginning, shorter than L, which has
#                none. 48 hours with 24 of warm-up are two days, each with its own E; 26 hours with two of warm-up are
#                one day and two hours without a constraint
#    used        joules of a segment that are taken, or that executing and pending tasks will take: each task by its
#                share of the segment, prorated, or wholly where it ends (see `online/parts.py`); E - used is left
# At a scheduling event in a whole day nothing is mapped that would start in the next one. The short first segment has
# no such rule, so that machines are not idle when the period begins. After the period nothing starts.
# Source: Friese, thesis of 2015, 3.2.2, 3.3.1 and 3.5.1 (two days), 2.6.4 and 4.4.1 (26 hours).
MOST_DAYS: Final = 100_000  # before the period that counts; each has an account of its own


class Accounts(NamedTuple):  # a tuple, because that is what compiled functions take apart
    """The segments of simulated time, from 0 to the end of the period; `used` changes while a day runs."""

    edges: Floats  # segments + 1
    limits: Floats  # segments: joules, infinite where there is no constraint
    used: Floats  # segments: joules
    has_free_start: bool  # whether the first segment is shorter than a day
    prorated: bool

    def segment(self, now: float) -> int:
        """Return the number of the segment of a time."""
        return bisect_right(self.edges, now, 1, len(self.edges) - 1) - 1

    def ends_at(self, segment: int) -> float:
        """Return when nothing may start any more that is mapped in this segment."""
        is_free = segment == 0 and self.has_free_start
        return float(self.edges[-1] if is_free else self.edges[segment + 1])

    def left(self, segment: int) -> float:
        """Return the joules of a segment that are neither taken nor reserved."""
        return float(self.limits[segment] - self.used[segment])


def accounts_of(period: Period) -> Accounts:
    """Return an empty account for each segment.

    >>> from lpsched.online.parts import Period
    >>> accounts_of(Period(26.0, 12.0, energy_constraint_joules=5.0)).edges.tolist()
    [0.0, 2.0, 14.0, 26.0, 38.0]
    """
    begin, length = period.begins_at, period.length_seconds or math.inf
    earlier = begin / length
    if earlier >= MOST_DAYS + 1:
        found, needed = f"{earlier:.6g} days of its length", f"at most {MOST_DAYS:,}"
        issue = InputIssue(("period", "warm_up_seconds"), found, needed, "shorten it, or lengthen the period")
        raise InstanceError("simulating the day", (issue,))
    days = [begin - k * length for k in range(int(earlier) + 1, 0, -1) if begin - k * length >= 0.0]
    whole = [*days, begin]
    has_free_start = whole[0] > 0.0
    edges = [*([0.0] if has_free_start else []), *whole, period.ends_at]
    limit = period.energy_constraint_joules
    limits = np.full(len(edges) - 1, math.inf if limit is None else limit)
    if has_free_start:
        limits[0] = math.inf
    return Accounts(np.array(edges), limits, np.zeros(len(limits)), has_free_start, period.edge == PRORATED)


@compiled
def has_energy(accounts: Accounts, segment: int, start: float, end: float, joules: float) -> bool:
    """Return whether every segment from this one on has the energy that a run takes in it."""
    edges, limits, used, prorated = accounts.edges, accounts.limits, accounts.used, accounts.prorated
    for p in range(segment, len(used)):
        if edges[p] > end:
            break
        if used[p] + joules * share(edges[p], edges[p + 1], start, end, prorated) > limits[p]:
            return False
    return True


@compiled
def charge(accounts: Accounts, segment: int, start: float, end: float, joules: float) -> None:
    """Charge every segment from this one on with the energy that a run takes in it."""
    edges, used, prorated = accounts.edges, accounts.used, accounts.prorated
    for p in range(segment, len(used)):
        if edges[p] > end:
            break
        used[p] += joules * share(edges[p], edges[p + 1], start, end, prorated)


@compiled_inside
def share(begin: float, end: float, starts: float, ends: float, prorated: bool) -> float:  # noqa: FBT001
    """Return which part of a run counts in a segment; as `Period.share` does."""
    if not prorated:
        return 1.0 if begin < ends <= end else 0.0
    within = min(ends, end) - max(starts, begin)
    if within >= ends - starts:
        return 1.0
    return within / (ends - starts) if within > 0.0 else 0.0


# Machines and their queues. A machine runs one task at a time; the task next in line is pending. Both are unmovable.
# Times are known, so a machine's state is when its last unmovable task starts and ends:
#    ready       = max(end, now)      when it has done all its unmovable tasks
#    pending at  = max(start, now)    when the next task mapped to it becomes unmovable: an idle machine starts it
#                                     at once, a busy one without pending task takes it as pending, else it waits in the
#                                     virtual queue until the pending task starts
# A task lined up behind another starts as that ends, and becomes unmovable as that starts. It is left out, and the ones
# behind it move up, if it would start too late, or take more energy of some account than the unmovable tasks and those
# lined up before it leave.
class LinedUp(NamedTuple):
    """What was mapped at an event, in the order in which it was decided."""

    tasks: Integers
    machines: Integers
    columns: Integers
    starts: Floats
    ends: Floats
    stays_from: Floats  # when each becomes unmovable

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
        """Return when the next task mapped to each machine becomes unmovable."""
        return np.maximum(self.last_start, now)

    def line_up(self, mapped: Assignments, types: Integers, *, now: float) -> LinedUp:
        """Return the assignments that can be carried out, with their times; nothing is changed."""
        size, system, accounts = len(mapped.tasks), self.system, self.accounts
        if not size:
            return NOTHING
        made = LinedUp(mapped.tasks, mapped.machines, mapped.columns, np.zeros(size), np.zeros(size), np.zeros(size))
        segment, kept = accounts.segment(now), accounts._replace(used=accounts.used.copy())
        free = self.pending_at(now), self.ready(now)
        fits = _line_up(made, types, system.seconds, system.joules, free, accounts.ends_at(segment), segment, kept)
        return made if fits.all() else made.keep(fits)

    def fix(self, made: LinedUp, types: Integers) -> None:
        """Take over tasks that have become unmovable, and charge their energy."""
        _fix(made, types, self.system.joules, self.last_start, self.last_end, self.accounts)


@compiled
def _line_up(  # noqa: PLR0913, PLR0917 - compiled
    made: LinedUp, types: Integers, seconds: Floats, joules: Floats, free: tuple[Floats, Floats], ends_at: float,
    segment: int, accounts: Accounts,
) -> Mask:  # fmt: skip
    """Return which assignments can be carried out, and write their times; changes `free` and what is used."""
    fits = np.zeros(len(types), dtype=np.bool_)
    pending_at, ready = free
    for n in range(len(types)):
        i, machine, column = types[n], made.machines[n], made.columns[n]
        start = ready[machine]
        end = start + seconds[i, column]
        if start >= ends_at or not has_energy(accounts, segment, start, end, joules[i, column]):
            continue
        charge(accounts, segment, start, end, joules[i, column])
        fits[n] = True
        made.starts[n], made.ends[n], made.stays_from[n] = start, end, pending_at[machine]
        pending_at[machine], ready[machine] = start, end
    return fits


@compiled
def _fix(  # noqa: PLR0913, PLR0917 - compiled
    made: LinedUp, types: Integers, joules: Floats, last_start: Floats, last_end: Floats, accounts: Accounts
) -> None:
    """Make tasks the last ones of their machines, and charge their energy."""
    for n in range(len(types)):
        last_start[made.machines[n]], last_end[made.machines[n]] = made.starts[n], made.ends[n]
        charge(accounts, 0, made.starts[n], made.ends[n], joules[types[n], made.columns[n]])
