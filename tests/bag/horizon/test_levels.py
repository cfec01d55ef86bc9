"""The most profit over the level of market prices: by arithmetic, by all plans on a grid, and by an independent model."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product

import pytest

from lpsched.bag.horizon.levels import levels_of, profit_by_level
from lpsched.bag.horizon.slots import Slots, Weights
from lpsched.bag.horizon.solve import HorizonProblem
from lpsched.bag.horizon.verify import measure_plan, verify_plan
from lpsched.bag.model import Bag
from lpsched.bag.parts import MachineType, Prices, TaskType
from lpsched.cancellation import CancelToken
from lpsched.errors import InstanceError, NotFoundError
from lpsched.lp.solvers import default_solver
from lpsched.model.series import Series
from lpsched.model.table import Table
from lpsched.report.figures.horizon_curves import level_figure
from lpsched.report.horizon_curves import level_tables
from models.horizon import least_by_work
from tests.bag.horizon.test_brute_force import timelines, value_of
from tests.bag.horizon.tiny_horizons import drawn, with_fee
from tests.report.test_tables import shown

HOUR = 3600
NEAR = {"abs": 1e-6}


# Tasks of half an hour and half a kWh that sell for 0.2 each; one machine, and two hours.
def small(count: int, **fields) -> Bag:
    cpu, sold = MachineType("cpu", 1, **{"may_be_off": True} | fields), Prices(per_task={"render": 0.2})
    tables = Table.of([[1800.0]]), Table.of([[1000.0]])
    return Bag("small", (cpu,), (TaskType("render", count),), *tables, prices=sold)


def curve_of(bag: Bag, prices=(0.3, 0.1), **options):
    series = Series(tuple(HOUR * h for h in range(len(prices))), HOUR * len(prices), tuple(prices))
    return profit_by_level(bag, horizon=float(series.end), start=0, tariff=series, effort="fast", **options)


def test_no_plan_is_called_verified_that_breaks_a_cap():
    # Idle, the machine draws 100 W, and with its one task for half of the hour 75 W: above 60 W whatever it does.
    sold, machine = Prices(per_task={"render": 1.0}), MachineType("cpu", 1, idle_watts=100.0)
    bag = Bag("b", (machine,), (TaskType("render", 1),), Table.of([[1800.0]]), Table.of([[50.0]]), prices=sold)
    with pytest.raises(NotFoundError, match="no plan was found"):
        curve_of(bag, (0.3,), power_cap=0.06)


def test_breakpoints_are_where_the_tasks_of_an_hour_stop_paying():
    # Two tasks in each hour: they pay up to 0.2 / 0.15 = 4/3 in the first, and up to 0.2 / 0.05 = 4 in the second.
    curve = curve_of(small(4))
    levels = [each.level for each in curve.points]  # both ends, today, and just below what nothing pays at
    assert levels == [pytest.approx(each, rel=1e-4) for each in (0.0, 1.0, 4 / 3, 3.96, 4.0)]
    for level, profit in ((0.0, 0.8), (1.0, 0.4), (1.2, 0.32), (4 / 3, 0.8 - 1.6 / 3), (2.0, 0.2), (3.0, 0.1)):
        assert curve.bound_at(level) == pytest.approx(profit, **NEAR)
        assert curve.value_at(level) == pytest.approx(profit, **NEAR)
    assert curve.none_earns_from == pytest.approx(4.0)
    assert curve.earns_until == pytest.approx(4.0)
    assert curve.never_rises
    for place, tasks in ((1, 4), (3, 2)):  # half a kWh each
        point = curve.points[place]
        assert (point.finished["render"], point.energy_kwh) == (tasks, pytest.approx(tasks / 2))
    assert curve.points[-1].bound == 0.0  # exactly: no run pays


def test_a_fee_is_paid_at_every_level():
    curve = curve_of(small(4), grid_fee=0.2)  # 0.1 of each task: 0.1 are left for the market price
    assert curve.none_earns_from == pytest.approx(0.1 / 0.05)
    assert curve.bound_at(0.0) == pytest.approx(0.4)
    assert curve.value_at(1.0) == pytest.approx(2 * 0.05)  # only the second hour pays at level 1


def test_machines_that_must_stay_on_lose_money_above_the_break_even_level():
    # Two tasks in the second hour, and 0.1 kW idle in the first: 0.4 - s (0.1 + 0.03); at 0 for s = 40/13.
    curve = curve_of(small(2, idle_watts=100.0, may_be_off=False))
    assert curve.none_earns_from == pytest.approx(40 / 13)
    assert curve.earns_until == pytest.approx(40 / 13)
    # A task in place of idling draws 0.9 kW more: none pays above 0.2 / 0.045; then idling costs 0.04 s.
    last = curve.points[-1]
    assert (last.level, last.bound) == (pytest.approx(0.2 / 0.045), pytest.approx(-0.04 * 0.2 / 0.045))


def test_negative_prices_let_profit_rise_and_it_is_convex_all_the_same():
    # Tasks at -1 and at 0.5 a kWh: two of them earn 0.2 + 0.5 s, the others 0.2 - 0.25 s up to s = 0.8.
    curve = curve_of(small(4), prices=(-1.0, 0.5))
    assert not curve.never_rises
    assert curve.none_earns_from is None
    assert curve.earns_until is None
    for level, profit in ((0.0, 0.8), (0.8, 0.8 + 0.4), (2.0, 0.4 + 2.0), (4.0, 0.4 + 4.0)):
        assert curve.bound_at(level) == pytest.approx(profit, **NEAR)
    text = " ".join(shown(*level_tables(curve)).split())
    assert "Some market prices are negative, so it may rise with the level." in text
    assert "No level up to 4 is proved at which no plan earns anything." in text


def test_tables_and_figure_say_what_is_proved_and_what_is_verified():
    curve = curve_of(small(4))
    text = " ".join(shown(*level_tables(curve), width=200).split())
    assert "a verified plan earns 0.4 USD; no plan earns more than 0.4 (proved)." in text
    assert "From 4 times these prices on, no plan earns anything (proved)" in text
    assert "1 0.2 0.4 0.4 0.4 4 2" in text  # level, mean price, LP, proved, verified, tasks, kWh
    assert "between two levels no plan earns more than the line between their bounds (proved)" in text
    assert "Some market prices" not in text
    axes = level_figure(curve).axes[0]
    assert axes.get_xlabel() == "level of market prices (1: today)"
    row = curve.csv_rows()[0]
    assert (row["level"], row["tasks_render"]) == (0.0, 4)


def test_what_makes_no_sense_is_rejected():
    with pytest.raises(ValueError, match=r"highest is 0\.0, expected a positive number"):
        curve_of(small(2), highest=0.0)
    with pytest.raises(ValueError, match="carbon_price is given"):
        curve_of(small(2), carbon_price=1.0)
    with pytest.raises(InstanceError, match=r"prices\.per_task"):
        curve_of(small(2).model_copy(update={"prices": Prices()}))
    curve = curve_of(small(2), highest=2.0, plans=0)
    assert curve.points[-1].level == 2.0
    assert all(each.value == 0.0 for each in curve.points)  # nothing runs: no plan was looked for
    with pytest.raises(ValueError, match=r"level is 3\.0, expected 0 to 2"):
        curve.bound_at(3.0)


def scaled(slots: Slots, level: float) -> Slots:
    sites = (replace(site, tariff=tuple(level * each for each in site.tariff)) for site in slots.sites)
    return replace(slots, sites=tuple(sites))


@pytest.mark.rotate(4)
@pytest.mark.parametrize("seed", range(16))
def test_no_plan_on_a_grid_earns_more_at_any_level_and_points_are_the_independent_program(seed):
    rng = random.Random(900 + seed)  # noqa: S311
    while True:
        bag, slots = drawn(rng, most_tasks=2, most_seconds=2, slot_count=2)
        if 3 <= slots.horizon <= 4 and bag.prices.per_task:
            break
    slots, earns = with_fee(slots, seed % 2), Weights(optional=True)
    problem = HorizonProblem(bag, slots, "profit")
    asked = {"highest": 3.0 if seed % 3 else None, "plans": 3, "work": 0.05, "seed": 0}
    try:
        curve = levels_of(problem, default_solver(), CancelToken(), **asked)
    except NotFoundError:
        assert least_by_work(bag, slots, earns) is None  # a cap below idle power
        return
    for each in curve.points[:6]:
        least = least_by_work(bag, scaled(slots, each.level), earns)
        assert least is not None
        assert each.lp_profit == pytest.approx(-least.value, rel=1e-4, abs=1e-4)
        assert each.value <= each.bound
        assert verify_plan(bag, slots, each.plan, optional=True) == ()
        measured = measure_plan(bag, scaled(slots, each.level), each.plan).value(earns)
        assert each.value == pytest.approx(-float(measured), rel=1e-9, abs=1e-9)
    levels = [each.level for each in curve.points]
    between = [one + rng.random() * (two - one) for one, two in pairwise(levels)]
    for level in rng.sample([*levels, *between], min(4, len(levels))):
        at = scaled(slots, level)
        ways = [timelines(bag, at, j) for j in range(len(bag.machine_types))]
        for chosen in product(*ways):
            counts = map(sum, zip(*(each.counts for each in chosen), strict=True))
            if all(count <= task.count for count, task in zip(counts, bag.task_types, strict=True)):
                value = value_of(bag, at, earns, chosen)
                assert value is None or -value <= Fraction(curve.bound_at(level)) + Fraction(1, 10**9)
