"""The commands in this process: what they print."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import get_args

import pytest

from lpsched.bag.files import read_bag
from lpsched.bag.model import bag_from_dict
from lpsched.bag.problem import OBJECTIVES
from lpsched.cli.imports import FirstColumn
from lpsched.cli.options import Objective, Tables
from lpsched.io.instance_files import TableForm
from lpsched.traces import etc
from tests.support import SOUND, sound

INSTANCES = Path(__file__).parent.parent.parent / "instances"


def test_solve_prints_value_bound_and_gap(lpsched, bag):
    code, out, err = lpsched("solve", bag, "--objective", "makespan")
    assert (code, err) == (0, "")
    assert re.match(r"Done in .+, (at least .+ needed|the least possible) \(gap .+ %, proved\)\.\n", out)


def test_solve_as_json_has_the_promised_keys(lpsched, bag):
    code, answer, err = lpsched("solve", bag, "--json", "--objective", "makespan", "--gap", "0.5")
    assert (code, err) == (0, "")
    assert set(answer) == {
        "format", "lpsched", "solver", "instance", "objective", "status", "regime", "bound_regime", "effort", "effort_used", "tight_may_help", "value", "bound", "unit",
        "gap",
        "makespan_seconds", "energy_joules", "tasks", "machines", "worth", "one_more", "timings",
        "money", "average_watts", "power_cap", "machine_types", "allocation", "p_states", "task_prices", "fewer_machines",
    }  # fmt: skip
    assert set(answer["money"]) == {"currency", "per_hour", "per_bag", "fixed_cost_per_hour"}
    assert sum(answer["allocation"]["render"].values()) == 40
    assert answer["machine_types"]["cpu"].keys() == {"count", "used", "busy_share", "tasks", "cost_per_hour"}
    assert answer["task_prices"]["zip"] == {"charged": 0.5, "minimum": None, "below_cost": False}
    assert answer["instance"] == {"name": "sound", "hash": bag_from_dict(SOUND).content_hash}
    assert answer["bound"] <= answer["value"] == answer["makespan_seconds"]
    assert set(answer["timings"]) == {"relax", "prove", "recover", "balance"}


def test_verbose_tells_timings_on_stderr(lpsched, bag):
    _, out, err = lpsched("solve", "--verbose", bag)
    assert "relax" in err
    assert "HiGHS" in err
    assert "HiGHS" not in out


def test_show_prints_heterogeneity(lpsched, bag):
    code, out, _ = lpsched("show", bag)
    assert code == 0
    assert "machine performance homogeneity" in out
    assert out.splitlines()[-1] == f"hash  {bag_from_dict(SOUND).content_hash}"
    code, answer, _ = lpsched("show", bag, "--json")
    assert answer["pairs"] == 4
    assert answer["heterogeneity"]["across_machine_types"]["kurtosis"] == 1.0


@pytest.mark.parametrize("tables", get_args(Tables))
def test_convert_loses_nothing(lpsched, bag, tmp_path, tables):
    for output in ("out.yaml", "out.json"):
        code, answer, _ = lpsched("--json", "convert", bag, "-o", str(tmp_path / output), "--tables", tables)
        assert code == 0
        assert answer["files"][-1] == str(tmp_path / output)
        assert read_bag(tmp_path / output) == bag_from_dict(SOUND)


def test_convert_tells_which_files_it_wrote(lpsched, bag, tmp_path):
    _, out, _ = lpsched("convert", bag, "-o", str(tmp_path / "o.yaml"), "--tables", "npz")
    assert out == (
        f"{tmp_path}/o.yaml: 45 tasks on 3 machines (2 task types, 2 machine types)\n{tmp_path}/o.yaml.npz: its tables\n"
    )


def test_convert_can_merge(lpsched, tmp_path):
    path = tmp_path / "twins.json"
    types = [{"name": name, "count": 1} for name in ("a", "b")]
    path.write_text(json.dumps(sound(task_types=types, seconds=[[1.0, None]] * 2, watts=..., prices=...)))
    code, _, _ = lpsched("convert", str(path), "-o", str(tmp_path / "one.yaml"), "--merge")
    assert code == 0
    assert len(read_bag(tmp_path / "one.yaml").task_types) == 1


def test_the_choices_of_the_command_line_are_those_of_the_library():
    assert list(get_args(Tables)) == [each.value for each in TableForm]
    assert list(get_args(Objective)) == list(OBJECTIVES)
    assert list(get_args(FirstColumn)) == [each.value for each in etc.FirstColumn]


def test_converting_a_bag_leaves_the_tables_of_its_source_alone(lpsched, bag, tmp_path):
    lpsched("convert", bag, "-o", str(tmp_path / "w.yaml"), "--tables", "npz")
    before = read_bag(tmp_path / "w.yaml")
    code, _, _ = lpsched(
        "convert", str(tmp_path / "w.yaml"), "-o", str(tmp_path / "w.json"), "--merge", "--tables", "npz"
    )
    assert code == 0
    assert read_bag(tmp_path / "w.yaml") == before


def test_the_gap_of_tiny_is_zero(lpsched):
    _, out, _ = lpsched("solve", str(INSTANCES / "tiny.yaml"), "--objective", "makespan")
    assert out.startswith(
        "Done in 12 s, the least possible (gap 0 %, proved).\ntiny: 12 tasks on 3 machines. Optimal.\n"
    )


def test_new_writes_a_sound_template_once(lpsched, tmp_path):
    path = tmp_path / "my.yaml"
    code, out, _ = lpsched("new", "bag", "-o", str(path))
    assert code == 0
    assert out == f"{path}: edit it, then 'lpsched show {path}'\n"
    assert read_bag(path).tasks == 1900
    code, _, err = lpsched("new", "bag", "-o", str(path))
    assert code == 2
    assert err == f"lpsched: {path} exists; choose another name or add --force\n"


def test_new_prints_the_template(lpsched):
    _, out, _ = lpsched("new", "bag")
    assert out.startswith("format: lpsched-bag/1")
    _, answer, _ = lpsched("new", "bag", "--json")
    assert answer["text"] == out


def test_schema_prints_the_schema(lpsched):
    code, answer, _ = lpsched("schema", "bag", "--json")
    assert code == 0
    assert answer["title"] == "lpsched bag"


def test_generate_is_reproducible(lpsched, tmp_path):
    options = ["--seed", "7", "--task-types", "20", "--tasks", "100", "--machines", "3,4", "--machines", "5"]
    options += [
        "--special-machines",
        "1",
        "--special-least",
        "2",
        "--special-most",
        "2",
        "--special-speedup",
        "3",
        "--special-cov",
        "0",
    ]
    for name in ("a.yaml", "b.yaml"):
        code, answer, _ = lpsched("generate", "bag", *options, "-o", str(tmp_path / name), "--json")
        assert code == 0
        assert answer["seed"] == 7
    assert (tmp_path / "a.yaml").read_bytes() == (tmp_path / "b.yaml").read_bytes()
    generated = read_bag(tmp_path / "a.yaml")
    assert [machine.count for machine in generated.machine_types] == [1, 3, 4, 5]
    assert sum(row[0] is not None for row in generated.seconds) == 2
    code, _, _ = lpsched(
        "generate", "bag", "--seed", "7", "--name", "x", "--special-machines", "2", "-o", str(tmp_path / "c.yaml")
    )
    assert code == 0
    assert read_bag(tmp_path / "c.yaml").machines == 92


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--machines", "3,x"], "--machines: got '3,x', expected counts such as 40,40,20"),
        (["--machines", "9" * 5000], "expected counts such as 40,40,20"),
        (["--machines", "3,0"], "--machines: got 0, expected 1 to 1e+15; change the option"),
        (["--tasks", "3"], "--tasks: got 3, expected at least one of each type; ask for more"),
        (["--seed", "-1"], "--seed: got '-1', expected a whole number of at least 0; correct it"),
    ],
)
def test_generate_refuses_bad_options(lpsched, tmp_path, options, message):
    code, _, err = lpsched("generate", "bag", "--seed", "1", "-o", str(tmp_path / "a.yaml"), *options)
    assert code == 2
    assert message in err
    assert list(tmp_path.iterdir()) == []


def test_generate_needs_a_seed(lpsched, tmp_path):
    code, _, err = lpsched("generate", "bag", "-o", str(tmp_path / "a.yaml"))
    assert code == 2
    assert "--seed: got nothing, expected a whole number of at least 0; add it" in err


def test_import_etc_reads_times_and_powers(lpsched, tmp_path):
    (tmp_path / "t.0").write_text("2 2 0\n1\n2\n3\n4\n")
    (tmp_path / "p.csv").write_text("machine-1,machine-2\n10,20\n30,40\n")
    arguments = ["import", "etc", str(tmp_path / "t.0"), "--power", str(tmp_path / "p.csv"), "--tasks-each", "5"]
    code, _, _ = lpsched(*arguments, "--first-column", "times", "-o", str(tmp_path / "bag.yaml"))
    assert code == 0
    bag = read_bag(tmp_path / "bag.yaml")
    assert bag.tasks == 10
    assert bag.watts is not None
    assert list(bag.watts) == [[10.0, 20.0], [30.0, 40.0]]


def test_import_etc_replaces_zeros_only_if_told_to(lpsched, tmp_path):
    (tmp_path / "t.0").write_text("2 2\n1 0\n3 4\n")
    arguments = ["import", "etc", str(tmp_path / "t.0"), "-o", str(tmp_path / "bag.yaml")]
    code, _, err = lpsched(*arguments)
    assert code == 2
    assert "got 1 time of 0, the first in row 1, column 2, expected times above 0; use --zero-as 1e-6" in err
    code, _, err = lpsched(*arguments, "--zero-as", "0")
    assert code == 2
    assert "--zero-as: got 0.0, expected seconds: a number from 1e-30 to 1e+30" in err
    code, _, err = lpsched(*arguments, "--zero-as", "1ms")
    assert code == 0
    assert "warning: " in err
    assert "1 time of 0 replaced by 0.001 s" in err
    assert list(read_bag(tmp_path / "bag.yaml").seconds) == [[1.0, 0.001], [3.0, 4.0]]
