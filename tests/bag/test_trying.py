"""More effort never makes an answer worse, and each of its parts is used."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
import pytest

from lpsched import cancellation
from lpsched.bag import solve as trying
from lpsched.bag.model import Terms
from lpsched.bag.problem import build_problem, prove
from lpsched.bag.result import Effort
from lpsched.bag.solve import Best, effort_named, find, is_worthwhile, solve
from lpsched.cancellation import CancelToken
from lpsched.jit import is_there
from lpsched.lp.solvers import HighsSolver
from lpsched.model.provenance import Status
from tests.bag.middling import middling
from tests.bag.recovery.test_tighten import medium
from tests.support import half_full, simple_bag

pytestmark = pytest.mark.rotate_tests(4)


def test_an_unknown_effort_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="effort is 'hard', expected one of fast, balanced, auto, tight"):
        solve(simple_bag([[2.0]], [3], [2]), effort="hard")
    assert effort_named("tight") is Effort.TIGHT


@pytest.fixture
def rounding_only(monkeypatch):
    """Leave out patterns and single tasks."""
    monkeypatch.setattr(trying, "fits_patterns", lambda _: False)
    monkeypatch.setattr(trying, "fits_single_tasks", lambda _: False)


@pytest.mark.usefixtures("rounding_only")
def test_a_neighbour_of_the_relaxation_may_round_better_and_never_worse():
    gains = []
    for seed in range(6):
        bag = middling(seed, types=12, machines=4)
        fast, tight = solve(bag, effort="fast"), solve(bag, effort="tight")
        assert tight.bound == fast.bound
        gains.append(tight.value - fast.value)
    assert min(gains) >= 0.0
    assert max(gains) > 0.0


@pytest.mark.rotate(1)
@pytest.mark.parametrize("objective", ["profit", "makespan", "energy"])
def test_more_effort_is_never_worse(objective):
    bag = middling(2, types=8, machines=3)
    fast = solve(bag, objective=objective, effort="fast")
    tight = solve(bag, objective=objective, effort="tight", time_limit=2.0)
    sign = 1 if objective == "profit" else -1
    assert sign * tight.value >= sign * fast.value
    assert sign * tight.bound <= sign * fast.bound
    assert "tighten" in tight.timings


def test_more_effort_ends_at_once_when_the_watch_is_over():
    bag, cancel = middling(2, types=8, machines=3), CancelToken()
    cancel.stop()
    result = solve(bag, effort="tight", cancel=cancel)
    assert result.status in (Status.LIMIT, Status.OPTIMAL)
    assert result.timings["tighten"] < 2.0


def test_tight_is_advised_for_a_wide_gap_on_a_bag_that_is_small_enough():
    bag = half_full()  # split tasks take 4 s, whole ones 6 s
    assert solve(bag, effort="fast").tight_may_help
    assert not solve(bag, effort="tight").tight_may_help
    assert not solve(simple_bag([[2.0]], [4], [2])).tight_may_help  # 4 s, and proved
    problem = build_problem(simple_bag([[2.0]], [3 * 10**9], [10**9]), Terms(), HighsSolver())
    assert not is_worthwhile(problem, 0.5, 1e-4)


def test_a_bag_better_not_run_is_left_alone():
    result = solve(middling(0, types=4, machines=2), price=1e-9, effort="tight")
    assert result.value == pytest.approx(result.bound, rel=1e-12)
    assert not result.schedule.groups


def test_the_same_seed_finds_the_same_schedule_where_time_does_not_run_out():
    bag = simple_bag(np.array([[3.0, 5.0], [2.0, 4.0], [7.0, 6.0]]).tolist(), [4, 5, 3], [2, 2])
    first, second = (solve(bag, effort="tight", seed=3, objective="makespan") for _ in range(2))
    assert first.schedule == second.schedule


@pytest.mark.slow
@pytest.mark.parametrize("objective", ["profit", "makespan"])
def test_a_search_gives_the_same_answer_on_a_machine_that_is_busy(objective):
    bag, solver, done = medium(0, 3), HighsSolver(), threading.Event()
    problem = build_problem(
        bag, Terms(profit_ratio=1.5 if objective == "profit" else None, objective=objective), solver
    )

    def found() -> Best:
        return find(problem, solver, gap=1e-6, cancel=CancelToken(), effort=Effort.AUTO, work=0.3)

    first = found()

    def spin() -> None:
        while not done.is_set():
            sum(range(10_000))

    busy = threading.Thread(target=spin)
    busy.start()
    try:
        second = found()
    finally:
        done.set()
        busy.join()
    assert first.used is Effort.TIGHT
    assert not second.is_cut
    assert (first.bound, first.found) == (second.bound, second.found)


@pytest.fixture
def clock(monkeypatch):
    """Let tokens read a clock that the test sets: each reading adds `step` seconds."""

    class Clock:
        now, step = 0.0, 0.0

        def monotonic(self) -> float:
            self.now += self.step
            return self.now

        def __getattr__(self, name: str) -> Any:
            return getattr(time, name)

    fake = Clock()
    monkeypatch.setattr(cancellation, "time", fake)
    return fake


@pytest.mark.parametrize("objective", ["profit", "makespan"])
def test_without_a_time_limit_the_clock_has_no_say(clock, objective):
    found = []
    for step in (0.0, 50.0):  # standing still, and racing
        clock.step = step
        result = solve(medium(0, 3), objective=objective, profit_ratio=1.5 if objective == "profit" else None)
        assert result.effort_used is Effort.TIGHT
        found.append((result.value, result.bound, result.status, result.schedule))
    assert found[0] == found[1]


def test_a_time_limit_that_does_not_cut_the_search_does_not_change_it(clock, monkeypatch):
    found = []
    for late in (0.0, 0.3):  # seconds that the relaxation takes by the clock

        def slowly(*args: Any, late: float = late, **options: Any) -> Any:
            clock.now += late
            return prove(*args, **options)

        monkeypatch.setattr(trying, "prove", slowly)
        result = solve(medium(0, 3), profit_ratio=1.5, effort="tight", gap=1e-6, time_limit=1.0)
        assert result.status is Status.FEASIBLE  # not cut: but for the relaxation, the clock stands still
        found.append((result.value, result.bound, result.schedule))
    assert found[0] == found[1]


def test_a_search_that_the_clock_cuts_says_so():
    cut = solve(medium(0, 3), profit_ratio=1.5, effort="tight", time_limit=0.1)
    assert cut.status is Status.LIMIT


@pytest.mark.skipif(not is_there(), reason="Numba is not installed")
@pytest.mark.usefixtures("rounding_only")
def test_targets_that_the_clock_cuts_say_so_though_time_is_left(monkeypatch):
    seconds = (np.random.default_rng(0).random((30, 4)) + 0.1).tolist()  # no unit in which all are whole
    monkeypatch.setattr(trying, "_part", lambda cancel, _: cancel.part(0.0))
    cut = solve(simple_bag(seconds, [2] * 30, [1] * 4), objective="makespan", effort="tight", time_limit=60.0, gap=1e-9)
    assert cut.status is Status.LIMIT


def test_by_default_a_wide_gap_is_searched_and_a_narrow_one_is_not():
    # Tasks of 2 s on two machines: three take 4 s, which counting proves without a search.
    assert solve(simple_bag([[2.0]], [3], [2])).effort_used is Effort.BALANCED
    wide = solve(half_full())  # 4 s if tasks could be split, 6 s as they are
    assert (wide.effort, wide.effort_used) == (Effort.AUTO, Effort.TIGHT)
    assert wide.value == 6.0
    assert wide.bound == pytest.approx(6.0, rel=1e-4)
