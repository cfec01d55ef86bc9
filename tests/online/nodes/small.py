"""Tiny clusters to be run by hand-made policies, and what happened in a form that reads easily."""

from __future__ import annotations

import numpy as np

from lpsched.online.nodes.clusters import simulate_clusters
from lpsched.online.nodes.state import ClusterPolicy, PartialClusterSchedule
from lpsched.online.parts import WHOLE
from lpsched.online.simulate.options import ClusterOptions
from tests.days import decaying
from tests.parallel import Task, simple_clusters


def flat(tasks, *, nodes=4, watts=10.0, period=WHOLE, utility=None, **others):
    """Return one cluster; tasks are (arrival, nodes, seconds) or (arrival, nodes, seconds, requested)."""
    worth = utility or decaying(1.0)
    made = [
        Task(arrival, count, worth, work=seconds, requested=more[0] if more else None)
        for arrival, count, seconds, *more in tasks
    ]
    return simple_clusters([[1.0]], [nodes], made, watts=[[watts]], period=period, **others)


def first_come(state, rng):  # noqa: ARG001 - policies have one form
    """Place every task in order, in the first column that it may run in, as early as it can start."""
    draft = PartialClusterSchedule(state)
    for place in range(len(state.tasks)):
        columns = draft.columns(place)
        if columns and np.isfinite(draft.earliest(place, columns[0])):
            draft.take(place, columns[0])
    return draft.placements


def run(clusters, place=first_come, *, seed=0, cancel=None, policy=None, placeholders=False, **options):
    """Run clusters under a function, or a policy; with a scheduling event at each arrival and each end."""
    policy = policy or ClusterPolicy("by-hand", place, placeholders=placeholders)
    made = ClusterOptions(**{"every_seconds": None} | options)
    return simulate_clusters(clusters, policy, np.random.default_rng(seed), made, cancel=cancel)


def starts(made):
    """Return when each task that ran started, and on which nodes, counting from 1."""
    return {each.task: (each.start_seconds, each.nodes) for each in made.schedule.placed}


def times(made):
    """Return when each task that ran started."""
    return {each.task: each.start_seconds for each in made.schedule.placed}


class Seen:
    """A policy that keeps what it saw, and answers as another one does."""

    def __init__(self, place=first_come):
        self.place, self.states = place, []

    def __call__(self, state, rng):
        self.states.append(state)
        return self.place(state, rng)
