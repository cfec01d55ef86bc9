"""Tables of times as others publish them: the Braun/HCSP text, and plain CSV.

*Braun/HCSP.* The first line gives tasks and machines (and a flag that is ignored); then one time a line, task
by task. Each row is one task, each column one machine.

*CSV.* A header of machine names, one row per task type; the task types' names come first in each row, or
not at all. An empty cell cannot run.

A power table in either form, of the same shape, may come along. A file may be compressed with gzip.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lpsched.errors import Fault, InstanceError
from lpsched.files.content import as_text, one_fault, read_bytes
from lpsched.files.documents.document import resolve
from lpsched.instance import FORMAT, Bag, bag_from_dict
from lpsched.instance.fields import quote

if TYPE_CHECKING:
    from pathlib import Path

MOST_BYTES: Final = 512 * 2**20
_HEADER: Final = re.compile(r"\s*(\d{1,9})\s+(\d{1,9})(?:\s+[-+\d.]+)?\s*")


@dataclass(frozen=True, slots=True)
class _Matrix:
    machines: list[str]
    tasks: list[str]
    rows: list[list[object]]


def read_etc(
    path: Path,
    *,
    power: Path | None = None,
    name: str | None = None,
    tasks_each: int = 1,
    machines_each: int = 1,
) -> Bag:
    """Make a bag of a table of times.

    Parameters
    ----------
    power
        A table of watts of the same shape.
    name
        The bag's name; the file's name if not given.
    tasks_each, machines_each
        The count of every task type and of every machine type.

    Raises
    ------
    InstanceError
        If a file is neither of the two forms, or does not make a sound bag.
    """
    times = _read_matrix(path)
    raw: dict[str, object] = {
        "format": FORMAT,
        "name": name if name is not None else path.name.removesuffix(".gz").removesuffix(".csv"),
        "machine_types": [{"name": machine, "count": machines_each} for machine in times.machines],
        "task_types": [{"name": task, "count": tasks_each} for task in times.tasks],
        "seconds": times.rows,
    }
    if power is not None:
        watts = _read_matrix(power)
        if (watts.machines, watts.tasks) != (times.machines, times.tasks):
            found = f"{len(watts.tasks)} x {len(watts.machines)} watts, or other names"
            needed = f"{len(times.tasks)} x {len(times.machines)}, with the names of {path.name}"
            raise one_fault(power, found, needed, "bring tables of the same machines and tasks")
        raw["watts"] = watts.rows
    return bag_from_dict(raw, source=str(path))


def _read_matrix(path: Path) -> _Matrix:
    text = as_text(path, _bytes(path))
    first, _, rest = text.partition("\n")
    header = _HEADER.fullmatch(first)
    if header:
        return _braun(path, int(header[1]), int(header[2]), rest)
    if "," not in first and path.suffix.lower() != ".csv":
        needed = "'tasks machines' and then one time a line, or a CSV with machine names"
        raise one_fault(path, f"the first line {quote(first.strip())}", needed, "convert the file", 1)
    return _csv(path, text)


def _bytes(path: Path) -> bytes:
    content = read_bytes(path, MOST_BYTES)
    if not content.startswith(b"\x1f\x8b"):
        return content
    try:
        with gzip.open(io.BytesIO(content)) as file:
            unpacked = file.read(MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise one_fault(path, f"broken gzip ({error})", "a whole file", "fetch it again") from error
    if len(unpacked) > MOST_BYTES:
        raise one_fault(path, "a very large file inside", f"at most {MOST_BYTES:,} bytes", "split it")
    return unpacked


def _braun(path: Path, tasks: int, machines: int, rest: str) -> _Matrix:
    words = rest.split()
    if len(words) != tasks * machines or not words:
        needed = f"{tasks} x {machines} = {tasks * machines}, as its first line says"
        raise one_fault(path, f"{len(words)} times", needed, "check that the file is whole")
    cells = [resolve(word) for word in words]
    for position, cell in enumerate(cells):
        if not isinstance(cell, int | float) or isinstance(cell, bool):
            found = f"{quote(words[position])} as time number {position + 1}"
            raise one_fault(path, found, "a number", "mend the file", position + 2)
    rows = [list(cells[i * machines : (i + 1) * machines]) for i in range(tasks)]
    return _Matrix(_numbered("machine", machines), _numbered("task", tasks), rows)


def _csv(path: Path, text: str) -> _Matrix:
    try:
        lines = [
            (number, row)
            for number, row in enumerate(csv.reader(io.StringIO(text, newline=""), strict=True), 1)
            if row
        ]
    except csv.Error as error:
        raise one_fault(path, f"broken CSV: {error}", "CSV", "mend the file") from error
    header, body = lines[0][1], lines[1:]
    ragged = tuple(
        Fault(
            (),
            f"a row of {len(row)} cells",
            f"{len(header)}, as in the header",
            "complete the row",
            line=number,
        )
        for number, row in body
        if len(row) != len(header)
    )
    if ragged:
        raise InstanceError(str(path), ragged)
    if not body:
        raise one_fault(path, "a header and no rows", "one row per task type", "add the times")
    named = any(isinstance(resolve(row[0].strip()), str) for _, row in body) or not header[0].strip()
    start = 1 if named else 0
    tasks = [row[0].strip() for _, row in body] if named else _numbered("task", len(body))
    rows = [[resolve(cell.strip()) for cell in row[start:]] for _, row in body]
    return _Matrix([label.strip() for label in header[start:]], tasks, rows)


def _numbered(word: str, count: int) -> list[str]:
    return [f"{word}-{number:0{len(str(count))}}" for number in range(1, count + 1)]
