"""Policies for arriving tasks, by name: built-in ones, registered ones, those of installed packages.

Ties: of a task's choices the earliest end, then the lowest column; of tasks the lowest number; of the machines of one
type the one that is ready first, then the lowest number. A task that fits nowhere waits. `docs/guides/policies.md` says
what else the sources leave open.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias, overload

import numpy as np

from lpsched.jit import require_compiler
from lpsched.online.simulate.mapping import ScoreTables, StateView, assignments_of, frozen, of_fastest_types, view_of
from lpsched.online.simulate.pairs import Terms, best_one_by_one, best_pairs_first, most_gaining_first
from lpsched.online.simulate.state import Assignment, Assignments, Choose, PartialSchedule, Policy, State, System
from lpsched.online.simulate.turns import drawn_one_by_one, ready_one_by_one, worst_sufferers_first
from lpsched.online.utility import utilities
from lpsched.plugins import Named

if TYPE_CHECKING:
    from lpsched.model.table import Floats, Integers, Mask
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
PRICES: Final = "prices"
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

    return Policy(PRICES, choose)


Scores: TypeAlias = "Callable[[System], ScoreTables]"
Order: TypeAlias = "Callable[[State], Integers]"


# The orders of tasks. Of tasks that arrived at the same time, the lowest number comes first, whether the first or the
# last arrivals go first. A task's priority is the utility that it begins with. Some policies use only P-state 0, the
# first of a machine type; where a pair is absent in it, they cannot use the machine.
# Source: Friese, thesis of 2015, section 4.3.4.
def first_come(state: State) -> Integers:
    """Return the places of the tasks, the first arrivals first."""
    return np.arange(len(state.tasks), dtype=np.int64)


def last_come(state: State) -> Integers:
    """Return the places of the tasks, the last arrivals first."""
    order: Integers = np.argsort(-state.arrivals, kind="stable")
    return order


def by_priority(state: State, order: Integers) -> Integers:
    """Return the places in an order that puts higher priorities first, and otherwise stays as it was."""
    system = state.system
    priorities = system.starts_at[system.first_interval[state.functions[order]]]
    return order[np.argsort(-priorities, kind="stable")]


# Scores of a pair of task and column, for the loops that map the best pair first (`simulate/pairs.py`).
#     score   weight U(end) / per / scale - cost          the higher, the better
#
#     rule            per       scale          weight   cost
#     end             minus the end, whatever the task earns
#     utility         1         1              1        0
#     per time        seconds   1              1        0
#     per energy      joules    1              1        0
#     weighted, by w  1         U+             1 - w    w joules / joules+       (equation 3)
#                     seconds   U+ / seconds-  1 - w    likewise                 (equation 4)
#                     joules    U+ / joules-   1 - w    likewise                 (equation 5)
# U+ is the largest utility that any function of the day begins with; seconds-, joules- and joules+ are the least and
# the most of all pairs that can run (joules- of those that are not 0). A pair whose weighted score is below 0 is not
# mapped. (The text does not say so, but only so its figures 3.5 to 3.7 come out: with all tasks mapped, no weight
# leaves energy over as in print.) A pair that takes no energy has an infinite utility per energy if it earns anything,
# else 0.
# Source: Friese, thesis of 2015, sections 2.4.3 and 3.3.2.
def by_end(system: System) -> ScoreTables:
    """Return the rule of the earliest end."""
    nothing = frozen(np.zeros_like(system.seconds))
    return ScoreTables(by_end=True, weight=1.0, scale=1.0, per=nothing, cost=nothing, least=-np.inf)


def by_utility(per: Literal["seconds", "joules"] | None = None, weight: float | None = None) -> Scores:
    """Return the rule of the most utility, or utility per second or joule; weighted against energy, by a weight."""

    def tables(system: System) -> ScoreTables:
        divisor = np.ones_like(system.seconds) if per is None else getattr(system, per)
        if weight is None:
            nothing = frozen(np.zeros_like(divisor))
            return ScoreTables(by_end=False, weight=1.0, scale=1.0, per=frozen(divisor), cost=nothing, least=-np.inf)
        used = divisor[system.can_run & (divisor > 0.0)]
        most_joules = float(system.joules[system.can_run].max(initial=0.0))
        cost = weight * (system.joules / most_joules) if most_joules > 0.0 else np.zeros_like(divisor)
        most_utility = float(system.starts_at[system.first_interval[:-1]].max(initial=0.0))
        scale = most_utility / (float(used.min()) if len(used) else 1.0)
        return ScoreTables(False, 1.0 - weight, scale, frozen(divisor), frozen(cost), least=0.0)  # noqa: FBT003

    return tables


# From a state to assignments, by the compiled loops. Policies of batch mode stop as soon as nothing more can become
# unmovable before the next scheduling event; those of immediate mode map every task that they are called with.
SCORES: Final = "scores"  # in the policy's memory: they do not change while a day runs
COLUMNS: Final = {"first": 0, "fastest": 1, "drawn": 2}


def _view(state: State, fastest_types: int | None = None, usable: Mask | None = None) -> StateView:
    """Return what the loops need; with `fastest_types`, of the machine types where a task is fastest only."""
    require_compiler("the policies of simulated days", "simulate")
    view = view_of(state, usable)
    if fastest_types is None:
        return view
    pairs = view.pairs
    few = of_fastest_types(pairs.usable, pairs.seconds, pairs.first_column, view.types, fastest_types)
    return view._replace(pairs=pairs._replace(usable=frozen(few)))


def _tables(state: State, scores: Scores) -> ScoreTables:
    """Return the numbers of a score, made once a day; a state may be shown to more than one policy."""
    kept: tuple[Scores, ScoreTables] | None = state.memory.get(SCORES)
    if kept is None or kept[0] is not scores:
        kept = state.memory[SCORES] = scores, scores(state.system)
    return kept[1]


def _in_turn(scores: Scores, fastest_types: int | None = None) -> Choose:
    """Map each task as it comes, where it scores best, on the `fastest_types` machine types where it is fastest."""

    def choose(state: State, _rng: np.random.Generator, /) -> Assignments:
        view = _view(state, fastest_types)._replace(until=math.inf)
        return assignments_of(state, best_one_by_one(view, _tables(state, scores), first_come(state)))

    return choose


def _drawn_in_turn(column: Literal["first", "fastest"], fastest_types: int | None = None) -> Choose:
    """Map each task as it comes to a machine that is drawn."""

    def choose(state: State, rng: np.random.Generator, /) -> Assignments:
        view = _view(state, fastest_types)._replace(until=math.inf)
        draws = rng.random((len(state.tasks), 2))
        return assignments_of(state, drawn_one_by_one(view, first_come(state), draws, COLUMNS[column]))

    return choose


def _best_first(scores: Scores, fastest_types: int | None = None) -> Choose:
    """Map the pair of waiting task and column that scores best; then the next."""

    def choose(state: State, _rng: np.random.Generator, /) -> Assignments:
        return assignments_of(state, best_pairs_first(_view(state, fastest_types), _tables(state, scores)))

    return choose


def _ready_first(order: Order, *, all_states: bool = False) -> Choose:
    """Map tasks in an order, each to the machine that is ready first, in the first P-state, or the first that fits."""

    def choose(state: State, _rng: np.random.Generator, /) -> Assignments:
        usable = np.full(len(state.system.column_type), all_states)
        usable[state.system.first_column[:-1]] = True
        return assignments_of(state, ready_one_by_one(_view(state, usable=state.allowed & usable), order(state)))

    return choose


def sufferage(state: State, _rng: np.random.Generator, /) -> Assignments:
    """Map, round by round, the task that would lose most of those that prefer a machine."""
    return assignments_of(state, worst_sufferers_first(_view(state)))


def random_batch(state: State, rng: np.random.Generator, /) -> Assignments:
    """Map tasks in an order that is drawn, each to a machine and a column that are drawn."""
    order, draws = rng.permutation(len(state.tasks)), rng.random((len(state.tasks), 2))
    return assignments_of(state, drawn_one_by_one(_view(state), order, draws, COLUMNS["drawn"]))


# Round-Robin: each task as it comes, on the next machine that can take it, in an order drawn once a day, from the
# machine behind that of the last task on. A task runs in the first P-state that fits, since the thesis has no P-states
# there.
# Source: Friese, thesis of 2015, section 2.4.2.1.
ORDER: Final = "order"  # in the policy's memory: machines
NEXT: Final = "next"  # likewise: the place in that order that is asked first


def round_robin(state: State, rng: np.random.Generator, /) -> list[Assignment]:
    """Map each arriving task."""
    if ORDER not in state.memory:
        state.memory.update({ORDER: rng.permutation(len(state.ready)).tolist(), NEXT: 0})
    draft, memory, system = PartialSchedule(state), state.memory, state.system
    order: list[int] = memory[ORDER]
    for place in range(len(state.tasks)):
        for at in chain(range(memory[NEXT], len(order)), range(memory[NEXT])):
            j = system.machine_type[order[at]]
            columns = range(*system.first_column[j : j + 2].tolist())
            fitting = next((column for column in columns if draft.fits(place, order[at], column)), None)
            if fitting is not None:
                draft.take(place, order[at], fitting)
                memory[NEXT] = (at + 1) % len(order)
                break
    return draft.assignments


def k_best_types(count: float = 1) -> Choose:
    """Map each task as it comes, on the K machine types where it is fastest, where it ends soonest.

    A machine type is as fast as its fastest allowed P-state. K = 1 is MET-Max Util, all types are Max Util.
    """
    return _in_turn(by_end, fastest_types=int(count))


# The usual weights of energy, between 0 and 1, in the weighted scores.
UTIL_USUAL: Final = 0.5  # the thesis's best (3.6.2), and ours
UPT_USUAL: Final = 0.1  # the best of 0.02, 0.05, 0.1 and 0.2 on a generated day of chapter 3
UPE_USUAL: Final = 0.05  # likewise


# The policies by name. Registered with `immediate=True`, a policy is called at each arrival, and what it maps stays
# mapped; one of a package has an attribute `immediate` that is true. Some built-in ones take a number after a colon:
# `weighted-util:0.4`, `k-best-types:2`. The engine checks every decision.

# Immediate mode: called with each task as it arrives. Source: Friese, thesis of 2015, sections 2.4.2.1 (the first two)
# and 2.4.2.2. The thesis has no P-states there: random and round-robin take the first one that fits.
IMMEDIATE: Final[dict[str, Choose]] = {
    "random": _drawn_in_turn("first"),  # any machine that may take the task
    "round-robin": round_robin,
    "max-util": _in_turn(by_end),  # where it ends soonest it earns most
    "max-upt": _in_turn(by_utility("seconds")),
    "met-random": _drawn_in_turn("fastest", fastest_types=1),
    "met-max-util": _in_turn(by_end, fastest_types=1),
    "k-best-types": k_best_types(),
}

# Batch mode: called at scheduling events with all waiting tasks. Source: Friese, thesis of 2015; sections behind each.
#
# Max-max-util takes the machine of min-min, since a task earns most where it ends soonest; which task goes first
# differs. Met-max-util-max-upt lets a task use only the machine type of its allowed column of the fewest seconds. A
# pair that takes no energy comes before all others in max-max-upe if it earns anything, else it scores 0.
#
# Sufferage: in a round every waiting task names the machine where it ends soonest, and its sufferage is what it would
# earn less on the second-best machine; all, if there is no other. Each named machine takes the task of the largest
# sufferage; these are mapped in that order, and the next round begins. A machine offers the fastest P-state that fits.
# Of a machine type the first machine to be ready takes the task; the second counts as second-best.
#
# FCFS and its variants skip a task that fits nowhere.
BATCH: Final[dict[str, Choose]] = {
    "min-min": _best_first(by_end),  # 2.4.3 and 3.3.2: Min-Min Comp
    "sufferage": sufferage,  # 2.4.3
    "max-max-util": _best_first(by_utility()),  # 2.4.3, 3.3.2, and 4.3.4: Max Utility
    "max-max-upt": _best_first(by_utility("seconds")),  # 2.4.3, 3.3.2, and 4.3.4: Max UPT
    "met-max-util-max-upt": _best_first(by_utility("seconds"), fastest_types=1),  # 2.4.3
    "max-max-upe": _best_first(by_utility("joules")),  # 3.3.2, and 4.3.4: Max UPE
    "weighted-util": _best_first(by_utility(weight=UTIL_USUAL)),  # 3.3.2, as the next two
    "weighted-upt": _best_first(by_utility("seconds", UPT_USUAL)),
    "weighted-upe": _best_first(by_utility("joules", UPE_USUAL)),
    "fcfs": _ready_first(first_come),  # 4.3.4, as all that follow
    "fcfs-all": _ready_first(first_come, all_states=True),
    "lcfs": _ready_first(last_come),
    "lcfs-all": _ready_first(last_come, all_states=True),
    "prioritized-fcfs": _ready_first(lambda state: by_priority(state, first_come(state))),
    "prioritized-fcfs-all": _ready_first(lambda state: by_priority(state, first_come(state)), all_states=True),
    "prioritized-lcfs": _ready_first(lambda state: by_priority(state, last_come(state))),
    "prioritized-lcfs-all": _ready_first(lambda state: by_priority(state, last_come(state)), all_states=True),
    "random-batch": random_batch,  # any order, machine and P-state that fits
}


class _Knob(NamedTuple):
    """A number that a policy takes."""

    make: Callable[[float], Choose]
    read: Callable[[str], float] = float
    is_valid: Callable[[float], bool] = lambda weight: 0.0 <= weight <= 1.0
    needed: str = "a weight of energy from 0 to 1"


KNOBS: Final = {
    "weighted-util": _Knob(lambda weight: _best_first(by_utility(weight=weight))),
    "weighted-upt": _Knob(lambda weight: _best_first(by_utility("seconds", weight))),
    "weighted-upe": _Knob(lambda weight: _best_first(by_utility("joules", weight))),
    "k-best-types": _Knob(k_best_types, int, lambda count: count >= 1, "a whole number from 1 on"),
}
POLICIES: Final[Named[Choose]] = Named(
    "simulated day",
    "lpsched.policies",
    {**IMMEDIATE, **BATCH},
    {PRICES: "lpsched.simulate, which gives it a planner"},
    word="policy",
    needed="a function of a state and a random generator",
)
_immediate: Final[set[str]] = set()  # names that were registered so

names = POLICIES.names


def policy(name: str) -> Policy:
    """Return the policy of a name, which may have a number behind a colon.

    >>> policy("weighted-util:0.4").name, policy("max-util").immediate
    ('weighted-util:0.4', True)
    """
    plain, colon, number = name.partition(":")
    choose = POLICIES.get(plain)
    choose = _turned(plain, number) if colon else choose
    immediate = plain in IMMEDIATE or plain in _immediate or bool(getattr(choose, "immediate", False))
    return Policy(name, choose, immediate)


@overload
def register(name: str, *, immediate: bool = False) -> Callable[[Choose], Choose]: ...


@overload
def register(name: str, function: Choose, *, immediate: bool = False) -> Choose: ...


def register(
    name: str, function: Choose | None = None, *, immediate: bool = False
) -> Choose | Callable[[Choose], Choose]:
    """Register a policy under a name, in this process; without a function, as a decorator.

    Raises
    ------
    InstanceError
        If the name is taken, or not lower-case letters, digits and hyphens; or if it is no function.
    """
    if function is None:
        return lambda decorated: register(name, decorated, immediate=immediate)
    registered = POLICIES.register(name, function)
    (_immediate.add if immediate else _immediate.discard)(name)
    return registered


def forget(name: str) -> None:
    """Remove what was registered under a name in this process, if anything was."""
    POLICIES.forget(name)
    _immediate.discard(name)


def _turned(name: str, number: str) -> Choose:
    """Return a policy with a number of its own."""
    found = repr(f"{name}:{number}")
    if name not in KNOBS:
        raise POLICIES.rejection(found, "a number only for " + ", ".join(KNOBS), f"write {name}")
    knob = KNOBS[name]
    try:
        amount = knob.read(number)
    except ValueError:
        amount = math.nan
    if not knob.is_valid(amount):
        raise POLICIES.rejection(found, f"{knob.needed} after the colon", f"write, for example, {name}:1")
    return knob.make(amount)
