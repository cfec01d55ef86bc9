"""Tables of measured runs, one row for each: a bag of their means, with spreads and numbers of samples.

A row says which task ran, on which machine, perhaps in which P-state, how long, and at which power or with how much
energy. A plain table is read by the names of its columns (`COLUMNS`); tables that others have published have names of
their own (`published.py`).
"""

from __future__ import annotations

import math
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from lpsched.bag.model import Bag
from lpsched.bag.parts import MachineType, TaskType
from lpsched.errors import LONGEST_NAME, MOST_ISSUES, InputIssue, InstanceError, nearest, quote
from lpsched.io import limits
from lpsched.io.content import one_issue
from lpsched.io.parquet import opened_parquet
from lpsched.io.text_files import CsvRows, repeated
from lpsched.model.fields import LARGEST, LARGEST_COV, SMALLEST, check_name
from lpsched.model.table import Table
from lpsched.text import as_double
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
Row = tuple[int, Record]  # with its line, in a Parquet file with its number from 1


# What columns may be called, without regard to case, and what their numbers are multiplied by.
TASK: Final = ("task", "task_type")
MACHINE: Final = ("machine", "machine_type")
P_STATE: Final = ("p_state",)
SECONDS: Final = {"seconds": 1.0, "milliseconds": 1e-3, "minutes": 60.0, "hours": 3600.0}
WATTS: Final = {"watts": 1.0, "milliwatts": 1e-3, "kilowatts": 1e3}
JOULES: Final = {"joules": 1.0, "kilojoules": 1e3, "watt_hours": 3.6e3, "kilowatt_hours": 3.6e6}
OTHER_UNIT: Final = re.compile(r"(?i)(?:^|[^a-z])(?:ms|min|h|hours?|minutes?|milliseconds?)(?:$|[^a-z])")  # in a name
TIMES: Final = ("time", "duration", "latency", "elapsed")  # without a unit, in columns that may be seconds
COLUMNS: Final = (*TASK, *MACHINE, *P_STATE, *SECONDS, *WATTS, *JOULES)
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
    if _is_parquet(path):
        with opened_parquet(path) as file:
            _require_few(path, file.rows)
            if twice := repeated(file.names):
                raise one_issue(path, f"the column {quote(twice[0])} more than once", "each once", "rename one")
            plain = [place for place in range(len(file.names)) if file.is_plain(place)]
            others = {name: file.kind(place) for place, name in enumerate(file.names) if place not in set(plain)}
            names = [file.names[place] for place in plain]
            rows = (row for batch in file.batches(plain) for row in zip(*batch, strict=True))
            yield from enumerate((dict(zip(names, row, strict=True)) | others for row in rows), start=1)
        return
    reader = CsvRows(path)
    body = iter(reader)
    header = [name.strip() for name in next(body)]
    _require_header(path, header)
    for row in body:
        if len(row) != len(header):
            found, needed = counted(len(row), "cell"), f"{len(header)}, as in the header"
            do = "complete the row" if len(row) < len(header) else "remove or quote what is too much"
            raise one_issue(path, found, needed, do, reader.line)
        yield reader.line, dict(zip(header, map(str.strip, row), strict=True))


def _require_few(path: Path, rows: int) -> None:
    if rows > limits.MOST_ROWS:
        raise one_issue(path, f"more than {limits.MOST_ROWS:,} rows", "fewer", "average them in parts")


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() == ".parquet"


def _require_header(path: Path, header: list[str]) -> None:
    if twice := [name for name, times in Counter(header).items() if times > 1]:
        found = f"the column {quote(twice[0])} more than once" if twice[0] else "columns without a name"
        raise one_issue(path, found, "columns with names of their own", "rename one", 1)
    other = [sign for sign in ";\t|" if sign in header[0]] if len(header) == 1 else []
    if other:
        raise one_issue(
            path, f"cells separated by {quote(other[0])}", "commas", "write commas there, and points in decimals", 1
        )


def rows_of(path: Path, where: Mapping[str, str]) -> Iterator[Row]:
    """Yield the rows of a file that have these values in these columns."""
    number = 0
    for number, (line, row) in enumerate(records(path), start=1):
        if number == 1:
            _require_columns(where, list(row))
        _require_few(path, number)
        if all(str(row[name]) == value for name, value in where.items()):
            yield line, row
    if not number:
        raise one_issue(path, "no rows", "a header and a row for each run", "add the runs")


def _require_columns(where: Iterable[str], header: list[str]) -> None:
    for name in where:
        if name not in header:
            needed = f"one of {', '.join(header[:20])}"
            raise refused("", f"no column {quote(name)}", needed, nearest(name, header) or "name one", ("where",))


def each_run(
    path: Path, rows: Iterable[Row], run_of: Callable[[Record], Run | None], needed: Iterable[str] = ()
) -> list[Run]:
    """Return the run of each row that has one; all errors that the function raises are raised at once, with lines."""
    issues: list[InputIssue] = []
    runs = []
    for at, (number, row) in enumerate(rows):
        if not at and (lacking := [name for name in needed if name not in row]):
            found = f"no column {quote(lacking[0])}"
            raise one_issue(path, found, f"the columns {', '.join(needed)}", "bring the file as it was published", 1)
        try:
            run = run_of(row)
            if run is not None:
                _require_range(run)
                runs.append(run)
        except InstanceError as error:
            where, line = (("row", number), None) if _is_parquet(path) else ((), number)
            issues += [
                InputIssue((*where, *each.path), each.got, each.expected, each.hint, line=line) for each in error.issues
            ]
            if len(issues) >= MOST_ISSUES:
                break
    if issues:
        raise InstanceError(str(path), tuple(issues))
    return runs


def _require_range(run: Run) -> None:
    """Raise an error for a time or a power that no bag can have, which is in another unit or a slip."""
    for key, value in (("seconds", run.seconds), ("watts", run.joules / run.seconds)):
        if value > LARGEST or 0 < value < SMALLEST:  # false for NaN
            needed = f"{key}: a number from {SMALLEST:g} to {LARGEST:g}"
            raise refused("", f"{value:g}", needed, "correct it, or its unit", (key,))


def amount(row: Record, name: str, *, least: float = 0.0) -> float:
    """Return the number in a column, which is at least `least`."""
    raw = row.get(name)
    number = as_double(raw)
    value = math.nan if number is None else number
    if not least <= value <= LARGEST:
        found = "an empty cell" if _is_empty(raw) else quote(str(raw)[:40])
        needed = "a number above 0" if least == SMALLEST else f"a number from {least:g} up"
        needed = f"a number from {least:g} to {LARGEST:g}" if value > 0 else needed
        raise refused("", found, needed, "correct it, or remove the row", (name,))
    return value


def _is_empty(raw: object) -> bool:
    return raw is None or raw == ""


def word(row: Record, name: str) -> str:
    """Return the text in a column, which is the name of something."""
    raw = row.get(name)
    return named("" if raw is None else str(raw).strip(), name)


def named(text: str, column: str) -> str:
    """Return a name that an instance can have; raise an error that says from which column it is."""
    if text.isprintable() and 0 < len(text) <= LONGEST_NAME:
        return sys.intern(text)
    raise refused("", *check_name.message(text), (column,))


def plain_runs(path: Path, rows: Iterable[Row], called: Mapping[str, str]) -> tuple[list[Run], list[str]]:
    """Read a plain table; `called` says what some of `COLUMNS` are called in it. Return runs and warnings."""
    rows = iter(rows)
    first = next(rows, None)
    if first is None:
        return [], []
    known, unused = _columns(path, list(first[1]), called)
    (task, _), (machine, _), (time, unit) = known["task"], known["machine"], known["seconds"]
    state = known["p_state"][0] if "p_state" in known else None
    powers = [(*known[key], key == "watts") for key in ("watts", "joules") if key in known]

    def run_of(row: Record) -> Run:
        took = amount(row, time, least=SMALLEST) * unit
        joules = math.nan
        for name, factor, is_power in powers:
            if not _is_empty(row.get(name)):
                joules = amount(row, name) * factor * (took if is_power else 1.0)
        p_state = "" if state is None or _is_empty(row.get(state)) else word(row, state)
        return Run(word(row, task), word(row, machine), p_state, took, joules)

    remarks = [f"{path.name}: columns that are not used: {', '.join(map(quote, unused[:9]))}"] if unused else []
    if unit == 1.0 and OTHER_UNIT.search(time):
        remarks.append(
            f"{path.name}: {quote(time)} is read as seconds; if not, --columns minutes={time}, or hours, ..."
        )
    return each_run(path, chain([first], rows), run_of), remarks


QUANTITIES: Final[Mapping[str, Mapping[str, float]]] = {
    "task": dict.fromkeys(TASK, 1.0),
    "machine": dict.fromkeys(MACHINE, 1.0),
    "p_state": dict.fromkeys(P_STATE, 1.0),
    "seconds": SECONDS,
    "watts": WATTS,
    "joules": JOULES,
}


def _columns(path: Path, header: list[str], given: Mapping[str, str]) -> tuple[dict[str, tuple[str, float]], list[str]]:
    """Return the column and the factor of each quantity, and the columns that are none; those given come first."""
    _require_given(header, given)
    called = [(name.lower().replace(" ", "_"), name) for name in header if name not in given.values()]
    if (power := WATTS.keys() & given.keys()) or JOULES.keys() & given.keys():
        called = [each for each in called if each[0] not in (JOULES if power else WATTS)]
    found: dict[str, tuple[str, float]] = {}
    issues: list[InputIssue] = []
    for key, names in QUANTITIES.items():
        there = [each for each in given.items() if each[0] in names] or [each for each in called if each[0] in names]
        if len(there) > 1:
            both = " and ".join(quote(name) for _, name in there)
            do = f"choose one, such as --columns {'='.join(there[0])}"
            issues.append(InputIssue((key,), f"the columns {both}", "one of them", do, line=1))
        elif there:
            found[key] = (there[0][1], names[there[0][0]])
        elif key in {"task", "machine", "seconds"}:
            begins = [(own, own[:3]) for own in names] + [("seconds", each) for each in TIMES if key == "seconds"]
            near = next(((own, name) for own, begin in begins for each, name in called if begin in each), None)
            do = f"if {quote(near[1])} is it, --columns {'='.join(near)}" if near else "name it with --columns"
            issues.append(InputIssue((key,), "no such column", f"one called {' or '.join(names)}", do, line=1))
    if "watts" in found and "joules" in found:
        both = f"the columns {quote(found['watts'][0])} and {quote(found['joules'][0])}"
        do = f"choose one, such as --columns joules={found['joules'][0]}"
        issues.append(InputIssue(("watts",), both, "power or energy", do, line=1))
    if issues:
        raise InstanceError(str(path), tuple(issues))
    used = {name for name, _ in found.values()}
    return found, [name for name in header if name not in used]


def _require_given(header: list[str], given: Mapping[str, str]) -> None:
    """Raise an error for what `--columns` names and there is not, or for two quantities."""
    for own, name in given.items():
        if own not in COLUMNS or name not in header:
            wrong, choice = (own, COLUMNS) if own not in COLUMNS else (name, header)
            needed = f"one of {', '.join(choice[:20])}"
            turned = f"write {name}={own}" if own in header and name in COLUMNS else ""
            do = turned or nearest(wrong, choice) or "name it"
            raise refused("", f"no column {quote(wrong)}", needed, do, ("columns",))
    if twice := [name for name, times in Counter(given.values()).items() if times > 1]:
        raise refused("", f"{quote(twice[0])} for two of them", "a column for each", "correct it", ("columns",))


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
    states = Counter(name for name, _ in columns)
    mixed = [name for name, state in columns if not state and states[name] > 1]
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
    require_few_groups(name, runs.tasks, "merge some, or import them in parts")
    shape = (len(runs.tasks), len(runs.columns))
    if shape[0] * shape[1] > limits.MOST_MATRIX_CELLS:
        found = f"{shape[0]:,} task types by {shape[1]:,} machine types and P-states"
        raise refused(name, found, f"at most {limits.MOST_MATRIX_CELLS:,} pairs", "merge some, or import them in parts")
    cell, known = runs.task * shape[1] + runs.column, ~np.isnan(runs.joules)
    powers = runs.joules[known] / runs.seconds[known]
    cells = Cells(
        np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape),
        means_of(cell, runs.seconds, np.ones(len(runs)), shape),
        means_of(cell[known], powers, runs.seconds[known], shape),
    )
    machines = _machines(runs, choice)
    _require_known("--tasks", choice.tasks, runs.tasks)
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


def _machines(runs: Runs, choice: RunChoice) -> tuple[MachineType, ...]:
    states: dict[str, list[str]] = {}
    for machine, state in runs.columns:
        states.setdefault(machine, []).append(state)
    _require_known("--count", choice.machines, states)
    return tuple(
        MachineType(
            name=machine,
            count=choice.machines.get(machine, choice.machines_each),
            p_states=tuple(named) if named != [""] else None,
        )
        for machine, named in states.items()
    )


def _require_known(option: str, given: Mapping[str, int], known: Iterable[str]) -> None:
    known = list(known)
    for each in given:
        if each not in known:
            needed = f"one of {', '.join(known[:9])}{' ...' if known[9:] else ''}"
            do = nearest(each, known) or "correct it"
            raise refused("", f"{quote(each)}, which has no runs here", needed, do, (option,))


def _spread(key: str, means: Means, there: NDArray[np.bool_], remarks: list[str]) -> Values | None:
    """Return the coefficients of variation, if every cell has runs enough; else say why not."""
    single = there & (means.samples < WITH_SPREAD)
    if single.any():
        if not (single == there).all():
            few = counted(int(single.sum()), "cell")
            remarks.append(f"no table {key}: {few} with fewer than {WITH_SPREAD} runs")
        return None
    spread = np.nan_to_num(means.variation)
    if wide := int((there & (spread > LARGEST_COV)).sum()):
        remarks.append(f"{key}: {counted(wide, 'cell')} above {LARGEST_COV:g}, written as that")
    return np.where(there, np.minimum(spread, LARGEST_COV), np.nan)
