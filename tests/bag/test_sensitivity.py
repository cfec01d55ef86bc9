"""What an answer depends on: on paper, against single solves, and where nothing is to be said."""

from __future__ import annotations

import itertools
import pickle
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest

from lpsched.bag.files import read_bag
from lpsched.bag.model import Bag, Terms, with_machines
from lpsched.bag.parts import MachineType, Prices, Site, TaskType
from lpsched.bag.pricing import sensitivity as sensitivities
from lpsched.bag.pricing.price_curve import price_curve
from lpsched.bag.pricing.sensitivity import MOST_PAIRS, NO_PRICE, sensitivity
from lpsched.bag.relaxation import Regime
from lpsched.bag.solve import solve
from lpsched.errors import InfeasibleError, InstanceError
from lpsched.model.table import Table
from tests.support import half_full, simple_bag

pytestmark = pytest.mark.rotate_tests(4)

INSTANCES = Path(__file__).parent.parent.parent / "instances"
TINY = read_bag(INSTANCES / "tiny.yaml")
VIDEO = read_bag(INSTANCES / "video-transcoding.yaml")
IDLE = read_bag(INSTANCES / "profit-30x9-idle.yaml")
HOUR = 3600.0


@cache
def of_video(**terms):
    """Return the answers about the largest bag here, worked out once."""
    return sensitivity(VIDEO, **terms)


def one_type(**changes) -> Bag:
    """Return 12 tasks of an hour and 1 kWh on 2 machines that draw 0.1 kW idle; a kWh costs 1 USD, a bag 60."""
    cpu = MachineType(name="cpu", count=2, idle_watts=100.0)
    parts = {
        "machine_types": (cpu,),
        "task_types": (TaskType(name="render", count=12),),
        "seconds": Table.of([[HOUR]]),
        "watts": Table.of([[1000.0]]),
        "prices": Prices(per_bag=60.0, electricity_per_kwh=1.0),
    }
    return Bag("one", **(parts | changes))


# The price.


def test_a_bag_needs_what_it_costs():
    # 12 kWh, no idling if all 12 tasks run on 2 machines for 6 hours: 12 USD; that is the least energy too.
    need = sensitivity(one_type()).price_need
    assert need.needed == pytest.approx(12.0, rel=1e-12)
    assert need.needed <= 12.0  # proved: rounded to the safe side
    assert need.needed_ratio == pytest.approx(1.0, rel=1e-12)
    assert need.needed_factor == pytest.approx(0.2, rel=1e-12)  # of the 60 USD
    assert need.enough == pytest.approx(12.0, rel=1e-12)
    assert need.enough >= 12.0
    assert need.least_to_run == pytest.approx(10.8, rel=1e-12)  # 0.9 kW above idle for 12 hours


def test_overhead_wear_depreciation_and_pue_are_part_of_what_a_bag_costs():
    # 12 kWh at a PUE of 2: 24 USD. 12 busy hours at 0.5: 6. Two machines for 6 hours at 100 / 50 an hour: 24. 3 more.
    cpu = MachineType(name="cpu", count=2, wear_per_busy_hour=0.5, purchase_price=100.0, mean_hours_to_failure=50.0)
    prices = Prices(per_bag=60.0, electricity_per_kwh=1.0, overhead_per_bag=3.0)
    need = sensitivity(one_type(machine_types=(cpu,), prices=prices, site=Site(pue=2.0))).price_need
    assert need.needed == pytest.approx(57.0, rel=1e-12)
    assert need.enough == pytest.approx(57.0, rel=1e-12)
    assert need.least_to_run == pytest.approx(33.0, rel=1e-12)


def test_whole_tasks_may_need_a_higher_price_than_split_ones():
    # 8 hours of work at 1 kW on 2 machines: split, 4 hours and 8 kWh; whole, 6 hours, 4 of them idle for one
    # machine at 0.1 kW: 8.4 kWh.
    bag = half_full(HOUR, watts=1000.0, idle=100.0).model_copy(update={"prices": Prices(electricity_per_kwh=1.0)})
    need = sensitivity(bag).price_need
    assert (need.needed, need.enough) == pytest.approx((8.0, 8.4), rel=1e-12)


@pytest.mark.rotate(1)
@pytest.mark.parametrize("bag", [TINY, VIDEO])
def test_the_price_needed_is_the_break_even_price_of_the_curve(bag):
    need, curve = (
        sensitivity(Terms().applied_to(bag.model_copy(update={"prices": _unpriced(bag)}))).price_need,
        price_curve(bag),
    )
    assert need.needed == pytest.approx(curve.break_even_price, rel=1e-9)
    assert need.least_to_run == curve.least_price_to_run
    assert need.needed <= need.enough
    earned = solve(bag, price=need.enough).bound
    assert 0 <= earned < 0.01
    assert solve(bag, price=need.needed).bound == pytest.approx(0.0, abs=1e-9)


def _unpriced(bag):
    return bag.prices.model_copy(update={"per_bag": None})


def test_a_deadline_may_raise_the_price_and_leaves_no_price_to_wait_for():
    # On tiny, 20 s take 7,600 J (a point of its front), at 3.6 USD a kWh: 0.0076 USD; without it 6,600 J.
    need = sensitivity(TINY, deadline=20.0).price_need
    assert need.needed == pytest.approx(0.0076, rel=1e-9)
    assert need.least_to_run is None


# Electricity.


def test_electricity_may_cost_what_the_price_leaves_for_it():
    # 60 USD for 12 kWh: 5 USD a kWh. Waiting saves 0.1 kW: running is better up to 60 / 10.8 kWh above idle.
    found = sensitivity(one_type()).electricity
    assert found.price_per_kwh == 1.0
    assert found.no_profit_from == pytest.approx(5.0, rel=1e-12)
    assert found.earns_up_to == pytest.approx(5.0, rel=1e-12)
    assert found.earns_up_to <= found.no_profit_from
    assert found.do_not_run_from == pytest.approx(60.0 / 10.8, rel=1e-12)
    assert found.do_not_run_to is None  # tasks draw more than idle machines: waiting stays best
    assert [piece.regime for piece in found.pieces] == [Regime.PROFIT, Regime.LOSS, Regime.DO_NOT_RUN]
    # Free electricity: 60 USD in 6 hours. From 60 / 10.8 on, 0.2 kW are idled away.
    bounds = [piece.bound_at_from for piece in found.pieces]
    assert bounds == pytest.approx([10.0, 0.0, -60.0 / 10.8 * 0.2], abs=1e-12)


def test_what_machines_lose_in_value_is_not_left_for_electricity():
    # Two machines lose 2 USD an hour each, 24 in 6 hours: 36 of 60 USD are left for 12 kWh.
    cpu = MachineType(name="cpu", count=2, purchase_price=100.0, mean_hours_to_failure=50.0)
    found = sensitivity(one_type(machine_types=(cpu,))).electricity
    assert (found.earns_up_to, found.no_profit_from) == pytest.approx((3.0, 3.0), rel=1e-9)


def test_dearer_electricity_turns_the_thrifty_way():
    # Tiny: fast until the two ways tie, at (0.02 / 12 - 0.02 / 30) / (660 - 180 W above idle): 7.5 USD a kWh; even
    # where 6,600 J cost 0.02 USD, at 0.02 / 6,600 * 3.6e6; not run where 5,400 J do.
    found = sensitivity(TINY).electricity
    assert [piece.from_price_per_kwh for piece in found.pieces] == pytest.approx(
        [0.0, 7.5, 72 / 6.6, 72 / 5.4], rel=1e-12
    )
    assert [piece.to_price_per_kwh for piece in found.pieces][-1] is None


@pytest.mark.rotate(1)
@pytest.mark.parametrize(
    ("bag", "terms"),
    [
        pytest.param(VIDEO, {}, id="pue-wear-overhead-depreciation"),
        pytest.param(VIDEO, {"power_cap": 17_000.0, "price": 150.0}, id="cap"),
        pytest.param(VIDEO, {"deadline": 30_000.0}, id="deadline"),
        pytest.param(TINY, {"profit_ratio": 1.1}, id="ratio"),
    ],
)
def test_the_bound_at_any_price_of_electricity_is_that_of_a_single_solve(bag, terms):
    found = of_video(**terms) if bag is VIDEO else sensitivity(bag, **terms)
    priced = {key: value for key, value in terms.items() if key != "profit_ratio"} | {"price": found.price}
    pieces = found.electricity.pieces
    for one, two in itertools.pairwise(pieces):
        assert (one.to_price_per_kwh, one.bound_at_to) == (two.from_price_per_kwh, two.bound_at_from)
        assert one.bound_at_from > two.bound_at_from
    for piece in pieces[:: max(1, len(pieces) // 4)]:
        if piece.to_price_per_kwh is None:
            continue
        middle = (piece.from_price_per_kwh + piece.to_price_per_kwh) / 2
        prices = bag.prices.model_copy(update={"electricity_per_kwh": middle})
        bound = solve(bag.model_copy(update={"prices": prices}), **priced).bound
        line = (piece.bound_at_from + piece.bound_at_to) / 2
        assert line == pytest.approx(bound, rel=1e-7)
        assert line >= bound - 1e-9 * abs(bound)


def test_a_ratio_is_turned_into_a_price_once_by_what_electricity_costs_now():
    # At a ratio of 2 tiny costs twice 0.0066 USD; electricity twice as dear leaves no profit.
    found = sensitivity(TINY, profit_ratio=2.0)
    assert (found.price, found.profit_ratio) == pytest.approx((0.0132, 2.0), rel=1e-9)
    assert found.electricity.no_profit_from == pytest.approx(7.2, rel=1e-9)


def test_a_deadline_forces_the_work_whatever_electricity_costs():
    found = sensitivity(TINY, deadline=20.0).electricity
    assert found.do_not_run_from is None
    assert found.pieces[-1].regime is Regime.LOSS
    assert found.pieces[-1].to_price_per_kwh is None


def test_tasks_that_save_idle_power_are_run_again_when_electricity_is_dear():
    # 1 W running, 3 W idle, 1 second: 2 J saved. Overhead 5 above the price of 3 uUSD: run from 1 uUSD / J on.
    saving = simple_bag([[1.0]], [1], [1], watts=[[1.0]], idle=[3.0]).model_copy(
        update={"prices": Prices(per_bag=3e-6, electricity_per_kwh=0.0, overhead_per_bag=5e-6)}
    )
    found = sensitivity(saving).electricity
    assert [piece.regime for piece in found.pieces] == [Regime.DO_NOT_RUN, Regime.LOSS]
    assert found.pieces[1].from_price_per_kwh == pytest.approx(3.6, rel=1e-9)
    assert found.no_profit_from == 0.0
    assert (found.do_not_run_from, found.do_not_run_to) == pytest.approx((0.0, 3.6), rel=1e-9)
    cost = Fraction(found.do_not_run_to) * -2 / 3_600_000  # of 2 J less than idle, exactly
    assert Fraction(3e-6) - Fraction(5e-6) <= cost  # proved there: the price does not cover it
    assert found.earns_up_to is None


def test_machines_that_draw_nothing_earn_whatever_electricity_costs():
    bag = simple_bag([[1.0]], [2], [1], watts=[[0.0]]).model_copy(
        update={"prices": Prices(per_bag=1.0, electricity_per_kwh=1.0)}
    )
    found = sensitivity(bag).electricity
    assert (found.no_profit_from, found.do_not_run_from) == (None, None)
    assert [piece.regime for piece in found.pieces] == [Regime.PROFIT]


# Machines.


def test_more_machines_pay_until_the_longest_task_is_the_makespan():
    # (60 - 12) / 6 hours, less nothing: 8 an hour; each machine more adds 4 (48 USD in 12 / m hours): idle power is
    # never idled away. From 12 machines on, all tasks run at once; an idle one more would cost 0.1 an hour.
    (need,) = sensitivity(one_type()).machines
    assert need.adds_per_hour == pytest.approx(4.0, rel=1e-12)
    assert need.most_more == 10
    assert need.bound_at_most == pytest.approx(48.0, rel=1e-12)
    assert (need.sure_more, need.value_at_sure) == pytest.approx((10, 48.0), rel=1e-12)
    assert (need.sure_adds_at_least, need.sure_adds_at_most) == pytest.approx((40.0, 40.0), rel=1e-9)
    (piece,) = need.pieces
    assert (piece.from_count, piece.to_count) == pytest.approx((2.0, 12.0), rel=1e-12)
    assert (piece.adds_per_hour, piece.bound_at_from) == pytest.approx((4.0, 8.0), rel=1e-12)
    assert (need.pays_back_hours, need.pays_up_to) == (None, None)  # nothing is known of price or life


def test_a_machine_pays_up_to_what_it_earns_in_its_life():
    # It earns 4 an hour; bought for 150 it is paid back in 37.5 hours, and in a life of 50 hours earns 200.
    cpu = MachineType(name="cpu", count=2, idle_watts=100.0, purchase_price=150.0, mean_hours_to_failure=50.0)
    (need,) = sensitivity(one_type(machine_types=(cpu,))).machines
    assert need.adds_per_hour == pytest.approx(1.0, rel=1e-9)  # 4, less 150 / 50
    assert need.pays_back_hours == pytest.approx(37.5, rel=1e-9)
    assert need.pays_up_to == pytest.approx(200.0, rel=1e-9)
    assert need.most_more == 10
    dear = cpu.model_copy(update={"purchase_price": 201.0})
    (need,) = sensitivity(one_type(machine_types=(dear,))).machines
    assert need.most_more == 0
    assert need.adds_per_hour < 0
    assert need.pieces == ()


def test_a_lifetime_can_be_given_where_the_file_has_none():
    (need,) = sensitivity(one_type(), lifetime_hours=50.0).machines
    assert need.pays_up_to == pytest.approx(200.0, rel=1e-9)
    assert need.mean_hours_to_failure == 50.0


def test_no_more_machines_are_of_use_than_there_are_tasks():
    bag = one_type(task_types=(TaskType(name="render", count=2),), machine_types=(MachineType(name="cpu", count=2),))
    (need,) = sensitivity(bag).machines
    assert (need.most_more, need.step_at_least, need.step_at_most) == (0, 0.0, 0.0)
    # Nor does the bound rise with a third machine: no schedule is shorter than one task.
    assert need.adds_per_hour == pytest.approx(0.0, abs=1e-9)


def test_no_number_of_machines_is_done_before_the_longest_task():
    # One task of 2 hours and two of 1 take 2 machines 2 hours, 4 kWh: (60 - 4) / 2 = 28 an hour. A third machine could
    # only idle 0.1 kW away: split tasks would be done in 4/3 hours, but not the long one.
    tasks = (TaskType(name="long", count=1), TaskType(name="short", count=2))
    bag = one_type(task_types=tasks, seconds=Table.of([[2 * HOUR], [HOUR]]), watts=Table.of([[1000.0], [1000.0]]))
    found = sensitivity(bag)
    (need,) = found.machines
    assert (found.bound, need.bound_at_most) == pytest.approx((28.0, 28.0), rel=1e-9)
    assert (need.step_at_least, need.step_at_most) == pytest.approx((-0.1, -0.1), rel=1e-9)
    assert need.most_more == 0


def test_a_slow_machine_without_a_task_is_of_no_use_however_cheap():
    # Four tasks: a fifth slow machine could have none, though a fifth of the work would be done sooner if split.
    machines = (MachineType(name="fast", count=1), MachineType(name="slow", count=4))
    bag = one_type(
        machine_types=machines,
        task_types=(TaskType(name="render", count=4),),
        seconds=Table.of([[HOUR, 10 * HOUR]]),
        watts=Table.of([[1000.0, 100.0]]),
    )
    slow = sensitivity(bag).machines[1]
    assert (slow.most_more, slow.step_at_least, slow.step_at_most) == (0, 0.0, 0.0)


def test_a_type_that_runs_nothing_better_is_not_worth_its_idle_power():
    # 'slow' takes ten times as long at the same power: it never pays, and one more idles 100 W away.
    machines = (MachineType(name="cpu", count=2), MachineType(name="slow", count=1, idle_watts=1000.0))
    bag = one_type(machine_types=machines, seconds=Table.of([[HOUR, 100 * HOUR]]), watts=Table.of([[1000.0, 1100.0]]))
    slow = sensitivity(bag).machines[1]
    assert slow.most_more == 0
    assert slow.adds_per_hour < 0


def test_where_waiting_is_best_no_machine_pays():
    found = sensitivity(one_type(), price=5.0)
    (need,) = found.machines
    assert (need.most_more, need.sure_more) == (0, 0)
    assert need.adds_per_hour == pytest.approx(-0.1, rel=1e-12)  # 0.1 kW idled away
    assert found.bound == need.bound_at_most == pytest.approx(-0.2, rel=1e-12)


def test_a_cap_leaves_room_for_so_many_idle_machines():
    # 1 kW for a task, 0.1 kW idle, cap 2.5 kW: with m machines t hours take (10.8 + 0.1 m t) kWh <= 2.5 t, so that
    # t >= 10.8 / (2.5 - 0.1 m), and each machine more slows the work down: from m = 2 (6 hours) to 2.5 machines
    # (10.8 / 2.25 = 4.8 hours = 12 / 2.5) it is faster, then slower. One of 2 and 3 is best: (60 - 12 - 0.1 (3 t - 12))
    # / t with t = 10.8 / 2.2 = 4.909 hours is 9.678 an hour; with 2 it is 8.
    (need,) = sensitivity(one_type(), power_cap=2500.0).machines
    assert need.pieces[-1].to_count == pytest.approx(2.5, rel=1e-9)
    assert need.most_more == 1
    seconds = 10.8 / 2.2
    expected = (60.0 - 12.0 - 0.1 * (3 * seconds - 12)) / seconds
    assert need.bound_at_most == pytest.approx(expected, rel=1e-9)
    assert (need.step_at_least, need.step_at_most) == pytest.approx((expected - 8.0,) * 2, rel=1e-9)
    assert need.adds_per_hour == pytest.approx(4.0, rel=1e-9)  # 48 USD in 12 / m hours, as long as the cap is wide


def test_a_cap_at_the_idle_floor_of_one_more_leaves_no_schedule():
    # Cap 2.2 kW: 0.1 kW idle each; with 23 machines nothing could run. Here the deadline of 6 h needs 2 kW for work.
    (need,) = sensitivity(one_type(), power_cap=2000.0, deadline=6 * HOUR).machines
    assert (need.adds_per_hour, need.step_at_least, need.step_at_most) == (None, None, None)
    assert need.most_more == 0


@pytest.mark.rotate(1)
@pytest.mark.parametrize(
    ("bag", "terms"),
    [
        pytest.param(VIDEO, {}, id="wear-depreciation"),
        pytest.param(VIDEO, {"price": 150.0, "power_cap": 17_000.0}, id="cap"),
        pytest.param(VIDEO, {"price": 60.0, "deadline": 40_000.0}, id="deadline-at-a-loss"),
    ],
)
def test_the_bound_at_any_number_of_machines_is_that_of_a_single_solve(bag, terms):
    found = of_video(**terms)
    for need in found.machines:
        for one, two in itertools.pairwise(need.pieces):
            assert one.to_count == two.from_count
            assert one.adds_per_hour > two.adds_per_hour  # concave
        end = need.pieces[-1].to_count - need.count if need.pieces else 0.0
        tried = {0, 1, min(int(end), 3), int(end), int(end) + 1} if end < 100 else {0, 1}
        for more in tried:
            lines = [p.bound_at_from + p.adds_per_hour * (need.count + more - p.from_count) for p in need.pieces]
            try:
                bound = solve(with_machines(bag, {need.name: need.count + more}), **terms).bound
            except InfeasibleError:  # the cap
                continue
            if lines and more <= end:
                assert min(lines) == pytest.approx(bound, rel=1e-7)
            assert bound <= need.bound_at_most + 1e-7 * abs(need.bound_at_most)


def test_more_than_the_worthwhile_number_cannot_earn_what_that_many_do():
    found = of_video()
    for need in found.machines[2:]:
        at = range(need.count, need.count + need.most_more + 4)
        results = [solve(with_machines(VIDEO, {need.name: count}), effort="balanced") for count in at]
        verified = max(result.value for result in results[: need.most_more + 1])
        assert max(result.bound for result in results[need.most_more + 1 :]) <= verified
        # One fewer would not do: its bound is above what is verified.
        assert results[need.most_more].bound > max(result.value for result in results[: need.most_more])


def test_where_the_bound_is_highest_fewer_may_be_worthwhile_or_more():
    # Three tasks of an hour on one machine. Split, 2 machines are better than 1 and 3 than 2; whole, 2 machines take
    # 2 hours and 3 take 1. At 100 W of idle power and 1 USD a kWh: 60 USD less 3 kWh in 3 hours is 19, less the idle
    # hour of one machine 28.45 in 2 hours, 57 in 1 hour. A fourth has no task.
    cpu = MachineType(name="cpu", count=1, idle_watts=100.0)
    bag = one_type(machine_types=(cpu,), task_types=(TaskType(name="render", count=3),))
    found = sensitivity(bag)
    (need,) = found.machines
    assert (need.most_more, need.sure_more) == (2, 2)
    assert (need.value_at_sure, need.bound_at_most) == pytest.approx((57.0, 57.0), rel=1e-9)
    assert (need.step_at_least, need.step_at_most) == pytest.approx((28.45 - 19.0,) * 2, rel=1e-9)


def test_price_and_solve_show_the_same_marginal_values():
    found, worth = of_video(), solve(VIDEO).worth
    assert {need.name: need.adds_per_hour for need in found.machines} == dict(worth.machine_types)
    assert {need.name: need.fewer_adds_per_hour for need in found.machines} == dict(worth.one_fewer.machine_types)
    tiny = {need.name: need.adds_text() for need in sensitivity(TINY).machines}
    assert tiny == {"fast": "0.6 / 1.8", "slow": "0.84 / 1.44"}


def test_one_machine_more_is_looked_at_as_far_as_asked():
    steps = [need.step_at_least for need in of_video().machines]
    assert [step is None for step in steps] == [True, False, False, False]  # the three of largest value
    assert all(need.step_at_least is None for need in sensitivity(TINY, marginals="lp").machines)
    assert all(need.step_at_least is not None for need in sensitivity(TINY, marginals="proved").machines)
    with pytest.raises(ValueError, match="marginals is 'all', expected one of lp, top, proved"):
        sensitivity(TINY, marginals="all")


def test_what_surely_pays_is_verified():
    found = of_video()
    for need in found.machines:
        assert need.sure_more <= need.most_more
        assert need.sure_more <= need.most_more
        more = with_machines(VIDEO, {need.name: need.count + need.sure_more})
        result = solve(more, effort="balanced")
        assert result.value == need.value_at_sure
        assert need.sure_adds_at_least == pytest.approx(result.value - found.bound, rel=1e-12)
        assert 0 < need.sure_adds_at_least <= need.sure_adds_at_most


# What cannot be told.


def test_without_a_price_only_the_first_question_is_answered():
    found = sensitivity(IDLE)
    assert found.price_need.needed > 0
    assert (found.price, found.bound, found.electricity, found.machines) == (None, None, None, ())
    assert found.notes == (NO_PRICE,)
    assert found.price_need.needed_factor is None


def test_prices_per_task_are_prices_too():
    bag = one_type(prices=Prices(per_task={"render": 5.0}, electricity_per_kwh=1.0))
    assert sensitivity(bag).to_dict()["machine_types"] == sensitivity(one_type()).to_dict()["machine_types"]


def test_without_watts_nothing_is_said_about_electricity():
    bag = one_type(watts=None, prices=Prices(per_bag=60.0, electricity_per_kwh=0.0))
    found = sensitivity(bag)
    assert found.electricity is None
    assert found.notes == ("Electricity is left out: the bag has no watts.",)
    assert found.price_need.needed == 0.0
    assert found.price_need.needed_ratio is None
    assert found.machines[0].adds_per_hour == pytest.approx(5.0, rel=1e-9)  # 60 USD in 12 / m hours


def test_a_task_longer_than_the_deadline_is_proved_infeasible():
    # Split in two, one task of an hour would be done in half of that.
    with pytest.raises(InfeasibleError, match=r"2,700 s, but no schedule takes less than 3,600 s"):
        sensitivity(one_type(task_types=(TaskType(name="render", count=1),)), deadline=0.75 * HOUR)


def test_a_bag_with_too_many_pairs_is_told_so(monkeypatch):
    monkeypatch.setattr(sensitivities, "MOST_PAIRS", 3)
    found = sensitivity(TINY)
    assert (found.electricity, found.machines) == (None, ())
    assert found.notes == ("Electricity and machines are left out: 4 pairs of types, 3 at most.",)
    assert found.bound is not None
    assert MOST_PAIRS > 30 * 9


def test_a_large_bag_has_the_same_best_numbers_without_pieces(monkeypatch):
    whole = sensitivity(TINY)
    monkeypatch.setattr("lpsched.bag.pricing.machines.MANY", 3)
    found = sensitivity(TINY)
    for one, two in zip(found.machines, whole.machines, strict=True):
        assert one.pieces == ()
        assert (one.most_more, one.adds_per_hour) == pytest.approx((two.most_more, two.adds_per_hour))
        assert one.bound_at_most == pytest.approx(two.bound_at_most)
    assert found.notes == ("How the bound grows machine by machine is left out: 4 pairs of task and machine types.",)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"price": 1.0, "profit_ratio": 1.0}, "got a price and a profit ratio, expected one of them"),
        ({"lifetime_hours": 0.0}, "lifetime_hours: got 0.0, expected hours"),
        ({"price": -1.0}, "price: got -1.0"),
    ],
)
def test_what_is_unsound_is_named(options, message):
    with pytest.raises(InstanceError, match=message):
        sensitivity(TINY, **options)


def test_limits_that_nobody_can_keep_are_infeasible():
    with pytest.raises(InfeasibleError, match="idle machines alone draw 40 W"):
        sensitivity(TINY, power_cap=40.0)


def test_sizes_that_differ_by_many_powers_of_ten_are_told_apart():
    # 10^9 tasks of 1 ms on one machine and of 10^3 s on 10^6 others; money in billionths.
    machines = (MachineType(name="quick", count=1, idle_watts=1.0), MachineType(name="slow", count=10**6))
    bag = Bag(
        "wide",
        machines,
        (TaskType(name="t", count=10**9),),
        Table.of([[1e-3, 1e3]]),
        Table.of([[1e3, 1e-2]]),
        Prices(per_bag=1000.0, electricity_per_kwh=0.1),
    )
    found = sensitivity(bag)
    for need in found.machines:
        bound = solve(with_machines(bag, {need.name: need.count + need.sure_more})).bound
        assert bound >= (need.value_at_sure or -1.0)
    assert found.electricity.no_profit_from > 0.1


def test_a_price_that_no_bag_can_say_is_needed_and_no_schedule_has_it():
    # 10^30 J a task, at 10^30 USD a kWh: some 10^53 USD, far above the 10^30 that a price can be.
    bag = one_type(watts=Table.of([[1e30 / HOUR]]), prices=Prices(per_bag=60.0, electricity_per_kwh=1e30))
    need = sensitivity(bag).price_need
    assert need.needed == pytest.approx(12e60 / 3.6e6, rel=1e-9)
    assert need.enough is None


def test_answers_can_be_pickled_and_have_stable_keys():
    found = sensitivity(TINY)
    assert pickle.loads(pickle.dumps(found)) == found  # noqa: S301 - our own
    told = found.to_dict()
    assert told["format"] == "lpsched-sensitivity/1"
    assert list(told["price_need"]) == ["needed", "needed_ratio", "needed_factor", "enough", "least_to_run"]
    assert [piece["regime"] for piece in told["electricity"]["pieces"]] == [
        "profit", "profit", "loss", "do-not-run",
    ]  # fmt: skip
    assert [need["name"] for need in told["machine_types"]] == ["fast", "slow"]
