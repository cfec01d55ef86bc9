"""The policy that plans by the prices of the bound."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.jit import require_compiler
from lpsched.online.simulate.board import assignments_of, frozen, present_of
from lpsched.online.simulate.pairs import Terms, most_gaining_first
from lpsched.online.simulate.state import Policy
from lpsched.online.utility import utilities

if TYPE_CHECKING:
    from collections.abc import Callable

    from lpsched.model.arrays import Floats, Integers
    from lpsched.online.bound.offers import ArrivalPrices
    from lpsched.online.simulate.state import Assignments, State, System


# What is to come, as far as the present and the past tell: so many tasks of each kind in the time ahead.
#
# A kind is a task type with a utility function. Without anything else to go by, tasks keep coming as they
# have come since the first one arrived: with n_g of kind g in the seconds that have passed,
#
#     expected  =  n_g * (seconds ahead) / (seconds passed).
#
# Worth of a kind on a column: the utility of a task that starts as it arrives.
@dataclass(frozen=True, slots=True)
class Forecast:
    """G kinds of tasks expected in S slots, and what there is for them. C columns, M machine types."""

    system: System
    edges: Floats  # S + 1, seconds: from now to the end of the day
    types: Integers  # G
    worths: Floats  # G x C: utility if started at once; 0 where it cannot run
    expected: Floats  # G x S: tasks
    machine_seconds: Floats  # M x S that are free after what machines already have
    energy_joules: float  # that are left; infinite if energy is free


def as_so_far(state: State, numbers: Integers, passed: float, ends_at: float) -> Forecast:
    """Expect that tasks keep coming as they have come in the seconds that have passed, until the end."""
    system, (types, functions) = state.system, np.nonzero(numbers)
    expected = np.asarray(numbers[types, functions] * ((ends_at - state.now) / passed), dtype=float)
    edges = np.array([state.now, ends_at])
    earned = utilities(system, functions[:, np.newaxis], system.seconds[types])
    free = np.maximum(edges[1:] - np.maximum(state.ready[:, np.newaxis], edges[:-1]), 0.0)
    first = np.concatenate(([0], np.cumsum(system.machine_counts)[:-1]))
    worths, seconds = np.where(system.can_run[types], earned, 0.0), np.add.reduceat(free, first, axis=0)
    return Forecast(system, edges, types, worths, expected[:, np.newaxis], seconds, state.energy_left)


# Prices: map the tasks whose utility exceeds what their machine time and energy cost.
#
# Now and then the policy plans: it makes a forecast of the rest of the day (`as_so_far`; it knows
# nothing of the tasks to come), and is handed prices at which just so many of these tasks are worth running
# as machines and energy can take: w_j for a second on a machine of type j, lambda for a joule. Between plans
#
#    cost of a run       lambda joules + f_j w_j seconds
#    run or wait         see `simulate/pairs.py`: the run of the most advantage per second comes first, and
#                        only runs that start before the next mapping event are decided
#
# f_j, at most 1, is what the market says: a machine of type j that stands idle though tasks wait is too dear,
# and f_j falls; it rises again while all machines of the type are busy. Energy needs no such factor: each
# plan starts from the joules that are left, so that lambda rises if they go too fast.
#
# It plans when the first tasks are there, when a new day with its own energy begins, and then after as much
# time as has passed since the first arrival, but at least PLANS times in a day, and more often towards its
# end. A day that never ends is expected to go on for as long as it has. There, when all machines are idle and
# no run is worth its price, prices are forgotten: nothing may follow.
#
# This one is ours; the idea is that of the bound in `online/bound/prices.py`.
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
    """Where the policy stands: what has come, prices, what the market says of them, and when to plan anew."""

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
    def of(cls, state: State) -> Standing:
        """Return where the policy stands now, the new tasks counted."""
        if STANDING not in state.memory:
            system, types = state.system, len(state.system.machine_counts)
            numbers = np.zeros((len(system.can_run), len(system.first_interval) - 1), dtype=np.int64)
            state.memory[STANDING] = cls(numbers, np.zeros(types), np.ones(types))
        made: Standing = state.memory[STANDING]
        new = int(np.searchsorted(state.tasks, made.last, side="right"))
        np.add.at(made.numbers, (state.types[new:], state.functions[new:]), 1)
        if new < len(state.tasks):
            made.last, made.since = int(state.tasks[-1]), min(made.since, float(state.arrivals[new:].min()))
        return made

    def gap(self, state: State) -> float:
        """Return how long it is to the next mapping event; if nobody knows, how long it was since the last."""
        if math.isfinite(state.until) and state.until > state.now:
            return state.until - state.now
        since = state.now - self.last_event
        if math.isfinite(since) and since > 0.0:
            return since
        return float(np.where(state.system.can_run, state.system.seconds, math.inf).min())

    def listen(self, state: State, found: Assignments) -> None:
        """Hear what the market says: machine types that stand idle get cheaper, the others dearer again."""
        system, idle = state.system, state.ready <= state.now
        idle[found.machines] = False
        idle_types = np.zeros(len(system.machine_counts), dtype=bool)
        idle_types[system.machine_type[idle]] = True
        self.factors = np.clip(self.factors * np.where(idle_types, CHEAPER, DEARER), CHEAPEST, 1.0)
        self.last_event = state.now


def prices_policy(plan: Callable[[Forecast, ArrivalPrices | None], ArrivalPrices], *, whole: bool = False) -> Policy:
    """Return the policy; `plan` finds prices for a forecast, from those of the last plan on.

    `whole`: runs that do not end within the day count for nothing.
    """

    def choose(state: State, _rng: np.random.Generator, /) -> Assignments:
        require_compiler("the policies of simulated days", "simulate")
        standing, system = Standing.of(state), state.system
        gap = standing.gap(state)
        if state.now >= standing.plan_at or state.begins_at != standing.period_since:
            plan_anew(state, standing, gap)
        machine = (standing.per_second * standing.factors)[system.column_type] * system.seconds
        found = mapped(state, standing.per_joule * system.joules + machine, gap)
        all_idle = bool((state.ready <= state.now).all())
        if not len(found.tasks) and all_idle and math.isinf(state.ends_at):
            found = mapped(state, np.zeros_like(system.seconds), gap)
        standing.listen(state, found)
        return found

    def mapped(state: State, cost: Floats, gap: float) -> Assignments:
        terms = Terms(frozen(cost), state.now + gap, state.now + EVENTS_TO_WAIT * gap, PATIENCE, whole)
        return assignments_of(state, most_gaining_first(present_of(state), terms))

    def plan_anew(state: State, standing: Standing, gap: float) -> None:
        """Find new prices, and settle when to plan next."""
        passed = max(state.now - standing.since, gap)
        ends_at = state.ends_at if math.isfinite(state.ends_at) else state.now + passed
        ahead, length = ends_at - state.now, ends_at - min(state.begins_at, state.now)
        standing.prices = plan(as_so_far(state, standing.numbers, passed, ends_at), standing.prices)
        standing.per_second, standing.per_joule = standing.prices.per_second[:, 0], standing.prices.per_joule
        standing.period_since = state.begins_at
        standing.plan_at = state.now + max(gap, min(passed, length / PLANS, ahead / LAST_PLANS))

    return Policy(NAME, choose)
