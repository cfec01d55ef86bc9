"""The whole profit curve: on paper, against single solves, and as the figures of the Profit paper show it."""

from __future__ import annotations

import itertools
import pickle
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import lpsched
from lpsched.bag.files import read_bag
from lpsched.bag.parts import Prices, Site
from lpsched.bag.relaxation import Regime
from lpsched.bag.verify import examine
from lpsched.errors import InfeasibleError, InstanceError
from tests.support import half_full, simple_bag

if TYPE_CHECKING:
    from lpsched.bag.model import Bag

pytestmark = pytest.mark.rotate_tests(3)

# What a curve says of the relaxation: without searches, which look at some prices harder than at others.
price_curve = partial(lpsched.price_curve, effort="fast")
front = partial(lpsched.front, effort="fast")
solve = partial(lpsched.solve, effort="fast")


INSTANCES = Path(__file__).parents[3] / "instances"
TINY = read_bag(INSTANCES / "tiny.yaml")
PLAIN = read_bag(INSTANCES / "profit-30x9.yaml")
IDLE = read_bag(INSTANCES / "profit-30x9-idle.yaml")


def test_tiny_has_the_curve_on_paper():
    # Not run up to 0.0054 USD (5,400 J above idle), even at 0.0066 (6,600 J); the thrifty end gives way to the
    # fast one where (N - 0.0054) / 30 = (N - 0.0084 + 0.00048) / 12, at 0.0096. (8,400 - 480 J above idle.)
    curve = price_curve(TINY)
    assert [piece.regime for piece in curve.pieces] == [Regime.DO_NOT_RUN, Regime.LOSS, *[Regime.PROFIT] * 2]
    assert [piece.from_price for piece in curve.pieces] == pytest.approx([0.0, 0.0054, 0.0066, 0.0096], rel=1e-12)
    assert [piece.from_ratio for piece in curve.pieces] == pytest.approx([0.0, 9 / 11, 1.0, 16 / 11], rel=1e-12)
    at = [-0.144, -0.144, 0.0, 0.36]
    assert [piece.bound_at_from for piece in curve.pieces] == pytest.approx(at, abs=1e-12)
    assert [piece.value_at_from for piece in curve.pieces] == pytest.approx(at, abs=1e-12)
    assert (curve.pieces[-1].to_price, curve.pieces[-1].bound_at_to) == (None, None)
    assert (curve.least_price_to_run, curve.break_even_price) == pytest.approx((0.0054, 0.0066), rel=1e-12)


@pytest.mark.parametrize("bag", [TINY, IDLE, IDLE.model_copy(update={"site": Site(average_power_cap_watts=52_000.0)})])
def test_the_curve_is_what_single_solves_say(bag):
    curve = price_curve(bag, from_ratio=0.5, to_ratio=2.5, points=9)
    assert len(curve.points) == 9
    for point in curve.points:
        bound = solve(bag, price=point.price).bound
        assert point.bound == pytest.approx(bound, rel=1e-9, abs=1e-9)
        assert point.bound >= bound - 1e-9 * (1 + abs(bound))
        assert point.value <= point.bound


def test_the_curve_is_convex_and_its_pieces_join():
    curve = price_curve(IDLE)
    slopes = []
    for one, two in itertools.pairwise(curve.pieces):
        assert one.to_price == two.from_price
        assert one.bound_at_to == pytest.approx(two.bound_at_from, abs=1e-12)
        slopes.append((one.bound_at_to - one.bound_at_from) / (one.to_price - one.from_price))
    assert np.all(np.diff(slopes) > -1e-9)
    assert slopes[0] == pytest.approx(0.0, abs=1e-12)


def test_a_deadline_leaves_no_piece_without_work():
    curve = price_curve(TINY, deadline=20.0)
    assert Regime.DO_NOT_RUN not in {piece.regime for piece in curve.pieces}
    assert curve.least_price_to_run is None
    # At a price of 0, by 20 s: the point (7,600 J, 20 s) of the front, of which 800 J are idling.
    assert curve.pieces[0].bound_at_from == pytest.approx(-0.0076 / 20 * 3600, rel=1e-9)
    assert curve.pieces[0].value_at_from <= curve.pieces[0].bound_at_from


def test_a_deadline_that_whole_tasks_miss_has_bounds_and_no_values():
    bag = half_full().model_copy(update={"prices": Prices(electricity_per_kwh=0.0)})  # 4 s split, 6 s whole
    curve = price_curve(bag, deadline=5.0, points=2)
    assert curve.pieces[0].value_at_from is None
    assert curve.pieces[0].schedule is None
    assert curve.pieces[0].from_ratio is None  # free energy has no ratio
    assert curve.points[0].value is None


@pytest.mark.parametrize(
    ("bag", "options", "message"),
    [
        (TINY, {"from_ratio": 2.0, "to_ratio": 2.0}, "to_ratio: got 2.0, expected a ratio above 2, the first"),
        (TINY, {"from_ratio": -1.0}, "from_ratio: got -1.0, expected a profit ratio: a number from 0"),
        (TINY, {"to_ratio": 0.0}, "to_ratio: got 0.0, expected a ratio above 0, the first"),
        (TINY, {"points": -1}, "points: got -1, expected a number from 0 to 100000"),
        (TINY.model_copy(update={"prices": Prices()}), {}, "prices.electricity_per_kwh: got none"),
        (
            TINY.model_copy(update={"prices": Prices(electricity_per_kwh=0.0)}),
            {"to_ratio": 2.0},
            "prices.electricity_per_kwh: got 0, expected energy that costs something",
        ),
    ],
)
def test_what_is_missing_or_unsound_is_named(bag, options, message):
    with pytest.raises(InstanceError, match=message):
        price_curve(bag, **options)


def test_limits_that_nobody_can_keep_are_infeasible():
    with pytest.raises(InfeasibleError, match="idle machines alone draw 40 W"):
        price_curve(TINY, power_cap=40.0)


def test_a_curve_can_be_pickled_and_shows_itself_in_a_notebook():
    curve = price_curve(TINY)
    assert pickle.loads(pickle.dumps(curve)) == curve  # noqa: S301 - our own
    assert "<td>best not to run</td>" in curve._repr_html_()


def test_ends_ten_million_times_apart_are_found_too():
    # 'slow' takes 1e7 s and 1e-7 kWh for a task, 'fast' 1 s and 1 kWh; a kWh costs 1 USD. Between 3e-7 and about
    # 3 USD for three tasks the slow way is best, beyond it the fast one.
    bag = simple_bag([[1.0, 1e7]], [3], [1, 1], watts=[[3.6e6, 3.6e-8]])
    curve = price_curve(bag.model_copy(update={"prices": Prices(electricity_per_kwh=1.0)}))
    assert curve.pieces[1].from_price == pytest.approx(3e-7, rel=1e-6)
    assert curve.pieces[-1].from_price == pytest.approx(3.0, rel=1e-6)


# Tarplee, Maciejewski and Siegel, 2014, figures 2 to 4.


@cache
def vertices_of(name):
    return front({bag.name: bag for bag in (PLAIN, IDLE)}[name]).vertices


def best_vertex(bag, price):
    """Return the most that a vertex of the front earns in an hour, with electricity as the only cost."""
    per_joule = bag.prices.electricity_per_kwh / 3.6e6
    return max((price - per_joule * v.energy_joules) / v.makespan_seconds * 3600 for v in vertices_of(bag.name))


@pytest.mark.parametrize("bag", [PLAIN, IDLE], ids=["no-idle-power", "idle-power"])
@pytest.mark.parametrize("ratio", [1.0, 1.01, 1.2, 1.5, 3.0])
def test_from_the_ratio_one_on_the_best_profit_is_that_of_the_best_vertex_of_the_front(bag, ratio):
    per_joule = bag.prices.electricity_per_kwh / 3.6e6
    price = ratio * per_joule * vertices_of(bag.name)[0].energy_joules
    bound = solve(bag, price=price).bound
    assert bound == pytest.approx(best_vertex(bag, price), rel=1e-7, abs=1e-7)


def test_below_the_ratio_one_the_best_profit_leaves_the_front_and_is_never_below_it():
    vertices = vertices_of(IDLE.name)
    cost = IDLE.prices.electricity_per_kwh / 3.6e6 * vertices[0].energy_joules
    gains = []
    for ratio in np.linspace(0.92, 0.9999, 30):
        best = best_vertex(IDLE, ratio * cost)
        gains.append(solve(IDLE, price=ratio * cost).bound - best)
    assert min(gains) >= -1e-9
    assert gains[0] > 1e-4  # under the breakpoint it is strictly above
    assert gains[-1] == pytest.approx(0.0, abs=1e-9)  # just below 1 it is still the thrifty end
    breakpoint_ratio = next(r for r, g in zip(np.linspace(0.92, 0.9999, 30), gains, strict=True) if g < 1e-9)
    assert 0.98 < breakpoint_ratio < 1.0


def test_the_gap_shrinks_as_tasks_per_machine_grow_and_is_larger_for_larger_ratios():
    def gap(bag, factor, ratio):
        tasks = tuple(task.model_copy(update={"count": task.count * factor}) for task in bag.task_types)
        return solve(bag.model_copy(update={"task_types": tasks}), profit_ratio=ratio).gap

    at_high = [gap(PLAIN, factor, 1.5) for factor in (1, 10, 100, 1000)]
    assert at_high == sorted(at_high, reverse=True)
    assert at_high[-1] < at_high[0] / 100
    assert gap(PLAIN, 10, 1.5) > gap(PLAIN, 10, 1.01)


def test_the_curve_does_not_depend_on_the_bags_own_price():
    cheap, dear = (
        price_curve(IDLE.model_copy(update={"prices": IDLE.prices.model_copy(update={"per_bag": p})}))
        for p in (0, 1e12)
    )
    assert [piece.to_dict() for piece in cheap.pieces] == [piece.to_dict() for piece in dear.pieces]


def test_a_price_that_does_not_cover_the_overhead_is_not_run_for_even_if_tasks_save_energy():
    # One task that draws 1 W where 3 W would be idled away: it saves 2 J, so running costs -2 uUSD at 1 USD a MJ.
    # With 5 uUSD of overhead, running is worth it from 3 uUSD up.
    saving = simple_bag([[1.0]], [1], [1], watts=[[1.0]], idle=[3.0]).model_copy(
        update={"prices": Prices(electricity_per_kwh=3.6, overhead_per_bag=5e-6)}
    )
    curve = price_curve(saving)
    assert [piece.regime for piece in curve.pieces][:2] == [Regime.DO_NOT_RUN, Regime.LOSS]
    assert curve.pieces[1].from_price == pytest.approx(3e-6, rel=1e-9)
    assert curve.break_even_price == pytest.approx(6e-6, rel=1e-9)  # overhead and 1 J


def test_the_last_point_is_the_end_that_was_asked_for():
    curve = price_curve(IDLE, from_ratio=0.93, to_ratio=1.1, points=7)
    assert curve.points[-1].price == curve.pieces[-1].to_price
    assert curve.points[-1].bound == curve.pieces[-1].bound_at_to


def test_points_under_a_deadline_may_wait_for_it_too():
    # At a price of 0 the loss is spread until the deadline, in pieces and points alike.
    curve = price_curve(TINY, deadline=100.0, points=3)
    assert curve.points[0].value == curve.pieces[0].value_at_from
    assert curve.points[0].value == pytest.approx(-(0.0054 / 100 * 3600 + 0.144), rel=1e-9)
    assert curve.pieces[0].schedule.makespan_seconds == 100.0


@pytest.mark.parametrize("bag", [TINY, IDLE])
def test_a_point_earns_what_the_best_schedule_of_the_curve_is_measured_to_earn_there(bag):
    curve = price_curve(bag, points=40)  # to half as much again as the last breakpoint
    assert curve.points[-1].price > curve.pieces[-1].from_price
    for point in curve.points:
        priced = bag.model_copy(update={"prices": bag.prices.model_copy(update={"per_bag": point.price})})
        examined = [examine(priced, schedule, may_wait=True).measured for schedule in curve.schedules]
        earned = np.max([each.profit_per_hour for each in examined])
        assert point.value == pytest.approx(earned, rel=1e-5)  # the best of a few that were looked at
        assert point.value <= earned  # read off a line, never above what is measured


def test_points_of_a_bag_that_costs_nothing_to_run_go_on_beyond_a_price_of_nothing():
    # 40 s if tasks could be split, 60 s as they are; so 1.5 USD bring 135 or 90 an hour.
    free = half_full(10.0, watts=100.0)
    curve = price_curve(free.model_copy(update={"prices": Prices(electricity_per_kwh=0.0)}), points=2)
    assert [point.price for point in curve.points] == [0.0, 1.5]
    assert curve.points[1].bound == pytest.approx(135.0)
    assert curve.points[1].value == pytest.approx(90.0)


def few_tasks() -> Bag:
    """Return eight tasks of three types on two machine types, which whole tasks fill badly, at a price."""
    seconds, watts = [[3.1, 4.7], [2.3, 3.9], [5.2, 4.1]], [[90.0, 40.0], [80.0, 35.0], [95.0, 45.0]]
    bag = simple_bag(seconds, [3, 3, 2], [2, 1], watts)
    return bag.model_copy(update={"prices": Prices(per_bag=5e-4, electricity_per_kwh=0.2)})


def test_at_its_own_price_the_curve_says_what_solve_says():
    bag = few_tasks()
    curve, answer = lpsched.price_curve(bag), lpsched.solve(bag)
    (piece,) = [each for each in curve.pieces if each.from_price == 5e-4]
    assert (piece.bound_at_from, piece.value_at_from) == (answer.bound, answer.value)
    assert answer.bound < solve(bag).bound * (1 - 1e-3)  # a search has made it better
    assert all(each.value_at_from <= each.bound_at_from for each in curve.pieces)


@pytest.mark.slow
def test_what_a_search_proves_at_one_price_holds_at_all():
    bag = few_tasks()
    curve, lines = lpsched.price_curve(bag, points=30), price_curve(bag, points=30)
    for point, line in zip(curve.points, lines.points, strict=True):
        assert point.bound <= line.bound * (1 + 1e-12) + 1e-12
        assert point.value >= line.value - 1e-12
        if point.price > 1e-4:
            tight = lpsched.solve(bag, price=point.price)
            assert tight.value <= point.bound
            assert point.value <= tight.bound
