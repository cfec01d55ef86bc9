"""A policy for clusters: a name, a function from the present to placements, and what it uses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from lpsched.simulation.clusters.state import ClusterState, Placement


class Place(Protocol):
    """Answers at a mapping event."""

    def __call__(self, state: ClusterState, rng: np.random.Generator, /) -> Sequence[Placement]:
        """Return what to place, in the order in which it was decided."""


@dataclass(frozen=True, slots=True)
class ClusterPolicy:
    """What the engine asks at each mapping event."""

    name: str
    place: Place
    placeholders: bool = False  # what starts later is forgotten at the next mapping event
    drops: bool = True  # tasks that can earn next to nothing
    filtered: bool = True  # choices that take more than their fair share of energy
    needs_utility: bool = False  # and cannot judge tasks by their waiting
