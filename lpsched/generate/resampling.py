"""Random bags of the kind of a given one: every task's type is drawn from the given bag's own mix.

With n_i tasks of type i in the given bag and n in all, each task of the new one is of type i with probability
n_i / n, whatever the others are; so the counts are multinomial. A type of which none is drawn is left out, as
is its price. Machines, times, powers, the other prices and the site stay as they are.

Source: Tarplee, Maciejewski and Siegel, 2014, section V-B, whose random bags are drawn like this.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from lpsched.errors import Fault, InstanceError
from lpsched.instance import Bag, Table
from lpsched.instance.fields import MOST

if TYPE_CHECKING:
    from collections.abc import Sequence


def resampled(bag: Bag, tasks: int, rng: np.random.Generator) -> Bag:
    """Return a bag of so many tasks whose types are drawn from a bag's mix.

    Raises
    ------
    InstanceError
        If no such number of tasks can be in a bag.

    Examples
    --------
    >>> from lpsched.instance import MachineType, TaskType
    >>> types = (TaskType(name="often", count=90), TaskType(name="seldom", count=10))
    >>> bag = Bag("mixed", (MachineType(name="cpu", count=1),), types, Table.of([[1.0], [2.0]]))
    >>> often, seldom = resampled(bag, 1000, np.random.default_rng(0)).task_types
    >>> often.count + seldom.count, 70 < seldom.count < 130
    (1000, True)
    """
    if not 1 <= tasks <= MOST:
        fault = Fault(("tasks",), repr(tasks), f"a number from 1 to {MOST:g}", "change the option")
        raise InstanceError("options of the generator", (fault,))
    mix = np.array([task.count for task in bag.task_types], dtype=float)
    counts = rng.multinomial(tasks, mix / mix.sum()).tolist()
    drawn = [i for i, count in enumerate(counts) if count]
    names = {bag.task_types[i].name for i in drawn}
    per_task = {name: price for name, price in bag.prices.per_task.items() if name in names}
    return replace(
        bag,
        name=f"{bag.name}, {tasks:,} tasks drawn",
        task_types=tuple(bag.task_types[i].model_copy(update={"count": counts[i]}) for i in drawn),
        seconds=_rows(bag.seconds, drawn),
        watts=None if bag.watts is None else _rows(bag.watts, drawn),
        prices=bag.prices.model_copy(update={"per_task": per_task}),
    )


def _rows(table: Table, chosen: Sequence[int]) -> Table:
    return Table.of([table.row(i) for i in chosen])
