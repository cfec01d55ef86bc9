"""Which jobs of Slurm's accounting count, and how.

A job is its own line; the lines of its steps only add to its energy (`sacct_energy.py`). It is left out, each
reason with its count, if its state is none of those that are kept, if it never had a node, or never ran.
Its width is its nodes. Its part of the system is the partition, or another column.

Task types are made of columns, such as the job's name. What has more than 80 characters, or some that cannot
be printed, is shortened; an empty cell is `unknown`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.errors import nearest, quote
from lpsched.files.sacct_cells import state_of
from lpsched.traces.classes import classes
from lpsched.traces.jobs import ONLY_TYPE, Account, Jobs, distinct, numbered_labels, refused, require_jobs
from lpsched.traces.sacct_energy import Energy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from lpsched.files.slurm import SacctLine, SacctLog

COMPLETED: Final = "COMPLETED"
STILL_GOING: Final = frozenset(
    ("PENDING", "RUNNING", "REQUEUED", "RESIZING", "SUSPENDED", "REVOKED", "CONFIGURING", "COMPLETING")
)
ALIASES: Final = {"name": ("JobName",), "nodes": ("AllocNodes", "NNodes")}
SIZE: Final = "size"
TIME: Final = "time"
ALL: Final = "all"
LONGEST_LABEL: Final = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class SlurmChoice:
    """What to take of a log.

    Parameters
    ----------
    group_by
        Columns that make the task types, and `size` and `time`: nodes and run time by their classes.
    machines_by
        The column that tells on which part of the system a job ran; `all` if the system is one.
    states
        Keep jobs in these states; if not given, all that ended, whatever became of them.
    """

    group_by: tuple[str, ...] = ()
    machines_by: str = "Partition"
    states: tuple[str, ...] | None = (COMPLETED,)


@dataclass(slots=True)
class _Row:
    """A job's own line, and the energy of it and its steps."""

    line: SacctLine
    energy: Energy = field(default_factory=Energy)


def slurm_jobs(log: SacctLog, choice: SlurmChoice, source: str) -> tuple[Jobs, Jobs, Account]:
    """Return the jobs that count, all that took nodes (whatever became of them), and the account.

    Raises
    ------
    InstanceError
        If none counts, or a column is not there.
    """
    rows, orphans = _job_rows(log)
    account = Account(len(rows))
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
    require_jobs(source, account)
    if "nodes" not in rows[0].line.values:
        account.note("jobs without AllocNodes and NNodes: each counts as one node", account.kept)
    jobs = _jobs(log, rows, choice, source)
    return _sorted(jobs.taken(kept).with_names_in_use(), account), jobs.taken(ran), account


def _sorted(jobs: Jobs, account: Account) -> Jobs:
    """Return the jobs by submit time; those without one come first."""
    late = jobs.submit_seconds < np.fmax.accumulate(jobs.submit_seconds)
    account.note("jobs submitted before one that stands above them: sorted", int(late.sum()))
    order = np.argsort(np.nan_to_num(jobs.submit_seconds, nan=-np.inf), kind="stable")
    return jobs.taken(order)


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


def _jobs(log: SacctLog, rows: Sequence[_Row], choice: SlurmChoice, source: str) -> Jobs:
    seconds = _numbers(rows, "seconds")
    width = np.nan_to_num(_numbers(rows, "nodes", 1.0), nan=0.0).astype(np.int64)
    columns = []
    for name in choice.group_by:
        if name.lower() == choice.machines_by.lower():
            continue
        if name.lower() in {SIZE, TIME}:
            quantised = classes(width) if name.lower() == SIZE else classes(np.nan_to_num(seconds))
            columns.append([f"{name.lower()} {value}" for value in quantised.tolist()])
        else:
            place = _place(log, name, source)
            columns.append([label_of(row.line.cells[place]) for row in rows])
    group, labels = numbered_labels(zip(*columns, strict=True))
    groups = distinct(", ".join(label) for label in labels)
    if not columns:
        group, groups = np.zeros(len(rows), np.int64), (ONLY_TYPE,)
    machine, machines = _machines(log, rows, choice, source)
    energy = [row.energy.joules for row in rows]
    return Jobs(
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


def _machines(
    log: SacctLog, rows: Sequence[_Row], choice: SlurmChoice, source: str
) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    if choice.machines_by.lower() == ALL:
        return np.zeros(len(rows), np.int64), ("cluster",)
    place = _place(log, choice.machines_by, source)
    return numbered_labels(label_of(row.line.cells[place]) for row in rows)


def _numbers(rows: Sequence[_Row], meaning: str, usual: float = np.nan) -> NDArray[np.float64]:
    found = (row.line.values.get(meaning, usual) for row in rows)
    return np.array([np.nan if value is None else value for value in found], np.float64)


def _job_numbers(log: SacctLog, rows: Sequence[_Row]) -> NDArray[np.int64]:
    """Return the number of each job: `JobIDRaw` if it is there, else the digits that `JobID` begins with."""
    raw = log.place("JobIDRaw")
    place = raw if raw is not None else log.place("JobID")
    assert place is not None, "the reader asks for it"
    numbers = []
    for row in rows:
        cell = row.line.cells[place]
        digits = cell[: len(cell) - len(cell.lstrip("0123456789"))]
        numbers.append(int(digits) if 0 < len(digits) <= 18 else 0)  # noqa: PLR2004 - of 64 bits
    return np.array(numbers, np.int64)


def _place(log: SacctLog, name: str, source: str) -> int:
    for wanted in ALIASES.get(name.lower(), (name,)):
        place = log.place(wanted)
        if place is not None:
            return place
    known = [*(each for each in log.header if each), SIZE, TIME]
    found, needed = f"no column {quote(name)}", f"one of {', '.join(known)}"
    raise refused(source, found, needed, nearest(name, known) or "ask sacct for it (--format)")


def label_of(cell: str) -> str:
    """Return a cell as a name that can be printed.

    >>> label_of("lammps"), label_of(""), label_of("a" + chr(27) + "b")
    ('lammps', 'unknown', 'a?b')
    """
    shown = "".join(letter if letter.isprintable() else "?" for letter in cell)
    return (f"{shown[:LONGEST_LABEL]}..." if len(shown) > LONGEST_LABEL else shown).strip() or "unknown"
