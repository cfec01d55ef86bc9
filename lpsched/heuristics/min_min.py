"""Min-min: of all tasks and machines, the pair that would end first; again and again.

    R_g   when machine g, of type j, is ready        s(j)  the shortest task type left for machine type j

The rule takes the least R_g + e_ij over all tasks i that are left and all machines g; ties go to the lowest
task type, then to the lowest machine type. Said so it goes task by task, but it has an exact form on
counts:

1. For a machine of type j the least R_g + e_ij is that of s(j), whatever R_g is. So while no task type is
   used up, a machine of type j runs s(j) over and over, and its completion times are R_g + q e_s(j)j,
   q = 1, 2, ...
2. What is chosen is the least of the next completion times. The machine's next one is later, and all others
   stay: so completion times are chosen in rising order, as if all those sequences were merged.
3. A used-up type makes s(j) another one, not shorter. So the next completion of those machines is not earlier
   than what was chosen last, and rising order goes on.

So task type i, while the machine types with s(j) = i stay the same, is used up at the n_i-th smallest of
their completion times (`lowest_times.py`). A phase finds the type that is used up first, and moves its
machine types on to their next shortest. What the others have done until then is settled only when machine
types join them. There are as many phases as task types, and no phase looks at single tasks.

Settled is what ended before the moment at which type i is used up. What ends at that very moment on machines
of another type i' is left to the next plan, and taken there in the right order: if i' > i, it comes after i
anyhow; if i' < i, machines that join i' end their first task later, since i was shorter for them.

Source: Ibarra and Kim, "Heuristic algorithms for scheduling independent tasks on nonidentical processors",
1977; Braun and others, "A comparison of eleven static heuristics for mapping a class of independent tasks
onto heterogeneous distributed computing systems", 2001. The form on counts is ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lpsched.heuristics.lowest_times import Lowest, lowest
from lpsched.heuristics.pair_times import PairTimes
from lpsched.heuristics.ready_machines import Group, ReadyMachines, Way, streams_of

if TYPE_CHECKING:
    from lpsched.instance import Bag
    from lpsched.schedule.bag import Schedule


def min_min(bag: Bag, _rng: np.random.Generator) -> Schedule:
    """Hand out the task that would end first, until none is left."""
    phases = _Phases(bag)
    while phases.plans:
        phases.use_up(*min((plan.taken.last, i) for i, plan in phases.plans.items()))
    return phases.machines.schedule()


@dataclass(frozen=True, slots=True)
class _Plan:
    """How all tasks that are left of a type would be handed out, if its machine types stayed the same."""

    owners: list[tuple[Group, Way]]
    taken: Lowest


class _Phases:
    """Which task type each machine type runs now, and when each of those task types would be used up."""

    def __init__(self, bag: Bag) -> None:
        self.machines, self.times = ReadyMachines(bag), PairTimes.of(bag)
        self.left = [task.count for task in bag.task_types]
        self.order = np.argsort(self.times.seconds, axis=0, kind="stable")  # of each machine type
        self.place = [0] * len(bag.machine_types)
        self.users: dict[int, list[int]] = {}
        self.plans: dict[int, _Plan] = {}
        self._join(range(len(bag.machine_types)))

    def use_up(self, time: int, i: int) -> None:
        """Hand out the rest of a task type, and let its machine types go on to their next shortest."""
        plan = self.plans.pop(i)
        self.machines.take(i, plan.owners, plan.taken)
        self.left[i] = 0
        free = self.users.pop(i)
        for other in self.plans.keys() & {self._shortest(j) for j in free}:
            self._settle(other, time - 1)
        self._join(free)

    def _shortest(self, j: int) -> int | None:
        """Return the shortest task type left for a machine type; `None` if it can run none of them."""
        while self.place[j] < len(self.left):
            i = int(self.order[self.place[j], j])
            if not np.isfinite(self.times.seconds[i, j]):
                return None
            if self.left[i]:
                return i
            self.place[j] += 1
        return None

    def _settle(self, i: int, time: int) -> None:
        """Let a type's machines do what they have done by a time."""
        owners = self.plans[i].owners
        rounds = [each.rounds(time) for each in streams_of(owners)]
        self.left[i] -= sum(group.machines * n for (group, _), n in zip(owners, rounds, strict=True))
        assert self.left[i] > 0, "it would have been used up before"
        self.machines.take(i, owners, Lowest(rounds, None, time))

    def _join(self, free: range | list[int]) -> None:
        """Let machine types run their shortest task type, and plan anew what that changes."""
        joined = set()
        for j in free:
            i = self._shortest(j)
            if i is not None:
                self.users.setdefault(i, []).append(j)
                joined.add(i)
        for i in joined:
            owners = self.machines.owners([self.times.way(i, j) for j in sorted(self.users[i])])
            self.plans[i] = _Plan(owners, lowest(streams_of(owners), self.left[i]))
