"""Small states to ask policies about: hand-made, and drawn with as many ties and oddities as possible."""

from __future__ import annotations

import math

import numpy as np

from lpsched.online.simulate.state import State, System


def read_only(values, dtype=float):
    array = np.array(values, dtype=dtype)
    array.flags.writeable = False
    return array


def drawn_system(rng):
    """Draw a system: absent pairs, P-states in no order, zero joules, worthless functions."""
    machine_counts = rng.integers(1, 4, rng.integers(1, 4))
    p_states = rng.choice([1, 1, 2, 3], len(machine_counts))
    types, columns = int(rng.integers(1, 4)), int(p_states.sum())
    can_run = rng.random((types, columns)) < rng.choice([0.6, 1.0])
    can_run[np.arange(types), rng.integers(0, columns, types)] = True
    odd = rng.random() < 0.3
    seconds = rng.uniform(0.1, 30.0, can_run.shape) if odd else rng.choice([1.0, 2.0, 3.0, 5.0, 10.0], can_run.shape)
    joules = rng.choice([0.0, 1.0, 2.0, 5.0, 20.0], can_run.shape) * (rng.random() if odd else 1.0)
    lengths = rng.integers(1, 4, rng.integers(1, 4))
    after: list[float] = []
    high: list[float] = []
    low: list[float] = []
    rate: list[float] = []
    for length in lengths:
        values = sorted(rng.choice([0.0, 0.5, 1.0, 4.0, 8.0], 2 * length), reverse=True)
        after += [0.0, *sorted(rng.choice(np.arange(1.0, 20.0), length - 1, replace=False))]
        high, low = high + values[0::2], low + values[1::2]
        rate += list(rng.choice([0.0, 0.01, 0.2], length))
    return System(
        machine_counts=read_only(machine_counts, int),
        machine_type=read_only(np.repeat(np.arange(len(machine_counts)), machine_counts), int),
        first_column=read_only(np.cumsum([0, *p_states]), int),
        column_type=read_only(np.repeat(np.arange(len(machine_counts)), p_states), int),
        can_run=read_only(can_run, bool),
        seconds=read_only(np.where(can_run, seconds, 0.0)),
        joules=read_only(np.where(can_run, joules, 0.0)),
        first_interval=read_only(np.cumsum([0, *lengths]), int),
        after_seconds=read_only(after),
        starts_at=read_only(high),
        falls_to=read_only(low),
        rate_per_second=read_only(rate),
    )


def drawn_state(rng, most_tasks=10):
    """Draw a state of a drawn system, in the middle of the day or near its end, with little energy or plenty."""
    system, now = drawn_system(rng), float(rng.choice([0.0, 60.0, 61.7]))
    machines, tasks = (
        len(system.machine_type),
        int(rng.integers(0, most_tasks + 1) if rng.random() < 0.3 else most_tasks),
    )
    polled = bool(rng.random() < 0.3)
    kind = rng.integers(0, 3, machines)  # idle, busy, busy with a pending task
    ready = now + np.where(kind == 0, 0.0, rng.choice([1.0, 2.0, 5.0, 10.5], machines))
    pending_at = np.where(kind == 2, now + (ready - now) / 2, now)
    available = np.flatnonzero(kind == 0) if polled else np.arange(machines)
    filtered = rng.random() < 0.3
    allowed = system.can_run & (rng.random(system.can_run.shape) < (0.7 if filtered else 1.0))
    return State(
        system=system,
        now=now,
        begins_at=0.0,
        ends_at=math.inf if rng.random() < 0.5 else now + float(rng.choice([0.0, 4.0, 9.0, 15.0, 25.0])),
        until=now + float(rng.choice([0.0, 1.0, 3.0, 60.0, math.inf])),
        energy_left=math.inf if rng.random() < 0.4 else float(rng.choice([0.0, 4.0, 12.5, 30.0, 60.0])),
        allowed=read_only(allowed, bool),
        tasks=read_only(np.sort(rng.choice(50, tasks, replace=False)), int),
        arrivals=read_only(np.sort(now - rng.choice([0.0, 0.0, 1.0, 7.0, 30.0], tasks))),
        types=read_only(rng.integers(0, len(system.can_run), tasks), int),
        functions=read_only(rng.integers(0, len(system.first_interval) - 1, tasks), int),
        polled=polled,
        available=read_only(available, int),
        ready=read_only(ready),
        pending_at=read_only(pending_at),
        memory={},
    )
