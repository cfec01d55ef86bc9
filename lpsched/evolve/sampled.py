"""Ranking by samples: the X-th percentile of energy and of makespan or utility, or the means of the samples.

Of S samples of a chromosome, sorted from the good side (energy and makespan rising, utility falling), the
X-th percentile is the ceil(X S / 100)-th: X % of the samples take at most that much energy, and X % of them
earn at least that much utility or end by that makespan.

All chromosomes are scored with the same draws, so that the better one wins and not the luckier one.

Source: Friese, thesis of 2015, section 7.2.2.2.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.errors import Fault, InstanceError
from lpsched.evolve.genes import Genes, first_machines
from lpsched.jit import require_compiler
from lpsched.model.risk import SOURCE, written

if TYPE_CHECKING:
    from lpsched.evolve.genes import Numbers
    from lpsched.evolve.problem import GeneSamples, Problem
    from lpsched.model.arrays import Floats
    from lpsched.model.risk import RiskOptions

MOST_CELLS: Final = 100_000_000  # 800 MB


class SampledScorer(ABC):
    """Energy with makespan (of a bag) or minus utility (of a day), by samples.

    Parameters
    ----------
    problem
        The bag or the day.
    options
        What to sample, and which percentile to rank by; the mean of the samples, if it names none.
    name
        What the two numbers are, so that a population is resumed only with the same.
    """

    def __init__(self, problem: Problem, options: RiskOptions, name: str) -> None:
        require_compiler("sampling chromosomes")
        self.options, self.name = options, name
        _require_few_machines(problem, options.samples)

    @staticmethod
    def of_samples(options: RiskOptions, seed: int) -> str:
        """Say how chromosomes are ranked by samples."""
        which = "means" if options.percentile is None else f"percentile {options.percentile:g}"
        covs = f"cov {written(options.cov)}, power-cov {written(options.powers)}"
        return f"{which} of {options.samples} samples ({covs}, seed {seed})"

    def compile(self, tasks: int) -> None:
        """Compile what there is to compile, before anybody's clock starts."""
        nobody = np.empty((0, tasks), dtype=np.int32)
        self.samples(Genes(nobody, nobody, nobody))

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
        machines, columns, orders = (
            np.ascontiguousarray(each) for each in (genes.machines, genes.columns, genes.orders)
        )
        return self.drawn(machines, columns, orders)

    def _one(self, drawn: Floats) -> Floats:
        """Return the percentile or the mean of what is to be minimised."""
        if self.options.percentile is None:
            return np.asarray(drawn.mean(axis=1))
        place = place_of(self.options.percentile, drawn.shape[1])
        return np.partition(drawn, place, axis=1)[:, place]


def _require_few_machines(problem: Problem, samples: int) -> None:
    """Refuse more free moments, of all machines in all samples, than can be held."""
    machines = int(first_machines(problem.machine_counts, problem.tasks)[-1])
    if machines * samples > MOST_CELLS:
        found = f"{samples:,} samples of {machines:,} machines"
        do = f"ask for at most {max(2, MOST_CELLS // machines):,} samples"
        raise InstanceError(SOURCE, (Fault(("samples",), found, f"at most {MOST_CELLS:,} of both", do),))


def place_of(percentile: float, samples: int) -> int:
    """Return where a percentile stands among sorted samples, counted from 0.

    >>> place_of(20, 100), place_of(50, 5), place_of(0.1, 100), place_of(100, 7)
    (19, 2, 0, 6)
    """
    exact = percentile * samples / 100.0
    nearest = round(exact)
    return max(1, nearest if math.isclose(exact, nearest, rel_tol=1e-12) else math.ceil(exact)) - 1
