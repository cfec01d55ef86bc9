"""Array views of a bag for the numerics: read-only, absent pairs masked and 0.

Shapes: T task types, M machine types, C columns (machine type and P-state).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lpsched.instance.array_types import Floats, Integers, Mask
    from lpsched.instance.bag import Bag
    from lpsched.instance.table import Table

Scalar = TypeVar("Scalar", bound=np.generic)


@dataclass(frozen=True, slots=True)
class BagArrays:
    """The numbers of a bag; an absent pair has `can_run` False and 0 elsewhere."""

    task_counts: Floats  # T
    machine_counts: Floats  # M
    idle_watts: Floats  # M
    machine_of: Integers  # C: the machine type of each column
    can_run: Mask  # T x C
    seconds: Floats  # T x C
    watts: Floats | None  # T x C


def arrays_of(bag: Bag) -> BagArrays:
    """Return the views; counts are exact in a double, because a bag holds at most 10^15 of anything."""
    seconds = _cells(bag.seconds)
    can_run = ~np.isnan(seconds)
    return BagArrays(
        task_counts=_fixed(np.array([task.count for task in bag.task_types], dtype=float)),
        machine_counts=_fixed(np.array([machine.count for machine in bag.machine_types], dtype=float)),
        idle_watts=_fixed(np.array([machine.idle_watts for machine in bag.machine_types])),
        machine_of=_fixed(np.array([j for j, _ in bag.modes], dtype=np.int64)),
        can_run=_fixed(can_run),
        seconds=_fixed(np.where(can_run, seconds, 0.0)),
        watts=None if bag.watts is None else _fixed(np.where(can_run, _cells(bag.watts), 0.0)),
    )


def usable_arrays(bag: Bag) -> BagArrays:
    """Return the views without the pairs that take longer than the deadline: no whole task can use them.

    Where that would leave a task type without any pair, there is no schedule; then all pairs stay.
    """
    arrays, deadline = arrays_of(bag), bag.site.deadline_seconds
    if deadline is None:
        return arrays
    usable = arrays.can_run & (arrays.seconds <= deadline)
    if usable.all() or not usable.any(axis=1).all():
        return arrays
    return replace(
        arrays,
        can_run=_fixed(usable),
        seconds=_fixed(np.where(usable, arrays.seconds, 0.0)),
        watts=None if arrays.watts is None else _fixed(np.where(usable, arrays.watts, 0.0)),
    )


def usable_bag(bag: Bag) -> Bag:
    """Return the bag without its deadline, and without the pairs that take longer than that."""
    free, usable = bag.without_deadline(), usable_arrays(bag).can_run
    if usable.sum() == arrays_of(bag).can_run.sum():
        return free
    watts = None if bag.watts is None else _only(bag.watts, usable)
    return replace(free, seconds=_only(bag.seconds, usable), watts=watts)


def _only(table: Table, usable: Mask) -> Table:
    return replace(table, packed=np.where(usable, _cells(table), np.nan).tobytes())


def _cells(table: Table) -> Floats:
    return np.frombuffer(table.packed).reshape(table.rows, table.columns)


def _fixed(array: NDArray[Scalar]) -> NDArray[Scalar]:
    array.flags.writeable = False
    return array
