from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsched.bag.model import Terms
from lpsched.bag.parts import Prices
from lpsched.bag.problem import build_problem
from lpsched.bag.search.makespan_intervals import IntervalSearch, scoring_of
from lpsched.cancellation import CancelToken
from lpsched.lp.solvers import HighsSolver
from tests.property.tiny import Ledger, cases
from tests.support import simple_bag


def search_of(bag, objective, low=None, high=math.inf) -> IntervalSearch:
    """Return the search with exact proofs, from the longest task on."""
    solver = HighsSolver()
    scoring = scoring_of(build_problem(bag, Terms(objective=objective), solver))
    low = low or float(max(min(each.seconds for each in row) for row in scoring.prover.tasks))
    return IntervalSearch(scoring.items, scoring.prover, solver, low, high, cells=500)


def reproved(search, leaf):
    proof = leaf.proof
    line = search.proofs.line(proof.prices, proof.end, proof.cells)
    assert line == proof.line
    return search.proofs.score(*line, leaf.start, leaf.end)


def check_cover(search, low, high) -> None:
    """Check that leaves lie end to end, and that each is proved for all of itself."""
    at = low
    for leaf in sorted(search.all_leaves(), key=lambda leaf: leaf.start):
        assert leaf.start == at
        assert leaf.proof.start <= leaf.start < leaf.end <= leaf.proof.end
        assert reproved(search, leaf) == leaf.bound
        at = leaf.end
    assert at == high


@settings(deadline=None, max_examples=25)
@given(cases(limits=False), st.sampled_from(["makespan", "profit"]), st.integers(0, 3))
def test_leaves_cover_all_makespans_and_no_way_is_worth_more_than_its_leaf(case, objective, steps):
    search = search_of(case.bag, objective)
    ledger = Ledger(case.bag)
    low = search.low
    for _ in range(steps):
        if search.refine(-math.inf, 0.0, CancelToken(1.0)) is None:
            break
    check_cover(search, low, math.inf)
    for way in case.ways:
        score = ledger.left(way) / way.load if objective == "profit" else -way.load
        assert all(
            leaf.bound is None or score <= leaf.bound
            for leaf in search.all_leaves()
            if leaf.start <= way.load <= leaf.end
        )
        assert search.bound is None or score <= search.bound


def test_three_tasks_on_two_machines_are_asked_for_at_the_makespan_of_two():
    search = search_of(simple_bag([[2.0]], [3], [2]), "makespan")
    leaf = search.refine(-math.inf, 1e-6, CancelToken(20.0))
    # Split tasks take 3 s, but every interval that ends before 4 s is proved to hold no schedule worth the name.
    assert leaf.start <= 4.0 <= leaf.end
    assert -search.bound == pytest.approx(4.0, rel=1e-3)


def test_halves_are_never_above_the_whole():
    # A narrow leaf is bounded by patterns; what the plain program says of its halves is worse.
    bag = simple_bag([[3.1, 2.9], [2.3, 1.7]], [5, 6], [2, 2], watts=[[1.0, 5.0], [2.0, 7.0]])
    prices = Prices(per_bag=400.0, electricity_per_kwh=3.6e6)
    search = search_of(bag.model_copy(update={"prices": prices}), "profit")
    leaf = search.refine(-math.inf, 0.0, CancelToken(5.0))
    assert leaf.proof.cells > 0
    assert all(half.bound <= leaf.bound for half in search._halves(leaf, -math.inf, CancelToken()))  # noqa: SLF001


def test_bounds_near_enough_to_the_value_end_the_work():
    search = search_of(simple_bag([[2.0]], [4], [2]), "makespan", low=4.0)
    assert search.refine(-4.0, 1e-4, CancelToken()) is None
    assert len(search.all_leaves()) == 1


def test_a_deadline_ends_the_last_interval():
    search = search_of(simple_bag([[2.0]], [3], [2]), "makespan", high=7.0)
    search.refine(-math.inf, 1e-6, CancelToken(5.0))
    check_cover(search, 2.0, 7.0)


def test_a_watch_that_is_over_leaves_a_bound():
    search = search_of(simple_bag([[2.0]], [3], [2]), "makespan")
    assert search.refine(-math.inf, 1e-6, CancelToken(0.0)) is None
    assert -search.bound == pytest.approx(3.0)


def test_a_pattern_known_from_a_longer_interval_comes_again_where_it_fits_by_rounding():
    # Tasks of 6 s and 4.3 s take 10.3 s together, but fit 10 s on a grid of 10 cells: so they count in the bound of an
    # interval that ends there, also where one that ends at 10.5 s has found them before.
    def bounds(*intervals):
        search = search_of(simple_bag([[6.0], [4.3]], [4, 2], [3]), "makespan")
        search.cells = 10
        leaves = [search._bounded(start, end, None, CancelToken()) for start, end in intervals]  # noqa: SLF001 - these two, in order
        return [float(search._packed(leaf, 1, -math.inf, CancelToken()).bound) for leaf in leaves]  # noqa: SLF001 - likewise

    (alone,) = bounds((9.95, 10.0))
    assert bounds((10.4, 10.5), (9.95, 10.0))[1] == pytest.approx(alone, rel=1e-9)
