"""Longest processing time first, for groups of machines instead of single ones.

Tasks of one machine type are placed longest first, each on the machine that is free earliest. n equal
tasks of length e on machines with ready times R_g (m_g of each) start at the n smallest of the times

    R_g + q e,   q = 0, 1, 2, ...,   each m_g times.

Write R_g = R_min + (k_g + f_g) e with whole k_g and 0 <= f_g < 1. The starts with k_g + q < Q number
sum_g m_g max(0, Q - k_g): take the largest Q for which this is at most n, then one more task per machine
among the groups with k_g <= Q, smallest f_g first, until n is reached. The last group may have to be
split in two. So a task type costs one sort of the groups and adds at most one group; the cost depends
on neither the number of tasks nor the number of machines. The multiset of machine loads is that of
placing the tasks one by one, up to the rounding of sums.

Source: Tarplee, Maciejewski and Siegel, 2014, algorithm 2 (task by task).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from lpsched.schedule.bag import MachineGroup, Run, Schedule

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lpsched.instance import Bag, MachineType


@dataclass(slots=True)
class _Group:
    ready: float
    machines: int
    runs: list[Run] = field(default_factory=list)


Work: TypeAlias = tuple[tuple[float, int, int, int], ...]  # of a machine type: -seconds, i, k, count
Known: TypeAlias = dict[tuple[int, Work], list[MachineGroup]]  # machine types that were placed before


def place(bag: Bag, counts: Sequence[Mapping[int, int]], known: Known | None = None) -> Schedule:
    """Put whole tasks on machines: ``counts[i][column]`` tasks of type i run in that column's mode.

    Ties go to the lowest index, so a rerun gives the same schedule. `known` is for many schedules of one bag:
    a machine type that is given the same work again is looked up there.
    """
    known = known if known is not None else {}
    work: list[list[tuple[float, int, int, int]]] = [[] for _ in bag.machine_types]
    for i, row in enumerate(counts):
        for column, count in row.items():
            seconds = bag.seconds[i, column]
            assert seconds is not None, "only pairs that can run get tasks"
            j, k = bag.modes[column]
            work[j].append((-seconds, i, k, count))
    groups: list[MachineGroup] = []
    for j, (machine, tasks) in enumerate(zip(bag.machine_types, work, strict=True)):
        key = (j, tuple(tasks))
        if key not in known:
            known[key] = _placed(bag, machine, key[1])
        groups += known[key]
    return Schedule(tuple(groups))


def _placed(bag: Bag, machine: MachineType, tasks: Work) -> list[MachineGroup]:
    """Put tasks on the machines of one type."""
    own = [_Group(0.0, machine.count)]
    for negative_seconds, i, k, count in sorted(tasks):
        p_state = machine.p_states[k] if machine.p_states is not None else None
        _fill(own, -negative_seconds, count, Run(bag.task_types[i].name, 1, p_state))
    return [MachineGroup(machine.name, each.machines, tuple(each.runs)) for each in own if each.runs]


def _fill(groups: list[_Group], seconds: float, count: int, one: Run) -> None:
    """Place `count` equal tasks on the groups, earliest starts first; may split one group."""
    if len(groups) == 1 and count % groups[0].machines == 0:
        each = count // groups[0].machines
        groups[0].runs.append(Run(one.task_type, each, one.p_state))
        groups[0].ready += each * seconds
        return
    least = min(group.ready for group in groups)
    steps = [math.floor((group.ready - least) / seconds) for group in groups]
    level = _level(sorted(zip(steps, (group.machines for group in groups), strict=True)), count)
    given = [max(0, level - step) for step in steps]
    left = count - sum(group.machines * number for group, number in zip(groups, given, strict=True))
    next_starts = sorted(
        (group.ready + number * seconds, index)
        for index, (group, number) in enumerate(zip(groups, given, strict=True))
    )  # groups with k_g > Q come after all others, and are never reached
    for _, index in next_starts:
        if left == 0:
            break
        group = groups[index]
        if group.machines > left:  # split: the rest of the group gets no more
            groups.append(_Group(group.ready, group.machines - left, list(group.runs)))
            given.append(given[index])
            group.machines = left
        given[index] += 1
        left -= group.machines
    for group, number in zip(groups, given, strict=True):
        if number:
            group.runs.append(Run(one.task_type, number, one.p_state))
            group.ready += number * seconds


def _level(groups: list[tuple[int, int]], count: int) -> int:
    """Return the largest Q with sum of m max(0, Q - k) at most `count`; groups (k, m) by rising k."""
    machines = weighted = 0
    for position, (step, number) in enumerate(groups):
        machines += number
        weighted += number * step
        last = position + 1 == len(groups)
        if last or machines * groups[position + 1][0] - weighted > count:
            break
    return (count + weighted) // machines
