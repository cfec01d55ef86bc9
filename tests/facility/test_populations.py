"""Population files: what is written is read back, bit by bit; what is not one is refused in words."""

from __future__ import annotations

import json
import re
import zipfile
from dataclasses import fields, replace

import numpy as np
import pytest

from lpsched.errors import InstanceError, OutputError
from lpsched.facility.genes import Population, read_population, write_population
from tests.paper_facility import paper_facility

PAPER = paper_facility()
SOUND = Population(
    instance_hash=PAPER.content_hash,
    colocation=True,
    fractions=np.array([[[0.1], [1.0]], [[1 / 3], [0.0]]]),
    states=np.zeros((2, 2, 1), dtype=np.int16),
    outlets_celsius=np.array([[25.0], [24.5]]),
    scores=np.array([1.1, 1 / 3]),
    generations=7,
    seconds=1.25,
    history=((0.5, 0, 0.25), (1.0, 3, 1.1)),
    random_state={"bit_generator": "PCG64", "state": {"state": 2**127 + 1, "inc": 5}, "has_uint32": 0, "uinteger": 0},
)


def test_a_population_comes_back_as_it_was_written(tmp_path):
    write_population(SOUND, PAPER, tmp_path / "p.npz")
    read = read_population(tmp_path / "p.npz", PAPER)
    for each in fields(Population):
        written, found = getattr(SOUND, each.name), getattr(read, each.name)
        if isinstance(written, np.ndarray):
            assert found.dtype == written.dtype
            assert found.tobytes() == written.tobytes()
        else:
            assert found == written, each.name
    assert [type(cell) for cell in read.history[0]] == [float, int, float]


def test_a_population_without_improvements_is_read(tmp_path):
    write_population(replace(SOUND, history=()), PAPER, tmp_path / "p.npz")
    assert read_population(tmp_path / "p.npz", PAPER).history == ()


def test_another_facilitys_population_is_refused(tmp_path):
    write_population(SOUND, PAPER, tmp_path / "p.npz")
    message = "got a population of 'paper', with another hash, expected one of 'paper' as it is now"
    with pytest.raises(InstanceError, match=message):
        read_population(tmp_path / "p.npz", paper_facility(cap=281.0))


@pytest.mark.parametrize("colocation", [True, False])
def test_a_population_ranked_by_the_other_reward_is_refused(tmp_path, colocation):
    write_population(replace(SOUND, colocation=colocation), PAPER, tmp_path / "p.npz")
    assert read_population(tmp_path / "p.npz", PAPER, colocation=colocation).colocation is colocation
    found, needed = str(colocation).lower(), str(not colocation).lower()
    with pytest.raises(
        InstanceError, match=rf"colocation: got {found} \(a yes/no value\), expected {needed}; go on with the method"
    ):
        read_population(tmp_path / "p.npz", PAPER, colocation=not colocation)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"fractions": np.zeros((2, 3, 1))}, "fractions: got 2 x 3 x 1 cells of type float64, expected 2 x 2 x 1"),
        ({"fractions": np.zeros((2, 2, 1), dtype=np.float32)}, "of type float32, expected 2 x 2 x 1 of type float64"),
        ({"fractions": np.full((2, 2, 1), 1.5)}, "fractions: got a fraction below 0 or above 1, expected 0 to 1"),
        ({"fractions": np.full((2, 2, 1), -0.5)}, "fractions: got a fraction below 0 or above 1, expected 0 to 1"),
        ({"fractions": np.full((2, 2, 1), np.nan)}, "fractions: got a cell that is no finite number"),
        ({"states": np.zeros((2, 2, 1))}, "states: got 2 x 2 x 1 cells of type float64, expected 2 x 2 x 1 of type int16"),
        ({"outlets_celsius": np.zeros((2, 2))}, "outlets_celsius: got 2 x 2 cells of type float64, expected 2 x 1"),
        ({"outlets_celsius": np.full((2, 1), np.inf)}, "outlets_celsius: got a cell that is no finite number"),
        ({"scores": np.zeros((2, 1))}, "scores: got 2 x 1 cells of type float64, expected any of type float64"),
        ({"scores": np.zeros(0)}, "scores: got no chromosomes, expected at least one"),
        ({"scores": np.zeros(10_001)}, "scores: got 10001 cells"),
        ({"generations": -1}, "generations: got -1, expected a whole number from 0 up"),
        ({"generations": True}, "generations: got true (a yes/no value), expected a whole number from 0 up"),
        ({"generations": 1.0}, "generations: got 1.0, expected a whole number from 0 up"),
        ({"seconds": -1.0}, "seconds: got -1.0, expected a number from 0 up"),
        ({"seconds": float("nan")}, "seconds: got NaN, expected a number from 0 up"),
        ({"random_state": [1]}, "random_state: got a list of 1, expected a mapping"),
        ({"colocation": 1}, "colocation: got 1, expected true or false"),
    ],
    ids=lambda case: "-".join(case) if isinstance(case, dict) else "",
)  # fmt: skip
def test_what_does_not_fit_is_refused_in_words(tmp_path, change, message):
    write_population(replace(SOUND, **change), PAPER, tmp_path / "p.npz")
    with pytest.raises(InstanceError, match=re.escape(message)):
        read_population(tmp_path / "p.npz", PAPER)


def rewritten(tmp_path, name, content):
    """Write a population in which one array is another, or is missing."""
    write_population(SOUND, PAPER, tmp_path / "p.npz")
    with np.load(tmp_path / "p.npz") as archive:
        arrays = dict(archive)
    del arrays[name]
    if content is not None:
        arrays[name] = content
    np.savez(tmp_path / "q.npz", **arrays)
    return tmp_path / "q.npz"


def letters(content):
    return np.frombuffer(json.dumps(content).encode(), dtype=np.uint8)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("about", None, "got no array 'about', expected one; name a population file"),
        ("states", None, "got no array 'states', expected one; name a population file"),
        ("about", letters([]), "format: got a list of 0, expected 'lpsched-population/1'; name a population file"),
        ("about", letters({"format": "other"}), "format: got the text 'other', expected 'lpsched-population/1'"),
        ("about", np.array(["a"]), "about: got 1 cells of type <U1, expected any of type uint8"),
        ("about", np.full(5, 123, dtype=np.uint8), "got a broken archive (JSONDecodeError), expected a file of format"),  # {{{{{
        ("about", np.zeros(10**6 + 1, dtype=np.uint8), "about: got 1000001 cells of type uint8"),
        ("history", np.zeros((1, 2)), "history: got 1 x 2 cells of type float64, expected any x 3 of type float64"),
    ],
)  # fmt: skip
def test_an_archive_of_something_else_is_refused_in_words(tmp_path, name, content, message):
    with pytest.raises(InstanceError, match=re.escape(message)):
        read_population(rewritten(tmp_path, name, content), PAPER)


def test_an_array_that_only_claims_to_be_huge_is_refused_before_it_is_read(tmp_path):
    path = rewritten(tmp_path, "fractions", None)
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2000000000, 1000), }\n"
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("fractions.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    with pytest.raises(InstanceError, match="fractions: got 2 x 2000000000 x 1000 cells"):
        read_population(path, PAPER)


def test_junk_and_files_that_are_not_there_are_refused(tmp_path, written):
    with pytest.raises(InstanceError, match=r"got a broken archive \(BadZipFile\)"):
        read_population(written("p.npz", b"junk"), PAPER)
    with pytest.raises(InstanceError, match="got no file to read, expected a population file; check its name"):
        read_population(tmp_path / "none.npz", PAPER)
    with pytest.raises(InstanceError, match="got no file to read"):
        read_population(tmp_path, PAPER)


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path):
    with pytest.raises(OutputError, match="it is a directory"):
        write_population(SOUND, PAPER, tmp_path)
    write_population(SOUND, PAPER, tmp_path / "p.npz")
    with pytest.raises(TypeError):
        write_population(replace(SOUND, random_state={"state": object()}), PAPER, tmp_path / "p.npz")
    assert read_population(tmp_path / "p.npz", PAPER).generations == 7
    assert [path.name for path in tmp_path.iterdir()] == ["p.npz"]
