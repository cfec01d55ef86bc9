"""Plan a bag over a horizon: relax, price, recover, verify, report."""

from __future__ import annotations

import pkgutil
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lpsched.bag.horizon.arrays import HorizonArrays, horizon_arrays
from lpsched.bag.horizon.certificate import HorizonMultipliers, certificate_of, fitted, unit_of, weights_of
from lpsched.bag.horizon.recovery import Recovered, recover
from lpsched.bag.horizon.relaxation import Prices, Relaxed, relax_work
from lpsched.bag.horizon.result import PlanCosts, PlanResult, SlotRow
from lpsched.bag.horizon.runs import least_machine_prices, machine_prices_of, refined, relax_runs
from lpsched.bag.horizon.schedule import IdleSpan, Plan, PlanGroup, TimedRun, united
from lpsched.bag.horizon.slots import Slots, Weights, moment_of, slots_of, with_series, with_switch_off
from lpsched.bag.horizon.timelines import TICKS
from lpsched.bag.horizon.verify import PlanMeasurement, measure_plan, verify_plan
from lpsched.bag.model import Bag
from lpsched.bag.pricing.one_more import Marginals, marginals_named
from lpsched.bag.problem import proved_makespan
from lpsched.bag.schedule import Schedule, numbered, run_of
from lpsched.bag.solve import solve as solve_bag
from lpsched.cancellation import CancelToken, timed
from lpsched.errors import InfeasibleError, InputIssue, InstanceError, InvalidScheduleError, NotFoundError, SolverError
from lpsched.io.series_files import read_series, series_from
from lpsched.lp.solvers import default_solver
from lpsched.model.fields import FrozenDict
from lpsched.model.fixed_point import rounded_down, rounded_up
from lpsched.model.provenance import Status, provenance_of
from lpsched.units import SECONDS_PER_HOUR, duration

if TYPE_CHECKING:
    from datetime import datetime

    from lpsched.lp.program import Solver
    from lpsched.model.series import Series
    from lpsched.model.table import Floats

OBJECTIVES: Final = ("cost", "carbon", "profit")
EFFORTS: Final = {"fast": 1.0, "auto": 10.0, "tight": 40.0}  # counted seconds of the search for a plan
STEP_WORK: Final = 0.3  # likewise, for each plan with one more machine or another horizon
ANSWER_WORK: Final = 5.0  # likewise, for all of these together; what is under way then is finished
MOST_RUN_ROWS: Final = 4_000  # machine types times slots up to which the relaxation of runs is solved
MOST_PART_ROWS: Final = 400  # machine types times parts of slots up to which it is refined
LONGER: Final = 1e-5  # by which the relaxation of runs must prove more than that of work to be refined
BELOW: Final = (1.0, 1.0 - 1e-9)  # shares of power caps that are kept, the second where rounding breaks the first


@dataclass(frozen=True, slots=True)
class HorizonProblem:
    """A bag over a horizon, and what is minimised."""

    bag: Bag
    slots: Slots
    objective: str
    carbon_price_per_kg: float = 0.0

    @property
    def weights(self) -> Weights:
        """What is minimised."""
        return weights_of(self.objective, self.carbon_price_per_kg)

    def arrays(self) -> HorizonArrays:
        """Return the costs as arrays."""
        return horizon_arrays(self.bag, self.slots, self.weights)

    def value(self, measured: PlanMeasurement) -> Fraction:
        """Return the objective of a plan: profit is to be large, all else small."""
        value = measured.value(self.weights)
        return -value if self.objective == "profit" else value


def build_horizon(  # noqa: PLR0913 - options are keyword-only
    bag: Bag | Path | str,
    *,
    objective: str = "cost",
    horizon: float | None = None,
    start: int | str | datetime | None = None,
    tariff: Any = None,  # noqa: ANN401 - a number, a series, a path, or a series of pandas
    carbon: Any = None,  # noqa: ANN401 - likewise
    power_cap: Any = None,  # noqa: ANN401 - likewise
    grid_fee: float | None = None,
    carbon_price: float = 0.0,
    switch_off: bool | None = None,
    fill: bool = False,
) -> HorizonProblem:
    """Return the problem of a bag over a horizon; the options are those of `plan`."""
    bag = Bag.given(bag)
    if objective not in OBJECTIVES:
        raise ValueError(f"objective is {objective!r}, expected one of {', '.join(OBJECTIVES)}")
    given = {"tariff": tariff, "carbon": carbon, "power_cap": power_cap}
    series = {key: given_series(bag, key, value, fill=fill) for key, value in given.items()}
    bag = with_series(bag, **series, grid_fee=grid_fee)
    bag = with_switch_off(bag, switch_off)
    issues = []
    if horizon is None:
        horizon = bag.site.deadline_seconds
    if horizon is None:
        do = "give it (--horizon 24h), or write it into the bag (site.deadline_seconds)"
        issues.append(InputIssue(("horizon",), "nothing", "by when all tasks must be done", do))
    if bag.watts is None:
        do = f"add them: {objective} over a horizon counts kWh"
        issues.append(InputIssue(("watts",), "none", "the watts of every pair that can run", do))
    if objective == "profit" and not bag.prices.per_task:
        do = "add them: over a horizon each task that runs earns its own price"
        issues.append(InputIssue(("prices", "per_task"), "none", "what a task of each type sells for", do))
    if issues:
        raise InstanceError(bag.name, tuple(issues))
    need = ["tariff"] if objective != "carbon" else []
    need += ["carbon"] if objective == "carbon" or carbon_price else []
    assert horizon is not None
    slots = slots_of(bag, horizon=horizon, start=moment_of(bag, start), need=need)
    return HorizonProblem(bag, slots, objective, float(carbon_price))


def given_series(bag: Bag, key: str, given: Any, *, fill: bool) -> float | Series | None:  # noqa: ANN401 - see `plan`
    """Return a number or a series of whatever a user gave."""
    if given is None:
        return None
    zone, currency = bag.site.time_zone, bag.prices.currency
    if isinstance(given, str | Path):
        return read_series(Path(given), key, currency=currency, time_zone=zone, fill=fill)
    return series_from(given, key, currency=currency, time_zone=zone, fill=fill)


def plan(  # noqa: PLR0913 - options are keyword-only
    bag: Bag | Path | str,
    *,
    objective: str = "cost",
    horizon: float | None = None,
    start: int | str | datetime | None = None,
    tariff: Any = None,  # noqa: ANN401 - a number, a series, a path, or a series of pandas
    carbon: Any = None,  # noqa: ANN401 - likewise
    power_cap: Any = None,  # noqa: ANN401 - likewise
    grid_fee: float | None = None,
    carbon_price: float = 0.0,
    switch_off: bool | None = None,
    fill: bool = False,
    baselines: bool = True,
    marginals: str = "lp",
    effort: str = "auto",
    gap: float = 1e-4,
    time_limit: float | None = None,
    cancel: CancelToken | None = None,
    seed: int = 0,
    solver: Solver | None = None,
) -> PlanResult:
    """Find a verified plan over a horizon with prices over time, and a proved bound.

    Parameters
    ----------
    bag
        A bag with watts, or the path of its file.
    objective
        `cost`: least money; `carbon`: least grams of CO2; `profit`: what finished tasks earn less what they cost, where
        tasks may be left out.
    horizon
        Seconds by which all tasks must be done, and until which machines that must stay on are paid for; by default
        the deadline of the bag.
    start
        When the horizon begins: a date and time, or seconds since 1970 UTC; by default `site.start`. Without a zone it
        is in the time zone of the site, or in UTC.
    tariff, carbon, power_cap
        In place of those of the bag: a number (money per kWh, g/kWh, kW), a `Series`, a series of pandas with moments
        as its index, or the path of a CSV or Parquet file.
    grid_fee
        In place of that of the bag: money per kWh on top of the tariff, such as grid fees and taxes.
    carbon_price
        Money for each kg of CO2, as a part of the cost.
    switch_off
        Whether all machines may be off when idle; by default what the bag says of each type.
    fill
        Whether hours missing in files have the value of the hour before, in place of an error.
    baselines
        Whether to compare with running all at once, and with a plan at the mean price.
    marginals
        `lp`: what one more machine of each type is worth by the bound alone. `top`: also by plans with one more, for
        the three types of largest marginal value, where that is above the gap; and what an hour more and less until the
        end of the horizon change. Some 5 seconds of search in all. `proved`: for all types, without that limit.
    effort
        `fast`, `auto` or `tight`: about 1, 10 or 40 seconds of search.
    gap
        The relative distance from value to bound within which the answer is called optimal.
    time_limit, cancel, seed, solver
        As in `solve`.

    Raises
    ------
    ValueError
        If the objective, `marginals` or the effort is not known.
    InstanceError
        If an option is not valid, or the bag lacks what the objective needs.
    InfeasibleError
        If no plan finishes all tasks within the horizon.
    NotFoundError
        If none was found, and none proved impossible.

    Examples
    --------
    >>> from lpsched import Bag, MachineType, Prices, Table, TaskType
    >>> cpu, render = MachineType("cpu", 1, may_be_off=True), TaskType("render", 2)
    >>> bag = Bag("b", (cpu,), (render,), Table.of([[1800.0]]), Table.of([[1000.0]]))
    >>> from lpsched.model.series import Series
    >>> prices = Series((0, 3600, 7200), 10800, (0.3, 0.1, 0.2))
    >>> result = plan(bag, horizon=10800, start=0, tariff=prices)
    >>> result.value, result.bound, [(run.start_seconds, run.count) for run in result.plan.groups[0].runs]
    (0.1, 0.09999999999999999, [(3600.0, 2)])
    """
    work, solver, cancel = search_of(effort, solver, cancel, time_limit)
    selected = marginals_named(marginals)
    problem = build_horizon(
        bag,
        objective=objective,
        horizon=horizon,
        start=start,
        tariff=tariff,
        carbon=carbon,
        power_cap=power_cap,
        grid_fee=grid_fee,
        carbon_price=carbon_price,
        switch_off=switch_off,
        fill=fill,
    )
    return plan_problem(problem, solver, cancel, work=work, gap=gap, seed=seed, baselines=baselines, marginals=selected)


def search_of(
    effort: str, solver: Solver | None, cancel: CancelToken | None, time_limit: float | None
) -> tuple[float, Solver, CancelToken]:
    """Return the counted seconds of an effort, the solver and the token, with their defaults."""
    if effort not in EFFORTS:
        raise ValueError(f"effort is {effort!r}, expected one of {', '.join(EFFORTS)}")
    return EFFORTS[effort], solver if solver is not None else default_solver(), cancel or CancelToken(time_limit)


def plan_problem(  # noqa: PLR0913 - the options of `plan`
    problem: HorizonProblem,
    solver: Solver,
    cancel: CancelToken,
    *,
    work: float,
    gap: float,
    seed: int,
    baselines: bool,
    marginals: Marginals = Marginals.LP,
) -> PlanResult:
    """Run the stages."""
    timings: dict[str, float] = {}
    bag, slots = problem.bag, problem.slots
    if problem.objective != "profit":
        require_time(problem, solver)
    arrays = problem.arrays()
    with timed(timings, "relax"):
        relaxed = relax(arrays, solver, cancel)
    with timed(timings, "prove"):
        multipliers = multipliers_of(problem, arrays, relaxed.prices, relaxed.fine_prices)
        certificate = certificate_of(
            bag, slots, problem.objective, multipliers, carbon_price_per_kg=problem.carbon_price_per_kg
        )
        require_possible(problem, certificate.bound)
    with timed(timings, "recover"):
        least = float(-certificate.bound if problem.objective == "profit" else certificate.bound)
        enough = least + 0.5 * gap * abs(least)
        made = _recovered(problem, arrays, relaxed, solver, cancel, work=work, seed=seed, enough=enough)
    with timed(timings, "verify"):
        measured = verified(problem, made)
    value, bound = problem.value(measured), certificate.bound
    with timed(timings, "compare"):
        answers = pkgutil.resolve_name("lpsched.bag.horizon.answers")  # above this module: it plans again
        others = answers.baselines_of(problem, measured, solver, cancel, seed) if baselines else ()
        sign = -1 if problem.objective == "profit" else 1
        now = answers.Present(
            problem,
            arrays,
            relaxed,
            multipliers,
            made,
            sign * value,
            sign * bound,
            solver,
            cancel,
            cancel if marginals is Marginals.PROVED else cancel.share(ANSWER_WORK),
            work if marginals is Marginals.PROVED else STEP_WORK,
            seed,
        )
        worth = answers.machine_worth(now, marginals)
        hours = answers.other_horizons(now) if marginals is not Marginals.LP else ()
    distance = abs(value - bound)
    spent = _gross(problem, measured)
    share = float(distance / abs(bound)) if bound else (0.0 if not distance else None)
    status = Status.LIMIT if cancel.is_cut() else Status.FEASIBLE
    if share is not None and share <= gap:
        status = Status.OPTIMAL
    return PlanResult(
        objective=problem.objective,
        unit=unit_of(bag, problem.objective),
        status=status,
        value=rounded_down(value) if problem.objective == "profit" else rounded_up(value),
        bound=float(bound),
        gap=share,
        gross_gap=float(distance / spent) if spent else None,
        horizon_seconds=slots.horizon,
        start=slots.start,
        carbon_price_per_kg=problem.carbon_price_per_kg,
        tasks=bag.tasks,
        machines=bag.machines,
        finished=FrozenDict(zip([task.name for task in bag.task_types], measured.finished, strict=True)),
        costs=costs_of(measured),
        baselines=others,
        machine_worth=worth,
        other_horizons=hours,
        timings=FrozenDict(timings),
        provenance=provenance_of(bag, solver.name),
        plan=made,
        slots=slots,
        slot_rows=_slot_rows(problem, measured, relaxed.prices),
        certificate=certificate,
        bag=bag,
        task_watts=tuple(_averages(slots, row) for row in measured.task_joules),
        idle_watts=_averages(slots, measured.idle_joules),
        stopped=cancel.why_cut(),
    )


def _recovered(  # noqa: PLR0913 - options are keyword-only
    problem: HorizonProblem,
    arrays: HorizonArrays,
    relaxed: Relaxed,
    solver: Solver,
    cancel: CancelToken,
    *,
    work: float,
    seed: int,
    enough: float,
) -> Plan:
    """Return a plan; where the search finds none, the shortest schedule from the start if that is one."""
    bag, slots, optional = problem.bag, problem.slots, problem.weights.optional
    terms: dict[str, Any] = {"work": work, "seed": seed, "enough": enough, "peaks": relaxed.peaks}
    try:
        for below in BELOW:
            found = recover(arrays, relaxed.prices, solver, cancel, below=below, **terms)
            made = plan_of(problem, arrays, found)
            if not verify_plan(bag, slots, made, optional=optional):
                break
    except NotFoundError:
        made = at_once(problem, solver)
        if verify_plan(bag, slots, made, optional=optional):
            raise
    return made


def relax(arrays: HorizonArrays, solver: Solver, cancel: CancelToken | None = None) -> Relaxed:
    """Solve the work relaxation and, unless there are too many slots, that of runs from its prices."""
    work = relax_work(arrays, solver, cancel)
    if arrays.joule_costs.size > MOST_RUN_ROWS or arrays.switch_on.any():
        return replace(work, prices=replace(work.prices, machine_prices=machine_prices_of(arrays, work.prices)))
    try:
        runs = relax_runs(arrays, work, solver, cancel)
        if runs.bound - work.bound <= LONGER * abs(work.bound):
            return runs
        return refined(arrays, runs, solver, cancel, MOST_PART_ROWS)
    except SolverError:  # what the work relaxation proves is a bound, too
        return replace(work, prices=replace(work.prices, machine_prices=machine_prices_of(arrays, work.prices)))


def multipliers_of(
    problem: HorizonProblem, arrays: HorizonArrays, prices: Prices, fine: Floats | None = None
) -> HorizonMultipliers:
    """Return prices as the certificate takes them: those of machines above what being idle costs."""
    machines = None
    if prices.machine_prices is not None and arrays.joule_costs.size <= MOST_RUN_ROWS:
        least, given = least_machine_prices(arrays, prices), prices.machine_prices if fine is None else fine
        above = given - np.repeat(least, given.shape[1] // least.shape[1], axis=1)
        machines = tuple(tuple(row) for row in np.maximum(above, 0.0).tolist())
    found = HorizonMultipliers(
        tuple(prices.task_values.tolist()),
        machines,
        tuple(tuple(row) for row in prices.cap_prices.tolist()),
        tuple(tuple(row) for row in prices.peak_prices.tolist()),
    )
    return fitted(problem.bag, problem.slots, problem.weights, found)


def require_time(problem: HorizonProblem, solver: Solver) -> float:
    """Return the least time for all tasks, proved; raise an error if the horizon is shorter."""
    bag, horizon = problem.bag, problem.slots.horizon
    least = proved_makespan(bag.without_limits(), solver)
    if least > horizon:
        raise InfeasibleError(
            f"{bag.name}: all tasks take at least {duration(least, upper=False)} (proved), but the horizon is "
            f"{duration(horizon)}; lengthen it (--horizon), or add machines"
        )
    return least


def require_possible(problem: HorizonProblem, bound: Fraction) -> None:
    """Raise an error if the bound is above what any plan could cost: then there is none."""
    if problem.objective == "profit" or all(site.cap_watts is None for site in problem.slots.sites):
        return
    if bound > _most(problem):
        caps = "the power caps" if len(problem.slots.sites) > 1 else "the power cap"
        raise InfeasibleError(
            f"{problem.bag.name}: {caps} leave too little energy for all tasks within the horizon (proved); raise "
            "them, or lengthen the horizon"
        )


def _most(problem: HorizonProblem) -> Fraction:
    """Return more than any plan can cost: all machines at their highest power at the highest prices, and so on."""
    bag, slots, weights = problem.bag, problem.slots, problem.weights
    assert bag.watts is not None
    total = Fraction(0)
    for j, machine in enumerate(bag.machine_types):
        site = slots.sites[slots.site_of[j]]
        columns = [column for column, (own, _) in enumerate(bag.modes) if own == j]
        cells = [row[column] for row in bag.watts for column in columns]
        watts = max([machine.idle_watts, *(cell for cell in cells if cell is not None)])
        kwh = Fraction(watts) * machine.count * Fraction(slots.horizon) * Fraction(site.pue) / 3_600_000
        price = max(abs(Fraction(each)) for each in site.tariff) + Fraction(site.fee)
        carbon = max(site.carbon) if site.carbon is not None else 0.0
        total += kwh * (Fraction(weights.money) * price + Fraction(weights.grams) * Fraction(carbon))
        hours = Fraction(slots.horizon) / SECONDS_PER_HOUR * machine.count
        kw = Fraction(watts) * machine.count * Fraction(site.pue) / 1000
        money = Fraction(machine.wear_per_busy_hour) * hours + Fraction(site.demand_charge) * kw
        total += Fraction(weights.money) * (money + Fraction(machine.switch_on_cost) * (bag.tasks + machine.count))
    for site in slots.sites:
        for task, cost in zip(bag.task_types, site.moving_costs, strict=False):
            total += Fraction(weights.money) * task.count * Fraction(cost)
    return total


def _gross(problem: HorizonProblem, measured: PlanMeasurement) -> Fraction:
    """Return what is spent in all, each kWh at the absolute value of its price."""
    weights, spent = problem.weights, Fraction(0)
    for site, joules in zip(problem.slots.sites, measured.joules, strict=True):
        for h, drawn in enumerate(joules):
            price = Fraction(weights.money) * (Fraction(site.tariff[h]) + Fraction(site.fee))
            price += Fraction(weights.grams) * Fraction(site.carbon[h]) if site.carbon is not None else 0
            spent += abs(price) * drawn * Fraction(site.pue) / 3_600_000
    rest = measured.demand + measured.wear + measured.moving + measured.switching
    return spent + Fraction(weights.money) * rest


def verified(problem: HorizonProblem, made: Plan) -> PlanMeasurement:
    """Return what a plan is measured to cost, after verifying it."""
    broken = verify_plan(problem.bag, problem.slots, made, optional=problem.weights.optional)
    if broken:
        raise InvalidScheduleError(problem.bag.name, broken)
    return measure_plan(problem.bag, problem.slots, made)


def costs_of(measured: PlanMeasurement) -> PlanCosts:
    """Return a measurement in doubles, rounded up."""
    return PlanCosts(
        cost=rounded_up(measured.money),
        electricity=rounded_up(measured.electricity),
        fees=rounded_up(measured.fees),
        demand=rounded_up(measured.demand),
        wear=rounded_up(measured.wear),
        moving=rounded_up(measured.moving),
        switching=rounded_up(measured.switching),
        carbon_grams=None if measured.grams is None else rounded_up(measured.grams),
        energy_kwh=rounded_up(measured.kwh),
        revenue=rounded_down(measured.revenue),
        last_end_seconds=rounded_up(measured.last_end),
        peak_watts=rounded_up(sum(measured.highest_average_watts, Fraction(0))),
        highest_watts=rounded_up(sum(measured.highest_watts, Fraction(0))),
        switch_ons=measured.switch_ons,
    )


# From timelines to a plan.
def plan_of(problem: HorizonProblem, arrays: HorizonArrays, found: Recovered) -> Plan:
    """Return the groups of machines, with the spans in which idling pays."""
    bag, maker, groups = problem.bag, found.maker, []
    used = np.zeros(len(bag.machine_types), dtype=np.int64)
    for count, timeline in found.groups:
        runs = []
        for begin, i, mode, tasks in maker.runs(timeline):
            run = run_of(bag, i, mode, tasks)
            runs.append(TimedRun(begin / TICKS, run.task_type, run.count, run.p_state))
        idle = idle_spans(arrays, timeline.j)
        if arrays.switch_on[timeline.j] and runs:
            _, stays = maker.gaps(timeline.j, timeline.begins, timeline.batches)
            moments = (timeline.begins / TICKS).tolist()
            spans = [(moments[k], moments[k + 1]) for k in np.flatnonzero(stays).tolist()]
            idle = tuple(IdleSpan(*span) for span in united(spans))
        used[timeline.j] += count
        if runs or idle:
            groups.append(PlanGroup(bag.machine_types[timeline.j].name, int(count), tuple(runs), idle))
    for j, machine in enumerate(bag.machine_types):
        idle = idle_spans(arrays, j)
        if idle and machine.count > used[j]:
            groups.append(PlanGroup(machine.name, int(machine.count - used[j]), (), idle))
    return Plan(tuple(groups))


def at_once(problem: HorizonProblem, solver: Solver) -> Plan:
    """Return the shortest schedule, from the start of the horizon."""
    bag = problem.bag.without_limits()
    return plan_of_schedule(bag, solve_bag(bag, objective="makespan", effort="balanced", solver=solver).schedule)


def plan_of_schedule(bag: Bag, schedule: Schedule) -> Plan:
    """Return a schedule as a plan: each machine runs its tasks from the start, in their order."""
    groups = []
    for j, machines, own in numbered(bag, schedule):
        ready, runs = Fraction(0), []
        for i, column, count in own:
            begin, run = rounded_up(ready), run_of(bag, i, column, count)
            runs.append(TimedRun(begin, run.task_type, run.count, run.p_state))
            ready = Fraction(begin) + count * Fraction(bag.seconds[i, column] or 0.0)
        groups.append(PlanGroup(bag.machine_types[j].name, machines, tuple(runs)))
    return Plan(tuple(groups))


def idle_spans(arrays: HorizonArrays, j: int) -> tuple[IdleSpan, ...]:
    """Return when a machine that may be off stays on, because idling earns: at negative prices, without a cap."""
    earns = arrays.joule_costs[j] < 0
    capped = np.isfinite(arrays.caps[arrays.site_of[j]]).any() or arrays.peak_costs[arrays.site_of[j]] > 0
    if not arrays.may_be_off[j] or arrays.switch_on[j] or not arrays.idle_watts[j] or capped or not earns.any():
        return ()
    edges = arrays.edges.tolist()
    return tuple(IdleSpan(*span) for span in united([(edges[h], edges[h + 1]) for h in np.flatnonzero(earns).tolist()]))


# What each slot draws.
def _averages(slots: Slots, joules: tuple[Fraction, ...]) -> tuple[float, ...]:
    return tuple(float(each / Fraction(slots.edges[h + 1] - slots.edges[h])) for h, each in enumerate(joules))


def _slot_rows(problem: HorizonProblem, measured: PlanMeasurement, prices: Prices) -> tuple[SlotRow, ...]:
    slots, rows = problem.slots, []
    for s, site in enumerate(slots.sites):
        average = _averages(slots, measured.joules[s])
        for h in range(slots.count):
            length = slots.edges[h + 1] - slots.edges[h]
            worth = None
            if site.cap_watts is not None:
                worth = float(prices.cap_prices[s, h]) * 1000.0 * length / site.cap_pue
            rows.append(
                SlotRow(
                    site.name,
                    slots.edges[h],
                    slots.edges[h + 1],
                    site.tariff[h],
                    None if site.carbon is None else site.carbon[h],
                    average[h],
                    None if site.cap_watts is None else site.cap_watts[h],
                    worth,
                )
            )
    return tuple(rows)
