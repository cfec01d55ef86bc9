"""Files of days and of clusters: a document, and its tasks in a sidecar file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lpsched.io import instance_files
from lpsched.io.content import csv_bytes, load_arrow
from lpsched.io.documents import read_document
from lpsched.io.instance_files import Contents, TableForm, instance_of
from lpsched.model.kinds import format_of
from lpsched.model.provenance import written_note
from lpsched.model.table import Axes
from lpsched.online.clusters import Clusters
from lpsched.online.curves import written_curves
from lpsched.online.day import Day
from lpsched.online.tasks import ParallelTasks
from lpsched.online.utility import written_function

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lpsched.online.arriving import ArrivingInstance


# Tasks in a file of their own, `.csv` or `.parquet`: one row per task, by arrival. Columns: arrival_seconds, task_type;
# then priority, urgency and utility_class, or utility, the name of a function of the file. A column that no task uses
# may be missing; an empty cell is none. Tasks of clusters also have cores; work where it is not always 1,
# requested_work where it is not the work, job where tasks have such a number.
def parquet_bytes(columns: Mapping[str, list[Any]]) -> bytes:
    """Return tasks as Parquet."""
    pa, pq = load_arrow("writing Parquet")
    numbers = {"d": pa.float64(), "q": pa.int64()}
    kinds = {each.key: numbers[each.code] for each in ParallelTasks.NUMBERS}
    schema = pa.schema([(key, kinds.get(key, pa.string())) for key in columns])
    out = pa.BufferOutputStream()
    pq.write_table(pa.table(list(columns.values()), schema=schema), out)
    content: bytes = out.getvalue().to_pybytes()
    return content


FEW_TASKS: Final = 1_000  # up to here tasks are written inside the file
read_day: Final = Day.from_file
read_clusters: Final = Clusters.from_file


def write_day(day: Day, path: Path | str, *, form: TableForm | None = None) -> tuple[Path, ...]:
    """Write a day, without loss; return the files written, the day's own last.

    Parameters
    ----------
    form
        How to write the tables: by name or as a matrix inside the file, or in files beside it. If not given,
        by name up to 1,000 pairs, as a matrix up to 100,000, else in an `.npz`. More than 1,000 tasks, and
        all tasks where tables are beside the file, are in a `.csv` beside it, or in a `.parquet` if the
        tables are.
    """
    path, form = Path(path), form if form is not None else instance_files.usual_form(day.seconds)
    held = {"seconds": day.seconds, "watts": day.watts}
    axes = Axes(day.task_types, day.machine_types)
    contents = instance_files.table_files(held, axes, path, form) | _task_file(day, path, form)
    return instance_files.write_document(path, contents, lambda files: day_as_dict(day, form, files))


def _task_file(instance: ArrivingInstance, path: Path, form: TableForm) -> Contents:
    """Return the file of tasks beside the one at `path`; none where they are few, and tables inside it."""
    if form in {TableForm.NAMES, TableForm.MATRIX} and instance.tasks <= FEW_TASKS:
        return {}
    columns, packed = instance.task_columns(), form is TableForm.PARQUET
    content = parquet_bytes(columns) if packed else csv_bytes(columns, zip(*columns.values(), strict=True))
    return {path.with_name(f"{path.name}.tasks.{'parquet' if packed else 'csv'}"): (content, ("tasks",))}


def day_as_dict(day: Day, form: TableForm = TableForm.NAMES, files: dict[str, str] | None = None) -> dict[str, Any]:
    """Return the day as a mapping with the keys of a day file; what is in `files` is named only."""
    files = files if files is not None else {}
    axes = Axes(day.task_types, day.machine_types)
    tables = instance_files.written_tables({"seconds": day.seconds, "watts": day.watts}, axes, form, files)
    return _as_dict(day, "machine_types", tables, files.get("tasks"))


def _as_dict(instance: Day | Clusters, machines: str, tables: dict[str, Any], task_file: str | None) -> dict[str, Any]:
    """Return an instance as a mapping with the keys of its file; defaults are left out."""
    waiting = instance.waiting if isinstance(instance, Clusters) else None
    functions = {name: written_function(each) for name, each in instance.utility_functions.items()}
    said = {
        "format": instance.FORMAT,
        "name": instance.name,
        machines: [each.model_dump(mode="json", exclude_defaults=True) for each in instance.runs_on()],
        "task_types": [{"name": task.name} for task in instance.task_types],
        **tables,
        "period": None if instance.period.is_whole else instance.period.model_dump(exclude_none=True),
        "waiting": None
        if waiting is None
        else {"measure": waiting.measure} | waiting.model_dump(mode="json", exclude_defaults=True),
        **{key: each or None for key, each in instance.levels.model_dump(mode="json").items()},
        "utility_functions": functions or None,
        "tasks": {"file": task_file} if task_file is not None else instance.task_rows(),
        "made_by": None if instance.made_by is None else written_note(instance.made_by),
    }
    return {key: each for key, each in said.items() if each is not None}


def write_clusters(clusters: Clusters, path: Path | str, *, form: TableForm | None = None) -> tuple[Path, ...]:
    """Write clusters, without loss; return the files written, the clusters' own last.

    Parameters
    ----------
    form
        Curves are always inside the file. More than 1,000 tasks, and all where `form` is one of files beside
        it, are in a `.csv`, or in a `.parquet` if the form is.
    """
    path = Path(path)
    contents = _task_file(clusters, path, form if form is not None else TableForm.NAMES)
    return instance_files.write_document(path, contents, lambda files: clusters_as_dict(clusters, files.get("tasks")))


def clusters_as_dict(clusters: Clusters, task_file: str | None = None) -> dict[str, Any]:
    """Return the clusters as a mapping with the keys of their file; tasks that have a file are named only."""
    curves = {"seconds": clusters.seconds, "watts": clusters.watts}
    written = {
        key: written_curves(each, clusters.clusters, clusters.task_types)
        for key, each in curves.items()
        if each is not None
    }
    return _as_dict(clusters, "clusters", written, task_file)


def read_arriving(path: Path | str) -> Day | Clusters:
    """Read a day or clusters, by the format that the file names."""
    path = Path(path)
    document = read_document(path)
    is_clusters = format_of(document.value) == Clusters.FORMAT
    return instance_of(Clusters, document, path) if is_clusters else instance_of(Day, document, path)
