"""What do the nodes of an allocation do? Rates and watts, and the rules that each node keeps by itself.

Two forms are known. With PD(i, t) the degradation of task type i by task type t,

    gang    the cores of a pattern run at once, each at     speed / (1 + sum of PD over the other cores)
    cores   each core k divides its time on its own, f(i, k) of it for task type i, and is slowed down by what
            the other cores l do on average:                f(i, k) speed / (1 + sum_lt f(t, l) PD(i, t))
            equations 1, 9 and 10 for any number of cores, additive, as the paper's text has it

    watts of a node     overhead + sum of (share of the time) * (watts of the core)         equation 4
    rules               task type i runs only where 1 / speed < deadline (equation 3); a pattern runs on no
                        more cores than there are; no core is busy for more than all of its time, and it runs
                        a task type always in the same P-state
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from lpsched.schedule.facility import GangAllocation
from lpsched.verify.violation import Violation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.instance.facility import Facility
    from lpsched.schedule.facility import CoreAllocation, CoreFraction, PatternShare

ROUNDING: Final = 1e-9  # as a share of a limit; what adding up doubles may do
MOST: Final = 1000  # violations that are told; more would not help anybody


class Tally:
    """Adds up what an allocation does: watts of each node, tasks a second of each type."""

    def __init__(self, facility: Facility) -> None:
        self.facility = facility
        self.row = {task.name: i for i, task in enumerate(facility.task_types)}
        self.column: dict[tuple[int, str | None], int] = {}
        for j, kind in enumerate(facility.node_types):
            for state in kind.p_states if kind.p_states is not None else (None,):
                self.column[j, state] = len(self.column)
        self.watts: list[float] = []
        self.rates = [0.0] * len(facility.task_types)
        self.plain_rates = [0.0] * len(facility.task_types)

    def take(self, allocation: GangAllocation | CoreAllocation) -> list[Violation]:
        """Go through all nodes; return the rules that they break by themselves."""
        found: list[Violation] = []
        for v, j in enumerate(self.facility.nodes):
            where = f"node {v} ({self.facility.node_types[j].name!r})"
            self.watts.append(self.facility.node_types[j].overhead_watts)
            if isinstance(allocation, GangAllocation):
                found += self._take_patterns(where, j, allocation.nodes[v])
            else:
                found += self._take_cores(where, j, allocation.nodes[v])
            if len(found) >= MOST:
                break
        return found

    def _take_patterns(self, where: str, j: int, patterns: Sequence[PatternShare]) -> list[Violation]:
        """Count a node that runs patterns in turn."""
        found = _bad_shares(where, [pattern.share for pattern in patterns])
        cores = self.facility.node_types[j].cores
        for pattern in patterns:
            broken = []
            for run in pattern.runs:
                broken += self._forbidden(where, j, run.task_type, run.p_state)
                if run.cores < 1:
                    broken.append(Violation("bad-number", f"{where}: a run has {run.cores} cores"))
            used = sum(run.cores for run in pattern.runs)
            if used > cores:
                sentence = f"{where}: a pattern runs on {used} cores, but there are {cores}"
                broken.append(Violation("too-many-cores", sentence))
            found += broken
            for at, run in enumerate(pattern.runs if not broken else ()):
                i, column = self.row[run.task_type], self.column[j, run.p_state]
                slower = 1.0
                for place, other in enumerate(pattern.runs):
                    count = other.cores - (1 if place == at else 0)  # a core does not slow itself down
                    slower += count * self._degradation(i, self.row[other.task_type])
                self._count(i, column, run.cores * pattern.share, slower)
        return found

    def _take_cores(self, where: str, j: int, cores: Sequence[Sequence[CoreFraction]]) -> list[Violation]:
        """Count a node whose cores divide their time independently."""
        expected = self.facility.node_types[j].cores
        if len(cores) != expected:
            sentence = f"{where}: the allocation has {len(cores)} cores, but there are {expected}"
            return [Violation("wrong-core-count", sentence)]
        found: list[Violation] = []
        for k, parts in enumerate(cores):
            found += _bad_shares(f"{where}, core {k}", [part.fraction for part in parts])
            states: dict[str, str | None] = {}
            for part in parts:
                found += self._forbidden(f"{where}, core {k}", j, part.task_type, part.p_state)
                if states.setdefault(part.task_type, part.p_state) != part.p_state:
                    sentence = f"{where}, core {k}: {part.task_type!r} runs in more than one P-state"
                    found.append(Violation("two-p-states", sentence))
        for k, parts in enumerate(cores) if not found else ():
            others = [part for other, each in enumerate(cores) if other != k for part in each]
            for part in parts:
                i, column = self.row[part.task_type], self.column[j, part.p_state]
                slower = 1.0
                for other in others:
                    slower += other.fraction * self._degradation(i, self.row[other.task_type])
                self._count(i, column, part.fraction, slower)
        return found

    def _count(self, i: int, column: int, time: float, slower: float) -> None:
        """Add what some core time of the node gone through last brings and draws."""
        speed, watts = self.facility.speeds[i, column], self.facility.watts[i, column]
        assert speed is not None, "only pairs that can run are counted"
        assert watts is not None, "what can run has watts"
        self.rates[i] += time * speed / slower
        self.plain_rates[i] += time * speed
        self.watts[-1] += time * watts

    def _degradation(self, i: int, other: int) -> float:
        facility = self.facility
        if facility.degradation is None:
            return 0.0
        return facility.degradation[facility.class_of[i], facility.class_of[other]] or 0.0

    def _forbidden(self, where: str, j: int, task_type: str, state: str | None) -> list[Violation]:
        """Return whether a task type cannot, or may not, run on a node type in a P-state."""
        if task_type not in self.row:
            return [Violation("unknown-task-type", f"{where}: there is no task type {task_type!r}")]
        if (j, state) not in self.column:
            return [Violation("unknown-p-state", f"{where}: there is no P-state {state!r}")]
        what = f"{where}: {task_type!r}" + ("" if state is None else f" in P-state {state!r}")
        speed = self.facility.speeds[self.row[task_type], self.column[j, state]]
        if not speed:
            return [Violation("cannot-run", f"{what} cannot run")]
        deadline = self.facility.task_types[self.row[task_type]].deadline_seconds
        if deadline is not None and 1.0 / speed >= deadline:
            sentence = (
                f"{what} takes {1.0 / speed!r} s, but must take less than its deadline of {deadline!r} s"
            )
            return [Violation("misses-deadline", sentence)]
        return []


def _bad_shares(where: str, shares: Sequence[float]) -> list[Violation]:
    """Return whether parts of the time are no parts, or together more than all of it."""
    for share in shares:
        if not 0.0 <= share <= math.inf:  # which NaN is not
            return [Violation("bad-number", f"{where}: {share!r} is no part of the time")]
    total = math.fsum(shares)
    if total > 1.0 + ROUNDING:
        return [Violation("over-full-time", f"{where}: busy for {total!r} of the time, more than all of it")]
    return []
