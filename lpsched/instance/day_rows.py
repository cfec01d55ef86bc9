"""The tasks of a day as they stand in a file: arrival, type and utility."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lpsched.instance.arriving_rows import TOLD, TYPE, TaskRows
from lpsched.instance.day_tasks import ArrivingTasks
from lpsched.instance.number_columns import ARRIVAL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lpsched.instance.day_parts import DayTaskType
    from lpsched.instance.utility_levels import UtilityLevels

DAY_NEEDED: Final = (ARRIVAL.key, TYPE)
DAY_COLUMNS: Final = (*DAY_NEEDED, *TOLD)


def day_rows(
    task_types: Sequence[DayTaskType] | None,
    levels: UtilityLevels | None,
    functions: Mapping[str, object] | None,
) -> TaskRows:
    """Return what gathers the tasks of a day."""
    return TaskRows(task_types, levels, functions, (ARRIVAL,))


def arriving_tasks(rows: TaskRows) -> ArrivingTasks | None:
    """Return the tasks that were gathered, if there was no fault."""
    gathered = rows.gathered()
    if gathered is None:
        return None
    columns, told = gathered
    return ArrivingTasks(columns[ARRIVAL.key], columns[TYPE], columns["utility"], told)
