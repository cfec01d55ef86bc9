"""The policy that plans by the shadow prices of machine time and energy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.jit import require_compiler
from lpsched.online.simulate.mapping import assignments_of, frozen, view_of
from lpsched.online.simulate.pairs import Terms, most_gaining_first
from lpsched.online.simulate.state import Assignments, Policy, State, System
from lpsched.online.utility import utilities

if TYPE_CHECKING:
    from collections.abc import Callable

    from lpsched.model.arrays import Floats, Integers
    from lpsched.online.bound.offers import ArrivalPrices


# A forecast from the past: tasks keep arriving as they have since the first one. A kind is a task type with a utility
# function; with n_g tasks of kind g in the seconds that have passed,
#     expected  =  n_g * (seconds ahead) / (seconds passed).
@dataclass(frozen=True, slots=True)
class Forecast:
    """G kinds of tasks expected in S slots, and what there is for them. C columns, M machine types."""

    system: System
    edges: Floats  # S + 1, seconds: from now to the end of the day
    types: Integers  # G
    utilities: Floats  # G x C: utility if started at once; 0 where it cannot run
    expected: Floats  # G x S: tasks
    machine_seconds: Floats  # M x S that are free after what machines already have
    energy_joules: float  # that are left; infinite if energy is free


def as_so_far(state: State, numbers: Integers, passed: float, ends_at: float) -> Forecast:
    """Return the forecast that tasks keep arriving until the end as they have in the seconds that have passed."""
    system, (types, functions) = state.system, np.nonzero(numbers)
    expected = np.asarray(numbers[types, functions] * ((ends_at - state.now) / passed), dtype=float)
    edges = np.array([state.now, ends_at])
    earned = utilities(system, functions[:, np.newaxis], system.seconds[types])
    free = np.maximum(edges[1:] - np.maximum(state.ready[:, np.newaxis], edges[:-1]), 0.0)
    first = np.concatenate(([0], np.cumsum(system.machine_counts)[:-1]))
    worth, seconds = np.where(system.can_run[types], earned, 0.0), np.add.reduceat(free, first, axis=0)
    return Forecast(system, edges, types, worth, expected[:, np.newaxis], seconds, state.energy_left)


# Prices: map the tasks whose utility exceeds what their machine time and energy cost. Now and then the policy plans: it
# makes a forecast of the rest of the day and gets prices at which just as many of these tasks are worth running as
# machines and energy can take: w_j for a second on a machine of type j, lambda for a joule. Between plans
#    cost of a run       lambda joules + f_j w_j seconds
#    run or wait         see `simulate/pairs.py`: the run of the most advantage per second comes first, and only runs
#                        that start before the next scheduling event are decided
# f_j, at most 1, corrects the price: it falls while a machine of type j is idle though tasks wait, and rises again
# while all machines of the type are busy. Energy needs no such factor: each plan starts from the joules that are left,
# so that lambda rises if they go too fast.
#
# It plans when the first tasks are there, when a new day with its own energy begins, and then after as much time as has
# passed since the first arrival, but at least PLANS times in a day, and more often towards its end. A day that never
# ends is expected to go on for as long as it has. There, when all machines are idle and no run is worth its price,
# prices are ignored: nothing may follow.
#
# This policy is our own; the idea is that of the bound in `online/bound/prices.py`.
NAME: Final = "prices"
PLANS: Final = 24  # a day, at least
LAST_PLANS: Final = 4  # the next plan comes no later than after this part of the time that is left
PATIENCE: Final = 0.9
EVENTS_TO_WAIT: Final = 3  # scheduling events: when a task that waits is expected to start
LOWERED: Final = 0.9  # from one scheduling event to the next
RAISED: Final = 1.1
LOWEST: Final = 0.1
PLAN_STATE: Final = "prices"  # in the policy's memory


@dataclass(slots=True)
class PlanState:
    """The state of the policy: tasks so far, prices and their factors, and when to plan next."""

    numbers: Integers  # T x F: how many tasks of each kind have come so far
    per_second: Floats  # M
    factors: Floats  # M
    since: float = math.inf  # when the first task arrived
    last: int = -1  # the newest task that is counted: tasks have numbers by arrival
    per_joule: float = 0.0
    prices: ArrivalPrices | None = None
    plan_at: float = -math.inf
    period_since: float = -math.inf
    last_event: float = -math.inf

    @classmethod
    def of(cls, state: State) -> PlanState:
        """Return the state of the policy, the new tasks counted."""
        if PLAN_STATE not in state.memory:
            system, types = state.system, len(state.system.machine_counts)
            numbers = np.zeros((len(system.can_run), len(system.first_interval) - 1), dtype=np.int64)
            state.memory[PLAN_STATE] = cls(numbers, np.zeros(types), np.ones(types))
        made: PlanState = state.memory[PLAN_STATE]
        new = int(np.searchsorted(state.tasks, made.last, side="right"))
        np.add.at(made.numbers, (state.types[new:], state.functions[new:]), 1)
        if new < len(state.tasks):
            made.last, made.since = int(state.tasks[-1]), min(made.since, float(state.arrivals[new:].min()))
        return made

    def gap(self, state: State) -> float:
        """Return the seconds to the next scheduling event; if that is not known, those since the last one."""
        if math.isfinite(state.until) and state.until > state.now:
            return state.until - state.now
        since = state.now - self.last_event
        if math.isfinite(since) and since > 0.0:
            return since
        return float(np.where(state.system.can_run, state.system.seconds, math.inf).min())

    def adjust_factors(self, state: State, found: Assignments) -> None:
        """Lower the factors of machine types that are idle, and raise the others."""
        system, idle = state.system, state.ready <= state.now
        idle[found.machines] = False
        idle_types = np.zeros(len(system.machine_counts), dtype=bool)
        idle_types[system.machine_type[idle]] = True
        self.factors = np.clip(self.factors * np.where(idle_types, LOWERED, RAISED), LOWEST, 1.0)
        self.last_event = state.now


def prices_policy(plan: Callable[[Forecast, ArrivalPrices | None], ArrivalPrices], *, whole: bool = False) -> Policy:
    """Return the policy; `plan` finds prices for a forecast; `whole`: runs that end after the day count for nothing."""

    def choose(state: State, _rng: np.random.Generator, /) -> Assignments:
        require_compiler("the policies of simulated days", "simulate")
        plan_state, system = PlanState.of(state), state.system
        gap = plan_state.gap(state)
        if state.now >= plan_state.plan_at or state.begins_at != plan_state.period_since:
            plan_anew(state, plan_state, gap)
        machine = (plan_state.per_second * plan_state.factors)[system.column_type] * system.seconds
        found = mapped(state, plan_state.per_joule * system.joules + machine, gap)
        all_idle = bool((state.ready <= state.now).all())
        if not len(found.tasks) and all_idle and math.isinf(state.ends_at):
            found = mapped(state, np.zeros_like(system.seconds), gap)
        plan_state.adjust_factors(state, found)
        return found

    def mapped(state: State, cost: Floats, gap: float) -> Assignments:
        terms = Terms(frozen(cost), state.now + gap, state.now + EVENTS_TO_WAIT * gap, PATIENCE, whole)
        return assignments_of(state, most_gaining_first(view_of(state), terms))

    def plan_anew(state: State, plan_state: PlanState, gap: float) -> None:
        """Find new prices, and set when to plan next."""
        passed = max(state.now - plan_state.since, gap)
        ends_at = state.ends_at if math.isfinite(state.ends_at) else state.now + passed
        ahead, length = ends_at - state.now, ends_at - min(state.begins_at, state.now)
        plan_state.prices = plan(as_so_far(state, plan_state.numbers, passed, ends_at), plan_state.prices)
        plan_state.per_second, plan_state.per_joule = plan_state.prices.per_second[:, 0], plan_state.prices.per_joule
        plan_state.period_since = state.begins_at
        plan_state.plan_at = state.now + max(gap, min(passed, length / PLANS, ahead / LAST_PLANS))

    return Policy(NAME, choose)
