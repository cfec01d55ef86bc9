"""Drafts of own policies: choices, and what is left after each decision."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from lpsched.online.simulate.state import PartialSchedule
from models.policies import Event
from tests.online.states import drawn_state


@pytest.mark.parametrize("seed", range(40))
def test_a_draft_knows_the_choices_that_the_definition_knows(seed):
    rng = np.random.default_rng(seed)
    state = drawn_state(rng)
    draft, event = PartialSchedule(state), Event(state)
    for place in rng.permutation(len(state.tasks)).tolist():
        known = {(choice.machine, choice.column): choice for choice in event.choices(place)}
        assert sorted(draft.choices(place)) == sorted(known)
        for pair, choice in known.items():
            assert draft.end(place, *pair) == choice.end
            assert draft.utility(place, *pair) == choice.utility
            assert draft.joules(place, *pair) == choice.counted_joules
        if known:
            pair = list(known)[int(rng.integers(len(known)))]
            draft.take(place, *pair)
            event.take(known[pair])
    assert draft.assignments == event.mapped
    assert draft.energy_left == event.energy_left


def test_a_run_that_crosses_the_end_of_the_day_counts_by_its_part_before_it():
    state = next(
        state
        for state in (drawn_state(np.random.default_rng(seed)) for seed in range(100))
        if len(state.tasks)
        and not state.polled
        and state.allowed[state.types[0]].all()
        and state.system.joules.min() > 0
    )
    start, seconds = float(state.ready[0]), float(state.system.seconds[state.types[0], 0])
    joules = float(state.system.joules[state.types[0], 0])
    crossing = replace(state, ends_at=start + seconds / 4, energy_left=joules / 4)  # a quarter is before the end
    assert PartialSchedule(crossing).fits(0, 0, 0)
    assert PartialSchedule(crossing).joules(0, 0, 0) == pytest.approx(joules / 4)
    assert not PartialSchedule(replace(crossing, energy_left=joules / 5)).fits(0, 0, 0)
    assert not PartialSchedule(replace(crossing, ends_at=start, energy_left=math.inf)).fits(0, 0, 0)
