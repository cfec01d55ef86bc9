"""KPB, k-percent best: each task goes to the machine that ends it first, of the k % that run it fastest.

The machines that can run a task are put in the order of its execution time; whole machine types, the fastest
first (of equally fast ones the lowest), until they hold at least k % of those machines. With few per cent the
rule is MET, with all of them MCT. Tasks come type by type, in the order of the file, and the rule works on
counts as MCT does.

Source: Maheswaran, Ali, Siegel, Hensgen and Freund, "Dynamic mapping of a class of independent tasks onto
heterogeneous computing systems", 1999, where 20 % did well on inconsistent times.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lpsched.heuristics.pair_times import PairTimes
from lpsched.heuristics.ready_machines import ReadyMachines, Way

if TYPE_CHECKING:
    import numpy as np

    from lpsched.instance import Bag
    from lpsched.schedule.bag import Schedule

PERCENT: Final = 20.0


def k_percent_best(bag: Bag, _rng: np.random.Generator, *, percent: float = PERCENT) -> Schedule:
    """Hand every task to the machine that ends it first, of the fastest ones."""
    times, machines = PairTimes.of(bag), ReadyMachines(bag)
    for i, task in enumerate(bag.task_types):
        machines.give(i, _best(bag, times.ways(i), percent), task.count)
    return machines.schedule()


def _best(bag: Bag, ways: list[Way], percent: float) -> list[Way]:
    """Return the fastest ways, until they are on enough machines, by machine type."""
    enough = percent / 100.0 * sum(bag.machine_types[way.j].count for way in ways)
    chosen: list[Way] = []
    there = 0
    for way in sorted(ways, key=lambda way: (way.ticks, way.j)):
        chosen.append(way)
        there += bag.machine_types[way.j].count
        if there >= enough:
            break
    return sorted(chosen, key=lambda way: way.j)
