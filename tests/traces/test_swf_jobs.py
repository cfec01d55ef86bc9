from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lpsched.errors import InstanceError
from lpsched.online.utility import WaitingCost
from lpsched.traces.jobs import classes
from lpsched.traces.swf import SwfChoice, SystemSize, bag_of_swf, clusters_of_swf, name_of, read_swf, swf_jobs

SMALL = Path(__file__).parent.parent / "data" / "small.swf"
HEADLESS = "1 0 5 100 4 -1 -1 4 200 -1 1 1 1 7 0 1 -1 -1\n"


@pytest.fixture
def trace():
    return read_swf(SMALL)


def tasks_of(clusters):
    tasks = clusters.arriving
    columns = (tasks.arrival_seconds, tasks.core_counts, tasks.work_factors, tasks.requested_factors)
    return list(zip(tasks.job_numbers, *columns, strict=True))


def test_jobs_that_ran_are_kept_by_submit_time_and_the_others_are_counted(trace):
    clusters, account = clusters_of_swf("small", trace)
    assert tasks_of(clusters) == [
        (1, 0, 4, 100, 200),
        (2, 10, 2, 50, 50),  # it asked for 40 s: raised
        (5, 15, 8, 30, 60),  # got nobody knows how many processors, asked for 8; it failed, but ran
        (4, 20, 1, 0.5, 0.5),  # ran 0 s, that is less than half a second; no request
        (8, 50, 3, 12.5, 60),
    ]
    assert (account.read, account.kept) == (8, 5)
    assert account.left_out == {
        "a part of a job that has a line of its own": 1,  # job 6
        "cancelled before it ran": 1,  # job 3
        "no processors": 1,  # job 7
    }
    assert account.notes == {
        "jobs submitted before one that stands above them: sorted": 1,
        "jobs of 0 seconds: half a second stands for it": 1,
        "jobs that ran longer than requested: the request is raised": 1,
        "jobs without a requested time: the run time stands for it": 1,
    }


def test_starts_of_the_log_and_the_date_of_second_0_are_kept(trace, tmp_path):
    clusters, account = clusters_of_swf("small", trace)
    assert list(clusters.arriving.logged_start_seconds) == [
        5,
        10,
        16,
        21,
        52,
    ]  # submit and wait, in order of submission
    assert clusters.epoch == "1993-10-01T07:00:03Z"  # 749,458,803 s after 1970, and job 1 is submitted at 0
    # From 21 to 21.5 s jobs 1, 2, 5 and 4 have 4 + 2 + 8 + 1 processors.
    had = "Hand made has 8 nodes, and jobs of the log had up to 15 at one time"
    assert account.warnings == [f"{had}: the log's own schedule does not fit"]
    later, _ = clusters_of_swf("small", trace, choice=SwfChoice(begin_seconds=12))
    assert (later.epoch, list(later.arriving.logged_start_seconds)) == ("1993-10-01T07:00:18Z", [1, 6, 37])
    requested, account = clusters_of_swf("small", trace, choice=SwfChoice(times="requested"))
    assert requested.arriving.logged_starts is None
    assert "the log's own starts are not kept: jobs run as long as requested" in account.facts
    (tmp_path / "a.swf").write_text("; MaxProcs: 8\n" + HEADLESS.replace("1 0 5", "1 7 -1"))
    bare, account = clusters_of_swf("a", read_swf(tmp_path / "a.swf"))
    assert (bare.epoch, bare.arriving.logged_starts) == (None, None)
    assert account.facts == [
        "second 0 is second 7 of the log, the first submission",
        "the log's own starts are not kept: 1 of 1 jobs have none",
    ]


def test_totals_are_those_of_the_log(trace):
    _, account = clusters_of_swf("small", trace)
    # 4 x 100 + 2 x 50 + 8 x 30 + 1 x 0 + 3 x 12.5
    assert account.totals.width_seconds == 777.5
    assert (account.totals.widest, account.totals.submit_span_seconds) == (8, 50.0)
    assert account.totals.joules is None


def test_the_system_is_as_large_as_the_header_or_the_user_says(trace, tmp_path):
    clusters, _ = clusters_of_swf("small", trace)
    (cluster,) = clusters.clusters
    assert (cluster.name, cluster.nodes, cluster.cores_per_node) == ("Hand made", 8, 1)
    assert clusters.seconds.cells == ((((1, 1.0), (8, 1.0)),),)
    assert clusters.watts is None
    pairs, _ = clusters_of_swf("small", trace, machines=SystemSize(cores_per_node=2, watts_per_node=150.0))
    assert pairs.clusters[0].nodes == 4  # 8 processors, two a node
    assert pairs.watts.cells == ((((1, 150.0), (4, 600.0)),),)
    small, account = clusters_of_swf("small", trace, machines=SystemSize(nodes=7))
    assert small.nodes == 7
    assert account.left_out["wider than the system it ran on"] == 1
    headless = tmp_path / "a.swf"
    headless.write_text(HEADLESS)
    with pytest.raises(InstanceError, match=r"a header without MaxProcs and MaxNodes.*--nodes"):
        clusters_of_swf("a", read_swf(headless))
    headless.write_text(f"; MaxNodes: 16\n{HEADLESS}")
    assert clusters_of_swf("a", read_swf(headless))[0].nodes == 16


def test_partitions_that_are_named_become_clusters_and_jobs_stay_on_theirs(trace):
    choice = SwfChoice(partitions={2: 3, 1: 8})
    clusters, account = clusters_of_swf("small", trace, choice=choice)
    assert [(each.name, each.nodes) for each in clusters.clusters] == [("partition 1", 8), ("partition 2", 3)]
    assert [each.name for each in clusters.task_types] == ["partition 1", "partition 2"]
    assert clusters.seconds.cells == ((((1, 1.0), (8, 1.0)), None), (None, ((1, 1.0), (3, 1.0))))
    assert account.kept == 5
    only, account = clusters_of_swf("small", trace, choice=SwfChoice(partitions={2: 8}))
    assert only.tasks == 2
    assert account.left_out["on a partition that was not named"] == 3
    by_user, _ = clusters_of_swf("small", trace, choice=SwfChoice(partitions={1: 8, 2: 3}, group_by=("user",)))
    assert "user 1, partition 1" in [each.name for each in by_user.task_types]


def test_jobs_run_as_long_as_requested_if_so_asked(trace):
    clusters, account = clusters_of_swf("small", trace, choice=SwfChoice(times="requested"))
    assert [task[3:] for task in tasks_of(clusters)] == [(200, 200), (40, 40), (60, 60), (60, 60)]
    assert account.left_out["no requested time"] == 1


def test_a_job_that_was_cancelled_while_it_ran_took_its_nodes(tmp_path):
    path = tmp_path / "a.swf"
    path.write_text("; MaxProcs: 8\n3 10 0 25 4 -1 -1 4 60 -1 5 2 1 8 1 1 -1 -1\n")
    clusters, account = clusters_of_swf("a", read_swf(path))
    assert (list(clusters.arriving.work_factors), account.left_out) == ([25], {})


def test_failed_jobs_and_those_outside_the_chosen_time_are_left_out_on_request(trace):
    choice = SwfChoice(keep_failed=False, begin_seconds=10, end_seconds=50)
    clusters, account = clusters_of_swf("small", trace, choice=choice)
    assert [task[:2] for task in tasks_of(clusters)] == [(2, 0), (4, 10)]  # counted from the first one kept
    assert account.left_out["failed or cancelled"] == 1  # job 5
    assert account.left_out["submitted outside the chosen time"] == 2  # jobs 1 and 8


def test_task_types_are_made_of_columns_and_classes(trace):
    clusters, _ = clusters_of_swf("small", trace, choice=SwfChoice(group_by=("user", "size")))
    assert [each.name for each in clusters.task_types] == [
        "user 1, size 4",
        "user 2, size 2",
        "user 3, size 8",
        "user 1, size 1",
        "user unknown, size 4",  # 3 processors: more than 2, up to 4
    ]
    assert list(clusters.arriving.type_numbers) == [0, 1, 2, 3, 4]
    with pytest.raises(InstanceError, match=r"grouping by 'usr'.*did you mean 'user'"):
        swf_jobs(trace, SwfChoice(group_by=("usr",)), "small")


def test_a_class_is_named_by_its_upper_end():
    assert classes(np.array([0, 1, 1.5, 2, 3, 4, 5, 1000, 1024, 1025])).tolist() == [
        1, 1, 2, 2, 4, 4, 8, 1024, 1024, 2048,
    ]  # fmt: skip
    assert classes(np.array([2**52, 2**52 + 1, 2**53])).tolist() == [2**52, 2**53, 2**53]


def test_a_log_without_a_usable_job_says_why(tmp_path):
    path = tmp_path / "a.swf"
    path.write_text("; MaxProcs: 8\n3 10 -1 -1 -1 -1 -1 4 60 -1 5 2 1 8 1 1 -1 -1\n")
    with pytest.raises(InstanceError, match=r"no job that can be used, of 1 .1 left out: cancelled before it ran"):
        clusters_of_swf("a", read_swf(path))
    path.write_text("; MaxProcs: 8\n")
    with pytest.raises(InstanceError, match="no job that can be used, of 0, expected"):
        clusters_of_swf("a", read_swf(path))


def test_more_task_types_than_anybody_can_use_are_refused(trace, monkeypatch):
    monkeypatch.setattr("lpsched.traces.jobs.MOST_GROUPS", 3)
    by_user = SwfChoice(group_by=("user",))
    for make in (clusters_of_swf, bag_of_swf):
        with pytest.raises(InstanceError, match=r"4 task types, expected at most 3; group by fewer columns"):
            make("small", trace, choice=by_user)


def test_waiting_costs_what_was_chosen(trace):
    assert clusters_of_swf("small", trace)[0].waiting == WaitingCost("bounded-slowdown", "task")
    seconds = WaitingCost("seconds", "cores")
    assert clusters_of_swf("small", trace, waiting=seconds)[0].waiting == seconds


def test_a_bag_has_a_task_on_each_processor_of_a_job_and_keeps_processor_seconds(trace):
    logged, account = bag_of_swf("small", trace, choice=SwfChoice(group_by=("size", "time"), keep_failed=False))
    bag = logged.bag
    assert [(task.name, task.count) for task in bag.task_types] == [
        ("size 4, time 128", 4),
        ("size 2, time 64", 2),
        ("size 1, time 1", 1),
        ("size 4, time 16", 3),
    ]
    assert bag.seconds.cells.tolist() == [100.0, 50.0, 0.5, 12.5]
    assert [(machine.name, machine.count) for machine in bag.machine_types] == [("Hand made", 8)]
    assert bag.watts is None
    assert account.totals.width_seconds == 537.5  # without the 8 x 30 of the job that failed
    halves, _ = bag_of_swf("small", trace, machines=SystemSize(cores_per_node=2, watts_per_node=90.0))
    assert [task.count for task in halves.bag.task_types] == [2 + 1 + 4 + 1 + 2]  # nodes of 2 processors
    assert halves.bag.watts.cells.tolist() == [90.0]


@pytest.mark.parametrize(
    ("file", "name"),
    [("NASA.swf.gz", "NASA"), ("log.swf", "log"), ("sacct.txt", "sacct"), (".swf", ".swf"), ("a.b", "a.b")],
)
def test_an_instance_is_called_like_its_file(file, name):
    assert name_of(Path("folder") / file) == name
