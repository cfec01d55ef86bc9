"""Files out: rows of tasks, nothing overwritten without --force; and schedulers of a user's own file."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from lpsched import heuristics as lpsched_heuristics
from lpsched.cli.main import _command
from lpsched.cli.options import OUTPUT

INSTANCES = Path(__file__).parents[2] / "instances"
TINY, ROOM = str(INSTANCES / "tiny.yaml"), str(INSTANCES / "facility-tiny.yaml")
CLUSTERS, DAY = str(INSTANCES / "clusters-small.yaml"), str(INSTANCES / "utility-250.yaml")
FUNCTIONS = """
from lpsched import TaskRow

def all_slow(bag, rng):
    return [TaskRow(task.name, "slow", 1 + k % 2) for task in bag.task_types for k in range(task.count)]

def nonsense(bag, rng):
    return 42

def raising(bag, rng):
    raise RuntimeError("no idea")

def waits(state, rng):
    return []
"""


@pytest.fixture
def own(tmp_path):
    path = tmp_path / "own.py"
    path.write_text(FUNCTIONS)
    return str(path)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_solve_writes_one_row_per_task_that_validate_and_verify_accept(lpsched, tmp_path, ending):
    rows = tmp_path / f"plan.{ending}"
    assert lpsched("solve", TINY, "-o", str(rows))[0] == 0
    # 6 scans of 2 s on the 'fast' one, 6 prints of 4 s on the two 'slow' ones: 12 s each.
    if ending == "csv":
        with rows.open(newline="") as file:
            read = list(csv.DictReader(file))
    else:
        read = pq.read_table(rows).to_pylist()
    assert list(read[0]) == ["task", "task_type", "machine_type", "machine", "p_state", "start_seconds", "end_seconds"]
    assert [int(row["task"]) for row in read] == list(range(12))
    last = [
        (row["task_type"], row["machine_type"], int(row["machine"])) for row in read if float(row["end_seconds"]) == 12
    ]
    assert last == [("scan", "fast", 1), ("print", "slow", 1), ("print", "slow", 2)]
    assert lpsched("validate", TINY, str(rows))[0] == 0
    assert lpsched("verify", TINY, str(rows))[0] == 0


def test_a_facility_writes_rows_of_patterns_and_of_cores(lpsched, tmp_path):
    for form, columns in (("gang", ["pattern", "share", "cores"]), ("cores", ["core", "fraction"])):
        rows = tmp_path / f"{form}.csv"
        assert lpsched("facility", ROOM, "-o", str(rows), "--form", form)[0] == 0
        with rows.open(newline="") as file:
            read = list(csv.DictReader(file))
        assert list(read[0]) == ["node", "node_type", *columns, "task_type", "p_state"]
        assert (read[0]["node"], read[0]["node_type"], read[0]["task_type"]) == ("0", "node", "task")
    assert lpsched("facility", ROOM, "-o", str(tmp_path / "rows.parquet"))[0] == 0
    assert pq.read_table(tmp_path / "rows.parquet").num_rows > 0


COMMANDS = {
    "solve": (("solve", TINY), {"-o": "p.json", "--figure": "p.svg", "--report": "p.html"}),
    "facility": (("facility", ROOM), {"-o": "p.json", "--certificate": "c.json", "--figure": "p.png"}),
    "study run": (("study", "run", "gone.yaml"), {"-o": "p.jsonl"}),
    "front": (("front", TINY), {"-o": "p.csv", "--figure": "p.pdf", "--machines": "m.json", "--report": "p.html"}),
    "offer": (("offer", TINY, "--hours", "0-1"), {"-o": "p.csv", "--figure": "p.svg", "--report": "p.html"}),
    "price": (("price", TINY), {"-o": "p.csv", "--figure": "p.svg", "--report": "p.html"}),
    "validate": (("validate", TINY), {"--figure": "p.svg", "--report": "p.html"}),
    "simulate": (("simulate", CLUSTERS), {"-o": "p.csv", "--figure": "p.svg", "--timeline": "t.svg"}),
    "certify": (("certify", TINY), {"-o": "p.json"}),
    "expand": (("expand", TINY, "gone.json"), {"-o": "p.csv"}),
    "export": (("export", TINY), {"-o": "p.lp"}),
    "convert": (("convert", TINY), {"-o": "p.yaml"}),
    "new": (("new", "bag"), {"-o": "p.yaml"}),
    "measure": (("measure", "gone.yaml"), {"-o": "p.yaml", "--bag": "b.yaml", "--facility": "f.yaml"}),
    "generate bag": (("generate", "bag", "--seed", "1"), {"-o": "p.yaml"}),
    "generate day": (("generate", "day", "--seed", "1", "--tasks", "3"), {"-o": "p.yaml"}),
    "generate clusters": (("generate", "clusters", "--seed", "1"), {"-o": "p.yaml"}),
    "generate facility": (("generate", "facility", "--seed", "1"), {"-o": "p.yaml"}),
    "import etc": (("import", "etc", "gone.csv"), {"-o": "p.yaml"}),
    "import swf": (("import", "swf", "gone.swf"), {"-o": "p.yaml"}),
    "import runs": (("import", "runs", "gone.csv"), {"-o": "p.yaml"}),
    "import gavel": (("import", "gavel", "gone.json"), {"-o": "p.yaml"}),
    "import slurm": (("import", "slurm", "gone.txt"), {"-o": "p.yaml"}),
    "import measurements": (("import", "measurements", "gone.yaml"), {"-o": "p.yaml"}),
    "study report": (("study", "report", "gone.jsonl"), {"-o": "p.csv", "--figure": "p.svg", "--report": "p.html"}),
}


@pytest.mark.parametrize(
    ("command", "option", "name"),
    [(words, option, name) for words, files in COMMANDS.values() for option, name in files.items()],
)
def test_a_file_that_exists_is_not_overwritten(lpsched, tmp_path, command, option, name):
    path = tmp_path / name
    path.write_text("mine")
    given = (*command, option, str(path))
    if command[0] in ("convert", "certify", "expand", "export", "generate", "import") and option != "-o":
        given = (*given, "-o", str(tmp_path / "other.yaml"))
    code, out, err = lpsched(*given)
    assert (code, out, path.read_text()) == (2, "", "mine")
    assert err.startswith(f"lpsched: {path} exists; choose another name or add --")


def test_every_command_that_writes_is_in_the_table():
    tree: Any = _command()
    writing = set()
    for name, command in tree.commands.items():
        parts = {f"{name} {inner}": each for inner, each in getattr(command, "commands", {}).items()} or {name: command}
        for words, each in parts.items():
            if any(
                getattr(param, "rich_help_panel", None) == OUTPUT
                for param in each.get_params(each.make_context(words, [], resilient_parsing=True))
            ):
                writing.add(words)
    assert writing == set(COMMANDS)


def test_force_overwrites_and_may_stand_anywhere(lpsched, tmp_path):
    path = tmp_path / "p.json"
    path.write_text("mine")
    assert lpsched("--force", "solve", TINY, "-o", str(path))[0] == 0
    assert path.read_text().startswith("{")
    path.write_text("mine")
    assert lpsched("solve", TINY, "-o", str(path), "--force")[0] == 0
    assert path.read_text().startswith("{")


def test_two_options_cannot_name_one_file(lpsched, tmp_path):
    path = str(tmp_path / "p.svg")
    code, _, err = lpsched("front", DAY, "--scheduler", "mct", "--figure", path, "--peak", path)
    assert (code, "two options name it" in err) == (2, True)


def test_a_function_of_a_file_is_a_scheduler(lpsched, own):
    # All on the two 'slow' ones: 18 s of scans and 12 s of prints each.
    code, answer, _ = lpsched(
        "validate", TINY, "--scheduler", f"mct,{own}:all_slow", "--objective", "makespan", "--json"
    )
    assert code == 0
    assert [(each["name"], each["value"]) for each in answer["entries"]][1] == ("all_slow", 30.0)
    code, answer, _ = lpsched("front", TINY, "--scheduler", f"{own}:all_slow", "--json")
    lpsched_heuristics.forget("all-slow")  # the command's process would have ended
    assert code == 0
    assert "all-slow" in [each["name"] for each in answer["comparisons"]]


@pytest.mark.parametrize(
    ("command", "name", "expected"),
    [
        (("validate", TINY), "raising", (1, "RuntimeError: no idea")),
        (("validate", TINY), "nonsense", (1, "TypeError: it handed back int")),
        (("validate", TINY), "missing", (2, "got no function 'missing', expected one of all_slow, nonsense")),
        (("front", TINY), "missing", (2, "got no function 'missing'")),
        (("simulate", CLUSTERS), "missing", (2, "got no function 'missing'")),
        (("simulate", CLUSTERS), "raising", (1, "no idea")),
        (("simulate", CLUSTERS), "waits", (1, "waits")),
    ],
)
def test_a_function_that_fails_is_a_message(lpsched, own, command, name, expected):
    code, out, err = lpsched(*command, "--scheduler", f"{own}:{name}")
    assert (code, expected[1] in out + err) == (expected[0], True)
    assert "Traceback" not in out + err


def test_a_file_that_cannot_be_run_is_a_message(lpsched, tmp_path):
    code, _, err = lpsched("validate", TINY, "--scheduler", f"{tmp_path / 'gone.py'}:f")
    assert (code, "got no file of this name, expected a Python file" in err) == (2, True)
    for text, message in (
        ("x = 1 /", "SyntaxError"),
        ("1 / 0", "ZeroDivisionError"),
        ("exit(3)", "a file that exits (3)"),
    ):
        (tmp_path / "broken.py").write_text(text)
        code, _, err = lpsched("validate", TINY, "--scheduler", f"{tmp_path / 'broken.py'}:f")
        assert (code, message in err) == (2, True)


@pytest.mark.parametrize(
    ("command", "names"),
    [
        (("validate", TINY), ["lp", "min-min", "max-min", "sufferage", "mct"]),
        (("validate", ROOM), ["lp", "greedy"]),
        (("validate", DAY), ["max-utility", "utility-per-energy", "min-energy", "min-min", "mct"]),
        (("simulate", CLUSTERS), ["max-util", "max-upt", "max-upr", "easy"]),
    ],
)
def test_without_a_scheduler_a_default_set_runs_that_the_help_names(lpsched, command, names):
    code, answer, _ = lpsched(*command, "--json")
    assert code == 0
    assert [each["name"] for each in answer.get("entries", answer.get("policies"))] == names
    assert ",".join(names) in "".join(lpsched(command[0], "--help")[1].split())


def test_an_infeasible_power_cap_ends_with_1_in_every_command(lpsched, tmp_path):
    room = tmp_path / "room.yaml"
    room.write_text(Path(ROOM).read_text().replace("power_cap_watts: ", "power_cap_watts: 1  # "))
    proof = str(tmp_path / "p.json")
    for words in (
        ("solve",),
        ("front",),
        ("price",),
        ("whatif", "--set", "fast=2"),
        ("validate",),
        ("certify", "-o", proof),
    ):
        code, _, err = lpsched(words[0], TINY, *words[1:], "--power-cap", "1W")
        assert (code, "the power cap is 1 W" in err) == (1, True)
    for command in ("facility", "validate"):
        code, _, err = lpsched(command, str(room))
        assert (code, "no allocation keeps the power cap of 1.0 W: idle nodes draw" in err) == (1, True)
