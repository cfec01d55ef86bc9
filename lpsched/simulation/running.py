"""A day on its way: the tasks that have come, the machines, the energy, and what a policy sees of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lpsched.errors import Fault, InstanceError, StalledError
from lpsched.instance.day_arrays import day_arrays
from lpsched.simulation.accounts import accounts_of
from lpsched.simulation.dropping import most_utility
from lpsched.simulation.filters import filter_of
from lpsched.simulation.happened import Fate, Happened
from lpsched.simulation.machines import Machines
from lpsched.simulation.options import POLLED
from lpsched.simulation.state import State
from lpsched.simulation.system import system_of

if TYPE_CHECKING:
    from lpsched.instance.array_types import Floats, Integers
    from lpsched.instance.day import Day
    from lpsched.simulation.machines import LinedUp
    from lpsched.simulation.options import SimulationOptions
    from lpsched.simulation.policy import Policy
    from lpsched.simulation.state import Assignments
    from lpsched.watch import Watch

TELL_EVERY: Final = 256  # mapping events
MOST_EVENTS: Final = 5_000_000  # of batch mode: one a minute for ten years


class RunningDay:
    """What both modes share."""

    def __init__(
        self, day: Day, policy: Policy, rng: np.random.Generator, options: SimulationOptions, watch: Watch
    ) -> None:
        self.day, self.policy, self.rng, self.options, self.watch = day, policy, rng, options, watch
        self.arrays = day_arrays(day)
        self.system = system_of(self.arrays)
        self.accounts = accounts_of(day.period)
        self.is_polled = options.machines == POLLED
        self.filter = filter_of(options, day.period, self.system)
        self.ends_at = day.period.ends_at
        self.machines = Machines(len(self.system.machine_type))
        self.all_machines = np.arange(len(self.system.machine_type))
        self.happened = Happened(day.tasks)
        self.memory: dict[str, Any] = {}
        self.has_mapped = False
        self.could_map_at: float | None = None  # when a policy could first have mapped something

    def seen(  # noqa: PLR0913 - options are keyword-only
        self,
        now: float,
        tasks: Integers,
        *,
        until: float,
        available: Integers,
        ready: Floats,
        pending_at: Floats,
    ) -> State:
        """Return the present as a policy sees it."""
        piece = self.accounts.piece(now)
        allowed = self.system.can_run
        if self.filter is not None:
            allowed = self.filter.allowed(self.system, self.accounts, ready, piece)
        arrays = self.arrays
        state = State(
            system=self.system,
            now=now,
            begins_at=float(self.accounts.edges[piece]),
            ends_at=self.accounts.ends_at(piece),
            until=until,
            energy_left=self.accounts.left(piece),
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
        for array in (
            tasks, state.arrivals, state.types, state.functions, available, ready, pending_at
        ):  # fmt: skip
            array.flags.writeable = False
        return state

    def line_up(self, decided: Assignments, state: State) -> LinedUp:
        """Return what of the decisions can be done, and note how much that is."""
        types = self.arrays.task_type[decided.tasks]
        made = self.machines.line_up(decided, types, self.system, self.accounts, now=state.now)
        self.happened.refused += len(decided.tasks) - len(made.tasks)
        self.has_mapped = self.has_mapped or len(made.tasks) > 0
        if not self.has_mapped and self.could_map_at is None and self._could_map(state):
            self.could_map_at = state.now
        return made

    def fix(self, made: LinedUp) -> None:
        """Let tasks stay where they are, and charge their energy."""
        self.machines.fix(made, self.arrays.task_type[made.tasks], self.system, self.accounts)
        self.happened.run(made)

    def refuse_too_many_events(self, now: float) -> None:
        """Refuse to go on for ever.

        Raises
        ------
        InstanceError
            If there have been too many mapping events.
        """
        if len(self.happened.event_at) >= MOST_EVENTS:
            found = f"{MOST_EVENTS:,} mapping events by {now!r} s, and no end"
            fault = Fault(("every_seconds",), found, "fewer", "map tasks less often")
            raise InstanceError("simulating the day", (fault,))

    def tell(self, now: float) -> None:
        """Let those who watch know how far the day is, now and then."""
        events = len(self.happened.event_at)
        if events % TELL_EVERY == 0:
            self.watch.tell(f"{self.policy.name}: {now / 3600:.1f} h, {events:,} mapping events")

    def raise_if_stalled(self) -> None:
        """Refuse a day in which nothing was mapped, though something could have been.

        Raises
        ------
        StalledError
            If that is so.
        """
        if self.has_mapped or self.could_map_at is None:
            return
        tasks, events = int((self.happened.fates == Fate.WAITING).sum()), len(self.happened.event_at)
        what = f"policy {self.policy.name!r} mapped nothing at {events:,} mapping events"
        though = f"though some of its {tasks:,} tasks fitted, the first at {self.could_map_at!r} s"
        raise StalledError(f"{what}, {though}; let it return assignments of some of state.tasks")

    def _could_map(self, state: State) -> bool:
        """Tell whether some task would earn something, and fits."""
        free = state.available[state.ready[state.available] < state.ends_at]
        types = np.zeros(len(self.system.machine_counts), dtype=bool)
        types[self.system.machine_type[free]] = True
        fits = state.allowed & types[self.system.column_type] & (self.system.joules <= state.energy_left)
        earns = most_utility(self.arrays, self.system, state.tasks, state.ready) > 0.0
        return bool((fits[state.types].any(axis=1) & earns).any())
