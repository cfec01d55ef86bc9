from __future__ import annotations

import itertools

import numpy as np
import pytest

from lpsched.bag.recovery.makespan import PairSearch, chosen, trade_offs
from lpsched.cancellation import CancelToken
from tests.bag.fleets import first_fit, is_state, laid_out, least_makespan, random_bag
from tests.support import simple_bag


class Steps(CancelToken):
    """A token that is over after so many looks, however long they take."""

    def __init__(self, steps):
        super().__init__()
        self.steps = steps

    def expired(self):
        self.steps -= 1
        return self.steps < 0


@pytest.mark.parametrize("seed", range(10))
def test_every_trade_off_is_that_of_a_real_choice(seed):
    rng = np.random.default_rng(seed)
    on_a, on_b = rng.random(12), rng.random(12)
    load_a, load_b, taken, cells = trade_offs(on_a, on_b, 3.0)
    reached = np.flatnonzero(np.isfinite(load_b))
    assert len(reached) > 500
    for cell in reached[::50]:
        to_a = chosen(taken, cells, int(cell))
        assert load_a[cell] == pytest.approx(on_a[to_a].sum())
        assert load_b[cell] == pytest.approx(on_b[~to_a].sum())


@pytest.mark.parametrize("seed", range(10))
def test_where_the_grid_is_fine_enough_no_trade_off_is_lost(seed):
    # Whole lengths that sum to less than the cells: each sum has cells of its own.
    rng = np.random.default_rng(seed)
    on_a, on_b = rng.integers(1, 40, 9).astype(float), rng.integers(1, 40, 9).astype(float)
    load_a, load_b, _, _ = trade_offs(on_a, on_b, np.inf)
    for choice in itertools.product([False, True], repeat=9):
        to_a = np.array(choice)
        assert load_b[load_a <= on_a[to_a].sum()].min() <= on_b[~to_a].sum()


def test_loads_beyond_the_room_are_left_out():
    load_a, load_b, _, _ = trade_offs(np.array([1.0, 2.0]), np.array([1.0, 1.0]), 1.5)
    assert load_a[np.isfinite(load_b)].max() == 1.0


@pytest.mark.slow
def test_most_pairs_of_machines_come_to_their_best():
    least, reached = [], []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        fleet = laid_out(simple_bag(rng.uniform(5, 9, (9, 2)).tolist(), [1] * 9, [1, 1]))
        found = PairSearch(fleet, first_fit(fleet), rng).run(Steps(900))
        assert is_state(fleet, found)
        least.append(least_makespan(fleet))
        reached.append(fleet.makespan(found))
    assert np.all(np.array(reached) > np.array(least) - 1e-9)
    assert np.sum(np.array(reached) < np.array(least) + 1e-3) >= 5


@pytest.mark.parametrize("seed", range(12))
def test_a_search_never_ends_worse_and_leaves_its_start_alone(seed):
    fleet = laid_out(random_bag(seed, types=(1, 12), tasks=6, machines=4))
    given = first_fit(fleet)
    before = given.copy()
    search = PairSearch(fleet, given, np.random.default_rng(seed))
    found = search.run(Steps(100))
    assert is_state(fleet, found)
    assert fleet.makespan(found) == pytest.approx(search.least)
    assert fleet.makespan(found) <= fleet.makespan(given)
    assert np.array_equal(given, before)


def test_a_hundred_tasks_come_within_a_hundredth_of_the_bound():
    rng = np.random.default_rng(0)
    fleet = laid_out(simple_bag(rng.uniform(1, 100, (100, 4)).tolist(), [1] * 100, [1] * 4))
    found = PairSearch(fleet, first_fit(fleet), rng).run(Steps(2000))
    assert 1.0 <= fleet.makespan(found) < 1.01


def test_a_stopped_search_returns_its_start():
    fleet = laid_out(simple_bag([[2.0, 3.0], [4.0, 5.0]], [5, 5], [2, 2]))
    given, cancel = first_fit(fleet), CancelToken()
    cancel.stop()
    assert PairSearch(fleet, given, np.random.default_rng(0)).run(cancel) is given


def test_one_machine_has_nobody_to_share_with():
    fleet = laid_out(simple_bag([[2.0]], [5], [1]))
    given = first_fit(fleet)
    assert PairSearch(fleet, given, np.random.default_rng(0)).run(CancelToken()) is given
