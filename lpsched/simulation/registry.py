"""The policies by name: ours, those that others register, those of installed packages.

A policy is a function from a state and a random generator to assignments:

    @register("mine")
    def mine(state, rng):
        draft = Draft(state)
        ...
        return draft.assignments

With `immediate=True` it is asked at each arrival, and what it maps stays mapped. A package announces its own
in its `pyproject.toml`; one of immediate mode has an attribute `immediate` that is true:

    [project.entry-points."lpsched.policies"]
    mine = "package.module:function"

Some of ours take a number after a colon: `weighted-util:0.4`, `k-best-types:2`. The engine checks every
answer of every policy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, overload

from lpsched.named import Named
from lpsched.simulation.policies.first_come import fcfs, fcfs_all
from lpsched.simulation.policies.k_best_types import k_best_types
from lpsched.simulation.policies.last_come import lcfs, lcfs_all
from lpsched.simulation.policies.max_max_upe import max_max_upe
from lpsched.simulation.policies.max_max_upt import max_max_upt
from lpsched.simulation.policies.max_max_util import max_max_util
from lpsched.simulation.policies.max_upt import max_upt
from lpsched.simulation.policies.max_util import max_util
from lpsched.simulation.policies.met_max_util import met_max_util
from lpsched.simulation.policies.met_max_util_max_upt import met_max_util_max_upt
from lpsched.simulation.policies.met_random import met_random
from lpsched.simulation.policies.min_min import min_min
from lpsched.simulation.policies.prices import NAME as PRICES
from lpsched.simulation.policies.prioritized_first_come import prioritized_fcfs, prioritized_fcfs_all
from lpsched.simulation.policies.prioritized_last_come import prioritized_lcfs, prioritized_lcfs_all
from lpsched.simulation.policies.random_batch import random_batch
from lpsched.simulation.policies.random_machine import random_machine
from lpsched.simulation.policies.round_robin import round_robin
from lpsched.simulation.policies.sufferage import sufferage
from lpsched.simulation.policies.weighted_upe import weighted_upe
from lpsched.simulation.policies.weighted_upt import weighted_upt
from lpsched.simulation.policies.weighted_util import weighted_util
from lpsched.simulation.policy import Choose, Policy

if TYPE_CHECKING:
    from collections.abc import Callable

    from lpsched.errors import InstanceError

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

    Raises
    ------
    InstanceError
        If there is none, if the number is none that it takes, or if the package that announces it cannot be
        loaded.

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
