from __future__ import annotations

import pytest

from lpsched.errors import InstanceError
from lpsched.generate.clusters import machovec_clusters
from lpsched.generate.day import another_day, essc_day
from lpsched.generate.options import EsscOptions, MachovecOptions
from lpsched.online.files import read_clusters, read_day, write_clusters, write_day
from lpsched.online.parts import DayTaskType
from tests.days import decaying, simple_day


@pytest.fixture(scope="module")
def day():
    return essc_day("x", 5, EsscOptions(tasks=200, p_states=2, affinity="high", hours=6.0, energy_gigajoules=0.2))


def test_trial_0_is_the_day_itself(day):
    assert another_day(day, 0) is day


def test_trials_have_other_tables_and_tasks_and_the_same_machines(day):
    one, two = another_day(day, 1), another_day(day, 2)
    assert len({each.seconds for each in (day, one, two)}) == 3
    assert len({each.watts for each in (day, one, two)}) == 3
    assert len({each.arriving for each in (day, one, two)}) == 3
    assert one.machine_types == two.machine_types == day.machine_types
    assert one.period == day.period
    assert (one.name, two.name) == ("x-trial-1", "x-trial-2")


def test_a_trial_is_the_same_every_time_and_after_a_file(day, tmp_path):
    path = tmp_path / "day.yaml"
    write_day(day, path)
    assert another_day(read_day(path), 3) == another_day(day, 3)


def test_trials_of_other_seeds_differ(day):
    other = essc_day("x", 6, EsscOptions(tasks=200, p_states=2, affinity="high", hours=6.0))
    assert another_day(other, 1).seconds != another_day(day, 1).seconds


def test_trials_of_a_trial_are_other_days_and_come_back_from_files(day, tmp_path):
    third = another_day(day, 3)
    path = tmp_path / "third.yaml"
    write_day(third, path)
    assert read_day(path) == third
    assert another_day(read_day(path), 0) == third
    again = another_day(read_day(path), 3)
    assert again.seconds not in {third.seconds, day.seconds}
    assert again.name == "x-trial-3-3"
    assert again == another_day(third, 3)


def test_a_period_that_was_changed_later_holds_in_all_trials(day):
    tight = day.model_copy(update={"period": day.period.model_copy(update={"energy_constraint_joules": 7.0})})
    assert another_day(tight, 4).period == tight.period
    assert another_day(tight, 4).seconds == another_day(day, 4).seconds


def test_a_day_by_hand_has_no_trials():
    hand = simple_day([[1.0]], [[1.0]], [1], [(0.0, 0, decaying(1.0))])
    with pytest.raises(InstanceError) as caught:
        another_day(hand, 1)
    (issue,) = caught.value.issues
    assert str(issue) == (
        "made_by: got nothing, expected a generator, which makes others like it; run it alone, or generate a day "
        "with `lpsched generate day --tasks N --seed S -o FILE`"
    )
    assert another_day(hand, 0) is hand


@pytest.mark.parametrize(
    ("change", "issue"),
    [
        ({"generator": "dice"}, "made_by.generator: got 'dice', expected 'essc'; run it alone"),
        ({"colour": 3}, "made_by.colour: got a key that this generator does not know, expected none such"),
        ({"tasks": 2.5}, "made_by.tasks: got '2.5', expected a whole number from 0; correct it, or drop made_by"),
        ({"tasks": True}, "made_by.tasks: got 'True', expected a whole number from 0"),
        ({"hours": "long"}, "made_by.hours: got 'long', expected a number"),
        ({"machines": 5}, "made_by.machines: got '5', expected a list of whole numbers from 0"),
        ({"machines": (5, -1)}, "made_by.machines: got '(5, -1)', expected a list of whole numbers from 0"),
        ({"affinity": 1}, "made_by.affinity: got '1', expected a word"),
        ({"hours": -3.0}, "hours: got -3.0, expected 0.01 to 8784"),
        ({"machines": (1, 1)}, "made_by: got machine types or task types that were changed later"),
    ],
)
def test_a_note_that_makes_no_such_day_is_told(day, change, issue):
    with pytest.raises(InstanceError) as caught:
        another_day(day.model_copy(update={"made_by": dict(day.made_by) | change}), 1)
    assert issue in "\n".join(str(each) for each in caught.value.issues)


def test_a_day_whose_task_types_were_renamed_has_no_trials(day):
    renamed = (DayTaskType("first"), *day.task_types[1:])
    with pytest.raises(InstanceError, match="machine types or task types that were changed later"):
        another_day(day.model_copy(update={"task_types": renamed}), 1)


@pytest.fixture(scope="module")
def clusters():
    options = MachovecOptions(
        tasks=100,
        nodes=(6, 4),
        cores_per_node=(8, 16),
        special_nodes=(8,),
        special_cores_per_node=(8,),
        general_task_types=6,
        special_task_types=2,
        core_steps=(4, 8, 16),
        parallelism_share_most=0.5,
        single_core="mean",
        energy_gigajoules=0.1,
    )
    return machovec_clusters("c", 5, options)


def test_trials_of_clusters_have_other_tables_and_tasks_and_the_same_nodes(clusters):
    one, two = another_day(clusters, 1), another_day(clusters, 2)
    assert len({each.seconds for each in (clusters, one, two)}) == 3
    assert len({each.watts for each in (clusters, one, two)}) == 3
    assert len({each.arriving for each in (clusters, one, two)}) == 3
    assert one.clusters == two.clusters == clusters.clusters
    assert (one.name, two.name) == ("c-trial-1", "c-trial-2")
    assert another_day(clusters, 0) is clusters
    assert another_day(clusters, 1) == one
    assert one.made_by == dict(clusters.made_by) | {"trial": (1,)}


def test_a_trial_of_clusters_is_the_same_after_a_file(clusters, tmp_path):
    path = tmp_path / "clusters.yaml"
    write_clusters(clusters, path)
    assert another_day(read_clusters(path), 3) == another_day(clusters, 3)


def test_trials_of_a_trial_of_clusters_are_others_again(clusters):
    again = another_day(another_day(clusters, 3), 3)
    assert again.name == "c-trial-3-3"
    assert again.seconds not in {another_day(clusters, 3).seconds, clusters.seconds}


def test_a_period_of_clusters_that_was_changed_later_holds_in_all_trials(clusters):
    tight = clusters.model_copy(update={"period": clusters.period.model_copy(update={"energy_constraint_joules": 7.0})})
    assert another_day(tight, 4).period == tight.period
    assert another_day(tight, 4).seconds == another_day(clusters, 4).seconds


@pytest.mark.parametrize(
    ("change", "issue"),
    [
        (
            {"generator": "essc"},
            "made_by.generator: got 'essc', expected 'machovec'; run it alone, or generate clusters with `lpsched",
        ),
        ({"colour": 3}, "made_by.colour: got a key that this generator does not know, expected none such"),
        ({"nodes": 5}, "made_by.nodes: got '5', expected a list of whole numbers from 0"),
        ({"single_core": 1}, "made_by.single_core: got '1', expected a word"),
        ({"parallelism_share_most": "all"}, "made_by.parallelism_share_most: got 'all', expected a number"),
        ({"hours": -3.0}, "hours: got -3.0, expected 0.01 to 8784"),
        (
            {"nodes": (7, 4)},
            "made_by: got clusters or task types that were changed later, expected those of the generator",
        ),
    ],
)
def test_a_note_that_makes_no_such_clusters_is_told(clusters, change, issue):
    with pytest.raises(InstanceError) as caught:
        another_day(clusters.model_copy(update={"made_by": dict(clusters.made_by) | change}), 1)
    assert issue in "\n".join(str(each) for each in caught.value.issues)


def test_clusters_by_hand_have_no_trials(clusters):
    with pytest.raises(InstanceError) as caught:
        another_day(clusters.model_copy(update={"made_by": None}), 1)
    assert "generate clusters with `lpsched generate clusters --tasks N" in str(caught.value.issues[0])
