from __future__ import annotations

import csv
import math
from itertools import accumulate
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsched.errors import InvalidScheduleError, OutputError
from lpsched.online.clusters import clusters_from_dict
from lpsched.online.schedule import ClustersSchedule, DaySchedule, PlacedOnNodes, PlacedTask
from lpsched.traces.export import export_schedule
from lpsched.traces.swf import clusters_of_swf, read_swf
from tests.days import decaying, simple_day
from tests.parallel import sound_clusters, waiting_clusters

BATSIM = (
    "job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,"
    "final_state,starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,"
    "allocated_resources,consumed_energy,metadata"
)


@pytest.fixture
def clusters():
    return clusters_from_dict(sound_clusters(), source="sound")


@pytest.fixture
def schedule():
    """The first task on four thin nodes, the second dropped, the others on fat ones in two P-states."""
    return ClustersSchedule(
        (
            PlacedOnNodes(3, "fat", ((2, 2),), 102.5, "P1"),
            PlacedOnNodes(0, "thin", ((6, 6), (7, 7), (1, 2)), 10.0),
            PlacedOnNodes(2, "fat", ((1, 1),), 2.5, "P0"),
        )
    )


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_every_task_has_a_row_with_what_the_verifier_found(clusters, schedule, tmp_path):
    export_schedule(clusters, schedule, tmp_path / "out.csv")
    rows = rows_of(tmp_path / "out.csv")
    assert [row["task"] for row in rows] == ["0", "1", "2", "3"]
    first, dropped, third, last = rows
    assert (first["cluster"], first["nodes"], first["node_count"], first["cores"]) == ("thin", "1-2;6;7", "4", "16")
    # 4 thin nodes: 200 s, at 400 W (from 100 W for one to 800 W for eight)
    assert [first[f"{key}_seconds"] for key in ("arrival", "start", "end", "wait", "run", "requested")] == [
        "0.0", "10.0", "210.0", "10.0", "200.0", "200.0",
    ]  # fmt: skip
    assert first["energy_joules"] == "80000.0"
    assert (dropped["cluster"], dropped["start_seconds"], dropped["utility"], dropped["cores"]) == ("", "", "", "17")
    # half of 300 s, announced as twice that of a whole one: 600 s
    assert (third["run_seconds"], third["requested_seconds"], third["p_state"]) == ("150.0", "600.0", "P0")
    # slow: 1 + 2 exp(-0.01 t) at t = 92.5 s after its arrival
    assert float(last["utility"]) == pytest.approx(1 + 2 * np.exp(-0.925))
    assert (last["run_seconds"], last["energy_joules"]) == ("90.0", "18000.0")


def test_batsims_columns_are_there_in_its_order(clusters, schedule, tmp_path):
    path = tmp_path / "out_jobs.csv"
    export_schedule(clusters, schedule, path)
    assert path.read_text().splitlines()[0] == BATSIM
    first, dropped, _, last = rows_of(path)
    assert (first["allocated_resources"], last["allocated_resources"]) == ("0-1 5-6", "9")  # 8 thin ones before
    assert (first["waiting_time"], first["turnaround_time"], first["stretch"]) == ("10.0", "210.0", "1.05")
    assert (first["success"], first["final_state"]) == ("1", "COMPLETED_SUCCESSFULLY")
    assert (dropped["success"], dropped["final_state"], dropped["starting_time"]) == ("0", "REJECTED", "")
    assert (last["profile"], last["workload_name"], last["consumed_energy"]) == ("mesh", "sound", "18000.0")


@pytest.mark.parametrize("name", ["out.swf", "out.swf.gz"])
def test_a_schedule_becomes_a_log_that_can_be_read(clusters, schedule, tmp_path, name):
    export_schedule(clusters, schedule, tmp_path / name)
    log = read_swf(tmp_path / name)
    assert log["job"].tolist() == [1, 2, 3, 4]
    assert log["status"].tolist() == [1, 5, 1, 1]
    # 2.5 s is the 3rd second: the third task arrives and starts there; the last one waits from 100 to 102.5
    assert log["wait_seconds"].tolist() == [10, -1, 0, 3]
    assert log["run_seconds"].tolist() == [200, -1, 150, 90]
    assert log["processors"].tolist() == [16, -1, 16, 16]  # whole nodes of 4 and of 16 cores
    assert log["requested_processors"].tolist() == [16, 17, 1, 4]
    assert log["partition"].tolist() == [1, -1, 2, 2]
    assert log["executable"].tolist() == [1, 2, 1, 2]
    assert (log.size("MaxNodes"), log.size("MaxProcs"), log.said("Partition")) == (10, 64, "1 thin")


def test_a_log_that_was_simulated_and_exported_has_the_same_tasks(tmp_path):
    waiting = clusters_from_dict(waiting_clusters(), source="waiting")
    starts = [0.0, *accumulate([50.0, 5.0])]
    schedule = ClustersSchedule(
        tuple(
            PlacedOnNodes(task, "all", ((1, nodes),), start)
            for task, (nodes, start) in enumerate(zip([2, 1, 1], starts, strict=True))
        )
    )
    export_schedule(waiting, schedule, tmp_path / "out.swf")
    again, account = clusters_of_swf("waiting", read_swf(tmp_path / "out.swf"))
    assert account.kept == 3
    one, other = waiting.arriving, again.arriving
    assert (one.arrivals, one.cores, one.work, one.requested) == (
        other.arrivals,
        other.cores,
        other.work,
        other.requested,
    )
    assert one.jobs == other.jobs
    export_schedule(waiting, schedule, tmp_path / "out.csv")
    second = rows_of(tmp_path / "out.csv")[1]
    # It waits from 1 to 50 and runs 5 s: (49 + 5) / 10 = 5.4; nobody knows any power.
    assert (second["job"], second["utility"], second["energy_joules"]) == ("3", "-5.4", "")


times = st.floats(0.001, 20.0, allow_nan=False)
ROUND: dict[str, Any] = {"format": "lpsched-clusters/1", "name": "round", "clusters": [{"name": "all", "nodes": 3}]}
ROUND |= {"task_types": [{"name": "t"}], "seconds": {"t": {"all": 1.0}}, "waiting": {"measure": "seconds"}}


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(times, times, st.integers(1, 3)), min_size=1, max_size=8))
def test_a_log_has_whole_seconds_and_no_second_has_more_processors_than_there_are(tmp_path_factory, drawn):
    path = tmp_path_factory.mktemp("whole") / "out.swf"
    tasks, placed, free, arrival = [], [], [0.0] * 3, 0.0
    for n, (gap, work, cores) in enumerate(drawn):
        tasks.append({"arrival_seconds": arrival, "task_type": "t", "cores": cores, "work": work})
        nodes = sorted(range(3), key=free.__getitem__)[:cores]
        start = max(arrival, *(free[node] for node in nodes))
        for node in nodes:
            free[node] = math.nextafter(start + work, math.inf)  # never before the exact end
        placed.append(PlacedOnNodes(n, "all", tuple((node + 1, node + 1) for node in nodes), start))
        arrival += gap
    clusters = clusters_from_dict(ROUND | {"tasks": tasks, "epoch": "2024-01-01T00:00:00Z"}, source="round")
    export_schedule(clusters, ClustersSchedule(tuple(placed)), path)
    rows = [line.split() for line in path.read_text().splitlines() if not line.startswith(";")]
    assert all(word.lstrip("-").isdigit() for row in rows for word in row)
    submit, wait, run, width = ([int(row[column]) for row in rows] for column in (1, 2, 3, 4))
    for n, (task, own) in enumerate(zip(tasks, placed, strict=True)):
        start, end = submit[n] + wait[n], submit[n] + wait[n] + run[n]
        assert abs(submit[n] - task["arrival_seconds"]) <= 0.5
        assert abs(start - own.start_seconds) <= 0.5
        assert abs(end - (own.start_seconds + task["work"])) <= 0.5 + 1e-9
        assert wait[n] >= 0 <= run[n] <= int(rows[n][8])  # no request is below its run
    spans = [(submit[n] + wait[n], submit[n] + wait[n] + run[n], width[n]) for n in range(len(rows))]
    for second in range(max(end for _, end, _ in spans)):
        assert sum(cores for start, end, cores in spans if start <= second < end) <= 3
    again, account = clusters_of_swf("round", read_swf(path))
    assert (account.kept, again.epoch) == (len(tasks), clusters.epoch)
    for one, other, start in zip(
        tasks, again.arriving.arrival_seconds, again.arriving.logged_start_seconds, strict=True
    ):
        assert abs(one["arrival_seconds"] - other) <= 0.5  # the first task arrives at 0
        assert start >= other
    for one, other in zip(tasks, again.arriving.work_factors, strict=True):
        assert abs(one["work"] - other) <= 1  # both ends are rounded


def test_parquet_holds_the_same_rows(clusters, schedule, tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    export_schedule(clusters, schedule, tmp_path / "out.csv")
    export_schedule(clusters, schedule, tmp_path / "out.parquet")
    rows = pq.read_table(tmp_path / "out.parquet").to_pylist()
    for plain, typed in zip(rows_of(tmp_path / "out.csv"), rows, strict=True):
        assert {key: "" if value is None else str(value) for key, value in typed.items()} == plain


def test_a_day_is_exported_with_a_machine_for_each_task(tmp_path):
    worth = decaying(5.0)
    day = simple_day([[10.0, 20.0]], [[7.0, 3.0]], [1, 2], [(0.0, 0, worth), (1.0, 0, worth)])
    schedule = DaySchedule((PlacedTask(0, "m1", 2, 3.0), PlacedTask(1, "m0", 1, 1.0)))
    export_schedule(day, DaySchedule(schedule.placed[:1]), tmp_path / "dropped.swf")
    assert read_swf(tmp_path / "dropped.swf")["status"].tolist() == [1, 5]
    export_schedule(day, schedule, tmp_path / "day_jobs.csv")
    rows = rows_of(tmp_path / "day_jobs.csv")
    assert [row["allocated_resources"] for row in rows] == ["2", "0"]  # m0, then the two of m1
    assert [row["finish_time"] for row in rows] == ["23.0", "11.0"]
    assert [row["consumed_energy"] for row in rows] == ["60.0", "70.0"]
    export_schedule(day, schedule, tmp_path / "day.csv")
    assert [row["utility"] for row in rows_of(tmp_path / "day.csv")] == ["5.0", "5.0"]


def test_what_is_no_schedule_is_not_exported(clusters, tmp_path):
    twice = ClustersSchedule((PlacedOnNodes(0, "thin", ((1, 3),), 0.0),))
    with pytest.raises(InvalidScheduleError, match="not a schedule of sound:\n  task 0 on nodes 1-3"):
        export_schedule(clusters, twice, tmp_path / "out.csv")
    with pytest.raises(OutputError, match="expected the ending"):
        export_schedule(clusters, ClustersSchedule(()), tmp_path / "out.txt")
    assert not list(tmp_path.iterdir())
