"""Drafts of answers for clusters."""

from __future__ import annotations

import math

import pytest

from lpsched.online.nodes.state import PartialClusterSchedule
from lpsched.online.parts import Period
from tests.days import decaying
from tests.online.nodes.small import flat, run, times
from tests.parallel import Task, simple_clusters


def drafted(clusters, **options):
    """Return a draft of the first scheduling event."""
    found = []

    def look(state, rng):  # noqa: ARG001
        found.append(PartialClusterSchedule(state))
        draft = PartialClusterSchedule(state)
        for place in range(len(state.tasks)):
            if math.isfinite(draft.earliest(place, 0)):
                draft.take(place, 0)
        return draft.placements

    run(clusters, look, **options)
    return found[0]


def test_a_draft_knows_what_it_has_taken_and_the_state_does_not_change():
    draft = drafted(flat([(0.0, 3, 10.0), (0.0, 2, 5.0), (0.0, 1, 5.0)]))
    assert [draft.earliest(place, 0) for place in range(3)] == [0.0, 0.0, 0.0]
    assert draft.free_nodes(0) == 4
    placed = draft.take(0, 0)
    assert (placed.task, placed.start, placed.nodes) == (0, 0.0, ((0, 3),))
    assert [draft.earliest(place, 0) for place in (1, 2)] == [10.0, 0.0]
    assert [draft.starts_now(place, 0) for place in (1, 2)] == [False, True]
    assert draft.free_nodes(0) == 1
    draft.take(2, 0)
    assert draft.free_nodes(0) == 0
    assert draft.placements == [(0, 0, 0.0, ((0, 3),)), (2, 0, 0.0, ((3, 4),))]


def test_seconds_are_those_requested():
    draft = drafted(flat([(0.0, 3, 10.0, 30.0), (0.0, 3, 1.0)]))
    assert draft.seconds(0, 0) == 30.0
    draft.take(0, 0)
    assert draft.earliest(1, 0) == 30.0


def test_utility_is_that_of_the_earliest_end():
    # 8 falling to 0 at a rate of 0.1 a second: ends 10 s after its arrival.
    draft = drafted(flat([(0.0, 4, 10.0), (0.0, 4, 10.0)], utility=decaying(8.0, 0.1)))
    assert draft.utility(0, 0) == pytest.approx(8.0 * math.exp(-1.0))
    draft.take(0, 0)
    assert draft.utility(1, 0) == pytest.approx(8.0 * math.exp(-2.0))


def test_energy_is_that_within_the_day_and_is_used_up():
    # 100 J for a task of 10 s; of the third, from 20 to 30 s, half is within 25 s.
    clusters = flat([(0.0, 4, 10.0)] * 3, period=Period(0.0, 25.0, energy_constraint_joules=240.0))
    draft = drafted(clusters)
    draft.take(0, 0)
    draft.take(1, 0)
    assert draft.energy_left == 40.0
    assert draft.joules(2, 0) == 50.0
    assert not draft.fits(2, 0)


def test_nothing_fits_where_it_cannot_run_or_start():
    tasks = [Task(0.0, 2, decaying(1.0)), Task(0.0, 2, decaying(1.0))]
    draft = drafted(simple_clusters([[10.0, None]], [2, 2], tasks, period=Period(0.0, 10.0)))
    assert draft.columns(0) == [0]
    assert draft.fits(0, 0)
    assert not draft.fits(0, 1)
    draft.take(0, 0)
    assert draft.earliest(1, 0) == math.inf
    assert draft.utility(1, 0) == 0.0
    assert not draft.fits(1, 0)


def test_an_answer_of_drafts_is_what_happens():
    assert times(run(flat([(0.0, 3, 10.0), (0.0, 2, 5.0), (0.0, 1, 5.0)]))) == {0: 0.0, 1: 10.0, 2: 0.0}
