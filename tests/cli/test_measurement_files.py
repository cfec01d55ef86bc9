"""The commands that show, convert and start files of measurements."""

from __future__ import annotations

import json

import pytest

from lpsched.io.templates import template
from lpsched.measure.files import read_measurements, write_measurements
from lpsched.measure.measurements import Measurements
from tests.measured import measurements_of_seed


@pytest.fixture
def by_hand(tmp_path):
    path = tmp_path / "node.yaml"
    path.write_text(template("measurements"))
    return path


def test_show_tells_times_powers_and_degradation(lpsched, by_hand):
    code, out, err = lpsched("show", str(by_hand))
    assert (code, err) == (0, "")
    for word in ("render", "encode", "62", "145", "III", "15 %", "45 W"):
        assert word in out


def test_show_as_json_has_the_keys_of_the_file(lpsched, by_hand):
    code, answer, _ = lpsched("show", str(by_hand), "--json")
    assert code == 0
    assert answer["format"] == "lpsched-show/1"
    assert answer["instance"] == {"name": "my-node", "hash": read_measurements(by_hand).content_hash}
    assert answer["seconds"] == {"render": 62.0, "encode": 18.5}
    assert answer["degradation"]["III"] == {"I": 0.01, "III": 0.15}
    assert answer["measured_by_lpsched"] is None


@pytest.mark.filterwarnings("ignore:.*are below idle_watts")
@pytest.mark.parametrize("seed", range(6))
def test_measurements_of_any_shape_can_be_shown_and_converted(lpsched, tmp_path, seed):
    path, other = tmp_path / "node.yaml", tmp_path / "other.json"
    write_measurements(measurements_of_seed(seed), path)
    assert lpsched("--quiet", "show", str(path))[0] == 0
    code, answer, _ = lpsched("--quiet", "--json", "convert", str(path), "-o", str(other))
    assert (code, answer["files"]) == (0, [str(other)])
    assert read_measurements(other) == read_measurements(path)


def test_convert_tells_what_it_wrote(lpsched, by_hand, tmp_path):
    other = tmp_path / "other.json"
    _, out, _ = lpsched("convert", str(by_hand), "-o", str(other))
    assert out == f"{other}: 2 applications on my-node (0 settings measured, 0 failed)\n"


def test_convert_refuses_what_goes_with_instances_only(lpsched, by_hand, tmp_path):
    other = str(tmp_path / "other.json")
    code, _, err = lpsched("convert", str(by_hand), "-o", other, "--tables", "npz")
    assert (code, "--tables: got the option for measurements, expected an instance" in err) == (2, True)
    code, _, err = lpsched("convert", str(by_hand), "-o", other, "--merge")
    assert (code, "--merge: got the option for measurements, expected a bag" in err) == (2, True)
    bench = tmp_path / "bench.yaml"
    bench.write_text(template("bench"))
    code, _, err = lpsched("convert", str(bench), "-o", other)
    assert (code, "; use 'lpsched measure' for a bench" in err) == (2, True)
    assert not (tmp_path / "other.json").exists()


def test_solve_says_how_measurements_become_a_bag(lpsched, by_hand):
    code, _, err = lpsched("solve", str(by_hand))
    assert code == 2
    assert "use 'lpsched import measurements'" in err


def test_the_schema_is_printed(lpsched):
    code, out, _ = lpsched("schema", "measurements")
    assert (code, json.loads(out)) == (0, Measurements.model_json_schema())
