"""Tables of measured runs, one row for each: a bag of their means, with spreads and numbers of samples.

A row says which task ran, on which machine, perhaps in which P-state, how long, and at which power or with how much
energy. Anybody's table is read by the names of its columns (`COLUMNS`); tables that others have published have names of
their own (`published.py`).
"""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from lpsched.bag.model import Bag
from lpsched.bag.parts import MachineType, TaskType
from lpsched.errors import MOST_ISSUES, InputIssue, InstanceError, nearest, quote
from lpsched.io.content import MOST_TEXT_BYTES, as_text, load_arrow, one_issue, parquet_is_broken, read_unpacked
from lpsched.model.fields import LARGEST_COV
from lpsched.model.table import Table
from lpsched.traces.bags import Cells, LoggedBag, means_of, with_estimates
from lpsched.traces.jobs import numbered_labels, refused, require_few_groups
from lpsched.units import counted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lpsched.traces.bags import Means, Values


class Run(NamedTuple):
    """One measured run; joules are NaN where neither power nor energy is known."""

    task: str
    machine: str
    p_state: str  # empty where the machine has none
    seconds: float
    joules: float


Record = Mapping[str, Any]  # a row by the names of its columns; cells of a CSV are texts
Row = tuple[int | None, Record]  # with its line, in a CSV


# What columns may be called, without regard to case, and what their numbers are multiplied by.
TASK: Final = ("task", "task_type")
MACHINE: Final = ("machine", "machine_type")
P_STATE: Final = ("p_state",)
SECONDS: Final = {"seconds": 1.0, "milliseconds": 1e-3, "minutes": 60.0, "hours": 3600.0}
WATTS: Final = {"watts": 1.0, "milliwatts": 1e-3, "kilowatts": 1e3}
JOULES: Final = {"joules": 1.0, "kilojoules": 1e3, "watt_hours": 3.6e3, "kilowatt_hours": 3.6e6}
COLUMNS: Final = (*TASK, *MACHINE, *P_STATE, *SECONDS, *WATTS, *JOULES)
MOST_ROWS: Final = 5_000_000
LARGE_WATTS: Final = 1e5  # of one machine: rather milliwatts
WITH_SPREAD: Final = 2  # runs that a standard deviation needs


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """Measured runs by number of task type and of column; a column is a machine type in one of its P-states."""

    task: NDArray[np.int64]
    column: NDArray[np.int64]
    seconds: NDArray[np.float64]
    joules: NDArray[np.float64]
    tasks: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]  # machine type and P-state, machine types together
    remarks: tuple[str, ...] = ()

    def __len__(self) -> int:
        """How many runs there are."""
        return len(self.task)


def records(path: Path) -> Iterator[Row]:
    """Yield the rows of a `.csv`, plain or gzip, with their lines, or of a `.parquet`."""
    if path.suffix.lower() == ".parquet":
        pa, pq = load_arrow(f"reading {path.name}")
        with parquet_is_broken(pa, partial(one_issue, path)), pq.ParquetFile(path) as file:
            for batch in file.iter_batches(use_threads=False):
                yield from ((None, row) for row in batch.to_pylist())
        return
    lines = as_text(path, read_unpacked(path, MOST_TEXT_BYTES)).splitlines(keepends=True)
    reader = csv.reader(lines, strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
        if twice := [name for name, times in Counter(header).items() if times > 1]:
            found = f"the column {quote(twice[0])} {'more than once' if twice[0] else 'without a name'}"
            raise one_issue(path, found, "columns with names of their own", "rename one", 1)
        for row in reader:
            if len(row) != len(header) and row:
                needed = f"{len(header)}, as in the header"
                raise one_issue(path, f"{len(row)} cells", needed, "complete the row", reader.line_num)
            if row:
                yield reader.line_num, dict(zip(header, map(str.strip, row), strict=True))
    except csv.Error as error:
        raise one_issue(path, f"a broken file ({quote(str(error))})", "CSV in UTF-8", "write it again") from None


def rows_of(path: Path, where: Mapping[str, str]) -> list[Row]:
    """Return the rows of a file that have these values in these columns."""
    rows = list(islice(records(path), MOST_ROWS + 1))
    if len(rows) > MOST_ROWS:
        raise one_issue(path, f"more than {MOST_ROWS:,} rows", "fewer", "average them in parts")
    if not rows:
        raise one_issue(path, "no rows", "a header and a row for each run", "add the runs")
    header = list(rows[0][1])
    for name in where:
        if name not in header:
            needed = f"one of {', '.join(header[:20])}"
            raise refused("", f"no column {quote(name)}", needed, nearest(name, header) or "name one", ("where",))
    return [(line, row) for line, row in rows if all(str(row[name]) == value for name, value in where.items())]


def each_run(
    path: Path, rows: Iterable[Row], run_of: Callable[[Record], Run | None], needed: Iterable[str] = ()
) -> list[Run]:
    """Return the run of each row that has one; all errors that the function raises are raised at once, with lines."""
    issues: list[InputIssue] = []
    runs = []
    for number, (line, row) in enumerate(rows, start=1):
        if number == 1 and (lacking := [name for name in needed if name not in row]):
            found = f"no column {quote(lacking[0])}"
            raise one_issue(path, found, f"the columns {', '.join(needed)}", "bring the file as it was published", 1)
        try:
            run = run_of(row)
        except InstanceError as error:
            where = ("row", number) if line is None else ()
            issues += [
                InputIssue((*where, *each.path), each.got, each.expected, each.hint, line=line) for each in error.issues
            ]
            if len(issues) >= MOST_ISSUES:
                break
            continue
        if run is not None:
            runs.append(run)
    if issues:
        raise InstanceError(str(path), tuple(issues))
    return runs


def amount(row: Record, name: str, *, least: float = 0.0) -> float:
    """Return the number in a column, which is above `least` or, if that is 0, at least 0."""
    raw = row.get(name)
    try:
        value = float(raw) if raw is not None and not isinstance(raw, bool) else math.nan
    except (TypeError, ValueError):
        value = math.nan
    if not least <= value < math.inf:
        found = "an empty cell" if raw in {None, ""} else quote(str(raw)[:40])
        needed = "a number above 0" if least else "a number from 0 up"
        raise refused("", found, needed, "correct it, or remove the row", (name,))
    return value


def word(row: Record, name: str) -> str:
    """Return the text in a column, which is not empty."""
    raw = row.get(name)
    text = "" if raw is None else str(raw).strip()
    if not text:
        raise refused("", "an empty cell", "a name", "fill it, or remove the row", (name,))
    return text


LEAST: Final = 1e-30  # seconds


def plain_runs(path: Path, rows: Sequence[Row], called: Mapping[str, str]) -> tuple[list[Run], list[str]]:
    """Read anybody's table; `called` says what some of `COLUMNS` are called in it. Return runs and remarks."""
    if not rows:
        return [], []
    known, unused = _columns(path, list(rows[0][1]), called)

    def run_of(row: Record) -> Run:
        time, seconds = known["seconds"]
        took = amount(row, time, least=LEAST) * seconds
        joules = math.nan
        for key, per in (("watts", took), ("joules", 1.0)):
            if key in known and row.get(known[key][0]) not in {None, ""}:
                joules = amount(row, known[key][0]) * known[key][1] * per
        state = str(row.get(known["p_state"][0]) or "").strip() if "p_state" in known else ""
        return Run(word(row, known["task"][0]), word(row, known["machine"][0]), state, took, joules)

    remarks = [f"{path.name}: columns that are not used: {', '.join(map(quote, unused[:9]))}"] if unused else []
    return each_run(path, rows, run_of), remarks


def _columns(path: Path, header: list[str], given: Mapping[str, str]) -> tuple[dict[str, tuple[str, float]], list[str]]:
    """Return the column and the factor of each quantity, and the columns that are none."""
    for own, name in given.items():
        if own not in COLUMNS or name not in header:
            wrong, choice = (own, COLUMNS) if own not in COLUMNS else (name, header)
            needed = f"one of {', '.join(choice[:20])}"
            raise refused("", f"no column {quote(wrong)}", needed, nearest(wrong, choice) or "name it", ("columns",))
    called = {name.lower().replace(" ", "_"): name for name in header if name not in given.values()} | dict(given)
    found: dict[str, tuple[str, float]] = {}
    issues: list[InputIssue] = []
    for key, names in (
        ("task", dict.fromkeys(TASK, 1.0)),
        ("machine", dict.fromkeys(MACHINE, 1.0)),
        ("p_state", dict.fromkeys(P_STATE, 1.0)),
        ("seconds", SECONDS),
        ("watts", WATTS),
        ("joules", JOULES),
    ):
        there = [name for name in names if name in called]
        if len(there) > 1:
            both = " and ".join(quote(called[name]) for name in there)
            issues.append(InputIssue((key,), f"the columns {both}", "one of them", "remove the other", line=1))
        elif there:
            found[key] = (called[there[0]], names[there[0]])
        elif key in {"task", "machine", "seconds"}:
            near = next((each for name in names for each in called if name[:3] in each), None)
            do = f"if {quote(called[near])} is it, --columns {key}={called[near]}" if near else "name it with --columns"
            issues.append(InputIssue((key,), "no such column", f"one called {' or '.join(names)}", do, line=1))
    if "watts" in found and "joules" in found:
        both = f"the columns {quote(found['watts'][0])} and {quote(found['joules'][0])}"
        issues.append(InputIssue(("watts",), both, "power or energy", "remove one of them", line=1))
    if issues:
        raise InstanceError(str(path), tuple(issues))
    used = {name for name, _ in found.values()}
    return found, [name for name in header if name not in used]


def gathered(source: str, runs: Sequence[Run], *, distinct: bool = False, remarks: Iterable[str] = ()) -> Runs:
    """Return runs by numbers; with `distinct`, those that agree in every digit count once."""
    remarks = list(remarks)
    if not runs:
        raise refused(source, "no runs", "at least one", "check the files, and what --where keeps")
    if copies := len(runs) - len(set(runs)):
        if distinct:
            runs = list(dict.fromkeys(runs))
            remarks.append(f"{counted(copies, 'exact copy', 'exact copies')} of other rows left out")
        else:
            what = counted(copies, "row agrees", "rows agree")
            remarks.append(f"{what} with another in every digit; each counts as a run, --distinct leaves copies out")
    task, tasks = numbered_labels(run.task for run in runs)
    _, machines = numbered_labels(run.machine for run in runs)
    place = {name: number for number, name in enumerate(machines)}
    _, used = numbered_labels((run.machine, run.p_state) for run in runs)
    columns = sorted(used, key=lambda each: place[each[0]])  # stable: P-states in the order of their first run
    mixed = [name for name, state in columns if not state and [each[0] for each in columns].count(name) > 1]
    if mixed:
        found = f"runs of {quote(mixed[0])} with a P-state and without one"
        raise refused(source, found, "a P-state in each or in none", "fill the column p_state")
    number = {each: at for at, each in enumerate(columns)}
    made = Runs(
        task,
        np.array([number[run.machine, run.p_state] for run in runs], np.int64),
        np.array([run.seconds for run in runs]),
        np.array([run.joules for run in runs]),
        tasks,
        tuple(columns),
    )
    with np.errstate(invalid="ignore"):
        large = made.joules / made.seconds > LARGE_WATTS
    if large.any():
        run = runs[int(large.argmax())]
        watts = f"{run.joules / run.seconds:,.0f} W for {quote(run.task)} on {quote(run.machine)}"
        remarks.append(f"{watts}: more than a machine draws; is it in milliwatts, or the time too short?")
    return Runs(made.task, made.column, made.seconds, made.joules, made.tasks, made.columns, tuple(remarks))


@dataclass(frozen=True, slots=True, kw_only=True)
class RunChoice:
    """How many tasks and machines there are, and what is kept of the runs."""

    tasks: Mapping[str, int] = field(default_factory=dict)  # by name
    tasks_each: int = 1
    machines: Mapping[str, int] = field(default_factory=dict)
    machines_each: int = 1
    complete: bool = False  # only task types with a run on every machine type, in every P-state
    fill: bool = False  # estimate cells without runs
    watts: bool = True


def bag_of_runs(name: str, runs: Runs, choice: RunChoice) -> tuple[LoggedBag, tuple[str, ...]]:
    """Return the bag of the means, with spreads where each cell has two runs or more; and warnings."""
    if choice.complete:
        runs = _complete(name, runs)
    require_few_groups(name, runs.tasks)
    shape = (len(runs.tasks), len(runs.columns))
    cell, known = runs.task * shape[1] + runs.column, ~np.isnan(runs.joules)
    powers = runs.joules[known] / runs.seconds[known]
    cells = Cells(
        np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape),
        means_of(cell, runs.seconds, np.ones(len(runs)), shape),
        means_of(cell[known], powers, runs.seconds[known], shape),
    )
    machines = _machines(name, runs, choice)
    _require_known(name, "--tasks", choice.tasks, runs.tasks)
    tasks = tuple(TaskType(name=each, count=choice.tasks.get(each, choice.tasks_each)) for each in runs.tasks)
    labels = [label for machine in machines for label in machine.columns]
    seconds, watts = with_estimates(name, (runs.tasks, labels), cells, fill=choice.fill, watts=choice.watts)
    tables, remarks = {"seconds": seconds} | ({} if watts is None else {"watts": watts}), list(runs.remarks)
    if absent := int(np.isnan(seconds).sum()):
        remarks.append(f"{counted(absent, 'cell')} of {seconds.size:,} without a run: the task cannot run there")
    for key, means in (("seconds", cells.seconds), ("watts", cells.watts)):
        if key in tables and (spread := _spread(f"{key}_cov", means, ~np.isnan(seconds), remarks)) is not None:
            tables[f"{key}_cov"] = spread
    written: dict[str, Any] = {key: Table.of(each.tolist()) for key, each in tables.items()}
    bag = Bag(name, machines, tasks, **written)
    return LoggedBag.of(bag, cells, seconds, watts), tuple(remarks)


def _complete(name: str, runs: Runs) -> Runs:
    """Return the runs of task types that have some in every column."""
    there = np.zeros((len(runs.tasks), len(runs.columns)), bool)
    there[runs.task, runs.column] = True
    kept: NDArray[np.bool_] = np.array(there.all(axis=1))
    if not kept.any():
        best = int(there.sum(axis=1).max())
        found = f"no task type with a run in each of the {len(runs.columns)} columns; the most is {best}"
        raise refused(name, found, "at least one", "leave out --complete, or machines with few runs")
    which, number = kept[runs.task], np.cumsum(kept) - 1
    left = int((~kept).sum())
    remarks = (
        [*runs.remarks, f"{counted(left, 'task type')} without a run in every column left out"]
        if left
        else runs.remarks
    )
    return Runs(
        number[runs.task[which]],
        runs.column[which],
        runs.seconds[which],
        runs.joules[which],
        tuple(task for task, keep in zip(runs.tasks, kept.tolist(), strict=True) if keep),
        runs.columns,
        tuple(remarks),
    )


def _machines(name: str, runs: Runs, choice: RunChoice) -> tuple[MachineType, ...]:
    states: dict[str, list[str]] = {}
    for machine, state in runs.columns:
        states.setdefault(machine, []).append(state)
    _require_known(name, "--count", choice.machines, states)
    return tuple(
        MachineType(
            name=machine,
            count=choice.machines.get(machine, choice.machines_each),
            p_states=tuple(named) if named != [""] else None,
        )
        for machine, named in states.items()
    )


def _require_known(name: str, option: str, given: Mapping[str, int], known: Iterable[str]) -> None:
    known = list(known)
    for each in given:
        if each not in known:
            needed = f"one of {', '.join(known[:9])}{' ...' if known[9:] else ''}"
            raise refused(
                name, f"{option} of {quote(each)}, which has no runs", needed, nearest(each, known) or "correct it"
            )


def _spread(key: str, means: Means, there: NDArray[np.bool_], remarks: list[str]) -> Values | None:
    """Return the coefficients of variation, if every cell has runs enough; else say why not."""
    single = there & (means.samples < WITH_SPREAD)
    if single.any():
        if not (single == there).all():
            few = counted(int(single.sum()), "cell")
            remarks.append(f"no table {key}: {few} with fewer than {WITH_SPREAD} runs")
        return None
    return np.where(there, np.minimum(np.nan_to_num(means.variation), LARGEST_COV), np.nan)
