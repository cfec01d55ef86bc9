"""Options of simulations and what they do: when tasks are mapped, which are dropped, which choices are filtered.

Sources: Friese, thesis of 2015, 2.4.1, 2.4.4, 2.7.4, 3.3.4, 4.3 and appendix A; Machovec et al. (2016), sections III.A
to III.C, III.G and IV.C.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from lpsched.errors import InputIssue, InstanceError
from lpsched.jit import compiled
from lpsched.model.fields import LARGEST, describe
from lpsched.online.simulate.state import Assignments, System
from lpsched.online.utility import Curves, compiled_utility

if TYPE_CHECKING:
    from lpsched.model.table import Floats, Integers, Mask
    from lpsched.online.arrays import ClusterArrays, DayArrays
    from lpsched.online.nodes.reservations import ReservationTable
    from lpsched.online.parts import Period
    from lpsched.online.simulate.machines import Accounts, LinedUp


ADAPTIVE: Final = "adaptive"
QUEUED: Final = "queued"
POLLED: Final = "polled"
PER_TASK: Final = "per-task"
PER_RESOURCE: Final = "per-resource"
LENIENCY: Final = {PER_TASK: 2.0, PER_RESOURCE: 4.0}
SHORTEST: Final = 0.001  # seconds between scheduling events
MOST_PERMUTED: Final = 7  # 5,040 orders
TIMES: Final = f"a number of seconds from {SHORTEST:g} to {LARGEST:g}"


@dataclass(frozen=True, slots=True)
class SimulationOptions:
    """How to run a day; the defaults are the thesis's, without dropping and filter.

    Raises
    ------
    InstanceError
        If some of them cannot be; the error lists every error.
    """

    # `queued`: each machine has a queue; its running and its pending task stay, all others are mapped anew at each
    # scheduling event. `polled`: at a scheduling event, each idle machine may get one task, which starts at once
    machines: Literal["queued", "polled"] = QUEUED
    # A scheduling event comes this many seconds, or arrivals, after the last one, whichever is first; one may be
    # `None`. Policies of immediate mode map each task as it arrives, for good
    every_seconds: float | None = 60.0
    every_arrivals: int | None = None
    drop_below: float = 0.0  # utility: a task that can earn less, even if started now, is dropped (immediate mode: that
    # would earn less where the policy put it); 0 drops none
    energy_filter: float | Literal["adaptive"] | None = None  # the leniency of equation 7, or equations 9 to 11
    permute: int = (
        0  # try all orders of this many tasks at the head of each virtual queue (appendix A); batch mode only
    )

    def __post_init__(self) -> None:
        """Raise an error that lists all invalid options."""
        seconds, arrivals, leniency = self.every_seconds, self.every_arrivals, self.energy_filter
        is_mode, is_batch = self.machines in (QUEUED, POLLED), arrivals is None or _is_whole(arrivals, 1)
        is_filter, orders = leniency in (None, ADAPTIVE) or _is_number(leniency), f"from 0 to {MOST_PERMUTED}"
        needed = "a number of seconds, or of arrivals in every_arrivals"
        nothing = InputIssue(("every_seconds",), "nothing", needed, "set one of the two")
        _require(
            (is_mode, _wrong("machines", self.machines, "'queued' or 'polled'", "choose one")),
            (seconds is not None or arrivals is not None, nothing),
            (_is_time(seconds), _wrong("every_seconds", seconds, TIMES)),
            (is_batch, _wrong("every_arrivals", arrivals, "a whole number from 1 up")),
            (_is_number(self.drop_below, or_zero=True), _wrong("drop_below", self.drop_below, "a utility from 0 up")),
            (is_filter, _wrong("energy_filter", leniency, "a number above 0, 'adaptive', or nothing")),
            (_is_whole(self.permute, 0, MOST_PERMUTED), _wrong("permute", self.permute, f"a whole number {orders}")),
        )


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """How to run clusters; the defaults are the paper's, without dropping and filter.

    Raises
    ------
    InstanceError
        If some of them cannot be; the error lists every error.

    Examples
    --------
    >>> ClusterOptions(energy_filter="per-resource").factor
    4.0
    """

    every_seconds: float | None = 60.0  # between scheduling events; `None`: at every arrival and every end of a task
    drop_below: float = 0.0  # as of days, if the task started now where it is fastest; by policies that drop tasks
    energy_filter: Literal["per-task", "per-resource"] | None = None  # equations 6 to 8, or equation 9
    leniency: float | None = None  # the factor of the filter; by default 2 for `per-task`, 4 for `per-resource`
    placeholders: bool = False  # whether Max Util, UPT, UPR and UPE use place-holders, not permanent reservations

    def __post_init__(self) -> None:
        """Raise an error that lists all invalid options."""
        leniency, is_filter = self.leniency, self.energy_filter in (None, PER_TASK, PER_RESOURCE)
        either = f"{PER_TASK!r}, {PER_RESOURCE!r}, or nothing"
        is_lenient, of_none = leniency is None or _is_number(leniency), f"{leniency!r} of no filter"
        has_filter = leniency is None or not is_lenient or self.energy_filter is not None
        needed = f"an energy filter, {PER_TASK!r} or {PER_RESOURCE!r}"
        _require(
            (_is_time(self.every_seconds), _wrong("every_seconds", self.every_seconds, TIMES)),
            (_is_number(self.drop_below, or_zero=True), _wrong("drop_below", self.drop_below, "a utility from 0 up")),
            (is_filter, _wrong("energy_filter", self.energy_filter, either, "choose one")),
            (is_lenient, _wrong("leniency", leniency, "a number above 0")),
            (has_filter, InputIssue(("leniency",), of_none, needed, "choose one, or leave it out")),
            (isinstance(self.placeholders, bool), _wrong("placeholders", self.placeholders, "true or false")),
        )

    @property
    def factor(self) -> float:
        """The leniency, or its default."""
        if self.leniency is not None:
            return self.leniency
        return math.inf if self.energy_filter is None else LENIENCY[self.energy_filter]


def _require(*rules: tuple[bool, InputIssue]) -> None:
    if issues := tuple(issue for holds, issue in rules if not holds):
        raise InstanceError("", issues)


def _wrong(option: str, value: object, needed: str, do: str = "correct it") -> InputIssue:
    return InputIssue((option,), describe(value), needed, do)


def _is_number(value: object, *, or_zero: bool = False) -> bool:
    """Return whether a value is a finite number above 0 (or 0), and not a bool."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and (0.0 < value < math.inf or (or_zero and value == 0.0))  # type: ignore[operator]


def _is_time(value: object) -> bool:
    return value is None or (_is_number(value) and SHORTEST <= value <= LARGEST)  # type: ignore[operator]


def _is_whole(value: object, least: int, most: float = math.inf) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


utility = compiled_utility()


# The energy filter: choices that take more than a fair share of the energy are not offered. At a scheduling event, in a
# segment of time with an energy constraint E (see `machines.py`):
#     e_rem     = E - used            used: joules taken, or to be taken by executing and pending tasks (6)
#     tau_rem   = sum over machines of the time between its ready time (if earlier) and the end of the day
#     tau, e    means of seconds and of joules over all pairs that can run
#     budget    = leniency e_rem / (tau_rem / tau)                                                  (7)
# A choice is offered if it takes less than the budget. The adaptive filter also estimates by energy how many tasks can
# still run, and sets the leniency by the energy used so far over an even spend:
#     n         = min(tau_rem / tau, e_rem / e)                                                     (9)
#     budget    = lambda e_rem / n                                                                  (10)
#     lambda    = (E / T) / (used / (T - tau_rem)),      T: machines times the length of the day    (11)
# Where nothing has been used yet, or no machine time is left, everything is offered. Where no energy is left, e_rem / n
# is e.
# Source: Friese, thesis of 2015, 3.3.4 and 4.3.3.
@dataclass(frozen=True, slots=True)
class EnergyFilter:
    """The energy filter of a day: fixed leniency, or adaptive."""

    leniency: float | Literal["adaptive"]
    mean_seconds: float
    mean_joules: float

    def allowed(self, system: System, accounts: Accounts, ready: Floats, segment: int) -> Mask:
        """Return which pairs can run and pass the filter."""
        if math.isinf(accounts.limits[segment]):
            return system.can_run
        passed: Mask = system.can_run & (system.joules < self.budget(accounts, ready, segment))
        passed.flags.writeable = False
        return passed

    def budget(self, accounts: Accounts, ready: Floats, segment: int) -> float:
        """Return the joules that a choice must stay below."""
        begin, end = float(accounts.edges[segment]), float(accounts.edges[segment + 1])
        seconds_left = float(np.maximum(end - ready, 0.0).sum())
        if seconds_left <= 0.0:
            return math.inf
        left, tasks_left = accounts.left(segment), seconds_left / self.mean_seconds
        if self.leniency != ADAPTIVE:
            return self.leniency * left / tasks_left
        used, all_seconds = float(accounts.used[segment]), len(ready) * (end - begin)
        if used <= 0.0 or all_seconds <= seconds_left:
            return math.inf
        tasks_left = min(tasks_left, left / self.mean_joules)  # which is not 0, for something was used
        fair = left / tasks_left if tasks_left > 0.0 else self.mean_joules
        target, so_far = accounts.limits[segment] / all_seconds, used / (all_seconds - seconds_left)
        return float(target / so_far) * fair


def filter_of(options: SimulationOptions, period: Period, system: System) -> EnergyFilter | None:
    """Return the filter that the options specify; `None` where the day has no energy constraint."""
    if options.energy_filter is None or period.energy_constraint_joules is None:
        return None
    require_an_end(period)
    means = (float(table[system.can_run].mean()) for table in (system.seconds, system.joules))
    return EnergyFilter(options.energy_filter, *means)


def require_an_end(period: Period) -> None:
    """Raise an error if a period has no end: a fair share of its energy is not defined."""
    if period.length_seconds is None:
        found, needed = "a period without an end", "a length, over which energy is spread"
        issue = InputIssue(("period", "length_seconds"), found, needed, "give it one, or leave out the filter")
        raise InstanceError("the energy filter", (issue,))


# The energy filters of clusters. At a scheduling event, when place-holders are gone, in a segment of time with an
# energy constraint:
#     e_rem   joules that neither running nor reserved tasks take of the constraint
#     r_rem   core-seconds that neither running nor reserved tasks take from now to the end (6)
#     r, e    means of core-seconds (planned seconds times cores allocated, equation 1) and of joules
#     tasks   = min(r_rem / r, e_rem / e) that may still be run (7)
#     budget  joules of a choice: leniency e_rem / tasks (8), or joules per core-second: leniency e_rem / r_rem (9)
# The source does not say over what the means are taken: here over all kinds of tasks and all columns (clusters and
# P-states) in which they can run. A choice of just the budget is offered; without core-seconds left, everything is.
# Where no energy is left, e_rem / tasks is e, as it is just before that.
# Source: Machovec et al. (2016), section III.G, equations 6 to 9.
def resources(arrays: ClusterArrays) -> Floats:
    """Return planned seconds times all cores of the nodes (equation 1), K x C; 0 where a kind cannot run."""
    return arrays.requested_seconds * (arrays.nodes * arrays.cores_per_node[arrays.column_cluster])


@dataclass(frozen=True, slots=True)
class ClusterFilter:
    """An energy filter of clusters."""

    per_task: bool
    leniency: float
    joules: Floats  # K x C
    resources: Floats  # K x C
    mean_joules: float
    mean_resources: float
    all_cores: int

    def allowed(self, can_run: Mask, table: ReservationTable, now: float) -> Mask:
        """Return which kinds and columns can run and pass the filter."""
        accounts, segment = table.accounts, table.accounts.segment(now)
        if math.isinf(accounts.limits[segment]):
            return can_run
        end, e_rem = float(accounts.edges[segment + 1]), max(0.0, accounts.left(segment))
        r_rem = self.all_cores * (end - now) - table.planned_resources(now, end)
        if r_rem <= 0.0:
            return can_run
        budget = self.budget(e_rem, r_rem)
        passed: Mask = can_run & (self.joules <= (budget if self.per_task else budget * self.resources))
        passed.flags.writeable = False
        return passed

    def budget(self, e_rem: float, r_rem: float) -> float:
        """Return the joules that a choice may take, or its joules per core-second.

        >>> ClusterFilter(True, 2.0, np.zeros(1), np.zeros(1), 60.0, 20.0, 10).budget(600.0, 400.0)
        120.0
        """
        if not self.per_task:
            return self.leniency * e_rem / r_rem
        tasks = min(r_rem / self.mean_resources, e_rem / self.mean_joules if self.mean_joules > 0.0 else math.inf)
        return self.leniency * (e_rem / tasks if tasks > 0.0 else self.mean_joules)


def cluster_filter_of(options: ClusterOptions, period: Period, arrays: ClusterArrays) -> ClusterFilter | None:
    """Return the filter that the options specify; `None` where there is no energy constraint."""
    if options.energy_filter is None or period.energy_constraint_joules is None or not len(arrays.can_run):
        return None
    require_an_end(period)
    joules, used = arrays.joules, resources(arrays)
    means = float(joules[arrays.can_run].mean()), float(used[arrays.can_run].mean())
    all_cores = int(np.dot(arrays.node_counts, arrays.cores_per_node))
    return ClusterFilter(options.energy_filter == PER_TASK, options.factor, joules, used, *means, all_cores)


# Dropped tasks. Batch mode, before the policy is called: the most that a task could earn on any machine, in any
# P-state, right after the unmovable tasks there, whatever the energy filter says. Utility never rises, so that is its
# utility at the earliest completion, which is the same for all tasks of a type. Immediate mode, after the policy: what
# the task would earn where the policy puts it. Clusters: its utility if it started now where it is planned to run the
# fewest seconds. Less than the threshold: it is dropped.
# Source: Friese, thesis of 2015, 2.4.4, 3.3.3 and 4.3.2. Machovec et al. (2016), sections III.C and IV.C.
@compiled
def earned_at(  # noqa: PLR0913, PLR0917 - compiled
    tasks: Integers, completion: Floats, arrivals: Floats, types: Integers, functions: Integers, curves: Curves
) -> Floats:
    """Return what each task earns if it completes when its type (or kind) can at the earliest."""
    earned = np.zeros(len(tasks))
    for n in range(len(tasks)):
        task = tasks[n]
        earned[n] = utility(curves, functions[task], completion[types[task]] - arrivals[task])
    return earned


# Permuted queues: after the policy, the first k tasks of each machine's virtual queue (those behind the pending task)
# are tried in all their orders, from the end of the pending task on. The order in which they earn most together is
# kept; of equally good ones the first, counting from the policy's own. Orders in which one of them would start too late
# are not tried. The new queues are then lined up with the same checks of time and energy.
# Source: Friese, thesis of 2015, appendix A.
ROUNDING: Final = 1e-12  # an order must be better by more than this share


def permuted(made: LinedUp, arrays: DayArrays, *, now: float, ends_at: float, most: int) -> Assignments:
    """Return what was lined up with the heads of the virtual queues in their best orders."""
    tasks, columns = made.tasks.copy(), made.columns.copy()
    for head in _heads(made, now, most):
        own, orders, begin = tasks[head], orders_of(len(head)), float(made.starts[head[0]])
        seconds = arrays.seconds[arrays.task_type[own], columns[head]]
        functions, arrivals = arrays.function[own], arrays.arrivals[own]
        best = orders[best_order(orders, begin, ends_at, seconds, functions, arrivals, arrays.curves)]
        tasks[head], columns[head] = own[best], columns[head][best]
    return Assignments(tasks, made.machines, columns)


def _heads(made: LinedUp, now: float, most: int) -> Iterator[Integers]:
    """Yield the first places of each virtual queue that has several tasks, in the order of its queue."""
    virtual = np.flatnonzero(made.stays_from > now)
    by_machine = virtual[np.argsort(made.machines[virtual], kind="stable")]
    firsts = np.flatnonzero(np.diff(made.machines[by_machine])) + 1
    for queue in np.split(by_machine, firsts):
        if len(queue) > 1:
            yield queue[:most]


@cache
def orders_of(size: int) -> Integers:
    """Return all orders of `size` things, the given one first."""
    return np.array(list(permutations(range(size))), dtype=np.int64)


@compiled
def best_order(  # noqa: PLR0913, PLR0917 - compiled
    orders: Integers, begin: float, end: float, seconds: Floats, functions: Integers, arrivals: Floats, curves: Curves
) -> int:
    """Return the number of the order that earns most."""
    best, most = 0, -1.0
    for n in range(len(orders)):
        time, total, starts_in_time = begin, 0.0, True
        for k in orders[n]:
            starts_in_time = starts_in_time and time < end
            time += seconds[k]
            total += utility(curves, functions[k], time - arrivals[k])
        if starts_in_time and total > most * (1.0 + ROUNDING):
            best, most = n, total
    return best
