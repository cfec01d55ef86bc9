from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lpsched.bag.recovery.rounding import Usage, ease, moves_of, round_shares
from lpsched.errors import SolverError


@pytest.mark.parametrize(
    ("shares", "count", "counts"),
    [
        pytest.param([0.5, 0.5], 3, {0: 2, 1: 1}, id="a-tie-goes-to-the-lowest-index"),
        pytest.param([0.24, 0.0, 0.76], 10, {0: 2, 2: 8}, id="the-largest-remainder-is-rounded-up"),  # 2.4 and 7.6
        pytest.param([1.0, 1e-12], 10, {0: 10}, id="what-gets-no-task-is-left-out"),
        pytest.param([0.3, 0.3], 4, {0: 2, 1: 2}, id="shares-need-not-sum-to-one"),
        pytest.param([0.25, 0.25, 0.25, 0.25], 2, {0: 1, 1: 1}, id="four-remainders-two-tasks"),
        pytest.param([-1e-9, 1.0], 7, {1: 7}, id="a-negative-share-is-none"),
    ],
)
def test_rounding_by_hand(shares, count, counts):
    assert round_shares(np.array([shares]), [count]) == [counts]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8).filter(lambda row: sum(row) > 0), st.integers(1, 10**15))
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


# Tasks of 2 and 3 s on two machine types of one machine each; a second of the second one is dearer.
TAKES = Usage(np.array([[2.0, 2.0], [3.0, 3.0]]), np.array([0, 1]), 2)
COSTS = np.array([[2.0, 4.0], [3.0, 6.0]])


def eased(counts, limits, weight=100.0):
    moves = moves_of(counts, COSTS, COSTS - COSTS.min(axis=1, keepdims=True), TAKES)
    return ease(counts, moves, TAKES.all_of(counts) - np.array(limits), weight)


def test_a_sum_above_its_limit_loses_the_cheapest_task_that_brings_it_there():
    # 2 2 3 3 on the first machine are 10 s. Down to 8 s, a task of 2 s moves for 2 more, one of 3 s for 3.
    assert eased([{0: 2}, {0: 2}], [8.0, 20.0]) == [{0: 1, 1: 1}, {0: 2}]
    # Down to 7 s only the task of 3 s will do.
    assert eased([{0: 2}, {0: 2}], [7.0, 20.0]) == [{0: 2}, {0: 1, 1: 1}]
    # Down to 5 s both move: no single move helps as much.
    assert eased([{0: 2}, {0: 2}], [5.0, 20.0]) == [{0: 1, 1: 1}, {0: 1, 1: 1}]


def test_an_exchange_helps_where_no_single_move_does():
    # 3 + 3 and 2 + 2: 6 and 4 s. For 5 and 5 s a task of 3 s and one of 2 s change places: 5 and 5 s.
    assert eased([{1: 2}, {0: 2}], [5.0, 5.0]) == [{0: 1, 1: 1}, {0: 1, 1: 1}]


def test_within_the_limits_tasks_only_move_where_that_is_cheaper():
    assert eased([{0: 2}, {0: 2}], [10.0, 0.0]) == [{0: 2}, {0: 2}]
    assert eased([{1: 1}, {0: 2}], [8.0, 8.0]) == [{0: 1}, {0: 2}]


def test_a_column_that_cannot_run_a_task_never_gets_one():
    costs = np.array([[2.0, np.inf], [3.0, 6.0]])
    moves = moves_of([{0: 2}, {0: 2}], costs, costs, TAKES)
    assert {(move.i, move.a, move.b) for move in moves} == {(1, 0, 1)}


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9)), min_size=2, max_size=2),
    st.lists(st.floats(0, 40), min_size=2, max_size=2),
)
def test_easing_keeps_every_total_and_never_makes_cost_and_excess_worse(rows, limits):
    counts = [{0: a, 1: b} if a else {1: b} for a, b in rows]

    def merit(counts):
        cost = sum(number * COSTS[i, column] for i, row in enumerate(counts) for column, number in row.items())
        return cost + 100.0 * np.maximum(TAKES.all_of(counts) - limits, 0.0).sum()

    after = eased(counts, limits)
    assert [sum(row.values()) for row in after] == [sum(row.values()) for row in counts]
    assert all(number > 0 for row in after for number in row.values())
    assert merit(after) <= merit(counts) + 1e-9
