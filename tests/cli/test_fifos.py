"""Pipes and devices where files are expected: rejected at once, for every input and output of every command."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.cli.test_output_conflicts import READING, REST, called, leaves, option_of, outputs_of, reads_a_file

INSTANCES = Path(__file__).parents[2] / "instances"
TINY, ROOM, DAY = (str(INSTANCES / name) for name in ("tiny.yaml", "facility-tiny.yaml", "utility-250.yaml"))
CLUSTERS = str(INSTANCES / "clusters-small.yaml")
HOURS = ("--objective", "cost", "--horizon", "2h", "--start", "20240109")
HERE = str(INSTANCES / "prices-de-2024-01-08.csv")
pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no such pipes")
SECONDS = 20
ENDINGS = {"etc": ".csv", "runs": ".csv", "slurm": ".txt", "swf": ".swf"}


@pytest.fixture(autouse=True)
def no_waiting():
    """Fail instead of waiting for a writer that never comes."""

    def stop(*_):
        raise AssertionError("it waits")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def fifo(path):
    os.mkfifo(path)
    return str(path)


def check(lpsched, *given):
    code, out, err = lpsched(*given)
    assert (code, out, "a device or pipe" in err) == (2, "", True), err
    assert "Traceback" not in err


@pytest.mark.rotate(12)
@pytest.mark.parametrize("words", sorted({words for words, each in leaves().items() if reads_a_file(each)} - {"serve"}))
def test_a_pipe_for_the_file_of_a_command_is_rejected(lpsched, tmp_path, words):
    rest = list(REST.get(words, ()))
    for param in outputs_of(leaves()[words]):
        if param.required or (words, param.name) == ("measure", "output"):
            rest += ["-o", str(tmp_path / f"out{option_of(words, param.name)[1][0]}")]
    ending = ENDINGS.get(words.rpartition(" ")[2], ".jsonl" if words == "study report" else ".yaml")
    check(lpsched, *words.split(), fifo(tmp_path / f"pipe{ending}"), *rest)


@pytest.mark.parametrize(
    ("given", "ending"),
    [
        (("expand", TINY, "PIPE", "-o", "OUT.csv"), ".json"),
        (("expand", CLUSTERS, "PIPE", "-o", "OUT.csv"), ".csv"),
        (("solve", TINY, *HOURS, "--tariff", "PIPE"), ".csv"),
        (("solve", TINY, *HOURS, "--tariff", "PIPE"), ".parquet"),
        (("solve", TINY, *HOURS, "--tariff", HERE, "--carbon", "PIPE"), ".csv"),
        (("solve", TINY, *HOURS, "--tariff", HERE, "--caps", "PIPE"), ".csv"),
        (("simulate", TINY, *HOURS[2:], "--tariff", HERE, "--forecast", "PIPE"), ".csv"),
        (("simulate", DAY, "--scheduler", "PIPE:f"), ".py"),
        (("validate", TINY, "--scheduler", "PIPE:f"), ".py"),
        (("facility", ROOM, "--scheduler", "ga", "--state", "PIPE"), ".npz"),
        (("front", TINY, "--scheduler", "nsga2", "--state", "PIPE"), ".npz"),
        (("generate", "bag", "--method", "grow", "--from", "PIPE", "-o", "OUT.yaml", "--seed", "1"), ".yaml"),
        (
            ("generate", "day", "--from", "PIPE", "-o", "OUT.yaml", "--seed", "1", "--tasks", "3", "--minutes", "1"),
            ".yaml",
        ),
        (("import", "etc", HERE, "--power", "PIPE", "-o", "OUT.yaml"), ".csv"),
        (("import", "slurm", HERE, "--system", "PIPE", "-o", "OUT.yaml", "--to", "clusters"), ".txt"),
        (("study", "run", "STUDY", "-o", "PIPE"), ".jsonl"),
        (("study", "run", "STUDY", "-o", "PIPE", "--resume"), ".jsonl"),
    ],
)
def test_a_pipe_anywhere_else_is_rejected(lpsched, tmp_path, given, ending):
    study = tmp_path / "study.yaml"
    study.write_text("format: lpsched-study/1\nname: s\ninstances: [{generate: bag, seeds: [1]}]\nmethods: [lp]\n")
    pipe, words = fifo(tmp_path / f"pipe{ending}"), {"STUDY": str(study)}
    out = str(tmp_path / "OUT")
    check(lpsched, *(words.get(each, each).replace("PIPE", pipe).replace("OUT.", f"{out}.") for each in given))


@pytest.mark.parametrize(
    ("given", "ending"),
    [
        (("validate", TINY, "PIPE"), ".json"),
        (("validate", TINY, "PIPE"), ".csv"),
        (("validate", TINY, "PIPE"), ".parquet"),
        (("validate", ROOM, "PIPE"), ".json"),
        (("validate", DAY, "PIPE"), ".csv"),
        (("verify", TINY, "PIPE"), ".json"),
        (("verify", TINY, "PIPE"), ".csv"),
        (("verify", ROOM, "PIPE"), ".json"),
        (("verify", CLUSTERS, "PIPE"), ".parquet"),
    ],
)
def test_a_pipe_among_files_to_check_is_one_that_is_not_accepted(lpsched, tmp_path, given, ending):
    pipe = fifo(tmp_path / f"pipe{ending}")
    code, out, _ = lpsched(*(each.replace("PIPE", pipe) for each in given))
    assert (code, "pipe" in out) == (1, True)


TYPES = "machine_types: [{name: m, count: 1}]\ntask_types: [{name: t, count: 1}]\n"
SIDECARS = {
    "tables.npz": "format: lpsched-bag/1\nname: b\n" + TYPES + "seconds: {file: PIPE}\n",
    "tables.csv": "format: lpsched-bag/1\nname: b\n" + TYPES + "seconds: {file: PIPE}\n",
    "tables.parquet": "format: lpsched-bag/1\nname: b\n" + TYPES + "seconds: {file: PIPE}\n",
    "bag.yaml": "format: lpsched-study/1\nname: s\ninstances: [{file: PIPE}]\nmethods: [lp]\n",
}


@pytest.mark.parametrize("name", SIDECARS)
def test_a_pipe_that_a_file_names_is_rejected(lpsched, tmp_path, name):
    fifo(tmp_path / name)
    (file := tmp_path / "file.yaml").write_text(SIDECARS[name].replace("PIPE", name))
    check(lpsched, *(("study", "run") if name == "bag.yaml" else ("show",)), str(file))


def test_the_tasks_of_a_day_that_are_a_pipe_are_rejected(lpsched, tmp_path):
    text = Path(CLUSTERS).read_text().replace("clusters-small.yaml.tasks.csv", "tasks.csv")
    (tmp_path / "day.yaml").write_text(text)
    fifo(tmp_path / "tasks.csv")
    check(lpsched, "show", str(tmp_path / "day.yaml"))


@pytest.mark.parametrize(("words", "name"), READING)
def test_a_pipe_for_an_output_is_rejected_also_with_force(lpsched, tmp_path, words, name):
    option, endings = option_of(words, name)
    (file := tmp_path / "read.json").write_text("{}")
    path = tmp_path / f"out{endings[0]}"
    fifo(path)
    check(lpsched, *called(words, file, option, path))
    assert path.is_fifo()


def test_samples_of_a_bench_that_are_a_pipe_are_rejected(lpsched, tmp_path):
    bench = tmp_path / "bench.yaml"
    bench.write_text(
        'format: lpsched-bench/1\nname: b\nmachine_type: m\ncores: 1\napplications:\n  - {name: a, command: ["true"]}\n'
    )
    fifo(tmp_path / "node.samples.jsonl")
    check(lpsched, "measure", str(bench), "-o", str(tmp_path / "node.yaml"), "--resume", "--quiet")
