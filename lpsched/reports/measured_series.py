"""What stands side by side in a picture of an application: runs alone, and beside companions of each kind.

Companions are told apart by their memory classes, as in "beside 2 x I, III", so that what an application
suffers from shows; where not all have a class, by their names, and where that makes too many kinds, by how
many there are. The whisker of a point is its confidence interval. One kind may join several settings: then
the point is the mean of their means, and the whisker goes from the lowest end of their intervals to the
highest.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Final, Literal

from lpsched.display import number
from lpsched.instance.bench import COMPANIONS
from lpsched.instance.memory_classes import class_rank
from lpsched.reports.measured_words import at_clock, in_words, with_half

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lpsched.instance.measurements import Measured, Measurements, Spread

Quantity = Literal["intensity", "seconds", "joules"]
QUANTITIES: Final[tuple[Quantity, ...]] = ("intensity", "seconds", "joules")
ALONE: Final = "alone"
MOST_SERIES: Final = 12  # of a picture; more cannot be told apart


@dataclass(frozen=True, slots=True)
class Series:
    """Settings of one application, whose companions are of one kind.

    Attributes
    ----------
    label
        What runs beside it, in words.
    together
        How many run at once: 1 is alone.
    """

    label: str
    together: int
    measured: tuple[Measured, ...]

    def at(self, mhz: float | None, quantity: Quantity) -> Point | None:
        """Return the point at a clock; `None` where nothing was measured."""
        found = [each for each in self.measured if each.setting.mhz == mhz]
        spreads = [each for each in found if getattr(each, quantity) is not None]
        return _point(self.label, spreads, quantity) if spreads else None


@dataclass(frozen=True, slots=True)
class Point:
    """A mean with its whisker, and what it says when it is pointed at."""

    mean: float
    low: float
    high: float
    words: str


def quantities_of(measurements: Measurements) -> tuple[Quantity, ...]:
    """Return what there is to draw: what some setting has a number of."""
    return tuple(
        quantity
        for quantity in QUANTITIES
        if any(getattr(each, quantity) is not None for each in _together(measurements))
    )


def series_of(measurements: Measurements, application: str) -> tuple[Series, ...]:
    """Return an application alone, in pairs and in larger groups, in the order of `labels_of`."""
    labels = labels_of(measurements)
    found: dict[str, list[Measured]] = {label: [] for label in labels.values()}
    for each in _together(measurements):
        if each.setting.application == application:
            found[labels[each.setting.beside]].append(each)
    return tuple(
        Series(label, 1 + len(several[0].setting.beside), tuple(several))
        for label, several in found.items()
        if several
    )


def labels_of(measurements: Measurements) -> dict[tuple[str, ...], str]:
    """Return in words what kind companions are: none, one, more, and of equally many the calm ones first."""
    classes = {each.name: each.memory_class for each in measurements.applications}
    beside = {each.setting.beside for each in _together(measurements)}
    names = {name for several in beside for name in several} - set(COMPANIONS)
    words = {name: f"the {name.replace('-', ' ')}" for name in COMPANIONS}
    words |= {name: classes.get(name) or "" for name in names}
    if not all(words.values()):
        words |= {name: name for name in names}
    kinds = {several: sorted((words[name] for name in several), key=_rank) for several in beside}
    order = sorted(beside, key=lambda several: (len(several), *map(_rank, kinds[several])))
    labels = {several: _label(kinds[several]) for several in order}
    if len(set(labels.values())) <= MOST_SERIES:
        return labels
    return {
        several: labels[several] if set(several) & set(COMPANIONS) else _count(several) for several in order
    }


def _together(measurements: Measurements) -> list[Measured]:
    """Return the settings in which one application is measured, alone or beside others."""
    return [each for each in measurements.measured if not each.setting.batch]


def _rank(word: str) -> tuple[bool, int, str]:
    """Return where a word stands: classes from calm to intensive, then names."""
    return not class_rank(word), class_rank(word), word


def _label(kind: Iterable[str]) -> str:
    """Return what stands in the legend.

    >>> _label(()), _label(("I", "I", "III"))
    ('alone', 'beside 2 x I, III')
    """
    counts = Counter(kind)
    words = ", ".join(word if count == 1 else f"{count} x {word}" for word, count in counts.items())
    return f"beside {words}" if words else ALONE


def _count(beside: Sequence[str]) -> str:
    """Return how many companions there are.

    >>> _count(()), _count(("a",)), _count(("a", "b"))
    ('alone', 'beside another', 'beside 2 others')
    """
    return ALONE if not beside else "beside another" if len(beside) == 1 else f"beside {len(beside)} others"


def _point(label: str, found: Sequence[Measured], quantity: Quantity) -> Point:
    spreads: list[Spread] = [getattr(each, quantity) for each in found]
    setting, first = found[0].setting, spreads[0]
    mean = fmean(each.mean for each in spreads)
    low = min(each.mean if each.low is None else each.low for each in spreads)
    high = max(each.mean if each.high is None else each.high for each in spreads)
    if len(found) == 1:
        runs = "one run" if first.count == 1 else f"{first.count:,} runs"
        words = f"{in_words(setting)}\n{_named(quantity)} {with_half(first)}, of {runs}"
    else:
        what = f"{setting.application} {label}{at_clock(setting.mhz)}, {len(found):,} settings"
        words = (
            f"{what}\n{_named(quantity)} {number(mean, 5)}, between {number(low, 5)} and {number(high, 5)}"
        )
    return Point(mean, low, high, words)


def _named(quantity: Quantity) -> str:
    return "misses per instruction" if quantity == "intensity" else quantity
