"""What each machine does at points along a front: where the tasks go as less energy is bought with time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lpsched.result.machine_point import MachinePoint, along
from lpsched.verify.machines import machine_loads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.instance import Bag
    from lpsched.result.front import Point
    from lpsched.schedule.bag import Schedule


def machine_points(
    bag: Bag, points: Sequence[Point], schedules: Sequence[Schedule]
) -> tuple[MachinePoint, ...]:
    """Return the two ends of a front, its middle and two points between, with the loads of all machines.

    Points and their schedules come by rising energy; of fewer than five, all are returned.
    """
    return tuple(
        MachinePoint(chr(ord("A") + place), points[at], machine_loads(bag, schedules[at]))
        for place, at in enumerate(along(len(points)))
    )
