from __future__ import annotations

import pytest

from lpsched.errors import InstanceError
from lpsched.measure.bags import Joined, bag_of
from lpsched.measure.measurements import MeasuredApplication, Measurements, Meters
from lpsched.model.fields import FrozenDict
from tests.measure.joined import new, old
from tests.measured import measurements_of_seed


def rows(found):
    return [list(row) for row in found]


def test_two_files_make_a_column_for_each_clock_and_a_row_for_each_application():
    bag = bag_of([old(), new()], name="both", counts={"new": 3}, tasks={"wild": 7}).instance
    assert [(each.name, each.count, each.idle_watts, each.p_states) for each in bag.machine_types] == [
        ("old", 1, 40.0, None),
        ("new", 3, 100.0, ("3400MHz", "1700MHz")),
    ]
    assert [(each.name, each.count) for each in bag.task_types] == [("calm", 10), ("wild", 7)]
    assert rows(bag.seconds) == [[2.0, 1.0, 1.6], [4.0, None, None]]
    assert bag.watts is not None
    assert rows(bag.watts) == [[50.0, 130.0, 112.0], [60.0, None, None]]


def test_per_core_each_place_is_a_machine_with_its_share_of_idle_power():
    # Old: 2 cores, 20 W each idle; calm adds 10 W. New: 4 cores, 25 W each; calm adds 30 or 12 W.
    joined = bag_of([old(), new()], name="cores", counts={"old": 5}, per="core")
    bag = joined.instance
    assert [(each.count, each.idle_watts) for each in bag.machine_types] == [(10, 20.0), (4, 25.0)]
    assert bag.watts is not None
    assert rows(bag.watts) == [[30.0, 55.0, 37.0], [40.0, None, None]]
    assert rows(bag.seconds) == [[2.0, 1.0, 1.6], [4.0, None, None]]
    assert "each core of 'old', 'new' is a machine; what neighbours cost in time is not in the bag" in joined.remarks


def test_per_node_it_is_said_that_other_cores_idle():
    assert bag_of([old()], name="node").remarks == (
        "'old': one task at a time on a node, other cores idle; --per core makes each a machine",
    )


def test_without_the_power_of_one_machine_the_bag_has_none_and_says_so():
    joined = bag_of([old(), new(watts=FrozenDict({}))], name="dark")
    assert joined.instance.watts is None
    assert [each.idle_watts for each in joined.instance.machine_types] == [0.0, 0.0]
    assert "no power of anything on 'new', so the bag has no watts: makespan only" in joined.remarks
    one = bag_of([old(watts=FrozenDict({"calm": (50.0,)}))], name="dark")
    assert one.instance.watts is None
    assert "no power of 'wild' on 'old', so the bag has no watts: makespan only" in one.remarks


def test_unknown_idle_power_is_said_and_cannot_be_divided():
    whole = bag_of([old(idle_watts=None)], name="x")
    assert whole.instance.watts is not None
    assert "the idle power of 'old' is not known: 0 W in the bag" in whole.remarks
    divided = bag_of([old(idle_watts=None)], name="x", per="core")
    assert divided.instance.watts is None
    assert any("cannot be divided" in remark for remark in divided.remarks)


def test_a_power_below_idle_is_raised_to_idle_where_it_is_divided():
    joined = bag_of([old(watts=FrozenDict({"calm": (39.0,), "wild": (60.0,)}))], name="x", per="core")
    assert joined.instance.watts is not None
    assert rows(joined.instance.watts) == [[20.0], [40.0]]
    assert "'old' draws less running 'calm' than idle; raised to its share of idle power" in joined.remarks


def test_files_of_one_machine_type_are_refused_with_the_way_out():
    with pytest.raises(
        InstanceError, match=r"got 'old' in 2 files, expected a machine type of its own.*--machine-type"
    ):
        bag_of([old(), old()], name="x")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"counts": {"odl": 2}}, "count: got 'odl', expected a machine type that was measured: 'old'; did you mean"),
        ({"tasks": {"mild": 2}}, "tasks: got 'mild', expected an application that was measured: 'calm', 'wild'"),
        ({"counts": {"old": 10**15}, "per": "core"}, r"machine_types\[0\].count: got 2000000000000000, expected"),
    ],
)
def test_counts_of_what_was_not_measured_are_refused(options, words):
    with pytest.raises(InstanceError, match=words):
        bag_of([old()], name="x", **options)


def test_files_that_disagree_about_an_application_are_told_and_the_first_counts():
    other = new(applications=(MeasuredApplication("calm", ("tally",), 99, "I"),))
    joined = bag_of([old(), other], name="x")
    assert joined.instance.task_types[0].count == 10
    assert "'calm' is another command on 'new' than on 'old': are these times of the same task?" in joined.remarks
    assert "'calm' counts 10 on 'old' and 99 on 'new'; the first counts" in joined.remarks


def test_meters_that_see_different_things_are_told():
    joined = bag_of([old(), new(meters=Meters("wall clock", "RAPL", "package-0"))], name="x")
    seen = "the outlet (old), package-0 (new)"
    assert f"the meters do not see the same: {seen}; powers can hardly be compared" in joined.remarks


def test_an_application_without_any_time_is_left_out_and_nothing_at_all_is_refused():
    joined = bag_of([old(seconds=FrozenDict({"calm": (2.0,)}))], name="x")
    assert [each.name for each in joined.instance.task_types] == ["calm"]
    assert "left out, because no file has a time: 'wild'" in joined.remarks
    with pytest.raises(InstanceError, match="no time of any application"):
        bag_of([Measurements.model_construct(**dict(old()) | {"seconds": FrozenDict({})})], name="x")
    with pytest.raises(InstanceError, match="at least one file"):
        bag_of([], name="x")


def test_measurements_of_any_shape_make_a_bag_or_are_refused():
    made = 0
    for seed in range(60):
        per = ("node", "core")[seed % 2]
        found = [measurements_of_seed(seed), measurements_of_seed(seed + 1000)]
        try:
            made += isinstance(bag_of(found, name="x", per=per), Joined)
        except InstanceError:
            continue
    assert made > 3
