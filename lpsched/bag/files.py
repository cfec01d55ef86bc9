"""Files of bags, of their schedules and of their certificates.

Readers raise an `InstanceError` if a file is not valid, writers an `OutputError` if it cannot be written. Certificates
are JSON with a checksum against accidents. Every number that the proof needs is written as the exact decimal expansion
of its double, so that every reader, in whatever language, gets the same number.
"""

from __future__ import annotations

import shutil
import sys
import warnings
from collections.abc import Iterator
from fractions import Fraction
from itertools import accumulate, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, ClassVar, Final

from pydantic import Field

from lpsched.bag.certificate.claim import FORMAT as CERTIFICATE_FORMAT
from lpsched.bag.certificate.claim import FORMATS, Certificate
from lpsched.bag.certificate.patterns import Interval, LeastMakespan
from lpsched.bag.model import FORMAT, Bag, Terms
from lpsched.bag.schedule import COLUMNS, MachineGroup, Schedule, TaskRow, expand
from lpsched.errors import InputIssue, InstanceError, LpschedWarning, OutputError, quote
from lpsched.io import limits
from lpsched.io.content import one_issue, whole_file, write_csv, write_files
from lpsched.io.documents import read_document
from lpsched.io.instance_files import (
    Contents,
    TableForm,
    instance_of,
    table_files,
    usual_form,
    write_document,
    written_tables,
)
from lpsched.io.parquet import load_arrow
from lpsched.io.rows import SUFFIXES, Rows, read_pieces
from lpsched.io.series_files import series_csv
from lpsched.model.answers import (
    Answer,
    AnyName,
    Double,
    Exact,
    ExactPrices,
    Sealed,
    answer_head,
    answer_text,
    checksum,
)
from lpsched.model.base import Part
from lpsched.model.fields import SMALLEST, Amount, Several, column_numbers
from lpsched.model.kinds import format_of
from lpsched.model.results import json_of, plain
from lpsched.model.series import KINDS, Series
from lpsched.model.table import Axes
from lpsched.text import as_double, column_values

if TYPE_CHECKING:
    from lpsched.bag.parts import NamedSite, Site
    from lpsched.io.documents import Document


read_bag: Final = Bag.from_file
FEW_VALUES: Final = 200  # up to here a series is written inside the bag's file


def write_bag(bag: Bag, path: Path | str, *, form: TableForm | None = None) -> tuple[Path, ...]:
    """Write a bag, without loss; return the files written, the bag's own last.

    `form` is how to write the tables: by name or as a matrix inside the file, or in sidecar files. If not given, by
    name up to 1,000 pairs, as a matrix up to 100,000, else in an `.npz`. A series of more than 200 values is written
    into a `.csv` beside the bag.
    """
    path, form = Path(path), form if form is not None else usual_form(bag.seconds)
    contents = table_files(bag.tables, Axes(bag.task_types, bag.machine_types), path, form) | _series_files(bag, path)
    return write_document(path, contents, lambda files: as_dict(bag, form, files))


def as_dict(bag: Bag, form: TableForm = TableForm.NAMES, files: dict[str, str] | None = None) -> dict[str, Any]:
    """Return the bag as a mapping with the keys of a bag file; defaults are left out."""
    raw: dict[str, Any] = {"format": FORMAT, "name": bag.name}
    raw["machine_types"] = [_dumped(machine) for machine in bag.machine_types]
    raw["task_types"] = [_dumped(task) for task in bag.task_types]
    axes = Axes(bag.task_types, bag.machine_types)
    raw |= written_tables(bag.tables, axes, form, files or {})
    if fields := _dumped(bag.prices):
        raw["prices"] = fields
    if fields := _dumped_site(bag, bag.site, "site", files or {}):
        raw["site"] = fields
    if bag.sites:
        raw["sites"] = [_dumped_site(bag, site, f"sites.{s}", files or {}) for s, site in enumerate(bag.sites)]
    return raw


def _dumped(part: Any) -> dict[str, Any]:  # noqa: ANN401 - any of the Pydantic parts
    fields: dict[str, Any] = part.model_dump(exclude_defaults=True)
    return fields | ({"p_states": list(fields["p_states"])} if "p_states" in fields else {})


def _dumped_site(bag: Bag, site: Site | NamedSite, place: str, files: dict[str, str]) -> dict[str, Any]:
    """Return the keys of a site; a series is a mapping, of its values or with the name of its file."""
    fields = _dumped(site)
    for key, kind in KINDS.items():
        if isinstance(series := getattr(site, key), Series):
            file = files.get(f"{place}.{key}")
            inside = series.as_dict(kind.own_unit(bag.prices.currency))
            fields[key] = {"file": file} | series.not_in_rows() if file is not None else inside
    return fields


def _series_files(bag: Bag, path: Path) -> Contents:
    """Return the files of long series beside the bag file at `path`."""
    contents: Contents = {}
    for place, site in (("site", bag.site), *((f"sites.{s}", site) for s, site in enumerate(bag.sites))):
        for key, kind in KINDS.items():
            series = getattr(site, key)
            if isinstance(series, Series) and len(series.values) > FEW_VALUES:
                name = f"{path.name}.{place.replace('sites.', 'site-')}.{key}.csv".replace(".site.", ".")
                content = series_csv(series, kind.own_unit(bag.prices.currency))
                contents[path.with_name(name)] = content, (f"{place}.{key}",)
    return contents


# Schedule files: compact, as JSON or YAML; groups of machines and what each of them runs.
class ScheduleFile(Answer):
    """The file of a schedule."""

    FORMAT: ClassVar[str] = "lpsched-schedule/1"
    HINT: ClassVar[str] = "correct it"

    makespan_seconds: Annotated[float, Amount("seconds", SMALLEST, sys.float_info.max)] | None = Field(
        None, kw_only=True
    )
    groups: Annotated[tuple[MachineGroup, ...], Several()]


def schedule_as_dict(schedule: Schedule, bag: Bag, version: str) -> dict[str, Any]:
    """Return what the file says."""
    head = answer_head(ScheduleFile.FORMAT, version, bag.name, bag.content_hash)
    return head | json_of(schedule, "makespan_seconds groups")


def write_schedule(schedule: Schedule, bag: Bag, path: Path | str, version: str) -> None:
    """Write a schedule: `.csv` and `.parquet` with one row per task, else compact with one group to a line.

    Raises
    ------
    OutputError
        If it cannot be written.
    MissingExtraError
        If it is to be a Parquet file and PyArrow is not installed.
    """
    if Path(path).suffix.lower() in SUFFIXES:
        write_schedule_rows(schedule, bag, path)
        return
    write_files({Path(path): answer_text(schedule_as_dict(schedule, bag, version), "groups")})


def read_schedule(path: Path | str) -> Schedule:
    """Read a schedule in its compact form; whether it fits a bag is decided by the verifier."""
    path = Path(path)
    return schedule_of(read_document(path), path)


def schedule_of(document: Document, path: Path) -> Schedule:
    """Return the schedule in the file at `path`."""
    file = instance_of(ScheduleFile, document, path)
    return Schedule(file.groups, file.makespan_seconds)


# One row per task, as `.csv` or `.parquet`: what other schedulers write, and what `solve` and `expand` stream.
#
# Columns: task_type, machine_type, machine (numbered from 1 within its type); optional: p_state, start_seconds. In any
# order, with a header. An empty P-state or start is none. Written files also have task, its number from 0 in the order
# of the bag's task types, and end_seconds; both follow from the rest, and are not read.
__all__ = ["SUFFIXES", "read_rows", "write_rows", "write_schedule_rows"]

NEEDED: Final = COLUMNS[:3]
NUMBERS: Final = {"machine": "q", "start_seconds": "d"}
WRITTEN: Final = ("task", *COLUMNS, "end_seconds")
MOST_ROW_ISSUES: Final = 100
BATCH: Final = 65_536
LEAST_BYTES: Final = 24  # of a row that is written, roughly


def read_rows(path: Path | str) -> Iterator[TaskRow]:
    """Yield the rows of a file, one by one."""
    path = Path(path)
    issues: list[InputIssue] = []
    pieces = read_pieces(path, (*COLUMNS, "task", "end_seconds"), NEEDED)
    rows = (row for piece in pieces for row in zip(*map(_read(piece).__getitem__, COLUMNS), strict=True))
    for number, row in enumerate(rows, start=1):
        if number > limits.MOST_ROWS:
            do = "write it in the compact form (see 'lpsched solve -o')"
            raise one_issue(path, f"more than {limits.MOST_ROWS:,} rows", "fewer", do)
        made = _row(number, row, issues)
        if len(issues) >= MOST_ROW_ISSUES:
            break
        if made is not None and not issues:
            yield made
    if issues:
        raise InstanceError(str(path), tuple(issues))


def _read(rows: Rows) -> dict[str, list[Any]]:
    """Return the columns of some rows with numbers for texts, where these are numbers."""
    if rows.lines is None:  # of a Parquet file, whose cells are what they are
        return rows.columns
    return rows.columns | {key: column_values(rows.columns[key], code) for key, code in NUMBERS.items()}


def write_schedule_rows(schedule: Schedule, bag: Bag, path: Path | str) -> int:
    """Write a valid schedule with one row per task; return the number of tasks."""
    if schedule.makespan_seconds is not None:
        ends = f"the schedule ends at {schedule.makespan_seconds:g} s, which rows of tasks cannot say"
        warnings.warn(f"{ends}; write it as .json to validate it", LpschedWarning, stacklevel=1)
    tasks = bag.tasks if schedule.groups else 0
    write_rows(expand(bag, schedule), tasks, path, bag)
    return tasks


def write_rows(rows: Iterator[TaskRow], count: int, path: Path | str, bag: Bag | None = None) -> None:
    """Write `count` rows as they come; with the bag of a valid schedule also task numbers and ends."""
    path = Path(path)
    if path.suffix.lower() not in SUFFIXES:
        raise OutputError(f"cannot write {path}: expected the ending {' or '.join(SUFFIXES)}; choose one")
    folder = path.resolve().parent
    if folder.is_dir() and count * LEAST_BYTES > shutil.disk_usage(folder).free:
        raise OutputError(f"cannot write {path}: {count:,} rows would fill the disk; use the compact form")
    with whole_file(path) as file:
        if path.suffix.lower() == ".csv":
            write_csv(WRITTEN, _cells(rows, bag), file, line_end="\r\n")
        else:
            _write_parquet(_cells(rows, bag), file, path)


def _cells(rows: Iterator[TaskRow], bag: Bag | None) -> Iterator[tuple[object, ...]]:
    """Yield the cells of each row, in the order of `WRITTEN`."""
    if bag is None:
        yield from ((None, *(getattr(row, name) for name in COLUMNS), None) for row in rows)
        return
    row_of = {task.name: i for i, task in enumerate(bag.task_types)}
    column = column_numbers(bag.machine_types)
    number = list(accumulate((task.count for task in bag.task_types), initial=0))  # of the next task of each type
    for row in rows:
        i = row_of[row.task_type]
        seconds = bag.seconds[i, column[row.machine_type, row.p_state]]
        end = None if row.start_seconds is None or seconds is None else row.start_seconds + seconds
        yield number[i], row.task_type, row.machine_type, row.machine, row.p_state, row.start_seconds, end
        number[i] += 1


def _write_parquet(rows: Iterator[tuple[object, ...]], file: BinaryIO, path: Path) -> None:
    pa, pq = load_arrow(f"writing {path.name}")
    kinds = (pa.int64(), pa.string(), pa.string(), pa.int64(), pa.string(), pa.float64(), pa.float64())
    schema = pa.schema(list(zip(WRITTEN, kinds, strict=True)))
    with pq.ParquetWriter(file, schema) as writer:
        while batch := list(islice(rows, BATCH)):
            writer.write_table(pa.table(list(zip(*batch, strict=True)), schema=schema))


def _row(number: int, cells: tuple[Any, ...], issues: list[InputIssue]) -> TaskRow | None:
    """Return one row, or note what is wrong with it."""
    task_type, machine_type, machine, state, start = cells
    try:
        return TaskRow(
            task_type="" if task_type is None else str(task_type),
            machine_type="" if machine_type is None else str(machine_type),
            machine=_whole(machine),
            p_state=None if state is None else str(state),
            start_seconds=None if start is None else _seconds(start),
        )
    except TypeError:
        found = f"machine {quote(str(machine))}, start {quote(str(start))}"
        issues.append(InputIssue(("row", number), found, "a whole number and seconds", "correct them"))
        return None


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError
    return value


def _seconds(value: object) -> float:
    if (seconds := as_double(value)) is None:
        raise TypeError
    return seconds


class Claim(Part):
    """What is claimed, and under which terms: numbers in place of those of the bag."""

    objective: AnyName
    unit: AnyName
    bound: Exact
    price: Double | None
    power_cap_watts: Double | None
    deadline_seconds: Double | None


class Multipliers(Part):
    """Prices of a second of each machine type, and of a joule above idle."""

    machine_types: ExactPrices
    cap: Exact


class FirstCertificateFile(Sealed):
    """A certificate of the first format: it has neither least makespan nor intervals."""

    FORMAT: ClassVar[str] = FORMATS[0]

    claim: Claim
    multipliers: Multipliers


class CertificateFile(FirstCertificateFile):
    """A certificate."""

    FORMAT: ClassVar[str] = CERTIFICATE_FORMAT

    least_makespan: LeastMakespan | None
    intervals: Annotated[tuple[Interval, ...], Several(needed="null, or a list")] | None


def certificate_as_dict(certificate: Certificate, version: str) -> dict[str, Any]:
    """Return the content of the file."""
    terms = json_of(certificate.terms, "price power_cap_watts deadline_seconds")
    claim = json_of(certificate, "objective unit bound")
    content = answer_head(CERTIFICATE_FORMAT, version, certificate.instance_name, certificate.instance_hash) | {
        "claim": claim | {key: None if value is None else plain(Fraction(value)) for key, value in terms.items()},
        "multipliers": {"machine_types": plain(certificate.machine_prices), "cap": plain(certificate.cap_price)},
        **json_of(certificate, "least_makespan intervals"),
    }
    return content | {"checksum": checksum(content)}


def write_certificate(certificate: Certificate, path: Path | str, version: str) -> None:
    """Write a certificate."""
    write_files({Path(path): answer_text(certificate_as_dict(certificate, version))})


def read_certificate(path: Path | str) -> Certificate:
    """Read a certificate."""
    path = Path(path)
    return certificate_of(read_document(path), path)


def certificate_of(document: Document, path: Path) -> Certificate:
    """Return the certificate in the file at `path`; whether it proves its claim is decided by the checker."""
    model = FirstCertificateFile if format_of(document.value) == FORMATS[0] else CertificateFile
    file = instance_of(model, document, path)
    claim, paid = file.claim, file.multipliers
    terms = Terms(None, claim.price, None, claim.power_cap_watts, claim.deadline_seconds)
    terms.check()
    return Certificate(
        instance_name=file.instance.name,
        instance_hash=file.instance.hash,
        objective=claim.objective,
        unit=claim.unit,
        bound=claim.bound,
        terms=terms,
        machine_prices=paid.machine_types,
        cap_price=paid.cap,
        least_makespan=file.least_makespan if isinstance(file, CertificateFile) else None,
        intervals=file.intervals if isinstance(file, CertificateFile) else None,
    )
