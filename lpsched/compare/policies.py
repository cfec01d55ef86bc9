"""The policies of a day by name: those of the registry, and the one that plans, which is given a planner.

`prices` needs prices for what it expects; simulations know no formulations, so the planner is put in here.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from lpsched.errors import Fault, InstanceError, StalledError
from lpsched.formulations.arrival_prices import ArrivalPrices
from lpsched.formulations.flows import Flows, flow_prices
from lpsched.instance.day_arrays import day_arrays
from lpsched.instance.period import COMPLETED
from lpsched.recovery.arrivals import schedule_from_prices
from lpsched.simulation import registry
from lpsched.simulation.engine import simulate_day
from lpsched.simulation.options import SimulationOptions
from lpsched.simulation.policies.prices import NAME, prices_policy
from lpsched.verify.day import measure

if TYPE_CHECKING:
    from lpsched.instance.day import Day
    from lpsched.schedule.day import DaySchedule
    from lpsched.simulation.policies.forecast import Forecast
    from lpsched.simulation.policy import Policy
    from lpsched.watch import Watch


def policy_names() -> list[str]:
    """Return the names of all policies, ours that plans among them."""
    return sorted({*registry.names(), NAME})


def find_policy(name: str, day: Day, *, forecast: Day | None = None) -> Policy:
    """Return the policy of a name, for a day.

    Parameters
    ----------
    forecast
        A day that this one is expected to be like, for `prices`; without one, tasks are expected to keep
        coming as they have come.

    Raises
    ------
    InstanceError
        If there is no such policy, or the forecast has other task types.
    """
    if name != NAME:
        plain = name.partition(":")[0]
        if plain not in policy_names():
            raise registry.POLICIES.unknown(plain, policy_names())
        return registry.policy(name)
    if forecast is not None and forecast.task_types != day.task_types:
        found = f"task types other than those of {day.name!r}"
        fault = Fault(("task_types",), found, "the same, in the same order", "give a day of the same system")
        raise InstanceError(forecast.name, (fault,))
    other = None if forecast is None else day_arrays(forecast)
    return prices_policy(planned, other_day=other, whole=day.period.edge == COMPLETED)


def offline_schedule(day: Day, prices: ArrivalPrices, *, watch: Watch | None = None) -> DaySchedule:
    """Return the best schedule found that knows the whole day, at the prices of its bound.

    It begins with nothing, or with what the policy `prices` did, and improves both; the better one is it.
    """
    found = [schedule_from_prices(day, prices, watch=watch)]
    with suppress(StalledError):
        run = simulate_day(
            day, find_policy(NAME, day), np.random.default_rng(0), SimulationOptions(), watch=watch
        )
        if run.is_whole:
            found += [run.schedule, schedule_from_prices(day, prices, start=run.schedule, watch=watch)]
    return max(found, key=lambda schedule: measure(day, schedule).utility)


def planned(forecast: Forecast, before: ArrivalPrices | None) -> ArrivalPrices:
    """Return prices for a forecast, from those of the last plan on."""
    system, types = forecast.system, forecast.types
    flows = Flows(
        forecast.expected,
        forecast.worths,
        system.can_run[types],
        system.seconds[types],
        system.joules[types],
        system.column_type,
        forecast.machine_seconds,
        forecast.energy_joules,
    )
    start = None
    if before is not None:  # each slot begins with the mean of what it was
        slots = len(forecast.edges) - 1
        start = np.repeat(before.per_second.mean(axis=1, keepdims=True), slots, axis=1), before.per_joule
    per_second, per_joule = flow_prices(flows, start)
    return ArrivalPrices(forecast.edges, per_second, per_joule)
