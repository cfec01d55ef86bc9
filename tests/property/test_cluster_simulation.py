"""The engine for clusters and its plain twin agree on random tiny clusters, whatever the policy does."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsched.errors import InstanceError, StalledError
from lpsched.online.arrays import cluster_arrays
from lpsched.online.cluster_policies import cluster_policy
from lpsched.online.nodes.clusters import simulate_clusters
from lpsched.online.nodes.state import ClusterPolicy, PartialClusterSchedule
from lpsched.online.parts import WHOLE
from lpsched.online.simulate.engine import TaskOutcome
from lpsched.online.simulate.options import ClusterOptions
from lpsched.online.verify.clusters import examine
from models.backfilling import POLICIES as BACKFILLING
from models.cluster_first_come import POLICIES
from models.cluster_simulation import simulate
from tests.property.parallel import UTILITY, parallel_clusters

SEEDS = st.integers(0, 2**32 - 1)

FEW = settings(max_examples=25, deadline=None)


def at_random(draft, rng):
    """Place some of the tasks anywhere, as early as they can start, whether there is energy or not."""
    for place in rng.permutation(len(draft.kinds)).tolist():
        columns = draft.columns(place)
        if columns and rng.random() < 0.8:
            column = columns[rng.integers(len(columns))]
            if np.isfinite(draft.earliest(place, column)):
                draft.take(place, column)


def in_draft(function):
    """Return a policy that fills the engine's draft."""

    def place(state, rng):
        draft = PartialClusterSchedule(state)
        function(draft, rng)
        return draft.placements

    return place


@st.composite
def options_of(draw, *, drops=True):
    """Draw any options."""
    which = draw(st.sampled_from([None, None, "per-task", "per-resource"]))
    return ClusterOptions(
        every_seconds=draw(st.sampled_from([None, 7.0, 3.0, 0.7])),
        drop_below=draw(st.sampled_from([0.0, 0.0, 0.5, 3.0])) if drops else 0.0,
        energy_filter=which,
        leniency=draw(st.sampled_from([None, 0.5, 1.0, 3.0])) if which else None,
    )


def what_happened(clusters, policy, seed, options):
    """Run the engine; return what happened in the twin's form, and the result."""
    made = simulate_clusters(clusters, policy, np.random.default_rng(seed), options)
    columns = {
        (clusters.clusters[c].name, clusters.p_state(column)): column for column, (c, _) in enumerate(clusters.modes)
    }
    ran = {
        each.task: (
            columns[each.cluster, each.p_state],
            each.start_seconds,
            [n - 1 for first, last in each.nodes for n in range(first, last + 1)],
        )
        for each in made.schedule.placed
    }
    dropped = np.flatnonzero(made.outcomes == TaskOutcome.DROPPED).tolist()
    return made, (ran, {n: made.dropped_at[n] for n in dropped}, made.event_at.tolist(), made.rejected)


@contextlib.contextmanager
def unless_nothing_to_do():
    """Pass over policies that place nothing all day, and days too short for an event."""
    try:
        yield
    except (StalledError, InstanceError) as error:
        text = str(error)
        assert "nothing at" in text or "have to run" in text or "no scheduling event" in text or "end" in text


@pytest.mark.parametrize("placeholders", [False, True])
@given(clusters=parallel_clusters(judged=UTILITY), options=options_of(), seed=SEEDS)
@FEW
def test_the_engine_and_its_twin_agree_whatever_the_policy_does(placeholders, clusters, options, seed):
    policy = ClusterPolicy("any", in_draft(at_random), placeholders=placeholders)
    with unless_nothing_to_do():
        made, happened = what_happened(clusters, policy, seed, options)
        twin = simulate(clusters, at_random, np.random.default_rng(seed), options, placeholders=placeholders)
        assert happened == (twin.ran, twin.dropped_at, twin.event_at, twin.refused)
        assert examine(clusters, made.schedule).violations == ()


@pytest.mark.parametrize("name", POLICIES)
@given(clusters=parallel_clusters(), options=options_of(drops=False), seed=SEEDS)
@FEW
def test_policies_in_the_order_of_arrival_and_their_twins_agree(name, clusters, options, seed):
    with unless_nothing_to_do():
        made, happened = what_happened(clusters, cluster_policy(name), seed, options)
        twin = simulate(clusters, POLICIES[name], np.random.default_rng(seed), options, drops=False, filtered=False)
        assert happened == (twin.ran, twin.dropped_at, twin.event_at, twin.refused)
        assert examine(clusters, made.schedule).violations == ()


class Promised:
    """A policy that keeps the last start that each task was promised, and how many reservations it saw."""

    def __init__(self, name):
        self.policy = cluster_policy(name)
        self.starts, self.reservations = {}, []

    def __call__(self, state, rng):
        answer = self.policy.place(state, rng)
        self.starts |= {each.task: each.start for each in answer}
        self.reservations.append(state.reservations)
        return answer


@pytest.mark.parametrize("name", ["easy-nodes", "conservative-nodes", "multiple-queues"])
@given(clusters=parallel_clusters(most_tasks=10), every=st.sampled_from([None, 3.0]))
@FEW
def test_no_reservation_is_ever_delayed_and_easy_has_one_at_most(name, clusters, every):
    promised = Promised(name)
    policy = ClusterPolicy(name, promised, drops=False, filtered=False)
    with unless_nothing_to_do():
        made = simulate_clusters(clusters, policy, np.random.default_rng(0), ClusterOptions(every_seconds=every))
        began = {each.task: each.start_seconds for each in made.schedule.placed}
        assert all(began[task] <= promised.starts[task] for task in began)
        assert made.rejected or began.keys() == promised.starts.keys()
        asked = clusters.arriving.requested_factors.tolist()
        if asked == clusters.arriving.work_factors.tolist() and not made.rejected:
            assert began == promised.starts
        if name == "easy-nodes":
            assert max(promised.reservations, default=0) <= 1


@pytest.mark.parametrize("name", BACKFILLING)
@given(clusters=parallel_clusters(most_tasks=10), options=options_of(drops=False))
@FEW
def test_backfilling_on_counts_of_nodes_makes_valid_schedules_and_lets_no_task_starve(name, clusters, options):
    with unless_nothing_to_do():
        made = simulate_clusters(clusters, cluster_policy(name), np.random.default_rng(0), options)
        assert examine(clusters, made.schedule).violations == ()
        if clusters.period == WHOLE:
            assert (made.outcomes == TaskOutcome.RAN).all()
        began = {each.task: (each.start_seconds, each.cluster) for each in made.schedule.placed}
        own = (cluster_arrays(clusters).can_run.sum(axis=1) == 1).all()
        if name == "fcfs" and own and clusters.period == WHOLE:  # on one cluster, none before an earlier task
            for cluster in clusters.clusters:
                in_order = [start for _, (start, where) in sorted(began.items()) if where == cluster.name]
                assert in_order == sorted(in_order)
