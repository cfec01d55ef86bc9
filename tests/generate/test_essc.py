from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from lpsched.bag.arrays import affinity
from lpsched.errors import InstanceError
from lpsched.generate import arrivals
from lpsched.generate.arrivals import Bursts, Waves
from lpsched.generate.day import essc_day, mean_numbers
from lpsched.generate.options import EsscOptions
from lpsched.online.arrays import day_arrays
from lpsched.online.parts import Period
from tests.naive import naive_utility

pytestmark = pytest.mark.rotate_tests(8)

SPECIAL = 4
DAY = 86_400.0


def make(seed=1, **options):
    return essc_day("x", seed, EsscOptions(**options))


def first_states(day):
    arrays = day_arrays(day)
    first = [column for column, (_, k) in enumerate(day.modes) if k == 0]
    return np.where(arrays.can_run, arrays.seconds, np.nan)[:, first]


def test_the_same_seed_gives_the_same_day_and_another_seed_another():
    assert make(tasks=500) == make(tasks=500)
    assert make(tasks=500) != make(2, tasks=500)
    assert make(tasks=500, p_states=3, affinity="high") == make(tasks=500, p_states=3, affinity="high")


def test_machines_and_task_types_are_those_of_appendix_e():
    day = make(tasks=500)
    assert [each.count for each in day.machine_types] == [2, 2, 3, 3, 5, 5, 5, 10, 10, 10, 10, 15, 20]
    seconds = first_states(day)
    assert seconds.shape == (100, 13)
    runs = ~np.isnan(seconds[:, :SPECIAL])
    assert runs.sum() == 17
    assert runs.any(axis=1).sum() == 17
    assert all(3 <= number <= 5 for number in runs.sum(axis=0))
    assert not np.isnan(seconds[:, SPECIAL:]).any()


def test_seconds_and_watts_have_the_means_and_variations_of_the_thesis():
    # Over ten days: 1,000 rows of nine general-purpose machine types, 170 special pairs; each mean within 4 of
    # its deviations: 600 x 0.1 / sqrt(1000) = 1.9 s and 60 x sqrt(0.1^2 + 0.1^2) / sqrt(170) = 0.65 s.
    tables = [first_states(make(seed, tasks=100)) for seed in range(10)]
    general = np.concatenate([each[:, SPECIAL:] for each in tables])
    special = np.concatenate([each[:, :SPECIAL].ravel() for each in tables])
    special = special[~np.isnan(special)]
    assert general.mean() == pytest.approx(600, abs=4 * 2.8)
    assert special.mean() == pytest.approx(60, abs=4 * 0.65)
    assert special.std() / special.mean() == pytest.approx(0.1 * 2**0.5, rel=0.2)
    rows = general.mean(axis=1)
    assert (general.std(axis=1, ddof=1) / rows).mean() == pytest.approx(0.25, rel=0.04)
    # A mean of nine has the spread of the rows and a ninth of the variance between machines.
    assert rows.std() / rows.mean() == pytest.approx((0.1**2 + 0.25**2 / 9) ** 0.5, rel=0.08)
    watts = np.concatenate([day_arrays(make(seed, tasks=100)).watts[:, SPECIAL:] for seed in range(10)])
    assert watts.mean() == pytest.approx(66 + 133, rel=0.03)


@pytest.mark.slow
def test_33_000_means_33_000():
    # Six days: Gaussian numbers and arrivals together have a variance of 1.1 x 33,000 a day, so the sum has a
    # deviation of sqrt(1.1 x 198,000) = 467. Four of these are 0.9 %.
    inside, before, special = 0, 0, 0
    for seed in range(6):
        day = make(seed, tasks=33_000)
        arrivals, types = np.array(day.arriving.arrival_seconds), np.array(day.arriving.type_numbers)
        bursty = (~np.isnan(first_states(day)[:, :SPECIAL])).any(axis=1)[types]
        inside += (arrivals >= 7_200).sum()
        before += (arrivals < 7_200).sum()
        special += (bursty & (arrivals >= 7_200)).sum()
    assert inside == pytest.approx(198_000, abs=4 * 467)
    assert before == pytest.approx(198_000 / 12, rel=0.06)  # two hours of 24, at whatever rates they have
    # Seventeen of a hundred task types come in bursts, as often as the others.
    assert special == pytest.approx(0.17 * 198_000, abs=4 * (1.1 * 0.17 * 198_000) ** 0.5)


def test_every_task_type_has_about_the_same_number_of_tasks():
    # 330 of each on average, with a variance of 1.1 x 330: five deviations are 95.
    day = make(3, tasks=33_000, warm_up_hours=0.0)
    numbers = Counter(day.arriving.type_numbers)
    assert [numbers[i] for i in range(100)] == pytest.approx([330] * 100, abs=95)
    assert np.var([numbers[i] for i in range(100)], ddof=1) == pytest.approx(1.1 * 330, rel=0.6)


def test_mean_numbers_have_the_variance_of_the_thesis_and_keep_their_mean_when_few():
    rng = np.random.default_rng(1)
    many = mean_numbers(rng, EsscOptions(tasks=3_300_000, task_types=10_000))
    assert many.mean() == pytest.approx(330, abs=4 * 33**0.5 / 100)
    assert many.var() == pytest.approx(33, rel=0.06)
    few = mean_numbers(rng, EsscOptions(tasks=100, task_types=10_000))  # 0.01 of each
    assert few.min() == 0
    assert few.mean() == pytest.approx(0.01, rel=0.05)


@pytest.mark.rotate(1)
@pytest.mark.parametrize(("tasks", "printed"), [(33_000, 65_051), (50_000, 98_708)])
def test_the_naive_bound_of_the_thesis_is_met(tasks, printed):
    # Section 2.7.1, mean of 50 trials: every task starts at once on its fastest machine; what ends in the period.
    found = [naive_utility(make(seed, tasks=tasks)) for seed in range(3)]
    assert np.mean(found) == pytest.approx(printed, rel=0.02)


def test_arrivals_have_hundredths_rise_and_stop_before_the_end():
    day = make(tasks=20_000, hours=3.0, warm_up_hours=0.5)
    arrivals = day_arrays(day).arrivals
    assert (np.diff(arrivals) >= 0).all()
    assert 0 <= arrivals[0] < 60
    assert 12_540 < arrivals[-1] < 12_600
    assert (np.round(arrivals, 2) == arrivals).all()


def test_tasks_that_arrive_at_once_are_in_the_order_of_their_types_and_none_arrives_at_the_end():
    # 30,000 tasks in 36 seconds: eight in each hundredth, and the last about a thousandth before the end.
    day = make(tasks=30_000, hours=0.01, warm_up_hours=0.0)
    arrays = day_arrays(day)
    at_once = np.diff(arrays.arrivals) == 0
    assert at_once.sum() > 20_000
    assert (np.diff(arrays.task_type)[at_once] >= 0).all()
    assert (arrays.arrivals[0], arrays.arrivals[-1]) == (0.0, 35.99)


def test_special_purpose_task_types_come_in_bursts_and_the_others_in_waves(monkeypatch):
    kinds = []

    def one_at_once(_rng, rates, **_):
        kinds.append(type(rates))
        return np.zeros(1)

    monkeypatch.setattr(arrivals, "draw_arrivals", one_at_once)
    special = (~np.isnan(first_states(make(tasks=100))[:, :SPECIAL])).any(axis=1)
    assert kinds == [Bursts if each else Waves for each in special]


@pytest.mark.parametrize(
    ("options", "period"),
    [
        ({}, Period(7_200.0, DAY, "completed")),
        ({"p_states": 2}, Period(7_200.0, DAY, "prorated")),
        ({"p_states": 3}, Period(7_200.0, DAY, "prorated")),
        ({"p_states": 3, "edge": "completed"}, Period(7_200.0, DAY, "completed")),
        ({"edge": "prorated", "warm_up_hours": 24.0}, Period(DAY, DAY, "prorated")),
        ({"hours": 4.0, "warm_up_hours": 0.0}, Period(0.0, 14_400.0, "completed")),
        ({"p_states": 3, "energy_gigajoules": 1.11}, Period(7_200.0, DAY, "prorated", 1.11e9)),
    ],
)
def test_the_period_is_that_of_the_chapter(options, period):
    assert make(tasks=100, **options).period == period


def test_p_states_scale_dynamic_power_and_the_first_is_the_fastest():
    day = make(tasks=100, p_states=3)
    assert {each.p_states for each in day.machine_types} == {("P0", "P1", "P2")}
    arrays = day_arrays(day)
    seconds, watts = (each.reshape(100, 13, 3) for each in (arrays.seconds, arrays.watts))
    runs = arrays.can_run.reshape(100, 13, 3)[:, :, 0]
    assert (seconds[:, :, 1:] >= seconds[:, :, :1]).all()
    for k, share in ((1, 0.75), (2, 0.5)):
        assert (seconds[:, :, k] / np.where(runs, seconds[:, :, 0], 1))[runs].mean() == pytest.approx(
            share**-0.5, rel=0.02
        )
    # From 100 to 75 and from 75 to 50 percent of the dynamic power are steps of the same watts.
    assert (watts[:, :, 0] - watts[:, :, 1])[runs] == pytest.approx((watts[:, :, 1] - watts[:, :, 2])[runs], abs=0.002)
    dynamic = 4 * (watts[:, :, 0] - watts[:, :, 1])[runs]
    assert dynamic.mean() == pytest.approx(133, rel=0.05)


def test_the_same_watts_and_arrivals_come_with_every_affinity():
    example, low, high = (make(tasks=500, affinity=each) for each in ("example", "low", "high"))
    assert example.watts == low.watts == high.watts
    assert example.arriving == low.arriving == high.arriving
    found = [affinity(1.0 / first_states(each)[:, SPECIAL:]) for each in (example, low, high)]
    assert 0.08 <= found[0] <= 0.093
    assert found[1] < 1e-15
    assert 0.14 <= found[2] <= 0.18


def test_affinity_is_changed_before_p_states_are_scaled():
    day = make(tasks=100, affinity="low", p_states=3)
    arrays = day_arrays(day)
    seconds = arrays.seconds.reshape(100, 13, 3)[:, SPECIAL:]
    assert affinity(1.0 / seconds[:, :, 0]) < 1e-15
    assert affinity(1.0 / seconds[:, :, 2]) > 0.01  # slowdowns are drawn for each pair


def test_one_task_makes_a_day():
    # About one arrives in the period and a twelfth more before it; a draw of none is drawn again.
    options = {"tasks": 1, "task_types": 3, "machines": (1,), "special_machines": ()}
    sizes = [make(seed, **options).tasks for seed in range(150)]
    assert min(sizes) == 1
    # Poisson with mean m = 13 / 12, given at least one: m / (1 - exp(-m)) = 1.637, variance below 1.1.
    assert np.mean(sizes) == pytest.approx(1.637, abs=4 * (1.1 / 150) ** 0.5)
    assert make(tasks=1).tasks >= 1


def test_other_machines_have_other_special_task_types():
    day = make(tasks=100, machines=(1, 2), special_machines=(1, 1), task_types=50)
    assert [each.count for each in day.machine_types] == [1, 1, 1, 2]
    assert (~np.isnan(first_states(day)[:, :2])).sum() == 8  # 17 / 4 of each, rounded
    none = make(tasks=100, special_machines=())
    assert not np.isnan(first_states(none)).any()


def test_the_file_says_what_made_it():
    day = make(7, tasks=100, p_states=3, energy_gigajoules=1.0)
    assert day.made_by == {
        "generator": "essc",
        "seed": 7,
        "tasks": 100,
        "hours": 24.0,
        "warm_up_hours": 2.0,
        "p_states": 3,
        "affinity": "example",
        "energy_gigajoules": 1.0,
        "task_types": 100,
        "machines": (5, 5, 5, 10, 10, 10, 10, 15, 20),
        "special_machines": (2, 2, 3, 3),
    }


@pytest.mark.parametrize(
    ("options", "issue"),
    [
        ({"tasks": 0}, "tasks: got 0, expected 1 to 1e+07; change the option"),
        ({"hours": 0.0}, "hours: got 0.0, expected 0.01 to 8784; change the option"),
        ({"hours": float("nan")}, "hours: got nan, expected 0.01 to 8784; change the option"),
        ({"warm_up_hours": -1.0}, "warm_up_hours: got -1.0, expected 0, or 1e-06 to 8784; change the option"),
        ({"energy_gigajoules": -1.0}, "energy_gigajoules: got -1.0, expected 0, or 1e-12 to 1e+12; change the option"),
        ({"energy_gigajoules": 1e-40}, "energy_gigajoules: got 1e-40, expected 0, or 1e-12 to 1e+12"),
        ({"warm_up_hours": 1e-40}, "warm_up_hours: got 1e-40, expected 0, or 1e-06 to 8784"),
        ({"machines": (1,) * 1_001}, "machines: got 1,001 types, expected at most 1,000; ask for fewer"),
        ({"edge": "soft"}, "edge: got 'soft', expected one of completed, prorated; change the option"),
        ({"affinity": "x"}, "affinity: got 'x', expected one of example, low, high; change the option"),
        ({"p_states": 4}, "p_states: got 4, expected 1 to 3; change the option"),
        ({"machines": ()}, "machines: got none, expected at least one general-purpose type; add one"),
        (
            {"special_task_types": 21},
            "special_task_types: got 21, expected 12 to 20, as 4 special-purpose types can have; change the option",
        ),
        (
            {"tasks": 9_500_000},
            "tasks: got 9,500,000 and 0.0833333 times as many in the warm-up, expected at most 10,000,000 in all",
        ),
    ],
)
def test_options_out_of_range_are_told(options, issue):
    with pytest.raises(InstanceError) as caught:
        EsscOptions(**options)
    assert issue in "\n".join(str(each) for each in caught.value.issues)


def test_no_energy_and_no_warm_up_make_a_day():
    period = make(tasks=50, energy_gigajoules=0.0, warm_up_hours=0.0).period
    assert (period.energy_constraint_joules, period.warm_up_seconds) == (0.0, 0.0)


def test_all_faults_are_told_at_once():
    with pytest.raises(InstanceError) as caught:
        EsscOptions(tasks=0, edge="soft", p_states=0)
    assert [each.path for each in caught.value.issues] == [("tasks",), ("p_states",), ("edge",)]
