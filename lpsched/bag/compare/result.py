"""The exact front and the methods held against it, for reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Final

from lpsched.bag.result import Effort, FrontResult, Point, Result, writer_of
from lpsched.bag.verify import MachineLoad, Measurement, machine_loads
from lpsched.model.results import Column, Compared, Comparison, JsonObject, Score, along, front_frame, json_of
from lpsched.units import duration, energy_text, gap_text, html_table, number

if TYPE_CHECKING:
    from lpsched.bag.model import Bag
    from lpsched.bag.pricing.result import PriceCurve, ScheduleSegment, Sensitivity
    from lpsched.bag.schedule import Schedule
    from lpsched.evolve.fronts import FrontEntry
    from lpsched.model.provenance import Provenance
    from lpsched.model.risk import Risk
    from lpsched.model.violation import Violation


# What a comparison of fronts returns: the exact front, and what other methods found.
HEADERS: Final = (
    "scheduler",
    "points",
    "hypervolume /\nthe front's",
    "mean gap",
    "largest gap",
    "seconds",
    "time /\nthe front's",
)
OURS: Final = "lp"


@dataclass(frozen=True, slots=True)
class FrontComparison:
    """The exact front, and the methods compared with it; the first is lpsched's own.

    `reference`, where hypervolumes end, is a tenth beyond the worst energy and makespan of all that is compared.
    """

    front: FrontResult
    reference: Point
    seed: int
    entries: tuple[FrontEntry[Point, Schedule], ...]

    @property
    def valid(self) -> bool:
        """Whether every method but lpsched's own found a schedule, and none that breaks a rule."""
        return all(entry.valid for entry in self.entries if entry.name != OURS)

    @property
    def front_seconds(self) -> float:
        """The run time of the exact front, with proofs and verified schedules."""
        return sum(self.front.timings.values())

    def times_as_long(self, entry: FrontEntry[Point, Schedule]) -> float | None:
        """Return the run time of a method as a multiple of the exact front's."""
        took = self.front_seconds
        return None if entry.seconds is None or took <= 0 else entry.seconds / took

    def to_dict(self) -> dict[str, Any]:
        """Return what `lpsched front --scheduler --json` prints; its keys are stable."""
        found = [entry.to_dict() | {"times_as_long": self.times_as_long(entry)} for entry in self.entries]
        return self.front.to_dict() | json_of(self, "seed reference comparisons", comparisons=found)

    def to_frame(self) -> Any:  # noqa: ANN401 - pandas is no dependency
        """Return a pandas data frame with a row for each method; its distances are from the exact front."""
        return front_frame(self.entries, {"times_as_long": self.times_as_long})

    def rows(self) -> list[tuple[str, ...]]:
        """Return one row for each method."""
        return [(*entry.row(), number(self.times_as_long(entry), 3)) for entry in self.entries]

    def _repr_html_(self) -> str:
        return html_table(HEADERS, self.rows())


def shown_front(result: FrontResult | FrontComparison) -> tuple[tuple[Point, ...], tuple[Schedule, ...]]:
    """Return points and schedules of the evolved front if there is one, else of our own schedules."""
    if isinstance(result, FrontComparison):
        evolved = [entry for entry in result.entries if entry.generations is not None and entry.points]
        chosen = (evolved or result.entries)[0]
        return chosen.points, chosen.schedules
    pairs = [
        (point, schedule)
        for point, schedule in zip(result.measured, result.schedules, strict=True)
        if point is not None and schedule is not None
    ]
    return tuple(point for point, _ in pairs), tuple(schedule for _, schedule in pairs)


# Points along a front, and what each machine does there.
__all__ = ["MachineLoad", "MachinePoint", "along", "machine_loads"]


@dataclass(frozen=True, slots=True)
class MachinePoint(JsonObject):
    """A point of a front, and the loads of all machines, by machine type, falling within each."""

    letter: str
    point: Point
    loads: tuple[MachineLoad, ...]

    _KEYS: ClassVar = "letter point.energy_joules point.makespan_seconds machines=loads"


@dataclass(frozen=True, slots=True)
class Entry(Compared, JsonObject):
    """One schedule: what it was measured to take, or the rules that it breaks.

    `kind` is its source: a `file`, a `schedule` or a `function` given in Python, or a `heuristic` by its name.
    `seconds` is the run time, `None` of a file; `risk` is there if it was requested.
    """

    name: str
    value: float | None
    gap: float | None
    measured: Measurement | None
    violations: tuple[Violation, ...]
    kind: str = "file"
    seconds: float | None = None
    schedule: Schedule | None = None  # as it was measured
    risk: Risk | None = None

    _KEYS: ClassVar = (
        "name kind valid value gap measured.makespan_seconds measured.energy_joules measured.profit_per_hour seconds "
        "violations risk?"
    )


@dataclass(frozen=True, slots=True)
class Validation(Comparison[Entry]):
    """The bound, and every schedule measured against it."""

    objective: str
    unit: str
    bound: float
    entries: tuple[Entry, ...]
    provenance: Provenance
    currency: str = ""
    seed: int = 0
    effort: Effort = Effort.AUTO  # of the bound

    _FORMAT: ClassVar = "lpsched-validate/1"
    _KEYS: ClassVar = "seed objective effort bound unit entries"

    @property
    def quantity(self) -> str:
        """The objective, with its unit."""
        return f"{self.objective}, {self.unit}"

    @property
    def is_upper(self) -> bool:
        """Whether the bound is from above."""
        return self.objective == "profit"

    @property
    def common_bound(self) -> float:
        """The bound of all schedules."""
        return self.bound

    def score(self, entry: Entry) -> Score:
        """Return what a schedule achieves, the bound, and the gap between them."""
        return Score(entry.value, self.bound, entry.gap) if entry.valid else Score(None, self.bound, None)

    def amount_text(self, value: float | Fraction, /, *, upper: bool | None = None, finer: int = 0) -> str:
        """Write a value of the objective; a bound is rounded to its side."""
        return writer_of(self.objective)(value, upper=upper, finer=finer)

    @property
    def unit_text(self) -> str:
        """The unit of profit; makespan and energy are written with theirs."""
        return f" {self.currency}/h" if self.objective == "profit" else ""

    def _bound_cells(self) -> tuple[str, ...]:
        return ("bound", self.limit_text(), self.proof)

    def _columns(self) -> list[Column]:
        """Return the objective, the gap, and what else was measured."""
        columns = {
            "profit": Column(f"profit, {self.currency}/h", lambda entry: number(entry.measured.profit_per_hour)),
            "makespan": Column("makespan", lambda entry: duration(entry.measured.makespan_seconds)),
            "energy": Column("energy", lambda entry: energy_text(entry.measured.energy_joules)),
        }
        objective = Column(columns.pop(self.objective).header, self.value_text)
        return [objective, Column("gap", lambda entry: gap_text(entry.gap)), *columns.values()]


@dataclass(frozen=True, slots=True)
class Overview:
    """What is known of a bag under its terms; a sentence in place of something says why there is none."""

    bag: Bag  # under the terms asked for: with their price, power cap and deadline
    price: float | None  # what the bag sells for; `None` where none is given
    result: Result | None  # the answer at that price, if one was asked for
    front: FrontResult | FrontComparison | str
    curve: PriceCurve | str
    stretches: tuple[ScheduleSegment, ...] | str  # the schedules along the curve
    sensitivity: Sensitivity | None = None  # what the answer depends on, if that was asked for
    breakpoints: tuple[float, ...] = ()  # where the curve's own segments begin; its pieces are one for each schedule


def machine_points(bag: Bag, points: Sequence[Point], schedules: Sequence[Schedule]) -> tuple[MachinePoint, ...]:
    """Return the two ends of a front, its middle and two points between, with the loads of all machines.

    Points and their schedules come by rising energy; of fewer than five, all are returned.
    """
    return tuple(
        MachinePoint(chr(ord("A") + place), points[at], machine_loads(bag, schedules[at]))
        for place, at in enumerate(along(len(points)))
    )
