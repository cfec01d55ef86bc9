from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsched.bag.arrays import Items
from lpsched.bag.packing import PackingOracle
from lpsched.lp.columns import ColumnGeneration
from lpsched.lp.program import LpStatus
from lpsched.lp.solvers import HighsSolver


def items(seconds, costs, tasks, machines, **aim) -> Items:
    """Return items with one P-state each."""
    return Items(
        np.array(tasks),
        np.array(machines),
        np.arange(len(tasks)),
        np.array(seconds, dtype=float),
        np.array(costs, dtype=float),
        **aim,
    )


@st.composite
def oracles(draw):
    """Draw up to 3 task types and 2 machine types, for a profit or for a cost, and an interval of makespans."""
    types, machines = draw(st.integers(1, 3)), draw(st.integers(1, 2))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    seconds = rng.uniform(1, 9, (types, machines))
    costs = rng.uniform(draw(st.sampled_from([0.0, -2.0])), 4, (types, machines))
    if draw(st.booleans()):
        seconds[0, 0], costs[0, 0] = (np.inf, np.inf) if machines > 1 else (seconds[0, 0], costs[0, 0])
    aim = {"income": rng.uniform(5, 60)} if draw(st.booleans()) else {"per_second": rng.uniform(0, 5)}
    own = items(seconds, costs, rng.integers(1, 4, types), rng.integers(1, 3, machines), **aim)
    start = float(rng.uniform(8, 15))
    return PackingOracle(own, 8.0, start, start * rng.uniform(1.0, 1.3), cells=2000)


def all_patterns(oracle):
    """Return every pattern that is done within the interval."""
    own = oracle.items
    found = []
    for j in range(len(own.machines)):
        for counts in product(*(range(n + 1) for n in own.tasks.tolist())):
            use = np.array(counts) > 0
            if np.isfinite(own.seconds[use, j]).all():
                pattern = own.pattern(j, np.array(counts))
                found += [pattern] if pattern.seconds <= oracle.end else []
    return found


def written_out(oracle):
    program = oracle.master().with_columns(oracle.columns(all_patterns(oracle)))
    return HighsSolver().solve(program)


@settings(deadline=None, max_examples=60)
@given(oracles(), st.integers(0, 100))
def test_any_multipliers_prove_a_bound_and_every_pattern_costs_what_it_says(oracle, seed):
    least = written_out(oracle).value
    rng = np.random.default_rng(seed)
    types, machines = oracle.items.seconds.shape
    multipliers = rng.normal(0.0, 2.0, types + 2 * machines + 1)
    priced = oracle.price(multipliers)
    assert priced.bound <= least + 1e-7 * abs(least)
    for pattern in priced.labels:
        use = pattern.counts > 0
        assert pattern.seconds == pytest.approx(pattern.counts[use] @ oracle.items.seconds[use, pattern.machine])
        assert pattern.reach <= oracle.end
        assert pattern.seconds <= oracle.end * (1 + 4 / 2000)  # a task is cut short by less than a cell


@settings(deadline=None, max_examples=60)
@given(oracles())
def test_the_engine_ends_near_the_program_with_all_patterns_written_out(oracle):
    least = written_out(oracle).value
    found = ColumnGeneration(HighsSolver(), oracle.master(), oracle, [], mixed=1.0).run(gap=1e-7)
    assert found.status is LpStatus.OPTIMAL
    assert found.bound <= least + 1e-7 * abs(least)
    assert found.solution.value <= least + 1e-7 * (1 + abs(least))  # patterns that nearly fit come cheaper
    assert found.bound >= found.solution.value - 1e-5 * (1 + abs(found.solution.value))


def test_half_a_task_is_in_no_pattern():
    # 3 tasks of 2 s on 2 machines within [3, 3.9]: no machine runs two, so one task is left out.
    oracle = PackingOracle(items([[2.0]], [[0.0]], [3], [2], per_second=1.0), 3.0, 3.0, 3.9)
    solution = written_out(oracle)
    assert float(solution["s"][0]) == pytest.approx(1.0)
    oracle.end = 4.0
    assert written_out(oracle)["s"] == pytest.approx([0.0])


def test_the_plain_program_splits_tasks_but_leaves_long_pairs_out():
    # 3 tasks of 2 s on 2 machines take 3 s split; on the other type they would take 5 s, too long for [3, 4].
    own = items([[2.0, 5.0]], [[0.0, 0.0]], [3], [2, 9], per_second=1.0)
    oracle = PackingOracle(own, 1.0, 1.0, 4.0)
    solution = HighsSolver().solve(oracle.master().with_columns(oracle.pairs()))
    assert solution.value * oracle.unit == pytest.approx(3.0)
    oracle.end = 6.0
    assert HighsSolver().solve(oracle.master().with_columns(oracle.pairs())).value * oracle.unit < 3.0


def test_a_value_of_the_program_is_told_from_a_score_in_its_own_units():
    earns = PackingOracle(items([[2.0]], [[1.0]], [3], [2], income=46.0), 3.0, 4.0, 4.0)
    # 43 left over 4 s; the program counts in 46 and in 3 s.
    assert written_out(earns).value == pytest.approx(earns.value(43.0 / 4.0))
    assert earns.value(43.0 / 4.0) == pytest.approx(-43.0 / 4.0 * 3.0 / 46.0)
    costs = PackingOracle(items([[2.0]], [[1.0]], [3], [2], per_second=5.0), 3.0, 4.0, math.inf)
    assert costs.value(-23.0) == pytest.approx(23.0 / costs.unit)


def test_a_pattern_that_fits_only_on_the_grid_may_be_run_from_the_limit_it_was_found_for():
    # Tasks of 0.6 s are one cell of 0.5 s, so two of them fit into 1 s on the grid.
    own = items([[0.6], [0.6]], [[0.0], [0.0]], [1, 1], [1], per_second=1.0)
    oracle = PackingOracle(own, 1.0, 1.0, 1.0, cells=2)
    pattern = oracle.price(np.array([1.0, 0.9, 0.0, 0.0, 0.0])).labels[0]
    assert (pattern.counts.tolist(), pattern.seconds, pattern.reach) == ([1, 1], 1.2, 1.0)
    assert oracle.upper([pattern]) == [2.0]
    oracle.end = 0.9
    assert oracle.upper([pattern]) == [0.0]
