from __future__ import annotations

import json
import pickle

import pytest
from hypothesis import given, settings

from lpsched.errors import InstanceError
from lpsched.facility.model import Air, ArrivingType, Facility, Mixing, NodeType, facility_from_dict
from lpsched.model.table import Table
from tests.facilities import ALPHA, SOUND, facilities, sound_facility, sparse, within


@pytest.fixture
def sound() -> Facility:
    return facility_from_dict(SOUND)


def refused(facility, **changes) -> list[str]:
    with pytest.raises(InstanceError) as caught:
        facility.model_copy(update=changes)
    return [str(issue) for issue in caught.value.issues]


def test_a_facility_cannot_be_changed(sound):
    with pytest.raises(ValueError, match="frozen"):
        sound.power_cap_watts = 1.0
    with pytest.raises(ValueError, match="frozen"):
        sound.node_types[0].cores = 9


def test_columns_go_by_node_type_and_p_state(sound):
    assert sound.modes == ((0, 0), (0, 1), (1, 0))
    assert [label for kind in sound.node_types for label in kind.columns] == ["blade:fast", "blade:saving", "tower"]


@settings(deadline=None, max_examples=30)
@given(facilities())
def test_a_facility_survives_pickling(facility):
    again = pickle.loads(pickle.dumps(facility))  # noqa: S301
    assert again == facility
    assert again.content_hash == facility.content_hash


@settings(deadline=None, max_examples=30)
@given(facilities())
def test_a_facility_is_made_again_of_what_it_dumps(facility):
    for again in (
        Facility.model_validate(facility.model_dump()),
        Facility.model_validate(json.loads(facility.model_dump_json())),
        Facility(**{key: getattr(facility, key) for key in Facility.model_fields}),
    ):
        assert again == facility
        assert again.content_hash == facility.content_hash


@pytest.mark.parametrize(
    "change",
    [
        {"name": "other"},
        within("node_types.0.cores", 3),
        within("node_types.0.redline_celsius", 26),
        {"nodes": ["blade", {"type": "tower"}], "power_cap_watts": 301},
        within("crac_units.0.outlet_celsius", [15, 24]),
        within("crac_units.0.redline_celsius", 40),
        within("task_types.0.reward", 5),
        within("speeds.zip.blade", [0.2, 0.126]),
        within("watts.zip.blade", [22.0, 10.5]),
        within("degradation.light.light", 0.01),
        {"degradation": ...},
        {"mixing": {"alpha": ALPHA}},
        {"air": {}},
    ],
)
def test_whatever_it_says_is_in_the_hash(sound, change):
    assert facility_from_dict(sound_facility(**change)).content_hash != sound.content_hash


@pytest.mark.parametrize(
    "change",
    [
        {"description": "where the numbers come from"},
        {"memory_classes": ["heavy", "light"], "degradation": [[0.4, 0.05], [0.1, 0.0]]},
        within("crac_units.0.cop", [0.458, 0.0008, 0.0068]),
        within("node_types.1.p_states", None),
        {"speeds": [[[0.05, 0.03], 0.04], [[0.2, 0.125], None]]},
        {key: SOUND[key] for key in reversed(SOUND)},
    ],
)
def test_how_it_says_it_is_not(sound, change):
    assert facility_from_dict(sound_facility(**change)).content_hash == sound.content_hash


def test_the_hash_is_the_same_on_every_machine(sound):
    # Pinned: a hash that drifts would make every certificate and stored allocation worthless.
    assert sound.content_hash == "aacacd84b6768f22281d2d64891f0287e18478099fc622d7febdd778eb417c81"


def test_remarks_tell_of_what_is_there_for_nothing(sound):
    spare = NodeType("spare", 1, 5.0, 0.1, 30.0)
    wider = sound.model_copy(
        update={
            "node_types": (*sound.node_types, spare),
            "speeds": Table.of([[*row, None] for row in sound.speeds]),
            "watts": Table.of([[*row, None] for row in sound.watts]),
            "memory_classes": ("heavy", "light", "lonely"),
            "degradation": Table.of([[0.0] * 3] * 3),
        }
    )
    assert wider.remarks() == ("no node is of type 'spare'", "no task type is of memory class 'lonely'")
    assert sound.model_copy(update={"memory_classes": (), "degradation": None}).remarks() == (
        "task type 'render' has a memory class, but there is no degradation",
        "task type 'zip' has a memory class, but there is no degradation",
    )


def test_a_facility_of_parts_is_checked_like_one_from_a_file(sound):
    assert refused(sound, nodes=(0, 2)) == [
        "nodes[1]: got 2, expected a number from 0 to 1, of a node type; correct it"
    ]
    assert refused(sound, speeds=Table.of([[1.0]])) == [
        "speeds: got a table of 1 x 1, expected 2 x 3, task types x columns; fix its shape"
    ]
    assert "speeds[0][1]: got -1.0, expected tasks per second: a number from 1e-12 to 1e+12; correct it" in refused(
        sound, speeds=Table.of([[0.05, -1.0, 0.04], [0.2, 0.125, None]])
    )
    assert refused(sound, degradation=None) == [
        "degradation: got classes but no table, expected both or neither; add the one, or drop the other"
    ]
    assert refused(sound, memory_classes=()) == [
        "degradation: got a table but no classes, expected both or neither; add the one, or drop the other"
    ]
    assert refused(sound, degradation=Table.of([[0.0]])) == [
        "degradation: got a table of 1 x 1, expected 2 x 2, classes x classes; fix its shape"
    ]
    assert refused(sound, power_cap_watts=0.0) == [
        "power_cap_watts: got 0.0, expected watts: a number from 1e-12 to 1e+12; correct it"
    ]
    assert refused(sound, mixing=Mixing("inlet_mix", sparse([[1.0]]))) == [
        "mixing.inlet_mix: got a matrix of 1 x 1, expected 4 x 4, nodes and CRAC units; fix its shape"
    ]


def test_cores_and_classes_whose_patterns_cannot_be_counted_are_refused(sound):
    # 64 cores and 6 classes: C(70, 6) = 131,115,985 ways; with 3 classes C(67, 3) = 47,905.
    names = [f"t{i}" for i in range(6)]
    tasks = tuple(ArrivingType(name, 1.0, 1.0) for name in names)
    wide = sound.node_types[0].model_copy(update={"cores": 64})
    many = {
        "node_types": (wide, sound.node_types[1]),
        "task_types": tasks,
        "speeds": Table.of([[1.0] * 3] * 6),
        "watts": Table.of([[1.0] * 3] * 6),
    }
    assert refused(sound, **many, memory_classes=tuple(names), degradation=Table.of([[0.1] * 6] * 6)) == [
        (
            "node_types[0].cores: got 64 cores and 6 classes: 131,115,985 ways to divide the one among the "
            "other, expected at most 200,000; join memory classes, or split the node into sockets"
        )
    ]
    few = tuple(task.model_copy(update={"memory_class": f"c{i % 3}"}) for i, task in enumerate(tasks))
    classes = {"memory_classes": ("c0", "c1", "c2"), "degradation": Table.of([[0.1] * 3] * 3)}
    assert sound.model_copy(update=many | {"task_types": few} | classes).cores == 65
    assert (
        sound.model_copy(update=many | {"memory_classes": (), "degradation": None}).cores == 65
    )  # cores do not care for each other


def test_a_fixed_outlet_may_have_any_positive_cop(sound):
    fixed = tuple(unit.model_copy(update={"outlet_celsius": (3.0, 3.0)}) for unit in sound.crac_units)
    assert sound.model_copy(update={"crac_units": fixed}).crac_units[0].performance(3.0) == pytest.approx(0.5216)


def test_the_air_has_a_default():
    facility = facility_from_dict(sound_facility(air=...))
    assert facility.air == Air(1.205, 1005.0)
