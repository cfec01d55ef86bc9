"""Any bag can be grown: absent pairs, P-states in any order, idle power above watts, huge counts."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsched.bag.arrays import arrays_of
from lpsched.generate.bags import grow
from lpsched.generate.options import GrowOptions
from tests.property.bags import ORDINARY, UNEQUAL, plain_bags


@settings(max_examples=5, deadline=None)
@given(
    bag=plain_bags(ORDINARY) | plain_bags(UNEQUAL) | plain_bags(ORDINARY, power=False),
    new=st.integers(0, 4),
    special=st.integers(0, 1),
)
def test_a_grown_bag_holds_the_small_one_and_new_types_that_run_as_real_ones_do(bag, new, special):
    real = len(bag.task_types)
    types = max(real + new, 3 * special)
    options = GrowOptions(task_types=types, tasks=10**12, special_machines=(10**12,) * special)
    grown = grow("grown", bag, np.random.default_rng(0), options).bag
    before, after = arrays_of(bag), arrays_of(grown)
    assert grown.tasks == 10**12
    assert np.array_equal(after.seconds[:real, special:], before.seconds)
    assert np.array_equal(after.can_run[:real, special:], before.can_run)
    patterns = {tuple(row) for row in before.can_run.tolist()}
    assert {tuple(row) for row in after.can_run[real:, special:].tolist()} <= patterns
    assert (after.watts is None) == (before.watts is None)
