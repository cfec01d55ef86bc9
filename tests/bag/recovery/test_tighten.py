from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsched.bag.model import Bag, Terms
from lpsched.bag.parts import MachineType, Prices, Site, TaskType
from lpsched.bag.problem import build_problem, prove
from lpsched.bag.recovery.stages import Searching, do_not_run_schedule, recover
from lpsched.bag.recovery.tighten import tighten
from lpsched.bag.verify import examine
from lpsched.cancellation import CancelToken
from lpsched.errors import InfeasibleError, NotFoundError, SolverError
from lpsched.generate.bags import cov_bag
from lpsched.generate.options import CovOptions
from lpsched.lp.columns import ColumnGeneration
from lpsched.lp.solvers import default_solver
from lpsched.model.table import Table
from scripts.benches import tight as bench_tight
from tests.property.tiny import Case, Ledger, cases
from tests.support import half_full, simple_bag

pytestmark = pytest.mark.rotate_tests(5)

GAP = 1e-4


def fast(bag, objective, **terms):
    """Return the question, and what the fast pipeline answers."""
    solver = default_solver()
    problem = build_problem(bag, Terms(objective=objective, **terms), solver)
    proved = prove(problem, solver)
    relaxed = proved.relaxed
    found = (
        do_not_run_schedule(problem.bag)
        if relaxed is None
        else recover(problem.bag, problem.objective, relaxed, solver)
    )
    return problem, proved, found


def tightened(bag, objective, seconds=2.0, **terms):
    """Return value and bound of the fast pipeline, and the tighter ones."""
    problem, proved, found = fast(bag, objective, **terms)
    if proved.relaxed is None:  # better not run, and that is proved
        value = problem.objective.value(found.measured)
        return (value, proved.bound), (value, proved.bound)
    rng, cancel = np.random.default_rng(0), CancelToken().share(seconds)
    bound, better, _ = tighten(problem, proved.bound, found, Searching(default_solver(), cancel, GAP, rng))
    examined = examine(problem.bag, better.schedule, may_wait=problem.objective.maximise)
    assert examined.measured == better.measured
    value = problem.objective.value
    return (value(found.measured), proved.bound), (value(better.measured), bound)


def check(case: Case, objective: str) -> None:
    best = case.best(objective)
    try:
        (old_value, old_bound), (value, bound) = tightened(case.bag, objective, 0.3)
    except (InfeasibleError, NotFoundError):
        return
    if best is None:  # idle machines alone break the cap: waiting is the answer, and is left as it is
        assert (objective, value, bound) == ("profit", old_value, old_bound)
        return
    if objective == "profit":
        assert old_value <= value <= 3600 * best <= bound <= old_bound
    else:
        assert old_bound <= bound <= best <= value <= old_value


@settings(deadline=None, max_examples=25)
@given(cases())
def test_no_schedule_earns_more_than_the_tight_bound(case):
    check(case, "profit")


@settings(deadline=None, max_examples=25)
@given(cases())
def test_no_schedule_is_done_before_the_tight_bound(case):
    check(case, "makespan")


@settings(deadline=None, max_examples=25)
@given(cases(watts=True))
def test_no_schedule_takes_less_energy_than_the_tight_bound(case):
    check(case, "energy")


@settings(deadline=None, max_examples=25)
@given(cases(limits=False), st.sampled_from(["makespan", "profit"]))
def test_without_limits_tiny_bags_are_solved_to_the_gap(case, objective):
    best = case.best(objective)
    _, (value, bound) = tightened(case.bag, objective)
    exact, standing = (3600 * best, 3600 * Ledger(case.bag).standing) if objective == "profit" else (best, 0)
    near = pytest.approx(float(exact), abs=2 * GAP * float(abs(exact) + standing))  # what is left may be near 0
    assert (value, bound) == (near, near)


def test_a_task_beside_half_full_machines_ends_after_what_one_of_them_has_to_do():
    before, after = tightened(half_full(), "makespan")
    assert before == (6.0, 4.0)
    assert after == (6.0, pytest.approx(6.0, rel=GAP))


def test_the_longest_task_and_the_rest_are_put_where_they_fit():
    # Longest first puts 3, 3 | 2, 2, 2 on two machines only by luck; 3 + 3 = 2 + 2 + 2 = 6 is the best there is.
    _, after = tightened(simple_bag([[3.0], [2.0]], [2, 3], [2]), "makespan")
    assert after == (6.0, 6.0)


def priced(seconds, watts, tasks, machines, *, idle, price, **site) -> Bag:
    """Return a bag whose electricity costs 1 a joule."""
    return at_one_a_joule(simple_bag(seconds, tasks, machines, watts, idle), price, **site)


def at_one_a_joule(bag: Bag, price: float, **site) -> Bag:
    """Return the bag at a price, with electricity that costs 1 a joule."""
    return bag.model_copy(update={"prices": Prices(per_bag=price, electricity_per_kwh=3.6e6), "site": Site(**site)})


def test_whole_tasks_earn_what_the_longer_makespan_leaves():
    # 8 s of work at 1 W: 8 J, and (68 - 8) / 6 s = 10 a second; split tasks would take 4 s and earn 15.
    bag = at_one_a_joule(half_full(watts=1.0), 68.0)
    before, after = tightened(bag, "profit")
    assert before[1] == pytest.approx(3600 * 15)
    assert after == (36000.0, pytest.approx(36000.0, rel=GAP))


def test_running_a_task_again_saves_no_idle_power():
    # Watts below idle: a second of work saves 9 J. 8 s of it: 72 J below idle, and no further task.
    # (108 + 72) / 6 s less 20 W idle: 10 a second; split tasks would take 4 s and earn 25.
    bag = at_one_a_joule(half_full(watts=1.0, idle=10.0), 108.0)
    before, after = tightened(bag, "profit")
    assert before[1] == pytest.approx(90000.0)
    # The gap is one of what is earned before the idle power is paid, 3600 x 30.
    assert after == (36000.0, pytest.approx(36000.0, abs=GAP * 108_000))


def test_a_p_state_for_each_task_of_one_machine_is_chosen():
    # One machine, two tasks: 1 s at 9 W or 3 s at 1 W. Within 4 s: one fast and one slow, 9 + 3 = 12 J.
    machine = MachineType(name="m", count=1, p_states=("fast", "slow"))
    task = TaskType(name="t", count=2)
    bag = Bag("two", (machine,), (task,), Table.of([[1.0, 3.0]]), Table.of([[9.0, 1.0]]))
    _, (value, bound) = tightened(bag, "energy", deadline_seconds=4.0)
    assert (value, bound) == (12.0, pytest.approx(12.0, rel=GAP))


def test_waiting_stays_the_answer_where_running_loses():
    # 3 tasks of 2 s at 1 W above idle cost 6 and bring 5; two machines that idle at 1 W cost 2 a second.
    bag = priced([[2.0]], [[2.0]], [3], [2], idle=[1.0], price=5.0)
    _, after = tightened(bag, "profit")
    assert after == (-7200.0, -7200.0)


def medium(seed: int, per_machine: int) -> Bag:
    options = CovOptions(
        task_types=8,
        machines=(4,) * 3,
        special_machines=(),
        task_cov=0.5,
        machine_cov=0.35,
        tasks=12 * per_machine,
        idle_watts=5.0,
    )
    bag = cov_bag("medium", np.random.default_rng(seed), options)
    return bag.model_copy(update={"prices": bag.prices.model_copy(update={"electricity_per_kwh": 0.1})})


@pytest.mark.rotate(1)
@pytest.mark.parametrize(("seed", "per_machine", "closer"), [(1, 1, 10), (0, 3, 10), (0, 12, 1)])
def test_a_medium_bag_comes_many_times_closer_to_its_bound(seed, per_machine, closer):
    before, after = tightened(medium(seed, per_machine), "profit", 4.0, profit_ratio=1.5)
    assert before[1] - before[0] > closer * (after[1] - after[0])


def test_patterns_know_what_a_power_cap_leaves():
    # Two tasks on one machine, 1 s at 300 W or 2 s at 100 W, under 180 W. Both fast: 600 J, so 3.33 s. One of
    # each: 3 s and 500 J, which is 167 W. Both slow: 4 s. Split, 8/7 of them fast: 20/7 = 2.857 s at 180 W.
    cpu = MachineType(name="cpu", count=1, p_states=("P0", "P1"))
    task = TaskType(name="a", count=2)
    site = Site(average_power_cap_watts=180.0)
    bag = Bag("capped", (cpu,), (task,), Table.of([[1.0, 2.0]]), Table.of([[300.0, 100.0]]), site=site)
    before, after = tightened(bag, "makespan")
    assert before[1] == pytest.approx(20 / 7)
    assert after == (3.0, pytest.approx(3.0, rel=GAP))


def test_a_power_cap_is_kept_by_tighter_schedules():
    bag = medium(1, 3)
    (old, _), (value, bound) = tightened(bag, "profit", 2.0, profit_ratio=1.5, power_cap_watts=0.9 * drawn(bag))
    assert old < value <= bound


def drawn(bag: Bag) -> float:
    """Return what the fast answer draws on average, at the facility."""
    _, _, found = fast(bag, "profit", profit_ratio=1.5)
    return float(bag.site.pue * found.measured.energy_joules / found.measured.makespan_seconds)


@pytest.mark.parametrize("seconds", [0.0, 0.05, 0.3])
def test_an_answer_stays_true_whenever_time_is_up(seconds):
    before, after = tightened(medium(2, 3), "profit", seconds, profit_ratio=1.5)
    assert before[0] <= after[0] <= after[1] <= before[1]
    if seconds == 0.0:  # the first interval, of all makespans, is proved in any case
        assert after == (before[0], pytest.approx(before[1], rel=1e-12))


def test_a_bag_with_too_many_machines_is_handed_back_as_it_is():
    before, after = tightened(simple_bag([[2.0]], [3], [6000]), "makespan")
    assert before == after


def test_a_stop_signal_ends_the_work_with_what_there_is():
    problem, proved, found = fast(medium(3, 10), "profit", profit_ratio=1.5)
    cancel = CancelToken(60.0, listener=lambda _: cancel.stop())
    rng = np.random.default_rng(0)
    bound, better, _ = tighten(problem, proved.bound, found, Searching(default_solver(), cancel, GAP, rng))
    assert bound <= proved.bound
    assert better.measured.profit_per_hour >= found.measured.profit_per_hour
    assert cancel.is_stopped


@pytest.mark.parametrize("fails_after", [0, 3])
def test_a_solver_that_fails_leaves_what_there_is(monkeypatch, fails_after):
    runs, run = [], ColumnGeneration.run

    def failing(self, **options):
        runs.append(options)
        if len(runs) > fails_after:
            raise SolverError("no answer")
        return run(self, **options)

    monkeypatch.setattr(ColumnGeneration, "run", failing)
    before, after = tightened(medium(2, 3), "profit", profit_ratio=1.5)
    assert len(runs) == fails_after + 1
    assert before[0] <= after[0] <= after[1] <= before[1]


def test_the_benchmark_prints_a_row_for_each_number_of_tasks(capsys):
    bench_tight.main(seeds=1, limit=0.2, tasks=(1,))
    head, row = capsys.readouterr().out.splitlines()
    assert head.split()[-4:] == ["paper", "tight", "worst", "seconds"]
    assert row.split()[0] == "1"
