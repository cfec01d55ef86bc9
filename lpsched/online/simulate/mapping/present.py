"""The state view of the compiled loops."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np

from lpsched.jit import compiled
from lpsched.online.utility import Curves

if TYPE_CHECKING:
    from lpsched.model.arrays import Floats, Integers, Mask
    from lpsched.online.simulate.state import State


# The state as tuples of arrays, for the compiled loops that map: what is, how pairs score, what changes.
Array = TypeVar("Array", bound="np.ndarray[Any, Any]")


class Pairs(NamedTuple):  # tuples, because that is what compiled functions take apart; small ones, for speed
    """Where tasks may run, and what they take there."""

    ends_at: float
    usable: Mask  # T x C: allowed, and not ruled out by the policy
    seconds: Floats  # T x C
    joules: Floats  # T x C
    first_column: Integers  # M + 1
    column_type: Integers  # C


class Present(NamedTuple):
    """What the loops need to know of a `State`, whose letters these are."""

    pairs: Pairs
    worths: Curves
    until: float
    energy_left: float
    polled: bool
    arrivals: Floats  # B
    types: Integers  # B
    functions: Integers  # B
    available: Integers
    machine_type: Integers  # m
    ready: Floats  # m
    pending_at: Floats  # m


class ScoreTables(NamedTuple):
    """How a pair is scored."""

    by_end: bool  # minus the end; the rest is not used then
    weight: float
    scale: float
    per: Floats  # T x C
    cost: Floats  # T x C
    least: float  # what scores less is not mapped


class Board(NamedTuple):
    """What changes while a loop maps."""

    ready: Floats  # m
    next_at: Floats  # m: when the next task mapped to it gets unmovable
    left: Floats  # 1: joules
    heap: Integers  # machines: those of type j from first[j] on, size[j] of them, the soonest ready on top
    first: Integers  # M
    size: Integers  # M
    start: Floats  # M: when the first of a type is ready; infinite if there is none
    short: Integers  # M: machines of a type whose next task would get unmovable by `until`
    wanting: Integers  # M: a task type that waits and can run there, as far as known
    waiting: Integers  # T: tasks of a type that are not mapped
    tasks: Integers  # what is mapped, `done[0]` of them
    machines: Integers
    columns: Integers
    done: Integers  # 1


def present_of(state: State, usable: Mask | None = None) -> Present:
    """Return what the loops need of a state; `usable` narrows down where tasks may run."""
    system = state.system
    pairs = Pairs(
        float(state.ends_at),
        frozen(state.allowed if usable is None else usable),
        frozen(system.seconds),
        frozen(system.joules),
        frozen(system.first_column),
        frozen(system.column_type),
    )
    worths = Curves._make(map(frozen, system.curves))
    return Present(
        pairs,
        worths,
        float(state.until),
        float(state.energy_left),
        bool(state.polled),
        frozen(state.arrivals),
        frozen(state.types),
        frozen(state.functions),
        frozen(state.available),
        frozen(system.machine_type),
        frozen(state.ready),
        frozen(state.pending_at),
    )


def frozen(array: Array) -> Array:
    """Return a read-only view: the loops are compiled for these, whoever made the state."""
    if array.flags.writeable or not array.flags.c_contiguous:
        view = np.ascontiguousarray(array).view()
        view.flags.writeable = False
        return cast("Array", view)
    return array


@compiled
def of_fastest_types(usable: Mask, seconds: Floats, first_column: Integers, types: Integers, count: int) -> Mask:
    """Return where tasks may run if each is limited to so many machine types, those where it is fastest."""
    kept = np.zeros(usable.shape, dtype=np.bool_)
    done = np.zeros(len(usable), dtype=np.bool_)
    for i in types:
        for _ in range(0 if done[i] else count):
            best, least = -1, math.inf
            for j in range(len(first_column) - 1):
                for c in range(first_column[j], first_column[j + 1]):
                    if usable[i, c] and not kept[i, c] and seconds[i, c] < least:
                        best, least = j, seconds[i, c]
            if best < 0:
                break
            for c in range(first_column[best], first_column[best + 1]):
                kept[i, c] = usable[i, c]
        done[i] = True
    return kept
