"""The small exact search: it finds what all assignments, one by one, say there is, and proves where there is none."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from lpsched.bag.parts import Site
from lpsched.bag.recovery import deadline as within_deadline
from lpsched.bag.recovery.deadline import search
from lpsched.bag.recovery.plans import ended
from lpsched.bag.verify import examine
from tests.support import simple_bag


def searched(bag, deadline, costs=None, **site):
    bag = bag.model_copy(update={"site": Site(deadline_seconds=deadline, **site)})
    costs = np.zeros((len(bag.task_types), len(bag.modes))) if costs is None else np.array(costs)
    return bag, search(bag, costs, [1.0] * len(bag.machine_types))


def test_three_tasks_that_only_one_split_fits():
    # 3, 2 and 1 s on two alike machines: 3 and 2 + 1 end at 3 s, and nothing ends sooner.
    bag = simple_bag([[3.0], [2.0], [1.0]], [1, 1, 1], [2])
    own, found = searched(bag, 3.0)
    assert examine(own, found.schedules[0]).measured.makespan_seconds == 3.0
    _, none = searched(bag, 2.9375)
    assert none.schedules == []
    assert none.is_complete


def test_the_cheapest_comes_first_and_only_shorter_ones_follow():
    # Two tasks: 1 s and 5 on the fast machine, 3 s and 1 on the slow one. By 6 s all may be slow: 6 s for 2;
    # one each: 3 s for 6; both fast: 2 s for 10.
    bag, found = searched(simple_bag([[1.0, 3.0]], [2], [1, 1]), 6.0, [[5.0, 1.0]])
    ends = [examine(bag, each).measured.makespan_seconds for each in found.schedules]
    assert ends == [6.0, 3.0, 2.0]


def test_a_task_longer_than_the_deadline_on_every_machine_is_a_proof_however_many_there_are():
    _, found = searched(simple_bag([[4.0, 5.0], [1.0, 1.0]], [1, 10**9], [1, 1]), 3.9)
    assert found.is_complete
    assert not found.schedules


def test_where_states_are_too_many_nothing_is_proved(monkeypatch):
    # Six tasks of six lengths on two machines: 21 s in all, and 10.5 s is no sum of them.
    bag = simple_bag([[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]], [1] * 6, [2])
    assert searched(bag, 10.5)[1].is_complete
    monkeypatch.setattr(within_deadline, "MOST_STEPS", 12)  # one state for each of the tasks
    assert not searched(bag, 10.5)[1].is_complete


def test_under_a_cap_the_joules_decide():
    # One task of 1 s: 300 J on the fast machine, 2 s and 100 J on the other; the cap allows 75 W. Alone it
    # may wait for 2 s with 150 J: only the slow machine keeps the cap by then.
    bag = simple_bag([[1.0, 2.0]], [1], [1, 1], watts=[[300.0, 50.0]])
    own, found = searched(bag, 2.0, average_power_cap_watts=75.0)
    assert [each.groups[0].machine_type for each in found.schedules] == ["m1"]
    assert examine(own, found.schedules[0]).measured is not None
    _, none = searched(bag, 2.0, average_power_cap_watts=49.0)
    assert none.is_complete
    assert not none.schedules


@pytest.mark.parametrize("seed", range(30))
def test_all_assignments_one_by_one_say_the_same(seed):
    rng = np.random.default_rng(seed)
    tasks, machines = rng.integers(1, 4, 2), rng.integers(1, 3, 2)
    seconds, watts = rng.integers(1, 10, (2, 2)).astype(float), rng.integers(5, 90, (2, 2)).astype(float)
    bag = simple_bag(seconds.tolist(), tasks.tolist(), machines.tolist(), watts.tolist(), [5.0, 0.0])
    places = np.repeat([0, 1], machines)
    kinds = np.repeat([0, 1], tasks)
    ends, costs = [], []
    for chosen in itertools.product(range(len(places)), repeat=len(kinds)):
        loads, cost = [0.0] * len(places), 0.0
        for i, place in zip(kinds, chosen, strict=True):
            loads[place] += seconds[i, places[place]]
            cost += seconds[i, places[place]] * (watts[i, places[place]] - [5.0, 0.0][places[place]])
        ends.append(max(loads))
        costs.append(cost)
    deadline = float(rng.choice(sorted(set(ends))[:4]))
    above = seconds * (watts - [5.0, 0.0])
    own, found = searched(bag, deadline, above)
    best = min(cost for end, cost in zip(ends, costs, strict=True) if end <= deadline)
    first = examine(own, found.schedules[0]).measured
    idle = 5.0 * machines[0]
    assert Fraction(first.energy_joules) == Fraction(best) + Fraction(idle) * Fraction(first.makespan_seconds)
    _, sooner = searched(bag, min(ends) * 0.99)
    assert sooner.is_complete
    assert not sooner.schedules


@pytest.mark.parametrize("seed", range(20))
def test_under_a_cap_there_is_a_schedule_exactly_where_the_verifier_passes_one(seed):
    rng = np.random.default_rng(100 + seed)
    seconds, watts = rng.integers(1, 6, (2, 2)).astype(float), rng.integers(20, 90, (2, 2)).astype(float)
    bag = simple_bag(seconds.tolist(), [2, 1], [1, 1], watts.tolist(), [10.0, 10.0])
    joules, deadline = [], float(rng.integers(5, 12))
    for chosen in itertools.product((0, 1), repeat=3):
        loads = [0.0, 0.0]
        for i, j in zip((0, 0, 1), chosen, strict=True):
            loads[j] += seconds[i, j]
        if max(loads) <= deadline:
            joules.append(sum(seconds[i, j] * (watts[i, j] - 10.0) for i, j in zip((0, 0, 1), chosen, strict=True)))
    if not joules:
        return
    for cap, there_is in ((20.0 + min(joules) / deadline + 1e-6, True), (20.0 + min(joules) / deadline - 1e-3, False)):
        own, found = searched(bag, deadline, average_power_cap_watts=cap)
        assert bool(found.schedules) == there_is
        assert found.is_complete
        for each in found.schedules:
            ending = ended(own, each, late=False)
            assert examine(own, ending).measured is not None
