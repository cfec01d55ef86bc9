"""Clusters survive writing and reading, in every form; what is beside the file is read with care."""

from __future__ import annotations

import json
import re
import warnings

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import lpsched
from lpsched.errors import InstanceError, LpschedWarning
from lpsched.io.instance_files import TableForm, yaml_text
from lpsched.io.templates import template
from lpsched.model.problems import names_of
from lpsched.online.clusters import Clusters, ParallelTasks, clusters_from_dict
from lpsched.online.files import clusters_as_dict, read_clusters, write_clusters
from lpsched.online.parts import Cluster, Period
from lpsched.online.utility import WaitingCost
from tests.parallel import SOUND, Task, simple_clusters, sound_clusters, waiting_clusters
from tests.property.parallel import parallel_clusters

HEADER = "arrival_seconds,task_type,cores,work,requested_work,priority,urgency,utility_class,utility\n"
ROWS = """\
0,flow,16,,,high,soon,A,
2.5,mesh,17,,,,,,deadline
2.5,flow,1,0.5,2,low,soon,A,
1e2,mesh,4,1,,,,,slow
"""


def with_tasks(folder, text, name="t.csv"):
    """Write the sound clusters with their tasks in a file of this text."""
    (folder / name).write_text(text, encoding="utf-8")
    path = folder / "c.json"
    path.write_text(json.dumps(sound_clusters(tasks={"file": name})))
    return path


def issues_of(path) -> list[str]:
    with pytest.raises(InstanceError) as caught:
        read_clusters(path)
    return [str(issue) for issue in caught.value.issues]


@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(parallel_clusters(), st.sampled_from([None, *TableForm]), st.sampled_from(["c.yaml", "c.json"]))
def test_clusters_that_are_written_are_read_again(tmp_path, clusters, form, name):
    files = write_clusters(clusters, tmp_path / name, form=form)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LpschedWarning)  # no watts, tasks that arrive too late
        again = read_clusters(files[-1])
    assert again == clusters
    assert again.content_hash == clusters.content_hash


@pytest.mark.parametrize(
    ("form", "names"),
    [
        (None, ["c.yaml"]),
        (TableForm.NAMES, ["c.yaml"]),
        (TableForm.MATRIX, ["c.yaml"]),
        (TableForm.CSV, ["c.yaml.tasks.csv", "c.yaml"]),
        (TableForm.NPZ, ["c.yaml.tasks.csv", "c.yaml"]),
        (TableForm.PARQUET, ["c.yaml.tasks.parquet", "c.yaml"]),
    ],
)
def test_each_form_has_its_files_and_the_one_that_names_them_comes_last(tmp_path, form, names):
    for raw in (SOUND, waiting_clusters()):
        clusters = clusters_from_dict(raw)
        files = write_clusters(clusters, tmp_path / "c.yaml", form=form)
        assert [file.name for file in files] == names
        assert read_clusters(files[-1]) == clusters


def test_many_tasks_go_into_a_file_of_their_own(tmp_path):
    clusters = clusters_from_dict(waiting_clusters())
    for count, files in ((1000, 1), (1001, 2)):
        tasks = ParallelTasks.of(range(count), [0] * count, [1] * count)
        assert len(write_clusters(clusters.model_copy(update={"arriving": tasks}), tmp_path / "c.yaml")) == files
    assert read_clusters(tmp_path / "c.yaml").tasks == 1001


def test_written_clusters_read_well(tmp_path):
    raw = sound_clusters(period={"warm_up_seconds": 5}, made_by={"generator": "machovec", "seed": 3})
    write_clusters(clusters_from_dict(raw), tmp_path / "c.yaml")
    lines = (tmp_path / "c.yaml").read_text().splitlines()
    for line in (
        "format: lpsched-clusters/1",
        "  - {name: fat, nodes: 2, cores_per_node: 16, p_states: [P0, P1]}",
        "  flow:",
        "    thin: {1: 800.0, 4: 200.0, 8: 120.0}",
        "    fat: {1: [300.0, 500.0], 2: [180.0, 280.0]}",
        "period: {warm_up_seconds: 5.0, edge: prorated}",
        "made_by: {generator: machovec, seed: 3}",
    ):
        assert line in lines
    write_clusters(clusters_from_dict(waiting_clusters()), tmp_path / "w.yaml")
    lines = (tmp_path / "w.yaml").read_text().splitlines()
    assert "  job: {all: 1.0}" in lines  # the same for any number of nodes
    assert "waiting: {measure: bounded-slowdown}" in lines


def test_a_type_that_can_run_nowhere_is_written_with_no_clusters(tmp_path):
    raw = sound_clusters(task_types=[*SOUND["task_types"], {"name": "idle"}])
    write_clusters(clusters_from_dict(raw), tmp_path / "c.yaml")
    assert "  idle: {}" in (tmp_path / "c.yaml").read_text().splitlines()


def test_what_is_usual_of_waiting_is_left_out(tmp_path):
    for waiting, said in (
        (WaitingCost(), {"measure": "bounded-slowdown"}),
        (WaitingCost(at_least_seconds=60.0), {"measure": "bounded-slowdown", "at_least_seconds": 60.0}),
        (WaitingCost("seconds", "cores"), {"measure": "seconds", "weight": "cores"}),
        (WaitingCost("points", points=((0.0, 1.0),)), {"measure": "points", "points": [[0.0, 1.0]]}),
    ):
        clusters = simple_clusters([[2.0]], [1], [Task(0.0)], waiting=waiting)
        assert clusters_as_dict(clusters)["waiting"] == said
        write_clusters(clusters, tmp_path / "c.yaml")
        assert read_clusters(tmp_path / "c.yaml").waiting == waiting


def test_a_curve_that_is_not_the_same_for_all_nodes_of_its_cluster_is_written_out():
    tasks = [Task(0.0)]
    for cell, size, written in (
        ({1: 5.0, 3: 5.0}, 3, 5.0),
        ({1: 5.0, 3: 5.0}, 4, {1: 5.0, 3: 5.0}),  # ends before the cluster does
        ({1: 5.0, 3: 6.0}, 3, {1: 5.0, 3: 6.0}),
        ({1: 5.0, 2: 5.0, 3: 5.0}, 3, {1: 5.0, 2: 5.0, 3: 5.0}),
        ({1: 5.0}, 1, 5.0),
    ):
        clusters = simple_clusters([[cell]], [size], tasks, waiting=WaitingCost())
        assert clusters_as_dict(clusters)["seconds"] == {"t0": {"c0": written}}


def test_p_states_with_numbers_of_nodes_of_their_own_have_gaps(tmp_path):
    cells = [{1: 5.0, 2: 4.0}, {1: 9.0}, None]
    clusters = simple_clusters([cells], [2], [Task(0.0)], p_states=[("a", "b", "c")], waiting=WaitingCost())
    assert clusters_as_dict(clusters)["seconds"] == {"t0": {"c0": {1: [5.0, 9.0, None], 2: [4.0, None, None]}}}
    write_clusters(clusters, tmp_path / "c.yaml")
    assert read_clusters(tmp_path / "c.yaml") == clusters


def test_the_csv_of_tasks_has_only_the_columns_that_say_something(tmp_path):
    for rows, text in (
        (SOUND["tasks"][3:], "arrival_seconds,task_type,cores,utility\n100.0,mesh,4,slow\n"),
        ([SOUND["tasks"][3] | {"work": 2}], "arrival_seconds,task_type,cores,work,utility\n100.0,mesh,4,2.0,slow\n"),
        (
            [SOUND["tasks"][3] | {"requested_work": 2, "job": -1}],
            "arrival_seconds,task_type,cores,requested_work,job,utility\n100.0,mesh,4,2.0,-1,slow\n",
        ),
    ):
        write_clusters(clusters_from_dict(sound_clusters(tasks=rows)), tmp_path / "c.yaml", form=TableForm.CSV)
        assert (tmp_path / "c.yaml.tasks.csv").read_text() == text


@settings(max_examples=20)
@given(parallel_clusters())
def test_clusters_are_what_their_dump_describes(clusters):
    again = Clusters.model_validate(json.loads(json.dumps(clusters.model_dump())))
    assert (again, again.content_hash) == (clusters, clusters.content_hash)


def test_the_template_is_sound_and_says_every_key(tmp_path):
    (tmp_path / "c.yaml").write_text(template("clusters"))
    clusters = read_clusters(tmp_path / "c.yaml")
    assert set(clusters_as_dict(clusters)) == set(yaml.safe_load(template("clusters")))
    assert clusters.tasks == 3
    # what is optional as a whole stands there as a comment, and is sound without its marks
    optional = re.sub(r"^# (period:|made_by:|unit:|epoch:)", r"\1", template("clusters"), flags=re.MULTILINE)
    optional = re.sub(r"^#   (warm|length|edge|energy)", r"  \1", optional, flags=re.MULTILINE)
    (tmp_path / "c.yaml").write_text(optional)
    full = read_clusters(tmp_path / "c.yaml")
    assert set(clusters_as_dict(full)) == {"format", *names_of(Clusters)} - {"waiting"}
    assert (full.unit, full.epoch) == ("gpu", "2024-01-31T08:00:00Z")
    assert full.period == Period(14400.0, 86400.0, "prorated", 1e9)
    waiting = re.sub(
        r"^# (waiting:|  (measure|weight|at_least_seconds):)", r"\1", template("clusters"), flags=re.MULTILINE
    )
    said = yaml.safe_load(waiting)["waiting"]
    assert WaitingCost(**said) == WaitingCost()  # the template tells the defaults
    assert said.keys() == set(WaitingCost.model_fields) - {"points"}


def test_read_and_write_know_clusters(tmp_path):
    lpsched.write(clusters_from_dict(SOUND), tmp_path / "c.yaml")
    assert isinstance(lpsched.read(tmp_path / "c.yaml"), Clusters)


@pytest.mark.parametrize("text", [HEADER + ROWS, "\ufeff" + HEADER + ROWS.replace("\n", "\r\n") + "\r\n\r\n"])
def test_tasks_in_a_csv_are_those_inside_the_file(tmp_path, text):
    assert read_clusters(with_tasks(tmp_path, text)) == clusters_from_dict(SOUND)


def test_tasks_in_a_parquet_are_those_inside_the_file(tmp_path):
    columns = {
        "arrival_seconds": [0.0, 2.5, 2.5, 100.0],
        "task_type": pa.array(["flow", "mesh", "flow", "mesh"]).dictionary_encode(),
        "cores": pa.array([16, 17, 1, 4], pa.int16()),
        "work": pa.array([None, 1.0, 0.5, None], pa.float32()),
        "requested_work": [None, None, 2, None],
        "priority": ["high", None, "low", None],
        "urgency": ["soon", None, "soon", None],
        "utility_class": ["A", None, "A", None],
        "utility": [None, "deadline", None, "slow"],
    }
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    path = tmp_path / "c.json"
    path.write_text(json.dumps(sound_clusters(tasks={"file": "t.parquet"})))
    assert read_clusters(path) == clusters_from_dict(SOUND)


def test_whole_numbers_in_a_csv_may_be_written_as_doubles(tmp_path):
    path = with_tasks(tmp_path, "arrival_seconds,task_type,cores,job,utility\n0,flow,4.0,7,slow\n")
    assert list(read_clusters(path).arriving.core_counts) == [4]


def test_a_job_number_of_64_bits_survives(tmp_path):
    rows = [SOUND["tasks"][3] | {"job": job} for job in (2**63 - 1, 1 - 2**63, 2**53 + 1)]
    clusters = clusters_from_dict(sound_clusters(tasks=rows))
    for form in TableForm:
        files = write_clusters(clusters, tmp_path / "c.yaml", form=form)
        assert list(read_clusters(files[-1]).arriving.job_numbers or ()) == [2**63 - 1, 1 - 2**63, 2**53 + 1]


def test_lines_of_rules_are_those_of_the_file_in_every_piece(tmp_path, monkeypatch):
    monkeypatch.setattr("lpsched.io.limits.PIECE", 2)
    text = HEADER + ROWS + "\n100,flow,33,,,,,,slow\n"
    (issue,) = issues_of(with_tasks(tmp_path, text))
    assert issue.startswith("t.csv, line 7, tasks[4].cores: got 33 cores")


def test_a_line_of_a_yaml_file_is_told(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text(yaml_text(sound_clusters(tasks=[*SOUND["tasks"], SOUND["tasks"][3] | {"cores": 999}])))
    line = len(path.read_text().splitlines())
    assert any(each.startswith(f"line {line}, tasks[4].cores: got 999 cores") for each in issues_of(path))
    seconds = {"flow": {"thin": {1: 800.0, 4: -1.0}}}
    path.write_text(yaml_text(sound_clusters(seconds=seconds)))
    assert any(re.match(r"line 11, seconds\.flow\.thin\.4: got -1\.0", each) for each in issues_of(path))


def test_a_number_of_nodes_given_twice_is_told(tmp_path):
    text = yaml_text(sound_clusters())
    (tmp_path / "c.yaml").write_text(text.replace("thin: {1: 800.0,", "thin: {1: 800.0, 1: 2.0,", 1))
    assert any("got a key that was given before" in each for each in issues_of(tmp_path / "c.yaml"))


def test_awkward_names_survive(tmp_path):
    awkward = ["no", "1e9", "a,b", 'say "hi"', "a: b", "#x", "<script>", "$x$"]
    clusters = clusters_from_dict(
        sound_clusters(
            clusters=[{"name": name, "nodes": 3, "p_states": ["1", "null"]} for name in awkward],
            task_types=[{"name": name} for name in awkward],
            seconds={task: {name: {1: [1, 2], 2: [2, 3]} for name in awkward} for task in awkward},
            watts=...,
            utility_functions={name: [{"after_seconds": 0, "starts_at": 1}] for name in awkward},
            tasks=[{"arrival_seconds": 0, "task_type": name, "cores": 1, "utility": name} for name in awkward],
        )
    )
    for form in TableForm:
        path = write_clusters(clusters, tmp_path / "c.yaml", form=form)[-1]
        with pytest.warns(LpschedWarning, match="there are no watts"):
            assert read_clusters(path) == clusters


def test_a_cluster_of_many_nodes_takes_no_longer_to_write_or_read(tmp_path):
    clusters = simple_clusters([[7.0]], [10**15], [Task(0.0, 10**15)], waiting=WaitingCost())
    assert read_clusters(write_clusters(clusters, tmp_path / "c.json")[-1]) == clusters
    assert clusters.clusters[0] == Cluster("c0", 10**15)
