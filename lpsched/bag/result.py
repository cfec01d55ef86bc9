"""What solving a bag returns: value and bound of one objective with marginal values, or the exact front.

Everything is built after verification.
"""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Final

from lpsched.model.fields import FrozenDict
from lpsched.model.fixed_point import rounded_down, rounded_up
from lpsched.model.provenance import Provenance, Status
from lpsched.model.results import JsonObject, frame_of, json_of
from lpsched.units import JOULES_PER_KWH, SECONDS_PER_HOUR, bound_text, gap_text, html_table, lower_text, number

if TYPE_CHECKING:
    from lpsched.bag.relaxation import Regime
    from lpsched.bag.schedule import Schedule
    from lpsched.bag.verify import Measurement
    from lpsched.model.risk import Risk


# Marginal values, from the multipliers of the linear program: no promise about schedules.
SAME: Final = 1e-6  # relative: derivatives no further apart are shown as one
KILOWATT: Final = "marginal value of one more kilowatt under the cap (LP)"
TWO_SIDED: Final = "a / b: one more / one fewer. The linear program is degenerate there: its bound has two derivatives."


def machine_heading(unit: str) -> str:
    """Return the heading above marginal values of machines; `unit` is that of the profit.

    >>> machine_heading("USD/hour"), task_heading("USD/hour")
    ('marginal value of one more (LP), USD/h', 'minimum price for one more task (LP), USD')
    """
    return f"marginal value of one more (LP), {_short(unit)}"


def task_heading(unit: str) -> str:
    """Return the heading above marginal prices of tasks."""
    return f"minimum price for one more task (LP), {unit.removesuffix('/hour')}"


def _short(unit: str) -> str:
    return unit.removesuffix("our") if unit.endswith("/hour") else unit


@dataclass(frozen=True, slots=True)
class Worth:
    """Marginal values of one more, in money: derivatives of the LP bound on profit.

    They say how the bound of the linear program begins to change, of split tasks and of the longest task, and
    promise nothing about schedules: whole tasks move in steps (`OneMore`). `None` instead of a number: the
    bound changes without end, since the limits leave no room for any more (or fewer).

    Attributes
    ----------
    machine_types
        One more machine of a type, per hour, after all that it costs.
    kilowatt_per_hour
        One more kilowatt under the cap, where it is measured; `None` without a cap.
    task_types
        The minimum price for one more task of a type.
    one_fewer
        The same for one fewer: larger for machines and kilowatts, smaller for tasks, where the program is
        degenerate, else equal. `None` if only one set of the solver's multipliers is known (large bags).
    """

    machine_types: FrozenDict[str, float | None]
    kilowatt_per_hour: float | None
    task_types: FrozenDict[str, float | None]
    one_fewer: Worth | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the marginal values as they appear in JSON."""
        keys, fewer = "machine_types kilowatt_per_hour task_types", self.one_fewer
        return json_of(self, keys) | {"one_fewer": None if fewer is None else json_of(fewer, keys)}

    def machine_text(self, name: str) -> str:
        """Return the marginal value of a machine type; two, where one fewer has another."""
        return both_sides(self.machine_types[name], (self.one_fewer or self).machine_types[name])

    def task_text(self, name: str) -> str:
        """Return the minimum price of a task type; two, where one fewer has another."""
        return both_sides(self.task_types[name], (self.one_fewer or self).task_types[name])

    def kilowatt_text(self) -> str:
        """Return the marginal value of a kilowatt; two, where one fewer has another."""
        return both_sides(self.kilowatt_per_hour, (self.one_fewer or self).kilowatt_per_hour)

    @property
    def is_two_sided(self) -> bool:
        """Whether anything is worth more or less if there is one fewer."""
        texts = [self.kilowatt_text(), *map(self.machine_text, self.machine_types)]
        return any(" / " in text for text in [*texts, *map(self.task_text, self.task_types)])


def both_sides(more: float | None, fewer: float | None) -> str:
    """Return one number, or two that differ.

    >>> both_sides(1.0, 1.0 + 1e-9), both_sides(1.0, 2.0), both_sides(1.0, None)
    ('1', '1 / 2', '1 / -')
    """
    if more == fewer or (more is not None and fewer is not None and math.isclose(more, fewer, rel_tol=SAME)):
        return number(more)
    return f"{number(more)} / {number(fewer)}"


@dataclass(frozen=True, slots=True)
class Between:
    """Two numbers between which another lies, rounded outwards; `None`: nothing is known on that side."""

    at_least: float | None
    at_most: float | None

    def texts(self) -> tuple[str, str]:
        """Return both, rounded outwards; a change of 0 is written as such."""
        return bound_text(self.at_least, upper=False), bound_text(self.at_most, upper=True)


def changes_between(before: tuple[float, float], after: tuple[float, float]) -> Between:
    """Return between what the change of the best possible lies; each of both is (value, bound).

    The best lies between value and bound, before and after. So of something to be maximised the change is at
    least (value after) - (bound before), and at most (bound after) - (value before); of something to be
    minimised, the other way round.

    >>> changes_between((18.0, 20.0), (12.0, 15.0))
    Between(at_least=-8.0, at_most=-3.0)
    """
    (old_value, old_bound), (value, bound) = before, after
    ends = Fraction(value) - Fraction(old_bound), Fraction(bound) - Fraction(old_value)
    return Between(rounded_down(min(ends)), rounded_up(max(ends)))


@dataclass(frozen=True, slots=True)
class OneMore:
    """What one whole machine or task more changes, all else as it is: proved on both sides.

    Attributes
    ----------
    unit
        Of the objective.
    machine_types
        Between what the change of the best possible lies, with one more machine of a type.
    task_types
        Likewise with one more task; for profit it is a price instead (`sells`). Below `at_least` no schedule
        with the task earns more than the best without it (proved); at `at_most` a verified schedule with it
        earns as much as the bound without it.
    effort
        How hard the schedules and bounds with one more were looked for.
    """

    unit: str
    machine_types: FrozenDict[str, Between] = field(default_factory=lambda: FrozenDict({}))
    task_types: FrozenDict[str, Between] = field(default_factory=lambda: FrozenDict({}))
    sells: bool = False
    effort: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the steps as they appear in JSON."""
        word = "break_even_price" if self.sells else "best_changes_by"
        told = {"machine_types": ("best_changes_by", self.machine_types), "task_types": (word, self.task_types)}
        return {"effort": self.effort} | {
            key: {
                name: {f"{word}_at_least": each.at_least, f"{word}_at_most": each.at_most} for name, each in of.items()
            }
            for key, (word, of) in told.items()
        }

    def machine_table(self) -> tuple[tuple[str, str, str], list[tuple[str, ...]]]:
        """Return headers and rows: a machine type, and between what the best possible changes."""
        changes = f"changes the best possible by at least (proved), {_short(self.unit)}"
        return ("one more machine", changes, "at most"), _rows(self.machine_types)

    def task_table(self) -> tuple[tuple[str, str, str], list[tuple[str, ...]]]:
        """Return headers and rows: a task type, and between what its break-even price lies."""
        first = f"changes the best possible by at least (proved), {_short(self.unit)}"
        if self.sells:
            first = f"break-even price at least (proved), {self.unit.removesuffix('/hour')}"
        return ("one more task", first, "at most"), _rows(self.task_types)


def _rows(steps: FrozenDict[str, Between]) -> list[tuple[str, ...]]:
    return [(name, *step.texts()) for name, step in steps.items()]


# The answer to one objective.
TRY_TIGHT: Final = "; --effort tight may close it"
SEARCHED: Final = " after about 1 s of search"
CUT: Final = ": cut by the clock, a rerun may differ"
MEANINGS: Final = {  # of regimes
    "profit": "running pays",
    "loss": "running loses less than waiting",
    "do-not-run": "the price does not cover what the tasks cost; waiting loses least",
}


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
        made = "this schedule" if self.schedule.groups else "doing nothing"
        rows = [
            ("bound", f"{self.bound_text()} {self.unit}", f"proved: no schedule {best}"),
            ("value", f"{number(self.value)} {self.unit}", f"verified: {made}"),
            ("gap", gap_text(self.gap), self._how_good()),
        ]
        if self.regime is not None:
            room = "" if self.regime == self.bound_regime else f"; the bound leaves room for {self.bound_regime}"
            rows.append(("regime", self.regime.value, MEANINGS[self.regime] + room))
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
        nothing = (None, None)
        return frame_of(
            columns,
            [
                (*(nothing if point is None else astuple(point)), *astuple(vertex))
                for vertex, point in zip(self.vertices, self.measured, strict=True)
            ],
        )

    def rows(self) -> list[tuple[str, ...]]:
        """Return one row for each vertex: what splitting tasks would take, what the schedule takes."""
        return [
            (
                str(place),
                lower_text(vertex.energy_joules),
                lower_text(vertex.makespan_seconds),
                *(("-", "-") if point is None else (number(point.energy_joules), number(point.makespan_seconds))),
                gap_text(None if point is None else relative_excess(vertex, point)),
            )
            for place, (vertex, point) in enumerate(zip(self.vertices, self.measured, strict=True), start=1)
        ]

    @property
    def least_joules(self) -> float | None:
        """What no schedule takes less of, as proved for energy alone: the vertex, or more."""
        return self._alone(1.0, 0.0)

    @property
    def least_seconds(self) -> float | None:
        """What no schedule is shorter than, as proved for the makespan alone: the vertex, or more."""
        return self._alone(0.0, 1.0)

    def _alone(self, *weights: float) -> float | None:
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
        return sum(
            any(
                math.isclose(vertex.energy_joules, point.energy_joules, rel_tol=NEAR)
                and math.isclose(vertex.makespan_seconds, point.makespan_seconds, rel_tol=NEAR)
                for point in self.sample
            )
            for vertex in self.vertices
        )

    def _repr_html_(self) -> str:
        return html_table(FRONT_HEADERS, self.rows())


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
