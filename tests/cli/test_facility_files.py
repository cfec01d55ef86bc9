"""The commands that make, show and convert facility files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import pytest

from lpsched.cli.generate import Platform
from lpsched.cli.options import Kind, Tables
from lpsched.facility.files import read_facility
from lpsched.facility.model import Facility, facility_from_dict
from lpsched.generate.options import PLATFORMS
from lpsched.io import templates
from lpsched.io.templates import template
from tests.facilities import SOUND, sound_facility


@pytest.fixture
def facility(tmp_path):
    path = tmp_path / "facility.json"
    path.write_text(json.dumps(SOUND | {"description": "Two nodes, by hand."}))
    return str(path)


TEMPLATES = Path(templates.__file__).parent


def test_the_names_on_the_command_line_are_those_of_the_library():
    assert set(get_args(Platform)) == set(PLATFORMS)
    assert {f"{each}.yaml" for each in get_args(Kind)} == {path.name for path in TEMPLATES.glob("*.yaml")}


def test_show_tells_of_nodes_air_and_tasks(lpsched, facility):
    code, out, err = lpsched("show", facility)
    assert (code, err) == (0, "")
    for line in (
        "sound: 2 nodes of 2 types, 3 cores, 2 CRAC units, 2 task types",
        "power cap       300 W; idle nodes take 50 W",
        "offered         3.5 reward/s",  # 0.5 x 4 + 1.5 x 1
        # render on three, zip on two; 1 / 0.03 = 33 s is in time for 60
        "pairs           5 can run, 5 of them by their deadline",
        # a fifth of what the blade and the tower draw in
        "air             its mixing is given by inlet_mix (16 entries); 20 % of the air that nodes take in\n",
        "                comes from nodes",
        "airflow, m³/s",
        "memory classes  heavy, light",
        "blade          1      2      20 W       0.1        27         2",
        "tower          1      1      30 W       0.2        27         -",
        "left             1            0.1    15 to 25            -",
        "right            1            0.2    15 to 25           40",
        "render            0.5       4     1 min     20 s  heavy",
        "zip               1.5       1         -      5 s  light",
        "Two nodes, by hand.",
    ):
        assert line in out
    assert out.splitlines()[-1] == f"hash  {facility_from_dict(SOUND).content_hash}"


def test_show_as_json_has_the_numbers(lpsched, facility):
    code, answer, _ = lpsched("show", facility, "--json")
    assert code == 0
    assert answer["instance"]["hash"] == facility_from_dict(SOUND).content_hash
    assert answer["recirculation"] == pytest.approx(0.2)
    assert answer["offered_reward_rate"] == 3.5
    assert answer["nodes_of_types"] == {"blade": 1, "tower": 1}
    assert (answer["nodes"], answer["cores"], answer["crac_units"]) == (2, 3, 2)
    assert answer["memory_classes"] == ["heavy", "light"]


def test_show_of_a_recirculation_matrix_claims_no_share(lpsched, tmp_path):
    unit = SOUND["crac_units"][0]
    mixing = {"recirculation_kelvin_per_watt": [[0.01, 0.0], [0.0, 0.01]]}
    path = tmp_path / "f.json"
    path.write_text(json.dumps(sound_facility(crac_units=[unit], mixing=mixing, degradation=...)))
    code, out, err = lpsched("show", str(path))
    assert code == 0
    assert "air             its mixing is given by recirculation (2 entries)\n" in out
    assert "memory classes  none" in out
    assert "warning" in err  # memory classes without degradation


@pytest.mark.parametrize("tables", get_args(Tables))
def test_convert_loses_nothing(lpsched, facility, tmp_path, tables):
    for output in ("out.yaml", "out.json"):
        code, answer, _ = lpsched("--json", "convert", facility, "-o", str(tmp_path / output), "--tables", tables)
        assert code == 0
        assert answer["files"][-1] == str(tmp_path / output)
        assert read_facility(tmp_path / output) == read_facility(facility)


def test_convert_tells_which_files_it_wrote(lpsched, facility, tmp_path):
    _, out, _ = lpsched("convert", facility, "-o", str(tmp_path / "o.yaml"), "--tables", "npz")
    assert out.splitlines() == [
        f"{tmp_path}/o.yaml: 2 nodes with 3 cores, 2 CRAC units (2 task types, 2 node types)",
        f"{tmp_path}/o.yaml.npz: its tables",
        f"{tmp_path}/o.yaml.mixing.npz: its tables",
    ]


def test_only_bags_are_merged(lpsched, facility, tmp_path):
    code, _, err = lpsched("convert", facility, "-o", str(tmp_path / "o.yaml"), "--merge")
    assert code == 2
    assert "--merge: got the option for a facility, expected a bag; leave it out" in err
    assert not (tmp_path / "o.yaml").exists()


def test_new_facility_prints_a_file_that_show_reads(lpsched, tmp_path):
    path = tmp_path / "new.yaml"
    code, out, _ = lpsched("new", "facility", "-o", str(path))
    assert (code, out) == (0, f"{path}: edit it, then 'lpsched show {path}'\n")
    code, out, err = lpsched("show", str(path))
    assert (code, err) == (0, "")
    assert "my-facility" in out


def test_schema_facility_prints_the_schema(lpsched):
    code, out, _ = lpsched("schema", "facility")
    assert code == 0
    assert json.loads(out) == Facility.model_json_schema()


def test_generate_makes_the_same_platform_of_the_same_seed(lpsched, tmp_path):
    one, two = str(tmp_path / "one.yaml"), str(tmp_path / "two.json")
    code, out, err = lpsched("generate", "facility", "--platform", "small", "--seed", "1", "-o", one)
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        f"{one}: 150 nodes with 442 cores, 3 CRAC units (8 task types, 2 node types)",
        f"{one}.mixing.npz: its tables",
    ]
    _, answer, _ = lpsched("generate", "facility", "--seed", "1", "-o", two, "--json")
    assert answer["seed"] == 1
    assert read_facility(one) == read_facility(two)
    assert read_facility(one).name == "small-1"


def test_generate_takes_other_sizes_and_shares(lpsched, tmp_path):
    path = str(tmp_path / "own.yaml")
    sizes = ["--nodes", "12", "--crac-units", "1", "--task-types", "3", "--node-types", "4", "--name", "own"]
    shares = ["--recirculation", "0.3", "--cap-share", "0.8"]
    code, out, _ = lpsched("generate", "facility", "--seed", "2", "-o", path, *sizes, *shares)
    assert code == 0
    assert "12 nodes" in out
    facility = read_facility(path)
    assert (facility.name, len(facility.crac_units), len(facility.task_types)) == ("own", 1, 3)
    assert "recirculation 0.3" in facility.description
    assert "0.8 of full power" in facility.description


def test_generate_refuses_what_cannot_be(lpsched, tmp_path):
    path = tmp_path / "f.yaml"
    code, _, err = lpsched("generate", "facility", "--seed", "1", "-o", str(path), "--recirculation", "0.9")
    assert code == 2
    assert "recirculation: got 0.9, expected 0 to 0.6; change the option" in err
    assert not path.exists()


def test_a_cap_of_nothing_is_bad_input_reported_with_its_line(lpsched, tmp_path):
    path = tmp_path / "f.yaml"
    path.write_text(template("facility").replace("power_cap_watts: 500", "power_cap_watts: 0"))
    code, answer, err = lpsched("show", str(path), "--json")
    assert (code, answer["error"]["code"]) == (2, "bad-input")
    (issue,) = answer["error"]["faults"]
    line = path.read_text().splitlines().index("power_cap_watts: 0         # nodes and cooling together") + 1
    assert issue["where"] == f"line {line}, power_cap_watts"
    assert (issue["found"], issue["needed"]) == ("0", "watts: a number from 1e-12 to 1e+12")
    assert "power_cap_watts" in err


def test_a_cap_that_idle_nodes_exceed_is_infeasible_and_exit_one(lpsched, tmp_path):
    path = tmp_path / "f.yaml"
    path.write_text(template("facility").replace("power_cap_watts: 500", "power_cap_watts: 150"))
    assert lpsched("show", str(path), "--json")[0] == 0  # a valid file
    for method in ((), ("--method", "greedy")):
        code, answer, _ = lpsched("facility", str(path), *method, "--json")
        assert (code, answer["error"]["code"]) == (1, "infeasible")
        # 3 x 30 + 60 = 150 W idle; the best CoP, at 24 C, is 0.458 + 0.0192 + 3.9168 = 4.394: 150 (1 + 1 / 4.394) = 184.14
        assert answer["error"]["message"].endswith(
            "idle nodes draw 150.0 W, and it takes 34.1 W to cool them, at a CoP of 4.394; raise the cap to at least "
            "184.2 W, or drop nodes"
        )
