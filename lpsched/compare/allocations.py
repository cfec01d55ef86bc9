"""Methods and allocations of a facility against its bound: one table, every number measured or proved.

Names of methods: `lp` (ours, gangs), `lp-cores` (ours, every core on its own), `greedy`, `ga`, `nlp`; and, of
those that can count co-location, the variant that does not: `lp-blind`, `ga-blind`, `nlp-blind`. All are
judged by what they bring *with* co-location, CRR.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from lpsched.compare.facility_methods import METHODS, Asked, check_name, limited, prepare
from lpsched.errors import InfeasibleError, InstanceError, InvalidScheduleError, NotFoundError, SolverError
from lpsched.files.allocations import allocation_from_dict
from lpsched.files.documents import read_document
from lpsched.instance.facility import Facility
from lpsched.pipeline.facilities import DEFAULT_GAP, facility, verified
from lpsched.pipeline.solvers import default_solver
from lpsched.result.facility_validation import FacilityValidation, Judged
from lpsched.result.provenance import provenance_of
from lpsched.result.status import relative_gap
from lpsched.schedule.facility import CoreAllocation, GangAllocation
from lpsched.verify import facility as facilities
from lpsched.verify.facility import examine
from lpsched.verify.violation import Violation
from lpsched.watch import Watch

if TYPE_CHECKING:
    from lpsched.instance.facility import Facility
    from lpsched.lp.program import Solver
    from lpsched.result.facility import FacilityResult


BLIND: Final = "-blind"
NAMES: Final = ("lp", "lp-cores", "lp-blind", "greedy", "ga", "ga-blind", "nlp", "nlp-blind")
FAILURES: Final = (InfeasibleError, InstanceError, NotFoundError, SolverError)  # of a method, a row each
ROUNDING: Final = 1e-9  # of a bound that is not certified
Allocation: TypeAlias = GangAllocation | CoreAllocation


def validate_facility(  # noqa: PLR0913 - options are keyword-only
    instance: Facility,
    allocations: Mapping[str, Allocation] | Sequence[Path | str] = (),
    *,
    methods: Sequence[str] = (),
    seed: int = 0,
    generations: int | None = None,
    gap: float = DEFAULT_GAP,
    time_limit: float | None = None,
    watch: Watch | None = None,
    solver: Solver | None = None,
) -> FacilityValidation:
    """Hold methods and allocations of a facility against its bound.

    Parameters
    ----------
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
    watch
        A watch over all of it, that others may stop: methods that have not begun by then are not run.
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
    for name in methods:
        check_name("method", name, NAMES)
    solver = solver if solver is not None else default_solver()
    watch = watch or Watch()
    began = time.perf_counter()
    best = facility(instance, gap=gap, watch=limited(watch, time_limit), solver=solver)
    took = time.perf_counter() - began
    found = [_of_allocation(instance, name, each) for name, each in _named(allocations)]
    for number, name in enumerate(methods):
        if name in {"lp", "lp-cores"}:
            allocation = best.allocation if name == "lp" else best.cores
            found.append(_judged(instance, name, allocation, took, "with its bound"))
        elif watch.is_over():
            found.append(Judged(name, None, failure="not run: stopped before"))
        else:
            watch.tell(name, done=number, total=len(methods))
            asked = Asked(not name.endswith(BLIND), seed, time_limit, generations)
            found.append(_of_method(instance, name, asked, watch, solver))
    return FacilityValidation(
        bound=best.bound,
        seed=seed,
        cap_watts=instance.power_cap_watts,
        entries=tuple(_against(best, each) for each in found),
        provenance=provenance_of(instance, solver.name),
        exactly_proved=best.exactly_proved,
    )


def _named(
    allocations: Mapping[str, Allocation] | Sequence[Path | str],
) -> list[tuple[str, Allocation | Path]]:
    if isinstance(allocations, Mapping):
        return list(allocations.items())
    return [(str(file), Path(file)) for file in allocations]


def _of_allocation(instance: Facility, name: str, each: Allocation | Path) -> Judged:
    """Check somebody's allocation, or a file that should hold one."""
    examined = examined_allocation(instance, each) if isinstance(each, Path) else examine(instance, each)
    allocation = None if isinstance(each, Path) else each
    return Judged(name, examined.measured, allocation=allocation, violations=examined.violations)


def _of_method(instance: Facility, name: str, asked: Asked, whole: Watch, solver: Solver) -> Judged:
    """Run a method; that it finds nothing is an entry too."""
    prepare(name.removesuffix(BLIND), whole)
    began, watch = time.perf_counter(), limited(whole, asked.time_limit)
    try:
        if name == f"lp{BLIND}":
            blind = facility(instance, colocation=False, watch=watch, solver=solver)
            return _judged(instance, name, blind.allocation, time.perf_counter() - began, "with its bound")
        found = METHODS[name.removesuffix(BLIND)](instance, asked, watch, solver)
    except FAILURES as error:
        return Judged(name, None, seconds=time.perf_counter() - began, failure=str(error))
    return _judged(instance, name, found.allocation, time.perf_counter() - began, found.ended)


def _judged(instance: Facility, name: str, allocation: Allocation, seconds: float, ended: str) -> Judged:
    return Judged(name, verified(instance, allocation), None, seconds, ended, allocation)


def _against(best: FacilityResult, entry: Judged) -> Judged:
    """Tell the distance from the bound.

    Raises
    ------
    InvalidScheduleError
        If a valid allocation earns more than the bound: one of them is wrong.
    """
    if entry.measured is None:
        return entry
    value, bound = entry.measured.reward_rate, best.bound
    if value > (bound if best.exactly_proved else bound + ROUNDING * abs(bound)):
        raise InvalidScheduleError(f"{entry.name} earns {value!r}, more than the bound of {bound!r}")
    return replace(entry, gap=relative_gap(min(value, bound), bound))


def examined_allocation(facility: Facility, path: Path) -> facilities.Examined:
    """Check and measure an allocation file; one that cannot be read breaks the first rule of all."""
    try:
        document = read_document(path)
        return facilities.examine(facility, allocation_from_dict(document.value, str(path), document.faults))
    except InstanceError as error:
        found = tuple(Violation("unreadable", str(fault)) for fault in error.faults)
        return facilities.Examined(found, None)
