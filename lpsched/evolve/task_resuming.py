"""Going on from a population of task chromosomes: what it says is not believed, but looked at.

A chromosome that names a machine which cannot run its task would lead the front for ever.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lpsched.errors import Fault, InstanceError

if TYPE_CHECKING:
    from lpsched.evolve.task_breeding import Pairs
    from lpsched.instance.array_types import Mask
    from lpsched.schedule.genes import Genes, TaskPopulation


def require_same(population: TaskPopulation, *, content_hash: str, objectives: str, pairs: Pairs) -> None:
    """Refuse a population of another instance, with another aim, or with genes that cannot be.

    Raises
    ------
    InstanceError
        If it is one of these.
    """
    if population.instance_hash != content_hash:
        found = f"the hash {population.instance_hash[:12]}..."
        raise _refusal("instance_hash", found, f"that of the instance, {content_hash[:12]}...")
    if population.objectives != objectives:
        raise _refusal("objectives", repr(population.objectives), repr(objectives))
    genes, tasks = population.genes, len(pairs.task_type)
    shapes = {genes.machines.shape, genes.columns.shape, genes.orders.shape}
    if shapes != {(len(genes.machines), tasks)} or len(genes.machines) < 2:  # noqa: PLR2004 - two parents
        raise _refusal("genes", f"arrays of {shapes}", f"at least 2 chromosomes of {tasks} tasks")
    wrong = ~fits(pairs, genes).all(axis=1)
    if wrong.any():
        place = int(np.flatnonzero(wrong)[0])
        raise _refusal(f"chromosome {place}", "a gene that cannot be", "machines that can run their tasks")


def fits(pairs: Pairs, genes: Genes) -> Mask:
    """Tell for each gene whether its machine exists, has the column and can run the task. Orders too."""
    machines, columns, orders = genes.machines, genes.columns, genes.orders
    last_machine, last_column = pairs.first_machine[-1] - 1, pairs.first_column[-1] - 1
    kind = np.searchsorted(pairs.first_machine, np.clip(machines, 0, last_machine), side="right") - 1
    inside = np.clip(columns, 0, last_column)
    own = np.searchsorted(pairs.first_column, inside, side="right") - 1
    sound: Mask = (
        (machines >= 0)
        & (machines <= last_machine)
        & (inside == columns)
        & (kind == own)
        & pairs.can_run[pairs.task_type, inside]
        & (orders >= 0)
        & (orders < machines.shape[-1])
    )
    return sound


def _refusal(where: str, found: str, needed: str) -> InstanceError:
    return InstanceError("population", (Fault((where,), found, needed, "begin without it"),))
