"""Policies for arriving tasks, by name: ours, those that others register, those of installed packages."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple, overload

import numpy as np

from lpsched.online.price_policy import NAME as PRICES
from lpsched.online.simulate.choosing import (
    best_first,
    best_in_turn,
    by_end,
    by_sufferage,
    by_utility,
    by_utility_per_energy,
    by_utility_per_time,
    drawn_in_order,
    drawn_in_turn,
    ready_in_turn,
)
from lpsched.online.simulate.state import Choose, Draft, Policy
from lpsched.plugins import Named

if TYPE_CHECKING:
    from collections.abc import Callable

    from lpsched.errors import InstanceError
    from lpsched.model.arrays import Integers, Mask
    from lpsched.online.simulate.state import Assignment, Assignments, State


# The orders in which tasks get their turn, and the P-states of those who know only the first.
#
# Of tasks that arrived at the same time, the lowest number comes first, whether the first or the last
# arrivals go first. A task's priority is the utility that it begins with. P-state 0 is the first of a machine
# type; where a pair is absent in it, the machine is no choice for policies that know no other.
#
# Source: Friese, thesis of 2015, section 4.3.4.

FIRST: Final = "first P-states"  # in the policy's memory


def first_come(state: State) -> Integers:
    """Return the places of the tasks, those that came first first."""
    return np.arange(len(state.tasks), dtype=np.int64)


def last_come(state: State) -> Integers:
    """Return the places of the tasks, those that came last first."""
    order: Integers = np.argsort(-state.arrivals, kind="stable")
    return order


def by_priority(state: State, order: Integers) -> Integers:
    """Return the places in an order that puts higher priorities first, and otherwise stays as it was."""
    system = state.system
    priorities = system.starts_at[system.first_interval[state.functions[order]]]
    return order[np.argsort(-priorities, kind="stable")]


def first_p_states(state: State) -> Mask:
    """Return what is allowed in P-state 0."""
    first = np.zeros(len(state.system.column_type), dtype=bool)
    first[state.system.first_column[:-1]] = True
    return state.allowed & first


# Random: each task as it comes, on any machine that can run it.
#
# The machine is drawn from those that may take the task; it runs in the first P-state that fits, for the
# thesis has no P-states there.
#
# Source: Friese, thesis of 2015, section 2.4.2.1.


def random_machine(state: State, rng: np.random.Generator, /) -> Assignments:
    """Answer as a task arrives."""
    return drawn_in_turn(state, rng, "first")


# Round-Robin: each task as it comes, on the next machine that can take it, in an order drawn once a day.
#
# After a task, the machine behind its own is asked first; machines that cannot take a task are passed over. A
# task runs in the first P-state that fits, for the thesis has no P-states there.
#
# Source: Friese, thesis of 2015, section 2.4.2.1.

ORDER: Final = "order"  # in the policy's memory: machines
NEXT: Final = "next"  # likewise: the place in that order that is asked first


def round_robin(state: State, rng: np.random.Generator, /) -> list[Assignment]:
    """Answer as a task arrives."""
    if ORDER not in state.memory:
        state.memory.update({ORDER: rng.permutation(len(state.ready)).tolist(), NEXT: 0})
    draft = Draft(state)
    for place in range(len(state.tasks)):
        _take_the_next(draft, place)
    return draft.assignments


def _take_the_next(draft: Draft, place: int) -> None:
    """Map a task to the next machine that can take it, if there is one."""
    memory, system = draft.state.memory, draft.system
    order: list[int] = memory[ORDER]
    for step in range(len(order)):
        at = (memory[NEXT] + step) % len(order)
        j = system.machine_type[order[at]]
        for column in range(*system.first_column[j : j + 2].tolist()):
            if draft.fits(place, order[at], column):
                draft.take(place, order[at], column)
                memory[NEXT] = (at + 1) % len(order)
                return


# Max Util: each task as it comes, where it ends soonest and so earns most.
#
# Source: Friese, thesis of 2015, section 2.4.2.2.


def max_util(state: State, _rng: np.random.Generator, /) -> Assignments:
    """Answer at a mapping event."""
    return best_in_turn(state, by_end)


# Max UPT: each task as it comes, where it earns most per second that it runs.
#
# Source: Friese, thesis of 2015, section 2.4.2.2.


def max_upt(state: State, _rng: np.random.Generator, /) -> Assignments:
    """Answer at a mapping event."""
    return best_in_turn(state, by_utility_per_time)


# MET-Random: each task as it comes, on any machine of the type where it is fastest, in the fastest P-state.
#
# Source: Friese, thesis of 2015, section 2.4.2.2.


def met_random(state: State, rng: np.random.Generator, /) -> Assignments:
    """Answer as a task arrives."""
    return drawn_in_turn(state, rng, "fastest", fastest_types=1)


# MET-Max Util: each task as it comes, on the machine type where it is fastest, where it ends soonest.
#
# Source: Friese, thesis of 2015, section 2.4.2.2.


def met_max_util(state: State, _rng: np.random.Generator, /) -> Assignments:
    """Answer at a mapping event."""
    return best_in_turn(state, by_end, fastest_types=1)


# K-Best Types: each task as it comes, on the K machine types where it is fastest, where it ends soonest.
#
# A machine type is as fast as the fastest of its P-states that is allowed. K = 1 is MET-Max Util, all types
# are Max Util.
#
# Source: Friese, thesis of 2015, section 2.4.2.2.


def k_best_types(count: int = 1) -> Choose:
    """Return the rule for so many machine types."""

    def choose(state: State, _rng: np.random.Generator, /) -> Assignments:
        return best_in_turn(state, by_end, fastest_types=count)

    return choose


# Min-Min Comp: of all waiting tasks the one that can end soonest, where it ends soonest; then the next.
#
# Source: Friese, thesis of 2015, section 2.4.3 and 3.3.2.


def min_min(state: State, _rng: np.random.Generator, /) -> Assignments:
    """Answer at a mapping event."""
    return best_first(state, by_end)


# Sufferage: each machine to the task that would lose most of those that would earn most there.
#
# In a round every waiting task names the machine where it ends soonest, and suffers by what it would earn
# less on the second-best machine; nothing there, if there is no other. Each machine that is named takes the
# task that suffers most of those that name it. Those that are taken are mapped, and the next round begins. Of
# one round, who suffers most goes first, which matters where energy is short.
#
# A machine offers the fastest P-state that fits. As everywhere, of a machine type the first machine to be
# ready takes the task; the second counts as second-best.
#
# Source: Friese, thesis of 2015, section 2.4.3.


def sufferage(state: State, _rng: np.random.Generator, /) -> Assignments:
    """Answer at a mapping event."""
    return by_sufferage(state)


# Max-Max Util: of all waiting tasks the one that earns most where it earns most; then the next.
#
# A task earns most where it ends soonest, so its machine is that of Min-Min; which task goes first differs.
#
# Source: Friese, thesis of 2015, section 2.4.3, 3.3.2 and 4.3.4 (Max Utility).


def max_max_util(state: State, _rng: np.random.Generator, /) -> Assignments:
    """Answer at a mapping event."""
    return best_first(state, by_utility)


# Max-Max UPT: of all pairs of task and column the one of the most utility per second; then the next.
#
# Source: Friese, thesis of 2015, section 2.4.3, 3.3.2 and 4.3.4 (Max UPT).


def max_max_upt(state: State, _rng: np.random.Generator, /) -> Assignments:
    """Answer at a mapping event."""
    return best_first(state, by_utility_per_time)


# MET-Max Util-Max UPT: as Max-Max UPT, but a task may only use the machine type where it is fastest.
#
# The fastest machine type is that of the column of the least seconds among those that are allowed. On it, the
# P-state that ends soonest of those that fit is also the one of the most utility per second.
#
# Source: Friese, thesis of 2015, section 2.4.3.


def met_max_util_max_upt(state: State, _rng: np.random.Generator, /) -> Assignments:
    """Answer at a mapping event."""
    return best_first(state, by_utility_per_time, fastest_types=1)


# Max-Max UPE: of all pairs of waiting task and column the one of the most utility per joule; then the next.
#
# A pair that takes no energy comes before all others if it earns anything, and is worth 0 if it earns
# nothing.
#
# Source: Friese, thesis of 2015, section 3.3.2 and 4.3.4 (Max UPE).


def max_max_upe(state: State, _rng: np.random.Generator, /) -> Assignments:
    """Answer at a mapping event."""
    return best_first(state, by_utility_per_energy)


# Weighted Util: utility against energy, both between 0 and 1, by a weight w of energy.
#
# The pair of the highest score first, then the best of the rest:
#
#     (1 - w) U / U+  -  w joules / joules+
#
# With + the most and with - the least of the whole system. Tasks whose best score is below 0 wait; see
# `scores.py`.
#
# Source: Friese, thesis of 2015, section 3.3.2, equation 3.

UTIL_USUAL: Final = 0.5  # the thesis's best (3.6.2), and ours


def weighted_util(weight: float = UTIL_USUAL) -> Choose:
    """Return the rule with this weight of energy, between 0 and 1."""
    scores = partial(by_utility, weight=weight)

    def choose(state: State, _rng: np.random.Generator, /) -> Assignments:
        return best_first(state, scores)

    return choose


# Weighted UPT: utility per second against energy, both between 0 and 1, by a weight w of energy.
#
# The pair of the highest score first, then the best of the rest:
#
#     (1 - w) (U / seconds) / (U+ / seconds-)  -  w joules / joules+
#
# With + the most and with - the least of the whole system. Tasks whose best score is below 0 wait; see
# `scores.py`.
#
# Source: Friese, thesis of 2015, section 3.3.2, equation 4.

UPT_USUAL: Final = 0.1  # the best of 0.02, 0.05, 0.1 and 0.2 on a generated day of chapter 3


def weighted_upt(weight: float = UPT_USUAL) -> Choose:
    """Return the rule with this weight of energy, between 0 and 1."""
    scores = partial(by_utility_per_time, weight=weight)

    def choose(state: State, _rng: np.random.Generator, /) -> Assignments:
        return best_first(state, scores)

    return choose


# Weighted UPE: utility per joule against energy, both between 0 and 1, by a weight w of energy.
#
# The pair of the highest score first, then the best of the rest:
#
#     (1 - w) (U / joules) / (U+ / joules-)  -  w joules / joules+
#
# With + the most and with - the least of the whole system. Tasks whose best score is below 0 wait; see
# `scores.py`.
#
# Source: Friese, thesis of 2015, section 3.3.2, equation 5.

UPE_USUAL: Final = 0.05  # likewise


def weighted_upe(weight: float = UPE_USUAL) -> Choose:
    """Return the rule with this weight of energy, between 0 and 1."""
    scores = partial(by_utility_per_energy, weight=weight)

    def choose(state: State, _rng: np.random.Generator, /) -> Assignments:
        return best_first(state, scores)

    return choose


# FCFS: who came first is mapped first, to the machine that is ready first.
#
# A task that fits nowhere is passed over. See `policies.py`.
#
# Source: Friese, thesis of 2015, section 4.3.4.


def fcfs(state: State, _rng: np.random.Generator, /) -> Assignments:
    """Answer at a mapping event, with the first P-state only."""
    return ready_in_turn(state, first_come(state), usable=first_p_states(state))


def fcfs_all(state: State, _rng: np.random.Generator, /) -> Assignments:
    """Answer at a mapping event; a later P-state is taken if no earlier one fits."""
    return ready_in_turn(state, first_come(state))


# LCFS: who came last is mapped first, to the machine that is ready first.
#
# A task that fits nowhere is passed over. See `policies.py`.
#
# Source: Friese, thesis of 2015, section 4.3.4.


def lcfs(state: State, _rng: np.random.Generator, /) -> Assignments:
    """Answer at a mapping event, with the first P-state only."""
    return ready_in_turn(state, last_come(state), usable=first_p_states(state))


def lcfs_all(state: State, _rng: np.random.Generator, /) -> Assignments:
    """Answer at a mapping event; a later P-state is taken if no earlier one fits."""
    return ready_in_turn(state, last_come(state))


# Prioritized-FCFS: tasks of the highest utility to begin with first, of those who came first.
#
# Each goes to the machine that is ready first. A task that fits nowhere is passed over. See `policies.py`.
#
# Source: Friese, thesis of 2015, section 4.3.4.


def prioritized_fcfs(state: State, _rng: np.random.Generator, /) -> Assignments:
    """Answer at a mapping event, with the first P-state only."""
    return ready_in_turn(state, by_priority(state, first_come(state)), usable=first_p_states(state))


def prioritized_fcfs_all(state: State, _rng: np.random.Generator, /) -> Assignments:
    """Answer at a mapping event; a later P-state is taken if no earlier one fits."""
    return ready_in_turn(state, by_priority(state, first_come(state)))


# Prioritized-LCFS: tasks of the highest utility to begin with first, of those who came last.
#
# Each goes to the machine that is ready first. A task that fits nowhere is passed over. See `policies.py`.
#
# Source: Friese, thesis of 2015, section 4.3.4.


def prioritized_lcfs(state: State, _rng: np.random.Generator, /) -> Assignments:
    """Answer at a mapping event, with the first P-state only."""
    return ready_in_turn(state, by_priority(state, last_come(state)), usable=first_p_states(state))


def prioritized_lcfs_all(state: State, _rng: np.random.Generator, /) -> Assignments:
    """Answer at a mapping event; a later P-state is taken if no earlier one fits."""
    return ready_in_turn(state, by_priority(state, last_come(state)))


# Random: tasks in any order, each on any machine that can run it, in any P-state.
#
# One that is drawn is drawn from what passes the filter and fits.
#
# Source: Friese, thesis of 2015, section 4.3.4.


def random_batch(state: State, rng: np.random.Generator, /) -> Assignments:
    """Answer at a mapping event."""
    return drawn_in_order(state, rng)


# The policies by name: ours, those that others register, those of installed packages.
#
# A policy is a function from a state and a random generator to assignments:
#
#     @register("mine")
#     def mine(state, rng):
#         draft = Draft(state)
#         ...
#         return draft.assignments
#
# With `immediate=True` it is asked at each arrival, and what it maps stays mapped. A package announces its
# own in its `pyproject.toml`; one of immediate mode has an attribute `immediate` that is true:
#
#     [project.entry-points."lpsched.policies"]
#     mine = "package.module:function"
#
# Some of ours take a number after a colon: `weighted-util:0.4`, `k-best-types:2`. The engine checks every
# answer of every policy.

IMMEDIATE: Final[dict[str, Choose]] = {
    "random": random_machine,
    "round-robin": round_robin,
    "max-util": max_util,
    "max-upt": max_upt,
    "met-random": met_random,
    "met-max-util": met_max_util,
    "k-best-types": k_best_types(),
}
BATCH: Final[dict[str, Choose]] = {
    "min-min": min_min,
    "sufferage": sufferage,
    "max-max-util": max_max_util,
    "max-max-upt": max_max_upt,
    "met-max-util-max-upt": met_max_util_max_upt,
    "max-max-upe": max_max_upe,
    "weighted-util": weighted_util(),
    "weighted-upt": weighted_upt(),
    "weighted-upe": weighted_upe(),
    "fcfs": fcfs,
    "fcfs-all": fcfs_all,
    "lcfs": lcfs,
    "lcfs-all": lcfs_all,
    "prioritized-fcfs": prioritized_fcfs,
    "prioritized-fcfs-all": prioritized_fcfs_all,
    "prioritized-lcfs": prioritized_lcfs,
    "prioritized-lcfs-all": prioritized_lcfs_all,
    "random-batch": random_batch,
}


class _Knob(NamedTuple):
    """A number that a policy takes."""

    make: Callable[[float], Choose]
    read: Callable[[str], float]
    is_sound: Callable[[float], bool]
    needed: str


def _weight(make: Callable[[float], Choose]) -> _Knob:
    return _Knob(make, float, lambda weight: 0.0 <= weight <= 1.0, "a weight of energy from 0 to 1")


KNOBS: Final = {
    "weighted-util": _weight(weighted_util),
    "weighted-upt": _weight(weighted_upt),
    "weighted-upe": _weight(weighted_upe),
    "k-best-types": _Knob(
        lambda count: k_best_types(int(count)), int, lambda count: count >= 1, "a whole number from 1 on"
    ),
}
POLICIES: Final[Named[Choose]] = Named(
    "simulated day",
    "lpsched.policies",
    {**IMMEDIATE, **BATCH},
    {PRICES: "lpsched.simulate, which gives it a planner"},
    words=("policy", "policies"),
    needed="a function of a state and a random generator",
)
_immediate: Final[set[str]] = set()  # names that were registered so

names = POLICIES.names


def policy(name: str) -> Policy:
    """Return the policy of a name, which may have a number behind a colon.

    Examples
    --------
    >>> policy("weighted-util:0.4").name, policy("max-util").immediate
    ('weighted-util:0.4', True)
    """
    plain, colon, number = name.partition(":")
    choose = POLICIES.get(plain)
    if colon:
        choose = _turned(plain, number)
    immediate = plain in IMMEDIATE or plain in _immediate or bool(getattr(choose, "immediate", False))
    return Policy(name, choose, immediate)


@overload
def register(name: str, *, immediate: bool = False) -> Callable[[Choose], Choose]: ...


@overload
def register(name: str, function: Choose, *, immediate: bool = False) -> Choose: ...


def register(
    name: str, function: Choose | None = None, *, immediate: bool = False
) -> Choose | Callable[[Choose], Choose]:
    """Let a policy be known by a name, in this process; without a function, as a decorator.

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
    """Take back what was registered under a name in this process, if anything was."""
    POLICIES.forget(name)
    _immediate.discard(name)


def _turned(name: str, number: str) -> Choose:
    """Return a policy for a number that was given to it."""
    found = f"{name}:{number}"
    if name not in KNOBS:
        raise _refusal(found, "a number only for " + ", ".join(KNOBS), f"write {name}")
    knob = KNOBS[name]
    try:
        amount = knob.read(number)
    except ValueError:
        amount = float("nan")
    if not knob.is_sound(amount):
        raise _refusal(found, f"{knob.needed} after the colon", f"write, for example, {name}:1")
    return knob.make(amount)


def _refusal(found: str, needed: str, do: str) -> InstanceError:
    return POLICIES.refusal(repr(found), needed, do)
