"""Simulated days: the backend of the engine for machines with queues, or polled, in batches or one by one."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from lpsched.errors import InputIssue, InstanceError
from lpsched.online.arrays import DayArrays, day_arrays
from lpsched.online.schedule import DaySchedule, schedule_of_columns
from lpsched.online.simulate.engine import NO_TASKS, Engine, SimulationTrace, TaskOutcome, Triggers
from lpsched.online.simulate.machines import NOTHING, LinedUp, Machines, accounts_of
from lpsched.online.simulate.options import POLLED, SimulationOptions, earned_at, filter_of, permuted
from lpsched.online.simulate.state import Assignments, Policy, State, System, answer_of

if TYPE_CHECKING:
    from lpsched.cancellation import CancelToken
    from lpsched.model.table import Floats, Integers, Mask
    from lpsched.online.day import Day


def simulate_day(
    day: Day, policy: Policy, rng: np.random.Generator, options: SimulationOptions, *, cancel: CancelToken | None = None
) -> SimulationTrace[DaySchedule]:
    """Simulate a day under a policy."""
    return (OneByOne if policy.immediate else Batches)(day, policy, rng, options, cancel).run()


MOST_MACHINES: Final = 10_000_000  # each has its own queue


def system_of(arrays: DayArrays) -> System:
    """Return what does not change while a day runs."""
    counts = arrays.machine_counts
    if int(counts.sum()) > MOST_MACHINES:
        found, needed = f"{int(counts.sum()):,} machines", f"at most {MOST_MACHINES:,} in all"
        issue = InputIssue(("machine_types",), found, needed, "take fewer machines, and as many fewer tasks")
        raise InstanceError("simulating the day", (issue,))
    system = System(
        machine_counts=counts,
        machine_type=np.repeat(np.arange(len(counts)), counts),
        first_column=np.searchsorted(arrays.mode_type, np.arange(len(counts) + 1)),
        column_type=arrays.mode_type,
        can_run=arrays.can_run,
        seconds=arrays.seconds,
        joules=arrays.seconds * arrays.watts,
        **arrays.curves._asdict(),
    )
    for name in System.__dataclass_fields__:
        getattr(system, name).flags.writeable = False
    return system


class _DayEngine(Engine[State, Assignments, DaySchedule]):
    """What batch and immediate mode share: machines, their energy, and what a policy sees of them."""

    subject: ClassVar[str] = "the day"
    done: ClassVar[str] = "mapped"
    answers: ClassVar[str] = "assignments"
    ask = staticmethod(answer_of)
    instance: Day
    options: SimulationOptions
    policy: Policy

    def _set_up(self) -> None:
        period, self.arrays = self.instance.period, day_arrays(self.instance)
        self.system = system_of(self.arrays)
        self.accounts = accounts_of(period)
        self.is_polled = self.options.machines == POLLED
        self.filter = filter_of(self.options, period, self.system)
        self.machines = Machines(self.system, self.accounts)
        self.all_machines = np.arange(len(self.system.machine_type))
        self.machine_of = np.zeros(self.instance.tasks, np.int64)
        self.ready: Floats = np.zeros(0)  # when each machine has done its unmovable tasks

    def _look(self, now: float) -> None:
        self.ready = self.machines.ready(now)

    def _most_utility(self, tasks: Integers, now: float) -> Floats:  # noqa: ARG002 - machines are not ready before now
        system, arrays = self.system, self.arrays
        first = np.cumsum(system.machine_counts) - system.machine_counts
        completion = np.minimum.reduceat(self.ready, first)[system.column_type] + system.seconds
        earliest = np.where(system.can_run, completion, np.inf).min(axis=1)  # of each type; infinite: nothing runs it
        return earned_at(tasks, earliest, arrays.arrivals, arrays.task_type, arrays.function, arrays.curves)

    def _seen(self, now: float, *, until: float, available: Integers, pending_at: Floats) -> State:
        segment, tasks, arrays = self.accounts.segment(now), self.waiting, self.arrays
        ready, system = self.ready, self.system
        allowed = system.can_run if self.filter is None else self.filter.allowed(system, self.accounts, ready, segment)
        state = State(
            system=system,
            now=now,
            begins_at=float(self.accounts.edges[segment]),
            ends_at=self.accounts.ends_at(segment),
            until=until,
            energy_left=self.accounts.left(segment),
            allowed=allowed,
            tasks=tasks,
            arrivals=arrays.arrivals[tasks],
            types=arrays.task_type[tasks],
            functions=arrays.function[tasks],
            polled=self.is_polled,
            available=available,
            ready=ready,
            pending_at=pending_at,
            memory=self.memory,
        )
        for array in (tasks, state.arrivals, state.types, state.functions, available, state.ready, pending_at):
            array.flags.writeable = False
        return state

    def _line_up(self, decided: Assignments, state: State) -> LinedUp:
        """Return the decisions that can be carried out, and count the others."""
        made = self.machines.line_up(decided, self.arrays.task_type[decided.tasks], now=state.now)
        self.rejected += len(decided.tasks) - len(made.tasks)
        self.has_mapped = self.has_mapped or len(made.tasks) > 0
        return made

    def _fix(self, made: LinedUp) -> None:
        """Fix tasks to their machines, and charge their energy."""
        self.machines.fix(made, self.arrays.task_type[made.tasks])
        self.outcomes[made.tasks] = TaskOutcome.RAN
        self.starts[made.tasks] = made.starts
        self.machine_of[made.tasks], self.columns[made.tasks] = made.machines, made.columns

    def _fits_now(self, state: State) -> Mask:
        system, free = self.system, state.available[state.ready[state.available] < state.ends_at]
        has_free = np.isin(system.column_type, system.machine_type[free])
        fits: Mask = state.allowed & has_free & (system.joules <= state.energy_left)
        return fits[state.types]

    def _schedule(self, ran: Integers) -> DaySchedule:
        system = self.system
        machines, columns = self.machine_of[ran], self.columns[ran]
        first = np.cumsum(system.machine_counts) - system.machine_counts
        numbers = machines - first[system.machine_type[machines]] + 1 if len(ran) else machines
        rows = zip(ran.tolist(), columns.tolist(), numbers.tolist(), self.starts[ran].tolist(), strict=True)
        return schedule_of_columns(self.instance, rows)


# Immediate mode: each arrival is a scheduling event of that one task, and what is mapped stays mapped. Tasks that
# arrive at once are mapped one after the other by number. A task that would earn too little where the policy puts it is
# dropped. One that the policy does not map, or that does not fit there, is not considered again.
# Source: Friese, thesis of 2015, 2.4.1, 2.4.2 and 2.4.4.
class OneByOne(_DayEngine):
    """A day simulated arrival by arrival."""

    one_by_one = True

    def _misfits(self) -> Iterator[InputIssue]:
        if self.options.machines == POLLED:
            found, needed = f"policy {self.policy.name!r}, which maps each task as it comes", "machines with queues"
            yield InputIssue(("machines",), found, needed, "choose queued machines, or a policy of batch mode")

    def _next_event(self, now: float) -> float:  # noqa: ARG002 - every arrival brings one
        return self._next_arrival()

    def _count_arrived(self, now: float) -> int:  # noqa: ARG002 - even if they arrive at once
        return self.arrived + 1

    def _settle(self, now: float) -> bool:  # noqa: ARG002 - what is mapped stays mapped
        return False

    def _see(self, now: float) -> State:
        pending_at = np.full(len(self.ready), now)
        return self._seen(now, until=math.inf, available=self.all_machines, pending_at=pending_at)

    def _carry_out(self, answer: Assignments, state: State) -> Integers:
        """Fix the task where it was put, unless it would earn too little there."""
        made, below = self._line_up(answer, state), self.options.drop_below
        for task, end in zip(made.tasks.tolist(), made.ends.tolist(), strict=True):  # one at most
            if below > 0.0 and self.instance.utility_of(task).at(end - float(self.arrays.arrivals[task])) < below:
                self._drop(made.tasks, state.now)
            else:
                self._fix(made)
        return NO_TASKS


# Batch mode: at a scheduling event all waiting tasks are mapped, those in virtual queues anew. What has become
# unmovable since the last event stays. Decisions that break the energy constraint, or would start too late, are left
# out and wait (`machines.py`). Then the heads of the virtual queues are put into their best order (`options.py`).
# Polled machines get one task each if they are idle, which starts at once.
# Source: Friese, thesis of 2015, 2.4.1, 3.3.1 and 4.3.1.
class Batches(_DayEngine):
    """A day simulated event by event; waiting tasks may be queued."""

    def _set_up(self) -> None:
        super()._set_up()
        self.triggers = Triggers(self.options, self.arrivals)
        self.queued = NOTHING
        self.stands_still = False  # idle machines, and a policy that maps nothing
        self.permute = self.options.permute > 1 and not self.is_polled

    def _misfits(self) -> Iterator[InputIssue]:
        if self.options.every_arrivals is None:
            yield from super()._misfits()

    def _next_event(self, now: float) -> float:
        triggers, queued = self.triggers, self.queued
        # Will there be something to map at the next point of the grid, even if nothing arrives before?
        waits = len(self.waiting) > len(queued.tasks) or float(queued.stays_from.max(initial=0.0)) > triggers.tick
        if self.arrived == len(self.arrivals) and (not waits or (self.stands_still and math.isinf(self.ends_at))):
            return math.inf
        triggers.pass_over(self._first_opening, self._next_arrival())
        return triggers.next_event(now, self.arrived, something_waits=waits)

    def _first_opening(self) -> float:
        """Return when a machine may first take a task that is not surely mapped by the next event."""
        if self.is_polled:
            return float(self.machines.last_end.min())
        last_start, soon = self.machines.last_start.copy(), self.queued.stays_from <= self.triggers.tick
        np.maximum.at(last_start, self.queued.machines[soon], self.queued.starts[soon])
        return float(last_start.min())

    def _settle(self, now: float) -> bool:
        if not len(self.queued.tasks):
            return False
        stays = self.queued.stays_from <= now
        self._fix(self.queued if stays.all() else self.queued.keep(stays))
        self.queued = NOTHING
        return True

    def _see(self, now: float) -> State:
        available, pending_at = self.all_machines, self.machines.pending_at(now)
        if self.is_polled:
            available, pending_at = np.flatnonzero(self.ready <= now), self.ready
        until = math.inf if self.permute else self.triggers.tick  # what comes behind the head may be put into it
        return self._seen(now, until=until, available=available, pending_at=pending_at)

    def _carry_out(self, answer: Assignments, state: State) -> Integers:
        """Queue what was mapped; on polled machines it starts."""
        self.queued = self._line_up(answer, state)
        if self.permute:
            most = self.options.permute
            best = permuted(self.queued, self.arrays, now=state.now, ends_at=state.ends_at, most=most)
            self.queued = self._line_up(best, state)
        self.stands_still = not len(self.queued.tasks) and bool((state.ready <= state.now).all())
        if self.is_polled and self._settle(state.now):
            left: Integers = state.tasks[self.outcomes[state.tasks] == TaskOutcome.WAITING]
            return left
        return state.tasks
