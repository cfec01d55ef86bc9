from __future__ import annotations

import gzip

import pytest

from lpsched.errors import InstanceError, LpschedWarning
from lpsched.io import limits
from lpsched.traces.etc import FirstColumn, read_etc

BRAUN = "2 3 0\n1.5\n2\n3\n4\n5\n6e1\n"


@pytest.mark.parametrize(
    "content", [BRAUN, BRAUN.replace("2 3 0", "2 3"), BRAUN.replace("\n", "\r\n"), BRAUN.replace("\n2\n", " 2 ")]
)
def test_the_braun_text_is_read_task_by_task(written, content):
    bag = read_etc(written("u_x.0", content))
    assert list(bag.seconds) == [[1.5, 2.0, 3.0], [4.0, 5.0, 60.0]]
    assert (bag.name, bag.tasks, bag.machines) == ("u_x.0", 2, 3)
    assert [task.name for task in bag.task_types] == ["task-1", "task-2"]
    assert [machine.name for machine in bag.machine_types] == ["machine-1", "machine-2", "machine-3"]


def test_a_gzipped_file_is_read(written):
    bag = read_etc(written("u_x.0.gz", gzip.compress(BRAUN.encode())), name="mine", tasks_each=7, machines_each=2)
    assert (bag.name, bag.tasks, bag.machines) == ("mine", 14, 6)


@pytest.mark.parametrize("packed", [gzip.compress, bytes])
def test_a_row_of_times_for_each_task_is_read(written, packed):
    bag = read_etc(written("U1a100-2x3.txt.gz", packed(b"2 3\n 1 2 3\n 4 5 6\n")))
    assert list(bag.seconds) == [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


def test_zeros_are_replaced_and_counted(written):
    path = written("t.0", "2 3\n0 2 3\n0.0 -0 6\n")
    with pytest.warns(LpschedWarning, match=r"t\.0: 3 times of 0 replaced by 1e-06 s$"):
        bag = read_etc(path, zero_as=1e-6)
    assert list(bag.seconds) == [[1e-6, 2.0, 3.0], [1e-6, 1e-6, 6.0]]


def test_without_zeros_nothing_is_replaced_or_reported(written):
    # `filterwarnings` makes a warning an error. An empty cell cannot run, and a power of 0 is a power.
    times, power = written("t.csv", "a,b\n1,\n3,2\n"), written("p.csv", "a,b\n0,\n0,2\n")
    bag = read_etc(times, power=power, zero_as=1e-6)
    assert list(bag.seconds) == [[1.0, None], [3.0, 2.0]]
    assert bag.watts.row(0) == [0.0, None]


@pytest.mark.parametrize("wrong", [0.0, -1.0, float("nan"), float("inf")])
def test_zeros_are_replaced_by_a_time_only(written, wrong):
    with pytest.raises(InstanceError, match=r"zero_as: got .*, expected seconds: a number from 1e-30"):
        read_etc(written("t.0", BRAUN), zero_as=wrong)


def test_a_csv_with_names_is_read(written):
    bag = read_etc(written("etc.csv", "task,cpu,gpu\nrender,8,1\nzip,3,\n"))
    assert bag.name == "etc"
    assert [task.name for task in bag.task_types] == ["render", "zip"]
    assert [machine.name for machine in bag.machine_types] == ["cpu", "gpu"]
    assert list(bag.seconds) == [[8.0, 1.0], [3.0, None]]


def test_a_csv_without_task_names_is_read(written):
    bag = read_etc(written("etc.csv", "cpu, gpu\n8,1\n\n3,2\n"))
    assert [task.name for task in bag.task_types] == ["task-1", "task-2"]
    assert [machine.name for machine in bag.machine_types] == ["cpu", "gpu"]
    assert list(bag.seconds) == [[8.0, 1.0], [3.0, 2.0]]


def test_a_csv_of_one_machine_is_read(written):
    assert list(read_etc(written("etc.csv", "cpu\n8\n3\n")).seconds) == [[8.0], [3.0]]


def test_a_power_table_comes_along(written):
    bag = read_etc(written("t.0", BRAUN), power=written("p.0", BRAUN.replace("1.5", "100")))
    assert bag.watts is not None
    assert bag.watts.row(0) == [100.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("content", "issue"),
    [
        pytest.param("2 3 0\n1\n2\n", "got 2 times, expected 2 x 3 = 6, as its first line says; check that the file is whole", id="short"),
        pytest.param("0 0\n", "got 0 times, expected 0 x 0 = 0, as its first line says; check that the file is whole", id="nothing"),
        pytest.param("1 2\n1\nx\n", "line 3: got 'x' as time number 2, expected a number; fix the file", id="word"),
        pytest.param(
            "2 2\n1 2\n\n3 x\n", "line 4: got 'x' as time number 4, expected a number; fix the file", id="word in a row"
        ),
        pytest.param("1 2\n1\n-3\n", "seconds[0][1]: got -3, expected seconds: a number from 1e-30 to 1e+30", id="negative"),
        pytest.param("2 2\n1 0\n0.0 4\n", "got 2 times of 0, the first in row 1, column 2, expected times above 0; use --zero-as 1e-6 to replace them", id="zero"),
        pytest.param("a,b\n1,\n3,0\n", "got 1 time of 0, the first in row 2, column 2", id="zero-in-csv"),
        pytest.param("hello\n", "line 1: got the first line 'hello', expected 'tasks machines' and then one time a line", id="prose"),
        pytest.param("a,b\n1\n", "line 2: got a row of 1 cells, expected 2, as in the header; complete the row", id="ragged"),
        pytest.param("a,b\n", "got a header and no rows, expected one row per task type; add the times", id="no-rows"),
        pytest.param('a,b\n1,"', "got broken CSV: unexpected end of data, expected CSV; fix the file", id="unclosed"),
        pytest.param("a,a\n1,2\n", "machine_types[1].name: got 'a' once more", id="name-twice"),
        pytest.param(b"\x1f\x8bjunk", "got broken gzip (", id="broken-gzip"),
    ],
)  # fmt: skip
def test_each_fault_is_told(written, content, issue):
    with pytest.raises(InstanceError) as caught:
        read_etc(written("x", content))
    assert issue in str(caught.value)


def test_a_power_table_of_another_shape_is_told(written):
    with pytest.raises(InstanceError, match=r"got 2 x 2 watts, expected 2 x 3, as in t\.0; bring tables of one shape"):
        read_etc(written("t.0", BRAUN), power=written("p.0", "2 2\n1 2 3 4"))


def test_names_are_compared_only_where_both_files_give_them(written):
    times = written("t.csv", "task,cpu,gpu\nrender,8,1\nzip,3,2\n")
    bag = read_etc(times, power=written("p.0", "2 2\n10 20 30 40"))
    assert bag.watts is not None
    assert [task.name for task in bag.task_types] == ["render", "zip"]
    bag = read_etc(written("t.0", "2 2\n10 20 30 40"), power=times)
    assert [machine.name for machine in bag.machine_types] == ["cpu", "gpu"]
    with pytest.raises(
        InstanceError, match=r"got the machine type 'gpu', expected 'cpu', as in t\.csv; bring both in the same order"
    ):
        read_etc(times, power=written("p.csv", "task,gpu,cpu\nrender,8,1\nzip,3,2\n"))
    with pytest.raises(InstanceError, match=r"got the task type 'zip', expected 'render'"):
        read_etc(times, power=written("p.csv", "task,cpu,gpu\nzip,8,1\nrender,3,2\n"))


@pytest.mark.parametrize("corner", ["", "task", "Task type", "task_type", "task_id", "name", "ID", "job"])
def test_a_column_that_is_called_so_holds_names_even_if_they_are_numbers(written, corner):
    bag = read_etc(written("etc.csv", f"{corner},cpu,gpu\n264,8,1\n265,3,2\n"))
    assert [task.name for task in bag.task_types] == ["264", "265"]
    assert [machine.name for machine in bag.machine_types] == ["cpu", "gpu"]


def test_a_first_column_of_words_and_numbers_is_a_fault_and_not_a_guess(written):
    path = written("etc.csv", "cpu,gpu\n8,1\nx3,2\n")
    with pytest.raises(
        InstanceError,
        match=r"line 3: got 'x3' in a first column that also has numbers, expected names or times, not both",
    ):
        read_etc(path)
    assert [task.name for task in read_etc(path, first_column=FirstColumn.NAMES).task_types] == ["8", "x3"]
    with pytest.raises(InstanceError, match="got the text 'x3', expected seconds"):
        read_etc(path, first_column=FirstColumn.TIMES)


def test_names_without_times_are_told(written):
    with pytest.raises(InstanceError, match="got a column of names and nothing else, expected a column of times"):
        read_etc(written("etc.csv", "task\nrender\n"))


def test_a_gzip_bomb_is_told(written, monkeypatch):
    monkeypatch.setattr(limits, "MOST_TEXT_BYTES", 1000)
    with pytest.raises(InstanceError, match="got more than 1,000 bytes of text, expected fewer"):
        read_etc(written("x.gz", gzip.compress(b"1" * 10_000)))
