"""Tasks that cannot change what happens next are put aside, and mapped as soon as they could."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from models.policies import DEFINITIONS
from tests.contract.test_policies import asked, in_order_of, unmovable_at
from tests.online.plain_loops import run_plainly
from tests.online.states import drawn_state
from tests.selection import PLAIN

FIRST = 10_000  # of the drawn states, some of which have what is looked for


@pytest.mark.parametrize("way", ["compiled", PLAIN])
def test_what_is_put_aside_changes_nothing_by_the_next_event(way, monkeypatch):
    if way == "plain":
        run_plainly(monkeypatch)
    left_out = mapped_later = 0
    for seed in range(FIRST, FIRST + 400):
        state = replace(drawn_state(np.random.default_rng(seed)), energy_left=math.inf)
        answer = asked("fcfs", state)
        defined = [
            tuple(each) for each in DEFINITIONS["fcfs"](replace(state, memory={}), np.random.default_rng(1), 0.0)
        ]
        assert in_order_of(answer, defined), seed
        assert all(at > state.until for at in unmovable_at(state, defined, set(answer))), seed
        places = [defined.index(row) for row in answer]
        left_out += bool(places) and max(places) >= len(places)  # one before the last was left out
        mapped_later += places != sorted(places)
    assert left_out
    assert mapped_later
