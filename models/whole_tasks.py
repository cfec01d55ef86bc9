"""What whole tasks imply and split ones do not, straight from the definitions, in fractions.

L         the least t in which the machines could finish all tasks of a set S of task types, if each took no
          longer than the quickest of the set,  sum_j m_j floor(t / e_jS) >= n(S),  e_jS = min e_ijk over i
          in S and k; the largest of these, S being a task type alone, or the one, two, three, ... that
          take longest where they are done soonest
usable    a pair whose time is above the deadline is in no schedule
units     without a power cap, the best schedule ends when its last task does: t is a whole number of u, the
          largest unit of which all times are whole numbers, and E = sum d x + I t one of the largest unit of
          all d_ijk = e_ijk (a_ijk - b_j) and I u
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lpsched.bag.model import Bag

Pair: TypeAlias = tuple[int, int, int]  # task type i, machine type j, P-state k


def shortest(bag: Bag) -> Fraction:
    """Return L."""
    e = times(bag)
    soonest = [min(e[pair] for pair in e if pair[0] == i) for i in range(len(bag.task_types))]
    order = sorted(range(len(soonest)), key=lambda i: -soonest[i])
    sets = [{i} for i in order] + [set(order[: k + 1]) for k in range(len(order))]
    return max(_in_time(bag, e, each) for each in sets)


def _in_time(bag: Bag, e: dict[Pair, Fraction], types: set[int]) -> Fraction:
    """Return the least t for one set: it is a whole number of e_jS, for one of the machine types."""
    quickest: dict[int, Fraction] = {}
    for (i, j, _), seconds in e.items():
        if i in types:
            quickest[j] = min(seconds, quickest.get(j, seconds))
    tasks = sum(bag.task_types[i].count for i in types)

    def finished(t: Fraction) -> int:
        return sum(bag.machine_types[j].count * (t // each) for j, each in quickest.items())

    found = []
    for each in quickest.values():
        low, high = 0, tasks  # so many in a row do not suffice, and so many do
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if finished(middle * each) >= tasks else (middle, high)
        found.append(high * each)
    return min(found)


def times(bag: Bag) -> dict[Pair, Fraction]:
    """Return e of all pairs that can run, whatever the deadline."""
    return {
        (i, j, k): Fraction(cell)
        for i, row in enumerate(bag.seconds)
        for (j, k), cell in zip(bag.modes, row, strict=True)
        if cell is not None
    }


def usable(bag: Bag) -> set[Pair]:
    """Return the pairs that a schedule within the deadline may have."""
    limit = bag.site.deadline_seconds
    return {pair for pair, seconds in times(bag).items() if limit is None or seconds <= limit}


def on_grid(bag: Bag, seconds: float) -> Fraction:
    """Return the least makespan from so many seconds up that a schedule may have."""
    return _next(Fraction(seconds), _unit(_used_times(bag))) if _is_free(bag) else Fraction(seconds)


def on_energy_grid(bag: Bag, joules: float) -> Fraction:
    """Return the least energy from so many joules up that a schedule may take."""
    if not _is_free(bag):
        return Fraction(joules)
    idle = [Fraction(machine.idle_watts) for machine in bag.machine_types]
    floor = sum(machine.count * b for machine, b in zip(bag.machine_types, idle, strict=True))
    above = []
    for i, row in enumerate(bag.watts or ()):
        for (j, k), watts in zip(bag.modes, row, strict=True):
            if (i, j, k) in usable(bag):
                above.append(times(bag)[i, j, k] * (Fraction(watts or 0.0) - idle[j]))
    return _next(Fraction(joules), _unit([*above, floor * _unit(_used_times(bag))]))


def _is_free(bag: Bag) -> bool:
    """Tell whether no schedule is better for waiting: that takes a power cap."""
    return bag.site.average_power_cap_watts is None


def _used_times(bag: Bag) -> list[Fraction]:
    return [seconds for pair, seconds in times(bag).items() if pair in usable(bag)]


def _unit(amounts: Iterable[Fraction]) -> Fraction:
    """Return the largest number of which all are whole multiples."""
    unit = Fraction(0)
    for each in amounts:
        down = math.lcm(unit.denominator, each.denominator)
        unit = Fraction(math.gcd(int(unit * down), int(each * down)), down)
    return unit


def _next(number: Fraction, unit: Fraction) -> Fraction:
    return math.ceil(number / unit) * unit if unit else number
