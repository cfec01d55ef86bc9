"""From measurements of several machines to one bag."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Generic, Literal, TypeVar

from lpsched.bag.model import Bag
from lpsched.errors import InputIssue, InstanceError, nearest, quote
from lpsched.measure.measurements import Degradation, MeasuredApplication, Measurements, class_rank
from lpsched.model.table import Table

# Joining measurements of several machines, to a bag or to a facility: a machine type is a file, and its name must be
# unique. A task type is an application that has a time somewhere; applications of one name are taken for the same, with
# a warning where their commands or counts differ. Then the first file counts.
Instance = TypeVar("Instance")
MOST_NAMED = 10  # in one sentence


@dataclass(frozen=True, slots=True)
class Joined(Generic[Instance]):
    """An instance made of measurements, and warnings about it."""

    instance: Instance
    remarks: tuple[str, ...]


def input_error(name: str, key: str, found: str, needed: str, do: str) -> InstanceError:
    """Return the error of measurements that cannot be joined."""
    return InstanceError(name, (InputIssue((key,), found, needed, do),))


def require_machine_types(name: str, measurements: Sequence[Measurements]) -> None:
    """Require at least one file, and one per machine type, since it would not be clear whose times count."""
    if not measurements:
        raise input_error(name, "measurements", "nothing", "at least one file", "measure something first")
    counts = Counter(each.machine_type for each in measurements)
    needed = "a machine type of its own in each"
    do = "measure with 'lpsched measure --machine-type NAME', or correct machine_type in one file"
    twice = [f"{quote(kind)} in {count} files" for kind, count in counts.items() if count > 1]
    if twice:
        raise InstanceError(name, tuple(InputIssue(("machine_type",), found, needed, do) for found in twice))


def counts_for(name: str, given: Mapping[str, int], usual: Mapping[str, int], option: str, kind: str) -> dict[str, int]:
    """Return how many there are of each, as given or else as usual."""
    unknown = [each for each in given if each not in usual]
    if unknown:
        needed = f"{kind} that was measured: {listed(usual)}"
        issues = (InputIssue((option,), quote(each), needed, nearest(each, usual) or "correct it") for each in unknown)
        raise InstanceError(name, tuple(issues))
    return {each: given.get(each, count) for each, count in usual.items()}


def timed_applications(
    name: str, measurements: Sequence[Measurements]
) -> tuple[dict[str, MeasuredApplication], list[str]]:
    """Return every application that has a time, as the first file says it; and what to say about them."""
    known: dict[str, MeasuredApplication] = {}
    source: dict[str, str] = {}
    remarks: list[str] = []
    for each in measurements:
        for application in each.applications:
            first = known.setdefault(application.name, application)
            where = source.setdefault(application.name, each.machine_type)
            if first.command != application.command:
                remarks.append(
                    f"{quote(application.name)} is another command on {quote(each.machine_type)} than on "
                    f"{quote(where)}: are these times of the same task?"
                )
            if first.count != application.count:
                remarks.append(
                    f"{quote(application.name)} counts {first.count:,} on {quote(where)} and "
                    f"{application.count:,} on {quote(each.machine_type)}; the first counts"
                )
    timed = {key: value for key, value in known.items() if any(key in each.seconds for each in measurements)}
    untimed = [key for key in known if key not in timed]
    if untimed:
        remarks.append(f"left out, because no file has a time: {listed(untimed)}")
    if not timed:
        raise input_error(name, "seconds", "no time of any application", "at least one", "measure again")
    return timed, remarks


def column_table(
    names: Iterable[str], measurements: Sequence[Measurements], columns: Sequence[Mapping[str, Sequence[float]]]
) -> Table:
    """Return a table with a row per application and the columns of each file; what is not there is absent."""
    rows: list[list[float | None]] = []
    for name in names:
        row: list[float | None] = []
        for each, column in zip(measurements, columns, strict=True):
            row += column.get(name, [None] * (len(each.frequencies_mhz) or 1))
        rows.append(row)
    return Table.of(rows)


def places_of(measurements: Measurements) -> int:
    """Return on how many cores applications ran at once."""
    return len(measurements.machine.cores) or 1


def without_watts(measurements: Measurements) -> list[str]:
    """Return the applications that have a time and no power there."""
    return [name for name in measurements.seconds if name not in measurements.watts]


def about_meters(measurements: Sequence[Measurements]) -> list[str]:
    """Say where powers of different machines do not mean the same."""
    covered = {each.machine_type: each.meters.energy_covers or each.meters.energy or "" for each in measurements}
    if len(set(covered.values())) < 2:  # noqa: PLR2004 - two that differ
        return []
    seen = ", ".join(f"{text or 'unknown'} ({kind})" for kind, text in covered.items())
    return [f"the meters do not see the same: {seen}; powers can hardly be compared"]


def listed(names: Iterable[str]) -> str:
    """Return names for a sentence, the first few of many.

    >>> listed(["a", "b"])
    "'a', 'b'"
    """
    words = [quote(each) for each in names]
    more = f" and {len(words) - MOST_NAMED} more" if len(words) > MOST_NAMED else ""
    return ", ".join(words[:MOST_NAMED]) + more


# PD of several machines as one table: by memory class, or in full by application.
#
#     PD[x][y] = mean over the files that measured it
#
# A facility has one table for all its node types. By class there is one only if every application has a class, the same
# in all files; else it is in full. Which pairs must be known: those that can meet, because some node type of two cores
# or more runs both. Of pairs that never meet the table says 0, and nothing depends on it.
Form = Literal["classes", "full"]
MOST_ISSUES = 100  # pairs that a message names


@dataclass(frozen=True, slots=True)
class JoinedDegradation:
    """Classes of the table (memory classes or applications; none: no degradation), and that of each task."""

    classes: tuple[str, ...]
    table: Table | None
    class_of: Mapping[str, str | None]  # `None`: the application is its own
    remarks: tuple[str, ...]


def joined_degradation(
    name: str,
    measurements: Sequence[Measurements],
    *,
    applications: Iterable[str],
    cores: Mapping[str, int],
    form: Form | None,
) -> JoinedDegradation:
    """Return one table for all; without a `form` by class where that can be, else in full, which is said.

    `applications` are those that the facility has, `cores` those of a node of each machine type.
    """
    names = tuple(applications)
    plain = dict.fromkeys(names)
    if all(cores[each.machine_type] == 1 for each in measurements):
        warning = "one core everywhere, so nothing runs beside anything: no degradation"
        return JoinedDegradation((), None, plain, (warning,))
    own, unclear = _classes(measurements, names)
    if unclear and form == "classes":
        do = "choose '--degradation full', or measure with interference probes (companions: always)"
        raise InstanceError(name, (InputIssue(("memory_class",), "; ".join(unclear), "one for each application", do),))
    if form == "full" or unclear:
        own = {each: each for each in names}
        classes, tables = names, [each.degradation_in_full for each in measurements]
        remarks = [] if form == "full" else [f"degradation is in full, by application: {'; '.join(unclear)}"]
    else:
        classes = tuple(sorted(set(own.values()), key=lambda each: (class_rank(each), each)))
        tables = [each.degradation for each in measurements]
        remarks = []
    meeting = {
        (own[a], own[b])
        for each in measurements
        if cores[each.machine_type] > 1
        for a in names
        for b in names
        if a in each.seconds and b in each.seconds
    }
    table, differ = _mean_table(name, classes, meeting, tables)
    class_of = {each: None if own[each] == each else own[each] for each in names}
    return JoinedDegradation(classes, table, class_of, (*remarks, *differ))


def _classes(measurements: Sequence[Measurements], names: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """Return the class of each application, as the first file says it; and which have none, or several."""
    found: dict[str, list[str]] = {name: [] for name in names}
    for application in (one for each in measurements for one in each.applications):
        if application.name in found and application.memory_class is not None:
            found[application.name].append(application.memory_class)
    without = [name for name, classes in found.items() if not classes]
    several = [name for name, classes in found.items() if len(set(classes)) > 1]
    unclear = [f"no memory class of {listed(without)}"] if without else []
    unclear += [f"files differ in the memory class of {listed(several)}"] if several else []
    return {name: classes[0] for name, classes in found.items() if classes}, unclear


def _mean_table(
    name: str, classes: Sequence[str], meeting: set[tuple[str, str]], tables: Sequence[Degradation]
) -> tuple[Table, list[str]]:
    rows, missing, widest = [], [], (0.0, "", "")
    for a in classes:
        row = []
        for b in classes:
            found = [table[a][b] for table in tables if a in table and b in table[a]]
            if not found and (a, b) in meeting:
                missing.append((a, b))
            elif found:
                widest = max(widest, (max(found) - min(found), a, b))
            row.append(mean(found) if found else 0.0)
        rows.append(row)
    if missing:
        do = "measure that pair: 'pairs: all' in the bench"
        needed = {(a, b): f"how much longer {quote(a)} takes beside {quote(b)}" for a, b in missing[:MOST_ISSUES]}
        raise InstanceError(name, tuple(InputIssue(("degradation", *k), "nothing", v, do) for k, v in needed.items()))
    apart, a, b = widest
    differ = f"they differ the most, by {apart:.3g}, in {quote(a)} beside {quote(b)}"
    return Table.of(rows), [f"degradation is the mean of the files; {differ}"] if apart > 0 else []


# Measurements of several machines as a bag: a machine type per file, a task type per application.
#
#     per node     a machine runs one task at a time, as it was measured alone: seconds e, watts a, idle b
#     per core     each of the c places is a machine: e, watts b/c + (a - b), idle b/c
#
# Per core, c machines that all run draw b + sum (a - b): static power is shared, and paid once. What neighbours
# cost in time is not in these numbers; a facility has it (`facilities.py`).
def bag_of(
    measurements: Sequence[Measurements],
    *,
    name: str,
    counts: Mapping[str, int] | None = None,
    tasks: Mapping[str, int] | None = None,
    per: Literal["node", "core"] = "node",
) -> Joined[Bag]:
    """Return a bag of what was measured, with what to know about it.

    There are `counts` nodes of each machine type, 1 where it is not said, and `tasks` of each application, those of
    the file where it is not said; a machine is what `per` says.
    """
    require_machine_types(name, measurements)
    applications, remarks = timed_applications(name, measurements)
    nodes = counts_for(name, counts or {}, {each.machine_type: 1 for each in measurements}, "count", "a machine type")
    usual = {key: each.count for key, each in applications.items()}
    numbers = counts_for(name, tasks or {}, usual, "tasks", "an application")
    shares = [places_of(each) if per == "core" else 1 for each in measurements]
    several = [each.machine_type for each in measurements if places_of(each) > 1]
    if several and per == "core":
        remarks.append(f"each core of {listed(several)} is a machine; what neighbours cost in time is not in the bag")
    elif several:
        note = "one task at a time on a node, other cores idle; --per core makes each a machine"
        remarks.append(f"{listed(several)}: {note}")
    missing = _why_no_watts(measurements, per)
    remarks += missing or about_meters(measurements)
    if not missing:
        remarks += [warning for each in measurements for warning in _about_idle(each, per)]
    shared = list(zip(measurements, shares, strict=True))
    raw: dict[str, object] = {
        "format": Bag.FORMAT,
        "name": name,
        "machine_types": [
            {
                "name": each.machine_type,
                "count": nodes[each.machine_type] * share,
                "idle_watts": 0.0 if missing else (each.idle_watts or 0.0) / share,
                "p_states": each.p_states,
            }
            for each, share in shared
        ],
        "task_types": [{"name": key, "count": count} for key, count in numbers.items()],
        "seconds": column_table(applications, measurements, [each.seconds for each in measurements]),
    }
    if not missing:
        raw["watts"] = column_table(applications, measurements, [_watts(*each) for each in shared])
    return Joined(Bag.read(raw, name), tuple(remarks))


def _watts(measurements: Measurements, share: int) -> Mapping[str, Sequence[float]]:
    """Return what a machine draws while it runs each application."""
    known = {name: measurements.watts[name] for name in measurements.seconds}
    if share == 1:
        return known
    idle = measurements.idle_watts or 0.0
    return {name: [idle / share + max(0.0, watts - idle) for watts in column] for name, column in known.items()}


def _why_no_watts(measurements: Sequence[Measurements], per: str) -> list[str]:
    """Say why the bag has no powers, if it has none: all cells have one, or there are none."""
    for each in measurements:
        lacking = without_watts(each)
        if lacking:
            what = "anything" if len(lacking) == len(each.seconds) else listed(lacking)
            return [f"no power of {what} on {quote(each.machine_type)}, so the bag has no watts: makespan only"]
        if each.idle_watts is None and per == "core" and places_of(each) > 1:
            kind = quote(each.machine_type)
            return [f"the idle power of {kind} is not known and cannot be divided, so the bag has no watts"]
    return []


def _about_idle(measurements: Measurements, per: str) -> list[str]:
    kind, idle = quote(measurements.machine_type), measurements.idle_watts
    if idle is None:
        return [f"the idle power of {kind} is not known: 0 W in the bag"]
    below = [name for name, column in measurements.watts.items() if min(column) < idle]
    if below and per == "core" and places_of(measurements) > 1:
        return [f"{kind} draws less running {listed(below)} than idle; raised to its share of idle power"]
    return []
