"""Plan a bag by a forecast, again at the start of every slot, and judge it by the actual prices.

Four plans are verified and measured with the actual series: planned again every slot; planned once by the forecast;
planned with perfect foresight; and all at once. One bound holds for all: it is proved with the actual series over the
whole horizon, so no plan is better, whatever it knows. With a for what is planned again, c for perfect foresight,
L for the bound and * for the best plan:

    L <= * <= c    so that    a - c <= a - * <= a - L

What not knowing the prices costs, a - *, is at most a - L (proved), and at least the measured a - c. Both contain what
the search for plans misses.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lpsched.bag.horizon.answers import REASONS
from lpsched.bag.horizon.certificate import unit_of
from lpsched.bag.horizon.forecasts.forecast import PREVIOUS_DAY, Knowledge, actual_values, forecast_key, knowledge_of
from lpsched.bag.horizon.forecasts.replan_result import (
    AGAIN,
    FORESIGHT,
    ONCE,
    PLANS,
    ForecastPlan,
    ForecastSlot,
    ReplanResult,
)
from lpsched.bag.horizon.forecasts.replanner import Replanned, Replanner
from lpsched.bag.horizon.result import AT_ONCE
from lpsched.bag.horizon.solve import (
    HorizonProblem,
    at_once,
    build_horizon,
    costs_of,
    given_series,
    plan_problem,
    search_of,
    verified,
)
from lpsched.bag.horizon.verify import PlanMeasurement, measure_plan, verify_plan
from lpsched.cancellation import CancelToken, timed
from lpsched.errors import InfeasibleError, InputIssue, InstanceError, NotFoundError
from lpsched.model.fields import FrozenDict
from lpsched.model.fixed_point import rounded_down, rounded_up
from lpsched.model.provenance import Status, provenance_of

if TYPE_CHECKING:
    from datetime import datetime

    from lpsched.bag.horizon.result import PlanResult
    from lpsched.bag.horizon.schedule import Plan
    from lpsched.bag.model import Bag
    from lpsched.lp.program import Solver

GAP: Final = 1e-4  # relative, at which a plan is called optimal


def replan(  # noqa: PLR0913 - options are keyword-only
    bag: Bag | Path | str,
    *,
    forecast: Any = None,  # noqa: ANN401 - a number, a series, a path, a series of pandas, or `previous-day`
    objective: str = "cost",
    horizon: float | None = None,
    start: int | str | datetime | None = None,
    tariff: Any = None,  # noqa: ANN401 - see `plan`
    carbon: Any = None,  # noqa: ANN401 - likewise
    power_cap: Any = None,  # noqa: ANN401 - likewise
    carbon_price: float = 0.0,
    grid_fee: float | None = None,
    switch_off: bool | None = None,
    fill: bool = False,
    effort: str = "fast",
    time_limit: float | None = None,
    cancel: CancelToken | None = None,
    seed: int = 0,
    solver: Solver | None = None,
) -> ReplanResult:
    """Plan a bag again at the start of every slot by a forecast, and judge it by the actual prices.

    When a slot begins, its actual price is known, and the forecast of all later ones. Tasks that have begun go on, all
    others are planned again. What was done in the end is verified and measured with the actual series, and compared
    with a bound that is proved with them: no plan is better, whatever it knows.

    Parameters
    ----------
    bag
        A bag with watts, or the path of its file.
    forecast
        Of the carbon intensity if `objective` is `carbon`, else of the tariff; all other series are taken as known. A
        number, a `Series`, a series of pandas, the path of a file, or `previous-day`: the value of the same time of
        day on the last day of which it is known.
    objective, horizon, start, tariff, carbon, power_cap, carbon_price, grid_fee, switch_off, fill
        As in `plan`; tariff and carbon intensity are the actual ones.
    effort
        `fast`, `auto` or `tight`: about 1, 10 or 40 seconds of search for each plan, of which there is one per slot.
    time_limit, cancel
        When they end the work early, the last plan is kept for the rest.
    seed, solver
        As in `solve`.

    Raises
    ------
    ValueError
        If the objective or the effort is not known.
    InstanceError
        If an option is not valid, or the forecast does not cover the horizon.
    InfeasibleError
        If no plan finishes all tasks within the horizon.
    NotFoundError
        If none was found, and none proved impossible.

    Examples
    --------
    One task of 1 kWh, and three hours. The forecast says that the second hour is cheapest; when it comes, it is not,
    and the third hour, for which 0.15 is forecast, costs 0.25.

    >>> from lpsched import Bag, MachineType, Table, TaskType
    >>> from lpsched.model.series import Series
    >>> cpu, render = MachineType("cpu", 1, may_be_off=True), TaskType("render", 1)
    >>> bag = Bag("b", (cpu,), (render,), Table.of([[3600.0]]), Table.of([[1000.0]]))
    >>> actual, forecast = (Series((0, 3600, 7200), 10800, values) for values in ((0.2, 0.2, 0.25), (0.2, 0.1, 0.15)))
    >>> result = replan(bag, forecast=forecast, horizon=10800, start=0, tariff=actual)
    >>> [(each.name, each.value) for each in result.plans]
    [('planned again', 0.25), ('planned once', 0.2), ('perfect foresight', 0.2), ('all at once', 0.2)]
    """
    work, solver, cancel = search_of(effort, solver, cancel, time_limit)
    if forecast is None:
        do = f"give it (--forecast FILE or {PREVIOUS_DAY}); with prices that are known use 'lpsched solve'"
        expected = f"a forecast of the {forecast_key(objective)}"
        raise InstanceError("", (InputIssue(("forecast",), "nothing", expected, do),))
    problem = build_horizon(
        bag,
        objective=objective,
        horizon=horizon,
        start=start,
        tariff=tariff,
        carbon=carbon,
        power_cap=power_cap,
        carbon_price=carbon_price,
        grid_fee=grid_fee,
        switch_off=switch_off,
        fill=fill,
    )
    text = str(forecast) if isinstance(forecast, str | Path | int | float) else "a series"
    if forecast != PREVIOUS_DAY:
        forecast = given_series(problem.bag, forecast_key(objective), forecast, fill=fill)
    knowledge = knowledge_of(problem, forecast)
    return replan_known(problem, knowledge, text, solver, cancel, work=work, seed=seed)


def replan_known(  # noqa: PLR0913 - options are keyword-only
    judged: HorizonProblem,
    knowledge: Knowledge,
    forecast: str,
    solver: Solver,
    cancel: CancelToken,
    *,
    work: float,
    seed: int,
) -> ReplanResult:
    """Make the four plans, and compare them.

    `judged` is the problem with perfect foresight, as `solve` and `verify` state it: slots with equal values are one.
    """
    problem, timings = knowledge.actual, dict[str, float]()
    options: dict[str, Any] = {"work": work, "gap": GAP, "seed": seed, "baselines": False}
    with timed(timings, "foresight"):
        foresight = plan_problem(judged, solver, cancel, **options)
    with timed(timings, "plan"):
        once = plan_problem(knowledge.at(0), solver, cancel, **options).plan
    with timed(timings, "replan"):
        done = Replanner(knowledge, solver, cancel, work=work, seed=seed).run(once)
    with timed(timings, "compare"):
        measured = verified(problem, done.plan)
        plans = (
            _measured(problem, AGAIN, measured, foresight),
            _measured(problem, ONCE, verified(problem, once), foresight),
            _measured(problem, FORESIGHT, verified(problem, foresight.plan), foresight),
            _at_once(problem, solver, foresight),
        )
    return _result(knowledge, forecast, foresight, done, measured, plans, timings, solver, cancel)


def _measured(problem: HorizonProblem, name: str, measured: PlanMeasurement, foresight: PlanResult) -> ForecastPlan:
    """Return what a plan costs, and how far it is from the bound."""
    value = problem.value(measured)
    distance = rounded_up(abs(value - Fraction(foresight.certificate.bound)))
    rounded = rounded_down(value) if problem.objective == "profit" else rounded_up(value)
    return ForecastPlan(name, PLANS[name], rounded, distance, costs_of(measured))


def _at_once(problem: HorizonProblem, solver: Solver, foresight: PlanResult) -> ForecastPlan:
    """Return the plan that runs all at once, or why there is none."""
    try:
        made = at_once(problem, solver)
    except (InfeasibleError, NotFoundError) as error:
        return ForecastPlan(AT_ONCE, PLANS[AT_ONCE], None, None, None, str(error))
    broken = verify_plan(problem.bag, problem.slots, made, optional=problem.weights.optional)
    if broken:
        reason = REASONS.get(broken[0].code, "not valid")
        return ForecastPlan(AT_ONCE, PLANS[AT_ONCE], None, None, None, reason)
    return _measured(problem, AT_ONCE, measure_plan(problem.bag, problem.slots, made), foresight)


def _result(  # noqa: PLR0913, PLR0917 - all that is reported
    knowledge: Knowledge,
    forecast: str,
    foresight: PlanResult,
    done: Replanned,
    measured: PlanMeasurement,
    plans: tuple[ForecastPlan, ...],
    timings: dict[str, float],
    solver: Solver,
    cancel: CancelToken,
) -> ReplanResult:
    problem, bag, again = knowledge.actual, knowledge.actual.bag, plans[0]
    exact, bound = problem.value(measured), Fraction(foresight.certificate.bound)
    best = problem.value(verified(problem, foresight.plan))
    loss = float(best - exact if problem.objective == "profit" else exact - best)
    distance = abs(exact - bound)
    share = float(distance / abs(bound)) if bound else (0.0 if not distance else None)
    status = Status.LIMIT if cancel.is_cut() else Status.FEASIBLE
    assert again.value is not None
    assert again.from_bound is not None
    return ReplanResult(
        objective=problem.objective,
        unit=unit_of(bag, problem.objective),
        status=Status.OPTIMAL if share is not None and share <= GAP else status,
        value=again.value,
        bound=foresight.bound,
        gap=share,
        loss_at_most=again.from_bound,
        loss_measured=loss,
        forecast=forecast,
        forecast_of=knowledge.key,
        mean_error=knowledge.mean_error(),
        slot_count=problem.slots.count,
        planned_slots=done.slots,
        searched=done.searched,
        adopted=done.adopted,
        horizon_seconds=problem.slots.horizon,
        start=problem.slots.start,
        carbon_price_per_kg=problem.carbon_price_per_kg,
        tasks=bag.tasks,
        machines=bag.machines,
        finished=FrozenDict(zip([task.name for task in bag.task_types], measured.finished, strict=True)),
        plans=plans,
        timings=FrozenDict(timings),
        provenance=provenance_of(bag, solver.name),
        plan=done.plan,
        slots=problem.slots,
        slot_rows=_slot_rows(knowledge, done.plan, foresight.plan),
        certificate=foresight.certificate,
        bag=bag,
        stopped=cancel.why_cut(),
    )


def _slot_rows(knowledge: Knowledge, again: Plan, foresight: Plan) -> tuple[ForecastSlot, ...]:
    problem, rows = knowledge.actual, []
    edges = problem.slots.edges
    drawn = [measure_plan(problem.bag, problem.slots, plan).joules for plan in (again, foresight)]
    for s, site in enumerate(problem.slots.sites):
        known, actual = knowledge.values(s, 0), actual_values(site, knowledge.key)
        for h in range(problem.slots.count):
            watts = [float(joules[s][h] / Fraction(edges[h + 1] - edges[h])) for joules in drawn]
            rows.append(ForecastSlot(site.name, edges[h], edges[h + 1], actual[h], known[h], *watts))
    return tuple(rows)
