"""When a schedule ends: all machines stay on until then, and waiting lowers the average power.

For given tasks x, with D(x) their joules above idle and H = P - I what the cap leaves above the idle floor,
the cap allows the makespans t with D(x) <= H t. The shortest one,

    t = max(largest load, D(x) / H)        where H > 0,

is best for makespan and energy, and for profit as long as what the bag brings covers what its tasks cost. If
it does not, and a deadline forces the work, the loss is spread over the longest time: until the deadline (but
no longer than D(x) / H where H < 0, which needs tasks that draw less than idle).

All in exact fractions; the makespan is rounded once, to the side that keeps the cap.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from lpsched.instance.p_states import column_numbers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lpsched.instance import Bag
    from lpsched.schedule.bag import Schedule


def ended(bag: Bag, counts: Sequence[Mapping[int, int]], schedule: Schedule, *, late: bool) -> Schedule:
    """Return the schedule with the best end: the earliest that the cap allows, or (`late`) the latest."""
    site = bag.site
    if site.average_power_cap_watts is None and not late:
        return schedule
    headroom, joules = _power(bag, counts)
    earliest, latest = largest_load(bag, schedule), site.deadline_seconds
    if headroom is not None and headroom > 0:
        earliest = max(earliest, _up(joules / headroom))
    if headroom is not None and headroom < 0:
        stop = _down(joules / headroom)
        latest = stop if latest is None else min(stop, latest)
    end = max(earliest, latest) if late and latest is not None else earliest
    return replace(schedule, makespan_seconds=end)


def _power(bag: Bag, counts: Sequence[Mapping[int, int]]) -> tuple[Fraction | None, Fraction]:
    """Return H, or `None` without a cap, and D(x)."""
    site, machines = bag.site, bag.machine_types
    if site.average_power_cap_watts is None or bag.watts is None:
        return None, Fraction(0)
    meter = Fraction(site.pue) if site.cap_measured_at == "facility" else 1
    floor = sum(each.count * Fraction(each.idle_watts) for each in machines)
    joules = Fraction(0)
    for i, row in enumerate(counts):
        for column, count in row.items():
            above = Fraction(_cell(bag.watts[i, column])) - Fraction(
                machines[bag.modes[column][0]].idle_watts
            )
            joules += count * Fraction(_cell(bag.seconds[i, column])) * above
    return Fraction(site.average_power_cap_watts) / meter - floor, joules


def largest_load(bag: Bag, schedule: Schedule) -> float:
    """Return when the last task of a schedule ends, rounded up."""
    row = {task.name: i for i, task in enumerate(bag.task_types)}
    column = column_numbers(bag.machine_types)
    loads = (
        sum(
            run.count
            * Fraction(_cell(bag.seconds[row[run.task_type], column[group.machine_type, run.p_state]]))
            for run in group.runs
        )
        for group in schedule.groups
    )
    return _up(Fraction(max(loads)))


def _cell(value: float | None) -> float:
    assert value is not None, "only pairs that can run get tasks"
    return value


def _up(exact: Fraction) -> float:
    return -_down(-exact)


def _down(exact: Fraction) -> float:
    rounded = float(exact)
    return rounded if rounded <= exact else math.nextafter(rounded, -math.inf)
