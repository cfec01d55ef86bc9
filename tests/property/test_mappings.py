"""The heuristics on counts against the same rules task by task, and against every other rule there is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsched.bag.heuristics import heuristic
from lpsched.bag.model import Bag
from lpsched.bag.parts import MachineType, TaskType
from lpsched.bag.verify import violations
from lpsched.model.table import Table
from tests.bag.one_by_one import REFERENCES, loads_of

SECONDS = st.integers(1, 6).map(float) | st.sampled_from([0.5, 1.5, 12.0, 40.0])


@st.composite
def whole_bags(draw) -> Bag:
    """Draw few tasks and machines with whole seconds, so that ties are many and exact."""
    machines = tuple(
        MachineType(
            name=f"m{j}", count=draw(st.integers(1, 4)), p_states=draw(st.sampled_from([None, None, ("P0", "P1")]))
        )
        for j in range(draw(st.integers(1, 3)))
    )
    tasks = tuple(TaskType(name=f"t{i}", count=draw(st.integers(1, 9))) for i in range(draw(st.integers(1, 4))))
    columns = sum(machine.modes for machine in machines)
    rows = []
    for _ in tasks:
        row = draw(st.lists(st.none() | SECONDS | SECONDS, min_size=columns, max_size=columns))
        row[draw(st.integers(0, columns - 1))] = draw(SECONDS)
        rows.append(row)
    return Bag("whole", machines, tasks, Table.of(rows))


@pytest.mark.parametrize("name", REFERENCES)
@settings(max_examples=30, deadline=None)
@given(bag=whole_bags())
def test_counts_and_single_tasks_give_the_same_loads(name, bag):
    schedule = heuristic(name)(bag, np.random.default_rng(0))
    assert violations(bag, schedule) == ()
    assert loads_of(bag, schedule) == REFERENCES[name](bag)
