"""Whatever a genetic algorithm makes keeps every limit, and never earns more than the bound."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsched.errors import InfeasibleError, InstanceError, NotFoundError
from lpsched.facility.genes import to_allocation
from lpsched.facility.genetic import Breeder, evolve_facility
from lpsched.facility.solve import facility as solve_facility
from lpsched.facility.verify import examine
from tests.property.odd_facilities import odd_facility
from tests.property.tiny_facilities import tiny_facility


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32), st.booleans(), st.booleans())
def test_a_child_always_keeps_cap_redlines_and_its_cores_time(seed, colocation, odd):
    rng = np.random.default_rng(seed)
    try:
        facility = odd_facility(rng) if odd else tiny_facility(rng)
        breeder = Breeder(facility, rng, colocation=colocation)
    except (InstanceError, InfeasibleError, NotFoundError):
        return
    first, second = breeder.at_random(), breeder.at_random()
    for _ in range(10):
        made = first, second = breeder.children(first, second)
        for each in made:
            examined = examine(facility, to_allocation(facility, each.fractions, each.states, each.outlets))
            assert examined.violations == ()
            measured = examined.measured
            value = measured.reward_rate if colocation else measured.plain_reward_rate
            assert each.score == pytest.approx(value, rel=1e-9, abs=1e-12)
            assert each.fractions.sum(axis=1).max() <= 1.0 + 1e-12


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("colocation", [True, False])
def test_evolution_stays_below_the_bound(seed, colocation):
    facility = tiny_facility(np.random.default_rng(seed))
    solved = solve_facility(facility, colocation=colocation)
    for starts in ((), (solved.cores,)):
        found = evolve_facility(
            facility, rng=np.random.default_rng(seed), colocation=colocation, generations=200, starts=starts
        )
        assert found.score <= solved.bound
    assert found.score >= solved.cores_reward_rate * (1.0 - 1e-9)
