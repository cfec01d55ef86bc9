"""Chromosomes, the best first: insertion by score, and the worst trimmed.

A child with the score of an older chromosome stands behind it, so the best changes only for a better one.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lpsched.instance.array_types import Floats
    from lpsched.schedule.population import States


@dataclass(frozen=True, slots=True, eq=False)
class Chromosome:
    """Genes, the outlets that go with them, and what they earn; nobody changes the arrays any more."""

    fractions: Floats  # K x I
    states: States  # K x I
    outlets: Floats  # U, celsius
    score: float


class Ranking:
    """At most `size` chromosomes in falling order of their scores."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.members: list[Chromosome] = []

    @property
    def is_full(self) -> bool:
        """Whether the next insertion drives somebody out."""
        return len(self.members) >= self.size

    @property
    def best(self) -> Chromosome:
        """The best of all."""
        return self.members[0]

    def insert(self, chromosomes: Iterable[Chromosome]) -> None:
        """Rank newcomers among the others, then trim the worst."""
        for each in chromosomes:
            place = bisect_right(self.members, -each.score, key=lambda member: -member.score)
            self.members.insert(place, each)
        del self.members[self.size :]
