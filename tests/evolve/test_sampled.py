"""All samples in one compiled pass: equal to plain loops, to the scorers of expected values, and to NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsched.bag import evolve as sampled_bag
from lpsched.bag.evolve import BagScorer, SampledBagScorer, to_schedule
from lpsched.bag.risk import sample_bag
from lpsched.errors import InstanceError
from lpsched.evolve.genes import random_genes
from lpsched.model.risk import RiskOptions, Spread, task_draws
from lpsched.online import evolve as sampled_day
from lpsched.online.arrays import day_arrays
from lpsched.online.evolve import DayScorer, SampledDayScorer, to_day_schedule
from lpsched.online.risk import sample_day
from tests.days import decaying, simple_day
from tests.problems import pairs_in
from tests.property.bags import ORDINARY, Ranges, plain_bags
from tests.property.days import days
from tests.support import simple_bag

TINY = Ranges(ORDINARY.seconds, ORDINARY.watts, st.integers(1, 4), st.integers(1, 3) | st.just(10**12), most_types=3)


def drawn_genes(instance, size, seed):
    return random_genes(pairs_in(instance), size, np.random.default_rng(seed))


@settings(max_examples=20, deadline=None)
@given(days(), st.none() | st.sampled_from([0.5, 2.0]), st.integers(0, 99))
def test_a_day_without_spread_scores_as_by_expected_values(day, drop_below, seed):
    genes = drawn_genes(day, 3, seed)
    options = RiskOptions(samples=3, cov=0.0, percentile=50.0)
    scores = SampledDayScorer(day, options, seed=seed, drop_below=drop_below)(genes)
    assert scores == pytest.approx(DayScorer(day, drop_below)(genes), rel=1e-8, abs=1e-9)


@settings(max_examples=20, deadline=None)
@given(plain_bags(TINY), st.integers(0, 99))
def test_a_bag_without_spread_scores_as_by_expected_values(bag, seed):
    genes = drawn_genes(bag, 3, seed)
    scores = SampledBagScorer(bag, RiskOptions(samples=3, cov=0.0), seed=seed)(genes)
    assert scores == pytest.approx(BagScorer(bag)(genes), rel=1e-12)


@settings(max_examples=15, deadline=None)
@given(days(), st.integers(0, 99))
def test_every_sample_of_a_day_is_that_of_its_schedule(day, seed):
    genes, options = drawn_genes(day, 2, seed), RiskOptions(samples=20, cov=(0.1, 1.5))
    drawn: Any = SampledDayScorer(day, options, seed=seed).samples(genes)
    arrays, plain = day_arrays(day), DayScorer(day)
    draws = task_draws(day.tasks, arrays.seconds, arrays.watts, options, seed)
    for k in (0, 1):
        chromosome = genes.take(k)
        exact = sample_day(day, to_day_schedule(day, chromosome, plain.starts(chromosome)), draws)
        assert drawn.utility[k] == pytest.approx(exact.utility, rel=1e-8, abs=1e-9)
        assert drawn.energy_joules[k] == pytest.approx(exact.energy_joules, rel=1e-12)
        assert drawn.makespan_seconds[k] == pytest.approx(exact.makespan_seconds, rel=1e-12)
        assert drawn.dropped_tasks[k].tolist() == exact.dropped_tasks.tolist()


def crowded_day(tasks=40):
    rng = np.random.default_rng(0)
    functions = [decaying(8.0, 0.01, until=90.0), decaying(4.0, until=60.0), decaying(2.0, 0.05), decaying(0.4)]
    arriving = [(float(n), int(rng.integers(2)), functions[n % 4]) for n in range(tasks)]
    return simple_day([[10.0, 15.0], [20.0, None]], [[100.0, 50.0], [70.0, None]], [2, 1], arriving)


def test_dropping_in_some_samples_is_that_of_the_schedule_that_places_every_task():
    day, options = crowded_day(), RiskOptions(samples=30, cov=0.8)
    genes = drawn_genes(day, 5, 0)
    drawn: Any = SampledDayScorer(day, options, seed=3, drop_below=0.5).samples(genes)
    arrays = day_arrays(day)
    draws = task_draws(day.tasks, arrays.seconds, arrays.watts, options, 3)
    for k in range(5):
        chromosome = genes.take(k)
        everything = to_day_schedule(day, chromosome, DayScorer(day).starts(chromosome))  # nothing dropped
        exact = sample_day(day, everything, draws, drop_below=0.5)
        assert drawn.dropped_tasks[k].tolist() == exact.dropped_tasks.tolist()
        assert len(set(exact.dropped_tasks.tolist())) > 1
        assert (exact.dropped_tasks >= 10).all()  # those that are never worth 0.5
        assert drawn.utility[k] == pytest.approx(exact.utility, rel=1e-8)
        assert drawn.energy_joules[k] == pytest.approx(exact.energy_joules, rel=1e-12)


@pytest.mark.slow
def test_compiled_loops_are_the_plain_ones():
    day = crowded_day(12)
    scorer = SampledDayScorer(day, RiskOptions(samples=4, cov=0.8), seed=1, drop_below=0.5)
    genes = drawn_genes(day, 2, 0)
    arrays = (genes.machines, genes.columns, genes.orders)
    fast = sampled_day.day_samples(scorer.day, *arrays)
    slow = sampled_day.day_samples.py_func(scorer.day, *arrays)  # type: ignore[attr-defined]
    for one, other in zip(fast, slow, strict=True):
        assert one == pytest.approx(other, rel=1e-12)
    bag = simple_bag([[2.0, 3.0], [5.0, 4.0]], [4, 3], [2, 2], [[10.0, 20.0], [9.0, 8.0]], [1.0, 2.0])
    of_bag = SampledBagScorer(bag, RiskOptions(samples=4, cov=0.8), seed=1)
    genes = drawn_genes(bag, 2, 0)
    fast_bag = sampled_bag.bag_samples(of_bag.bag, genes.machines, genes.columns)
    slow_bag = sampled_bag.bag_samples.py_func(of_bag.bag, genes.machines, genes.columns)  # type: ignore[attr-defined]
    for one, other in zip(fast_bag, slow_bag, strict=True):
        assert one == pytest.approx(other, rel=1e-12)


def test_a_task_that_is_dropped_in_some_samples_reads_no_exponential_that_is_not_there():
    # Worth 8 exp(-100 t), dropped in the second sample: as machine code a wrong place would not be noticed.
    intervals = np.array([[0.0, 100.0 * sampled_day.STEPS, 0.0, 8.0]])
    since, earned = np.array([0.01, -1.0]), np.zeros(2)
    scratch = np.empty(2, dtype=np.uint8), np.empty(2, dtype=np.int32), np.empty(2)
    plain: Any = sampled_day.add_utility
    plain.py_func(since, intervals, sampled_day.EXPONENTIALS, *scratch, earned)
    assert earned == pytest.approx([8.0 * np.exp(-1.0), 0.0], rel=1e-8)


def test_samples_task_by_task_have_the_moments_of_samples_on_counts():
    # Two roads to the same distribution: single tasks by bins, and whole runs by gamma sums.
    bag = simple_bag([[2.0, 3.0], [5.0, 4.0]], [8, 6], [2, 2], [[10.0, 20.0], [9.0, 8.0]], [1.0, 2.0])
    genes = drawn_genes(bag, 1, 0)
    by_task = SampledBagScorer(bag, RiskOptions(samples=4000, cov=0.6), seed=1).samples(genes)
    shape = np.full((2, 2), 0.6)
    on_counts = sample_bag(bag, to_schedule(bag, genes.take(0)), Spread(shape, shape), samples=4000, seed=1)
    for one, other in (
        (by_task.makespan_seconds[0], on_counts.makespan_seconds),
        (by_task.energy_joules[0], on_counts.energy_joules),
    ):
        assert abs(one.mean() - other.mean()) < 5 * (2 * one.var() / 4000) ** 0.5
        assert one.std() == pytest.approx(other.std(), rel=0.08)


def test_percentiles_are_counted_from_the_good_side():
    day = crowded_day()
    genes = drawn_genes(day, 3, 0)
    means = SampledDayScorer(day, RiskOptions(samples=100, cov=0.5), seed=1)
    drawn = means.samples(genes)
    assert means(genes) == pytest.approx(
        np.stack([drawn.energy_joules.mean(axis=1), -drawn.utility.mean(axis=1)], axis=1)
    )
    for percentile, place in ((1.0, 0), (20.0, 19), (50.0, 49), (99.5, 99), (100.0, 99)):
        scores = SampledDayScorer(day, RiskOptions(samples=100, cov=0.5, percentile=percentile), seed=1)(genes)
        assert scores[:, 0].tolist() == np.sort(drawn.energy_joules, axis=1)[:, place].tolist()
        assert (-scores[:, 1]).tolist() == np.sort(drawn.utility, axis=1)[:, ::-1][:, place].tolist()
        # At least so many samples of 100 keep each of the two numbers.
        assert (drawn.energy_joules <= scores[:, :1]).sum(axis=1).tolist() >= [place + 1] * 3
        assert (drawn.utility >= -scores[:, 1:]).sum(axis=1).tolist() >= [place + 1] * 3


def test_all_chromosomes_share_their_luck():
    day = crowded_day()
    genes = drawn_genes(day, 2, 0)
    twice = genes.take([0, 1, 0])
    scores = SampledDayScorer(day, RiskOptions(samples=10, cov=0.5, percentile=50.0), seed=1)(twice)
    assert scores[0].tolist() == scores[2].tolist()
    assert scores[0].tolist() != scores[1].tolist()


def test_the_name_tells_all_that_scores_depend_on():
    day = crowded_day(3)
    options = RiskOptions(samples=10, cov=(0.1, 1.5), power_cov=0.2, percentile=50.0)
    assert SampledDayScorer(day, options, seed=4, drop_below=0.5).name == (
        "energy and utility: percentile 50 of 10 samples (cov 0.1-1.5, power-cov 0.2, seed 4), below 0.5 dropped"
    )
    bag = simple_bag([[2.0]], [2], [1], [[5.0]])
    assert SampledBagScorer(bag, RiskOptions(samples=10), seed=0).name == (
        "energy and makespan: means of 10 samples (cov 0.3, power-cov 0.3, seed 0)"
    )


def test_a_bag_without_watts_is_refused():
    with pytest.raises(InstanceError, match="watts: got none"):
        SampledBagScorer(simple_bag([[2.0]], [2], [1]), RiskOptions(), seed=0)


def test_more_machines_than_can_be_held_are_refused():
    bag = simple_bag([[2.0]], [100_000], [10**12], [[5.0]])
    with pytest.raises(InstanceError) as refused:
        SampledBagScorer(bag, RiskOptions(samples=5000), seed=0)
    assert (
        "got 5,000 samples of 100,000 machines, expected at most 100,000,000 of both; ask for at most 1,000 samples"
        in str(refused.value)
    )
