"""The checker of allocations rejects each rule, broken singly, and measures what can be measured on paper."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from operator import mul

import numpy as np
import pytest

from lpsched.facility.model import Mixing, SparseMatrix
from lpsched.facility.parts import CoreAllocation, CoreFraction, CoreRun, GangAllocation, PatternShare
from lpsched.facility.verify import examine, inlets, measure, violations, watts_per_kelvin
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
        pytest.param({"node_types": (25.0, 21.3)}, 20.0, "over-crac-redline", "'north' draws in air of 21.35 celsius, but", id="crac-redline"),
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


def test_heat_of_a_very_large_airflow_is_not_lost_in_the_digits_of_its_temperature():
    # Of 2^39 m3/s a node takes 1. At a CoP of 1, 0.4 W take 0.4 W to cool, though the air warms by less than a digit.
    share = 2.0**-39
    unit = SMALL.crac_units[0].model_copy(update={"airflow_m3_per_second": 2.0**39, "cop": (1.0, 0.0, 0.0)})
    kind = SMALL.node_types[0].model_copy(update={"overhead_watts": 0.4, "airflow_m3_per_second": 1.0})
    mixing = Mixing("inlet_mix", SparseMatrix.of([[(1, 1.0)], [(0, share), (1, 1.0 - share)]], 2))
    measured = measure(small(node_types=(kind,), crac_units=(unit,), mixing=mixing), gang())
    assert measured.crac_inlets_celsius == (20.0,)
    assert measured.heat_removed_watts == pytest.approx((0.4,), rel=1e-9)
    assert measured.total_watts == pytest.approx(0.8, rel=1e-9)


def test_the_cop_is_exact_near_its_zero():
    # 0.1 (T - T0) is 1e-8 where T is 1e-7 above T0; in doubles the two terms leave nine digits of it.
    outlet, zero = 20.0 + 1e-7, 20.0
    constant, slope = -math.pi * zero, math.pi
    unit = SMALL.crac_units[0].model_copy(update={"cop": (constant, slope, 0.0), "outlet_celsius": (outlet, 30.0)})
    measured = measure(small(crac_units=(unit,), power_cap_watts=1e12), gang(outlet=outlet))
    cop = Fraction(constant) + Fraction(slope) * Fraction(outlet)
    assert Fraction(measured.cooling_watts[0]) * cop == pytest.approx(measured.heat_removed_watts[0], rel=1e-15)


def test_an_outlet_a_little_beyond_its_range_needs_a_cop_as_well():
    unit = SMALL.crac_units[0].model_copy(update={"cop": (-2.0, 0.1, 0.0), "outlet_celsius": (20.0 + 5e-8, 30.0)})
    (found,) = violations(small(crac_units=(unit,), power_cap_watts=1e12), gang(outlet=20.0 - 2e-8))
    assert found.code == "outlet-out-of-range"
    assert "CoP" in found.sentence


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


THRIFTY = SMALL.node_types[0].model_copy(update={"overhead_watts": 1e-6})  # or idle ones would be too hot to begin with


def test_a_node_that_draws_in_its_own_air_is_solved_for():
    # t = (1 - e) (t + P / 100) + e T, so t = T + (1 - e) / e * P / 100.
    rows = [[(0, 0.999999), (1, 0.000001)], [(0, 0.000001), (1, 0.999999)]]
    facility = small(mixing=Mixing("inlet_mix", SparseMatrix.of(rows, 2)), node_types=(THRIFTY,))
    (found,) = violations(facility, gang(BOTH))
    assert found.code == "over-redline"
    (inlet,) = map(float, re.findall(r"air of ([\d.]+) celsius", found.sentence))
    assert inlet == pytest.approx(20.0 + 0.999999 / 0.000001 * (1e-6 + 35.0) / 100.0, rel=1e-9)


def test_air_that_two_nodes_hardly_let_go_does_not_settle():
    rows = [[(1, 0.9999999), (2, 1e-7)], [(0, 0.9999999), (2, 1e-7)], [(0, 1e-7), (1, 1e-7), (2, 0.9999998)]]
    mixing = Mixing("inlet_mix", SparseMatrix.of(rows, 3))
    facility = small(mixing=mixing, node_types=(THRIFTY,), nodes=(0, 0))
    (found,) = violations(facility, GangAllocation((20.0,), ((BOTH,), (BOTH,))))
    assert found.code == "no-steady-state"


def test_a_fast_node_does_not_hide_that_a_slow_one_has_far_to_go():
    # The first settles at once and 20 K warmer than the second, which draws in a millionth of it in each sweep.
    kinds = tuple(
        SMALL.node_types[0].model_copy(update={"name": name, "overhead_watts": watts, "airflow_m3_per_second": flow})
        for name, watts, flow in (("hot", 1.0, 0.1), ("slow", 0.0, 1000.0))
    )
    units = (SMALL.crac_units[0].model_copy(update={"airflow_m3_per_second": 0.101}),)
    rows = [[(3, 1.0)], [(0, 1.0)], [(2, 0.999999), (3, 0.000001)], [(1, 0.1 / 0.101), (2, 0.001 / 0.101)]]
    facility = small(
        node_types=kinds, nodes=(0, 0, 1), crac_units=units, mixing=Mixing("inlet_mix", SparseMatrix.of(rows, 4)),
        speeds=twice(SMALL.speeds), watts=twice(SMALL.watts), power_cap_watts=1e9,
    )  # fmt: skip
    air = inlets(facility, (2000.0, 2000.0, 10.0), (20.0,))
    assert air.nodes[2] == pytest.approx(20.0 + 0.999999 / 0.000001 * 10.0 / 1e6, abs=1e-8)


@pytest.mark.parametrize("seed", range(40))
def test_no_inlet_and_no_heat_is_below_the_exact_one(seed):
    # Equal airflows and permutations in any shares: some air hardly moves on, some at once.
    rng = np.random.default_rng(seed)
    nodes, count = int(rng.integers(1, 5)), int(rng.integers(1, 3))
    size = nodes + count
    weights = 10.0 ** rng.uniform(-5, 0, 4)
    weights /= weights.sum()
    matrix = np.zeros((size, size))
    orders = [np.roll(np.arange(size), 1), *(rng.permutation(size) for _ in range(3))]
    for weight, order in zip(weights, orders, strict=True):
        matrix[np.arange(size), order] += weight
    rows = [[(u, float(share)) for u, share in enumerate(row) if share] for row in matrix]
    kind = SMALL.node_types[0].model_copy(update={"overhead_watts": 1e-6, "airflow_m3_per_second": 0.5})
    units = tuple(
        SMALL.crac_units[0].model_copy(update={"name": f"u{k}", "airflow_m3_per_second": 0.5}) for k in range(count)
    )
    mixing = Mixing("inlet_mix", SparseMatrix.of(rows, size))
    facility = small(node_types=(kind,), nodes=(0,) * nodes, crac_units=units, mixing=mixing)
    watts, outlets = rng.uniform(0, 50, nodes).tolist(), rng.uniform(12, 25, count).tolist()
    found = inlets(facility, watts, outlets)
    exact = settled_exactly(facility, matrix, watts, outlets)
    assert found is not None
    for got, wanted in zip([*found.nodes, *found.units], exact, strict=True):
        assert -1e-13 <= got - wanted <= 2e-8
    for rise, inlet, outlet in zip(found.rises, exact[nodes:], outlets, strict=True):
        assert 0 <= Fraction(rise) - (inlet - Fraction(outlet)) <= 2e-8


def settled_exactly(facility, matrix, watts, outlets):
    """Return the inlets by elimination in fractions."""
    nodes, shares = len(watts), [[Fraction(share) for share in row] for row in matrix.tolist()]
    per_kelvin = Fraction(watts_per_kelvin(facility, 0.5))
    left = [Fraction(outlet) for outlet in outlets]
    rows = [  # of (I - S) inlet = S P / k + shares of units
        [
            *((v == u) - shares[v][u] for u in range(nodes)),
            sum(shares[v][u] * Fraction(watts[u]) / per_kelvin for u in range(nodes))
            + sum(map(mul, shares[v][nodes:], left)),
        ]
        for v in range(nodes)
    ]
    for v in range(nodes):
        rows[v] = [each / rows[v][v] for each in rows[v]]
        for u in range(nodes):
            if u != v:
                rows[u] = [a - rows[u][v] * b for a, b in zip(rows[u], rows[v], strict=True)]
    met = [row[-1] for row in rows]
    air = [inlet + Fraction(power) / per_kelvin for inlet, power in zip(met, watts, strict=True)] + left
    return [*met, *(sum(map(mul, shares[u], air)) for u in range(nodes, len(air)))]


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
