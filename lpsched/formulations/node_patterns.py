"""What the cores of a node should run at once, if tasks have a worth and power has a price.

Data       s_ik, a_ik   tasks per second and watts of a core that runs task type i in mode k
           PD           how much longer a task of class l takes for each other core that runs class m
           y_i, p       what a task of type i is worth, what a watt costs

A **composition** says how many cores run each class: n_l, together at most all of them; the others are idle.
It fixes by how much everybody is slowed down, d_l = 1 + sum_m (n_m - [l = m]) PD_lm, and then every core
chooses on its own:

    phi(p)  =  max over compositions  sum_l n_l / d_l  psi_l(p d_l),
    psi_l(q)  =  max over tasks i of class l and modes k   y_i s_ik - q a_ik.

psi_l is the upper envelope of a few lines, found by sorting; it serves all compositions. phi is convex and
piecewise linear in p too, each piece a pattern: its lines are found by chords. Where two known lines meet,
phi is evaluated; it is either a corner, or a new line lies above it (Eisner and Severance). So one envelope
answers for all nodes of a type, whatever their prices are.

Classes that slow down and are slowed down alike are one class. With PD = 0 there is one class, and one
composition worth looking at: all cores.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations_with_replacement
from math import comb
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.errors import Fault, InstanceError
from lpsched.formulations.facility_relaxation import NodePattern

if TYPE_CHECKING:
    from lpsched.instance.array_types import Floats, Integers
    from lpsched.instance.facility_arrays import FacilityArrays

MOST_COMPOSITIONS: Final = 200_000  # of one node type
SAME: Final = 1e-13  # of the largest value: lines that are no higher than that above others are not new


@dataclass(frozen=True, slots=True)
class Lines:
    """The upper envelope of lines value - q slope, from left to right: each is highest up to its break."""

    origins: Integers  # which of the given lines
    values: Floats
    slopes: Floats  # falling
    breaks: Floats  # one less than lines

    def at(self, q: Floats) -> Integers:
        """Return which line is highest at each q."""
        return np.searchsorted(self.breaks, q)


def upper_lines(values: Floats, slopes: Floats) -> Lines:
    """Return the upper envelope of lines value - q slope over all q."""
    kept: list[int] = []
    breaks: list[float] = []
    value, slope = values.tolist(), slopes.tolist()
    for line in np.lexsort((-values, -slopes)).tolist():
        if kept and slope[kept[-1]] == slope[line]:
            continue  # as steep, and no higher
        while kept:
            last = kept[-1]
            meet = (value[last] - value[line]) / (slope[last] - slope[line])
            if breaks and meet <= breaks[-1]:
                kept.pop()
                breaks.pop()
                continue
            breaks.append(meet)
            break
        kept.append(line)
    chosen = np.array(kept, dtype=np.int64)
    return Lines(chosen, values[chosen], slopes[chosen], np.array(breaks))


@dataclass(frozen=True, slots=True)
class Envelope:
    """The best patterns of a node type by the price of a watt: worth - p watts, watts falling with p."""

    worths: Floats
    watts: Floats
    codes: Integers  # one row for each pattern, for `NodeKind.pattern`
    breaks: Floats

    def at(self, prices: Floats) -> Integers:
        """Return which pattern is best at each price."""
        return np.searchsorted(self.breaks, prices)


@dataclass(slots=True)
class NodeKind:
    """All patterns of the nodes of one type."""

    arrays: FacilityArrays
    node_type: int
    known: dict[bytes, NodePattern] = field(default_factory=dict)
    _counts: Integers = field(init=False)  # compositions x slots: cores of the class in a slot
    _pairs: Integers = field(init=False)  # its class and slowdown; one past the last for an empty slot
    _pair_class: Integers = field(init=False)
    _slowdowns: Floats = field(init=False)
    _lines: list[tuple[Integers, Integers]] = field(init=False)  # of each class: tasks, columns

    def __post_init__(self) -> None:
        """Write down all compositions."""
        arrays, j = self.arrays, self.node_type
        of_type = np.flatnonzero(arrays.mode_type == j)
        class_of, degradation = alike(arrays)
        task, mode = np.nonzero(arrays.speeds[:, of_type] > 0)
        present = np.unique(class_of[task])
        self._lines = [
            (task[class_of[task] == each], of_type[mode[class_of[task] == each]]) for each in present
        ]
        self._compose(int(arrays.cores[j]), degradation[np.ix_(present, present)])

    def _compose(self, cores: int, degradation: Floats) -> None:
        classes = len(degradation)
        number = comb(cores + classes, classes)
        if number > MOST_COMPOSITIONS:
            fault = Fault(
                ("node_types", self.node_type, "cores"),
                f"{cores} cores for {classes} classes of task types, which is {number} compositions",
                f"at most {MOST_COMPOSITIONS}",
                "give task types that slow each other down alike one memory class",
            )
            raise InstanceError("the facility", (fault,))
        slots = min(cores, classes)
        counts: list[list[int]] = []
        owner, slowed, places = [], [], []
        for members in _compositions(cores, classes, alone=not degradation.any()):
            for slot, own in enumerate(members):
                others = sum(members[m] * degradation[own, m] for m in members) - degradation[own, own]
                owner.append(own)
                slowed.append(1.0 + float(others))
                places.append((len(counts), slot))
            counts.append([*members.values(), *[0] * (slots - len(members))])
        self._counts = np.array(counts, dtype=np.int64).reshape(len(counts), slots)
        both = np.array([owner, slowed], dtype=float)
        found, pair = np.unique(both, axis=1, return_inverse=True)
        self._pair_class, self._slowdowns = found[0].astype(np.int64), found[1]
        self._pairs = np.full(self._counts.shape, found.shape[1], dtype=np.int64)
        if places:
            self._pairs[tuple(np.transpose(places))] = pair

    def envelope(self, worths: Floats, low: float, high: float) -> Envelope:
        """Return the best patterns at all prices of a watt from `low` to `high`; tasks have these worths."""
        classes = [
            upper_lines(worths[tasks] * self.arrays.speeds[tasks, columns], self.arrays.watts[tasks, columns])
            for tasks, columns in self._lines
        ]
        ends = self._best(classes, np.array([low, high]))
        scale = SAME * max(1e-300, float(np.abs(ends[0]).max()), float(abs(low) * ends[1].max()))
        known = _Chain(*ends)
        while (meets := known.unsure()) is not None:
            known.take(meets, self._best(classes, meets), scale)
        return Envelope(known.worths, known.watts, known.codes, known.meets)

    def _best(self, classes: list[Lines], prices: Floats) -> tuple[Floats, Floats, Integers]:
        """Return worth, watts and code of the best pattern at each price."""
        size, pairs = len(prices), len(self._slowdowns)
        values, watts = np.zeros((size, pairs + 1)), np.zeros((size, pairs + 1))
        chosen = np.full((size, pairs + 1), -1, dtype=np.int64)
        for each, lines in enumerate(classes):
            own = np.flatnonzero(self._pair_class == each)
            q = prices[:, None] * self._slowdowns[own]
            line = lines.at(q)
            values[:, own] = lines.values[line] / self._slowdowns[own]
            watts[:, own] = lines.slopes[line]
            chosen[:, own] = lines.origins[line]
        gains = values - prices[:, None] * watts
        totals = np.zeros((size, len(self._counts)))
        for slot in range(self._counts.shape[1]):
            totals += self._counts[:, slot] * gains[:, self._pairs[:, slot]]
        best = totals.argmax(axis=1)
        counts, at = self._counts[best], (np.arange(size)[:, None], self._pairs[best])
        codes = np.column_stack((best, chosen[at]))
        return (counts * values[at]).sum(axis=1), (counts * watts[at]).sum(axis=1), codes

    def pattern(self, code: Integers) -> NodePattern:
        """Return the pattern that a row of `Envelope.codes` stands for; the same object each time."""
        key = code.tobytes()
        if key not in self.known:
            self.known[key] = self._written(code)
        return self.known[key]

    def _written(self, code: Integers) -> NodePattern:
        rates, watts, runs = np.zeros(len(self.arrays.rewards)), 0.0, []
        composition = code[0]
        for slot, line in enumerate(code[1:]):
            cores, pair = int(self._counts[composition, slot]), self._pairs[composition, slot]
            if cores:
                tasks, columns = self._lines[self._pair_class[pair]]
                i, k = int(tasks[line]), int(columns[line])
                rates[i] += cores * self.arrays.speeds[i, k] / self._slowdowns[pair]
                watts += cores * float(self.arrays.watts[i, k])
                runs.append((i, k, cores))
        return NodePattern(self.node_type, tuple(runs), rates, watts)


class _Chain:
    """Lines in the order of falling watts, and which neighbours are known to meet on the envelope."""

    def __init__(self, worths: Floats, watts: Floats, codes: Integers) -> None:
        self.worths, self.watts, self.codes = worths, watts, codes
        self.sure = np.zeros(1, dtype=bool)
        self._merge()

    def _merge(self) -> None:
        """Drop a line that is as steep as the one before it."""
        new = np.append(True, np.diff(self.watts) < 0)  # the first always is
        self.worths, self.watts, self.codes = self.worths[new], self.watts[new], self.codes[new]
        self.sure = self.sure[new[1:]]

    @property
    def meets(self) -> Floats:
        meets: Floats = np.diff(self.worths) / np.diff(self.watts)
        return meets

    def unsure(self) -> Floats | None:
        """Return where neighbours meet that are not known to meet on the envelope."""
        return None if self.sure.all() else self.meets[~self.sure]

    def take(self, meets: Floats, best: tuple[Floats, Floats, Integers], scale: float) -> None:
        """Put in the lines that are higher where others meet; the other corners are sure."""
        worths, watts, codes = best
        left = np.flatnonzero(~self.sure)
        rises = worths - meets * watts > self.worths[left] - meets * self.watts[left] + scale
        rises &= (watts < self.watts[left]) & (watts > self.watts[left + 1])
        self.sure[left] = ~rises
        after = left[rises] + 1
        self.worths = np.insert(self.worths, after, worths[rises])
        self.watts = np.insert(self.watts, after, watts[rises])
        self.codes = np.insert(self.codes, after, codes[rises], axis=0)
        self.sure = np.insert(self.sure, left[rises], False)


def alike(arrays: FacilityArrays) -> tuple[Integers, Floats]:
    """Return the class of each task type and the degradation, with classes that act alike made one."""
    degradation = arrays.degradation
    classes = list(range(len(degradation)))
    for each in range(len(degradation)):
        for other in range(each):
            swapped = np.arange(len(degradation))
            swapped[[each, other]] = other, each
            if np.array_equal(degradation[np.ix_(swapped, swapped)], degradation) and (
                degradation[each, each] == degradation[each, other]
            ):
                classes[each] = classes[other]
                break
    kept = sorted(set(classes))
    return np.array([kept.index(classes[each]) for each in arrays.class_of]), degradation[np.ix_(kept, kept)]


def _compositions(cores: int, classes: int, *, alone: bool) -> list[dict[int, int]]:
    """Return how many cores run each class, in all ways; `alone`: nobody slows anybody down."""
    found = []
    for members in combinations_with_replacement(range(classes + 1), cores):  # the last one is idle
        counts = {each: members.count(each) for each in dict.fromkeys(members) if each < classes}
        if not alone or not counts or sum(counts.values()) == cores:
            found.append(counts)
    return found
