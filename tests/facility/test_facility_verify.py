"""The checker of allocations rejects each rule, broken singly, and measures what can be measured on paper."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lpsched.facility.model import Mixing, SparseMatrix
from lpsched.facility.parts import CoreAllocation, CoreFraction, CoreRun, GangAllocation, PatternShare
from lpsched.facility.verify import examine, measure, violations
from lpsched.generate.facility import generate_facility
from lpsched.model.table import Table
from tests.facility.small_facility import SMALL, small

RENDER, ZIP = CoreRun("render", 1, "P0"), CoreRun("zip", 1, "P0")


def gang(*patterns, outlet=20.0):
    return GangAllocation((outlet,), (tuple(patterns),))


def cores(*each, outlet=20.0):
    return CoreAllocation((outlet,), (each,))


BOTH = PatternShare(0.5, (RENDER, ZIP))
RENDERS, ZIPS = CoreFraction("render", 0.5, "P0"), CoreFraction("zip", 1.0, "P0")


@pytest.mark.parametrize(
    "allocation", [gang(), gang(BOTH), gang(BOTH, BOTH), cores((), ()), cores((RENDERS,), (ZIPS,))]
)
def test_a_valid_allocation_has_no_violations(allocation):
    assert violations(SMALL, allocation) == ()


def test_a_pattern_is_measured_as_on_paper():
    # Half the time: render at 1 / (1 + 0.5), zip at 2 / (1 + 0.25); 100 + 0.5 * 70 = 135 W.
    measured = measure(SMALL, gang(BOTH))
    assert measured.rates == pytest.approx((1 / 3, 0.8), rel=1e-14)
    assert measured.plain_rates == pytest.approx((0.5, 1.0), rel=1e-14)
    assert measured.reward_rate == pytest.approx(2 / 3 + 0.8, rel=1e-14)
    assert measured.plain_reward_rate == pytest.approx(2.0, rel=1e-14)
    assert measured.node_watts == pytest.approx((135.0,), rel=1e-14)
    assert measured.node_inlets_celsius == pytest.approx((20.3375,), abs=1e-10)
    assert measured.crac_inlets_celsius == pytest.approx((21.35,), abs=1e-10)
    assert measured.heat_removed_watts == pytest.approx((135.0,), rel=1e-10)
    assert measured.cooling_watts == pytest.approx((33.75,), rel=1e-10)
    assert measured.total_watts == pytest.approx(168.75, rel=1e-10)
    assert measured.hottest_inlet_margin_celsius == pytest.approx(4.6625, abs=1e-10)
    assert measured.hottest_node == 0


def test_independent_cores_slow_each_other_down_by_what_they_do_on_average():
    # render: 0.5 / (1 + 1 * 0.5) = 1/3; zip: 2 / (1 + 0.5 * 0.25) = 16/9, but only 1 a second arrives.
    measured = measure(SMALL, cores((RENDERS,), (ZIPS,)))
    assert measured.rates == pytest.approx((1 / 3, 16 / 9), rel=1e-14)
    assert measured.reward_rate == pytest.approx(2 / 3 + 1.0, rel=1e-14)
    assert measured.plain_reward_rate == pytest.approx(2.0, rel=1e-14)
    assert measured.node_watts == pytest.approx((150.0,), rel=1e-14)


@pytest.mark.parametrize("runs", [(RENDER, RENDER), (CoreRun("render", 2, "P0"),)])
def test_two_cores_that_run_the_same_slow_each_other_down_but_not_themselves(runs):
    # Each at 1 / (1 + 1).
    assert measure(SMALL, gang(PatternShare(1.0, runs))).rates == (1.0, 0.0)


def test_a_core_is_not_slowed_down_by_what_it_runs_itself():
    halves = (RENDERS, CoreFraction("zip", 0.5, "P0"))
    assert measure(SMALL, cores(halves, ())).rates == (0.5, 1.0)


def test_without_a_degradation_table_cores_do_not_slow_each_other_down():
    measured = measure(small(degradation=None, memory_classes=()), gang(PatternShare(1.0, (RENDER, ZIP))))
    assert measured.rates == (1.0, 2.0)


@pytest.mark.parametrize(
    ("allocation", "code", "sentence"),
    [
        pytest.param(GangAllocation((20.0,), ()), "wrong-node-count", "the allocation is for 0 nodes, but there are 1", id="a-node-is-missing"),
        pytest.param(GangAllocation((), ((),)), "wrong-outlet-count", "0 outlet temperatures are given, but there are 1 CRAC units", id="an-outlet-is-missing"),
        pytest.param(cores(()), "wrong-core-count", "node 0 ('blade'): the allocation has 1 cores, but there are 2", id="a-core-is-missing"),
        pytest.param(gang(outlet=9.9), "outlet-out-of-range", "'north' blows at 9.9 celsius, but its range is 10.0 to 30.0", id="too-cold"),
        pytest.param(gang(outlet=30.1), "outlet-out-of-range", "'north' blows at 30.1 celsius, but its range is 10.0 to 30.0", id="too-warm"),
        pytest.param(gang(outlet=math.nan), "bad-number", "'north' blows at nan celsius", id="outlet-nan"),
        pytest.param(gang(PatternShare(0.1, (CoreRun("rip", 1, "P0"),))), "unknown-task-type", "node 0 ('blade'): there is no task type 'rip'", id="unknown-task-type"),
        pytest.param(gang(PatternShare(0.1, (CoreRun("zip", 1, "P9"),))), "unknown-p-state", "node 0 ('blade'): there is no P-state 'P9'", id="unknown-p-state"),
        pytest.param(gang(PatternShare(0.1, (CoreRun("zip", 1),))), "unknown-p-state", "node 0 ('blade'): there is no P-state None", id="p-state-missing"),
        pytest.param(gang(PatternShare(0.1, (CoreRun("zip", 1, "P1"),))), "cannot-run", "node 0 ('blade'): 'zip' in P-state 'P1' cannot run", id="cannot-run"),
        pytest.param(gang(PatternShare(0.1, (CoreRun("render", 1, "P2"),))), "misses-deadline", "node 0 ('blade'): 'render' in P-state 'P2' takes 4.0 s, but must take less than its deadline of 3.0 s", id="misses-deadline"),
        pytest.param(gang(PatternShare(-0.1, (RENDER,))), "bad-number", "node 0 ('blade'): -0.1 is no part of the time", id="negative-share"),
        pytest.param(gang(PatternShare(math.nan, (RENDER,))), "bad-number", "node 0 ('blade'): nan is no part of the time", id="share-nan"),
        pytest.param(gang(PatternShare(0.5, (CoreRun("render", 0, "P0"),))), "bad-number", "node 0 ('blade'): a run has 0 cores", id="no-cores"),
        pytest.param(gang(BOTH, PatternShare(0.6, ())), "over-full-time", "node 0 ('blade'): busy for 1.1 of the time, more than all of it", id="node-over-full"),
        pytest.param(gang(PatternShare(0.1, (RENDER, RENDER, ZIP))), "too-many-cores", "node 0 ('blade'): a pattern runs on 3 cores, but there are 2", id="too-many-cores"),
        pytest.param(cores((CoreFraction("rip", 0.1),), ()), "unknown-task-type", "node 0 ('blade'), core 0: there is no task type 'rip'", id="unknown-task-type-of-a-core"),
        pytest.param(cores((), (CoreFraction("render", 0.1, "P2"),)), "misses-deadline", "node 0 ('blade'), core 1: 'render' in P-state 'P2' takes 4.0 s, but must take less than its deadline of 3.0 s", id="core-misses-deadline"),
        pytest.param(cores((RENDERS, ZIPS), ()), "over-full-time", "node 0 ('blade'), core 0: busy for 1.5 of the time, more than all of it", id="core-over-full"),
        pytest.param(cores((CoreFraction("zip", math.inf, "P0"),), ()), "over-full-time", "node 0 ('blade'), core 0: busy for inf of the time, more than all of it", id="endless-fraction"),
        pytest.param(cores((RENDERS, CoreFraction("render", 0.1, "P1")), ()), "two-p-states", "node 0 ('blade'), core 0: 'render' runs in more than one P-state", id="two-p-states"),
    ],
)  # fmt: skip
def test_each_broken_rule_is_named(allocation, code, sentence):
    examined = examine(SMALL, allocation)
    assert (code, sentence) in {(each.code, each.sentence) for each in examined.violations}
    assert examined.measured is None


@pytest.mark.parametrize(
    ("changes", "outlet", "code", "sentence"),
    [
        # 135 W: the node draws in air of 20.3375 celsius, the unit of 21.35, and 168.75 W are drawn in all.
        pytest.param({"node_types": (20.3, 40.0)}, 20.0, "over-redline", "node 0 ('blade') draws in air of 20.33", id="node-redline"),
        pytest.param({"node_types": (25.0, 21.3)}, 20.0, "over-crac-redline", "'north' draws in air of 21.34", id="crac-redline"),
        pytest.param({"power_cap_watts": 168.7}, 20.0, "over-power-cap", "W are drawn, but the cap is 168.7 W", id="cap"),
    ],
)  # fmt: skip
def test_each_broken_limit_is_named(changes, outlet, code, sentence):
    (found,) = violations(limited(**changes), gang(BOTH, outlet=outlet))
    assert found.code == code
    assert sentence in found.sentence


def limited(node_types=(25.0, 40.0), **changes):
    node, crac = node_types
    return small(
        node_types=(SMALL.node_types[0].model_copy(update={"redline_celsius": node}),),
        crac_units=(SMALL.crac_units[0].model_copy(update={"redline_celsius": crac}),),
        **changes,
    )


@pytest.mark.parametrize(
    "facility", [limited((20.3375, 40.0)), limited((25.0, 21.35)), limited(power_cap_watts=168.75)]
)
def test_limits_that_are_just_kept_are_no_violation(facility):
    assert violations(facility, gang(BOTH)) == ()


def test_a_unit_that_draws_in_colder_air_than_it_blows_would_have_to_heat():
    # Two units blow at 10 and 30 celsius into one node of 0.2 m3/s, 200 W/K: 20 celsius in, 20 + 100 / 200 out. Both
    # draw that in; the second would have to heat it by 9.5 K.
    units = (SMALL.crac_units[0], SMALL.crac_units[0].model_copy(update={"name": "south"}))
    mixing = Mixing("inlet_mix", SparseMatrix.of([[(1, 0.5), (2, 0.5)], [(0, 1.0)], [(0, 1.0)]], 3))
    facility = small(crac_units=units, mixing=mixing, node_types=(wide(),), power_cap_watts=1e4)
    (found,) = violations(facility, GangAllocation((10.0, 30.0), ((),)))
    assert found.code == "would-heat"
    assert found.sentence == "'south' draws in air of 20.5 celsius and would have to heat it to 30.0"


def wide():
    return SMALL.node_types[0].model_copy(update={"airflow_m3_per_second": 0.2})


def test_alpha_is_weighed_by_the_flows():
    # The unit blows 0.15 m3/s into node 0, which sends a third of it, 0.05, to node 1: all that node 1 draws in.
    # Node 0 has 20 celsius in and 20 + 100 / 150 out.
    blade = SMALL.node_types[0]
    facility = small(
        node_types=(
            blade.model_copy(update={"airflow_m3_per_second": 0.15}),
            blade.model_copy(update={"name": "flat", "airflow_m3_per_second": 0.05}),
        ),
        nodes=(0, 1),
        crac_units=(SMALL.crac_units[0].model_copy(update={"airflow_m3_per_second": 0.15}),),
        speeds=twice(SMALL.speeds),
        watts=twice(SMALL.watts),
        mixing=Mixing("alpha", SparseMatrix.of([[(1, 1 / 3), (2, 2 / 3)], [(2, 1.0)], [(0, 1.0)]], 3)),
        power_cap_watts=1e4,
    )
    measured = measure(facility, GangAllocation((20.0,), ((), ())))
    assert measured.node_inlets_celsius == pytest.approx((20.0, 20.0 + 2 / 3), abs=1e-10)
    assert sum(measured.heat_removed_watts) == pytest.approx(200.0, rel=1e-10)


def twice(table):
    return Table.of([row + row for row in table])


def test_a_recirculation_matrix_gives_inlets_outright():
    # 0.0025 K/W is the 1/400 of the mixing above, and the unit takes out what the node draws.
    facility = small(mixing=Mixing("recirculation", SparseMatrix.of([[(0, 0.0025)]], 1)))
    measured = measure(facility, gang(BOTH))
    assert measured.node_inlets_celsius == pytest.approx((20.3375,), abs=1e-12)
    assert measured.crac_inlets_celsius == pytest.approx((21.35,), abs=1e-12)


def test_air_that_hardly_leaves_a_node_does_not_settle():
    rows = [[(0, 0.999999), (1, 0.000001)], [(0, 0.000001), (1, 0.999999)]]
    thrifty = SMALL.node_types[0].model_copy(
        update={"overhead_watts": 1e-6}
    )  # or idle nodes would be too hot to begin with
    facility = small(mixing=Mixing("inlet_mix", SparseMatrix.of(rows, 2)), node_types=(thrifty,))
    (found,) = violations(facility, gang(BOTH))
    assert found.code == "no-steady-state"


def test_slowly_settling_air_is_still_measured_to_a_billionth():
    # 0.98 of the air goes round: t = 0.98 (t + P / 100) + 0.02 T, so t = T + 0.49 P.
    close = Mixing("inlet_mix", SparseMatrix.of([[(0, 0.98), (1, 0.02)], [(0, 0.02), (1, 0.98)]], 2))
    facility = limited((150.0, 150.0), mixing=close)
    measured = measure(facility, gang(BOTH))
    assert measured.node_inlets_celsius == pytest.approx((20.0 + 0.49 * 135.0,), abs=1e-9)
    assert sum(measured.heat_removed_watts) == pytest.approx(135.0, rel=1e-9)


def test_the_hottest_node_is_the_one_with_the_least_margin_and_all_heat_is_taken_out():
    facility = generate_facility("small", np.random.default_rng(3))
    run = CoreRun(facility.task_types[5].name, 1, "P0")
    nodes = tuple((PatternShare(0.5, (run,)),) if v % 3 == 0 else () for v in range(len(facility.nodes)))
    measured = measure(facility, GangAllocation((20.0,) * 3, nodes))
    margins = [
        facility.node_types[j].redline_celsius - inlet
        for j, inlet in zip(facility.nodes, measured.node_inlets_celsius, strict=True)
    ]
    assert margins[measured.hottest_node] == min(margins) == measured.hottest_inlet_margin_celsius
    assert sum(measured.heat_removed_watts) == pytest.approx(sum(measured.node_watts), rel=1e-9)


@pytest.mark.parametrize(("deadline", "codes"), [(2.5, ["misses-deadline"]), (2.5001, [])])
def test_a_task_that_takes_exactly_its_deadline_misses_it(deadline, codes):
    # Equation 3: 1 / 0.4 >= 2.5 is forbidden.
    render = SMALL.task_types[0].model_copy(update={"deadline_seconds": deadline})
    facility = small(task_types=(render, SMALL.task_types[1]))
    run = PatternShare(1.0, (CoreRun("render", 1, "P1"),))
    assert [found.code for found in violations(facility, gang(run))] == codes
