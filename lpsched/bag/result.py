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
from lpsched.model.results import JsonObject, frame_of, json_of, optimal_words, short_unit, stopped_words
from lpsched.units import (
    LEAST_GAP,
    ROUNDING,
    are_equal,
    beside,
    bound_text,
    counted,
    duration,
    energy_text,
    finer_by,
    gap_text,
    html_table,
    money_text,
    number,
    paired,
    plain_text,
    range_text,
)

if TYPE_CHECKING:
    from lpsched.bag.breakdown import Breakdown
    from lpsched.bag.model import Bag
    from lpsched.bag.relaxation import Regime
    from lpsched.bag.schedule import Schedule
    from lpsched.bag.verify import Measurement
    from lpsched.model.risk import Risk
    from lpsched.units import Writer


# Marginal values, from the multipliers of the linear program: no promise about schedules.
SAME: Final = 1e-6  # relative: derivatives no further apart are shown as one
TWO_SIDED: Final = "a / b: one more / one fewer. The linear program is degenerate there: its bound has two derivatives."


@dataclass(frozen=True, slots=True)
class MarginalValues:
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
    one_fewer: MarginalValues | None = None

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
        return money_text(number(more))
    return f"{money_text(number(more))} / {money_text(number(fewer))}"


@dataclass(frozen=True, slots=True)
class Between:
    """Two numbers between which another lies, rounded outwards; `None`: nothing is known on that side."""

    at_least: float | None
    at_most: float | None

    def texts(self) -> tuple[str, str]:
        """Return both, rounded outwards, but as one number where they are the same; a change of 0 is 0."""
        if self.at_least is not None and self.at_most is not None:
            low, _, high = range_text(self.at_least, self.at_most).partition(" to ")
            return low, high or low
        return money_text(bound_text(self.at_least, upper=False)), money_text(bound_text(self.at_most, upper=True))

    def text(self) -> str:
        """Return both in one cell.

        >>> Between(1 / 3, 2 / 3).text(), Between(None, -0.5).text(), Between(None, None).text()
        ('0.3333 to 0.6667', 'at most -0.5', '-')
        """
        low, high = self.texts()
        if self.at_least is None or self.at_most is None:
            return (
                "-"
                if self == Between(None, None)
                else f"at most {high}"
                if self.at_least is None
                else f"at least {low}"
            )
        return low if low == high else f"{low} to {high}"


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
        given = {"machine_types": ("best_changes_by", self.machine_types), "task_types": (word, self.task_types)}
        return {"effort": self.effort} | {
            key: {
                name: {f"{word}_at_least": each.at_least, f"{word}_at_most": each.at_most} for name, each in of.items()
            }
            for key, (word, of) in given.items()
        }

    def task_table(self) -> tuple[tuple[str, str, str], list[tuple[str, ...]]]:
        """Return headers and rows: a task type, and between what its break-even price lies."""
        first = f"changes the best possible by at least (proved), {short_unit(self.unit)}"
        if self.sells:
            first = f"break-even price at least (proved), {self.unit.removesuffix('/hour')}"
        return ("one more task", first, "at most"), _rows(self.task_types)


def _rows(steps: FrozenDict[str, Between]) -> list[tuple[str, ...]]:
    return [(name, *step.texts()) for name, step in steps.items()]


@dataclass(frozen=True, slots=True)
class Fewer:
    """How many machines of some types to keep, and by how much that changes the best possible profit: upwards."""

    machine_types: FrozenDict[str, int]
    change: Between

    def to_dict(self) -> dict[str, Any]:
        """Return it as it appears in JSON."""
        return json_of(
            self, "machine_types best_changes_by_at_least=change.at_least best_changes_by_at_most=change.at_most"
        )


# The answer to one objective.
ROOM: Final = {"profit": "profit", "loss": "running at a loss", "do-not-run": "not running", None: ""}


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
    worth: MarginalValues | None
    timings: FrozenDict[str, float]
    provenance: Provenance
    effort_used: Effort = Effort.FAST  # the last of fast, balanced and tight that was at work
    tight_may_help: bool = False  # whether more effort is likely to bring value and bound closer
    risk_asked: bool = False
    risk: Risk | None = None  # if asked for, and anything runs
    one_more: OneMore | None = None  # if asked for: what one whole machine or task more changes
    fewer_machines: Fewer | None = None  # if asked for: those that would earn more, without the others
    bag: Bag | None = field(default=None, repr=False, compare=False)  # under the terms it was solved for
    breakdown: Breakdown | None = field(default=None, repr=False)  # of answers that are shown, not of steps on the way
    stopped: str = ""  # by what the search was cut short, in words

    _FORMAT: ClassVar = "lpsched-solve/1"
    _KEYS: ClassVar = (
        "objective effort effort_used status regime bound_regime value bound unit gap tight_may_help "
        "measured.makespan_seconds measured.energy_joules tasks machines worth one_more timings "
        "money breakdown.average_watts power_cap breakdown.machine_types breakdown.allocation breakdown.p_states "
        "task_prices fewer_machines"
    )

    def to_dict(self) -> dict[str, Any]:
        """Return what `lpsched solve --json` prints; its keys are stable."""
        return JsonObject.to_dict(self) | (json_of(self, "risk") if self.risk_asked else {})

    @property
    def money(self) -> dict[str, Any] | None:
        """Revenue, costs and profit, per hour and per bag, as far as they are known; `None` without any of them."""
        bag, found = self.bag, self.breakdown
        if bag is None or found is None:
            return None
        split, prices = found.per_hour, bag.prices
        if prices.electricity_per_kwh is None and not split.revenue and not (split.wear or split.depreciation):
            return None
        return json_of(found, "per_hour per_bag fixed_cost_per_hour") | {"currency": prices.currency}

    @property
    def power_cap(self) -> dict[str, Any] | None:
        """The cap on the average power, and that power where the cap is measured; `None` without a cap."""
        bag, found = self.bag, self.breakdown
        if bag is None or found is None or bag.site.average_power_cap_watts is None or found.average_watts is None:
            return None
        site = bag.site
        drawn = found.average_watts * (site.pue if site.cap_measured_at == "facility" else 1.0)
        return {"watts": site.average_power_cap_watts, "measured_at": site.cap_measured_at, "average_watts": drawn}

    @property
    def task_prices(self) -> dict[str, dict[str, Any]] | None:
        """The price charged for a task of each type beside the minimum price (LP); `None` without prices per task."""
        if self.bag is None or not self.bag.prices.per_task:
            return None
        prices, known, worth = self.bag.prices, {}, self.worth
        for task in self.bag.task_types:
            charged = prices.per_task.get(task.name, 0.0 if prices.per_bag is None else None)
            one_more, one_fewer = (
                (None, None)
                if worth is None
                else (worth.task_types[task.name], (worth.one_fewer or worth).task_types[task.name])
            )
            below = charged is not None and one_fewer is not None and charged < one_fewer * (1.0 - SAME)
            known[task.name] = {"charged": charged, "minimum": one_more, "below_cost": below}
        return known

    def headline(self) -> str:
        """Return value, bound and gap in one sentence."""
        gap = "(proved)" if self.gap is None else f"(gap {gap_text(self.gap)}, proved)"
        reached = self.gap is not None and self.gap <= ROUNDING
        value, bound = self.texts()
        if reached:  # no bound stands beside it
            value = writer_of(self.objective)(self.value)
        if self.regime is None:
            bound = "the least possible" if reached else f"at least {bound} needed"
            return f"{'Done in' if self.objective == 'makespan' else 'Takes'} {value}, {bound} {gap}."
        unit, runs = short_unit(self.unit), bool(self.schedule.groups)
        known = "Best not to run" if self.bound_regime == self.regime else "No better schedule found than not to run"
        if self.value >= 0 or number(self.value) == "0":
            verb = "Earns" if runs else f"{known}: that earns"
            return f"{verb} {value} {unit}, {'the most' if reached else f'at most {bound}'} possible {gap}."
        value = value.removeprefix("-")
        lost = f"at least {bound.removeprefix('-')} is lost in any case"
        bound = "the least possible" if reached else lost if self.bound <= 0 else f"at most {bound} possible"
        if not runs:
            return f"{known}: that loses {value} {unit}, {bound} {gap}."
        return f"Loses {value} {unit}, {bound} {gap}{self._not_running()}."

    def _not_running(self) -> str:
        """Return what not running would lose, of an answer that loses."""
        fixed = None if self.breakdown is None else self.breakdown.fixed_cost_per_hour
        if fixed is None or self.bag is None:
            return ""
        loses = f"{number(fixed)} {short_unit(self.unit)}"
        if fixed > -self.value:
            return f"; not running would lose more, {loses}"
        forced = "; the deadline forces the work" if self.bag.site.deadline_seconds is not None else ""
        return f"{forced}; not running would lose {loses}"

    def status_text(self) -> str:
        """Return how the search ended, and what more effort would do, in one line."""
        if self.status is Status.LIMIT:
            return stopped_words(self.stopped)
        searched = self.effort is Effort.AUTO and self.effort_used is Effort.TIGHT
        said = ["Searched for about 1 s."] if searched and self.status is Status.FEASIBLE else []
        if self.status is Status.OPTIMAL:
            said = [optimal_words(self.gap)]
        said += ["--effort tight may close the gap."] if self.tight_may_help else []
        if self.regime is not None and self.regime != self.bound_regime:
            said.append(f"The bound leaves room for {ROOM[self.bound_regime]}.")
        elif self.regime == "do-not-run":
            said.append("The price does not cover what the tasks cost.")
        return " ".join(said)

    def to_frame(self) -> Any:  # noqa: ANN401 - pandas is no dependency
        """Return the schedule as a pandas data frame; see `Schedule.to_frame`."""
        return self.schedule.to_frame()

    def bound_text(self) -> str:
        """Write the bound, rounded to the side on which it stays true."""
        return bound_text(self.bound, upper=self.regime is not None)

    def texts(self) -> tuple[str, str]:
        """Write value and bound, with as many digits as their gap needs; money without its unit."""
        earns = self.regime is not None
        bound = 0.0 if earns and abs(self.bound) <= ROUNDING * abs(self.value) else self.bound
        return paired(self.value, bound, upper=earns, write=writer_of(self.objective))

    def facts(self) -> list[tuple[str, str, str]]:
        """Return the answer in rows: a word, a number with its unit, where it comes from."""
        best = "earns more" if self.regime is not None else f"has a smaller {self.objective}"
        verified = f"verified: {'this schedule' if self.schedule.groups else 'doing nothing'}"
        unit = "" if self.regime is None else f" {short_unit(self.unit)}"
        value, bound = (f"{text}{unit}" for text in self.texts())
        rows = [
            ("value", value, verified),
            ("bound", bound, f"proved: no schedule {best}"),
            ("gap", gap_text(self.gap), self.status_text()),
        ]
        makespan, energy = self.measured.makespan_seconds, self.measured.energy_joules
        if self.objective != "makespan" and makespan is not None:
            rows.append(("makespan", duration(makespan), "measured"))
        if self.objective != "energy" and energy is not None:
            rows.append(("energy", energy_text(energy), "measured"))
        return rows

    def _repr_html_(self) -> str:
        return html_table((self.provenance.instance_name, "", ""), self.facts())


def writer_of(objective: str) -> Writer:
    """Return the function that writes values of an objective; those of profit without their unit."""
    writers: dict[str, Writer] = {"makespan": duration, "energy": energy_text}
    return writers.get(objective, plain_text)


# The exact front of a bag and the region above it: vertices, schedules near them, proofs.
EARLY: Final = "all vertices are there, but schedules and what is proved of one criterion alone may be weaker."
NEAR: Final = 1e-7
FRONT_HEADERS: Final = ("", "LP vertex:\nenergy", "makespan", "schedule:\nenergy", "makespan", "above the\nLP vertex")


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
    stopped: str = ""  # by what the search for better schedules and proofs was cut short, in words

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
        """Return one row for each vertex: a bound, for tasks may be split; the schedule near it; and the distance."""
        rows: list[tuple[str, ...]] = []
        for place, (vertex, point) in enumerate(zip(self.vertices, self.measured, strict=True), start=1):
            above = None if point is None else relative_excess(vertex, point)
            joules, seconds = (None, None) if point is None else (point.energy_joules, point.makespan_seconds)
            energies = _beside(vertex.energy_joules, joules, above, energy_text)
            times = _beside(vertex.makespan_seconds, seconds, above, duration)
            rows.append((str(place), energies[0], times[0], energies[1], times[1], gap_text(above)))
        return rows

    def headline(self) -> str:
        """Return the schedules at both ends of the front, the number of vertices, and what is proved."""
        count = len(self.vertices)
        along = f"along {counted(count, 'vertex', 'vertices')} of the linear program (LP)"
        ends = self._end_texts()
        found = f"verified schedules from {ends[0]} to {ends[-1]}" if len(ends) > 1 else "".join(ends)
        found = found if len(ends) > 1 else f"a verified schedule of {found}" if found else "no schedule was found"
        proved = "; ".join(filter(None, ("no schedule lies below the front", self.least_text())))
        early = f"\n{self.stopped.capitalize()}: {EARLY}" if self.stopped else ""
        split = "The LP may split tasks: whole tasks may not reach its vertices."
        return f"{found}, {along}.\nProved: {proved}. {split}{early}"

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
        """Return what is proved of each criterion alone, as it stands beside the schedules at both ends."""
        (joules, _), (seconds, _) = self._alone_texts()
        bounds = [f"less than {bound}" for bound in (joules, seconds) if bound]
        return f"no schedule takes {', and none '.join(bounds)}" if bounds else ""

    def _alone_texts(self) -> list[tuple[str, str]]:
        """Write, of energy and makespan, what is proved of it alone, and what the schedule at that end has."""
        points = [point for point in self.measured if point is not None]
        first, last = (points[0].energy_joules, points[-1].makespan_seconds) if points else (None, None)
        ends = (self.least_joules, first, energy_text), (self.least_seconds, last, duration)
        return [
            ("", write(value) if value is not None else "-") if bound is None else _beside(bound, value, None, write)
            for bound, value, write in ends
        ]

    def _end_texts(self) -> list[str]:
        """Write the schedules at both ends of the front; one, if there is only one."""
        points = [point for point in self.measured if point is not None]
        (_, joules), (_, seconds) = self._alone_texts()
        if len(points) < 2:  # noqa: PLR2004 - ends
            return [f"{joules} in {seconds}"] * len(points)
        longest, most = duration(points[0].makespan_seconds), energy_text(points[-1].energy_joules)
        return [f"{joules} in {longest}", f"{most} in {seconds}"]

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


def _beside(bound: float, value: float | None, gap: float | None, write: Writer) -> tuple[str, str]:
    """Write a lower bound, and a value that was measured; with the digits that both, or the larger `gap`, need."""
    if value is None:
        return write(bound, upper=False), "-"
    if are_equal(value, bound):
        return paired(value, bound, upper=False, write=write)[::-1]
    finer = finer_by(value, bound, upper=False, write=write, gap=max(gap or 0.0, LEAST_GAP))
    return beside(value, bound, upper=False, finer=finer, write=write)[::-1]


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
        Of all machines. Beyond the first and the last vertex, each further second takes this many joules.
    """

    corners: tuple[Point, ...]
    idle_watts: float
    timings: FrozenDict[str, float]
    provenance: Provenance

    _FORMAT: ClassVar = "lpsched-region/1"
    _KEYS: ClassVar = "corners idle_watts timings"
