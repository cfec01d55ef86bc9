from __future__ import annotations

import numpy as np
import pytest

from lpsched.bag.arrays import arrays_of, heterogeneity
from lpsched.errors import InstanceError
from lpsched.generate.bags import cov_bag
from lpsched.generate.options import CovOptions


def make(seed=1, **options):
    return cov_bag("x", np.random.default_rng(seed), CovOptions(**options))


def test_the_same_seed_gives_the_same_bag_and_another_seed_another():
    assert make(1, p_states=3, special_machines=(2, 3)) == make(1, p_states=3, special_machines=(2, 3))
    assert make(1).content_hash != make(2).content_hash


def test_means_and_variations_are_those_asked_for():
    # 2,000 task types on 40 machine types: the errors of the estimates are well below 5 %.
    options = {
        "mean_seconds": 50.0,
        "task_cov": 0.6,
        "machine_cov": 0.3,
        "power_task_cov": 0.2,
        "power_machine_cov": 0.4,
    }
    bag = make(3, task_types=2000, tasks=5000, machines=(1,) * 40, idle_watts=0.0, dynamic_watts=100.0, **options)
    arrays = arrays_of(bag)
    assert arrays.seconds.mean() == pytest.approx(50.0, rel=0.05)
    rows = arrays.seconds.mean(axis=1)
    assert rows.std() / rows.mean() == pytest.approx(0.6, rel=0.05)
    assert (arrays.seconds.std(axis=1) / rows).mean() == pytest.approx(0.3, rel=0.05)
    assert arrays.watts is not None
    assert arrays.watts.mean() == pytest.approx(100.0, rel=0.05)
    assert (arrays.watts.std(axis=1) / arrays.watts.mean(axis=1)).mean() == pytest.approx(0.4, rel=0.05)


def test_special_machines_run_their_own_tasks_ten_times_faster_and_no_others():
    bag = make(4, special_machines=(2, 2, 3, 3), machine_cov=0.1)
    arrays = arrays_of(bag)
    special, general = arrays.can_run[:, :4], arrays.seconds[:, 4:].mean(axis=1, keepdims=True)
    assert all(3 <= count <= 5 for count in special.sum(axis=0))
    assert special.sum(axis=1).max() == 1  # no task type is special on two
    assert arrays.can_run[:, 4:].all()
    speedups = (general / np.where(special, arrays.seconds[:, :4], np.inf))[special]
    assert speedups.mean() == pytest.approx(10.0, rel=0.1)
    assert [machine.count for machine in bag.machine_types][:4] == [2, 2, 3, 3]


def test_the_first_p_state_is_the_fastest_and_draws_the_most():
    bag = make(5, p_states=3)
    assert bag.machine_types[0].p_states == ("P0", "P1", "P2")
    arrays = arrays_of(bag)
    assert arrays.watts is not None
    shape = (100, 9, 3)
    seconds, watts = arrays.seconds.reshape(shape), arrays.watts.reshape(shape)
    assert (seconds[:, :, 1:] >= seconds[:, :, :1]).all()
    assert (watts[:, :, 1:] < watts[:, :, :1]).all()
    slowdown = (seconds[:, :, 2] / seconds[:, :, 0]).mean()
    assert slowdown == pytest.approx(2**0.5, rel=0.02)  # 1 / sqrt(0.5)


def test_the_affinity_of_the_thesis_environment_is_met():
    # Friese 2015, table 3.2: 0.082 to 0.091 over 48 trials of 100 task types on nine general-purpose machine types.
    found = [heterogeneity(make(seed, special_machines=(2, 2, 3, 3))).task_machine_affinity for seed in range(10)]
    assert all(value is not None and 0.080 <= value <= 0.093 for value in found)


def test_every_type_has_a_task_and_the_total_is_exact():
    bag = make(6, task_types=50, tasks=60)
    assert bag.tasks == 60
    assert min(task.count for task in bag.task_types) >= 1
    assert make(6, tasks=10**15).tasks == 10**15


def test_numbers_have_six_digits():
    assert all(cell == float(f"{cell:.6g}") for row in make(7).seconds for cell in row if cell is not None)


def test_no_variation_gives_equal_numbers():
    bag = make(8, task_cov=0.0, machine_cov=0.0, mean_seconds=5.0)
    assert set(bag.seconds.cells) == {5.0}


@pytest.mark.parametrize(
    ("options", "issue"),
    [
        ({"task_types": 0}, "task_types: got 0, expected 1 to 1e+06; change the option"),
        ({"machines": ()}, "machines: got none, expected at least one general-purpose type; add one"),
        ({"machines": (3, 0)}, "machines: got 0, expected 1 to 1e+15; change the option"),
        ({"tasks": 99}, "tasks: got 99, expected at least one of each type; ask for more"),
        ({"task_cov": -0.1}, "task_cov: got -0.1, expected 0 to 2; change the option"),
        ({"task_cov": float("nan")}, "task_cov: got nan, expected 0 to 2; change the option"),
        ({"p_states": 4}, "p_states: got 4, expected 1 to 3; change the option"),
        ({"special_least": 6}, "special_least: got 6, expected at most special_most; lower it"),
        ({"special_machines": (1,) * 21}, "task_types: got 100, expected 105, so that all special-purpose types have tasks of their own; ask for more"),
        ({"task_types": 10**6, "tasks": 10**6, "machines": (1,) * 90}, "task_types: got 90,000,000 pairs, expected at most 20,000,000; ask for fewer"),
        ({"idle_watts": 1e-40}, "idle_watts: got 1e-40, expected 0, or 1e-06 to 1e+12; change the option"),
    ],
)  # fmt: skip
def test_options_out_of_range_are_told(options, issue):
    with pytest.raises(InstanceError) as caught:
        CovOptions(**options)
    assert issue in [str(each) for each in caught.value.issues]


def test_the_widest_spread_still_makes_a_sound_bag():
    make(9, task_cov=2.0, machine_cov=2.0, power_task_cov=2.0, power_machine_cov=2.0, task_types=3000)


def test_a_bag_without_a_name_is_not_made():
    with pytest.raises(InstanceError, match="got an empty name"):
        cov_bag("", np.random.default_rng(0))


def test_the_defaults_are_the_thesis_machines():
    assert cov_bag("x", np.random.default_rng(0)).machines == 90


@pytest.mark.parametrize("number", [30, 31, 40, 49, 50])
def test_special_task_types_in_all_are_as_many_as_asked_for(number):
    # Ten machine types with three to five each: all of them three, all five, and something in between.
    found = [
        arrays_of(make(seed, special_machines=(1,) * 10, special_task_types=number)).can_run[:, :10].sum(axis=0)
        for seed in range(5)
    ]
    assert {int(each.sum()) for each in found} == {number}
    assert all(3 <= count <= 5 for each in found for count in each)


def test_a_range_that_is_none_is_told_once():
    with pytest.raises(InstanceError) as caught:
        CovOptions(special_machines=(1,), special_least=6, special_task_types=5)
    assert [each.path for each in caught.value.issues] == [("special_least",)]
