"""The compiled score is what the verifier measures."""

from __future__ import annotations

import pytest

from lpsched.facility.genes import reward_rate, to_allocation
from lpsched.facility.verify import measure
from tests.facility.drawn import drawn_breeder, plain

KERNELS = pytest.mark.parametrize(
    "score",
    [pytest.param(reward_rate, id="compiled"), pytest.param(plain(reward_rate), marks=pytest.mark.slow, id="plain")],
)


@KERNELS
@pytest.mark.parametrize("seed", range(30))
def test_the_score_is_the_co_located_reward_rate_that_the_verifier_measures(score, seed):
    breeder = drawn_breeder(seed)
    for _ in range(5):
        made = breeder.at_random()
        allocation = to_allocation(breeder.facility, made.fractions, made.states, made.outlets)
        measured = measure(breeder.facility, allocation)
        assert score(breeder.genes, made.fractions, made.states) == pytest.approx(measured.reward_rate, rel=1e-9)


@KERNELS
@pytest.mark.parametrize("seed", range(30))
def test_without_co_location_it_is_the_plain_reward_rate(score, seed):
    breeder = drawn_breeder(seed, colocation=False)
    for _ in range(5):
        made = breeder.at_random()
        allocation = to_allocation(breeder.facility, made.fractions, made.states, made.outlets)
        measured = measure(breeder.facility, allocation)
        assert score(breeder.genes, made.fractions, made.states) == pytest.approx(measured.plain_reward_rate, rel=1e-9)
