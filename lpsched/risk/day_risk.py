"""The risk of a schedule of a day: drawn, and told in means, percentiles and chances."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lpsched.instance.day_arrays import day_arrays
from lpsched.instance.period import require_whole
from lpsched.result.risk import Risk, told
from lpsched.risk.day_samples import sample_day
from lpsched.risk.task_draws import task_draws

if TYPE_CHECKING:
    from lpsched.instance.day import Day
    from lpsched.risk.options import RiskOptions
    from lpsched.schedule.day import DaySchedule
    from lpsched.verify.day import DayMeasurement


def day_risk(  # noqa: PLR0913 - what was asked
    day: Day,
    schedule: DaySchedule,
    planned: DayMeasurement,
    options: RiskOptions,
    seed: int,
    *,
    drop_below: float | None = None,
) -> Risk:
    """Sample a schedule of a day that is known to be valid, and what it was measured to take.

    Raises
    ------
    InstanceError
        If there were too much to draw, or the day does not count as a whole.
    """
    require_whole(day.name, day.period, "sampling")
    arrays = day_arrays(day)
    draws = task_draws(day.tasks, arrays.seconds, arrays.watts, options, seed)
    drawn = sample_day(day, schedule, draws, drop_below=drop_below)
    quantities = {
        "utility": (planned.utility, drawn.utility),
        "energy_joules": (planned.energy_joules, drawn.energy_joules),
        "makespan_seconds": (planned.makespan_seconds, drawn.makespan_seconds),
        "dropped_tasks": (float(planned.dropped), drawn.dropped_tasks.astype(float)),
    }
    return told(quantities, {}, options, seed)
