from __future__ import annotations

import numpy as np
import pytest

from lpsched.errors import InstanceError
from lpsched.model.risk import LEVELS, RiskOptions, spread_of, task_draws

SECONDS = np.array([[10.0, 20.0], [1.0, 3.0]])
WATTS = np.array([[100.0, 50.0], [70.0, 0.0]])


def test_draws_converge_to_the_tables_means_and_to_the_spread():
    draws = task_draws(2, SECONDS, WATTS, RiskOptions(samples=40_000, cov=0.5, power_cov=1.0), seed=0)
    for task in (0, 1):
        taken, drawn = draws.seconds_of(task, (0, 1)), draws.watts_of(task, (1, 0))
        assert abs(taken.mean() - 20.0) < 5 * 10.0 / 200  # deviation 0.5 x 20, 200 = sqrt(40000)
        assert abs(drawn.mean() - 70.0) < 5 * 70.0 / 200
        assert taken.std() == pytest.approx(10.0, rel=0.03)
        assert drawn.std() == pytest.approx(70.0, rel=0.05)


def test_a_task_that_is_long_on_one_machine_is_long_on_all():
    draws = task_draws(1, SECONDS, WATTS, RiskOptions(samples=100, cov=0.7), seed=0)
    assert draws.seconds_of(0, (0, 1)) == pytest.approx(2 * draws.seconds_of(0, (0, 0)))


def test_time_and_power_of_a_task_and_two_tasks_do_not_depend_on_each_other():
    draws = task_draws(2, SECONDS, WATTS, RiskOptions(samples=40_000, cov=0.5), seed=0)
    columns = [draws.seconds_of(0, (0, 0)), draws.watts_of(0, (0, 0)), draws.seconds_of(1, (0, 0))]
    assert np.abs(np.corrcoef(columns) - np.eye(3)).max() < 5 / 200


def test_the_same_seed_gives_the_same_draws():
    options = RiskOptions(samples=10, cov=(0.1, 1.5))
    one, same, other = (task_draws(3, SECONDS, WATTS, options, seed) for seed in (1, 1, 2))
    assert one.time_draws.tolist() == same.time_draws.tolist()
    assert one.bins.tolist() == same.bins.tolist()
    assert one.time_draws.tolist() != other.time_draws.tolist()


def test_more_samples_than_can_be_held_are_refused_with_what_would_do():
    with pytest.raises(InstanceError) as refused:
        task_draws(10_000, SECONDS, WATTS, RiskOptions(samples=100_000), seed=0)
    assert "got 100,000 samples of 10,000 tasks, expected at most 500,000,000 draws; ask for 50,000 samples" in str(
        refused.value
    )


def test_a_range_is_drawn_evenly_for_each_pair_and_apart_for_powers():
    spread = spread_of((100, 50), RiskOptions(cov=(0.1, 1.5)), np.random.default_rng(0))
    for covs in (spread.seconds_cov, spread.watts_cov):
        assert 0.1 < covs.min() < 0.13
        assert 1.47 < covs.max() < 1.5
        assert covs.mean() == pytest.approx(0.8, abs=5 * 1.4 / 12**0.5 / 5000**0.5)
        assert len(np.unique(covs)) == LEVELS
    assert abs(np.corrcoef(spread.seconds_cov.ravel(), spread.watts_cov.ravel())[0, 1]) < 5 / 5000**0.5


def test_a_range_without_a_width_is_a_number():
    spread = spread_of((2, 2), RiskOptions(cov=(0.4, 0.4)), np.random.default_rng(0))
    assert spread.seconds_cov == pytest.approx(np.full((2, 2), 0.4))
