"""Max-min: of the tasks, each on the machine that would end it first, the one that would end last.

    C_i = min over machines g of R_g + e_ij       the largest C_i is taken, on the machine that gives it

Ties go to the lowest task type, and then to the lowest machine type. Only the earliest machines of a type
matter. A step hands out more than one task where that is proved to change nothing:

- to all machines of the group that is ready first, one task each: while one of them is left, no C_i changes;
- if on machine type j no other task type left takes longer than i (nor as long, if it comes before i), then
  whenever j is where i ends first, C_i' <= R_g + e_i'j <= R_g + e_ij = C_i for all i' that are left: i is
  taken again. So i is handed out by completion times on all such machine types, until another machine type
  would end it as soon.

The second holds everywhere for the longest type where all machine types agree on which that is, and the
rule then works on counts. Where they do not agree it goes step by step (`steps.py` has the limit),
comparing doubles.

Source: Ibarra and Kim, 1977; Braun and others, 2001.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lpsched.heuristics.pair_times import PairTimes
from lpsched.heuristics.ready_machines import ReadyMachines, streams_of
from lpsched.heuristics.steps import Steps

if TYPE_CHECKING:
    from lpsched.heuristics.ready_machines import Way
    from lpsched.instance import Bag
    from lpsched.schedule.bag import Schedule


def max_min(bag: Bag, _rng: np.random.Generator) -> Schedule:
    """Hand out the task whose earliest end is the latest, until none is left.

    Raises
    ------
    InstanceError
        If that takes too many steps.
    """
    state, steps = _State(bag), Steps(bag, "max-min")
    while state.unused.any():
        steps.step(state.step())
    return state.machines.schedule()


class _State:
    """Tasks that are left, machines, and when the next task of each pair would end."""

    def __init__(self, bag: Bag) -> None:
        self.times, self.machines = PairTimes.of(bag), ReadyMachines(bag)
        self.left = [task.count for task in bag.task_types]
        self.unused = np.ones(len(self.left), dtype=bool)
        self.ends = self.times.seconds.copy()
        self.longest = self._longest()

    def step(self) -> int:
        """Hand out tasks of one type; return how many."""
        i = int(np.where(self.unused, self.ends.min(axis=1), -np.inf).argmax())
        first = int(self.ends[i].argmin())
        given = min(self.left[i], self._sure(i)) if self.longest[first] == i else 0
        if given:
            ways = self._ways(i)
            self.machines.give(i, ways, given)
        else:
            ways = [self.times.way(i, first)]
            given = min(self.left[i], self.machines.groups[first][0].machines)
            self.machines.give_first(i, ways[0], given)
        for way in ways:
            ready = self.times.in_seconds(self.machines.ready(way.j))
            self.ends[:, way.j] = self.times.seconds[:, way.j] + ready
        self.left[i] -= given
        if not self.left[i]:
            self.unused[i] = False
            self.longest = self._longest()
        return given

    def _longest(self) -> list[int]:
        """Return the task type left that takes longest on each machine type; one that cannot run does."""
        seconds = np.where(self.unused[:, None], self.times.seconds, -np.inf)
        return [int(i) for i in seconds.argmax(axis=0)]

    def _ways(self, i: int) -> list[Way]:
        """Return the ways on machine types where no task type left takes longer."""
        return [way for way in self.times.ways(i) if self.longest[way.j] == i]

    def _sure(self, i: int) -> int:
        """Return how many tasks of a type go to such machine types before any other would end one as soon."""
        others = [way for way in self.times.ways(i) if self.longest[way.j] != i]
        if not others:
            return self.left[i]
        limit = min(self.machines.ready(way.j) + way.ticks for way in others)
        streams = streams_of(self.machines.owners(self._ways(i)))
        return sum(each.machines * each.rounds(limit - 1) for each in streams)
