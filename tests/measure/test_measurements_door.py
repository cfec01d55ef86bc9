from __future__ import annotations

import contextlib
import copy
import math
import random

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsched.errors import InstanceError
from lpsched.measure.evidence import AdditiveCheck, Saving, Setting
from lpsched.measure.files import as_dict
from lpsched.measure.measurements import NOT_GIVEN, MeasuredApplication, MeasuredMachine, Measurements, Meters
from tests.measured import measurements_of_seed

BY_HAND = {
    "format": "lpsched-measurements/1",
    "name": "node-a",
    "applications": ["zip", {"name": "sort", "count": 3, "command": "sort -k '2 3' big.txt"}],
    "seconds": {"zip": 12.5, "sort": 4},
}
# zip alone: 100 J / 4 s = 25 W at the fast clock, 90 J / 6 s = 15 W at the slow one
MEASURED = {
    "format": "lpsched-measurements/1",
    "name": "node-b",
    "idle_watts": 11.0,
    "idle_watts_before": 10.0,
    "idle_watts_after": 12.0,
    "frequencies_mhz": [3400, 1700],
    "applications": ["zip"],
    "seconds": {"zip": [4.0, 6.0]},
    "watts": {"zip": [25.0, 15.0]},
    "degradation_in_full": {"zip": {"zip": 0.25}},
    "measured": [
        {"application": "zip", "mhz": 3400, "seconds": {"mean": 4.0, "count": 3}, "joules": {"mean": 100.0}},
        {"application": "zip", "mhz": 1700, "seconds": {"mean": 6.0}, "joules": {"mean": 90.0}},
        {"application": "zip", "beside": ["zip"], "mhz": 3400, "seconds": {"mean": 5.0, "low": 4, "high": 6}},
    ],
}


def told(base=None, **changes):
    """Return a file's mapping with some keys changed; `...` takes one away."""
    raw = copy.deepcopy(BY_HAND if base is None else base) | changes
    return {key: value for key, value in raw.items() if value is not ...}


def issues_of(raw):
    with pytest.raises(InstanceError) as refused:
        Measurements.read(raw)
    return [str(issue) for issue in refused.value.issues]


def test_a_file_by_hand_needs_a_name_applications_and_seconds_only():
    measurements = Measurements.read(told())
    assert measurements.machine_type == "node-a"
    assert measurements.machine == MeasuredMachine(NOT_GIVEN, NOT_GIVEN, ())
    assert measurements.meters == Meters(NOT_GIVEN)
    assert measurements.seconds == {"zip": (12.5,), "sort": (4.0,)}
    assert measurements.applications == (
        MeasuredApplication("zip", ()),
        MeasuredApplication("sort", ("sort", "-k", "2 3", "big.txt"), 3),
    )
    assert (measurements.watts, measurements.p_states, measurements.remarks()) == ({}, None, ())


def test_a_number_of_cores_stands_for_the_first_ones():
    assert Measurements.read(told(machine={"cores": 2})).machine.cores == ((0,), (1,))
    assert Measurements.read(told(machine={"cores": [[0, 4], 1]})).machine.cores == ((0, 4), (1,))


def test_an_empty_list_tells_as_much_as_none():
    empty = told(frequencies_mhz=[], machine={"cores": []}, applications=[{"name": "zip", "command": []}, "sort"])
    assert Measurements.read(empty) == Measurements.read(told(applications=["zip", "sort"]))


def test_one_number_will_do_for_one_clock():
    one = told(frequencies_mhz=[3400], seconds={"zip": 4.0})
    assert Measurements.read(one).seconds == {"zip": (4.0,)}
    evidence = [{"application": "zip", "mhz": 3400, "seconds": {"mean": 5.0}}]
    (found,) = issues_of(one | {"measured": evidence})
    assert found.startswith("seconds.zip[0]: got 4.0, expected 5.0, as measured for 'zip alone at 3400 MHz'")


def test_p_states_are_named_for_the_clocks():
    assert Measurements.read(MEASURED).p_states == ("3400MHz", "1700MHz")


def test_those_beside_are_sorted_so_that_equal_settings_are_equal():
    entry = {"application": "a", "beside": ["c", "b"], "reason": "no"}
    (failed,) = Measurements.read(told(failed=[entry])).failed
    assert failed.setting == Setting("a", ("b", "c"))


def test_power_of_work_below_idle_power_is_remarked():
    measurements = Measurements.read(told(watts={"zip": 9.5, "sort": 30}, idle_watts=10))
    assert measurements.remarks() == ("the watts of 'zip' (9.5) are below idle_watts (10)",)


def test_one_clock_below_idle_power_is_enough_for_a_remark():
    clocks = {"frequencies_mhz": [2, 1], "seconds": {"zip": [1, 2]}, "watts": {"zip": [30, 9]}}
    assert len(Measurements.read(told(idle_watts=10, **clocks)).remarks()) == 1


def test_clocks_must_fall():
    (found,) = issues_of(told(frequencies_mhz=[1700, 3400], seconds={"zip": [6.0, 4.0]}))
    assert found.startswith("frequencies_mhz[1]: got 3400.0 after 1700.0, expected clocks from fast to slow")
    assert found.endswith("; sort them, and their columns")


def test_a_meter_that_sees_no_energy_saves_none():
    assert Saving(("a", "b"), 0.0, 0.0).share_saved == 0.0
    assert Saving(("a", "b"), 200.0, 150.0).share_saved == 0.25


def test_an_error_is_a_share_of_the_measured_time():
    assert AdditiveCheck.of(Setting("a", ("b", "c")), 2.0, 2.5).error == 0.25


VALIDATOR = jsonschema.Draft202012Validator(Measurements.model_json_schema())
REMOVE = "correct it; to use other numbers than those measured, remove the evidence"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"seconds": {"zip": [4.0, 6.1]}},
            f"seconds.zip[1]: got 6.1, expected 6.0, as measured for 'zip alone at 1700 MHz'; {REMOVE}",
        ),
        (
            {"watts": {"zip": [26.0, 15.0]}},
            f"watts.zip[0]: got 26.0, expected 25.0, as measured for 'zip alone at 3400 MHz'; {REMOVE}",
        ),
        (
            {"idle_watts": 10.0},
            f"idle_watts: got 10.0, expected 11.0, the mean of idle_watts_before and idle_watts_after; {REMOVE}",
        ),
        ({"seconds": {"zip": 4.0}}, "seconds.zip: got 1 number, expected a list of 2, one for each clock; give one"),
        ({"watts": {"zip": [25.0]}}, "watts.zip: got 1 number, expected a list of 2, one for each clock"),
        (
            {"frequencies_mhz": [3400, 3400.001]},
            "frequencies_mhz[1]: got 3400.001 after 3400.0, expected clocks from fast to slow that differ",
        ),
    ],
)
def test_columns_must_be_what_the_evidence_says(changes, sentence):
    (found,) = issues_of(told(MEASURED, **changes))
    assert found.startswith(sentence)


def test_without_clocks_a_column_is_told_by_its_application():
    evidence = [{"application": "zip", "seconds": {"mean": 12.6}}]
    (found,) = issues_of(told(measured=evidence))
    assert found.startswith("seconds.zip: got 12.5, expected 12.6, as measured for 'zip alone'")


def test_the_last_digits_may_be_rounded():
    Measurements.read(told(MEASURED, seconds={"zip": [4.0, 6.000000001]}))
    assert issues_of(told(MEASURED, seconds={"zip": [4.0, 6.0000001]}))


def test_a_clock_that_was_dropped_stays_in_the_evidence_only():
    one = {"frequencies_mhz": [3400], "seconds": {"zip": [4.0]}, "watts": {"zip": [25.0]}}
    assert len(Measurements.read(told(MEASURED, **one)).measured) == 3


def test_an_application_that_could_not_be_measured_has_no_column():
    assert Measurements.read(told(seconds={"zip": 1.0})).seconds == {"zip": (1.0,)}


def test_all_faults_come_at_once_and_in_file_order():
    raw = told(name=1, idle_watts_before=3.0, applications=["a", "a"], seconds={"b": 1}, measured=[{}], x=1)
    assert [each.split(":")[0] for each in issues_of(raw)] == [
        "name",
        "applications[1].name",
        "seconds.b",
        "measured[0].application",
        "measured[0].seconds",
        "x",
        "idle_watts",  # what is missing comes after what is there
    ]


def test_faulty_names_and_clocks_bring_no_faults_of_tables():
    raw = told(MEASURED, applications=[{"count": 1}], frequencies_mhz="fast")
    assert [each.split(":")[0] for each in issues_of(raw)] == ["frequencies_mhz", "applications[0].name"]


@pytest.mark.parametrize(
    ("raw", "hashed"),
    [
        (BY_HAND, "2daa4f3c9b8a19801f4c3e878ac98ab5ed324a6c184f4e8e245b0904ecafc84e"),
        (MEASURED, "23840340558c03697545e236961ff0ce8ad9d19f82e77cef388b91e0a29c5fe8"),
        (as_dict(measurements_of_seed(0)), "3d7696f8539a9151c082e093773f25792b110fcb0d76b1b668469cf9afdaa732"),
        (as_dict(measurements_of_seed(1)), "f1e751290712bf26c18cef5005dff653e9e52a19d5e94e00333769d20c0491c9"),
        (as_dict(measurements_of_seed(2)), "aec82c37ff77053993e9758fbcb159153fd4cdca71294569b32ce72c5f73b2cc"),
        (as_dict(measurements_of_seed(3)), "fe06c14529225199582f1621fa63deb6056c882f58baf726d4025a169276da2d"),
    ],
)
def test_the_content_hash_of_a_file_stays_the_same_in_later_versions(raw, hashed):
    measurements = Measurements.read(raw)
    assert measurements.content_hash == hashed
    assert Measurements.read(measurements.model_dump()) == measurements


def test_another_format_is_refused_by_its_name():
    (found,) = issues_of(told(format="lpsched-bench/1"))
    assert "expected 'lpsched-measurements/1'; use 'lpsched measure' for a bench" in found


def test_the_schema_takes_what_is_written():
    jsonschema.Draft202012Validator.check_schema(Measurements.model_json_schema())
    for raw in (BY_HAND, MEASURED, *(as_dict(measurements_of_seed(seed)) for seed in range(9))):
        VALIDATOR.validate(raw)


@pytest.mark.parametrize(
    "changes",
    [
        {"nmae": "x"},
        {"seconds": {}},
        {"applications": []},
        {"applications": ["memory-companion"]},
        {"watts": {"zip": -1}},
        {"failed": [{"application": "zip"}]},
        {"measured": [{"application": "zip", "seconds": 3}]},
    ],
)
def test_the_schema_refuses_what_the_door_refuses(changes):
    assert issues_of(told(**changes))
    assert VALIDATOR.is_valid(told())
    assert not VALIDATOR.is_valid(told(**changes))


JUNK: tuple[object, ...] = (
    None,
    True,
    0,
    -1,
    2.5,
    math.nan,
    math.inf,
    10**400,
    "",
    "zip",
    "\0",
    [],
    [[]],
    {},
    {"": None},
    {3: 4},
)


def spoilt(value, chance):
    """Return a value with something in it replaced by junk, taken away or said twice."""
    if isinstance(value, dict) and value and chance.random() < 0.8:
        key = chance.choice(list(value))
        if chance.random() < 0.1:
            return {each: value[each] for each in value if each != key}
        return value | {chance.choice([key, key, key, "mean", "beside"]): spoilt(value[key], chance)}
    if isinstance(value, list) and value and chance.random() < 0.8:
        index = chance.randrange(len(value))
        inner = spoilt(value[index], chance)
        return [*value[:index], *([inner] * chance.choice([0, 1, 1, 2])), *value[index + 1 :]]
    return chance.choice([*JUNK, value])


@settings(deadline=None)
@given(st.integers(0, 2**64))
def test_no_junk_crashes_the_door(seed):
    chance = random.Random(seed)  # noqa: S311 - no secret
    raw = as_dict(measurements_of_seed(seed))
    for _ in range(chance.randint(1, 3)):
        raw = spoilt(raw, chance)
        if isinstance(raw, dict) and chance.random() < 0.3:
            raw[chance.choice(list(Measurements.model_fields))] = chance.choice(JUNK)
    with contextlib.suppress(InstanceError):
        Measurements.read(raw)
