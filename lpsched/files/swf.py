"""Logs in the Standard Workload Format, version 2.2: what real systems ran, one line per job.

Header comments such as `; MaxNodes: 128` say what the system was. Every comment is kept, where it stands; a
value of -1 is missing. A file may be compressed with gzip. Reading what was written gives the same log.

Source: Feitelson and others, "The Standard Workload Format", version 2.2, Parallel Workloads Archive.
"""

from __future__ import annotations

import gzip
import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.errors import MOST_FAULTS, Fault, InstanceError
from lpsched.files.line_blocks import line_blocks
from lpsched.files.swf_lines import FIELDS, WHOLE, read_lines
from lpsched.files.writing import whole_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lpsched.files.swf_lines import Lines, Numbers

__all__ = ["FIELDS", "MOST_TEXT_BYTES", "SwfTrace", "read_swf", "write_swf"]

MOST_TEXT_BYTES: Final = 512 * 2**20  # some six million jobs: 144 bytes of memory each, twice that while read
PIECE: Final = 65_536  # jobs that are written at once
_SIZE: Final = re.compile(r"[1-9][0-9]{0,14}(?![0-9.])")


@dataclass(frozen=True, slots=True, eq=False)
class SwfTrace:
    """Jobs in the order of the file: an array for each of `FIELDS`, in which -1 is missing; and comments.

    What counts or numbers something is whole (64 bits), times and sizes are doubles.
    """

    columns: Mapping[str, Numbers] = field(repr=False)
    comments: tuple[tuple[int, str], ...] = ()  # how many jobs come before, and the line
    skipped: Mapping[str, int] = field(default_factory=dict)  # dirty lines that were left out, by reason
    faults: tuple[Fault, ...] = ()  # the first of them

    def __len__(self) -> int:
        """How many jobs there are."""
        return len(self.columns["job"])

    def __getitem__(self, name: str) -> Numbers:
        """Return one column."""
        return self.columns[name]

    def said(self, key: str) -> str | None:
        """Return what the first comment `; key: value` says; upper or lower case does not matter.

        >>> SwfTrace({}, ((0, "; MaxNodes: 128"), (0, ";  Note: cleaned"))).said("maxnodes")
        '128'
        """
        for _, line in self.comments:
            name, colon, value = line.lstrip()[1:].partition(":")
            if colon and name.strip().lower() == key.lower():
                return value.strip()
        return None

    def size(self, key: str) -> int | None:
        """Return a size that the header tells, such as MaxNodes; `None` if it tells none."""
        found = _SIZE.match(self.said(key) or "")
        return int(found[0]) if found else None


def read_swf(path: Path | str, *, skip_dirty: bool = False, first: int | None = None) -> SwfTrace:
    """Read a log.

    Parameters
    ----------
    skip_dirty
        Leave dirty lines out and count them, rather than refuse the file.
    first
        Read no more than so many jobs.

    Raises
    ------
    InstanceError
        If the file cannot be read, is too long, or has dirty lines; each is told with its line.
    """
    path = Path(path)
    pieces: list[Lines] = []
    faults: list[Fault] = []
    skipped: Counter[str] = Counter()
    line, jobs = 1, 0
    do = "split it, or take its first jobs (--first)"
    for block in line_blocks(path, most_bytes=MOST_TEXT_BYTES, do=do):
        piece = read_lines(block, line)
        line += block.count(b"\n")
        jobs += len(piece.rows)
        pieces.append(piece)
        skipped.update(reason for reason, _ in piece.dirty)
        faults += [fault for _, fault in piece.dirty[: MOST_FAULTS - len(faults)]]
        if (not skip_dirty and len(faults) == MOST_FAULTS) or (first is not None and jobs >= first):
            break
    if faults and not skip_dirty:
        raise InstanceError(str(path), tuple(faults))
    return _joined(pieces, first, dict(skipped), tuple(faults))


def _joined(
    pieces: list[Lines], first: int | None, skipped: dict[str, int], faults: tuple[Fault, ...]
) -> SwfTrace:
    comments, before = [], 0
    for piece in pieces:
        places = before + np.searchsorted(piece.numbers, [number for number, _ in piece.comments])
        comments += [(int(at), text) for at, (_, text) in zip(places, piece.comments, strict=True)]
        before += len(piece.rows)
    count = before if first is None else min(first, before)
    columns = {
        name: _column([piece.rows[:, place] for piece in pieces], whole=name in WHOLE)[:count]
        for place, name in enumerate(FIELDS)
    }
    return SwfTrace(columns, tuple(each for each in comments if each[0] <= count), skipped, faults)


def _column(pieces: list[Numbers], *, whole: bool) -> Numbers:
    if whole:
        return np.concatenate([piece.astype(np.int64) for piece in pieces] or [np.empty(0, np.int64)])
    return np.concatenate([piece.astype(np.float64) for piece in pieces] or [np.empty(0)])


def write_swf(trace: SwfTrace, path: Path | str) -> None:
    """Write a log, compressed if the name ends with `.gz`; a number has all its digits.

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    path = Path(path)
    with whole_file(path) as file:
        if path.suffix.lower() == ".gz":
            with gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0) as packed:
                packed.writelines(_texts(trace))
        else:
            file.writelines(_texts(trace))


def _texts(trace: SwfTrace) -> Iterator[bytes]:
    written = 0
    for at, comments in groupby(trace.comments, key=itemgetter(0)):
        yield from _job_lines(trace, written, at)
        yield from (text.encode("utf-8", "surrogateescape") + b"\n" for _, text in comments)
        written = at
    yield from _job_lines(trace, written, len(trace))


def _job_lines(trace: SwfTrace, start: int, end: int) -> Iterator[bytes]:
    for begin in range(start, end, PIECE):
        columns = [_words(trace[name][begin : min(begin + PIECE, end)]) for name in FIELDS]
        yield "".join(f"{' '.join(words)}\n" for words in zip(*columns, strict=True)).encode()


def _words(numbers: Numbers) -> list[str]:
    if numbers.dtype == np.int64:
        return list(map(str, numbers.tolist()))
    return [str(int(each)) if each.is_integer() else repr(each) for each in numbers.tolist()]
