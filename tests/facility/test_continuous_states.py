"""Continuous P-states: one node by hand, rates as the verifier counts them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lpsched.facility.air import crac_inlets, facility_arrays, heat_map, inlets, total_watts
from lpsched.facility.continuous_states import compile_program, core_states, count_variables, read_solution, reward_rate
from lpsched.facility.parts import CoreAllocation, CoreFraction
from lpsched.facility.verify import measure
from lpsched.lp.smooth import SmoothSolution, SmoothStatus
from lpsched.model.table import Table
from tests.facility.small_facility import SMALL
from tests.paper_facility import paper_facility
from tests.property.tiny_facilities import state_of, tiny_facility


def solved(facility, *, colocation=True, seed=0):
    arrays, heat = facility_arrays(facility, colocation=colocation), heat_map(facility)
    states = core_states(arrays)
    solution = compile_program(arrays, heat, states, np.random.default_rng(seed)).solve()
    point = read_solution(arrays, states, solution)
    return arrays, heat, states, solution, point


@pytest.mark.parametrize("seed", range(5))
def test_two_cores_that_cannot_avoid_each_other_earn_less_than_a_gang(seed):
    # As for the gang, P = 200 W and T = 25 C, 80 W for the cores: s = f1 + f2 = 1.6. With p = f1 f2 they earn
    # f1 / (1 + f2 / 2) + f2 / (1 + f1 / 2) = (s + s^2 / 2 - p) / (1 + s / 2 + p / 4), which falls with p: one core is
    # busy all the time, 1 / 1.3 + 0.6 / 1.5 = 1.16923, between both alike (1.6 / 1.4 = 1.14286) and the gang's 1.2.
    arrays, _, states, solution, point = solved(paper_facility(), seed=seed)
    assert solution.status is SmoothStatus.SOLVED
    assert reward_rate(arrays, states, point.times) == pytest.approx(1.0 / 1.3 + 0.6 / 1.5, rel=1e-4)
    assert sorted(point.times) == pytest.approx([0.6, 1.0], abs=2e-3)
    assert point.outlets == pytest.approx([25.0], abs=1e-3)


def test_without_colocation_they_earn_as_if_they_were_alone():
    arrays, _, states, _, point = solved(paper_facility(), colocation=False)
    assert reward_rate(arrays, states, point.times) == pytest.approx(1.6, rel=1e-4)


def test_the_unit_s_redline_holds():
    # The unit draws in T + P / 100 <= 26.5; P (1 + 10 / T) = 200 x 34.5 / 24.5 has the solution P = 200, T = 24.5.
    paper = paper_facility(cap=200.0 * 34.5 / 24.5)
    facility = paper.model_copy(
        update={"crac_units": (paper.crac_units[0].model_copy(update={"redline_celsius": 26.5}),)}
    )
    _, _, _, _, point = solved(facility, colocation=False)
    assert point.outlets == pytest.approx([24.5], abs=1e-4)
    assert point.times.sum() == pytest.approx(1.6, abs=1e-4)


def test_a_point_is_read_within_ranges_and_with_no_core_over_full():
    arrays = facility_arrays(paper_facility())
    values = {"x": np.array([-1e-9, 1.25]), "T": np.array([3.1])}
    solution = SmoothSolution(values, SmoothStatus.LIMIT, 1)
    point = read_solution(arrays, core_states(arrays), solution)
    assert point.outlets.tolist() == [30.0]
    assert point.times.tolist() == [0.0, 1.0]
    broken = replace(solution, values={"x": np.full(2, np.nan), "T": np.array([np.nan])})
    point = read_solution(arrays, core_states(arrays), broken)
    assert (point.outlets.tolist(), point.times.tolist()) == ([10.0], [0.0, 0.0])


def test_a_core_between_two_p_states_divides_its_time():
    # One core, 0.4 a second for 10 W or 1 for 40 W, and 25 W left at 20 C: half the time in each is 0.7 a second.
    # 250 W x 4/5 = 200 W under the cap; overhead 175 W.
    blade = SMALL.node_types[0].model_copy(update={"cores": 1, "overhead_watts": 175.0})
    unit = SMALL.crac_units[0].model_copy(update={"outlet_celsius": (20.0, 20.0)})
    facility = SMALL.model_copy(
        update={
            "node_types": (blade,),
            "crac_units": (unit,),
            "task_types": (SMALL.task_types[0].model_copy(update={"arrivals_per_second": 2.0}), SMALL.task_types[1]),
            "watts": Table.of([[40.0, 10.0, 5.0], [3000.0, None, 2000.0]]),
        }
    )
    arrays, _, states, _, point = solved(facility)
    assert point.times == pytest.approx([0.5, 0.5, 0.0], abs=1e-3)
    assert reward_rate(arrays, states, point.times) == pytest.approx(1.4, rel=1e-3)


@pytest.mark.parametrize("seed", range(30))
def test_a_solved_point_keeps_every_limit_of_random_facilities(seed):
    facility = tiny_facility(np.random.default_rng(seed))
    arrays, heat, states, solution, point = solved(facility)
    assert solution.status is SmoothStatus.SOLVED
    watts = arrays.watts[states.task, states.column] * point.times
    powers = arrays.overhead_watts[arrays.node_type] + np.bincount(
        states.node[states.core], weights=watts, minlength=len(facility.nodes)
    )
    assert np.all(np.bincount(states.core, weights=point.times) <= 1.0 + 1e-12)
    assert np.all(inlets(heat, powers, point.outlets) <= arrays.redline + 1e-5)
    assert total_watts(arrays, heat, powers, point.outlets) <= arrays.cap_watts * (1.0 + 1e-6)
    assert np.all(crac_inlets(heat, powers, point.outlets) >= point.outlets - 1e-5)  # no unit heats
    assert np.all(point.outlets >= arrays.outlet_low)
    assert np.all(point.outlets <= arrays.outlet_high)


@pytest.mark.parametrize("seed", range(10))
def test_the_count_of_variables_is_that_of_the_program(seed):
    arrays, _, _, solution, _ = solved(tiny_facility(np.random.default_rng(seed)))
    assert count_variables(arrays) == sum(map(len, solution.values.values()))


@pytest.mark.parametrize("seed", range(10))
def test_times_earn_what_the_verifier_measures(seed):
    rng = np.random.default_rng(seed)
    drawn = tiny_facility(rng)
    kinds = tuple(kind.model_copy(update={"redline_celsius": 150.0}) for kind in drawn.node_types)
    facility = drawn.model_copy(update={"node_types": kinds, "power_cap_watts": 1e6})
    arrays = facility_arrays(facility)
    states = core_states(arrays)
    # One state of each pair, or the verifier would not let it pass.
    first = np.append(True, np.diff(states.core) + np.diff(states.task) != 0)
    times = np.where(first, rng.uniform(0.0, 0.3, len(first)), 0.0)
    nodes: list[list[list[CoreFraction]]] = [[[] for _ in range(facility.node_types[j].cores)] for j in facility.nodes]
    begin = np.searchsorted(states.node, np.arange(len(facility.nodes)))
    for k, i, column, time in zip(states.core, states.task, states.column, times, strict=True):
        if time > 0:
            v = states.node[k]
            name, state = facility.task_types[i].name, state_of(facility, int(column))
            nodes[v][k - begin[v]].append(CoreFraction(name, float(time), state))
    allocation = CoreAllocation((12.0,) * len(facility.crac_units), tuple(tuple(map(tuple, node)) for node in nodes))
    measured = measure(facility, allocation)
    assert reward_rate(arrays, states, times) == pytest.approx(measured.reward_rate)
    blind = facility_arrays(facility, colocation=False)
    assert reward_rate(blind, states, times) == pytest.approx(measured.plain_reward_rate)
