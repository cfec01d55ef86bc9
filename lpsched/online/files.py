"""Files of days and of clusters: a document, and its tasks in a sidecar file."""

from __future__ import annotations

import csv
import io
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lpsched.errors import InstanceError
from lpsched.io.content import load_arrow, write_files
from lpsched.io.documents import read_document, resolve
from lpsched.io.instance_files import (
    Beside,
    Contents,
    TableForm,
    document_bytes,
    inline_table,
    made_of,
    require_suffix,
    table_files,
    usual_form,
)
from lpsched.io.rows import read_pieces
from lpsched.model.provenance import written_note
from lpsched.model.table import Axes
from lpsched.online.arriving_rows import NUMBERS, TOLD
from lpsched.online.cluster_reading import KIND, clusters_from_dict
from lpsched.online.clusters import CLUSTERS_FORMAT, Clusters
from lpsched.online.day import FORMAT, Day
from lpsched.online.day_reading import day_from_dict
from lpsched.online.day_rules import ARRIVAL, CORES, JOB, REQUESTED, WORK
from lpsched.online.tasks import Levels
from lpsched.online.utility import WaitingCost

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lpsched.io.documents import Document
    from lpsched.online.arriving_rows import TaskRows
    from lpsched.online.parts import Cluster, DayMachineType, NodeCurves, Points
    from lpsched.online.tasks import Told
    from lpsched.online.utility import UtilityFunction, UtilityLevels


# Tasks that arrive in a file of their own, `.csv` or `.parquet`: one row per task, by arrival.
#
# Columns: arrival_seconds, task_type; then priority, urgency and utility_class, or utility, the name of one
# of the file's own functions. A column that no task uses may be missing; an empty cell is none. Tasks of
# clusters have some more (`cluster_columns`).
def read_task_file(path: Path, rows: TaskRows) -> None:
    """Gather the rows of a file."""
    try:
        for piece in read_pieces(path, rows.columns, rows.needed):
            columns = dict(piece.columns)
            if piece.lines is not None:
                columns |= {each.key: _numbers(columns[each.key], each.code) for each in rows.numbers}
            rows.take(columns, lines=piece.lines, file=path.name)
            if rows.is_full:
                break
    except InstanceError as error:
        faults = [replace(each, path=("tasks", *each.path), file=path.name) for each in error.faults]
        raise InstanceError(str(path), tuple(faults)) from None


def _numbers(cells: list[Any], code: str) -> list[Any]:
    """Return the numbers that texts are; what is none is refused where all are checked."""
    if set(cells) <= {None}:
        return cells
    try:
        return list(map(float if code == "d" else int, cells))
    except (TypeError, ValueError):
        return [None if cell is None else resolve(cell) for cell in cells]


def day_columns(day: Day) -> dict[str, list[Any]]:
    """Return the columns that the tasks of a day use; `None` where a task has nothing to say."""
    arriving = day.arriving
    names = [task.name for task in day.task_types]
    columns: dict[str, list[Any]] = {
        "arrival_seconds": list(arriving.arrival_seconds),
        "task_type": [names[i] for i in arriving.type_numbers],
    }
    return columns | told_columns(arriving.told, arriving.utility_numbers)


def told_columns(told: Sequence[Told], numbers: Sequence[int]) -> dict[str, list[Any]]:
    """Return the columns that tell utility."""
    cells = [(*each, None) if isinstance(each, Levels) else (None, None, None, each) for each in told]
    return {
        key: [cells[u][place] for u in numbers]
        for place, key in enumerate(TOLD)
        if any(each[place] is not None for each in cells)
    }


def task_rows(columns: Mapping[str, list[Any]]) -> list[dict[str, Any]]:
    """Return tasks as they stand inside a file."""
    return [
        {key: cell for key, cell in zip(columns, row, strict=True) if cell is not None}
        for row in zip(*columns.values(), strict=True)
    ]


def csv_bytes(columns: Mapping[str, list[Any]]) -> bytes:
    """Return tasks as CSV; a number has all its digits."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return out.getvalue().encode()


def parquet_bytes(columns: Mapping[str, list[Any]]) -> bytes:
    """Return tasks as Parquet."""
    pa, pq = load_arrow("writing Parquet")
    numbers = {"d": pa.float64(), "q": pa.int64()}
    kinds = {each.key: numbers[each.code] for each in NUMBERS}
    schema = pa.schema([(key, kinds.get(key, pa.string())) for key in columns])
    out = pa.BufferOutputStream()
    pq.write_table(pa.table(list(columns.values()), schema=schema), out)
    content: bytes = out.getvalue().to_pybytes()
    return content


# Day files: YAML and JSON, with tables and tasks inside or beside them.
FEW_TASKS: Final = 1_000  # up to here tasks are written inside the file


def read_day(path: Path | str) -> Day:
    """Read a day from a YAML or JSON file, and the tables and tasks that it names.

    What is legal but suspect comes as an `LpschedWarning`.
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
        lambda raw: day_from_dict(raw, source=str(path), read_table_file=beside.table, read_task_file=read_tasks),
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


def day_as_dict(day: Day, form: TableForm = TableForm.NAMES, files: dict[str, str] | None = None) -> dict[str, Any]:
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


# The tasks of clusters as columns of a file: what says nothing is left out.
#
# Columns: arrival_seconds, task_type, cores; work where it is not always 1, requested_work where it is not
# the work, job where tasks have such a number; then utility as for days (`tasks.py`).
def cluster_columns(clusters: Clusters) -> dict[str, list[Any]]:
    """Return the columns that the tasks use; `None` where a task has nothing to say."""
    tasks = clusters.arriving
    names = [task.name for task in clusters.task_types]
    columns: dict[str, list[Any]] = {
        ARRIVAL.key: tasks.arrival_seconds.tolist(),
        "task_type": [names[i] for i in tasks.type_numbers],
        CORES.key: tasks.core_counts.tolist(),
    }
    work, requested = tasks.work_factors.tolist(), tasks.requested_factors.tolist()
    if set(work) != {1.0}:
        columns[WORK.key] = work
    if requested != work:
        columns[REQUESTED.key] = requested
    if tasks.job_numbers is not None:
        columns[JOB.key] = tasks.job_numbers.tolist()
    return columns | told_columns(tasks.told, tasks.utility_numbers)


def read_clusters(path: Path | str) -> Clusters:
    """Read clusters from a YAML or JSON file, and the tasks that it names.

    What is legal but suspect comes as an `LpschedWarning`.
    """
    path = Path(path)
    return clusters_of(read_document(path), path)


def clusters_of(document: Document, path: Path) -> Clusters:
    """Make clusters of what the file at `path` says; see `read_clusters`."""
    beside = Beside(path, KIND)

    def read_tasks(file: str, rows: TaskRows) -> None:
        read_task_file(beside.inside(file, ("tasks", "file"), "file of tasks"), rows)

    return made_of(document, path, lambda raw: clusters_from_dict(raw, source=str(path), read_task_file=read_tasks))


def write_clusters(clusters: Clusters, path: Path | str, *, form: TableForm | None = None) -> tuple[Path, ...]:
    """Write clusters, without loss; return the files written, the clusters' own last.

    Parameters
    ----------
    form
        Curves are always inside the file. More than 1,000 tasks, and all where `form` is one of files beside
        it, are in a `.csv`, or in a `.parquet` if the form is.
    """
    path = Path(path)
    require_suffix(path)
    beside: dict[Path, bytes] = {}
    if clusters.tasks > FEW_TASKS or form not in {None, TableForm.NAMES, TableForm.MATRIX}:
        columns = cluster_columns(clusters)
        is_parquet = form is TableForm.PARQUET
        content = parquet_bytes(columns) if is_parquet else csv_bytes(columns)
        beside[path.with_name(f"{path.name}.tasks.{'parquet' if is_parquet else 'csv'}")] = content
    raw = clusters_as_dict(clusters, *(file.name for file in beside))
    files = beside | {path: document_bytes(raw, path)}
    write_files(files)
    return tuple(files)


def clusters_as_dict(clusters: Clusters, task_file: str | None = None) -> dict[str, Any]:
    """Return the clusters as a mapping with the keys of their file; tasks that have a file are named only."""
    raw: dict[str, Any] = {"format": CLUSTERS_FORMAT, "name": clusters.name}
    raw["clusters"] = [_cluster(each) for each in clusters.clusters]
    raw["task_types"] = [{"name": task.name} for task in clusters.task_types]
    raw["seconds"] = _written_curves(clusters, clusters.seconds)
    if clusters.watts is not None:
        raw["watts"] = _written_curves(clusters, clusters.watts)
    if not clusters.period.is_whole:
        raw["period"] = {key: value for key, value in asdict(clusters.period).items() if value is not None}
    if clusters.waiting is not None:
        raw["waiting"] = _written_waiting(clusters.waiting)
    raw |= written_utilities(clusters.levels, clusters.utility_functions)
    raw["tasks"] = {"file": task_file} if task_file is not None else task_rows(cluster_columns(clusters))
    if clusters.made_by is not None:
        raw["made_by"] = written_note(clusters.made_by)
    return raw


def _cluster(cluster: Cluster) -> dict[str, Any]:
    said: dict[str, Any] = {"name": cluster.name, "nodes": cluster.nodes}
    if cluster.cores_per_node != 1:
        said["cores_per_node"] = cluster.cores_per_node
    return said if cluster.p_states is None else said | {"p_states": list(cluster.p_states)}


def _written_waiting(waiting: WaitingCost) -> dict[str, Any]:
    """Return what is said of waiting; the measure always, all else where it is not as usual."""
    usual = asdict(WaitingCost())
    said = {key: value for key, value in asdict(waiting).items() if key == "measure" or value != usual[key]}
    return said | ({"points": [list(each) for each in waiting.points]} if waiting.points else {})


def _written_curves(clusters: Clusters, curves: NodeCurves) -> dict[str, dict[str, Any]]:
    """Return curves by names: by rising nodes a number, or a list of one number per P-state."""
    written: dict[str, dict[str, Any]] = {}
    for task, row in zip(clusters.task_types, curves.cells, strict=True):
        written[task.name] = {}
        first = 0
        for cluster in clusters.clusters:
            cells = row[first : first + cluster.modes]
            first += cluster.modes
            if any(cells):
                written[task.name][cluster.name] = _written_cells(cells, cluster)
    return written


def _written_cells(cells: tuple[Points | None, ...], cluster: Cluster) -> Any:  # noqa: ANN401 - as in the file
    """Return the curves of one cluster; a number alone where it is the same for any number of nodes."""
    ends = tuple(sorted({1, cluster.nodes}))
    told = [dict(cell) if cell is not None else {} for cell in cells]
    if all(tuple(each) in {(), ends} and len(set(each.values())) <= 1 for each in told):
        values = [each.get(1) for each in told]
        return values if cluster.p_states is not None else values[0]
    counts = sorted({nodes for each in told for nodes in each})
    if cluster.p_states is None:
        return {nodes: told[0][nodes] for nodes in counts}
    return {nodes: [each.get(nodes) for each in told] for nodes in counts}
