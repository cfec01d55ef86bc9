"""Other people's schedules and certificates: each gets its verdict, none an exception."""

from __future__ import annotations

import json
import pickle
import re
from pathlib import Path

import numpy as np
import pytest

from lpsched import Prices, certify, read, solve, validate, verify
from lpsched.bag.files import write_certificate, write_rows, write_schedule
from lpsched.bag.schedule import NOTHING, expand
from lpsched.generate.bags import cov_bag
from lpsched.generate.options import CovOptions

pytestmark = pytest.mark.rotate_tests(5)

TINY = read(Path(__file__).parents[3] / "instances" / "tiny.yaml")
FEW = cov_bag(
    "few", np.random.default_rng(4), CovOptions(task_types=6, machines=(1, 2), tasks=8, task_cov=0.6, machine_cov=0.4)
)


@pytest.fixture
def files(tmp_path):
    """Return files of every kind, good and bad, by name."""
    best, slow = solve(TINY), solve(TINY, objective="energy")
    write_schedule(best.schedule, TINY, tmp_path / "best.json", "1")
    write_schedule(slow.schedule, TINY, tmp_path / "slow.json", "1")
    write_rows(expand(TINY, slow.schedule), TINY.tasks, tmp_path / "slow.csv")
    write_schedule(NOTHING, TINY, tmp_path / "nothing.json", "1")
    write_certificate(certify(TINY), tmp_path / "proof.json", "1")
    (tmp_path / "late.csv").write_text("task_type,machine_type,machine\nscan,fast,1\n")
    (tmp_path / "nine.csv").write_text("task_type,machine_type,machine\nscan,fast,9\n")
    (tmp_path / "broken.json").write_text("{")
    return {path.name: path for path in tmp_path.iterdir()}


def test_each_schedule_is_measured_against_the_bound(files):
    result = validate(TINY, [files["best.json"], files["slow.json"], files["slow.csv"], files["nothing.json"]])
    assert result.valid
    # The fast end earns 3.48 an hour, the thrifty one 1.608, doing nothing loses 0.144.
    assert [entry.value for entry in result.entries] == pytest.approx([3.48, 1.608, 1.608, -0.144])
    assert [entry.gap for entry in result.entries] == pytest.approx(
        [0.0, 1 - 1.608 / 3.48, 1 - 1.608 / 3.48, 1 + 0.144 / 3.48], abs=1e-9
    )
    assert result.entries[1].measured.energy_joules == 6600.0


def test_schedules_may_be_given_by_name():
    result = validate(TINY, {"mine": solve(TINY).schedule}, objective="makespan")
    assert (result.entries[0].name, result.entries[0].value, result.unit) == ("mine", 12.0, "seconds")


@pytest.mark.parametrize("effort", ["fast", "balanced", "auto", "tight"])
@pytest.mark.parametrize(("objective", "bag"), [("profit", TINY), ("makespan", FEW)], ids=["tiny", "few"])
def test_bound_and_schedule_are_those_of_solve_with_the_same_effort(objective, bag, effort):
    solved = solve(bag, objective=objective, effort=effort, seed=3)
    result = validate(bag, heuristics=["lp"], objective=objective, effort=effort, seed=3)
    assert (result.bound, result.entries[0].value) == (solved.bound, solved.value)
    assert result.entries[0].gap == solved.gap
    assert result.to_dict()["effort"] == effort


def test_auto_is_the_effort_of_a_validation_and_no_other_word_is():
    assert validate(FEW, heuristics=["lp"]).bound == solve(FEW).bound > solve(FEW, effort="fast").bound
    with pytest.raises(ValueError, match="effort is 'hard', expected one of fast, balanced, auto, tight"):
        validate(TINY, heuristics=["lp"], effort="hard")


def test_invalid_and_unreadable_schedules_are_entries_with_violations(files):
    result = validate(TINY, [files["late.csv"], files["nine.csv"], files["broken.json"], "missing.json"])
    assert not result.valid
    codes = [{each.code for each in entry.violations} for entry in result.entries]
    assert codes == [{"wrong-count"}, {"no-such-machine"}, {"unreadable"}, {"unreadable"}]
    assert result.to_dict()["entries"][1] == {
        "name": str(files["nine.csv"]),
        "kind": "file",
        "valid": False,
        "value": None,
        "gap": None,
        "makespan_seconds": None,
        "energy_joules": None,
        "profit_per_hour": None,
        "seconds": None,
        "violations": [{"code": "no-such-machine", "sentence": "there is no machine 9 of type 'fast', only 1 to 1"}],
    }
    assert result._repr_html_().count("<td>invalid</td>") == 4


def test_nothing_is_no_schedule_where_the_work_is_forced_or_no_money_counts(files):
    assert not validate(TINY, [files["nothing.json"]], deadline=100.0).valid
    assert not validate(TINY, [files["nothing.json"]], objective="makespan").valid


def test_a_schedule_that_breaks_the_options_is_invalid(files):
    result = validate(TINY, [files["slow.json"]], deadline=20.0)
    assert [each.code for each in result.entries[0].violations] == ["after-deadline"]


def test_certificates_and_schedules_are_audited_together(files):
    result = verify(TINY, [files["proof.json"], files["best.json"], files["slow.csv"]])
    assert result.accepted
    proof, best, slow = result.files
    assert (proof.kind, proof.objective, proof.unit) == ("certificate", "profit", "USD/hour")
    assert proof.claimed == proof.proved == pytest.approx(3.48)
    assert best.measured.makespan_seconds == 12.0
    assert slow.row()[1:] == ("schedule", "accepted", "-", "1.608 USD/h, 30 s, 1.833 Wh")
    assert "<td>accepted</td>" in result._repr_html_()
    assert pickle.loads(pickle.dumps(result)) == result  # noqa: S301 - our own


def test_a_certificate_of_another_bag_is_refused(files):
    other = read(Path(__file__).parents[3] / "instances" / "spec-2010.yaml")
    (verdict,) = verify(other, [files["proof.json"]]).files
    assert not verdict.accepted
    assert verdict.reasons[0].startswith("it is about another bag: its hash is ")
    assert verdict.to_dict()["proved"] is None


def test_a_file_of_no_kind_is_refused_not_crashed_on(files):
    result = verify(TINY, [files["broken.json"], files["nine.csv"], "missing.yaml"])
    assert [each.accepted for each in result.files] == [False] * 3
    assert all(each.reasons for each in result.files)


def test_a_changed_certificate_is_refused(files):
    content = json.loads(files["proof.json"].read_text())
    content["claim"]["bound"] = "3"
    files["proof.json"].write_text(json.dumps(content))
    (verdict,) = verify(TINY, [files["proof.json"]]).files
    assert "the file was changed: certify again" in verdict.reasons[0]


def test_claim_and_proof_are_written_with_as_many_digits_as_tell_them_apart(files):
    (verdict,) = verify(TINY, [files["proof.json"]]).files
    known = {name: getattr(verdict, name) for name in type(verdict).__slots__}
    # 2^-30 is 9.3e-10, 2^-26 is 1.5e-8; both are rounded up, and alike up to eight digits.
    near = type(verdict)(**known | {"claimed": 3.5 + 2.0**-30, "proved": 3.5 + 2.0**-26})
    assert near.row()[3:] == ("profit at most 3.50000001 USD/h", "at most 3.50000002 USD/h")


def test_a_makespan_can_be_certified_without_watts_though_electricity_has_a_price(tmp_path):
    plain = TINY.model_copy(update={"watts": None})
    write_certificate(certify(plain, objective="makespan"), tmp_path / "p.json", "1")
    assert verify(plain, [tmp_path / "p.json"]).accepted


def test_a_certificate_that_says_two_things_or_an_endless_number_is_refused(files):
    text = files["proof.json"].read_text()
    files["proof.json"].write_text(text.replace('"bound":', '"bound": "1",\n    "bound":'))
    (verdict,) = verify(TINY, [files["proof.json"]]).files
    assert "a key that was given before" in verdict.reasons[0]
    files["proof.json"].write_text(re.sub(r'"bound": "[^"]*"', f'"bound": "{"9" * 400}"', text))
    (verdict,) = verify(TINY, [files["proof.json"]]).files
    assert not verdict.accepted


def test_a_schedule_without_tasks_is_valid_only_where_not_to_run_is_an_answer(tmp_path, files):
    (tmp_path / "header.csv").write_text("task_type,machine_type,machine\n")  # as `expand` writes nothing.json
    unpriced = TINY.model_copy(update={"prices": Prices()})
    for file in (tmp_path / "header.csv", files["nothing.json"]):
        (entry,) = validate(TINY, [file]).entries
        assert entry.value == pytest.approx(-0.144)  # idle: 20 + 2 x 10 W at 3.6 USD/kWh
        assert verify(TINY, [file]).accepted
        assert not verify(unpriced, [file]).accepted


@pytest.mark.parametrize("end", ["1e308", "1e61", "0", "-1"])
def test_ends_beyond_all_time_are_refused_in_words(files, end):
    text = files["best.json"].read_text().replace('"makespan_seconds": null', f'"makespan_seconds": {end}')
    files["best.json"].write_text(text)
    assert not verify(TINY, [files["best.json"]]).accepted
    files["late.csv"].write_text(f"task_type,machine_type,machine,start_seconds\nscan,fast,1,{end}\n")
    assert not verify(TINY, [files["late.csv"]]).accepted


def test_a_file_of_another_format_is_told_by_its_format_alone(files):
    content = json.loads(files["proof.json"].read_text()) | {"format": "lpsched-certificate/9"}
    files["proof.json"].write_text(json.dumps(content))
    (verdict,) = verify(TINY, [files["proof.json"]]).files
    (reason,) = verdict.reasons
    assert "got the text 'lpsched-certificate/9', expected 'lpsched-schedule/1'" in reason


@pytest.mark.parametrize(("digits", "codes"), [(300, {"no-such-machine", "wrong-count"}), (390, {"unreadable"})])
def test_more_machines_than_any_double_can_count_are_a_violation(files, digits, codes):
    text = files["best.json"].read_text().replace('"machines": 1', f'"machines": {"9" * digits}', 1)
    files["best.json"].write_text(text)
    (entry,) = validate(TINY, [files["best.json"]]).entries
    assert {each.code for each in entry.violations} == codes
