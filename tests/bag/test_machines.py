from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsched.bag.model import Bag
from lpsched.bag.parts import MachineType, TaskType
from lpsched.bag.schedule import MachineGroup, Run, Schedule
from lpsched.bag.verify import MachineLoad, examine, machine_loads
from lpsched.model.table import Table
from tests.support import simple_bag

TWO = Bag(
    "two",
    (
        MachineType(name="cpu", count=3, idle_watts=2.0),
        MachineType(name="gpu", count=2, idle_watts=10.0, p_states=("fast", "slow")),
    ),
    (TaskType(name="a", count=7),),
    Table.of([[4.0, 1.0, 3.0]]),
    Table.of([[20.0, 100.0, 30.0]]),
)
SCHEDULE = Schedule(
    (
        MachineGroup("cpu", 1, (Run("a", 1),)),
        MachineGroup("gpu", 1, (Run("a", 1, "slow"), Run("a", 3, "fast"))),
        MachineGroup("cpu", 1, (Run("a", 2),)),
    )
)


def test_each_machine_takes_its_tasks_energy_and_idles_until_the_makespan():
    # The makespan is that of two tasks on a cpu: 8 s. The gpu is done after 3 + 3 x 1 = 6 s and has taken
    # 3 x 30 + 3 x 100 = 390 J, then idles for 2 s at 10 W; idle machines wait 8 s.
    assert machine_loads(TWO, SCHEDULE) == (
        MachineLoad("cpu", 1, 8.0, 160.0),
        MachineLoad("cpu", 1, 4.0, 80.0 + 4 * 2.0),
        MachineLoad("cpu", 1, 0.0, 8 * 2.0),
        MachineLoad("gpu", 1, 6.0, 390.0 + 2 * 10.0),
        MachineLoad("gpu", 1, 0.0, 8 * 10.0),
    )


def test_a_schedule_that_ends_late_lets_all_machines_idle_until_then():
    late = Schedule(SCHEDULE.groups, makespan_seconds=10.0)
    assert machine_loads(TWO, late)[0] == MachineLoad("cpu", 1, 8.0, 160.0 + 2 * 2.0)
    assert machine_loads(TWO, late)[-1] == MachineLoad("gpu", 1, 0.0, 100.0)


def test_without_watts_there_is_no_energy():
    bag = simple_bag([[2.0]], [3], [1])
    (load,) = machine_loads(bag, Schedule((MachineGroup("m0", 1, (Run("t0", 3),)),)))
    assert load == MachineLoad("m0", 1, 6.0, None)


def test_so_many_machines_are_a_few_loads():
    bag = simple_bag([[2.0]], [10**12], [10**13], [[3.0]])
    loads = machine_loads(bag, Schedule((MachineGroup("m0", 10**12, (Run("t0", 1),)),)))
    assert loads == (MachineLoad("m0", 10**12, 2.0, 6.0), MachineLoad("m0", 9 * 10**12, 0.0, 0.0))


@given(
    st.lists(st.lists(st.integers(0, 3), min_size=2, max_size=2), min_size=2, max_size=3),
    st.lists(st.floats(0.1, 100.0), min_size=8, max_size=8),
    st.lists(st.integers(0, 2), min_size=2, max_size=2),
)
@settings(max_examples=30, deadline=None)
def test_the_machines_energies_add_up_to_the_schedules(counts, cells, spare):
    # Row g of counts: how many of either task type one machine of type g runs; `spare` machines stay idle.
    types = len(counts)
    totals = [sum(row[i] for row in counts) for i in (0, 1)]
    if not all(totals):
        return
    seconds = [[cells[(i + g) % 8] for g in range(types)] for i in (0, 1)]
    watts = [[cells[(3 * i + g + 4) % 8] for g in range(types)] for i in (0, 1)]
    machines = [1 + spare[g % 2] for g in range(types)]
    bag = simple_bag(seconds, totals, machines, watts, [cells[g] for g in range(types)])
    groups = [
        MachineGroup(f"m{g}", 1, tuple(Run(f"t{i}", row[i]) for i in (0, 1) if row[i]))
        for g, row in enumerate(counts)
        if any(row)
    ]
    schedule = Schedule(tuple(groups))
    found = examine(bag, schedule)
    loads = machine_loads(bag, schedule)
    total = sum(load.machines * Fraction(load.energy_joules or 0.0) for load in loads)
    assert found.measured is not None
    assert float(total) == pytest.approx(found.measured.energy_joules, rel=1e-12)
    assert max(load.completion_seconds for load in loads) == found.measured.makespan_seconds
    assert [sum(load.machines for load in loads if load.machine_type == f"m{g}") for g in range(types)] == machines
