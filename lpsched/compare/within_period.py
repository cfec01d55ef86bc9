"""Schedulers that know of no period, on a day that has one: what it does not allow is left out.

In the order of their starts, tasks are left out that would start when the period is over, or whose energy, as
far as it counts, would break its energy constraint. The others stay where they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lpsched.instance.p_states import column_numbers
from lpsched.schedule.day import DaySchedule
from lpsched.verify.day import violations

if TYPE_CHECKING:
    from lpsched.instance.day import Day
    from lpsched.schedule.day import PlacedTask


def within_period(day: Day, schedule: DaySchedule) -> DaySchedule:
    """Return what the day's period allows of a schedule; one that breaks other rules stays as it is."""
    if day.period.is_whole:
        return schedule
    ends_at = day.period.ends_at
    begun = DaySchedule(tuple(each for each in schedule.placed if not each.start_seconds >= ends_at))
    broken = {each.code for each in violations(day, begun)}
    if not broken:
        return begun
    return _within_energy(day, begun) if broken == {"too-much-energy"} else schedule


def _within_energy(day: Day, schedule: DaySchedule) -> DaySchedule:
    most = day.period.energy_constraint_joules
    assert most is not None, "only days with a constraint have too much energy"
    column = column_numbers(day.machine_types)
    types = day.arriving.type_numbers
    taken = 0.0
    kept: list[PlacedTask] = []
    for placed in sorted(schedule.placed, key=lambda each: (each.start_seconds, each.task)):
        cell = types[placed.task], column[placed.machine_type, placed.p_state]
        seconds, watts = day.seconds[cell] or 0.0, day.watts[cell] or 0.0
        start = placed.start_seconds
        joules = seconds * watts * day.period.share(start, start + seconds)
        if taken + joules <= most:
            taken += joules
            kept.append(placed)
    return DaySchedule(tuple(kept))
