"""Population files of NSGA-II: what is written is read back, bit by bit; what is not one is refused in words."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from lpsched.errors import InstanceError
from lpsched.evolve.genes import Genes, TaskPopulation
from lpsched.facility.genes import read_population
from lpsched.io.populations import read_task_population, write_task_population
from tests.days import decaying, simple_day
from tests.paper_facility import paper_facility
from tests.support import simple_bag

BAG = simple_bag([[1.0, 2.0]], [3], [1, 1], [[1.0, 2.0]])
GENES = Genes(*(np.arange(6, dtype=np.int32).reshape(2, 3) + k for k in range(3)))
SOUND = TaskPopulation(
    instance_hash=BAG.content_hash,
    objectives="energy and makespan",
    genes=GENES,
    scores=np.array([[1 / 3, 2.0], [4.0, -1.0]]),
    generations=7,
    seconds=1.25,
    reference=(4.0, 2.0),
    history=((0.5, 0, 0.25), (1.0, 3, 1.1)),
    random_state={"bit_generator": "PCG64", "state": {"state": 2**127 + 1, "inc": 5}, "has_uint32": 0, "uinteger": 0},
)  # fmt: skip


@pytest.mark.parametrize("kind", ["bag", "day"])
def test_a_population_comes_back_as_it_was_written(tmp_path, kind):
    day = simple_day([[1.0, 2.0]], [[1.0, 2.0]], [1, 1], [(0.0, 0, decaying(1.0))] * 3)
    instance = BAG if kind == "bag" else day
    written = replace(SOUND, instance_hash=instance.content_hash)
    write_task_population(written, instance, tmp_path / "p.npz")
    read = read_task_population(tmp_path / "p.npz", instance, objectives="energy and makespan")
    for name in ("machines", "columns", "orders"):
        assert getattr(read.genes, name).dtype == np.int32
        assert np.array_equal(getattr(read.genes, name), getattr(GENES, name))
    assert read.scores.tobytes() == SOUND.scores.tobytes()
    for name in ("instance_hash", "objectives", "generations", "seconds", "reference", "history", "random_state"):
        assert getattr(read, name) == getattr(written, name), name
    assert [type(cell) for cell in read.history[0]] == [float, int, float]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"genes": GENES._replace(machines=np.zeros((2, 4), dtype=np.int32))},
         "machines: got 2 x 4 cells of type int32, expected 2 x 3 of type int32; begin without it"),
        ({"genes": GENES._replace(columns=np.zeros((2, 3)))}, "columns: got 2 x 3 cells of type float64, expected 2 x 3 of"),
        ({"genes": GENES._replace(orders=GENES.orders[:1])}, "orders: got 1 x 3 cells of type int32, expected 2 x 3 of"),
        ({"scores": np.full((2, 2), np.nan)}, "scores: got a cell that is no finite number"),
        ({"scores": np.zeros((2, 3))}, "scores: got 2 chromosomes of 3 scores, expected at least 2 chromosomes of 2 scores"),
        ({"scores": np.zeros((1, 2))}, "scores: got 1 chromosomes of 2 scores, expected at least 2 chromosomes of 2 scores"),
        ({"scores": np.zeros((10_001, 2))}, "scores: got 10001 x 2 cells"),
        ({"objectives": 3}, "objectives: got 3, expected a text"),
        ({"reference": (1.0,)}, "reference: got a list of 1, expected two numbers"),
        ({"reference": (1.0, float("inf"))}, "reference: got a list of 2, expected two numbers"),
        ({"generations": -1}, "generations: got -1, expected a whole number from 0 up"),
    ],
    ids=lambda case: "-".join(case) if isinstance(case, dict) else "",
)  # fmt: skip
def test_what_does_not_fit_is_refused_in_words(tmp_path, change, message):
    write_task_population(replace(SOUND, **change), BAG, tmp_path / "p.npz")
    with pytest.raises(InstanceError, match=re.escape(message)):
        read_task_population(tmp_path / "p.npz", BAG)


def test_another_bags_population_is_refused(tmp_path):
    write_task_population(SOUND, BAG, tmp_path / "p.npz")
    message = "got a population of 'simple', with another hash, expected one of 'simple' as it is now; name what it was"
    with pytest.raises(InstanceError, match=message):
        read_task_population(tmp_path / "p.npz", simple_bag([[1.0, 2.5]], [3], [1, 1], [[1.0, 2.0]]))


def test_a_population_with_another_aim_is_refused(tmp_path):
    write_task_population(SOUND, BAG, tmp_path / "p.npz")
    message = "objectives: got 'energy and makespan', expected 'energy and utility'; go on with the objectives that it"
    with pytest.raises(InstanceError, match=message):
        read_task_population(tmp_path / "p.npz", BAG, objectives="energy and utility")


def test_a_facilitys_population_is_another_kind(tmp_path):
    write_task_population(SOUND, BAG, tmp_path / "p.npz")
    message = "format: got the text 'lpsched-task-population/1', expected 'lpsched-population/1'"
    with pytest.raises(InstanceError, match=message):
        read_population(tmp_path / "p.npz", paper_facility())


def test_junk_is_refused(written):
    with pytest.raises(
        InstanceError, match=r"a broken archive \(BadZipFile\), expected a file of format lpsched-task-pop"
    ):
        read_task_population(written("p.npz", b"junk"), BAG)
