"""What solving a bag returns: value and bound of one objective, or the exact front; built after verification."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar, Final

from lpsched.model.provenance import Status
from lpsched.model.results import JsonObject, frame_of, json_of
from lpsched.units import JOULES_PER_KWH, SECONDS_PER_HOUR, bound_text, gap_text, html_table, lower_text, number

if TYPE_CHECKING:
    from lpsched.bag.pricing.worth import OneMore, Worth
    from lpsched.bag.relaxation import Regime
    from lpsched.bag.schedule import Schedule
    from lpsched.bag.verify import Measurement
    from lpsched.model.fields import FrozenDict
    from lpsched.model.provenance import Provenance
    from lpsched.model.risk import Risk


TRY_TIGHT: Final = "; --effort tight may close it"
SEARCHED: Final = " after about 1 s of search"
CUT: Final = ": cut by the clock, a rerun may differ"


class Effort(StrEnum):
    """How hard to try."""

    FAST = "fast"  # one linear program, rounded
    BALANCED = "balanced"  # and tasks exchanged until the loads of the machines are even
    AUTO = "auto"  # balanced, and about a second of search where the gap is wide
    TIGHT = "tight"  # patterns and search, for bags with few tasks a machine


@dataclass(frozen=True, slots=True)
class Result(JsonObject):
    """A verified schedule, what it was measured to take, and the bound that no schedule can pass."""

    objective: str
    unit: str
    effort: Effort  # as asked for
    status: Status
    regime: Regime | None
    bound_regime: Regime | None
    value: float
    bound: float
    gap: float | None
    tasks: int
    machines: int
    measured: Measurement
    schedule: Schedule
    worth: Worth | None
    timings: FrozenDict[str, float]
    provenance: Provenance
    effort_used: Effort = Effort.FAST  # the last of fast, balanced and tight that was at work
    tight_may_help: bool = False  # whether more effort is likely to bring value and bound closer
    risk_asked: bool = False
    risk: Risk | None = None  # if asked for, and anything runs
    one_more: OneMore | None = None  # if asked for: what one whole machine or task more changes

    _FORMAT: ClassVar = "lpsched-solve/1"
    _KEYS: ClassVar = (
        "objective effort effort_used status regime bound_regime value bound unit gap tight_may_help "
        "measured.makespan_seconds measured.energy_joules tasks machines worth one_more timings"
    )

    def to_dict(self) -> dict[str, Any]:
        """Return what `lpsched solve --json` prints; its keys are stable."""
        return JsonObject.to_dict(self) | (json_of(self, "risk") if self.risk_asked else {})

    def to_frame(self) -> Any:  # noqa: ANN401 - pandas is no dependency
        """Return the schedule as a pandas data frame; see `Schedule.to_frame`."""
        return self.schedule.to_frame()

    def bound_text(self) -> str:
        """Write the bound, rounded to the side on which it stays true."""
        return bound_text(self.bound, upper=self.regime is not None)

    def facts(self) -> list[tuple[str, str, str]]:
        """Return the answer in rows: a word, a number with its unit, where it comes from."""
        best = "earns more" if self.regime is not None else f"has a smaller {self.objective}"
        rows = [
            ("bound", f"{self.bound_text()} {self.unit}", f"proved: no schedule {best}"),
            ("value", f"{number(self.value)} {self.unit}", f"verified: {_this(self)}"),
            ("gap", gap_text(self.gap), self._how_good()),
        ]
        if self.regime is not None:
            rows.append(("regime", self.regime.value, _meaning(self)))
        makespan, energy = self.measured.makespan_seconds, self.measured.energy_joules
        if self.objective != "makespan" and makespan is not None:
            hours = number(makespan / SECONDS_PER_HOUR)
            rows.append(("makespan", f"{number(makespan)} seconds", f"measured: {hours} hours"))
        if energy is not None:
            rows.append(("energy", f"{number(energy)} joules", f"measured: {number(energy / JOULES_PER_KWH)} kWh"))
        return rows

    def _how_good(self) -> str:
        """Say what was reached, what that took, and what more would do."""
        if self.status is Status.LIMIT:
            return self.status.value + CUT
        searched = self.effort is Effort.AUTO and self.effort_used is Effort.TIGHT
        after = SEARCHED if searched and self.status is Status.FEASIBLE else ""
        return self.status.value + after + (TRY_TIGHT if self.tight_may_help else "")

    def _repr_html_(self) -> str:
        return html_table((self.provenance.instance_name, "", ""), self.facts())


def _this(result: Result) -> str:
    return "this schedule" if result.schedule.groups else "doing nothing"


def _meaning(result: Result) -> str:
    words = {
        "profit": "running pays",
        "loss": "running loses less than waiting",
        "do-not-run": "the price does not cover what the tasks cost; waiting loses least",
    }
    meaning = words[result.regime or ""]
    if result.regime != result.bound_regime:
        return f"{meaning}; the bound leaves room for {result.bound_regime}"
    return meaning


# The exact front of a bag and the region above it: vertices, schedules near them, proofs.
NEAR: Final = 1e-7
FRONT_HEADERS: Final = (
    "",
    "LP vertex, joules",
    "LP vertex, seconds",
    "schedule's joules",
    "schedule's seconds",
    "above the LP vertex",
)


@dataclass(frozen=True, slots=True)
class Point(JsonObject):
    """An energy and a makespan."""

    energy_joules: float
    makespan_seconds: float


@dataclass(frozen=True, slots=True)
class HalfPlane(JsonObject):
    """A proof: joules_weight * energy + seconds_weight * makespan is at least the bound, always."""

    joules_weight: float
    seconds_weight: float
    bound: float


@dataclass(frozen=True, slots=True)
class FrontResult(JsonObject):
    """The exact front of the relaxation, by rising energy, and a verified schedule near each of its vertices.

    The vertices are those of the linear program, which may split tasks: a bound, that whole tasks may not
    reach. No schedule lies below or left of the front: `proofs` has a half-plane for each edge, and one for
    each criterion alone. Those of the edges are the linear program's; those of one criterion are the bounds
    that `solve` finds with the same effort. Where whole tasks miss the deadline, there is no schedule for
    that vertex.
    """

    vertices: tuple[Point, ...]
    measured: tuple[Point | None, ...]
    schedules: tuple[Schedule | None, ...]
    proofs: tuple[HalfPlane, ...]
    sample: tuple[Point, ...]
    solves: int
    timings: FrozenDict[str, float]
    provenance: Provenance
    effort: Effort = Effort.AUTO  # of the schedules, and of the proofs of each criterion alone

    _FORMAT: ClassVar = "lpsched-front/1"
    _KEYS: ClassVar = "effort vertices schedules=measured proofs sample timings"

    def to_frame(self) -> Any:  # noqa: ANN401 - pandas is no dependency
        """Return a pandas data frame with a row for each vertex, by rising energy.

        `energy_joules` and `makespan_seconds` are those of the verified schedule near it (absent where the deadline
        leaves none), `energy_bound_joules` and `makespan_bound_seconds` the vertex itself: no schedule lies below the
        line through the vertices.
        """
        columns = ("energy_joules", "makespan_seconds", "energy_bound_joules", "makespan_bound_seconds")
        return frame_of(
            columns,
            [
                (
                    None if point is None else point.energy_joules,
                    None if point is None else point.makespan_seconds,
                    vertex.energy_joules,
                    vertex.makespan_seconds,
                )
                for vertex, point in zip(self.vertices, self.measured, strict=True)
            ],
        )

    def rows(self) -> list[tuple[str, ...]]:
        """Return one row for each vertex: what splitting tasks would take, what the schedule takes."""
        rows: list[tuple[str, ...]] = []
        for place, (vertex, point) in enumerate(zip(self.vertices, self.measured, strict=True), start=1):
            above = None if point is None else relative_excess(vertex, point)
            rows.append(
                (
                    str(place),
                    lower_text(vertex.energy_joules),
                    lower_text(vertex.makespan_seconds),
                    number(None if point is None else point.energy_joules),
                    number(None if point is None else point.makespan_seconds),
                    gap_text(above),
                )
            )
        return rows

    @property
    def least_joules(self) -> float | None:
        """What no schedule takes less of, as proved for energy alone: the vertex, or more."""
        return self._alone(1.0, 0.0)

    @property
    def least_seconds(self) -> float | None:
        """What no schedule is shorter than, as proved for the makespan alone: the vertex, or more."""
        return self._alone(0.0, 1.0)

    def _alone(self, joules: float, seconds: float) -> float | None:
        weights = joules, seconds
        known = [each.bound for each in self.proofs if (each.joules_weight, each.seconds_weight) == weights]
        return max(known, default=None)

    def least_text(self) -> str:
        """Return what is proved of each criterion alone."""
        joules, seconds = self.least_joules, self.least_seconds
        bounds = [] if joules is None else [f"less than {lower_text(joules)} joules"]
        bounds += [] if seconds is None else [f"less than {lower_text(seconds)} seconds"]
        return f"no schedule takes {', and none '.join(bounds)}" if bounds else ""

    def sampled_vertices(self) -> int:
        """Return how many of the vertices the sample of weights found."""
        return sum(any(_same(vertex, point) for point in self.sample) for vertex in self.vertices)

    def _repr_html_(self) -> str:
        return html_table(FRONT_HEADERS, self.rows())


def _same(one: Point, two: Point) -> bool:
    near = math.isclose(one.energy_joules, two.energy_joules, rel_tol=NEAR)
    return near and math.isclose(one.makespan_seconds, two.makespan_seconds, rel_tol=NEAR)


def relative_excess(vertex: Point, point: Point) -> float | None:
    """Return the larger of the two relative distances of a schedule from its vertex."""
    if vertex.energy_joules <= 0:
        return None
    return max(
        point.energy_joules / vertex.energy_joules - 1.0, point.makespan_seconds / vertex.makespan_seconds - 1.0, 0.0
    )


@dataclass(frozen=True, slots=True)
class FeasibleRegion(JsonObject):
    """Every energy and makespan that a bag can take, if tasks could be split.

    Attributes
    ----------
    corners
        From the fewest joules above idle to the most, around the least makespan.
    idle_watts
        Of all machines. From the first and from the last corner on, every second more takes so many joules.
    """

    corners: tuple[Point, ...]
    idle_watts: float
    timings: FrozenDict[str, float]
    provenance: Provenance

    _FORMAT: ClassVar = "lpsched-region/1"
    _KEYS: ClassVar = "corners idle_watts timings"
