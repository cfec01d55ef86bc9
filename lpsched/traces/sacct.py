"""Reading the accounting of Slurm as `sacct` prints it: times, energy, nodes, states."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from lpsched.errors import MOST_ISSUES, InputIssue, InstanceError, quote
from lpsched.io.content import one_issue
from lpsched.traces.swf import FIX_LINE, line_blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence


# The cells of Slurm's accounting: how `sacct` writes times, energy, nodes and states.
#     elapsed, limits   [days-]hours:minutes:seconds, or minutes:seconds; `ElapsedRaw` in seconds,
#                       `TimelimitRaw` in minutes; UNLIMITED and Partition_Limit say nothing
#     moments           2024-02-29T14:28:30, or seconds since 1970 (`SLURM_TIME_FORMAT=%s`); Unknown and None
#                       say nothing
#     energy            joules, with K, M, G, T or P for powers of 1,000; 0, and 2^53 or more (2^64 - 2 is how
#                       Slurm says that it does not know), mean that it was not measured
#     nodes             with K or M for powers of 1,024 (`--noconvert` avoids them)
#     state             COMPLETED, FAILED, `CANCELLED by 1000` ...; the first word counts
# An empty cell is likewise nothing. Each function returns `None` for nothing, and raises a `ValueError` for
# what it cannot read.
# Sources: the manual page sacct(1); Slurm's `src/sacct/print.c`.
NOTHING: Final = frozenset(("", "unknown", "none", "unlimited", "partition_limit", "infinite", "n/a"))
LARGEST: Final = 2.0**53
MOST_NODES: Final = 1e9
DECIMAL: Final = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
BINARY: Final = {"": 1, "K": 2**10, "M": 2**20}
_SPAN: Final = re.compile(r"(?:(\d{1,9})-)?(?:(\d{1,9}):)?(\d{1,9}):(\d{1,2}(?:\.\d{1,9})?)")
_AMOUNT: Final = re.compile(r"(\d{1,20}(?:\.\d{1,9})?)([KMGTP]?)")
_WHOLE: Final = re.compile(r"\d{1,15}")


def seconds_of(cell: str) -> float | None:
    """Return a span of time.

    >>> seconds_of("1-02:00:05"), seconds_of("01:30"), seconds_of("UNLIMITED")
    (93605.0, 90.0, None)
    """
    found = _SPAN.fullmatch(cell)
    if found is None:
        return _nothing(cell)
    days, hours, minutes, seconds = (float(part or 0) for part in found.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60 + seconds


def raw_seconds_of(cell: str) -> float | None:
    """Return a number of seconds."""
    return float(cell) if _WHOLE.fullmatch(cell) else _nothing(cell)


def raw_minutes_of(cell: str) -> float | None:
    """Return a number of minutes, in seconds."""
    minutes = raw_seconds_of(cell)
    return None if minutes is None else 60.0 * minutes


def moment_of(cell: str) -> float | None:
    """Return a moment in seconds; one without a zone counts as if it were in Greenwich.

    >>> moment_of("1970-01-02T00:00:01"), moment_of("86401"), moment_of("Unknown")
    (86401.0, 86401.0, None)
    """
    if _WHOLE.fullmatch(cell):
        return float(cell)
    if cell.lower() in NOTHING:
        return None
    moment = datetime.fromisoformat(cell)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def joules_of(cell: str) -> float | None:
    """Return an energy, `None` if it was not measured.

    >>> joules_of("101.63K"), joules_of("0"), joules_of("18446744073709551614"), joules_of("18446744073.71G")
    (101630.0, None, None, None)
    """
    found = _AMOUNT.fullmatch(cell)
    if found is None:
        return _nothing(cell)
    whole, _, fraction = found[1].partition(".")
    joules = int(whole + fraction) * DECIMAL[found[2]] / 10.0 ** len(fraction)  # 101.63K is 101,630 exactly
    return joules if 0 < joules < LARGEST else None


def nodes_of(cell: str) -> int | None:
    """Return a number of nodes, `None` for 0: the job never had any.

    >>> nodes_of("4"), nodes_of("1.5K"), nodes_of("0")
    (4, 1536, None)
    """
    found = _AMOUNT.fullmatch(cell)
    if found is None or found[2] not in BINARY:
        return _nothing(cell)
    nodes = float(found[1]) * BINARY[found[2]]
    if not nodes.is_integer() or nodes > MOST_NODES:
        raise ValueError(cell)
    return int(nodes) or None


def state_of(cell: str) -> str:
    """Return the state without what follows it.

    >>> state_of("CANCELLED by 1000"), state_of("OUT_OF_ME+")
    ('CANCELLED', 'OUT_OF_ME')
    """
    return (cell.split() or ["unknown"])[0].rstrip("+").upper()


def _nothing(cell: str) -> int | None:
    """Return `None` for a cell without a value; raise a `ValueError` for others."""
    if cell.lower() not in NOTHING:
        raise ValueError(cell)
    return None


# Slurm's accounting as `sacct -P` writes it: a header, then one line per job and, without `-X`, per step.
#
# Cells are separated by bars. A job's own line has an identifier such as 123, 123_4 (a task of an array) or
# 123+1 (a part of a heterogeneous job); lines of its steps follow: 123.batch, 123.extern, 123.0. A file may
# be compressed with gzip. Every line is kept as it is.
#
# A line is *dirty* if it has another number of cells than the header (a name may hold a bar), or if one of
# the cells that are read cannot be.
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
    issues: tuple[InputIssue, ...] = ()

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
    """Read what `sacct -P` wrote; leave dirty lines out and count them, or raise an error."""
    path = Path(path)
    texts = _texts(path)
    header = next((_cells(text) for _, text in texts), ())
    _check_header(path, header)
    readers = readers_of(header)
    lines: list[tuple[int, str]] = []
    issues: list[InputIssue] = []
    skipped: Counter[str] = Counter()
    for number, text in texts:
        broken = _broken(_cells(text), header, readers)
        if broken is None:
            lines.append((number, text))
            continue
        reason, found, needed = broken
        skipped[reason] += 1
        if len(issues) < MOST_ISSUES:
            issues.append(InputIssue((), found, needed, FIX_LINE, line=number))
        elif not skip_dirty:
            break
    if issues and not skip_dirty:
        raise InstanceError(str(path), tuple(issues))
    return SacctLog(header, lines, dict(skipped), tuple(issues))


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
        raise one_issue(path, found, needed, "run 'sacct -P' without --noheader", 1 if header else None)
    readers = readers_of(header)
    issues = [
        InputIssue((), "no such column", f"the column {' or '.join(columns)}", "ask sacct for it (--format)", line=1)
        for key, columns in NEEDED.items()
        if key not in names and key not in readers
    ]
    issues += [
        InputIssue((), f"the column {quote(name)} once more", "each column once", "remove one of the two", line=1)
        for name in sorted({name for name in names if names.count(name) > 1})
        if name
    ]
    if issues:
        raise InstanceError(str(path), tuple(issues))


def _broken(
    cells: tuple[str, ...], header: tuple[str, ...], readers: Mapping[str, tuple[int, Callable[[str], float | None]]]
) -> tuple[str, str, str] | None:
    """Return why a line is dirty, what was found, and what is needed; `None` if it is not."""
    if len(cells) != len(header):
        found, needed = f"{len(cells)} cells", f"{len(header)}, as in the header"
        return "another number of cells than the header", found, needed
    for place, read in readers.values():
        try:
            read(cells[place])
        except ValueError:
            name = header[place]
            return (f"{name} that cannot be read", f"{quote(cells[place])} as {name}", f"{name} as sacct writes it")
    return None
