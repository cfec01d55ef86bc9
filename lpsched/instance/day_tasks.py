"""The tasks of a day, packed: when each arrives, of which type it is, and how its utility is told.

A task's utility is told by three levels, or by the name of a utility function of the file's own. Few of these
differ among many tasks, so each task has a number of one of them.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from lpsched.instance.arriving_columns import ArrivingColumns

if TYPE_CHECKING:
    from collections.abc import Iterable


class Levels(NamedTuple):
    """A utility told by levels: how much, how urgent, and how it falls."""

    priority: str
    urgency: str
    utility_class: str


Told: TypeAlias = Levels | str


@dataclass(frozen=True, slots=True)
class ArrivingTasks(ArrivingColumns):
    """Columns of one number per task, by arrival.

    >>> tasks = ArrivingTasks.of([0.0, 2.5, 2.5], [0, 0, 1], ["film", Levels("high", "low", "A"), "film"])
    >>> tasks.count, tasks.told, tasks.utility_numbers.tolist()
    (3, ('film', Levels(priority='high', urgency='low', utility_class='A')), [0, 1, 0])
    """

    arrivals: bytes = field(repr=False)  # doubles: seconds, never falling
    types: bytes = field(repr=False)  # 64-bit numbers of task types
    utilities: bytes = field(repr=False)  # 64-bit numbers into `told`
    told: tuple[Told, ...]  # in the order of first use

    @classmethod
    def of(cls, arrivals: Iterable[float], types: Iterable[int], utilities: Iterable[Told]) -> ArrivingTasks:
        """Pack columns of equal length; a day that holds them checks them."""
        number: dict[Told, int] = {}
        numbers = array("q", (number.setdefault(told, len(number)) for told in utilities))
        seconds = array("d", (each + 0.0 for each in arrivals))  # turns -0.0 into 0.0, for equal hashes
        return cls(seconds.tobytes(), array("q", types).tobytes(), numbers.tobytes(), tuple(number))
