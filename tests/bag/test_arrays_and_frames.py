"""Bags of NumPy arrays and of frames of pandas and polars."""

from __future__ import annotations

import numpy as np
import pytest

import lpsched
from lpsched import Bag, InstanceError, MachineType, TaskType
from lpsched.bag.certificate.claim import check

SECONDS = np.array([[62.0, np.nan], [80.5, 4.0]])
CPU, GPU = MachineType("cpu", 4, idle_watts=20.5), MachineType("gpu", 1)
PRICES = {"per_bag": 5, "electricity_per_kwh": 0}
BY_HAND = Bag.model_validate(
    {
        "name": "bag",
        "machine_types": [CPU, GPU],
        "task_types": [{"name": "render", "count": 10}, {"name": "train", "count": 3}],
        "seconds": {"render": {"cpu": 62}, "train": {"cpu": 80.5, "gpu": 4}},
        "prices": PRICES,
    }
)


class Column:
    """A column of polars, as far as it is used."""

    def __init__(self, values):
        self.values = values

    def to_list(self):
        return self.values


class Frame:
    """A frame of polars, as far as it is used: it has no index."""

    def __init__(self, data):
        self.data, self.columns = data, list(data)
        self.shape = (len(next(iter(data.values()))), len(data))

    def get_columns(self):
        return [Column(values) for values in self.data.values()]

    def select(self, names):
        return Frame({name: self.data[name] for name in names})

    def rows(self):
        return list(zip(*self.data.values(), strict=True))

    def __getitem__(self, name):
        return Column(self.data[name])


@pytest.mark.parametrize(
    ("tasks", "machines"),
    [
        ({"render": 10, "train": 3}, [CPU, GPU]),
        ((TaskType("render", 10), {"name": "train", "count": np.int64(3)}), (CPU, GPU)),
    ],
)
def test_arrays_make_the_same_bag_as_a_file(tasks, machines):
    assert Bag.from_arrays(SECONDS, tasks=tasks, machines=machines, prices=PRICES) == BY_HAND


def test_counts_in_order_get_names_and_masked_cells_cannot_run():
    masked = np.ma.masked_invalid(SECONDS)
    bag = Bag.from_arrays(masked, SECONDS * 2, tasks=np.array([10, 3]), machines=np.array([4, 1], dtype=np.int32))
    assert [task.name for task in bag.task_types] == ["task-1", "task-2"]
    assert bag.seconds.row(0) == [62.0, None]
    assert bag.watts is not None
    assert bag.watts.row(1) == [161.0, 8.0]


def test_tables_are_arrays_for_numpy():
    np.testing.assert_array_equal(np.asarray(BY_HAND.seconds), SECONDS)
    assert np.asarray(BY_HAND.seconds, dtype=np.float32).dtype == np.float32
    with pytest.raises(ValueError, match="read-only"):
        np.asarray(BY_HAND.seconds)[0, 0] = 1.0


def test_frames_of_pandas_are_matched_by_name():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    seconds = pandas.DataFrame(SECONDS, index=["render", "train"], columns=["cpu", "gpu"])
    machines = pandas.DataFrame({"count": [4, 1], "idle_watts": [20.5, 0.0]}, index=["cpu", "gpu"])
    bag = Bag.from_frames(
        seconds.loc[["train", "render"], ["gpu", "cpu"]],
        tasks=pandas.Series({"render": 10, "train": 3}),
        machines=machines,
        prices=PRICES,
    )
    assert bag == BY_HAND


def test_frames_of_polars_have_the_names_in_their_first_column():
    seconds = Frame({"task": ["train", "render"], "cpu": [80.5, 62.0], "gpu": [4.0, None]})
    machines = Frame({"machine": ["cpu", "gpu"], "count": [4, 1], "idle_watts": [20.5, 0.0]})
    tasks = Frame({"task": ["render", "train"], "count": [10, 3]})
    assert Bag.from_frames(seconds, tasks=tasks, machines=machines, prices=PRICES) == BY_HAND


@pytest.mark.parametrize(
    ("seconds", "tasks", "machines", "problem"),
    [
        ([1.0, 2.0], [1], [1], "got an array of 1 dimensions, expected an array of two dimensions"),
        ([["x"]], [1], [1], "could not convert string to float"),
        ([[1.0], [1.0, 2.0]], [1, 1], [1], "got no numbers"),
        (SECONDS, [1.5, 2], [0, 1], r"task_types\[0\].count: got 1.5, expected a whole number"),
        (SECONDS, [1], [1, 1], "got a table of 2 x 2, expected 1 x 2"),
        (-SECONDS, [1, 1], [1, 1], r"seconds\[1\]\[1\]: got -4.0, expected seconds"),
        (SECONDS, "ab", [1, 1], "got the text 'ab', expected counts by name"),
    ],
)
def test_what_does_not_fit_is_told_as_in_a_file(seconds, tasks, machines, problem):
    with pytest.raises(InstanceError, match=problem):
        Bag.from_arrays(seconds, tasks=tasks, machines=machines)


def test_a_frame_without_a_row_for_a_task_type_is_rejected():
    seconds = Frame({"task": ["train", "rendr"], "cpu": [80.5, 62.0]})
    with pytest.raises(InstanceError, match="got no row 'render', expected one row for each of 'render', 'train'"):
        Bag.from_frames(seconds, tasks={"render": 1, "train": 1}, machines={"cpu": 1})


def test_a_path_is_as_good_as_a_bag(tmp_path):
    file = tmp_path / "bag.yaml"
    lpsched.write(BY_HAND, file)
    for given in (str(file), file):
        assert lpsched.solve(given).value == lpsched.solve(BY_HAND).value
        assert lpsched.certify(given) == lpsched.certify(BY_HAND)
        assert check(given, lpsched.certify(BY_HAND)).accepted
    with pytest.raises(InstanceError, match=r"none\.yaml"):
        lpsched.solve(tmp_path / "none.yaml")
