"""A day with arriving tasks, simulated straight from the definitions: one dictionary per machine.

The clock goes from one time at which something happens to the next: a task ends, a task arrives, the grid of
mapping events has a point. At each, in this order:

    1. tasks that end there leave their machines; pending tasks start; virtual queues move up
    2. tasks arrive
    3. if it is time for a mapping event, and something can be mapped: virtual queues are emptied, tasks are
       dropped, choices are filtered, the policy is asked, its answer is lined up, heads are permuted

The twin of `lpsched/online/simulate/`, which never moves a machine from task to task. Only answers that can
be are expected of a policy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lpsched.online.simulate.state import Assignments
from models.day_mapping import MappingEvents

if TYPE_CHECKING:
    from lpsched.online.day import Day
    from lpsched.online.simulate.options import SimulationOptions
    from lpsched.online.simulate.state import Policy


@dataclass
class PlainDay:
    """What happened: (machine, column, start) of each task that ran, when tasks were dropped, the events."""

    ran: dict[int, tuple[int, int, float]] = field(default_factory=dict)
    dropped_at: dict[int, float] = field(default_factory=dict)
    event_at: list[float] = field(default_factory=list)
    refused: int = 0


def simulate(day: Day, policy: Policy, rng: np.random.Generator, options: SimulationOptions) -> PlainDay:
    """Run a day under a policy."""
    twin = _Twin(day, policy, rng, options)
    if policy.immediate:
        twin.run_one_by_one()
    else:
        twin.run_in_batches()
    twin.happened.refused = twin.refused
    return twin.happened


def decisions(answer: Any) -> list[tuple[int, int, int]]:  # noqa: ANN401 - either form of an answer
    """Return an answer as a list."""
    if isinstance(answer, Assignments):
        answer = zip(answer.tasks, answer.machines, answer.columns, strict=True)
    return [(int(task), int(machine), int(column)) for task, machine, column in answer]


class _Twin(MappingEvents):
    def __init__(self, day: Day, policy: Policy, rng: np.random.Generator, options: SimulationOptions) -> None:
        super().__init__(day, options)
        self.policy, self.rng = policy, rng
        self.unmapped: list[int] = []
        self.arrived = 0
        self.happened = PlainDay()
        self.is_endless = math.isinf(day.period.ends_at)

    def run_in_batches(self) -> None:
        """Go from time to time at which something happens."""
        every, batch, tasks = self.options.every_seconds, self.options.every_arrivals, self.day.tasks
        anchor, steps, since, expired = 0.0, 0, 0, False
        while not expired:
            tick = math.inf if every is None else anchor + (steps + 1) * every
            arrival = self.arrival(self.arrived) if self.arrived < tasks else math.inf
            now = min([tick, arrival, *self.ends()])
            if now >= self.day.period.ends_at or math.isinf(now):
                break
            self.end_tasks(now)
            while self.arrived < tasks and self.arrival(self.arrived) <= now:
                self.unmapped.append(self.arrived)
                self.arrived, since = self.arrived + 1, since + 1
            is_last = every is None and self.arrived == tasks and since > 0
            is_full = batch is not None and (since >= batch or is_last)
            if now >= tick or is_full:
                anchor, steps, since = (anchor, steps + 1, 0) if now >= tick else (now, 0, 0)
                idle = not self.ends()
                mapped = self.event(now, math.inf if every is None else anchor + (steps + 1) * every)
                expired = self.is_endless and idle and not mapped and self.arrived == tasks
            waits = self.unmapped or any(m["queue"] for m in self.machines)
            expired = expired or (self.is_endless and self.arrived == tasks and not waits)
        while self.ends():
            self.end_tasks(min(self.ends()))

    def run_one_by_one(self) -> None:
        """Map each task as it comes, for good; a machine is known by when its queue will be done."""
        free = [0.0] * len(self.machines)
        for task in range(self.day.tasks):
            now = self.arrival(task)
            if now >= self.day.period.ends_at:
                break
            ready = [max(now, time) for time in free]
            state = replace(
                self.state(now, math.inf, [task]),
                allowed=self.allowed(self.piece(now), ready),
                ready=np.array(ready),
                pending_at=np.array([now] * len(ready)),
            )
            self.happened.event_at.append(now)
            for _, m, column in self.line_up(decisions(self.policy.choose(state, self.rng)), state):
                if self.utility(task, ready[m] + self.seconds(task, column)) < self.options.drop_below:
                    self.happened.dropped_at[task] = now
                else:
                    self.becomes_unmovable(self.machines[m], (task, column), ready[m])
                    free[m] = ready[m] + self.seconds(task, column)

    def event(self, now: float, until: float) -> bool:
        """Map what can be mapped; tell whether anything was."""
        tasks = sorted(self.unmapped + [task for m in self.machines for task, _ in m["queue"]])
        if not tasks:
            return True
        for machine in self.machines:
            machine["queue"] = []
        self.happened.event_at.append(now)
        low = [task for task in tasks if self.most_utility(task, now) < self.options.drop_below]
        self.happened.dropped_at |= dict.fromkeys(low, now)
        self.unmapped = [task for task in tasks if task not in low]
        if not self.unmapped:
            return True
        permute = self.options.permute > 1 and self.options.machines == "queued"
        state = self.state(now, math.inf if permute else until, self.unmapped)
        lined_up = self.line_up(decisions(self.policy.choose(state, self.rng)), state)
        if permute:
            lined_up = self.line_up(self.permuted(lined_up, state), state)
        for task, m, column in lined_up:
            self.unmapped.remove(task)
            self.machines[m]["queue"].append((task, column))
        for machine in self.machines:
            self.move_up(machine, now)
        return bool(lined_up)

    def becomes_unmovable(self, machine: dict[str, Any], entry: tuple[int, int], start: float) -> None:
        """Note where a task runs, and charge its energy."""
        task, column = entry
        for p in range(len(self.pieces)):
            share = self.share(p, start, start + self.seconds(task, column))
            self.used[p] += self.joules(task, column) * share
        self.happened.ran[task] = (machine["number"], column, start)

    def move_up(self, machine: dict[str, Any], now: float) -> None:
        """Start what can start at this time, and let the virtual queue move up."""
        if machine["executing"] is None and machine["pending"] is not None:
            task, column = machine["pending"]
            machine["executing"], machine["pending"] = (task, column, now + self.seconds(task, column)), None
        if machine["pending"] is None and machine["queue"]:
            entry = machine["queue"].pop(0)
            if machine["executing"] is None:
                machine["executing"] = (*entry, now + self.seconds(*entry))
                self.becomes_unmovable(machine, entry, now)
                self.move_up(machine, now)
            else:
                machine["pending"] = entry
                self.becomes_unmovable(machine, entry, machine["executing"][2])

    def ends(self) -> list[float]:
        """Return when executing tasks end."""
        return [machine["executing"][2] for machine in self.machines if machine["executing"] is not None]

    def end_tasks(self, now: float) -> None:
        """Let tasks leave that end now or have ended, and move up what is behind them."""
        for machine in self.machines:
            if machine["executing"] is not None and machine["executing"][2] <= now:
                machine["executing"] = None
                self.move_up(machine, now)
