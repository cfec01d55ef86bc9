"""Prices: map the tasks whose utility exceeds what their machine time and energy cost.

Now and then the policy plans: it makes a forecast of the rest of the day (`forecast.py`; it knows nothing of
the tasks to come), and is handed prices at which just so many of these tasks are worth running as machines
and energy can take: w_j for a second on a machine of type j, lambda for a joule. Between plans

    cost of a run       lambda joules + f_j w_j seconds
    run or wait         see `mapping/advantage.py`: the run of the most advantage per second comes first, and
                        only runs that start before the next mapping event are decided

f_j, at most 1, is what the market says: a machine of type j that stands idle though tasks wait is too dear,
and f_j falls; it rises again while all machines of the type are busy. Energy needs no such factor: each plan
starts from the joules that are left, so that lambda rises if they go too fast.

It plans when the first tasks are there, when a new day with its own energy begins, and then after as much
time as has passed since the first arrival, but at least PLANS times in a day, and more often towards its end.
A day that never ends is expected to go on for as long as it has. There, when all machines are idle and no
run is worth its price, prices are forgotten: nothing may follow.

This one is ours; the idea is that of the bound in `formulations/arrivals.py`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.compiled import require_compiler
from lpsched.simulation.mapping.advantage import Terms, most_gaining_first
from lpsched.simulation.mapping.present import frozen, present_of
from lpsched.simulation.policies.forecast import as_on, as_so_far, seen_so_far
from lpsched.simulation.policy import Policy
from lpsched.simulation.state import Assignments

if TYPE_CHECKING:
    from collections.abc import Callable

    from lpsched.formulations.arrival_prices import ArrivalPrices
    from lpsched.instance.array_types import Floats
    from lpsched.instance.day_arrays import DayArrays
    from lpsched.simulation.policies.forecast import Forecast, Seen
    from lpsched.simulation.state import State

NAME: Final = "prices"
PLANS: Final = 24  # a day, at least
LAST_PLANS: Final = 4  # the next plan comes no later than after this part of the time that is left
PATIENCE: Final = 0.9
EVENTS_TO_WAIT: Final = 3  # a task that waits is expected to start so many mapping events later
CHEAPER: Final = 0.9  # from one mapping event to the next
DEARER: Final = 1.1
CHEAPEST: Final = 0.1
STANDING: Final = "prices"  # in the policy's memory


@dataclass(slots=True)
class Standing:
    """Where the policy stands: prices, what the market says of them, and when to plan anew."""

    per_second: Floats  # M
    factors: Floats  # M
    per_joule: float = 0.0
    prices: ArrivalPrices | None = None
    plan_at: float = -math.inf
    period_since: float = -math.inf
    last_event: float = -math.inf


@dataclass(frozen=True, slots=True)
class Planner:
    """The policy; `plan` finds prices for a forecast, from those of the last plan on."""

    plan: Callable[[Forecast, ArrivalPrices | None], ArrivalPrices]
    other_day: DayArrays | None = None  # that today is expected to be like
    whole: bool = False  # runs that do not end within the day count for nothing

    def choose(self, state: State, _rng: np.random.Generator, /) -> Assignments:
        """Answer at a mapping event."""
        require_compiler("the policies of simulated days", "simulate")
        standing, seen, gap = _standing(state), seen_so_far(state), _gap(state)
        if state.now >= standing.plan_at or state.begins_at != standing.period_since:
            self._plan(state, standing, seen, gap)
        system = state.system
        machine = (standing.per_second * standing.factors)[system.column_type] * system.seconds
        found = self._mapped(state, standing.per_joule * system.joules + machine, gap)
        all_idle = bool((state.ready <= state.now).all())
        if not len(found.tasks) and all_idle and math.isinf(state.ends_at):
            found = self._mapped(state, np.zeros_like(system.seconds), gap)
        _listen(state, standing, found)
        return found

    def _mapped(self, state: State, cost: Floats, gap: float) -> Assignments:
        terms = Terms(frozen(cost), state.now + gap, state.now + EVENTS_TO_WAIT * gap, PATIENCE, self.whole)
        board = most_gaining_first(present_of(state), terms)
        count = int(board.done[0])
        return Assignments(state.tasks[board.tasks[:count]], board.machines[:count], board.columns[:count])

    def _plan(self, state: State, standing: Standing, seen: Seen, gap: float) -> None:
        """Find new prices, and settle when to plan next."""
        passed = max(state.now - seen.since, gap)
        ends_at = state.ends_at if math.isfinite(state.ends_at) else state.now + passed
        ahead, length = ends_at - state.now, ends_at - min(state.begins_at, state.now)
        if self.other_day is None:
            forecast = as_so_far(state, seen, passed, ends_at)
        else:
            forecast = as_on(self.other_day, state, length / PLANS, ends_at)
        standing.prices = self.plan(forecast, standing.prices)
        standing.per_second, standing.per_joule = standing.prices.per_second[:, 0], standing.prices.per_joule
        standing.period_since = state.begins_at
        standing.plan_at = state.now + max(gap, min(passed, length / PLANS, ahead / LAST_PLANS))


def prices_policy(
    plan: Callable[[Forecast, ArrivalPrices | None], ArrivalPrices],
    *,
    other_day: DayArrays | None = None,
    whole: bool = False,
) -> Policy:
    """Return the policy; `whole`: only runs that end within the day count."""
    return Policy(NAME, Planner(plan, other_day, whole).choose)


def _standing(state: State) -> Standing:
    if STANDING not in state.memory:
        machine_types = len(state.system.machine_counts)
        state.memory[STANDING] = Standing(np.zeros(machine_types), np.ones(machine_types))
    standing: Standing = state.memory[STANDING]
    return standing


def _gap(state: State) -> float:
    """Return how long it is to the next mapping event; if nobody knows, how long it was since the last."""
    if math.isfinite(state.until) and state.until > state.now:
        return state.until - state.now
    since = state.now - _standing(state).last_event
    if math.isfinite(since) and since > 0.0:
        return since
    return float(np.where(state.system.can_run, state.system.seconds, math.inf).min())


def _listen(state: State, standing: Standing, found: Assignments) -> None:
    """Hear what the market says: machine types that stand idle get cheaper, the others dearer again."""
    system, idle = state.system, state.ready <= state.now
    idle[found.machines] = False
    idle_types = np.zeros(len(system.machine_counts), dtype=bool)
    idle_types[system.machine_type[idle]] = True
    factors = standing.factors * np.where(idle_types, CHEAPER, DEARER)
    standing.factors = np.clip(factors, CHEAPEST, 1.0)
    standing.last_event = state.now
