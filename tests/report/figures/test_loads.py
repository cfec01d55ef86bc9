from __future__ import annotations

from dataclasses import replace

import pytest

from lpsched.bag.model import Bag
from lpsched.bag.parts import MachineType, TaskType
from lpsched.bag.schedule import NOTHING, MachineGroup, Run, Schedule
from lpsched.io.figure_files import figure_bytes
from lpsched.model.table import Table
from lpsched.report.figures.schedule import bag_loads, loads_figure, loads_tooltips
from tests.report.bags import BAG, SCHEDULE


def makespans(axes):
    return {line.get_label(): line.get_xdata()[0] for line in axes.lines}


def widths(axes):
    return [round(bar.get_width(), 9) for each in axes.containers for bar in each]


def test_energy_is_split_into_busy_and_idle():
    cpu, gpu = bag_loads(BAG, SCHEDULE).types
    # CPUs: 2 * 300 s * 30 W + 2 * 100 s * 40 W = 26 kJ; idle (2 * 120 + 220) s * 10 W = 4.6 kJ.
    assert [cpu.busy_joules, cpu.idle_joules] == pytest.approx([26_000.0, 4_600.0])
    # GPU: 2 * 50 s * 200 W + 4 * 80 s * 100 W = 52 kJ; it works until the makespan of 420 s.
    assert [gpu.busy_joules, gpu.idle_joules] == pytest.approx([52_000.0, 0.0])


def test_waiting_after_the_last_task_is_idle_energy_too():
    _, gpu = bag_loads(BAG, replace(SCHEDULE, makespan_seconds=500.0)).types
    assert gpu.idle_joules == pytest.approx(80 * 50.0)  # 80 s of 50 W
    assert gpu.busy_joules == pytest.approx(52_000.0)


def test_machines_are_bars_from_the_one_that_is_done_last():
    times, energy = loads_figure(BAG, SCHEDULE).axes
    # In minutes: 300 s are 5, 200 s are 3.33, 420 s are 7.
    assert widths(times) == pytest.approx([5.0, 5.0, 10 / 3, 7.0])
    tops = [bar.get_y() for each in times.containers for bar in each]
    assert [round(top) for top in tops] == [0, 0, 0, 1]
    assert widths(energy) == pytest.approx([26 / 3.6, 52 / 3.6, 4.6 / 3.6, 0.0])  # Wh busy, then idle
    assert (times.get_xlabel(), energy.get_xlabel()) == ("time, minutes", "energy, Wh")
    assert [label.get_text() for label in times.get_yticklabels()] == ["cpu (3)", r"\$gpu\$ (1)"]
    assert makespans(times) == {"makespan: 7 min": pytest.approx(7.0)}


def test_the_first_machine_type_is_on_top():
    times, _ = loads_figure(BAG, SCHEDULE).axes
    bottom, top = times.get_ylim()
    assert top < bottom


def many(machines: int) -> tuple[Bag, Schedule]:
    cpu = MachineType(name="cpu", count=machines)
    task = TaskType(name="t", count=machines // 2 * 3)
    half = machines // 2
    schedule = Schedule((MachineGroup("cpu", half, (Run("t", 1),)), MachineGroup("cpu", half, (Run("t", 2),))))
    return Bag("many", (cpu,), (task,), Table.of([[30.0]])), schedule


def test_a_million_machines_are_steps_and_without_watts_there_is_no_energy():
    (times,) = loads_figure(*many(10**6)).axes
    (steps,) = [patch for patch in times.patches if hasattr(patch, "get_data")]
    values, edges, _ = steps.get_data()
    assert list(values) == [60.0, 30.0]
    assert edges[1] - edges[0] == pytest.approx(edges[2] - edges[1])


def test_a_hundred_machine_types_are_sixty_and_the_rest_is_counted():
    names = [f"m{j}" for j in range(100)]
    bag = Bag(
        "wide",
        tuple(MachineType(name=name, count=1) for name in names),
        (TaskType(name="t", count=60),),
        Table.of([[1.0] * 100]),
    )
    drawn = bag_loads(bag, Schedule(tuple(MachineGroup(name, 1, (Run("t", 1),)) for name in names[40:])))
    assert [each.name for each in drawn.types] == names[40:]  # the first 40 do nothing
    assert drawn.left_out == 40


def test_a_schedule_of_nothing_says_so():
    times, _ = loads_figure(BAG, NOTHING).axes
    assert "nothing runs" in [text.get_text() for text in times.texts]
    assert b"<?xml" in figure_bytes(times.figure, ".svg")


def test_tooltips_describe_each_machine_type():
    found = loads_tooltips(BAG, SCHEDULE)
    assert [(spot.y, spot.axes) for spot in found] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    text = "cpu: 3 machines, done after 3 min 20 s to 5 min; 7.222 Wh busy, 1.278 Wh idle"
    assert found[0].label == text
    assert found[0].x == pytest.approx(5.0)
    assert found[1].x == pytest.approx(30.6 / 3.6)
    assert found[2].label == "$gpu$: 1 machine, done after 7 min; 14.44 Wh busy, 0 Wh idle"


def test_tooltips_without_watts_have_no_energy():
    (spot,) = loads_tooltips(*many(10))
    assert spot.label == "cpu: 10 machines, done after 30 s to 1 min"
