"""The report of a study: groups of runs that differ only by seed, and their numbers."""

from __future__ import annotations

import json
import math
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from lpsched.errors import InputIssue, InstanceError, nearest, quote
from lpsched.model.fields import FrozenDict
from lpsched.model.provenance import Estimate, estimate_of, relative_gap, version_of_lpsched
from lpsched.model.results import JsonObject, brief, json_of
from lpsched.studies.study import MOST_NUMBER, StudyRun, read_runs

# What the lines of a study say together: groups of runs that differ only by chance, and their numbers.
#
# A group has the runs that agree in everything that the report goes by; they differ by their seeds, those of
# generated instances among them. Of each quantity there is the mean with its 95 % confidence interval
# (`model/provenance.py`), the median, the least and the most, over the runs of the group that have it.
FORMAT: Final = "lpsched-study-report/1"
GAP, SECONDS = "gap", "seconds"
NO_GAPS: Final = FrozenDict[str, tuple[float, ...]]({})


@dataclass(frozen=True, slots=True)
class Group:
    """Runs that differ only by chance."""

    by: FrozenDict[str, Any]  # what they agree in: the columns of the report, and their words here
    runs: int
    failed: int  # of them, without an outcome
    numbers: FrozenDict[str, tuple[float, ...]]  # of each quantity, of the runs that have it, in the order of the lines
    unit: str | None = None  # of value and bound; `None` if there is none, or the runs differ in it
    gaps: FrozenDict[str, tuple[float, ...]] = NO_GAPS  # by objective, "" where runs have none

    def mean(self, quantity: str) -> Estimate | None:
        """Return the mean of a quantity; `None` if no run has it."""
        numbers = self.numbers[quantity]
        return estimate_of(numbers) if numbers else None

    def to_dict(self) -> dict[str, Any]:
        """Return the group as it appears in JSON."""
        quantities = {name: _summary(numbers) if numbers else None for name, numbers in self.numbers.items()}
        return json_of(self, "by runs failed quantities", quantities=quantities)


def _summary(numbers: Sequence[float]) -> dict[str, Any]:
    mean = estimate_of(numbers)
    return {
        "runs": len(numbers),
        "mean": mean.mean,
        "half_width": mean.half_width,
        "median": statistics.median(numbers),
        "least": min(numbers),
        "most": max(numbers),
    }


@dataclass(frozen=True, slots=True)
class Failure(JsonObject):
    """Failed runs by cause: how many, where, and the first message."""

    reason: str
    runs: int
    first: FrozenDict[str, Any]


@dataclass(frozen=True, slots=True)
class StudyReport:
    """The groups of a study's runs.

    Attributes
    ----------
    by
        The columns that distinguish groups.
    quantities
        The quantities shown for each group; requested ones first.
    units
        Of quantities that have the same unit in all runs.
    versions
        Of lpsched that made the runs.
    """

    study: str
    lines: str
    by: tuple[str, ...]
    quantities: tuple[str, ...]
    units: FrozenDict[str, str]
    groups: tuple[Group, ...]
    failures: tuple[Failure, ...]
    versions: tuple[str, ...]
    solvers: tuple[str, ...]
    lpsched: str = field(default_factory=version_of_lpsched)
    __repr__ = brief

    @property
    def runs(self) -> int:
        """How many lines there are, each run once."""
        return sum(group.runs for group in self.groups)

    @property
    def failed(self) -> int:
        """How many runs have no outcome."""
        return sum(group.failed for group in self.groups)

    def to_dict(self) -> dict[str, Any]:
        """Return what `lpsched study report --json` prints; its keys are stable."""
        keys = "format lpsched study lines runs failed by quantities units groups failures made_by"
        return json_of(self, keys, format=FORMAT, made_by={"lpsched": self.versions, "solver": self.solvers})


# From a study's lines to its report: which columns distinguish runs, which numbers there are; no solving.
#
# Columns are `instances` (a file, or a generator and its options), `method`, every parameter and `limit` (of
# seconds). By default, groups are formed by those that differ between runs. Numbers are those
# of the outcomes by their names, with dots for what lies deeper (`worth.machine_types.gpu`), and `seconds`,
# that the whole run took; parts of it are `timings.relax` and so on.
#
# Runs of a bag that solve the same problem have one bound: the best that any of them proved. Each such
# bound holds for all schedules of all methods, so each gap is the distance from that one.
PROBLEM: Final = ("price", "profit_ratio", "power_cap", "deadline")  # beside the objective
INSTANCES, METHOD, LIMIT = "instances", "method", "limit"
IN_UNITS: Final = ("value", "bound")
USUAL: Final = (GAP, *IN_UNITS)
WITHOUT: Final = ("generate", "hash")
MOST_GROUPS: Final = 10_000
DEEPEST: Final = 4
HASH: Final = 8  # letters that distinguish two of the same name


@dataclass(frozen=True, slots=True)
class _Row:
    """What the report keeps of a run."""

    columns: Mapping[str, Any]
    numbers: Mapping[str, float]
    reason: str | None
    unit: str | None
    objective: str
    version: str
    source: FrozenDict[str, Any]
    problem: tuple[Any, ...] | None  # of a bag, its objective last; the same for all methods; `None` without a bound


def study_report(
    lines: Path | str, *, by: Sequence[str] | None = None, quantities: Sequence[str] | None = None
) -> StudyReport:
    """Return what the lines of a study say together; of two lines for one run the later counts.

    Raises
    ------
    InstanceError
        If they cannot be read, there are none, or there is no such column or number in any of them.
    """
    rows: dict[str, _Row] = {}
    study, solvers, numbers = "", dict[str, None](), dict[str, None]()
    wanted = tuple(dict.fromkeys((*(quantities or USUAL), SECONDS)))
    for run in read_runs(lines):
        flat = _numbers(run)
        numbers |= dict.fromkeys(flat)
        rows[run.key] = _row(run, {name: flat[name] for name in (*wanted, *IN_UNITS) if name in flat})
        study = run.study
        solvers[run.solver] = None
    if not rows:
        needed, do = "at least one run", "see 'lpsched study run'"
        raise InstanceError(str(lines), (InputIssue((), "no runs", needed, do),))
    names = _names(list(dict.fromkeys(row.source for row in rows.values())))
    named = [replace(row, columns={**row.columns, INSTANCES: names[row.source]}) for row in rows.values()]
    several = _with_one_bound(named)
    columns = tuple(dict.fromkeys(name for row in several for name in row.columns))
    chosen = _chosen("by", by, columns) or _varying(several, columns)
    _chosen("value", quantities, tuple(numbers))
    shown = tuple(name for name in wanted if name in numbers)
    return StudyReport(
        study=study,
        lines=str(lines),
        by=chosen,
        quantities=shown,
        units=_units(several),
        groups=_groups(several, chosen, shown, str(lines)),
        failures=_failures(several, columns),
        versions=tuple(sorted({row.version for row in several})),
        solvers=tuple(solvers),
    )


def _row(run: StudyRun, numbers: Mapping[str, float]) -> _Row:
    columns = {INSTANCES: "", METHOD: run.method, **run.parameters}
    if run.limits:
        columns[LIMIT] = run.limits.get("seconds")
    outcome, problem = run.outcome or FrozenDict({}), None
    unit = outcome.get("unit") if isinstance(outcome.get("unit"), str) else None
    source = FrozenDict({name: _hashable(each) for name, each in run.source.items()})
    if run.kind == "bag" and {"objective", "value", "bound"} <= outcome.keys():
        options = (_hashable(run.parameters.get(name)) for name in PROBLEM)
        problem = (run.instance_hash, *options, outcome["objective"])
    objective = str(outcome.get("objective") or "")
    return _Row(columns, numbers, run.reason, unit, objective, run.lpsched, source, problem)


def _with_one_bound(rows: Sequence[_Row]) -> list[_Row]:
    """Give the runs of one problem the best bound of them all."""
    best: dict[tuple[Any, ...], float] = {}
    for row in rows:
        if row.problem is not None and "bound" in row.numbers:
            sharper = min if row.problem[-1] == "profit" else max
            bound = row.numbers["bound"]
            best[row.problem] = sharper(bound, best.get(row.problem, bound))
    return [row if row.problem not in best else _bounded(row, best[row.problem]) for row in rows]


def _bounded(row: _Row, bound: float) -> _Row:
    """Return a run with another bound, and the gap to it."""
    gap = relative_gap(row.numbers["value"], bound) if "value" in row.numbers else None
    gap = None if gap is None or gap > MOST_NUMBER else gap  # of a bound that is nearly 0
    numbers = {**row.numbers, "bound": bound, GAP: gap}
    return replace(row, numbers={name: each for name, each in numbers.items() if each is not None})


def _names(sources: Sequence[FrozenDict[str, Any]]) -> dict[FrozenDict[str, Any], str]:
    """Return names of sources, each different.

    >>> bags = [FrozenDict({"generate": "bag", "tasks": tasks, "p_states": 2}) for tasks in (5, 6)]
    >>> list(_names([*bags, FrozenDict({"file": "a.yaml", "hash": "0"})]).values())
    ['bag, tasks 5', 'bag, tasks 6', 'a.yaml']
    """
    taken: dict[str, dict[str, set[Any]]] = {}  # of each generator, the values of its options
    for source in sources:
        options = taken.setdefault(str(source.get("generate")), {})
        for name, value in source.items():
            options.setdefault(name, set()).add(value)
    names = {source: _name(source, taken[str(source.get("generate"))]) for source in sources}
    often = Counter(names.values())
    return {
        source: f"{name}, {str(source.get('hash'))[:HASH]}" if often[name] > 1 else name
        for source, name in names.items()
    }


def _name(source: Mapping[str, Any], taken: Mapping[str, set[Any]]) -> str:
    """Return a file's name, or a generator's with the options in which it differs from others."""
    if "file" in source:
        return str(source["file"])
    differing = (name for name in taken if name not in WITHOUT and len(taken[name]) > 1)
    values = ((name, source[name]) for name in differing if name in source)
    options = (f"{name} {'+'.join(map(str, v)) if isinstance(v, list | tuple) else v}" for name, v in values)
    return ", ".join((str(source.get("generate", "unknown")), *options))


def _flat(prefix: str, value: object, depth: int) -> Iterable[tuple[str, float]]:
    """Yield the numbers of an outcome by their names."""
    if isinstance(value, Mapping) and depth < DEEPEST:
        for name, each in value.items():
            yield from _flat(f"{prefix}.{name}" if prefix else str(name), each, depth + 1)
    elif isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        yield prefix, float(value)


def _hashable(value: Any) -> Any:  # noqa: ANN401 - a plain value of JSON
    if isinstance(value, list):
        return tuple(map(_hashable, value))
    return json.dumps(value, sort_keys=True) if isinstance(value, dict) else value


def _varying(rows: Sequence[_Row], columns: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that differ between runs; of parameters, between runs of one method."""
    taken: dict[str, dict[str, set[Any]]] = {name: {} for name in columns}
    for row in rows:
        for name in columns:
            whose = "" if name in (INSTANCES, METHOD) else row.columns[METHOD]
            taken[name].setdefault(whose, set()).add(_hashable(row.columns.get(name)))
    varies = {name for name, methods in taken.items() if any(len(values) > 1 for values in methods.values())}
    return tuple(name for name in columns if name in varies) or (METHOD,)


def _numbers(run: StudyRun) -> dict[str, float]:
    """Return all numbers of a run by their names."""
    numbers = dict(_flat("", run.outcome or {}, 0))
    numbers |= {f"timings.{name}": each for name, each in run.timings.items()}
    if not run.failed and "total" in run.timings:
        numbers[SECONDS] = run.timings["total"]
    return numbers


def _chosen(what: str, requested: Sequence[str] | None, known: Sequence[str]) -> tuple[str, ...]:
    """Return the requested names, if all of them are known."""
    shown = [each for each in known if "." not in each] or list(known)
    issues = tuple(
        InputIssue((what,), quote(name), f"one of {', '.join(shown)}", nearest(name, known) or "choose one")
        for name in requested or ()
        if name not in known
    )
    if issues:
        raise InstanceError("", issues)
    return tuple(dict.fromkeys(requested or ()))


def _units(rows: Sequence[_Row]) -> FrozenDict[str, str]:
    """Return the units that are the same in all runs."""
    units = {row.unit for row in rows if row.reason is None}
    unit = units.pop() if len(units) == 1 else None
    return FrozenDict({} if unit is None else dict.fromkeys(IN_UNITS, unit))


def _groups(rows: Sequence[_Row], by: Sequence[str], quantities: Sequence[str], source: str) -> tuple[Group, ...]:
    """Return the groups in the order in which the study declares them, numbers of a column rising."""
    found: dict[tuple[Any, ...], list[_Row]] = {}
    for row in rows:
        found.setdefault(tuple(_hashable(row.columns.get(name)) for name in by), []).append(row)
    if len(found) > MOST_GROUPS:
        do = "go by fewer columns: --by method"
        raise InstanceError(source, (InputIssue(("by",), f"{len(found):,} groups", f"at most {MOST_GROUPS:,}", do),))
    order = {value: place for place, value in enumerate(dict.fromkeys(v for key in found for v in key))}
    keys = sorted(found, key=lambda key: [_place(value, order) for value in key])
    return tuple(_group(FrozenDict(zip(by, key, strict=True)), found[key], quantities) for key in keys)


def _place(value: object, order: Mapping[object, int]) -> tuple[int, float]:
    """Return where a value of a column stands: numbers by their size, before words as they first came."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return 1, float(value)
    return (0, 0.0) if value is None else (2, order[value])


def _group(by: FrozenDict[str, Any], rows: Sequence[_Row], quantities: Sequence[str]) -> Group:
    """Return a group; seconds and joules have no mean together."""
    units = {row.unit for row in rows if row.reason is None}
    mixed = IN_UNITS if len(units) > 1 else ()
    numbers = {
        name: tuple(row.numbers[name] for row in rows if name in row.numbers and name not in mixed)
        for name in quantities
    }
    gaps: dict[str, tuple[float, ...]] = {}
    for row in rows:
        if GAP in row.numbers:
            gaps[row.objective] = (*gaps.get(row.objective, ()), row.numbers[GAP])
    failed, unit = sum(row.reason is not None for row in rows), units.pop() if len(units) == 1 else None
    return Group(by, len(rows), failed, FrozenDict(numbers), unit, FrozenDict(gaps))


def _failures(rows: Sequence[_Row], columns: Sequence[str]) -> tuple[Failure, ...]:
    """Return the reasons, most runs first."""
    failed = [row for row in rows if row.reason is not None]
    first = {row.reason: row for row in reversed(failed)}
    return tuple(
        Failure(reason or "", runs, FrozenDict({name: first[reason].columns.get(name) for name in columns}))
        for reason, runs in Counter(row.reason for row in failed).most_common()
    )
