from __future__ import annotations

import json
from typing import Any

import pytest

from lpsched.errors import InstanceError
from lpsched.facility.solve import facility as solve_facility
from lpsched.measure.facilities import facility_in
from lpsched.measure.measurements import MeasuredMachine
from tests.measure.joined import new, old

ROOM: dict[str, Any] = {
    "format": "lpsched-facility/1",
    "name": "hall",
    "description": "Ours.",
    "node_types": [{"name": "old", "airflow_m3_per_second": 0.1, "redline_celsius": 27}],
    "nodes": ["old"],
    "crac_units": [{"name": "crac", "airflow_m3_per_second": 0.1, "outlet_celsius": [15, 20]}],
    "task_types": [
        {"name": "calm", "arrivals_per_second": 0.25, "reward": 2},
        {"name": "wild", "arrivals_per_second": 1, "reward": 4},
    ],
    "mixing": {"inlet_mix": [[0, 1], [1, 0]]},
    "power_cap_watts": 500,
}


@pytest.fixture
def joined(tmp_path):
    """Join measurements with a room of these changes; `...` drops a key."""

    def join(measurements, changes=None, **options):
        path = tmp_path / "room.json"
        raw = {key: value for key, value in (ROOM | (changes or {})).items() if value is not ...}
        path.write_text(json.dumps(raw))
        return facility_in(path, measurements, **options)

    return join


def node_type(**more):
    return {"node_types": [ROOM["node_types"][0] | more]}


def test_what_was_measured_fills_what_the_room_leaves_out(joined):
    found = joined([old()]).instance
    (kind,) = found.node_types
    assert (kind.cores, kind.overhead_watts, kind.airflow_m3_per_second, kind.redline_celsius) == (2, 40.0, 0.1, 27.0)
    assert list(found.speeds) == [[0.5], [0.25]]
    assert list(found.watts) == [[10.0], [20.0]]
    assert found.memory_classes == ("I", "III")
    assert (found.name, found.power_cap_watts, found.task_types[0].arrivals_per_second) == ("hall", 500.0, 0.25)
    assert found.description.startswith("Ours. old: measured on a processor")


def test_where_calm_tasks_are_few_the_best_allocation_is_the_one_found_by_hand(joined):
    # Beside wild, calm does 0.5 / 1.25 = 0.4/s and wild 0.25 / 1.1 /s: 0.8 + 1 / 1.1 a second together. All the
    # calm tasks need 0.25 / 0.4 = 0.625 of the time; for the rest wild is alone, or twice at half speed: 1.
    result = solve_facility(joined([old()]).instance)
    assert result.reward_rate == pytest.approx(0.625 * (0.8 + 1 / 1.1) + 0.375, rel=1e-3)


def test_what_the_room_says_stands(joined):
    found = joined([old()], node_type(cores=16, overhead_watts=300)).instance
    assert (found.node_types[0].cores, found.node_types[0].overhead_watts) == (16, 300.0)
    changes = {
        "speeds": {"calm": {"old": 7}, "wild": {"old": 8}},
        "degradation": {"a": {"a": 0.5}},
        "task_types": [each | {"memory_class": "a"} for each in ROOM["task_types"]],
    }
    found = joined([old()], changes).instance
    assert list(found.speeds) == [[7.0], [8.0]]
    assert list(found.watts) == [[10.0], [20.0]]
    assert found.memory_classes == ("a",)


def test_name_and_cap_that_are_asked_for_come_first(joined):
    found = joined([old()], {"power_cap_watts": ...}, name="mine", power_cap_watts=333.0).instance
    assert (found.name, found.power_cap_watts) == ("mine", 333.0)


def test_without_nodes_there_are_as_many_as_asked_for(joined):
    mixing = {"nodes": ..., "mixing": {"recirculation_kelvin_per_watt": [[0, 0, 0]] * 3}}
    assert joined([old()], mixing, nodes={"old": 3}).instance.nodes == (0, 0, 0)
    with pytest.raises(InstanceError, match="got nodes in the room, and --count, expected one of the two"):
        joined([old()], nodes={"old": 3})


def test_without_task_types_the_market_is_plain_and_that_is_said(joined):
    told = joined([old()], {"task_types": ...})
    assert [(each.name, each.arrivals_per_second, each.reward) for each in told.instance.task_types] == [
        ("calm", 1.0, 2.0),  # two cores at 0.5/s
        ("wild", 0.5, 4.0),
    ]
    assert [each.memory_class for each in told.instance.task_types] == ["I", "III"]
    assert told.remarks[-1].startswith("arrivals and rewards are assumed")


def test_what_the_room_does_not_have_was_measured_for_nothing(joined):
    told = joined([old(), new()], {"task_types": ROOM["task_types"][:1]})
    assert [each.name for each in told.instance.task_types] == ["calm"]
    assert told.instance.memory_classes == ("I",)
    assert "the room has no node type 'new': measured for nothing" in told.remarks
    assert "the room has no task type 'wild': measured for nothing" in told.remarks


def test_cores_of_the_room_that_no_bench_has_seen_together_are_refused(joined):
    lonely = old(machine=MeasuredMachine("a", "Linux", ((0,),)), degradation={}, degradation_in_full={})
    assert joined([lonely]).instance.degradation is None
    with pytest.raises(InstanceError, match=r"degradation\.I\.III.*measure that pair"):
        joined([lonely], node_type(cores=4))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"mixing": ...}, "mixing: got nothing, expected exactly one of"),
        ({"power_cap_watts": ...}, "power_cap_watts: got nothing, expected the most watts"),
        ({"node_types": [{"name": "old"}]}, "airflow_m3_per_second: got nothing"),
        ({"node_types": 3}, "node_types: got 3, expected a list"),
        (
            {"task_types": [{"name": "wlid", "arrivals_per_second": 1, "reward": 1}]},
            "task_types[0].name: got 'wlid', expected an application that was measured: 'calm', 'wild'; did you",
        ),
        (
            {"node_types": [ROOM["node_types"][0] | {"name": "odl"}], "nodes": ["odl"]},
            "node_types[0].name: got 'odl', expected a machine type that was measured: 'old'; did you mean 'old'",
        ),
        ({"format": "lpsched-bag/1"}, "expected 'lpsched-facility/1'"),
        ({"description": 5}, "description: got 5, expected a text"),
        ({"nodes": 5}, "nodes: got 5, expected a list"),
    ],
)
def test_what_a_room_must_say_is_told_with_its_place(joined, changes, words):
    with pytest.raises(InstanceError) as refused:
        joined([old()], changes)
    assert words in str(refused.value)
    assert str(refused.value).splitlines()[0].split(":")[0].endswith("room.json")


def test_a_room_that_is_no_mapping_is_refused(tmp_path):
    path = tmp_path / "room.json"
    path.write_text("[1]")
    with pytest.raises(InstanceError, match="got a list of 1, expected a mapping that begins with"):
        facility_in(path, [old()])
