"""`lpsched generate clusters`: the Jobs paper's clusters."""

from __future__ import annotations

import pytest

from lpsched.generate.clusters import machovec_clusters
from lpsched.generate.options import MachovecOptions
from lpsched.online.files import read_clusters

SMALL = ["--nodes", "6,4", "--cores-per-node", "8,16", "--special-nodes", "none", "--general-task-types", "5"]


def test_the_command_makes_the_clusters_that_the_library_makes(lpsched, tmp_path):
    path = tmp_path / "clusters.yaml"
    code, out, err = lpsched("generate", "clusters", "--tasks", "1500", "--seed", "3", "-o", str(path))
    made = machovec_clusters("clusters-3", 3, MachovecOptions(tasks=1_500))
    assert (code, err) == (0, "")
    size = f"{made.tasks:,} tasks on 1,900 nodes with 100,000 cores (100 task types, 6 clusters)"
    assert out == f"{path}: {size}\n{path}.tasks.csv: its tasks\n"
    assert read_clusters(path) == made


def test_every_option_arrives(lpsched, tmp_path):
    path = tmp_path / "clusters.yaml"
    expected = MachovecOptions(
        tasks=200,
        hours=5.0,
        warm_up_hours=1.0,
        begins_at_hour=7.5,
        energy_gigajoules=0.5,
        p_states=2,
        nodes=(6, 4),
        cores_per_node=(8, 16),
        special_nodes=(9,),
        special_cores_per_node=(4,),
        general_task_types=7,
        special_task_types=3,
        core_steps=(4, 8, 16),
        shortest_hours=0.5,
        longest_hours=9.0,
        time_cov=0.1,
        cluster_cov=0.2,
        single_core="mean",
        node_watts=200.0,
        watts_cov=0.1,
        parallelism_share_least=0.1,
        parallelism_share_most=0.5,
        sigma_least=0.5,
        sigma_most=2.0,
        wave_amplitude=0.4,
    )
    default = MachovecOptions()
    words = []
    for name in MachovecOptions.model_fields:
        value = getattr(expected, name)
        assert value != getattr(default, name), f"{name} tells nothing"
        written = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
        words += [f"--{name.replace('_', '-')}", written]
    made = ["--seed", "4", "--name", "mine", "-o", str(path), *words]
    assert lpsched("generate", "clusters", *made)[0] == 0
    assert read_clusters(path) == machovec_clusters("mine", 4, expected)


def test_5_000_tasks_a_day_are_the_default(lpsched, tmp_path):
    path = tmp_path / "clusters.json"
    assert lpsched("generate", "clusters", "--seed", "4", "-o", str(path), *SMALL)[0] == 0
    made_by = read_clusters(path).made_by
    assert made_by is not None
    assert made_by["tasks"] == 5_000


def test_there_need_be_no_special_clusters(lpsched, tmp_path):
    path = tmp_path / "clusters.yaml"
    assert lpsched("generate", "clusters", "--tasks", "50", "--seed", "4", "-o", str(path), *SMALL)[0] == 0
    assert [cluster.name for cluster in read_clusters(path).clusters] == ["general-1", "general-2"]


def test_tasks_go_into_parquet_beside_the_file(lpsched, tmp_path):
    path = tmp_path / "clusters.json"
    made = ["--tasks", "60", "--seed", "3", "-o", str(path), "--tables", "parquet"]
    assert lpsched("generate", "clusters", *made)[0] == 0
    assert sorted(file.name for file in tmp_path.iterdir()) == ["clusters.json", "clusters.json.tasks.parquet"]
    assert read_clusters(path) == machovec_clusters("clusters-3", 3, MachovecOptions(tasks=60))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--nodes", "3,x"], "--nodes: got '3,x', expected counts such as 40,40,20"),
        (["--nodes", "3,4"], "--cores-per-node: got 4 numbers, expected 2, one for each of nodes"),
        (["--nodes", "none"], "--cores-per-node: got 4 numbers, expected 0, one for each of nodes"),
        (["--hours", "-4", "--p-states", "9"], "--hours: got -4.0, expected 0.01 to 8784"),
        (["--hours", "-4", "--p-states", "9"], "--p-states: got 9, expected 1 to 3"),
        (["--core-steps", "4,256"], "--core-steps: got (4, 256), expected three rising numbers"),
        (["--tasks", "0"], "--tasks: got 0, expected 1 to 1e+07"),
        (["--seed", "-1"], "--seed: got '-1', expected a whole number of at least 0; correct it"),
        (["--single-core", "x"], "--single-core: got 'x', expected one of home, mean; choose one"),
    ],
)
def test_what_cannot_be_made_is_refused_and_nothing_is_written(lpsched, tmp_path, options, message):
    path = tmp_path / "clusters.yaml"
    code, out, err = lpsched("generate", "clusters", "--seed", "1", "-o", str(path), *options)
    assert (code, out) == (2, "")
    assert message in " ".join(err.split())
    assert not path.exists()


def test_a_seed_is_required(lpsched, tmp_path):
    code, _, err = lpsched("generate", "clusters", "-o", str(tmp_path / "x.yaml"))
    assert code == 2
    assert "--seed: got nothing, expected a whole number of at least 0; add it" in err


def test_another_ending_is_refused_before_anything_is_drawn(lpsched, tmp_path):
    code, _, err = lpsched("generate", "clusters", "--seed", "1", "-o", str(tmp_path / "x.csv"))
    assert code == 2
    assert ".yaml" in err


def test_the_words_of_the_option_are_those_of_the_library(lpsched):
    assert "--single-core <home|mean>" in lpsched("generate", "clusters", "--help")[1]
    assert {MachovecOptions(single_core=word).single_core for word in ("home", "mean")} == {"home", "mean"}
