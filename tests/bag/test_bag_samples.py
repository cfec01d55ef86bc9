"""Samples of a bag's schedule against what is known exactly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsched.bag.model import Bag
from lpsched.bag.parts import MachineType, Prices, Site, TaskType
from lpsched.bag.risk import sample_bag
from lpsched.bag.schedule import MachineGroup, Run, Schedule
from lpsched.bag.solve import solve
from lpsched.bag.verify import measure
from lpsched.errors import InstanceError
from lpsched.model.risk import Spread
from lpsched.model.table import Table
from tests.property.bags import ORDINARY, plain_bags

SURE = 5.0  # standard errors; with a fixed seed a test passes always or never


def even(bag: Bag, cov: float, power_cov: float) -> Spread:
    shape = (len(bag.task_types), len(bag.modes))
    return Spread(np.full(shape, cov), np.full(shape, power_cov))


def close(drawn, exact):
    """Whether the mean of samples is what it must converge to."""
    return abs(drawn.mean() - exact) <= SURE * drawn.std(ddof=1) / len(drawn) ** 0.5


def variance_is(drawn, exact):
    """Whether the variance of samples is right; its standard error comes from the fourth moment."""
    squares = (drawn - drawn.mean()) ** 2
    return abs(squares.mean() - exact) <= SURE * squares.std(ddof=1) / len(drawn) ** 0.5


@pytest.fixture
def one_machine():
    """12 tasks of 3 s at 50 W and 5 tasks of 10 s at 20 W on one machine that idles at 8 W."""
    return Bag(
        "one",
        (MachineType(name="cpu", count=1, idle_watts=8.0),),
        (TaskType(name="a", count=12), TaskType(name="b", count=5)),
        Table.of([[3.0], [10.0]]),
        Table.of([[50.0], [20.0]]),
    )


ALL_ON_ONE = Schedule((MachineGroup("cpu", 1, (Run("a", 12), Run("b", 5))),))


@pytest.mark.parametrize(("cov", "power_cov"), [(0.3, 0.3), (1.5, 0.0), (0.0, 0.7), (1.0, 1.5)])
def test_makespan_and_energy_of_one_machine_have_the_exact_mean_and_variance(one_machine, cov, power_cov):
    # Load: mean 12 x 3 + 5 x 10 = 86 s, variance v^2 (12 x 9 + 5 x 100) = 608 v^2.
    # Energy: the machine never idles, so it is the sum of T P over all tasks, with mean 12 x 150 + 5 x 200 = 2800 J.
    # Of one task Var(T P) = (e a)^2 ((1 + v^2) (1 + w^2) - 1), so in all (12 x 150^2 + 5 x 200^2) (...) = 470000 (...).
    drawn = sample_bag(one_machine, ALL_ON_ONE, even(one_machine, cov, power_cov), samples=40_000, seed=1)
    product = (1 + cov**2) * (1 + power_cov**2) - 1
    assert close(drawn.makespan_seconds, 86.0)
    assert close(drawn.energy_joules, 2800.0)
    assert variance_is(drawn.makespan_seconds, 608.0 * cov**2)
    assert variance_is(drawn.energy_joules, 470_000.0 * product)


def test_energy_and_makespan_have_the_exact_covariance(one_machine):
    # Cov(T P, T) = a e^2 v^2 for one task: 12 x 50 x 9 + 5 x 20 x 100 = 15400, times v^2 = 0.25: 3850.
    drawn = sample_bag(one_machine, ALL_ON_ONE, even(one_machine, 0.5, 0.5), samples=40_000, seed=2)
    products = (drawn.makespan_seconds - 86.0) * (drawn.energy_joules - 2800.0)
    assert close(products, 3850.0)


def test_energy_above_idle_has_the_exact_mean_whatever_the_makespan():
    # 3 machines, each 4 tasks of 2 s at 30 W over 10 W idle: 3 x 4 x 2 x 20 = 480 J above idle.
    bag = Bag(
        "three",
        (MachineType(name="cpu", count=5, idle_watts=10.0),),
        (TaskType(name="a", count=12),),
        Table.of([[2.0]]),
        Table.of([[30.0]]),
    )
    schedule = Schedule((MachineGroup("cpu", 3, (Run("a", 4),)),))
    drawn = sample_bag(bag, schedule, even(bag, 0.8, 0.4), samples=40_000, seed=3)
    assert close(drawn.energy_joules - 5 * 10.0 * drawn.makespan_seconds, 480.0)


def test_each_machine_of_a_group_has_its_own_luck():
    # One exponential task (v = 1) of mean 1 s on each of 4 machines: the longest takes 1 + 1/2 + 1/3 + 1/4 s.
    bag = Bag("four", (MachineType(name="cpu", count=4),), (TaskType(name="a", count=4),), Table.of([[1.0]]))
    schedule = Schedule((MachineGroup("cpu", 4, (Run("a", 1),)),))
    drawn = sample_bag(bag, schedule, even(bag, 1.0, 0.0), samples=40_000, seed=4)
    assert close(drawn.makespan_seconds, 25 / 12)
    assert drawn.energy_joules is None
    assert drawn.profit_per_hour is None


def test_groups_of_one_machine_type_do_not_share_their_luck():
    # An exponential task on each of two machines, told as two groups: the longest takes 1 + 1/2 s.
    bag = Bag("pair", (MachineType(name="cpu", count=2),), (TaskType(name="a", count=2),), Table.of([[1.0]]))
    schedule = Schedule((MachineGroup("cpu", 1, (Run("a", 1),)), MachineGroup("cpu", 1, (Run("a", 1),))))
    drawn = sample_bag(bag, schedule, even(bag, 1.0, 0.0), samples=40_000, seed=4)
    assert close(drawn.makespan_seconds, 1.5)


def test_runs_of_the_same_pair_on_one_machine_do_not_share_their_luck(one_machine):
    # 12 tasks in two runs with others between them: the variance is that of 12 independent tasks, 608 v^2.
    torn = Schedule((MachineGroup("cpu", 1, (Run("a", 6), Run("b", 5), Run("a", 6))),))
    drawn = sample_bag(one_machine, torn, even(one_machine, 1.0, 0.0), samples=40_000, seed=5)
    assert variance_is(drawn.makespan_seconds, 608.0)


@settings(max_examples=20, deadline=None)
@given(plain_bags(ORDINARY), st.sampled_from(["energy", "makespan"]), st.integers(0, 2**32))
def test_without_spread_every_sample_is_what_the_verifier_measures(bag, objective, seed):
    prices = Prices(per_bag=7.0, electricity_per_kwh=0.2, overhead_per_bag=1.0)
    bag = bag.model_copy(update={"prices": prices, "site": Site(pue=1.4)})
    schedule = solve(bag, objective=objective).schedule
    exact = measure(bag, schedule)
    drawn = sample_bag(bag, schedule, even(bag, 0.0, 0.0), samples=2, seed=seed)
    assert drawn.makespan_seconds == pytest.approx(exact.makespan_seconds, rel=1e-12)
    idle = exact.makespan_seconds * sum(each.count * each.idle_watts for each in bag.machine_types)
    assert drawn.energy_joules == pytest.approx(exact.energy_joules, rel=1e-12, abs=1e-12 * idle)
    paid = 3600 * 7.0 / exact.makespan_seconds  # the largest of what cancels, but for the costs
    scale = abs(exact.profit_per_hour) + 2 * paid
    assert drawn.profit_per_hour == pytest.approx(exact.profit_per_hour, rel=1e-12, abs=1e-12 * scale)


def test_profit_counts_every_cost():
    # 10 s at 100 W on one of two machines of 20 W idle: E = 10 x 80 + 40 x 10 = 1200 J. At 3.6 money per kWh and PUE
    # 1.5 that is 1.8e-3. Wear 36 an hour x 10 s = 0.1. Revenue 5 + 1 - 2. In an hour 360 of that, less 2 x 300 / 100.
    bag = Bag(
        "paid",
        (MachineType(name="cpu", count=2, idle_watts=20.0, wear_per_busy_hour=36.0, purchase_price=300.0, mean_hours_to_failure=100.0),),
        (TaskType(name="a", count=1),),
        Table.of([[10.0]]),
        Table.of([[100.0]]),
        Prices(per_bag=5.0, per_task={"a": 1.0}, electricity_per_kwh=3.6, overhead_per_bag=2.0),
        Site(pue=1.5),
    )  # fmt: skip
    schedule = Schedule((MachineGroup("cpu", 1, (Run("a", 1),)),))
    drawn = sample_bag(bag, schedule, even(bag, 0.0, 0.0), samples=2, seed=0)
    assert drawn.profit_per_hour == pytest.approx(360 * (4 - 1.8e-3 - 0.1) - 6)
    assert drawn.profit_per_hour == pytest.approx(measure(bag, schedule).profit_per_hour)
    free = bag.model_copy(update={"prices": bag.prices.model_copy(update={"electricity_per_kwh": 0.0}), "watts": None})
    drawn = sample_bag(free, schedule, even(bag, 0.0, 0.0), samples=2, seed=0)
    assert drawn.profit_per_hour == pytest.approx(360 * (4 - 0.1) - 6)


def test_a_schedule_that_waits_ends_at_the_later_of_its_end_and_its_last_task(one_machine):
    waits = replace(ALL_ON_ONE, makespan_seconds=100.0)  # 86 s of work
    drawn = sample_bag(one_machine, waits, even(one_machine, 0.5, 0.0), samples=1000, seed=6)
    busy = sample_bag(one_machine, ALL_ON_ONE, even(one_machine, 0.5, 0.0), samples=1000, seed=6)
    assert drawn.makespan_seconds.tolist() == np.maximum(busy.makespan_seconds, 100.0).tolist()
    assert 0 < (busy.makespan_seconds > 100.0).sum() < 1000
    planned = replace(ALL_ON_ONE, makespan_seconds=86.0)  # an end that is the last task's own is no waiting
    again = sample_bag(one_machine, planned, even(one_machine, 0.5, 0.0), samples=1000, seed=6)
    assert again.makespan_seconds.tolist() == busy.makespan_seconds.tolist()


def test_where_two_schedules_agree_their_samples_do_too():
    # Two machine types; the schedules differ on the second one only, which is never the longest.
    bag = Bag(
        "two",
        (MachineType(name="x", count=2, idle_watts=1.0), MachineType(name="y", count=2)),
        (TaskType(name="a", count=20), TaskType(name="b", count=4)),
        Table.of([[10.0, None], [1.0, 1.0]]),
        Table.of([[5.0, None], [5.0, 7.0]]),
    )
    common = MachineGroup("x", 2, (Run("a", 10),))
    first = Schedule((common, MachineGroup("y", 2, (Run("b", 2),))))
    second = Schedule((common, MachineGroup("y", 1, (Run("b", 4),))))
    one, two = (sample_bag(bag, each, even(bag, 0.3, 0.3), samples=500, seed=7) for each in (first, second))
    assert one.makespan_seconds.tolist() == two.makespan_seconds.tolist()
    apart = one.energy_joules - two.energy_joules
    assert apart.std() < 0.2 * one.energy_joules.std()


def test_the_same_seed_gives_the_same_samples_and_another_gives_others(one_machine):
    spread = even(one_machine, 0.3, 0.3)
    one, same, other = (sample_bag(one_machine, ALL_ON_ONE, spread, samples=9, seed=s) for s in (1, 1, 2))
    assert one.energy_joules.tolist() == same.energy_joules.tolist()
    assert not (one.energy_joules == other.energy_joules).any()


def huge(machines: int) -> tuple[Bag, Schedule]:
    bag = Bag(
        "huge",
        (MachineType(name="cpu", count=machines),),
        (TaskType(name="a", count=3 * machines),),
        Table.of([[2.0]]),
        Table.of([[50.0]]),
    )
    return bag, Schedule((MachineGroup("cpu", machines, (Run("a", 3),)),))


def test_too_many_machines_to_draw_are_refused_with_what_would_do():
    bag, schedule = huge(10**6)
    with pytest.raises(InstanceError) as refused:
        sample_bag(bag, schedule, even(bag, 0.3, 0.0), samples=1000, seed=0)
    assert (
        "samples: got 1,000 samples of 2,000,000 times and powers, expected at most 200,000,000 draws; ask for 100 samples"
        in str(refused.value)
    )
    bag, schedule = huge(10**12)
    with pytest.raises(InstanceError, match="scale the bag down: each machine is drawn"):
        sample_bag(bag, schedule, even(bag, 0.3, 0.0), samples=2, seed=0)


def test_a_billion_tasks_of_certain_times_on_10_to_the_12_machines_take_one_draw():
    # Powers of 3e12 tasks average out: 2 s x 50 W each, with a relative spread of 1 / sqrt(3e12).
    bag, schedule = huge(10**12)
    drawn = sample_bag(bag, schedule, even(bag, 0.0, 1.0), samples=100, seed=0)
    assert drawn.makespan_seconds.tolist() == [6.0] * 100
    assert drawn.energy_joules == pytest.approx(3e14, rel=1e-5)
    assert 0.0 < drawn.energy_joules.std() < 3e14 * 2 / 3e12**0.5


def test_many_machines_in_several_blocks_are_all_counted(monkeypatch):
    # 7 machines in blocks of 2: each runs one task of 2 s at 50 W.
    monkeypatch.setattr("lpsched.bag.risk.CELLS", 2 * 4000)
    bag, schedule = huge(7)
    drawn = sample_bag(bag, schedule, even(bag, 0.5, 0.5), samples=4000, seed=8)
    assert close(drawn.energy_joules, 7 * 3 * 100.0)
    assert variance_is(drawn.energy_joules, 7 * 3 * 100.0**2 * (1.25**2 - 1))
