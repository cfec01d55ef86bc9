"""Every bad facility is refused at the door, with where, what was found, what is needed, what to do."""

from __future__ import annotations

import copy
import math

import pytest

from lpsched.errors import InstanceError
from lpsched.instance.facility_door import facility_from_dict
from tests.facilities import ALPHA, INLET_MIX, SOUND, sound_facility, within


def faults_of(raw) -> list[str]:
    with pytest.raises(InstanceError) as caught:
        facility_from_dict(raw)
    return [str(fault) for fault in caught.value.faults]


def mix(v, u, value):
    matrix = copy.deepcopy(INLET_MIX)
    matrix[v][u] = value
    return {"mixing": {"inlet_mix": matrix}}


def test_the_sound_facility_is_sound():
    facility = facility_from_dict(SOUND)
    assert (
        repr(facility) == "Facility('sound': 2 nodes with 3 cores, 2 CRAC units; 2 task types, 2 node types)"
    )
    assert facility.speeds.row(1) == [0.2, 0.125, None]
    assert facility.mixing.matrix.row(1) == [(0, 0.1), (1, 0.1), (2, 0.1), (3, 0.7)]
    assert (facility.classes, facility.class_of) == (("heavy", "light"), (0, 1))
    assert facility.degradation.row(0) == [0.4, 0.05]
    assert facility.remarks() == ()


SEE = "see 'lpsched schema facility'"
FORMS = "needs exactly one of inlet_mix, alpha, recirculation_kelvin_per_watt"
A_NAME = "needs a name: 1 to 200 printable characters, no blank at either end"


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        # the whole
        pytest.param({"format": ...}, "format: found no format, needs 'format: lpsched-facility/1'; write it as the first key", id="format-missing"),
        pytest.param({"format": "lpsched-facility/2"}, "format: found the text 'lpsched-facility/2', needs 'lpsched-facility/1'; install a newer lpsched", id="format-newer"),
        pytest.param({"format": "lpsched-bag/1"}, "format: found the text 'lpsched-bag/1', needs 'lpsched-facility/1'; bring a file of this kind, or use 'lpsched solve'", id="a-bag"),
        pytest.param({"node_typs": 1}, "node_typs: found an unknown key, needs one of format, name, description, node_types, nodes, crac_units, task_types, speeds, watts, memory_classes, degradation, mixing, power_cap_watts, air; did you mean 'node_types'?", id="unknown-key"),
        pytest.param({"name": ""}, f"name: found an empty name, {A_NAME}; give it a name", id="name-empty"),
        pytest.param({"description": 3}, "description: found 3, needs text; put it in quotes", id="description-a-number"),
        pytest.param({"description": "a\x07"}, "description: found control or invisible characters, needs plain text; remove them", id="description-bell"),
        pytest.param({"description": "x" * 10_001}, "description: found 10,001 characters, needs at most 10,000; shorten it", id="description-long"),
        pytest.param({"power_cap_watts": ...}, "power_cap_watts: found nothing, needs the most watts, cooling included; add it; a large number where there is none", id="no-cap"),
        pytest.param({"power_cap_watts": "much"}, "power_cap_watts: found the text 'much', needs watts: a number from 1e-12 to 1e+12; write it as a plain number", id="cap-text"),
        pytest.param({"air": {"density": 1}}, "air.density: found an unknown key, needs one of density_kg_per_m3, joules_per_kg_kelvin; remove it", id="air-unknown"),
        pytest.param({"air": {"density_kg_per_m3": 0}}, "air.density_kg_per_m3: found 0, needs kilograms per cubic metre: a number from 0.001 to 1000; correct it", id="no-air"),
        # nodes
        pytest.param({"node_types": ...}, f"node_types: found nothing, needs a list of node types; {SEE}", id="no-node-types"),
        pytest.param({"nodes": []}, "nodes: found an empty list, needs at least one node; add a node", id="no-nodes"),
        pytest.param({"nodes": {}}, f"nodes: found a mapping of 0, needs a list of node types' names, in the order of the mixing matrix; {SEE}", id="nodes-a-mapping"),
        pytest.param({"nodes": ["blade", "towr"]}, "nodes[1]: found 'towr', needs a node type of the file's list; did you mean 'tower'?", id="node-unknown"),
        pytest.param({"nodes": [3, "tower"]}, f"nodes[0]: found 3, needs the name of a node type, or {{type: NAME, count: NUMBER}}; {SEE}", id="node-a-number"),
        pytest.param({"nodes": [{"type": "blade", "cuont": 1}]}, f"nodes[0]: found a mapping of 2, needs the name of a node type, or {{type: NAME, count: NUMBER}}; {SEE}", id="node-key"),
        pytest.param({"nodes": [{"type": "blade", "count": 0}]}, "nodes[0].count: found 0, needs a whole number from 1 to 10^15; correct it, or drop the entry", id="no-nodes-in-a-row"),
        pytest.param({"nodes": [{"type": "blade", "count": 10**9}]}, "nodes: found 1,000,000,000 of them, needs at most 20,000; divide the instance", id="a-billion-nodes"),
        pytest.param(within("node_types.0.cores", 0), "node_types[0].cores: found 0, needs a whole number from 1 to 1024; correct it, or split the node", id="no-cores"),
        pytest.param(within("node_types.0.cores", 2.5), "node_types[0].cores: found 2.5, needs a whole number from 1 to 1024; correct it, or split the node", id="half-a-core"),
        pytest.param(within("node_types.0.cores", math.nan), "node_types[0].cores: found NaN, needs a whole number from 1 to 1024; correct it, or split the node", id="nan-cores"),
        pytest.param(within("node_types.0.cores", "two"), "node_types[0].cores: found the text 'two', needs a whole number from 1 to 1024; write it as a number", id="text-cores"),
        pytest.param(within("node_types.0.redline_celsius", 300), "node_types[0].redline_celsius: found 300, needs degrees celsius: a number from -50 to 150; correct it", id="kelvin"),
        pytest.param(within("node_types.1.airflow_m3_per_second", 0), "node_types[1].airflow_m3_per_second: found 0, needs cubic metres per second: a number from 1e-12 to 1e+12; correct it", id="no-airflow"),
        pytest.param(within("node_types.1.overhead_watts", ...), "node_types[1].overhead_watts: found nothing, needs the key 'overhead_watts'; add it", id="no-overhead"),
        pytest.param(within("node_types.0.p_states", ["a", "a"]), "node_types[0].p_states[1]: found 'a' once more, needs a name of its own; rename one", id="p-state-twice"),
        pytest.param(within("node_types.1.name", "blade:fast"), "node_types[0]: found 'blade:fast', which names a P-state here and another node type, needs labels that differ; rename one", id="label-twice"),
        # CRAC units
        pytest.param({"crac_units": []}, "crac_units: found an empty list, needs at least one CRAC unit; add a CRAC unit", id="no-units"),
        pytest.param({"crac_units": 2}, f"crac_units: found 2, needs a list of crac units; {SEE}", id="units-a-number"),
        pytest.param(within("crac_units.1.name", "left"), "crac_units[1].name: found 'left' once more, needs a name of its own; rename one", id="unit-twice"),
        pytest.param(within("crac_units.0.count", 0), "crac_units[0].count: found 0, needs a whole number from 1 to 10^15; correct it, or drop the entry", id="count-zero"),
        pytest.param(within("crac_units.0.count", 5000), "crac_units[0].count: found 5,000 of them, needs at most 1,000; divide the instance", id="too-many-units"),
        pytest.param({"crac_units": [SOUND["crac_units"][0] | {"count": 1000}] * 2000}, "crac_units: found 2,000,000 of them, needs at most 1,000; divide the instance", id="millions-of-units"),
        pytest.param(within("crac_units.0.count", 2), f"mixing.inlet_mix: found a list of 4, needs a matrix of 5 rows, one for each place, or {{file: NAME}}; {SEE}", id="units-counted"),
        pytest.param(within("crac_units.0.outlet_celsius", [15]), "crac_units[0].outlet_celsius: found a list of 1, needs [lowest, highest] in degrees celsius; write both; twice the same where it cannot be changed", id="one-outlet"),
        pytest.param(within("crac_units.0.outlet_celsius", [25, 15]), "crac_units[0].outlet_celsius: found [25, 15], needs [lowest, highest] in degrees celsius; put the lower one first", id="outlets-swapped"),
        pytest.param(within("crac_units.0.outlet_celsius", ["x", 15]), "crac_units[0].outlet_celsius: found the text 'x', needs degrees celsius: a number from -50 to 150; write it as a plain number", id="outlet-text"),
        pytest.param(within("crac_units.0.cop", []), "crac_units[0].cop: found a list of 0, needs 1 to 3 coefficients: constant, linear, quadratic; write the polynomial of the outlet temperature as a list", id="cop-empty"),
        pytest.param(within("crac_units.0.cop", ["a"]), "crac_units[0].cop: found the text 'a', needs a number from -1e+12 to 1e+12; write it as a plain number", id="cop-text"),
        pytest.param(within("crac_units.0.cop", [-1.0]), "crac_units[0].cop: found a CoP of -1 at 15 C, needs more than 0 over outlet_celsius; correct the coefficients, or outlet_celsius", id="cop-negative"),
        pytest.param(within("crac_units.0.cop", [5.0, -0.1]), "crac_units[0].cop: found a CoP that falls with warmer outlets between 15 and 25 C, needs one that rises: warm air is cheaper to make; correct the coefficients, or outlet_celsius", id="cop-falls"),
        # 3 q^2 T^2 + 3 b q T + b^2 - q a = 0 at T = 4.679 for a, b, q = 0.458, 0.0008, 0.0068
        pytest.param(within("crac_units.0.outlet_celsius", [3, 25]), "crac_units[0].cop: found 1 / CoP that is not convex at 3 C, where outlet_celsius begins, needs a range from 4.679 C up, where it is; raise the lower end of outlet_celsius", id="not-convex"),
        # task types
        pytest.param(within("task_types.1.name", "render"), "task_types[1].name: found 'render' once more, needs a name of its own; rename one", id="task-twice"),
        pytest.param(within("task_types.0.arrivals_per_second", -1), "task_types[0].arrivals_per_second: found -1, needs tasks per second: a number from 0 to 1e+12; correct it", id="negative-arrivals"),
        # the quickest is 1 / 0.05 = 20 s, and equation 3 wants less than the deadline
        pytest.param(within("task_types.0.deadline_seconds", 20), "task_types[0].deadline_seconds: found 20 s, but 'render' takes 20 s where it is quickest, on 'blade' at 'fast', needs a deadline later than 20 s; extend it, speed it up, or drop the task type", id="never-in-time"),
        pytest.param(within("task_types.0.memory_class", "hevy"), "task_types[0].memory_class: found 'hevy', needs a class that degradation knows; did you mean 'heavy'?", id="class-unknown"),
        pytest.param(within("task_types.0.memory_class", ...), "task_types[0]: found no memory class, and no degradation of 'render' itself, needs one of heavy, light; give it a memory_class", id="no-class"),
        # tables
        pytest.param({"speeds": ...}, "speeds: found nothing, needs a table of speeds; add it", id="no-speeds"),
        pytest.param(within("speeds.render", {}), "speeds.render: found no node type that can run task type 'render', needs at least one speed; give one a speed, or drop the task type", id="nobody-can-run-it"),
        pytest.param(within("speeds.render.blade", 0.1), "speeds.render.blade: found 0.1, needs a list of 2, one entry per P-state of 'blade'; write null where a P-state cannot run", id="number-for-p-states"),
        pytest.param(within("speeds.render.bladee", 0.1), "speeds.render.bladee: found no node type of that name, needs a node type of the file's list; did you mean 'blade'?", id="unknown-node-type"),
        pytest.param({"speeds": {"render": 3, "zip": {}}}, "speeds.render: found 3, needs a mapping from node types to numbers; name the node type of each number", id="row-a-number"),
        pytest.param({"speeds": {"file": "x.csv"}}, "speeds.file: found the text 'x.csv', needs the table itself; read the facility from a file", id="file-without-a-file"),
        pytest.param(within("watts.zip", {}), "watts.zip.blade[0]: found a speed but no power for 'zip' on 'blade' at 'fast', needs both or neither; give it watts, or remove its speed", id="speed-without-power"),
        pytest.param(within("speeds.render.tower", ...), "speeds.render.tower: found a power but no speed for 'render' on 'tower', needs both or neither; give it speeds, or remove its power", id="power-without-speed"),
        pytest.param(within("watts.zip.blade", [1e13, 1.0]), "watts.zip.blade[0]: found 10000000000000.0, needs watts: a number from 0 to 1e+12; correct it; leave it out if the pair cannot run", id="ten-terawatts"),
        # degradation
        pytest.param(within("degradation.heavy.light", ...), "degradation.heavy.light: found nothing, needs a number; write 0 where one does not slow the other", id="degradation-hole"),
        pytest.param(within("degradation.heavy.light", -1), "degradation.heavy.light: found -1, needs a share of the time: a number from 0 to 1e+06; correct it; write 0 for none", id="degradation-negative"),
        pytest.param({"degradation": [[0.1, 0.2]], "memory_classes": ["heavy", "light"]}, "degradation: found 1 rows, needs 2 rows, one per class; add or drop rows", id="degradation-short"),
        pytest.param({"degradation": [[0.1], [0.1, 0.2]], "memory_classes": ["heavy", "light"]}, "degradation[0]: found a list of 1, needs a list of 2, one entry per class; write 0 for none", id="degradation-narrow"),
        pytest.param({"degradation": [[0.1, None], [0.1, 0.2]], "memory_classes": ["heavy", "light"]}, "degradation[0][1]: found nothing, needs a number; write 0 where one does not slow the other", id="degradation-null"),
        pytest.param({"degradation": [[0.1, 0.1], [0.1, 0.1]]}, "memory_classes: found nothing, needs the classes in the order of degradation; add it, or name the rows and columns", id="whose-rows"),
        pytest.param({"degradation": 5}, f"degradation: found 5, needs a table: by name, as a list of rows, or as {{file: NAME}}; {SEE}", id="degradation-a-number"),
        pytest.param({"degradation": ..., "memory_classes": ["heavy", "light"]}, "degradation: found classes but no table, needs both or neither; add the one, or drop the other", id="classes-alone"),
        pytest.param({"memory_classes": "x"}, f"memory_classes: found the text 'x', needs a list of names, in the order of degradation; {SEE}", id="classes-a-text"),
        pytest.param({"memory_classes": ["heavy"] * 300_000}, "memory_classes: found 300,000 of them, needs at most 1,000; divide the instance", id="classes-without-end"),
        pytest.param({"degradation": {f"c{i}": {} for i in range(3000)}}, "degradation: found 3,000 of them, needs at most 1,000; divide the instance", id="degradation-without-end"),
        pytest.param({"node_types": [{}] * 100_000}, "node_types: found 100,000 of them, needs at most 1,000; divide the instance", id="node-types-without-end"),
        pytest.param({"task_types": [{}] * 100_000}, "task_types: found 100,000 of them, needs at most 10,000; divide the instance", id="task-types-without-end"),
        pytest.param({"nodes": ["blade"] * 300_000}, "nodes: found 20,001 of them, needs at most 20,000; divide the instance", id="nodes-without-end"),
        pytest.param({"memory_classes": ["heavy", 3]}, f"memory_classes[1]: found 3, {A_NAME}; put it in quotes", id="class-a-number"),
        pytest.param({"memory_classes": ["heavy", "light", "light"]}, "memory_classes[2]: found 'light' once more, needs a name of its own; rename one", id="class-twice"),
        # mixing
        pytest.param({"mixing": ...}, f"mixing: found nothing, {FORMS}; {SEE}", id="no-mixing"),
        pytest.param({"mixing": {}}, f"mixing: found a mapping of 0, {FORMS}; {SEE}", id="mixing-empty"),
        pytest.param({"mixing": {"inlet_mix": 1, "alpha": 2}}, f"mixing: found the keys 'inlet_mix', 'alpha', {FORMS}; {SEE}", id="two-mixings"),
        pytest.param({"mixing": {"inlet_mx": []}}, f"mixing: found the keys 'inlet_mx', {FORMS}; {SEE}", id="mixing-misspelt"),
        pytest.param({"mixing": {"inlet_mix": [[1], 2, 3, 4]}}, "mixing.inlet_mix[1]: found 2, needs a list of 4; write 0 for none", id="row-no-list"),
        pytest.param(mix(0, 0, -0.1), "mixing.inlet_mix[0][0]: found -0.1, needs a share: a number from 0 to 1; correct it", id="negative-share"),
        pytest.param(mix(0, 0, 1.5), "mixing.inlet_mix[0][0]: found 1.5, needs a share: a number from 0 to 1; correct it", id="share-above-one"),
        pytest.param(mix(0, 0, math.nan), "mixing.inlet_mix[0][0]: found NaN, needs a share: a number from 0 to 1; correct it", id="share-nan"),
        pytest.param({"mixing": {"alpha": {"file": "x.npz"}}}, "mixing.alpha.file: found the text 'x.npz', needs the matrix itself; read the facility from a file", id="matrix-without-a-file"),
        pytest.param({"mixing": {"recirculation_kelvin_per_watt": [[0.001, 0], [0, 0.001]]}}, "mixing.recirculation_kelvin_per_watt: found a recirculation matrix and 2 CRAC units, needs one unit, whose outlet is the supply temperature; bring inlet_mix or alpha, or join the units to one", id="two-supplies"),
    ],
)  # fmt: skip
def test_each_fault_is_told_in_full(change, fault):
    assert fault in faults_of(sound_facility(**change))


@pytest.mark.parametrize("raw", [None, 5, "text", [], [SOUND]])
def test_what_is_no_mapping_is_refused(raw):
    (fault,) = faults_of(raw)
    assert (
        "needs a mapping that begins with 'format: lpsched-facility/1'; see 'lpsched new facility'" in fault
    )


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
    assert [fault.split(":")[0] for fault in faults_of(raw)] == [
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
    (fault,) = faults_of(sound_facility(**{key: ...}))
    assert fault.startswith(f"{key}: found nothing")


def test_an_entry_that_counts_makes_units_with_numbers():
    unit = {"name": "crac", "airflow_m3_per_second": 0.15, "outlet_celsius": [15, 25], "count": 2}
    # flows of 0.1, 0.2, 0.15 and 0.15: everyone draws in what leaves everyone, by its share of the air
    rows = [[0.1 / 0.6, 0.2 / 0.6, 0.25, 0.25]] * 4
    facility = facility_from_dict(sound_facility(crac_units=[unit], mixing={"inlet_mix": rows}))
    assert [each.name for each in facility.crac_units] == ["crac-1", "crac-2"]
    cold = unit | {"redline_celsius": 15.0}
    (fault,) = faults_of(sound_facility(crac_units=[cold], mixing={"inlet_mix": rows}))
    assert fault.startswith("crac_units[0].redline_celsius: found 15 C")  # of both units, told once


def test_a_count_that_is_faulty_says_nothing_of_the_matrix():
    unit = {"name": "crac", "airflow_m3_per_second": 0.15, "outlet_celsius": [15, 25], "count": "two"}
    assert faults_of(sound_facility(crac_units=[unit])) == [
        "crac_units[0].count: found the text 'two', needs a whole number from 1 to 10^15; write it as a number"
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
    assert named.classes == ("render", "zip")
    listed = sound_facility(memory_classes=["light", "heavy"], degradation=[[0.0, 0.1], [0.05, 0.4]])
    assert facility_from_dict(listed).class_of == (1, 0)


def test_alpha_and_inlet_mix_of_the_same_air_are_both_accepted():
    assert facility_from_dict(sound_facility(mixing={"alpha": ALPHA})).mixing.form == "alpha"


def test_parts_that_are_already_made_may_stand_in_the_lists():
    made = facility_from_dict(SOUND)
    assert facility_from_dict(sound_facility(node_types=list(made.node_types))) == made


def test_a_facility_without_node_types_is_refused_and_does_not_crash():
    told = faults_of(SOUND | {"node_types": [], "nodes": [], "speeds": {}, "watts": {}})
    assert any(
        each.startswith("node_types: found an empty list, needs at least one node type") for each in told
    )
