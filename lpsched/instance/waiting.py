"""What waiting costs, where tasks have no utility and all of them have to run: traces of real systems.

    d       how long a task waits: from its arrival to its start, in seconds
    f       its run: the fewest seconds that it takes on any cluster and P-state that can run it
    weight  1, the task's cores, or its core-seconds (cores times f)

    cost(d)  =  weight * d                            `seconds`
                weight * (1 + d / f)                  `slowdown`
                weight * max(1, (d + f) / max(f, b))  `bounded-slowdown`, by default with b = 10
                weight * line through `points`        of (seconds waited, cost); never falling, the last slope
                                                      goes on for ever
Each is continuous, never falls, and consists of straight pieces; its negative is what a schedule earns.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Final, Literal, NamedTuple

from pydantic import ConfigDict, PlainValidator, WithJsonSchema
from pydantic.dataclasses import dataclass as checked
from pydantic_core import PydanticCustomError

from lpsched.errors import Fault
from lpsched.instance.fields import LARGEST, Amount, Seconds, describe, refusal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lpsched.errors import Place

SECONDS: Final = "seconds"
SLOWDOWN: Final = "slowdown"
BOUNDED: Final = "bounded-slowdown"
POINTS: Final = "points"
MEASURES: Final = (SECONDS, SLOWDOWN, BOUNDED, POINTS)
TASK: Final = "task"
CORES: Final = "cores"
CORE_SECONDS: Final = "core-seconds"
WEIGHTS: Final = (TASK, CORES, CORE_SECONDS)
LEAST_SECONDS: Final = 10.0  # b by default
MOST_POINTS: Final = 100
HINT: Final = "see 'lpsched schema clusters'"
CONFIG: Final = ConfigDict(extra="forbid")
PAIR: Final = (Amount("seconds"), Amount("a cost"))


def _check_measure(value: object) -> object:
    if value not in MEASURES:
        raise refusal(describe(value), " or ".join(MEASURES), HINT)
    return value


def _check_weight(value: object) -> object:
    if value not in WEIGHTS:
        raise refusal(describe(value), " or ".join(WEIGHTS), HINT)
    return value


def _check_points(value: object) -> tuple[tuple[float, ...], ...]:
    """Check every number; the faults of all of them come in one error, each with its place."""
    if not isinstance(value, list | tuple) or len(value) > MOST_POINTS:
        needed = f"a list of at most {MOST_POINTS} points, [seconds waited, cost] each"
        raise refusal(describe(value), needed, HINT)
    points: list[tuple[float, ...]] = []
    refused: list[tuple[Place, dict[str, str]]] = []
    for k, pair in enumerate(value):
        if not isinstance(pair, list | tuple) or len(pair) != len(PAIR):
            why = {"found": describe(pair), "needed": "[seconds waited, cost]", "do": HINT}
            refused.append(((k,), why))
            continue
        for place, (check, number) in enumerate(zip(PAIR, pair, strict=True)):
            try:
                check(number)
            except PydanticCustomError as error:
                refused.append(((k, place), dict(error.context or {})))
        points.append(tuple(pair))
    if refused:
        context = {"count": len(refused), "inner": refused}
        raise PydanticCustomError("faults", "{count} numbers are refused", context)
    return tuple(tuple(float(number) + 0.0 for number in pair) for pair in points)


Measure = Annotated[
    Literal["seconds", "slowdown", "bounded-slowdown", "points"],
    PlainValidator(_check_measure),
    WithJsonSchema({"enum": list(MEASURES)}),
]
Weight = Annotated[
    Literal["task", "cores", "core-seconds"],
    PlainValidator(_check_weight),
    WithJsonSchema({"enum": list(WEIGHTS)}),
]
CostPoints = Annotated[
    tuple[tuple[float, float], ...],
    PlainValidator(_check_points),
    WithJsonSchema(
        {
            "type": "array",
            "maxItems": MOST_POINTS,
            "items": {
                "type": "array",
                "items": {"type": "number", "minimum": 0, "maximum": LARGEST},
                "minItems": len(PAIR),
                "maxItems": len(PAIR),
            },
        }
    ),
]


class CostPiece(NamedTuple):
    """From `after_seconds` of waiting on, the cost rises from `cost` by so much a second."""

    after_seconds: float
    cost: float
    per_second: float


@checked(frozen=True, slots=True, config=CONFIG)
class WaitingCost:
    """How the waiting of a task is judged.

    >>> [tuple(piece) for piece in WaitingCost().pieces(4.0, cores=2)]
    [(0.0, 1.0, 0.0), (6.0, 1.0, 0.1)]
    >>> WaitingCost("points", "cores", points=((0.0, 0.0), (60.0, 3.0))).cost(120.0, 4.0, cores=2)
    12.0
    """

    measure: Measure = BOUNDED
    weight: Weight = TASK
    at_least_seconds: Seconds = LEAST_SECONDS  # b
    points: CostPoints = ()

    def pieces(self, fastest_seconds: float, *, cores: int) -> tuple[CostPiece, ...]:
        """Return the cost of a task by rising `after_seconds`, the first 0."""
        weight = {TASK: 1.0, CORES: float(cores), CORE_SECONDS: cores * fastest_seconds}[self.weight]
        return tuple(
            CostPiece(after, weight * cost, weight * slope)
            for after, cost, slope in self._shape(fastest_seconds)
        )

    def cost(self, waited_seconds: float, fastest_seconds: float, *, cores: int) -> float:
        """Return what a task costs that waited so long."""
        pieces = self.pieces(fastest_seconds, cores=cores)
        now = [piece for piece in pieces if piece.after_seconds <= waited_seconds][-1]
        return now.cost + now.per_second * (waited_seconds - now.after_seconds)

    def _shape(self, fastest: float) -> list[tuple[float, float, float]]:
        """Return the pieces for a weight of 1."""
        if self.measure == SECONDS:
            return [(0.0, 0.0, 1.0)]
        if self.measure == SLOWDOWN:
            return [(0.0, 1.0, 1.0 / fastest)]
        if self.measure == BOUNDED:
            rising = (
                max(0.0, self.at_least_seconds - fastest),
                1.0,
                1.0 / max(fastest, self.at_least_seconds),
            )
            return [rising] if rising[0] == 0.0 else [(0.0, 1.0, 0.0), rising]
        slopes = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in pairwise(self.points)]
        slopes.append(slopes[-1] if slopes else 0.0)
        return [(after, cost, slope) for (after, cost), slope in zip(self.points, slopes, strict=True)]


def broken_waiting(waiting: WaitingCost, place: Place) -> Iterator[Fault]:
    """Return the faults of a cost whose numbers are sound, each by itself."""
    if waiting.measure != BOUNDED and waiting.at_least_seconds != LEAST_SECONDS:
        found = f"{waiting.at_least_seconds!r} s, besides the measure {waiting.measure}"
        yield Fault((*place, "at_least_seconds"), found, f"the measure {BOUNDED}", "drop it")
    if waiting.measure != POINTS:
        if waiting.points:
            found = f"{len(waiting.points)} points, besides the measure {waiting.measure}"
            yield Fault((*place, "points"), found, f"the measure {POINTS}", "drop them")
        return
    if not waiting.points:
        yield Fault((*place, "points"), "no points", "at least one, at 0 seconds", "add it")
    elif waiting.points[0][0] != 0:
        found = f"a first point at {waiting.points[0][0]!r} s"
        yield Fault((*place, "points", 0), found, "0, the arrival", "begin with one there")
    for k, ((after, cost), (later, dearer)) in enumerate(pairwise(waiting.points), start=1):
        if later <= after:
            found = f"{later!r} s, not after the {after!r} s of the one before"
            yield Fault((*place, "points", k), found, "points by rising seconds", "sort or join them")
        if dearer < cost:
            found = f"a cost of {dearer!r}, below the {cost!r} of the one before"
            yield Fault((*place, "points", k), found, "a cost that never falls", "raise it")
