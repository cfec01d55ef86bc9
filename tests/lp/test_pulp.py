"""Other solvers by PuLP: the same answers, and words for what is missing."""

from __future__ import annotations

import sys
from pathlib import Path

import highspy
import numpy as np
import pulp
import pytest

from lpsched.bag.certify import export
from lpsched.bag.exact_front import front
from lpsched.bag.files import read_bag
from lpsched.bag.solve import solve
from lpsched.errors import InstanceError, MissingExtraError, SolverError
from lpsched.facility.solve import facility
from lpsched.lp.program import LpBuilder, LpStatus
from lpsched.lp.solvers import PulpSolver, default_solver, solver_named
from tests.paper_facility import paper_facility

INSTANCES = Path(__file__).parent.parent.parent / "instances"
TINY = read_bag(INSTANCES / "tiny.yaml")
VIDEO = read_bag(INSTANCES / "video-transcoding.yaml")
SOLVERS = pulp.listSolvers(onlyAvailable=True)


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("objective", ["profit", "makespan", "energy"])
def test_every_solver_that_pulp_finds_agrees_with_highs(name, objective):
    own, other = solve(VIDEO, objective=objective), solve(VIDEO, objective=objective, solver=PulpSolver(name))
    assert other.bound == pytest.approx(own.bound, rel=1e-6)
    assert name in other.provenance.solver


@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_that_pulp_finds_walks_the_front(name):
    vertices = front(TINY, solver=PulpSolver(name)).vertices
    assert [(v.energy_joules, v.makespan_seconds) for v in vertices] == [
        pytest.approx((6600, 30), rel=1e-6),
        pytest.approx((8400, 12), rel=1e-6),
    ]


def test_an_infeasible_program_is_told_as_such():
    lp = LpBuilder("impossible")
    x = lp.variables("x", upper=np.ones(2))
    lp.objective([(x, 1.0)])
    lp.equal("too much", [(x, 1.0)], 5.0)
    for solver in (PulpSolver("HiGHS"), default_solver()):
        assert solver.solve(lp.build()).status is LpStatus.INFEASIBLE


def test_solvers_go_by_name():
    assert solver_named("highs") is default_solver()
    assert solver_named("pulp:HiGHS").name.startswith("HiGHS by PuLP")
    for name in ("gurobi", "pulp:", "pulp", ""):
        with pytest.raises(InstanceError, match="expected 'highs' or 'pulp:NAME'; for example pulp:"):
            solver_named(name)


def test_a_solver_that_pulp_does_not_know_or_find_is_named():
    with pytest.raises(SolverError, match="PuLP has no solver 'magic'; it knows"):
        PulpSolver("magic")
    missing = next(name for name in pulp.listSolvers() if name not in SOLVERS)
    with pytest.raises(SolverError, match=f"the solver {missing} is not installed; PuLP finds"):
        PulpSolver(missing)


def test_a_solver_that_fails_or_has_no_duals_is_an_error(monkeypatch):
    def explode(*_, **__):
        raise RuntimeError("no licence")

    monkeypatch.setattr(pulp.LpProblem, "solve", explode)
    with pytest.raises(SolverError, match=r"HiGHS by PuLP .* failed on front: no licence"):
        solve(TINY, objective="makespan", solver=PulpSolver("HiGHS"))
    monkeypatch.setattr(pulp.LpProblem, "solve", lambda *_, **__: 1)
    with pytest.raises(SolverError, match="returns no dual values, and without them nothing is proved"):
        solve(TINY.model_copy(update={"watts": None}), objective="makespan", solver=PulpSolver("HiGHS"))


def test_without_pulp_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pulp", None)
    with pytest.raises(MissingExtraError, match="needs the extra 'models'"):
        solver_named("pulp:HiGHS")


@pytest.mark.parametrize("kind", ["lp", "mps"])
@pytest.mark.parametrize(("objective", "optimum"), [("makespan", 12.0), ("energy", 6600.0), ("profit", -3.48)])
def test_an_exported_program_has_the_answer_as_its_optimum(tmp_path, kind, objective, optimum):
    path = tmp_path / f"model.{kind}"
    path.write_text(export(TINY, kind, objective=objective))
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", "false")
    assert highs.readModel(str(path)) == highspy.HighsStatus.kOk
    highs.run()
    assert highs.getInfo().objective_function_value == pytest.approx(optimum, rel=1e-7)


def test_rows_of_an_exported_program_carry_readable_names():
    text = export(VIDEO, "lp")
    assert "demand_mov_to_mpeg4_" in text
    assert "capacity_gpu_av1_" in text


def test_an_unknown_kind_of_model_is_refused():
    with pytest.raises(ValueError, match="kind is 'xml', expected one of lp, mps"):
        export(TINY, "xml")


@pytest.mark.parametrize("name", SOLVERS)
def test_rows_with_two_limits_one_or_none_are_all_kept(name):
    # min x + 2 y - 3 z with 1 <= x + y <= 4, y >= 2 (written 2 <= y <= inf), z free of rows but for x + z <= 5, and a
    # row of nothing at all: y = 2, x = 0, z = 3 (its own limit). Two limits of one row: min -x would end at 4 - y.
    lp = LpBuilder("limits")
    x, y, z = (lp.variables(each, upper=np.array([limit])) for each, limit in (("x", 9.0), ("y", 9.0), ("z", 3.0)))
    lp.objective([(x, 1.0), (y, 2.0), (z, -3.0)])
    lp.between("both", [(x, 1.0), (y, 1.0)], 1.0, 4.0)
    lp.between("low", [(y, 1.0)], 2.0, np.inf)
    lp.between("neither", [(y, 1.0)], -np.inf, np.inf)
    lp.at_most("nothing", [], 1.0)
    lp.at_most("high", [(x, 1.0), (z, 1.0)], 5.0)
    found = PulpSolver(name).solve(lp.build())
    assert found.values == pytest.approx([0.0, 2.0, 3.0])
    assert found.multipliers.shape == (5,)
    assert found.bound == pytest.approx(4.0 - 9.0)
    most = PulpSolver(name).solve(lp.build().with_costs(np.array([-1.0, 0.0, 0.0])))
    assert most.value == pytest.approx(-2.0)
    assert most.bound == pytest.approx(-2.0)


@pytest.mark.parametrize("name", SOLVERS)
def test_columns_that_came_later_have_names_too(name):
    result = facility(paper_facility(), outlets=[20.0], solver=PulpSolver(name))
    assert result.reward_rate == pytest.approx(10 / 9, rel=1e-5)  # see tests/facility/test_solve.py
