"""Deadlines: met wherever a schedule of whole tasks meets them, at little cost, and never passed."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from lpsched.bag.exact_front import front
from lpsched.bag.files import read_bag
from lpsched.bag.parts import Prices, Site
from lpsched.bag.recovery import deadline as within_deadline
from lpsched.bag.recovery import stages as recovering
from lpsched.bag.relaxation import Regime
from lpsched.bag.solve import solve
from lpsched.bag.verify import violations
from lpsched.errors import InfeasibleError, NotFoundError
from scripts.benches.deadlines import OBJECTIVES, binding_deadlines, tiny_cases
from scripts.benches.tight import paper_bag
from tests.support import simple_bag

pytestmark = pytest.mark.rotate_tests(3)

EFFORTS = ["fast", "balanced"]
PROFIT = read_bag(Path(__file__).parents[2] / "instances" / "profit-30x9.yaml")
MANY = paper_bag(300, 0, machines=(5,) * 9)
solve_fast = partial(solve, effort="fast")


def test_two_tasks_are_parted_though_one_machine_is_cheaper():
    # Two tasks of 4 s, 10 J each on m0 and 30 J on m1. By 7 s split tasks run 1.75 on m0; whole ones one each.
    bag = simple_bag([[4.0, 4.0]], [2], [1, 1], watts=[[2.5, 7.5]])
    result = solve_fast(bag, objective="energy", deadline=7.0)
    assert (result.measured.makespan_seconds, result.value) == (4.0, 40.0)


def test_three_tasks_whose_only_way_no_relaxation_is_rounded_to():
    # On two machines tasks of 3, 3, 2, 2 and 2 s take 6 s, as 3 + 3 and 2 + 2 + 2 alone.
    bag = simple_bag([[3.0], [2.0]], [2, 3], [2], watts=[[1.0], [1.0]])
    for effort in EFFORTS:
        assert solve(bag, objective="energy", deadline=6.0, effort=effort).measured.makespan_seconds == 6.0
    with pytest.raises(InfeasibleError):
        solve_fast(bag, objective="energy", deadline=5.99)


def test_a_loss_is_still_spread_until_the_deadline():
    # As in the first test, at a price of 0: 40 J at 1 USD a megajoule, over 7 s.
    bag = simple_bag([[4.0, 4.0]], [2], [1, 1], watts=[[2.5, 7.5]])
    result = solve_fast(bag.model_copy(update={"prices": Prices(electricity_per_kwh=3.6)}), price=0.0, deadline=7.0)
    assert result.regime is Regime.LOSS
    assert result.measured.makespan_seconds == 7.0
    assert result.value == pytest.approx(-40e-6 / 7.0 * 3600, rel=1e-12)


def test_waiting_for_the_power_cap_may_not_pass_the_deadline():
    # Four tasks: 1 s, 300 J or 3 s, 30 J. By 6 s and under 120 W, 720 J: two are fast (660 J) or fewer, and
    # the slow machine has no time for more than two.
    bag = simple_bag([[1.0, 3.0]], [4], [1, 1], watts=[[300.0, 10.0]])
    result = solve_fast(bag, objective="makespan", deadline=6.0, power_cap=120.0)
    assert result.measured.energy_joules == 660.0
    assert result.measured.makespan_seconds == 6.0
    with pytest.raises(InfeasibleError, match="under the power cap"):
        solve_fast(bag, objective="makespan", deadline=5.9, power_cap=120.0)


def test_no_tiny_bag_with_a_schedule_is_given_up_and_no_deadline_is_passed():
    # Their deadlines come from all assignments, one by one; a fifth has a power cap as well.
    cases, _ = tiny_cases(60)
    for number, bag in enumerate(cases):
        result = solve_fast(bag, objective=OBJECTIVES[number % 3])
        assert not violations(bag, result.schedule)
        assert result.measured.makespan_seconds <= bag.site.deadline_seconds


def test_a_deadline_below_what_all_assignments_take_is_infeasible_or_not_found_never_met():
    for bag in tiny_cases(40)[0]:
        sooner = bag.model_copy(update={"site": Site(deadline_seconds=0.66 * bag.site.deadline_seconds)})
        try:
            result = solve_fast(sooner, objective="makespan")
        except (InfeasibleError, NotFoundError):
            continue
        assert not violations(sooner, result.schedule)


@pytest.mark.parametrize(("objective", "ratio", "gap"), [("energy", None, 5e-4), ("profit", 1.5, 1.2e-3)])
def test_with_many_tasks_a_machine_a_binding_deadline_costs_little(objective, ratio, gap):
    # Falling back to the fastest relaxation cost 3 to 9 % (energy) and 9 % (profit).
    deadlines = dict(binding_deadlines(MANY, objective, ratio))
    for share in (0.3, 0.7):
        deadline = deadlines[share]
        result = solve_fast(MANY, objective=objective, profit_ratio=ratio, deadline=deadline)
        assert result.measured.makespan_seconds <= deadline
        assert result.gap < gap


def test_the_paper_bag_loses_less_than_two_percent_to_a_deadline():
    # It was 15.4 % with one shorter deadline and then the fastest way.
    result = solve_fast(PROFIT, profit_ratio=1.2, deadline=11_500.0)
    assert result.gap < 0.02
    assert not violations(PROFIT, result.schedule)
    assert solve_fast(PROFIT, profit_ratio=1.2, deadline=11_500.0).schedule == result.schedule


def test_what_the_fastest_schedule_takes_is_enough_for_every_objective():
    few = paper_bag(3, 1, machines=(5,) * 9)
    deadline = 1.05 * solve(few, objective="makespan", effort="balanced").value
    for objective in OBJECTIVES:
        ratio = 1.2 if objective == "profit" else None
        result = solve_fast(few, objective=objective, profit_ratio=ratio, deadline=deadline)
        assert result.measured.makespan_seconds <= deadline


def test_the_vertex_at_the_deadline_has_a_schedule():
    found = front(MANY, deadline=dict(binding_deadlines(MANY, "energy", None))[0.3])
    assert all(each is not None for each in found.schedules)


def test_who_finds_nothing_says_what_was_tried_and_what_is_proved(monkeypatch):
    # Tasks of 7, 5, 3 and 3 s on two machines take 10 s, as 7 + 3 and 5 + 3; split ones 9 s, which is all that
    # is proved without a search.
    monkeypatch.setattr(within_deadline, "MOST_TASKS", 2)
    with pytest.raises(
        NotFoundError,
        match=r"by the deadline of 9\.5 s, but there may be one: the shortest schedule found takes 10 s, and no "
        r"schedule takes less than 9 s \(proved\); try a deadline of 10 s",
    ):
        solve_fast(simple_bag([[7.0], [5.0], [3.0]], [1, 1, 2], [2]), deadline=9.5)


@pytest.mark.rotate(1)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_with_more_effort_a_deadline_is_met_or_refuted_by_the_makespan(monkeypatch, objective):
    # The same four tasks: no schedule is shorter than 10 s, and one of 10 s is found, though no other way finds it.
    monkeypatch.setattr(within_deadline, "MOST_TASKS", 2)
    monkeypatch.setattr(recovering, "_climb_down", lambda *_: None)
    watts = [[100.0], [90.0], [120.0]]
    bag = simple_bag([[7.0], [5.0], [3.0]], [1, 1, 2], [2], watts, [10.0]).model_copy(
        update={"prices": Prices(per_bag=1.0, electricity_per_kwh=0.2)}
    )
    with pytest.raises(InfeasibleError, match=r"9\.5 s, but no schedule takes less than 10 s \(proved\)"):
        solve(bag, objective=objective, deadline=9.5)
    assert solve(bag, objective=objective, deadline=10.0).measured.makespan_seconds == 10.0


def test_what_is_proved_of_a_missed_deadline_is_rounded_to_whole_seconds():
    # 19 s of work on two machines: no schedule of whole seconds takes less than 10 s, and 9.5 s is all that
    # split tasks prove.
    bag = simple_bag([[8.0], [7.0], [4.0]], [1, 1, 1], [2])
    with pytest.raises(InfeasibleError, match="less than 10 s"):
        solve_fast(bag, objective="makespan", deadline=9.6)


def test_without_a_deadline_nothing_is_shortened(monkeypatch):
    monkeypatch.setattr(recovering, "shorter_deadlines", None)
    assert solve_fast(MANY, objective="energy").gap < 0.01


def test_the_same_question_has_the_same_answer():
    few = paper_bag(3, 4, machines=(2,) * 9)
    deadline = 1.02 * solve(few, objective="makespan", effort="balanced").value
    one, two = (solve_fast(few, profit_ratio=1.2, deadline=deadline) for _ in range(2))
    assert one.schedule == two.schedule
