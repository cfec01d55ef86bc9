"""Slurm's accounting as `sacct -P` writes it: a header, then one line per job and, without `-X`, per step.

Cells are separated by bars. A job's own line has an identifier such as 123, 123_4 (a task of an array) or
123+1 (a part of a heterogeneous job); lines of its steps follow: 123.batch, 123.extern, 123.0. A file may be
compressed with gzip. Every line is kept, so that reading what was written gives the same log.

A line is *dirty* if it has another number of cells than the header (a name may hold a bar), or if one of the
cells that are read cannot be (`sacct_cells.py`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from lpsched.errors import MOST_FAULTS, Fault, InstanceError, quote
from lpsched.files.content import one_fault
from lpsched.files.line_blocks import line_blocks
from lpsched.files.sacct_cells import (
    joules_of,
    moment_of,
    nodes_of,
    raw_minutes_of,
    raw_seconds_of,
    seconds_of,
)
from lpsched.files.writing import write_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

__all__ = ["SacctLine", "SacctLog", "read_sacct", "write_sacct"]

MOST_TEXT_BYTES: Final = 256 * 2**20
SEPARATOR: Final = "|"
MEANINGS: Final[Mapping[str, tuple[tuple[str, Callable[[str], float | None]], ...]]] = {
    "seconds": (("elapsedraw", raw_seconds_of), ("elapsed", seconds_of)),  # the first column that there is
    "joules": (("consumedenergyraw", joules_of), ("consumedenergy", joules_of)),
    "nodes": (("allocnodes", nodes_of), ("nnodes", nodes_of)),
    "submit": (("submit", moment_of),),
    "start": (("start", moment_of),),
    "requested_seconds": (("timelimitraw", raw_minutes_of), ("timelimit", seconds_of)),
}
NEEDED: Final = {"jobid": ("JobID",), "state": ("State",), "seconds": ("ElapsedRaw", "Elapsed")}
WRONG_COUNT: Final = "another number of cells than the header"


@dataclass(frozen=True, slots=True)
class SacctLine:
    """One line: its cells, in the order of the header, and what they mean; `None` where they say nothing."""

    number: int  # of the line in the file
    cells: tuple[str, ...]
    values: Mapping[str, float | None]


@dataclass(frozen=True, slots=True, eq=False)
class SacctLog:
    """All sound lines of a file, and what was dirty."""

    header: tuple[str, ...]
    lines: Sequence[tuple[int, str]] = field(repr=False)  # their numbers, and what they say
    skipped: Mapping[str, int] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()

    def place(self, column: str) -> int | None:
        """Return where a column stands, whatever its case; `None` if it does not."""
        names = [name.lower() for name in self.header]
        return names.index(column.lower()) if column.lower() in names else None

    def read(self) -> Iterator[SacctLine]:
        """Yield the lines, one by one."""
        readers = readers_of(self.header)
        for number, text in self.lines:
            cells = _cells(text)
            values = {meaning: read(cells[place]) for meaning, (place, read) in readers.items()}
            yield SacctLine(number, cells, values)


def readers_of(header: Sequence[str]) -> dict[str, tuple[int, Callable[[str], float | None]]]:
    """Return where each meaning stands in a line, and who reads it."""
    names = [name.lower() for name in header]
    found = {}
    for meaning, columns in MEANINGS.items():
        there = [(names.index(column), read) for column, read in columns if column in names]
        if there:
            found[meaning] = there[0]
    return found


def read_sacct(path: Path | str, *, skip_dirty: bool = False) -> SacctLog:
    """Read what `sacct -P` wrote.

    Parameters
    ----------
    skip_dirty
        Leave dirty lines out and count them, rather than refuse the file.

    Raises
    ------
    InstanceError
        If the file cannot be read, lacks a column, is too long, or has dirty lines; all are told by number.
    """
    path = Path(path)
    texts = _texts(path)
    header = next((_cells(text) for _, text in texts), ())
    _check_header(path, header)
    readers = readers_of(header)
    lines: list[tuple[int, str]] = []
    faults: list[Fault] = []
    skipped: Counter[str] = Counter()
    for number, text in texts:
        broken = _broken(_cells(text), header, readers)
        if broken is None:
            lines.append((number, text))
            continue
        reason, found, needed = broken
        skipped[reason] += 1
        if len(faults) < MOST_FAULTS:
            do = "mend the line, or leave such lines out (--skip-dirty)"
            faults.append(Fault((), found, needed, do, line=number))
        elif not skip_dirty:
            break
    if faults and not skip_dirty:
        raise InstanceError(str(path), tuple(faults))
    return SacctLog(header, lines, dict(skipped), tuple(faults))


def write_sacct(log: SacctLog, path: Path | str) -> None:
    """Write a log as `sacct -P` would.

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    texts = [SEPARATOR.join(log.header), *(text for _, text in log.lines)]
    write_files({Path(path): "".join(f"{text}\n" for text in texts).encode("utf-8", "surrogateescape")})


def _texts(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not empty, with their numbers."""
    number = 0
    do = "split it, or ask sacct for less (-X leaves steps out)"
    for block in line_blocks(path, most_bytes=MOST_TEXT_BYTES, do=do):
        for line in block.removesuffix(b"\n").split(b"\n"):
            number += 1
            text = line.removesuffix(b"\r").decode("utf-8", "surrogateescape")
            text = text.removeprefix("\ufeff") if number == 1 else text
            if text.strip():
                yield number, text


def _cells(text: str) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in text.split(SEPARATOR))


def _check_header(path: Path, header: tuple[str, ...]) -> None:
    names = [name.lower() for name in header]
    if "jobid" not in names:
        found = quote(SEPARATOR.join(header)) if header else "an empty file"
        needed = "a header with JobID, as 'sacct -P' writes it"
        raise one_fault(path, found, needed, "run 'sacct -P' without --noheader", 1 if header else None)
    readers = readers_of(header)
    faults = [
        Fault(
            (), "no such column", f"the column {' or '.join(columns)}", "ask sacct for it (--format)", line=1
        )
        for key, columns in NEEDED.items()
        if key not in names and key not in readers
    ]
    faults += [
        Fault((), f"the column {quote(name)} once more", "each column once", "remove one of the two", line=1)
        for name in sorted({name for name in names if names.count(name) > 1})
        if name
    ]
    if faults:
        raise InstanceError(str(path), tuple(faults))


def _broken(
    cells: tuple[str, ...],
    header: tuple[str, ...],
    readers: Mapping[str, tuple[int, Callable[[str], float | None]]],
) -> tuple[str, str, str] | None:
    """Return why a line is dirty, what was found, and what is needed; `None` if it is not."""
    if len(cells) != len(header):
        return WRONG_COUNT, f"{len(cells)} cells", f"{len(header)}, as in the header"
    for place, read in readers.values():
        try:
            read(cells[place])
        except ValueError:
            name = header[place]
            return (
                f"{name} that cannot be read",
                f"{quote(cells[place])} as {name}",
                f"{name} as sacct writes it",
            )
    return None
