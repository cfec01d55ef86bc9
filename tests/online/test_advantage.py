"""What gains most first: by hand, and equal to a plain definition that looks at everything again each time."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from lpsched.online.simulate import pairs as advantage
from lpsched.online.simulate.mapping import frozen, view_of
from lpsched.online.simulate.pairs import Terms
from lpsched.online.simulate.state import PartialSchedule
from tests.online.plain_loops import run_plainly
from tests.online.states import drawn_state


def drawn_terms(rng, state):
    cost = rng.choice([0.0, 0.5, 1.0, 3.0], state.system.seconds.shape)
    later = state.now + float(rng.choice([0.0, 3.0, 10.0]))
    soon = state.now + float(rng.choice([0.5, 5.0, 60.0]))
    return Terms(frozen(cost), soon, later, float(rng.choice([0.0, 0.9, 1.0])), bool(rng.random() < 0.3))


def one_limit_only(state, rng):
    """A run that is cut by the end of the day takes less energy the later it starts: left out here."""
    return replace(state, energy_left=math.inf) if rng.random() < 0.5 else replace(state, ends_at=math.inf)


def part(state, terms, start, seconds):
    if start + seconds <= state.ends_at:
        return 1.0
    return 0.0 if terms.whole else (state.ends_at - start) / seconds


def hold(state, terms, place):
    draft, i = PartialSchedule(state), state.types[place]
    draft.ready[:] = terms.later
    draft.free[:] = True
    worth = [0.0]
    for column, j in enumerate(state.system.column_type):
        machine = int(state.system.machine_counts[:j].sum())
        if draft.fits(place, machine, column):
            share = part(state, terms, terms.later, state.system.seconds[i, column])
            worth.append(share * (draft.utility(place, machine, column) - terms.cost[i, column]))
    return terms.patience * max(worth)


def plain_definition(state, terms):
    draft, waiting = PartialSchedule(state), list(range(len(state.tasks)))
    while True:
        best = None
        for place in waiting:
            i = state.types[place]
            for machine, column in draft.choices(place):
                start, seconds = float(draft.ready[machine]), float(state.system.seconds[i, column])
                surplus = draft.utility(place, machine, column) - terms.cost[i, column]
                gain = (part(state, terms, start, seconds) * surplus - hold(state, terms, place)) / seconds
                if start < terms.soon and gain > 0.0 and (best is None or gain > best[0]):
                    best = gain, place, machine, column
        if best is None:
            return [tuple(each) for each in draft.assignments]
        waiting.remove(best[1])
        draft.take(*best[1:])


def answer(state, terms):
    mapping = advantage.most_gaining_first(view_of(state), terms)
    count = int(mapping.done[0])
    tasks = state.tasks[mapping.tasks[:count]].tolist()
    return list(zip(tasks, mapping.machines[:count].tolist(), mapping.columns[:count].tolist(), strict=True))


@pytest.mark.parametrize("seed", range(300))
def test_it_maps_what_a_plain_definition_maps(seed):
    rng = np.random.default_rng(seed)
    state = one_limit_only(drawn_state(rng), rng)
    terms = drawn_terms(rng, state)
    assert answer(state, terms) == plain_definition(state, terms)


@pytest.mark.slow
def test_it_does_the_same_in_plain_python(monkeypatch):
    rng = np.random.default_rng(5)
    for _ in range(20):
        state = drawn_state(rng)
        terms = drawn_terms(rng, state)
        compiled = answer(state, terms)
        with monkeypatch.context() as patched:
            run_plainly(patched)
            for name, value in list(vars(advantage).items()):
                if hasattr(value, "py_func"):
                    patched.setattr(advantage, name, value.py_func)
            assert answer(state, terms) == compiled


def test_what_starts_after_the_next_event_is_left_for_it():
    rng = np.random.default_rng(1)
    for _ in range(50):
        state = drawn_state(rng)
        terms = drawn_terms(rng, state)._replace(soon=state.now + 1.0)
        ready = {m: float(state.ready[m]) for m in range(len(state.ready))}
        for task, machine, column in answer(state, terms):
            assert ready[machine] < terms.soon
            place = state.tasks.tolist().index(task)
            ready[machine] += float(state.system.seconds[state.types[place], column])
