"""The paper's own methods for a facility, each as a function from the facility to an allocation.

    greedy    the most tasks per joule first                          heuristics/facility_greedy.py
    ga        a genetic algorithm with a local search                 evolve/facility.py
    nlp       three stages around a non-linear program                pipeline/facility_nlp.py

With co-location `ga` and `nlp` are what the paper calls GACL and NLPCL, without it GA and NLP. Whatever they
say of themselves, value and limits are the verifier's, and the distance is from the proved bound.

Source: Oxley and others, section IV.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.errors import Fault, InstanceError
from lpsched.evolve.facility import evolve_facility
from lpsched.evolve.warm_up import warm_up
from lpsched.heuristics.facility_greedy import greedy
from lpsched.instance.frozen import FrozenDict
from lpsched.pipeline.facilities import DEFAULT_GAP, facility, verified
from lpsched.pipeline.facility_nlp import three_stages
from lpsched.pipeline.solvers import default_solver
from lpsched.pipeline.timing import timed
from lpsched.result.facility_method import MethodResult
from lpsched.result.provenance import provenance_of
from lpsched.result.status import Status, relative_gap
from lpsched.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Callable

    from lpsched.instance.facility import Facility
    from lpsched.lp.program import Solver
    from lpsched.result.facility import FacilityResult
    from lpsched.result.facility_method import Moment
    from lpsched.schedule.facility import CoreAllocation
    from lpsched.schedule.population import Population

FIRST_STAGE: Final = {  # how it ended, by `ThreeStages.ended`
    "solved": "the first ended at a local optimum",
    "stalled": "the first ended where its steps gained next to nothing",
    "time": "time was up in the first",
    "stopped": "the first was stopped",
    "failed": "Ipopt found no way on in the first",
}
STARTS: Final = ("random", "greedy", "lp")


@dataclass(frozen=True, slots=True)
class Asked:
    """What a method is asked for, beside the facility."""

    colocation: bool = True
    seed: int = 0
    time_limit: float | None = None  # seconds of the method alone
    generations: int | None = None  # of the genetic algorithm
    starts: tuple[CoreAllocation, ...] = ()  # that join its first population
    population: Population | None = None  # that it goes on from
    keep: Callable[[Population], object] | None = None  # where it is to be saved now and then


@dataclass(frozen=True, slots=True)
class Found:
    """What a method found, and what it says of itself."""

    allocation: CoreAllocation
    ended: str
    details: FrozenDict[str, float | None]
    history: tuple[Moment, ...] = ()


def _greedy(instance: Facility, _asked: Asked, _watch: Watch, _solver: Solver) -> Found:
    return Found(greedy(instance), "one core at a time", FrozenDict({}))


def _ga(instance: Facility, asked: Asked, watch: Watch, _solver: Solver) -> Found:
    evolved = evolve_facility(
        instance,
        rng=np.random.default_rng(asked.seed),
        colocation=asked.colocation,
        watch=watch,
        generations=asked.generations,
        starts=asked.starts,
        population=asked.population,
        keep=asked.keep,
    )
    ended = f"best of {evolved.generations:,} generations"
    return Found(
        evolved.allocation, ended, FrozenDict({"generations": float(evolved.generations)}), evolved.history
    )


def _nlp(instance: Facility, asked: Asked, watch: Watch, solver: Solver) -> Found:
    rng = np.random.default_rng(asked.seed)
    stages = three_stages(instance, rng=rng, colocation=asked.colocation, watch=watch, solver=solver)
    details = {
        "iterations": float(stages.iterations),
        "continuous_reward_rate": stages.continuous_reward_rate,
        "rounded_reward_rate": stages.rounded_reward_rate,
    } | {f"{stage}_seconds": seconds for stage, seconds in stages.timings.items()}
    return Found(stages.allocation, f"three stages; {FIRST_STAGE[stages.ended]}", FrozenDict(details))


METHODS: Final[dict[str, Callable[[Facility, Asked, Watch, Solver], Found]]] = {
    "greedy": _greedy,
    "ga": _ga,
    "nlp": _nlp,
}


def allocate(  # noqa: PLR0913 - options are keyword-only
    instance: Facility,
    *,
    method: str,
    colocation: bool = True,
    seed: int = 0,
    bound: bool = True,
    gap: float = DEFAULT_GAP,
    generations: int | None = None,
    start: str = "random",
    population: Population | None = None,
    keep: Callable[[Population], object] | None = None,
    time_limit: float | None = None,
    watch: Watch | None = None,
    solver: Solver | None = None,
) -> MethodResult:
    """Find an allocation by one of the paper's methods, verify it, and tell how far from the bound it is.

    Parameters
    ----------
    method
        `greedy`, `ga` or `nlp`. Our own is `lpsched.facility`.
    colocation
        Whether cores of a node slow each other down, for the method, its value and the bound. (The greedy
        rule never looks at it.)
    seed
        Of the generator that `ga` and `nlp` draw from.
    bound
        Whether to prove a bound too, which takes seconds.
    gap
        The relative gap within which the bound is good enough.
    generations
        How many the genetic algorithm may take; it ends there or when the time is up.
    start
        What joins its first population: `random` (nothing), `greedy` or `lp`, our own allocation.
    population, keep
        A population to go on from, and a function that is handed it now and then, to save it.
    time_limit
        Seconds of the method alone; by default 60 for `ga`, 600 for `nlp`.
    watch
        A watch over all of it, that others may stop, and that tells them how far the work is.
    solver
        Solves the linear programs; HiGHS if not given.

    Raises
    ------
    InstanceError
        If there is no such method or start, or the facility is too large for the method.
    MissingExtraError
        If a package that the method needs is not installed.
    InfeasibleError, NotFoundError
        If there is no allocation, or the method finds none.
    SolverError
        If a solver fails.
    InvalidScheduleError
        If the allocation found does not pass verification, which is a bug of ours.
    """
    check_name("method", method, tuple(METHODS))
    check_name("start", start, STARTS)
    solver = solver if solver is not None else default_solver()
    watch, timings = watch or Watch(), dict[str, float]()
    best = None
    if bound or start == "lp":
        with timed(timings, "bound"):
            best = facility(instance, colocation=colocation, gap=gap, watch=watch, solver=solver)
    starts = _starts(instance, start, best)
    asked = Asked(colocation, seed, time_limit, generations, starts, population, keep)
    with timed(timings, "compile"):
        prepare(method, watch)
    with timed(timings, "method"):
        found = METHODS[method](instance, asked, limited(watch, time_limit), solver)
    with timed(timings, "verify"):
        measured = verified(instance, found.allocation)
    value = measured.reward_rate if colocation else measured.plain_reward_rate
    proved = best.bound if best is not None and bound else None
    distance = None if proved is None else relative_gap(value, proved)
    return MethodResult(
        method=method,
        colocation=colocation,
        status=Status.OPTIMAL if distance is not None and distance <= gap else Status.FEASIBLE,
        reward_rate=value,
        bound=proved,
        gap=distance,
        measured=measured,
        cap_watts=instance.power_cap_watts,
        unit_names=tuple(unit.name for unit in instance.crac_units),
        allocation=found.allocation,
        seed=None if method == "greedy" else seed,
        ended=found.ended,
        details=found.details,
        history=found.history,
        timings=FrozenDict(timings),
        provenance=provenance_of(instance, solver.name),
        exactly_proved=None if best is None or not bound else best.exactly_proved,
    )


def _starts(instance: Facility, start: str, best: FacilityResult | None) -> tuple[CoreAllocation, ...]:
    """Return what joins the first population."""
    if start == "lp" and best is not None:
        return (best.cores,)
    return (greedy(instance),) if start == "greedy" else ()


def prepare(method: str, watch: Watch) -> None:
    """Do what a method needs once on a machine, and what is not counted as its time."""
    if method == "ga":
        watch.tell("compiling")
        warm_up()


def limited(watch: Watch, seconds: float | None) -> Watch:
    """Return a watch over a part of the work, if its time is limited."""
    return watch if seconds is None else watch.part(seconds)


def check_name(what: str, name: str, known: tuple[str, ...]) -> None:
    """Refuse a name that is none of those known.

    Raises
    ------
    InstanceError
        If it is refused.
    """
    if name not in known:
        needed = f"one of {', '.join(known)}"
        raise InstanceError("facility", (Fault((what,), repr(name), needed, "choose one"),))
