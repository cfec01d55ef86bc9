"""Day files: YAML and JSON, with tables and tasks inside or beside them."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lpsched.files.beside import Beside
from lpsched.files.documents import read_document
from lpsched.files.instance_files import (
    Contents,
    TableForm,
    document_bytes,
    inline_table,
    made_of,
    require_suffix,
    table_files,
    usual_form,
)
from lpsched.files.task_columns import csv_bytes, day_columns, parquet_bytes, read_task_file, task_rows
from lpsched.files.writing import write_files
from lpsched.instance.day import FORMAT, Day
from lpsched.instance.day_door import day_from_dict
from lpsched.instance.made_by import written_note
from lpsched.instance.table import Axes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lpsched.files.documents.document import Document
    from lpsched.instance.arriving_rows import TaskRows
    from lpsched.instance.day_parts import DayMachineType
    from lpsched.instance.utility import UtilityFunction
    from lpsched.instance.utility_levels import UtilityLevels

FEW_TASKS: Final = 1_000  # up to here tasks are written inside the file


def read_day(path: Path | str) -> Day:
    """Read a day from a YAML or JSON file, and the tables and tasks that it names.

    What is legal but suspect comes as an `LpschedWarning`.

    Raises
    ------
    InstanceError
        If anything is wrong; the error lists every fault in file order.
    MissingExtraError
        If a table or the tasks are in a Parquet file and PyArrow is not installed.
    """
    path = Path(path)
    return day_of(read_document(path), path)


def day_of(document: Document, path: Path) -> Day:
    """Make a day of what the file at `path` says; see `read_day`."""
    beside = Beside(path, "day")

    def read_tasks(file: str, rows: TaskRows) -> None:
        read_task_file(beside.inside(file, ("tasks", "file"), "file of tasks"), rows)

    return made_of(
        document,
        path,
        lambda raw: day_from_dict(
            raw, source=str(path), read_table_file=beside.table, read_task_file=read_tasks
        ),
    )


def write_day(day: Day, path: Path | str, *, form: TableForm | None = None) -> tuple[Path, ...]:
    """Write a day, without loss; return the files written, the day's own last.

    Parameters
    ----------
    form
        How to write the tables: by name or as a matrix inside the file, or in files beside it. If not given,
        by name up to 1,000 pairs, as a matrix up to 100,000, else in an `.npz`. More than 1,000 tasks, and
        all tasks where tables are beside the file, are in a `.csv` beside it, or in a `.parquet` if the
        tables are.

    Raises
    ------
    InstanceError
        If the file's ending is neither YAML's nor JSON's.
    OutputError
        If a file cannot be written; then none is.
    """
    path = Path(path)
    require_suffix(path)
    form = form if form is not None else usual_form(day.seconds)
    held = {"seconds": day.seconds, "watts": day.watts}
    axes = Axes(day.task_types, day.machine_types)
    contents = table_files(held, axes, path, form) | _task_file(day, path, form)
    raw = day_as_dict(day, form, {key: file.name for file, (_, keys) in contents.items() for key in keys})
    files = {file: content for file, (content, _) in contents.items()} | {path: document_bytes(raw, path)}
    write_files(files)
    return tuple(files)


def _task_file(day: Day, path: Path, form: TableForm) -> Contents:
    if form in {TableForm.NAMES, TableForm.MATRIX} and day.tasks <= FEW_TASKS:
        return {}
    if form is TableForm.PARQUET:
        return {path.with_name(f"{path.name}.tasks.parquet"): (parquet_bytes(day_columns(day)), ("tasks",))}
    return {path.with_name(f"{path.name}.tasks.csv"): (csv_bytes(day_columns(day)), ("tasks",))}


def day_as_dict(
    day: Day, form: TableForm = TableForm.NAMES, files: dict[str, str] | None = None
) -> dict[str, Any]:
    """Return the day as a mapping with the keys of a day file; what is in `files` is named only."""
    files = files if files is not None else {}
    raw: dict[str, Any] = {"format": FORMAT, "name": day.name}
    raw["machine_types"] = [_machine_type(machine) for machine in day.machine_types]
    raw["task_types"] = [{"name": task.name} for task in day.task_types]
    for key, table in (("seconds", day.seconds), ("watts", day.watts)):
        raw[key] = (
            {"file": files[key]}
            if key in files
            else inline_table(table, day.task_types, day.machine_types, by_name=form is not TableForm.MATRIX)
        )
    if not day.period.is_whole:
        raw["period"] = {key: value for key, value in asdict(day.period).items() if value is not None}
    raw |= written_utilities(day.levels, day.utility_functions)
    raw["tasks"] = {"file": files["tasks"]} if "tasks" in files else task_rows(day_columns(day))
    if day.made_by is not None:
        raw["made_by"] = written_note(day.made_by)
    return raw


def written_utilities(levels: UtilityLevels, functions: Mapping[str, UtilityFunction]) -> dict[str, Any]:
    """Return what the names of levels and of own functions stand for, by the keys of the file."""
    named = {
        "priorities": dict(levels.priorities),
        "urgencies": {name: asdict(each) for name, each in levels.urgencies.items()},
        "utility_classes": {
            name: [asdict(interval) for interval in each] for name, each in levels.utility_classes.items()
        },
        "utility_functions": {name: _written(each) for name, each in functions.items()},
    }
    return {key: value for key, value in named.items() if value}


def _machine_type(machine: DayMachineType) -> dict[str, Any]:
    said: dict[str, Any] = {"name": machine.name, "count": machine.count}
    return said if machine.p_states is None else said | {"p_states": list(machine.p_states)}


def _written(function: UtilityFunction) -> list[dict[str, float]]:
    """Return the intervals of an own function; steady ones say no more than where they start."""
    return [
        {"after_seconds": each.after_seconds, "starts_at": each.starts_at}
        if each.falls_to == each.starts_at and each.rate_per_second == 0
        else asdict(each)
        for each in function.intervals
    ]
