"""A policy: a name, a function from the present to assignments, and whether it maps each task as it comes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from lpsched.simulation.state import Assignment, Assignments, State


class Choose(Protocol):
    """Answers at a mapping event."""

    def __call__(self, state: State, rng: np.random.Generator, /) -> Assignments | Sequence[Assignment]:
        """Return what to map, in the order in which it was decided."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What the engine asks at each mapping event; of immediate mode: at each arrival, about that task."""

    name: str
    choose: Choose
    immediate: bool = False
