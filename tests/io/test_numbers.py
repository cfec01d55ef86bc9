"""Numbers in files: one grammar in every table and log, and no size that ends in a traceback."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from lpsched.cli.main import run
from lpsched.text import as_double, column_values, integer, json_value

ROOT = Path(__file__).parent.parent.parent
TINY = ROOT / "instances/tiny.yaml"
ODD = ("1_0", "1_0.0", "\u0661\u0662", "inf", "-Infinity", "nan", "0x10")
TABLES = {  # files with a place for a number, and the command that reads each
    "schedule": ("s.csv", "task_type,machine_type,machine,start_seconds\nscan,fast,{0},0\n", "verify {tiny} s.csv"),
    "start": ("s.csv", "task_type,machine_type,machine,start_seconds\nscan,fast,1,{0}\n", "verify {tiny} s.csv"),
    "etc": ("e.csv", "task,m1\na,{0}\n", "import etc e.csv -o out.yaml"),
    "braun": ("e.txt", "1 2\n3.0\n{0}\n", "import etc e.txt -o out.yaml"),
    "runs": ("r.csv", "task,machine,seconds\na,m,{0}\n", "import runs r.csv -o out.yaml"),
    "swf": ("l.swf", "1 0 5 {0} 4 -1 -1 4 900 -1 1 3 2 1 0 0 -1 -1\n", "import swf l.swf -o out.yaml"),
    "series": (
        "p.csv",
        "time,usd_per_mwh\n2024-01-08T00:00Z,50\n2024-01-08T01:00Z,{0}\n",
        "solve {tiny} --horizon 2h --start 2024-01-08T00:00Z --objective cost --tariff p.csv",
    ),
}


@pytest.mark.parametrize("number", ODD)
@pytest.mark.parametrize("name", TABLES)
def test_what_only_python_takes_for_a_number_is_rejected_in_every_table(name, number, tmp_path, capsys, monkeypatch):
    file, text, command = TABLES[name]
    monkeypatch.chdir(tmp_path)
    Path(file).write_text(text.format(number), encoding="utf-8")
    code = run(command.format(tiny=TINY).split())
    capsys.readouterr()
    assert code == (1 if command.startswith("verify") else 2)
    assert not Path("out.yaml").exists()


def test_a_table_of_a_bag_takes_plain_numbers_only(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(["convert", str(TINY), "-o", "t.yaml", "--tables", "csv"]) == 0
    table = Path("t.yaml.seconds.csv")
    text = table.read_text(encoding="utf-8")
    for number in ODD:
        table.write_text(text.replace("2.0", number, 1), encoding="utf-8")
        assert run(["show", "t.yaml"]) == 2, number
    table.write_text(text.replace("2.0", " 2e0 ", 1), encoding="utf-8")
    assert run(["show", "t.yaml"]) == 0, capsys.readouterr()


@pytest.mark.parametrize("digits", [309, 350, 400, 4_000, 6_000])
def test_a_whole_number_beyond_doubles_is_infinity(digits):
    assert integer("9" * digits) == float("inf")
    assert integer("-" + "9" * digits) == float("-inf")
    assert json_value(f"[{'9' * digits}]") == [float("inf")]
    assert as_double(10**digits) == float("inf")
    assert column_values(["9" * digits], "q") == [float("inf")]


def test_a_whole_number_in_the_range_of_doubles_keeps_all_digits():
    assert integer("9" * 308) == 10**308 - 1
    assert column_values(["9007199254740993", "-5"], "q") == [9007199254740993, -5]


@pytest.mark.parametrize("command", ["verify", "validate", "expand"])
@pytest.mark.parametrize("number", ["9" * 350, "1e999", "NaN", "-Infinity", '"12"', "9" * 5_000])
def test_no_number_in_a_schedule_ends_in_a_traceback(command, number, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(["solve", str(TINY), "--objective", "makespan", "--effort", "fast", "-o", "a.json"]) == 0
    plan = Path("a.json").read_text(encoding="utf-8")
    for key in ('"makespan_seconds": ', '"count": ', '"machines": '):
        start = plan.index(key) + len(key)
        end = min(plan.index(mark, start) for mark in ",}\n" if mark in plan[start:])
        Path("b.json").write_text(plan[:start] + number + plan[end:], encoding="utf-8")
        more = ["-o", "rows.csv"] if command == "expand" else []
        assert run([command, str(TINY), "b.json", *more]) in (1, 2), (key, capsys.readouterr())


@pytest.mark.parametrize("depth", [61, 974, 3_000, 100_000])
@pytest.mark.parametrize("file", ["a.json", "a.runs.jsonl", "gavel.json", "node.json"])
def test_deep_nesting_is_rejected_in_every_json(depth, file, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    deep = f"{'[' * depth}{']' * depth}"
    Path(file).write_text(f'{{"format": "lpsched-run/1", "x": {deep}}}\n', encoding="utf-8")
    words = {"a.runs.jsonl": ["study", "report", file], "gavel.json": ["import", "gavel", file, "-o", "o.yaml"]}
    assert run(words.get(file, ["show", file])) == 2
    assert "Traceback" not in capsys.readouterr().err


@pytest.fixture(scope="module")
def line(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    (folder / "bag.yaml").write_text(TINY.read_text(encoding="utf-8"), encoding="utf-8")
    study = {"format": "lpsched-study/1", "name": "s", "instances": [{"file": "bag.yaml"}], "methods": ["mct"]}
    (folder / "s.yaml").write_text(yaml.safe_dump(study), encoding="utf-8")
    assert run(["study", "run", str(folder / "s.yaml"), "-o", str(folder / "a.jsonl"), "--jobs", "1"]) == 0
    return json.loads((folder / "a.jsonl").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *((key, value) for key in ("outcome", "timings") for value in (10**350, float("inf"), float("nan"), 1e308)),
        ("parameters", 10**350),
        ("parameters", float("nan")),
        ("seed", 10**350),
        ("instance", ["a"]),
        ("outcome", ["a"]),
    ],
)
def test_lines_of_a_study_with_impossible_values_are_rejected(key, value, line, tmp_path, capsys):
    changed = json.loads(json.dumps(line))
    if isinstance(changed[key], dict):
        changed[key] = dict.fromkeys(changed[key] or ["x"], value)
    else:
        changed[key] = value
    file = tmp_path / "b.jsonl"
    file.write_text(json.dumps(changed) + "\n", encoding="utf-8")
    for more in ([], ["--json"], ["--by", "method", "--value", "seconds"]):
        assert run(["study", "report", str(file), *more]) == 2
    assert "line 1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("seconds", 1e30, "seconds.canneal: got 1e+30 s on 'new', expected 1e-12 to 1e+12 seconds in a facility"),
        ("seconds", 1e-30, "seconds.canneal: got 1e-30 s on 'new', expected 1e-12 to 1e+12 seconds in a facility"),
        ("watts", 1e30, "watts: got 8e+30 W of 'new' at full power, expected 1e-12 to 1e+10 W in a facility"),
        ("seconds", 1e-12, "seconds.canneal: got 8e+12 tasks per second on all cores, expected at most 1e+12"),
    ],
)
def test_measurements_that_no_facility_can_hold_are_named(key, value, said, tmp_path, capsys):
    raw = yaml.safe_load((ROOT / "tests/data/node_new.yaml").read_text(encoding="utf-8"))
    raw[key]["canneal"] = value
    file, room = str(tmp_path / "node.yaml"), str(tmp_path / "r.yaml")
    Path(file).write_text(yaml.safe_dump(raw), encoding="utf-8")
    for words in (
        ["import", "measurements", file, "-o", room, "--to", "facility"],
        ["measure", file, "--facility", room],
    ):
        assert run(words) == 2
        assert said in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--idle-watts=-0", "--task-cov=1e-320", "--task-cov=-0", "--power-task-cov=5e-324"])
def test_options_of_a_generator_at_the_edge_make_a_bag(option, tmp_path, capsys):
    words = "generate bag --seed 1 --tasks 20 --task-types 6 --machines 2,1,1 --special-machines 1 -o"
    assert run([*words.split(), str(tmp_path / "bag.yaml"), option]) == 0, capsys.readouterr()


def test_an_energy_that_no_day_has_is_an_error_of_its_option(capsys):
    day = ROOT / "instances/utility-250.yaml"
    assert run(["simulate", str(day), "--scheduler", "min-min", "--energy-gigajoules", "1e30"]) == 2
    assert capsys.readouterr().err.startswith("lpsched: --energy: got 1")


def test_a_cap_that_no_double_can_be_is_an_answer(tmp_path, capsys):
    # a CoP of nearly 0: cooling one watt takes 1 / 1e-320 watts, which is beyond doubles
    room = {
        "format": "lpsched-facility/1",
        "name": "y",
        "node_types": [
            {"name": "n", "cores": 2, "overhead_watts": 2, "airflow_m3_per_second": 0.1, "redline_celsius": 25}
        ],
        "nodes": ["n"],
        "crac_units": [{"name": "c", "airflow_m3_per_second": 0.1, "outlet_celsius": [0, 0], "cop": [1e-320]}],
        "task_types": [{"name": "t", "arrivals_per_second": 0, "reward": 1}],
        "speeds": {"t": {"n": 1}},
        "watts": {"t": {"n": 0}},
        "mixing": {"inlet_mix": [[0.2, 0.8], [0.8, 0.2]]},
        "power_cap_watts": 8,
    }
    (tmp_path / "room.json").write_text(json.dumps(room), encoding="utf-8")
    assert run(["facility", str(tmp_path / "room.json")]) == 1
    assert "no allocation keeps the power cap" in capsys.readouterr().err
