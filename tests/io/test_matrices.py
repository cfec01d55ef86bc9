"""Mixing matrices in files: dense or by entries, and every error told with its file."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest

from lpsched.errors import InstanceError
from lpsched.facility.files import read_facility
from lpsched.facility.model import Mixing, facility_from_dict
from lpsched.io.tables import write_csv_matrix, write_npz_matrix
from tests.facilities import ALPHA, INLET_MIX, SOUND, sound_facility, sparse

DENSE = np.array(INLET_MIX)
ROWS, COLUMNS = np.nonzero(DENSE)
ENTRIES = {"rows": ROWS, "columns": COLUMNS, "values": DENSE[ROWS, COLUMNS]}


@pytest.fixture
def beside(tmp_path):
    def write(file, content=None, form="inlet_mix", **arrays):
        if content is None:
            out = io.BytesIO()
            np.savez(out, **arrays)
            content = out.getvalue()
        (tmp_path / file).write_bytes(content if isinstance(content, bytes) else content.encode())
        path = tmp_path / "f.json"
        path.write_text(json.dumps(sound_facility(mixing={form: {"file": file}})))
        return path

    return write


def issues_of(path) -> list[str]:
    with pytest.raises(InstanceError) as caught:
        read_facility(path)
    return [str(issue) for issue in caught.value.issues]


SOUND_MATRIX = sparse(INLET_MIX)
SHUFFLED = np.random.default_rng(0).permutation(len(ROWS))


@pytest.mark.parametrize(
    ("file", "written"),
    [
        pytest.param("m.npz", {"inlet_mix": DENSE}, id="dense"),
        pytest.param("m.npz", {"whatever": DENSE}, id="the-only-array"),
        pytest.param("m.npz", {"inlet_mix": DENSE, "other": DENSE[0]}, id="by-its-name"),
        pytest.param("m.npz", ENTRIES, id="entries"),
        pytest.param("m.npz", {key: array[SHUFFLED] for key, array in ENTRIES.items()}, id="shuffled"),
        pytest.param("m.npz", {"content": write_npz_matrix(SOUND_MATRIX)}, id="our-archive"),
        pytest.param("m.csv", {"content": write_csv_matrix(SOUND_MATRIX)}, id="our-csv"),
        pytest.param("m.csv", {"content": "\n".join(" , ".join(map(str, row)) for row in INLET_MIX)}, id="csv"),
    ],
)
def test_every_way_to_write_it_gives_the_same_matrix(beside, file, written):
    assert read_facility(beside(file, **written)) == facility_from_dict(SOUND)


def test_alpha_may_be_in_a_file_too(beside):
    facility = read_facility(beside("m.npz", form="alpha", alpha=np.array(ALPHA)))
    assert facility.mixing == Mixing("alpha", sparse(ALPHA))


def test_a_place_that_is_given_twice_is_refused(beside):
    twice = ENTRIES | {"columns": np.where(np.arange(len(COLUMNS)) == 1, 0, COLUMNS)}
    assert issues_of(beside("m.npz", **twice)) == [
        "m.npz, mixing.inlet_mix: got two entries at row 0, column 0, expected each place once; add them up"
    ]


def test_zeros_that_are_written_out_are_no_entries(beside):
    # Everyone breathes only its own air; the zeros beside are not a way from a unit to a node.
    places = {"rows": np.repeat(np.arange(4), 4), "columns": np.tile(np.arange(4), 4)}
    (issue,) = issues_of(beside("m.npz", **places, values=np.eye(4).ravel()))
    assert "got node 0 ('blade') and 1 other nodes with no air that ever was in a CRAC unit" in issue


BIG = np.zeros((5, 5))


@pytest.mark.parametrize(
    ("arrays", "issue"),
    [
        pytest.param({"inlet_mix": BIG}, "m.npz, mixing.inlet_mix: got the array 'inlet_mix' of shape 5 x 5 and type float64, expected 4 x 4 numbers; fix its shape or type", id="shape"),
        pytest.param({"inlet_mix": np.array(3.0)}, "m.npz, mixing.inlet_mix: got the array 'inlet_mix' of shape none and type float64, expected 4 x 4 numbers; fix its shape or type", id="scalar"),
        pytest.param({"inlet_mix": DENSE.astype(str)}, "m.npz, mixing.inlet_mix: got the array 'inlet_mix' of shape 4 x 4 and type <U32, expected 4 x 4 numbers; fix its shape or type", id="text"),
        pytest.param({"a": BIG, "b": BIG}, "m.npz, mixing.inlet_mix: got the arrays 'a', 'b', expected one named inlet_mix, or rows, columns, values; rename the array", id="which"),
        pytest.param({"inlet_mix": np.where(DENSE == 0.7, -0.7, DENSE)}, "m.npz, mixing.inlet_mix[1][3]: got -0.7, expected a share: a number from 0 to 1; correct it", id="negative"),
        pytest.param({"inlet_mix": np.where(DENSE == 0.7, np.nan, DENSE)}, "m.npz, mixing.inlet_mix[1][3]: got NaN, expected a share: a number from 0 to 1; correct it", id="nan"),
        pytest.param({"inlet_mix": np.where(DENSE == 0.7, 1e-31, DENSE)}, "m.npz, mixing.inlet_mix[1][3]: got 1e-31, expected 0, or at least 1e-30 a share; correct the unit", id="vanishing"),
        pytest.param(ENTRIES | {"rows": ROWS[:-1]}, "m.npz, mixing.inlet_mix: got the array 'rows' of shape 15, type int64, expected as many whole numbers as there are entries, at most 16; write rows, columns and values alike", id="lengths"),
        pytest.param({key: np.append(array, 0) for key, array in ENTRIES.items()}, "m.npz, mixing.inlet_mix: got the array 'rows' of shape 17, type int64, expected as many whole numbers as there are entries, at most 16; write rows, columns and values alike", id="too-many"),
        pytest.param(ENTRIES | {"columns": COLUMNS.astype(float)}, "m.npz, mixing.inlet_mix: got the array 'columns' of shape 16, type float64, expected as many whole numbers as there are entries, at most 16; write rows, columns and values alike", id="float-columns"),
        pytest.param(ENTRIES | {"rows": ROWS + 1}, "m.npz, mixing.inlet_mix: got an entry at row 4, column 0, expected numbers from 0 to 3; count from 0", id="counted-from-one"),
        pytest.param(ENTRIES | {"values": np.array([object()] * 16)}, "m.npz, mixing.inlet_mix: got the array 'values' of shape 16, type object, expected as many numbers as there are entries, at most 16; write rows, columns and values alike", id="pickle"),
    ],
)  # fmt: skip
def test_each_fault_of_an_archive_is_told(beside, arrays, issue):
    assert issue in issues_of(beside("m.npz", **arrays))


def test_junk_is_told_as_junk(beside):
    assert issues_of(beside("m.npz", content=b"PK\x03\x04junk")) == [
        "m.npz, mixing.inlet_mix: got a broken archive (BadZipFile), expected an .npz file as numpy.savez writes it; write it again"
    ]
    assert issues_of(beside("m.txt", content="1")) == [
        "m.txt, mixing.inlet_mix: got the ending '.txt', expected .npz or .csv; convert the matrix"
    ]


def test_a_file_that_is_not_there_is_told(tmp_path):
    path = tmp_path / "f.json"
    path.write_text(json.dumps(sound_facility(mixing={"inlet_mix": {"file": "none.npz"}})))
    assert issues_of(path) == [
        "none.npz, mixing.inlet_mix: got no file of this name (not found), expected a file; check the name"
    ]


def test_many_entries_with_all_their_digits_survive_both_formats():
    rng = np.random.default_rng(3)
    matrix = sparse(rng.random((4, 4)) * (rng.random((4, 4)) < 0.5))
    from_csv = np.array(
        [[float(x) for x in line.split(",")] for line in write_csv_matrix(matrix).decode().splitlines()]
    )
    with np.load(io.BytesIO(write_npz_matrix(matrix))) as archive:
        from_npz = np.zeros((4, 4))
        from_npz[archive["rows"], archive["columns"]] = archive["values"]
    assert (from_csv == from_npz).all()
    assert sparse(from_csv) == matrix
