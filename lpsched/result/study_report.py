"""What the lines of a study say together: groups of runs that differ only by chance, and their numbers.

A group has the runs that agree in everything that the report goes by; they differ by their seeds, those of
generated instances among them. Of each quantity there is the mean with its 95 % confidence interval
(`result/confidence.py`), the median, the least and the most, over the runs of the group that have it.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from lpsched.result.confidence import Estimate, estimate_of

if TYPE_CHECKING:
    from lpsched.instance.frozen import FrozenDict

FORMAT: Final = "lpsched-study-report/1"
GAP, SECONDS = "gap", "seconds"


@dataclass(frozen=True, slots=True)
class Group:
    """Runs that differ only by chance.

    Attributes
    ----------
    by
        What they agree in: the columns of the report, and their words here.
    runs, failed
        How many there are, and how many of them have no outcome.
    numbers
        Of each quantity of the report, the numbers of the runs that have it, in the order of the lines.
    """

    by: FrozenDict[str, Any]
    runs: int
    failed: int
    numbers: FrozenDict[str, tuple[float, ...]]

    def mean(self, quantity: str) -> Estimate | None:
        """Return the mean of a quantity; `None` if no run has it."""
        numbers = self.numbers[quantity]
        return estimate_of(numbers) if numbers else None

    def to_dict(self) -> dict[str, Any]:
        """Return the group as it appears in JSON."""
        told = {name: self._told(name) for name in self.numbers}
        return {"by": dict(self.by), "runs": self.runs, "failed": self.failed, "quantities": told}

    def _told(self, quantity: str) -> dict[str, Any] | None:
        numbers, mean = self.numbers[quantity], self.mean(quantity)
        if mean is None:
            return None
        return {
            "runs": len(numbers),
            "mean": mean.mean,
            "half_width": mean.half_width,
            "median": statistics.median(numbers),
            "least": min(numbers),
            "most": max(numbers),
        }


@dataclass(frozen=True, slots=True)
class Failure:
    """Why runs failed, and where: so many, the first of them with these words."""

    reason: str
    runs: int
    first: FrozenDict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Return the failure as it appears in JSON."""
        return {"reason": self.reason, "runs": self.runs, "first": dict(self.first)}


@dataclass(frozen=True, slots=True)
class StudyReport:
    """The groups of a study's runs.

    Attributes
    ----------
    by
        The columns that tell groups apart.
    quantities
        What is told of each group; the first ones are those asked for.
    units
        Of quantities that have the same unit in all runs.
    versions
        Of lpsched that made the runs.
    """

    study: str
    lines: str
    by: tuple[str, ...]
    quantities: tuple[str, ...]
    units: FrozenDict[str, str]
    groups: tuple[Group, ...]
    failures: tuple[Failure, ...]
    versions: tuple[str, ...]
    solvers: tuple[str, ...]
    lpsched: str

    @property
    def runs(self) -> int:
        """How many lines there are, each run once."""
        return sum(group.runs for group in self.groups)

    @property
    def failed(self) -> int:
        """How many runs have no outcome."""
        return sum(group.failed for group in self.groups)

    def to_dict(self) -> dict[str, Any]:
        """Return what `lpsched study report --json` prints; its keys are stable."""
        return {
            "format": FORMAT,
            "lpsched": self.lpsched,
            "study": self.study,
            "lines": self.lines,
            "runs": self.runs,
            "failed": self.failed,
            "by": list(self.by),
            "quantities": list(self.quantities),
            "units": dict(self.units),
            "groups": [group.to_dict() for group in self.groups],
            "failures": [failure.to_dict() for failure in self.failures],
            "made_by": {"lpsched": list(self.versions), "solver": list(self.solvers)},
        }
