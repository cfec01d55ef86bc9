from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lpsched.errors import SolverError
from lpsched.recovery.rounding import round_shares


@pytest.mark.parametrize(
    ("shares", "count", "counts"),
    [
        pytest.param([0.5, 0.5], 3, {0: 2, 1: 1}, id="a-tie-goes-to-the-lowest-index"),
        pytest.param(
            [0.24, 0.0, 0.76], 10, {0: 2, 2: 8}, id="the-largest-remainder-is-rounded-up"
        ),  # 2.4 and 7.6
        pytest.param([1.0, 1e-12], 10, {0: 10}, id="what-gets-no-task-is-left-out"),
        pytest.param([0.3, 0.3], 4, {0: 2, 1: 2}, id="shares-need-not-sum-to-one"),
        pytest.param([0.25, 0.25, 0.25, 0.25], 2, {0: 1, 1: 1}, id="four-remainders-two-tasks"),
        pytest.param([-1e-9, 1.0], 7, {1: 7}, id="a-negative-share-is-none"),
    ],
)
def test_rounding_by_hand(shares, count, counts):
    assert round_shares(np.array([shares]), [count]) == [counts]


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=8).filter(lambda row: sum(row) > 0),
    st.integers(1, 10**15),
)
def test_totals_are_exact_and_no_count_moves_by_one(shares, count):
    (counts,) = round_shares(np.array([shares]), [count])
    assert sum(counts.values()) == count
    whole = sum(map(float, shares))
    for column, share in enumerate(shares):
        quota = share * count / whole
        assert abs(counts.get(column, 0) - quota) < 1 + 1e-12 * quota


def test_a_task_type_without_a_share_is_an_error():
    with pytest.raises(SolverError, match="leaves task type 1 without a machine"):
        round_shares(np.array([[1.0], [0.0]]), [1, 1])
    with pytest.raises(SolverError, match="leaves task type 0 without a machine"):
        round_shares(np.array([[np.nan, np.inf]]), [1])
