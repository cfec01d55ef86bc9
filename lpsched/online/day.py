"""A day: machines, and tasks that arrive over time."""

from __future__ import annotations

import hashlib
import json
import math
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from lpsched.errors import InstanceError
from lpsched.model.fields import FrozenDict, little_endian
from lpsched.model.provenance import frozen_note
from lpsched.online.day_rules import DayParts, broken_rules
from lpsched.online.parts import WHOLE, DayMachineType, DayTaskType, Period
from lpsched.online.tasks import ArrivingTasks, Levels
from lpsched.online.utility import UtilityLevels, interval_numbers

if TYPE_CHECKING:
    from lpsched.model.table import Table
    from lpsched.online.utility import UtilityFunction


# A day: machines, and tasks that arrive and are worth the less the later they end.
#
#    N tasks n     arrival in seconds (never falling: tasks are numbered as they arrive), task type i, utility
#    m_j           machines of type j, each running one task at a time; idle ones take no energy
#    e_ijk, a_ijk  seconds and watts of a task of type i on machine type j in P-state k; absent = cannot run
#
# Of all this a period counts (`online/parts.py`), by default the whole.
#
# The utility of a task is a function of the seconds between its arrival and its end. It is told by levels
# (priority, urgency, utility class: see `utility.py`), or by the name of one of the day's own functions.
#
# A day is immutable, and sound from birth: whoever holds one need not check it again. `day_reading.py` makes
# one of data as it stands in a file, and tells all faults at once. This module imports no NumPy; the array
# views that the numerics use are in `arrays.py`.
#
# Source: Friese, thesis of 2015, chapters 2 and 5.
__all__ = ["FORMAT", "ArrivingTasks", "Day", "DayMachineType", "DayTaskType", "Levels"]

FORMAT: Final = "lpsched-day/1"
NO_LEVELS: Final = UtilityLevels()


@dataclass(frozen=True)
class Day:
    """Machine types, task types, the tables between them, and the tasks that arrive.

    Raises
    ------
    InstanceError
        If the parts do not fit together; the error lists every fault.

    Examples
    --------
    Two tasks that are worth 8 if they end within a minute:

    >>> from lpsched.model.table import Table
    >>> from lpsched.online.utility import Interval, UtilityFunction
    >>> soon = UtilityFunction((Interval(0.0, 8.0, 8.0, 0.0), Interval(60.0, 0.0, 0.0, 0.0)))
    >>> tasks = ArrivingTasks.of([0.0, 1.5], [0, 0], ["soon", "soon"])
    >>> day = Day("two", (DayMachineType("cpu", 1),), (DayTaskType("render"),), Table.of([[40.0]]),
    ...     Table.of([[100.0]]), tasks, utility_functions={"soon": soon})
    >>> day, day.utility_of(1).at(59.0)
    (Day('two': 2 tasks on 1 machines; 1 task types, 1 machine types), 8.0)
    """

    name: str
    machine_types: tuple[DayMachineType, ...]
    task_types: tuple[DayTaskType, ...]
    seconds: Table
    watts: Table
    arriving: ArrivingTasks
    levels: UtilityLevels = NO_LEVELS
    utility_functions: Mapping[str, UtilityFunction] = field(default_factory=FrozenDict)
    period: Period = WHOLE
    made_by: Mapping[str, Any] | None = None  # generator, seed and options, if a generator made it

    def __post_init__(self) -> None:
        """Refuse parts that are not sound, or do not fit together."""
        object.__setattr__(self, "utility_functions", FrozenDict(self.utility_functions))
        if isinstance(self.made_by, Mapping):
            object.__setattr__(self, "made_by", frozen_note(self.made_by))
        own = {each.name: getattr(self, each.name) for each in fields(self)}
        faults = broken_rules(DayParts(**own))
        if faults:
            raise InstanceError(str(self.name), faults)

    def __repr__(self) -> str:
        """Name the day and its size; the whole would fill the screen."""
        kinds = f"{len(self.task_types)} task types, {len(self.machine_types)} machine types"
        return f"Day({self.name!r}: {self.tasks} tasks on {self.machines} machines; {kinds})"

    @property
    def tasks(self) -> int:
        """How many tasks arrive."""
        return self.arriving.count

    @property
    def machines(self) -> int:
        """How many machines there are in all."""
        return sum(machine.count for machine in self.machine_types)

    @cached_property
    def modes(self) -> tuple[tuple[int, int], ...]:
        """Machine type and P-state (j, k) of each column of the tables."""
        return tuple((j, k) for j, machine in enumerate(self.machine_types) for k in range(machine.modes))

    def p_state(self, column: int) -> str | None:
        """Return the name of a column's P-state, `None` where its machine type has none."""
        j, k = self.modes[column]
        states = self.machine_types[j].p_states
        return None if states is None else states[k]

    def mean_seconds(self, i: int) -> float | None:
        """Return how long task type `i` takes on average over the machine types that can run it.

        Each machine type counts once, with its first P-state that can run the task type.
        """
        first: dict[int, float] = {}
        for (j, _), cell in zip(self.modes, self.seconds.row(i), strict=True):
            if cell is not None:
                first.setdefault(j, cell)
        return math.fsum(first.values()) / len(first) if first else None

    @property
    def functions(self) -> tuple[UtilityFunction, ...]:
        """The utility functions that tasks have, each once for every way to tell it."""
        return self._functions[0]

    @property
    def function_numbers(self) -> bytes:
        """Which of `functions` each task has, as 64-bit numbers."""
        return self._functions[1]

    def utility_of(self, task: int) -> UtilityFunction:
        """Return the utility function of a task."""
        return self.functions[memoryview(self.function_numbers).cast("q")[task]]

    @cached_property
    def _functions(self) -> tuple[tuple[UtilityFunction, ...], bytes]:
        """Make a function for each pair of a task type and levels that occurs, and for each own one."""
        told = self.arriving.told
        own = [isinstance(each, str) for each in told]
        number: dict[tuple[int, int], int] = {}
        numbers = array(
            "q",
            (
                number.setdefault((-1 if own[u] else i, u), len(number))
                for i, u in zip(self.arriving.type_numbers, self.arriving.utility_numbers, strict=True)
            ),
        )
        return tuple(self._function(i, told[u]) for i, u in number), numbers.tobytes()

    def _function(self, i: int, told: Levels | str) -> UtilityFunction:
        if isinstance(told, str):
            return self.utility_functions[told]
        mean = self.mean_seconds(i)
        assert mean is not None, "a task type with tasks can run"
        return self.levels.function(told, mean)

    @cached_property
    def content_hash(self) -> str:
        """The SHA-256 of everything the day says, in hexadecimal.

        It is taken after reading, so that the form of the file does not matter; the order of types and of
        tasks does. A key added to the format one day leaves the hashes of today's days as they are.
        """
        digest = hashlib.sha256(FORMAT.encode())
        digest.update(json.dumps(self._said(), sort_keys=True, separators=(",", ":")).encode())
        tasks = self.arriving
        for code, packed in (
            ("d", self.seconds.packed),
            ("d", self.watts.packed),
            ("d", tasks.arrivals),
            ("q", tasks.types),
            ("q", tasks.utilities),
        ):
            digest.update(little_endian(code, packed))
        return digest.hexdigest()

    def _said(self) -> dict[str, Any]:
        later = {} if self.period.is_whole else {"period": asdict(self.period)}
        return later | {
            "name": self.name,
            "machine_types": [asdict(each) for each in self.machine_types],
            "task_types": [asdict(each) for each in self.task_types],
            "told": [list(each) if isinstance(each, Levels) else each for each in self.arriving.told],
            "levels": asdict(self.levels),
            "utility_functions": {
                name: [interval_numbers(each) for each in function.intervals]
                for name, function in self.utility_functions.items()
            },
        }

    def remarks(self) -> tuple[str, ...]:
        """Return what is legal but worth a second look, in sentences."""
        absent = Counter(flat // self.seconds.columns for flat in self.seconds.absent())
        idle = [task.name for i, task in enumerate(self.task_types) if absent[i] == self.seconds.columns]
        found = [f"no machine type can run {name!r}, and no task is of that type" for name in idle]
        late = self.tasks - bisect_left(self.arriving.arrival_seconds, self.period.ends_at)
        if late:
            found.append(f"{late:,} of the tasks arrive when the period is over, and can never start")
        return tuple(found)
