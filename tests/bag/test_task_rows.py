"""One row per task: written as a stream, read back, refused in words."""

from __future__ import annotations

import os
import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lpsched.bag.files import read_rows, write_rows
from lpsched.bag.schedule import TaskRow
from lpsched.errors import InstanceError, MissingExtraError, OutputError
from lpsched.io import limits

ROWS = [
    TaskRow("a, b", "cpu", 1, None, 0.0),
    TaskRow("a, b", "cpu", 2, None, 0.1),
    TaskRow('"c"', "gpu", 1, "P0", 1e-9),
]


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet", "ROWS.CSV"])
def test_rows_come_back_as_they_were_written(tmp_path, name):
    write_rows(iter(ROWS), len(ROWS), tmp_path / name)
    assert list(read_rows(tmp_path / name)) == ROWS
    assert [path.name for path in tmp_path.iterdir()] == [name]  # nothing is left beside it


def test_p_state_and_start_are_optional_and_columns_come_in_any_order(tmp_path):
    (tmp_path / "r.csv").write_text("\ufeffmachine,task_type,machine_type\n1,a,cpu\n\n2,b,cpu\n", encoding="utf-8")
    assert list(read_rows(tmp_path / "r.csv")) == [TaskRow("a", "cpu", 1), TaskRow("b", "cpu", 2)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file: got an empty file, expected a file with content"),
        ("task\n1\n", "task_type: got no such column, expected the columns task_type, machine_type, machine; add it"),
        ("task_type,machine_type\na,b\n", "machine: got no such column"),
        ("task_type,machine_type,machine,strat_seconds\n", "did you mean 'start_seconds'?"),
        ("task_type,machine_type,machine,machine\n", "machine: got a column that was given before"),
        (
            "task_type,machine_type,machine\na,b\n",
            "line 2: got 2 cells, expected 3, as in the header; complete the row",
        ),
        ("task_type,machine_type,machine\na,b,one\n", "row[1]: got machine 'one', start 'None', expected a whole"),
        ("task_type,machine_type,machine\na,b,1.5\n", "row[1]: got machine '1.5'"),
        ("task_type,machine_type,machine,start_seconds\na,b,1,soon\n", "start 'soon', expected a whole number"),
        ('task_type,machine_type,machine\n"a,b,1\n', "got broken CSV: unexpected end of data"),
    ],
)
def test_what_is_no_list_of_tasks_is_refused_with_its_place(tmp_path, text, message):
    (tmp_path / "r.csv").write_text(text)
    with pytest.raises(InstanceError, match=re.escape(message)):
        list(read_rows(tmp_path / "r.csv"))


def test_what_is_no_text_or_no_parquet_is_refused(tmp_path):
    (tmp_path / "r.csv").write_bytes(b"task_type,machine_type,machine\n\xff\xfe,b,1\n")
    (tmp_path / "r.parquet").write_bytes(b"PAR1 is not enough")
    for name, found in (("r.csv", "line 2: got bytes that are not UTF-8 text"), ("r.parquet", "got a broken file")):
        with pytest.raises(InstanceError, match=found):
            list(read_rows(tmp_path / name))


@pytest.mark.parametrize(
    ("name", "message"),
    [("no.csv", "got no file of this name"), ("r.txt", "expected .csv or .parquet"), (".", "ending")],
)
def test_what_is_no_such_file_is_refused(tmp_path, name, message):
    with pytest.raises(InstanceError, match=message):
        list(read_rows(tmp_path / name))


def test_a_directory_is_refused(tmp_path):
    (tmp_path / "d.csv").mkdir()
    with pytest.raises(InstanceError, match="got a directory, expected a file"):
        list(read_rows(tmp_path / "d.csv"))


def test_too_many_rows_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "MOST_ROWS", 2)
    write_rows(iter(ROWS), 3, tmp_path / "r.csv")
    with pytest.raises(InstanceError, match="got more than 2 rows, expected fewer; write it in the compact form"):
        list(read_rows(tmp_path / "r.csv"))


def test_faults_are_collected_up_to_a_hundred(tmp_path):
    (tmp_path / "r.csv").write_text("task_type,machine_type,machine\n" + "a,b,x\n" * 300)
    with pytest.raises(InstanceError) as caught:
        list(read_rows(tmp_path / "r.csv"))
    assert len(caught.value.issues) == 100


def test_a_parquet_file_with_odd_cells_is_refused_by_row(tmp_path):
    table = pa.table({"task_type": ["a"], "machine_type": ["b"], "machine": [1.5]})
    pq.write_table(table, tmp_path / "r.parquet")
    with pytest.raises(InstanceError, match=re.escape("row[1]: got machine '1.5'")):
        list(read_rows(tmp_path / "r.parquet"))


def test_rows_that_would_fill_the_disk_are_not_begun(tmp_path):
    with pytest.raises(OutputError, match="1,000,000,000,000,000 rows would fill the disk; use the compact form"):
        write_rows(iter(()), 10**15, tmp_path / "r.csv")
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_ending_is_refused(tmp_path):
    with pytest.raises(OutputError, match=r"expected the ending \.csv or \.parquet; choose one"):
        write_rows(iter(()), 0, tmp_path / "r.txt")


def test_a_stream_that_breaks_leaves_nothing_behind(tmp_path):
    def broken():
        yield ROWS[0]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_rows(broken(), 2, tmp_path / "r.csv")
    assert list(tmp_path.iterdir()) == []


def test_parquet_without_pyarrow_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match="needs the extra 'parquet'"):
        write_rows(iter(ROWS), 3, tmp_path / "r.parquet")
    assert list(tmp_path.iterdir()) == []


def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "p.csv")
    with pytest.raises(InstanceError, match="got a device or pipe, expected a file"):
        list(read_rows(tmp_path / "p.csv"))
