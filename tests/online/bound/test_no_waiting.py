"""The bound without waiting: by hand, against every schedule of tiny days, and by a second road."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise, permutations, product

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from lpsched.online.bound.no_waiting import MARGIN, NoWaitingFront, hull, no_waiting_front
from lpsched.online.schedule import DaySchedule, PlacedTask
from lpsched.online.utility import Interval, UtilityFunction
from lpsched.online.verify.day import measure
from models.no_waiting import most_utility
from tests.days import decaying, simple_day
from tests.property.days import days, schedules_of

quick = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
MOST_WAYS = 1500
STEADY = decaying(8.0)
HALVING = decaying(8.0, math.log(2.0) / 10.0)  # 8, after 10 s 4, after 20 s 2


def near(*values):
    return pytest.approx(values, rel=1e-9)


def test_one_task_goes_from_dropped_over_thrifty_to_fast():
    # m0: 10 s at 100 W, 1,000 J for 4; m1: 20 s at 20 W, 400 J for 2. Slopes 2/400, then 2/600.
    front = no_waiting_front(simple_day([[10.0, 20.0]], [[100.0, 20.0]], [1, 1], [(5.0, 0, HALVING)]))
    assert front.energies == (0.0, 400.0, 1000.0)
    assert front.utilities == near(0.0, 2.0, 4.0)
    assert front.least_joules == 400.0
    assert front.highest_utility == pytest.approx(4.0)


@pytest.mark.parametrize(
    ("joules", "utility"), [(0.0, 0.0), (200.0, 1.0), (400.0, 2.0), (700.0, 3.0), (1000.0, 4.0), (1e9, 4.0)]
)
def test_between_two_vertices_utility_is_mixed_and_after_the_last_it_stays(joules, utility):
    front = no_waiting_front(simple_day([[10.0, 20.0]], [[100.0, 20.0]], [1, 1], [(5.0, 0, HALVING)]))
    assert front.most_utility(joules) == pytest.approx(utility, abs=1e-10)


def test_the_steps_of_all_tasks_are_taken_by_slope():
    # Two tasks of 100 J for 8 (0.08 a joule), one of 50 J for 8 (0.16): at most 24 for 250 J.
    tasks = [(0.0, 0, STEADY), (1.0, 0, STEADY), (2.0, 1, STEADY)]
    front = no_waiting_front(simple_day([[10.0], [5.0]], [[10.0], [10.0]], [1], tasks))
    assert front.energies == (0.0, 50.0, 250.0)
    assert front.utilities == near(0.0, 8.0, 24.0)
    assert front.least_joules == 250.0


def test_what_earns_less_for_more_energy_or_lies_below_the_hull_is_no_vertex():
    # Energies 100, 150, 200 for 8 within 15 s, 4 within 25 s, 4: only the first counts.
    steps = UtilityFunction((Interval(0.0, 8.0, 8.0, 0.0), Interval(15.0, 4.0, 4.0, 0.0)))
    day = simple_day([[10.0, 20.0, 25.0]], [[10.0, 7.5, 8.0]], [1, 1, 1], [(0.0, 0, steps)])
    assert no_waiting_front(day).energies == (0.0, 100.0)


def test_a_task_without_energy_earns_from_the_beginning():
    front = no_waiting_front(simple_day([[10.0, 1.0]], [[0.0, 5.0]], [1, 1], [(0.0, 0, HALVING)]))
    assert front.energies == (0.0, 5.0)
    assert front.utilities == near(4.0, 8.0 * 0.5**0.1)
    assert front.least_joules == 0.0


def test_a_task_that_cannot_earn_anything_costs_no_energy():
    late = decaying(8.0, until=5.0)  # and it takes 10 s
    front = no_waiting_front(simple_day([[10.0]], [[10.0]], [1], [(0.0, 0, late)]))
    assert front == NoWaitingFront((0.0,), (0.0,), 100.0)
    assert front.most_utility(50.0) == 0.0


def test_utilities_are_raised_by_the_margin_and_no_more():
    front = no_waiting_front(simple_day([[10.0]], [[10.0]], [1], [(0.0, 0, STEADY)]))
    assert front.highest_utility == 8.0 * (1.0 + MARGIN)


@pytest.mark.parametrize("count", range(1, 9))
def test_vertices_and_what_lies_between_are_rounded_to_the_safe_side(count):
    # A tenth of a second at a tenth of a watt is no double, nor is any number of them; so is 8 * 0.3 / count.
    front = no_waiting_front(simple_day([[0.1]], [[0.1]], [1], [(0.0, 0, STEADY)] * count))
    exact = count * Fraction(0.1) ** 2
    energy, most = front.energies[-1], Fraction(front.highest_utility)
    assert Fraction(energy) <= exact < Fraction(math.nextafter(energy, 1.0))
    for joules in (0.3 * energy, 0.7 * energy):
        assert Fraction(front.most_utility(joules)) >= most * Fraction(joules) / Fraction(energy)


def test_slopes_that_doubles_cannot_tell_apart_are_told_apart():
    # (1 + 2^-30) s at (1 - 2^-30) W are 1 - 2^-60 J: 8 for that is steeper than 8 for 1 J, and comes first.
    near_one = 2.0**-30
    day = simple_day([[1.0], [1.0 + near_one]], [[1.0], [1.0 - near_one]], [1], [(0.0, 0, STEADY), (0.0, 1, STEADY)])
    assert no_waiting_front(day).energies == (0.0, 1.0 - 2.0**-53, 2.0 - 2.0**-52)


def test_vertices_that_doubles_cannot_tell_apart_are_one():
    # 1e20 for 1e16 J, then 1 for 0.001 J, which 1e16 does not feel.
    tasks = [(0.0, 0, decaying(1e20)), (0.0, 1, decaying(1.0))]
    front = no_waiting_front(simple_day([[1.0], [1.0]], [[1e16], [1e-3]], [1], tasks))
    assert front.energies == (0.0, 1e16)
    assert front.most_utility(2e16) == front.highest_utility >= 1e20


def test_a_corner_on_the_straight_way_is_none():
    assert hull([(1, 1), (2, 2), (3, 3)]) == [(0, 0), (3, 3)]


def test_amounts_at_both_ends_of_what_is_allowed_are_no_trouble():
    day = simple_day([[1e-30, 1e30]], [[1e-30, 1e30]], [1, 1], [(0.0, 0, STEADY), (1e30, 0, STEADY)])
    front = no_waiting_front(day)
    assert front.highest_utility == pytest.approx(16.0)
    assert front.energies[-1] == pytest.approx(2e-60)


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=8))
def test_no_point_is_above_its_hull_and_every_corner_is_a_point(points):
    corners = hull(points)
    assert set(corners) <= {(0, 0), *points}
    for (e1, u1), (e2, u2) in pairwise(corners):
        assert e1 < e2
        assert u1 < u2
        assert all((u - u1) * (e2 - e1) <= (u2 - u1) * (e - e1) for e, u in points)
    assert all(u <= corners[-1][1] for _, u in points)


def choices(day, task):
    """Return where a task can run: columns and machines; and None, not at all."""
    row = day.seconds.row(day.arriving.type_numbers[task])
    runs = [
        (column, machine)
        for column, (j, _) in enumerate(day.modes)
        for machine in range(1, day.machine_types[j].count + 1)
        if row[column] is not None
    ]
    return [None, *runs]


def schedule_of(day, chosen, order):
    placed = []
    free: dict[tuple[int, int], float] = {}
    for n in order:
        if chosen[n] is not None:
            column, machine = chosen[n]
            j = day.modes[column][0]
            start = max(day.arriving.arrival_seconds[n], free.get((j, machine), 0.0))
            placed.append(PlacedTask(n, day.machine_types[j].name, machine, start, day.p_state(column)))
            free[j, machine] = start + day.seconds[day.arriving.type_numbers[n], column]
    return DaySchedule(tuple(placed))


@settings(quick, max_examples=8)
@given(day=days(most_tasks=3, most_types=2, most_machines=1))
def test_no_schedule_of_a_tiny_day_is_above_the_bound(day):  # every choice, in every order, without pauses
    options = [choices(day, task) for task in range(day.tasks)]
    assume(math.prod(map(len, options)) * math.factorial(day.tasks) <= MOST_WAYS)
    front = no_waiting_front(day)
    for chosen, order in product(product(*options), permutations(range(day.tasks))):
        measured = measure(day, schedule_of(day, chosen, order))
        assert measured.utility <= front.most_utility(measured.energy_joules)
        if measured.dropped == 0:
            assert measured.energy_joules >= front.least_joules


@quick
@given(data=st.data())
def test_no_drawn_schedule_is_above_the_bound(data):
    day = data.draw(days())
    measured = measure(day, data.draw(schedules_of(day)))
    assert measured.utility <= no_waiting_front(day).most_utility(measured.energy_joules)


@quick
@given(day=days(), share=st.sampled_from([0.01, 0.3, 0.7, 1.0, 2.0]))
def test_the_bound_is_what_the_second_road_finds(day, share):
    front = no_waiting_front(day)
    joules = share * front.energies[-1] or 1.0
    assert front.most_utility(joules) == pytest.approx(most_utility(day, joules), rel=1e-7, abs=1e-8)


@quick
@given(day=days(most_machines=1))
def test_the_front_rises_and_flattens(day):
    front = no_waiting_front(day)
    slopes = [
        (u2 - u1) / (e2 - e1)
        for (e1, e2), (u1, u2) in zip(pairwise(front.energies), pairwise(front.utilities), strict=True)
    ]
    assert front.energies[0] == 0.0
    assert all(slope > 0.0 for slope in slopes)
    assert all(right <= left * (1.0 + 1e-9) for left, right in pairwise(slopes))
