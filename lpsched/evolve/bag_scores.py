"""What a chromosome of a bag takes: energy and makespan. Compiled.

    e, a       seconds and watts of a task in its column
    b          idle watts of a machine, which stays on until the makespan
    load       of a machine: the sum of its e
    makespan   t  =  the largest load
    energy     sum e a  +  sum over machines of b (t - load)

The sums are those of `verify/bag.py`, up to rounding; no term is below 0, so nothing cancels.

Source: Friese, thesis of 2015, section 6.3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lpsched.compiled import compiled
from lpsched.errors import Fault, InstanceError
from lpsched.instance.arrays import arrays_of
from lpsched.schedule.genes import first_machines

if TYPE_CHECKING:
    from lpsched.instance import Bag
    from lpsched.instance.array_types import Floats, Integers
    from lpsched.schedule.genes import Genes, Numbers


class BagTables(NamedTuple):  # a tuple, because that is what compiled functions take apart
    """What the loops need to know of a bag: T task types x C columns, N tasks."""

    task_type: Integers  # N
    seconds: Floats  # T x C
    joules: Floats  # T x C
    first_machine: Integers  # M + 1
    idle_watts: Floats  # M
    others: Floats  # M: machines of a type that have no number, because they never work


@compiled
def bag_scores(tables: BagTables, machines: Numbers, columns: Numbers) -> Floats:
    """Return energy and makespan of S chromosomes."""
    scores = np.empty((len(machines), 2))
    load = np.empty(tables.first_machine[-1])
    for s in range(len(machines)):
        load[:] = 0.0
        joules = 0.0
        for task in range(machines.shape[1]):
            i, column = tables.task_type[task], columns[s, task]
            load[machines[s, task]] += tables.seconds[i, column]
            joules += tables.joules[i, column]
        makespan = load.max()
        for j in range(len(tables.idle_watts)):
            if tables.idle_watts[j] > 0.0:
                idle = tables.others[j] * makespan
                for machine in range(tables.first_machine[j], tables.first_machine[j + 1]):
                    idle += makespan - load[machine]
                joules += tables.idle_watts[j] * idle
        scores[s, 0], scores[s, 1] = joules, makespan
    return scores


class BagScorer:
    """Energy and makespan of a bag's chromosomes; deadline and power cap are not looked at.

    Raises
    ------
    InstanceError
        If the bag has no watts.
    """

    name = "energy and makespan"

    def __init__(self, bag: Bag) -> None:
        arrays = arrays_of(bag)
        if arrays.watts is None:
            fault = Fault(("watts",), "none", "the watts of each pair, for energy", "add them")
            raise InstanceError(bag.name, (fault,))
        counts = [machine.count for machine in bag.machine_types]
        first_machine = first_machines(counts, bag.tasks)
        self.tables = BagTables(
            task_type=np.repeat(np.arange(len(bag.task_types)), [task.count for task in bag.task_types]),
            seconds=arrays.seconds,
            joules=arrays.seconds * arrays.watts,
            first_machine=first_machine,
            idle_watts=arrays.idle_watts,
            others=arrays.machine_counts - np.diff(first_machine),
        )

    def __call__(self, genes: Genes) -> Floats:
        """Return S x 2 scores."""
        machines, columns = np.ascontiguousarray(genes.machines), np.ascontiguousarray(genes.columns)
        return bag_scores(self.tables, machines, columns)  # compiled for one layout only
