"""Tables of measured runs: `tests/data/runs.csv` and the tables here are made by hand, with invented numbers."""

from __future__ import annotations

import csv
import gzip
import io
import random
from pathlib import Path

import numpy as np
import pytest

from lpsched.errors import InstanceError, LpschedError
from lpsched.io import limits
from lpsched.io.parquet import ParquetRows
from lpsched.traces.bags import cells_as_csv
from lpsched.traces.published import read_runs
from lpsched.traces.runs import RunChoice, bag_of_runs, records

DATA = Path(__file__).parent.parent / "data"
HEADER = "task,machine,seconds,watts\n"


@pytest.fixture
def table(tmp_path):
    """Return a function that reads a table, given as text or bytes, and makes a bag of it."""

    def read(content, *, name="runs.csv", columns=None, where=None, distinct=False, **choice):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        found = read_runs([path], columns=columns, where=where, distinct=distinct)
        return bag_of_runs("b", found, RunChoice(**choice))

    return read


def rejected(table, content, **options):
    """Return the issues for which a table is rejected."""
    with pytest.raises(InstanceError) as error:
        table(content, **options)
    assert all(each.got and each.expected and each.hint for each in error.value.issues)
    return [str(each) for each in error.value.issues]


def test_a_bag_has_the_means_of_its_runs_and_their_spread(table):
    logged, remarks = table((DATA / "runs.csv").read_bytes(), tasks_each=100, machines={"cpu": 8})
    bag = logged.bag
    assert [(each.name, each.count) for each in bag.task_types] == [("encode", 100), ("index", 100)]
    assert [(each.name, each.count, each.p_states) for each in bag.machine_types] == [
        ("cpu", 8, None),
        ("gpu", 1, None),
    ]
    assert bag.seconds[0, 0] == pytest.approx(61.6)  # (61.8 + 62.9 + 60.1) / 3
    # 61.8 x 182 + 62.9 x 180 + 60.1 x 185 = 33,688.1 J in 184.8 s: the joules stay what they were
    assert bag.watts[0, 0] == pytest.approx(33_688.1 / 184.8)
    # 0.2^2 + 1.3^2 + 1.5^2 = 3.98, over 3 - 1
    assert bag.seconds_cov[0, 0] == pytest.approx((3.98 / 2) ** 0.5 / 61.6)
    assert bag.seconds.row(1) == [pytest.approx(19.9), None]
    assert bag.seconds_cov[1, 1] is None
    assert remarks == ("1 cell of 4 without a run: the task cannot run there",)


def test_long_runs_weigh_more_in_watts_and_not_in_seconds(table):
    bag = table(HEADER + "a,m,10,100\na,m,30,200\n")[0].bag
    assert bag.seconds[0, 0] == 20.0
    assert bag.watts[0, 0] == 175.0  # (10 x 100 + 30 x 200) / 40, not 150
    assert bag.seconds_cov[0, 0] == pytest.approx(200**0.5 / 20)  # 10^2 + 10^2, over 2 - 1
    # By seconds: (10 x 75^2 + 30 x 25^2) / 40 = 1,875, times 2 / (2 - 1)
    assert bag.watts_cov[0, 0] == pytest.approx(3750**0.5 / 175)


@pytest.mark.parametrize(
    ("columns", "row", "seconds", "watts"),
    [
        ("seconds,watts", "2,50", 2, 50),
        ("milliseconds,milliwatts", "2000,50000", 2, 50),
        ("minutes,kilowatts", "0.5,0.05", 30, 50),
        ("hours,joules", "0.01,1800", 36, 50),
        ("seconds,kilojoules", "20,1", 20, 50),
        ("seconds,watt_hours", "36,0.5", 36, 50),  # 1,800 J
        ("seconds,kilowatt_hours", "360,0.005", 360, 50),  # 18,000 J
        (" Seconds ,Kilowatt Hours", " 360 , 0.005 ", 360, 50),
    ],
)
def test_names_of_columns_say_their_units(table, columns, row, seconds, watts):
    logged, remarks = table(f"Task_Type,MACHINE,{columns}\na,m,{row}\n")
    assert logged.bag.seconds[0, 0] == pytest.approx(seconds)
    assert logged.bag.watts[0, 0] == pytest.approx(watts)
    assert remarks == ()


def test_p_states_are_columns_in_the_order_of_their_first_run(table):
    rows = "a,n,,7\na,m,fast,1\na,m,slow,4\nb,m,slow,6\nb,n,,9\nb,m,fast,2\na,m,fast,3\n"
    bag = table("task,machine,p_state,seconds\n" + rows)[0].bag
    assert [(each.name, each.p_states) for each in bag.machine_types] == [("n", None), ("m", ("fast", "slow"))]
    assert [bag.seconds.row(i) for i in range(2)] == [[7, 2, 4], [9, 2, 6]]
    assert bag.watts is None


def test_packed_tables_and_parquet_are_the_same_table(table, tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    content = (DATA / "runs.csv").read_bytes()
    plain = table(content)[0].bag
    assert table(gzip.compress(content, mtime=0), name="runs.csv.gz")[0].bag == plain
    rows = list(csv.DictReader(io.StringIO(content.decode())))
    numbers = {key: [float(row[key]) for row in rows] for key in ("seconds", "watts")}
    pq.write_table(
        pa.table({key: [row[key] for row in rows] for key in ("task", "machine")} | numbers),
        path := tmp_path / "r.parquet",
    )
    assert table(path.read_bytes(), name="runs.PARQUET")[0].bag == plain


def test_a_parquet_may_have_numbers_as_names_and_errors_name_its_rows(table, tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")

    def parquet(**columns):
        pq.write_table(pa.table(columns), path := tmp_path / "made.parquet")
        return path.read_bytes()

    good = parquet(task=[1, 1], machine=["m", "m"], p_state=[0, 1], seconds=[2, 3], watts=[5.0, None])
    bag = table(good, name="a.parquet", watts=False)[0].bag
    assert (bag.task_types[0].name, bag.machine_types[0].p_states) == ("1", ("0", "1"))  # 0 is a P-state, not none
    bad = parquet(task=["a", "b", "c"], machine=["m"] * 3, seconds=[None, [1.0], [2.0]])
    issues = rejected(table, bad, name="a.parquet", where={"task": "b"})
    assert issues == [
        "row[2].seconds: got 'list<element: double>', expected a number above 0; correct it, or remove the row"
    ]
    assert "got no rows" in rejected(table, parquet(task=pa.array([], pa.string())), name="a.parquet")[0]
    assert "a broken file" in rejected(table, good[: len(good) // 2], name="a.parquet")[0]


def test_columns_of_any_name_are_named_and_named_ones_decide(table):
    content = "model,task,gpu,watts,joules,took,hours\na,x,m,1,100,2,9\n"
    named = {"task": "model", "machine": "gpu", "seconds": "took", "joules": "joules"}
    logged, remarks = table(content, columns=named)
    assert (logged.bag.task_types[0].name, logged.bag.machine_types[0].name) == ("a", "m")
    assert (logged.bag.seconds[0, 0], logged.bag.watts[0, 0]) == (2, 50)  # 100 J in 2 s
    assert remarks == ("runs.csv: columns that are not used: 'task', 'watts', 'hours'",)
    minutes = {"task": "model", "machine": "gpu", "minutes": "took", "watts": "watts"}
    bag = table(content, columns=minutes)[0].bag
    assert (bag.seconds[0, 0], bag.watts[0, 0]) == (120, 1)


def test_where_keeps_rows_with_these_values(table):
    content = "task,machine,seconds,cluster\na,m,1,x\na,m,3,y\nb,m,5,x\n"
    logged, _ = table(content, where={"cluster": "x", "task": "a"})
    assert (len(logged.bag.task_types), logged.bag.seconds[0, 0]) == (1, 1)
    assert rejected(table, content, where={"task": "c"}) == [
        "the file: got no runs, expected at least one; check the files, and what --where keeps"
    ]
    # The line is that of the file, not of the rows that are kept.
    assert rejected(table, content + "c,m,0,z\n", where={"cluster": "z"})[0].startswith("line 5, seconds: got '0'")


def test_counts_are_by_name_or_for_each(table):
    bag = table(
        HEADER + "a,m,1,1\nb,m,1,1\na,n,1,1\nb,n,1,1\n",
        tasks={"b": 7},
        tasks_each=3,
        machines={"n": 5},
        machines_each=2,
    )[0].bag
    assert [each.count for each in bag.task_types] == [3, 7]
    assert [each.count for each in bag.machine_types] == [2, 5]
    assert rejected(table, HEADER + "alpha,m,1,1\n", tasks={"alpa": 7}) == [
        "--tasks: got 'alpa', which has no runs here, expected one of alpha; did you mean 'alpha'?"
    ]
    assert "--count: got 'n', which has no runs here" in rejected(table, HEADER + "a,m,1,1\n", machines={"n": 7})[0]


def test_complete_keeps_task_types_with_a_run_in_every_column(table):
    rows = "a,m,1,1\nb,m,2,2\nb,n,4,4\nc,n,3,3\n"
    logged, remarks = table(HEADER + rows, complete=True)
    assert [each.name for each in logged.bag.task_types] == ["b"]
    assert (logged.bag.seconds.row(0), logged.bag.watts.row(0)) == ([2, 4], [2, 4])
    assert remarks == ("2 task types without a run in every column left out",)
    issues = rejected(table, HEADER + "a,m,1,1\nb,n,1,1\n", complete=True)
    assert issues[0].startswith(
        "the file: got no task type with a run in each of the 2 columns; the most is 1, expected"
    )


def test_copies_count_unless_only_distinct_rows_do(table):
    rows = HEADER + "a,m,1,1\na,m,1,1\na,m,4,1\n"
    logged, remarks = table(rows)
    assert logged.bag.seconds[0, 0] == 2  # (1 + 1 + 4) / 3
    assert remarks == ("1 row agrees with another in every digit; each counts as a run, --distinct leaves copies out",)
    logged, remarks = table(rows, distinct=True)
    assert logged.bag.seconds[0, 0] == 2.5
    assert remarks == ("1 exact copy of other rows left out",)


def test_fill_estimates_what_has_no_run_and_marks_it(table):
    logged, remarks = table(HEADER + "a,m,1,10\na,n,3,20\nb,m,2,40\n", fill=True)
    # n takes three times as long as m, at twice the power.
    assert logged.bag.seconds.row(1) == [2, pytest.approx(6)]
    assert logged.bag.watts.row(1) == [40, pytest.approx(80)]
    assert logged.estimated_seconds.tolist() == [[False, False], [False, True]]
    assert remarks == ()


def test_watts_are_for_all_or_none(table):
    rows = HEADER + "a,m,1,2\nb,m,1,\n"
    assert rejected(table, rows) == [
        (
            "watts.b.m: got no sample of 'b' on 'm' with its energy, expected at least one, since others do; "
            "estimate it (--fill), or leave all powers out (--no-watts)"
        )
    ]
    assert table(rows, watts=False)[0].bag.watts is None
    assert table(rows, fill=True)[0].bag.watts.row(1) == [2]
    assert table(HEADER + "a,m,1,\n")[0].bag.watts is None
    # Of two runs one has its power: it counts for the watts, both for the seconds.
    logged, _ = table(HEADER + "a,m,1,8\na,m,3,\n")
    assert (logged.bag.seconds[0, 0], logged.bag.watts[0, 0]) == (2, 8)
    assert logged.bag.watts_cov is None


def test_spreads_are_written_where_each_cell_has_two_runs(table):
    two = HEADER + "a,m,1,1\na,m,2,1\nb,m,1,1\nb,m,2,1\n"
    assert table(two)[0].bag.seconds_cov is not None
    logged, remarks = table(two + "c,m,1,1\n")
    assert (logged.bag.seconds_cov, logged.bag.watts_cov) == (None, None)
    assert remarks == (
        "no table seconds_cov: 1 cell with fewer than 2 runs",
        "no table watts_cov: 1 cell with fewer than 2 runs",
    )
    assert table(HEADER + "a,m,1,1\nb,m,1,1\n")[1] == ()  # single measurements: nothing is lost


def test_a_spread_beyond_the_largest_is_written_as_the_largest_and_said(table):
    # One of 100 runs takes 10^6 s, the others 1 ms: the coefficient of variation is nearly 10.
    logged, remarks = table("task,machine,seconds\n" + "a,m,0.001\n" * 99 + "a,m,1000000\n")
    assert logged.bag.seconds_cov[0, 0] == 5
    assert "seconds_cov: 1 cell above 5, written as that" in remarks


def test_powers_beyond_what_a_machine_draws_are_remarked(table):
    _, remarks = table(HEADER + "a,m,1,90000\na,m,1,250000\n")
    assert remarks == (
        "250,000 W for 'a' on 'm': more than a machine draws; is it in milliwatts, or the time too short?",
    )


def test_the_cells_say_how_many_runs_there_were(table):
    logged, _ = table(HEADER + "a,m,10,100\na,m,30,\nb,n,5,7\n", fill=True)
    rows = list(csv.DictReader(io.StringIO(cells_as_csv(logged).decode())))
    assert [(row["task_type"], row["machine_type"], row["jobs"], row["jobs_with_energy"]) for row in rows] == [
        ("a", "m", "2", "1"),
        ("b", "n", "1", "1"),
    ]
    assert (float(rows[0]["seconds"]), float(rows[0]["watts"])) == (20, 100)
    assert float(rows[0]["seconds_deviation"]) == pytest.approx(200**0.5)
    assert rows[1]["seconds_deviation"] == rows[0]["estimated"] == ""


def test_several_files_are_one_table(tmp_path):
    for name, row in (("one.csv", "a,m,1,1\n"), ("two.csv", "a,m,3,1\n")):
        (tmp_path / name).write_text(HEADER + row)
    found = read_runs([tmp_path / "one.csv", tmp_path / "two.csv"])
    assert bag_of_runs("b", found, RunChoice())[0].bag.seconds[0, 0] == 2


ONE = HEADER + "a,m,1,2\n"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "the file: got an empty file"),
        (HEADER, "the file: got no rows, expected a header and a row for each run"),
        (HEADER + "\n\n", "the file: got no rows"),
        (gzip.compress(ONE.encode(), mtime=0)[:-9], "the file: got broken gzip"),
        (b"\x1f\x8b" + b"junk" * 9, "the file: got broken gzip"),
        (bytes(range(128, 256)), "got bytes that are not UTF-8 text"),
        (ONE.encode("utf-16"), "line 1: got bytes that are not UTF-8 text"),
        (HEADER + "a\0,m,1,2\n", "line 2: got a NUL character"),
        (ONE + "a,m,1\n", "line 3: got 3 cells, expected 4, as in the header; complete the row"),
        (ONE + "a,m,1,2,3\n", "line 3: got 5 cells"),
        (ONE + "a\n", "line 3: got 1 cell, expected 4"),
        (HEADER + '"a,m,1,2\n', "line 2: got broken CSV"),
        (HEADER + "a" * 200_000 + ",m,1,2\n", "line 2: got broken CSV: field larger than field limit"),
        ("task,task,machine,seconds\na,b,m,1\n", "line 1: got the column 'task' more than once"),
        ("task,machine,seconds,,\na,m,1,,\n", "line 1: got columns without a name"),
        ("task;machine;seconds\na;m;1\n", "line 1: got cells separated by ';', expected commas"),
        (HEADER + ",m,1,2\n", "line 2, task: got an empty name, expected a name"),
        (HEADER + "a, ,1,2\n", "line 2, machine: got an empty name"),
        (ONE + "a" * 201 + ",m,1,2\n", "line 3, task: got a name of 201 characters"),
        (HEADER + "a,m\x07n,1,2\n", "line 2, machine: got 'm\\x07n', with control or invisible characters"),
        (HEADER + "a\u2028b,m,1,2\n", "line 2, task: got 'a\\u2028b', with control or invisible characters"),
        ("task,machine,p_state,seconds\na,m," + "p" * 201 + ",1\n", "line 2, p_state: got a name of 201"),
        (
            "task,machine,p_state,seconds\na,m,1,2\na,m,,2\n",
            "the file: got runs of 'm' with a P-state and without one, expected a P-state in each or in none",
        ),
        ("task,machine,p_state,seconds\na,m,1,2\na,m:1,,2\n", "got 'm:1', which names a P-state here and another"),
        ("task,machine,seconds,hours\na,m,1,2\n", "line 1, seconds: got the columns 'seconds' and 'hours', expected one"),
        ("Task,task,machine,seconds\na,b,m,1\n", "line 1, task: got the columns 'Task' and 'task', expected one"),
        (
            "task,machine,seconds,watts,joules\na,m,1,2,2\n",
            ("line 1, watts: got the columns 'watts' and 'joules', expected power or energy; "
            "choose one, such as --columns joules=joules"),
        ),
        (
            "task,machine,took_min\na,m,1\n",
            ("line 1, seconds: got no such column, expected one called seconds or milliseconds or minutes or hours; "
            "if 'took_min' is it, --columns minutes=took_min"),
        ),
        ("task,seconds\na,1\n", "line 1, machine: got no such column, expected one called machine or machine_type; name"),
        ("task,machine,hours\na,m,1e29\n", "line 2, seconds: got 3.6e+32, expected seconds: a number from 1e-30 to 1e+30"),
        ("task,machine,seconds,joules\na,m,1e-9,1e25\n", "line 2, watts: got 1e+34, expected watts: a number from"),
        (
            "task,machine,seconds\n" + "".join(f"t{number},m,1\n" for number in range(10_001)),
            "got 10,001 task types, expected at most 10,000; merge some, or import them in parts",
        ),
    ],
)  # fmt: skip
def test_what_is_no_table_of_runs_is_rejected(table, content, said):
    assert any(said in issue for issue in rejected(table, content))


@pytest.mark.parametrize("cell", ["0", "-1", "x", "inf", "-inf", "nan", "", "1e-31", "1e31", "0x10", "1,5", "1 s"])
def test_seconds_are_a_number_above_0(table, cell):
    got = repr(cell) if cell else "an empty cell"
    needed = "a number from 1e-30 to 1e+30" if cell in {"1e-31", "1e31"} else "a number above 0"
    assert rejected(table, f'{ONE}a,m,"{cell}",2\n') == [
        f"line 3, seconds: got {got}, expected {needed}; correct it, or remove the row"
    ]


@pytest.mark.parametrize("cell", ["-1", "x", "inf", "nan", "1e31", "1e-31"])
def test_watts_are_a_number_from_0_up(table, cell):
    (issue,) = rejected(table, f"{ONE}a,m,1,{cell}\n")
    assert issue.startswith("line 3, watts: got ")
    assert table(f"{HEADER}a,m,1,0\n")[0].bag.watts[0, 0] == 0


def test_all_errors_of_a_table_are_reported_at_once(table):
    assert [issue.partition(": ")[0] for issue in rejected(table, ONE + "a,m,0,1\n,m,1,1\na,m,1,x\n")] == [
        "line 3, seconds",
        "line 4, task",
        "line 5, watts",
    ]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"columns": {"tusk": "task"}}, "columns: got no column 'tusk', expected one of task, task_type, machine"),
        ({"columns": {"task": "machin"}}, "expected one of task, machine, seconds, watts; did you mean 'machine'?"),
        ({"where": {"tasks": "a"}}, "where: got no column 'tasks', expected one of task, machine, seconds, watts; did"),
    ],
)
def test_unknown_columns_are_rejected_with_the_nearest_name(table, options, said):
    (issue,) = rejected(table, ONE, **options)
    assert said in issue
    assert "did you mean" in issue


def test_a_column_is_one_quantity_and_one_without_a_unit_is_asked_about(table):
    both = {"task": "machine", "machine": "machine"}
    expected = "columns: got 'machine' for two of them, expected a column for each; correct it"
    assert rejected(table, ONE, columns=both) == [expected]
    (issue,) = rejected(table, "task,machine,Time (s)\na,m,1\n")
    assert issue.endswith("if 'Time (s)' is it, --columns seconds=Time (s)")


def test_tables_beyond_the_limits_are_rejected_before_they_fill_the_memory(table, monkeypatch):
    monkeypatch.setattr(limits, "MOST_MATRIX_CELLS", 3)
    assert rejected(table, HEADER + "a,m,1,1\nb,n,1,1\n")[0] == (
        "the file: got 2 task types by 2 machine types and P-states, expected at most 3 pairs; "
        "merge some, or import them in parts"
    )
    monkeypatch.setattr(limits, "MOST_TEXT_BYTES", 100)
    packed = gzip.compress((HEADER + "a,m,1,1\n" * 1000).encode())
    assert len(packed) <= 100
    assert rejected(table, packed)[0].startswith("the file: got more than 100 bytes of text, expected fewer")
    assert "expected at most 100 bytes" in rejected(table, HEADER + "a,m,1,1\n" * 1000)[0]
    monkeypatch.setattr(limits, "MOST_ROWS", 1)
    assert "got more than 1 rows" in rejected(table, HEADER + "a,m,1,1\na,m,1,1\n")[0]


def test_too_many_rows_of_a_parquet_file_are_not_read(tmp_path, monkeypatch):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = {"task": ["a"] * 3, "machine": ["m"] * 3, "seconds": [1.0] * 3}
    pq.write_table(pa.table(rows), tmp_path / "runs.parquet")
    assert len(list(records(tmp_path / "runs.parquet"))) == 3
    monkeypatch.setattr(limits, "MOST_ROWS", 2)
    monkeypatch.setattr(ParquetRows, "batches", None)
    with pytest.raises(InstanceError, match="more than 2 rows"):
        list(records(tmp_path / "runs.parquet"))


ODD = [b"", b"\0", b"\xff", b",", b'"', b"\n", b"\r", b"nan", b"-", b"1e999", b"9" * 40, b";", "\u2028".encode(), b"=1"]


def changed(content, rng):
    """Return a file with a few bytes removed, repeated or replaced by odd ones."""
    for _ in range(rng.randint(1, 4)):
        at, end = sorted(rng.randrange(len(content) + 1) for _ in range(2))
        end = min(end, at + rng.randint(0, 12))
        odd = rng.choice([*ODD, content[at:end] * 2, bytes([rng.randrange(256)])])
        content = content[:at] + odd + content[end:]
    return content


@pytest.mark.parametrize("seed", range(4))
def test_changed_tables_are_read_or_rejected_and_never_break_anything(tmp_path, seed):
    rng = random.Random(seed)  # noqa: S311 - for tests
    states = b"task,machine,p_state,hours,kilowatt_hours\na,m,P0,1,2\na,m,P1,2,2\nb,n,,3,0\n"
    path, read = tmp_path / "runs.csv", 0
    for number in range(100):
        path.write_bytes(changed(rng.choice([(DATA / "runs.csv").read_bytes(), states]), rng))
        choice = RunChoice(fill=rng.random() < 0.5, complete=rng.random() < 0.3)
        try:
            bag = bag_of_runs(f"b{number}", read_runs([path], distinct=rng.random() < 0.3), choice)[0].bag
        except LpschedError:
            continue
        read += 1
        assert np.nanmin([cell for row in bag.seconds for cell in row if cell is not None]) > 0
    assert 0 < read < 100  # some of both
