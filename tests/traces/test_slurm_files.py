from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsched.errors import InstanceError
from lpsched.traces.sacct import read_sacct
from lpsched.traces.slurm_cells import (
    joules_of,
    moment_of,
    nodes_of,
    raw_minutes_of,
    raw_seconds_of,
    seconds_of,
    state_of,
)

DATA = Path(__file__).parent.parent / "data"
STEPS = DATA / "sacct_with_steps.txt"
READERS = [joules_of, moment_of, nodes_of, raw_minutes_of, raw_seconds_of, seconds_of]
HEADER = "JobID|State|ElapsedRaw|AllocNodes\n"


@pytest.mark.parametrize(
    ("read", "cell", "value"),
    [
        (seconds_of, "00:01:40", 100.0),
        (seconds_of, "2-03:04:05", 183_845.0),  # 2 x 86,400 + 3 x 3,600 + 4 x 60 + 5
        (seconds_of, "01:30.5", 90.5),
        (seconds_of, "Partition_Limit", None),
        (raw_seconds_of, "100", 100.0),
        (raw_minutes_of, "60", 3600.0),
        (raw_minutes_of, "UNLIMITED", None),
        (moment_of, "2024-01-01T00:00:00", 1_704_067_200.0),
        (moment_of, "1704067200", 1_704_067_200.0),
        (moment_of, "Unknown", None),
        (joules_of, "101.63K", 101_630.0),
        (joules_of, "2.5M", 2_500_000.0),
        (joules_of, "1.20G", 1_200_000_000.0),
        (joules_of, "77", 77.0),
        (joules_of, "", None),
        (joules_of, "0", None),
        (joules_of, "0.00K", None),
        (joules_of, "18446744073709551614", None),  # 2^64 - 2
        (joules_of, "18446.74P", None),
        (nodes_of, "3", 3),
        (nodes_of, "2K", 2048),
        (nodes_of, "0", None),
    ],
)
def test_each_way_in_which_sacct_writes_a_cell_is_read(read, cell, value):
    assert read(cell) == value


@pytest.mark.parametrize(
    ("read", "cell"),
    [
        (seconds_of, "100"),
        (seconds_of, "1:2:3:4"),
        (raw_seconds_of, "-5"),
        (raw_seconds_of, "1e3"),
        (moment_of, "yesterday"),
        (joules_of, "1,000"),
        (joules_of, "5 J"),
        (nodes_of, "1.5"),
        (nodes_of, "2G"),
        (nodes_of, "9000000000000000"),
        (nodes_of, "node[1-4]"),
    ],
)
def test_a_cell_that_cannot_be_read_is_no_value(read, cell):
    with pytest.raises(ValueError, match=r".*"):
        read(cell)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=20))
def test_random_cells_are_read_or_refused_and_never_crash(cell):
    state_of(cell)
    for read in READERS:
        try:
            value = read(cell)
        except ValueError:
            continue
        assert value is None or value >= 0 or read is moment_of


def test_lines_know_their_numbers_cells_and_meanings():
    log = read_sacct(STEPS)
    lines = list(log.read())
    assert len(lines) == 16
    assert lines[0].number == 2
    assert lines[0].values == {
        "seconds": 100.0,
        "joules": 20_000.0,
        "nodes": 1,
        "submit": 1_704_067_200.0,
        "start": 1_704_067_210.0,
        "requested_seconds": 3600.0,
    }
    assert lines[-1].cells[:4] == ("108", "waits", "gpu", "PENDING")
    assert log.place("partition") == 2
    assert log.place("user") is None


@pytest.mark.parametrize("name", ["sacct_with_steps.txt", "sacct_allocations.txt"])
def test_what_is_written_reads_the_same(tmp_path, name):
    log = read_sacct(DATA / name)
    texts = ["|".join(log.header), *(text for _, text in log.lines)]
    (tmp_path / "again.txt").write_bytes("".join(f"{text}\n" for text in texts).encode("utf-8", "surrogateescape"))
    again = read_sacct(tmp_path / "again.txt")
    assert (again.header, again.lines) == (log.header, log.lines)
    assert (tmp_path / "again.txt").read_bytes() == (DATA / name).read_bytes()


def test_a_raw_column_counts_before_one_that_is_rounded(written):
    path = written(
        "a.txt", "JobID|State|Elapsed|ElapsedRaw|ConsumedEnergy|ConsumedEnergyRaw\n1|COMPLETED|00:00:09|10|1K|1234\n"
    )
    (line,) = read_sacct(path).read()
    assert (line.values["seconds"], line.values["joules"]) == (10.0, 1234.0)


@pytest.mark.parametrize(
    ("line", "found", "reason"),
    [
        ("2|COMPLETED|10", "3 cells", "another number of cells than the header"),
        ("2|a|b|10|1", "5 cells", "another number of cells than the header"),
        ("2|COMPLETED|ten|1", "'ten' as ElapsedRaw", "ElapsedRaw that cannot be read"),
        ("2|COMPLETED|10|all", "'all' as AllocNodes", "AllocNodes that cannot be read"),
    ],
)
def test_a_dirty_line_is_skipped_and_counted_unless_half_are_or_errors_are_asked_for(written, line, found, reason):
    path = written("a.txt", f"{HEADER}1|COMPLETED|10|1\n\n{line}\n3|COMPLETED|30|1\n")
    with pytest.raises(InstanceError) as caught:
        read_sacct(path, skip_dirty=False)
    (issue,) = caught.value.issues
    assert (issue.line, issue.got) == (4, found)
    assert "--skip-dirty" in issue.hint
    for skip in (True, None):  # one of three: left out and counted
        log = read_sacct(path, skip_dirty=skip)
        assert [number for number, _ in log.lines] == [2, 5]
        assert log.skipped == {reason: 1}
    path = written("b.txt", f"{HEADER}1|COMPLETED|10|1\n{line}\n")
    with pytest.raises(InstanceError, match="line 3: got"):  # one of two: probably another kind of file
        read_sacct(path)
    assert read_sacct(path, skip_dirty=True).skipped == {reason: 1}


def test_faults_have_an_end(written):
    path = written("a.txt", HEADER + "1|COMPLETED\n" * 1500)
    with pytest.raises(InstanceError) as caught:
        read_sacct(path)
    assert [issue.line for issue in caught.value.issues] == list(range(2, 1002))
    assert sum(read_sacct(path, skip_dirty=True).skipped.values()) == 1500


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("", "an empty file"),
        ("101|lammps|COMPLETED\n", "'101|lammps|COMPLETED'"),
        ("JobID|JobName\n1|a\n", "no such column"),
        ("JobID|State|Elapsed|State\n", "the column 'state' once more"),
    ],
)
def test_a_file_without_the_columns_that_are_needed_is_refused(written, content, found):
    with pytest.raises(InstanceError) as caught:
        read_sacct(written("a.txt", content))
    assert found in caught.value.issues[0].got


@settings(max_examples=40, deadline=None)
@given(st.binary(max_size=200))
def test_random_bytes_below_a_header_never_crash(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("sacct") / "a.txt"
    path.write_bytes(HEADER.encode() + content)
    log = read_sacct(path, skip_dirty=True)
    assert len(list(log.read())) == len(log.lines)
