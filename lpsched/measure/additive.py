"""Is the time in a larger group what the pairs say? The additive model of a facility, held against groups.

    measured   t(a|B) / t(a)               B the others on the node, two or more
    predicted  1 + sum_{b in B} PD[a][b]   PD as it stands in the table, one for all clocks

A facility slows every core by this sum. Where three or more share what two had to themselves (caches,
channels to memory), it may be off; how far is told, not corrected.
"""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING, NamedTuple

from lpsched.instance.frozen import FrozenDict
from lpsched.instance.measurements import AdditiveCheck
from lpsched.measure.degradation import time_ratios

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lpsched.instance.measurements import Degradation, Measured


class AdditiveError(NamedTuple):
    """How far predictions are off, as shares of the measured times, without sign."""

    checks: int
    mean: float
    largest: float


def checks_of(measured: Iterable[Measured], degradation: Degradation) -> tuple[AdditiveCheck, ...]:
    """Return a check for each group of three and more whose pairs were all measured."""
    found = []
    for setting, ratio in time_ratios(measured).items():
        row = degradation.get(setting.application, FrozenDict({}))
        if len(setting.beside) > 1 and all(other in row for other in setting.beside):
            predicted = fsum([1.0, *(row[other] for other in setting.beside)])
            found.append(AdditiveCheck(setting, ratio, predicted))
    return tuple(found)


def additive_error(checks: Iterable[AdditiveCheck]) -> AdditiveError | None:
    """Return the mean and the largest error; `None` without checks."""
    errors = [abs(check.error) for check in checks]
    return AdditiveError(len(errors), fsum(errors) / len(errors), max(errors)) if errors else None
