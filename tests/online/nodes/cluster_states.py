"""Small states of clusters to ask policies about: hand-made, and drawn with many ties and oddities."""

from __future__ import annotations

import math

import numpy as np

from lpsched.online import cluster_policies as utility_aware
from lpsched.online.arrays import ClusterArrays, cluster_arrays
from lpsched.online.nodes import free_slots, greedy
from lpsched.online.nodes import reservations as profile
from lpsched.online.nodes.reservations import Profile
from lpsched.online.nodes.state import ClusterState
from tests.online.states import drawn_system, read_only

MODULES = (free_slots, greedy, profile, utility_aware)


def run_plainly(monkeypatch):
    """Put plain functions in the place of all compiled ones, so that coverage sees them."""
    for module in MODULES:
        for name, value in vars(module).items():
            if hasattr(value, "py_func"):
                monkeypatch.setattr(module, name, value.py_func)


def state_of(clusters, now=0.0, **others):
    """Return the state in which all tasks of clusters wait, and every node is free."""
    arrays = cluster_arrays(clusters)
    given = {
        "arrays": arrays,
        "now": now,
        "ends_at": clusters.period.ends_at,
        "energy_left": math.inf,
        "tasks": np.arange(clusters.tasks),
        "allowed": arrays.can_run[arrays.kind],
        "profiles": tuple(Profile(int(nodes)) for nodes in arrays.node_counts),
        "reservations": 0,
        "memory": {},
    }
    return ClusterState(**(given | others))


def drawn_arrays(rng, tasks, now):
    """Draw kinds, clusters and tasks: pairs that cannot run, no watts, worthless functions, long requests."""
    system = drawn_system(rng)
    kinds = len(system.can_run)
    clusters = len(system.machine_counts)
    nodes_of_cluster = rng.integers(1, 7, clusters)
    nodes = np.repeat(nodes_of_cluster, np.diff(system.first_column))[np.newaxis, :]
    taken = rng.integers(1, nodes.repeat(kinds, axis=0) + 1)
    watts = np.where(system.can_run, rng.choice([0.0, 1.0, 2.0, 5.0], system.can_run.shape), 0.0)
    seconds = system.seconds
    return ClusterArrays(
        arrivals=read_only(np.sort(now - rng.choice([0.0, 0.0, 1.0, 7.0, 30.0], tasks))),
        kind=read_only(rng.integers(0, kinds, tasks), int),
        function=read_only(rng.integers(0, len(system.first_interval) - 1, tasks), int),
        task_type=read_only(np.zeros(kinds), int),
        cores=read_only(np.ones(kinds), int),
        node_counts=read_only(nodes_of_cluster, int),
        cores_per_node=read_only(rng.integers(1, 5, clusters), int),
        column_cluster=system.column_type,
        first_column=system.first_column,
        nodes=read_only(np.where(system.can_run, taken, 0), int),
        can_run=system.can_run,
        seconds=seconds,
        requested_seconds=read_only(seconds * rng.choice([1.0, 1.5, 4.0], (kinds, 1))),
        watts=read_only(watts),
        joules=read_only(seconds * watts),
        first_interval=system.first_interval,
        after_seconds=system.after_seconds,
        starts_at=system.starts_at,
        falls_to=system.falls_to,
        rate_per_second=system.rate_per_second,
    )


def drawn_profile(rng, nodes, now):
    """Draw what runs and what is reserved on a cluster; sometimes nothing."""
    drawn = Profile(nodes)
    if rng.random() < 0.8:  # as the engine does
        drawn.forget_before(now)
    for task in range(100, 100 + int(rng.integers(0, 5))):
        count, seconds = int(rng.integers(1, nodes + 1)), float(rng.choice([1.0, 2.0, 5.0, 8.5]))
        start = drawn.earliest(count, seconds, now + float(rng.choice([0.0, 0.0, 2.0, 6.0])))
        drawn.insert(task, start, start + seconds, drawn.choose(count, seconds, start))
    return drawn


def drawn_state(rng, most_tasks=9):
    """Draw a state, in the middle of the day or near its end, with little energy or plenty."""
    now = float(rng.choice([0.0, 60.0, 61.7]))
    arrays = drawn_arrays(rng, 50, now)
    tasks = np.sort(rng.choice(50, int(rng.integers(1, most_tasks + 1)), replace=False))
    allowed = arrays.can_run[arrays.kind[tasks]] & (
        rng.random((len(tasks), arrays.can_run.shape[1])) < rng.choice([0.7, 1.0])
    )
    return ClusterState(
        arrays=arrays,
        now=now,
        ends_at=math.inf if rng.random() < 0.5 else now + float(rng.choice([0.0, 4.0, 9.0, 15.0, 25.0])),
        energy_left=math.inf if rng.random() < 0.4 else float(rng.choice([0.0, 4.0, 12.5, 30.0, 60.0])),
        tasks=read_only(tasks, int),
        allowed=read_only(allowed, bool),
        profiles=tuple(drawn_profile(rng, int(nodes), now) for nodes in arrays.node_counts),
        reservations=0,
        memory={},
        until=now + float(rng.choice([0.0, 1.0, 3.0, 60.0])),
    )
