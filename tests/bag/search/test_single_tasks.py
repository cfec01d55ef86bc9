"""Targets of the makespan: bounds and schedules against trying everything, and the certificates of what is proved."""

from __future__ import annotations

import json
import math
import threading
import time
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from lpsched import Bag, MachineType, Table, TaskType, certify, solve
from lpsched.bag.certificate.claim import check
from lpsched.bag.problem import MAKESPAN, prover_of
from lpsched.bag.recovery.plans import largest_load
from lpsched.bag.search import single_tasks
from lpsched.bag.search.single_tasks import fits_targets, target_search
from lpsched.cancellation import CancelToken
from lpsched.jit import is_there
from lpsched.lp.solvers import HighsSolver
from lpsched.model.provenance import Status
from tests.bag.one_by_one import Room
from tests.support import simple_bag

pytestmark = pytest.mark.skipif(not is_there(), reason="Numba is not installed")
WORK = 0.5  # seconds of counted work


def least_makespan(bag):
    """Try every machine for every task; exactly."""
    room = Room(bag)
    tasks = [i for i, task in enumerate(bag.task_types) for _ in range(task.count)]
    best = None

    def place(at, loads):
        nonlocal best
        if best is not None and max(loads, default=Fraction(0)) >= best:
            return
        if at == len(tasks):
            best = max(loads)
            return
        seen = set()
        for h, (j, _) in enumerate(room.machines):
            seconds = room.seconds(tasks[at], j)
            if seconds is None or (j, loads[h]) in seen:  # like another machine
                continue
            seen.add((j, loads[h]))
            place(at + 1, [load + seconds if own == h else load for own, load in enumerate(loads)])

    place(0, [Fraction(0)] * len(room.machines))
    return best


def search_of(bag, *, gap=0.0, work=WORK, seed=0):
    """Return a search at its end, begun with the linear bound and no schedule."""
    relaxed = MAKESPAN.relax(bag, HighsSolver())
    bound = max(MAKESPAN.prove(prover_of(bag), relaxed.multipliers), 0.0)
    search = target_search(bag, relaxed, bound, None, seed)
    search.run(gap, CancelToken().share(work))
    return search


def drawn(rng, draw, *, absent=0.2, most_tasks=7, most_machines=2):
    """Return a bag of few tasks, with times drawn one by one."""
    columns = int(rng.integers(1, 4 if most_machines > 1 else 5))
    counts, left = [], int(rng.integers(1, most_tasks + 1))
    while left:
        counts.append(int(rng.integers(1, left + 1)))
        left -= counts[-1]
    seconds: list[list[float | None]] = [[float(draw()) for _ in range(columns)] for _ in counts]
    for row in seconds:
        kept = rng.integers(columns)
        row[:] = [None if j != kept and rng.random() < absent else cell for j, cell in enumerate(row)]
    return simple_bag(seconds, counts, [int(rng.integers(1, most_machines + 1)) for _ in range(columns)])


def kinds(rng):
    """Return ways to draw a time."""
    return {
        "whole": lambda: rng.integers(1, 30),
        "few": lambda: rng.choice([3, 5, 8]),
        "alike": lambda: rng.integers(100, 121),
        "millions": lambda: rng.integers(10**6, 10**7),
        "real": lambda: rng.uniform(1.0, 9.0),
        "thirds": lambda: rng.integers(1, 30) / 3,
        "halves": lambda: rng.integers(1, 60) / 2,
        "huge": lambda: rng.uniform(1.0, 9.0) * 1e18,
        "tiny": lambda: rng.uniform(1.0, 9.0) * 1e-15,
        "from tiny to huge": lambda: 10.0 ** rng.uniform(-9, 9),
        "whole, from 1 to huge": lambda: 2 ** rng.integers(0, 45),
    }


KINDS = sorted(kinds(None))


@pytest.mark.parametrize("kind", KINDS)
def test_bounds_and_schedules_have_the_optimum_between_them(kind):
    rng, tried, closed = np.random.default_rng(len(kind)), 12, 0
    for _ in range(tried):
        bag = drawn(rng, kinds(rng)[kind])
        best, search = least_makespan(bag), search_of(bag)
        assert search.bound_seconds <= best
        assert search.low * search.unit <= best
        assert search.found is not None
        value = largest_load(bag, search.found)
        assert value >= best * (1 - Fraction(1, 10**12))
        closed += value <= search.bound_seconds * (1 + 1e-7)
    assert closed >= 0.75 * tried


@pytest.mark.parametrize("kind", KINDS)
def test_certificates_prove_what_is_solved(kind):
    rng, whole = np.random.default_rng(100 + len(kind)), 0
    for _ in range(12):
        bag = drawn(rng, kinds(rng)[kind], most_tasks=9, most_machines=1)
        result = solve(bag, objective="makespan", effort="tight", gap=1e-6)
        best = least_makespan(bag)
        assert result.bound <= best
        assert result.value >= best * (1 - Fraction(1, 10**12))
        made = certify(bag, objective="makespan", effort="tight", gap=1e-6)
        verdict = check(bag, made)
        assert verdict.accepted
        assert made.bound == Fraction(result.bound)
        whole += made.intervals is not None
        above = math.nextafter(float(max(best, verdict.proved)), math.inf)  # a forged claim
        assert not check(bag, replace(made, bound=Fraction(above))).accepted
    assert whole  # else prices of tasks were not needed


def solved(bag, **options):
    """Return the tight makespan of a bag, checked against trying everything and with its certificate."""
    result = solve(bag, objective="makespan", effort="tight", gap=0.0, **options)
    made = certify(bag, objective="makespan", effort="tight", gap=0.0, **options)
    assert check(bag, made).accepted
    assert made.bound == Fraction(result.bound)
    return result.value, result.bound


def test_one_task_on_one_machine():
    assert solved(simple_bag([[3.7]], [1], [1])) == (3.7, 3.7)


def test_one_machine_runs_everything():
    assert solved(simple_bag([[3.0], [4.0]], [5, 2], [1])) == (23.0, 23.0)


def test_more_machines_than_tasks():
    # the longest task takes 7 seconds wherever it runs
    assert solved(simple_bag([[7.0, 9.0], [3.0, 2.0]], [1, 2], [4, 3])) == (7.0, 7.0)


def test_many_machines_of_a_type_and_many_tasks_of_a_type():
    # 7 machines and 22 tasks of 5 seconds: one machine runs 4
    assert solved(simple_bag([[5.0]], [22], [7])) == (20.0, 20.0)


def test_a_machine_without_a_price_that_cannot_run_a_task():
    # 5 tasks run on the first type only, 2 on each machine or 3 on one: 7 + 6 and 5 + 5 + 7 at best; the other type is
    # free, and cannot run all
    bag = simple_bag([[7.0, None], [6.0, None], [5.0, None], [1.0, 2.0], [3.0, 9.0]], [2, 1, 2, 1, 1], [2, 1])
    search = search_of(bag)
    assert np.isfinite(search.prices).all()
    assert solved(bag) == (least_makespan(bag),) * 2


def test_the_fastest_p_state_counts():
    cpu = MachineType(name="cpu", count=2, p_states=("slow", "fast"))
    seconds = Table.of([[9.0, 4.0], [5.0, 6.0], [None, 3.0]])
    tasks = tuple(TaskType(name=name, count=count) for name, count in (("a", 2), ("b", 1), ("c", 1)))
    bag = Bag("b", (cpu,), tasks, seconds)
    assert least_makespan(bag) == 8  # 4 + 4, and 5 + 3
    assert solved(bag) == (8.0, 8.0)


def test_a_deadline_that_the_best_schedule_meets_changes_nothing():
    bag = simple_bag([[7.0, 9.0], [4.0, 2.0], [5.0, 6.0]], [2, 2, 1], [1, 1])
    best = float(least_makespan(bag))
    assert solved(bag) == solved(bag, deadline=best) == solved(bag, deadline=best + 0.5) == (best, best)


@pytest.mark.parametrize("seed", [1, 10**7, 1 << 70])
def test_any_seed_will_do(seed):
    bag = simple_bag([[7.0, 8.0], [6.0, 5.0], [5.0, 4.0]], [2, 1, 2], [2, 1])
    assert solved(bag, seed=seed) == (float(least_makespan(bag)),) * 2


def larger(seed=0, tasks=40):
    rng = np.random.default_rng(seed)
    return simple_bag(rng.integers(10, 100, (tasks, 6)).astype(float).tolist(), [1] * tasks, [1] * 6)


def test_prices_of_tasks_of_one_type_are_as_good_as_those_of_single_tasks():
    rng = np.random.default_rng(3)
    bag = simple_bag(rng.integers(20, 90, (6, 3)).astype(float).tolist(), [4, 3, 2, 2, 4, 1], [1, 1, 1])
    value, bound = solved(bag)
    assert bound == value
    assert bound > MAKESPAN.prove(prover_of(bag), MAKESPAN.relax(bag, HighsSolver()).multipliers)


def outcome_of(result):
    """Return all that is reported but times."""
    found = json.loads(json.dumps(result.to_dict()))
    found.pop("timings")
    return found


def test_the_same_seed_gives_the_same_result_however_busy_the_machine_is():
    bag = larger()
    first = solve(bag, objective="makespan", effort="tight", seed=3)
    stop = threading.Event()

    def work():
        while not stop.is_set():
            sum(range(1000))

    busy = [threading.Thread(target=work) for _ in range(3)]
    for thread in busy:
        thread.start()
    try:
        second = solve(bag, objective="makespan", effort="tight", seed=3)
    finally:
        stop.set()
        for thread in busy:
            thread.join()
    assert outcome_of(second) == outcome_of(first)


def test_a_search_is_the_same_with_one_thread(monkeypatch):
    bag, ends = larger(1), []
    for executor in (ThreadPoolExecutor, OneByOne):
        monkeypatch.setattr(single_tasks, "ThreadPoolExecutor", executor)
        search = search_of(bag, gap=1e-4)
        ends.append((search.low, search.high, search.round, search.proof[0], search.proof[1].tolist(), search.found))
    assert ends[0] == ends[1]


class OneByOne(Executor):
    """Runs what is given to threads, without any."""

    def __init__(self, threads):
        assert threads > 1

    def submit(self, function, /, *given, **options):
        done: Future[Any] = Future()
        done.set_result(function(*given, **options))
        return done


def test_a_search_that_is_stopped_keeps_what_it_has():
    search = search_of(larger(2), work=0.0)
    assert (search.proof, search.found, search.all_leaves()) == (None, None, [])
    begun = target_search(search.bag, MAKESPAN.relax(search.bag, HighsSolver()), search.bound_seconds, None, 0)
    assert begun.low == search.low


def test_a_search_goes_on_from_a_schedule():
    bag = larger(4)
    first = search_of(bag, gap=0.05)
    relaxed = MAKESPAN.relax(bag, HighsSolver())
    second = target_search(bag, relaxed, first.bound_seconds, first.found, 0)
    assert second.high == first.high == largest_load(bag, first.found)
    assert second.found is not None
    assert largest_load(bag, second.found) == largest_load(bag, first.found)


def test_large_bags_and_power_caps_are_left_to_other_searches():
    assert fits_targets(simple_bag([[1.0] * 40], [5000], [1] * 40))
    assert not fits_targets(simple_bag([[1.0]], [5001], [1]))
    assert not fits_targets(simple_bag([[1.0] * 41], [5000], [1] * 41))
    assert not fits_targets(simple_bag([[1.0, 1.0]], [5], [1, 2]))  # machines of one type: patterns are better
    capped = simple_bag([[1.0]], [5], [1])
    site = capped.site.model_copy(update={"average_power_cap_watts": 100.0})
    assert not fits_targets(capped.model_copy(update={"site": site}))


def test_compilation_takes_nothing_from_the_time_limit(monkeypatch):
    late = 0.0
    clock = time.monotonic

    def compile_slowly():
        nonlocal late
        late += 1000.0

    monkeypatch.setattr(time, "monotonic", lambda: clock() + late)
    monkeypatch.setattr(single_tasks, "compile_once", compile_slowly)
    rng = np.random.default_rng(3)
    bag = simple_bag(rng.integers(10, 100, (20, 4)).astype(float).tolist(), [1] * 20, [1] * 4)
    result = solve(bag, objective="makespan", effort="tight", gap=0.0, time_limit=60.0)
    assert late
    assert result.status is Status.OPTIMAL
