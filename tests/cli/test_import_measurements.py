from __future__ import annotations

import json

import pytest

from lpsched.instances import read_instance
from lpsched.measure.files import write_measurements
from lpsched.model.fields import FrozenDict
from tests.measure.joined import new, old
from tests.measure.test_rooms import ROOM


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_measurements(old(), tmp_path / "old.yaml")
    write_measurements(new(), tmp_path / "new.yaml")
    write_measurements(old(watts=FrozenDict({}), idle_watts=None), tmp_path / "dark.yaml")
    return tmp_path


def test_two_files_become_a_bag_that_solve_accepts(lpsched, files):
    counts = ("--count", "new=2", "--tasks", "wild=1,calm=8")
    code, out, err = lpsched("import", "measurements", "old.yaml", "new.yaml", "-o", "bag.yaml", *counts)
    assert code == 0
    assert out == "bag.yaml: 9 tasks on 3 machines (2 task types, 2 machine types)\n"
    assert "one task at a time on a node" in err
    assert read_instance(files / "bag.yaml").name == "bag"
    # Wild takes 4 s on old, and the two new ones do 8 calm tasks meanwhile.
    _, answer, _ = lpsched("solve", "bag.yaml", "--objective", "makespan", "--json")
    assert answer["makespan_seconds"] == pytest.approx(4.0)


def test_a_file_without_powers_becomes_a_bag_for_makespans_and_no_facility(lpsched, files):
    code, _, err = lpsched("import", "measurements", "dark.yaml", "-o", "bag.json", "--per", "core")
    assert code == 0
    assert "no power of anything on 'old', so the bag has no watts" in err
    # 10 x 2 s + 5 x 4 s on two cores: 20 s each.
    _, answer, _ = lpsched("solve", "bag.json", "--json")
    assert answer["makespan_seconds"] == pytest.approx(20.0)
    code, _, err = lpsched("import", "measurements", "dark.yaml", "-o", "f.json", "--to", "facility")
    assert code == 2
    assert "got no power at all on 'old', expected watts of every application; measure with a meter" in err
    assert not (files / "f.json").exists()


@pytest.mark.usefixtures("files")
def test_a_facility_says_what_it_assumes_and_is_accepted(lpsched):
    asked = ("--to", "facility", "--name", "hall", "--count", "old=2", "--json")
    code, out, err = lpsched("import", "measurements", "old.yaml", "-o", "f.yaml", *asked)
    assert code == 0
    assert out["instance"]["name"] == "hall"
    for remark in out["remarks"]:
        assert f"warning: {remark}" in err
    assert [remark.split(" assumed")[0] for remark in out["remarks"]] == [
        "the room is",
        "the power cap is",
        "arrivals and rewards are",
    ]
    # Four cores that all run calm: four undisturbed core-seconds a second.
    _, answer, _ = lpsched("facility", "f.yaml", "--json")
    assert answer["reward_rate"] == pytest.approx(4.0, rel=1e-3)


def test_a_room_brings_its_own_market_and_the_options_come_first(lpsched, files):
    (files / "room.json").write_text(json.dumps(ROOM))
    asked = ("--to", "facility", "--room", "room.json", "--power-cap", "300", "--degradation", "full")
    code, _, err = lpsched("import", "measurements", "old.yaml", "-o", "f.yaml", *asked)
    assert (code, err) == (0, "")
    found = read_instance(files / "f.yaml")
    assert (found.name, found.power_cap_watts, found.memory_classes) == ("hall", 300.0, ("calm", "wild"))


def test_a_machine_type_can_be_renamed_where_there_is_one(lpsched, files):
    code, _, _ = lpsched("import", "measurements", "old.yaml", "-o", "b.yaml", "--machine-type", "fog")
    assert code == 0
    assert read_instance(files / "b.yaml").machine_types[0].name == "fog"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("old.yaml", "old.yaml"), "got 'old' in 2 files, expected a machine type of its own in each"),
        (
            ("old.yaml", "new.yaml", "--machine-type", "a"),
            "--machine-type: got the option with 2 files, expected one file; leave it out",
        ),
        (("old.yaml", "--machine-type", ""), "got an empty name"),
        (("old.yaml", "--room", "room.yaml"), "got the option with --to bag, expected --to facility; leave it out"),
        (("old.yaml", "--power-cap", "5"), "got the option with --to bag, expected --to facility; leave it out"),
        (
            ("old.yaml", "--to", "facility", "--per", "core"),
            "got the option with --to facility, expected --to bag; leave it out",
        ),
        (
            ("old.yaml", "--to", "facility", "--tasks", "calm=1"),
            "got the option with --to facility, expected --to bag; leave it out",
        ),
        (("old.yaml", "--to", "facility", "--power-cap", "nan"), "--power-cap: got 'nan', expected a power"),
        (
            ("old.yaml", "--to", "facility", "--power-cap", "1"),
            "no allocation keeps the power cap of 1.0 W: idle nodes",
        ),
        (("old.yaml", "--count", "old"), "expected NAME=COUNT"),
        (("old.yaml", "--count", "odl=2"), "did you mean 'old'?"),
        (("old.yaml", "--name", ""), "got an empty name"),
        (("gone.yaml",), "gone.yaml"),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_is_written(lpsched, files, arguments, words):
    code, _, err = lpsched("import", "measurements", *arguments, "-o", "out.yaml")
    assert code == (1 if "idle nodes" in words else 2)  # no schedule meets such a cap
    assert words in " ".join(err.split())
    assert not (files / "out.yaml").exists()


def test_an_output_never_overwrites_what_is_read(lpsched, files):
    (files / "room.json").write_text(json.dumps(ROOM))
    for output, options in (("old.yaml", ()), ("room.json", ("--to", "facility", "--room", "room.json"))):
        before = (files / output).read_text()
        code, _, err = lpsched("import", "measurements", "old.yaml", "-o", output, *options)
        assert code == 2
        assert "it is what is read" in err
        assert (files / output).read_text() == before
