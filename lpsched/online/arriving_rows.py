"""Rows of arriving tasks: one check for each column, of days and of clusters."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_right
from dataclasses import replace
from itertools import islice, pairwise
from operator import le
from typing import TYPE_CHECKING, Any, Final

from pydantic_core import PydanticCustomError

from lpsched.errors import MOST_FAULTS, Fault, nearest, quote
from lpsched.model.base import MOST_ADVISED, too_many
from lpsched.model.fields import describe
from lpsched.online.day_rules import (
    ARRIVAL,
    CORES,
    JOB,
    KEY_OF,
    MOST_TASKS,
    REQUESTED,
    WORK,
    falling_arrival,
    unknown_names,
)
from lpsched.online.tasks import ArrivingTasks, Levels, ParallelTasks

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lpsched.errors import Place
    from lpsched.online.day_rules import NumberColumn
    from lpsched.online.parts import DayTaskType
    from lpsched.online.tasks import Told
    from lpsched.online.utility import UtilityLevels


# The tasks of a day or of clusters as they stand in a file, in columns: packed, or everything that is wrong.
#
# Rows come in pieces, each a list of values for every column, so that a long file need not be in memory as a
# whole. What is sound is looked at column by column, at the speed of a map; only a piece with a fault in it
# is looked at row by row.
TYPE: Final = "task_type"
TOLD: Final = ("priority", "urgency", "utility_class", "utility")

Piece = dict[str, list[Any]]  # a list of equal length for every column; `None` where nothing stands
ALL_OR_NONE: Final = "a number for every task, or for none"
Why = tuple[str, str, str, str]  # column, found, needed, do


class TaskRows:
    """Gathers the rows of tasks; what the names must be is given, `None` where that itself has faults.

    `numbers` are the columns of numbers, the arrival first; `worth` says whether tasks have a utility.
    """

    def __init__(
        self,
        task_types: Sequence[DayTaskType] | None,
        levels: UtilityLevels | None,
        functions: Mapping[str, object] | None,
        numbers: tuple[NumberColumn, ...],
        *,
        worth: bool = True,
    ) -> None:
        self.faults: list[Fault] = []
        self.numbers, self.worth = numbers, worth
        self._number_of = None if task_types is None else {task.name: i for i, task in enumerate(task_types)}
        self._levels, self._functions = levels, functions
        self._told: dict[Told, int] = {}
        self._told_numbers: dict[tuple[Any, ...], int] = {}  # of every sound set of names seen so far
        self._packed: dict[str, array[Any]] = {column.key: array(column.code) for column in numbers}
        self._packed |= {TYPE: array("q"), "utility": array("q")}
        self._given: dict[str, bool] = {}  # whether tasks have a number of a column that all have, or none
        self._pieces: list[tuple[int, Sequence[int]]] = []  # of a file: first row, and lines
        self._file: str | None = None
        self._rows = 0
        self._falls = 0
        self._first_fall: Fault | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that a file may have."""
        first, *more = (column.key for column in self.numbers)
        return (first, TYPE, *more, *TOLD)

    @property
    def needed(self) -> tuple[str, ...]:
        """The columns that it must have."""
        first, *more = (column.key for column in self.numbers if column.needed)
        return (first, TYPE, *more)

    @property
    def is_full(self) -> bool:
        """Whether there is no sense in reading on."""
        return len(self.faults) >= MOST_FAULTS or self._rows > MOST_TASKS

    def take(self, piece: Piece, *, lines: Sequence[int] | None = None, file: str | None = None) -> None:
        """Add rows; `lines` are theirs in `file`, for the places of faults."""
        self._file = file
        count = len(piece[TYPE])
        if self._rows + count > MOST_TASKS:
            self.faults.append(too_many(("tasks",), self._rows + count, MOST_TASKS))
            self._rows += count
            return
        piece = self._completed(piece)
        found = {column.key: self._numbers(column, piece[column.key]) for column in self.numbers}
        found |= {TYPE: self._type_numbers(piece), "utility": self._utility_numbers(piece)}
        sound = {key: column for key, column in found.items() if column is not None}
        if len(sound) < len(found) or not self._fit(sound):
            self._look_at_rows(piece, lines, file)
        else:
            self._note_falls(sound[self.numbers[0].key], lines, file)
            for key, column in sound.items():
                self._packed[key] += column
        if lines is not None:
            self._pieces.append((self._rows, lines))
        self._rows += count

    def _completed(self, piece: Piece) -> Piece:
        """Return the piece with what empty cells stand for."""
        full = dict(piece)
        for column in self.numbers:
            values, empty = full[column.key], column.empty
            if empty is not None and None in values:
                others = full[empty] if isinstance(empty, str) else [empty] * len(values)
                full[column.key] = [other if each is None else each for each, other in zip(values, others, strict=True)]
        return full

    def _numbers(self, column: NumberColumn, values: list[Any]) -> array[Any] | None:
        if not column.all_or_none or not values:
            return column.packed(values)
        given = any(each is not None for each in values)
        if self._given.setdefault(column.key, given) != given:
            return None
        return column.packed(values) if given else array(column.code)

    def _fit(self, columns: Mapping[str, array[Any]]) -> bool:
        """Tell whether columns that are sound by themselves are so together."""
        pairs = [(each.at_least, each.key) for each in self.numbers if each.at_least is not None]
        return all(all(map(le, columns[low], columns[high])) for low, high in pairs)

    def _look_at_rows(self, piece: Piece, lines: Sequence[int] | None, file: str | None) -> None:
        """Note what is wrong with a piece, row by row."""
        for n in range(len(piece[TYPE])):
            row = {key: values[n] for key, values in piece.items()}
            for key, found, needed, do in self._row_faults(row):
                place: Place = ("tasks", self._rows + n, key) if key else ("tasks", self._rows + n)
                line = lines[n] if lines is not None else None
                self.faults.append(Fault(place, found, needed, do, line=line, file=file))
            if len(self.faults) >= MOST_FAULTS:
                break
        assert self.faults, "a piece that is not sound has a fault"

    def refuse(self, *faults: Fault) -> None:
        """Note what is wrong with the whole; no tasks come of it."""
        self.faults += faults

    def finish(self) -> None:
        """Note the tasks that come after later ones."""
        if self._first_fall is not None:
            more = f", and {self._falls - 1:,} more such places" if self._falls > 1 else ""
            self.faults.append(replace(self._first_fall, found=self._first_fall.found + more))

    def place_of(self, row: int) -> tuple[int | None, str | None]:
        """Return the line and the file of a row, as far as they are known."""
        if not self._pieces:
            return None, self._file
        first, lines = self._pieces[bisect_right(self._pieces, row, key=lambda piece: piece[0]) - 1]
        return lines[row - first], self._file

    def gathered(self) -> tuple[dict[str, bytes], tuple[Told, ...]] | None:
        """Return the packed columns and the ways to tell a utility, if there was no fault."""
        if self.faults or self._number_of is None or self._levels is None or self._functions is None:
            return None
        return {key: column.tobytes() for key, column in self._packed.items()}, tuple(self._told)

    def _note_falls(self, arrivals: array[float], lines: Sequence[int] | None, file: str | None) -> None:
        """Count the tasks that come after later ones, and keep the first: they all have one cure."""
        gathered = self._packed[self.numbers[0].key]
        before = gathered[-1] if gathered else 0.0
        if not arrivals or (before <= arrivals[0] and all(map(le, arrivals, islice(arrivals, 1, None)))):
            return
        for n, (one, following) in enumerate(pairwise((before, *arrivals))):
            if following < one:
                self._falls += 1
                if self._first_fall is None:
                    fault = falling_arrival(self._rows + n, one, following)
                    self._first_fall = replace(fault, line=lines[n] if lines is not None else None, file=file)

    def _type_numbers(self, piece: Piece) -> array[int] | None:
        names = piece[TYPE]
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
        if not self.worth:
            return array("q") if all(set(column) <= {None} for column in columns) else None
        if not all(_are_names(column, or_none=True) for column in columns):
            return None
        rows = list(zip(*columns, strict=True))
        for names in dict.fromkeys(rows):
            if names in self._told_numbers:
                continue
            if any(self._told_faults(dict(zip(TOLD, names, strict=True)))):
                return None
            told: Told = Levels(*names[:3]) if names[3] is None else names[3]
            self._told_numbers[names] = self._told.setdefault(told, len(self._told))
        return array("q", map(self._told_numbers.__getitem__, rows))

    def _row_faults(self, row: Mapping[str, Any]) -> Iterator[Why]:
        """Return what is wrong with one row."""
        for column in self.numbers:
            try:
                yield from self._number_faults(column, row)
            except PydanticCustomError as refused:
                why = refused.context or {}
                yield column.key, why["found"], why["needed"], why["do"]
        name = row[TYPE]
        if not isinstance(name, str):
            found = "nothing" if name is None else describe(name)
            yield TYPE, found, "the name of a task type", "put it in quotes" if name else "add it"
        elif self._number_of is not None and name not in self._number_of:
            advice = nearest(name, self._number_of) if len(self.faults) < MOST_ADVISED else ""
            yield TYPE, quote(name), "a task type of the file's list", advice or "correct or add it"
        yield from self._told_faults({key: row[key] for key in TOLD})

    def _number_faults(self, column: NumberColumn, row: Mapping[str, Any]) -> Iterator[Why]:
        value, given = row[column.key], self._given.get(column.key)
        if value is None:
            if column.needed:
                yield column.key, "nothing", column.needed, "add it"
            elif given:
                yield column.key, "nothing", ALL_OR_NONE, "add it, or drop the others"
            return
        number = column.check(value)
        if given is False:
            yield column.key, describe(value), ALL_OR_NONE, "drop it, or add the others"
        other = row[column.at_least] if column.at_least is not None else None
        if other is not None and number < _number(other):
            found = f"{describe(value)}, below the {column.at_least} of {describe(other)}"
            yield column.key, found, f"at least the {column.at_least}", "raise it, or leave it out"

    def _told_faults(self, names: Mapping[str, Any]) -> Iterator[Why]:
        given = [key for key in TOLD if names[key] is not None]
        if not self.worth:
            for key in given:
                needed = "no utility: tasks are judged by their waiting"
                yield key, describe(names[key]), needed, "drop it, or the key 'waiting'"
            return
        for key in given:
            if not isinstance(names[key], str):
                yield key, describe(names[key]), "a name", "put it in quotes"
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


def _are_names(values: list[Any], *, or_none: bool = False) -> bool:
    kinds: set[type] = {str, type(None)} if or_none else {str}
    return set(map(type, values)) <= kinds or all(isinstance(each, tuple(kinds)) for each in values)


def _number(value: object) -> float:
    """Return a number; what is none is no fault of the column that is compared with it."""
    return value if isinstance(value, int | float) else -math.inf


# The tasks of a day as they stand in a file: arrival, type and utility.
DAY_NEEDED: Final = (ARRIVAL.key, TYPE)
DAY_COLUMNS: Final = (*DAY_NEEDED, *TOLD)


def day_rows(
    task_types: Sequence[DayTaskType] | None, levels: UtilityLevels | None, functions: Mapping[str, object] | None
) -> TaskRows:
    """Return what gathers the tasks of a day."""
    return TaskRows(task_types, levels, functions, (ARRIVAL,))


def arriving_tasks(rows: TaskRows) -> ArrivingTasks | None:
    """Return the tasks that were gathered, if there was no fault."""
    gathered = rows.gathered()
    if gathered is None:
        return None
    columns, told = gathered
    return ArrivingTasks(columns[ARRIVAL.key], columns[TYPE], columns["utility"], told)


# The tasks of clusters as they stand in a file: arrival, type, cores, work, request, job and utility.
NUMBERS: Final = (ARRIVAL, CORES, WORK, REQUESTED, JOB)
CLUSTER_NEEDED: Final = (ARRIVAL.key, TYPE, CORES.key)
CLUSTER_COLUMNS: Final = (*CLUSTER_NEEDED, WORK.key, REQUESTED.key, JOB.key, *TOLD)


def cluster_rows(
    task_types: Sequence[DayTaskType] | None,
    levels: UtilityLevels | None,
    functions: Mapping[str, object] | None,
    *,
    worth: bool,
) -> TaskRows:
    """Return what gathers the tasks of clusters; `worth` says whether they have a utility."""
    return TaskRows(task_types, levels, functions, NUMBERS, worth=worth)


def parallel_tasks(rows: TaskRows) -> ParallelTasks | None:
    """Return the tasks that were gathered, if there was no fault."""
    gathered = rows.gathered()
    if gathered is None:
        return None
    columns, told = gathered
    return ParallelTasks(
        arrivals=columns[ARRIVAL.key],
        types=columns[TYPE],
        cores=columns[CORES.key],
        work=columns[WORK.key],
        requested=columns[REQUESTED.key],
        utilities=columns["utility"],
        told=told,
        jobs=columns[JOB.key] or None,
    )
