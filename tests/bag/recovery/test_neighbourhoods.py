from __future__ import annotations

import numpy as np
import pytest

from lpsched.bag.recovery import makespan as neighbourhoods
from lpsched.bag.recovery.makespan import around_the_longest, cheapest, resolved
from lpsched.cancellation import CancelToken
from tests.bag.fleets import first_fit, is_state, laid_out, least_makespan, random_bag
from tests.support import simple_bag


def three_machines(seed, tasks=7):
    rng = np.random.default_rng(seed)
    return laid_out(simple_bag(rng.uniform(1, 9, (tasks, 3)).tolist(), [1] * tasks, [1, 1, 1]))


@pytest.mark.parametrize("seed", range(30))
def test_all_machines_over_all_pairs_worth_it_come_to_the_best(seed):
    fleet = laid_out(random_bag(seed))
    given = first_fit(fleet)
    found, solved = resolved(fleet, given, np.arange(fleet.size), fleet.makespan(given) - 1, CancelToken(5.0))
    assert is_state(fleet, found)
    assert solved
    assert fleet.makespan(found) == pytest.approx(least_makespan(fleet), rel=1e-6)


@pytest.mark.parametrize("seed", range(10))
def test_no_better_state_uses_a_dearer_pair(seed):
    # So nothing is lost where pairs dearer than T - 1 are left out, with T the least makespan itself.
    fleet = three_machines(seed)
    least = least_makespan(fleet)
    among = (fleet.reduced_costs <= least - 1 + 1e-12).astype(np.int64)
    assert least_makespan(fleet, among) == pytest.approx(least)


@pytest.mark.parametrize("seed", range(10))
def test_a_pair_too_dear_is_used_only_where_it_was_before(seed):
    fleet = three_machines(seed)
    given = first_fit(fleet)
    found, _ = resolved(fleet, given, np.arange(3), 0.01, CancelToken(5.0))
    among = (fleet.reduced_costs <= 0.01) | (given > 0)
    assert not found[~among].any()
    assert fleet.makespan(found) == pytest.approx(least_makespan(fleet, among.astype(np.int64)), rel=1e-6)


@pytest.mark.parametrize("seed", range(10))
def test_other_machines_keep_their_tasks(seed):
    fleet = three_machines(seed, tasks=12)
    given = np.zeros((12, 3), dtype=np.int64)
    given[np.arange(12), np.arange(12) % 3] = 1
    found, _ = resolved(fleet, given, np.array([2, 0]), np.inf, CancelToken(5.0))
    assert np.array_equal(found[:, 1], given[:, 1])
    assert is_state(fleet, found)
    assert fleet.loads(found)[[0, 2]].max() <= fleet.loads(given)[[0, 2]].max()


def test_a_stopped_program_leaves_the_state_as_it_is():
    fleet = three_machines(0)
    given, cancel = first_fit(fleet), CancelToken()
    cancel.stop()
    found, solved = resolved(fleet, given, np.arange(3), np.inf, cancel)
    assert not solved
    assert fleet.makespan(found) <= fleet.makespan(given)
    assert is_state(fleet, found)


def test_a_large_program_is_not_tried(monkeypatch):
    monkeypatch.setattr(neighbourhoods, "MOST_PAIRS", 20)  # 7 tasks on 3 machines are 21 pairs
    fleet = three_machines(0)
    given = first_fit(fleet)
    found, solved = resolved(fleet, given, np.arange(3), np.inf, CancelToken())
    assert found is given
    assert not solved


def test_the_cheapest_pairs_are_counted():
    fleet = three_machines(0)
    for pairs in (1, 9, 20):
        assert (fleet.reduced_costs <= cheapest(fleet, pairs)).sum() >= pairs
    assert cheapest(fleet, 1e9) == np.inf
    assert (fleet.reduced_costs < cheapest(fleet, 15)).sum() <= 15


def test_the_longest_machine_is_always_drawn():
    fleet = three_machines(0)
    given, rng = first_fit(fleet), np.random.default_rng(0)
    drawn = [around_the_longest(fleet, given, 2, rng).tolist() for _ in range(20)]
    assert {first for first, _ in drawn} == {0}
    assert {other for _, other in drawn} == {1, 2}
    assert sorted(around_the_longest(fleet, given, 9, rng)) == [0, 1, 2]
