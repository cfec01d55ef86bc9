"""The door of days: data as it stands in a file becomes a day, or a list of all its faults.

Every part is checked by itself first; then the rules between parts, as far as their parts are sound. Faults
come in file order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from lpsched.errors import MOST_FAULTS, Fault, InstanceError
from lpsched.instance.day import FORMAT, Day
from lpsched.instance.day_parts import DayMachineType, DayTaskType
from lpsched.instance.day_rows import COLUMNS, TaskRows
from lpsched.instance.day_rules import DayParts, broken_rules
from lpsched.instance.fields import check_seconds, check_watts, describe, nearest
from lpsched.instance.period import Period
from lpsched.instance.reading import Reading, table_file
from lpsched.instance.table import MOST_ADVISED, Axes
from lpsched.instance.utility_door import read_functions, read_levels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.instance.day_tasks import ArrivingTasks
    from lpsched.instance.reading import TableFileReader
    from lpsched.instance.table import Table

TaskFileReader = Callable[[str, TaskRows], None]  # file, and what gathers its rows

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
PIECE: Final = 10_000  # rows looked at together


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
    parts = DayParts(
        name=reading.raw.get("name"),
        machine_types=machines,
        task_types=types,
        seconds=reading.table("seconds", check_seconds, axes, read_table_file),
        watts=_watts(reading, axes, read_table_file),
        arriving=_tasks(reading, TaskRows(types, levels, functions), read_task_file),
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


def _tasks(reading: Reading, rows: TaskRows, read_file: TaskFileReader | None) -> ArrivingTasks | None:
    """Read the tasks: a list of them, or a file."""
    raw = reading.raw.get("tasks")
    file = table_file(raw)
    if file is not None and read_file is not None:
        try:
            read_file(file, rows)
        except InstanceError as error:
            reading.faults += error.faults
            return None
    elif file is not None:
        reading.faults.append(Fault(("tasks", "file"), describe(file), "the tasks themselves", DO_READ))
        return None
    elif isinstance(raw, list | tuple):
        _inline(rows, raw)
    else:
        found = "nothing" if raw is None else describe(raw)
        reading.faults.append(Fault(("tasks",), found, "a list of tasks, or {file: NAME}", reading.hint))
        return None
    tasks = rows.packed()
    reading.faults += rows.faults[:MOST_FAULTS]
    return tasks


DO_READ: Final = "read the day from a file"


def _inline(rows: TaskRows, raw: Sequence[Any]) -> None:
    """Gather rows that stand in the file itself."""
    for first in range(0, len(raw), PIECE):
        piece = raw[first : first + PIECE]
        rows.faults += _strange_entries(piece, first)
        if all(isinstance(each, Mapping) for each in piece):
            rows.take({key: [each.get(key) for each in piece] for key in COLUMNS})
        if rows.is_full:
            break


def _strange_entries(piece: Sequence[Any], first: int) -> list[Fault]:
    """Return the faults of rows that are no mappings, or have unknown keys."""
    faults: list[Fault] = []
    known = set(COLUMNS)
    for n, entry in enumerate(piece, start=first):
        if not isinstance(entry, Mapping):
            needed = "a mapping with arrival_seconds, task_type and its utility"
            faults.append(Fault(("tasks", n), describe(entry), needed, "see 'lpsched schema day'"))
        elif not known.issuperset(entry):
            for key in entry:
                if key not in known:
                    advice = nearest(str(key), COLUMNS) if len(faults) < MOST_ADVISED else ""
                    needed = "one of " + ", ".join(COLUMNS)
                    path = ("tasks", n, str(key))
                    faults.append(Fault(path, "an unknown key", needed, advice or "remove it"))
        if len(faults) >= MOST_FAULTS:
            break
    return faults
