"""Heat that is produced is taken out, and two ways to work out temperatures agree."""

from __future__ import annotations

import numpy as np
import pytest

from lpsched.facility.air import (
    cooling_watts,
    crac_inlets,
    facility_arrays,
    heat_map,
    heat_removed,
    inlets,
    total_watts,
)
from lpsched.facility.parts import GangAllocation
from lpsched.facility.verify import measure
from tests.property.tiny_facilities import FORMS, patterns, share_of, tiny_facility

EXACT = 1e-9


def some_work(seed):
    """Return a facility without limits, an allocation of it, and what the verifier measures."""
    rng = np.random.default_rng(seed)
    limited = tiny_facility(rng, form=FORMS[seed % 3])
    kinds = tuple(kind.model_copy(update={"redline_celsius": 150.0}) for kind in limited.node_types)
    facility = limited.model_copy(update={"power_cap_watts": 1e6, "node_types": kinds})
    nodes = []
    for j in facility.nodes:
        known = patterns(facility, j)
        parts = rng.dirichlet(np.ones(3))
        nodes.append(tuple(share_of(facility, float(part), known[rng.integers(len(known))]) for part in parts))
    outlets = np.full(len(facility.crac_units), rng.uniform(10.0, 25.0))  # at odds, a unit might have to heat
    return facility, outlets, measure(facility, GangAllocation(tuple(outlets.tolist()), tuple(nodes)))


@pytest.mark.parametrize("seed", range(60))
def test_the_units_take_out_what_the_nodes_draw(seed):
    facility, outlets, measured = some_work(seed)
    powers = np.array(measured.node_watts)
    by_matrix = heat_removed(heat_map(facility), powers, outlets)
    assert sum(measured.heat_removed_watts) == pytest.approx(powers.sum(), rel=EXACT)
    assert by_matrix.sum() == pytest.approx(powers.sum(), rel=EXACT)


@pytest.mark.parametrize("seed", range(60))
def test_air_gone_through_until_it_rests_is_as_warm_as_the_solved_mixing_says(seed):
    facility, outlets, measured = some_work(seed)
    arrays, heat, powers = facility_arrays(facility), heat_map(facility), np.array(measured.node_watts)
    assert inlets(heat, powers, outlets) == pytest.approx(measured.node_inlets_celsius, rel=EXACT)
    assert crac_inlets(heat, powers, outlets) == pytest.approx(measured.crac_inlets_celsius, rel=EXACT)
    assert cooling_watts(arrays, heat, powers, outlets) == pytest.approx(measured.cooling_watts, rel=EXACT)
    assert total_watts(arrays, heat, powers, outlets) == pytest.approx(measured.total_watts, rel=EXACT)
