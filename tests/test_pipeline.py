"""Every stage together: brute force, a second road, and what happens when a part lies."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsched import pipeline
from lpsched.certificate.makespan import proved_makespan
from lpsched.errors import InvalidScheduleError, SolverError
from lpsched.files.bags import read_bag
from lpsched.formulations import makespan
from lpsched.lp.highs import HighsSolver
from lpsched.lp.program import LpStatus
from lpsched.pipeline import solve
from lpsched.result import relative_gap
from lpsched.schedule.bag import Schedule
from models.makespan import least_makespan
from tests.support import bags, simple_bag

INSTANCES = Path(__file__).parent.parent / "instances"
SMALL = st.integers(1, 9).map(float) | st.floats(0.125, 9)


def test_tiny_has_the_answer_on_paper():
    result = solve(read_bag(INSTANCES / "tiny.yaml"))
    assert result.value == 12.0
    assert result.bound == pytest.approx(12.0, rel=1e-15)  # the prices 2 and 1 come scaled, in doubles
    assert result.bound <= 12.0
    assert result.measured.energy_joules == 8400.0
    assert result.status.value == "optimal"


def best_of_all(bag) -> float:
    """Return the least makespan over all assignments of single tasks to single machines and P-states."""
    machines = [(j, m) for j, machine in enumerate(bag.machine_types) for m in range(machine.count)]
    tasks = [i for i, task in enumerate(bag.task_types) for _ in range(task.count)]
    choices = []
    for i in tasks:
        quickest: dict[int, float] = {}
        for column, (j, _) in enumerate(bag.modes):
            seconds = bag.seconds[i, column]
            if seconds is not None:
                quickest[j] = min(seconds, quickest.get(j, seconds))
        choices.append([(place, quickest[place[0]]) for place in machines if place[0] in quickest])
    best = float("inf")
    for assignment in product(*choices):
        loads = dict.fromkeys(machines, 0.0)
        for place, seconds in assignment:
            loads[place] += seconds
        best = min(best, max(loads.values()))
    return best


@settings(deadline=None, max_examples=80)
@given(bags(most_types=2, most_tasks=3, most_machines=2, amounts=SMALL))
def test_no_schedule_of_a_tiny_bag_beats_the_bound(bag):
    if bag.tasks > 5:
        bag = replace(bag, task_types=tuple(task.model_copy(update={"count": 1}) for task in bag.task_types))
    result = solve(bag)
    best = best_of_all(bag)
    assert result.bound <= best * (1 + 1e-12)
    assert result.value >= best * (1 - 1e-12)
    assert result.bound <= result.value


@settings(deadline=None, max_examples=60)
@given(
    bags(
        most_types=4, most_tasks=1000, most_machines=50, amounts=st.floats(1e-3, 1e3) | st.floats(1e-9, 1e-6)
    )
)
def test_the_second_road_agrees(bag):
    assert solve(bag).bound == pytest.approx(least_makespan(bag), rel=1e-7)


@settings(deadline=None, max_examples=40)
@given(bags(most_types=4, most_tasks=50, most_machines=5, amounts=SMALL), st.floats(0.01, 100))
def test_scaling_all_times_scales_the_bound(bag, factor):
    rows = [[None if cell is None else cell * factor for cell in row] for row in bag.seconds]
    scaled = replace(bag, seconds=type(bag.seconds).of(rows))
    assert solve(scaled).bound == pytest.approx(factor * solve(bag).bound, rel=1e-7)


@settings(deadline=None, max_examples=40)
@given(bags(most_types=4, most_tasks=50, most_machines=5, amounts=SMALL))
def test_the_order_of_task_types_does_not_matter_to_the_bound(bag):
    rows = list(bag.seconds)[::-1]
    turned = replace(bag, task_types=bag.task_types[::-1], seconds=type(bag.seconds).of(rows), watts=None)
    assert solve(turned).bound == pytest.approx(solve(bag).bound, rel=1e-7)


@pytest.mark.parametrize("tasks", [10, 10**6, 10**12, 3 * 10**14])
def test_the_gap_of_a_large_bag_is_the_rounding_of_a_few_tasks(tasks):
    seconds = np.random.default_rng(5).gamma(8.0, size=(3, 3)).tolist()
    result = solve(simple_bag(seconds, [tasks] * 3, [2, 3, 4]))
    assert result.gap is not None
    assert (
        0 <= result.gap * tasks < 20
    )  # each machine type is off by a task or two, of 3 tasks / 9 machines each


def test_the_same_bag_gives_the_same_schedule_twice():
    bag = read_bag(INSTANCES / "video-transcoding.yaml")
    assert solve(bag).schedule == solve(bag).schedule


@settings(deadline=None, max_examples=60)
@given(bags(most_types=3, most_tasks=40, most_machines=6, amounts=st.floats(0.1, 10)))
def test_the_bound_reported_is_the_exact_proof_rounded_down(bag):
    relaxation = makespan.read_solution(bag, HighsSolver().solve(makespan.compile_lp(bag)))
    exact = proved_makespan(bag, relaxation.machine_prices)
    bound = solve(bag).bound
    assert Fraction(bound) <= exact < Fraction(math.nextafter(bound, math.inf))


@dataclass(frozen=True)
class Liar:
    """A solver that gives back HiGHS's answer with something changed."""

    name: str = "liar"
    multipliers: float = 1.0
    values: float = 1.0
    bound: float = 1.0
    status: LpStatus = LpStatus.OPTIMAL

    def solve(self, program, *, time_limit=None):
        honest = HighsSolver().solve(program, time_limit=time_limit)
        noise = np.random.default_rng(1).random(len(honest.multipliers))
        return replace(
            honest,
            status=self.status,
            values=honest.values * self.values,
            bound=honest.bound * self.bound,
            multipliers=honest.multipliers * (1 + (self.multipliers - 1) * noise),
        )


@pytest.mark.parametrize(
    "liar",
    [Liar(multipliers=1e6), Liar(multipliers=-5.0), Liar(values=0.5), Liar(values=1.5), Liar(bound=9.0)],
)
def test_a_solver_that_lies_costs_quality_and_never_truth(liar):
    bag = read_bag(INSTANCES / "spec-2010.yaml")
    honest, lied = solve(bag), solve(bag, solver=liar)
    assert lied.bound <= honest.bound * (1 + 1e-9)
    assert lied.bound <= lied.value
    assert lied.provenance.solver == "liar"


def test_a_solver_that_did_not_finish_is_an_error():
    with pytest.raises(SolverError, match="the linear program makespan ended as limit, not optimal"):
        solve(simple_bag([[1.0]], [1], [1]), solver=Liar(status=LpStatus.LIMIT))


def test_a_schedule_that_fails_verification_is_never_an_answer(monkeypatch):
    monkeypatch.setattr(pipeline, "place", lambda *_: Schedule(()))
    with pytest.raises(InvalidScheduleError, match="0 tasks of type 't0' run, but there are 1"):
        solve(simple_bag([[1.0]], [1], [1]))


def test_an_unknown_objective_is_refused():
    with pytest.raises(ValueError, match="objective is 'speed', needs one of makespan"):
        solve(simple_bag([[1.0]], [1], [1]), objective="speed")


def test_the_gap_asked_for_decides_what_is_called_optimal():
    bag = simple_bag([[1.0]], [3], [2])  # bound 1.5, value 2: gap 1/3
    assert solve(bag, gap=0.4).status.value == "optimal"
    assert solve(bag, gap=1 / 3).status.value == "optimal"
    assert solve(bag, gap=0.3).status.value == "feasible"


def test_the_relative_gap():
    assert relative_gap(12.0, 10.0) == pytest.approx(0.2)
    assert relative_gap(0.0, 0.0) == 0.0
    assert relative_gap(1.0, 0.0) is None
