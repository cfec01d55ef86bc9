"""Tables in files of their own: what is read, and what is refused in words."""

from __future__ import annotations

import io
import json
import zipfile

import numpy as np
import pytest

from lpsched.bag.files import read_bag, write_bag
from lpsched.bag.model import bag_from_dict
from lpsched.errors import InstanceError, MissingExtraError, OutputError
from lpsched.io import limits, tables
from lpsched.io.instance_files import TableForm
from lpsched.model.table import Table
from tests.support import SOUND, sound


def issues_of(path) -> list[str]:
    with pytest.raises(InstanceError) as caught:
        read_bag(path)
    return [str(issue) for issue in caught.value.issues]


A_TIME = "expected seconds: a number from 1e-30 to 1e+30"


@pytest.fixture
def beside(tmp_path):
    """Write a bag whose seconds are in a file, and that file."""

    def write(file, content=None, **changes):
        if content is not None:
            (tmp_path / file).write_bytes(content if isinstance(content, bytes) else content.encode())
        path = tmp_path / "bag.json"
        path.write_text(json.dumps(sound(seconds={"file": file}, watts=..., **changes)))
        return path

    return write


@pytest.mark.parametrize(
    ("content", "issues"),
    [
        pytest.param(b"\xff\xfe", ["t.csv, line 1, seconds: got bytes that are not UTF-8 text, expected a text file; check which file this is"], id="junk"),
    ],
)  # fmt: skip
def test_each_fault_of_a_csv_is_told(beside, content, issues):
    assert issues_of(beside("t.csv", content)) == issues


def test_a_csv_may_have_its_rows_and_columns_in_any_order(beside):
    path = beside("t.csv", "x,gpu:P1,cpu,gpu:P0\n\nzip,, 3 ,\nrender,2,8,1\n")
    assert list(read_bag(path).seconds) == [[8.0, 1.0, 2.0], [3.0, None, None]]


@pytest.mark.parametrize("file", ["../t.csv", "/etc/passwd", "sub/../../t.csv", "a\0.csv"])
def test_a_path_that_leaves_the_folder_is_refused(beside, file):
    assert issues_of(beside(file, None)) == [
        f"seconds.file: got the path {file!r}, expected a file in the folder of the bag, or below it; copy the table there"
    ]


def test_a_link_that_leaves_the_folder_is_refused(beside, tmp_path):
    (tmp_path / "t.csv").symlink_to("/etc/passwd")
    assert "expected a file in the folder of the bag" in issues_of(beside("t.csv"))[0]


def test_a_table_in_a_folder_below_is_read(beside, tmp_path):
    (tmp_path / "sub").mkdir()
    path = beside("sub/t.csv", "x,cpu,gpu:P0,gpu:P1\nzip,3,,\nrender,8,1,2\n")
    assert read_bag(path).seconds[0, 0] == 8.0


def test_a_missing_table_and_an_unknown_ending_are_told(beside):
    assert issues_of(beside("t.npz")) == [
        "t.npz, seconds: got no file of this name (not found), expected a file; check the name"
    ]
    assert issues_of(beside("t.xlsx", "x")) == [
        "t.xlsx, seconds: got the ending '.xlsx', expected .csv or .npz or .parquet; convert the table"
    ]


def npz(path, **arrays):
    np.savez(path, **arrays)
    return path.read_bytes()


NAN = float("nan")
CELLS = np.array([[8.0, 1.0, 2.0], [3.0, NAN, NAN]])


@pytest.mark.parametrize(
    "arrays",
    [
        {"seconds": CELLS},
        {"anything": CELLS},
        {"seconds": CELLS, "watts": CELLS},
        {"seconds": np.asfortranarray(CELLS), "task_types": np.array(["render", "zip"]), "columns": np.array(["cpu", "gpu:P0", "gpu:P1"])},
    ],
    ids=["named", "only-one", "both", "with-names"],
)  # fmt: skip
def test_an_npz_is_read(beside, tmp_path, arrays):
    path = beside("t.npz", npz(tmp_path / "t.npz", **arrays))
    assert list(read_bag(path).seconds) == [[8.0, 1.0, 2.0], [3.0, None, None]]


def test_the_ends_of_the_range_are_in_it_and_every_nan_is_the_same(beside, tmp_path):
    other_nan = np.array([0xFFF8000000000001], dtype=np.uint64).view(float)[0]
    cells = np.array([[1e-30, 1e30, other_nan], [3.0, NAN, -NAN]])
    path = beside("t.npz", npz(tmp_path / "t.npz", seconds=cells))
    assert read_bag(path).seconds == Table.of([[1e-30, 1e30, None], [3.0, None, None]])


def test_a_loop_of_links_is_refused(beside, tmp_path):
    (tmp_path / "t.csv").symlink_to(tmp_path / "t.csv")
    (issue,) = issues_of(beside("t.csv"))
    assert issue.startswith("seconds")


def test_an_npz_of_the_second_version_of_the_format_is_read(beside, tmp_path):
    out = io.BytesIO()
    np.lib.format.write_array(out, CELLS, version=(2, 0))
    with zipfile.ZipFile(tmp_path / "t.npz", "w") as archive:
        archive.writestr("seconds.npy", out.getvalue())
    assert list(read_bag(beside("t.npz")).seconds) == [[8.0, 1.0, 2.0], [3.0, None, None]]


def test_an_npz_of_integers_is_read(beside, tmp_path):
    path = beside("t.npz", npz(tmp_path / "t.npz", seconds=np.array([[8, 1, 2], [3, 4, 5]], dtype=np.uint8)))
    assert list(read_bag(path).seconds) == [[8.0, 1.0, 2.0], [3.0, 4.0, 5.0]]


@pytest.mark.parametrize(
    ("arrays", "issue"),
    [
        pytest.param({"a": CELLS, "b": CELLS}, "t.npz, seconds: got the arrays 'a', 'b', expected one named seconds; rename the array", id="names"),
        pytest.param({}, "t.npz, seconds: got no arrays, expected one named seconds; rename the array", id="none"),
        pytest.param({"seconds": CELLS.T}, "t.npz, seconds: got the array 'seconds' of shape 3 x 2, expected 2 x 3, as the bag's lists have it; fix its shape", id="shape"),
        pytest.param({"seconds": np.array(3.0)}, "t.npz, seconds: got the array 'seconds' of shape none, expected 2 x 3, as the bag's lists have it; fix its shape", id="scalar"),
        pytest.param({"seconds": CELLS.astype(str)}, "t.npz, seconds: got the array 'seconds' of type <U32, expected plain numbers; convert it", id="texts"),
        pytest.param({"seconds": CELLS.astype(object)}, "t.npz, seconds: got the array 'seconds' of type object, expected plain numbers; convert it", id="objects"),
        pytest.param({"seconds": CELLS.astype(complex)}, "t.npz, seconds: got the array 'seconds' of type complex128, expected plain numbers; convert it", id="complex"),
        pytest.param({"seconds": CELLS, "task_types": np.array(["zip", "render"])}, "t.npz, seconds: got 'zip' at place 0 of its task_types, expected 'render'; write it in the order of the bag's lists", id="order"),
        pytest.param({"seconds": CELLS, "columns": np.array([1, 2, 3])}, "t.npz, seconds: got the array 'columns' of type int64, expected names of at most 401 characters; convert it", id="labels-numbers"),
        pytest.param({"seconds": np.array([[8.0, 1.0, 2.0], [3.0, 0.0, NAN]])}, f"t.npz, seconds.zip.gpu:P0: got 0.0, {A_TIME}; correct it", id="zero"),
        pytest.param({"seconds": np.array([[8.0, 1.0, 2.0], [3.0, 1e-31, NAN]])}, f"t.npz, seconds.zip.gpu:P0: got 1e-31, {A_TIME}; correct it", id="vanishing"),
        pytest.param({"seconds": np.array([[8.0, 1.0, 2.0], [3.0, 1.1e30, NAN]])}, f"t.npz, seconds.zip.gpu:P0: got 1.1e+30, {A_TIME}; correct it", id="huge"),
        pytest.param({"seconds": CELLS, "task_types": np.array(["render", "z" * 500])}, "t.npz, seconds: got the array 'task_types' of type <U500, expected names of at most 401 characters; convert it", id="labels-long"),
        pytest.param({"seconds": np.array([[-8.0, 1.0, 2.0], [3.0, 1.0, NAN]])}, f"t.npz, seconds.render.cpu: got -8.0, {A_TIME}; correct it", id="negative"),
        pytest.param({"seconds": np.array([[8.0, 1.0, np.inf], [3.0, 1.0, NAN]])}, f"t.npz, seconds.render.gpu:P1: got infinity, {A_TIME}; correct it", id="infinite"),
    ],
)  # fmt: skip
def test_each_fault_of_an_npz_is_told(beside, tmp_path, arrays, issue):
    assert issues_of(beside("t.npz", npz(tmp_path / "t.npz", **arrays))) == [issue]


def test_a_broken_npz_is_told(beside, tmp_path):
    whole = npz(tmp_path / "t.npz", seconds=CELLS)
    for content in (b"junk", whole[:-30], whole.replace(b"NUMPY", b"NUMPX")):
        (issue,) = issues_of(beside("t.npz", content))
        assert issue.startswith("t.npz, seconds: got a broken archive (")
        assert issue.endswith("expected an .npz file as numpy.savez writes it; write it again")


@pytest.mark.parametrize(
    "header", [b"{'descr': (", b"{[]:1}", b"{'descr':(),'fortran_order':False,'shape':(2,3)}", b"-" * 9000 + b"1"]
)
def test_a_forged_header_of_an_npz_is_told(beside, tmp_path, header):
    with zipfile.ZipFile(tmp_path / "t.npz", "w") as archive:
        archive.writestr("seconds.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    (issue,) = issues_of(beside("t.npz"))
    assert issue.startswith("t.npz, seconds: got a broken archive (")


def test_a_huge_header_of_an_npz_is_told_before_it_is_read(beside, tmp_path):
    with zipfile.ZipFile(tmp_path / "t.npz", "w") as archive:
        archive.writestr("seconds.npy", b"\x93NUMPY\x02\x00" + (2**31).to_bytes(4, "little") + b" ")
    assert issues_of(beside("t.npz")) == [
        "t.npz, seconds: got the array 'seconds' with a huge header, expected a plain array; write it again"
    ]


def test_a_machine_type_may_be_called_like_the_column_of_names(tmp_path):
    bag = bag_from_dict(sound(machine_types=[{"name": "task_type", "count": 1}], seconds=[[1.0], [2.0]], watts=...))
    for form in TableForm:
        assert read_bag(write_bag(bag, tmp_path / "b.yaml", form=form)[-1]) == bag


def test_what_could_not_be_read_again_is_not_written(tmp_path, monkeypatch):
    bag = bag_from_dict(SOUND)
    monkeypatch.setattr(limits, "MOST_YAML_BYTES", 100)
    monkeypatch.setattr(limits, "MOST_JSON_BYTES", 100)
    with pytest.raises(OutputError, match=r"it would have \d+ bytes, more than 100; write \.json"):
        write_bag(bag, tmp_path / "b.yaml")
    with pytest.raises(OutputError, match=r"it would have \d+ bytes, more than 100; choose --tables npz"):
        write_bag(bag, tmp_path / "b.json")
    monkeypatch.undo()
    with pytest.raises(OutputError, match="its name is not UTF-8; choose another name"):
        write_bag(bag, tmp_path / "\udcfe.yaml", form=TableForm.CSV)
    assert list(tmp_path.iterdir()) == []


def test_a_zero_watt_is_sound_in_an_npz(tmp_path):
    np.savez(tmp_path / "w.npz", watts=np.where(np.isnan(CELLS), NAN, -0.0))
    path = tmp_path / "b.json"
    machines = [{"name": "cpu", "count": 2}, {"name": "gpu", "count": 1, "p_states": ["P0", "P1"]}]
    path.write_text(json.dumps(sound(watts={"file": "w.npz"}, machine_types=machines)))
    watts = read_bag(path).watts
    assert watts == Table.of([[0.0, 0.0, 0.0], [0.0, None, None]])


def parquet(columns) -> bytes:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    out = pa.BufferOutputStream()
    pairs = list(columns.items() if isinstance(columns, dict) else columns)
    pq.write_table(
        pa.Table.from_arrays([pa.array(cells) for _, cells in pairs], names=[name for name, _ in pairs]), out
    )
    return bytes(out.getvalue().to_pybytes())


SECONDS = {"gpu:P1": [None, 2.0], "task_type": ["zip", "render"], "cpu": [3, 8], "gpu:P0": [NAN, 1.0]}


def test_a_parquet_table_may_have_its_rows_and_columns_in_any_order(beside):
    path = beside("t.parquet", parquet(SECONDS))
    assert list(read_bag(path).seconds) == [[8.0, 1.0, 2.0], [3.0, None, None]]


@pytest.mark.parametrize(
    ("content", "issue"),
    [
        pytest.param(b"junk", "got a broken file (", id="junk"),
        pytest.param(SECONDS | {"more": [1, 2]}, "got 2 rows and 5 columns, expected 2 rows and 4 columns, task_type among them; fix its shape", id="shape"),
        pytest.param({key: value for key, value in SECONDS.items() if key != "task_type"} | {"x": [1, 2]}, "got no names of task types, expected a column task_type of texts; add it", id="no-names"),
        pytest.param(SECONDS | {"task_type": [1, 2]}, "got no names of task types, expected a column task_type of texts; add it", id="numbers-for-names"),
        pytest.param(SECONDS | {"task_type": ["zip", "rendr"]}, "got the row 'rendr', expected only rows that the bag's lists name; did you mean 'render'?", id="row-unknown"),
        pytest.param(SECONDS | {"cpu": ["x", "y"]}, "got the column 'cpu' of type string, expected numbers; convert it", id="texts"),
        pytest.param(SECONDS | {"cpu": [True, False]}, "got the column 'cpu' of type bool, expected numbers; convert it", id="booleans"),
        pytest.param([("task_type", ["zip", "render"]), ("task_type", ["zip", "render"]), ("cpu", [1.0, 2.0]), ("gpu:P0", [1.0, 2.0])], "got the column 'task_type', expected only columns that the bag's lists name; correct or remove it", id="two-columns-of-names"),
        pytest.param(SECONDS | {"cpu": [3.0, -1.0]}, f"got -1.0, {A_TIME}; correct it", id="negative"),
    ],
)  # fmt: skip
def test_each_fault_of_a_parquet_table_is_told(beside, content, issue):
    found = issues_of(beside("t.parquet", content if isinstance(content, bytes) else parquet(content)))
    assert issue in found[0]
    assert found[0].startswith("t.parquet, seconds")


def test_a_parquet_file_that_unpacks_to_too_much_is_told(beside, monkeypatch):
    content = parquet(SECONDS)
    monkeypatch.setattr(limits, "MOST_ARCHIVE_BYTES", 10)
    (issue,) = issues_of(beside("t.parquet", content))
    assert f"got {len(content):,} bytes, expected at most 10 bytes" in issue


def test_without_pyarrow_the_message_says_what_to_install(beside, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"reading t.parquet needs the extra 'parquet'; install it:\n    .* 'pyarrow>="):  # fmt: skip
        read_bag(beside("t.parquet", b"x"))
    with pytest.raises(MissingExtraError, match="writing Parquet"):
        tables.write_parquet(Table.of([[1.0]]), ["a"], ["b"])


def test_a_csv_of_junk_gives_a_bounded_number_of_faults(tmp_path):
    width = 60
    names = [f"x{k}" for k in range(width)]
    text = tables.write_csv(Table.of([[1.0] * width] * width), names, names).decode().replace("1.0", "y")
    (tmp_path / "t.csv").write_text(text)
    types = [{"name": name, "count": 1} for name in names]
    raw = {
        "format": "lpsched-bag/1",
        "name": "b",
        "machine_types": types,
        "task_types": types,
        "seconds": {"file": "t.csv"},
    }
    (tmp_path / "b.json").write_text(json.dumps(raw))
    assert len(issues_of(tmp_path / "b.json")) == 1000
