"""Machines and their queues: when each is free, what is lined up on it, and what of that stays.

A machine runs one task at a time. The task next in line is pending. Both are unmovable: neither is mapped
again. Since times are known, all there is to know of a machine is when its last unmovable task starts and
ends:

    ready       = max(end, now)      when it has done all its unmovable tasks
    pending at  = max(start, now)    when the next task mapped to it gets unmovable: an idle machine starts
                                     it at once, a busy one without pending task takes it as pending, else it
                                     waits in the virtual queue until the pending task starts

A task lined up behind another starts as that ends, and gets unmovable as that starts. It is left out, and
the ones behind it move up, if it would start too late, or take more energy of some account than is left
there by the unmovable tasks and by those lined up before it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.compiled import compiled
from lpsched.simulation.charging import charge, has_energy

if TYPE_CHECKING:
    from lpsched.instance.array_types import Floats, Integers, Mask
    from lpsched.simulation.accounts import Accounts
    from lpsched.simulation.state import Assignments, System


@dataclass(frozen=True, slots=True)
class LinedUp:
    """What was mapped at an event, in the order in which it was decided."""

    tasks: Integers
    machines: Integers
    columns: Integers
    starts: Floats
    ends: Floats
    stays_from: Floats  # when each gets unmovable

    def keep(self, which: Mask) -> LinedUp:
        """Return some of it."""
        return LinedUp(
            self.tasks[which],
            self.machines[which],
            self.columns[which],
            self.starts[which],
            self.ends[which],
            self.stays_from[which],
        )


NO_NUMBERS: Final = np.zeros(0, dtype=np.int64)
NO_TIMES: Final = np.zeros(0)
NOTHING: Final = LinedUp(NO_NUMBERS, NO_NUMBERS, NO_NUMBERS, NO_TIMES, NO_TIMES, NO_TIMES)


class Machines:
    """When the last unmovable task of each machine starts and ends."""

    def __init__(self, count: int) -> None:
        self.last_start, self.last_end = np.zeros(count), np.zeros(count)

    def ready(self, now: float) -> Floats:
        """Return when each machine has done its unmovable tasks."""
        return np.maximum(self.last_end, now)

    def pending_at(self, now: float) -> Floats:
        """Return when the next task mapped to each machine gets unmovable."""
        return np.maximum(self.last_start, now)

    def line_up(
        self, mapped: Assignments, types: Integers, system: System, accounts: Accounts, *, now: float
    ) -> LinedUp:
        """Return the assignments that can be done, with their times; nothing is changed."""
        size = len(mapped.tasks)
        if not size:
            return NOTHING
        starts, ends, stays_from = np.zeros(size), np.zeros(size), np.zeros(size)
        piece = accounts.piece(now)
        fits = _line_up(
            types, mapped.machines, mapped.columns, system.seconds, system.joules, self.pending_at(now),
            self.ready(now), accounts.ends_at(piece), piece, accounts.edges, accounts.limits,
            accounts.used.copy(), accounts.prorated, starts, ends, stays_from,
        )  # fmt: skip
        made = LinedUp(mapped.tasks, mapped.machines, mapped.columns, starts, ends, stays_from)
        return made if fits.all() else made.keep(fits)

    def fix(self, made: LinedUp, types: Integers, system: System, accounts: Accounts) -> None:
        """Take over tasks that have got unmovable, and charge their energy."""
        _fix(
            types, made.machines, made.columns, made.starts, made.ends, system.joules, self.last_start,
            self.last_end, accounts.edges, accounts.used, accounts.prorated,
        )  # fmt: skip


@compiled
def _line_up(  # noqa: PLR0913, PLR0917 - arrays are what compiled functions take
    types: Integers,
    machines: Integers,
    columns: Integers,
    seconds: Floats,
    joules: Floats,
    pending_at: Floats,
    ready: Floats,
    ends_at: float,
    piece: int,
    edges: Floats,
    limits: Floats,
    used: Floats,
    prorated: bool,  # noqa: FBT001
    starts: Floats,
    ends: Floats,
    stays_from: Floats,
) -> Mask:
    """Tell which assignments can be done, and write their times; changes `pending_at`, `ready`, `used`."""
    fits = np.zeros(len(types), dtype=np.bool_)
    for n in range(len(types)):
        i, machine, column = types[n], machines[n], columns[n]
        start = ready[machine]
        end = start + seconds[i, column]
        if start >= ends_at or not has_energy(
            edges, limits, used, prorated, piece, start, end, joules[i, column]
        ):
            continue
        charge(edges, used, prorated, piece, start, end, joules[i, column])
        fits[n] = True
        starts[n], ends[n], stays_from[n] = start, end, pending_at[machine]
        pending_at[machine], ready[machine] = start, end
    return fits


@compiled
def _fix(  # noqa: PLR0913, PLR0917 - likewise
    types: Integers,
    machines: Integers,
    columns: Integers,
    starts: Floats,
    ends: Floats,
    joules: Floats,
    last_start: Floats,
    last_end: Floats,
    edges: Floats,
    used: Floats,
    prorated: bool,  # noqa: FBT001
) -> None:
    """Make tasks the last ones of their machines, and charge their energy."""
    for n in range(len(types)):
        last_start[machines[n]], last_end[machines[n]] = starts[n], ends[n]
        charge(edges, used, prorated, 0, starts[n], ends[n], joules[types[n], columns[n]])
