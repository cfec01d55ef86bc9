"""Slurm's accounting as `sacct -P` and `sacct --json` write it: rows of cells, those with odd names repaired."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Final

from lpsched.errors import MOST_ISSUES, InputIssue, InstanceError, quote
from lpsched.io import limits
from lpsched.io.content import one_issue
from lpsched.io.text_files import chunks_of, repeated, require_few_lines, whole_lines
from lpsched.traces import slurm_cells as cells_of
from lpsched.traces.sacct_json import JSON_HEADER, JSON_SEPARATOR, json_rows
from lpsched.traces.swf import FIX_LINE

# A header, then one line per job and, without `-X`, per step. Cells are separated by bars, or by what stands after the
# first name of the header (`--delimiter`). A job's own line has an identifier such as 123, 123_4 (a task of an array)
# or 123+1 (a part of a heterogeneous job); lines of its steps follow: 123.batch, 123.extern, 123.0. A file may be
# compressed with gzip. JSON is recognised by its first brace, and becomes the same rows.
#
# A row is *dirty* if it has another number of cells than the header, or if one of the cells that are read cannot be.
# Names of jobs and comments are free text, and may hold the delimiter and newlines. Such a row is *repaired*: of the
# columns with free text, one takes all cells that are too many, and all lines up to the next row; that is done only if
# all other cells can then be read, and if it can be done in one way. A row that stands alone is never joined to
# another. All other dirty rows are left out one by one and counted; where they are half of all rows or more, the file
# is probably something else, and is rejected.
SEPARATOR: Final = "|"
BOM: Final = b"\xef\xbb\xbf"
MOST_JOINED: Final = 20  # lines of one row
FREE_TEXT: Final = frozenset(
    ("jobname", "comment", "admincomment", "systemcomment", "extra", "workdir", "submitline", "container", "wckey")
)
STATES: Final = frozenset((
    "BOOT_FAIL", "CANCELLED", "COMPLETED", "COMPLETING", "CONFIGURING", "DEADLINE", "FAILED", "NODE_FAIL",
    "OUT_OF_MEMORY", "OUT_OF_ME", "PENDING", "PREEMPTED", "RESIZING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED",
    "EXPEDITING", "LAUNCH_FAILED", "REVOKED", "RUNNING", "SIGNALING", "SPECIAL_EXIT", "STAGE_OUT", "STOPPED",
    "SUSPENDED", "TIMEOUT",
))  # fmt: skip
LISTED: Final = "listed"  # the nodes of a list: checked, and read by those who need the names
Read = Callable[[str], float | None]
MEANINGS: Final[Mapping[str, tuple[tuple[str, Read], ...]]] = {  # the first column that there is
    "seconds": (("elapsedraw", cells_of.elapsed_of), ("elapsed", cells_of.seconds_of)),
    "joules": (("consumedenergyraw", cells_of.joules_of), ("consumedenergy", cells_of.joules_of)),
    "nodes": (
        ("allocnodes", cells_of.nodes_of),
        ("nnodes", cells_of.nodes_of),
        ("alloctres", partial(cells_of.count_of_tres, "node")),
    ),
    "cpus": (
        ("alloccpus", cells_of.nodes_of),
        ("ncpus", cells_of.nodes_of),
        ("alloctres", partial(cells_of.count_of_tres, "cpu")),
    ),
    "gpus": (("alloctres", cells_of.gpus_of_tres), ("allocgres", cells_of.gpus_of_gres)),
    "memory": (("alloctres", lambda cell: cells_of.tres_of(cell).get(cells_of.MEMORY)),),
    "submit": (("submit", cells_of.moment_of),),
    "eligible": (("eligible", cells_of.moment_of),),
    "start": (("start", cells_of.moment_of),),
    "requested_seconds": (("timelimitraw", cells_of.raw_minutes_of), ("timelimit", cells_of.seconds_of)),
    LISTED: (("nodelist", cells_of.count_nodes),),
}
NEEDED: Final = {"jobid": ("JobID",), "state": ("State",), "seconds": ("ElapsedRaw", "Elapsed")}
_JOB: Final = re.compile(r"\d{1,20}(_(\d+|\[[^\]]*\]))?(\+\d+)?(\.\S+)?", re.ASCII)
_HALF: Final = re.compile("[\ud800-\udc7f\udd00-\udfff]")  # halves of characters, as JSON may have them
_AFTER_A_NAME: Final = re.compile(r"\ufeff?\w+([^\w]+)(?=\w)")


@dataclass(frozen=True, slots=True)
class SacctLine:
    """One line: its cells, in the order of the header, and what they mean; `None` where they say nothing."""

    number: int  # of the line in the file; of JSON, of the job
    cells: tuple[str, ...]
    values: Mapping[str, float | None]


class TextLines(Sequence[tuple[int, str]]):
    """Lines with their numbers, as bytes: half of what text takes, a fourth where it has letters beyond ASCII."""

    __slots__ = ("_numbers", "_texts")

    def __init__(self) -> None:
        self._numbers, self._texts = array("q"), list[bytes]()

    def append(self, number: int, text: bytes) -> None:
        """Add a line."""
        self._numbers.append(number)
        self._texts.append(text)

    def take(self, others: TextLines, place: int) -> None:
        """Add a line of others."""
        self.append(others._numbers[place], others._texts[place])

    def __len__(self) -> int:
        """How many lines there are."""
        return len(self._texts)

    def __getitem__(self, place: Any) -> Any:  # noqa: ANN401 - a line, or a list of some
        """Return a line."""
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self)))]
        return self._numbers[place], self._texts[place].decode("utf-8", "surrogateescape")

    def __eq__(self, other: object) -> bool:
        """Return whether numbers and texts are equal."""
        return isinstance(other, TextLines) and (self._numbers, self._texts) == (other._numbers, other._texts)

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, slots=True, eq=False)
class SacctLog:
    """All valid rows of a file, and what was repaired or dirty."""

    header: tuple[str, ...]
    lines: TextLines = field(repr=False)  # their numbers, and what they say
    skipped: Mapping[str, int] = field(default_factory=dict)
    issues: tuple[InputIssue, ...] = ()
    separator: str = SEPARATOR
    rejoined: Mapping[int, tuple[str, ...]] = field(
        default_factory=dict, repr=False
    )  # cells of rows that were repaired
    repaired: Mapping[str, int] = field(default_factory=dict)

    def place(self, column: str) -> int | None:
        """Return where a column stands, whatever its case; `None` if it does not."""
        names = [name.lower() for name in self.header]
        return names.index(column.lower()) if column.lower() in names else None

    def readers(self) -> dict[str, tuple[int, Read]]:
        """Return where each meaning stands in a line, and who reads it."""
        return {meaning: found for meaning, found in readers_of(self.header).items() if meaning != LISTED}

    def cells(self, place: int) -> tuple[str, ...]:
        """Return the cells of a line."""
        number, text = self.lines[place]
        return self.rejoined.get(number) or split_cells(text, self.separator)

    def cell(self, place: int, column: int) -> str:
        """Return one cell of a line."""
        number, text = self.lines[place]
        rejoined = self.rejoined.get(number)
        return text.split(self.separator, column + 1)[column].strip() if rejoined is None else rejoined[column]

    def read(self) -> Iterator[SacctLine]:
        """Yield the lines, one by one."""
        readers = self.readers()
        for place, (number, _) in enumerate(self.lines):
            cells = self.cells(place)
            values = {meaning: read(cells[place]) for meaning, (place, read) in readers.items()}
            yield SacctLine(number, cells, values)


def readers_of(header: Sequence[str]) -> dict[str, tuple[int, Read]]:
    """Return where each meaning stands in a line, and who reads it."""
    names = [name.lower() for name in header]
    found = {}
    for meaning, columns in MEANINGS.items():
        there = [(names.index(column), read) for column, read in columns if column in names]
        if there:
            found[meaning] = there[0]
    return found


def read_sacct(path: Path | str, *, skip_dirty: bool | None = None, delimiter: str | None = None) -> SacctLog:
    """Read what `sacct` wrote; rows that can be repaired are, others are left out and counted.

    With `skip_dirty` false every one of them is an error, with true none is; by default they are if half of all rows
    are. Without a `delimiter` the header shows it.
    """
    path = Path(path)
    do = "split it, or ask sacct for less (-X leaves steps out)"
    chunks = chunks_of(path, most_bytes=limits.MOST_SACCT_BYTES, do=do)
    first = next(chunks, b"").removeprefix(BOM)
    lines = TextLines()
    if first.lstrip().startswith(b"{"):
        for number, cells in json_rows(path, chain([first], chunks)):
            text = JSON_SEPARATOR.join(cells)
            lines.append(number, text.encode("utf-8", "replace" if _HALF.search(text) else "surrogateescape"))
            _require_few(path, len(lines), do)
        return _Rows(path, JSON_HEADER, JSON_SEPARATOR, is_json=True).read(lines, skip_dirty=skip_dirty)
    require_few_lines(path, most=limits.MOST_SACCT_LINES, most_bytes=limits.MOST_SACCT_BYTES, do=do)
    before = 0
    for block in whole_lines(path, chain([first], chunks), limits.LONGEST_LOG_LINE):
        split = block.split(b"\n")[:-1]
        _require_few(path, before + len(split), do)
        for number, line in enumerate(split, start=before + 1):
            if line and not line.isspace():
                lines.append(number, line.removesuffix(b"\r"))
        before += len(split)
    header: tuple[str, ...] = ()
    separator = delimiter or SEPARATOR
    if lines:
        separator = delimiter or delimiter_of(lines[0][1])
        header = split_cells(lines[0][1], separator)
    _check_header(path, header, separator)
    return _Rows(path, header, separator).read(lines, first=1, skip_dirty=skip_dirty)


def _require_few(path: Path, lines: int, do: str) -> None:
    if lines > limits.MOST_SACCT_LINES:
        raise one_issue(path, f"more than {limits.MOST_SACCT_LINES:,} lines", "fewer", do)


def delimiter_of(header: str) -> str:
    """Return what stands between the names of a header.

    >>> delimiter_of("JobID|State|"), delimiter_of("JobID;;State"), delimiter_of("JobID State")
    ('|', ';;', '|')
    """
    found = _AFTER_A_NAME.match(header)
    return SEPARATOR if found is None or (found[1].isspace() and found[1] != "\t") else found[1]


def job_of(cell: str) -> None:
    """Raise a `ValueError` for what is no identifier of a job or step."""
    if not _JOB.fullmatch(cell):
        raise ValueError(cell)


def any_state(cell: str) -> None:
    """Raise a `ValueError` where there is no state: every job and step has one."""
    if not cell:
        raise ValueError(cell)


def split_cells(text: str, separator: str) -> tuple[str, ...]:
    """Return the cells of a line."""
    return tuple(cell.strip() for cell in text.split(separator))


def _check_header(path: Path, header: tuple[str, ...], separator: str) -> None:
    names = [name.lower() for name in header]
    if "jobid" not in names:
        found = quote(separator.join(header)) if header else "an empty file"
        needed, do = "a header with JobID, as 'sacct -P' writes it", "run 'sacct -P' without --noheader"
        if "jobidraw" in names:
            do = "ask sacct for it (--format)"
        elif "jobid" in found.lower():
            needed = f"a header with names between which stands {quote(separator)}"
            do = "run 'sacct -P', or name what separates them (--delimiter)"
        raise one_issue(path, found, needed, do, 1 if header else None)
    readers = readers_of(header)
    issues = [
        InputIssue((), "no such column", f"the column {' or '.join(columns)}", "ask sacct for it (--format)", line=1)
        for key, columns in NEEDED.items()
        if key not in names and key not in readers
    ]
    issues += [
        InputIssue((), f"the column {quote(name)} once more", "each column once", "remove one of the two", line=1)
        for name in repeated(names)
        if name
    ]
    if issues:
        raise InstanceError(str(path), tuple(issues))


class _Rows:
    """The rows of one file, as its header has them."""

    def __init__(self, path: Path, header: tuple[str, ...], separator: str, *, is_json: bool = False) -> None:
        self.path, self.header, self.separator, self.is_json = path, header, separator, is_json
        self.readers = readers_of(header)
        names = [name.lower() for name in header]
        self.free = [place for place, name in enumerate(names) if name in FREE_TEXT]
        self.job, self.state = names.index("jobid"), names.index("state")
        named = [place for place, name in enumerate(names) if name]
        self.ends_free = bool(self.free) and self.free[-1] == named[-1] and not is_json

    def read(self, given: TextLines, *, first: int = 0, skip_dirty: bool | None) -> SacctLog:
        """Return the rows of all lines from the `first` on."""
        lines = TextLines()
        rejoined: dict[int, tuple[str, ...]] = {}
        issues: list[InputIssue] = []
        skipped: Counter[str] = Counter()
        repaired: Counter[str] = Counter()
        n = first
        while n < len(given):
            number, text = given[n]
            cells = split_cells(text, self.separator)
            broken = self._broken(cells)
            if broken is None and cells_of.state_of(cells[self.state]) in STATES:
                lines.take(given, n)
                n += 1
                continue
            joined, used = self._repaired_from(given, n)  # what looks like a row may be the begin of one
            if joined is not None:
                lines.take(given, n)
                rejoined[number] = joined
                repaired["a newline in a name" if used > 1 else "the delimiter in a name"] += 1
                n += used
                continue
            n += 1
            if broken is None:
                lines.take(given, n - 1)
                continue
            if self._goes_on(cells) and lines:  # the last column is a name, and this line the rest of it
                before = lines[-1][0]
                row = rejoined.get(before) or split_cells(lines[-1][1], self.separator)
                repaired["a newline in a name"] += before not in rejoined
                last = self.free[-1]
                rejoined[before] = (*row[:last], f"{row[last]}\n{text}", *row[last + 1 :])
                continue
            reason, found, needed = broken
            skipped[reason] += 1
            if len(issues) < MOST_ISSUES:
                issues.append(self._issue(number, found, needed))
            elif skip_dirty is False:
                break
        dirty = sum(skipped.values())
        if issues and (skip_dirty is False or (skip_dirty is None and dirty >= len(lines))):
            raise InstanceError(str(self.path), tuple(issues))
        return SacctLog(
            self.header, lines, dict(skipped), tuple(issues), self.separator, rejoined, dict(repaired)
        )  # fmt: skip

    def _issue(self, number: int, found: str, needed: str) -> InputIssue:
        if self.is_json:
            return InputIssue(("jobs", number), found, needed, "correct the job, or skip such jobs (--skip-dirty)")
        return InputIssue((), found, needed, FIX_LINE, line=number)

    def _repaired_from(self, given: TextLines, first: int) -> tuple[tuple[str, ...] | None, int]:
        """Return the cells of a row that begins at a line, and of how many lines it is; `None` if there is none."""
        text = given[first][1]
        row = self._repaired(text)
        if row is not None or self.is_json or not self._begins(text):
            return row, 1
        for used, (_, more) in enumerate(given[first + 1 : first + MOST_JOINED], start=2):
            if self._broken(split_cells(more, self.separator)) is None or self._repaired(more) is not None:
                break
            text = f"{text}\n{more}"
            row = self._repaired(text)
            if row is not None:
                return row, used
        return None, 1

    def _repaired(self, text: str) -> tuple[str, ...] | None:
        """Return the cells of a row if its free text can be separated from the rest in one way; `None` if it cannot."""
        cells = split_cells(text, self.separator)
        extra = len(cells) - len(self.header)
        found: set[tuple[str, ...]] = set()
        for place in self.free if extra >= 0 else ():
            after = place + extra + 1
            name = self.separator.join(cells[place:after])
            row = (*cells[:place], name, *cells[after:])
            others = (*row[:place], *row[place + 1 :])
            known = cells_of.state_of(row[self.state]) in STATES
            if known and not any("\n" in cell for cell in others) and self._broken(row) is None:
                found.add(row)
        return found.pop() if len(found) == 1 else None

    def _begins(self, text: str) -> bool:
        """Return whether a line may be the begin of a row."""
        return self.job != 0 or bool(_JOB.fullmatch(text.split(self.separator, maxsplit=1)[0].strip()))

    def _goes_on(self, cells: tuple[str, ...]) -> bool:
        return self.ends_free and len(cells) < len(self.header) and not _JOB.fullmatch(cells[0])

    def _broken(self, cells: tuple[str, ...]) -> tuple[str, str, str] | None:
        """Return why a row is dirty, what was found, and what is needed; `None` if it is not."""
        if len(cells) != len(self.header):
            found, needed = f"{len(cells)} cells", f"{len(self.header)}, as in the header"
            return "another number of cells than the header", found, needed
        for place, read in ((self.job, job_of), (self.state, any_state), *self.readers.values()):
            try:
                read(cells[place])
            except ValueError:
                name = self.header[place]
                return (f"{name} that cannot be read", f"{quote(cells[place])} as {name}", f"{name} as sacct writes it")
        return None
