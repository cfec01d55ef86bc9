from __future__ import annotations

import hashlib
import math
import pickle
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsched.bag.arrays import arrays_of
from lpsched.bag.model import Bag, bag_from_dict
from lpsched.bag.parts import TaskType
from lpsched.bag.solve import solve
from lpsched.errors import InstanceError
from lpsched.model.table import Table
from tests.support import SOUND, bags, simple_bag, sound

SOUND_COV = {"render": {"cpu": 0.3, "gpu": [0.1, 0.0]}, "zip": {"cpu": 0.2}}


def reordered(raw):
    """Return the mapping with the keys of every mapping reversed."""
    if isinstance(raw, dict):
        return {key: reordered(raw[key]) for key in reversed(raw)}
    return [reordered(each) for each in raw] if isinstance(raw, list) else raw


def test_the_hash_depends_on_neither_key_order_nor_table_form_nor_spelled_out_defaults():
    bag = bag_from_dict(SOUND)
    matrix = sound(seconds=[[8, [1, 2]], [3, None]], watts=[[50, [200, 90]], [40, [None, None]]])
    spelled = sound(site={"pue": 1.5, "average_power_cap_watts": None, "cap_measured_at": "facility"})
    for raw in (reordered(SOUND), matrix, spelled):
        again = bag_from_dict(raw)
        assert again == bag
        assert again.content_hash == bag.content_hash


def test_the_hash_is_fixed_for_ever():
    # Certificates carry it. If this fails, every certificate written so far loses its instance.
    said = (
        '{"machine_types":[{"count":2,"idle_watts":5.0,"name":"cpu"},{"count":1,"name":"gpu","p_states":["P0","P1"]}],'
        '"name":"sound","prices":{"electricity_per_kwh":0.1,"per_bag":2.0,"per_task":{"zip":0.5}},"site":{"pue":1.5},'
        '"task_types":[{"count":40,"name":"render"},{"count":5,"name":"zip"}]}'
    )
    nan = math.nan
    seconds = struct.pack("<6d", 8.0, 1.0, 2.0, 3.0, nan, nan)
    watts = struct.pack("<6d", 50.0, 200.0, 90.0, 40.0, nan, nan)
    content = b"lpsched-bag/1" + said.encode() + b"table" + seconds + b"table" + watts
    assert bag_from_dict(SOUND).content_hash == hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize(
    "change",
    [
        {"name": "other"},
        {"machine_types": [{"name": "cpu", "count": 3, "idle_watts": 5}, SOUND["machine_types"][1]]},
        {"task_types": [{"name": "render", "count": 41}, {"name": "zip", "count": 5}]},
        {"seconds": {"render": {"cpu": 8.000000000000002, "gpu": [1.0, 2.0]}, "zip": {"cpu": 3.0}}},
        {"watts": ...},
        {"prices": {"per_bag": 2.0}},
        {"site": {"pue": 1.5000000000000002}},
        {"seconds_cov": SOUND_COV},
        {"watts_cov": SOUND_COV},
    ],
    ids=[
        "name",
        "machines",
        "tasks",
        "last-bit-of-a-time",
        "watts",
        "prices",
        "last-bit-of-the-pue",
        "covs",
        "watts-covs",
    ],
)
def test_the_hash_sees_every_change(change):
    assert bag_from_dict(sound(**change)).content_hash != bag_from_dict(SOUND).content_hash


def test_minus_zero_is_zero():
    raw = sound(watts={"render": {"cpu": -0.0, "gpu": [1.0, 1.0]}, "zip": {"cpu": 0.0}})
    bag = bag_from_dict(raw)
    assert bag.watts is not None
    assert bag.watts.packed[:8] == bytes(8)


def test_a_bag_cannot_be_changed():
    bag = bag_from_dict(SOUND)
    with pytest.raises(ValueError, match="frozen"):
        bag.name = "other"
    with pytest.raises(ValueError, match="frozen"):
        bag.task_types[0].count = 3
    with pytest.raises(TypeError):
        bag.seconds.cells[0] = 3.0
    with pytest.raises(ValueError, match="read-only"):
        arrays_of(bag).seconds[0, 0] = 3.0


def test_a_bag_made_by_hand_is_checked_too():
    bag = bag_from_dict(SOUND)
    with pytest.raises(InstanceError, match="got 'render' once more"):
        Bag("twice", bag.machine_types, (bag.task_types[0],) * 2, bag.seconds)


@pytest.mark.parametrize(
    ("change", "issue"),
    [
        ({"seconds": Table.of([[0.0]])}, r"seconds\[0\]\[0\]: got 0.0, expected seconds"),
        ({"seconds": Table.of([[-1.0]])}, r"seconds\[0\]\[0\]: got -1.0, expected seconds"),
        ({"seconds": Table.of([[math.inf]])}, r"seconds\[0\]\[0\]: got infinity, expected seconds"),
        ({"seconds": Table.of([[1e-310]])}, r"seconds\[0\]\[0\]: got 1e-310, expected seconds"),
        ({"seconds": Table.of([[math.nan]])}, r"seconds\[0\]: got no machine type that can run task type 't0'"),
        (
            {"seconds": Table.of([[1.0, 2.0]])},
            "seconds: got a table of 1 x 2, expected 1 x 1, task types x columns; fix its shape",
        ),
        ({"seconds": Table(1, 1, b"")}, "seconds: got a table of 1 x 1, expected 1 x 1"),
        ({"watts": Table.of([[-2.0]])}, r"watts\[0\]\[0\]: got -2.0, expected watts"),
        ({"name": ""}, "name: got an empty name"),
        ({"name": 5}, "name: got 5"),
    ],
)
def test_a_bag_made_by_hand_is_sound_or_refused(change, issue):
    bag = simple_bag([[1.0]], [1], [1])
    with pytest.raises(InstanceError, match=issue):
        bag.model_copy(update=change)


def test_a_table_that_was_read_for_one_bag_does_not_fit_another_by_default():
    bag = bag_from_dict(SOUND)
    with pytest.raises(InstanceError, match="seconds: got a table of 2 x 3, expected 2 x 1"):
        bag.model_copy(update={"machine_types": bag.machine_types[:1], "watts": None})
    cold = bag_from_dict(sound(watts={"render": {"cpu": 0.0, "gpu": [1.0, 1.0]}, "zip": {"cpu": 1.0}}))
    assert cold.watts is not None
    with pytest.raises(InstanceError, match=r"seconds\[0\]\[0\]: got 0.0, expected seconds"):  # 0 watts, not 0 s
        cold.model_copy(update={"seconds": cold.watts})


def test_a_part_made_by_hand_says_what_is_wrong_with_it():
    with pytest.raises(
        ValueError, match=r"got 0, expected a whole number from 1 to 10\^15; correct it, or drop the entry"
    ):
        TaskType(name="a", count=0)


def test_a_table_finds_its_absent_pairs_and_nothing_else():
    # The bytes of 0.0 and of this number side by side hold the bytes of NaN, across the border.
    straddling = struct.unpack("<d", b"\x00\xf8\x7f\x00\x00\x00\x00\x40")[0]
    table = Table.of([[0.0, straddling, None, 1.0, None]])
    assert struct.pack("<d", math.nan) in table.packed[:16]
    assert table.absent() == [2, 4]


def test_neither_prices_nor_anything_else_in_a_bag_can_be_changed_or_shared_by_accident():
    bag, other = simple_bag([[1.0]], [1], [1]), simple_bag([[1.0]], [1], [1])
    for change in (
        lambda prices: prices.__setitem__("t0", 5.0),
        lambda prices: prices.update({"t0": 5.0}),
        lambda prices: prices.setdefault("t0", 5.0),
        lambda prices: prices.clear(),
    ):
        with pytest.raises(TypeError, match="this mapping cannot be changed"):
            change(bag.prices.per_task)
    assert other.prices.per_task == {}
    assert hash(bag) == hash(other)
    assert hash(bag_from_dict(SOUND)) == hash(bag_from_dict(reordered(SOUND)))
    assert isinstance(hash(solve(bag)), int)


def test_arrays_mask_absent_pairs():
    arrays = arrays_of(bag_from_dict(SOUND))
    assert arrays.can_run.tolist() == [[True, True, True], [True, False, False]]
    assert arrays.seconds.tolist() == [[8.0, 1.0, 2.0], [3.0, 0.0, 0.0]]
    assert arrays.machine_of.tolist() == [0, 1, 1]
    assert arrays.watts is not None
    assert arrays.watts.tolist() == [[50.0, 200.0, 90.0], [40.0, 0.0, 0.0]]
    assert arrays_of(bag_from_dict(sound(watts=...))).watts is None


def test_watts_below_idle_are_remarked_upon():
    watts = {"render": {"cpu": 3.0, "gpu": [1.0, 1.0]}, "zip": {"cpu": 4.0}}
    remarks = bag_from_dict(sound(watts=watts)).remarks()
    assert remarks == ("'cpu' draws less running 'render' and 1 other task types than idle (5 W)",)
    assert bag_from_dict(SOUND).remarks() == ()
    sparse = simple_bag([[None, 1.0], [1.0, 1.0]], [1, 1], [1, 1], watts=[[None, 9.0], [3.0, 9.0]], idle=[5.0, 9.0])
    assert sparse.remarks() == ("'m0' draws less running 't1' than idle (5 W)",)
    assert bag_from_dict(sound(watts=...)).remarks() == ()


def test_merging_joins_task_types_that_are_alike():
    # t0 and t2 have the same row; t1 has the same seconds but another power.
    bag = simple_bag([[1.0, 2.0]] * 3, [3, 4, 5], [1, 1], watts=[[9.0, 9.0], [9.0, 8.0], [9.0, 9.0]])
    merged = bag.merged()
    assert [(task.name, task.count) for task in merged.task_types] == [("t0", 8), ("t1", 4)]
    assert list(merged.seconds) == [[1.0, 2.0]] * 2
    assert merged.watts is not None
    assert list(merged.watts) == [[9.0, 9.0], [9.0, 8.0]]


def test_merging_joins_machine_types_that_are_alike_in_every_way():
    seconds = [[1.0, 1.0, 1.0, 2.0], [3.0, 3.0, 3.0, 4.0]]
    merged = simple_bag(seconds, [1, 2], [5, 6, 7, 8], idle=[1.0, 1.0, 2.0, 1.0]).merged()
    assert [(machine.name, machine.count) for machine in merged.machine_types] == [("m0", 11), ("m2", 7), ("m3", 8)]
    assert list(merged.seconds) == [[1.0, 1.0, 2.0], [3.0, 3.0, 4.0]]


def test_machine_types_with_different_watts_are_not_alike():
    bag = simple_bag([[1.0, 1.0, 1.0]], [1], [1, 2, 3], watts=[[5.0, 6.0, 5.0]])
    assert [machine.count for machine in bag.merged().machine_types] == [4, 2]


def test_task_types_with_different_prices_are_not_alike():
    raw = sound(
        task_types=[{"name": name, "count": 1} for name in "abc"],
        machine_types=[{"name": "cpu", "count": 1}],
        seconds=[[1.0]] * 3,
        watts=...,
        prices={"per_task": {"a": 1.0, "b": 2.0, "c": 1.0}},
    )
    merged = bag_from_dict(raw).merged()
    assert [task.name for task in merged.task_types] == ["a", "b"]
    assert merged.prices.per_task == {"a": 1.0, "b": 2.0}


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(bags(most_tasks=20, most_machines=3), st.data())
def test_merging_changes_neither_totals_nor_the_bound(bag, data):
    # Split a task type in two, so that there is something to merge.
    i = data.draw(st.integers(0, len(bag.task_types) - 1))
    twin = bag.task_types[i].model_copy(update={"name": "twin"})
    rows = [*bag.seconds, bag.seconds.row(i)]
    split = Bag("split", bag.machine_types, (*bag.task_types, twin), Table.of(rows))
    merged = split.merged()
    assert (merged.tasks, merged.machines) == (split.tasks, split.machines)
    assert len(merged.task_types) < len(split.task_types)
    assert merged.merged() == merged
    assert solve(merged).bound == pytest.approx(solve(split).bound, rel=1e-8)  # the solver keeps 1e-9


@settings(deadline=None)
@given(bags())
def test_bags_survive_pickling(bag):
    assert pickle.loads(pickle.dumps(bag)) == bag  # noqa: S301
