"""The exact front: on paper, against a sample of weights, and with a solver whose hot starts lie."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsched.bag import front as formulation
from lpsched.bag.exact_front import front
from lpsched.bag.files import read_bag
from lpsched.bag.problem import prover_of
from lpsched.bag.search.frontier import frontier
from lpsched.bag.solve import solve
from lpsched.errors import InfeasibleError, InstanceError, SolverError
from lpsched.generate.bags import cov_bag
from lpsched.generate.options import CovOptions
from lpsched.lp import sweep
from lpsched.lp.parametric import parametric_path
from lpsched.lp.solvers import HighsSolver
from tests.property.bags import ORDINARY, UNEQUAL, limited_bags
from tests.support import half_full, simple_bag

pytestmark = pytest.mark.rotate_tests(4)

INSTANCES = Path(__file__).parents[3] / "instances"
TINY = read_bag(INSTANCES / "tiny.yaml")
IDLE = read_bag(INSTANCES / "profit-30x9-idle.yaml")


def points(result):
    return [(vertex.energy_joules, vertex.makespan_seconds) for vertex in result.vertices]


def test_tiny_has_the_front_on_paper():
    result = front(TINY)
    assert points(result) == [pytest.approx((6600.0, 30.0)), pytest.approx((8400.0, 12.0))]
    assert [(each.energy_joules, each.makespan_seconds) for each in result.measured] == [(6600, 30), (8400, 12)]
    # The line between them: E + 100 t = 9,600; in weights 1/1,800 and 1/18, that is 5.33.
    least_energy, proof, least_makespan = result.proofs
    assert (least_energy.bound, least_makespan.bound) == pytest.approx((6600.0, 12.0), rel=1e-12)
    assert proof.bound / proof.joules_weight == pytest.approx(9600, rel=1e-12)
    assert proof.seconds_weight / proof.joules_weight == pytest.approx(100, rel=1e-12)


def test_a_deadline_cuts_the_front_and_a_cap_moves_it():
    assert points(front(TINY, deadline=21.0)) == [pytest.approx((7500.0, 21.0)), pytest.approx((8400.0, 12.0))]
    # 110 W: nobody is done before 5,400 / 70 s, and that is the thrifty end.
    (only,) = points(front(TINY, power_cap=110.0))
    assert only == pytest.approx((110 * 5400 / 70, 5400 / 70))


@pytest.mark.parametrize("effort", ["balanced", "auto"])
def test_the_ends_of_a_front_are_what_solve_finds_for_energy_and_for_makespan(effort):
    options = CovOptions(task_types=6, machines=(1, 2), tasks=8, task_cov=0.6, machine_cov=0.4)
    few = cov_bag("few", np.random.default_rng(4), options)
    found, rounded = front(few, effort=effort), front(few, effort="fast")
    thrifty = solve(few, objective="energy", effort=effort)
    quick = solve(few, objective="makespan", effort=effort)
    assert (found.proofs[0].bound, found.proofs[-1].bound) == (thrifty.bound, quick.bound)
    assert found.measured[0].energy_joules == thrifty.value
    assert found.measured[-1].makespan_seconds == quick.value
    assert found.to_dict()["effort"] == effort
    assert found.vertices == rounded.vertices
    assert found.proofs[1:-1] == rounded.proofs[1:-1]
    for now, before in zip(found.measured[1:-1], rounded.measured[1:-1], strict=True):
        assert now.energy_joules <= before.energy_joules
        assert now.makespan_seconds <= before.makespan_seconds


def test_loads_are_evened_out_at_every_vertex_unless_one_is_told_to_be_fast():
    fast, even = front(IDLE, effort="fast"), front(IDLE, effort="balanced")
    above = [
        [
            point.makespan_seconds / vertex.makespan_seconds
            for vertex, point in zip(each.vertices, each.measured, strict=True)
        ]
        for each in (fast, even)
    ]
    assert all(after <= before for before, after in zip(*above, strict=True))
    assert np.mean(above[1]) - 1 < 0.3 * (np.mean(above[0]) - 1)


def test_an_effort_that_is_none_is_refused():
    with pytest.raises(ValueError, match="effort is 'hard', expected one of fast, balanced, auto, tight"):
        front(TINY, effort="hard")


def test_a_front_needs_watts_a_feasible_cap_and_a_feasible_deadline():
    with pytest.raises(InstanceError, match="watts: got none, expected the watts of every pair that can run"):
        front(TINY.model_copy(update={"watts": None}))
    with pytest.raises(InfeasibleError, match="idle machines alone draw 40 W"):
        front(TINY, power_cap=40.0)
    with pytest.raises(InfeasibleError, match="no schedule takes less than 12 s"):
        front(TINY, deadline=3.0)


def test_ties_at_the_ends_are_broken_by_the_other_criterion():
    # Both machine types take 100 J for a task: the least energy is 600 J whatever is done, so 3 s is the point.
    bag = simple_bag([[1.0, 1.0]], [6], [1, 1], watts=[[100.0, 100.0]])
    assert points(front(bag)) == [pytest.approx((600.0, 3.0))]
    # 'slow' takes twice as long at half the watts: 12 + 6 tasks in 2 s, and 100 J for each of them.
    bag = simple_bag([[1.0, 2.0]], [18], [6, 6], watts=[[100.0, 50.0]])
    assert points(front(bag)) == [pytest.approx((1800.0, 2.0), rel=1e-9)]


@pytest.mark.parametrize("name", ["video-transcoding", "profit-30x9", "profit-30x9-idle", "spec-2010"])
def test_no_sampled_weight_finds_a_point_below_the_exact_front(name):
    bag = read_bag(INSTANCES / f"{name}.yaml")
    found = frontier(bag, HighsSolver())
    vertices = [(each.energy_joules, each.makespan_seconds) for each in found.vertices]
    spans = np.ptp(np.array(vertices), axis=0) + 1.0
    for share in np.linspace(0.001, 0.999, 41):
        weights = formulation.Weights(share / spans[0], (1 - share) / spans[1])
        scaling = formulation.scaling_for(bag, weights)
        solution = HighsSolver().solve(formulation.compile_lp(scaling, weights))
        sampled = formulation.read_solution(scaling, weights, solution).bound
        best = min(weights.joules * e + weights.seconds * t for e, t in vertices)
        assert best == pytest.approx(sampled, rel=1e-8)


def test_the_front_is_convex_and_its_proofs_are_as_sharp_as_its_edges():
    result = front(IDLE, effort="fast")
    found = np.array(points(result))
    slopes = np.diff(found[:, 1]) / np.diff(found[:, 0])
    assert np.all(np.diff(found[:, 0]) > 0)
    assert np.all(slopes < 0)
    assert np.all(np.diff(slopes) > 0)
    assert len(result.proofs) == len(found) + 1  # one for each edge, and one for each criterion alone
    assert result.proofs[0].bound == pytest.approx(found[0, 0], rel=1e-9)
    assert result.proofs[-1].bound == pytest.approx(found[-1, 1], rel=1e-9)
    for proof, one, two in zip(result.proofs[1:-1], found[:-1], found[1:], strict=True):
        for energy, seconds in (one, two):
            value = proof.joules_weight * energy + proof.seconds_weight * seconds
            assert value == pytest.approx(proof.bound, rel=1e-9)


def test_every_schedule_lies_above_every_proof():
    result = front(IDLE, effort="balanced")
    for point in result.measured:
        for proof in result.proofs:
            value = proof.joules_weight * point.energy_joules + proof.seconds_weight * point.makespan_seconds
            assert value >= proof.bound


def test_ends_a_million_times_apart_are_found_too():
    # 'slow' takes a billion times as long for a third of the energy: (0.1 n J, 1e9 n s) and nearly (n/3, n).
    bag = simple_bag([[1.0, 1e9]], [3], [1, 1], watts=[[1.0, 1e-10]])
    ends = points(front(bag))
    assert ends[0] == pytest.approx((0.3, 3e9), rel=1e-7)
    assert ends[-1] == pytest.approx((3.0, 3.0), rel=1e-6)


@dataclass
class HotLiar:
    """Honest from cold; a hot answer is spoilt, and still calls itself optimal."""

    spoil: Any
    name: str = "hot liar"
    colds: int = 0

    def solve(self, program, *, cancel=None):
        self.colds += 1
        return HighsSolver().solve(program, cancel=cancel)

    def sweep(self, program):
        return HotLiarSweep(self, HighsSolver().sweep(program))


@dataclass
class HotLiarSweep:
    liar: HotLiar
    honest: Any = field(repr=False)

    def solve(self, costs, *, cancel=None):
        return self.liar.spoil(self.honest.solve(costs, cancel=cancel))


def other_point(solution):
    return replace(solution, values=np.full_like(solution.values, 0.5))


def other_multipliers(solution):
    multipliers = solution.multipliers * 0.9
    return replace(solution, multipliers=multipliers, bound=solution.program.dual_bound(multipliers))


def lower_value(solution):
    # Keeps value and bound together, but not the rows: a makespan of nothing.
    values = solution.values.copy()
    values[solution.program.blocks["s"]] *= 0.5
    return replace(solution, values=values, bound=solution.program.value(values))


def raises(_):
    raise SolverError("no answer")


@pytest.mark.parametrize("spoil", [other_point, other_multipliers, lower_value, raises])
def test_a_hot_start_that_lies_is_found_out_and_solved_from_cold(spoil):
    liar = HotLiar(spoil)
    lied, honest = frontier(TINY, liar), frontier(TINY, HighsSolver())
    assert lied.colds == lied.solves == liar.colds == 3
    assert honest.colds == 0
    for one, two in zip(lied.vertices, honest.vertices, strict=True):
        assert (one.energy_joules, one.makespan_seconds) == pytest.approx((two.energy_joules, two.makespan_seconds))


@dataclass
class NoBasis:
    """HiGHS, each program from cold: nothing is known of a basis."""

    name: str = "no basis"

    def solve(self, program, *, cancel=None):
        return HighsSolver().solve(program, cancel=cancel)

    def sweep(self, program):
        return NoBasisSweep(program)


@dataclass
class NoBasisSweep:
    program: Any

    def solve(self, costs, *, cancel=None):
        return HighsSolver().solve(self.program.with_costs(costs), cancel=cancel)

    def basic(self):
        return None

    def multipliers_of(self, _):
        return None


def pairs(found):
    return np.array([(each.energy_joules, each.makespan_seconds) for each in found.vertices])


def is_same_front(one, two):
    return np.shape(one) == np.shape(two) and np.allclose(one, two, rtol=1e-8, atol=0.0)


@settings(max_examples=60)
@given(st.one_of(limited_bags(ORDINARY), limited_bags(UNEQUAL)))
def test_the_parametric_front_is_that_of_cold_programs_under_caps_and_deadlines_too(bag):
    along, cold = frontier(bag, HighsSolver()), frontier(bag, NoBasis())
    assert cold.pivots == 0
    assert is_same_front(pairs(along), pairs(cold))
    assert along.pivots >= len(along.vertices) - 1 or along.solves > 1  # each vertex but the first took one, at least
    prover = prover_of(bag)
    for one, two in zip(along.edges, cold.edges, strict=True):
        joules, seconds = one.weights.joules, one.weights.seconds
        proved = [float(prover.cost(each.multipliers(), joules, seconds)) for each in (one, two)]
        least = (pairs(along) @ (joules, seconds)).min()
        assert proved[1] - 1e-7 * least <= proved[0] <= least * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_equal_numbers_and_many_ties_leave_the_parametric_front_as_it_is(seed):
    rng = np.random.default_rng(seed)
    types, machines = int(rng.integers(2, 9)), int(rng.integers(2, 6))
    seconds = rng.integers(1, 4, (types, machines)).astype(float)
    seconds[:, 1] = seconds[:, 0]  # two machine types alike
    watts = 50.0 * rng.integers(1, 4, (types, machines))
    counts, idle = rng.integers(1, 40, types).tolist(), [0.0, 0.0, *rng.integers(0, 20, machines - 2).tolist()]
    bag = simple_bag(seconds.tolist(), counts, [3] * machines, watts=watts.tolist(), idle=idle)
    along = frontier(bag, HighsSolver())
    assert along.solves == 1
    assert is_same_front(pairs(along), pairs(frontier(bag, NoBasis())))


def too_early(path):
    return replace(path, points=0.9 * path.points)


def one_vertex_left_out(path):
    return replace(path, points=np.delete(path.points, len(path.points) // 2, axis=0))


def no_proofs(path):
    return replace(path, second=0.5 * path.second)


@pytest.mark.parametrize("spoil", [too_early, one_vertex_left_out, no_proofs, lambda _: None])
def test_a_path_that_is_wrong_is_found_out_and_the_solver_asked_instead(spoil, monkeypatch):
    honest = frontier(IDLE, HighsSolver())
    assert (honest.solves, honest.pivots) == (1, len(honest.vertices) - 1)
    monkeypatch.setattr(sweep, "parametric_path", lambda *given: spoil(parametric_path(*given)))
    found = frontier(IDLE, HighsSolver())
    assert found.pivots == 0
    assert found.solves > 1
    assert is_same_front(pairs(found), pairs(honest))


def test_a_schedule_that_misses_the_deadline_is_left_out():
    result = front(half_full(watts=5.0), deadline=5.0)  # 4 s split, 6 s whole
    assert result.schedules == (None,)
    assert result.to_dict()["schedules"] == [None]
    assert result.rows()[0][3:] == ("-", "-", "-")


def test_a_front_shows_itself_in_a_notebook():
    assert "<td>1.833 Wh</td>" in front(TINY)._repr_html_()


def test_a_sample_of_weights_finds_some_of_the_vertices_and_nothing_else():
    result = front(IDLE, sample=30, effort="fast")
    assert len(result.sample) == 30
    assert 5 < result.sampled_vertices() < len(result.vertices)
    for point in result.sample:
        for proof in result.proofs:
            value = proof.joules_weight * point.energy_joules + proof.seconds_weight * point.makespan_seconds
            assert value >= proof.bound * (1 - 1e-9)
    with pytest.raises(InstanceError, match="sample: got -1, expected a number from 0 to 100000"):
        front(TINY, sample=-1)
