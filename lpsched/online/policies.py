"""Policies for arriving tasks, by name: ours, those that others register, those of installed packages.

Of equals they take: of a task's choices the earliest end, then the lowest column; of tasks the lowest number; of the
machines of one type the one that is ready first, then the lowest number. A task that fits nowhere waits.
`docs/policies.md` says what else the sources leave open.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, overload

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
    from lpsched.online.simulate.mapping.present import ScoreTables
    from lpsched.online.simulate.state import Assignment, Assignments, State, System

Scores: TypeAlias = "Callable[[System], ScoreTables]"
Order: TypeAlias = "Callable[[State], Integers]"


# The orders in which tasks get their turn, and the P-states of those who know only the first.
#
# Of tasks that arrived at the same time, the lowest number comes first, whether the first or the last
# arrivals go first. A task's priority is the utility that it begins with. P-state 0 is the first of a machine
# type; where a pair is absent in it, the machine is no choice for policies that know no other.
#
# Source: Friese, thesis of 2015, section 4.3.4.
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


def _in_turn(scores: Scores, fastest_types: int | None = None) -> Choose:
    """Each task as it comes, where it scores best; on so many machine types only, those where it is fastest."""

    def choose(state: State, _rng: np.random.Generator, /) -> Assignments:
        return best_in_turn(state, scores, fastest_types=fastest_types)

    return choose


def _best_first(scores: Scores, fastest_types: int | None = None) -> Choose:
    """Of all pairs of waiting task and column the one that scores best; then the next."""

    def choose(state: State, _rng: np.random.Generator, /) -> Assignments:
        return best_first(state, scores, fastest_types=fastest_types)

    return choose


def _ready_first(order: Order, *, all_states: bool = False) -> Choose:
    """Tasks in an order, each on the machine that is ready first; in the first P-state, or the first that fits."""

    def choose(state: State, _rng: np.random.Generator, /) -> Assignments:
        return ready_in_turn(state, order(state), usable=None if all_states else first_p_states(state))

    return choose


def k_best_types(count: int = 1) -> Choose:
    """Each task as it comes, on the K machine types where it is fastest, where it ends soonest.

    A machine type is as fast as the fastest of its P-states that is allowed. K = 1 is MET-Max Util, all types are Max
    Util.
    """
    return _in_turn(by_end, fastest_types=count)


# Weighted: utility, or utility per second or joule, against energy, both between 0 and 1, by a weight w of energy. The
# pair of the highest score first, then the best of the rest:
#
#     weighted-util    (1 - w) U / U+                                -  w joules / joules+       (equation 3)
#     weighted-upt     (1 - w) (U / seconds) / (U+ / seconds-)       -  w joules / joules+       (equation 4)
#     weighted-upe     (1 - w) (U / joules) / (U+ / joules-)         -  w joules / joules+       (equation 5)
#
# With + the most and with - the least of the whole system. Tasks whose best score is below 0 wait.
#
# Source: Friese, thesis of 2015, section 3.3.2.
UTIL_USUAL: Final = 0.5  # the thesis's best (3.6.2), and ours
UPT_USUAL: Final = 0.1  # the best of 0.02, 0.05, 0.1 and 0.2 on a generated day of chapter 3
UPE_USUAL: Final = 0.05  # likewise


def weighted_util(weight: float = UTIL_USUAL) -> Choose:
    """Return the rule with this weight of energy, between 0 and 1."""
    return _best_first(partial(by_utility, weight=weight))


def weighted_upt(weight: float = UPT_USUAL) -> Choose:
    """Return the rule with this weight of energy, between 0 and 1."""
    return _best_first(partial(by_utility_per_time, weight=weight))


def weighted_upe(weight: float = UPE_USUAL) -> Choose:
    """Return the rule with this weight of energy, between 0 and 1."""
    return _best_first(partial(by_utility_per_energy, weight=weight))


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

# Of immediate mode: asked about each task as it comes. Source: Friese, thesis of 2015, sections 2.4.2.1 (the first two)
# and 2.4.2.2. The thesis has no P-states there: random and round-robin take the first one that fits.
IMMEDIATE: Final[dict[str, Choose]] = {
    "random": lambda state, rng, /: drawn_in_turn(state, rng, "first"),  # any machine that may take the task
    "round-robin": round_robin,
    "max-util": _in_turn(by_end),  # where it ends soonest it earns most
    "max-upt": _in_turn(by_utility_per_time),
    "met-random": lambda state, rng, /: drawn_in_turn(state, rng, "fastest", fastest_types=1),
    "met-max-util": _in_turn(by_end, fastest_types=1),
    "k-best-types": k_best_types(),
}

# Of batch mode: asked at mapping events about all that waits. Source: Friese, thesis of 2015; sections behind each.
#
# Max-max-util takes the machine of min-min, for a task earns most where it ends soonest; which task goes first differs.
# Met-max-util-max-upt lets a task use only the machine type of the column of the least seconds among those that are
# allowed. A pair that takes no energy comes before all others in max-max-upe if it earns anything, else it is worth 0.
#
# Sufferage: in a round every waiting task names the machine where it ends soonest, and suffers by what it would earn
# less on the second-best machine; nothing there, if there is no other. Each machine that is named takes the task that
# suffers most of those that name it; these are mapped, who suffers most first, and the next round begins. A machine
# offers the fastest P-state that fits. Of a machine type the first machine to be ready takes the task; the second
# counts as second-best.
#
# Of FCFS and its kin a task that fits nowhere is passed over.
BATCH: Final[dict[str, Choose]] = {
    "min-min": _best_first(by_end),  # 2.4.3 and 3.3.2: Min-Min Comp
    "sufferage": lambda state, _rng, /: by_sufferage(state),  # 2.4.3
    "max-max-util": _best_first(by_utility),  # 2.4.3, 3.3.2, and 4.3.4: Max Utility
    "max-max-upt": _best_first(by_utility_per_time),  # 2.4.3, 3.3.2, and 4.3.4: Max UPT
    "met-max-util-max-upt": _best_first(by_utility_per_time, fastest_types=1),  # 2.4.3
    "max-max-upe": _best_first(by_utility_per_energy),  # 3.3.2, and 4.3.4: Max UPE
    "weighted-util": weighted_util(),  # 3.3.2, as the next two
    "weighted-upt": weighted_upt(),
    "weighted-upe": weighted_upe(),
    "fcfs": _ready_first(first_come),  # 4.3.4, as all that follow
    "fcfs-all": _ready_first(first_come, all_states=True),
    "lcfs": _ready_first(last_come),
    "lcfs-all": _ready_first(last_come, all_states=True),
    "prioritized-fcfs": _ready_first(lambda state: by_priority(state, first_come(state))),
    "prioritized-fcfs-all": _ready_first(lambda state: by_priority(state, first_come(state)), all_states=True),
    "prioritized-lcfs": _ready_first(lambda state: by_priority(state, last_come(state))),
    "prioritized-lcfs-all": _ready_first(lambda state: by_priority(state, last_come(state)), all_states=True),
    "random-batch": lambda state, rng, /: drawn_in_order(state, rng),  # any order, machine and P-state that fits
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
