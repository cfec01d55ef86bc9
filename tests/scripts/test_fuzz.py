"""The fuzzer: it breaks files in the same way each time, notices what it should, and finds nothing in five seconds."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal

import pytest

from lpsched.model.answers import checksum
from scripts.fuzzing import __main__ as fuzz
from scripts.fuzzing import special
from scripts.fuzzing.kinds import KINDS, MADE, main_of
from scripts.fuzzing.minimise import smaller
from scripts.fuzzing.mutations import EXACTS, SCRIPT, broken
from scripts.fuzzing.trials import Finding, Samples, Trials, Worker, commands_of, contradictions, judged

pytestmark = pytest.mark.unwatched  # scripts are not covered code

DID = {"words": ["show", "x.yaml"], "code": 0, "out": "", "err": "", "raised": None, "megabytes": 1.0, "seconds": 0.1}


@pytest.mark.parametrize(
    ("did", "what"),
    [
        ({"raised": ["OverflowError in x.py in f", "..."]}, "OverflowError in x.py in f"),
        ({"code": 3}, "exit code 3"),
        ({"code": 2, "err": ""}, "bad input without a message"),
        ({"out": "a\x1b[31mb"}, "control characters are printed"),
        ({"err": "lpsched: \u202ex", "code": 2}, "control characters are printed"),
        ({"err": "x.py:1: RuntimeWarning: overflow"}, "a warning of Python is printed"),
        ({"megabytes": 9000.0}, "takes too much memory"),
        ({"words": ["show", "x", "--json"], "out": "{"}, "no valid JSON"),
        ({"words": ["show", "x", "--json"], "out": '{"a": NaN}'}, "no valid JSON"),
        (
            {"words": ["solve", "--json"], "code": 1, "out": '{"error": {"code": "invalid-schedule"}}'},
            "our own schedule is invalid",
        ),
    ],
)
def test_what_must_not_be_is_a_finding(did, what):
    assert [each.what for each in judged(DID | did, first=True)] == [what]


def test_ordinary_answers_and_rejections_are_none():
    for did in ({}, {"code": 1, "err": "lpsched: infeasible"}, {"code": 2, "err": "lpsched: x: 1 error"}):
        assert judged(DID | did, first=True) == []
    assert [each.what for each in judged(DID | {"code": 1}, first=False)] == ["an answer of ours is not accepted"]


def test_a_bound_that_a_schedule_passes_is_a_finding():
    schedule = {"name": "s", "accepted": True, "makespan_seconds": 12.0, "profit_per_hour": 3.0, "proved": None}
    claims = [
        {"name": "long", "accepted": True, "objective": "makespan", "proved": 12.5},
        {"name": "low", "accepted": True, "objective": "profit", "unit": "USD/hour", "proved": 2.9},
        {"name": "true", "accepted": True, "objective": "makespan", "proved": 12.0},
        {"name": "of a horizon", "accepted": True, "objective": "profit", "unit": "USD", "proved": 2.9},
        {"name": "refused", "accepted": False, "objective": "profit", "proved": 1.0},
    ]
    found = contradictions({"files": [schedule, *claims]})
    assert [each.partition(":")[0] for each in found] == ["long", "low"]


def test_bounds_of_a_horizon_are_not_held_against_what_they_are_not_about():
    plan = {"name": "p", "accepted": True, "cost": 1.0, "profit_per_hour": 9.0, "dropped": 2, "proved": None}
    claims = [
        {"name": "all tasks", "accepted": True, "objective": "cost", "unit": "USD", "proved": 2.0},
        {"name": "in all", "accepted": True, "objective": "profit", "unit": "USD", "proved": 3.0},
        {"name": "an hour", "accepted": True, "objective": "profit", "unit": "USD/hour", "proved": 3.0},
    ]
    found = contradictions({"files": [plan, *claims]})
    assert [each.partition(":")[0] for each in found] == ["an hour"]
    assert len(contradictions({"files": [plan | {"dropped": 0}, claims[0]]})) == 1


def test_the_bounds_of_what_if_questions_contradict_the_schedules_beside_them_if_they_are_accepted(tmp_path):
    # What an older 'verify' said: the bound under a power cap, and for outlets at 15 celsius, plainly accepted.
    for bag, proof, schedule in (
        ("bag.yaml", "capped-proof.json", "short.json"),
        ("room.yaml", "cold-proof.json", "allocation.json"),
    ):
        with Worker() as worker:
            samples = Samples(tmp_path, worker)
            words = ["verify", *(str(samples.path(name)) for name in (bag, proof, schedule)), "--json"]
            asked = worker.ask(tmp_path, [words], 60)
        assert not isinstance(asked, Finding)
        (did,) = asked
        answer = json.loads(did["out"])
        assert contradictions(answer) == []
        assert contradictions({"files": [each | {"accepted": True} for each in answer["files"]]})


def test_a_forged_certificate_has_a_checksum_that_fits_mostly():
    content = json.dumps({"claim": {"bound": "12.5", "price": None}, "checksum": "0"}).encode()
    made = [broken(random.Random(str(seed)), "x.json", content) for seed in range(300)]  # noqa: S311
    documents = []
    for each in made:
        with contextlib.suppress(ValueError, RecursionError):
            documents.append(json.loads(each))
    fitting = [
        each
        for each in documents
        if isinstance(each, dict) and "checksum" in each and each["checksum"] == checksum(each)
    ]
    assert len(fitting) > 50
    prices = [each["claim"].get("price") for each in fitting if isinstance(each.get("claim"), dict)]
    assert any(price in EXACTS for price in prices)


def test_a_seed_breaks_a_file_in_one_way():
    content = json.dumps({"a": [1, 2, {"b": "x"}], "c": 3.5}).encode()
    ways = [broken(random.Random(str(seed)), "x.json", content) for seed in range(200)]  # noqa: S311
    assert ways == [broken(random.Random(str(seed)), "x.json", content) for seed in range(200)]  # noqa: S311
    assert len(set(ways)) > 150
    assert any(SCRIPT.encode() in each for each in ways)


def test_a_file_is_made_smaller_while_it_fails():
    content = json.dumps({"keep": {"bad": 10**30, "other": 1}, "rest": list(range(50))}).encode()
    assert smaller(content, lambda each: b'"bad": 1000' in each) == b'"bad": 1000'
    lines = b"\n".join(b"line %d" % number for number in range(100))
    assert smaller(lines, lambda each: b"line 57" in each) == b"line 57"


def test_kinds_name_files_that_can_be_made():
    for kind in KINDS.values():
        assert {*kind.files, *kind.needed(), *map(main_of, kind.files)} <= MADE.keys(), kind.name
        named = all("FILE" in command or "MAIN" in command for command in kind.commands)
        assert named or kind.name == "samples", kind.name  # that file is found beside the output


@pytest.fixture(scope="module")
def trials(tmp_path_factory):
    with Worker() as worker:
        yield Trials(worker, tmp_path_factory.mktemp("trials"))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name)
def test_each_command_reads_one_of_its_files_while_that_is_whole(trials, kind):
    """A command that rejects its own options or all files would find nothing."""

    for command in kind.commands:
        found = []
        for file in kind.files:
            trials.place(kind, file).write_bytes(trials.samples.path(file).read_bytes())
            found.append(trials.worker.ask(trials.folder, commands_of(command, file), 120))
        assert any(all(each["code"] in {0, 1} for each in answer) for answer in found), (command, found)


def ended(worker, folder):
    answer = worker.ask(folder, [["schema", "bag"]], 60)
    return answer.detail if isinstance(answer, Finding) else answer[0]["code"]


@pytest.mark.slow
def test_a_process_that_takes_too_long_or_dies_is_a_finding(tmp_path):
    with Worker() as worker:
        solve = ["solve", str(fuzz.__file__).partition("scripts")[0] + "instances/zeus-34x4.yaml"]
        assert ended(worker, tmp_path) == 0
        slow = worker.ask(tmp_path, [solve], 0.0)
        assert isinstance(slow, Finding)
        assert slow.what == "takes too long"
        assert ended(worker, tmp_path) == 0  # in a new process
        os.kill(worker._process.pid, signal.SIGKILL)  # noqa: SLF001 - as a crash would
        dead = worker.ask(tmp_path, [["schema", "bag"]], 60)
        assert isinstance(dead, Finding)
        assert dead.what == "the process died"


@pytest.mark.slow
def test_every_sample_is_made_and_bombs_are_small(tmp_path):
    with Worker() as worker:
        samples = Samples(tmp_path, worker)
        for name in MADE:
            assert samples.path(name).stat().st_size > 0
        assert len(special.bomb("log.swf.gz", samples.path("log.swf.gz").read_bytes())) < special.UNPACKED / 50


@pytest.mark.slow
def test_five_seconds_of_it_find_nothing(tmp_path, capsys):
    code = fuzz.main(["--minutes", str(5 / 60), "--seed", "7", "--keep", str(tmp_path / "kept")])
    out = capsys.readouterr().out
    assert code == 0, out
    assert "0 findings" in out
    assert not (tmp_path / "kept").exists()
