"""Two roads to the best times of cores whose P-states are fixed."""

from __future__ import annotations

import numpy as np
import pytest

from lpsched.facility.air import facility_arrays, heat_map
from lpsched.facility.nlp import CoreTimes, compile_lp, read_solution
from lpsched.lp.program import LpStatus
from lpsched.lp.solvers import HighsSolver
from models.core_times import best_reward
from tests.property.tiny_facilities import some_outlets, tiny_facility


@pytest.mark.parametrize("seed", range(30))
def test_both_roads_lead_to_the_same_reward_or_to_none(seed):
    rng = np.random.default_rng(seed)
    facility = tiny_facility(rng, form=("inlet_mix", "alpha", "recirculation")[seed % 3])
    arrays, outlets = facility_arrays(facility), some_outlets(rng, facility)
    node = np.repeat(np.arange(len(facility.nodes)), arrays.cores[arrays.node_type])
    tasks = len(facility.task_types)
    column = np.full((len(node), tasks), -1)
    for k, v in enumerate(node):
        for i in range(tasks):
            own = np.flatnonzero((arrays.mode_type == facility.nodes[v]) & (arrays.speeds[i] > 0))
            if len(own):
                column[k, i] = rng.choice(own)
    known = rng.uniform(0.0, 1.0 / tasks, column.shape) * (rng.random(column.shape) < 0.5) * (column >= 0)
    fixed = CoreTimes(arrays, heat_map(facility), outlets, node, column)
    solution = HighsSolver().solve(compile_lp(fixed, known))
    cores = [[(i, int(c)) for i, c in enumerate(row) if c >= 0] for row in column]
    second = best_reward(facility, outlets.tolist(), node.tolist(), cores, known.tolist())
    assert (solution.status is LpStatus.OPTIMAL) == (second is not None)
    if second is not None:
        assert read_solution(fixed, solution)[1] == pytest.approx(second, rel=1e-6, abs=1e-8)
