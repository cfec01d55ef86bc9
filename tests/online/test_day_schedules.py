"""Schedules of a day in files: written and read again, refused in words."""

from __future__ import annotations

import json
import re

import jsonschema
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lpsched.errors import InstanceError, OutputError
from lpsched.online.day import day_from_dict
from lpsched.online.files import DayScheduleFile, read_day_schedule, write_arriving_schedule, write_day_schedule
from lpsched.online.schedule import DaySchedule, PlacedTask
from lpsched.online.verify.day import examine
from tests.days import SOUND

DAY = day_from_dict(SOUND)
PLACED = (PlacedTask(0, "gpu", 1, 0.1 + 0.2, "P1"), PlacedTask(1, "cpu", 2, 2.5), PlacedTask(3, "cpu", 1, 1e9))
HEADER = "task,machine_type,machine,p_state,start_seconds\n"


@pytest.mark.parametrize("name", ["s.csv", "s.parquet", "S.CSV"])
@pytest.mark.parametrize("placed", [PLACED, PLACED[::-1], ()], ids=["sorted", "reversed", "nothing"])
def test_a_schedule_that_is_written_is_read_again_by_task(tmp_path, name, placed):
    write_day_schedule(DaySchedule(placed), tmp_path / name)
    assert read_day_schedule(DAY, tmp_path / name) == DaySchedule(PLACED if placed else ())


def test_columns_come_in_any_order_and_p_states_are_optional(tmp_path):
    (tmp_path / "s.csv").write_text("start_seconds,machine,task,machine_type\n2.5,2,1,cpu\n")
    assert read_day_schedule(DAY, tmp_path / "s.csv") == DaySchedule((PLACED[1],))


def test_numbers_of_a_parquet_may_be_of_other_types(tmp_path):
    columns = {"task": pa.array([1], pa.int8()), "machine_type": ["cpu"], "machine": [2.0], "start_seconds": [7]}
    pq.write_table(pa.table(columns), tmp_path / "s.parquet")
    assert read_day_schedule(DAY, tmp_path / "s.parquet") == DaySchedule((PlacedTask(1, "cpu", 2, 7.0),))


@pytest.mark.parametrize("piece", [1, 4096])
def test_all_faults_come_at_once(tmp_path, monkeypatch, piece):
    monkeypatch.setattr("lpsched.io.limits.PIECE", piece)
    (tmp_path / "s.csv").write_text(HEADER + "x,cpu,1,,y\n0,cpu,z,,0\n")
    with pytest.raises(InstanceError) as caught:
        read_day_schedule(DAY, tmp_path / "s.csv")
    assert [each.location for each in caught.value.issues] == [
        "line 2, rows[0].task", "line 2, rows[0].start_seconds", "line 3, rows[1].machine"
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["no.csv", "s.json", "."])
def test_what_is_no_such_file_is_refused(tmp_path, name):
    (tmp_path / "s.json").write_text("{}")
    with pytest.raises(InstanceError):
        read_day_schedule(DAY, tmp_path / name)


def test_other_endings_are_not_written(tmp_path):
    with pytest.raises(OutputError, match=re.escape("expected the ending .csv or .parquet; choose one")):
        write_day_schedule(DaySchedule(PLACED), tmp_path / "s.json")
    with pytest.raises(OutputError, match=re.escape("expected the ending .csv or .parquet or .json; choose one")):
        write_arriving_schedule(DaySchedule(PLACED), DAY, tmp_path / "s.txt")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["s.csv", "s.parquet", "s.json", "S.JSON"])
@pytest.mark.parametrize("placed", [PLACED, PLACED[::-1], ()], ids=["sorted", "reversed", "nothing"])
def test_a_schedule_with_task_types_and_ends_is_read_again(tmp_path, name, placed):
    write_arriving_schedule(DaySchedule(placed), DAY, tmp_path / name, "1.2")
    assert read_day_schedule(DAY, tmp_path / name) == DaySchedule(PLACED if placed else ())


def test_a_file_says_when_tasks_end_and_which_type_they_are(tmp_path):
    write_arriving_schedule(DaySchedule(PLACED), DAY, tmp_path / "s.csv")
    assert (tmp_path / "s.csv").read_text().splitlines() == [
        "task,task_type,machine_type,machine,p_state,start_seconds,end_seconds",
        "0,render,gpu,1,P1,0.30000000000000004,20.3",  # 20 s in P1
        "1,zip,cpu,2,,2.5,32.5",
        "3,render,cpu,1,,1000000000.0,1000000080.0",
    ]
    kinds = {"task_type": pa.string(), "end_seconds": pa.float64()}
    write_arriving_schedule(DaySchedule(PLACED), DAY, tmp_path / "s.parquet")
    schema = pq.read_schema(tmp_path / "s.parquet")
    assert {key: schema.field(key).type for key in kinds} == kinds


def test_a_document_names_its_instance_and_satisfies_its_schema(tmp_path):
    write_arriving_schedule(DaySchedule(PLACED), DAY, tmp_path / "s.json", "1.2")
    raw = json.loads((tmp_path / "s.json").read_text())
    assert raw == {
        "format": "lpsched-day-schedule/1",
        "lpsched": "1.2",
        "instance": {"name": DAY.name, "hash": DAY.content_hash},
        "rows": [
            {"task": 0, "task_type": "render", "machine_type": "gpu", "machine": 1, "p_state": "P1",
             "start_seconds": 0.1 + 0.2, "end_seconds": 20.3},
            {"task": 1, "task_type": "zip", "machine_type": "cpu", "machine": 2, "p_state": None,
             "start_seconds": 2.5, "end_seconds": 32.5},
            {"task": 3, "task_type": "render", "machine_type": "cpu", "machine": 1, "p_state": None,
             "start_seconds": 1e9, "end_seconds": 1e9 + 80.0},
        ],
    }  # fmt: skip
    validator = jsonschema.Draft202012Validator(DayScheduleFile.model_json_schema())
    validator.validate(raw)
    for wrong in ({"task": "0"}, {"machine": None}, {"end_seconds": "1"}, {"end": 1}):
        with pytest.raises(jsonschema.ValidationError):
            validator.validate(raw | {"rows": [raw["rows"][0] | wrong]})


def test_a_document_of_others_needs_neither_head_nor_what_follows_from_the_day(tmp_path):
    rows = [{"task": 1, "machine_type": "cpu", "machine": 2, "start_seconds": 2.5}]
    (tmp_path / "s.json").write_text(json.dumps({"format": "lpsched-day-schedule/1", "rows": rows}))
    (tmp_path / "s.yaml").write_text("format: lpsched-day-schedule/1\nrows:\n- " + json.dumps(rows[0]) + "\n")
    for name in ("s.json", "s.yaml"):
        assert read_day_schedule(DAY, tmp_path / name) == DaySchedule((PLACED[1],))


@pytest.mark.parametrize(
    ("rows", "places"),
    [
        ([{"task_type": "render"}], ["line 3, rows[0].task_type"]),
        ([{"end_seconds": 32.49}], ["line 3, rows[0].end_seconds"]),
        ([{"end_seconds": 2.5}], ["line 3, rows[0].end_seconds"]),
        ([{}, {"task_type": "zap", "end_seconds": 0}], ["line 4, rows[1].task_type", "line 4, rows[1].end_seconds"]),
        ([{"task": "x"}], ["line 3, rows[0].task"]),
        ([{}] * 5, ["the file"]),
    ],
)
def test_what_the_day_contradicts_in_a_document_is_refused_with_its_place(tmp_path, rows, places):
    whole = {
        "task": 1,
        "task_type": "zip",
        "machine_type": "cpu",
        "machine": 2,
        "start_seconds": 2.5,
        "end_seconds": 32.5,
    }
    lines = "".join(f"- {json.dumps(whole | row)}\n" for row in rows)
    (tmp_path / "s.yaml").write_text(f"format: lpsched-day-schedule/1\nrows:\n{lines}")
    with pytest.raises(InstanceError) as caught:
        read_day_schedule(DAY, tmp_path / "s.yaml")
    assert [each.location for each in caught.value.issues] == places


def test_ends_may_be_rounded_by_a_billionth(tmp_path):
    text = "task,machine_type,machine,start_seconds,end_seconds\n3,cpu,1,1000000000,{}\n"
    for end, is_read in (("1000000080.9", True), ("1000000082", False)):  # a billionth of the time is 1 s
        (tmp_path / "s.csv").write_text(text.format(end))
        if is_read:
            assert read_day_schedule(DAY, tmp_path / "s.csv").placed == (PLACED[2],)
        else:
            with pytest.raises(InstanceError):
                read_day_schedule(DAY, tmp_path / "s.csv")


@pytest.mark.parametrize("row", ["9,zip,cpu,1,0,1", "-1,zip,cpu,1,0,1", "1,zip,cpa,1,0,1", "1,zip,gpu,1,0,1"])
def test_what_does_not_exist_is_left_to_the_verifier(tmp_path, row):
    (tmp_path / "s.csv").write_text(f"task,task_type,machine_type,machine,start_seconds,end_seconds\n{row}\n")
    schedule = read_day_schedule(DAY, tmp_path / "s.csv")
    assert examine(DAY, schedule).violations
    write_arriving_schedule(schedule, DAY, tmp_path / "again.csv")  # and can be written, without an end
    assert (tmp_path / "again.csv").read_text().endswith(",\n")


def test_a_document_that_could_not_be_read_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr("lpsched.io.limits.MOST_JSON_BYTES", 200)
    with pytest.raises(OutputError, match=r"more than 200; write \.csv or \.parquet"):
        write_arriving_schedule(DaySchedule(PLACED), DAY, tmp_path / "s.json")
