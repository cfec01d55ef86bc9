"""The genetic algorithm of a facility: GA (ranked by reward rate) and GACL (by co-located reward rate).

The parts: `core_genes.py` (what a chromosome is), `cooling_repair.py` (algorithm 2), `core_scores.py` (what
it earns), `genitor.py` (parents and crossover), `breeding.py` and `generations.py`. Here they run until
generations, time or somebody says stop, and the best there is becomes an allocation.

Source: Oxley and others, section IV-B.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lpsched.compiled import require_compiler
from lpsched.errors import Fault, InstanceError
from lpsched.evolve.breeding import Breeder
from lpsched.evolve.core_genes import to_allocation
from lpsched.evolve.generations import Generations
from lpsched.evolve.pacing import BETWEEN_KEEPS, BETWEEN_TELLS, SECONDS
from lpsched.evolve.resuming import generator_of
from lpsched.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np

    from lpsched.evolve.pacing import Ended
    from lpsched.instance.facility import Facility
    from lpsched.schedule.facility import CoreAllocation
    from lpsched.schedule.population import Population


@dataclass(frozen=True, slots=True)
class Evolution:
    """How an evolution went.

    Attributes
    ----------
    allocation, score
        The best, and its reward per second: CRR, or RR without co-location.
    generations
        In all, also before the population was resumed.
    ended
        What ended it: the number of generations, the time, or somebody who said stop.
    history
        Seconds, generations and best score at every improvement.
    population
        All chromosomes, to go on from.
    """

    allocation: CoreAllocation
    score: float
    generations: int
    ended: Ended
    history: tuple[tuple[float, int, float], ...]
    population: Population


def evolve_facility(  # noqa: PLR0913 - options are keyword-only
    instance: Facility,
    *,
    rng: np.random.Generator,
    colocation: bool = True,
    watch: Watch | None = None,
    generations: int | None = None,
    starts: Sequence[CoreAllocation] = (),
    population: Population | None = None,
    keep: Callable[[Population], object] | None = None,
) -> Evolution:
    """Let allocations of a facility evolve, and return the best.

    Parameters
    ----------
    rng
        Where all chances come from; a resumed population brings its own.
    colocation
        Whether they are ranked with the cores of a node slowing each other down (GACL) or not (GA).
    watch
        When to stop, and who hears of progress; 60 s, if neither it nor `generations` sets a limit.
    generations
        How many to run, now.
    starts
        Allocations that join the first population. One that keeps every limit keeps its own outlet
        temperatures too; its children's are set by algorithm 2, as all others.
    population
        A population to go on from, as if it had never stopped; it needs no starts.
    keep
        Is given the population once a minute and at the end, to save it.

    Raises
    ------
    MissingExtraError
        If Numba is not installed.
    InstanceError
        If starts or population are not of this facility, or generations are below 0.
    InfeasibleError
        If idle nodes alone break the power cap or a redline at all outlet temperatures.
    NotFoundError
        If they do at all outlet temperatures that this algorithm tries.
    """
    require_compiler()
    if generations is not None and generations < 0:
        raise InstanceError("generations", (Fault((), str(generations), "0 or more", "correct it"),))
    given = watch if watch is not None else Watch()
    watch = given.part(SECONDS) if generations is None and given.left() is None else given
    rng = rng if population is None else generator_of(population)
    run = Generations(Breeder(instance, rng, colocation=colocation))
    if population is not None:
        run.resume(population)
    run.join([run.breeder.start(each) for each in starts])
    completed = _run(run, watch, generations, keep)
    last, best = run.population(), run.ranking.best
    if keep is not None:
        keep(last)
    return Evolution(
        allocation=to_allocation(instance, best.fractions, best.states, best.outlets),
        score=best.score,
        generations=run.count,
        ended="generations" if completed else "stopped" if given.is_stopped else "time",
        history=last.history,
        population=last,
    )


def _run(
    run: Generations, watch: Watch, generations: int | None, keep: Callable[[Population], object] | None
) -> bool:
    """Go on until the watch is over, or return true when as many generations as were wanted are done."""
    last = None if generations is None else run.count + generations
    told = kept = time.monotonic()
    while last is None or run.count < last or not run.ranking.is_full:
        if run.ranking.members and watch.is_over():
            return False
        run.tell(run.ask())
        now = time.monotonic()
        if now - told >= BETWEEN_TELLS:
            told = now
            watch.tell(f"generation {run.count:,}, reward {run.ranking.best.score:.6g}")
        if keep is not None and now - kept >= BETWEEN_KEEPS:
            keep(run.population())
            kept = time.monotonic()
    return True
