from __future__ import annotations

import contextlib

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsched.errors import InstanceError
from lpsched.instance.bench import Application, Bench, EnergyChoice, Repeats
from lpsched.instance.bench_door import KEYS, bench_from
from lpsched.instance.bench_parts import APPLICATION_KEYS, ENERGY_KEYS, REPEATS_KEYS
from lpsched.instance.bench_schema import bench_schema
from tests.benches import asked

ZIP = {"name": "zip", "command": ["xz"]}
FULL = asked(
    description="why",
    machine_type="old",
    cores=[[0, 1], 2, [3], 7],
    frequencies_mhz=[1700, 3400.0],
    applications=[
        {
            "name": "zip",
            "command": ["xz", -9, "a b"],
            "count": 100,
            "timeout_seconds": 60,
            "folder": "work",
            "environment": {"THREADS": 1, "MODE": "x"},
        },
        {"name": "sort", "command": "sort -k '2 3' big"},
    ],
    pairs=[["zip", "sort"], ["sort", "sort"], ["sort", "zip"]],
    groups=[["zip", "sort", "zip"]],
    batches=False,
    repeats={"least": 2, "most": 5, "within": 0.1, "confidence": 0.9, "warm_ups": 0},
    energy={"command": ["watts"], "every_seconds": 2, "covers": "all", "idle_seconds": 3},
    counters="none",
    companions="always",
    class_bounds=[1e-4],
    share_bounds=[0.2, 0.3, 0.4],
    seed=7,
    limit_seconds=60,
)


def faults_of(raw):
    with pytest.raises(InstanceError) as refused:
        bench_from(raw)
    return [str(fault) for fault in refused.value.faults]


def test_a_bench_is_read_as_it_stands():
    assert bench_from(FULL) == Bench(
        name="node",
        description="why",
        machine_type="old",
        cores=((0, 1), (2,), (3,), (7,)),
        frequencies_mhz=(3400.0, 1700.0),
        applications=(
            Application("zip", ("xz", "-9", "a b"), 100, 60.0, "work", {"THREADS": "1", "MODE": "x"}),
            Application("sort", ("sort", "-k", "2 3", "big")),
        ),
        pairs=(("sort", "zip"), ("sort", "sort")),
        groups=(("sort", "zip", "zip"),),
        batches=False,
        repeats=Repeats(2, 5, 0.1, 0.9, 0),
        energy=EnergyChoice("command", ("watts",), 2.0, "all", 3.0),
        counters="none",
        companions="always",
        class_bounds=(1e-4,),
        share_bounds=(0.2, 0.3, 0.4),
        seed=7,
        limit_seconds=60.0,
    )


def test_all_but_name_cores_and_applications_may_be_left_out_or_empty():
    applications = (Application("zip", ("xz", "-9", "big")), Application("sort", ("sort", "big")))
    plain = Bench("node", "node", applications, places=2)
    assert bench_from(asked()) == plain
    needed = {"format", "name", "cores", "applications"}
    assert bench_from(asked(**dict.fromkeys(set(KEYS) - needed))) == plain


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("all", None),
        ("none", ()),
        ([], ()),
        ([["zip", "zip"]], (("zip", "zip"),)),
    ],
)
def test_pairs_are_all_none_or_listed(given, read):
    assert bench_from(asked(pairs=given)).pairs == read


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("rapl", EnergyChoice("rapl")),
        ("none", EnergyChoice("none")),
        ({"meter": "rapl", "idle_seconds": 5}, EnergyChoice("rapl", idle_seconds=5.0)),
        ({"idle_seconds": 5}, EnergyChoice("auto", idle_seconds=5.0)),
        ({"stream": "ipmi -l"}, EnergyChoice("stream", ("ipmi", "-l"))),
    ],
)
def test_energy_comes_from_a_meter_a_command_or_a_stream(given, read):
    assert bench_from(asked(energy=given)).energy == read


@pytest.mark.parametrize(
    ("given", "read"),
    [({"most": 2}, (2, 2)), ({"least": 20}, (20, 20)), ({"least": 4}, (4, 9)), ({"most": 20}, (3, 20))],
)
def test_one_end_of_the_repeats_moves_the_other_where_that_is_not_given(given, read):
    repeats = bench_from(asked(repeats=given)).repeats
    assert (repeats.least, repeats.most) == read


def one(**changes):
    """Return a change of the bench: its only application has these keys."""
    return {"applications": [ZIP | changes]}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"name": ...}, "name: found nothing, needs a name; add it"),
        ({"name": 3}, "name: found 3, needs a name"),
        ({"nmae": "x"}, "nmae: found an unknown key"),
        ({"machine_type": ""}, "machine_type: found an empty name, needs a name"),
        ({"cores": ...}, "cores: found nothing, needs how many applications run at once"),
        ({"cores": 0}, "cores: found 0, needs a whole number from 1 to 1,024"),
        ({"cores": 1.5}, "cores: found 1.5, needs a whole number"),
        (
            {"cores": "2"},
            "cores: found the text '2', needs how many applications run at once, such as 2, or a",
        ),
        ({"cores": []}, "cores: found a list of 0, needs how many"),
        ({"cores": [0, -1]}, "cores[1]: found -1, needs a whole number from 0 to 65,535"),
        ({"cores": [0, [1, "a"]]}, "cores[1][1]: found the text 'a', needs a whole number"),
        ({"cores": [0, []]}, "cores[1]: found a list of 0, needs the numbers of one processor or more"),
        (
            {"cores": [[0, 1], [1, 2]]},
            "cores[1]: found processor 1 a second time, needs each processor in one",
        ),
        ({"cores": 2000}, "cores: found 2000, needs a whole number from 1 to 1,024"),
        ({"frequencies_mhz": 3400}, "frequencies_mhz: found 3400, needs a list of clocks in MHz"),
        ({"frequencies_mhz": [0]}, "frequencies_mhz[0]: found 0, needs megahertz: a number from 1"),
        ({"frequencies_mhz": [1700, 1700.0001]}, "frequencies_mhz: found a clock twice, needs clocks that"),
        ({"applications": ...}, "applications: found nothing, needs a list of applications, at least 1"),
        ({"applications": []}, "applications: found a list of 0, needs a list of applications, at least 1"),
        ({"applications": [ZIP] * 1001}, "applications: found 1,001 of them, needs at most 1,000; divide"),
        (
            {"applications": ["xz"]},
            "applications[0]: found the text 'xz', needs a mapping with the keys name",
        ),
        ({"applications": [None]}, "applications[0].name: found nothing, needs a name; add it"),
        ({"applications": [ZIP, ZIP]}, "applications[1].name: found 'zip' a second time, needs names that"),
        (
            one(name="memory-companion"),
            "applications[0].name: found 'memory-companion', needs a name that no",
        ),
        (one(cmd="x"), "applications[0].cmd: found an unknown key, needs one of name, command, count, timeo"),
        (one(command=...), "applications[0].command: found a value of type ellipsis, needs a list of words"),
        (one(command=None), "applications[0].command: found nothing, needs a list of words: a program and"),
        (one(command=""), "applications[0].command: found no program, needs a program and its arguments"),
        (one(command=[""]), "applications[0].command: found no program, needs a program"),
        (one(command="sort 'a"), 'applications[0].command: found "sort \'a": no closing quotation, needs'),
        (
            one(command=["a", 1.5]),
            "applications[0].command[1]: found 1.5, needs a text of at most 4,000 char",
        ),
        (one(command=["a", True]), "applications[0].command[1]: found true (a yes/no value), needs a text"),
        (
            one(command=["a", "b\0"]),
            r"applications[0].command[1]: found 'b\x00', which no program can be giv",
        ),
        (one(command="a b\0"), r"applications[0].command: found 'a b\x00', which no program can be given"),
        (one(command=["a", "\ud800"]), r"applications[0].command[1]: found '\ud800', which no program can"),
        (one(command=["a", "b" * 4001]), "applications[0].command[1]: found 4,001 characters, needs a text"),
        (one(command=["a"] * 1001), "applications[0].command: found 1,001 of them, needs at most 1,000"),
        (one(count=0), "applications[0].count: found 0, needs a whole number from 1"),
        (
            one(timeout_seconds=0),
            "applications[0].timeout_seconds: found 0, needs seconds: a number from 0.001",
        ),
        (one(folder=""), "applications[0].folder: found an empty text, needs the name of a folder"),
        (
            one(environment=["A"]),
            "applications[0].environment: found a list of 1, needs a mapping of at most",
        ),
        (one(environment={"A=B": "c"}), "applications[0].environment.A=B: found the text 'A=B', needs the"),
        (one(environment={"A": 1.5}), "applications[0].environment.A: found 1.5, needs a text"),
        ({"pairs": "some"}, "pairs: found the text 'some', needs all, none, or a list of two names each"),
        ({"pairs": [["zip"]]}, "pairs[0]: found a list of 1, needs a list of two names"),
        (
            {"pairs": [["zip", "srot"]]},
            "pairs[0][1]: found 'srot', needs the name of an application; did you",
        ),
        ({"pairs": [["zip", 3]]}, "pairs[0][1]: found 3, needs the name of an application"),
        (
            {"pairs": [["zip", "zip"]], "cores": 1},
            "pairs[0]: found 2 applications at once, needs at most 1, as",
        ),
        ({"groups": [["zip", "zip"]]}, "groups[0]: found a list of 2, needs a list of 3 names or more"),
        ({"groups": [["zip"] * 3]}, "groups[0]: found 3 applications at once, needs at most 2, as many as"),
        (
            {"groups": [["zip"] * 3], "cores": [4, 5]},
            "groups[0]: found 3 applications at once, needs at most 2",
        ),
        ({"groups": "all"}, "groups: found the text 'all', needs a list of lists of 3 names or more"),
        ({"groups": [["zip"] * 3] * 10001, "cores": 3}, "groups: found 10,001 of them, needs at most 10,000"),
        ({"batches": "yes"}, "batches: found the text 'yes', needs true or false"),
        ({"repeats": 5}, "repeats: found 5, needs a mapping with the keys least, most"),
        ({"repeats": {"least": 1}}, "repeats.least: found 1, needs a whole number from 2 to 10,000"),
        ({"repeats": {"least": 5, "most": 4}}, "repeats.least: found 5, but most is 4, needs at most 4"),
        ({"repeats": {"within": 0}}, "repeats.within: found 0, needs a share of the mean"),
        ({"repeats": {"confidence": 1}}, "repeats.confidence: found 1, needs a share: a number from 0.5"),
        ({"repeats": {"warm_ups": -1}}, "repeats.warm_ups: found -1, needs a whole number from 0"),
        ({"repeats": {"laest": 3}}, "repeats.laest: found an unknown key, needs one of least, most, within"),
        ({"energy": "ipmi"}, "energy: found the text 'ipmi', needs auto, rapl, none, or {command: ...}"),
        ({"energy": ["ipmi"]}, "energy: found a list of 1, needs a mapping with the keys meter, command"),
        (
            {"energy": {"command": "a", "stream": "b"}},
            "energy: found the keys command and stream, needs one of",
        ),
        ({"energy": {"command": []}}, "energy.command: found a list of 0, needs a list of words"),
        ({"energy": {"meter": "wall"}}, "energy.meter: found the text 'wall', needs one of auto, rapl, none"),
        ({"energy": {"idle_seconds": 0}}, "energy.idle_seconds: found 0, needs seconds: a number from 0.1"),
        (
            {"energy": {"every_seconds": 0}},
            "energy.every_seconds: found 0, needs seconds: a number from 0.01",
        ),
        ({"energy": {"covers": 3}}, "energy.covers: found 3, needs a text"),
        ({"counters": "perf"}, "counters: found the text 'perf', needs one of auto, none"),
        ({"companions": True}, "companions: found true (a yes/no value), needs one of auto, always, never"),
        (
            {"class_bounds": [1e-3, 1e-3]},
            "class_bounds[1]: found 0.001 after 0.001, needs a larger bound than",
        ),
        ({"share_bounds": [0.5, 0.1]}, "share_bounds[1]: found 0.1 after 0.5, needs a larger bound"),
        ({"share_bounds": [0]}, "share_bounds[0]: found 0, needs a bound: a number from 1e-12"),
        ({"seed": -1}, "seed: found -1, needs a whole number from 0 to 3.4e+38"),
        ({"limit_seconds": 0}, "limit_seconds: found 0, needs seconds: a number from 1"),
        ({"description": 5}, "description: found 5, needs a text"),
    ],
)
def test_each_fault_is_told_with_its_place_and_the_way_out(changes, sentence):
    found = faults_of(asked(**changes))
    assert found[0].startswith(sentence)
    assert "; " in found[0]
    assert len(found) == (2 if changes == {"applications": [None]} else 1)


def test_all_faults_come_at_once_and_in_file_order():
    told = faults_of(
        asked(name=1, cores=0, applications=[ZIP | {"count": 0}, {"name": "b"}], groups=3, seed="x")
    )
    places = [each.split(":")[0] for each in told]
    assert places == ["name", "cores", "applications[0].count", "applications[1].command", "groups", "seed"]


def test_more_settings_than_a_million_are_refused():
    # 100 applications in all 100 x 100 ordered pairs, 100 alone, at 100 clocks: a million and 10,000, and more.
    many = [ZIP | {"name": f"a{index}"} for index in range(100)]
    clocks = list(range(1000, 1100))
    (found,) = faults_of(asked(applications=many, frequencies_mhz=clocks, energy="none", companions="never"))
    assert found.startswith(
        "applications: found 1,010,000 settings in all, needs at most 1,000,000; list the"
    )
    bench_from(asked(applications=many, frequencies_mhz=clocks[1:], energy="none", companions="never"))


def test_another_format_is_refused_by_its_name_with_the_command_for_it():
    (found,) = faults_of(asked(format="lpsched-study/1"))
    assert "found the text 'lpsched-study/1', needs 'lpsched-bench/1'; bring a file of this kind" in found
    assert "lpsched study run" in found


def test_one_core_and_signs_of_a_shell_are_remarked():
    bench = bench_from(asked(cores=1, applications=[{"name": "sort", "command": "sort big > small"}]))
    alone, sign = bench.remarks()
    assert alone.startswith("one core: nothing can run together")
    assert sign.startswith("'sort' is given '>' as a word: no shell reads a command")
    assert bench_from(asked()).remarks() == ()


def test_the_schema_takes_every_form_that_the_door_takes():
    jsonschema.Draft202012Validator.check_schema(bench_schema())
    for raw in (
        FULL,
        asked(),
        asked(pairs="none", energy="rapl"),
        asked(energy={"stream": "a", "covers": None}),
    ):
        bench_from(raw)
        jsonschema.validate(raw, bench_schema())


@pytest.mark.parametrize(
    "changes",
    [
        {"cores": 0},
        {"cores": []},
        {"applications": []},
        {"applications": [{"name": "a"}]},
        one(name="compute-companion"),
        one(command=["a", 1.5]),
        {"pairs": [["zip"]]},
        {"groups": [["zip", "zip"]]},
        {"repeats": {"least": 1}},
        {"energy": "ipmi"},
        {"energy": {"meters": "rapl"}},
        {"seed": -1},
        {"limit_seconds": 0},
        {"nmae": 1},
    ],
)
def test_the_schema_refuses_what_the_door_refuses(changes):
    assert faults_of(asked(**changes))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(asked(**changes), bench_schema())


LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.sampled_from(["zip", "sort", "all", "none", "auto", "\0", "\ud800", "'", "", "command", 10**400]),
    st.text(max_size=5),
)
JUNK = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from([*KEYS, *APPLICATION_KEYS, *REPEATS_KEYS, *ENERGY_KEYS, "\0", ""])
            | st.integers(),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=50, deadline=None)
@given(st.dictionaries(st.sampled_from(KEYS[1:]), JUNK, max_size=8))
def test_junk_is_refused_or_read_but_never_crashes_the_door(changes):
    with contextlib.suppress(InstanceError):
        assert isinstance(bench_from(asked(**changes)), Bench)
