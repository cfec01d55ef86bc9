"""Logs in the Standard Workload Format, plain or gzip, in bounded memory; and which of their jobs become clusters."""

from __future__ import annotations

import gzip
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lpsched.errors import MOST_ISSUES, InputIssue, InstanceError, nearest, quote
from lpsched.io import limits
from lpsched.io.content import one_issue, whole_file
from lpsched.io.text_files import chunks_of, require_few_lines, whole_lines
from lpsched.online.utility import WaitingCost
from lpsched.traces import jobs as common
from lpsched.traces.bags import LoggedBag, bag_of, with_powers

if TYPE_CHECKING:
    from lpsched.online.clusters import Clusters


# The lines of a Standard Workload Format file: eighteen numbers each, or a comment.
#
# Blocks of lines are read at once: all words of a block as whole numbers, if that fails as numbers, and only
# if that fails too, word by word. A line is *dirty* if
#
# - it has another number of fields than 18, or one that is no number (NaN and infinity are none);
# - a field is negative and not -1, which stands for a missing value, or is beyond 2^53;
# - a field that counts or numbers something (`WHOLE`) is not a whole number;
# - it has no job number or no submit time, or a status other than -1 to 5.
# Source: Feitelson and others, "The Standard Workload Format", version 2.2, Parallel Workloads Archive.
FIELDS: Final = (
    "job", "submit_seconds", "wait_seconds", "run_seconds", "processors", "cpu_seconds", "memory_kilobytes",
    "requested_processors", "requested_seconds", "requested_memory_kilobytes", "status", "user", "group", "executable",
    "queue", "partition", "preceding_job", "think_seconds",
)  # fmt: skip
WHOLE: Final = tuple(name for name in FIELDS if not name.endswith(("_seconds", "_kilobytes")))  # others have fractions
MISSING: Final = -1
MOST: Final = 2**53  # beyond it doubles do not have all whole numbers
LARGEST_STATUS: Final = 5
_NUMBER: Final = re.compile(rb"[-+]?(\d+(?:\.\d*)?|\.\d+)([eE][-+]?\d{1,3})?")
_WIDTH: Final = len(FIELDS)
NO_NUMBER: Final = ("a field that is no number", "a number")  # the reason, and what is needed
FIX_LINE: Final = "fix the line, or leave such lines out (--skip-dirty)"
JOB, SUBMIT, STATUS = map(FIELDS.index, ("job", "submit_seconds", "status"))

Numbers: TypeAlias = NDArray[np.int64] | NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Lines:
    """What a block holds, each with the number of its line: rows of numbers, comments, and what is dirty."""

    rows: Numbers
    numbers: Sequence[int]  # of the lines that the rows are from
    comments: list[tuple[int, str]]
    dirty: list[tuple[str, InputIssue]]  # the reason, and where


def read_lines(block: bytes, first_line: int) -> Lines:
    """Read a block of whole lines; `first_line` is the number of its first one in the file."""
    rows = _numbers(block, block.count(b"\n")) if _is_regular(block) else None
    if rows is not None and _is_clean(rows):
        return Lines(rows, range(first_line, first_line + len(rows)), [], [])
    return _line_by_line(block, first_line)


def _is_regular(block: bytes) -> bool:
    """Return whether every line has 18 words, and none is a comment."""
    if b";" in block:
        return False
    letters = np.frombuffer(block, np.uint8)
    blank = letters <= ord(" ")
    words = np.flatnonzero(blank[:-1] & ~blank[1:]) + 1  # where they begin
    if not blank[0]:
        words = np.concatenate(([0], words))
    ends = np.flatnonzero(letters == ord("\n"))
    if len(words) != _WIDTH * len(ends):
        return False
    return bool((words[_WIDTH - 1 :: _WIDTH] < ends).all() and (words[_WIDTH::_WIDTH] > ends[:-1]).all())


def _numbers(text: bytes, lines: int) -> Numbers | None:
    """Return the numbers of lines with 18 words each; `None` where a word is no number."""
    for kind in ("i8", "f8"):  # whole numbers are read five times as fast
        try:
            found: Numbers = np.fromstring(text, dtype=kind, sep=" ").reshape(lines, _WIDTH)
        except ValueError:  # a word is no such number, or was read as two
            continue
        return found
    return None


def _is_clean(rows: Numbers) -> bool:
    """Return whether whole numbers are all valid, quickly; `_valid_rows` says which are not."""
    return bool(
        rows.dtype == np.int64
        and rows.min() >= MISSING
        and rows.max() <= MOST
        and rows[:, JOB].min() >= 0
        and rows[:, SUBMIT].min() >= 0
        and rows[:, STATUS].max() <= LARGEST_STATUS
    )


def _line_by_line(block: bytes, first_line: int) -> Lines:
    comments: list[tuple[int, str]] = []
    dirty: list[tuple[str, InputIssue]] = []
    texts, numbers = [], []
    for number, text in enumerate(block.split(b"\n"), first_line):
        if text.lstrip()[:1] == b";":
            comments.append((number, text.rstrip(b"\r").decode("utf-8", "surrogateescape")))
        elif len(text.split()) == _WIDTH:
            texts.append(text)
            numbers.append(number)
        elif text.strip():
            dirty.append(_dirty("not 18 fields", "18 numbers", number, f"{len(text.split())} fields"))
    rows = _numbers(b"\n".join(texts), len(texts))
    if rows is None:
        rows, numbers = _word_by_word(texts, numbers, dirty)
    valid = _valid_rows(rows, numbers, dirty)
    kept = [number for number, is_valid in zip(numbers, valid.tolist(), strict=True) if is_valid]
    return Lines(rows[valid], kept, comments, sorted(dirty, key=lambda each: each[1].line or 0))


def _word_by_word(
    texts: Sequence[bytes], numbers: Sequence[int], dirty: list[tuple[str, InputIssue]]
) -> tuple[NDArray[np.float64], list[int]]:
    rows, kept = [], []
    for text, number in zip(texts, numbers, strict=True):
        words = text.split()
        wrong = [place for place, word in enumerate(words) if not _NUMBER.fullmatch(word)]
        if wrong:
            word = quote(words[wrong[0]].decode("utf-8", "replace"))
            dirty.append(_dirty(*NO_NUMBER, number, f"{word} as {FIELDS[wrong[0]]}"))
        else:
            rows.append([float(word) for word in words])
            kept.append(number)
    return np.array(rows, np.float64).reshape(-1, _WIDTH), kept


def _valid_rows(rows: Numbers, numbers: Sequence[int], dirty: list[tuple[str, InputIssue]]) -> NDArray[np.bool_]:
    """Return which rows are valid; the first reason why one is not is added to `dirty`."""
    places = np.arange(_WIDTH)
    valid = np.ones(len(rows), bool)
    for reason, needed, broken in (
        (*NO_NUMBER, ~np.isfinite(rows)),
        ("a number beyond 2^53", "at most 2^53", rows > MOST),
        (
            "a negative number other than -1",
            "a number from 0 up, or -1 if it is not known",
            (rows < 0) & (rows != MISSING),
        ),
        (
            "a fraction where a whole number belongs",
            "a whole number",
            np.isin(FIELDS, WHOLE) & (rows != np.floor(rows)),
        ),
        ("no job number", "the number of the job", (places == JOB) & (rows == MISSING)),
        ("no submit time", "seconds from 0 up", (places == SUBMIT) & (rows == MISSING)),
        ("an unknown status", "a status from -1 to 5", (places == STATUS) & (rows > LARGEST_STATUS)),
    ):
        for n in np.flatnonzero(valid & broken.any(axis=1)).tolist():
            place = int(np.argmax(broken[n]))
            dirty.append(_dirty(reason, needed, numbers[n], f"{rows[n, place]:.17g} as {FIELDS[place]}"))
            valid[n] = False
    return valid


def _dirty(reason: str, needed: str, line: int, found: str) -> tuple[str, InputIssue]:
    return reason, InputIssue((), found, needed, FIX_LINE, line=line)


# Header comments such as `; MaxNodes: 128` describe the system. Every comment is kept, where it stands; a value of -1
# is missing. Reading what was written gives the same log.
CHUNK_JOBS: Final = 65_536  # jobs that are written at once
_SIZE: Final = re.compile(r"[1-9][0-9]{0,14}(?![0-9.])")


class _Columns(Mapping[str, Numbers]):
    """The columns of blocks of rows, each number in as few bytes as its block needs; joined when they are asked for."""

    def __init__(self) -> None:
        self.count = 0
        self._blocks: dict[str, list[NDArray[Any]]] = {name: [] for name in FIELDS}

    def add(self, rows: Numbers) -> None:
        """Add the rows of a block."""
        self.count += len(rows)
        for (name, blocks), column in zip(self._blocks.items(), rows.T, strict=True):
            whole = column.astype(np.int64) if name in WHOLE or rows.dtype == np.int64 else None
            if whole is None:
                blocks.append(column.copy())
            elif len(whole):
                kinds = (np.min_scalar_type(-1 - abs(int(end))) for end in (whole.min(), whole.max()))
                blocks.append(whole.astype(np.result_type(*kinds)))

    def cut(self, count: int) -> None:
        """Keep the first rows only."""
        for name in FIELDS:
            kept = self[name][:count]
            self._blocks[name] = [kept]
        self.count = min(count, self.count)

    def __getitem__(self, name: str) -> Numbers:
        """Return one column."""
        joined: NDArray[Any] = np.empty(self.count, np.int64 if name in WHOLE else np.float64)
        return np.concatenate(self._blocks[name], out=joined, casting="unsafe") if self.count else joined

    def __iter__(self) -> Iterator[str]:
        """Yield the names."""
        return iter(self._blocks)

    def __len__(self) -> int:
        """How many columns there are."""
        return len(self._blocks)


@dataclass(frozen=True, slots=True, eq=False)
class SwfTrace:
    """Jobs in the order of the file: an array for each of `FIELDS`, in which -1 is missing; and comments.

    What counts or numbers something is whole (64 bits), times and sizes are doubles.
    """

    columns: Mapping[str, Numbers] = field(repr=False)
    comments: tuple[tuple[int, str], ...] = ()  # how many jobs come before, and the line
    skipped: Mapping[str, int] = field(default_factory=dict)  # dirty lines that were left out, by reason
    issues: tuple[InputIssue, ...] = ()  # the first of them

    def __len__(self) -> int:
        """How many jobs there are."""
        return self.columns.count if isinstance(self.columns, _Columns) else len(self.columns["job"])

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
        """Return a size in the header, such as MaxNodes; `None` if there is none."""
        found = _SIZE.match(self.said(key) or "")
        return int(found[0]) if found else None


def read_swf(path: Path | str, *, skip_dirty: bool = False, first: int | None = None) -> SwfTrace:
    """Read a log, no more than the `first` jobs; leave dirty lines out and count them, or raise an error."""
    path = Path(path)
    columns = _Columns()
    comments: list[tuple[int, str]] = []
    issues: list[InputIssue] = []
    skipped: Counter[str] = Counter()
    line = 1
    do = "split it, or take its first jobs (--first)"
    most_bytes = limits.MOST_SWF_BYTES
    if first is None:
        require_few_lines(path, most=limits.MOST_SWF_LINES, most_bytes=most_bytes, do=do)
    chunks = chunks_of(path, most_bytes=most_bytes, do=do, is_part=first is not None)
    for block in whole_lines(path, chunks, limits.LONGEST_LOG_LINE):
        lines = block.count(b"\n")
        if line + lines > limits.MOST_SWF_LINES + 1:
            raise one_issue(path, f"more than {limits.MOST_SWF_LINES:,} lines", "fewer", do)
        chunk = read_lines(block, line)
        line += lines
        places = columns.count + np.searchsorted(chunk.numbers, [number for number, _ in chunk.comments])
        comments += [(at, text) for at, (_, text) in zip(places.tolist(), chunk.comments, strict=True)]
        if len(comments) > limits.MOST_SWF_COMMENTS:
            raise one_issue(path, f"more than {limits.MOST_SWF_COMMENTS:,} comments", "fewer", "remove them")
        columns.add(chunk.rows)
        skipped.update(reason for reason, _ in chunk.dirty)
        issues += [issue for _, issue in chunk.dirty[: MOST_ISSUES - len(issues)]]
        if (not skip_dirty and len(issues) == MOST_ISSUES) or (first is not None and columns.count >= first):
            break
    if issues and not skip_dirty:
        raise InstanceError(str(path), tuple(issues))
    if first is not None and first < columns.count:
        columns.cut(first)
    kept = tuple(each for each in comments if each[0] <= columns.count)
    return SwfTrace(columns, kept, dict(skipped), tuple(issues))


def write_swf(trace: SwfTrace, path: Path | str) -> None:
    """Write a log, compressed if the name ends with `.gz`; a number has all its digits."""
    path = Path(path)
    with whole_file(path) as file:
        write_lines(_texts(trace), file, packed=path.suffix.lower() == ".gz")


def write_lines(lines: Iterable[bytes], file: BinaryIO, *, packed: bool) -> None:
    """Write lines to a file, as they are or packed by gzip."""
    if packed:
        with gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0) as unpacked:
            unpacked.writelines(lines)
    else:
        file.writelines(lines)


def _texts(trace: SwfTrace) -> Iterator[bytes]:
    written = 0
    columns = [trace[name] for name in FIELDS]
    for at, comments in groupby(trace.comments, key=itemgetter(0)):
        yield from _job_lines(columns, written, at)
        yield from (text.encode("utf-8", "surrogateescape") + b"\n" for _, text in comments)
        written = at
    yield from _job_lines(columns, written, len(trace))


def _job_lines(fields: Sequence[Numbers], start: int, end: int) -> Iterator[bytes]:
    for begin in range(start, end, CHUNK_JOBS):
        few = [each[begin : min(begin + CHUNK_JOBS, end)] for each in fields]
        columns = [map(str if each.dtype == np.int64 else written, each.tolist()) for each in few]
        yield "".join(f"{' '.join(words)}\n" for words in zip(*columns, strict=True)).encode()


def written(number: float) -> str:
    """Return a double with all its digits, without a point if it is whole."""
    return str(int(number)) if number.is_integer() else repr(number)


# Which jobs of a Standard Workload Format log count, and how.
#
# *Left out*, each with its count: lines that repeat a part of a job (status 2 to 4: the whole job has a line of
# its own), jobs that never ran (no run time; cancelled with none), jobs of unknown size, and on request those
# that failed or were cancelled while running (status 0 and 5).
#
# *Changed*, each with its count, when they are used (`jobs.py`): a run time of 0 means less than half a second, and
# half a second stands for it; a request below the run time is raised to it (systems let jobs run on); where there is no
# request, the run time stands for it, as if owners knew it. Jobs that are not sorted by submit time are sorted.
#
# The size is the processors a job got, or if that is not known those it asked for.
COLUMNS: Final = ("user", "group", "executable", "queue", "partition")
GROUPS: Final = (*COLUMNS, common.SIZE, common.TIME)
REAL: Final = "real"
REQUESTED: Final = "requested"
FAILED: Final = 0
CANCELLED: Final = 5
LONGEST_NAME: Final = 60
PARTS: Final = (2, 3, 4)


@dataclass(frozen=True, slots=True, kw_only=True)
class SwfChoice:
    """What to take of a log."""

    times: Literal["real", "requested"] = REAL  # let jobs run as long as they did, or as long as they asked for
    group_by: tuple[str, ...] = ()  # which of `GROUPS` make the task types; none: all jobs are one
    partitions: Mapping[int, int] = field(default_factory=dict)  # nodes of each, which is then a cluster of its own
    keep_failed: bool = True  # jobs that failed, or were cancelled while they ran, took their nodes like others
    begin_seconds: float = 0.0  # of the log: keep what was submitted from here on
    end_seconds: float = math.inf  # and before


def swf_jobs(trace: SwfTrace, choice: SwfChoice, source: str) -> tuple[common.Jobs, common.Account]:
    """Return the jobs that count, and the account of all."""
    for name in choice.group_by:
        if name not in GROUPS:
            found, needed = f"grouping by {quote(name)}", f"some of {', '.join(GROUPS)}"
            raise common.refused(source, found, needed, nearest(name, GROUPS) or "choose others")
    account = common.Account(len(trace))
    asked = np.where(trace["requested_seconds"] > 0, trace["requested_seconds"], np.nan)
    width = np.where(trace["processors"] > 0, trace["processors"], trace["requested_processors"])
    real, width = trace["run_seconds"].astype(np.float64), width.astype(np.int64)
    status, submit, still = trace["status"], trace["submit_seconds"], np.ones(len(trace), bool)
    account.leave_out("a part of a job that has a line of its own", np.isin(status, PARTS), still)
    account.leave_out("cancelled before it ran", (status == CANCELLED) & (real <= 0), still)
    account.leave_out("no run time", real == MISSING, still)
    account.leave_out("no processors", width <= 0, still)
    if choice.times == REQUESTED:
        account.leave_out("no requested time", np.isnan(asked), still)
    if not choice.keep_failed:
        account.leave_out("failed or cancelled", np.isin(status, (FAILED, CANCELLED)), still)
    outside = (submit < choice.begin_seconds) | (submit >= choice.end_seconds)
    account.leave_out("submitted outside the chosen time", outside, still)
    if choice.partitions:
        unknown = ~np.isin(trace["partition"], list(choice.partitions))
        account.leave_out("on a partition that was not named", unknown, still)
    kept = np.flatnonzero(still)
    account.kept = len(kept)
    common.require_jobs(source, account)
    submit = submit[kept].astype(np.float64)
    late = int((submit < np.maximum.accumulate(submit)).sum())
    account.note("jobs submitted before one that stands above them: sorted", late)
    order = np.argsort(submit, kind="stable")
    kept, submit = kept[order], submit[order]
    real, asked, width = real[kept], asked[kept], width[kept]
    quantised = {common.SIZE: common.classes(width), common.TIME: common.classes(real)}
    columns = {name: quantised[name] if name in quantised else trace[name][kept] for name in choice.group_by}
    group, groups = _groups(columns, len(kept))
    machine, machines = _machines(trace, choice)
    wait = trace["wait_seconds"][kept].astype(np.float64)
    jobs = common.Jobs(
        number=trace["job"][kept].astype(np.int64),
        submit_seconds=submit,
        start_seconds=np.where(wait == MISSING, np.nan, submit + wait),
        run_seconds=asked if choice.times == REQUESTED else real,
        requested_seconds=asked,
        width=width,
        joules=np.full(len(kept), np.nan),
        machine=machine[kept],
        group=group,
        machines=machines,
        groups=groups,
    )
    return jobs, account


def _groups(columns: Mapping[str, Numbers], jobs: int) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Return which task type each job has; types are numbered in the order of first use."""
    if not columns:
        return np.zeros(jobs, np.int64), (common.ONLY_TYPE,)
    group, labels = common.numbered_labels(zip(*(column.data for column in columns.values()), strict=True))
    return group, tuple(
        ", ".join(f"{name} {shown(value)}" for name, value in zip(columns, label, strict=True)) for label in labels
    )


def shown(value: int) -> str:
    """Return a user, a queue or the like as it stands in names."""
    return "unknown" if value == MISSING else str(value)


def _machines(trace: SwfTrace, choice: SwfChoice) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    if not choice.partitions:
        name = (trace.said("Computer") or "")[:LONGEST_NAME].strip()
        return np.zeros(len(trace), np.int64), (name if name and name.isprintable() else "cluster",)
    known = sorted(choice.partitions)
    place = np.searchsorted(known, trace["partition"])
    return np.minimum(place, len(known) - 1), tuple(f"partition {shown(number)}" for number in known)


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemSize:
    """How large a system is, where its partitions do not say it."""

    nodes: int | None = None  # if not given, the header's MaxProcs (one processor a node), else its MaxNodes
    cores_per_node: int = 1  # a job takes whole nodes: with 4 cores a node, 6 processors are 2 nodes
    watts_per_node: float | None = None  # the power of a busy node


EVERYTHING: Final = SwfChoice()
FROM_HEADER: Final = SystemSize()
USUAL_COST: Final = WaitingCost()


def clusters_of_swf(
    name: str,
    trace: SwfTrace,
    *,
    choice: SwfChoice = EVERYTHING,
    machines: SystemSize = FROM_HEADER,
    waiting: WaitingCost = USUAL_COST,
) -> tuple[Clusters, common.Account]:
    """Return a log as clusters and tasks that arrive, and the account of its jobs."""
    jobs, account = swf_jobs(trace, choice, name)
    sizes = _sizes(name, trace, choice, machines)
    sized = common.Machines(
        nodes=sizes,
        cores_per_node=machines.cores_per_node,
        watts_per_node=machines.watts_per_node,
        unix_seconds=trace.size("UnixStartTime"),
        starts=choice.times == REAL,
    )
    return common.clusters_of(name, jobs, sized, account, waiting=waiting), account


def bag_of_swf(
    name: str, trace: SwfTrace, *, choice: SwfChoice = EVERYTHING, machines: SystemSize = FROM_HEADER
) -> tuple[LoggedBag, common.Account]:
    """Return a log as a bag of tasks, and the account of its jobs."""
    jobs, account = swf_jobs(trace, choice, name)
    jobs = account.close(replace(jobs, width=-(-jobs.width // machines.cores_per_node)))
    logged = bag_of(name, jobs, _sizes(name, trace, choice, machines))
    watts = machines.watts_per_node
    return (logged if watts is None else with_powers(logged, watts)), account


def _sizes(name: str, trace: SwfTrace, choice: SwfChoice, machines: SystemSize) -> tuple[int, ...]:
    """Return the nodes of each part of the system: as said, or as the header says."""
    if choice.partitions:
        return tuple(choice.partitions[number] for number in sorted(choice.partitions))
    processors = trace.size("MaxProcs")
    specified = trace.size("MaxNodes") if processors is None else -(-processors // machines.cores_per_node)
    size = machines.nodes if machines.nodes is not None else specified
    if size is None:
        found = "a header without MaxProcs and MaxNodes"
        raise common.refused(name, found, "the size of the system", "say it: --nodes, or --partitions")
    return (size,)


def name_of(path: Path) -> str:
    """Return the name of a log's instance: that of the file, without its endings."""
    name = path.name
    for ending in (".gz", ".swf", ".txt", ".csv", ".json"):
        name = name[: -len(ending)] if name.lower().endswith(ending) and len(name) > len(ending) else name
    return name
