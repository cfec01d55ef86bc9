"""Tables of times as others publish them: the Braun/HCSP text, and plain CSV.

*Braun/HCSP.* The first line gives tasks and machines (and a flag that is ignored); then one time a line, task
by task. Each row is one task, each column one machine.

*CSV.* A header of machine names, one row per task type; the task types' names come first in each row, or
not at all. An empty cell cannot run.

Public tables hold times of 0, rounded down from less than one unit; a bag's times are above 0. They are rejected, or
replaced by a small time that the caller chooses.

A power table in either form, of the same shape, may come along. A file may be compressed with gzip.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate, chain
from pathlib import Path
from typing import Final

from lpsched.bag.model import FORMAT, Bag, bag_from_dict
from lpsched.errors import MOST_ISSUES, InputIssue, InstanceError, LpschedWarning, quote
from lpsched.io import limits
from lpsched.io.content import one_issue
from lpsched.io.tables import ragged
from lpsched.io.text_files import CsvRows, text_blocks
from lpsched.model.fields import check_seconds, numbered
from lpsched.model.problems import checked
from lpsched.text import cell_value
from lpsched.units import counted

NAME_HEADERS: Final = ("task", "name", "id", "type", "job")  # how the header of a column of names begins
_HEADER: Final = re.compile(r"\s*(\d{1,9})\s+(\d{1,9})(?:\s+[-+\d.]+)?\s*", re.ASCII)


@dataclass(frozen=True, slots=True)
class _Matrix:
    machines: list[str] | None  # `None` where the file gives no names
    tasks: list[str] | None
    rows: list[list[object]]

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.rows), len(self.rows[0])


class FirstColumn(StrEnum):
    """What the first column of a CSV holds."""

    NAMES = "names"
    TIMES = "times"


def read_etc(  # noqa: PLR0913 - all but the first are options, given by name
    path: Path,
    *,
    power: Path | None = None,
    name: str | None = None,
    first_column: FirstColumn | None = None,
    tasks_each: int = 1,
    machines_each: int = 1,
    zero_as: float | None = None,
) -> Bag:
    """Make a bag of a table of times, and of a table of watts of the same shape.

    The bag is called as the file if no `name` is given. The first column of a CSV holds names of task types, or times
    like the others; if not given, names when its header is empty or names tasks, or when none of its cells is a
    number. There are `tasks_each` of every task type and `machines_each` of every machine type.

    Times of 0 are an error, or with `zero_as` become that many seconds, with an `LpschedWarning` that counts them.
    Bounds and values are then those of the changed table: a machine's load grows by `zero_as` for each such task.
    """
    zero_as = checked("zero_as", zero_as, check_seconds)
    times = _without_zeros(path, _read_matrix(path, first_column), zero_as)
    watts = None if power is None else _read_matrix(power, first_column)
    if power is not None and watts is not None:
        _same_table(times, watts, path, power)
    task_names = times.tasks or (watts and watts.tasks) or numbered("task", times.shape[0])
    machine_names = times.machines or (watts and watts.machines) or numbered("machine", times.shape[1])
    raw: dict[str, object] = {
        "format": FORMAT,
        "name": name if name is not None else path.name.removesuffix(".gz").removesuffix(".csv"),
        "machine_types": [{"name": machine, "count": machines_each} for machine in machine_names],
        "task_types": [{"name": task, "count": tasks_each} for task in task_names],
        "seconds": times.rows,
    }
    if watts is not None:
        raw["watts"] = watts.rows
    return bag_from_dict(raw, source=str(path) if power is None else f"{path} and {power}")


def _without_zeros(path: Path, times: _Matrix, zero_as: float | None) -> _Matrix:
    """Return the table with `zero_as` in place of times of 0; without it they are an error."""
    zeros = [(i, j) for i, row in enumerate(times.rows) for j, cell in enumerate(row) if _is_zero(cell)]
    if not zeros:
        return times
    count = counted(len(zeros), "time")
    if zero_as is None:
        i, j = zeros[0]
        found = f"{count} of 0, the first in row {i + 1}, column {j + 1}"
        raise one_issue(path, found, "times above 0", "use --zero-as 1e-6 to replace them")
    rows = [[zero_as if _is_zero(cell) else cell for cell in row] for row in times.rows]
    warnings.warn(f"{path}: {count} of 0 replaced by {zero_as:g} s", LpschedWarning, stacklevel=3)
    return _Matrix(times.machines, times.tasks, rows)


def _is_zero(cell: object) -> bool:
    return isinstance(cell, int | float) and not isinstance(cell, bool) and cell == 0


def _same_table(times: _Matrix, watts: _Matrix, path: Path, power: Path) -> None:
    """Raise an error for watts of another shape, or with other names where both files give some."""
    if watts.shape != times.shape:
        found, needed = (" x ".join(map(str, table.shape)) for table in (watts, times))
        raise one_issue(power, f"{found} watts", f"{needed}, as in {path.name}", "bring tables of one shape")
    for kind, ours, theirs in (
        ("task type", times.tasks, watts.tasks),
        ("machine type", times.machines, watts.machines),
    ):
        for mine, other in zip(ours or [], theirs or [], strict=False):
            if mine != other:
                needed = f"{quote(mine)}, as in {path.name}"
                raise one_issue(power, f"the {kind} {quote(other)}", needed, "bring both in the same order")


def _read_matrix(path: Path, first_column: FirstColumn | None) -> _Matrix:
    blocks = text_blocks(path)
    first, _, rest = next(blocks).partition("\n")
    header = _HEADER.fullmatch(first)
    if header:
        return _braun(path, int(header[1]), int(header[2]), chain([rest], blocks))
    if "," not in first and path.suffix.lower() != ".csv":
        needed = "'tasks machines' and then one time a line, or a CSV with machine names"
        raise one_issue(path, f"the first line {quote(first.strip())}", needed, "convert the file", 1)
    return _csv(path, first_column)


def _require_few(path: Path, tasks: int, machines: int) -> None:
    if max(tasks, machines) > limits.MOST_MATRIX_ROWS or tasks * machines > limits.MOST_MATRIX_CELLS:
        needed = f"at most {limits.MOST_MATRIX_CELLS:,} times, and {limits.MOST_MATRIX_ROWS:,} tasks and machines"
        raise one_issue(path, f"a table of {tasks:,} x {machines:,}", needed, "take a part of it")


def _braun(path: Path, tasks: int, machines: int, blocks: Iterable[str]) -> _Matrix:
    _require_few(path, tasks, machines)
    cells: list[object] = []
    wrong: tuple[str, int, int] | None = None  # the first word that is no number, its place and its line
    count, line = 0, 2
    for block in blocks:
        words = block.split()
        found = [cell_value(word) for word in words[: tasks * machines - len(cells)]]
        for place, cell in enumerate(found if wrong is None else ()):
            if not isinstance(cell, int | float) or isinstance(cell, bool):
                ends = accumulate(len(each.split()) for each in block.split("\n"))
                wrong = words[place], count + place + 1, next(n for n, end in enumerate(ends, line) if end > place)
                break
        cells += found
        count += len(words)
        line += block.count("\n")
    if count != tasks * machines or not count:
        needed = f"{tasks} x {machines} = {tasks * machines}, as its first line says"
        raise one_issue(path, f"{count} times", needed, "check that the file is whole")
    if wrong is not None:
        raise one_issue(path, f"{quote(wrong[0])} as time number {wrong[1]}", "a number", "fix the file", wrong[2])
    return _Matrix(None, None, [cells[i * machines : (i + 1) * machines] for i in range(tasks)])


def _csv(path: Path, first_column: FirstColumn | None) -> _Matrix:
    reader = CsvRows(path)
    body = iter(reader)
    header = next(body)
    issues: list[InputIssue] = []
    first: list[tuple[int, str]] = []  # the first cells, with their lines
    rows: list[list[object]] = []
    for row in body:
        if len(row) != len(header):
            issues.append(InputIssue((), *ragged(row, header), line=reader.line))
            if len(issues) == MOST_ISSUES:
                break
        elif not issues:
            first.append((reader.line, row[0]))
            rows.append([cell_value(cell) for cell in row[1:]])
            _require_few(path, len(rows), len(header))
    if issues:
        raise InstanceError(str(path), tuple(issues))
    if not rows:
        raise one_issue(path, "a header and no rows", "one row per task type", "add the times")
    named = _has_names(path, header[0], first) if first_column is None else first_column is FirstColumn.NAMES
    if named and len(header) == 1:
        raise one_issue(path, "a column of names and nothing else", "a column of times", "add the times")
    if not named:
        rows = [[cell_value(cell), *row] for (_, cell), row in zip(first, rows, strict=True)]
    labels = [label.strip() for label in header[1 if named else 0 :]]
    return _Matrix(labels, [cell.strip() for _, cell in first] if named else None, rows)


def _has_names(path: Path, corner: str, body: list[tuple[int, str]]) -> bool:
    """Decide what the first column holds; a mixture of words and numbers is an error, not a guess."""
    if not corner.strip() or corner.strip().lower().startswith(NAME_HEADERS):
        return True
    words = [(line, cell) for line, cell in body if isinstance(cell_value(cell), str)]
    if words and len(words) < len(body):
        line, word = words[0]
        found = f"{quote(word)} in a first column that also has numbers"
        raise one_issue(path, found, "names or times, not both", "fix it, or use --first-column", line)
    return bool(words)
