"""The state as tuples of arrays, for the compiled loop that maps: what is, and what changes.

Letters: B tasks that may be mapped, L kinds among them, M clusters, C columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np

from lpsched.simulation.clusters.mapping.openings import Openings, joined

if TYPE_CHECKING:
    from lpsched.instance.array_types import Floats, Integers, Mask
    from lpsched.simulation.clusters.mapping.openings import Orders
    from lpsched.simulation.clusters.state import ClusterState

Array = TypeVar("Array", bound="np.ndarray[Any, Any]")


class Tables(NamedTuple):  # tuples, because that is what compiled functions take apart
    """What a kind takes in a column, as planned."""

    cluster: Integers  # C
    nodes: Integers  # L x C
    seconds: Floats  # L x C
    joules: Floats  # L x C
    per: Floats  # L x C: what utility is divided by


class Worths(NamedTuple):
    """Utility functions, as in `ClusterArrays`."""

    first_interval: Integers  # F + 1
    after_seconds: Floats  # P
    starts_at: Floats  # P
    falls_to: Floats  # P
    rate_per_second: Floats  # P


class Waiting(NamedTuple):
    """The tasks that may be mapped."""

    kind: Integers  # B
    arrivals: Floats  # B
    function: Integers  # B
    allowed: Mask  # B x C


class Times(NamedTuple):
    """When something may start."""

    now: float
    ends_at: float  # nothing starts then or later
    until: float  # what starts later than this need not be mapped


class Present(NamedTuple):
    """What the loop needs to know of a `ClusterState`."""

    tables: Tables
    worths: Worths
    waiting: Waiting
    times: Times
    energy_left: float


class Free(NamedTuple):
    """The openings of all clusters, one after the other."""

    openings: Openings
    first_opening: Integers  # M + 1


class Board(NamedTuple):
    """What changes while the loop maps."""

    drafts: list[Openings]  # M
    orders: list[Orders]  # M: of the drafts as they were when they were `sorted_at`
    version: Integers  # M: how often something was taken
    sorted_at: Integers  # M: the version
    start: Floats  # L x C: the earliest start, or a time before it
    seen_at: Integers  # L x C: the version at which that was the earliest start; -1: never
    blocked: Mask  # L x C: there was no energy for it
    too_late: Mask  # L x C: it cannot start by `until`
    left: Floats  # 1: joules
    watched: Integers  # 1: no task before this one can start by `until`


class Mapped(NamedTuple):
    """What was mapped, in this order; tasks by their place in the state."""

    tasks: Integers
    columns: Integers
    starts: Floats
    nodes: list[Integers]  # 2 x R each: low, high


def present_of(state: ClusterState, per: Floats) -> Present:
    """Return what the loop needs of a state; `per` (K x C) is what utility is divided by."""
    arrays, tasks = state.arrays, state.tasks
    kinds, kind = np.unique(arrays.kind[tasks], return_inverse=True)
    seconds = arrays.requested_seconds[kinds]
    tables = Tables(
        frozen(arrays.column_cluster),
        arrays.nodes[kinds],
        seconds,
        arrays.watts[kinds] * seconds,
        per[kinds],
    )
    first, *others = (getattr(arrays, name) for name in Worths._fields)
    worths = Worths(frozen(first), *(frozen(each) for each in others))
    return Present(
        tables,
        worths,
        Waiting(kind, arrays.arrivals[tasks], arrays.function[tasks], frozen(state.allowed)),
        Times(float(state.now), float(state.ends_at), float(state.until)),
        float(state.energy_left),
    )


def free_of(state: ClusterState) -> Free:
    """Return the openings of all clusters, from now on."""
    parts = [
        each.openings if each.since == state.now else joined(each.openings, float(state.now))
        for each in state.profiles
    ]
    first = np.cumsum([0, *(len(each.low) for each in parts)], dtype=np.int64)
    low, high = (np.concatenate([each[column] for each in parts]) for column in (0, 1))
    begin, end = (np.concatenate([each[column] for each in parts]) for column in (2, 3))
    return Free(Openings(low, high, begin, end), first)


def frozen(array: Array) -> Array:
    """Return a read-only view: the loop is compiled for these, whoever made the state."""
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return cast("Array", view)
