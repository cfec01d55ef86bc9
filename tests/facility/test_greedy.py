"""The greedy allocation on paper, and its rules broken one by one.

Air of 1,000 J/(m3 K), 0.1 m3/s through each node: 100 W warm it by one kelvin. Every node draws in 20 % of its
own air, so its inlet is T + P / 400; the unit takes out all heat with CoP T / 10: the total is P (1 + 10 / T).

    task per second, watts        wide (2 cores)                        narrow (1 core)
    render                        fast 1.0 at 40 W, saving 0.6 at 20    2.0 at 50
    zip                           fast 2.0 at 40 W, saving 0.8 at 20    1.0 at 50

Tasks per joule: zip on wide 0.05 (fast; saving 0.04), render on narrow 0.04, render on wide 0.03 (saving; fast 0.025),
zip on narrow 0.02. So zip goes first, to the cores of the first wide node; 3 a second arrive, and two cores do 4.
Then render gets the narrow node, then the second wide node, saving.
"""

from __future__ import annotations

import numpy as np
import pytest

from lpsched.errors import InfeasibleError, InstanceError, NotFoundError
from lpsched.facility.air import facility_arrays
from lpsched.facility.model import Air, ArrivingType, CracUnit, Facility, Mixing, NodeType, SparseMatrix
from lpsched.facility.parts import CoreFraction
from lpsched.facility.recovery import greedy, pairs_by_efficiency
from lpsched.facility.solve import facility as solve_facility
from lpsched.facility.verify import examine, measure
from lpsched.model.table import Table
from tests.paper_facility import paper_facility
from tests.property.odd_facilities import odd_facility
from tests.property.tiny_facilities import tiny_facility

ZIP, SAVING = CoreFraction("zip", 1.0, "fast"), CoreFraction("render", 1.0, "saving")
NARROW = CoreFraction("render", 1.0)
EVERYTHING = (((ZIP,), (ZIP,)), ((SAVING,), (SAVING,)), ((NARROW,),))


def on_paper(*, cap=1000.0, overhead=100.0, zips=3.0, renders=10.0, render_deadline=None, outlets=(10.0, 30.0)):
    rows = [[(v, 0.2), (3, 0.8)] for v in range(3)]
    rows.append([*((v, 0.8 / 3) for v in range(3)), (3, 0.2)])
    air = {"overhead_watts": overhead, "airflow_m3_per_second": 0.1, "redline_celsius": 25.5}
    return Facility(
        name="on paper",
        node_types=(NodeType("wide", 2, p_states=("fast", "saving"), **air), NodeType("narrow", 1, **air)),
        nodes=(0, 0, 1),
        crac_units=(CracUnit("crac", 0.3, outlets, (0.0, 0.1)),),
        task_types=(ArrivingType("render", renders, 1.0, render_deadline), ArrivingType("zip", zips, 1.0)),
        speeds=Table.of([[1.0, 0.6, 2.0], [2.0, 0.8, 1.0]]),
        watts=Table.of([[40.0, 20.0, 50.0], [40.0, 20.0, 50.0]]),
        mixing=Mixing("inlet_mix", SparseMatrix.of(rows, 4)),
        power_cap_watts=cap,
        air=Air(1.0, 1000.0),
    )


def test_pairs_come_by_tasks_per_joule_each_in_its_best_state():
    # Columns: wide fast 0, wide saving 1, narrow 2. Task types: render 0, zip 1.
    assert pairs_by_efficiency(facility_arrays(on_paper())) == [(1, 0, 0), (0, 1, 2), (0, 0, 1), (1, 1, 2)]


def test_the_allocation_is_the_one_on_paper():
    # The busiest node draws 180 W: its inlet is 0.45 K above the outlet. One step below the redline will do.
    allocation = greedy(on_paper())
    assert allocation.nodes == EVERYTHING
    assert allocation.outlets_celsius == (24.5,)
    measured = measure(on_paper(), allocation)
    assert measured.node_watts == (180.0, 140.0, 150.0)
    assert measured.total_watts == pytest.approx(470 * (1 + 10 / 24.5))
    assert measured.reward_rate == pytest.approx(3.0 + 3.2)  # zip is paid as it arrives; render 2 + 2 x 0.6


def test_the_core_that_would_break_the_cap_stays_idle():
    # 450 W with one core of the second wide node are 633.67 W in all, 470 W with both 661.8 W.
    allocation = greedy(on_paper(cap=640.0))
    assert allocation.nodes == (((ZIP,), (ZIP,)), ((SAVING,), ()), ((NARROW,),))


def test_it_stops_at_the_first_core_that_does_not_fit_even_if_a_thriftier_one_would():
    # 380 W with both zips are 535.1 W; render on the narrow node would make it 605.5, on the wide one only 563.3.
    allocation = greedy(on_paper(cap=570.0))
    assert allocation.nodes == (((ZIP,), (ZIP,)), ((), ()), ((),))


def test_outlets_go_down_by_whole_degrees_as_nodes_get_warmer():
    # Idle nodes of 350 W are 0.875 K above the outlet, one step; 430 W with two zips are 1.075 K: two steps.
    assert greedy(on_paper(overhead=350.0, cap=5000.0)).outlets_celsius == (23.5,)
    assert greedy(on_paper(overhead=350.0, cap=5000.0, zips=2.0, renders=0.0)).outlets_celsius == (
        24.5,
    )  # 350 + 40 W: 0.975 K


def test_a_range_of_the_outlet_is_kept():
    assert greedy(on_paper(outlets=(10.0, 22.3))).outlets_celsius == (22.3,)
    # At 25.2 at the lowest a node may draw 0.3 x 400 = 120 W: the first zip of 40 W would be too much.
    assert greedy(on_paper(outlets=(25.2, 30.0))).nodes == (((), ()), ((), ()), ((),))


def test_a_task_type_is_given_no_more_cores_than_its_arrivals_need():
    # One zip a second is done by one core; the next most efficient pair takes the other cores.
    allocation = greedy(on_paper(zips=1.0, renders=2.1))
    assert allocation.nodes == (((ZIP,), (SAVING,)), ((), ()), ((NARROW,),))


def test_a_state_that_misses_the_deadline_is_not_used():
    # Render takes 1 / 0.6 s in the saving state, too long; the fast one comes last but one, at 0.025 tasks a joule.
    fast = CoreFraction("render", 1.0, "fast")
    assert greedy(on_paper(render_deadline=1.5)).nodes == (((ZIP,), (ZIP,)), ((fast,), (fast,)), ((NARROW,),))


def test_nothing_runs_where_nothing_arrives():
    assert greedy(on_paper(zips=0.0, renders=0.0)).nodes == (((), ()), ((), ()), ((),))


def test_on_the_facility_of_one_node_one_core_runs():
    # 120 + 50 W at 24.5 C draw 239.4 W; both cores 310 W, over the cap of 280.
    facility = paper_facility()
    assert measure(facility, greedy(facility)).reward_rate == 1.0


def test_idle_nodes_that_break_the_cap_are_told():
    # 300 W at 24.5 C draw 422.4 W in all.
    assert greedy(on_paper(cap=423.0)).nodes == (((), ()), ((), ()), ((),))
    # Hotter than 25.5 - 0.25 C it may not blow, so 300 (1 + 10 / 25.25) = 418.8 W are needed at least.
    with pytest.raises(
        NotFoundError,
        match=r"in steps of one degree from 25\.5 down to 10 °C, keeps redlines, cooling and the cap of 422 W",
    ):
        greedy(on_paper(cap=422.0))
    with pytest.raises(InfeasibleError, match=r"nodes and cooling take at least 418\.8 W, but the cap is 418 W"):
        greedy(on_paper(cap=418.0))


@pytest.mark.parametrize("seed", range(21))
def test_it_is_valid_and_never_passes_the_bound(seed):
    rng = np.random.default_rng(seed)
    try:
        facility = tiny_facility(rng) if seed % 2 else odd_facility(rng)
        allocation = greedy(facility)
    except (InstanceError, NotFoundError):  # the door refuses some odd facilities, the steps cannot cool others
        return
    examined = examine(facility, allocation)
    assert examined.violations == ()
    try:
        bound = solve_facility(facility, gap=0.01).bound
    except InfeasibleError:
        pytest.fail("an allocation was found, so there is one")
    assert examined.measured.reward_rate <= bound * (1 + 1e-9)
