"""The policy that plans with prices: it sees no future, keeps to the energy, and earns more than others."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lpsched.errors import InstanceError
from lpsched.generate.day import essc_day
from lpsched.generate.options import EsscOptions
from lpsched.online.arrays import day_arrays
from lpsched.online.compare.backend import find_policy, planned, policy_names
from lpsched.online.day import ArrivingTasks
from lpsched.online.parts import Period
from lpsched.online.policies import prices_policy
from lpsched.online.simulate.days import simulate_day
from lpsched.online.simulate.options import SimulationOptions
from lpsched.online.verify.day import examine, measure
from tests.days import decaying, simple_day
from tests.online.small_days import flat_day

pytestmark = pytest.mark.rotate_tests(3)

HOUR = 3600.0


@pytest.fixture(scope="module")
def day():
    """Draw a day like the thesis's, but of three hours and ten machines; energy for about two thirds of it."""
    options = EsscOptions(
        tasks=700, hours=3.0, warm_up_hours=0.5, p_states=3, task_types=20, machines=(2, 3, 4),
        special_machines=(1,), special_task_types=3,
    )  # fmt: skip
    made = essc_day("small", 3, options)
    return made.model_copy(update={"period": Period(0.5 * HOUR, 3 * HOUR, "prorated", 1.2e7)})


def run(day, policy=None, **options):
    policy = find_policy("prices", day) if policy is None else policy
    return simulate_day(day, policy, np.random.default_rng(0), SimulationOptions(**options))


def with_tasks(day, keep):
    """Return the day with some of its tasks only."""
    tasks = day.arriving
    told = [tasks.declared[number] for number in tasks.utility_numbers]
    kept = np.flatnonzero(keep).tolist()
    arriving = ArrivingTasks.of(
        [tasks.arrival_seconds[n] for n in kept], [tasks.type_numbers[n] for n in kept], [told[n] for n in kept]
    )
    return day.model_copy(update={"arriving": arriving, "made_by": None})


@pytest.mark.parametrize("machines", ["queued", "polled"])
def test_it_earns_more_than_published_policies_and_keeps_to_the_energy(day, machines):
    ours = measure(day, run(day, machines=machines).schedule)
    assert ours.energy_joules <= 1.2e7
    for name in ("max-max-upe", "max-max-upt", "weighted-util"):
        theirs = run(day, find_policy(name, day), machines=machines, drop_below=0.5)
        assert ours.utility > measure(day, theirs.schedule).utility


def test_without_an_energy_constraint_it_earns_more_too(day):
    free = day.model_copy(update={"period": Period(0.5 * HOUR, 3 * HOUR)})
    theirs = run(free, find_policy("max-max-upt", free), drop_below=0.5)
    assert measure(free, run(free).schedule).utility > measure(free, theirs.schedule).utility


def test_tasks_to_come_change_nothing_before_they_come(day):
    # Leaving out what arrives after two hours must leave every start before that as it is.
    arrivals = np.array(day.arriving.arrival_seconds)
    cut = with_tasks(day, arrivals <= 2 * HOUR)
    before = {each for each in run(day).schedule.placed if each.start_seconds < 2 * HOUR}
    assert len(before) > 100
    assert before == {each for each in run(cut).schedule.placed if each.start_seconds < 2 * HOUR}


def test_the_same_policy_may_run_many_days(day):
    policy = find_policy("prices", day)
    assert run(day, policy).schedule == run(day, policy).schedule


def test_each_plan_is_given_what_is_left(day):
    forecasts = []

    def plan(forecast, before):
        forecasts.append(forecast)
        return planned(forecast, before)

    run(day, prices_policy(plan))
    energies = [each.energy_joules for each in forecasts]
    inside = [each for each in forecasts if each.edges[0] >= 0.5 * HOUR]
    assert all(math.isinf(each.energy_joules) for each in forecasts if each.edges[0] < 0.5 * HOUR)
    assert inside[0].edges[0] == 0.5 * HOUR  # it plans anew as the energy begins to count
    assert inside[0].energy_joules == pytest.approx(1.2e7, rel=0.05)
    assert sorted(energies, reverse=True) == energies
    assert len(inside) >= 24
    # 10 machines, each free for at most the time that is left
    for each in forecasts:
        assert each.machine_seconds.sum() <= 10 * (each.edges[-1] - each.edges[0]) + 1e-6


def test_it_expects_that_tasks_keep_coming_as_they_have_come():
    # Six tasks in the first 60 s of an hour: 6 * (3600 - 60) / 60 = 354 more. Most of them still wait at 120 s,
    # but none is counted again: 6 * (3600 - 120) / 120 = 174.
    made, forecasts = flat_day([50.0] * 6, [0.0, *[30.0] * 5], period=Period(0.0, HOUR)), []

    def plan(forecast, before):
        forecasts.append(forecast)
        return planned(forecast, before)

    run(made, prices_policy(plan))
    expected = {float(each.edges[0]): float(each.expected.sum()) for each in forecasts}
    assert expected[60.0] == pytest.approx(354.0)
    assert expected[120.0] == pytest.approx(174.0)
    assert forecasts[-1].utilities.tolist() == [[1.0]] * 6


def test_it_is_one_of_the_names_and_unknown_ones_are_refused(day):
    assert "prices" in policy_names()
    assert "min-min" in policy_names()
    assert find_policy("min-min", day).name == "min-min"
    with pytest.raises(InstanceError, match="nonsense"):
        find_policy("nonsense", day)
    with pytest.raises(InstanceError, match=r"'price', expected one of .*, prices, .*; did you mean 'prices'"):
        find_policy("price", day)


def test_a_day_without_an_end_is_worked_off():
    made = flat_day([50.0] * 30, [0.0] * 30, machines=2)
    assert len(run(made).schedule.placed) == 30


def test_a_task_that_is_worth_less_than_its_energy_could_earn_is_left():
    # 25 J for 20 tasks that come one a minute, of 2.5 J each: ten may run, those worth 4 and not those worth 1.
    tasks = [(60.0 * k, 0, decaying(4.0 if k % 2 else 1.0, until=200.0)) for k in range(20)]
    made = simple_day([[10.0]], [[0.25]], [1], tasks)
    made = made.model_copy(update={"period": Period(0.0, 1300.0, "prorated", 25.0)})
    measured = measure(made, run(made).schedule)
    assert measured.energy_joules <= 25.0
    assert measured.utility >= 9 * 4.0


def test_runs_that_cannot_end_in_the_day_are_left_if_only_whole_ones_count():
    # The second task can start at 180 s, and would end at 260 s.
    for edge, ran in (("completed", {0}), ("prorated", {0, 1})):
        made = flat_day([80.0, 80.0], [0.0, 130.0], period=Period(0.0, 200.0, edge))
        assert {each.task for each in run(made).schedule.placed} == ran


@pytest.mark.parametrize(
    "period",
    [
        pytest.param(Period(0.0, 1000.0, "prorated", 0.0), id="no energy"),
        pytest.param(Period(500.0, 1000.0, "prorated", 100.0), id="warm-up"),
        pytest.param(Period(1000.0, 500.0, "completed", 1e9), id="days before"),
    ],
)
def test_odd_periods_are_run_within_the_rules(period):
    made = flat_day([50.0, 7.0] * 10, [20.0 * k for k in range(20)], machines=2, period=period)
    schedule = run(made, every_seconds=None, every_arrivals=3).schedule
    assert examine(made, schedule).violations == ()


def test_forecast_utilities_are_those_of_tasks_that_start_at_once(day):
    forecasts = []

    def plan(forecast, before):
        forecasts.append(forecast)
        return planned(forecast, before)

    run(day, prices_policy(plan))
    first, seconds = forecasts[0], day_arrays(day).seconds
    value = {(i, day.utility_of(n)) for n, i in enumerate(day.arriving.type_numbers)}
    for i, row in zip(first.types.tolist(), first.utilities.tolist(), strict=True):
        columns = np.flatnonzero(day_arrays(day).can_run[i]).tolist()
        found = [row[c] for c in columns]
        known = [[each.at(float(seconds[i, c])) for c in columns] for kind, each in value if kind == i]
        assert any(found == pytest.approx(each, rel=1e-12) for each in known)  # exponentials of two libraries
