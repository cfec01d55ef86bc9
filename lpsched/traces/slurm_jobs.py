"""From the accounting of Slurm to clusters: jobs, their energy, and nodes in use at once."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.errors import nearest, quote
from lpsched.online.utility import WaitingCost
from lpsched.traces import jobs as common
from lpsched.traces.bags import LoggedBag, bag_of
from lpsched.traces.sacct import SacctLine, SacctLog, state_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from lpsched.online.clusters import Clusters


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
