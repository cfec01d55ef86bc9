"""`lpsched measure`: from a bench to files that the other commands take."""

from __future__ import annotations

import json
import os

import pytest
import yaml

from lpsched.cli.main import run
from lpsched.measure.files import read_measurements

pytestmark = pytest.mark.rotate_tests(8)

CORES = sorted(os.sched_getaffinity(0))
PLACES = [[CORES[0]], [CORES[-1]]]  # one and the same on a machine of one core
NAP = {"name": "nap", "command": ["sleep", "0.02"], "count": 4}
REST = {"name": "rest", "command": ["sleep", "0.03"], "count": 2}
METER = {"command": ["echo", "40 W"], "every_seconds": 0.02, "idle_seconds": 0.1, "covers": "a lamp"}
SMALL = {
    "format": "lpsched-bench/1",
    "name": "node-a",
    "cores": PLACES,
    "applications": [NAP, REST],
    "repeats": {"least": 2, "most": 2, "warm_ups": 0},
    "energy": "none",
    "counters": "none",
    "companions": "never",
}


def write(folder, **changed):
    path = folder / "bench.yaml"
    path.write_text(yaml.safe_dump(SMALL | changed))
    return str(path)


@pytest.fixture(scope="module")
def metered(tmp_path_factory):
    """A folder in which a bench with a user's command as its meter was run, and everything made of it."""
    folder = tmp_path_factory.mktemp("metered")
    names = ("node.yaml", "bag.yaml", "room.yaml", "picture.svg", "page.html")
    output, bag, facility, figure, page = (str(folder / name) for name in names)
    more = ["--bag", bag, "--facility", facility, "--figure", figure, "--report", page]
    assert run(["measure", write(folder, energy=METER), "-o", output, *more, "--quiet"]) == 0
    return folder


@pytest.mark.slow
def test_a_user_command_as_meter_ends_in_a_bag_and_a_facility_that_are_accepted(metered, lpsched):
    code, solved, _ = lpsched("solve", str(metered / "bag.yaml"), "--objective", "energy", "--json")
    assert (code, solved["status"]) == (0, "optimal")
    told = read_measurements(metered / "node.yaml")
    # one node, one task at a time: 4 naps and 2 rests; the lamp always takes 40 W, read over a little more than a run
    assert [watts for (watts,) in told.watts.values()] == pytest.approx([40.0, 40.0], rel=0.1)
    joules = {name: told.seconds[name][0] * told.watts[name][0] for name in ("nap", "rest")}
    assert solved["value"] == pytest.approx(4 * joules["nap"] + 2 * joules["rest"], rel=1e-6)
    code, room, _ = lpsched("facility", str(metered / "room.yaml"), "--json")
    assert code == 0
    assert 0 < room["reward_rate"] <= room["bound"]


def test_what_was_measured_stands_in_the_file_with_its_meter(metered):
    told = read_measurements(metered / "node.yaml")
    assert told.machine_type == "node-a"
    assert set(told.seconds) == set(told.watts) == {"nap", "rest"}
    assert told.seconds["nap"][0] >= 0.02
    assert told.idle_watts == pytest.approx(40.0)
    assert told.meters.energy_covers == "a lamp"
    assert told.machine.cores == tuple(map(tuple, PLACES))
    # alone: 2; of the pairs nn, nr, rn, rr: 4; batches of the three pairs: 3; each twice
    assert len(told.measured) == 9
    assert {each.seconds.count for each in told.measured} == {2}
    assert set(told.degradation_in_full) == {"nap", "rest"}
    assert len(told.savings) == 3


@pytest.mark.slow
def test_a_picture_and_a_page_are_made(metered):
    assert (metered / "picture.svg").read_text().lstrip().startswith("<?xml")
    assert "node-a" in (metered / "page.html").read_text()


def test_of_measurements_nothing_is_run_and_everything_is_made_again(metered, lpsched, tmp_path):
    bag = tmp_path / "again.yaml"
    given = ("measure", str(metered / "node.yaml"), "--bag", str(bag), "--machine-type", "twin", "--json")
    code, answer, _ = lpsched(*given)
    assert code == 0
    assert answer["format"] == "lpsched-measure/1"
    assert answer["files"] == [str(bag)]
    assert "runs" not in answer
    assert [each["name"] for each in yaml.safe_load(bag.read_text())["machine_types"]] == ["twin"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again.yaml"]


@pytest.mark.parametrize("option", [["-o", "x.yaml"], ["--resume"], ["--time-limit", "1"]])
def test_options_of_a_bench_are_refused_with_measurements(metered, lpsched, option, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    code, _, err = lpsched("measure", str(metered / "node.yaml"), *option)
    assert code == 2
    assert "got the option for measurements, expected a bench; leave it out" in err


def test_without_a_meter_the_bag_has_times_and_makespan_is_accepted(lpsched, tmp_path):
    output, bag = tmp_path / "node.json", tmp_path / "bag.json"
    bench = write(tmp_path, pairs="none")
    code, answer, err = lpsched("measure", bench, "-o", str(output), "--bag", str(bag), "--json")
    assert code == 0
    assert (answer["runs"], answer["unfinished"]) == (4, 0)
    assert answer["files"] == [str(output), str(tmp_path / "node.samples.jsonl"), str(bag)]
    assert "watts" not in answer
    assert "2 settings, 4 runs; each is kept in" in err
    code, solved, _ = lpsched("solve", str(bag), "--objective", "makespan", "--json")
    assert (code, solved["status"]) == (0, "optimal")
    times = read_measurements(output).seconds
    assert solved["value"] == pytest.approx(4 * times["nap"][0] + 2 * times["rest"][0], rel=1e-6)


def test_what_cannot_be_measured_is_told_and_kept(lpsched, tmp_path):
    output = tmp_path / "node.yaml"
    broken = {"command": ["sh", "-c", "echo no lamp >&2; exit 1"], "every_seconds": 0.02}
    code, _, err = lpsched("measure", write(tmp_path, energy=broken, pairs="none"), "-o", str(output))
    assert code == 0
    (told,) = [line for line in err.splitlines() if "energy is not measured" in line]
    assert "no lamp" in told
    assert any("no lamp" in sentence for sentence in read_measurements(output).absent)


def test_a_facility_without_a_meter_is_refused_before_anything_is_run(lpsched, tmp_path):
    code, _, err = lpsched(
        "measure", write(tmp_path), "-o", str(tmp_path / "n.yaml"), "--facility", str(tmp_path / "f.yaml")
    )
    assert code == 2
    assert "a facility needs powers" in err
    assert [path.name for path in tmp_path.iterdir()] == ["bench.yaml"]


def test_programs_and_places_that_are_not_there_are_refused_all_at_once(lpsched, tmp_path):
    gone = {"name": "gone", "command": "no-such-program -x"}
    bench = write(tmp_path, cores=[[CORES[0]], [9999]], applications=[NAP, gone])
    code, answer, _ = lpsched("measure", bench, "-o", str(tmp_path / "n.yaml"), "--json")
    assert code == 2
    issues = {each["where"].split(", ")[-1]: each["found"] for each in answer["error"]["faults"]}
    assert issues == {
        "applications[1].command": "a command that cannot be started: there is no program 'no-such-program' in PATH",
        "cores[1]": "the processor 9999",
    }
    assert all("line " in each["where"] for each in answer["error"]["faults"])
    assert [path.name for path in tmp_path.iterdir()] == ["bench.yaml"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        pytest.param(
            [], "--output: got nothing, expected a file for the measurements of a bench; add it", id="no-output"
        ),
        pytest.param(["-o", "no/node.yaml"], "cannot write no/node.yaml", id="no-folder"),
        pytest.param(["-o", "node.txt"], "expected the ending .yaml or .yml or .json", id="an-ending"),
        pytest.param(["-o", "bench.yaml"], "it is what is read", id="the-bench-itself"),
        pytest.param(
            ["-o", "n.yaml", "--bag", "n.yaml"], "cannot write n.yaml: two options name it", id="one-name-twice"
        ),
        pytest.param(["-o", "n.yaml", "--report", "r.pdf"], "expected the ending .html", id="a-page"),
        pytest.param(["-o", "n.yaml", "--machine-type", ""], "machine-type", id="no-name"),
    ],
)
def test_what_could_not_be_written_in_the_end_is_refused_first(lpsched, tmp_path, monkeypatch, options, words):
    monkeypatch.chdir(tmp_path)
    write(tmp_path)
    code, _, err = lpsched("measure", "bench.yaml", *options)
    assert code == 2
    assert words in err
    assert [path.name for path in tmp_path.iterdir()] == ["bench.yaml"]


def test_an_application_that_fails_is_told_and_the_others_are_measured(lpsched, tmp_path):
    bad = {"name": "bad", "command": ["sh", "-c", "echo out of luck >&2; exit 3"]}
    output = tmp_path / "node.yaml"
    bench = write(tmp_path, applications=[NAP, bad], pairs=[["nap", "bad"]])
    code, answer, err = lpsched("measure", bench, "-o", str(output), "--json")
    assert code == 0
    assert list(answer["seconds"]) == ["nap"]
    assert "ended with exit code 3: out of luck" in err
    # bad alone, bad beside nap and nap beside bad, each once; nap alone twice
    assert answer["runs"] == 5
    assert {str(each.setting) for each in read_measurements(output).failed} == {
        "bad alone",
        "bad beside nap",
        "nap beside bad",
    }


@pytest.mark.parametrize(
    ("changed", "options", "words"),
    [
        pytest.param(
            {"applications": [{"name": "bad", "command": ["false"]}]},
            [],
            "nothing could be measured: bad alone ended with exit code 1",
            id="all-fail",
        ),
        pytest.param(
            {},
            ["--time-limit", "0"],
            "no application ran to its end at every clock before the time was over",
            id="no-time",
        ),
    ],
)
def test_nothing_measured_is_no_answer_and_no_file(lpsched, tmp_path, changed, options, words):
    output = tmp_path / "node.yaml"
    code, _, err = lpsched("measure", write(tmp_path, pairs="none", **changed), "-o", str(output), *options)
    assert code == 1
    assert words in err
    assert not output.exists()


def test_runs_that_are_there_are_not_overwritten_and_with_resume_not_made_again(lpsched, tmp_path):
    log, output = tmp_path / "log", tmp_path / "node.yaml"
    logging = {"name": "logging", "command": ["sh", "-c", f"echo ran >> {log}"]}
    bench = write(tmp_path, applications=[logging], pairs="none")
    given = ("measure", bench, "-o", str(output), "--quiet")
    assert lpsched(*given)[0] == 0
    assert len(log.read_text().split()) == 2
    code, _, err = lpsched(*given)
    assert code == 2
    assert "--resume" in err
    bench = write(tmp_path, applications=[logging], pairs="none", repeats={"least": 3, "most": 3, "warm_ups": 0})
    code, answer, _ = lpsched(*given, "--resume", "--json")
    assert (code, answer["runs"]) == (0, 3)
    assert len(log.read_text().split()) == 3


def test_other_commands_than_those_of_the_runs_are_refused(lpsched, tmp_path):
    output = tmp_path / "node.yaml"
    assert lpsched("measure", write(tmp_path, applications=[NAP], pairs="none"), "-o", str(output))[0] == 0
    slower = NAP | {"command": ["sleep", "0.5"]}
    bench = write(tmp_path, applications=[slower], pairs="none")
    code, _, err = lpsched("measure", bench, "-o", str(output), "--resume")
    assert code == 2
    assert "command of nap of applications was" in err


def test_the_machine_type_of_the_command_line_is_that_of_the_file(lpsched, tmp_path):
    output = tmp_path / "node.yaml"
    bench = write(tmp_path, applications=[NAP], pairs="none")
    assert lpsched("measure", bench, "-o", str(output), "--machine-type", "fat")[0] == 0
    assert read_measurements(output).machine_type == "fat"


def test_quiet_says_nothing_but_the_answer(lpsched, tmp_path):
    bench = write(tmp_path, applications=[NAP], pairs="none")
    code, out, err = lpsched("measure", bench, "-o", str(tmp_path / "node.yaml"), "--quiet")
    assert (code, err) == (0, "")
    assert "nap" in out


def test_samples_are_lines_of_json_beside_the_output(metered):
    lines = [json.loads(line) for line in (metered / "node.samples.jsonl").read_text().splitlines()]
    assert lines[0]["format"] == "lpsched-bench-run/1"
    assert sum(line["format"] == "lpsched-sample/1" for line in lines) == 18
    assert [line["watts"] for line in lines if line["format"] == "lpsched-idle/1"] == [pytest.approx(40.0)]
