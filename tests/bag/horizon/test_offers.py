"""Offers of less power: compared with the independent program at any reduction, and with all plans."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product
from typing import TYPE_CHECKING

import pytest

from lpsched.bag.horizon.events import event_slots
from lpsched.bag.horizon.offers import _OfferSearch, offer_curve, offers_of
from lpsched.bag.horizon.slots import SiteSlots, Slots, Weights
from lpsched.bag.horizon.solve import HorizonProblem, build_horizon
from lpsched.bag.horizon.verify import verify_plan
from lpsched.bag.model import Bag
from lpsched.bag.parts import MachineType, Site, TaskType
from lpsched.cancellation import CancelToken
from lpsched.errors import InfeasibleError, InstanceError
from lpsched.lp.solvers import default_solver
from lpsched.model.series import Series
from lpsched.model.table import Table
from models.horizon import least_by_work
from tests.bag.horizon.test_brute_force import timelines, value_of
from tests.bag.horizon.tiny_horizons import drawn

if TYPE_CHECKING:
    from lpsched.bag.horizon.curves import OfferCurve

HOUR = 3600.0
MONEY = Weights()


def offers_by(problem: HorizonProblem, chosen: list[int], baseline: float | str, *, site: int = 0, plans: int = 0):
    solver, cancel = default_solver(), CancelToken()
    return offers_of(problem, site, chosen, solver, cancel, baseline=baseline, plans=plans, work=0.1, seed=0)


def one_machine(*, may_be_off: bool = True, idle_watts: float = 0.0, pue: float = 1.0) -> HorizonProblem:
    """Return two tasks of half an hour at 1 kW on one of two machines, at 0.1, 0.3 and 0.4."""
    cpu = MachineType("cpu", 1, idle_watts, may_be_off=may_be_off)
    bag = Bag("b", (cpu,), (TaskType("t", 2),), Table.of([[1800.0]]), Table.of([[1000.0]]))
    sites = (SiteSlots("site", (0.1, 0.3, 0.4), pue=pue, cap_pue=pue),)
    return HorizonProblem(bag, Slots((0.0, HOUR, 2 * HOUR, 3 * HOUR), sites, (0,)), "cost")


def test_an_offer_by_hand():
    # The least cost is 0.1, all in the first hour. Each kWh less there is done in the second, for 0.2 more.
    offers = offers_by(one_machine(), [0], "plan", plans=2)
    assert [(each.kw, each.delivered_kw) for each in offers.points] == [(0.0, 0.0), (1.0, 1.0)]
    assert [each.lp_extra for each in offers.points] == pytest.approx([0.0, 0.2])
    assert [each.marginal for each in offers.points] == pytest.approx([0.2, 0.2])
    last = offers.points[-1]
    assert last.at_least == pytest.approx(0.2)
    assert last.at_most == pytest.approx(0.2)
    assert offers.full_kw == offers.most_kw == 1.0


def test_power_is_counted_at_the_meter():
    # With a PUE of 1.5, the kWh of the machine are 1.5 kWh at the meter: 1.5 kW can be offered, each for 0.2.
    offers = offers_by(one_machine(pue=1.5), [0], "plan")
    assert [each.kw for each in offers.points] == pytest.approx([0.0, 1.5])
    assert [each.lp_extra for each in offers.points] == pytest.approx([0.0, 0.3])
    assert offers.points[0].marginal == pytest.approx(0.2)


def test_slots_are_not_reduced_below_idle_power():
    # 100 W idle: 0.9 kW can be offered in the first hour; in the third the baseline is idle anyway. Of each kW less,
    # work at 0.1 moves to 0.3; energy above idle power is what moves.
    offers = offers_by(one_machine(may_be_off=False, idle_watts=100.0), [0, 2], "plan", plans=2)
    assert [slot.idle_kw for slot in offers.slots] == pytest.approx([0.1, 0.1])
    assert [slot.baseline_kw for slot in offers.slots] == pytest.approx([1.0, 0.1])
    assert [each.kw for each in offers.points] == pytest.approx([0.0, 0.9])
    assert [each.delivered_kw for each in offers.points] == pytest.approx([0.0, 0.45])
    assert [each.lp_extra for each in offers.points] == pytest.approx([0.0, 0.9 * 0.2])
    assert offers.full_kw == 0.0
    assert offers.points[-1].at_most == pytest.approx(0.18, abs=1e-6)


def test_nothing_is_offered_where_the_baseline_is_idle():
    offers = offers_by(one_machine(), [2], "plan")
    assert offers.most_kw == 0.0
    assert len(offers.points) == 1
    assert "Nothing to offer" in offers.headline()


def test_beyond_the_largest_reduction_tasks_do_not_fit():
    # Three hours for one hour of work; with all slots chosen at 1 kW each, at least a third of a kW is needed.
    offers = offers_by(one_machine(), [0, 1, 2], 1.0)
    assert offers.most_kw == pytest.approx(2 / 3, rel=1e-6)
    assert offers.points[-1].kw == offers.most_kw
    with pytest.raises(InfeasibleError, match="raise it"):
        offers_by(one_machine(), [0, 1, 2], 0.2)


def limited(problem: HorizonProblem, site: int, chosen: list[int], baseline: float, kw: float) -> Slots:
    """Return the slots with the caps of a reduction, worked out plainly."""
    slots, own = problem.slots, problem.slots.sites[site]
    idle = own.pue * sum(
        each.count * each.idle_watts
        for j, each in enumerate(problem.bag.machine_types)
        if slots.site_of[j] == site and not each.may_be_off
    )
    at_meter = [
        1e6 if own.cap_watts is None else cap / own.cap_pue * own.pue for cap in own.cap_watts or [0] * slots.count
    ]
    for h in chosen:
        at_meter[h] = min(at_meter[h], max(1000 * (baseline - kw), idle))
    sites = list(slots.sites)
    sites[site] = replace(own, cap_watts=tuple(at_meter), cap_pue=own.pue)
    return replace(slots, sites=tuple(sites))


def random_case(seed: int, **options):
    """Return a problem, a site, chosen slots and a baseline at which the program has a solution, with its offers."""
    rng = random.Random(seed)  # noqa: S311
    while True:
        bag, slots = drawn(rng, **options)
        problem, site = HorizonProblem(bag, slots, "cost"), rng.randrange(len(slots.sites))
        chosen = sorted(rng.sample(range(slots.count), rng.randint(1, 2)))
        baseline = rng.choice([0.004, 0.006, 0.01])
        if least_by_work(bag, limited(problem, site, chosen, baseline, 0.0), MONEY) is None:
            continue
        try:
            offers = offers_by(problem, chosen, baseline, site=site)
        except InfeasibleError:  # whole tasks do not fit into the horizon
            continue
        if offers.most_kw > 0:
            return problem, site, chosen, baseline, offers


def interpolated(offers: OfferCurve, kw: float) -> float:
    for one, two in pairwise(offers.points):
        if one.kw <= kw <= two.kw:
            share = (kw - one.kw) / (two.kw - one.kw)
            return one.lp_extra + share * (two.lp_extra - one.lp_extra)
    raise AssertionError("outside the curve")


@pytest.mark.rotate(8)
@pytest.mark.parametrize("seed", range(24))
def test_the_curve_is_the_difference_of_two_optima_at_any_reduction(seed):
    problem, site, chosen, baseline, offers = random_case(seed, types=3, machines=3, slot_count=4)
    free = least_by_work(problem.bag, problem.slots, MONEY).value
    rng = random.Random(seed)  # noqa: S311
    for kw in [0.0, *(rng.uniform(0, offers.most_kw) for _ in range(6)), 0.999999 * offers.most_kw]:
        exact = least_by_work(problem.bag, limited(problem, site, chosen, baseline, kw), MONEY)
        assert exact is not None
        assert interpolated(offers, kw) == pytest.approx(exact.value - free, abs=2e-4 * (1 + abs(exact.value)))
    room = max(each.baseline_kw - each.idle_kw for each in offers.slots)
    if offers.most_kw < 0.999 * room:
        assert (
            least_by_work(problem.bag, limited(problem, site, chosen, baseline, 1.001 * offers.most_kw), MONEY) is None
        )
    slopes = [each.marginal for each in offers.points[:-1]]  # one room for all slots: convex as a whole
    assert all(one <= two + 1e-3 * (1 + abs(two)) for one, two in pairwise(slopes))
    assert all(one.at_least <= two.at_least for one, two in pairwise(offers.points))


@pytest.mark.rotate(6)
@pytest.mark.parametrize("seed", range(12))
def test_slots_may_reach_idle_power_one_after_the_other(seed):
    rng = random.Random(seed)  # noqa: S311
    solver, cancel = default_solver(), CancelToken()
    while True:
        bag, slots = drawn(rng, types=3, machines=3, slot_count=5)
        problem, watts = HorizonProblem(bag, slots, "cost"), [float(rng.randint(3, 9)) for _ in range(3)]
        chosen = sorted(rng.sample(range(slots.count), 3))
        try:
            search = _OfferSearch(problem, 0, chosen, watts, solver, cancel)
        except InfeasibleError:
            continue
        if search.most > 1.01 * search.full > 0:
            break
    points = search.points()

    def exact(reduction: float) -> float:
        made = slots
        for h, own in zip(chosen, watts, strict=True):
            made = limited(replace(problem, slots=made), 0, [h], own / 1000, reduction / 1000)
        found = least_by_work(bag, made, MONEY)
        assert found is not None
        return found.value

    for one, two in pairwise(points):
        for share in (0.0, rng.random()):
            value = one.value + share * (two.value - one.value)
            reduction = one.watts + share * (two.watts - one.watts)
            assert exact(reduction) == pytest.approx(value, abs=2e-4 * (1 + abs(value)))


def best_of_all(bag: Bag, slots: Slots) -> Fraction | None:
    """Return the least cost of all plans on a grid of whole seconds."""
    wanted, best = tuple(task.count for task in bag.task_types), None
    for chosen in product(*(timelines(bag, slots, j) for j in range(len(bag.machine_types)))):
        if tuple(map(sum, zip(*(each.counts for each in chosen), strict=True))) == wanted:
            value = value_of(bag, slots, MONEY, chosen)
            best = value if best is None or (value is not None and value < best) else best
    return best


@pytest.mark.rotate(3)
@pytest.mark.parametrize("seed", range(9))
def test_the_interval_of_an_offer_holds_for_the_best_of_all_plans(seed):
    rng = random.Random(seed)  # noqa: S311
    while True:
        bag, slots = drawn(rng, most_tasks=2, most_seconds=2, slot_count=2, sites=1)
        if not 4 <= slots.horizon <= 5 or (free := best_of_all(bag, slots)) is None:
            continue
        problem, chosen, baseline = HorizonProblem(bag, slots, "cost"), [rng.randrange(2)], 0.006
        try:
            offers = offers_by(problem, chosen, baseline, plans=3)
        except InfeasibleError:
            continue
        if offers.most_kw > 0:
            break
    for point in offers.points:
        best = best_of_all(bag, limited(problem, 0, chosen, baseline, point.kw * (1 + 1e-9)))  # not less, by rounding
        if best is not None:
            assert Fraction(point.at_least) <= best - free
            assert Fraction(point.bound) <= best
        if point.plan is not None:
            assert verify_plan(bag, limited(problem, 0, chosen, baseline, point.kw * (1 - 1e-7)), point.plan) == ()
            assert point.at_most >= point.at_least
            assert best is None or point.at_most >= float(best - free) - 1e-9


def test_hours_are_local_and_of_each_day():
    # In Berlin in July, 17 to 20 o'clock is 15 to 18 UTC; over two days that are two times three hours.
    bag = one_machine().bag.model_copy(update={"site": Site(time_zone="Europe/Berlin", tariff=0.2)})
    start = 1_719_792_000  # 2024-07-01T00:00Z
    problem = build_horizon(bag, horizon=48 * HOUR, start=start)
    made, chosen = event_slots(problem, "17-20")
    spans = [(made.slots.edges[h] / HOUR, made.slots.edges[h + 1] / HOUR) for h in chosen]
    assert spans == [(15, 16), (16, 17), (17, 18), (39, 40), (40, 41), (41, 42)]
    assert len(made.slots.sites[0].tariff) == made.slots.count
    made, chosen = event_slots(problem, "23:30-1")  # over midnight, also the one that began the day before
    spans = [(made.slots.edges[h] / HOUR, made.slots.edges[h + 1] / HOUR) for h in chosen]
    assert spans == [(21.5, 22.5), (22.5, 23), (45.5, 46.5), (46.5, 47)]


@pytest.mark.parametrize(
    ("hours", "start", "words"),
    [
        ("17-17", 0, "hours of the day"),
        ("17", 0, "hours of the day"),
        ("17-25", 0, "hours of the day"),
        ("5-7", 0, "within the horizon"),
        ("0-1", None, "when the horizon begins"),
        ([3], 0, "numbers of slots"),
    ],
)
def test_wrong_hours_are_errors(hours, start, words):
    problem = replace(one_machine(), slots=replace(one_machine().slots, start=start))
    with pytest.raises(InstanceError, match=words):
        event_slots(problem, hours)


def test_slots_with_a_cap_are_not_cut():
    problem = one_machine()
    sites = (replace(problem.slots.sites[0], cap_watts=(2000.0,) * 3),)
    problem = replace(problem, slots=replace(problem.slots, sites=sites, start=0))
    assert event_slots(problem, "1-3")[1] == [1, 2]
    with pytest.raises(InstanceError, match="averaged over slots"):
        event_slots(problem, "0:30-2")


@pytest.mark.parametrize("baseline", ["mean", "at-once", 0.8])
def test_baselines_and_rows(baseline):
    prices = Series((0, 3600, 7200), 10800, (0.3, 0.1, 0.2))
    offers = offer_curve(
        one_machine().bag, hours="0-1", baseline=baseline, horizon=10800, start=0, tariff=prices, effort="fast", plans=2
    )
    # The mean price and "at once" begin at once, in the hour that costs most; the best plan draws nothing then.
    assert offers.slots[0].baseline_kw == pytest.approx(0.8 if baseline == 0.8 else 1.0)
    assert [each.lp_extra for each in offers.points] == pytest.approx([0.0, 0.0], abs=1e-9)
    content = offers.to_dict()
    assert content["format"] == "lpsched-offers/1"
    assert [row["kw"] for row in offers.csv_rows()] == [point["kw"] for point in content["points"]]
    with pytest.raises(ValueError, match="baseline"):
        offer_curve(one_machine().bag, hours="0-1", baseline="none", horizon=10800, start=0, tariff=prices)
