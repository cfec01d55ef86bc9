"""Where the tasks of a schedule run and where its money goes, added up on paper."""

from __future__ import annotations

import pytest

from lpsched.bag.breakdown import breakdown
from lpsched.bag.model import bag_from_dict
from lpsched.bag.schedule import NOTHING, MachineGroup, Run, Schedule
from lpsched.bag.verify import measure
from tests.support import sound

CPU = MachineGroup("cpu", 1, (Run("render", 10), Run("zip", 5)))
GPU = MachineGroup("gpu", 1, (Run("render", 20, "P0"), Run("render", 10, "P1")))
SCHEDULE = Schedule((CPU, GPU))  # 95 s and 10,875 J, see `test_bag_verify.py`
MACHINES = [
    {"name": "cpu", "count": 2, "idle_watts": 5, "wear_per_busy_hour": 3.6, "purchase_price": 100,
     "mean_hours_to_failure": 1000},
    sound()["machine_types"][1],
]  # fmt: skip
PRICES = {"per_bag": 2.0, "per_task": {"zip": 0.5}, "electricity_per_kwh": 3.6, "overhead_per_bag": 1.0}


@pytest.fixture
def bag():
    return bag_from_dict(sound(machine_types=MACHINES, prices=PRICES))


def test_each_part_of_the_money_by_hand(bag):
    # Electricity: 10,875 J at PUE 1.5 and a microdollar a joule. Wear: a cpu is busy for 95 s at 0.001 a second.
    # Depreciation: 2 x 100 / 1,000 = 0.2 an hour.
    per_bag = breakdown(bag, SCHEDULE).per_bag
    assert per_bag.revenue == 2 + 5 * 0.5
    assert per_bag.electricity == pytest.approx(0.0163125, rel=1e-14)
    assert per_bag.wear == pytest.approx(0.095, rel=1e-14)
    assert per_bag.depreciation == pytest.approx(0.2 * 95 / 3600, rel=1e-14)
    assert per_bag.overhead == 1.0
    assert per_bag.profit == pytest.approx(4.5 - 0.0163125 - 0.095 - 0.2 * 95 / 3600 - 1.0, rel=1e-14)


def test_the_parts_per_hour_add_up_to_the_profit_that_the_verifier_measures(bag):
    money = breakdown(bag, SCHEDULE).per_hour
    left = money.revenue - money.electricity - money.wear - money.depreciation - money.overhead
    assert left == pytest.approx(money.profit, rel=1e-13)
    assert money.profit == pytest.approx(measure(bag, SCHEDULE).profit_per_hour, rel=1e-15)
    assert money.revenue == pytest.approx(4.5 * 3600 / 95, rel=1e-14)
    assert money.depreciation == pytest.approx(0.2, rel=1e-14)


def test_a_schedule_that_waits_costs_until_its_makespan(bag):
    # From 95 s to 195 s the two cpus idle at 10 W: 1,000 J more; depreciation for 195 s.
    waits = breakdown(bag, Schedule(SCHEDULE.groups, 195.0))
    assert waits.per_bag.electricity == pytest.approx(0.0163125 + 0.0015, rel=1e-14)
    assert waits.per_bag.depreciation == pytest.approx(0.2 * 195 / 3600, rel=1e-14)
    assert waits.average_watts == pytest.approx(11_875 / 195, rel=1e-14)
    assert waits.machine_types["cpu"].busy_share == pytest.approx(95 / 390, rel=1e-14)


def test_machines_and_allocation_by_hand(bag):
    found = breakdown(bag, SCHEDULE)
    cpu, gpu = found.machine_types["cpu"], found.machine_types["gpu"]
    assert (cpu.count, cpu.used, cpu.tasks, cpu.busy_share) == (2, 1, 15, 0.5)
    assert (gpu.count, gpu.used, gpu.tasks) == (1, 1, 30)
    assert gpu.busy_share == pytest.approx(40 / 95, rel=1e-14)
    # 5 W at PUE 1.5 and 3.6 a kWh: 0.027 an hour; and 0.1 of depreciation
    assert cpu.cost_per_hour == pytest.approx(0.127, rel=1e-14)
    assert gpu.cost_per_hour == 0.0
    assert found.fixed_cost_per_hour == pytest.approx(0.254, rel=1e-14)
    assert found.allocation == {"render": {"cpu": 10, "gpu": 30}, "zip": {"cpu": 5}}
    assert found.p_states == {"gpu": {"P0": 20, "P1": 10}}
    assert found.task_seconds == {"render": 10 * 8 + 20 * 1 + 10 * 2, "zip": 15}
    assert found.average_watts == pytest.approx(10_875 / 95, rel=1e-14)


def test_while_nothing_runs_idle_power_and_depreciation_are_paid(bag):
    found = breakdown(bag, NOTHING)
    money = found.per_hour
    assert (money.revenue, money.wear, money.overhead, found.per_bag) == (0.0, 0.0, 0.0, None)
    # 2 x 5 W at PUE 1.5 and 3.6 a kWh; 2 x 100 / 1,000
    assert money.electricity == pytest.approx(0.054)
    assert money.depreciation == pytest.approx(0.2)
    assert money.profit == pytest.approx(-0.254, rel=1e-14)
    assert found.allocation == {"render": {}, "zip": {}}
    assert found.average_watts == 10.0


@pytest.mark.parametrize(
    ("changes", "unknown"),
    [
        ({"prices": {"electricity_per_kwh": 1.0}}, {"revenue", "profit"}),
        ({"prices": {"per_bag": 1.0}}, {"electricity", "profit"}),
        ({"prices": {"per_bag": 1.0, "electricity_per_kwh": 1.0}, "watts": ...}, {"electricity", "profit"}),
        ({"prices": {"per_bag": 1.0, "electricity_per_kwh": 0.0}, "watts": ...}, set()),
    ],
)
def test_what_the_bag_does_not_give_is_unknown_and_never_0(changes, unknown):
    money = breakdown(bag_from_dict(sound(**changes)), SCHEDULE).per_hour
    words = ("revenue", "electricity", "wear", "depreciation", "overhead", "profit")
    assert {word for word in words if getattr(money, word) is None} == unknown
