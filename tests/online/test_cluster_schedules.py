"""Schedules of clusters in files: written and read again, refused in words."""

from __future__ import annotations

import csv
import json
import re

import jsonschema
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lpsched.errors import InstanceError, OutputError
from lpsched.online.files import (
    ClustersScheduleFile,
    read_clusters_schedule,
    write_arriving_schedule,
    write_clusters_schedule,
)
from lpsched.online.schedule import ClustersSchedule, PlacedOnNodes
from tests.days import decaying
from tests.parallel import Task, simple_clusters

CLUSTERS = simple_clusters([[10.0, 5.0, 8.0]], [9, 3], [Task(0.0, 2, decaying(1.0))] * 4, p_states=[None, ("P0", "P1")])
PLACED = (
    PlacedOnNodes(0, "c1", ((1, 2),), 0.1 + 0.2, "P1"),
    PlacedOnNodes(1, "c0", ((1, 1), (3, 5), (9, 9)), 2.5),
    PlacedOnNodes(3, "c0", ((7, 7),), 0.125),
)
HEADER = "task,cluster,p_state,start_seconds,nodes\n"  # columns come in any order


def read(tmp_path, text):
    (tmp_path / "s.csv").write_text(text)
    return read_clusters_schedule(CLUSTERS, tmp_path / "s.csv").placed


@pytest.mark.parametrize("name", ["s.csv", "s.parquet", "S.CSV"])
@pytest.mark.parametrize("placed", [PLACED, PLACED[::-1], ()], ids=["sorted", "reversed", "nothing"])
def test_a_schedule_that_is_written_is_read_again_by_task(tmp_path, name, placed):
    write_clusters_schedule(ClustersSchedule(placed), tmp_path / name)
    assert read_clusters_schedule(CLUSTERS, tmp_path / name) == ClustersSchedule(PLACED if placed else ())


def test_a_written_file_says_nodes_as_ranges(tmp_path):
    write_clusters_schedule(ClustersSchedule(PLACED), tmp_path / "s.csv")
    assert (tmp_path / "s.csv").read_text() == (
        "task,cluster,nodes,p_state,start_seconds\n0,c1,1-2,P1,0.30000000000000004\n1,c0,1;3-5;9,,2.5\n3,c0,7,,0.125\n"
    )


@pytest.mark.parametrize("text", ["1;3-5;9", "9;3-5;1", '"1,3-5,9"', " 1 ; 3 - 5;9 "])
def test_ranges_come_in_any_order_and_with_commas(tmp_path, text):
    assert read(tmp_path, f"nodes,start_seconds,cluster,task\n{text},2.5,c0,1\n") == (PLACED[1],)


def test_a_column_of_numbers_names_one_node_each(tmp_path):
    columns = {"task": pa.array([3], pa.int8()), "cluster": ["c0"], "start_seconds": [0.125]}
    for number in (pa.array([7], pa.int16()), pa.array([7.0], pa.float64())):
        pq.write_table(pa.table(columns | {"nodes": number}), tmp_path / "s.parquet")
        assert read_clusters_schedule(CLUSTERS, tmp_path / "s.parquet").placed == (PLACED[2],)


NODES = "expected nodes as in 1-4;9; correct it"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEADER + f"0,c0,,0,{'9' * 5000}\n", NODES),
    ],
)  # fmt: skip
def test_what_is_no_schedule_is_refused_with_its_place(tmp_path, text, message):
    with pytest.raises(InstanceError, match=re.escape(message)):
        read(tmp_path, text)


@pytest.mark.parametrize("value", [True, 1.5, float("nan"), float("inf"), None])
def test_a_parquet_with_odd_nodes_is_refused(tmp_path, value):
    columns = {"task": [0], "cluster": ["c0"], "start_seconds": [0.0], "nodes": [value]}
    pq.write_table(pa.table(columns), tmp_path / "s.parquet")
    with pytest.raises(InstanceError, match=re.escape(NODES)):
        read_clusters_schedule(CLUSTERS, tmp_path / "s.parquet")


def test_every_task_may_have_a_row(tmp_path):
    assert [each.task for each in read(tmp_path, HEADER + "".join(f"{n},c0,,0,1\n" for n in range(4)))] == [0, 1, 2, 3]


def test_all_faults_come_at_once(tmp_path):
    with pytest.raises(InstanceError) as caught:
        read(tmp_path, HEADER + "x,c0,,y,1\n0,c0,,0,z\n")
    assert [each.location for each in caught.value.issues] == [
        "line 2, rows[0].task", "line 2, rows[0].start_seconds", "line 3, rows[1].nodes"
    ]  # fmt: skip


def test_a_task_on_a_hundred_thousand_scattered_nodes_is_written_and_read(tmp_path):
    before = csv.field_size_limit()
    many = PlacedOnNodes(0, "c0", tuple((node, node) for node in range(1, 200_000, 2)), 0.0)
    write_clusters_schedule(ClustersSchedule((many,)), tmp_path / "s.csv")
    assert (tmp_path / "s.csv").stat().st_size > before
    assert read_clusters_schedule(CLUSTERS, tmp_path / "s.csv").placed == (many,)
    assert csv.field_size_limit() == before


def test_other_endings_are_not_written(tmp_path):
    with pytest.raises(OutputError, match=re.escape("expected the ending .csv or .parquet; choose one")):
        write_clusters_schedule(ClustersSchedule(PLACED), tmp_path / "s.json")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["s.csv", "s.parquet", "s.json"])
def test_a_schedule_with_task_types_and_ends_is_read_again(tmp_path, name):
    write_arriving_schedule(ClustersSchedule(PLACED[::-1]), CLUSTERS, tmp_path / name, "1.2")
    assert read_clusters_schedule(CLUSTERS, tmp_path / name) == ClustersSchedule(PLACED)


def test_a_file_says_when_tasks_end_and_which_type_they_are(tmp_path):
    write_arriving_schedule(ClustersSchedule(PLACED), CLUSTERS, tmp_path / "s.csv")
    lines = (tmp_path / "s.csv").read_text().splitlines()
    assert lines[0] == "task,task_type,cluster,nodes,p_state,start_seconds,end_seconds"
    assert lines[1:] == [
        "0,t0,c1,1-2,P1,0.30000000000000004,8.3",
        "1,t0,c0,1;3-5;9,,2.5,12.5",
        "3,t0,c0,7,,0.125,10.125",
    ]


def test_the_work_of_a_task_counts_in_its_end(tmp_path):
    clusters = simple_clusters([[10.0]], [3], [Task(0.0, 1, decaying(1.0), work=0.25)])
    write_arriving_schedule(ClustersSchedule((PlacedOnNodes(0, "c0", ((1, 1),), 1.0),)), clusters, tmp_path / "s.csv")
    assert (tmp_path / "s.csv").read_text().splitlines()[1].endswith(",1.0,3.5")  # 1 + 0.25 x 10


def test_a_document_names_its_instance_and_satisfies_its_schema(tmp_path):
    write_arriving_schedule(ClustersSchedule(PLACED), CLUSTERS, tmp_path / "s.json", "1.2")
    raw = json.loads((tmp_path / "s.json").read_text())
    assert {key: each for key, each in raw.items() if key != "rows"} == {
        "format": "lpsched-clusters-schedule/1",
        "lpsched": "1.2",
        "instance": {"name": "simple", "hash": CLUSTERS.content_hash},
    }
    validator = jsonschema.Draft202012Validator(ClustersScheduleFile.model_json_schema())
    validator.validate(raw)
    for wrong in ({"nodes": "a"}, {"nodes": None}, {"end_seconds": "1"}, {"end": 1}):
        with pytest.raises(jsonschema.ValidationError):
            validator.validate(raw | {"rows": [raw["rows"][0] | wrong]})


@pytest.mark.parametrize(
    ("change", "place"), [({"task_type": "t1"}, "task_type"), ({"end_seconds": 8.4}, "end_seconds")]
)
def test_what_the_clusters_contradict_is_refused_with_row_and_column(tmp_path, change, place):
    write_arriving_schedule(ClustersSchedule(PLACED), CLUSTERS, tmp_path / "s.json")
    raw = json.loads((tmp_path / "s.json").read_text())
    raw["rows"] = [raw["rows"][1], raw["rows"][0] | change]
    (tmp_path / "s.json").write_text(json.dumps(raw))
    with pytest.raises(InstanceError) as caught:
        read_clusters_schedule(CLUSTERS, tmp_path / "s.json")
    assert [each.location for each in caught.value.issues] == [f"rows[1].{place}"]
