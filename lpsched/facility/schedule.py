"""Allocations of a facility: patterns of gangs, or fractions of single cores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from lpsched.model.answers import AnyName, AnyNumber, AnyWhole, Piece
from lpsched.model.fields import Several


# Allocations of a facility, in the two forms that are verified.
#
# **Gang**: a node runs patterns in turn; a pattern says what all its cores run at one moment, for a share of
# the time. **Cores**: every core divides its time on its own, as the paper's DF(i, k) and PS(i, k) say.
@dataclass(frozen=True, slots=True)
class CoreRun(Piece):
    """Some cores of a node that run tasks of one type, in one P-state (`None` where there are none)."""

    _KEYS: ClassVar[str] = "task_type cores p_state?"

    task_type: AnyName
    cores: AnyWhole
    p_state: AnyName | None = None


@dataclass(frozen=True, slots=True)
class PatternShare(Piece):
    """What a node's cores run at once, for a share of the time; cores in no run are idle."""

    share: AnyNumber
    runs: Annotated[tuple[CoreRun, ...], Several()]


@dataclass(frozen=True, slots=True)
class GangAllocation:
    """Outlet temperatures, and for each node its patterns; in the time that is left a node is idle."""

    outlets_celsius: tuple[float, ...]
    nodes: tuple[tuple[PatternShare, ...], ...]


@dataclass(frozen=True, slots=True)
class CoreFraction(Piece):
    """The fraction of a core's time for tasks of one type, always in the same P-state."""

    _KEYS: ClassVar[str] = "task_type fraction p_state?"

    task_type: AnyName
    fraction: AnyNumber
    p_state: AnyName | None = None


@dataclass(frozen=True, slots=True)
class CoreAllocation:
    """Outlet temperatures, and for each core of each node what it divides its time between."""

    outlets_celsius: tuple[float, ...]
    nodes: tuple[tuple[tuple[CoreFraction, ...], ...], ...]
