"""What NSGA-II needs to know of an instance, and what chromosomes are ranked by, expected or sampled."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from lpsched.errors import Fault, InstanceError
from lpsched.evolve.genes import Genes, first_machines
from lpsched.jit import require_compiler
from lpsched.model.risk import SOURCE, written

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lpsched.evolve.genes import Numbers, Pairs
    from lpsched.model.arrays import Floats, Integers
    from lpsched.model.risk import RiskOptions


class Scorer(Protocol):
    """Scores S chromosomes at once.

    The first number is energy in joules, the second makespan in seconds or *minus* utility; of samples, the
    expected value or a percentile of either.
    """

    name: str  # what the two numbers are, in words; a saved population is only resumed with the same

    def __call__(self, genes: Genes) -> Floats:
        """Return S x 2 scores."""


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

    criterion: str  # the second: `makespan_seconds`, or `utility`, which is to be large
    machine_counts: list[int]  # of each type

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


# Ranking by samples: the X-th percentile of energy and of makespan or utility, or the means of the samples.
#
# Of S samples of a chromosome, sorted from the good side (energy and makespan rising, utility falling), the
# X-th percentile is the ceil(X S / 100)-th: X % of the samples take at most that much energy, and X % of them
# earn at least that much utility or end by that makespan.
#
# All chromosomes are scored with the same draws, so that the better one wins and not the luckier one.
#
# Source: Friese, thesis of 2015, section 7.2.2.2.
MOST_CELLS: Final = 100_000_000  # 800 MB


class SampledScorer(ABC):
    """Energy with makespan (of a bag) or minus utility (of a day), by samples; their mean, or a percentile of them."""

    def __init__(self, problem: Problem, options: RiskOptions, name: str) -> None:
        require_compiler("sampling chromosomes")
        self.options, self.name = options, name
        machines = int(first_machines(problem.machine_counts, problem.tasks)[-1])  # each has a time in each sample
        if machines * options.samples > MOST_CELLS:
            found = f"{options.samples:,} samples of {machines:,} machines"
            do = f"ask for at most {max(2, MOST_CELLS // machines):,} samples"
            raise InstanceError(SOURCE, (Fault(("samples",), found, f"at most {MOST_CELLS:,} of both", do),))

    @staticmethod
    def of_samples(options: RiskOptions, seed: int) -> str:
        """Say how chromosomes are ranked by samples."""
        which = "means" if options.percentile is None else f"percentile {options.percentile:g}"
        covs = f"cov {written(options.cov)}, power-cov {written(options.powers)}"
        return f"{which} of {options.samples} samples ({covs}, seed {seed})"

    def compile(self, tasks: int) -> None:
        """Compile what there is to compile, before anybody's clock starts."""
        self.samples(Genes(*(np.empty((0, tasks), dtype=np.int32),) * 3))

    @abstractmethod
    def drawn(self, machines: Numbers, columns: Numbers, orders: Numbers) -> GeneSamples:
        """Return all that S chromosomes take and earn in each sample."""

    def __call__(self, genes: Genes) -> Floats:
        """Return S x 2 scores."""
        drawn = self.samples(genes)
        other = drawn.makespan_seconds if drawn.utility is None else -drawn.utility
        return np.stack([self._one(drawn.energy_joules), self._one(other)], axis=1)

    def samples(self, genes: Genes) -> GeneSamples:
        """Return all that S chromosomes take and earn in each sample."""
        return self.drawn(*genes.contiguous())

    def _one(self, drawn: Floats) -> Floats:
        """Return the percentile or the mean of what is to be minimised."""
        if self.options.percentile is None:
            return np.asarray(drawn.mean(axis=1))
        place = place_of(self.options.percentile, drawn.shape[1])
        return np.partition(drawn, place, axis=1)[:, place]


def place_of(percentile: float, samples: int) -> int:
    """Return where a percentile stands among sorted samples, counted from 0.

    >>> place_of(20, 100), place_of(50, 5), place_of(0.1, 100), place_of(100, 7)
    (19, 2, 0, 6)
    """
    exact = percentile * samples / 100.0
    nearest = round(exact)
    return max(1, nearest if math.isclose(exact, nearest, rel_tol=1e-12) else math.ceil(exact)) - 1
