"""The commands that start, show and convert clusters."""

from __future__ import annotations

import json
from typing import get_args

import pytest

from lpsched.cli.options import Tables
from lpsched.online.clusters import Clusters, clusters_from_dict
from lpsched.online.files import read_clusters
from tests.parallel import SOUND, sound_clusters, waiting_clusters


@pytest.fixture
def clusters(tmp_path):
    path = tmp_path / "c.json"
    path.write_text(json.dumps(SOUND))
    return str(path)


def test_show_tells_of_nodes_cores_load_and_utility(lpsched, clusters):
    code, out, err = lpsched("show", clusters)
    assert (code, err) == (0, "")
    for line in (
        "sound: 4 tasks of 2 types arriving at 10 nodes with 64 cores in 2 clusters",
        "task kinds       4, different in type, cores, work or time requested",
        "cores requested  1 to 17, median 10",  # of 1, 4, 16, 17
        "time requested   1 times the actual run time (median)",  # of 1, 1, 1, 4
        "arrivals         0 s to 1 min 40 s",
        # flow with 16 cores: 200 s of 4 x 4 cores on thin; mesh: 70 s of 2 x 16 and 60 s of 16 on fat; flow with
        # 1 core: 0.5 x 300 s of 16 on fat: 3,200 + 2,240 + 960 + 2,400 core-seconds of 64 cores x 100 s
        "load             137.5 % of all cores",
        "utility          at most 16, of 4 functions",  # 4 + 8 + 1 + 3
        "thin         8           4     32         -           1",
        "fat          2          16     32         2           2",
        # 16 cores and 1; (200 + 150) / 2 s
        "flow           2            8.5     2 min 55 s",
        "mesh           2           10.5      1 min 5 s",
        "high / soon / A       1",
    ):
        assert line in out, line
    assert out.splitlines()[-1] == f"hash  {clusters_from_dict(SOUND).content_hash}"


def test_show_as_json_has_the_numbers(lpsched, clusters):
    code, answer, _ = lpsched("show", clusters, "--json")
    assert code == 0
    assert answer["instance"] == {"name": "sound", "hash": clusters_from_dict(SOUND).content_hash}
    assert (answer["tasks"], answer["nodes"], answer["cores"], answer["kinds"]) == (4, 10, 64, 4)
    assert answer["clusters"]["fat"] == {"nodes": 2, "cores_per_node": 16, "p_states": ["P0", "P1"]}
    assert answer["cores_asked"] == {"least": 1, "median": 10, "most": 17}
    assert answer["load"] == pytest.approx(1.375)
    assert answer["utility_at_most"] == pytest.approx(16.0)
    assert answer["task_types"] == {"flow": 2, "mesh": 2}
    assert (answer["waiting"], answer["period"], answer["made_by"]) == (None, None, None)


def test_show_counts_to_the_end_of_the_period(lpsched, tmp_path):
    path = tmp_path / "c.json"
    path.write_text(json.dumps(sound_clusters(period={"length_seconds": 50})))
    code, answer, err = lpsched("--json", "show", str(path))
    assert code == 0
    # without the last task, that arrives at 100 s: 3,200 + 2,240 + 2,400 of 64 x 50 core-seconds
    assert answer["load"] == pytest.approx(2.45)
    assert "1 of the tasks arrive when the period is over" in " ".join(err.split())


def test_show_of_clusters_judged_by_waiting_says_how(lpsched, tmp_path):
    path = tmp_path / "c.json"
    path.write_text(json.dumps(waiting_clusters()))
    code, out, err = lpsched("show", str(path))
    assert (code, err) == (0, "")
    assert "cost of waiting  bounded slowdown (runs of at least 10 s)" in out
    assert "power            not given: energy is unknown" in out
    assert "utility" not in out
    _, answer, _ = lpsched("show", str(path), "--json")
    assert answer["waiting"]["measure"] == "bounded-slowdown"
    assert (answer["utility_at_most"], answer["told"], answer["has_jobs"]) == (None, {}, True)


def test_show_of_tasks_that_all_arrive_at_once_claims_no_load(lpsched, tmp_path):
    path = tmp_path / "c.json"
    path.write_text(json.dumps(sound_clusters(tasks=SOUND["tasks"][:1])))
    _, out, _ = lpsched("show", str(path))
    assert "load             - of all cores" in out


def test_show_cuts_long_lists_and_knows_types_without_tasks(lpsched, tmp_path):
    names = [f"t{i}" for i in range(60)]
    raw = sound_clusters(
        task_types=[{"name": name} for name in names],
        seconds={name: {"thin": 5} for name in names},
        watts={name: {"thin": 5} for name in names},
        tasks=[{"arrival_seconds": 0, "task_type": "t59", "cores": 1, "utility": "slow"}],
    )
    path = tmp_path / "c.json"
    path.write_text(json.dumps(raw))
    _, out, _ = lpsched("show", str(path))
    assert "t29            0              -              -" in out
    assert "t30" not in out
    assert "... and 30 more (--json has all)" in out


@pytest.mark.parametrize("tables", get_args(Tables))
def test_convert_loses_nothing(lpsched, clusters, tmp_path, tables):
    code, answer, _ = lpsched("--json", "convert", clusters, "-o", str(tmp_path / "out.yaml"), "--tables", tables)
    assert code == 0
    assert answer["files"][-1] == str(tmp_path / "out.yaml")
    assert read_clusters(tmp_path / "out.yaml") == read_clusters(clusters)


def test_convert_tells_which_files_it_wrote(lpsched, clusters, tmp_path):
    _, out, _ = lpsched("convert", clusters, "-o", str(tmp_path / "o.yaml"), "--tables", "csv")
    assert out.splitlines() == [
        f"{tmp_path}/o.yaml: 4 tasks on 10 nodes with 64 cores (2 task types, 2 clusters)",
        f"{tmp_path}/o.yaml.tasks.csv: its tasks",
    ]


def test_new_clusters_prints_a_file_that_show_reads(lpsched, tmp_path):
    path = tmp_path / "new.yaml"
    code, out, _ = lpsched("new", "clusters", "-o", str(path))
    assert (code, out) == (0, f"{path}: edit it, then 'lpsched show {path}'\n")
    code, out, err = lpsched("show", str(path))
    assert (code, err) == (0, "")
    assert "my-clusters" in out


def test_schema_clusters_prints_the_schema(lpsched):
    code, out, _ = lpsched("schema", "clusters")
    assert code == 0
    assert json.loads(out) == Clusters.model_json_schema()


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (("solve",), "got the text 'lpsched-clusters/1', expected 'lpsched-bag/1'"),
        (("front",), "got the text 'lpsched-clusters/1', expected 'lpsched-bag/1' or 'lpsched-day/1'"),
    ],
)
def test_commands_for_other_kinds_say_what_clusters_are(lpsched, clusters, command, message):
    code, _, err = lpsched(*command, clusters)
    assert code == 2
    assert message in " ".join(err.replace("│", " ").split())
