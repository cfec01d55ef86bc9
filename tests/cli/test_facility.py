"""`lpsched facility` and the files it writes, from the command line."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from lpsched.facility import solve as facilities
from lpsched.facility.files import write_facility
from lpsched.generate.facility import facility_of
from lpsched.generate.options import FacilityOptions
from tests.paper_facility import paper_facility

pytestmark = pytest.mark.rotate_tests(5)

TINY = str(Path(__file__).parent.parent.parent / "instances" / "facility-tiny.yaml")


def test_it_prints_everything_that_an_owner_asks_for(lpsched):
    code, out, err = lpsched("facility", TINY, "--gap", "1e-5")
    assert (code, err) == (0, "")
    for words in (
        "facility-tiny: 1 node, 2 cores, 1 CRAC unit",
        "proved: no allocation earns more at any outlet temperatures",
        "verified: this allocation",
        "of the cap of 280 W; 80 W of it for cooling",
        "node 0, at its redline of 25.5 °C",
        "CRAC unit  outlet, °C",
        "1 kW more power",
        "1 K higher redlines",
        "node type",
        "task type",
        "task type  runs on  mean cores  share of its cores\ntask       node            1.6                80 %\n",
    ):
        assert words in out


def test_task_types_are_shown_where_they_take_most_cores(lpsched, tmp_path):
    room = tmp_path / "room.yaml"
    many = FacilityOptions(nodes=20, crac_units=1, task_types=8, node_types=3)
    write_facility(facility_of("room", np.random.default_rng(1), many), room)
    _, answer, _ = lpsched("facility", str(room), "--scheduler", "greedy", "--no-bound", "--json")
    _, out, _ = lpsched("facility", str(room), "--scheduler", "greedy", "--no-bound")
    found = sorted(answer["core_time"], key=lambda each: -each["cores"])
    lines = out.splitlines()
    start = next(n for n, line in enumerate(lines) if "share of its cores" in line)
    shown = [tuple(line.split()[:2]) for line in lines[start + 1 : start + 1 + min(12, len(found))]]
    assert shown == [(each["task_type"], each["node_type"]) for each in found[:12]]
    assert ("... and" in "".join(lines[start:])) == (len(found) > 12)


def test_as_json_it_has_the_promised_keys(lpsched):
    code, answer, err = lpsched("facility", TINY, "--json")
    assert (code, err) == (0, "")
    assert set(answer) == {
        "format", "lpsched", "solver", "instance", "method", "colocation", "status", "reward_rate", "bound", "unit", "gap",
        "colocated_reward_rate", "plain_reward_rate", "fixed_outlets", "boxes", "exactly_proved", "power_watts",
        "power_cap_watts", "cooling_watts", "outlet_celsius", "hottest_inlet_margin_celsius", "cores_reward_rate",
        "task_rates_per_second", "core_time", "worth", "timings",
    }  # fmt: skip
    assert answer["reward_rate"] <= answer["bound"]
    assert (answer["method"], answer["status"], answer["power_cap_watts"]) == ("lp", "optimal", 280.0)
    assert set(answer["worth"]) == {"kilowatt", "redline_kelvin", "node_types", "task_types"}


def test_derivatives_are_called_so_and_an_unfinished_program_has_none(lpsched):
    code, out, _ = lpsched("facility", TINY)
    assert code == 0
    assert out.count("  marginal value (LP)") == 3
    assert "derivative of the linear program's bound" in " ".join(out.split())
    assert "It holds for small changes" in " ".join(out.split())
    assert "brings" not in out
    code, out, _ = lpsched("facility", TINY, "--time-limit", "0")
    assert code == 0
    assert "marginal value (LP)" not in out
    assert out.endswith("No marginal values: the linear program was not solved to the end.\n")


def test_what_it_writes_is_accepted_by_verify(lpsched, tmp_path):
    gang, cores, proof = (str(tmp_path / name) for name in ("gang.json", "cores.json", "proof.json"))
    assert lpsched("facility", TINY, "-o", gang, "--certificate", proof)[0] == 0
    assert lpsched("facility", TINY, "-o", cores, "--form", "cores")[0] == 0
    code, answer, _ = lpsched("verify", TINY, gang, cores, proof, "--json")
    assert code == 0
    kinds = [(each["kind"], each["accepted"]) for each in answer["files"]]
    assert kinds == [("allocation", True), ("allocation", True), ("proof", True)]
    assert answer["files"][0]["reward_rate"] == pytest.approx(1.2, rel=5e-3)
    assert answer["files"][0]["power_watts"] <= 280.0
    _, out, _ = lpsched("verify", TINY, gang, proof)
    assert "accepted  reward at most 1.201 reward/s  at most 1.201 reward/s" in out
    assert "reward/s, 280 W" in out
    assert "facility-tiny: 2 of 2 files accepted." in out


def test_a_proof_that_claims_too_much_is_refused(lpsched, tmp_path):
    proof = tmp_path / "proof.json"
    lpsched("facility", TINY, "--certificate", str(proof))
    content = json.loads(proof.read_text())
    proof.write_text(json.dumps(content | {"bound": 0.9 * content["bound"]}))
    code, out, _ = lpsched("verify", TINY, str(proof))
    assert code == 1
    assert "it claims more than its prices prove" in out


def test_an_allocation_over_the_cap_is_refused(lpsched, tmp_path):
    allocation = tmp_path / "gang.json"
    lpsched("facility", TINY, "-o", str(allocation))
    other = tmp_path / "poorer.yaml"
    write_facility(paper_facility(cap=279.0), other)
    code, out, _ = lpsched("verify", str(other), str(allocation))
    assert code == 1
    assert "279" in out


def test_files_of_other_kinds_are_told_apart(lpsched, tmp_path):
    junk = tmp_path / "junk.json"
    junk.write_text('{"format": "lpsched-bag/1"}')
    code, answer, _ = lpsched("verify", TINY, str(junk), str(tmp_path / "missing.json"), "--json")
    assert code == 1
    assert [each["kind"] for each in answer["files"]] == ["unreadable", "unreadable"]


def test_one_outlet_is_for_all_units_and_words_are_refused(lpsched):
    code, answer, _ = lpsched("facility", TINY, "--outlets", "20", "--json")
    assert (code, answer["outlet_celsius"], answer["fixed_outlets"]) == (0, [20.0], True)
    code, _, err = lpsched("facility", TINY, "--outlets", "warm")
    assert code == 2
    assert "got 'warm', expected temperatures in °C with commas between them" in err
    code, _, err = lpsched("facility", TINY, "--outlets", "20,21")
    assert code == 2
    assert "got 2 temperatures, expected 1" in err


def test_without_colocation_the_truth_is_told_beside(lpsched):
    code, out, _ = lpsched("facility", TINY, "--no-colocation")
    assert code == 0
    assert "co-located" in out


def test_outputs_that_cannot_be_are_refused_before_any_work(lpsched, tmp_path):
    for option in ("-o", "--certificate"):
        code, _, err = lpsched("facility", TINY, option, str(tmp_path / "x.txt"))
        assert code == 2
        assert "expected the ending .json" in err


def test_a_bag_is_not_a_facility(lpsched, bag):
    code, _, err = lpsched("facility", bag)
    assert code == 2
    assert "'lpsched-facility/1'" in err


def test_what_no_allocation_can_keep_is_told_with_exit_1(lpsched):
    code, _, err = lpsched("facility", TINY, "--outlets", "25.4")
    assert code == 1
    assert "even if all nodes are idle" in err


@pytest.mark.rotate(1)
@pytest.mark.parametrize(
    "command",
    [
        ("facility", "--gap", "0.1"),
        ("facility", "--gap", "0.1", "--method", "greedy"),
        ("validate", "--method", "lp,greedy"),
    ],
)
def test_nothing_is_called_proved_that_has_no_certificate(lpsched, monkeypatch, tmp_path, command):
    name, *options = command
    page = tmp_path / "page.html"
    arguments = (name, TINY, *options)
    monkeypatch.setattr(facilities, "MOST_PROVED", 0)
    code, out, _ = lpsched(*arguments, "--report", str(page))
    assert code == 0
    assert "not certified" in out
    assert "proved" not in out
    (summary,) = re.findall(r'<p class="summary">(.*?)</p>', page.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert "not certified" in summary
    assert "proved" not in page.read_text(encoding="utf-8")
    assert lpsched(*arguments, "--json")[1]["exactly_proved"] is False
    monkeypatch.undo()
    assert lpsched(*arguments, "--json")[1]["exactly_proved"] is True
