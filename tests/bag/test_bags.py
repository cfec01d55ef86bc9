"""Bags survive every format and table form without loss; what is wrong with a file is told as it stands there."""

from __future__ import annotations

import json
import warnings

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lpsched.bag.files import read_bag, write_bag
from lpsched.bag.model import Bag, bag_from_dict
from lpsched.bag.parts import MachineType, TaskType
from lpsched.errors import InstanceError, LpschedWarning, OutputError
from lpsched.io.instance_files import TableForm
from lpsched.model.table import Table
from tests.support import SOUND, bags, sound

SUFFIXES = [".yaml", ".yml", ".json"]


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(bag=bags(), form=st.sampled_from(TableForm), suffix=st.sampled_from(SUFFIXES))
def test_every_format_and_table_form_gives_the_same_bag_back(tmp_path, bag, form, suffix):
    files = write_bag(bag, tmp_path / f"bag{suffix}", form=form)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LpschedWarning)  # drawn watts may lie below idle
        again = read_bag(files[-1])
    assert again == bag
    assert again.content_hash == bag.content_hash


def test_the_default_form_depends_on_the_size(tmp_path):
    def files(rows, columns):
        seconds = Table.of([[1.0] * columns] * rows)
        machines = tuple(MachineType(name=f"m{j}", count=1) for j in range(columns))
        bag = Bag("b", machines, tuple(TaskType(name=f"t{i}", count=1) for i in range(rows)), seconds)
        written = write_bag(bag, tmp_path / "b.json")
        return [path.name for path in written], json.loads((tmp_path / "b.json").read_text())["seconds"]

    names, table = files(2, 500)
    assert names == ["b.json"]
    assert isinstance(table, dict)
    names, table = files(2, 501)
    assert names == ["b.json"]
    assert isinstance(table, list)
    names, table = files(2, 50_001)
    assert names == ["b.json.npz", "b.json"]
    assert table == {"file": "b.json.npz"}


def test_yaml_is_written_for_people(tmp_path):
    write_bag(bag_from_dict(SOUND), tmp_path / "b.yaml")
    assert (tmp_path / "b.yaml").read_text() == (
        "format: lpsched-bag/1\n"
        "name: sound\n"
        "machine_types:\n"
        "  - {name: cpu, count: 2, idle_watts: 5.0}\n"
        "  - {name: gpu, count: 1, p_states: [P0, P1]}\n"
        "task_types:\n"
        "  - {name: render, count: 40}\n"
        "  - {name: zip, count: 5}\n"
        "seconds:\n"
        "  render: {cpu: 8.0, gpu: [1.0, 2.0]}\n"
        "  zip: {cpu: 3.0}\n"
        "watts:\n"
        "  render: {cpu: 50.0, gpu: [200.0, 90.0]}\n"
        "  zip: {cpu: 40.0}\n"
        "prices:\n"
        "  per_bag: 2.0\n"
        "  per_task: {zip: 0.5}\n"
        "  electricity_per_kwh: 0.1\n"
        "site: {pue: 1.5}\n"
    )


def test_an_output_of_another_ending_is_refused(tmp_path):
    with pytest.raises(InstanceError, match=r"got the ending '.txt', expected .yaml or .yml or .json"):
        write_bag(bag_from_dict(SOUND), tmp_path / "b.txt")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_told_and_nothing_is_left(tmp_path):
    with pytest.raises(OutputError, match=r"there is no folder .*; create it, or choose another"):
        write_bag(bag_from_dict(SOUND), tmp_path / "no" / "b.yaml", form=TableForm.CSV)
    (tmp_path / "dir.yaml").mkdir()
    with pytest.raises(OutputError, match="it is a directory; name a file"):
        write_bag(bag_from_dict(SOUND), tmp_path / "dir.yaml", form=TableForm.CSV)
    assert [path.name for path in tmp_path.iterdir()] == ["dir.yaml"]


def test_watts_below_idle_are_read_with_a_warning(tmp_path):
    path = tmp_path / "b.json"
    path.write_text(json.dumps(sound(watts={"render": {"cpu": 3.0, "gpu": [1, 1]}, "zip": {"cpu": 40}})))
    with pytest.warns(LpschedWarning, match=r"b.json: 'cpu' draws less running 'render' than idle \(5 W\)"):
        read_bag(path)


def issues_of(path) -> list[str]:
    with pytest.raises(InstanceError) as caught:
        read_bag(path)
    return [str(issue) for issue in caught.value.issues]


def test_faults_of_form_and_of_content_come_together_with_their_lines(tmp_path):
    path = tmp_path / "b.yaml"
    path.write_text(
        "format: lpsched-bag/1\nname: b\nmachine_types:\n  - {name: cpu, count: 0}\n"
        "task_types:\n  - {name: zip, count: 1}\nname: c\nseconds:\n  zip: {cpu: -1}\n"
    )
    assert issues_of(path) == [
        "line 7, name: got a key that was given before, expected each key once; remove one of the two",
        "line 4, machine_types[0].count: got 0, expected a whole number from 1 to 10^15; correct it, or drop the entry",
        "line 9, seconds.zip.cpu: got -1, expected seconds: a number from 1e-30 to 1e+30; correct it; leave it out if the pair cannot run",
    ]
