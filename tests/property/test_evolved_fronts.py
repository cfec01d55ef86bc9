"""Whatever NSGA-II makes is a full assignment, is scored as the verifier measures, and crosses no exact front."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsched.bag import verify as verify_bag
from lpsched.bag.evolve import BagProblem, BagScorer, genes_of, to_schedule
from lpsched.bag.exact_front import front
from lpsched.evolve.genes import crossover, fits, mutated, random_genes
from lpsched.evolve.nsga2 import evolve_front
from lpsched.online.evolve import DayScorer, genes_of_day, to_day_schedule
from lpsched.online.verify import day as verify_day
from tests.problems import pairs_in
from tests.property.bags import Ranges, hundredths, plain_bags
from tests.property.days import days, schedules_of

TINY = Ranges(
    seconds=st.integers(1, 20).map(float) | hundredths(1, 100),
    watts=st.integers(1, 20).map(float) | hundredths(1, 500),
    tasks=st.integers(1, 6),
    machines=st.integers(1, 3) | st.just(10**12),
    most_types=3,
)
SEEDS = st.integers(0, 2**32)


def bred(instance, seed):
    """Return random chromosomes, and some generations of their children."""
    pairs, rng = pairs_in(instance), np.random.default_rng(seed)
    genes = random_genes(pairs, 4, rng)
    assert fits(pairs, genes).all()
    for _ in range(3):
        children = crossover(genes.take(slice(2)), genes.take(slice(2, 4)), rng)
        genes = mutated(pairs, children, 0.7, rng)
        assert fits(pairs, genes).all()
    return genes


@settings(deadline=None, max_examples=30)
@given(plain_bags(TINY), SEEDS)
def test_every_child_is_a_full_assignment_of_a_bag_and_takes_what_its_score_says(bag, seed):
    genes = bred(bag, seed)
    for s, (joules, seconds) in enumerate(BagScorer(bag)(genes).tolist()):
        schedule = to_schedule(bag, genes.take(s))
        examined = verify_bag.examine(bag, schedule)
        assert examined.violations == ()
        assert joules == pytest.approx(examined.measured.energy_joules, rel=1e-12)
        assert seconds == pytest.approx(examined.measured.makespan_seconds, rel=1e-12)
        back = genes_of(bag, schedule)
        assert fits(pairs_in(bag), back).all()
        assert verify_bag.measure(bag, to_schedule(bag, back)) == examined.measured


@settings(deadline=None, max_examples=30)
@given(days(), SEEDS, st.sampled_from([None, 0.5, 3.0]))
def test_every_child_is_a_full_assignment_of_a_day_and_earns_what_its_score_says(day, seed, drop_below):
    genes, scorer = bred(day, seed), DayScorer(day, drop_below)
    for s, (joules, minus_utility) in enumerate(scorer(genes).tolist()):
        own = genes.take(s)
        schedule = to_day_schedule(day, own, scorer.starts(own))
        examined = verify_day.examine(day, schedule)
        assert examined.violations == ()
        assert joules == pytest.approx(examined.measured.energy_joules, rel=1e-12)
        if clear_of_steps(day, schedule):
            assert -minus_utility == pytest.approx(examined.measured.utility, rel=1e-9, abs=1e-12)


def clear_of_steps(day, schedule):
    """Tell whether no task ends where its utility has a step, on whose side rounding decides."""
    for placed in schedule.placed:
        column = next(c for c, mode in enumerate(day.modes) if (
            day.machine_types[mode[0]].name == placed.machine_type and day.p_state(c) == placed.p_state
        ))  # fmt: skip
        end = placed.start_seconds + day.seconds[day.arriving.type_numbers[placed.task], column]
        since = end - day.arriving.arrival_seconds[placed.task]
        steps = [interval.after_seconds for interval in day.utility_of(placed.task).intervals]
        if any(0.0 < abs(since - step) < 1e-9 * max(1.0, end) for step in steps):
            return False
    return True


@settings(deadline=None, max_examples=40)
@given(st.data())
def test_the_chromosome_of_a_days_schedule_is_at_least_as_good(data):
    # Pauses are left out, and nothing that was placed is dropped; what was not placed runs last, and earns or not.
    day = data.draw(days())
    schedule = data.draw(schedules_of(day))
    measured = verify_day.measure(day, schedule)
    genes = genes_of_day(day, schedule)
    assert fits(pairs_in(day), genes).all()
    if measured.dropped == 0 and clear_of_steps(day, schedule):
        joules, minus_utility = DayScorer(day)(genes.take(np.newaxis))[0]
        assert joules == pytest.approx(measured.energy_joules, rel=1e-12)
        assert -minus_utility >= measured.utility - 1e-9


@settings(deadline=None, max_examples=25)
@given(plain_bags(TINY), SEEDS)
def test_no_evolved_point_crosses_the_exact_front(bag, seed):
    exact = front(bag)
    seeds = tuple(schedule for schedule in exact.schedules if schedule is not None)
    for given_seeds in ((), seeds):
        found = evolve_front(
            BagProblem(bag), rng=np.random.default_rng(seed), size=max(8, len(seeds)), generations=6, seeds=given_seeds
        )
        for joules, seconds in found.points:
            for plane in exact.proofs:
                value = plane.joules_weight * joules + plane.seconds_weight * seconds
                assert value >= plane.bound * (1.0 - 1e-12)
