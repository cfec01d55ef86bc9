"""Files of bags and of their schedules."""

from __future__ import annotations

import csv
import io
import shutil
import sys
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, ClassVar, Final

from pydantic import Field

from lpsched.bag.model import FORMAT, Bag
from lpsched.bag.schedule import COLUMNS, MachineGroup, Schedule, TaskRow
from lpsched.errors import Fault, InstanceError, OutputError, quote
from lpsched.io.content import load_arrow, one_fault, whole_file, write_files
from lpsched.io.documents import read_document
from lpsched.io.instance_files import TableForm, instance_of, table_files, usual_form, write_document, written_tables
from lpsched.io.rows import SUFFIXES, read_pieces
from lpsched.model.answers import Answer, answer_head, answer_text
from lpsched.model.fields import SMALLEST, Amount, Several
from lpsched.model.results import json_of
from lpsched.model.table import Axes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lpsched.io.documents import Document


read_bag: Final = Bag.from_file


def write_bag(bag: Bag, path: Path | str, *, form: TableForm | None = None) -> tuple[Path, ...]:
    """Write a bag, without loss; return the files written, the bag's own last.

    Parameters
    ----------
    form
        How to write the tables: by name or as a matrix inside the file, or in files beside it. If not
        given, by name up to 1,000 pairs, as a matrix up to 100,000, else in an `.npz`.
    """
    path, form = Path(path), form if form is not None else usual_form(bag.seconds)
    held = {"seconds": bag.seconds} | ({"watts": bag.watts} if bag.watts is not None else {})
    contents = table_files(held, Axes(bag.task_types, bag.machine_types), path, form)
    return write_document(path, contents, lambda files: as_dict(bag, form, files))


def as_dict(bag: Bag, form: TableForm = TableForm.NAMES, files: dict[str, str] | None = None) -> dict[str, Any]:
    """Return the bag as a mapping with the keys of a bag file; defaults are left out."""
    raw: dict[str, Any] = {"format": FORMAT, "name": bag.name}
    raw["machine_types"] = [_said(machine) for machine in bag.machine_types]
    raw["task_types"] = [_said(task) for task in bag.task_types]
    axes = Axes(bag.task_types, bag.machine_types)
    raw |= written_tables({"seconds": bag.seconds, "watts": bag.watts}, axes, form, files or {})
    for key, part in (("prices", bag.prices), ("site", bag.site)):
        if said := _said(part):
            raw[key] = said
    return raw


def _said(part: Any) -> dict[str, Any]:  # noqa: ANN401 - any of the Pydantic parts
    said: dict[str, Any] = part.model_dump(exclude_defaults=True)
    if "p_states" in said:
        said["p_states"] = list(said["p_states"])
    return said


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
    """Write a schedule in its compact form; one group to a line.

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    write_files({Path(path): answer_text(schedule_as_dict(schedule, bag, version), "groups")})


def read_schedule(path: Path | str) -> Schedule:
    """Read a schedule in its compact form; whether it fits a bag is for the verifier to say.

    Raises
    ------
    InstanceError
        If the file is not one.
    """
    path = Path(path)
    return schedule_of(read_document(path), path)


def schedule_of(document: Document, path: Path) -> Schedule:
    """Make a schedule of what the file at `path` says."""
    file = instance_of(ScheduleFile, document, path)
    return Schedule(file.groups, file.makespan_seconds)


# One row per task, as `.csv` or `.parquet`: what other people's schedulers write, and what `expand` streams.
#
# Columns: task_type, machine_type, machine (numbered from 1 within its type); optional: p_state,
# start_seconds. In any order, with a header. An empty P-state or start is none.
__all__ = ["SUFFIXES", "read_rows", "write_rows"]

NEEDED: Final = COLUMNS[:3]
MOST_ROWS: Final = 5_000_000  # of a file that is read; each takes some two hundred bytes of memory
MOST_ROW_FAULTS: Final = 100
BATCH: Final = 65_536
LEAST_BYTES: Final = 24  # of a row that is written, roughly


def read_rows(path: Path | str) -> Iterator[TaskRow]:
    """Yield the rows of a file, one by one."""
    path = Path(path)
    faults: list[Fault] = []
    pieces = read_pieces(path, COLUMNS, NEEDED)
    rows = (row for piece in pieces for row in zip(*map(piece.columns.__getitem__, COLUMNS), strict=True))
    for number, row in enumerate(rows, start=1):
        if number > MOST_ROWS:
            do = "write it in the compact form (see 'lpsched solve -o')"
            raise one_fault(path, f"more than {MOST_ROWS:,} rows", "fewer", do)
        made = _row(number, row, faults)
        if len(faults) >= MOST_ROW_FAULTS:
            break
        if made is not None and not faults:
            yield made
    if faults:
        raise InstanceError(str(path), tuple(faults))


def write_rows(rows: Iterator[TaskRow], count: int, path: Path | str) -> None:
    """Write rows as they come; `count` is how many there will be."""
    path = Path(path)
    if path.suffix.lower() not in SUFFIXES:
        raise OutputError(f"cannot write {path}: needs the ending {' or '.join(SUFFIXES)}; choose one")
    folder = path.resolve().parent
    if folder.is_dir() and count * LEAST_BYTES > shutil.disk_usage(folder).free:
        raise OutputError(f"cannot write {path}: {count:,} rows would fill the disk; use the compact form")
    with whole_file(path) as file:
        if path.suffix.lower() == ".csv":
            _write_csv(rows, file)
        else:
            _write_parquet(rows, file, path)


def _write_csv(rows: Iterator[TaskRow], file: BinaryIO) -> None:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=False)
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    writer.writerows(
        (row.task_type, row.machine_type, row.machine, row.p_state or "", repr(row.start_seconds)) for row in rows
    )
    text.flush()
    text.detach()


def _write_parquet(rows: Iterator[TaskRow], file: BinaryIO, path: Path) -> None:
    pa, pq = load_arrow(f"writing {path.name}")
    kinds = (pa.string(), pa.string(), pa.int64(), pa.string(), pa.float64())
    schema = pa.schema(list(zip(COLUMNS, kinds, strict=True)))
    with pq.ParquetWriter(file, schema) as writer:
        while batch := list(islice(rows, BATCH)):
            columns = [[getattr(row, name) for row in batch] for name in COLUMNS]
            writer.write_table(pa.table(columns, schema=schema))


def _row(number: int, cells: tuple[Any, ...], faults: list[Fault]) -> TaskRow | None:
    """Return one row, or note what is wrong with it."""
    task_type, machine_type, machine, state, start = cells
    try:
        return TaskRow(
            task_type="" if task_type is None else str(task_type),
            machine_type="" if machine_type is None else str(machine_type),
            machine=_whole(machine),
            p_state=None if state is None else str(state),
            start_seconds=None if start is None else float(start),
        )
    except (ValueError, TypeError, OverflowError):
        found = f"machine {quote(str(machine))}, start {quote(str(start))}"
        faults.append(Fault(("row", number), found, "a whole number and seconds", "correct them"))
        return None


def _whole(value: object) -> int:
    number = int(value) if isinstance(value, str) else value
    if isinstance(number, bool) or not isinstance(number, int):
        raise TypeError
    return number
