"""What comes before policies: scheduling events, filters of energy, dropped tasks, permuted queues."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.errors import Fault, InstanceError
from lpsched.jit import compiled, compiled_inside
from lpsched.online.simulate.options import ADAPTIVE
from lpsched.online.simulate.state import Assignments

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

    from lpsched.model.arrays import Floats, Integers, Mask
    from lpsched.online.arrays import DayArrays
    from lpsched.online.parts import Period
    from lpsched.online.simulate.machines import Accounts, LinedUp
    from lpsched.online.simulate.options import SimulationOptions
    from lpsched.online.simulate.state import System


# When the next mapping event is: so long after the last one, after so many arrivals, or what is first.
#
#     by time      events lie on a grid: at s, 2 s, 3 s, ... with s = `every_seconds`; the day begins as if
#                  there had been an event at 0
#     by arrivals  an event comes with the n-th arrival since the last one, n = `every_arrivals`; those that
#                  arrive in the same instant arrive before it. Without a grid, the last arrival of all brings
#                  an event too, so that an incomplete batch is not left behind
#     both         whichever is first; after an event by arrivals the grid begins anew at that time
#
# An event at which nothing could be mapped is left out, but stays on the grid: it costs nothing to wait long
# for the next task. Nor does it to wait long for a machine: where more than a thousand events would pass in
# which nothing arrives, and no machine can take another task, they are left out too.
#
# Source: Friese, thesis of 2015, 2.4.1 and 2.7.4; 3.3.1 and 4.3.1 for the minute.
LONG: Final = 1000  # events


class Triggers:
    """The events to come. `anchor` is where the grid begins, `step` how many of its steps are over."""

    def __init__(self, options: SimulationOptions, arrivals: Floats) -> None:
        self.seconds, self.batch = options.every_seconds, options.every_arrivals
        self.arrivals = arrivals
        self.anchor, self.step = 0.0, 0

    @property
    def tick(self) -> float:
        """The next point of the grid; infinite if there is none."""
        return math.inf if self.seconds is None else self.anchor + (self.step + 1) * self.seconds

    def next_event(self, now: float, arrived: int, *, something_waits: bool) -> float:
        """Move on to the next event, and return its time; infinite if there is none.

        Parameters
        ----------
        now
            The time of the last event.
        arrived
            How many tasks have arrived by then.
        something_waits
            Whether there will be something to map at the next point of the grid even if nothing arrives.
        """
        by_arrivals, next_arrival = self._by_arrivals(arrived), self._next_arrival(arrived)
        if not something_waits and self.tick < next_arrival < math.inf:
            self._skip_to(next_arrival)
        by_time = max(self.tick, math.nextafter(now, math.inf))
        if by_arrivals < by_time:
            self.anchor, self.step = by_arrivals, 0
            return by_arrivals
        self.step += 1
        return by_time

    def is_long_until_an_arrival(self, arrived: int) -> bool:
        """Tell whether many points of the grid come before the next task does."""
        return self.seconds is not None and self._next_arrival(arrived) > self.tick + LONG * self.seconds

    def pass_over(self, opening: float, arrived: int) -> None:
        """Leave out a long span in which nothing arrives and no machine can take another task.

        Whatever a policy said there would be said anew before anything comes of it; a task that would have
        been dropped there is dropped afterwards.
        """
        assert self.seconds is not None, "there is a grid"
        end = min(opening, self._next_arrival(arrived))
        if self.tick + LONG * self.seconds < end < math.inf:
            self.step = max(self.step, math.floor((end - self.anchor) / self.seconds) - 2)

    def _next_arrival(self, arrived: int) -> float:
        return float(self.arrivals[arrived]) if arrived < len(self.arrivals) else math.inf

    def _by_arrivals(self, arrived: int) -> float:
        if self.batch is None or arrived >= len(self.arrivals):
            return math.inf
        last = arrived + self.batch - 1
        if last < len(self.arrivals):
            return float(self.arrivals[last])
        return float(self.arrivals[-1]) if self.seconds is None else math.inf

    def _skip_to(self, arrival: float) -> None:
        """Leave out the points of the grid before an arrival."""
        assert self.seconds is not None, "there is a grid"
        self.step = max(self.step, steps_to(arrival, self.anchor, self.seconds) - 1)


def steps_to(time: float, anchor: float, seconds: float) -> int:
    """Return how many steps from its anchor a grid reaches a time with.

    >>> steps_to(120.0, 0.0, 60.0), steps_to(121.0, 0.0, 60.0)
    (2, 3)
    """
    steps = math.ceil((time - anchor) / seconds)
    if anchor + steps * seconds < time:  # the quotient was rounded
        steps += 1
    elif anchor + (steps - 1) * seconds >= time:
        steps -= 1
    return steps


# The energy filter: choices that take more than a fair share of the day's energy are not offered.
#
# At the beginning of a mapping event, in a piece of time with an energy constraint E (see `machines.py`):
#
#     e_rem     = E - used            used: joules taken, or to be taken by executing and pending tasks (6)
#     tau_rem   = sum over machines of the time between its ready time and the end of the day
#     tau, e    means of seconds and of joules over all pairs that can run
#     budget    = leniency e_rem / (tau_rem / tau)                                                  (7)
#
# and a choice is offered if it takes less than the budget. The adaptive filter estimates how many tasks can
# still be run by energy, too, and sets the leniency by how the energy used so far compares with an even
# spend:
#
#     n         = min(tau_rem / tau, e_rem / e)                                                     (9)
#     budget    = lambda e_rem / n                                                                  (10)
#     lambda    = (E / T) / (used / (T - tau_rem)),      T: machines times the length of the day    (11)
#
# Where nothing has been used yet, or no machine time is left to run anything in, everything is offered. Where
# no energy is left, e_rem / n is e. A machine that is busy beyond the end of the day has no time left.
#
# Source: Friese, thesis of 2015, 3.3.4 and 4.3.3.
@dataclass(frozen=True, slots=True)
class EnergyFilter:
    """A filter of one day: fixed leniency, or adaptive."""

    leniency: float | Literal["adaptive"]
    mean_seconds: float
    mean_joules: float

    def allowed(self, system: System, accounts: Accounts, ready: Floats, piece: int) -> Mask:
        """Return which pairs can run and pass the filter."""
        if math.isinf(accounts.limits[piece]):
            return system.can_run
        passed: Mask = system.can_run & (system.joules < self.budget(accounts, ready, piece))
        passed.flags.writeable = False
        return passed

    def budget(self, accounts: Accounts, ready: Floats, piece: int) -> float:
        """Return the joules that a choice must stay below."""
        begin, end = float(accounts.edges[piece]), float(accounts.edges[piece + 1])
        seconds_left = float(np.maximum(end - ready, 0.0).sum())
        if seconds_left <= 0.0:
            return math.inf
        left, tasks_left = accounts.left(piece), seconds_left / self.mean_seconds
        if self.leniency != ADAPTIVE:
            return self.leniency * left / tasks_left
        used, all_seconds = float(accounts.used[piece]), len(ready) * (end - begin)
        if used <= 0.0 or all_seconds <= seconds_left:
            return math.inf
        tasks_left = min(tasks_left, left / self.mean_joules)  # which is not 0, for something was used
        fair = left / tasks_left if tasks_left > 0.0 else self.mean_joules
        target, so_far = accounts.limits[piece] / all_seconds, used / (all_seconds - seconds_left)
        return float(target / so_far) * fair


def filter_of(options: SimulationOptions, period: Period, system: System) -> EnergyFilter | None:
    """Return the filter that the options ask for; none where the day has no energy constraint."""
    if options.energy_filter is None or period.energy_constraint_joules is None:
        return None
    require_an_end(period)
    can_run = system.can_run
    return EnergyFilter(
        options.energy_filter, float(system.seconds[can_run].mean()), float(system.joules[can_run].mean())
    )


def require_an_end(period: Period) -> None:
    """Refuse a period without an end: nobody knows what a fair share of its energy would be."""
    if period.length_seconds is None:
        found, needed = "a period without an end", "a length, over which energy is spread"
        fault = Fault(("period", "length_seconds"), found, needed, "give it one, or leave out the filter")
        raise InstanceError("the energy filter", (fault,))


# What a task earns, for compiled loops: the same formula as in `online/utility.py`.
@compiled_inside
def earned(  # noqa: PLR0913, PLR0917 - compiled functions take no options by name
    function: int,
    seconds: float,
    first_interval: Integers,
    after_seconds: Floats,
    starts_at: Floats,
    falls_to: Floats,
    rate_per_second: Floats,
) -> float:
    """Return the utility of a task that ends so many seconds after its arrival."""
    now = first_interval[function]
    while now + 1 < first_interval[function + 1] and after_seconds[now + 1] <= seconds:
        now += 1
    decay = math.exp(-rate_per_second[now] * (seconds - after_seconds[now]))
    utility: float = falls_to[now] + (starts_at[now] - falls_to[now]) * decay
    return utility


# Dropping: tasks that can no longer earn enough are given up for good.
#
# Batch mode, before the policy is asked: the most that a task could earn on any machine, in any P-state, if
# it started right after the unmovable tasks there; the energy filter does not matter here. Utility never
# rises, so that is its utility at the earliest completion, which is the same for all tasks of a type. Less
# than the threshold: it is dropped.
#
# Immediate mode, after the policy has answered: what the task would earn where the policy puts it.
#
# Source: Friese, thesis of 2015, 2.4.4, 3.3.3 and 4.3.2.
def most_utility(arrays: DayArrays, system: System, tasks: Integers, ready: Floats) -> Floats:
    """Return the most that each task could earn if it were the next on some machine."""
    return earned_at(
        tasks, earliest_completion(system, ready), arrays.arrivals, arrays.task_type, arrays.function,
        arrays.first_interval, arrays.after_seconds, arrays.starts_at, arrays.falls_to,
        arrays.rate_per_second,
    )  # fmt: skip


def earliest_completion(system: System, ready: Floats) -> Floats:
    """Return when a task of each type could be complete at the earliest; infinite where nothing runs it."""
    first = np.cumsum(system.machine_counts) - system.machine_counts
    of_type = np.minimum.reduceat(ready, first)
    completion = of_type[system.column_type] + system.seconds
    earliest: Floats = np.where(system.can_run, completion, np.inf).min(axis=1)
    return earliest


@compiled
def earned_at(  # noqa: PLR0913, PLR0917 - arrays are what compiled functions take
    tasks: Integers,
    completion: Floats,
    arrivals: Floats,
    types: Integers,
    functions: Integers,
    first_interval: Integers,
    after_seconds: Floats,
    starts_at: Floats,
    falls_to: Floats,
    rate_per_second: Floats,
) -> Floats:
    """Return what each task earns if it completes when its type (or kind) can at the earliest."""
    utility = np.zeros(len(tasks))
    for n in range(len(tasks)):
        task = tasks[n]
        seconds = completion[types[task]] - arrivals[task]
        utility[n] = earned(
            functions[task], seconds, first_interval, after_seconds, starts_at, falls_to, rate_per_second
        )
    return utility


# Permuting: the head of each virtual queue is put into the order that earns most.
#
# A policy may line up a task that loses nothing by waiting before one that loses much. So, after it has
# answered, the first k tasks of each machine's virtual queue (those behind the pending task) are tried in all
# their orders, one after the other from the end of the pending task on. The order in which they earn most
# together is kept; of equally good ones, the first, counting through them from the policy's own order. Orders
# in which one of them would start too late are not tried. The rest of the queue stays behind them.
#
# The new queues are then lined up like any others, with the same look at time and energy.
#
# Source: Friese, thesis of 2015, appendix A.
ROUNDING: Final = 1e-12  # an order must be better by more than this share


def permuted(made: LinedUp, arrays: DayArrays, *, now: float, ends_at: float, most: int) -> Assignments:
    """Return what was lined up with the heads of the virtual queues in their best orders."""
    tasks, columns = made.tasks.copy(), made.columns.copy()
    for head in _heads(made, now, most):
        seconds = arrays.seconds[arrays.task_type[tasks[head]], columns[head]]
        orders = orders_of(len(head))
        best = best_order(
            orders, float(made.starts[head[0]]), ends_at, seconds, arrays.function[tasks[head]],
            arrays.arrivals[tasks[head]], arrays.first_interval, arrays.after_seconds, arrays.starts_at,
            arrays.falls_to, arrays.rate_per_second,
        )  # fmt: skip
        tasks[head], columns[head] = tasks[head][orders[best]], columns[head][orders[best]]
    return Assignments(tasks, made.machines, columns)


def _heads(made: LinedUp, now: float, most: int) -> Iterator[Integers]:
    """Find the first places of each virtual queue that has several tasks, in the order of its queue."""
    virtual = np.flatnonzero(made.stays_from > now)
    by_machine = virtual[np.argsort(made.machines[virtual], kind="stable")]
    firsts = np.flatnonzero(np.diff(made.machines[by_machine])) + 1
    for queue in np.split(by_machine, firsts):
        if len(queue) > 1:
            yield queue[:most]


@cache
def orders_of(size: int) -> Integers:
    """Return all orders of so many things, the given one first."""
    return np.array(list(permutations(range(size))), dtype=np.int64)


@compiled
def best_order(  # noqa: PLR0913, PLR0917 - arrays are what compiled functions take
    orders: Integers,
    begins_at: float,
    ends_at: float,
    seconds: Floats,
    functions: Integers,
    arrivals: Floats,
    first_interval: Integers,
    after_seconds: Floats,
    starts_at: Floats,
    falls_to: Floats,
    rate_per_second: Floats,
) -> int:
    """Return the number of the order that earns most."""
    best, most = 0, -1.0
    for n in range(len(orders)):
        time, total, starts_in_time = begins_at, 0.0, True
        for k in orders[n]:
            starts_in_time = starts_in_time and time < ends_at
            time += seconds[k]
            total += earned(
                functions[k], time - arrivals[k], first_interval, after_seconds, starts_at, falls_to,
                rate_per_second,
            )  # fmt: skip
        if starts_in_time and total > most * (1.0 + ROUNDING):
            best, most = n, total
    return best
