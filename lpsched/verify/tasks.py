"""Is this list of single tasks a schedule of that bag? Every machine is gone through by itself.

Rows may come in any order. With start times, a machine may pause between tasks but not run two at once, and
the makespan is when the last task ends; without, each machine runs its rows in their order, without a pause.
Start times are decimal numbers that someone rounded, so tasks may overlap by a billionth of the time at which
they do.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from lpsched.schedule.bag import MachineGroup, Run, Schedule
from lpsched.verify.violation import LONGEST, Violation, rounded_up

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lpsched.instance import Bag
    from lpsched.schedule.tasks import TaskRow

ROUNDING: Final = Fraction(1, 10**9)
MOST: Final = 1000  # violations of one file; more would not help anybody


@dataclass(frozen=True, slots=True)
class Gathered:
    """The rows as a compact schedule, and the rules that only single tasks can break."""

    schedule: Schedule
    violations: tuple[Violation, ...]


def gather(bag: Bag, rows: Iterable[TaskRow]) -> Gathered:
    """Put the rows of each machine together, and machines that run the same into groups."""
    found: list[Violation] = []
    count_of = {machine.name: machine.count for machine in bag.machine_types}
    machines: dict[tuple[str, int], list[TaskRow]] = {}
    timed = untimed = 0
    for row in rows:
        most = count_of.get(row.machine_type)
        if most is not None and not 1 <= row.machine <= most:
            sentence = f"there is no machine {row.machine} of type {row.machine_type!r}, only 1 to {most}"
            found.append(Violation("no-such-machine", sentence))
        start = row.start_seconds
        if start is not None and not 0 <= start <= LONGEST:
            found.append(Violation("bad-start", f"a task of type {row.task_type!r} starts at {start!r} s"))
        timed, untimed = timed + (start is not None), untimed + (start is None)
        machines.setdefault((row.machine_type, row.machine), []).append(row)
        if len(found) >= MOST:
            break
    if not machines:
        found.append(Violation("wrong-count", "there is no task in it"))
    if timed and untimed:
        found.append(Violation("missing-start", f"{untimed} tasks have no start, {timed} have one"))
    if found:
        return Gathered(Schedule(()), tuple(found))
    seconds = _Seconds(bag)
    end = Fraction(0)
    alike: Counter[tuple[str, tuple[Run, ...]]] = Counter()
    for (machine_type, number), own in machines.items():
        if timed:
            own.sort(key=lambda row: row.start_seconds or 0.0)
            last, broken = _last_end(seconds, own, f"machine {number} of type {machine_type!r}")
            end, found = max(end, last), found + broken
        alike[machine_type, _runs(own)] += 1
    groups = tuple(MachineGroup(name, number, runs) for (name, runs), number in alike.items())
    longest = max((seconds.of_runs(group) for group in groups), default=Fraction(0))
    finish = rounded_up(max(end, longest)) if timed else None
    return Gathered(Schedule(groups, finish), tuple(found[:MOST]))


def _last_end(seconds: _Seconds, rows: list[TaskRow], machine: str) -> tuple[Fraction, list[Violation]]:
    """Return when a machine's last task ends, and where two of its tasks overlap."""
    end, found = Fraction(0), []
    for row in rows:
        start = Fraction(row.start_seconds or 0.0)
        if start < end - end * ROUNDING:
            early = f"starts at {float(start)!r} s, but the one before ends at {float(end)!r} s"
            found.append(Violation("overlap", f"on {machine} a task of type {row.task_type!r} {early}"))
        end = max(end, start + seconds.of(row.task_type, row.machine_type, row.p_state))
    return end, found


def _runs(rows: list[TaskRow]) -> tuple[Run, ...]:
    runs: list[Run] = []
    for row in rows:
        if runs and (runs[-1].task_type, runs[-1].p_state) == (row.task_type, row.p_state):
            runs[-1] = Run(row.task_type, runs[-1].count + 1, row.p_state)
        else:
            runs.append(Run(row.task_type, 1, row.p_state))
    return tuple(runs)


class _Seconds:
    """How long tasks take; one that cannot run takes none here, and is found by the checker of schedules."""

    def __init__(self, bag: Bag) -> None:
        self._known: dict[tuple[str, str, str | None], Fraction] = {}
        column = 0
        for machine in bag.machine_types:
            for state in machine.p_states or (None,):
                for i, task in enumerate(bag.task_types):
                    self._known[task.name, machine.name, state] = Fraction(bag.seconds[i, column] or 0.0)
                column += 1

    def of(self, task_type: str, machine_type: str, p_state: str | None) -> Fraction:
        return self._known.get((task_type, machine_type, p_state), Fraction(0))

    def of_runs(self, group: MachineGroup) -> Fraction:
        runs = (run.count * self.of(run.task_type, group.machine_type, run.p_state) for run in group.runs)
        return sum(runs, Fraction(0))
