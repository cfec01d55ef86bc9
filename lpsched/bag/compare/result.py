"""The exact front and the methods held against it, for reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from lpsched.bag.result import Effort, Point
from lpsched.bag.verify import MachineLoad, machine_loads
from lpsched.units import bound_text, gap_text, html_table, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.bag.model import Bag
    from lpsched.bag.pricing.result import PriceCurve, PriceStretch, Sensitivity
    from lpsched.bag.result import FrontResult, Point, Result
    from lpsched.bag.schedule import Schedule
    from lpsched.bag.verify import Measurement
    from lpsched.evolve.fronts import FrontEntry
    from lpsched.model.provenance import Provenance
    from lpsched.model.risk import Risk
    from lpsched.model.violation import Violation


FORMAT: Final = "lpsched-validate/1"


# What a comparison of fronts returns: the exact one, and what others found, each beside the proof.
HEADERS: Final = ("method", "points", "hypervolume", "mean above", "largest above", "seconds", "times the front's")
OURS: Final = "lp"


@dataclass(frozen=True, slots=True)
class FrontComparison:
    """The exact front, and the methods that were held against it; our own schedules are the first.

    `reference` is a tenth beyond the worst energy and makespan of all that is compared: hypervolumes end
    there.
    """

    front: FrontResult
    reference: Point
    seed: int
    entries: tuple[FrontEntry[Point, Schedule], ...]

    @property
    def valid(self) -> bool:
        """Whether every method but ours found something, and nothing that breaks a rule."""
        return all(entry.valid for entry in self.entries if entry.name != OURS)

    @property
    def front_seconds(self) -> float:
        """How long the exact front took, with proofs and verified schedules."""
        return sum(self.front.timings.values())

    def times_as_long(self, entry: FrontEntry[Point, Schedule]) -> float | None:
        """Return how many times as long as the exact front a method took."""
        took = self.front_seconds
        return None if entry.seconds is None or took <= 0 else entry.seconds / took

    def to_dict(self) -> dict[str, Any]:
        """Return what `lpsched front --compare --json` prints; its keys are stable."""
        return self.front.to_dict() | {
            "seed": self.seed,
            "reference": self.reference.to_dict(),
            "comparisons": [entry.to_dict() | {"times_as_long": self.times_as_long(entry)} for entry in self.entries],
        }

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
__all__ = ["POINTS", "MachineLoad", "MachinePoint", "along", "machine_loads"]

POINTS: Final = 5  # the two ends, the middle, and the two between


@dataclass(frozen=True, slots=True)
class MachinePoint:
    """A point of a front, and the loads of all machines, by machine type, falling within each."""

    letter: str
    point: Point
    loads: tuple[MachineLoad, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the point as it appears in JSON."""
        return {
            "letter": self.letter,
            **self.point.to_dict(),
            "machines": [
                {
                    "machine_type": load.machine_type,
                    "machines": load.machines,
                    "completion_seconds": load.completion_seconds,
                    "energy_joules": load.energy_joules,
                }
                for load in self.loads
            ],
        }


def along(count: int, most: int = POINTS) -> list[int]:
    """Return evenly spaced places of a list, both ends included; all where they are few.

    >>> along(100), along(4), along(1)
    ([0, 25, 50, 74, 99], [0, 1, 2, 3], [0])
    """
    if count <= most:
        return list(range(count))
    return [round(place * (count - 1) / (most - 1)) for place in range(most)]


@dataclass(frozen=True, slots=True)
class Entry:
    """One schedule: what it was measured to take, or the rules that it breaks.

    `kind` tells where it came from: a `file`, a `schedule` or a `function` given in Python, or a `heuristic`
    by its name. `seconds` is how long whatever was run took; a file takes none. `risk` is there if asked for.
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

    @property
    def valid(self) -> bool:
        """Whether it breaks no rule."""
        return not self.violations

    def to_dict(self) -> dict[str, Any]:
        """Return the entry as it appears in JSON."""
        measured = self.measured
        return {
            "name": self.name,
            "kind": self.kind,
            "valid": self.valid,
            "value": self.value,
            "gap": self.gap,
            "makespan_seconds": None if measured is None else measured.makespan_seconds,
            "energy_joules": None if measured is None else measured.energy_joules,
            "profit_per_hour": None if measured is None else measured.profit_per_hour,
            "seconds": self.seconds,
            "violations": [{"code": each.code, "sentence": each.sentence} for each in self.violations],
        } | ({} if self.risk is None else {"risk": self.risk.to_dict()})


@dataclass(frozen=True, slots=True)
class Validation:
    """The bound, and every schedule measured against it."""

    objective: str
    unit: str
    bound: float
    entries: tuple[Entry, ...]
    provenance: Provenance
    currency: str = ""
    seed: int = 0
    effort: Effort = Effort.AUTO  # of the bound

    @property
    def valid(self) -> bool:
        """Whether every schedule is valid."""
        return all(entry.valid for entry in self.entries)

    def to_dict(self) -> dict[str, Any]:
        """Return what `lpsched validate --json` prints; its keys are stable."""
        return self.provenance.header(FORMAT) | {
            "seed": self.seed,
            "objective": self.objective,
            "effort": self.effort.value,
            "bound": self.bound,
            "unit": self.unit,
            "entries": [entry.to_dict() for entry in self.entries],
        }

    def headers(self) -> tuple[str, ...]:
        """Return the headers of `rows`."""
        took = ("seconds",) if self._anything_ran() else ()
        return ("scheduler", f"{self.objective}, {self.unit}", "gap", *self._others().values(), "valid", *took)

    def bound_text(self) -> str:
        """Write the bound, rounded to the side on which it stays true."""
        return bound_text(self.bound, upper=self.objective == "profit")

    def rows(self) -> list[tuple[str, ...]]:
        """Return one row for each schedule, and one for the bound."""
        others, ran = self._others(), self._anything_ran()
        bound = ("bound", self.bound_text(), "proved")
        return [
            bound + ("",) * (len(others) + 1 + ran),
            *(self._row(entry, list(others), ran=ran) for entry in self.entries),
        ]

    def _row(self, entry: Entry, others: list[str], *, ran: bool) -> tuple[str, ...]:
        facts = {} if entry.measured is None else _facts(entry.measured)
        took = (number(entry.seconds, 3),) if ran else ()
        value = (number(entry.value), gap_text(entry.gap)) if entry.valid else ("-", "-")
        valid = "yes" if entry.valid else "no"
        return (entry.name, *value, *(number(facts.get(name)) for name in others), valid, *took)

    def _others(self) -> dict[str, str]:
        """Return what else is told of each schedule, beside the objective: where anybody knows it."""
        units = {"makespan": "seconds", "energy": "joules", "profit": f"{self.currency}/hour"}
        known = [_facts(entry.measured) for entry in self.entries if entry.measured is not None]
        return {
            name: f"{name}, {unit}"
            for name, unit in units.items()
            if name != self.objective and any(facts[name] is not None for facts in known)
        }

    def _anything_ran(self) -> bool:
        return any(entry.seconds is not None for entry in self.entries)

    def _repr_html_(self) -> str:
        return html_table(self.headers(), self.rows())


def _facts(measured: Measurement) -> dict[str, float | None]:
    return {"makespan": measured.makespan_seconds, "energy": measured.energy_joules, "profit": measured.profit_per_hour}


@dataclass(frozen=True, slots=True)
class Overview:
    """What is known of a bag under its terms.

    Attributes
    ----------
    bag
        Under the terms asked for: with their price, power cap and deadline.
    price
        What the bag sells for; `None` where nobody says.
    result
        The answer at that price, if one was asked for.
    front, curve, stretches
        The stretches are the schedules along the curve. A sentence in place of one says why there is none.
    sensitivity
        What the answer depends on, if that was asked for.
    """

    bag: Bag
    price: float | None
    result: Result | None
    front: FrontResult | FrontComparison | str
    curve: PriceCurve | str
    stretches: tuple[PriceStretch, ...] | str
    sensitivity: Sensitivity | None = None


def machine_points(bag: Bag, points: Sequence[Point], schedules: Sequence[Schedule]) -> tuple[MachinePoint, ...]:
    """Return the two ends of a front, its middle and two points between, with the loads of all machines.

    Points and their schedules come by rising energy; of fewer than five, all are returned.
    """
    return tuple(
        MachinePoint(chr(ord("A") + place), points[at], machine_loads(bag, schedules[at]))
        for place, at in enumerate(along(len(points)))
    )
