"""Days of a bag: its machines, task types and tables, with tasks that arrive and lose utility.

Of every task the type is drawn by the bag's counts, the arrival evenly from the span, and the levels of
utility as in the thesis; see `arrivals.py` and `utilities.py`. The watts are those of the bag while it runs a
task; idle power, prices and site have no place in a day.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.errors import Fault, InstanceError
from lpsched.generate.arrivals import even_arrivals
from lpsched.generate.utilities import THESIS_LEVELS, draw_levels
from lpsched.instance.arrival_rules import MOST_TASKS
from lpsched.instance.day import ArrivingTasks, Day, DayMachineType, DayTaskType

if TYPE_CHECKING:
    from lpsched.instance import Bag

SECONDS_PER_MINUTE: Final = 60
MOST_MINUTES: Final = 1e9


def day_of(name: str, bag: Bag, rng: np.random.Generator, *, tasks: int, minutes: float) -> Day:
    """Make a day of a bag; the same generator state gives the same day.

    Raises
    ------
    InstanceError
        If the bag has no watts, or a number is out of its range.
    """
    faults = []
    if not 1 <= tasks <= MOST_TASKS:
        faults.append(Fault(("tasks",), str(tasks), f"1 to {MOST_TASKS:,}", "change the option"))
    if not 0 < minutes <= MOST_MINUTES:
        faults.append(
            Fault(("minutes",), repr(minutes), f"above 0, up to {MOST_MINUTES:g}", "change the option")
        )
    if bag.watts is None:
        faults.append(Fault(("watts",), "none in the bag", "watts of every pair", "add them to the bag"))
    if faults:
        raise InstanceError("options of the generator", tuple(faults))
    assert bag.watts is not None
    counts = np.array([task.count for task in bag.task_types], dtype=float)
    arrivals = even_arrivals(rng, tasks, SECONDS_PER_MINUTE * minutes)
    types = rng.choice(len(counts), size=tasks, p=counts / counts.sum())
    return Day(
        name,
        tuple(DayMachineType(machine.name, machine.count, machine.p_states) for machine in bag.machine_types),
        tuple(DayTaskType(task.name) for task in bag.task_types),
        bag.seconds,
        bag.watts,
        ArrivingTasks.of(arrivals.tolist(), types.tolist(), draw_levels(rng, tasks)),
        THESIS_LEVELS,
    )
