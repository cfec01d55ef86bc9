from __future__ import annotations

import json

import jsonschema
import yaml

from lpsched.io.templates import template
from lpsched.measure.bench import Application, Bench, EnergyChoice, Repeats
from lpsched.measure.files import read_bench
from tests.benches import asked


def written(folder, **changes):
    path = folder / "bench.json"
    path.write_text(json.dumps(asked(**changes)))
    return str(path)


def test_a_new_bench_is_sound_says_every_key_and_satisfies_the_schema(lpsched, tmp_path):
    path = tmp_path / "bench.yaml"
    code, out, _ = lpsched("new", "bench", "-o", str(path))
    assert (code, out) == (0, f"{path}: edit it, then 'lpsched show {path}'\n")
    text = path.read_text()
    for key in ("format", *(key for part in (Bench, Application, Repeats, EnergyChoice) for key in part.model_fields)):
        assert f"{key}:" in text
    bench = read_bench(path)
    assert {each.command[0] for each in bench.applications} == {"python3"}
    assert (bench.energy.kind, bench.at_once) == ("none", 2)
    _, schema, _ = lpsched("schema", "bench")
    jsonschema.validate(yaml.safe_load(text), json.loads(schema))


def test_the_keys_that_the_template_leaves_out_can_be_taken_in(tmp_path):
    lines = template("bench").splitlines()
    sides = ("# machine_type:", "# frequencies_mhz:", "# class_bounds:", "# share_bounds:", "    # folder:")
    taken = [line.replace("# ", "", 1) if line.startswith(sides) else line for line in lines]
    path = tmp_path / "bench.yaml"
    path.write_text("\n".join(taken))
    bench = read_bench(path)
    assert bench.frequencies_mhz == (3400.0, 1700.0)
    assert bench.applications[0].folder == "work"


def test_a_bench_is_shown_by_what_it_will_run(lpsched, tmp_path):
    # Two applications alone, four ordered pairs; three batches if energy is measured, eight with companions.
    code, out, err = lpsched("show", written(tmp_path))
    assert (code, err) == (0, "")
    words = " ".join(out.split())
    assert "settings alone 2 pairs 4 groups 0" in words
    assert "until all have ended 3 only where energy is measured" in words
    assert "interference probes 8 only where misses cannot be counted" in words
    assert "settings in all 6 to 17 runs in all 20 to 157 warm-ups counted" in words
    assert "xz -9 big" in out


def test_a_shown_bench_has_its_numbers_in_json(lpsched, tmp_path):
    _, out, _ = lpsched("show", written(tmp_path, energy={"command": "watts"}, companions="always"), "--json")
    assert out["instance"]["name"] == "node"
    assert (out["least_settings"], out["most_settings"]) == (17, 17)
    assert (out["least_runs"], out["most_runs"]) == (17 * 3 + 4, 17 * 9 + 4)
    assert out["applications"] == {"zip": ["xz", "-9", "big"], "sort": ["sort", "big"]}


def test_faults_of_a_bench_come_with_their_lines(lpsched, tmp_path):
    path = tmp_path / "bench.yaml"
    path.write_text(template("bench").replace("cores: 2", "cores: 0").replace("count: 100", "count: -1"))
    code, _, err = lpsched("show", str(path))
    assert code == 2
    lines = path.read_text().splitlines()
    for key, line in (("cores", lines.index("cores: 0") + 1), ("applications[0].count", 0)):
        place = f"line {line}, {key}" if line else key
        assert place in err


def test_a_bench_in_place_of_a_bag_is_told_what_it_is_for(lpsched, tmp_path):
    code, _, err = lpsched("solve", written(tmp_path))
    assert code == 2
    assert "use 'lpsched measure'" in err
