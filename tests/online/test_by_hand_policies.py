"""Policies on states so small that the answer can be worked out in the head."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lpsched.online.policies import policy
from lpsched.online.simulate.state import State, System
from lpsched.online.utility import Interval, UtilityFunction
from tests.days import decaying
from tests.online.states import read_only


def small_state(seconds, joules, tasks, *, p_states=None, machines=None, ready=None, **changes):
    """Return a state of plain rows: tasks are (arrival, type, utility function), machines one of each type."""
    seconds = np.array(seconds, dtype=float)
    p_states = p_states or [1] * seconds.shape[1]
    machines = machines or [1] * len(p_states)
    functions = list(dict.fromkeys(function for _, _, function in tasks))
    intervals = [each for function in functions for each in function.intervals]
    can_run = ~np.isnan(seconds)
    system = System(
        machine_counts=read_only(machines, int),
        machine_type=read_only(np.repeat(np.arange(len(machines)), machines), int),
        first_column=read_only(np.cumsum([0, *p_states]), int),
        column_type=read_only(np.repeat(np.arange(len(machines)), p_states), int),
        can_run=read_only(can_run, bool),
        seconds=read_only(np.where(can_run, seconds, 0.0)),
        joules=read_only(np.where(can_run, np.array(joules, dtype=float), 0.0)),
        first_interval=read_only(np.cumsum([0, *(len(function.intervals) for function in functions)]), int),
        after_seconds=read_only([each.after_seconds for each in intervals]),
        starts_at=read_only([each.starts_at for each in intervals]),
        falls_to=read_only([each.falls_to for each in intervals]),
        rate_per_second=read_only([each.rate_per_second for each in intervals]),
    )
    ready = ready or [100.0] * sum(machines)
    state = {
        "system": system,
        "now": 100.0,
        "begins_at": 0.0,
        "ends_at": math.inf,
        "until": math.inf,
        "energy_left": math.inf,
        "allowed": system.can_run,
        "tasks": read_only(range(len(tasks)), int),
        "arrivals": read_only([arrival for arrival, _, _ in tasks]),
        "types": read_only([i for _, i, _ in tasks], int),
        "functions": read_only([functions.index(function) for _, _, function in tasks], int),
        "polled": False,
        "available": read_only(range(sum(machines)), int),
        "ready": read_only(ready),
        "pending_at": read_only([100.0] * sum(machines)),
        "memory": {},
    }
    return State(**state | changes)


def answer(name, state):
    decided = policy(name).choose(state, np.random.default_rng(0))
    if isinstance(decided, list):
        return [tuple(each) for each in decided]
    columns = decided.tasks.tolist(), decided.machines.tolist(), decided.columns.tolist()
    return list(zip(*columns, strict=True))


FLAT = decaying(8.0)
LOW = decaying(2.0)


def test_min_min_maps_the_shortest_first_whatever_it_is_worth():
    # Both on the one machine: 5 s for the second type, 10 s for the first.
    state = small_state([[10.0], [5.0]], [[1.0], [1.0]], [(0.0, 0, FLAT), (0.0, 1, LOW)])
    assert answer("min-min", state) == [(1, 0, 0), (0, 0, 0)]
    assert answer("max-max-util", state) == [(0, 0, 0), (1, 0, 0)]


def test_utility_per_time_and_per_energy_weigh_what_a_task_takes():
    # Per second 8 / 10 = 0.8 and 2 / 2 = 1; per joule 8 / 4 = 2 and 2 / 2 = 1.
    state = small_state([[10.0], [2.0]], [[4.0], [2.0]], [(0.0, 0, FLAT), (0.0, 1, LOW)])
    assert [task for task, _, _ in answer("max-max-upt", state)] == [1, 0]
    assert [task for task, _, _ in answer("max-max-upe", state)] == [0, 1]


def test_what_earns_for_no_energy_comes_first_and_what_earns_nothing_last():
    nothing = decaying(0.0)
    state = small_state(
        [[10.0], [10.0], [10.0]], [[0.0], [1.0], [0.0]], [(0.0, 0, nothing), (0.0, 1, FLAT), (0.0, 2, LOW)]
    )
    assert [task for task, _, _ in answer("max-max-upe", state)] == [2, 1, 0]
    # 0.6 * (8 / 1) / (8 / 1) - 0.4 * 1 / 1 = 0.2 for the second task, 0 for the first.
    assert [task for task, _, _ in answer("weighted-upe:0.4", state)] == [2, 1, 0]


def test_the_weight_takes_a_task_from_the_fast_machine_to_the_frugal_one():
    # 10 s and 100 J or 20 s and 1 J. w = 0.3: 0.7 - 0.3 * 1 = 0.4 and 0.7 - 0.3 * 0.01 = 0.697.
    state = small_state([[10.0, 20.0]], [[100.0, 1.0]], [(0.0, 0, FLAT)])
    assert answer("weighted-util:0", state) == [(0, 0, 0)]
    assert answer("weighted-util:0.3", state) == [(0, 1, 1)]
    # Per time: 0.9 * (8 / 10) / (8 / 10) - 0.1 = 0.8 and 0.9 * 0.5 - 0.001 = 0.449; at w = 0.9 it is
    # 0.1 - 0.9 = -0.8 and 0.05 - 0.009 = 0.041.
    assert answer("weighted-upt:0.1", state) == [(0, 0, 0)]
    assert answer("weighted-upt:0.9", state) == [(0, 1, 1)]


def test_a_task_whose_energy_weighs_more_than_its_utility_waits():
    # Of 8 and 2 at most 8, and the same 4 J each: 0.5 - 0.5 = 0 is mapped, 0.125 - 0.5 is not.
    state = small_state([[10.0], [10.0]], [[4.0], [4.0]], [(0.0, 0, FLAT), (0.0, 1, LOW)])
    assert answer("weighted-util:0.5", state) == [(0, 0, 0)]
    assert [task for task, _, _ in answer("weighted-util:0.2", state)] == [0, 1]  # 0.2 - 0.2 = 0
    assert [task for task, _, _ in answer("max-max-util", state)] == [0, 1]


def test_sufferage_gives_the_machine_to_who_loses_most_without_it():
    # Both end soonest on machine 0. On machine 1 the first would still earn 8, the second nothing.
    soon = UtilityFunction((Interval(0.0, 4.0, 4.0, 0.0), Interval(15.0, 0.0, 0.0, 0.0)))
    state = small_state([[10.0, 20.0]], [[1.0, 1.0]], [(100.0, 0, FLAT), (100.0, 0, soon)])
    assert answer("sufferage", state) == [(1, 0, 0), (0, 0, 0)]  # then 110 + 10 on 0, or 100 + 20 on 1: a tie


def test_sufferage_counts_the_second_machine_of_a_type():
    # Type 0 has two machines that are idle: the first task loses nothing without machine 0. The second can
    # run nowhere else than on machine 2, and would lose all it has.
    state = small_state(
        [[10.0, math.nan], [30.0, 10.0]], [[1.0, 1.0], [1.0, 1.0]], [(100.0, 0, FLAT), (100.0, 1, LOW)], machines=[2, 1]
    )
    assert answer("sufferage", state) == [(0, 0, 0), (1, 2, 1)]  # losses 8 - 8 = 0 and 2 - 2 = 0: by number


def test_first_come_takes_the_machine_that_is_ready_first_not_the_fastest():
    state = small_state([[1.0, 50.0]], [[1.0, 1.0]], [(0.0, 0, LOW), (5.0, 0, FLAT)], ready=[101.0, 100.0])
    assert answer("fcfs", state) == [(0, 1, 1), (1, 0, 0)]
    assert answer("lcfs", state) == [(1, 1, 1), (0, 0, 0)]
    assert answer("prioritized-fcfs", state) == [(1, 1, 1), (0, 0, 0)]


def test_priorities_come_before_arrivals():
    tasks = [(0.0, 0, LOW), (1.0, 0, FLAT), (2.0, 0, FLAT), (2.0, 0, LOW)]
    state = small_state([[10.0]], [[1.0]], tasks)
    assert [task for task, _, _ in answer("prioritized-fcfs", state)] == [1, 2, 0, 3]
    assert [task for task, _, _ in answer("prioritized-lcfs", state)] == [2, 1, 3, 0]
    assert [task for task, _, _ in answer("lcfs", state)] == [2, 3, 1, 0]  # of 2 and 3, which came together, 2


def test_only_the_all_policies_know_later_p_states():
    # The filter lets through P-state 1 of machine 0 only.
    state = small_state(
        [[10.0, 20.0]], [[9.0, 1.0]], [(0.0, 0, FLAT)], p_states=[2], allowed=read_only([[False, True]], bool)
    )
    for order in ("fcfs", "lcfs", "prioritized-fcfs", "prioritized-lcfs"):
        assert answer(order, state) == []
        assert answer(f"{order}-all", state) == [(0, 0, 1)]


def test_met_keeps_to_the_fastest_type_and_k_best_to_k_of_them():
    # 10, 12 and 30 s; the fastest machine is ready after 50 s, the second after 40, the third at once.
    state = small_state([[10.0, 12.0, 30.0]], [[1.0, 1.0, 1.0]], [(0.0, 0, FLAT)], ready=[150.0, 140.0, 100.0])
    assert answer("met-max-util", state) == answer("k-best-types", state) == answer("met-random", state) == [(0, 0, 0)]
    assert answer("met-max-util-max-upt", state) == [(0, 0, 0)]
    assert answer("k-best-types:2", state) == [(0, 1, 1)]
    assert answer("k-best-types:9", state) == answer("max-util", state) == [(0, 2, 2)]


def test_max_upt_waits_for_the_faster_machine_if_waiting_costs_nothing():
    state = small_state([[10.0, 30.0]], [[1.0, 1.0]], [(100.0, 0, FLAT)], ready=[150.0, 100.0])
    assert answer("max-util", state) == [(0, 1, 1)]
    assert answer("max-upt", state) == answer("max-max-upt", state) == [(0, 0, 0)]


def test_round_robin_goes_around_and_passes_over_machines_that_cannot():
    seconds = [[10.0, 10.0, 10.0], [10.0, math.nan, 10.0]]
    tasks = [(100.0, 0, FLAT)] * 4
    state = small_state(seconds, [[1.0] * 3] * 2, tasks)
    first = [machine for _, machine, _ in answer("round-robin", state)]
    assert sorted(first[:3]) == [0, 1, 2]
    assert first[3] == first[0]
    order = first[:3]
    other = small_state(seconds, [[1.0] * 3] * 2, [(100.0, 1, FLAT)] * 3)
    able = [machine for machine in order if machine != 1]
    assert [machine for _, machine, _ in answer("round-robin", other)] == [able[0], able[1], able[0]]


def test_round_robin_goes_on_where_it_stopped():
    state = small_state([[10.0, 10.0]], [[1.0, 1.0]], [(100.0, 0, FLAT)])
    machines = [answer("round-robin", state)[0][1] for _ in range(3)]  # the same memory, event by event
    assert machines in ([0, 1, 0], [1, 0, 1])


@pytest.mark.parametrize("name", ["random", "random-batch"])
def test_a_random_machine_is_any_that_can_take_the_task(name):
    # The day ends as machine 2 gets ready, and energy is left for machine 1 only.
    state = small_state(
        [[10.0, 10.0, 10.0]],
        [[9.0, 2.0, 1.0]],
        [(100.0, 0, FLAT)],
        ready=[100.0, 100.0, 120.0],
        ends_at=120.0,
        energy_left=2.0,
    )
    assert answer(name, state) == [(0, 1, 1)]
    free = small_state([[10.0, 10.0, 10.0]], [[1.0] * 3], [(100.0, 0, FLAT)] * 60)
    assert {machine for _, machine, _ in answer(name, free)} == {0, 1, 2}


@pytest.mark.parametrize("name", ["max-max-upt", "min-min", "fcfs", "sufferage", "random-batch", "max-util"])
def test_no_more_energy_is_planned_than_is_left(name):
    # Each takes 5 J and there are 12: two of three.
    state = small_state([[10.0]], [[5.0]], [(100.0, 0, FLAT)] * 3, energy_left=12.0)
    assert len(answer(name, state)) == 2


def test_a_task_that_begins_later_may_fit_as_less_of_it_is_in_the_day():
    # The day ends at 120 and 5 J are left. Type 0 takes 10 s and 1 J, type 1 20 s and 10 J: all of it is too
    # much at 100; at 110, 20 s run 10 s beyond the end, and half of 10 J is 5 J, but 4 are left; at 115, after
    # one of 15 s and 0 J, a quarter is 2.5 J.
    tasks = [(100.0, 1, FLAT), (100.0, 0, LOW)]
    state = small_state([[15.0], [20.0]], [[0.0], [10.0]], tasks, ends_at=120.0, energy_left=5.0)
    assert answer("max-max-upt", state) == [(1, 0, 0), (0, 0, 0)]


def test_mapping_stops_when_the_next_event_decides_anew():
    # A machine that is idle: the first task starts at 100, the second is pending from 100 on, the third would
    # be from 110 on, when the second starts; the next event is at 105.
    state = small_state([[10.0]], [[1.0]], [(100.0, 0, FLAT)] * 5, until=105.0)
    for name in ("max-max-upt", "min-min", "fcfs", "sufferage", "random-batch"):
        assert len(answer(name, state)) == 2
    assert len(answer("max-util", state)) == 5  # immediate mode: what is mapped stays mapped
