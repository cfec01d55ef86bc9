"""The door of days: data as it stands in a file becomes a day, or a list of all its faults.

Every part is checked by itself first; then the rules between parts, as far as their parts are sound. Faults
come in file order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lpsched.errors import Fault, InstanceError
from lpsched.instance.day import FORMAT, Day
from lpsched.instance.day_parts import DayMachineType, DayTaskType
from lpsched.instance.day_rows import arriving_tasks, day_rows
from lpsched.instance.day_rules import DayParts, broken_rules
from lpsched.instance.fields import check_seconds, check_watts
from lpsched.instance.period import Period
from lpsched.instance.reading import Reading
from lpsched.instance.table import Axes
from lpsched.instance.tasks_door import gather_tasks
from lpsched.instance.utility_door import read_functions, read_levels

if TYPE_CHECKING:
    from lpsched.instance.reading import TableFileReader
    from lpsched.instance.table import Table
    from lpsched.instance.tasks_door import TaskFileReader

KEYS: Final = (
    "format",
    "name",
    "machine_types",
    "task_types",
    "seconds",
    "watts",
    "period",
    "priorities",
    "urgencies",
    "utility_classes",
    "utility_functions",
    "tasks",
    "made_by",
)
KIND: Final = "day"


def day_from_dict(
    raw: object,
    *,
    source: str = KIND,
    read_table_file: TableFileReader | None = None,
    read_task_file: TaskFileReader | None = None,
) -> Day:
    """Make a day of a mapping with the keys of a day file.

    Parameters
    ----------
    raw
        The mapping.
    source
        What the error's headline calls it.
    read_table_file, read_task_file
        Read a table or the tasks given as ``{file: NAME}``. Without them such a one is refused.

    Raises
    ------
    InstanceError
        If anything is wrong; the error lists every fault in the order of `raw`.

    Examples
    --------
    >>> day_from_dict({"format": "lpsched-day/1", "name": "d", "machine_types": [{"name": "cpu", "count": 1}],
    ...     "task_types": [{"name": "zip"}], "seconds": [[2.0]], "watts": [[50.0]],
    ...     "utility_functions": {"film": [{"after_seconds": 0, "starts_at": 3}]},
    ...     "tasks": [{"arrival_seconds": 0, "task_type": "zip", "utility": "film"}]})
    Day('d': 1 tasks on 1 machines; 1 task types, 1 machine types)
    """
    reading = Reading.begin(raw, FORMAT, KEYS, source)
    machines = reading.entries("machine_types", DayMachineType, {"count": 1})
    types = reading.entries("task_types", DayTaskType, {})
    axes = Axes(types, machines, KIND) if types is not None and machines is not None else None
    levels, functions = read_levels(reading), read_functions(reading)
    rows = day_rows(types, levels, functions)
    gather_tasks(reading, rows, read_task_file)
    parts = DayParts(
        name=reading.raw.get("name"),
        machine_types=machines,
        task_types=types,
        seconds=reading.table("seconds", check_seconds, axes, read_table_file),
        watts=_watts(reading, axes, read_table_file),
        arriving=arriving_tasks(rows),
        levels=levels,
        utility_functions=functions,
        period=reading.section("period", Period),
        made_by=reading.raw.get("made_by"),
    )
    if reading.faults:
        reading.faults += broken_rules(parts)
    else:
        try:
            return _day_of(parts)
        except InstanceError as error:
            reading.faults += error.faults
    raise reading.error(source, ("task_types", "machine_types"))


def _day_of(parts: DayParts) -> Day:
    """Make a day of parts that are all there."""
    given = {each: getattr(parts, each) for each in DayParts.__dataclass_fields__}
    assert all(given[key] is not None for key in given if key not in {"name", "made_by"})
    return Day(**given)


def _watts(reading: Reading, axes: Axes | None, read_file: TableFileReader | None) -> Table | None:
    if reading.raw.get("watts") is not None:
        return reading.table("watts", check_watts, axes, read_file)
    needed = "a table of watts: what a day's schedule earns is judged by the energy that it takes"
    reading.faults.append(Fault(("watts",), "nothing", needed, "add it; 0 where energy costs nothing"))
    return None
