"""A proof that no schedule is faster: machine prices, and one sum in exact arithmetic.

Let pi_j >= 0 be any prices of machine time. In a schedule of makespan t the machines of type j work
for at most m_j t seconds, so the time used, at these prices, costs at most t sum_j m_j pi_j. Every task of
type i costs at least min_jk e_ijk pi_j, wherever it runs. Hence

    t  >=  sum_i n_i min_jk (e_ijk pi_j)  /  sum_j m_j pi_j.

The doubles are taken as the exact fractions that they are, brought to a common power of two, and summed
as integers. Where the prices came from does not matter: bad ones prove less, never something false.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.instance import Bag


def proved_makespan(bag: Bag, prices: Sequence[float]) -> Fraction:
    """Return the exact makespan, in seconds, below which these prices prove that no schedule stays.

    Prices that are not positive numbers count as 0; if none is left, nothing is proved and 0 returned.

    >>> from lpsched.instance import Bag, MachineType, Table, TaskType
    >>> cpu, render = MachineType(name="cpu", count=2), TaskType(name="render", count=5)
    >>> proved_makespan(Bag("b", (cpu,), (render,), Table.of([[3.0]])), [1.0])
    Fraction(15, 2)
    """
    assert len(prices) == len(bag.machine_types), "one price for each machine type"
    sound = [price if math.isfinite(price) and price > 0 else 0.0 for price in prices]
    pi, _ = _integers(sound)
    supply = sum(machine.count * price for machine, price in zip(bag.machine_types, pi, strict=True))
    if supply == 0:
        return Fraction(0)
    price_of = [pi[j] for j, _ in bag.modes]
    demand = Fraction(0)
    for i, task in enumerate(bag.task_types):
        pairs = [(e, price) for e, price in zip(bag.seconds.row(i), price_of, strict=True) if e is not None]
        seconds, shift = _integers([e for e, _ in pairs])
        cheapest = min(e * price for e, (_, price) in zip(seconds, pairs, strict=True))
        demand += Fraction(task.count * cheapest, 1 << shift)
    return demand / supply


def rounded_down(exact: Fraction) -> float:
    """Return the largest double that is not above an exact number: a lower bound stays one."""
    rounded = float(exact)
    return rounded if rounded <= exact else math.nextafter(rounded, -math.inf)


def _integers(numbers: Sequence[float]) -> tuple[list[int], int]:
    """Return whole numbers z and a shift s with number = z / 2^s, exactly."""
    ratios = [number.as_integer_ratio() for number in numbers]
    shift = max(denominator.bit_length() for _, denominator in ratios) - 1
    return [numerator * ((1 << shift) // denominator) for numerator, denominator in ratios], shift
