"""No front, evolved or mapped, ever crosses the exact front."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from lpsched.bag.compare.fronts import compare_fronts
from lpsched.bag.heuristics import OF_BAGS
from lpsched.evolve.nsga2 import Evolving
from tests.support import bags

AMOUNTS = st.floats(1e-3, 1e6) | st.integers(1, 20).map(float)


@given(bags(most_types=3, most_tasks=6, most_machines=3, amounts=AMOUNTS), st.integers(0, 9))
@settings(max_examples=25, deadline=None)
def test_no_front_crosses_the_exact_front(bag, seed):
    bag = bag.without_limits().model_copy(update={"watts": bag.watts or bag.seconds})  # any numbers will do
    found = compare_fronts(bag, ["nsga2", *OF_BAGS.built_in], evolving=Evolving(generations=4), seed=seed)
    assert all(entry.valid for entry in found.entries)
    for entry in found.entries:
        assert entry.hypervolume_ratio is None or 0.0 <= entry.hypervolume_ratio <= 1.0
        for point in entry.points:
            for proof in found.front.proofs:
                cost = Fraction(proof.joules_weight) * Fraction(point.energy_joules)
                cost += Fraction(proof.seconds_weight) * Fraction(point.makespan_seconds)
                assert cost >= Fraction(proof.bound)
