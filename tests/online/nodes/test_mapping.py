"""What Max Util, UPT, UPR and UPE place at a scheduling event, against their definition, on drawn states."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from lpsched.online.cluster_policies import UTILITY_AWARE as POLICIES
from models.cluster_policies import OBJECTIVES, highest_first
from tests.online.nodes.cluster_states import drawn_state, run_plainly

RNG = np.random.default_rng(0)


def by_until(placements, until):
    return [each for each in placements if each.start <= until]


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("seed", range(60))
def test_a_mapping_event_decides_as_the_definition_does(name, seed):
    state = drawn_state(np.random.default_rng(seed))
    expected = highest_first(state, OBJECTIVES[name])
    assert POLICIES[name](replace(state, until=math.inf), RNG) == expected
    # With place-holders the answer is a beginning of it, with all that starts before the next event.
    found = POLICIES[name](state, RNG)
    assert found == expected[: len(found)]
    assert by_until(found, state.until) == by_until(expected, state.until)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(25))
def test_the_loops_do_the_same_where_nothing_is_compiled(monkeypatch, seed):
    state = drawn_state(np.random.default_rng(seed))
    compiled = [policy(state, RNG) for policy in POLICIES.values()]
    run_plainly(monkeypatch)
    assert [policy(state, RNG) for policy in POLICIES.values()] == compiled
