"""Schedules of a day in files: written and read again, refused in words."""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lpsched.errors import InstanceError, OutputError
from lpsched.online.day import day_from_dict
from lpsched.online.files import read_day_schedule, write_day_schedule
from lpsched.online.schedule import DaySchedule, PlacedTask
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
    monkeypatch.setattr("lpsched.io.rows.PIECE", piece)
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
