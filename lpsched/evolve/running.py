"""How NSGA-II runs in a comparison: what ends it, what it begins with, and whether it can run at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.evolve.genes import SECONDS
from lpsched.evolve.nsga2 import evolve_front, require_pymoo, warm_up
from lpsched.jit import require_compiler

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lpsched.cancellation import Watch
    from lpsched.evolve.genes import Problem, Scorer, TaskPopulation
    from lpsched.evolve.nsga2 import EvolvedFront
    from lpsched.model.arrays import Floats


GENERATIONS: Final = 1000
NSGA2: Final = "nsga2"
NO_SEEDS: Final = "none"
SEEDS: Final = ("min-energy", "min-min")
STOPPED: Final = "not run: somebody said stop"


@dataclass(frozen=True, slots=True)
class Evolving:
    """How NSGA-II shall run; without any limit, as long as `evolve_front` does by default."""

    generations: int | None = None
    time_limit: float | None = None  # seconds
    seed_with: tuple[str, ...] = SEEDS  # heuristics, `lp` for the schedules of the exact front, or `none` alone
    population: TaskPopulation | None = None  # to go on from
    keep: Callable[[TaskPopulation], object] | None = None  # saves what there is, once a minute and at the end
    found: Callable[[EvolvedFront], object] | None = None  # is given what evolved, chromosomes and all


def limits(generations: int | None, watch: Watch) -> tuple[int | None, Watch]:
    """Return what ends the evolution, if nobody says: 1,000 generations, or a minute."""
    if generations is None and watch.left() is None:
        return GENERATIONS, watch.part(SECONDS)
    return generations, watch


def prepare(watch: Watch, one_task: Problem) -> None:
    """Compile what there is to compile, before the clock starts, on a problem of one task."""
    require_evolution()
    watch.tell("compiling")
    warm_up(one_task)


def require_evolution() -> None:
    """Refuse to begin without the packages that this needs."""
    require_pymoo()
    require_compiler("NSGA-II")


def evolved_for(  # noqa: PLR0913 - options are keyword-only
    problem: Problem,
    evolving: Evolving,
    *,
    seed: int,
    seeds: Sequence[object],
    watch: Watch,
    judge: Callable[[Floats], float | None],
    scorer: Scorer | None = None,
) -> EvolvedFront:
    """Let a front evolve for a comparison, and whoever wants to hear of it."""
    limit = evolving.time_limit
    found = evolve_front(
        problem,
        rng=np.random.default_rng(seed),
        scorer=scorer,
        seeds=seeds,
        generations=evolving.generations,
        watch=watch if limit is None else watch.part(limit),
        population=evolving.population,
        keep=evolving.keep,
        judge=judge,
    )
    if evolving.found is not None:
        evolving.found(found)
    watch.tell("verifying what evolved")
    return found
