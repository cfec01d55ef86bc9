"""The accounting of Slurm as `sacct` prints it, and what it becomes: jobs, their energy, nodes in use at once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.errors import MOST_ISSUES, InputIssue, InstanceError, nearest, quote
from lpsched.io.content import one_issue
from lpsched.online.utility import WaitingCost
from lpsched.traces import jobs as common
from lpsched.traces.bags import LoggedBag, bag_of
from lpsched.traces.swf import FIX_LINE, line_blocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lpsched.online.clusters import Clusters


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


def most_at_once(starts: NDArray[np.float64], seconds: NDArray[np.float64], widths: NDArray[np.int64]) -> int:
    """Return the largest sum of widths of jobs that run at one time; one ends before another starts.

    >>> most_at_once(np.array([0.0, 5.0, 10.0]), np.array([10.0, 5.0, 5.0]), np.array([2, 3, 4]))
    5
    """
    moments = np.concatenate((starts, starts + seconds))
    changes = np.concatenate((widths, -widths))
    order = np.lexsort((changes, moments))  # at one moment, first what ends
    return int(np.cumsum(changes[order]).max(initial=0))


# The energy of a Slurm job, counted once. Slurm measures whole nodes, step by step, and the steps of a job overlap:
# `extern` is on all nodes of the job for all its time, `batch` (or `interactive`) on its first node for all its time,
# and the numbered steps run while `batch` waits for them. So, of what was measured, the first of these is taken: 1. the
# job's own line (of a job with `extern`, Slurm fills it from that step; else with the sum of all steps); 2. `extern`,
# which covers everything; 3. the larger of `batch` and the sum of the numbered steps: neither covers the other for
# sure. Even the first is the power of whole nodes: on a node that several jobs share, each is charged with all of it.
# Sources: sacct(1), ConsumedEnergy; Slurm's `src/slurmctld/step_mgr.c`.
EXTERN: Final = "extern"
SCRIPTS: Final = ("batch", "interactive")


@dataclass(slots=True)
class Energy:
    """What the lines of one job say, in joules; `None` if they say nothing.

    >>> job = Energy()
    >>> job.take("batch", 90.0); job.take("0", 40.0); job.take("1", 45.0)
    >>> job.joules
    90.0
    >>> job.take("extern", 92.0); job.joules
    92.0
    >>> job.take(None, 93.0); job.joules
    93.0
    """

    own: float | None = None
    extern: float | None = None
    script: float | None = None
    steps: float | None = None

    def take(self, step: str | None, joules: float | None) -> None:
        """Take a line's joules; the step is `None` for the job's own line."""
        if joules is None:
            return
        if step is None:
            self.own = joules
        elif step == EXTERN:
            self.extern = joules
        elif step in SCRIPTS:
            self.script = max(joules, self.script or 0.0)
        else:
            self.steps = (self.steps or 0.0) + joules

    @property
    def joules(self) -> float | None:
        """What the job consumed."""
        most = max((each for each in (self.script, self.steps) if each is not None), default=None)
        return next((each for each in (self.own, self.extern) if each is not None), most)


# A job is its own line; the lines of its steps only add to its energy. It is left out, each reason with its count, if
# its state is none of those that are kept, if it never had a node, or never ran. Its width is its nodes. Its part of
# the system is the partition, or another column. Task types are made of columns, such as the job's name; what has more
# than 80 characters, or some that cannot be printed, is shortened; an empty cell is `unknown`.
COMPLETED: Final = "COMPLETED"
STILL_GOING: Final = frozenset(
    ("PENDING", "RUNNING", "REQUEUED", "RESIZING", "SUSPENDED", "REVOKED", "CONFIGURING", "COMPLETING")
)
ALIASES: Final = {"name": ("JobName",), "nodes": ("AllocNodes", "NNodes")}
ALL: Final = "all"
LONGEST_LABEL: Final = 80
_NUMBER: Final = re.compile(r"[0-9]{1,18}(?![0-9])")  # of 64 bits


@dataclass(frozen=True, slots=True, kw_only=True)
class SlurmChoice:
    """What to take of a log."""

    group_by: tuple[str, ...] = ()  # columns that make the task types, and the classes of `size` and `time`
    machines_by: str = "Partition"  # the column with the part of the system a job ran on; `all`: it is one
    states: tuple[str, ...] | None = (COMPLETED,)  # keep jobs in these; `None`: all that ended, whatever became of them


@dataclass(slots=True)
class _Row:
    """A job's own line, and the energy of it and its steps."""

    line: SacctLine
    energy: Energy = field(default_factory=Energy)


def slurm_jobs(log: SacctLog, choice: SlurmChoice, source: str) -> tuple[common.Jobs, common.Jobs, common.Account]:
    """Return the jobs that count, all that took nodes (whatever became of them), and the account."""
    rows, orphans = _job_rows(log)
    account = common.Account(len(rows))
    account.note("steps without their job's line: left out", orphans)
    place = _place(log, "state", source)
    states = [state_of(row.line.cells[place]) for row in rows]
    ran = np.array([_ran(row) for row in rows], bool)
    kept = np.ones(len(rows), bool)
    for state in sorted(set(states)):
        wanted = state not in STILL_GOING if choice.states is None else state in choice.states
        if not wanted:
            account.leave_out(f"state {state}", np.array([each == state for each in states], bool), kept)
    account.leave_out("never ran", ~ran, kept)
    account.kept = int(kept.sum())
    common.require_jobs(source, account)
    if "nodes" not in rows[0].line.values:
        account.note("jobs without AllocNodes and NNodes: each counts as one node", account.kept)
    jobs = _jobs(log, rows, choice, source)
    counted = jobs.taken(kept).with_names_in_use()
    late = counted.submit_seconds < np.fmax.accumulate(counted.submit_seconds)
    account.note("jobs submitted before one that stands above them: sorted", int(late.sum()))
    order = np.argsort(np.nan_to_num(counted.submit_seconds, nan=-np.inf), kind="stable")  # without a time first
    return counted.taken(order), jobs.taken(ran), account


def _job_rows(log: SacctLog) -> tuple[list[_Row], int]:
    """Return the jobs, and how many steps belong to none."""
    place = log.place("JobID")
    assert place is not None, "the reader asks for it"
    rows: list[_Row] = []
    latest: dict[str, _Row] = {}
    orphans = 0
    for line in log.read():
        job, dot, step = line.cells[place].partition(".")
        if not dot:
            latest[job] = _Row(line)
            rows.append(latest[job])
        if job in latest:
            latest[job].energy.take(step if dot else None, line.values.get("joules"))
        else:
            orphans += 1
    return rows, orphans


def _ran(row: _Row) -> bool:
    values = row.line.values
    started = "start" not in values or values["start"] is not None
    return bool(values.get("nodes", 1)) and values["seconds"] is not None and started


def _jobs(log: SacctLog, rows: Sequence[_Row], choice: SlurmChoice, source: str) -> common.Jobs:
    seconds = _numbers(rows, "seconds")
    width = np.nan_to_num(_numbers(rows, "nodes", 1.0), nan=0.0).astype(np.int64)
    columns = []
    for name in choice.group_by:
        if name.lower() == choice.machines_by.lower():
            continue
        if name.lower() in {common.SIZE, common.TIME}:
            quantised = common.classes(width) if name.lower() == common.SIZE else common.classes(np.nan_to_num(seconds))
            columns.append([f"{name.lower()} {value}" for value in quantised.tolist()])
        else:
            place = _place(log, name, source)
            columns.append([label_of(row.line.cells[place]) for row in rows])
    group, labels = common.numbered_labels(zip(*columns, strict=True))
    groups = common.distinct(", ".join(label) for label in labels)
    if not columns:
        group, groups = np.zeros(len(rows), np.int64), (common.ONLY_TYPE,)
    machine, machines = common.numbered_labels("cluster" for _ in rows)
    if choice.machines_by.lower() != ALL:
        place = _place(log, choice.machines_by, source)
        machine, machines = common.numbered_labels(label_of(row.line.cells[place]) for row in rows)
    energy = (row.energy.joules for row in rows)
    return common.Jobs(
        number=_job_numbers(log, rows),
        submit_seconds=_numbers(rows, "submit"),
        start_seconds=_numbers(rows, "start"),
        run_seconds=seconds,
        requested_seconds=_numbers(rows, "requested_seconds"),
        width=width,
        joules=np.array([np.nan if joules is None else joules for joules in energy], np.float64),
        machine=machine,
        group=group,
        machines=machines,
        groups=groups,
    )


def _numbers(rows: Sequence[_Row], meaning: str, usual: float = np.nan) -> NDArray[np.float64]:
    found = (row.line.values.get(meaning, usual) for row in rows)
    return np.array([np.nan if value is None else value for value in found], np.float64)


def _job_numbers(log: SacctLog, rows: Sequence[_Row]) -> NDArray[np.int64]:
    """Return the number of each job: `JobIDRaw` if it is there, else the digits that `JobID` begins with."""
    raw = log.place("JobIDRaw")
    place = raw if raw is not None else log.place("JobID")
    assert place is not None, "the reader asks for it"
    found = (_NUMBER.match(row.line.cells[place]) for row in rows)
    return np.array([int(digits[0]) if digits else 0 for digits in found], np.int64)


def _place(log: SacctLog, name: str, source: str) -> int:
    for wanted in ALIASES.get(name.lower(), (name,)):
        place = log.place(wanted)
        if place is not None:
            return place
    known = [*(each for each in log.header if each), common.SIZE, common.TIME]
    found, needed = f"no column {quote(name)}", f"one of {', '.join(known)}"
    raise common.refused(source, found, needed, nearest(name, known) or "ask sacct for it (--format)")


def label_of(cell: str) -> str:
    """Return a cell as a name that can be printed.

    >>> label_of("lammps"), label_of(""), label_of("a" + chr(27) + "b")
    ('lammps', 'unknown', 'a?b')
    """
    shown = "".join(letter if letter.isprintable() else "?" for letter in cell)
    return (f"{shown[:LONGEST_LABEL]}..." if len(shown) > LONGEST_LABEL else shown).strip() or "unknown"


# A machine is a node. How many there are of each kind is given, or else the most that were in use at once by jobs of
# the log: a lower limit, since idle nodes leave no trace. Where partitions share nodes, give the size of each, or take
# the system as one (`machines_by` = `all`).
COMPLETED_BY_NAME: Final = SlurmChoice(group_by=("JobName",))
ALL_THAT_ENDED: Final = SlurmChoice(states=None)
USUAL_COST: Final = WaitingCost()


def bag_of_slurm(  # noqa: PLR0913 - all but the first two are options, given by name
    name: str,
    log: SacctLog,
    *,
    choice: SlurmChoice = COMPLETED_BY_NAME,
    counts: Mapping[str, int] | None = None,
    fill: bool = False,
    watts: bool = True,
) -> tuple[LoggedBag, common.Account]:
    """Return a log as a bag of tasks, one on each node of a job, and the account of its jobs.

    There are `counts` nodes of each machine type, by name; of those not named, the most that were in use at once.
    `fill` estimates times and powers that no job has; `watts` writes powers, if any job has its energy.
    """
    jobs, ran, account = slurm_jobs(log, choice, name)
    machines = _counts(name, jobs, ran, counts or {})
    return bag_of(name, account.close(jobs), machines, fill=fill, watts=watts), account


def clusters_of_slurm(  # noqa: PLR0913 - all but the first two are options, given by name
    name: str,
    log: SacctLog,
    *,
    choice: SlurmChoice = ALL_THAT_ENDED,
    counts: Mapping[str, int] | None = None,
    watts_per_node: float | None = None,
    waiting: WaitingCost = USUAL_COST,
) -> tuple[Clusters, common.Account]:
    """Return a log as clusters and tasks that arrive, and the account of its jobs; limits are the requests."""
    jobs, ran, account = slurm_jobs(log, choice, name)
    unknown = np.isnan(jobs.submit_seconds)
    if unknown.any():
        found = f"{int(unknown.sum()):,} jobs without a submit time"
        raise common.refused(name, found, "the column Submit, with a time for every job", "ask sacct for it (--format)")
    machines = common.Machines(nodes=_counts(name, jobs, ran, counts or {}), watts_per_node=watts_per_node)
    return common.clusters_of(name, jobs, machines, account, waiting=waiting), account


def _counts(name: str, jobs: common.Jobs, ran: common.Jobs, given: Mapping[str, int]) -> tuple[int, ...]:
    """Return how many nodes each of the machines has, in the order of `jobs.machines`."""
    for machine in given:
        if machine not in jobs.machines:
            do = nearest(machine, jobs.machines) or "correct it"
            needed = f"one of {', '.join(jobs.machines[:20])}"
            raise common.refused(name, f"a count for {quote(machine)}", needed, do)
    counts = []
    for number, machine in enumerate(ran.machines):
        if machine not in jobs.machines or machine in given:
            counts.append(given.get(machine, 0))
            continue
        here = ran.taken(ran.machine == number)
        if np.isnan(here.start_seconds).any():
            found = f"no start times on {quote(machine)}"
            needed = "the column Start, or the number of nodes"
            raise common.refused(name, found, needed, f"ask sacct for it, or say it: --count {machine}=N")
        counts.append(most_at_once(here.start_seconds, here.lasting().run_seconds, here.width))
    by_name = dict(zip(ran.machines, counts, strict=True))
    return tuple(by_name[machine] for machine in jobs.machines)
