"""What NSGA-II needs to know of an instance, and what chromosomes are ranked by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lpsched.model.arrays import Floats, Integers

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lpsched.errors import Fault
    from lpsched.evolve.breeding import Pairs
    from lpsched.evolve.genes import Genes
    from lpsched.model.arrays import Floats
    from lpsched.model.risk import RiskOptions


# What a chromosome is ranked by: two numbers, both to be minimised.


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


# What NSGA-II needs to know of an instance whose tasks it maps: a bag, or a day of arriving tasks.


class Sampler(Scorer, Protocol):
    """Scores chromosomes by samples, and tells all of them."""

    def samples(self, genes: Genes) -> GeneSamples:
        """Return all that S chromosomes take and earn in each sample."""


class Identified(Protocol):
    """An instance with a name, a number of tasks and a hash."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def tasks(self) -> int:
        """How many tasks there are in all."""

    @property
    def content_hash(self) -> str:
        """The hash of all that it says."""


class Problem(Identified, Protocol):
    """An instance as NSGA-II sees it; the first criterion is energy, the second is `criterion`."""

    @property
    def criterion(self) -> str:
        """The second criterion: `makespan_seconds`, or `utility`, which is to be large."""

    @property
    def machine_counts(self) -> Sequence[int]:
        """How many machines there are of each type."""

    def faults(self) -> Iterator[Fault]:
        """Return what keeps NSGA-II from running on it."""

    def pairs(self) -> Pairs:
        """Return which machine can run which task."""

    def scorer(self) -> Scorer:
        """Return what chromosomes are ranked by, if nothing else is asked for."""

    def sampled(self, options: RiskOptions, seed: int) -> Sampler:
        """Return what ranks chromosomes by samples."""

    def genes(self, schedule: object) -> Genes:
        """Return the chromosome of a schedule; a `ValueError` if it is not one of this instance."""

    def schedule(self, genes: Genes) -> Any:  # noqa: ANN401 - of whatever kind the instance's schedules are
        """Return the schedule of a chromosome."""


@dataclass(frozen=True, slots=True, eq=False)
class GeneSamples:
    """Of each chromosome, in each sample; utility and dropped tasks are those of a day only."""

    energy_joules: Floats
    makespan_seconds: Floats
    utility: Floats | None = None
    dropped_tasks: Integers | None = None
