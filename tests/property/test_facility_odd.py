"""Facilities at the edges are answered, or refused with the reason; nothing crashes and no bound is beaten."""

from __future__ import annotations

import numpy as np
import pytest

from lpsched.errors import InfeasibleError, InstanceError
from lpsched.facility.solve import facility as solve_facility
from lpsched.facility.verify import measure, violations
from lpsched.model.table import Table
from tests.paper_facility import paper_facility
from tests.property.facility_grid import best_on_grid
from tests.property.odd_facilities import odd_facility
from tests.property.tiny_facilities import tiny_facility

GAP = 1e-2


@pytest.mark.parametrize("seed", [*range(40), 457, 566, 588])  # the last three cannot be run
def test_an_odd_facility_has_an_answer_within_the_gap_or_none_at_all(seed):
    rng = np.random.default_rng(seed)
    try:
        facility = odd_facility(rng)
    except InstanceError:
        return  # refused at the door, with every error
    tried = best_on_grid(facility, rng)
    try:
        result = solve_facility(facility, gap=GAP)
    except InfeasibleError:
        assert tried is None
        return
    assert violations(facility, result.allocation) == violations(facility, result.cores) == ()
    assert tried is None or measure(facility, tried).reward_rate <= result.bound
    assert (1.0 - GAP) * result.bound <= result.reward_rate


def test_tasks_that_draw_nothing_run_where_idle_nodes_are_as_hot_as_allowed():
    # Free tasks leave the node at its 120 W; at 25.2 C it draws in air of 25.2 + 120 / 400 = 25.5 C, its redline.
    # Two cores do 4/3 a second.
    facility = paper_facility().model_copy(update={"watts": Table.of([[0.0]])})
    result = solve_facility(facility, outlets=[25.2])
    assert result.reward_rate == pytest.approx(4 / 3, rel=1e-9)


def test_a_facility_whose_idle_nodes_no_outlets_can_cool_is_infeasible():
    # Idle nodes take 120 W and the unit 120 x 10 / T: a cap of 190 W asks for 17.1 C. The unit draws in air of T + 1.2,
    # and its redline of 18 C asks for 16.8 C.
    paper = paper_facility(cap=190.0)
    units = (paper.crac_units[0].model_copy(update={"redline_celsius": 18.0}),)
    with pytest.raises(InfeasibleError, match="no outlet temperatures between 10 and 30 °C keep"):
        solve_facility(paper.model_copy(update={"crac_units": units}), gap=GAP)


@pytest.mark.parametrize("seed", range(6))
def test_a_facility_that_can_earn_nothing_is_soon_done(seed):
    # All nodes take a second for any task, and every deadline is earlier; blades would be in time, but there is none.
    drawn = tiny_facility(np.random.default_rng(seed), form="inlet_mix")
    blade = drawn.node_types[0].model_copy(update={"name": "blade", "p_states": None})
    columns = len(drawn.modes)
    facility = drawn.model_copy(
        update={
            "node_types": (*drawn.node_types, blade),
            "task_types": tuple(task.model_copy(update={"deadline_seconds": 0.9}) for task in drawn.task_types),
            "speeds": Table.of([[1.0] * columns + [2.0] for _ in drawn.task_types]),
            "watts": Table.of([[20.0] * (columns + 1) for _ in drawn.task_types]),
        }
    )
    result = solve_facility(facility, gap=GAP, time_limit=10.0)
    assert result.reward_rate == 0.0
    assert result.bound == pytest.approx(0.0, abs=1e-12)
    assert result.boxes < 10
