"""What a chromosome is ranked by: two numbers, both to be minimised."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from lpsched.instance.array_types import Floats
    from lpsched.schedule.genes import Genes


class Scorer(Protocol):
    """Scores S chromosomes at once.

    The first number is energy in joules, the second makespan in seconds or *minus* utility; of samples, the
    expected value or a percentile of either.
    """

    @property
    def name(self) -> str:
        """What the two numbers are, in words; a saved population is only resumed with the same."""

    def __call__(self, genes: Genes) -> Floats:
        """Return S x 2 scores."""
