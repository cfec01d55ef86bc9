"""Files of days and of clusters, of their schedules and of their certificates.

An instance is a document, and its tasks are in a sidecar file. A certificate is JSON with exact decimals and a
checksum against accidents. A schedule is a `.csv` or `.parquet` file with a header, or a document with `rows`: one row
per task that runs; a task without a row is dropped. Columns, in any order:

task             its number, from 0, in the order of the instance's tasks
task_type        its type; may be left out, else it is checked
machine_type     of a day, with machine: numbered from 1 within its type
cluster          of clusters, with nodes: numbered from 1, as ranges with both ends: `1-4;9` are five nodes; commas do
                 as well as semicolons, and the order of ranges does not matter
start_seconds    when it starts
end_seconds      when it ends; may be left out, else it is checked
p_state          where a machine type or a cluster has P-states
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, TypeVar

from lpsched.errors import MOST_ISSUES, InputIssue, InstanceError, OutputError, quote
from lpsched.io import instance_files, limits
from lpsched.io.content import csv_bytes, write_files
from lpsched.io.documents import SUFFIXES as DOCUMENTS
from lpsched.io.documents import read_document
from lpsched.io.instance_files import Contents, TableForm, instance_of
from lpsched.io.parquet import load_arrow
from lpsched.io.rows import FOLLOWING, SUFFIXES, PlacedTable, read_placed, row_issues, too_many_rows, write_table
from lpsched.model.answers import Answer, Exact, Exacts, Sealed, answer_head, answer_text, checksum
from lpsched.model.base import Part
from lpsched.model.fields import FrozenDict, OneOf, Several, column_numbers
from lpsched.model.kinds import format_of
from lpsched.model.provenance import written_note
from lpsched.model.results import plain
from lpsched.model.table import Axes
from lpsched.online.certificate.claim import (
    CLUSTERS_FORMAT,
    FORMAT,
    OBJECTIVE,
    WAITING,
    ClustersCertificate,
    DayCertificate,
    of_clusters,
)
from lpsched.online.clusters import NODE, Clusters
from lpsched.online.curves import written_curves
from lpsched.online.day import Day
from lpsched.online.parts import ParallelTasks
from lpsched.online.schedule import (
    ClustersRow,
    ClustersSchedule,
    DayRow,
    DaySchedule,
    PlacedOnNodes,
    PlacedTask,
    written_nodes,
)
from lpsched.online.utility import written_function

if TYPE_CHECKING:
    from lpsched.io.documents import Document
    from lpsched.online.arriving import ArrivingInstance


# Tasks in a file of their own, `.csv` or `.parquet`: one row per task, by arrival. Columns: arrival_seconds, task_type;
# then priority, urgency and utility_class, or utility, the name of a function of the file. A column that no task uses
# may be missing; an empty cell is none. Tasks of clusters also have cores; work where it is not always 1,
# requested_work where it is not the work, job where tasks have such a number.
def parquet_bytes(columns: Mapping[str, Sequence[Any]]) -> bytes:
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
        **_of_log(instance),
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


def _of_log(instance: Day | Clusters) -> dict[str, Any]:
    """Return what clusters made of a log say of it."""
    if not isinstance(instance, Clusters):
        return {}
    return {"unit": None if instance.unit == NODE else instance.unit, "epoch": instance.epoch}


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


# Schedules: rows of `.csv` and `.parquet`, or a document with `rows`. What follows from the instance is checked against
# it; whether the schedule fits is for the verifier to say.
AnyRow = TypeVar("AnyRow", DayRow, ClustersRow)
ROUNDING: Final = 1e-9  # of an end, as a share; the verifier tolerates as much
DAY_TABLE: Final = PlacedTable(
    {
        "task": "int64",
        "task_type": "string",
        "machine_type": "string",
        "machine": "int64",
        "p_state": "string",
        "start_seconds": "float64",
        "end_seconds": "float64",
    },
    ("p_state", *FOLLOWING),
    DayRow,
)
CLUSTER_TABLE: Final = PlacedTable(
    {
        "task": "int64",
        "task_type": "string",
        "cluster": "string",
        "nodes": "string",
        "p_state": "string",
        "start_seconds": "float64",
        "end_seconds": "float64",
    },
    ("p_state", *FOLLOWING),
    ClustersRow,
)


class DayScheduleFile(Answer):
    """The file of a schedule of a day."""

    FORMAT: ClassVar[str] = "lpsched-day-schedule/1"
    HINT: ClassVar[str] = "correct it"

    rows: Annotated[tuple[DayRow, ...], Several()]


class ClustersScheduleFile(Answer):
    """The file of a schedule of clusters."""

    FORMAT: ClassVar[str] = "lpsched-clusters-schedule/1"
    HINT: ClassVar[str] = "correct it"

    rows: Annotated[tuple[ClustersRow, ...], Several()]


def read_day_schedule(day: Day, path: Path | str) -> DaySchedule:
    """Read a schedule; whether it fits the day is for the verifier to say.

    Raises
    ------
    InstanceError
        If the file is no such schedule, has more rows than the day has tasks, or a task type or an end that the day
        contradicts.
    MissingExtraError
        If it is a Parquet file and PyArrow is not installed.
    """
    path = Path(path)
    if path.suffix.lower() in DOCUMENTS:
        return day_schedule_of(read_document(path), path, day)
    rows = read_placed(DAY_TABLE, path, day.tasks, "the day", _Following(day).issues)
    return DaySchedule(tuple(row.placed() for row in rows))


def day_schedule_of(document: Document, path: Path, day: Day | None = None) -> DaySchedule:
    """Return the schedule in the file at `path`; without the day, task types and ends are left out unchecked."""
    rows = instance_of(DayScheduleFile, document, path).rows
    _check_rows(rows, document, path, day, "the day")
    return DaySchedule(tuple(row.placed() for row in rows))


def read_clusters_schedule(clusters: Clusters, path: Path | str) -> ClustersSchedule:
    """Read a schedule; whether it fits the clusters is for the verifier to say.

    Raises
    ------
    InstanceError
        If the file is no such schedule, has more rows than the clusters have tasks, or a task type or an end that the
        clusters contradict.
    MissingExtraError
        If it is a Parquet file and PyArrow is not installed.
    """
    path = Path(path)
    if path.suffix.lower() in DOCUMENTS:
        return clusters_schedule_of(read_document(path), path, clusters)
    with _long_cells():
        rows = read_placed(CLUSTER_TABLE, path, clusters.tasks, "the clusters", _Following(clusters).issues)
    return ClustersSchedule(tuple(row.placed() for row in rows))


def clusters_schedule_of(document: Document, path: Path, clusters: Clusters | None = None) -> ClustersSchedule:
    """Return the schedule in the file at `path`; without clusters, task types and ends are left out unchecked."""
    rows = instance_of(ClustersScheduleFile, document, path).rows
    _check_rows(rows, document, path, clusters, "the clusters")
    return ClustersSchedule(tuple(row.placed() for row in rows))


def _check_rows(
    rows: Sequence[AnyRow], document: Document, path: Path, instance: Day | Clusters | None, whose: str
) -> None:
    """Raise an error if rows of a document contradict the instance."""
    if instance is None:
        return
    issues = row_issues(rows, _Following(instance).issues)
    if len(rows) > instance.tasks:
        issues.append(too_many_rows(instance.tasks, whose))
    if issues:
        placed = (replace(each, line=document.line_of(each.path)) for each in issues[:MOST_ISSUES])
        raise InstanceError(str(path), tuple(placed))


class _Following:
    """What follows from an instance for a row: the type of its task, and the end.

    Where the task, the place or the P-state does not exist, or the task cannot run there, nothing does: the verifier
    rejects such rows.
    """

    def __init__(self, instance: Day | Clusters) -> None:
        self._instance, self._types = instance, instance.arriving.type_numbers
        self._kinds = memoryview(instance.kind_numbers).cast("q") if isinstance(instance, Clusters) else self._types
        self._column = column_numbers(instance.runs_on())
        self._seconds: dict[tuple[int, int], float | None] = {}  # by type (of clusters by kind) and column

    def of(self, task: int, place: str, p_state: str | None, start: float) -> tuple[str | None, float | None]:
        """Return the task type and the end in seconds."""
        if not 0 <= task < self._instance.tasks:
            return None, None
        column, seconds = self._column.get((place, p_state)), None
        if column is not None:
            key = self._kinds[task], column
            if key not in self._seconds:
                self._seconds[key] = self._run_seconds(*key)
            seconds = self._seconds[key]
        name = self._instance.task_types[self._types[task]].name
        return name, None if seconds is None else start + seconds

    def _run_seconds(self, kind: int, column: int) -> float | None:
        if isinstance(self._instance, Day):
            return self._instance.seconds[kind, column]
        return self._instance.seconds_of(self._instance.kinds[kind], column)

    def issues(self, row: DayRow | ClustersRow) -> list[InputIssue]:
        """Return where a row says something else."""
        if row.task_type is None and row.end_seconds is None:
            return []
        name, end = self.of(row.task, row.place, row.p_state, row.start_seconds)
        found, do = [], "correct it, or leave it out"
        if row.task_type is not None and name is not None and row.task_type != name:
            needed = f"{quote(name)}, the type of task {row.task}"
            found.append(InputIssue(("task_type",), quote(row.task_type), needed, do))
        if (
            row.end_seconds is not None
            and end is not None
            and not math.isclose(row.end_seconds, end, rel_tol=ROUNDING, abs_tol=0.0)
        ):
            needed = f"{end!r}, its start plus its time on {quote(row.place)}"
            found.append(InputIssue(("end_seconds",), repr(row.end_seconds), needed, do))
        return found


def write_day_schedule(schedule: DaySchedule, path: Path | str) -> None:
    """Write a schedule, by task, without what follows from the day; see `write_arriving_schedule`."""
    write_arriving_schedule(schedule, None, path)


def write_clusters_schedule(schedule: ClustersSchedule, path: Path | str) -> None:
    """Write a schedule, by task, without what follows from the clusters; see `write_arriving_schedule`."""
    write_arriving_schedule(schedule, None, path)


def write_arriving_schedule(
    schedule: DaySchedule | ClustersSchedule, instance: Day | Clusters | None, path: Path | str, version: str = ""
) -> None:
    """Write a schedule, by task: rows as `.csv` or `.parquet`, or a `.json` document.

    Parameters
    ----------
    instance
        The day or the clusters; without, rows have no task types and ends, and there is no `.json`.
    version
        Of lpsched, for the document.

    Raises
    ------
    OutputError
        If it cannot be written.
    MissingExtraError
        If it is to be a Parquet file and PyArrow is not installed.
    """
    path = Path(path)
    is_document = path.suffix.lower() == ".json" and instance is not None
    if not is_document and path.suffix.lower() not in SUFFIXES:
        endings = SUFFIXES if instance is None else (*SUFFIXES, ".json")
        raise OutputError(f"cannot write {path}: expected the ending {' or '.join(endings)}; choose one")
    table: PlacedTable[Any] = DAY_TABLE if isinstance(schedule, DaySchedule) else CLUSTER_TABLE
    rows = _written_rows(schedule, None if instance is None else _Following(instance))
    if instance is None or not is_document:
        kinds = {key: kind for key, kind in table.kinds.items() if instance is not None or key not in FOLLOWING}
        write_table(kinds, [[row[key] for key in kinds] for row in rows], path)
        return
    model = DayScheduleFile if isinstance(schedule, DaySchedule) else ClustersScheduleFile
    head = answer_head(model.FORMAT, version, instance.name, instance.content_hash)
    content = answer_text(head | {"rows": [{key: row[key] for key in table.columns} for row in rows]}, "rows")
    if len(content) > limits.MOST_JSON_BYTES:
        more = f"it would have {len(content):,} bytes, more than {limits.MOST_JSON_BYTES:,}"
        raise OutputError(f"cannot write {path}: {more}; write .csv or .parquet")
    write_files({path: content})


def _written_rows(schedule: DaySchedule | ClustersSchedule, following: _Following | None) -> list[dict[str, Any]]:
    """Return the cells of each row, by task."""
    rows = []
    by_task: list[PlacedTask | PlacedOnNodes] = list(schedule.placed)
    by_task.sort(key=lambda placed: placed.task)
    for each in by_task:
        place = each.machine_type if isinstance(each, PlacedTask) else each.cluster
        task_type, end = (
            (None, None) if following is None else following.of(each.task, place, each.p_state, each.start_seconds)
        )
        where: dict[str, Any] = (
            {"machine_type": place, "machine": each.machine}
            if isinstance(each, PlacedTask)
            else {"cluster": place, "nodes": written_nodes(each.nodes)}
        )
        times = {"start_seconds": each.start_seconds, "end_seconds": end}
        rows.append({"task": each.task, "task_type": task_type, "p_state": each.p_state} | where | times)
    return rows


@contextmanager
def _long_cells() -> Iterator[None]:
    """Let cells of a .csv be as long as we write them; Python's limit is one for all readers."""
    before = csv.field_size_limit(limits.LONGEST_LINE)
    try:
        yield
    finally:
        csv.field_size_limit(before)


class DayClaim(Part):
    """What is claimed of a day."""

    objective: Annotated[str, OneOf((OBJECTIVE,), "certify again")]
    bound: Exact


class ClustersClaim(DayClaim):
    """What is claimed of clusters."""

    objective: Annotated[str, OneOf((OBJECTIVE, WAITING), "certify again")]


class DayMultipliers(Part):
    """Prices of a second of a machine in each slot, and of a joule."""

    edges_seconds: Exacts
    machine_types: Annotated[FrozenDict[str, Exacts], Several(needed="a mapping from machine types")]
    joule: Exact


class ClustersMultipliers(Part):
    """Prices of a second of a node in each slot, and of a joule."""

    edges_seconds: Exacts
    clusters: Annotated[FrozenDict[str, Exacts], Several(needed="a mapping from clusters")]
    joule: Exact


class DayCertificateFile(Sealed):
    """A certificate of a day."""

    FORMAT: ClassVar[str] = FORMAT

    claim: DayClaim
    multipliers: DayMultipliers


class ClustersCertificateFile(Sealed):
    """A certificate of clusters."""

    FORMAT: ClassVar[str] = CLUSTERS_FORMAT

    claim: ClustersClaim
    multipliers: ClustersMultipliers


def certificate_as_dict(certificate: DayCertificate, version: str) -> dict[str, Any]:
    """Return what the file says."""
    of_nodes = isinstance(certificate, ClustersCertificate)
    objective = certificate.objective if isinstance(certificate, ClustersCertificate) else OBJECTIVE
    written = CLUSTERS_FORMAT if of_nodes else FORMAT
    content = answer_head(written, version, certificate.instance_name, certificate.instance_hash) | {
        "claim": {"objective": objective, "bound": plain(certificate.bound)},
        "multipliers": {
            "edges_seconds": plain(certificate.edges),
            "clusters" if of_nodes else "machine_types": plain(certificate.machine_prices),
            "joule": plain(certificate.per_joule),
        },
    }
    return content | {"checksum": checksum(content)}


def write_day_certificate(certificate: DayCertificate, path: Path | str, version: str) -> None:
    """Write a certificate.

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    write_files({Path(path): answer_text(certificate_as_dict(certificate, version))})


def day_certificate_of(document: Document, path: Path) -> DayCertificate:
    """Make a certificate of what the file at `path` says; whether it proves its claim is for the checker to say.

    Raises
    ------
    InstanceError
        If it is not one, or was changed since it was written.
    """
    of_nodes = format_of(document.value) == CLUSTERS_FORMAT
    model: type[DayCertificateFile | ClustersCertificateFile] = (
        ClustersCertificateFile if of_nodes else DayCertificateFile
    )
    file = instance_of(model, document, path)
    claim, paid = file.claim, file.multipliers
    certificate = DayCertificate(
        instance_name=file.instance.name,
        instance_hash=file.instance.hash,
        bound=claim.bound,
        edges=paid.edges_seconds,
        machine_prices=paid.clusters if isinstance(paid, ClustersMultipliers) else paid.machine_types,
        per_joule=paid.joule,
    )
    return of_clusters(certificate, claim.objective) if of_nodes else certificate
