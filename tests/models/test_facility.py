"""Two roads to the best reward at given outlet temperatures: patterns as they pay, and all of them written out."""

from __future__ import annotations

import numpy as np
import pytest

from lpsched.errors import InfeasibleError
from lpsched.facility.air import facility_arrays, heat_map
from lpsched.facility.outlets.fixed import best_at
from lpsched.lp.solvers import HighsSolver
from models.facility import best_reward
from tests.facility.small_facility import SMALL
from tests.property.tiny_facilities import some_outlets, tiny_facility


def by_the_engine(facility, outlets):
    try:
        found = best_at(facility_arrays(facility), heat_map(facility), np.array(outlets), solver=HighsSolver())
    except InfeasibleError:
        return None
    assert found.value == pytest.approx(found.bound, rel=1e-6, abs=1e-9)
    return found.bound


def test_one_node_earns_what_paper_says():
    # The cap leaves 250 / 1.25 - 100 = 100 W, more than two cores draw; only arrivals bind. A render beside a zip:
    # 2 / 1.5 of reward and 2 / 1.25 = 1.6 zips a second. That for 1 / 1.6 of the time is all zips that arrive, and
    # renders bring 2 a second for the rest. (Two zips at once, 4 a second, for 1/4 of the time: 1 + 0.75 * 2 = 2.5.)
    assert best_reward(SMALL, [20.0]) == pytest.approx(0.625 * 4 / 3 + 1.0 + 0.375 * 2.0, rel=1e-7)


@pytest.mark.parametrize("seed", range(30))
def test_both_roads_lead_to_the_same_reward_or_to_none(seed):
    rng = np.random.default_rng(seed)
    facility = tiny_facility(rng, form=("inlet_mix", "alpha", "recirculation")[seed % 3])
    outlets = some_outlets(rng, facility)
    ours, second = by_the_engine(facility, outlets), best_reward(facility, outlets)
    assert (ours is None) == (second is None)
    if ours is not None:
        assert ours == pytest.approx(second, rel=1e-6, abs=1e-8)
