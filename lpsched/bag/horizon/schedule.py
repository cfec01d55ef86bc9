"""Plans: what identical machines run over a horizon, and when. Nothing is preempted.

A machine type that must stay on draws its idle watts whenever it runs nothing. One that may be off when idle
(`may_be_off`) is on exactly while it runs tasks and during its `idle` spans, which pay where prices are negative or
switching on costs something; they may overlap runs. A machine is switched on once for each span that it is on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from lpsched.model.answers import AnswerPart, AnyName, AnyWhole
from lpsched.model.fields import Amount, Several
from lpsched.units import counted

Moment = Annotated[float, Amount("seconds from the start of the horizon")]


@dataclass(frozen=True, slots=True)
class TimedRun(AnswerPart):
    """Some tasks of one type without a pause between them; seconds count from the start of the horizon."""

    _KEYS: ClassVar[str] = "start_seconds task_type count p_state?"

    start_seconds: Moment
    task_type: AnyName
    count: AnyWhole
    p_state: AnyName | None = None


@dataclass(frozen=True, slots=True)
class IdleSpan(AnswerPart):
    """A span in which a machine that may be off stays on without running anything."""

    start_seconds: Moment
    end_seconds: Moment


@dataclass(frozen=True, slots=True)
class PlanGroup(AnswerPart):
    """How many machines of a type do the same, and what each of them does, in the order of time."""

    _KEYS: ClassVar[str] = "machine_type machines runs idle?"

    machine_type: AnyName
    machines: AnyWhole
    runs: Annotated[tuple[TimedRun, ...], Several()]
    idle: Annotated[tuple[IdleSpan, ...], Several()] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """All groups; machines in none of them run nothing, and are off where they may be."""

    groups: tuple[PlanGroup, ...]

    def __repr__(self) -> str:
        """Return the sizes of the plan."""
        machines = sum(group.machines for group in self.groups)
        tasks = sum(group.machines * run.count for group in self.groups for run in group.runs)
        return f"<Plan: {counted(tasks, 'task')} on {counted(machines, 'machine')}>"


def united(spans: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return spans in the order of time, those that touch or overlap as one."""
    found: list[tuple[float, float]] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found
