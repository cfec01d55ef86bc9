from __future__ import annotations

import numpy as np
import pytest

from lpsched.bag.model import Bag
from lpsched.bag.parts import MachineType, TaskType
from lpsched.bag.recovery import rounding
from lpsched.bag.recovery.makespan import counts_of, fleet_of, schedule_of
from lpsched.bag.recovery.plans import largest_load
from lpsched.bag.recovery.rounding import place, place_all, round_all, round_shares
from lpsched.bag.schedule import MachineGroup, Run, Schedule
from lpsched.bag.verify import examine
from lpsched.model.table import Table
from tests.bag.fleets import first_fit, is_state, laid_out, random_bag, relaxed
from tests.support import simple_bag


def random_state(fleet, rng):
    counts = np.zeros(fleet.lengths.shape, dtype=np.int64)
    for i, task in enumerate(fleet.bag.task_types):
        able = np.flatnonzero(np.isfinite(fleet.lengths[i]))
        np.add.at(counts, (i, rng.choice(able, task.count)), 1)
    return counts


@pytest.mark.parametrize("seed", range(20))
def test_what_a_makespan_is_above_the_bound_is_idle_time_and_dear_pairs(seed):
    fleet = laid_out(random_bag(seed, types=(1, 9), tasks=6))
    counts = random_state(fleet, np.random.default_rng(seed))
    makespan = fleet.makespan(counts)
    idle = float(fleet.prices @ (makespan - fleet.loads(counts)))
    dear = float((np.where(counts > 0, fleet.reduced_costs, 0.0) * counts).sum())
    assert makespan - 1 == pytest.approx(idle + dear, abs=1e-12)
    assert fleet.reduced_costs.min() >= 0


@pytest.mark.parametrize("seed", range(5))
def test_the_unit_is_the_bound_of_the_relaxation(seed):
    bag = random_bag(seed, types=(3, 9), tasks=6)
    assert laid_out(bag).bound_seconds == pytest.approx(relaxed(bag).bound, rel=1e-9)


def test_the_lengths_of_two_machines_by_hand():
    # One task of 2 s or 6 s, another of 3 s or 3 s; equal prices of 1/2 prove (2 + 3) / 2 = 2.5 s.
    fleet = fleet_of(simple_bag([[2.0, 6.0], [3.0, 3.0]], [1, 1], [1, 1]), [0.5, 0.5])
    assert fleet.bound_seconds == 2.5
    assert fleet.lengths.tolist() == [[0.8, 2.4000000000000004], [1.2000000000000002, 1.2000000000000002]]
    assert fleet.reduced_costs == pytest.approx(np.array([[0.0, 0.8], [0.0, 0.0]]))


@pytest.mark.parametrize("prices", [[0.0, 0.0], [-1.0, 0.0], [1.0, 0.0]])
def test_prices_that_prove_nothing_are_taken_as_equal(prices):
    # At prices (1, 0) both tasks are free on the second machine, so these prove nothing either.
    fleet = fleet_of(simple_bag([[2.0, 6.0], [3.0, 3.0]], [1, 1], [1, 1]), prices)
    assert fleet.prices.tolist() == [0.5, 0.5]


@pytest.mark.parametrize("seed", range(20))
def test_a_state_survives_the_way_to_a_schedule_and_back(seed):
    bag = random_bag(seed, types=(1, 9), tasks=6, machines=5)
    fleet = laid_out(bag)
    counts = random_state(fleet, np.random.default_rng(seed))
    schedule = schedule_of(fleet, counts)
    back = counts_of(fleet, schedule)
    for j in range(len(bag.machine_types)):  # machines of a type may change places
        own = fleet.machine_types == j
        assert sorted(counts[:, own].T.tolist()) == sorted(back[:, own].T.tolist())
    measured = examine(bag, schedule).measured.makespan_seconds
    assert measured == pytest.approx(fleet.makespan(counts) * fleet.bound_seconds)
    assert measured == pytest.approx(largest_load(bag, schedule))


@pytest.mark.parametrize("seed", range(5))
def test_a_schedule_of_groups_becomes_a_whole_state(seed):
    bag = random_bag(seed, types=(3, 9), tasks=40, machines=6)
    rounded = round_shares(relaxed(bag).shares, [task.count for task in bag.task_types])
    fleet = laid_out(bag)
    assert is_state(fleet, counts_of(fleet, place(bag, rounded)))


def test_every_task_runs_in_its_fastest_p_state():
    gpu = MachineType(name="gpu", count=1, p_states=("slow", "fast"))
    tasks = tuple(TaskType(name=name, count=2) for name in ("a", "b"))
    bag = Bag("states", (gpu,), tasks, Table.of([[5.0, 2.0], [3.0, None]]))
    fleet = fleet_of(bag, [1.0])
    schedule = schedule_of(fleet, first_fit(fleet))
    slow = Schedule((MachineGroup("gpu", 1, (Run("a", 2, "slow"), Run("b", 2, "slow"))),))
    assert schedule.groups[0].runs == (Run("b", 2, "slow"), Run("a", 2, "fast"))
    assert (largest_load(bag, slow), largest_load(bag, schedule)) == (16.0, 10.0)


def random_shares(bag, rng, ties):
    """Return shares of the pairs that can run: split in thirds and quarters, or by chance, or not at all."""
    able = ~np.isnan(np.asarray(bag.seconds))
    shares = rng.choice([0.0, 0.0, 0.25, 1 / 3, 0.5], able.shape) if ties else rng.random(able.shape) ** 9
    shares[~able | (rng.random(able.shape) < 0.5)] = 0.0
    for row, own in zip(shares, able, strict=True):
        row[rng.choice(np.flatnonzero(own))] += 0.5
    return shares / shares.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("seed", range(24))
def test_many_schedules_at_once_are_those_made_one_by_one(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    size = [6, 10**4, 10**14][seed % 3]
    states = (None, ("P0", "P1"))
    machines = tuple(
        MachineType(name=f"m{j}", count=int(rng.integers(1, min(size, 10**9))), p_states=states[j % 2])
        for j in range(4)
    )
    tasks = tuple(TaskType(name=f"t{i}", count=int(rng.integers(1, size))) for i in range(7))
    seconds = rng.integers(1, 5, (7, 6)) if seed % 2 else rng.lognormal(0, 2, (7, 6))
    can_run = rng.random((7, 6)) < 0.8
    can_run[:, seed % 6] = True
    bag = Bag("many", machines, tasks, Table.of(np.where(can_run, seconds, np.nan).tolist()))
    if seed % 4 == 0:
        monkeypatch.setattr(rounding, "MOST_WHOLE", 1000.0)  # as if arrays of whole numbers held no more
    if seed % 5 == 0:
        monkeypatch.setattr(rounding, "AT_ONCE", 100)  # a few machine types at a time
    many, counts = [random_shares(bag, rng, ties=k % 2) for k in range(30)], [task.count for task in tasks]
    rounded = [round_shares(shares, counts) for shares in many]
    together = round_all(many, counts)
    flat = [
        (k, i * 6 + c, n) for k, own in enumerate(rounded) for i, row in enumerate(own) for c, n in sorted(row.items())
    ]
    assert list(zip(*(part.tolist() for part in together), strict=True)) == flat
    assert place_all(bag, len(many), together) == [place(bag, own) for own in rounded]
