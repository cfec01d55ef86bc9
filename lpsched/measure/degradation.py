"""Slowdown by programs on other cores, of pairs and of sums of them."""

from __future__ import annotations

from math import fsum
from statistics import mean
from typing import TYPE_CHECKING, NamedTuple

from lpsched.measure.evidence import AdditiveCheck
from lpsched.measure.fields import COMPANIONS
from lpsched.measure.measurements import class_rank
from lpsched.model.fields import FrozenDict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from lpsched.measure.evidence import Measured, Setting
    from lpsched.measure.measurements import Degradation


# PD: how much longer an application takes for each core that runs another one.
#
#     d(a|b) = t(a|b) / t(a) - 1        at one clock, t the mean times beside b and alone
#     PD[a][b] = max(0, mean of d(a|b) over the clocks measured)
#
# Nothing runs faster because something else runs beside it: a mean below 0 is noise, and 0 in the table; the
# times that say so stay in the evidence. Classes x and y of memory intensity have the mean of the table over
# the pairs measured,
#
#     PD[x][y] = mean of PD[a][b] over a of class x, b of class y
class Range(NamedTuple):
    """The entries of the full table behind one entry by class."""

    own: str
    other: str
    pairs: int
    least: float
    most: float


def alone_seconds(measured: Iterable[Measured]) -> dict[tuple[str, float | None], float]:
    """Return the mean time of each application alone at each clock."""
    return {
        (each.setting.application, each.setting.mhz): each.seconds.mean for each in measured if not each.setting.beside
    }


def time_ratios(measured: Iterable[Measured]) -> dict[Setting, float]:
    """Return t(a|others) / t(a) of each setting whose application was also measured alone at its clock.

    Batches and companions are no part of it.
    """
    known = tuple(measured)
    alone = alone_seconds(known)
    return {
        each.setting: each.seconds.mean / alone[each.setting.application, each.setting.mhz]
        for each in known
        if each.setting.beside
        and not each.setting.batch
        and not set(each.setting.together) & set(COMPANIONS)
        and (each.setting.application, each.setting.mhz) in alone
    }


def raw_degradation(measured: Iterable[Measured]) -> dict[tuple[str, str], float]:
    """Return the mean of d(a|b) over clocks for each pair measured, whatever its sign."""
    found: dict[tuple[str, str], list[float]] = {}
    for setting, ratio in time_ratios(measured).items():
        if len(setting.beside) == 1:
            found.setdefault((setting.application, setting.beside[0]), []).append(ratio - 1)
    return {pair: mean(values) for pair, values in found.items()}


def degradation_of(measured: Iterable[Measured], names: Iterable[str]) -> Degradation:
    """Return PD in full, in the order of these names; a pair that was not measured is absent."""
    raw = raw_degradation(measured)
    order = tuple(names)
    rows = {a: FrozenDict({b: max(0.0, raw[a, b]) for b in order if (a, b) in raw}) for a in order}
    return FrozenDict({a: row for a, row in rows.items() if row})


def class_degradation_of(degradation: Degradation, classes: Mapping[str, str]) -> Degradation:
    """Return PD by class from PD in full; applications without a class are no part of it."""
    found = _by_class(degradation, classes)
    order = sorted(set(classes.values()), key=lambda name: (class_rank(name), name))
    rows = {x: FrozenDict({y: mean(found[x, y]) for y in order if (x, y) in found}) for x in order}
    return FrozenDict({x: row for x, row in rows.items() if row})


def widest(degradation: Degradation, classes: Mapping[str, str]) -> Range | None:
    """Return the entry by class whose pairs differ the most; `None` where each has one pair."""
    ranges = [
        Range(x, y, len(values), min(values), max(values))
        for (x, y), values in _by_class(degradation, classes).items()
        if len(values) > 1
    ]
    return max(ranges, key=lambda each: each.most - each.least, default=None)


def _by_class(degradation: Degradation, classes: Mapping[str, str]) -> dict[tuple[str, str], list[float]]:
    found: dict[tuple[str, str], list[float]] = {}
    for a, row in degradation.items():
        for b, value in row.items():
            if a in classes and b in classes:
                found.setdefault((classes[a], classes[b]), []).append(value)
    return found


# Is the time in a larger group what the pairs say? The additive model of a facility, held against groups.
#
#     measured   t(a|B) / t(a)               B the others on the node, two or more
#     predicted  1 + sum_{b in B} PD[a][b]   PD as it stands in the table, one for all clocks
#
# A facility slows every core by this sum. Where three or more share what two had to themselves (caches,
# channels to memory), it may be off; how far is told, not corrected.
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
            found.append(AdditiveCheck.of(setting, ratio, predicted))
    return tuple(found)


def additive_error(checks: Iterable[AdditiveCheck]) -> AdditiveError | None:
    """Return the mean and the largest error; `None` without checks."""
    errors = [abs(check.error) for check in checks]
    return AdditiveError(len(errors), fsum(errors) / len(errors), max(errors)) if errors else None
