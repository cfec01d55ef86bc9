from __future__ import annotations

from dataclasses import astuple

import numpy as np
import pytest

from lpsched.bag.arrays import arrays_of
from lpsched.bag.model import Bag
from lpsched.bag.parts import MachineType, Prices, Site, TaskType
from lpsched.errors import InstanceError
from lpsched.generate.bags import grow
from lpsched.generate.gram_charlier import moments
from lpsched.generate.options import GrowOptions
from lpsched.model.table import Table
from scripts.figures.shared.desktop import desktop_bag

DESKTOP = desktop_bag()
STATES = ("P0", "P1", "P2")


def grown(small=DESKTOP, seed=1, **options):
    return grow("grown", small, np.random.default_rng(seed), GrowOptions(**options))


def bag_of(seconds, watts=None, *, machines=None, **more):
    machines = machines or [MachineType(name=f"m{j}", count=1) for j in range(len(seconds[0]))]
    tasks = tuple(TaskType(name=f"t{i}", count=2) for i in range(len(seconds)))
    tables = (Table.of(seconds), None if watts is None else Table.of(watts))
    return Bag("small", tuple(machines), tasks, *tables, **more)


@pytest.fixture(scope="module")
def large():
    return grown(task_types=3_005, tasks=10_000)


def test_the_real_task_types_stay_as_they_are():
    bag = grown(task_types=30).bag
    assert [bag.seconds.row(i) for i in range(5)] == list(DESKTOP.seconds)
    assert [bag.watts.row(i) for i in range(5)] == list(DESKTOP.watts)
    assert [task.name for task in bag.task_types][:6] == [*(task.name for task in DESKTOP.task_types), "grown-01"]
    assert (len(bag.task_types), bag.tasks) == (30, 1_000)
    assert bag.machine_types == DESKTOP.machine_types


def test_row_means_keep_all_four_moments(large):
    for table, cells in (("seconds", large.bag.seconds), ("watts", large.bag.watts)):
        shape = next(each for each in large.shapes if each.table == table and each.of is None)
        rows = np.frombuffer(cells.packed).reshape(3_005, 9).mean(axis=1)
        assert astuple(shape.real) == pytest.approx(astuple(moments(rows[:5])), rel=1e-9)
        assert astuple(shape.new) == pytest.approx(astuple(moments(rows[5:])), rel=1e-9)
        assert shape.density.deviation == pytest.approx(shape.real.deviation, rel=1e-6)
        assert shape.density.skewness == pytest.approx(shape.real.skewness, abs=2e-3)
        assert shape.density.kurtosis == pytest.approx(shape.real.kurtosis, abs=2e-3)
        assert shape.new.mean == pytest.approx(shape.real.mean, rel=1e-4)
        assert shape.new.deviation == pytest.approx(shape.real.deviation, rel=1e-3)
        assert shape.new.skewness == pytest.approx(shape.real.skewness, abs=0.01)
        assert shape.new.kurtosis == pytest.approx(shape.real.kurtosis, abs=0.01)


def test_cells_keep_each_machine_types_mean_ratio_and_nearly_its_variation(large):
    # Scaling to mean 1 moves a ratio by the mean of nine: a wide one (0.35) by little, a narrow one by more.
    cells = np.frombuffer(large.bag.seconds.packed).reshape(3_005, 9)
    ratios = cells / cells.mean(axis=1, keepdims=True)
    assert ratios[5:].mean(axis=0) == pytest.approx(ratios[:5].mean(axis=0), rel=0.02)
    real, new = (part.std(axis=0) / part.mean(axis=0) for part in (ratios[:5], ratios[5:]))
    assert new[real > 0.1] == pytest.approx(real[real > 0.1], rel=0.2)
    assert [each.new.deviation for each in large.shapes[1:10]] == pytest.approx(ratios[5:].std(axis=0))


def test_seconds_and_watts_are_grown_without_regard_to_each_other(large):
    seconds, watts = (np.frombuffer(t.packed).reshape(3_005, 9)[5:, 0] for t in (large.bag.seconds, large.bag.watts))
    assert abs(np.corrcoef(seconds, watts)[0, 1]) < 0.06  # 3 / sqrt(3,000)


def test_no_new_number_is_below_a_tenth_of_the_smallest_real_one():
    # One machine type, so all ratios are 1, and row means that vary by more than their mean.
    bag = grown(bag_of([[1.0], [2.0], [9.0], [60.0]]), task_types=2_004, tasks=2_004).bag
    assert 0.1 <= min(bag.seconds.cells) < 0.2


def test_special_machines_run_two_or_three_task_types_of_their_own_in_a_tenth_of_the_mean():
    bag = grown(special_machines=(1, 2, 3, 4)).bag
    arrays = arrays_of(bag)
    assert arrays.watts is not None
    special, general = arrays.can_run[:, :4], arrays.seconds[:, 4:]
    assert [machine.name for machine in bag.machine_types[:4]] == [f"special-{k}" for k in (1, 2, 3, 4)]
    assert [machine.count for machine in bag.machine_types[:5]] == [1, 2, 3, 4, 1]
    assert set(special.sum(axis=0).tolist()) <= {2, 3}
    assert special.sum(axis=1).max() == 1
    assert arrays.can_run[:, 4:].all()
    for i, j in zip(*np.nonzero(special), strict=True):
        assert arrays.seconds[i, j] == pytest.approx(general[i].mean() / 10, rel=1e-5)
        assert arrays.watts[i, j] == pytest.approx(arrays.watts[i, 4:].mean(), rel=1e-5)
    faster = grown(special_machines=(1,), special_speedup=4.0, special_least=5, special_most=5).bag
    arrays = arrays_of(faster)
    own = arrays.can_run[:, 0]
    assert own.sum() == 5
    assert arrays.seconds[own, 0] == pytest.approx(arrays.seconds[own, 1:].mean(axis=1) / 4, rel=1e-5)


def test_machines_come_from_the_small_bag_or_as_asked():
    assert grown(machines=(9, 8, 7, 6, 5, 4, 3, 2, 1)).bag.machines == 45
    assert grown().bag.machines == 9


def test_a_new_task_type_runs_where_its_model_runs_each_as_often():
    # Three patterns; of 30 new ones, ten have each.
    small = bag_of([[1.0, None, 5.0], [2.0, 3.0, None], [None, 6.0, 7.0]])
    can_run = arrays_of(grown(small, task_types=33, tasks=33).bag).can_run
    patterns = [tuple(row) for row in can_run[3:].tolist()]
    real = [tuple(row) for row in can_run[:3].tolist()]
    assert [patterns.count(each) for each in real] == [10, 10, 10]


STATED = bag_of(
    [[4.0, 5.0, 8.0, 3.0], [10.0, 11.0, None, 9.0], [None, 6.0, 9.0, 2.0]],
    [[90.0, 70.0, 50.0, 60.0], [80.0, 75.0, None, 40.0], [None, 60.0, 66.0, 10.0]],
    machines=[MachineType(name="a", count=1, p_states=STATES), MachineType(name="b", count=1)],
)


def test_row_means_are_over_the_first_p_state_that_runs():
    # Machine types a and b: 4 and 3, 10 and 9, 6 and 2, so 3.5, 9.5 and 4; watts 75, 60 and 35.
    shapes = grown(STATED, task_types=3, tasks=3).shapes
    assert shapes[0].real == moments(np.array([3.5, 9.5, 4.0]))
    assert shapes[3].real == moments(np.array([75.0, 60.0, 35.0]))


def test_special_seconds_are_a_tenth_of_that_mean_whatever_the_p_states():
    bag = grown(STATED, task_types=12, tasks=12, special_machines=(1,), special_least=12, special_most=12).bag
    for row, power in zip(bag.seconds, bag.watts, strict=True):
        first = next(k for k in (1, 2, 3) if row[k] is not None)
        assert row[0] == pytest.approx((row[first] + row[4]) / 20, rel=1e-5)
        assert power[0] == pytest.approx((power[first] + power[4]) / 2, rel=1e-5)


def test_p_states_keep_the_factors_of_a_real_task_type():
    bag = grown(STATED, task_types=20, tasks=20).bag
    # From the first P-state in which it runs: 5/4, 8/4, 7/9, 5/9; 11/10, 75/80; 9/6, 66/60.
    known = [(1.25, 2.0, 7 / 9, 5 / 9), (1.1, 75 / 80), (1.5, 1.1)]
    found = []
    for time, power in zip(list(bag.seconds)[3:], list(bag.watts)[3:], strict=True):
        first, *others = (k for k in range(3) if time[k] is not None)
        factors = [row[k] / row[first] for row in (time, power) for k in others]
        found += [known.index(each) for each in known if factors == pytest.approx(each, rel=1e-5)]
    assert len(found) == 17
    assert set(found) == {0, 1, 2}


def test_row_means_are_over_machine_types_that_run_everything():
    # The GPU runs two of three, in a tenth of the CPU's time. Over both, ratios would depend on who else runs it:
    # the CPU's would be 10 / 5.5, or 1. Over the CPU alone they are 1, and the GPU's 0.1, for new ones too.
    growth = grown(bag_of([[10.0, 1.0], [20.0, 2.0], [60.0, None]]), task_types=33, tasks=33)
    assert growth.shapes[0].real.mean == 30.0
    gpu = [row[1] / row[0] for row in growth.bag.seconds if row[1] is not None]
    assert len(gpu) == 22
    assert gpu == pytest.approx([0.1] * 22, rel=1e-5)


def test_one_real_task_type_gives_its_equals():
    bag = grown(bag_of([[3.0, 6.0]], [[10.0, 0.0]]), task_types=4, tasks=9).bag
    assert [bag.seconds.row(i) for i in range(4)] == [[3.0, 6.0]] * 4
    assert [bag.watts.row(i) for i in range(4)] == [[10.0, 0.0]] * 4


def test_nothing_new_is_allowed_and_shapes_say_so():
    growth = grown(task_types=5, special_machines=(1,))
    assert len(growth.bag.task_types) == 5
    assert {shape.new for shape in growth.shapes} == {None}


def test_bags_without_watts_and_without_any_power_grow():
    assert grown(bag_of([[1.0], [2.0]]), task_types=4, tasks=4).bag.watts is None
    idle = grown(bag_of([[1.0], [2.0]], [[0.0], [0.0]]), task_types=4, tasks=4).bag
    assert set(idle.watts.cells) == {0.0}


def test_a_machine_type_that_runs_nothing_still_runs_nothing():
    bag = grown(bag_of([[1.0, None], [2.0, None]]), task_types=6, tasks=6).bag
    assert [row[1] for row in bag.seconds] == [None] * 6


def test_the_smallest_and_largest_numbers_of_a_bag_grow_into_a_bag():
    bag = grown(bag_of([[1e30, 1e-30], [1e-30, 1e30]], [[1e30, 1e-30], [0.0, 1e30]]), task_types=40).bag
    assert max(bag.seconds.cells) <= 1e30
    assert min(bag.seconds.cells) >= 1e-30


def test_numbers_near_the_largest_and_the_smallest_do_not_grow_beyond():
    high = [[1e30], [8e29], [3e29]]
    bag = grown(bag_of(high, high), task_types=40).bag
    assert max(bag.seconds.cells) == max(bag.watts.cells) == 1e30
    low = [[1e-30], [2e-30], [9e-30]]
    bag = grown(bag_of(low, low), task_types=40).bag
    assert min(bag.seconds.cells) == 1e-30
    assert min(bag.watts.cells) == 0.0  # a power below the smallest is none


def test_a_grown_bag_can_be_grown_again():
    once = grown(task_types=8, special_machines=(1,)).bag
    twice = grown(once, task_types=12, special_machines=(1,)).bag
    assert [task.name for task in twice.task_types][5:] == [
        "grown-1", "grown-2", "grown-3", "grown-4", "grown-5", "grown-6", "grown-7",
    ]  # fmt: skip
    assert [machine.name for machine in twice.machine_types][:2] == ["special-2", "special-1"]


def test_idle_power_of_special_machines_is_the_mean_and_only_prices_of_energy_stay():
    machines = [MachineType(name="a", count=2, idle_watts=10.0), MachineType(name="b", count=9, idle_watts=40.0)]
    small = bag_of(
        [[3.0, 4.0], [5.0, 6.0]],
        [[50.0, 60.0], [70.0, 80.0]],
        machines=machines,
        prices=Prices(per_bag=9.0, electricity_per_kwh=0.1, currency="EUR", overhead_per_bag=1.0),
        site=Site(pue=1.3, deadline_seconds=100.0),
    )
    bag = grown(small, task_types=6, tasks=6, special_machines=(1,)).bag
    assert [machine.idle_watts for machine in bag.machine_types] == [25.0, 10.0, 40.0]
    assert bag.prices == Prices(electricity_per_kwh=0.1, currency="EUR")
    assert bag.site == Site(pue=1.3)


def test_new_numbers_have_six_digits():
    bag = grown(special_machines=(1, 1)).bag
    for table in (bag.seconds, bag.watts):
        assert all(cell == float(f"{cell:.6g}") for row in table for cell in row if cell is not None)


def test_the_same_seed_gives_the_same_bag_and_another_seed_another():
    assert grown(seed=3).bag == grown(seed=3).bag
    assert grown(seed=3).bag.content_hash != grown(seed=4).bag.content_hash


def test_doubling_all_seconds_doubles_what_is_grown():
    twice = DESKTOP.model_copy(update={"seconds": Table.of([[2 * cell for cell in row] for row in DESKTOP.seconds])})
    one, two = (np.array(list(grown(small).bag.seconds)) for small in (DESKTOP, twice))
    assert two == pytest.approx(2 * one, rel=1e-5)


@pytest.mark.parametrize(
    ("options", "issue"),
    [
        ({"task_types": 4}, "task_types: got 4, expected at least the 5 task types of the small bag; ask for more"),
        ({"tasks": 29}, "tasks: got 29, expected at least one of each type; ask for more"),
        ({"machines": (1, 2)}, "machines: got 2 counts, expected 9, one for each machine type of the small bag; add or drop some"),
        ({"machines": (0,) * 9}, "machines: got 0, expected 1 to 1e+15; change the option"),
        ({"special_machines": (0,)}, "special_machines: got 0, expected 1 to 1e+15; change the option"),
        ({"special_machines": (1,) * 11}, "task_types: got 30, expected 33, so that all special-purpose types have tasks of their own; ask for more"),
        ({"special_least": 4}, "special_least: got 4, expected at most special_most; lower it"),
        ({"special_speedup": float("nan")}, "special_speedup: got nan, expected 0.001 to 1e+06; change the option"),
        ({"special_speedup": 0.0}, "special_speedup: got 0.0, expected 0.001 to 1e+06; change the option"),
        ({"task_types": 10**6, "tasks": 10**6, "special_machines": (1,) * 12}, "task_types: got 21,000,000 pairs, expected at most 20,000,000; ask for fewer"),
    ],
)  # fmt: skip
def test_what_cannot_be_grown_is_told(options, issue):
    with pytest.raises(InstanceError) as caught:
        grown(**options)
    assert issue in [str(each) for each in caught.value.issues]
