"""Jobs of Slurm's accounting, their units and the size of their system; bags and clusters made of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from itertools import repeat
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from lpsched.errors import nearest, quote
from lpsched.online.utility import WaitingCost
from lpsched.traces import jobs as common
from lpsched.traces.bags import LoggedBag, bag_of
from lpsched.traces.sacct import STATES, SacctLog, read_sacct
from lpsched.traces.slurm_cells import Energy, memory_of, state_of
from lpsched.traces.slurm_rows import JobRows, job_rows
from lpsched.traces.slurm_system import SlurmSystem, read_system
from lpsched.traces.slurm_units import AUTO, Allocations, Capacity, Sharing, Unit, sharing_of
from lpsched.units import counted, number

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lpsched.online.clusters import Clusters

__all__ = [
    "Energy", "SacctLog", "SlurmChoice", "SlurmSize", "bag_of_slurm", "clusters_of_slurm", "read_sacct", "read_system",
    "slurm_jobs",
]  # fmt: skip


# A job is its own line; the lines of its steps only add to its energy. It is left out, each reason with its count, if
# a later line is of the same run (a file of several exports lists a job in each), if its state is none of those that
# are kept, or not known, if it never had a node, or never ran. A run that ended because its job was
# requeued, preempted or lost its node is a run like others (`sacct -D` lists all runs of a job).
#
# Its width is its nodes, its CPUs (which Slurm counts, and which are called cores here) or its GPUs. With the unit
# `auto` that is nodes, but cores where jobs share nodes: as whole nodes they would take more than there is. Its part of
# the system is the partition, or another column; partitions that have nodes in common are one part. Task types are
# made of columns, such as the job's name; what has more than 80 characters, or some that cannot be printed, is
# shortened; an empty cell is `unknown`. It arrives when it was submitted or, where `Eligible` is there and says that it
# depended on another or was to begin later, when it could start.
COMPLETED: Final = "COMPLETED"
SHORTEST_STATE: Final = 6  # letters of a state that is cut short
STILL_GOING: Final = frozenset(
    (
        "PENDING",
        "EXPEDITING",
        "RUNNING",
        "SUSPENDED",
        "REVOKED",
        "CONFIGURING",
        "COMPLETING",
        "STAGE_OUT",
        "SIGNALING",
        "STOPPED",
    )
)
REPEATED: Final = "the same run (JobID and Start) as in a later line"
MOST_UNKNOWN: Final = 0.1  # share of the jobs whose CPUs may be unknown where cores are counted; they are left out
ALIASES: Final = {"name": ("JobName",), "nodes": ("AllocNodes", "NNodes"), "queue": ("QOS",)}
ALL: Final = "all"
PARTITION: Final = "Partition"
MOST_STATES: Final = 40  # that the account lists
LONGEST_LABEL: Final = 80
_NUMBER: Final = re.compile(r"[0-9]{1,18}(?![0-9])")  # of 64 bits
WIDTHS: Final[Mapping[Unit, tuple[str, str, str]]] = {  # what counts, why a job is left out, and the columns
    "node": ("nodes", "no nodes", "AllocNodes, NNodes or AllocTRES"),
    "core": ("cpus", "no CPUs", "AllocCPUS, NCPUS or AllocTRES"),
    "gpu": ("gpus", "no GPUs", "AllocTRES"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SlurmChoice:
    """What to take of a log."""

    group_by: tuple[str, ...] | None = None  # columns that make the task types, and the classes of `size` and `time`
    machines_by: str | None = None  # the column with the part of the system a job ran on; `all`: it is one
    states: tuple[str, ...] | None = (COMPLETED,)  # keep jobs in these; `None`: all that ended, whatever became of them
    unit: Unit | Literal["auto"] = AUTO


@dataclass(frozen=True, slots=True, kw_only=True)
class SlurmSize:
    """How large the system is, as far as it is given."""

    counts: Mapping[str, int] = field(default_factory=dict)  # units of each part, by name
    total: int | None = None  # units of the whole system, which is then one part
    system: SlurmSystem | None = None

    @property
    def is_given(self) -> bool:
        """Whether a number is given."""
        return bool(self.counts) or self.total is not None


@dataclass(frozen=True, slots=True, eq=False)
class SlurmJobs:
    """Jobs that count, all that took nodes (whatever became of them), and the partitions of each machine."""

    jobs: common.Jobs
    ran: common.Jobs
    account: common.Account
    unit: Unit
    partitions: Mapping[str, tuple[str, ...]]  # nothing where machines are not made of partitions
    is_whole: bool  # the one machine is the whole system


@dataclass(frozen=True, slots=True, eq=False)
class _Parts:
    """The parts of the system: which each job ran on, their names, and their partitions where they have some."""

    machine: NDArray[np.int64]
    names: tuple[str, ...]
    column: str | None  # whose values they are, one by one
    partitions: Mapping[str, tuple[str, ...]]
    is_whole: bool = False


NO_SIZE: Final = SlurmSize()


def slurm_jobs(
    log: SacctLog, choice: SlurmChoice, source: str, size: SlurmSize = NO_SIZE
) -> tuple[common.Jobs, common.Jobs, common.Account]:
    """Return the jobs that count, all that took nodes (whatever became of them), and the account."""
    found = jobs_in(log, choice, source, size)
    return found.jobs, found.ran, found.account


def jobs_in(log: SacctLog, choice: SlurmChoice, source: str, size: SlurmSize = NO_SIZE) -> SlurmJobs:
    """Return the jobs that count, in their unit, and what was found out about their system."""
    rows, repeated, orphans = job_rows(log)
    account = common.Account(len(rows) + repeated)
    if repeated:
        account.left_out[REPEATED] = repeated
    if orphans:
        account.facts.append(f"{counted(orphans, 'step')} without the line of the job: left out")
    if orphans and not rows:
        found, needed = f"{counted(orphans, 'line')} of steps alone", "lines of jobs"
        raise common.refused(source, found, needed, "export them too: JobID without a dot")
    place = _place(log, "state", source)
    ran = _ran(rows)
    kept = np.ones(len(rows), bool)
    _leave_out_states(rows.cells(place), choice, account, kept)
    account.leave_out("never ran", ~ran, kept)
    account.kept = int(kept.sum())
    common.require_jobs(source, account)
    sharing = sharing_of(_allocations(rows.taken(ran)), size.system)
    made = _Making(log, rows, choice, size, source, account)
    unit = made.unit(sharing, rows.taken(kept))
    if sharing.is_shared and bool((rows.joules > 0).any()):
        account.facts.append("energy is that of whole nodes: each job on a shared node is charged with all of it")
    width = made.widths(unit)
    account.leave_out(WIDTHS[unit][1], width <= 0, kept)
    account.kept = int(kept.sum())
    common.require_jobs(source, account)
    parts = made.parts(sharing)
    jobs = replace(made.jobs(width, parts), submit_seconds=made.arrivals(kept))
    made.note_runs(rows.taken(kept))
    those = jobs.taken(kept).with_names_in_use()
    for names in (parts.partitions.get(machine, ()) for machine in those.machines if parts.column is None):
        if len(names) > 1 and not parts.is_whole:
            account.facts.append(f"partitions {', '.join(names)} have nodes in common: they are one cluster")
    late = those.submit_seconds < np.fmax.accumulate(those.submit_seconds)
    account.note("jobs submitted before one that stands above them: sorted", int(late.sum()))
    order = np.argsort(np.nan_to_num(those.submit_seconds, nan=-np.inf), kind="stable")  # without a time first
    return SlurmJobs(those.taken(order), jobs.taken(ran & (width > 0)), account, unit, parts.partitions, parts.is_whole)


def _leave_out_states(
    cells: Sequence[str], choice: SlurmChoice, account: common.Account, kept: NDArray[np.bool_]
) -> None:
    """Leave out the jobs in states that are not wanted, each state with its count."""
    number, states = common.numbered_labels(map(state_of, cells))
    unwanted = [not (_has_ended(each) if choice.states is None else each in choice.states) for each in states]
    counts = np.bincount(number, minlength=len(states)).tolist()
    found = sorted((each, count) for each, count, out in zip(states, counts, unwanted, strict=True) if out)
    account.left_out |= {f"state {state}": count for state, count in found[:MOST_STATES]}
    if len(found) > MOST_STATES:
        account.left_out["other states"] = sum(count for _, count in found[MOST_STATES:])
    kept &= ~np.array(unwanted, bool)[number]


def _has_ended(state: str) -> bool:
    """Return whether a state, perhaps cut short, is a known one of jobs that have ended.

    >>> _has_ended("OUT_OF_ME"), _has_ended("RUNNING"), _has_ended("RUNNIN"), _has_ended("PD"), _has_ended("UNKNOWN")
    (True, False, False, False, False)
    """
    meant = {each for each in STATES if each.startswith(state)} if len(state) >= SHORTEST_STATE else set()
    return bool(meant) and meant.isdisjoint(STILL_GOING)


def _ran(rows: JobRows) -> NDArray[np.bool_]:
    known = ~np.isnan(rows.numbers("seconds")) & ~np.isnan(rows.numbers("start", 0.0))
    return known & (np.nan_to_num(rows.numbers("nodes", 1.0)) > 0)


def _allocations(those: JobRows) -> Allocations:
    """Return what jobs that ran held."""
    listed, partition = those.log.place("NodeList"), those.log.place(PARTITION)
    return Allocations(
        starts=those.numbers("start"),
        seconds=np.nan_to_num(those.numbers("seconds")),
        nodes=np.nan_to_num(those.numbers("nodes", 1.0)).astype(np.int64),
        cpus=np.nan_to_num(those.numbers("cpus")).astype(np.int64),
        listed=None if listed is None else those.cells(listed),
        partitions=[""] * len(those) if partition is None else list(map(label_of, those.cells(partition))),
    )


@dataclass(frozen=True, slots=True)
class _Making:
    """What decides what jobs become."""

    log: SacctLog
    rows: JobRows
    choice: SlurmChoice
    size: SlurmSize
    source: str
    account: common.Account

    def unit(self, sharing: Sharing, rows: JobRows) -> Unit:
        """Return what a machine is: as chosen, else a node, but a core where jobs share nodes."""
        seen = f"jobs share nodes: {sharing.sentence()}" if sharing.is_shared else ""
        if self.choice.unit != AUTO:
            if seen and self.choice.unit == "node":
                self.account.warnings.append(f"{seen}; as whole nodes they take more than they had: use --unit core")
            elif seen:
                self.account.facts.append(seen)
            return self.choice.unit
        if not seen:
            return "node"
        unknown = int((np.nan_to_num(rows.numbers("cpus")) == 0).sum())
        if unknown > MOST_UNKNOWN * len(rows):
            without = f"the CPUs of {unknown:,} of {counted(len(rows), 'job')} are not known (AllocCPUS)"
            self.account.warnings.append(f"{seen}; they count as whole nodes, since {without}")
            return "node"
        if self.size.is_given:
            found = f"a number of units, where {seen}"
            raise common.refused(self.source, found, "what it counts", "say it: --unit core, --unit node or --unit gpu")
        more = " (--unit gpu counts GPUs)" if (rows.numbers("gpus") > 0).any() else ""
        self.account.facts.append(f"{seen}; so the unit is a core, which Slurm calls a CPU{more}")
        return "core"

    def widths(self, unit: Unit) -> NDArray[np.int64]:
        """Return what each job has of the unit."""
        meaning, _, columns = WIDTHS[unit]
        if meaning not in self.rows.values:
            if unit != "node":
                found = f"no column with the {unit}s of jobs"
                raise common.refused(self.source, found, f"the column {columns}", "ask sacct for it (--format)")
            self.account.note("jobs without AllocNodes and NNodes: each counts as one node", self.account.kept)
        return np.nan_to_num(self.rows.numbers(meaning, 1.0)).astype(np.int64)

    def parts(self, sharing: Sharing) -> _Parts:
        """Return the parts of the system: as chosen, else its partitions, those that have nodes in common as one."""
        by, place = self.choice.machines_by, self.log.place(PARTITION)
        labels = [] if place is None else self._labels(place)
        whole = by is not None and by.lower() == ALL
        if by is None and (place is None or (self.size.total is not None and len(set(labels)) > 1)):
            whole = True
            why = "there is no column Partition" if place is None else "one number is given for all partitions"
            self.account.facts.append(f"the system is one cluster: {why}")
        if whole:
            names = {"cluster": tuple(dict.fromkeys(labels))}
            return _Parts(np.zeros(len(self.rows), np.int64), ("cluster",), None, names, is_whole=True)
        if by is not None:
            column = _place(self.log, by, self.source)
            machine, parts = common.numbered_labels(self._labels(column))
            if column != place:
                return _Parts(machine, parts, by, {})
            for group in sharing.joined:
                shared = f"partitions {', '.join(group)} have nodes in common, which count for each of them"
                self.account.warnings.append(f"{shared}: leave --machines-by out")
            return _Parts(machine, parts, by, {name: (name,) for name in parts})
        joined = {name: group for group in sharing.joined for name in group}
        part = {name: label_of("+".join(joined.get(name, (name,)))) for name in dict.fromkeys(labels)}
        machine, parts = common.numbered_labels(part[label] for label in labels)
        names = {part[label]: joined.get(label, (label,)) for label in part}
        return _Parts(machine, parts, None if sharing.joined else PARTITION, names)

    def _labels(self, place: int) -> list[str]:
        return list(map(label_of, self.rows.cells(place)))

    def jobs(self, width: NDArray[np.int64], parts: _Parts) -> common.Jobs:
        """Return all jobs, whatever became of them."""
        rows, seconds = self.rows, self.rows.numbers("seconds")
        group_by = self.choice.group_by
        if group_by is None:  # where partitions are no clusters of their own, they are task types
            several = self.choice.machines_by is None and any(len(each) > 1 for each in parts.partitions.values())
            group_by = (PARTITION,) if several else ()
        columns = []
        for name in group_by:
            if parts.column is not None and name.lower() == parts.column.lower():
                continue
            if name.lower() in {common.SIZE, common.TIME}:
                values = width if name.lower() == common.SIZE else np.nan_to_num(seconds)
                columns.append([f"{name.lower()} {value}" for value in common.classes(values).tolist()])
            else:
                columns.append(self._labels(_place(self.log, name, self.source)))
        group, labels = common.numbered_labels(zip(*columns, strict=True))
        groups = common.distinct(", ".join(label) for label in labels)
        if not columns:
            group, groups = np.zeros(len(rows), np.int64), (common.ONLY_TYPE,)
        return common.Jobs(
            number=_job_numbers(rows),
            submit_seconds=rows.numbers("submit"),
            start_seconds=rows.numbers("start"),
            run_seconds=seconds,
            requested_seconds=rows.numbers("requested_seconds"),
            width=width,
            joules=rows.joules,
            machine=parts.machine,
            group=group,
            machines=parts.names,
            groups=groups,
        )

    def arrivals(self, kept: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return when each job was submitted or, where that is later, could start."""
        submit, eligible, start = (self.rows.numbers(each) for each in ("submit", "eligible", "start"))
        later = (eligible > submit) & ~(eligible > start)
        note = "jobs that could not start when submitted (dependency, begin time): they arrive when they could"
        self.account.note(note, int((later & kept).sum()))
        return np.where(later, eligible, submit)

    def note_runs(self, rows: JobRows) -> None:
        """Count runs of jobs that ran before, and say what is known of memory."""
        place = self.log.place("JobID")
        assert place is not None, "the reader asks for it"
        again = len(rows) - len(set(rows.cells(place)))
        self.account.note("further runs of a requeued job: each counts as a job", again)
        column = self.log.place("ReqMem")
        held = _memory(rows, repeat("") if column is None else rows.cells(column))
        starts, seconds, count = rows.numbers("start"), rows.numbers("seconds"), int((held > 0).sum())
        if count and not np.isnan(starts).any():
            most = common.most_at_once(starts, seconds, held)
            sentence = f"memory of jobs at one time: at most {number(most / 2**30)} GiB ({count:,} jobs with data)"
            self.account.facts.append(sentence)


def _memory(rows: JobRows, asked: Iterable[str]) -> NDArray[np.int64]:
    """Return the bytes that each job had, else those that it asked for; 0 where they are not known."""
    known = [np.nan_to_num(rows.numbers(meaning)).tolist() for meaning in ("memory", "nodes", "cpus")]
    each = zip(asked, *known, strict=False)
    return np.fromiter(
        (had or memory_of(text, nodes or 1, cpus or 1) or 0 for text, had, nodes, cpus in each), np.int64
    )


def _job_numbers(rows: JobRows) -> NDArray[np.int64]:
    """Return the number of each job: `JobIDRaw` if it is there, else the digits that `JobID` begins with."""
    raw = rows.log.place("JobIDRaw")
    place = raw if raw is not None else rows.log.place("JobID")
    assert place is not None, "the reader asks for it"
    found = map(_NUMBER.match, rows.cells(place))
    return np.fromiter((int(digits[0]) if digits else 0 for digits in found), np.int64)


def _place(log: SacctLog, name: str, source: str) -> int:
    for wanted in ALIASES.get(name.lower(), (name,)):
        place = log.place(wanted)
        if place is not None:
            return place
    known = [*(each for each in log.header if each), common.SIZE, common.TIME]
    found, needed = f"no column {quote(name)}", f"one of {', '.join(known)}"
    raise common.refused(source, found, needed, nearest(name, known) or "ask sacct for it (--format)")


@lru_cache(maxsize=4096)
def label_of(cell: str) -> str:
    """Return a cell as a name that can be printed.

    >>> label_of("lammps"), label_of(""), label_of("a" + chr(27) + "b")
    ('lammps', 'unknown', 'a?b')
    """
    shown = "".join(letter if letter.isprintable() else "?" for letter in cell)
    return (f"{shown[:LONGEST_LABEL]}..." if len(shown) > LONGEST_LABEL else shown).strip() or "unknown"


# How many machines each part has is given, or the list of nodes says it, or else it is the most that was in use at once
# by jobs of the log. Moments are seconds since 1970; those without a zone count as if they were in UTC.
COMPLETED_BY_NAME: Final = SlurmChoice(group_by=("JobName",))
ALL_THAT_ENDED: Final = SlurmChoice(states=None)
USUAL_COST: Final = WaitingCost()
NO_ZONE: Final = "moments without a zone are taken as UTC: where clocks change, export with SLURM_TIME_FORMAT=%s"


def bag_of_slurm(  # noqa: PLR0913 - all but the first two are options, given by name
    name: str,
    log: SacctLog,
    *,
    choice: SlurmChoice = COMPLETED_BY_NAME,
    counts: Mapping[str, int] | None = None,
    size: SlurmSize = NO_SIZE,
    fill: bool = False,
    watts: bool = True,
) -> tuple[LoggedBag, common.Account]:
    """Return a log as a bag of tasks, one on each node (or core, or GPU) of a job, and the account of its jobs.

    There are `counts` machines of each type, by name; of those not named, as many as `size` says, else the most that
    were in use at once. `fill` estimates times and powers that no job has; `watts` writes powers, if any job has its
    energy.
    """
    size = replace(size, counts=counts) if counts else size
    found = jobs_in(log, choice, name, size)
    machines = _counts(name, found, size)
    return bag_of(name, found.account.close(found.jobs), machines, fill=fill, watts=watts), found.account


def clusters_of_slurm(  # noqa: PLR0913 - all but the first two are options, given by name
    name: str,
    log: SacctLog,
    *,
    choice: SlurmChoice = ALL_THAT_ENDED,
    counts: Mapping[str, int] | None = None,
    size: SlurmSize = NO_SIZE,
    watts_per_node: float | None = None,
    watts: bool = True,
    waiting: WaitingCost = USUAL_COST,
) -> tuple[Clusters, common.Account]:
    """Return a log as clusters and tasks that arrive, and the account of its jobs; limits are the requests.

    Sizes are as for a bag. Powers are `watts_per_node`, else by task type from the energy of its jobs, if `watts`.
    """
    size = replace(size, counts=counts) if counts else size
    found = jobs_in(log, choice, name, size)
    unknown = np.isnan(found.jobs.submit_seconds)
    if unknown.all():
        count = f"{counted(len(unknown), 'job')} without a submit time"
        raise common.refused(name, count, "the column Submit, with times", "ask sacct for it (--format)")
    kept = np.ones(len(unknown), bool)
    found.account.leave_out("no submit time", unknown, kept)
    found = replace(found, jobs=found.jobs.taken(kept).with_names_in_use())
    nodes = _counts(name, found, size)
    machines = common.Machines(
        nodes=nodes,
        peaks=tuple(found.account.capacity[machine]["peak"] for machine in found.jobs.machines),
        watts_per_node=watts_per_node,
        watts_of_jobs=watts,
        unit=found.unit,
        unix_seconds=0.0,
    )
    if not _has_zone(log):
        found.account.facts.append(NO_ZONE)
    return common.clusters_of(name, found.jobs, machines, found.account, waiting=waiting), found.account


def _has_zone(log: SacctLog) -> bool:
    """Return whether the first row's time of submission is in seconds or has its zone."""
    place = log.place("Submit")
    cell = next((line.cells[place] for line in log.read() if place is not None and line.values["submit"]), "0")
    return cell.isdecimal() or datetime.fromisoformat(cell).tzinfo is not None


def _counts(name: str, found: SlurmJobs, size: SlurmSize) -> tuple[int, ...]:
    """Return how many machines there are of each type, in the order of `jobs.machines`; say where that comes from."""
    jobs, account = found.jobs, found.account
    account.unit = found.unit
    for machine in size.counts:
        if machine not in jobs.machines:
            do = nearest(machine, jobs.machines) or "correct it"
            needed = f"one of {', '.join(jobs.machines[:20])}"
            raise common.refused(name, f"a count for {quote(machine)}", needed, do)
    if size.system is not None and size.system.unusable:
        nodes = counted(size.system.unusable, "node")
        account.facts.append(f"{nodes} down or drained in the list of nodes: counted all the same")
    sizes = [_capacity(name, machine, found, size) for machine in jobs.machines]
    for machine, each in zip(jobs.machines, sizes, strict=True):
        account.facts.append(each.sentence(machine, found.unit))
    account.capacity = {machine: asdict(each) for machine, each in zip(jobs.machines, sizes, strict=True)}
    return tuple(each.units for each in sizes)


def _capacity(name: str, machine: str, found: SlurmJobs, size: SlurmSize) -> Capacity:
    here = found.ran.taken(found.ran.machine == found.ran.machines.index(machine))
    peak = None
    if not np.isnan(here.start_seconds).any():
        peak = common.most_at_once(here.start_seconds, here.lasting().run_seconds, here.width)
    given = size.counts.get(machine, size.total)
    if given is not None:
        return Capacity(given, "given", peak)
    partitions = found.partitions.get(machine)
    units = 0
    if size.system is not None and partitions is not None:
        units = size.system.capacity(found.unit, None if found.is_whole else partitions)
    if units:
        return Capacity(units, "system", peak)
    if peak is None:
        count = f"no start times on {quote(machine)}"
        needed = f"the column Start, or the number of {found.unit}s"
        raise common.refused(name, count, needed, f"ask sacct for it, or say it: --count {machine}=N")
    return Capacity(peak, "peak", peak)
