from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from lpsched.generate import arrivals
from lpsched.generate.arrivals import THESIS_LEVELS, TIME_SCALES, TWENTY_CLASSES, Bursts, Waves
from lpsched.generate.clusters import machovec_clusters, work_hours
from lpsched.generate.options import MachovecOptions
from lpsched.online.arrays import cluster_arrays
from lpsched.online.parts import Period

HOUR = 3_600.0
DAY = 86_400.0


def make(seed=1, **options):
    return machovec_clusters("x", seed, MachovecOptions(**options))


def columns(made):
    tasks = made.arriving
    return (np.array(tasks.arrival_seconds), np.array(tasks.type_numbers), np.array(tasks.core_counts))


def test_the_same_seed_gives_the_same_clusters_and_another_seed_others():
    assert make(tasks=300) == make(tasks=300)
    assert make(tasks=300) != make(2, tasks=300)


def test_trials_have_random_numbers_of_their_own():
    options = MachovecOptions(tasks=300)
    one, two = (machovec_clusters("x", 1, options, (trial,)) for trial in (1, 2))
    assert one.seconds != two.seconds
    assert one == machovec_clusters("x", 1, options, (1,))
    assert one.made_by is not None
    assert one.made_by["trial"] == (1,)


def test_there_are_100_000_cores_in_six_clusters_and_special_ones_are_larger():
    made = make(tasks=300)
    assert made.cores == 100_000
    assert [cluster.cores for cluster in made.clusters] == [16_800, 14_400, 14_400, 14_400, 20_800, 19_200]
    assert [cluster.name for cluster in made.clusters] == [
        *(f"general-{n}" for n in range(1, 5)),
        "special-1",
        "special-2",
    ]
    assert {cluster.p_states for cluster in made.clusters} == {("P0", "P1", "P2")}
    assert len(made.task_types) == 100


def test_the_period_is_the_last_24_of_28_hours():
    assert make(tasks=300).period == Period(4 * HOUR, DAY)
    assert make(tasks=300, energy_gigajoules=12.0).period == Period(4 * HOUR, DAY, "prorated", 12e9)
    assert make(tasks=300, hours=2.0, warm_up_hours=0.0).period == Period(0.0, 2 * HOUR)


def test_5_000_means_5_000():
    # Poisson: four seeds have a deviation of sqrt(20,000) = 141.
    inside = sum((columns(make(seed))[0] >= 4 * HOUR).sum() for seed in range(4))
    assert inside == pytest.approx(20_000, abs=4 * 141)


def test_a_shorter_period_has_its_share_of_a_days_tasks():
    # From 10:00 to 16:00, 1,200 an hour on average of the day: large types arrive twice as often then, and
    # the others, without waves, once.
    made = make(tasks=28_800, hours=6.0, warm_up_hours=0.0, begins_at_hour=10.0, wave_amplitude=0.0)
    large = len({kind.task_type for kind in made.kinds if kind.cores > 4_096}) / 100
    expected = 7_200 * (1 + large)
    assert made.tasks == pytest.approx(expected, abs=4 * expected**0.5)


def test_every_task_type_has_about_the_same_number_of_tasks():
    # 200 of each, Poisson: five deviations are 71.
    _, types, _ = columns(make(3, tasks=20_000, warm_up_hours=0.0))
    numbers = np.bincount(types, minlength=100)
    assert numbers == pytest.approx([200] * 100, abs=71)
    assert numbers.var(ddof=1) == pytest.approx(200, rel=0.5)


def test_tasks_of_a_type_agree_in_cores_priority_and_urgency():
    made = make(tasks=2_000)
    arrivals, types, cores = columns(made)
    assert len(set(zip(types.tolist(), cores.tolist(), strict=True))) == len(set(types.tolist()))
    told = [made.arriving.declared[number] for number in made.arriving.utility_numbers]
    levels = {(i, each.priority, each.urgency) for i, each in zip(types.tolist(), told, strict=True)}
    assert len(levels) == len(set(types.tolist()))
    assert len(made.levels.priorities) == 100
    assert all(name.endswith(f"-{number:03}") for number, name in enumerate(made.levels.priorities, start=1))
    assert all(1 <= utility <= 8 for utility in made.levels.priorities.values())
    assert (np.diff(arrivals) >= 0).all()


def test_utility_classes_are_drawn_evenly_for_each_task():
    made = make(tasks=10_000)
    classes = Counter(made.arriving.declared[number].utility_class for number in made.arriving.utility_numbers)
    mean = made.tasks / 20
    assert sorted(classes) == sorted(TWENTY_CLASSES)
    assert list(classes.values()) == pytest.approx([mean] * 20, abs=4 * mean**0.5)


def test_the_twenty_classes_are_the_thesiss_four_at_five_speeds():
    assert len(TWENTY_CLASSES) == 20
    assert TIME_SCALES == (0.5, 0.75, 1.0, 1.5, 2.0)
    for name, intervals in THESIS_LEVELS.utility_classes.items():
        assert TWENTY_CLASSES[f"{name}3"] == intervals
    assert [each.after_minutes for each in TWENTY_CLASSES["A1"]] == [0, 2.5, 5, 10, 15, 10_000]
    assert [each.after_minutes for each in TWENTY_CLASSES["D5"]] == [0, 25, 50, 74, 100, 10_000]
    assert [each.share for each in TWENTY_CLASSES["D5"]] == [1, 0.8, 0.66, 0.33, 0.11, 0]
    assert [each.rate for each in TWENTY_CLASSES["D5"]] == [1.2, 1.1, 1.1, 0.9, 0.9, 10]


def test_large_tasks_arrive_in_work_hours():
    # 2 x 9 hours of 24 are three quarters, and 0.4 x 15 hours the last one.
    arrivals, _, cores = columns(make(5, tasks=40_000, warm_up_hours=0.0))
    hours = arrivals[cores > 4_096] / HOUR
    number = len(hours)
    assert number > 4_000
    inside = ((hours >= 9) & (hours < 18)).mean()
    assert inside == pytest.approx(0.75, abs=4 * (0.75 * 0.25 / number) ** 0.5)
    by_hour = np.histogram(hours, bins=np.arange(25))[0]
    mean = number / 24
    expected = np.array([0.4] * 9 + [2.0] * 9 + [0.4] * 6) * mean
    assert (abs(by_hour - expected) <= 4.5 * expected**0.5).all()


def test_work_hours_follow_the_time_of_day_when_the_period_begins():
    # A period from 6:00 has them from its third hour to its twelfth; the warm-up from 2:00 has none.
    arrivals, _, cores = columns(make(5, tasks=40_000, begins_at_hour=6.0))
    hours = arrivals[cores > 4_096] / HOUR - 4
    rates = np.histogram(hours, bins=[-4, 3, 12, 24])[0] / np.array([7, 9, 12])
    assert rates[1] / rates[0] == pytest.approx(5, rel=0.15)
    assert rates[1] / rates[2] == pytest.approx(5, rel=0.15)
    assert work_hours(6.0).at(np.array([2.99, 3.0, 11.99, 12.0]) * HOUR).tolist() == [0.4, 2.0, 2.0, 0.4]


def test_work_hours_keep_the_mean_rate():
    assert work_hours(0.0).at(np.arange(0, DAY, 900.0)).mean() == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize("amplitude", [None, 0.5])
def test_tasks_of_up_to_4_096_cores_arrive_in_waves_and_larger_ones_in_work_hours(monkeypatch, amplitude):
    seen = []

    def one_at_once(_rng, rates, **_):
        seen.append(rates)
        return np.zeros(1)

    monkeypatch.setattr(arrivals, "draw_arrivals", one_at_once)
    _, _, cores = columns(make(tasks=100, wave_amplitude=amplitude))
    assert [type(each) for each in seen] == [Bursts if n > 4_096 else Waves for n in cores.tolist()]
    waves = [each for each in seen if isinstance(each, Waves)]
    assert {each.day_seconds for each in seen} == {DAY}
    if amplitude is None:
        assert all(0.25 <= each.amplitude <= 0.9 for each in waves)
        assert len({each.amplitude for each in waves}) == len(waves)
    else:
        assert {each.amplitude for each in waves} == {0.5}


def test_tasks_with_exactly_the_last_step_of_cores_arrive_in_waves(monkeypatch):
    seen = []

    def one_at_once(_rng, rates, **_):
        seen.append(type(rates))
        return np.zeros(1)

    monkeypatch.setattr(arrivals, "draw_arrivals", one_at_once)
    # A cluster of 8 cores: rows 2 to 4, 5 to 6, 7, and 8 for all that is larger; steps 4, 6 and 7.
    small = {"nodes": (8,), "cores_per_node": (1,), "special_nodes": (), "special_cores_per_node": ()}
    _, _, cores = columns(make(tasks=100, core_steps=(4, 6, 7), **small))
    assert {7, 8} <= set(cores.tolist())
    assert seen == [Bursts if n == 8 else Waves for n in cores.tolist()]


def test_tasks_run_in_their_own_clusters_if_these_are_large_enough():
    made = make(2, tasks=3_000)
    arrays = cluster_arrays(made)
    runs = arrays.can_run.reshape(-1, 6, 3)
    assert (runs.any(axis=2) == runs.all(axis=2)).all()
    for kind in range(len(made.kinds)):
        i, cores = arrays.task_type[kind], arrays.cores[kind]
        own = range(4) if i < 60 else [4 if i < 80 else 5]
        enough = [c for c in own if cores <= made.clusters[c].cores]
        assert enough
        assert np.flatnonzero(runs[kind, :, 0]).tolist() == enough
    assert (arrays.requested_seconds == arrays.seconds).all()
    # On one of its general-purpose clusters a task takes ceil(cores / cores per node) nodes.
    taken = -(-arrays.cores[:, np.newaxis] // arrays.cores_per_node[arrays.column_cluster])
    assert (arrays.nodes == np.where(arrays.can_run, taken, 0)).all()


def test_arrivals_have_hundredths_and_stop_before_the_end():
    arrivals, _, _ = columns(make(tasks=200_000, hours=0.5, warm_up_hours=0.25))
    assert (np.round(arrivals, 2) == arrivals).all()
    assert 0 <= arrivals[0] < 30
    assert 2_670 < arrivals[-1] < 2_700


def test_one_task_makes_clusters():
    small = {"nodes": (1,), "cores_per_node": (1,), "special_nodes": (), "special_cores_per_node": ()}
    sizes = [make(seed, tasks=1, general_task_types=1, **small).tasks for seed in range(60)]
    assert min(sizes) == 1


def test_special_clusters_alone_make_clusters():
    made = make(tasks=200, nodes=(), cores_per_node=(), general_task_types=0)
    assert [cluster.name for cluster in made.clusters] == ["special-1", "special-2"]
    assert len(made.task_types) == 40


def test_a_cluster_whose_tasks_nobody_sends_stays_idle():
    made = make(tasks=200, special_task_types=0)
    assert not cluster_arrays(made).can_run[:, 12:].any()


def test_the_file_says_what_made_it():
    made_by = make(7, tasks=100, energy_gigajoules=1.0, parallelism_share_most=0.5).made_by
    assert made_by is not None
    assert (made_by["generator"], made_by["seed"], made_by["tasks"]) == ("machovec", 7, 100)
    assert (made_by["energy_gigajoules"], made_by["parallelism_share_most"]) == (1.0, 0.5)
    assert made_by["nodes"] == (350, 225, 300, 300)
    assert "wave_amplitude" not in made_by
    assert "trial" not in made_by
