"""The most that a node can gain at some prices, over everything its cores could run at once.

Data       v_i, p       what a task of type i is worth, what a watt costs
           s_ik, a_ik   tasks per second and watts of a core that runs task type i in P-state k
           PD_lm        how much longer a task of class l takes for each other core that runs class m

If n_l cores run class l, a task of class l takes d_l = 1 + sum_m (n_m - [l = m]) PD_lm times as long, so that

    gain(p)  =  max over n, sum n <= cores, of   sum_l n_l  max over i of class l, k  v_i s_ik / d_l - p a_ik.

All n are gone through. For one class and one slowdown, most pairs (i, k) are best at no price; they are left
out first. All in whole numbers (`fixed_point.py`), rounded so that the gain is never too small.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from lpsched.certificate.fixed_point import ONE, PLACES, fixed, product_up, quotient_up

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lpsched.instance.facility import Facility

Line: TypeAlias = tuple[int, int]  # worth per second and watts of a core: its gain is worth - p watts
Slowed: TypeAlias = tuple[int, int]  # a class and its slowdown


class NodeGains:
    """All patterns of the nodes of one type."""

    def __init__(self, facility: Facility, node_type: int) -> None:
        columns = [column for column, (j, _) in enumerate(facility.modes) if j == node_type]
        self._pairs: dict[int, list[tuple[int, int, int]]] = {}  # class -> task type, speed, watts
        for i, task in enumerate(facility.task_types):
            own = self._pairs.setdefault(facility.class_of[i] if facility.classes else 0, [])
            for column in columns:
                speed, watts = facility.speeds[i, column], facility.watts[i, column]
                in_time = speed and (task.deadline_seconds is None or 1.0 / speed < task.deadline_seconds)
                if speed and watts is not None and in_time:
                    own.append((i, fixed(speed), fixed(watts)))
        classes = sorted(each for each, pairs in self._pairs.items() if pairs)
        degradation = _degradation(facility, classes)
        self._compositions: list[list[tuple[int, Slowed]]] = []  # cores, and what they run how slowly
        for counts in compositions(facility.node_types[node_type].cores, classes):
            slowed = {
                each: ONE + sum((n - (m == each)) * degradation[each][m] for m, n in counts.items())
                for each in counts
            }
            self._compositions.append([(n, (each, slowed[each])) for each, n in counts.items()])
        self._slowed = sorted({slow for parts in self._compositions for _, slow in parts})

    def lines(self, worths: Sequence[int]) -> dict[Slowed, list[Line]]:
        """Return what a core can gain, for each class and slowdown, if tasks have these worths."""
        plain = {
            each: [(product_up(worths[i], speed), watts) for i, speed, watts in pairs]
            for each, pairs in self._pairs.items()
        }
        return {
            (each, slow): highest([(quotient_up(worth, slow), watts) for worth, watts in plain[each]])
            for each, slow in self._slowed
        }

    def most(self, lines: dict[Slowed, list[Line]], prices: Sequence[int]) -> list[int]:
        """Return the most that a node gains at each price of a watt; running nothing gains 0.

        With rising prices the highest line only ever moves on, to fewer watts.
        """
        found, at = [0] * len(prices), dict.fromkeys(lines, 0)
        for place in sorted(range(len(prices)), key=prices.__getitem__):
            price, gains = prices[place], {}
            for slow, own in lines.items():
                line, gain = at[slow], _gain(own[at[slow]], price)
                while line + 1 < len(own) and (next_gain := _gain(own[line + 1], price)) >= gain:
                    line, gain = line + 1, next_gain
                at[slow] = line
                gains[slow] = -(-gain >> PLACES)
            found[place] = max(sum(n * gains[slow] for n, slow in parts) for parts in self._compositions)
        return found


def _gain(line: Line, price: int) -> int:
    """Return the gain of a core, exactly; it has twice the places."""
    worth, watts = line
    return (worth << PLACES) - price * watts


def compositions(cores: int, classes: Sequence[int]) -> Iterator[dict[int, int]]:
    """Yield how many cores run each class, in all ways, from none at all up to all cores.

    >>> list(compositions(2, [7]))
    [{}, {7: 1}, {7: 2}]
    """
    if not classes:
        yield {}
        return
    first, *others = classes
    for n in range(cores + 1):
        for rest in compositions(cores - n, others):
            yield ({first: n} if n else {}) | rest


def highest(lines: list[Line]) -> list[Line]:
    """Return the lines worth - p watts that are highest at some price p.

    >>> highest([(4, 2), (1, 1), (3, 2), (9, 9), (0, 0)])
    [(9, 9), (4, 2), (0, 0)]
    """
    kept: list[Line] = []
    for worth, watts in sorted(lines, key=lambda line: (-line[1], -line[0])):
        if kept and kept[-1][1] == watts:
            continue  # as many watts, and worth no more
        while len(kept) > 1:
            (w0, a0), (w1, a1) = kept[-2:]
            if (w0 - w1) * (a1 - watts) < (w1 - worth) * (a0 - a1):
                break  # the last two cross before the last one and this one do: all three are needed
            kept.pop()
        kept.append((worth, watts))
    return kept


def _degradation(facility: Facility, classes: Sequence[int]) -> dict[int, dict[int, int]]:
    table = facility.degradation
    return {
        each: {other: 0 if table is None else fixed(table[each, other] or 0.0) for other in classes}
        for each in classes
    }
