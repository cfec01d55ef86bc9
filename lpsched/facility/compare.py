"""Methods and allocations of others against the bound."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from lpsched.cancellation import COMPILING, CancelToken, timed
from lpsched.errors import InfeasibleError, InputIssue, InstanceError, InvalidScheduleError, NotFoundError, SolverError
from lpsched.facility.files import allocation_of
from lpsched.facility.genetic import evolve_facility, warm_up
from lpsched.facility.model import Facility
from lpsched.facility.nlp import three_stages
from lpsched.facility.parts import CoreAllocation, GangAllocation
from lpsched.facility.recovery import greedy
from lpsched.facility.result import FacilityResult, FacilityValidation, Judged, MethodResult, Moment, core_time
from lpsched.facility.rules import require_cap
from lpsched.facility.solve import DEFAULT_GAP, facility, verified
from lpsched.facility.verify import Examined, examine
from lpsched.io.documents import read_document
from lpsched.lp.solvers import default_solver
from lpsched.model.fields import FrozenDict
from lpsched.model.provenance import Status, provenance_of, relative_gap
from lpsched.model.violation import Violation

if TYPE_CHECKING:
    from lpsched.facility.genes import Population
    from lpsched.lp.program import Solver

# The paper's own methods for a facility, each as a function from the facility to an allocation.
#
#     greedy    the most tasks per joule first                          facility/recovery.py
#     ga        a genetic algorithm with a local search                 facility/genetic.py
#     nlp       three stages around a non-linear program                facility/nlp.py
#
# With co-location `ga` and `nlp` are what the paper calls GACL and NLPCL, without it GA and NLP. Value and limits are
# always those of the verifier, and the gap is that to the proved bound.
#
# Source: Oxley and others, section IV.
FIRST_STAGE: Final = {  # how it ended, by `ThreeStages.ended`
    "solved": "the first ended at a local optimum",
    "stalled": "the first ended where its steps gained next to nothing",
    "time": "time was up in the first",
    "stopped": "the first was stopped",
    "failed": "Ipopt found no way on in the first",
}
STARTS: Final = ("random", "greedy", "lp")


@dataclass(frozen=True, slots=True)
class MethodOptions:
    """Options of a method."""

    colocation: bool = True
    seed: int = 0
    time_limit: float | None = None  # seconds of the method alone
    generations: int | None = None  # of the genetic algorithm
    starts: tuple[CoreAllocation, ...] = ()  # that join its first population
    population: Population | None = None  # to resume
    keep: Callable[[Population], object] | None = None  # saves it now and then


@dataclass(frozen=True, slots=True)
class MethodOutcome:
    """The allocation of a method, and how it ended."""

    allocation: CoreAllocation
    ended: str
    details: FrozenDict[str, float | None]
    history: tuple[Moment, ...] = ()


def _ga(instance: Facility, options: MethodOptions, cancel: CancelToken, _solver: Solver) -> MethodOutcome:
    evolved = evolve_facility(
        instance,
        rng=np.random.default_rng(options.seed),
        colocation=options.colocation,
        cancel=cancel,
        generations=options.generations,
        starts=options.starts,
        population=options.population,
        keep=options.keep,
    )
    ended, details = f"best of {evolved.generations:,} generations", {"generations": float(evolved.generations)}
    return MethodOutcome(evolved.allocation, ended, FrozenDict[str, float | None](details), evolved.history)


def _nlp(instance: Facility, options: MethodOptions, cancel: CancelToken, solver: Solver) -> MethodOutcome:
    rng = np.random.default_rng(options.seed)
    stages = three_stages(instance, rng=rng, colocation=options.colocation, cancel=cancel, solver=solver)
    details = {
        "iterations": float(stages.iterations),
        "continuous_reward_rate": stages.continuous_reward_rate,
        "rounded_reward_rate": stages.rounded_reward_rate,
    } | {f"{stage}_seconds": seconds for stage, seconds in stages.timings.items()}
    return MethodOutcome(stages.allocation, f"three stages; {FIRST_STAGE[stages.ended]}", FrozenDict(details))


Method: TypeAlias = "Callable[[Facility, MethodOptions, CancelToken, Solver], MethodOutcome]"
METHODS: Final[dict[str, Method]] = {
    "greedy": lambda instance, *_: MethodOutcome(greedy(instance), "one core at a time", FrozenDict({})),
    "ga": _ga,
    "nlp": _nlp,
}


def allocate(  # noqa: PLR0913 - options are keyword-only
    instance: Facility | Path | str,
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
    cancel: CancelToken | None = None,
    solver: Solver | None = None,
) -> MethodResult:
    """Find an allocation by one of the paper's methods, verify it, and compute its gap to the bound.

    Parameters
    ----------
    instance
        A facility, or the path of its file.
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
    cancel
        A token that can be stopped from outside and reports progress.
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
    instance = Facility.given(instance)
    check_name("method", method, tuple(METHODS))
    check_name("start", start, STARTS)
    solver = solver if solver is not None else default_solver()
    cancel, timings = cancel or CancelToken(), dict[str, float]()
    best = None
    require_cap(instance)
    if bound or start == "lp":
        with timed(timings, "bound"):
            best = facility(instance, colocation=colocation, gap=gap, cancel=cancel, solver=solver)
    first = best.cores if start == "lp" and best is not None else greedy(instance) if start == "greedy" else None
    starts = () if first is None else (first,)
    options = MethodOptions(colocation, seed, time_limit, generations, starts, population, keep)
    with timed(timings, "compile"):
        prepare(method, cancel)
    with timed(timings, "method"):
        found = METHODS[method](instance, options, limited(cancel, time_limit), solver)
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
        stopped=cancel.why_cut() if cancel.is_stopped else "",
        core_time=core_time(instance, found.allocation),
    )


def prepare(method: str, cancel: CancelToken) -> None:
    """Do what a method needs once on a machine, and what is not counted as its time."""
    if method == "ga":
        cancel.report(COMPILING)
        warm_up()


def limited(cancel: CancelToken, seconds: float | None) -> CancelToken:
    """Return a token over a part of the work, if its time is limited."""
    return cancel if seconds is None else cancel.part(seconds)


def check_name(what: str, name: str, known: tuple[str, ...]) -> None:
    """Raise an error for an unknown name."""
    if name not in known:
        needed = f"one of {', '.join(known)}"
        raise InstanceError("", (InputIssue((what,), repr(name), needed, "choose one"),))


# Methods and allocations of a facility against its bound: one table, every number measured or proved.
#
# Names of methods: `lp` (ours, gangs), `lp-cores` (ours, every core on its own), `greedy`, `ga`, `nlp`; and,
# of those that can count co-location, the variant that does not: `lp-blind`, `ga-blind`, `nlp-blind`. All are
# judged by what they bring *with* co-location, CRR.
BLIND: Final = "-blind"
NAMES: Final = ("lp", "lp-cores", "lp-blind", "greedy", "ga", "ga-blind", "nlp", "nlp-blind")
FAILURES: Final = (InfeasibleError, InstanceError, NotFoundError, SolverError)  # of a method, a row each
ROUNDING: Final = 1e-9  # of a bound that is not certified
Allocation: TypeAlias = GangAllocation | CoreAllocation


def validate_facility(  # noqa: PLR0913 - options are keyword-only
    instance: Facility | Path | str,
    allocations: Mapping[str, Allocation] | Sequence[Path | str] = (),
    *,
    methods: Sequence[str] = (),
    seed: int = 0,
    generations: int | None = None,
    gap: float = DEFAULT_GAP,
    time_limit: float | None = None,
    cancel: CancelToken | None = None,
    solver: Solver | None = None,
) -> FacilityValidation:
    """Compare methods and allocations of a facility with its bound.

    Parameters
    ----------
    instance
        A facility, or the path of its file.
    allocations
        Allocations by name, or files. A file that cannot be read is an entry with a violation, not an error.
    methods
        Names of methods to run; `NAMES` has all.
    seed, generations
        As in `allocate`.
    gap
        The relative gap within which the bound is good enough.
    time_limit
        Seconds of each method; by default 300 for `lp`, 60 for `ga`, 600 for `nlp`.
    cancel
        A token that can be stopped from outside: methods that have not begun by then are not run.
    solver
        Solves the linear programs; HiGHS if not given.

    Raises
    ------
    InstanceError
        If there is no such method.
    MissingExtraError
        If a package that a method needs is not installed.
    InfeasibleError, NotFoundError, SolverError
        If there is no bound; a method that fails is an entry with the reason.
    InvalidScheduleError
        If an allocation found does not pass verification, which is a bug of ours.
    """
    instance = Facility.given(instance)
    for name in methods:
        check_name("method", name, NAMES)
    solver = solver if solver is not None else default_solver()
    cancel = cancel or CancelToken()
    began = time.perf_counter()
    best = facility(instance, gap=gap, cancel=limited(cancel, time_limit), solver=solver)
    took = time.perf_counter() - began
    files = () if isinstance(allocations, Mapping) else [(str(file), Path(file)) for file in allocations]
    named = allocations.items() if isinstance(allocations, Mapping) else ()
    found = [_of_allocation(instance, name, each) for name, each in (*named, *files)]
    for number, name in enumerate(methods):
        if name in {"lp", "lp-cores"}:
            allocation = best.allocation if name == "lp" else best.cores
            found.append(_judged(instance, name, allocation, took, "with its bound"))
        elif cancel.expired():
            found.append(Judged(name, None, failure="not run: stopped before"))
        else:
            cancel.report(name, done=number, total=len(methods))
            options = MethodOptions(not name.endswith(BLIND), seed, time_limit, generations)
            found.append(_of_method(instance, name, options, cancel, solver))
    return FacilityValidation(
        bound=best.bound,
        seed=seed,
        cap_watts=instance.power_cap_watts,
        entries=tuple(_against(best, each) for each in found),
        provenance=provenance_of(instance, solver.name),
        exactly_proved=best.exactly_proved,
    )


def _of_allocation(instance: Facility, name: str, each: Allocation | Path) -> Judged:
    """Check an allocation, or a file with one: a file that cannot be read breaks a rule, too."""
    if not isinstance(each, Path):
        examined = examine(instance, each)
        return Judged(name, examined.measured, allocation=each, violations=examined.violations)
    try:
        document = read_document(each)
        examined = examine(instance, allocation_of(document, each))
    except InstanceError as error:
        examined = Examined(tuple(Violation("unreadable", str(issue)) for issue in error.issues), None)
    return Judged(name, examined.measured, violations=examined.violations)


def _of_method(instance: Facility, name: str, options: MethodOptions, whole: CancelToken, solver: Solver) -> Judged:
    """Run a method; that it finds nothing is an entry too."""
    prepare(name.removesuffix(BLIND), whole)
    began, cancel = time.perf_counter(), limited(whole, options.time_limit)
    try:
        if name == f"lp{BLIND}":
            blind = facility(instance, colocation=False, cancel=cancel, solver=solver)
            return _judged(instance, name, blind.allocation, time.perf_counter() - began, "with its bound")
        found = METHODS[name.removesuffix(BLIND)](instance, options, cancel, solver)
    except FAILURES as error:
        return Judged(name, None, seconds=time.perf_counter() - began, failure=str(error))
    return _judged(instance, name, found.allocation, time.perf_counter() - began, found.ended)


def _judged(instance: Facility, name: str, allocation: Allocation, seconds: float, ended: str) -> Judged:
    return Judged(name, verified(instance, allocation), None, seconds, ended, allocation)


def _against(best: FacilityResult, entry: Judged) -> Judged:
    """Return an entry with its gap to the bound."""
    if entry.measured is None:
        return entry
    value, bound = entry.measured.reward_rate, best.bound
    if value > (bound if best.exactly_proved else bound + ROUNDING * abs(bound)):
        raise InvalidScheduleError(f"{entry.name} earns {value!r}, more than the bound of {bound!r}")
    return replace(entry, gap=relative_gap(min(value, bound), bound))
