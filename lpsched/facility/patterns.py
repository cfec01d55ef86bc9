"""What the cores of a node run at once: patterns, and the best one at given prices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.lp.program import Columns, Indices, LinearProgram, LpBuilder
from lpsched.units import KILO

if TYPE_CHECKING:
    from lpsched.facility.air import FacilityArrays
    from lpsched.model.table import Floats, Integers


@dataclass(frozen=True, slots=True)
class NodePattern:
    """What the cores of a node of one type run at once, and what that brings and takes."""

    node_type: int
    runs: tuple[tuple[int, int, int], ...]  # task type, column of the tables, cores; the other cores are idle
    rates: Floats  # tasks per second of each type, with the cores slowing each other down
    watts: float  # of the cores, above the overhead of the node


@dataclass(frozen=True, slots=True)
class FacilityPrices:
    """What one more of each limit would bring, in reward per second; all at least 0."""

    arrivals: Floats  # I, one more task a second
    tasks: Floats  # I, one more task done a second
    cap: float  # one watt
    redlines: Floats  # N, one kelvin
    crac_redlines: Floats  # U, one kelvin
    cooling: Floats  # U, one watt that the unit would not have to take out
    nodes: Floats  # N, the whole time of one node, its overhead not counted
    watts: Floats  # N, one watt that the node would not draw


@dataclass(frozen=True, slots=True)
class FacilityRelaxation:
    """The best allocation found at some outlet temperatures; patterns are mixed over time, so it is real.

    It is `priced` where the program that the prices come from was solved to the end. Those of another one prove a
    bound as well, but are no derivatives of it.
    """

    outlets: Floats
    value: float
    bound: float  # of every allocation at these temperatures
    shares: tuple[tuple[tuple[float, NodePattern], ...], ...]  # for each node its patterns, and parts of the time
    prices: FacilityPrices
    priced: bool = True


# What the cores of a node should run at once, if each task has a value and power has a price.
#
# Data       s_ik, a_ik   tasks per second and watts of a core that runs task type i in mode k
#            PD           how much longer a task of class l takes for each other core that runs class m
#            y_i, p       value of a task of type i, price of a watt
#
# A **composition** says how many cores run each class: n_l, together at most all of them; the others are idle. It fixes
# by how much each class is slowed down, d_l = 1 + sum_m (n_m - [l = m]) PD_lm, and then every core chooses on its own:
#
#     phi(p)  =  max over compositions  sum_l n_l / d_l  psi_l(p d_l),
#     psi_l(q)  =  max over tasks i of class l and modes k   y_i s_ik - q a_ik.
#
# psi_l is the upper envelope of a few lines, found by sorting; it serves all compositions. phi is convex and
# piecewise linear in p too, each segment a pattern: its lines are found by chords. Where two known lines meet,
# phi is evaluated; it is either a vertex, or a new line lies above it (Eisner and Severance). So one envelope
# answers for all nodes of a type, whatever their prices are.
#
# Classes that slow down and are slowed down alike are merged. With PD = 0 there is one class, and one relevant
# composition: all cores. That there are not too many compositions is a rule of the facility.
SAME: Final = 1e-13  # of the largest value: a line that rises by less above the others is not new


@dataclass(frozen=True, slots=True)
class Lines:
    """The upper envelope of lines value - q slope, from left to right: each is highest up to its break.

    Of a node type, the lines are patterns by the price q of a watt: their value at given values of tasks, their watts.
    """

    origins: Integers  # which of the given lines; of patterns, a row each for `NodeKind.pattern`
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


class NodeKind:
    """All patterns of the nodes of one type."""

    def __init__(self, arrays: FacilityArrays, node_type: int) -> None:
        self.arrays, self.node_type = arrays, node_type
        self.known: dict[bytes, NodePattern] = {}
        of_type = np.flatnonzero(arrays.mode_type == node_type)
        class_of, degradation = alike(arrays)
        task, mode = np.nonzero(arrays.speeds[:, of_type] > 0)
        present = np.unique(class_of[task])
        # of each class: tasks, columns
        self._lines = [(task[class_of[task] == each], of_type[mode[class_of[task] == each]]) for each in present]
        self._compose(int(arrays.cores[node_type]), degradation[np.ix_(present, present)])

    def _compose(self, cores: int, degradation: Floats) -> None:
        """Write down all compositions: cores of the class in each slot, and its class and slowdown."""
        classes = len(degradation)
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
        self._pairs = np.full(self._counts.shape, found.shape[1], dtype=np.int64)  # one past the last: an empty slot
        if places:
            self._pairs[tuple(np.transpose(places))] = pair

    def envelope(self, task_values: Floats, low: float, high: float) -> Lines:
        """Return the best patterns at all prices of a watt from `low` to `high`, given the values of tasks."""
        classes = [
            upper_lines(task_values[tasks] * self.arrays.speeds[tasks, columns], self.arrays.watts[tasks, columns])
            for tasks, columns in self._lines
        ]
        values, watts, codes = self._best(classes, np.array([low, high]))
        scale = SAME * max(1e-300, float(np.abs(values).max()), float(abs(low) * watts.max()))
        new = np.append(True, np.diff(watts) < 0)  # not as steep as the one before it
        values, watts, codes = values[new], watts[new], codes[new]
        meets: Floats = np.diff(values) / np.diff(watts)
        certain = np.zeros(len(meets), dtype=bool)  # whether neighbours are known to meet on the envelope
        while not certain.all():
            left = np.flatnonzero(~certain)
            prices = meets[left]
            tried, drawn, found = self._best(classes, prices)
            rises = tried - prices * drawn > values[left] - prices * watts[left] + scale
            rises &= (drawn < watts[left]) & (drawn > watts[left + 1])
            certain[left] = ~rises
            after = left[rises] + 1
            values, watts = np.insert(values, after, tried[rises]), np.insert(watts, after, drawn[rises])
            codes = np.insert(codes, after, found[rises], axis=0)
            certain = np.insert(certain, left[rises], False)
            meets = np.diff(values) / np.diff(watts)
        return Lines(codes, values, watts, meets)

    def _best(self, classes: list[Lines], prices: Floats) -> tuple[Floats, Floats, Integers]:
        """Return value, watts and code of the best pattern at each price."""
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
        """Return the pattern that a row of `Lines.origins` stands for; the same object each time."""
        key = code.tobytes()
        if key in self.known:
            return self.known[key]
        rates, watts, runs = np.zeros(len(self.arrays.rewards)), 0.0, []
        for cores, pair, line in zip(self._counts[code[0]].tolist(), self._pairs[code[0]], code[1:], strict=True):
            if cores:
                tasks, columns = self._lines[self._pair_class[pair]]
                i, k = int(tasks[line]), int(columns[line])
                rates[i] += cores * self.arrays.speeds[i, k] / self._slowdowns[pair]
                watts += cores * float(self.arrays.watts[i, k])
                runs.append((i, k, cores))
        self.known[key] = NodePattern(self.node_type, tuple(runs), rates, watts)
        return self.known[key]


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
    """Return how many cores run each class, in all ways; `alone`: classes do not slow each other down."""
    found = []
    for members in combinations_with_replacement(range(classes + 1), cores):  # the last one is idle
        counts = {each: members.count(each) for each in dict.fromkeys(members) if each < classes}
        if not alone or not counts or sum(counts.values()) == cores:
            found.append(counts)
    return found


# The nodes of a facility at prices of watts: what each runs at its price, and as which columns.
#
# Shared by all programs of a facility: patterns depend neither on temperatures nor on limits. Units inside
# are kilowatts, and rewards in shares of what all arrivals together would bring.
SLACK: Final = 1.01  # between what a variable can be and its upper limit
PENALTY: Final = 100.0  # for a kilowatt or a kelvin beyond a limit: times the largest value of a kilowatt
HOTTEST: Final = 1000.0  # kelvin: more than any air is too hot or too cold
MARGIN: Final = 0.05  # of the prices: how far beyond them patterns are looked for
NEIGHBOURS: Final = 1  # patterns on each side of the best that a node is offered as well

Run = tuple[int, "NodePattern"] | None  # a node and its pattern; `None` for a column of something else


class NodeMarket:
    """All nodes; each may stand for several that are alike in everything (`copies`)."""

    def __init__(
        self, arrays: FacilityArrays, copies: Floats | None = None, kinds: list[NodeKind] | None = None
    ) -> None:
        self.arrays = arrays
        self.copies = np.ones(len(arrays.node_type)) if copies is None else copies
        self.kinds = kinds or [NodeKind(arrays, j) for j in range(len(arrays.cores))]
        self.members = [np.flatnonzero(arrays.node_type == j) for j in range(len(self.kinds))]
        self.earns = arrays.rewards * arrays.arrivals
        self.unit = float(self.earns.sum()) or 1.0
        self.flow = np.where(arrays.arrivals > 0, arrays.arrivals, 1.0)
        # the pattern that draws most is the best one at a negative price of a watt
        paid = [kind.envelope(np.zeros_like(arrays.rewards), -1.0, -1.0) for kind in self.kinds]
        self.peak_patterns = [kind.pattern(each.origins[0]) for kind, each in zip(self.kinds, paid, strict=True)]
        peak_watts = np.array([pattern.watts for pattern in self.peak_patterns])[arrays.node_type]
        self.overhead = self.copies * arrays.overhead_watts[arrays.node_type] / KILO
        self.most = self.overhead + self.copies * peak_watts / KILO

    def first_runs(self) -> list[tuple[int, NodePattern]]:
        """Return the pattern of each node that draws most: mixed with idling, it reaches every possible power."""
        return [(v, self.peak_patterns[j]) for v, j in enumerate(self.arrays.node_type.tolist())]

    def most_per_kilowatt(self) -> float:
        """Return the largest possible value of a kilowatt: a core's best reward for it."""
        arrays = self.arrays
        runs = (arrays.speeds > 0) & (arrays.watts > 0)
        earned = np.where(runs, arrays.rewards[:, None] * arrays.speeds, 0.0)
        per_watt = earned / np.where(runs, arrays.watts, 1.0)
        return float(per_watt.max(initial=0.0)) * KILO / self.unit or 1.0

    def best(self, task_values: Floats, prices: Floats) -> tuple[Floats, list[tuple[int, NodePattern]]]:
        """Return what each node gains at its price of a kilowatt, and patterns that it may run there."""
        gains = np.zeros(len(prices))
        runs: list[tuple[int, NodePattern]] = []
        for kind, nodes in zip(self.kinds, self.members, strict=True):
            if not len(nodes):
                continue
            own = prices[nodes] / KILO
            low, high = float(own.min()), float(own.max())
            margin = MARGIN * max(abs(low), abs(high))
            envelope = kind.envelope(task_values, low - margin, high + margin)
            best = envelope.at(own)
            gains[nodes] = envelope.values[best] - own * envelope.slopes[best]
            patterns = [kind.pattern(code) for code in envelope.origins]
            for step in range(-NEIGHBOURS, NEIGHBOURS + 1):
                near = best + step
                there = (near >= 0) & (near < len(patterns))
                chosen = zip(nodes[there].tolist(), near[there].tolist(), strict=True)
                runs += [(v, patterns[q]) for v, q in chosen if patterns[q].runs]
        return gains, runs

    def program(self, name: str) -> tuple[LpBuilder, Indices, Indices]:
        """Begin a program: the variables z and P, and the rows of demand, nodes and power (`outlets/fixed.py`)."""
        lp, types, nodes = LpBuilder(name), len(self.flow), range(len(self.overhead))
        z = lp.variables("z", upper=np.where(self.earns > 0, 1.0, 0.0))
        power = lp.variables("P", upper=SLACK * self.most)
        lp.at_most_each([f"demand[{i}]" for i in range(types)], [(np.arange(types), z, 1.0)], 0.0)
        for v in nodes:
            lp.at_most(f"node[{v}]", [], self.copies[v])
        for v in nodes:
            lp.equal(f"power[{v}]", [(power[v : v + 1], 1.0)], self.overhead[v])
        return lp, z, power

    def begun(self, master: LinearProgram, runs: Sequence[tuple[int, NodePattern]]) -> tuple[LinearProgram, list[Run]]:
        """Return a program with columns for these patterns, and what all its columns stand for."""
        return master.with_columns(self.columns(runs)), [*[None] * len(master.costs), *runs]

    def prices(  # noqa: PLR0913 - one for each kind of limit
        self, *, tasks: Floats, cap: float, redlines: Floats, crac_redlines: Floats, cooling: Floats, nodes: Floats
    ) -> FacilityPrices:
        """Return multipliers in reward per second and SI units; a node's is that of its kilowatts."""
        gains, _ = self.best(tasks, nodes)
        per_watt = self.unit / KILO
        return FacilityPrices(
            arrivals=np.maximum(self.arrays.rewards - tasks * self.unit, 0.0),
            tasks=tasks * self.unit,
            cap=cap * per_watt,
            redlines=redlines * self.unit,
            crac_redlines=crac_redlines * self.unit,
            cooling=cooling * per_watt,
            nodes=gains * self.unit,
            watts=nodes * per_watt,
        )

    def columns(self, runs: Sequence[tuple[int, NodePattern]]) -> Columns:
        """Return patterns of nodes as columns of the rows of demand, nodes and power, in that order."""
        types, nodes = len(self.flow), len(self.overhead)
        rows, values, starts = [], [], [0]
        cells: dict[int, tuple[list[int], list[float]]] = {}
        for v, pattern in runs:
            if id(pattern) not in cells:
                use = np.flatnonzero(pattern.rates)
                cells[id(pattern)] = (use.tolist(), (-pattern.rates[use] / self.flow[use]).tolist())
            at, rates = cells[id(pattern)]
            rows += [*at, types + v, types + nodes + v]
            values += [*rates, 1.0, -pattern.watts / KILO]
            starts.append(len(rows))
        return Columns(
            costs=np.zeros(len(runs)),
            upper=SLACK * self.copies[[v for v, _ in runs]],
            starts=np.array(starts, dtype=np.int32),
            rows=np.array(rows, dtype=np.int32),
            values=np.array(values, dtype=float),
        )
