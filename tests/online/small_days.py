"""Tiny days to be run by hand-made policies, and what happened in a form that reads easily."""

from __future__ import annotations

import numpy as np

from lpsched.online.parts import WHOLE
from lpsched.online.simulate import days, machines, options
from lpsched.online.simulate import state as answers
from lpsched.online.simulate.days import simulate_day
from lpsched.online.simulate.options import SimulationOptions
from lpsched.online.simulate.state import Assignment, Policy
from tests.days import decaying, simple_day
from tests.facility.drawn import plain

COMPILED = {
    machines: ("_line_up", "_fix", "has_energy", "charge", "share"),
    answers: ("_first_broken",),
    options: ("best_order", "utility"),
    days: ("earned_at",),
}


def run_plainly(patched):
    """Let the engine's compiled loops run as they are written, in Python."""
    for module, names in COMPILED.items():
        for name in names:
            patched.setattr(module, name, plain(getattr(module, name)))


def flat_day(seconds, arrivals, *, machines=1, watts=10.0, period=WHOLE):
    """Return a day of one machine type; task n is the only one of its type, and is worth 1 for ever."""
    tasks = [(arrival, i, decaying(1.0)) for i, arrival in enumerate(arrivals)]
    rows = [[each] for each in seconds]
    day = simple_day(rows, [[watts] for _ in seconds], [machines], tasks)
    return day.model_copy(update={"period": period})


def first_come(state, rng):  # noqa: ARG001 - policies have one form
    """Map every task, in order, to the machine that is ready first."""
    ready, answer = state.ready.copy(), []
    left = state.available.tolist()
    for task, i in zip(state.tasks.tolist(), state.types.tolist(), strict=True):
        usable = [
            (ready[m], m, c)
            for m in left
            for c in np.flatnonzero(state.allowed[i]).tolist()
            if state.system.column_type[c] == state.system.machine_type[m]
        ]
        if usable:
            _, machine, column = min(usable)
            answer.append(Assignment(task, machine, column))
            ready[machine] += state.system.seconds[i, column]
            if state.polled:
                left.remove(machine)
    return answer


def run(day, choose=first_come, *, seed=0, immediate=False, cancel=None, **options):
    """Run a day under a function."""
    policy = Policy("by-hand", choose, immediate)
    rng = np.random.default_rng(seed)
    return simulate_day(day, policy, rng, SimulationOptions(**options), cancel=cancel)


def starts(made):
    """Return when each task that ran started, and on which machine, counting from 1."""
    return {each.task: (each.machine, each.start_seconds) for each in made.schedule.placed}


class Seen:
    """A policy that keeps what it saw, and answers as another one does."""

    def __init__(self, choose=first_come):
        self.choose, self.states = choose, []

    def __call__(self, state, rng):
        self.states.append(state)
        return self.choose(state, rng)
