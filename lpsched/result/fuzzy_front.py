"""A fuzzy front: schedules along a front, and where each lands if tasks do not take what was expected.

Source: Friese, thesis of 2015, section 7.4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from lpsched.display import html_table, number, percent

if TYPE_CHECKING:
    from lpsched.result.risk import Risk

MOST_ROWS: Final = 5


@dataclass(frozen=True, slots=True)
class FuzzyPoint:
    """One schedule: the two numbers it was ranked by, and those of each sample.

    Of a bag the second number is the makespan in seconds, of a day the utility.
    """

    energy_joules: float
    value: float
    sampled_energy_joules: tuple[float, ...]
    sampled_values: tuple[float, ...]
    risk: Risk

    @property
    def mean_dropped(self) -> float | None:
        """How many tasks are dropped, on average over the samples; `None` of a bag."""
        dropped = self.risk.quantities.get("dropped_tasks")
        return None if dropped is None else dropped.mean

    def to_dict(self, value_key: str) -> dict[str, Any]:
        """Return the point as it appears in JSON; the samples are not in it."""
        return {"energy_joules": self.energy_joules, value_key: self.value, "risk": self.risk.to_dict()}


@dataclass(frozen=True, slots=True)
class FuzzyFront:
    """Points by rising energy.

    Attributes
    ----------
    name
        Whose front it is.
    ranked_by
        What the two numbers of a point are: `expected values`, `percentile 50`, ...
    value_key
        `utility` or `makespan_seconds`.
    tasks
        How many tasks there are.
    """

    name: str
    ranked_by: str
    value_key: str
    tasks: int
    points: tuple[FuzzyPoint, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the front as it appears in JSON."""
        return {
            "name": self.name,
            "ranked_by": self.ranked_by,
            "points": [point.to_dict(self.value_key) for point in self.points],
        }

    def headers(self) -> tuple[str, ...]:
        """Return the heads of the columns of `rows`."""
        value = "utility" if self.value_key == "utility" else "seconds"
        dropped = ("dropped",) if self.value_key == "utility" else ()
        return ("joules", value, "mean joules", "deviation", f"mean {value}", "deviation", *dropped)

    def rows(self) -> list[tuple[str, ...]]:
        """Return a row for some points along the front: the two ends, and some evenly between."""
        shown = [self.points[place] for place in spread_out(len(self.points), MOST_ROWS)]
        return [(number(each.energy_joules), number(each.value), *self._sampled(each)) for each in shown]

    def _sampled(self, point: FuzzyPoint) -> tuple[str, ...]:
        energy, value = (point.risk.quantities[name] for name in ("energy_joules", self.value_key))
        cells = (
            *(number(energy.mean), number(energy.standard_deviation, 4)),
            *(number(value.mean), number(value.standard_deviation, 4)),
        )
        dropped = point.mean_dropped
        return cells if dropped is None else (*cells, percent(dropped / self.tasks))

    def _repr_html_(self) -> str:
        return html_table(self.headers(), self.rows())


def spread_out(count: int, most: int) -> list[int]:
    """Return at most so many of `count` places: the two ends, and some evenly between.

    >>> spread_out(3, 5), spread_out(101, 5)
    ([0, 1, 2], [0, 25, 50, 75, 100])
    """
    if count <= most:
        return list(range(count))
    return [round(k * (count - 1) / (most - 1)) for k in range(most)]
