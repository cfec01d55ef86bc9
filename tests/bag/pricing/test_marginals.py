"""Derivatives of the LP bound: on paper, against solves a tiny step away, and where there are none."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from lpsched.bag import profit
from lpsched.bag.files import read_bag
from lpsched.bag.model import Bag, Terms
from lpsched.bag.parts import MachineType, Prices, Site, TaskType
from lpsched.bag.pricing import marginals
from lpsched.bag.relaxation import scaling_of
from lpsched.bag.search.curves import longest_task
from lpsched.bag.solve import solve
from lpsched.cancellation import CancelToken
from lpsched.lp.solvers import HighsSolver
from lpsched.model.table import Table

TINY = read_bag(Path(__file__).parents[3] / "instances" / "tiny.yaml")
MANY = 10**7  # times as many of everything: one more is then a tiny step
STEP = 1000


def test_a_degenerate_program_has_two_derivatives_on_paper():
    # Scans run on 'fast' and prints on 'slow', both for 12 s. With f and s the prices of a second there, a scan is
    # worth 0.00096 + 2 f (960 J above idle) and a print 0.00036 + 4 s; six of each come to 0.02 USD, so that
    # 2 f + 4 s = 0.02 / 6 - 0.00132. Neither may be cheaper elsewhere: 0.00096 + 2 f <= 0.00054 + 6 s gives
    # s >= 0.000243333, 0.00036 + 4 s <= 0.00144 + 3 f gives s <= 0.00041. An hour of 'slow', less 10 W of idle power:
    # 3600 s - 0.036, from 0.84 to 1.44; of 'fast', 3600 f - 0.072, from 0.6 to 1.8; a scan from 0.0013333 to 0.002.
    worth = solve(TINY).worth
    assert worth.machine_types == pytest.approx({"fast": 0.6, "slow": 0.84})
    assert worth.one_fewer.machine_types == pytest.approx({"fast": 1.8, "slow": 1.44})
    assert worth.task_types == pytest.approx({"scan": 0.002, "print": 0.002})
    assert worth.one_fewer.task_types == pytest.approx({"scan": 0.004 / 3, "print": 0.004 / 3})
    assert worth.is_two_sided
    assert worth.machine_text("fast") == "0.6 / 1.8"


def many_of(bag: Bag) -> Bag:
    """Return a bag with many times the tasks, machines, price and cap: the same marginal values."""
    cap = bag.site.average_power_cap_watts
    return bag.model_copy(
        update={
            "machine_types": tuple(each.model_copy(update={"count": each.count * MANY}) for each in bag.machine_types),
            "task_types": tuple(each.model_copy(update={"count": each.count * MANY}) for each in bag.task_types),
            "prices": bag.prices.model_copy(update={"per_bag": bag.prices.per_bag * MANY}),
            "site": bag.site.model_copy(update={"average_power_cap_watts": cap and cap * MANY}),
        }
    )


def drawn_bag(seed: int) -> Bag:
    """Return a bag of few different numbers, so that programs are often degenerate."""
    rng = random.Random(seed)  # noqa: S311 - no secret
    machines, tasks = rng.randint(1, 3), rng.randint(1, 3)
    return Bag(
        "drawn",
        tuple(
            MachineType(name=f"m{j}", count=rng.randint(1, 3), idle_watts=rng.choice([0.0, 10.0, 20.0]))
            for j in range(machines)
        ),
        tuple(TaskType(name=f"t{i}", count=rng.randint(1, 4)) for i in range(tasks)),
        Table.of([[float(rng.randint(1, 3)) for _ in range(machines)] for _ in range(tasks)]),
        Table.of([[rng.choice([100.0, 200.0, 300.0]) for _ in range(machines)] for _ in range(tasks)]),
        Prices(per_bag=1.0, electricity_per_kwh=3.6),
        Site(average_power_cap_watts=rng.choice([None, None, 300.0])),
    )


def with_count(bag: Bag, kind: str, place: int, more: int) -> Bag:
    types = list(getattr(bag, kind))
    types[place] = types[place].model_copy(update={"count": types[place].count + more})
    return bag.model_copy(update={kind: tuple(types)})


# Of these seeds 4 and 9 are degenerate; 4 has a cap.
@pytest.mark.parametrize("bag", [TINY, *map(drawn_bag, range(12))], ids=["tiny", *map(str, range(12))])
def test_both_derivatives_are_those_of_solves_a_tiny_step_away(bag):
    many = many_of(bag)
    worth, bound = solve(many, effort="fast").worth, lp_bound(many)
    for j, machine in enumerate(bag.machine_types):
        more = (lp_bound(with_count(many, "machine_types", j, STEP)) - bound) / STEP
        fewer = (bound - lp_bound(with_count(many, "machine_types", j, -STEP))) / STEP
        rounding = 1e-12 * abs(bound)
        assert worth.machine_types[machine.name] == pytest.approx(more, rel=1e-3, abs=rounding)
        assert worth.one_fewer.machine_types[machine.name] == pytest.approx(fewer, rel=1e-3, abs=rounding)
    price, size = many.prices.per_bag, 1e-9 * abs(bound)
    for i, task in enumerate(bag.task_types):
        least, most = worth.task_types[task.name], worth.one_fewer.task_types[task.name]
        with_more, with_fewer = (with_count(many, "task_types", i, STEP), with_count(many, "task_types", i, -STEP))
        assert lp_bound(with_more, price + STEP * least) >= bound - size
        assert lp_bound(with_more, price + 0.99 * STEP * least) < bound + size
        assert lp_bound(with_fewer, price - STEP * most) >= bound - size
        assert lp_bound(with_fewer, price - 1.01 * STEP * most) < bound + size


def lp_bound(bag: Bag, price: float | None = None) -> float:
    """Return the bound of the program of split tasks and of the longest task, per hour."""
    scaling = replace(scaling_of(Terms(price=price).applied_to(bag), whole=False), shortest=longest_task(bag))
    money = profit.profit_model(scaling)
    solution = HighsSolver().solve(profit.compile_lp(scaling, money))
    return 3600.0 * profit.read_solution(scaling, money, solution).bound


def test_an_unfinished_program_has_no_marginal_values():
    over = CancelToken()
    over.stop()
    assert solve(TINY, cancel=over).worth is None
    assert solve(TINY).worth is not None


def test_where_waiting_is_best_both_sides_agree():
    # 20 W of idle power at 1 USD a megajoule: 0.072 USD an hour, one more or one fewer.
    worth = solve(TINY, price=0.001).worth
    assert worth.machine_types == worth.one_fewer.machine_types == pytest.approx({"fast": -0.072, "slow": -0.036})


def test_a_large_bag_has_only_what_the_solver_says(monkeypatch):
    monkeypatch.setattr(marginals, "MOST_PAIRS", 3)
    worth = solve(TINY).worth
    assert worth.one_fewer is None
    assert worth.to_dict()["one_fewer"] is None
    assert 0.6 - 1e-9 <= worth.machine_types["fast"] <= 1.8 + 1e-9  # between the two derivatives
    assert not worth.is_two_sided


def test_a_limit_without_any_room_has_no_derivative():
    # 12 tasks of 1 s on 2 machines by 6 s: with any fewer machines, or any more tasks, there is no schedule.
    cpu, task = MachineType(name="cpu", count=2), TaskType(name="t", count=12)
    bag = Bag(
        "tight",
        (cpu,),
        (task,),
        Table.of([[1.0]]),
        Table.of([[100.0]]),
        Prices(per_bag=0.0, electricity_per_kwh=3.6),
        Site(deadline_seconds=6.0),
    )
    worth = solve(bag).worth
    # One more machine: nothing changes, because the work costs the same (0.0012 USD) and must be done by 6 s.
    assert worth.machine_types["cpu"] == pytest.approx(0.0, abs=1e-9)
    assert worth.one_fewer.machine_types["cpu"] is None
    assert worth.task_types["t"] is None


def test_where_the_longest_task_decides_one_more_machine_only_costs_its_idle_power():
    # One task of an hour and two of a minute on two machines: no schedule is shorter than an hour, with any number
    # of machines. One more idles at 10 W: 0.01 kWh an hour at 0.20 USD. The program of split tasks alone would
    # take 31 minutes, and value a machine highly.
    hour, minute = TaskType(name="long", count=1), TaskType(name="short", count=2)
    machine = MachineType(name="m", count=2, idle_watts=10.0)
    prices = Prices(per_bag=60.0, electricity_per_kwh=0.2)
    tables = Table.of([[3600.0], [60.0]]), Table.of([[100.0], [100.0]])
    worth = solve(Bag("service", (machine,), (hour, minute), *tables, prices)).worth
    assert worth.machine_types["m"] == pytest.approx(-0.002, rel=1e-6)
    assert worth.task_types["short"] == pytest.approx(0.2 * 0.09 / 60.0, rel=1e-6)  # its electricity above idle


def test_where_split_tasks_take_as_long_as_the_longest_task_the_bound_bends():
    # Three tasks of an hour on three machines: one machine more idles at 10 W, one fewer takes 1.5 hours. The bag
    # brings 60 USD less 0.018 for each task above idle, so 59.946 a bag, and with m machines 59.946 m / 3 an hour,
    # less 0.002 m for idling: 19.98 for each.
    machine, task = MachineType(name="m", count=3, idle_watts=10.0), TaskType(name="t", count=3)
    prices = Prices(per_bag=60.0, electricity_per_kwh=0.2)
    bag = Bag("three", (machine,), (task,), Table.of([[3600.0]]), Table.of([[100.0]]), prices)
    worth = solve(bag).worth
    assert worth.machine_types["m"] == pytest.approx(-0.002, rel=1e-6)
    assert worth.one_fewer.machine_types["m"] == pytest.approx(19.98, rel=1e-6)
