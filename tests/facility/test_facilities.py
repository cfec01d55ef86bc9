"""Facilities survive writing and reading, in every form; what is beside the file is read with care."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import lpsched
from lpsched.bag.model import Bag
from lpsched.errors import InstanceError, LpschedWarning, OutputError
from lpsched.facility.files import read_facility, write_facility
from lpsched.facility.model import Facility, facility_from_dict
from lpsched.io.instance_files import TableForm, yaml_text
from lpsched.io.templates import template
from tests.facilities import SOUND, facilities, sound_facility, within
from tests.support import SOUND as SOUND_BAG


def written(folder, raw, name="f.yaml"):
    path = folder / name
    path.write_text(json.dumps(raw) if name.endswith(".json") else yaml_text(raw))
    return path


def issues_of(path) -> list[str]:
    with pytest.raises(InstanceError) as caught:
        read_facility(path)
    return [str(issue) for issue in caught.value.issues]


@pytest.mark.filterwarnings("ignore::lpsched.errors.LpschedWarning")
@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(facilities(), st.sampled_from([None, *TableForm]), st.sampled_from(["f.yaml", "f.json"]))
def test_a_facility_that_is_written_is_read_again(tmp_path, facility, form, name):
    files = write_facility(facility, tmp_path / name, form=form)
    again = read_facility(files[-1])
    assert again == facility
    assert again.content_hash == facility.content_hash


@pytest.mark.parametrize(
    ("form", "names"),
    [
        (None, ["f.yaml"]),
        (TableForm.NAMES, ["f.yaml"]),
        (TableForm.MATRIX, ["f.yaml"]),
        (TableForm.CSV, ["f.yaml.speeds.csv", "f.yaml.watts.csv", "f.yaml.mixing.csv", "f.yaml"]),
        (TableForm.NPZ, ["f.yaml.npz", "f.yaml.mixing.npz", "f.yaml"]),
        (TableForm.PARQUET, ["f.yaml.speeds.parquet", "f.yaml.watts.parquet", "f.yaml.mixing.npz", "f.yaml"]),
    ],
)
def test_each_form_has_its_files_and_the_one_that_names_them_comes_last(tmp_path, form, names):
    files = write_facility(facility_from_dict(SOUND), tmp_path / "f.yaml", form=form)
    assert [file.name for file in files] == names
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted(names)


def test_runs_of_nodes_are_written_as_runs(tmp_path):
    flows = [[1 / 60] * 30 + [0.5]] * 31  # thirty towers and a unit that draws as much as all of them
    raw = sound_facility(
        nodes=[{"type": "tower", "count": 30}],
        crac_units=[SOUND["crac_units"][0] | {"airflow_m3_per_second": 6.0}],
        mixing={"inlet_mix": flows},
        power_cap_watts=5000,
    )
    with pytest.warns(LpschedWarning, match="f.yaml: no node is of type 'blade'"):
        facility = read_facility(written(tmp_path, raw))
    with pytest.warns(LpschedWarning):
        assert read_facility(write_facility(facility, tmp_path / "g.yaml")[-1]) == facility
    assert "  - {type: tower, count: 30}\n" in (tmp_path / "g.yaml").read_text()
    assert (tmp_path / "g.yaml.mixing.npz").exists()  # more than twenty places


def test_faults_have_the_lines_of_the_file(tmp_path):
    raw = sound_facility(
        **within("task_types.0.deadline_seconds", 5), **within("crac_units.0.cop", [-1.0]), power_cap_watts=0
    )
    path = written(tmp_path, raw)
    lines = path.read_text().splitlines()
    for issue in issues_of(path):
        line = int(issue.split("line ")[1].split(",")[0])
        word = issue.split(":")[0].split(", ")[1].split("[")[0]
        assert any(word in text for text in lines[:line][-3:]), issue
    assert len(issues_of(path)) == 3


def test_a_table_in_a_file_is_checked_in_the_facilitys_terms(tmp_path):
    (tmp_path / "s.csv").write_text("task_type,blade:fast,blade:saving,towr\nrender,0.05,0.03,0.04\nzip,2e12,0.1,\n")
    path = written(tmp_path, sound_facility(speeds={"file": "s.csv"}))
    assert issues_of(path) == [
        "s.csv, speeds: got the column 'towr', expected only columns that the facility's lists name; did you mean 'tower'?",
        "s.csv, speeds: got no column 'tower', expected a column for each; add it",
    ]
    (tmp_path / "s.csv").write_text("task_type,blade:fast,blade:saving,tower\nrender,0.05,0.03,0.04\nzip,2e12,0.1,\n")
    assert issues_of(path) == [
        "s.csv, line 3, speeds.zip.blade:fast: got 2000000000000.0, expected tasks per second: a number from 1e-12 to 1e+12; correct it"
    ]


def test_a_table_in_an_archive_keeps_the_facilitys_limits(tmp_path):
    cells = np.array([[0.05, 0.03, 0.04], [1e-13, 0.125, np.nan]])
    np.savez(tmp_path / "t.npz", speeds=cells, watts=np.where(cells < 1e-3, 1e13, cells))
    raw = sound_facility(speeds={"file": "t.npz"}, watts={"file": "t.npz"})
    assert issues_of(written(tmp_path, raw)) == [
        "t.npz, speeds.zip.blade:fast: got 1e-13, expected tasks per second: a number from 1e-12 to 1e+12; correct it",
        "t.npz, watts.zip.blade:fast: got 10000000000000.0, expected watts: a number from 0 to 1e+12; correct it",
    ]


def test_a_rule_broken_in_a_table_file_is_told_by_names(tmp_path):
    (tmp_path / "s.csv").write_text("task_type,blade:fast,blade:saving,tower\nrender,0.05,0.03,0.04\nzip,,,\n")
    (tmp_path / "w.csv").write_text("task_type,blade:fast,blade:saving,tower\nrender,25,12,30\nzip,,,\n")
    raw = sound_facility(speeds={"file": "s.csv"}, watts={"file": "w.csv"})
    assert issues_of(written(tmp_path, raw)) == [
        "s.csv, speeds.zip: got no node type that can run task type 'zip', expected at least one speed; give one a speed, or drop the task type"
    ]


def test_degradation_may_be_in_a_file_of_its_own(tmp_path):
    (tmp_path / "d.csv").write_text("task_type,light,heavy\nheavy,0.05,0.4\nlight,0,0.1\n")
    raw = sound_facility(degradation={"file": "d.csv"}, memory_classes=["heavy", "light"])
    assert read_facility(written(tmp_path, raw)) == facility_from_dict(SOUND)
    (tmp_path / "d.csv").write_text("task_type,light,heavy\nheavy,,0.4\nlight,0,0.1\n")
    assert issues_of(written(tmp_path, raw)) == [
        "d.csv, degradation.heavy.light: got nothing, expected a number; write 0 where one does not slow the other"
    ]


@pytest.mark.parametrize("file", ["../m.npz", "/etc/passwd", "a\0b.npz"])
def test_a_matrix_elsewhere_is_refused(tmp_path, file):
    path = written(tmp_path, sound_facility(mixing={"inlet_mix": {"file": file}}), "f.json")
    assert issues_of(path) == [
        f"mixing.inlet_mix.file: got the path {file!r}, expected a file in the folder of the facility, or below it; copy the matrix there"
    ]


def test_the_template_is_a_sound_facility(tmp_path):
    (tmp_path / "new.yaml").write_text(template("facility"))
    facility = read_facility(tmp_path / "new.yaml")
    assert (len(facility.nodes), facility.cores, facility.memory_classes) == (4, 14, ("heavy", "light"))


def test_another_ending_is_not_written(tmp_path):
    with pytest.raises(InstanceError, match=r"got the ending '\.toml', expected \.yaml or \.yml or \.json"):
        write_facility(facility_from_dict(SOUND), tmp_path / "f.toml")
    assert list(tmp_path.iterdir()) == []


def test_if_one_file_cannot_be_written_none_is(tmp_path):
    (tmp_path / "f.yaml.mixing.npz").mkdir()
    with pytest.raises(OutputError, match="it is a directory"):
        write_facility(facility_from_dict(SOUND), tmp_path / "f.yaml", form=TableForm.NPZ)
    assert [file.name for file in tmp_path.iterdir()] == ["f.yaml.mixing.npz"]


def test_lpsched_reads_and_writes_what_the_format_says(tmp_path):
    facility = lpsched.read(written(tmp_path, SOUND, "f.yaml"))
    bag = lpsched.read(written(tmp_path, SOUND_BAG, "b.yaml"))
    assert isinstance(facility, Facility)
    assert isinstance(bag, Bag)
    assert lpsched.read(lpsched.write(facility, tmp_path / "g.json")[-1]) == facility
    assert lpsched.read(lpsched.write(bag, tmp_path / "c.json")[-1]) == bag


@pytest.mark.parametrize(
    ("format_", "message"),
    [
        ("lpsched-days/1", "got the text 'lpsched-days/1', expected 'lpsched-bag/1' or 'lpsched-facility/1' or 'lpsched-day/1' or 'lpsched-clusters/1' or 'lpsched-study/1' or 'lpsched-bench/1' or 'lpsched-measurements/1'; check which file this is"),
        ("lpsched-facility/2", "got the text 'lpsched-facility/2', expected 'lpsched-facility/1'; install a newer lpsched"),
        (3, "got 3, expected 'format: lpsched-bag/1'; write it as the first key"),
    ],
)  # fmt: skip
def test_a_format_that_we_cannot_read_is_told(tmp_path, format_, message):
    with pytest.raises(InstanceError) as caught:
        lpsched.read(written(tmp_path, {"format": format_, "name": "x"}))
    assert message in str(caught.value.issues[0])


def test_a_file_that_says_no_mapping_is_taken_for_a_bag(tmp_path):
    (tmp_path / "f.yaml").write_text("- 1\n")
    with pytest.raises(InstanceError, match="expected a mapping that begins with 'format: lpsched-bag/1'"):
        lpsched.read(tmp_path / "f.yaml")
