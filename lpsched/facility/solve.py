"""Solve a facility: the best outlets, an allocation, prices; and the exact proof of the bound."""

from __future__ import annotations

import pkgutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, overload

import numpy as np

from lpsched.cancellation import CancelToken, timed
from lpsched.errors import InputIssue, InstanceError, InvalidScheduleError, SolverError
from lpsched.facility.air import FacilityArrays, HeatMap, cop, facility_arrays, heat_map, inlet_mix
from lpsched.facility.certificate.boxes import HEAT, OUTLET, Box, Cut, FacilityCertificate, Prices, Proof, Step, proved
from lpsched.facility.model import Facility
from lpsched.facility.outlets.box import BoxPrices
from lpsched.facility.outlets.fixed import best_at
from lpsched.facility.outlets.search import OutletAnswer, RecordedBox, best_outlets
from lpsched.facility.patterns import FacilityPrices, FacilityRelaxation
from lpsched.facility.recovery import core_by_core, gang
from lpsched.facility.result import FacilityMarginalValues, FacilityResult, core_time
from lpsched.facility.rules import require_cap
from lpsched.facility.verify import Measurement, examine
from lpsched.lp.solvers import default_solver
from lpsched.model.fields import FrozenDict
from lpsched.model.provenance import Status, provenance_of, relative_gap
from lpsched.units import KILO

if TYPE_CHECKING:
    from lpsched.facility.parts import CoreAllocation, GangAllocation
    from lpsched.facility.result import MethodResult
    from lpsched.lp.program import Solver
    from lpsched.model.table import Floats

# From the record of a search over outlet temperatures to a proof that can be checked.
#
# The search counts in kilowatts and shares of reward, and has the air solved: a price of each redline, and
# theta of the heat of each unit. The proof has SI units, and prices of the air balances
# (`facility/certificate/cooling.py`). With y = f kappa, and M the shares of inlet air,
#
#     y_u = k_u theta_u at the units,      (I - M_NN)' y_N  =  r,      r = rho + M_CN' y_C,
#     y_N  =  r + k (G' r),                because G = (I - M_NN)^-1 M_NN / k.
#
# In floating point some redline's price would come out as minus a hair, which the checker rejects; so a hair is
# added to all of them first. That costs the bound as little.
HAIR: Final = 1e-13  # of the largest price of air
IN_KILOWATTS: Final = ("least", "most")  # what steps about these make large; the others are in kelvin


def proof_of(
    facility: Facility,
    arrays: FacilityArrays,
    heat: HeatMap,
    answer: OutletAnswer | FacilityRelaxation,
    *,
    colocation: bool,
) -> FacilityCertificate:
    """Return the certificate of the best bound that a record, or a point, proves in exact arithmetic.

    At a point, whose temperatures are fixed, a watt of heat costs what its cooling takes from the cap, less the
    marginal value of more heat where a unit would have to heat.
    """
    translator = _Translator(facility, arrays, heat)
    if isinstance(answer, FacilityRelaxation):
        prices, outlets, floor = answer.prices, tuple(answer.outlets.tolist()), 0.0
        theta = prices.cap / cop(arrays, answer.outlets) - prices.cooling
        air = np.concatenate((prices.redlines, prices.crac_redlines))
        there = BoxPrices(prices.tasks, 0.0, prices.cap * KILO, air, theta * KILO, prices.nodes)
        boxes = [Box(prices=translator.prices(there, 1.0))]
    else:
        boxes, outlets, floor = [translator.box(each) for each in answer.record], None, answer.cutoff
    bound = proved(Proof(facility, colocation=colocation), tuple(boxes), floor, outlets)
    if isinstance(bound, str):
        raise SolverError(f"the bound of {facility.name} could not be proved exactly: {bound}")
    return FacilityCertificate(facility.name, facility.content_hash, colocation, bound, floor, tuple(boxes), outlets)


class _Translator:
    """Turns the prices of the search into those of the proof."""

    def __init__(self, facility: Facility, arrays: FacilityArrays, heat: HeatMap) -> None:
        self.unit = float(arrays.rewards @ arrays.arrivals) or 1.0  # the reward of all arrivals
        self.nodes, self.from_power = len(arrays.node_type), heat.from_power
        self.flows = np.concatenate((arrays.airflow[arrays.node_type], arrays.crac_airflow))
        self.per_kelvin = arrays.joules_per_m3_kelvin * self.flows
        self.back = None  # M_CN; none with a recirculation matrix: air then has the prices of redlines
        if facility.mixing.form != "recirculation":
            self.back = inlet_mix(facility, arrays)[self.nodes :, : self.nodes]

    def box(self, recorded: RecordedBox) -> Box:
        """Return a box with its prices in the terms of the proof."""
        steps = tuple(
            Step(limit, unit, self.prices(prices, KILO if limit in IN_KILOWATTS else 1.0))
            for limit, unit, prices in recorded.steps
        )
        if recorded.cut is not None:
            is_heat, unit, at, below, above = recorded.cut
            sides = HEAT if is_heat else OUTLET
            return Box(steps, Cut(sides, unit, at * KILO if is_heat else at, below, above))
        return Box(steps, None, None if recorded.prices is None else self.prices(recorded.prices, self.unit))

    def prices(self, found: BoxPrices, scale: float) -> Prices:
        """Return prices in SI units; `scale` is what a unit of the search's goal is."""
        nodes = self.nodes
        redlines, theta = found.air[:nodes] * scale, found.heat * scale / KILO
        if self.back is None:
            air = np.concatenate((redlines, theta))
        else:
            at_units = self.per_kelvin[nodes:] * theta
            size = max(float(np.abs(at_units).max(initial=0.0)), float(redlines.max(initial=0.0)))
            own = redlines + HAIR * size + at_units @ self.back
            own = own + self.per_kelvin[:nodes] * (own @ self.from_power)
            air = np.concatenate((own, at_units)) / self.flows
        return Prices(
            tasks=tuple((found.task_values * scale).tolist()),
            cap=found.cap * scale / KILO,
            air=tuple(air.tolist()),
            unit_redlines=tuple((found.air[nodes:] * scale).tolist()),
            reward=found.reward * scale / self.unit,
        )


# Facilities, the stages in order: relax, price, recover, verify, report.
METHOD: Final = "lp"
DEFAULT_GAP: Final = 0.001
SECONDS: Final = 300.0  # where no time limit is given
MOST_PROVED: Final = 1_000  # nodes; more are proved exactly on request
NOTHING: Final = 1e-12  # of what all arrivals would bring
FIXED_GAP: Final = 1e-6  # at given temperatures, where there is nothing to search


@overload
def facility(
    instance: Facility | Path | str,
    *,
    scheduler: Literal["lp"] = ...,
    colocation: bool = ...,
    outlets: Sequence[float] | None = ...,
    gap: float = ...,
    prove: bool = ...,
    time_limit: float | None = ...,
    cancel: CancelToken | None = ...,
    solver: Solver | None = ...,
) -> FacilityResult: ...
@overload
def facility(
    instance: Facility | Path | str,
    *,
    scheduler: Literal["greedy", "ga", "nlp"],
    colocation: bool = ...,
    gap: float = ...,
    bound: bool = ...,
    seed: int = ...,
    generations: int | None = ...,
    start: Literal["random", "greedy", "lp"] | None = ...,
    time_limit: float | None = ...,
    cancel: CancelToken | None = ...,
    solver: Solver | None = ...,
) -> MethodResult: ...
def facility(  # noqa: PLR0913 - options are keyword-only
    instance: Facility | Path | str,
    *,
    scheduler: str = METHOD,
    colocation: bool = True,
    outlets: Sequence[float] | None = None,
    gap: float = DEFAULT_GAP,
    prove: bool = False,
    bound: bool = True,
    seed: int = 0,
    generations: int | None = None,
    start: str | None = None,
    time_limit: float | None = None,
    cancel: CancelToken | None = None,
    solver: Solver | None = None,
) -> FacilityResult | MethodResult:
    """Find a verified allocation of a facility, and the bound of all of them.

    Parameters
    ----------
    instance
        A facility, or the path of its file.
    scheduler
        `lp`: ours, with its bound. `greedy`, `ga`, `nlp`: methods of the literature, compared with that bound; they
        return a `lpsched.facility.result.MethodResult`.
    colocation
        Whether cores of a node slow each other down, as the facility's degradation says.
    outlets
        Of `lp`: Celsius of each CRAC unit, if they are given; else the best are searched for.
    gap
        The relative distance from value to bound within which the answer is called optimal.
    bound
        Of `greedy`, `ga`, `nlp`: whether to prove the bound, too, which takes seconds.
    seed
        Random seed of `ga` and `nlp`.
    generations, start
        Of `ga`: how many generations it may take, and what joins its first population: `random` (nothing, by
        default), `greedy` or `lp`.
    prove
        Of `lp`: whether to derive the bound once more in exact arithmetic, whatever the size: up to 1,000 nodes that is
        done in any case. The result then has the certificate; without it, its bound is labelled as not certified.
    time_limit
        Seconds of the search; 300, if no limit is given. What is known by then still gives a verified
        allocation and a bound. Of `ga` and `nlp`: seconds of the method alone, by default 60 and 600.
    cancel
        In place of a time limit: a token that can be stopped from outside and reports progress.
    solver
        Solves the linear programs; HiGHS if not given.

    Raises
    ------
    InstanceError
        If the outlets given are not as many as there are CRAC units, or out of their range; if there is no such
        scheduler or start, or an option does not go with it.
    MissingExtraError
        If a package that the scheduler needs is not installed.
    InfeasibleError
        If idle nodes alone break the power cap or a redline at all outlet temperatures.
    NotFoundError
        If the time was up before any allocation was found, and none was proved impossible.
    SolverError
        If the solver fails.
    InvalidScheduleError
        If the allocation found does not pass verification, which is a bug of ours.
    """
    instance = Facility.given(instance)
    _check_options(scheduler, outlets=outlets, prove=prove or None, generations=generations, start=start)
    if scheduler != METHOD:
        allocate = pkgutil.resolve_name("lpsched.facility.compare:allocate")  # above this module: it needs the bound
        found_by: MethodResult = allocate(
            instance,
            method=scheduler,
            colocation=colocation,
            seed=seed,
            bound=bound,
            gap=gap,
            generations=generations,
            start=start or "random",
            time_limit=time_limit,
            cancel=cancel,
            solver=solver,
        )
        return found_by
    require_cap(instance)
    solver = solver if solver is not None else default_solver()
    cancel, timings = cancel or CancelToken(time_limit), dict[str, float]()
    cancel = cancel.part(SECONDS) if cancel.remaining() is None else cancel
    with timed(timings, "heat"):
        arrays, heat = facility_arrays(instance, colocation=colocation), heat_map(instance)
    certificate = None
    given = None if outlets is None else _checked_outlets(instance, outlets)
    searched: OutletAnswer | FacilityRelaxation
    with timed(timings, "search"):
        if given is None:
            searched = best_outlets(arrays, heat, solver=solver, gap=gap, cancel=cancel)
            found, boxes = searched.point, searched.boxes
        else:
            found = searched = best_at(arrays, heat, given, solver=solver, gap=min(gap, FIXED_GAP), cancel=cancel)
            boxes = 1
    highest = searched.bound
    if prove or len(instance.nodes) <= MOST_PROVED:
        with timed(timings, "prove"):
            certificate = proof_of(instance, arrays, heat, searched, colocation=colocation)
        highest = certificate.bound
    with timed(timings, "recover"):
        allocation = gang(instance, arrays, heat, found)
        cores = core_by_core(instance, allocation)
    with timed(timings, "verify"):
        measured, by_core = verified(instance, allocation), verified(instance, cores)
    value = measured.reward_rate if colocation else measured.plain_reward_rate
    distance = relative_gap(value, highest)
    if highest - value <= NOTHING * (float(arrays.rewards @ arrays.arrivals) or 1.0):  # nothing can be earned
        distance = 0.0
    close = distance is not None and distance <= gap
    return FacilityResult(
        method=METHOD,
        colocation=colocation,
        status=Status.OPTIMAL if close else Status.LIMIT if cancel.expired() else Status.FEASIBLE,
        reward_rate=value,
        bound=highest,
        gap=distance,
        fixed_outlets=outlets is not None,
        boxes=boxes,
        certificate=certificate,
        measured=measured,
        cap_watts=instance.power_cap_watts,
        unit_names=tuple(unit.name for unit in instance.crac_units),
        allocation=allocation,
        cores=cores,
        cores_reward_rate=by_core.reward_rate if colocation else by_core.plain_reward_rate,
        worth=_marginal_values(instance, arrays, found.prices) if found.priced else None,
        timings=FrozenDict(timings),
        provenance=provenance_of(instance, solver.name),
        stopped="" if close else cancel.why_cut(),
        core_time=core_time(instance, allocation),
    )


def _check_options(scheduler: str, **given: object) -> None:
    """Raise an error for an unknown scheduler, or for options of another one."""
    known = (METHOD, "greedy", "ga", "nlp")
    if scheduler not in known:
        needed = f"one of {', '.join(known)}"
        raise InstanceError("facility", (InputIssue(("scheduler",), repr(scheduler), needed, "choose one"),))
    issues = [
        InputIssue((name,), repr(value), f"none with scheduler {scheduler!r}", f"it goes with {fitting!r}")
        for name, value in given.items()
        if value is not None and scheduler != (fitting := "ga" if name in {"generations", "start"} else METHOD)
    ]
    if issues:
        raise InstanceError("facility", tuple(issues))


def verified(instance: Facility, allocation: GangAllocation | CoreAllocation) -> Measurement:
    """Return what an allocation brings and takes, if it keeps every rule."""
    examined = examine(instance, allocation)
    if examined.measured is None:
        why = examined.violations[0].sentence
        raise InvalidScheduleError(f"the allocation found for {instance.name} is not valid: {why}")
    return examined.measured


def _checked_outlets(instance: Facility, outlets: Sequence[float]) -> Floats:
    """Return the temperatures as an array, if they are in the range of their units."""
    units = instance.crac_units
    if len(outlets) != len(units):
        needed = f"{len(units)}, one for each CRAC unit"
        raise InstanceError("", (InputIssue(("outlets",), f"{len(outlets)} temperatures", needed, "give as many"),))
    issues = tuple(
        InputIssue(("outlets", unit.name), f"{celsius:g} °C", f"{low:g} to {high:g} °C", "correct it")
        for unit, celsius in zip(units, outlets, strict=True)
        for low, high in (unit.outlet_celsius,)
        if not low <= celsius <= high
    )
    if issues:
        raise InstanceError("", issues)
    return np.array(outlets, dtype=float)


def _marginal_values(instance: Facility, arrays: FacilityArrays, prices: FacilityPrices) -> FacilityMarginalValues:
    """Return the derivatives in the facility's terms; a node's is that of its time, less its overhead's."""
    nodes = prices.nodes - prices.watts * arrays.overhead_watts[arrays.node_type]
    kinds = {kind.name: nodes[arrays.node_type == j] for j, kind in enumerate(instance.node_types)}
    return FacilityMarginalValues(
        kilowatt=KILO * prices.cap,
        redline_kelvin=float(prices.redlines.sum()),
        node_types=FrozenDict({name: float(values.mean()) for name, values in kinds.items() if len(values)}),
        task_types=FrozenDict(zip((task.name for task in instance.task_types), prices.arrivals.tolist(), strict=True)),
    )
