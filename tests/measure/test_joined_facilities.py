from __future__ import annotations

import pytest

from lpsched.errors import InstanceError
from lpsched.facility.solve import facility as solve_facility
from lpsched.instances import read_instance, write
from lpsched.measure.bags import Joined
from lpsched.measure.facilities import facility_of
from lpsched.measure.measurements import MeasuredApplication, MeasuredMachine
from lpsched.model.fields import FrozenDict
from tests.measure.joined import new, old, table
from tests.measured import measurements_of_seed

AIR = 1.205 * 1005  # joules that warm a cubic metre by a kelvin
COP = 0.458 + 0.0008 * 25 + 0.0068 * 25**2


def test_a_node_type_has_the_cores_idle_power_speeds_and_added_watts_of_its_file():
    found = facility_of([old(), new()], name="both", nodes={"new": 2}).instance
    assert [(each.name, each.cores, each.overhead_watts, each.p_states) for each in found.node_types] == [
        ("old", 2, 40.0, None),
        ("new", 4, 100.0, ("3400MHz", "1700MHz")),
    ]
    assert found.nodes == (0, 1, 1)
    assert list(found.speeds) == [[0.5, 1.0, 1 / 1.6], [0.25, None, None]]
    assert list(found.watts) == [[10.0, 30.0, 12.0], [20.0, None, None]]


def test_the_plain_room_is_the_one_that_is_described():
    # Old draws 40 + 2 x 20 = 80 W at most, new 100 + 4 x 30 = 220 W: 80 + 2 x 220 = 520 W, and their cooling.
    joined = facility_of([old(), new()], name="both", nodes={"new": 2})
    found = joined.instance
    assert [each.airflow_m3_per_second for each in found.node_types] == [
        pytest.approx(80 / (10 * AIR)),
        pytest.approx(220 / (10 * AIR)),
    ]
    assert {each.redline_celsius for each in found.node_types} == {30.0}
    (unit,) = found.crac_units
    assert unit.airflow_m3_per_second == pytest.approx(520 / (10 * AIR))
    assert unit.outlet_celsius == (15.0, 25.0)
    assert found.mixing.matrix.row(0) == [(3, 1.0)]
    assert [place for place, _ in found.mixing.matrix.row(3)] == [0, 1, 2]
    assert [share for _, share in found.mixing.matrix.row(3)] == pytest.approx([80 / 520, 220 / 520, 220 / 520])
    assert found.power_cap_watts == pytest.approx(520 * (1 + 1 / COP))
    # Calm alone: 2 cores at 0.5/s and 8 at 1/s; it is worth 2, its seconds on the first machine type.
    calm, wild = found.task_types
    assert (calm.arrivals_per_second, calm.reward) == (9.0, 2.0)
    assert (wild.arrivals_per_second, wild.reward) == (0.5, 4.0)
    for words in ("the room is assumed", "the power cap is assumed", "arrivals and rewards are assumed"):
        assert any(remark.startswith(words) for remark in joined.remarks)
        assert words[1:] in found.description
    assert "old: measured on a processor, energy by watts.sh (the outlet)." in found.description


def test_a_given_cap_is_taken_and_not_called_assumed():
    joined = facility_of([old()], name="capped", power_cap_watts=70.0)
    assert joined.instance.power_cap_watts == 70.0
    assert not any("cap is assumed" in remark for remark in joined.remarks)


def test_the_best_allocation_of_two_cores_is_the_one_found_by_hand():
    # Two calm cores do not disturb each other: 2 undisturbed core-seconds a second, within the arrivals (1/s).
    free = solve_facility(facility_of([old()], name="free").instance)
    assert free.reward_rate == pytest.approx(2.0, rel=1e-4)
    # Power: 40 + 2 x 10 W and their cooling, if there is no more; one calm core is then left: 50 (1 + 1 / CoP).
    capped = solve_facility(facility_of([old()], name="one", power_cap_watts=50 * (1 + 1 / COP)).instance)
    assert capped.reward_rate == pytest.approx(1.0, rel=1e-3)


def test_classes_are_used_where_all_are_known_and_the_full_table_where_asked_for():
    by_class = facility_of([old()], name="x").instance
    assert by_class.memory_classes == ("I", "III")
    assert [each.memory_class for each in by_class.task_types] == ["I", "III"]
    in_full = facility_of([old()], name="x", degradation="full").instance
    assert in_full.memory_classes == ("calm", "wild")
    assert [each.memory_class for each in in_full.task_types] == [None, None]
    for found in (by_class, in_full):
        assert found.degradation is not None
        assert list(found.degradation) == [[0.0, 0.25], [0.1, 1.0]]


def unclassed(**changes):
    applications = (MeasuredApplication("calm", ("count",), 10), MeasuredApplication("wild", ("scan",), 5, "III"))
    return old(applications=applications, degradation=table({"III": {"III": 1.0}}), **changes)


def test_without_all_classes_degradation_is_in_full_and_that_is_said_or_refused():
    joined = facility_of([unclassed()], name="x")
    assert joined.instance.memory_classes == ("calm", "wild")
    assert "degradation is in full, by application: no memory class of 'calm'" in joined.remarks
    with pytest.raises(InstanceError, match="no memory class of 'calm', expected one for each application"):
        facility_of([unclassed()], name="x", degradation="classes")


def test_files_that_classify_an_application_differently_lead_to_the_full_table():
    other = new(applications=(MeasuredApplication("calm", ("count",), 10, "II"),))
    joined = facility_of([old(), other], name="x")
    assert joined.instance.memory_classes == ("calm", "wild")
    assert any("files differ in the memory class of 'calm'" in remark for remark in joined.remarks)


def test_several_tables_are_averaged_and_the_largest_difference_is_told():
    joined = facility_of([old(), new()], name="x")  # calm beside calm: 0 and 0.2
    assert joined.instance.degradation is not None
    assert list(joined.instance.degradation) == [[pytest.approx(0.1), 0.25], [0.1, 1.0]]
    told = "degradation is the mean of the files; they differ the most, by 0.2, in 'I' beside 'I'"
    assert told in joined.remarks


def test_pairs_that_can_meet_and_were_not_measured_are_refused_one_by_one():
    some = table({"calm": {"calm": 0.0}, "wild": {"calm": 0.1}})
    with pytest.raises(InstanceError) as refused:
        facility_of([old(degradation_in_full=some)], name="x", degradation="full")
    assert [issue.path for issue in refused.value.issues] == [
        ("degradation", "calm", "wild"),
        ("degradation", "wild", "wild"),
    ]
    assert "measure that pair" in str(refused.value)


def test_pairs_that_never_meet_need_no_measuring():
    # Wild runs on a machine of one core only, calm on the other.
    lonely = old(
        machine=MeasuredMachine("a", "Linux", ((0,),)),
        seconds=FrozenDict({"wild": (4.0,)}),
        watts=FrozenDict({"wild": (60.0,)}),
        degradation_in_full=FrozenDict({}),
    )
    found = facility_of([lonely, new()], name="x", degradation="full").instance
    assert found.degradation is not None
    assert found.memory_classes == ("calm", "wild")
    assert list(found.degradation) == [[0.2, 0.0], [0.0, 0.0]]


def test_on_one_core_there_is_no_degradation_and_that_is_said():
    joined = facility_of([old(machine=MeasuredMachine("a", "Linux", ((0,),)))], name="x")
    assert joined.instance.degradation is None
    assert [each.memory_class for each in joined.instance.task_types] == [None, None]
    assert any("no degradation" in remark for remark in joined.remarks)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"watts": FrozenDict({})},
            "watts: got no power at all on 'old', expected watts of every application; measure",
        ),
        ({"watts": FrozenDict({"calm": (50.0,)})}, "watts: got no power of 'wild' on 'old', expected watts of every"),
        ({"idle_watts": None}, "idle_watts: got no idle power of 'old', expected the watts of an idle node; measure"),
    ],
)
def test_a_facility_needs_powers_and_says_how_to_measure_them(changes, words):
    with pytest.raises(InstanceError) as refused:
        facility_of([old(**changes)], name="x")
    assert words in str(refused.value)
    assert "energy: {command: [...]}" in str(refused.value)


def test_a_power_below_idle_adds_nothing_and_that_is_said():
    joined = facility_of([old(watts=FrozenDict({"calm": (39.0,), "wild": (60.0,)}))], name="x")
    assert list(joined.instance.watts) == [[0.0], [20.0]]
    assert "'old' draws less running 'calm' than idle; its cores are taken to add 0 W" in joined.remarks


def test_a_machine_that_draws_nothing_is_refused():
    dark = old(idle_watts=0.0, watts=FrozenDict({"calm": (0.0,), "wild": (0.0,)}))
    with pytest.raises(InstanceError, match=r"0 W of 'old', idle and busy.*check the meter"):
        facility_of([dark], name="x")


def test_more_nodes_than_a_facility_takes_are_refused():
    with pytest.raises(InstanceError, match="got 20,001 nodes, expected at most 20,000"):
        facility_of([old()], name="x", nodes={"old": 20_001})


def test_a_joined_facility_is_written_and_read_again_without_loss(tmp_path):
    found = facility_of([old(), new()], name="both").instance
    write(found, tmp_path / "f.yaml")
    assert read_instance(tmp_path / "f.yaml") == found


def test_measurements_of_any_shape_make_a_facility_or_are_refused():
    made = 0
    for seed in range(100):
        try:
            made += isinstance(facility_of([measurements_of_seed(seed)], name="x"), Joined)
        except InstanceError:
            continue
    assert made > 1
