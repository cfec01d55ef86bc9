"""Balanced answers: never worse than fast ones, mostly much better, and the same everywhere."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import lpsched
from lpsched.bag.files import read_bag
from lpsched.bag.model import Terms
from lpsched.bag.problem import build_problem
from lpsched.bag.recovery import stages as recovering
from lpsched.bag.recovery import tighten as balancing
from lpsched.bag.recovery.stages import Recovered
from lpsched.bag.relaxation import Regime
from lpsched.bag.result import Effort
from lpsched.bag.verify import violations
from lpsched.cancellation import CancelToken
from lpsched.generate.bags import resampled
from lpsched.lp.solvers import default_solver
from tests.support import bags

# The papers' method: what is tested here is about the relaxation, not about how hard is searched.
solve = partial(lpsched.solve, effort="fast")

PROFIT = read_bag(Path(__file__).parents[3] / "instances" / "profit-30x9.yaml")
FEW = resampled(PROFIT, 3600, np.random.default_rng(1))  # ten tasks a machine


@pytest.mark.parametrize(("ratio", "times"), [(1.01, 5), (1.2, 1.5), (1.5, 4)])
def test_ten_tasks_a_machine_lose_several_times_less(ratio, times):
    fast = solve(FEW, profit_ratio=ratio)
    balanced = solve(FEW, profit_ratio=ratio, effort="balanced")
    assert balanced.bound == fast.bound
    assert times * balanced.gap < fast.gap
    assert balanced.effort is Effort.BALANCED
    assert not violations(FEW, balanced.schedule)


def test_exchanges_between_types_help_where_one_type_is_stuck(monkeypatch):
    # Ratio 1.5: general-4 runs two kinds of tasks, and its loads cannot be evened out on their own.
    with_exchanges = solve(FEW, profit_ratio=1.5, effort="balanced")
    monkeypatch.setattr(recovering, "MOST_CELLS", 0)
    without = solve(FEW, profit_ratio=1.5, effort="balanced")
    assert with_exchanges.gap < without.gap / 2 < solve(FEW, profit_ratio=1.5).gap / 2


def test_the_same_bag_has_the_same_schedule_whatever_the_seed():
    one, other = (solve(FEW, profit_ratio=1.2, effort="balanced", seed=seed) for seed in (0, 7))
    assert one.schedule == other.schedule


def test_a_power_cap_and_a_deadline_are_kept():
    capped = solve(FEW, profit_ratio=1.5, power_cap=45_000.0, effort="balanced")
    assert capped.measured.energy_joules <= 45_000.0 * capped.measured.makespan_seconds
    assert capped.value >= solve(FEW, profit_ratio=1.5, power_cap=45_000.0).value
    forced = solve(FEW, price=1e-9, deadline=20_000.0, effort="balanced")  # a loss, spread over all the time
    assert forced.regime is Regime.LOSS
    assert forced.measured.makespan_seconds == 20_000.0


def test_what_is_better_not_run_stays_so_and_no_time_is_no_work():
    assert not solve(FEW, price=1e-9, effort="balanced").schedule.groups
    late, fast = CancelToken(), solve(FEW, profit_ratio=1.5)
    late.stop()
    problem = build_problem(FEW, Terms(profit_ratio=1.5), default_solver())
    stopped = balancing.balance(problem, Recovered(fast.schedule, fast.measured), fast.bound, 1e-4, late)
    assert stopped.schedule is fast.schedule


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    bags(most_types=3, most_tasks=40, most_machines=5, amounts=st.floats(0.125, 9)),
    st.sampled_from(["makespan", "energy"]),
)
def test_no_answer_is_worse_than_the_fast_one(bag, objective):
    if objective == "energy" and bag.watts is None:
        return
    bag = bag.model_copy(update={"site": bag.without_limits().site})
    fast, balanced = (solve(bag, objective=objective, effort=effort) for effort in ("fast", "balanced"))
    assert fast.bound == balanced.bound <= balanced.value <= fast.value
    assert not violations(bag, balanced.schedule)
