"""The scripts' own promises: they say what is missing, and do no work twice."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from scripts.benches import evolve as bench_evolve
from scripts.benches import facility as bench_facility
from scripts.benches import gpu as bench_gpu
from scripts.benches import heart as bench_heart
from scripts.benches import heuristics as bench_heuristics
from scripts.benches import huge as bench_huge
from scripts.benches import reading as bench_reading
from scripts.benches import serve as bench_serve

ROOT = Path(__file__).parents[2]
SHELL = shutil.which("sh")

pytestmark = [
    pytest.mark.skipif(SHELL is None, reason="the scripts need a POSIX shell"),
    pytest.mark.unwatched,  # scripts are not covered code
]


@pytest.fixture
def clone(tmp_path):
    """A folder with a blank in its path, the scripts, and nothing else."""
    folder = tmp_path / "a clone"
    shutil.copytree(ROOT / "scripts", folder / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "pyproject.toml").write_text("[project]\n")
    return folder


def fake_python(folder: Path, body: str) -> str:
    path = folder / "python-fake"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return str(path)


def run(script: Path, folder: Path = Path("/"), **environment):
    return subprocess.run(
        [str(SHELL), str(script)], env=os.environ | environment, cwd=folder, capture_output=True, text=True, check=False
    )


def test_an_old_python_is_told(clone):
    old = fake_python(clone, 'case "$1" in --version) echo "Python 3.9.2";; *) exit 1;; esac')
    done = run(clone / "scripts" / "demo", PYTHON=old)
    assert done.returncode == 1
    assert "lpsched needs Python 3.11 or newer; found: Python 3.9.2." in done.stderr
    assert "PYTHON=/path/to/python3.12" in done.stderr


def test_a_missing_python_is_told(clone):
    done = run(clone / "scripts" / "test", PYTHON="/no/such/python")
    assert done.returncode == 1
    assert "lpsched needs Python 3.11 or newer; found: no /no/such/python." in done.stderr


def test_a_python_without_venv_is_told(clone):
    bare = fake_python(clone, 'case "$2" in *ensurepip*) exit 1;; *) exit 0;; esac')
    done = run(clone / "scripts" / "demo", PYTHON=bare)
    assert done.returncode == 1
    assert "has no venv module; on Debian and Ubuntu: apt-get install python3-venv." in done.stderr


def python_that_writes_down(clone: Path) -> tuple[str, Path]:
    """Return a stand-in for Python that makes a venv with itself inside, and the file of what it is asked to do."""
    log = clone / "log"
    body = (
        f'echo "$*" >> "{log}"\n'
        'case "$*" in "-m venv "*) mkdir -p "$3/bin"; cp "$0" "$3/bin/python"; cp "$0" "$3/bin/lpsched";; esac'
    )
    return fake_python(clone, body), log


def test_nothing_is_installed_twice(clone):
    fake, log = python_that_writes_down(clone)
    for _ in range(2):
        assert run(clone / "scripts" / "demo", PYTHON=fake).returncode == 0
    lines = log.read_text().splitlines()
    assert sum("pip install" in line for line in lines) == 1
    assert sum("-m venv" in line for line in lines) == 1
    (clone / "pyproject.toml").write_text("[project]\nname = 'changed'\n")
    assert run(clone / "scripts" / "demo", PYTHON=fake).returncode == 0
    lines = log.read_text().splitlines()
    assert sum("pip install" in line for line in lines) == 2
    assert sum("-m venv" in line for line in lines) == 1


@pytest.mark.parametrize(("place", "prefix"), [("a clone", ""), (".", "a clone/"), ("a clone/scripts", None)])
def test_the_demo_ends_with_commands_that_work_where_the_user_is(clone, place, prefix):
    fake, log = python_that_writes_down(clone)
    folder = clone.parent / place
    done = run(clone / "scripts" / "demo", folder, PYTHON=fake)
    assert done.returncode == 0
    solved = shlex.split(done.stdout.splitlines()[0])[1:]
    said, served, activated = (shlex.split(line.partition(":  ")[2]) for line in done.stderr.splitlines()[-3:])
    before = f"{clone}/" if prefix is None else prefix
    assert said[0] == f"{before}.venv/bin/lpsched"
    assert activated == [".", f"{before}.venv/bin/activate"]
    assert ["lpsched", *said[1:]] == [*solved, "--report", "solve.html"]
    assert served == [said[0], "serve", said[2], "--open"]
    assert (ROOT / said[2].removeprefix(before)).is_file()
    assert log.read_text().splitlines()[-1] == f"solve {clone / said[2].removeprefix(before)}"
    (installed,) = (line for line in log.read_text().splitlines() if "pip install" in line)
    assert re.search(r"\[.*\breport\b.*\bserve\b.*\]$", installed)  # the pages need them


@pytest.mark.slow
def test_the_benchmark_of_reading_prints_a_line_for_each_file(capsys):
    bench_reading.main(scale=0.01)
    lines = capsys.readouterr().out.splitlines()
    in_memory = [title for title, _ in bench_reading.in_memory(10, 100)]
    assert [line[:30].rstrip() for line in lines[1:]] == [*(case[0] for case in bench_reading.CASES), *in_memory]
    assert all(float(line.split()[-1]) > 0 for line in lines[1:])


@pytest.mark.slow
def test_the_benchmark_of_the_server_answers_every_request_and_prints_both_ratios(capsys):
    bench_serve.main(["--requests", "20", "--connections", "4"])
    out = capsys.readouterr().out
    served, cached = (line.split() for line in out.splitlines()[1:3])
    assert served[-1] == cached[-1] == "0"  # errors
    ratios = re.search(r"server / 1 process ([\d.]+), server / 2 processes ([\d.]+)", out)
    assert min(map(float, ratios.groups())) > 0


@pytest.mark.slow
def test_the_benchmark_of_the_heart_prints_its_tables(capsys, monkeypatch):
    monkeypatch.setattr(bench_heart, "TASKS", (10**4,))
    monkeypatch.setattr(bench_heart, "MACHINES", (720,))
    bench_heart.main(runs=1)
    out = capsys.readouterr().out
    assert "lpsched solve, whole" in out
    assert "1e+06 tasks, 720 m." in out
    assert "exact front: 53 vertices by" in out


def test_the_benchmark_of_heuristics_fails_on_a_makespan_that_is_not_the_published_one(tmp_path, capsys):
    # Min-min takes 2, 3 and 4 s as they come: 2 on the first, 3 on the second, 4 behind the 2: 6 s. Nothing
    # suffers where both machines are alike: so does sufferage.
    (tmp_path / "u_x.0.gz").write_text("3 2\n2.0\n2.0\n3.0\n3.0\n4.0\n4.0\n")
    (tmp_path / "known.csv").write_text("instance,lp_bound,min_min,sufferage\nu_x,4.5,6.0,6.0\n")
    bench_heuristics.main([str(tmp_path)])
    line = capsys.readouterr().out.splitlines()[2].split()
    assert (line[0], line[1], line[-1]) == ("u_x", "33.33", "yes")
    (tmp_path / "known.csv").write_text("instance,lp_bound,min_min,sufferage\nu_x,4.5,6.0,6.1\n")
    with pytest.raises(SystemExit, match="a makespan is not the published one"):
        bench_heuristics.main([str(tmp_path)])
    assert capsys.readouterr().out.splitlines()[2].endswith("sufferage 6.0, published 6.1")


@pytest.mark.slow
def test_the_benchmark_of_heuristics_counts_tasks(capsys, monkeypatch):
    monkeypatch.setattr(bench_heuristics, "TASKS", (100, 10**12))
    monkeypatch.setattr(bench_heuristics, "REPEATS", 1)
    bench_heuristics.main(["--counts"])
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[1][0] == "min-min"
    assert [line[0] for line in lines if "refused" in line] == ["max-min", "sufferage"]


@pytest.mark.slow
def test_the_benchmark_of_huge_bags_compares_with_highs(capsys):
    bench_huge.main(["--task-types", "400", "--machine-types", "80"])
    printed = capsys.readouterr().out
    assert printed.count("times faster than the better of the two") == 2
    assert [float(apart) < 1e-6 for apart in re.findall(r"bound (\S+) apart", printed)] == [True] * 4


@pytest.mark.slow
def test_the_benchmark_of_soft_prices_proves_a_small_gap(capsys):
    bench_gpu.main(["--device", "cpu", "--task-types", "9000", "--machine-types", "12"])
    value, bound, gap = re.search(r"value (\S+)   bound (\S+)   gap (\S+)", capsys.readouterr().out).groups()
    assert 0 < float(bound) <= float(value)
    assert float(gap) < 2e-4


@pytest.mark.slow
def test_the_benchmark_of_facilities_prints_proved_gaps(capsys):
    bench_facility.main(["small", "--gap", "0.2"])
    words = capsys.readouterr().out.splitlines()[1].split()
    assert words[:2] == ["small", "0"]
    assert 0 <= float(words[4]) <= 1e-6
    assert 0 <= float(words[6].rstrip("%")) <= 20
    assert words[-2:] == ["1", "hour"]


@pytest.mark.slow
def test_the_benchmark_of_nsga2_stays_above_the_exact_front(capsys, monkeypatch):
    monkeypatch.setattr(bench_evolve, "ROUNDS", 1)
    monkeypatch.setattr(bench_evolve, "TASKS", 60)
    monkeypatch.setattr(bench_evolve, "DAY", ROOT / "instances" / "utility-250.yaml")
    bench_evolve.main(["--generations", "3"])
    printed = capsys.readouterr().out
    assert "front-30x9: 1,000 tasks, 9 machine types, 36 machines" in printed
    rows = re.findall(r"(\d+) +([\d.]+) +(\S+)% +(\S+)%", printed)
    assert len(rows) == 4
    for ours, evolved in (rows[:2], rows[2:]):
        assert 0 < float(evolved[1]) < float(ours[1]) < 1  # hypervolume
        assert 0 < float(ours[2]) < 5 < float(evolved[2]) < float(evolved[3])  # mean above, and the largest
    assert float(rows[1][1]) < float(rows[3][1])  # the seeds are worth more than three generations
    assert len(re.findall(r"of a (bag|day) +\S+ ms +\S+ ms +\S+\n", printed)) == 2


def test_bench_without_a_name_lists_what_there_is():
    done = run(ROOT / "scripts" / "bench")
    assert done.returncode == 0
    assert done.stdout.startswith("clusters     Policies on clusters")
    assert "heart        How long the heart takes" in done.stdout
    assert "reading      How long reading a bag takes" in done.stdout


def test_ci_runs_everything():
    assert (ROOT / ".ci" / "run").read_text().rstrip().endswith("exec scripts/test --all")


def test_every_script_is_executable_or_sourced():
    for path in (ROOT / "scripts").iterdir():
        if path.suffix == "" and path.is_file():
            assert os.access(path, os.X_OK), path
