from __future__ import annotations

from lpsched.online.parts import Period
from lpsched.online.schedule import ClustersSchedule, DaySchedule, PlacedOnNodes, PlacedTask
from lpsched.online.verify.clusters import ClustersAccount
from lpsched.online.verify.day import DayAccount
from tests.days import decaying, simple_day
from tests.parallel import Task, simple_clusters


def test_each_task_has_its_times_all_its_energy_and_what_counts_of_its_utility():
    worth = decaying(8.0)
    clusters = simple_clusters(
        [[10.0]],
        [4],
        [Task(0.0, 2, worth), Task(0.0, 1, worth), Task(0.0, 1, worth)],
        watts=[[{1: 30.0, 4: 120.0}]],
        period=Period(warm_up_seconds=10.0, length_seconds=15.0),
    )
    schedule = ClustersSchedule(
        (
            PlacedOnNodes(1, "c0", ((3, 3),), 20.0),
            PlacedOnNodes(0, "c0", ((1, 2),), 0.0),
            PlacedOnNodes(2, "c0", ((4, 4),), 12.0),
        )
    )
    tasks = ClustersAccount(clusters, schedule).tasks()
    assert set(tasks) == {0, 1, 2}
    assert tasks[0] == (0.0, 10.0, 600.0, 0.0)  # two nodes at 30 W; it ends when the period begins
    assert tasks[1] == (20.0, 30.0, 300.0, 4.0)  # half of it is within
    assert tasks[2] == (12.0, 22.0, 300.0, 8.0)


def test_a_dropped_task_of_a_day_has_no_account():
    worth = decaying(5.0)
    day = simple_day([[10.0]], [[7.0]], [1], [(0.0, 0, worth), (1.0, 0, worth)])
    account = DayAccount(day, DaySchedule((PlacedTask(1, "m0", 1, 3.0),)))
    assert account.tasks() == {1: (3.0, 13.0, 70.0, 5.0)}
