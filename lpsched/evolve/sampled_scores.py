"""Ranking by samples: the X-th percentile of energy and of makespan or utility, or the means of the samples.

Of S samples of a chromosome, sorted from the good side (energy and makespan rising, utility falling), the
X-th percentile is the ceil(X S / 100)-th: X % of the samples take at most that much energy, and X % of them
earn at least that much utility or end by that makespan.

All chromosomes are scored with the same draws, so that the better one wins and not the luckier one.

Source: Friese, thesis of 2015, section 7.2.2.2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.compiled import require_compiler
from lpsched.errors import Fault, InstanceError
from lpsched.evolve.sampled_bag import bag_samples, sampled_bag
from lpsched.evolve.sampled_day import day_samples, sampled_day
from lpsched.instance import Bag
from lpsched.instance.arrays import arrays_of
from lpsched.instance.day_arrays import day_arrays
from lpsched.instance.period import require_whole
from lpsched.risk.options import SOURCE, written
from lpsched.risk.task_draws import task_draws
from lpsched.schedule.genes import Genes, first_machines

if TYPE_CHECKING:
    from lpsched.evolve.sampled_bag import SampledBag
    from lpsched.evolve.sampled_day import SampledDay
    from lpsched.instance.arrays import Floats, Integers
    from lpsched.instance.day import Day
    from lpsched.risk.options import RiskOptions

MOST_CELLS: Final = 100_000_000  # 800 MB


@dataclass(frozen=True, slots=True, eq=False)
class GeneSamples:
    """Of each chromosome, in each sample; utility and dropped tasks are those of a day only."""

    energy_joules: Floats
    makespan_seconds: Floats
    utility: Floats | None = None
    dropped_tasks: Integers | None = None


class SampledScorer:
    """Energy with makespan (of a bag) or minus utility (of a day), by samples.

    Parameters
    ----------
    options
        What to sample, and which percentile to rank by; the mean of the samples, if it names none.
    seed
        Of the draws, which are the same for all chromosomes.
    drop_below
        Tasks of a day that are expected to earn less do not run.

    Raises
    ------
    MissingExtraError
        If Numba is not installed.
    InstanceError
        If a bag has no watts, a day does not count as a whole, or there were too much to draw or to hold.
    """

    def __init__(
        self, instance: Bag | Day, options: RiskOptions, *, seed: int, drop_below: float | None = None
    ) -> None:
        require_compiler("sampling chromosomes")
        self.options = options
        self.bag: SampledBag | None = None
        self.day: SampledDay | None = None
        self.name = _name(instance, options, seed, drop_below)
        _require_few_machines(instance, options.samples)
        if isinstance(instance, Bag):
            arrays = arrays_of(instance)
            if arrays.watts is None:
                fault = Fault(("watts",), "none", "the watts of each pair, for energy", "add them")
                raise InstanceError(instance.name, (fault,))
            draws = task_draws(instance.tasks, arrays.seconds, arrays.watts, options, seed)
            self.bag = sampled_bag(instance, draws)
        else:
            require_whole(instance.name, instance.period, "sampling")
            tables = day_arrays(instance)
            draws = task_draws(instance.tasks, tables.seconds, tables.watts, options, seed)
            self.day = sampled_day(instance, draws, drop_below)
        nobody = np.empty((0, instance.tasks), dtype=np.int32)
        self.samples(Genes(nobody, nobody, nobody))  # compiled before anybody's clock starts

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
        if self.bag is not None:
            return GeneSamples(*bag_samples(self.bag, machines, columns))
        assert self.day is not None
        joules, earned, makespans, dropped = day_samples(self.day, machines, columns, orders)
        return GeneSamples(joules, makespans, earned, dropped)

    def _one(self, drawn: Floats) -> Floats:
        """Return the percentile or the mean of what is to be minimised."""
        if self.options.percentile is None:
            return np.asarray(drawn.mean(axis=1))
        place = place_of(self.options.percentile, drawn.shape[1])
        return np.partition(drawn, place, axis=1)[:, place]


def _require_few_machines(instance: Bag | Day, samples: int) -> None:
    """Refuse more free moments, of all machines in all samples, than can be held."""
    machines = int(first_machines([each.count for each in instance.machine_types], instance.tasks)[-1])
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


def _name(instance: Bag | Day, options: RiskOptions, seed: int, drop_below: float | None) -> str:
    """Say what the two numbers are, so that a population is resumed only with the same."""
    which = "means" if options.percentile is None else f"percentile {options.percentile:g}"
    covs = f"cov {written(options.cov)}, power-cov {written(options.powers)}"
    of_samples = f"{which} of {options.samples} samples ({covs}, seed {seed})"
    if isinstance(instance, Bag):
        return f"energy and makespan: {of_samples}"
    dropped = "" if drop_below is None else f", below {drop_below:g} dropped"
    return f"energy and utility: {of_samples}{dropped}"
