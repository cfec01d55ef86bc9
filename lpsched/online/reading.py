"""From a mapping, as files hold it, to the parts of days and clusters: utility functions, tasks, curves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass
from pydantic_core import PydanticCustomError

from lpsched.errors import MOST_FAULTS, Fault, InstanceError, nearest, quote
from lpsched.model.base import MOST_ADVISED, too_many
from lpsched.model.fields import MOST, describe
from lpsched.model.kinds import name_of
from lpsched.model.table import table_file
from lpsched.online.arriving_rows import TaskRows
from lpsched.online.cluster_rules import MOST_CURVE_POINTS
from lpsched.online.day_rules import MOST_NAMES, bad_names
from lpsched.online.parts import NodeCurves
from lpsched.online.utility import (
    MOST_INTERVALS,
    ClassInterval,
    Interval,
    Urgency,
    UtilityFunction,
    UtilityLevels,
    check_after,
    check_rate,
    check_utility,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.errors import Place
    from lpsched.model.reading import Reading
    from lpsched.model.table import Check
    from lpsched.online.parts import Cluster, DayTaskType, Points


# Levels and utility functions as they stand in a day's file: mappings from names to what they stand for.
Value = TypeVar("Value")
Part = TypeVar("Part")


@dataclass(frozen=True, slots=True, config=ConfigDict(extra="forbid"))
class WrittenInterval:
    """An interval of an own utility function; one that neither falls nor decays is steady."""

    after_seconds: Annotated[float, check_after]
    starts_at: Annotated[float, check_utility]
    falls_to: Annotated[float, check_utility] | None = None
    rate_per_second: Annotated[float, check_rate] | None = None


def read_levels(reading: Reading) -> UtilityLevels | None:
    """Read what the names of levels stand for; `None` if anything is wrong."""
    priorities = _named(reading, "priorities", _priority)
    urgencies = _named(reading, "urgencies", _urgency)
    classes = _named(reading, "utility_classes", _class)
    if priorities is None or urgencies is None or classes is None:
        return None
    return UtilityLevels(priorities, urgencies, classes)


def read_functions(reading: Reading) -> dict[str, UtilityFunction] | None:
    """Read the file's own utility functions; `None` if anything is wrong."""
    return _named(reading, "utility_functions", _function)


def _named(
    reading: Reading, key: str, read: Callable[[Reading, object, Place], Value | None]
) -> dict[str, Value] | None:
    """Read a mapping from names; a missing one is empty."""
    raw = reading.raw.get(key)
    if raw is None:
        return {}
    if not isinstance(raw, Mapping):
        needed = f"a mapping from names to {WORDS[key]}"
        reading.faults.append(Fault((key,), describe(raw), needed, reading.hint))
        return None
    if len(raw) > MOST_NAMES:
        reading.faults.append(too_many((key,), len(raw), MOST_NAMES))
        return None
    before = len(reading.faults)
    reading.faults += bad_names(raw, (key,))
    found: dict[str, Value] = {}
    for name, value in raw.items():
        made = read(reading, value, (key, str(name)))
        if made is not None:
            found[str(name)] = made
        if len(reading.faults) - before >= MOST_FAULTS:
            break
    return found if len(reading.faults) == before else None


WORDS: Final = {
    "priorities": "the most utility",
    "urgencies": "decay_per_minute and steady_share",
    "utility_classes": "lists of intervals",
    "utility_functions": "lists of intervals",
}


def _priority(reading: Reading, value: object, place: Place) -> float | None:
    try:
        return check_utility(value)
    except PydanticCustomError as refused:
        reading.faults.append(Fault(place, **(refused.context or {})))
        return None


def _urgency(reading: Reading, value: object, place: Place) -> Urgency | None:
    return reading.part(value, Urgency, place, reading.faults)


def _class(reading: Reading, value: object, place: Place) -> tuple[ClassInterval, ...] | None:
    return _intervals(reading, value, place, ClassInterval)


def _function(reading: Reading, value: object, place: Place) -> UtilityFunction | None:
    if isinstance(value, UtilityFunction):
        return value
    written = _intervals(reading, value, place, WrittenInterval)
    if written is None:
        return None
    found = []
    for k, each in enumerate(written):
        if (each.falls_to is None) != (each.rate_per_second is None):
            has, lacks = ("falls_to", "rate_per_second")
            if each.falls_to is None:
                has, lacks = lacks, has
            do = f"add {lacks}, or drop {has} where utility stays the same"
            reading.faults.append(Fault((*place, k), f"{has} but no {lacks}", "both or neither", do))
        falls_to = each.starts_at if each.falls_to is None else each.falls_to
        found.append(Interval(each.after_seconds, each.starts_at, falls_to, each.rate_per_second or 0.0))
    return UtilityFunction(tuple(found))


def _intervals(reading: Reading, value: object, place: Place, model: type[Part]) -> tuple[Part, ...] | None:
    if not isinstance(value, list | tuple):
        reading.faults.append(Fault(place, describe(value), "a list of intervals", reading.hint))
        return None
    if len(value) > MOST_INTERVALS:
        needed = f"at most {MOST_INTERVALS}"
        reading.faults.append(Fault(place, f"{len(value)} intervals", needed, "join some"))
        return None
    found: list[Any] = [reading.part(each, model, (*place, k), reading.faults) for k, each in enumerate(value)]
    return None if None in found else tuple(found)


# The door of tasks that arrive: a list inside the file, or a file of their own.
TaskFileReader = Callable[[str, TaskRows], None]  # file, and what gathers its rows

PIECE: Final = 10_000  # rows looked at together


def gather_tasks(reading: Reading, rows: TaskRows, read_file: TaskFileReader | None) -> None:
    """Gather the tasks in `rows`, and add what is wrong with them to the faults of `reading`."""
    raw = reading.raw.get("tasks")
    file = table_file(raw)
    if isinstance(raw, list | tuple):
        _inline(rows, raw, reading.hint)
    elif file is None:
        found = "nothing" if raw is None else describe(raw)
        rows.refuse(Fault(("tasks",), found, "a list of tasks, or {file: NAME}", reading.hint))
    elif read_file is None:
        do = f"read the {name_of(reading.format)} from a file"
        rows.refuse(Fault(("tasks", "file"), describe(file), "the tasks themselves", do))
    else:
        try:
            read_file(file, rows)
        except InstanceError as error:
            rows.refuse(*error.faults)
    rows.finish()
    reading.faults += rows.faults[:MOST_FAULTS]


def _inline(rows: TaskRows, raw: Sequence[Any], hint: str) -> None:
    """Gather rows that stand in the file itself."""
    for first in range(0, len(raw), PIECE):
        piece = raw[first : first + PIECE]
        rows.faults += _strange_entries(piece, first, rows, hint)
        if all(isinstance(each, Mapping) for each in piece):
            rows.take({key: [each.get(key) for each in piece] for key in rows.columns})
        if rows.is_full:
            break


def _strange_entries(piece: Sequence[Any], first: int, rows: TaskRows, hint: str) -> list[Fault]:
    """Return the faults of rows that are no mappings, or have unknown keys."""
    faults: list[Fault] = []
    known = set(rows.columns)
    for n, entry in enumerate(piece, start=first):
        if not isinstance(entry, Mapping):
            needed = f"a mapping with {', '.join(rows.needed)}" + (" and its utility" if rows.worth else "")
            faults.append(Fault(("tasks", n), describe(entry), needed, hint))
        elif not known.issuperset(entry):
            for key in entry:
                if key not in known:
                    advice = nearest(str(key), rows.columns) if len(faults) < MOST_ADVISED else ""
                    needed = "one of " + ", ".join(rows.columns)
                    path = ("tasks", n, str(key))
                    faults.append(Fault(path, "an unknown key", needed, advice or "remove it"))
        if len(faults) >= MOST_FAULTS:
            break
    return faults


# Curves as they stand in a file: by task type, cluster and number of nodes.
#
#     seconds:
#       flow:
#         thin: {1: 800, 4: 200, 8: 120}                 # a cluster without P-states
#         fat: {1: [300, 500], 2: [180, null]}           # with two; null: not told for this number of nodes
#         any: 60                                        # the same for any number of nodes the cluster has
#
# What is not named cannot run.
HINT: Final = "see 'lpsched schema clusters'"
MOST_DIGITS: Final = 16


def read_curves(
    raw: object, key: str, check: Check, clusters: Sequence[Cluster], types: Sequence[DayTaskType]
) -> tuple[NodeCurves | None, list[Fault]]:
    """Read curves; return them, or the faults that forbid them."""
    reader = _Reader(check)
    rows = reader.rows(raw, key, clusters, types)
    return (None, reader.faults) if reader.faults else (NodeCurves(tuple(rows)), [])


class _Reader:
    """Reads cells and collects faults; one reader per table of curves."""

    def __init__(self, check: Check) -> None:
        self.check = check
        self.faults: list[Fault] = []

    def rows(
        self, raw: object, key: str, clusters: Sequence[Cluster], types: Sequence[DayTaskType]
    ) -> list[tuple[Points | None, ...]]:
        if not isinstance(raw, Mapping):
            needed = "a mapping from task types to clusters to numbers of nodes"
            self._fault((key,), describe(raw), needed, HINT)
            return []
        self._known(raw, (key,), [task.name for task in types], "task type")
        return [self._row(raw.get(task.name), (key, task.name), clusters) for task in types]

    def _row(self, raw: object, place: Place, clusters: Sequence[Cluster]) -> tuple[Points | None, ...]:
        if raw is not None and not isinstance(raw, Mapping):
            self._fault(place, describe(raw), "a mapping from clusters to numbers of nodes", HINT)
            return ()
        own = raw if raw is not None else {}
        self._known(own, place, [cluster.name for cluster in clusters], "cluster")
        row: list[Points | None] = []
        for cluster in clusters:
            row += self._cells(own.get(cluster.name), (*place, cluster.name), cluster)
        return tuple(row)

    def _cells(self, raw: object, place: Place, cluster: Cluster) -> list[Points | None]:
        """Return the curves of each P-state of a cluster."""
        if raw is None:
            return [None] * cluster.modes
        if not isinstance(raw, Mapping):
            constant = self._values(raw, place, cluster)
            ends = sorted({1, cluster.nodes})
            return [None if each is None else tuple((n, each) for n in ends) for each in constant]
        if not 1 <= len(raw) <= MOST_CURVE_POINTS:
            needed = f"1 to {MOST_CURVE_POINTS:,} numbers of nodes"
            self._fault(place, describe(raw), needed, "leave it out if the pair cannot run")
            return []
        points: dict[int, list[float | None]] = {}
        for key, value in raw.items():
            nodes = self._nodes(key, place)
            if nodes and nodes in points:
                self._fault((*place, str(key)), f"{nodes:,} nodes once more", "each number once", "drop one")
            points[nodes] = self._values(value, (*place, str(key)), cluster)
        if self.faults:
            return []
        counts = sorted(points)
        curves = [
            tuple((n, value) for n in counts if (value := points[n][k]) is not None) for k in range(cluster.modes)
        ]
        return [curve or None for curve in curves]

    def _nodes(self, key: object, place: Place) -> int:
        text = str(key)
        whole = text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS
        if isinstance(key, bool) or not whole or not 1 <= int(text) <= MOST:
            needed = "a whole number of nodes from 1 to 10^15"
            self._fault((*place, text), f"{quote(text)} as a number of nodes", needed, "correct it")
            return 0
        return int(text)

    def _values(self, raw: object, place: Place, cluster: Cluster) -> list[float | None]:
        """Return one value for each P-state."""
        if cluster.p_states is None:
            return [self._value(raw, place)]
        if isinstance(raw, list | tuple) and len(raw) == cluster.modes:
            return [None if each is None else self._value(each, (*place, k)) for k, each in enumerate(raw)]
        needed = f"a list of {cluster.modes}, one number per P-state of {quote(cluster.name)}"
        self._fault(place, describe(raw), needed, "write null where it is not told")
        return [None] * cluster.modes

    def _value(self, raw: object, place: Place) -> float | None:
        try:
            return self.check(raw)
        except PydanticCustomError as refused:
            why = refused.context or {}
            self._fault(place, why["found"], why["needed"], f"{why['do']}; leave it out if it is not told")
            return None

    def _known(self, entries: Mapping[str, object], place: Place, names: Sequence[str], kind: str) -> None:
        known = set(names)
        for name in entries:
            if len(self.faults) >= MOST_FAULTS:
                break
            if name not in known:
                advice = nearest(str(name), names) if len(self.faults) < MOST_ADVISED else ""
                needed, do = f"a {kind} of the file's list", advice or "correct or remove it"
                self._fault((*place, str(name)), f"no {kind} of that name", needed, do)

    def _fault(self, place: Place, found: str, needed: str, do: str) -> None:
        if len(self.faults) < MOST_FAULTS:
            self.faults.append(Fault(place, found, needed, do))
