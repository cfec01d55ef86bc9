from __future__ import annotations

import gzip
import os
from pathlib import Path

import numpy as np
import pytest

from lpsched.bag.files import read_bag
from lpsched.online.files import read_clusters, write_clusters_schedule
from lpsched.online.schedule import ClustersSchedule, PlacedOnNodes
from lpsched.traces.slurm import SlurmSize, clusters_of_slurm, read_sacct, read_system
from lpsched.traces.swf import clusters_of_swf, read_swf

DATA = Path(__file__).parent.parent / "data"
SWF = str(DATA / "small.swf")
SACCT = str(DATA / "sacct_with_steps.txt")
SHARED = str(DATA / "sacct_shared.txt")
FACILITY = str(DATA.parent.parent / "instances" / "facility-tiny.yaml")
NASA = "LPSCHED_NASA_LOG"  # where NASA's log is, for whoever has it


def test_a_log_becomes_a_file_of_clusters_and_all_is_told(lpsched, tmp_path):
    path = tmp_path / "log.yaml"
    code, out, err = lpsched("import", "swf", SWF, "--to", "clusters", "-o", str(path))
    had = "Hand made has 8 nodes, and jobs of the log had up to 15 at one time"
    assert (code, err) == (0, f"lpsched: warning: {had}: the log's own schedule does not fit\n")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert lines[0] == f"{path}: 5 tasks on 8 nodes"
    assert "jobs read 8" in lines
    assert "left out: cancelled before it ran 1" in lines
    assert "jobs kept 5" in lines
    assert "of them, jobs that ran longer than requested: the request is raised 1" in lines
    assert "processor-seconds in all 777.5" in lines
    assert "from the first submission to the last 50 s" in lines
    assert read_clusters(path) == clusters_of_swf("small", read_swf(DATA / "small.swf"))[0]


def test_json_tells_the_same(lpsched, tmp_path):
    path = str(tmp_path / "log.yaml")
    code, answer, _ = lpsched("import", "swf", SWF, "-o", path, "--json")
    assert code == 0
    assert answer["format"] == "lpsched-written/1"
    assert answer["files"] == [path]
    assert answer["instance"]["name"] == "small"
    log = answer["log"]
    assert (log["jobs_read"], log["jobs_kept"], log["dirty_lines"]) == (8, 5, {})
    assert log["left_out"]["no processors"] == 1
    assert log["totals"] == {
        "width_seconds": 777.5,
        "widest": 8,
        "submit_span_seconds": 50.0,
        "joules": None,
        "jobs_with_joules": 0,
    }


def test_options_of_a_log_reach_the_clusters(lpsched, tmp_path):
    path = tmp_path / "log.json"
    options = ["--group-by", "user", "--partitions", "1=4,2=2", "--cores-per-node", "2", "--name", "mine"]
    options += ["--watts-per-node", "100", "--cost", "seconds", "--weight", "cores", "--first", "5"]
    options += ["--times", "requested", "--only-completed", "--begin", "5", "--end", "1000"]
    assert lpsched("import", "swf", SWF, "-o", str(path), *options)[0] == 0
    clusters = read_clusters(path)
    assert [(each.name, each.nodes, each.cores_per_node) for each in clusters.clusters] == [
        ("partition 1", 4, 2),
        ("partition 2", 2, 2),
    ]
    assert (clusters.name, clusters.waiting.measure, clusters.waiting.weight) == ("mine", "seconds", "cores")
    assert list(clusters.arriving.job_numbers) == [2]  # 1 is early, 3 never ran, 4 has no request, 5 failed
    assert [each.name for each in clusters.task_types] == ["user 2, partition 2"]
    assert list(clusters.arriving.work_factors) == [40.0]


def test_dirty_lines_are_refused_or_counted(lpsched, tmp_path):
    log = tmp_path / "dirty.swf.gz"
    log.write_bytes(gzip.compress(Path(SWF).read_bytes() + b"9 60 1\n"))
    code, _, err = lpsched("import", "swf", str(log), "-o", str(tmp_path / "a.yaml"))
    assert code == 2
    assert "line 17: got 3 fields, expected 18 numbers" in err
    assert not (tmp_path / "a.yaml").exists()
    code, out, _ = lpsched("import", "swf", str(log), "-o", str(tmp_path / "a.yaml"), "--skip-dirty")
    assert code == 0
    assert "line skipped: not 18 fields" in out


def test_a_log_becomes_a_bag_with_its_cells_beside_it(lpsched, tmp_path):
    path = tmp_path / "bag.yaml"
    code, out, _ = lpsched("import", "swf", SWF, "--to", "bag", "--watts-per-node", "90", "-o", str(path))
    assert code == 0
    # Four jobs on 4, 2, 1 and 3 processors; 8 there are.
    held = [f"{path}.cells.csv: samples and spread of its tables", f"{path}: 10 tasks on 8 machines"]
    assert out.splitlines()[:2] == held
    assert read_bag(path).task_types[0].name == "size 4, time 128"
    assert (tmp_path / "bag.yaml.cells.csv").read_text().startswith("task_type,machine_type,jobs,tasks,seconds,")


def test_accounting_becomes_a_bag(lpsched, tmp_path):
    path = tmp_path / "bag.yaml"
    options = ["--to", "bag", "--group-by", "partition,name", "--count", "gpu=8", "-o", str(path)]
    code, out, _ = lpsched("import", "slurm", SACCT, *options, "--fill")
    assert code == 0
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert "left out: state TIMEOUT 1" in lines
    assert "total energy (3 jobs with data) 45.97 Wh" in lines
    assert "lammps gpu 0 58.33 - 510 - seconds and watts" in lines
    assert [machine.count for machine in read_bag(path).machine_types] == [3, 8]
    code, answer, _ = lpsched("import", "slurm", SACCT, *options, "--fill", "--json", "--force")
    assert answer["log"]["cells"] == {"pairs": 4, "estimated_seconds": 1, "estimated_watts": 2}
    code, _, err = lpsched("import", "slurm", SACCT, *options, "--force")
    assert code == 2
    assert "watts.gromacs.batch: got no sample of 'gromacs' on 'batch' with its energy" in err
    assert lpsched("import", "slurm", SACCT, *options, "--no-watts", "--force")[0] == 0
    assert read_bag(path).watts is None


def test_long_imports_name_their_files_and_cut_the_table(lpsched, tmp_path):
    log = tmp_path / "long.swf"
    jobs = [f"{n} {n} 0 10 1 -1 -1 1 20 -1 1 {n % 25} 1 1 1 1 -1 -1\n" for n in range(1, 1102)]
    log.write_text("; MaxProcs: 4\n" + "".join(jobs))
    path = tmp_path / "long.yaml"
    _, out, _ = lpsched("import", "swf", str(log), "-o", str(path))
    assert out.splitlines()[:2] == [f"{path}.tasks.csv: its tasks", f"{path}: 1,101 tasks on 4 nodes"]
    options = ["--to", "bag", "--group-by", "user", "--tables", "csv"]
    code, _, err = lpsched("import", "swf", str(log), "-o", str(path), *options)
    assert (code, err) == (2, f"lpsched: {path} exists; choose another name or add --force\n")
    path.unlink()
    code, _, err = lpsched("import", "swf", str(log), "-o", str(path), *options)
    assert (code, err) == (2, f"lpsched: {path}.tasks.csv exists; choose another name or add --force\n")
    _, out, _ = lpsched("import", "swf", str(log), "-o", str(path), *options, "--force")
    assert f"{path}.seconds.csv: its tables" in out
    assert out.splitlines()[-1] == "... and 5 more"


def test_accounting_becomes_clusters(lpsched, tmp_path):
    path = tmp_path / "log.yaml"
    assert lpsched("import", "slurm", SACCT, "--to", "clusters", "--name", "log", "-o", str(path))[0] == 0
    assert read_clusters(path) == clusters_of_slurm("log", read_sacct(SACCT))[0]
    options = ["--keep-states", "completed,timeout", "--machines-by", "all"]
    assert lpsched("import", "slurm", SACCT, "--to", "clusters", "-o", str(path), "--force", *options)[0] == 0
    assert list(read_clusters(path).arriving.job_numbers) == [101, 102, 103, 104, 107]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["swf", SWF, "--to", "bag", "--cost", "seconds"],
            "--cost: got the option with --to bag, expected --to clusters",
        ),
        (
            ["swf", SWF, "--nodes", "4", "--partitions", "1=4"],
            "--nodes: got the option with --partitions, expected one of them",
        ),
        (["swf", SWF, "--partitions", "gpu=4"], "--partitions: got 'gpu', expected numbers of partitions"),
        (["swf", SWF, "--partitions", "1:4"], "expected NAME=COUNT"),
        (["swf", SWF, "--partitions", "1=4,1=5"], "each name once"),
        (["swf", SWF, "--group-by", "color"], "grouping by 'color'"),
        (["swf", SWF, "--watts-per-node", "-5"], "watts"),
        (["swf", SWF, "--nodes", "10000000000000000"], "expected a whole number from 1 to 1e+15; correct it"),
        (["swf", SWF, "--partitions", "1=10000000000000000"], "expected NAME=COUNT"),
        (
            ["slurm", SACCT, "--to", "bag", "--weight", "cores"],
            "--weight: got the option with --to bag, expected --to clusters; leave it out",
        ),
        (
            ["slurm", SACCT, "--to", "clusters", "--fill"],
            "--fill: got the option with --to clusters, expected --to bag",
        ),
        (["slurm", SACCT, "--count", "gpu=0"], "expected NAME=COUNT"),
        (["slurm", SWF], "a header with JobID"),
        (["swf", SACCT], "expected 18 numbers"),
    ],
)
def test_what_does_not_go_together_is_refused(lpsched, tmp_path, arguments, said):
    code, _, err = lpsched("import", *arguments, "-o", str(tmp_path / "a.yaml"))
    assert code == 2
    assert said in err
    assert not list(tmp_path.iterdir())


def test_a_log_with_shared_nodes_says_what_became_of_it(lpsched, tmp_path):
    path, nodes = tmp_path / "log.yaml", str(DATA / "scontrol_nodes.txt")
    code, out, err = lpsched("import", "slurm", SHARED, "--to", "clusters", "--system", nodes, "-o", str(path))
    assert (code, err) == (0, "lpsched: warning: 1 line skipped: another number of cells than the header\n")
    assert out.startswith(f"{path}: 18 tasks on 128 cores\n")
    for sentence in (
        "partitions batch, debug have nodes in common: they are one cluster",
        "gpu: 64 cores, as the list of nodes says",
        "second 0 is 2024-03-04T08:00:03Z, the first submission",
        "the log's own starts are kept",
    ):
        assert sentence in out
    assert (
        read_clusters(path)
        == clusters_of_slurm("sacct_shared", read_sacct(SHARED), size=SlurmSize(system=read_system(nodes)))[0]
    )
    code, answer, _ = lpsched(
        "import", "slurm", SHARED, "--to", "clusters", "--unit", "gpu", "-o", str(path), "--json", "--force"
    )
    assert (code, answer["log"]["unit"], answer["log"]["repaired_lines"]["a newline in a name"]) == (0, "gpu", 1)
    assert answer["log"]["capacity"]["gpu"] == {"units": 8, "source": "peak", "peak": 8}
    assert len(answer["remarks"]) == 1
    code, _, _ = lpsched("import", "slurm", SHARED, "--to", "clusters", "--nodes", "6", "-o", str(path), "--force")
    assert code == 0
    assert (read_clusters(path).unit, read_clusters(path).nodes) == ("node", 6)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--no-skip-dirty"], "line 31: got 5 cells, expected 17"),
        (["--nodes", "6", "--unit", "core"], "--nodes: got the option with --unit core, expected --capacity"),
        (["--nodes", "6", "--capacity", "6"], "--capacity: got the option with --nodes, expected one of them"),
        (["--capacity", "many"], "--capacity: got 'many', expected a whole number from 1 to 1,000,000,000,000,000"),
        (["--capacity", "0"], "--capacity: got '0', expected a whole number from 1 to"),
        (["--capacity", "gpu=0"], "--capacity: got 'gpu=0', expected NAME=COUNT, each name once, and counts from 1 to"),
        (["--capacity", "96"], "--unit core"),
        (["--delimiter", ""], "--delimiter: got nothing"),
        (["--system", SHARED], "expected the output of 'scontrol show node' or of sinfo"),
    ],
)
def test_options_of_slurm_that_do_not_fit(lpsched, tmp_path, options, said):
    code, _, err = lpsched("import", "slurm", SHARED, "--to", "clusters", "-o", str(tmp_path / "a.yaml"), *options)
    assert code == 2
    assert said in err
    assert not list(tmp_path.iterdir())


def test_a_log_without_submit_times_makes_a_bag_and_valid_json(lpsched, tmp_path):
    short = str(DATA / "sacct_allocations.txt")
    options = ["--to", "bag", "--count", "batch=3,gpu=2", "--no-watts", "-o", str(tmp_path / "bag.yaml")]
    assert "first submit" not in lpsched("import", "slurm", short, *options)[1]
    _, answer, _ = lpsched("import", "slurm", short, *options, "--json", "--force")
    assert answer["log"]["totals"]["submit_span_seconds"] is None


def test_a_log_is_not_overwritten_by_its_import(lpsched, tmp_path):
    log = tmp_path / "log.yaml"
    log.write_bytes(Path(SWF).read_bytes())
    code, _, err = lpsched("import", "swf", str(log), "-o", str(log))
    assert code == 2
    assert "it is what is read" in err


def test_a_schedule_is_expanded_as_a_log_and_for_batsim(lpsched, tmp_path):
    path, rows = tmp_path / "log.yaml", tmp_path / "schedule.csv"
    lpsched("import", "swf", SWF, "-o", str(path))
    clusters = read_clusters(path)
    widths = list(clusters.arriving.core_counts)
    placed = [PlacedOnNodes(n, "Hand made", ((1, width),), 1000.0 * (n + 1)) for n, width in enumerate(widths)]
    write_clusters_schedule(ClustersSchedule(tuple(placed)), rows)
    for name in ("out.swf", "out.swf.gz", "out.csv", "out_jobs.csv"):
        code, out, _ = lpsched("expand", str(path), str(rows), "-o", str(tmp_path / name))
        assert (code, out) == (0, f"{tmp_path / name}: 5 tasks\n")
    assert read_swf(tmp_path / "out.swf")["wait_seconds"].tolist() == [1000, 1990, 2985, 3980, 4950]
    code, _, err = lpsched("expand", str(path), str(rows), "-o", str(tmp_path / "out.gz"))
    assert code == 2
    assert "expected the ending" in err
    code, _, err = lpsched("expand", FACILITY, str(rows), "-o", str(tmp_path / "new.csv"))
    assert code == 2
    assert "; use 'lpsched facility' for a facility" in err
    late = ClustersSchedule(tuple(placed[:2]))
    write_clusters_schedule(late, rows)
    code, _, err = lpsched("expand", str(path), str(rows), "-o", str(tmp_path / "late.csv"))
    assert code == 1
    assert "task 2 is not placed" in err


@pytest.mark.skipif(NASA not in os.environ, reason=f"set {NASA} to where NASA's log is")
def test_nasas_log_is_imported_whole_and_its_totals_are_known(lpsched, tmp_path):
    log = os.environ[NASA]
    with gzip.open(log, "rt") as file:
        lines = [line.split() for line in file if not line.startswith(";")]
    node_seconds = sum(int(line[3]) * int(line[4]) for line in lines)  # the second road
    assert (len(lines), node_seconds) == (18_239, 474_238_015)
    code, answer, _ = lpsched("import", "swf", log, "-o", str(tmp_path / "nasa.yaml"), "--json")
    assert code == 0
    assert (answer["log"]["jobs_read"], answer["log"]["jobs_kept"]) == (18_239, 18_239)
    assert answer["log"]["totals"]["width_seconds"] == node_seconds
    clusters = read_clusters(tmp_path / "nasa.yaml")
    assert (clusters.tasks, clusters.nodes) == (18_239, 128)
    assert set(clusters.arriving.core_counts) == {1, 2, 4, 8, 16, 32, 64, 128}
    trace = read_swf(log)
    assert len(np.unique(trace["user"])) == len({line[11] for line in lines}) == 69
    assert trace.said("Acknowledge") == "Bill Nitzberg"
