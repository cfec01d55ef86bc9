"""Making chromosomes: children of two parents, and allocations that join."""

from __future__ import annotations

import numpy as np
import pytest

from lpsched.errors import InstanceError
from lpsched.facility import genetic as breeding
from lpsched.facility.genes import set_at_random, to_allocation
from lpsched.facility.genetic import Breeder
from lpsched.facility.parts import CoreAllocation, CoreFraction
from lpsched.facility.verify import violations
from tests.facility.drawn import KINDS, drawn_breeder
from tests.paper_facility import paper_facility


def paper_breeder():
    return Breeder(paper_facility(), np.random.default_rng(0), colocation=True)


def alone(fraction, *, outlet):
    """Return an allocation of the facility on paper with one busy core."""
    return CoreAllocation((outlet,), (((CoreFraction("task", fraction),), ()),))


def test_children_have_the_genes_of_their_parents_core_by_core(monkeypatch):
    monkeypatch.setattr(breeding, "MUTATED_CHILDREN", 0.0)
    breeder = drawn_breeder(8)
    first, second = breeder.at_random(), breeder.at_random()
    breeder.cooling = breeder.cooling._replace(cap_watts=1e9, room=breeder.cooling.room + 1e3)  # no limits
    one, two = breeder.children(first, second)
    for k in range(breeder.shape[0]):
        pair = {one.fractions[k].tobytes(), two.fractions[k].tobytes()}
        assert pair == {first.fractions[k].tobytes(), second.fractions[k].tobytes()}
        pair = {one.states[k].tobytes(), two.states[k].tobytes()}
        assert pair == {first.states[k].tobytes(), second.states[k].tobytes()}
    assert one.fractions.tobytes() != first.fractions.tobytes() or one.fractions.tobytes() != second.fractions.tobytes()


def test_about_a_tenth_of_the_children_are_mutated(monkeypatch):
    # 1,000 children: 100 are mutated, standard deviation 9.5; each gene of those by a chance of 0.05.
    chances = []
    monkeypatch.setattr(breeding, "set_at_random", lambda *given: chances.append(given[3]))
    breeder = paper_breeder()
    parent = breeder.start(alone(0.5, outlet=20.0))
    for _ in range(500):
        breeder.children(parent, parent)
    assert set(chances) == {0.05}
    assert 60 <= len(chances) <= 140


def test_parents_stay_as_they_are():
    breeder = drawn_breeder(8)
    first, second = breeder.at_random(), breeder.at_random()
    before = [first.fractions.copy(), first.states.copy(), second.fractions.copy(), second.states.copy()]
    for _ in range(50):
        breeder.children(first, second)
    after = [first.fractions, first.states, second.fractions, second.states]
    assert all(np.array_equal(one, other) for one, other in zip(before, after, strict=True))


def test_a_start_that_keeps_all_limits_keeps_its_outlets():
    # 24.9 C is no step of one degree from 25.5 C. One core all the time: 170 W, 24.9 + 170 / 400 = 25.325 C, 238.3 W.
    start = paper_breeder().start(alone(1.0, outlet=24.9))
    assert start.outlets.tolist() == [24.9]
    assert start.fractions.tolist() == [[1.0], [0.0]]
    assert start.score == 1.0


@pytest.mark.parametrize(
    "allocation",
    [
        pytest.param(alone(1.0, outlet=25.4), id="over-the-redline"),  # 25.4 + 170 / 400 > 25.5
        pytest.param(alone(1.0, outlet=9.0), id="out-of-range"),
        pytest.param(alone(1.0, outlet=10.0), id="over-the-cap"),  # 170 (1 + 10 / 10) = 340 W of 280 W
        pytest.param(alone(1.5, outlet=24.5), id="too-much-of-a-core"),
        pytest.param(CoreAllocation((), alone(1.0, outlet=0.0).nodes), id="no-outlets"),
    ],
)
def test_a_start_that_breaks_a_limit_is_normalised_and_repaired(allocation):
    start = paper_breeder().start(allocation)
    assert start.fractions.tolist() == [[1.0], [0.0]]
    assert start.outlets.tolist() == [24.5]


def test_a_start_at_the_redlines_edge_is_judged_as_the_verifier_does():
    # One core for all of its time draws 170 W: the redline of 25.5 C allows 25.075 C.
    assert paper_breeder().start(alone(1.0, outlet=25.075)).outlets.tolist() == [25.075]
    assert paper_breeder().start(alone(1.0, outlet=25.0751)).outlets.tolist() == [24.5]


def test_a_start_of_another_facility_is_refused():
    with pytest.raises(InstanceError, match="starts: 1 error"):
        paper_breeder().start(CoreAllocation((20.0,), ()))


def test_states_and_fractions_that_name_nothing_that_runs_are_seen():
    breeder = paper_breeder()
    fractions, states = np.array([[0.5], [0.0]]), np.zeros((2, 1), dtype=np.int16)
    assert breeder.can_run(fractions, states)
    assert not breeder.can_run(fractions, states + np.int16(1))
    assert not breeder.can_run(fractions, states - np.int16(1))
    assert not breeder.can_run(-fractions, states)
    assert not breeder.can_run(fractions * np.nan, states)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(30))
def test_limits_are_kept_where_the_verifier_says_so(seed, kind):
    breeder = drawn_breeder(seed, kind)
    rng, arrays = breeder.rng, breeder.arrays
    for _ in range(10):
        fractions, states = np.zeros(breeder.shape), np.zeros(breeder.shape, dtype=np.int16)
        set_at_random(breeder.genes, fractions, states, 1.0, rng)
        fractions *= rng.choice([0.1, 0.5, 1.0])
        outlets = rng.uniform(arrays.outlet_low - rng.choice([0.0, 0.1]), arrays.outlet_high + rng.choice([0.0, 0.1]))
        allocation = to_allocation(breeder.facility, fractions, states, outlets)
        assert breeder.keeps_limits(fractions, states, outlets) == (violations(breeder.facility, allocation) == ())
