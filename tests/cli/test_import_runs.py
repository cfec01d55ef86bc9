"""`lpsched import runs` and `lpsched import gavel`; the files in tests/data have invented numbers."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from lpsched.bag.files import read_bag
from lpsched.facility.files import read_facility

DATA = Path(__file__).parent.parent / "data"
RUNS, MLPERF, GAVEL = str(DATA / "runs.csv"), str(DATA / "mlperf.csv"), str(DATA / "gavel.json")


def test_runs_become_a_bag_with_their_cells_beside_it(lpsched, tmp_path):
    path = tmp_path / "bag.yaml"
    options = ["--tasks-each", "10", "--tasks", "index=90", "--count", "cpu=8,gpu=2"]
    code, out, err = lpsched("import", "runs", RUNS, "-o", str(path), *options)
    assert code == 0
    assert err == "lpsched: warning: 1 cell of 4 without a run: the task cannot run there\n"
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert lines[:2] == [f"{path}.cells.csv: samples and spread of its tables", f"{path}: 100 tasks on 10 machines"]
    # (61.8 + 62.9 + 60.1) / 3 s at 33,688.1 J / 184.8 s; the square root of 3.98 / 2 is 2.29 % of 61.6
    assert "encode cpu 3 61.6 2.29 % 182.3 1.377 %" in lines
    bag = read_bag(path)
    assert (bag.name, [each.count for each in bag.task_types]) == ("bag", [10, 90])
    cells = (tmp_path / "bag.yaml.cells.csv").read_text().splitlines()
    assert len(cells) == 4
    assert cells[3].startswith("index,cpu,2,2,19.9,")
    assert lpsched("solve", str(path), "--objective", "makespan", "--risk", "samples=10,cov=file")[0] == 0


def test_json_says_files_runs_and_remarks(lpsched, tmp_path):
    path = str(tmp_path / "bag.yaml")
    code, answer, _ = lpsched("import", "runs", RUNS, "-o", path, "--fill", "--json")
    assert code == 0
    assert (answer["format"], answer["instance"]["name"]) == ("lpsched-written/1", "bag")
    assert answer["files"] == [f"{path}.cells.csv", path]
    cells = {"pairs": 4, "estimated_seconds": 1, "estimated_watts": 1}
    assert answer["runs"] == {"read": 7, "kept": 7, "cells": cells}
    assert answer["remarks"] == [
        "no table seconds_cov: 1 cell with fewer than 2 runs",
        "no table watts_cov: 1 cell with fewer than 2 runs",
        "one task of each type: set how many with --tasks-each and --tasks",
        "one machine of each type: set how many with --machines-each and --count",
    ]
    code, answer, _ = lpsched("import", "runs", RUNS, "-o", path, "--complete", "--no-watts", "--json", "--force")
    assert answer["runs"]["kept"] == 5  # of encode
    assert read_bag(Path(path)).watts is None
    code, answer, _ = lpsched("import", "gavel", GAVEL, "-o", path, "--json", "--force", "--count", "4")
    assert (code, answer["instance"]["name"], answer["files"]) == (0, "bag", [path])
    assert answer["remarks"] == ["power, room and arrivals are assumed; only speeds are measured"]


def test_options_reach_the_bag(lpsched, tmp_path):
    table, path = tmp_path / "mine.csv.gz", tmp_path / "bag.json"
    rows = "model,gpu,state,ms,joules,round\na,x,P0,2000,100,1\na,x,P0,2000,100,1\na,x,P1,5000,100,1\na,x,P1,1,1,2\n"
    table.write_bytes(gzip.compress(rows.encode()))
    options = ["--columns", "task=model,machine=gpu", "--columns", "p_state=state,milliseconds=ms", "--name", "mine"]
    options += ["--where", "round=1", "--distinct", "--machines-each", "3", "--tables", "names", "--quiet"]
    code, _, err = lpsched("import", "runs", str(table), "-o", str(path), *options)
    assert (code, err) == (0, "")
    bag = read_bag(path)
    assert (bag.name, bag.machines, bag.machine_types[0].p_states) == ("mine", 3, ("P0", "P1"))
    assert (bag.seconds.row(0), bag.watts.row(0)) == ([2, 5], [50, 20])


def test_what_exists_is_not_overwritten_without_force(lpsched, tmp_path):
    path = tmp_path / "bag.yaml"
    assert lpsched("import", "runs", RUNS, "-o", str(path))[0] == 0
    before = path.read_bytes()
    code, _, err = lpsched("import", "runs", RUNS, "-o", str(path), "--tasks-each", "2")
    assert (code, err) == (2, f"lpsched: {path} exists; choose another name or add --force\n")
    path.unlink()
    code, _, err = lpsched("import", "runs", RUNS, "-o", str(path))
    assert (code, err) == (2, f"lpsched: {path}.cells.csv exists; choose another name or add --force\n")
    assert lpsched("import", "runs", RUNS, "-o", str(path), "--force")[0] == 0
    assert path.read_bytes() == before
    code, _, err = lpsched("import", "gavel", GAVEL, "-o", str(path))
    assert (code, err) == (2, f"lpsched: {path} exists; choose another name or add --force\n")
    own = tmp_path / "own.json"
    own.write_text(Path(GAVEL).read_text())
    code, _, err = lpsched("import", "gavel", str(own), "-o", str(own), "--force")
    assert (code, "it is what is read" in err) == (2, True)


def test_published_results_become_bags(lpsched, tmp_path):
    for source, file in (("zeus", "summary_power_toy.csv"), ("veed", "avc-c5_large.csv"), ("mlperf", "mlperf.csv")):
        path = tmp_path / f"{source}.yaml"
        where = ["--where", "version=v3.1,SystemType=datacenter"] if source == "mlperf" else []
        code, out, _ = lpsched("import", "runs", str(DATA / file), "--source", source, "-o", str(path), *where)
        assert (code, f"{path}: {len(read_bag(path).task_types)} tasks" in out) == (0, True)


def test_jobs_that_share_gpus_become_a_facility(lpsched, tmp_path):
    path = tmp_path / "shared.yaml"
    options = ["--gpu", "k80", "--count", "3", "--load", "1", "--idle-watts", "20", "--full-watts", "0.1kW"]
    code, out, err = lpsched("import", "gavel", GAVEL, "-o", str(path), *options)
    assert (code, err) == (0, "lpsched: warning: power, room and arrivals are assumed; only speeds are measured\n")
    assert out == f"{path}: 3 nodes with 6 cores, 1 CRAC unit (1 task type, 1 node type)\n"
    made = read_facility(path)
    assert (made.name, made.task_types[0].arrivals_per_second, made.watts.row(0)) == ("shared", 3, [40])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["runs", str(DATA / "none.csv")], "got no file of this name"),
        (["runs", str(DATA / "none.parquet")], "got no file of this name"),
        (["runs", str(DATA)], "got a directory"),
        (["runs", str(DATA / "sacct_with_steps.txt")], "line 1: got cells separated by '|', expected commas"),
        (["runs", RUNS, "--where", "tsk=a"], "--where: got no column 'tsk', expected one of task, machine, seconds, wat"),
        (["runs", RUNS, "--where", "task"], "--where: got 'task', expected NAME=VALUE, each name once"),
        (["runs", RUNS, "--where", "task=a,task=b"], "--where: got 'task=b', expected NAME=VALUE, each name once"),
        (["runs", RUNS, "--columns", "secs=seconds"], "--columns: got no column 'secs', expected one of task, task_type,"),
        (["runs", RUNS, "--columns", "task=tusk"], "did you mean 'task'?"),
        (["runs", RUNS, "--count", "cpus=3"], "--count: got 'cpus', which has no runs here, expected one of cpu, gpu; did"),
        (["runs", RUNS, "--tasks", "index=0"], "--tasks: got 'index=0', expected NAME=COUNT"),
        (["runs", RUNS, "--tasks-each", "0"], "expected a whole number of at least 1"),
        (["runs", RUNS, "--source", "zeus"], "expected summary_power_GPU.csv"),
        (["runs", RUNS, "--source", "zeus", "--columns", "task=task"], "--columns: got the option with --source zeus"),
        (["runs", MLPERF, "--source", "mlperf"], "choose, such as --where version=v3.1,SystemType=datacenter"),
        (["gavel", RUNS], "got no JSON"),
        (["gavel", GAVEL, "--gpu", "v10"], "got no GPU 'v10', expected one of v100, k80; did you mean 'v100'?"),
        (["gavel", GAVEL, "--full-watts", "39"], "--full-watts: got 39 W, expected at least --idle-watts, 40 W"),
        (["gavel", GAVEL, "--count", "0"], "expected a whole number from 1 to 20000"),
    ],
)  # fmt: skip
def test_what_cannot_be_imported_is_refused_and_nothing_is_written(lpsched, tmp_path, arguments, said):
    code, out, err = lpsched("import", *arguments, "-o", str(tmp_path / "a.yaml"))
    assert (code, out) == (2, "")
    assert said in err
    assert "Traceback" not in err
    assert not list(tmp_path.iterdir())


def test_errors_of_a_file_are_an_answer_with_json(lpsched, tmp_path):
    table = tmp_path / "bad.csv"
    table.write_text("task,machine,seconds\na,m,0\n")
    code, answer, _ = lpsched("import", "runs", str(table), "-o", str(tmp_path / "a.yaml"), "--json")
    assert code == 2
    (issue,) = answer["error"]["faults"]
    assert issue == {
        "where": "line 2, seconds",
        "found": "'0'",
        "needed": "a number above 0",
        "do": "correct it, or remove the row",
    }
    assert [each.name for each in tmp_path.iterdir()] == ["bad.csv"]
