from __future__ import annotations

import contextlib

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsched.errors import InstanceError
from lpsched.measure.bench import Application, Bench, EnergyChoice, Repeats
from lpsched.measure.session import settings_of
from tests.benches import asked

SCHEMA = Bench.model_json_schema()
KEYS = [key for part in (Bench, Application, Repeats, EnergyChoice) for key in part.model_fields]
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


def issues_of(raw):
    with pytest.raises(InstanceError) as refused:
        Bench.read(raw)
    return [str(issue) for issue in refused.value.issues]


def test_a_bench_is_read_as_it_stands():
    assert Bench.read(FULL) == Bench(
        name="node",
        description="why",
        machine_type="old",
        cores=((0, 1), (2,), (3,), (7,)),
        frequencies_mhz=(3400.0, 1700.0),
        applications=(
            Application("zip", ("xz", "-9", "a b"), 100, 60.0, "work", {"THREADS": "1", "MODE": "x"}),
            Application("sort", ("sort", "-k", "2 3", "big")),
        ),
        pairs=(("zip", "sort"), ("sort", "sort"), ("sort", "zip")),
        groups=(("zip", "sort", "zip"),),
        batches=False,
        repeats=Repeats(2, 5, 0.1, 0.9, 0),
        energy=EnergyChoice(command=("watts",), every_seconds=2.0, covers="all", idle_seconds=3.0),
        counters="none",
        companions="always",
        class_bounds=(1e-4,),
        share_bounds=(0.2, 0.3, 0.4),
        seed=7,
        limit_seconds=60.0,
    )


def test_all_but_name_cores_and_applications_may_be_left_out_or_empty():
    applications = (Application("zip", ("xz", "-9", "big")), Application("sort", ("sort", "big")))
    plain = Bench("node", 2, applications)
    assert Bench.read(asked()) == plain
    needed = {"name", "cores", "applications"}
    assert Bench.read(asked(**dict.fromkeys(Bench.model_fields.keys() - needed))) == plain


@pytest.mark.parametrize(
    ("given", "read"), [("all", None), ("none", ()), ([], ()), ([["zip", "zip"]], (("zip", "zip"),))]
)
def test_pairs_are_all_none_or_listed(given, read):
    assert Bench.read(asked(pairs=given)).pairs == read


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("rapl", EnergyChoice("rapl")),
        ("none", EnergyChoice("none")),
        ({"meter": "rapl", "idle_seconds": 5}, EnergyChoice("rapl", idle_seconds=5.0)),
        ({"idle_seconds": 5}, EnergyChoice(idle_seconds=5.0)),
        ({"stream": "ipmi -l"}, EnergyChoice(stream=("ipmi", "-l"))),
    ],
)
def test_energy_comes_from_a_meter_a_command_or_a_stream(given, read):
    assert Bench.read(asked(energy=given)).energy == read


@pytest.mark.parametrize(
    ("given", "read"),
    [({"most": 2}, (2, 2)), ({"least": 20}, (20, 20)), ({"least": 4}, (4, 9)), ({"most": 20}, (3, 20))],
)
def test_one_end_of_the_repeats_moves_the_other_where_that_is_not_given(given, read):
    repeats = Bench.read(asked(repeats=given)).repeats
    assert (repeats.least, repeats.most) == read


def one(**changes):
    """Return a change of the bench: its only application has these keys."""
    return {"applications": [ZIP | changes]}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"applications": [ZIP] * 1001}, "applications: got 1,001 of them, expected at most 1,000; divide"),
        (one(command=...), "applications[0].command: got a value of type ellipsis, expected a list of words"),
        (one(command=["a", "\ud800"]), r"applications[0].command[1]: got '\ud800', which no program can"),
        (one(command=["a", "b" * 4001]), "applications[0].command[1]: got 4,001 characters, expected a text"),
        (one(command=["a"] * 1001), "applications[0].command: got 1,001 of them, expected at most 1,000"),
        ({"groups": [["zip"] * 3] * 10001, "cores": 3}, "groups: got 10,001 of them, expected at most 10,000"),
    ],
)
def test_each_fault_is_told_with_its_place_and_the_way_out(changes, sentence):
    found = issues_of(asked(**changes))
    assert found[0].startswith(sentence)
    assert "; " in found[0]
    assert len(found) == 1


def test_all_faults_come_at_once_and_in_file_order():
    told = issues_of(asked(name=1, cores=0, applications=[ZIP | {"count": 0}, {"name": "b"}], groups=3, seed="x"))
    places = [each.split(":")[0] for each in told]
    assert places == ["name", "cores", "applications[0].count", "applications[1].command", "groups", "seed"]


def test_more_settings_than_a_million_are_refused():
    # 100 applications in all 100 x 100 ordered pairs, 100 alone, at 100 clocks: a million and 10,000, and more.
    many = [ZIP | {"name": f"a{index}"} for index in range(100)]
    clocks = list(range(1000, 1100))
    (found,) = issues_of(asked(applications=many, frequencies_mhz=clocks, energy="none", companions="never"))
    assert found.startswith("applications: got 1,010,000 settings in all, expected at most 1,000,000; list the")
    Bench.read(asked(applications=many, frequencies_mhz=clocks[1:], energy="none", companions="never"))


@pytest.mark.parametrize(
    ("raw", "hashed"),
    [
        (FULL, "dc1f82469c95a80ceb4b7db09d04ee3e8a70341b2db481ed2d8caa49634822a3"),
        (
            FULL | {"pairs": [["sort", "zip"], ["sort", "sort"]], "groups": [["sort", "zip", "zip"]]},
            "dc1f82469c95a80ceb4b7db09d04ee3e8a70341b2db481ed2d8caa49634822a3",
        ),
        (asked(), "81af9f59ac2ef6dcba78b8262d5d5c6ac983754b01d72e191d7f843b8edf0618"),
        (
            asked(
                energy={"stream": "a b", "covers": "x"},
                cores=[0, [1, 2], 3],
                groups=[["zip", "zip", "sort"]],
                pairs=[["zip", "zip"]],
            ),
            "88e426dc9befa7f6d9a60ecdb4b007e44fb0e33bac6594c53fc127d49e3a92c8",
        ),
        (
            asked(
                cores=1,
                applications=[{"name": "a", "command": "x 'y z'", "environment": {"A": "b", "C": 3}, "folder": "w"}],
                repeats={"most": 2},
                energy={"meter": "rapl"},
            ),
            "724d4fd19e8735616bf1b50ce929cdd70b02a344eec478f64ac6f724e1bcccdc",
        ),
    ],
)
def test_the_content_hash_of_a_file_stays_the_same_in_later_versions(raw, hashed):
    bench = Bench.read(raw)
    assert bench.content_hash == hashed
    assert Bench.read(bench.model_dump()) == bench


def test_a_pair_that_is_listed_twice_runs_once():
    plans = [
        settings_of(Bench.read(FULL | {"pairs": pairs}), frequencies_mhz=(), energy=True, counters=True)
        for pairs in ([["zip", "sort"], ["sort", "zip"]], [["sort", "zip"]])
    ]
    assert plans[0] == plans[1]


def test_another_format_is_refused_by_its_name_with_the_command_for_it():
    (found,) = issues_of(asked(format="lpsched-study/1"))
    assert "got the text 'lpsched-study/1', expected 'lpsched-bench/1'; use 'lpsched study run' for a study" in found
    assert "lpsched study run" in found


def test_one_core_and_signs_of_a_shell_are_remarked():
    bench = Bench.read(asked(cores=1, applications=[{"name": "sort", "command": "sort big > small"}]))
    alone, sign = bench.remarks()
    assert alone.startswith("one core: nothing can run together")
    assert sign.startswith("'sort' is given '>' as a word: no shell reads a command")
    assert Bench.read(asked()).remarks() == ()


def test_the_schema_takes_every_form_that_the_door_takes():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    for raw in (FULL, asked(), asked(pairs="none", energy="rapl"), asked(energy={"stream": "a", "covers": None})):
        Bench.read(raw)
        jsonschema.validate(raw, SCHEMA)


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
    assert issues_of(asked(**changes))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(asked(**changes), SCHEMA)


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
        | st.dictionaries(st.sampled_from([*KEYS, "\0", ""]) | st.integers(), inner, max_size=5)
    ),
    max_leaves=12,
)


@settings(max_examples=50, deadline=None)
@given(st.dictionaries(st.sampled_from(list(Bench.model_fields)), JUNK, max_size=8))
def test_junk_is_refused_or_read_but_never_crashes_the_door(changes):
    with contextlib.suppress(InstanceError):
        assert isinstance(Bench.read(asked(**changes)), Bench)
