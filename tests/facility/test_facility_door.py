"""Every bad facility is refused at the door, with where, what was found, what is needed, what to do."""

from __future__ import annotations

import copy
import time

import pytest

from lpsched.errors import MOST_ISSUES, InstanceError
from lpsched.facility.model import facility_from_dict
from tests.facilities import ALPHA, INLET_MIX, SOUND, sound_facility, within


def issues_of(raw) -> list[str]:
    with pytest.raises(InstanceError) as caught:
        facility_from_dict(raw)
    return [str(issue) for issue in caught.value.issues]


def mix(v, u, value):
    matrix = copy.deepcopy(INLET_MIX)
    matrix[v][u] = value
    return {"mixing": {"inlet_mix": matrix}}


def test_the_sound_facility_is_sound():
    facility = facility_from_dict(SOUND)
    assert repr(facility) == "<Facility 'sound': 2 nodes with 3 cores, 2 CRAC units (2 task types, 2 node types)>"
    assert facility.speeds.row(1) == [0.2, 0.125, None]
    assert facility.mixing.matrix.row(1) == [(0, 0.1), (1, 0.1), (2, 0.1), (3, 0.7)]
    assert (facility.memory_classes, facility.class_of) == (("heavy", "light"), (0, 1))
    assert facility.degradation.row(0) == [0.4, 0.05]
    assert facility.remarks() == ()


@pytest.mark.parametrize(
    ("change", "issue"),
    [
        pytest.param({"description": "x" * 10_001}, "description: got 10,001 characters, expected a text of at most 10,000 characters; shorten it", id="description-long"),
        pytest.param({"crac_units": [SOUND["crac_units"][0] | {"count": 1000}] * 2000}, "crac_units: got 2,000,000 of them, expected at most 1,000; divide the instance", id="millions-of-units"),
        pytest.param({"speeds": {"file": "x.csv"}}, "speeds.file: got the text 'x.csv', expected the table itself; read the facility from a file", id="file-without-a-file"),
        pytest.param({"memory_classes": ["heavy"] * 300_000}, "memory_classes: got 300,000 of them, expected at most 1,000; divide the instance", id="classes-without-end"),
        pytest.param({"degradation": {f"c{i}": {} for i in range(3000)}}, "degradation: got 3,000 of them, expected at most 1,000; divide the instance", id="degradation-without-end"),
        pytest.param({"node_types": [{}] * 100_000}, "node_types: got 100,000 of them, expected at most 1,000; divide the instance", id="node-types-without-end"),
        pytest.param({"task_types": [{}] * 100_000}, "task_types: got 100,000 of them, expected at most 10,000; divide the instance", id="task-types-without-end"),
        pytest.param({"nodes": ["blade"] * 300_000}, "nodes: got 20,001 of them, expected at most 20,000; divide the instance", id="nodes-without-end"),
        pytest.param({"mixing": {"alpha": {"file": "x.npz"}}}, "mixing.alpha.file: got the text 'x.npz', expected the matrix itself; read the facility from a file", id="matrix-without-a-file"),
    ],
)  # fmt: skip
def test_each_fault_is_told_in_full(change, issue):
    assert issue in issues_of(sound_facility(**change))


@pytest.mark.parametrize("raw", [None, 5, "text", [], [SOUND]])
def test_what_is_no_mapping_is_refused(raw):
    (issue,) = issues_of(raw)
    assert "expected a mapping that begins with 'format: lpsched-facility/1'; see 'lpsched new facility'" in issue


def test_all_faults_come_at_once_and_in_file_order():
    raw = sound_facility(
        **within("node_types.0.cores", 0),
        **within("crac_units.1.cop", [-1.0]),
        **within("task_types.0.deadline_seconds", 5),
        **within("watts.zip.blade", [-1.0, 2.0]),
        **within("degradation.light.heavy", "x"),
        **mix(1, 1, 7),
        power_cap_watts=0,
        extra=1,
    )
    assert [issue.split(":")[0] for issue in issues_of(raw)] == [
        "node_types[0].cores",
        "crac_units[1].cop",
        "task_types[0].deadline_seconds",
        "watts.zip.blade[0]",
        "degradation.light.heavy",
        "mixing.inlet_mix[1][1]",
        "power_cap_watts",
        "extra",
    ]


@pytest.mark.parametrize("key", sorted(set(SOUND) - {"format", "degradation", "air"}))
def test_every_other_key_is_needed_and_its_lack_is_one_fault(key):
    (issue,) = issues_of(sound_facility(**{key: ...}))
    assert issue.startswith(f"{key}: got nothing")


def test_an_entry_that_counts_makes_units_with_numbers():
    unit = {"name": "crac", "airflow_m3_per_second": 0.15, "outlet_celsius": [15, 25], "count": 2}
    # flows of 0.1, 0.2, 0.15 and 0.15: everyone draws in what leaves everyone, by its share of the air
    rows = [[0.1 / 0.6, 0.2 / 0.6, 0.25, 0.25]] * 4
    facility = facility_from_dict(sound_facility(crac_units=[unit], mixing={"inlet_mix": rows}))
    assert [each.name for each in facility.crac_units] == ["crac-1", "crac-2"]
    cold = unit | {"redline_celsius": 15.0}
    (issue,) = issues_of(sound_facility(crac_units=[cold], mixing={"inlet_mix": rows}))
    assert issue.startswith("crac_units[0].redline_celsius: got 15 °C")  # of both units, told once


def test_a_count_that_is_faulty_says_nothing_of_the_matrix():
    unit = {"name": "crac", "airflow_m3_per_second": 0.15, "outlet_celsius": [15, 25], "count": "two"}
    assert issues_of(sound_facility(crac_units=[unit])) == [
        "crac_units[0].count: got the text 'two', expected a whole number from 1 to 1,000; write it as a number"
    ]


def test_nodes_may_be_counted_in_runs():
    runs = facility_from_dict(sound_facility(nodes=[{"type": "blade"}, {"type": "tower", "count": 1.0}]))
    assert runs == facility_from_dict(SOUND)


def test_classes_may_be_task_types_listed_or_named():
    by_name = {"render": {"render": 0.4, "zip": 0.05}, "zip": {"render": 0.1, "zip": 0.0}}
    plain = [{k: v for k, v in task.items() if k != "memory_class"} for task in SOUND["task_types"]]
    named = facility_from_dict(sound_facility(task_types=plain, degradation=by_name))
    rows = facility_from_dict(sound_facility(task_types=plain, degradation=[[0.4, 0.05], [0.1, 0.0]]))
    assert named == rows
    assert named.memory_classes == ("render", "zip")
    listed = sound_facility(memory_classes=["light", "heavy"], degradation=[[0.0, 0.1], [0.05, 0.4]])
    assert facility_from_dict(listed).class_of == (1, 0)


def test_alpha_and_inlet_mix_of_the_same_air_are_both_accepted():
    assert facility_from_dict(sound_facility(mixing={"alpha": ALPHA})).mixing.form == "alpha"


def test_parts_that_are_already_made_may_stand_in_the_lists():
    made = facility_from_dict(SOUND)
    assert facility_from_dict(sound_facility(node_types=list(made.node_types))) == made


def test_a_problem_of_parts_that_are_already_made_has_their_names():
    made = facility_from_dict(SOUND)
    lists = {"node_types": list(made.node_types), "task_types": list(made.task_types)}
    (issue,) = issues_of(sound_facility(**lists, **within("speeds.render.tower", ...)))
    assert issue.startswith("speeds.render.tower: got a power but no speed for 'render' on 'tower'")


def test_a_matrix_may_be_given_by_its_entries():
    made = facility_from_dict(SOUND)
    assert facility_from_dict(sound_facility(mixing={"inlet_mix": made.mixing.matrix})) == made
    (issue,) = issues_of(sound_facility(nodes=["blade"], mixing={"inlet_mix": made.mixing.matrix}))
    assert issue.startswith("mixing.inlet_mix: got a matrix of 4 x 4, expected 3 x 3, nodes and CRAC units")


def test_numbers_of_nodes_are_for_programs_and_not_for_files():
    assert facility_from_dict(sound_facility(nodes=(0, 1))) == facility_from_dict(SOUND)
    assert "nodes[1]: got 1, expected the name of a node type" in issues_of(sound_facility(nodes=["blade", 1]))[0]


def test_a_name_that_is_too_long_with_its_number_is_refused():
    unit = {"name": "x" * 199, "airflow_m3_per_second": 0.15, "outlet_celsius": [15, 25], "count": 2}
    (issue,) = issues_of(sound_facility(crac_units=[unit]))
    assert issue.startswith("crac_units[0].name: got a name of 201 characters")


@pytest.mark.parametrize("cell", ["x", None])
def test_a_matrix_of_junk_costs_no_more_than_its_first_problems(cell):
    many = {"nodes": [{"type": "blade", "count": 998}], "mixing": {"inlet_mix": [[cell] * 1000] * 1000}}
    began = time.process_time()
    assert len(issues_of(sound_facility(**many))) == MOST_ISSUES
    assert time.process_time() - began < 2.0  # a tenth of that; a minute if each of the million were told


def test_a_facility_without_node_types_is_refused_and_does_not_crash():
    told = issues_of(SOUND | {"node_types": [], "nodes": [], "speeds": {}, "watts": {}})
    assert any(each.startswith("node_types: got an empty list, expected at least one node type") for each in told)
