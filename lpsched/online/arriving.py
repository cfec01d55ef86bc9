"""The common part of days and clusters: task types, arriving tasks, their utility, and the period that counts."""

from __future__ import annotations

import hashlib
import json
import math
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, WithJsonSchema, field_serializer

from lpsched.errors import InputIssue, Place, quote
from lpsched.model import provenance
from lpsched.model.base import Entries, Instance, Rule
from lpsched.model.fields import Frozen, Name, describe, little_endian, rejection
from lpsched.model.problems import repeats
from lpsched.online import utility
from lpsched.online.arriving_rows import KEY_OF, unknown_names
from lpsched.online.parts import (
    WHOLE,
    ArrivingTasks,
    DayTaskType,
    DeclaredUtility,
    Levels,
    ParallelTasks,
    Period,
    period_has_an_end,
)

if TYPE_CHECKING:
    from lpsched.model.table import Column

TaskTypes = tuple[DayTaskType, ...]
_TEXT: Final = {"type": "string", "maxLength": provenance.LONGEST_TEXT}
_NOTE: Final = {
    "description": "what a generator notes of itself",
    "type": "object",
    "required": ["generator", "seed"],
    "maxProperties": provenance.MOST_ENTRIES,
    "properties": {
        "generator": _TEXT | {"minLength": 1},
        "seed": {"type": "integer", "minimum": 0, "maximum": provenance.LARGEST_SEED},
    },
    "additionalProperties": {
        "anyOf": [
            {"type": "number"},
            {"type": "boolean"},
            _TEXT,
            {"type": "array", "items": {"type": "number"}, "maxItems": provenance.MOST_NUMBERS},
        ]
    },
}


def _few_keys(raw: object) -> object:
    if isinstance(raw, Mapping) and len(raw) > provenance.MOST_ENTRIES:
        raise rejection(describe(raw), f"at most {provenance.MOST_ENTRIES} keys", "drop some")
    return raw


Note = Annotated[
    Mapping[Name, Any],
    Frozen(),
    BeforeValidator(_few_keys),
    AfterValidator(provenance.frozen_note),
    WithJsonSchema(_NOTE),
]


def task_types_have_names_of_their_own(task_types: TaskTypes) -> Iterator[InputIssue]:
    """Check the names of task types."""
    return repeats([each.name for each in task_types], ("task_types",), ("name",))


def there_are_tasks(arriving: ArrivingTasks | ParallelTasks) -> Iterator[InputIssue]:
    """Check that some task arrives."""
    if not arriving.count:
        yield InputIssue(("tasks",), "no tasks", "at least one task", "add a task")


def utilities_are_known(
    arriving: ArrivingTasks | ParallelTasks,
    priorities: Mapping[str, object],
    urgencies: Mapping[str, object],
    utility_classes: Mapping[str, object],
    utility_functions: Mapping[str, object],
) -> Iterator[InputIssue]:
    """Check the names that declare utilities; the first task of each unknown one has the problem."""
    known = dict(zip(KEY_OF, (priorities, urgencies, utility_classes, utility_functions), strict=True))
    for number, declared in enumerate(arriving.declared):
        for key, found, advice in unknown_names(declared, known):
            n = arriving.utility_numbers.tolist().index(number)
            yield InputIssue(("tasks", n, key), found, f"one of {KEY_OF[key]}", advice)


def generator_has_name_and_seed(made_by: Mapping[str, object] | None) -> Iterator[InputIssue]:
    """Check the note of a generator."""
    if made_by is not None:
        yield from provenance.broken_note(made_by, ("made_by",))


def half_specified(task: DayTaskType, machine: Column, k: int, place: Place, *, has_time: bool) -> InputIssue:
    """Return the problem of a pair that has a time but no power, or the reverse."""
    pair = f"{quote(task.name)} on {quote(machine.name)}"
    pair += f" at {quote(machine.p_states[k])}" if machine.p_states is not None else ""
    has, lacks, word = ("time", "power", "watts") if has_time else ("power", "time", "seconds")
    do = f"give it {word}, or remove its {has}"
    return InputIssue((word, *place), f"a {has} but no {lacks} for {pair}", "both or neither", do)


class ArrivingInstance(Instance):
    """Tasks that arrive over time; what runs them, the subclasses say.

    The utility of a task is a function of the seconds between its arrival and its end. It is declared by levels
    (priority, urgency, utility class: see `utility.py`), or by the name of one of the file's own functions.
    """

    model_config = ConfigDict(serialize_by_alias=True)
    RULES: ClassVar[tuple[Rule, ...]] = (
        task_types_have_names_of_their_own,
        period_has_an_end,
        utility.classes_never_rise,
        utility.functions_never_rise,
        there_are_tasks,
        utilities_are_known,
        generator_has_name_and_seed,
    )

    name: Name
    task_types: Annotated[TaskTypes, Entries("task type", stand_in={})] = Field(description="a list of task types")
    period: Period = Field(default=WHOLE, kw_only=True)
    priorities: utility.Priorities = Field(default=utility.NONE, kw_only=True)
    urgencies: utility.Urgencies = Field(default=utility.NONE, kw_only=True)
    utility_classes: utility.UtilityClasses = Field(default=utility.NONE, kw_only=True)
    utility_functions: utility.UtilityFunctions = Field(default=utility.NONE, kw_only=True)
    made_by: Note | None = Field(
        default=None, description="a mapping of generator, seed and options, if a generator made the file", kw_only=True
    )

    if TYPE_CHECKING:  # each kind has tasks and columns of its own

        @property
        def arriving(self) -> ArrivingTasks | ParallelTasks:
            """The tasks."""

    def runs_on(self) -> Sequence[Column]:
        """Return the machine types, or the clusters."""
        raise NotImplementedError

    def _alike(self) -> tuple[Sequence[int], Callable[[int], float | None]]:
        """Return a number for each task, the same for those that run equally long; and the mean seconds of each."""
        raise NotImplementedError

    def _packed(self) -> Iterator[tuple[str, bytes]]:
        """Return the packed numbers that a hash covers, each with the code of its type."""
        raise NotImplementedError

    @field_serializer("utility_functions")
    def _as_intervals(self, functions: Mapping[str, utility.UtilityFunction]) -> dict[str, Any]:
        return {name: utility.written_function(each) for name, each in functions.items()}

    @field_serializer("arriving", check_fields=False)
    def _as_rows(self, arriving: object) -> list[dict[str, Any]]:  # noqa: ARG002 - they are those of `self`
        return self.task_rows()

    @field_serializer("made_by")
    def _as_note(self, note: Mapping[str, Any] | None) -> dict[str, Any] | None:
        return None if note is None else provenance.written_note(note)

    @property
    def tasks(self) -> int:
        """How many tasks arrive."""
        return self.arriving.count

    def task_columns(self) -> dict[str, Sequence[Any]]:
        """Return the tasks as columns of a file; `None` where a task has nothing to say."""
        return self.arriving.columns([task.name for task in self.task_types])

    def task_rows(self) -> list[dict[str, Any]]:
        """Return the tasks as they are inside a file."""
        columns = self.task_columns()
        return [
            {key: cell for key, cell in zip(columns, row, strict=True) if cell is not None}
            for row in zip(*columns.values(), strict=True)
        ]

    @cached_property
    def levels(self) -> utility.UtilityLevels:
        """What the names of levels stand for."""
        return utility.UtilityLevels.model_construct(
            priorities=self.priorities, urgencies=self.urgencies, utility_classes=self.utility_classes
        )

    @cached_property
    def modes(self) -> tuple[tuple[int, int], ...]:
        """Machine type (or cluster) and P-state (j, k) of each column."""
        return tuple((j, k) for j, each in enumerate(self.runs_on()) for k in range(each.modes))

    def p_state(self, column: int) -> str | None:
        """Return the name of a column's P-state, `None` where there are none."""
        j, k = self.modes[column]
        states = self.runs_on()[j].p_states
        return None if states is None else states[k]

    def _mean(self, seconds: Iterable[float | None]) -> float | None:
        """Return the mean of the seconds of columns; of each machine type or cluster the first that is there counts."""
        first: dict[int, float] = {}
        for (j, _), cell in zip(self.modes, seconds, strict=True):
            if cell is not None:
                first.setdefault(j, cell)
        return math.fsum(first.values()) / len(first) if first else None

    @property
    def functions(self) -> tuple[utility.UtilityFunction, ...]:
        """The utility functions that tasks have, each once for every declaration; none if none has one."""
        return self._functions[0]

    @property
    def function_numbers(self) -> bytes:
        """Which of `functions` each task has, as 64-bit numbers; empty if there are none."""
        return self._functions[1]

    def utility_of(self, task: int) -> utility.UtilityFunction:
        """Return the utility function of a task."""
        return self.functions[memoryview(self.function_numbers).cast("q")[task]]

    @cached_property
    def _functions(self) -> tuple[tuple[utility.UtilityFunction, ...], bytes]:
        """Make a function for each pair of levels and tasks that run equally long, and for each own one."""
        declared = self.arriving.declared
        own = [isinstance(each, str) for each in declared]
        alike, mean = self._alike()
        number: dict[tuple[int, int], int] = {}
        pairs = zip(alike, self.arriving.utility_numbers, strict=bool(declared))
        numbers = array("q", (number.setdefault((-1 if own[u] else i, u), len(number)) for i, u in pairs))
        return tuple(self._function(declared[u], i, mean) for i, u in number), numbers.tobytes()

    def _function(
        self, declared: DeclaredUtility, alike: int, mean: Callable[[int], float | None]
    ) -> utility.UtilityFunction:
        if isinstance(declared, str):
            return self.utility_functions[declared]
        seconds = mean(alike)
        assert seconds is not None, "what has tasks can run"
        return self.levels.function(declared, seconds)

    @cached_property
    def content_hash(self) -> str:
        """The SHA-256 of everything that is said, in hexadecimal.

        It is taken after reading, so that the form of the file does not matter; the order of types and of
        tasks does. A key added to the format one day leaves the hashes of today's files as they are.
        """
        digest = hashlib.sha256(self.FORMAT.encode())
        digest.update(json.dumps(self._said(), sort_keys=True, separators=(",", ":")).encode())
        for code, packed in self._packed():
            digest.update(little_endian(code, packed))
        return digest.hexdigest()

    def _said(self) -> dict[str, Any]:
        later = {} if self.period.is_whole else {"period": self.period.model_dump()}
        return later | {
            "name": self.name,
            "task_types": [each.model_dump() for each in self.task_types],
            "told": [list(each) if isinstance(each, Levels) else each for each in self.arriving.declared],
            "levels": self.levels.model_dump(),
            "utility_functions": {
                name: [asdict(each) for each in function.intervals] for name, function in self.utility_functions.items()
            },
        }

    def remarks(self) -> tuple[str, ...]:
        """Return what is legal but worth a second look, in sentences."""
        late = self.tasks - bisect_left(self.arriving.arrival_seconds, self.period.ends_at)
        return (f"{late:,} of the tasks arrive when the period is over, and can never start",) if late else ()
