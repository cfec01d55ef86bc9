"""The tasks of a day as they stand in a file, in columns: packed, or a list of everything that is wrong.

Rows come in pieces, each a list of values for every column, so that a long file need not be in memory as a
whole. What is sound is looked at column by column, at the speed of a map; only a piece with a fault in it is
looked at row by row.
"""

from __future__ import annotations

from array import array
from dataclasses import replace
from itertools import islice, pairwise
from operator import le
from typing import TYPE_CHECKING, Any, Final

from pydantic_core import PydanticCustomError

from lpsched.errors import MOST_FAULTS, Fault
from lpsched.instance.day_rules import (
    KEY_OF,
    MOST_TASKS,
    are_times,
    check_arrival,
    falling_arrival,
    unknown_names,
)
from lpsched.instance.day_tasks import ArrivingTasks, Levels
from lpsched.instance.fields import describe, nearest, quote
from lpsched.instance.reading import too_many
from lpsched.instance.table import MOST_ADVISED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lpsched.errors import Place
    from lpsched.instance.day_parts import DayTaskType
    from lpsched.instance.day_tasks import Told
    from lpsched.instance.utility_levels import UtilityLevels

COLUMNS: Final = ("arrival_seconds", "task_type", "priority", "urgency", "utility_class", "utility")
NEEDED: Final = COLUMNS[:2]
TOLD: Final = COLUMNS[2:]

Piece = dict[str, list[Any]]  # a list of equal length for every column; `None` where nothing stands


class TaskRows:
    """Gathers the rows of tasks; what the names must be is given, `None` where that itself has faults."""

    def __init__(
        self,
        task_types: Sequence[DayTaskType] | None,
        levels: UtilityLevels | None,
        functions: Mapping[str, object] | None,
    ) -> None:
        self.faults: list[Fault] = []
        self._number_of = None if task_types is None else {task.name: i for i, task in enumerate(task_types)}
        self._levels, self._functions = levels, functions
        self._told: dict[Told, int] = {}
        self._numbers: dict[tuple[Any, ...], int] = {}  # of every sound set of names seen so far
        self._arrivals, self._types, self._utilities = array("d"), array("q"), array("q")
        self._rows = 0
        self._falls = 0
        self._first_fall: Fault | None = None

    @property
    def is_full(self) -> bool:
        """Whether there is no sense in reading on."""
        return len(self.faults) >= MOST_FAULTS or self._rows > MOST_TASKS

    def take(self, piece: Piece, *, lines: Sequence[int] | None = None, file: str | None = None) -> None:
        """Add rows; `lines` are theirs in `file`, for the places of faults."""
        count = len(piece["arrival_seconds"])
        if self._rows + count > MOST_TASKS:
            self.faults.append(too_many(("tasks",), self._rows + count, MOST_TASKS))
            self._rows += count
            return
        arrivals, types = _sound_arrivals(piece), self._type_numbers(piece)
        utilities = self._utility_numbers(piece)
        if arrivals is None or types is None or utilities is None:
            self._look_at_rows(piece, lines, file)
        else:
            self._note_falls(arrivals, lines, file)
            self._arrivals += arrivals
            self._types += types
            self._utilities += utilities
        self._rows += count

    def _look_at_rows(self, piece: Piece, lines: Sequence[int] | None, file: str | None) -> None:
        """Note what is wrong with a piece, row by row."""
        for n in range(len(piece["arrival_seconds"])):
            row = {key: values[n] for key, values in piece.items()}
            for key, found, needed, do in self._row_faults(row):
                place: Place = ("tasks", self._rows + n, key) if key else ("tasks", self._rows + n)
                line = lines[n] if lines is not None else None
                self.faults.append(Fault(place, found, needed, do, line=line, file=file))
            if len(self.faults) >= MOST_FAULTS:
                break
        assert self.faults, "a piece that is not sound has a fault"

    def packed(self) -> ArrivingTasks | None:
        """Return the tasks, if there was no fault."""
        if self._first_fall is not None:
            more = f", and {self._falls - 1:,} more such places" if self._falls > 1 else ""
            self.faults.append(replace(self._first_fall, found=self._first_fall.found + more))
        if self.faults or self._number_of is None or self._levels is None or self._functions is None:
            return None
        return ArrivingTasks(
            self._arrivals.tobytes(), self._types.tobytes(), self._utilities.tobytes(), tuple(self._told)
        )

    def _note_falls(self, arrivals: array[float], lines: Sequence[int] | None, file: str | None) -> None:
        """Count the tasks that come after later ones, and keep the first: they all have one cure."""
        before = self._arrivals[-1] if self._arrivals else 0.0
        if not arrivals or (before <= arrivals[0] and all(map(le, arrivals, islice(arrivals, 1, None)))):
            return
        for n, (one, following) in enumerate(pairwise((before, *arrivals))):
            if following < one:
                self._falls += 1
                if self._first_fall is None:
                    fault = falling_arrival(self._rows + n, one, following)
                    self._first_fall = replace(fault, line=lines[n] if lines is not None else None, file=file)

    def _type_numbers(self, piece: Piece) -> array[int] | None:
        names = piece["task_type"]
        if not _are_names(names):
            return None
        if self._number_of is None:
            return array("q", bytes(8 * len(names)))
        try:
            return array("q", map(self._number_of.__getitem__, names))
        except KeyError:
            return None

    def _utility_numbers(self, piece: Piece) -> array[int] | None:
        columns = [piece[key] for key in TOLD]
        if not all(_are_names(column, or_none=True) for column in columns):
            return None
        rows = list(zip(*columns, strict=True))
        for names in dict.fromkeys(rows):
            if names in self._numbers:
                continue
            if any(self._told_faults(dict(zip(TOLD, names, strict=True)))):
                return None
            told: Told = Levels(*names[:3]) if names[3] is None else names[3]
            self._numbers[names] = self._told.setdefault(told, len(self._told))
        return array("q", map(self._numbers.__getitem__, rows))

    def _row_faults(self, row: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
        """Return what is wrong with one row: column, found, needed, do."""
        try:
            if row["arrival_seconds"] is None:
                yield "arrival_seconds", "nothing", "seconds", "add it"
            else:
                check_arrival(row["arrival_seconds"])
        except PydanticCustomError as refused:
            why = refused.context or {}
            yield "arrival_seconds", why["found"], why["needed"], why["do"]
        name = row["task_type"]
        if not isinstance(name, str):
            found = "nothing" if name is None else describe(name)
            yield "task_type", found, "the name of a task type", "put it in quotes" if name else "add it"
        elif self._number_of is not None and name not in self._number_of:
            advice = nearest(name, self._number_of) if len(self.faults) < MOST_ADVISED else ""
            yield "task_type", quote(name), "a task type of the file's list", advice or "correct or add it"
        yield from self._told_faults({key: row[key] for key in TOLD})

    def _told_faults(self, names: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
        for key, name in names.items():
            if name is not None and not isinstance(name, str):
                yield key, describe(name), "a name", "put it in quotes"
        given = [key for key in TOLD if names[key] is not None]
        by_levels = [key for key in given if key != "utility"]
        if not given:
            needed = "priority, urgency and utility_class, or utility"
            yield "", "no utility", needed, "say what the task is worth"
        elif "utility" in given and by_levels:
            yield "utility", f"a utility besides a {by_levels[0]}", "the one or the other", "drop one"
        elif by_levels and len(by_levels) < len(TOLD) - 1:
            missing = next(key for key in TOLD if names[key] is None)
            yield missing, "nothing", "priority, urgency and utility_class together", "add it"
        elif all(isinstance(names[key], str) for key in given):
            told = names["utility"] if "utility" in given else Levels(*(names[key] for key in by_levels))
            for key, found, advice in unknown_names(told, self._levels, self._functions):
                yield key, found, f"a name of {KEY_OF[key]}", advice


def _sound_arrivals(piece: Piece) -> array[float] | None:
    values = piece["arrival_seconds"]
    if set(map(type, values)) <= {int, float}:
        return array("d", (x + 0.0 for x in values)) if are_times(values) else None
    try:
        return array("d", map(check_arrival, values))  # numbers of NumPy, perhaps
    except PydanticCustomError:
        return None


def _are_names(values: list[Any], *, or_none: bool = False) -> bool:
    kinds: set[type] = {str, type(None)} if or_none else {str}
    return set(map(type, values)) <= kinds or all(isinstance(each, tuple(kinds)) for each in values)
