"""Population files of NSGA-II, as `.npz`: genes as they are, to go on bit by bit.

machines, columns, orders    S chromosomes x N tasks
scores                       S x 2
history                      notes x 3: seconds, generations, hypervolume
about                        the bytes of a JSON text: format, instance, objectives, generations, seconds, the
reference of the hypervolumes, and the state of the bit generator
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lpsched.errors import quote
from lpsched.files.population_archive import (
    BEGIN_ANEW,
    MOST_CHROMOSOMES,
    PopulationArchive,
    opened,
    write_archive,
)
from lpsched.schedule.genes import Genes, TaskPopulation

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from lpsched.evolve.problem import Identified
    from lpsched.files.population_archive import Checks

FORMAT: Final = "lpsched-task-population/1"
MOST_NOTES: Final = 10**6


def _are_two_numbers(value: object) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 2  # noqa: PLR2004 - scores
        and all(isinstance(each, float) and math.isfinite(each) for each in value)
    )


_CHECKS: Final[Checks] = {
    "objectives": (lambda value: isinstance(value, str), "a text"),
    "reference": (_are_two_numbers, "two numbers"),
}


def write_task_population(population: TaskPopulation, instance: Identified, path: Path | str) -> None:
    """Write a population; the file is replaced when all of it is written, or not at all.

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    about = {
        "format": FORMAT,
        "instance": {"name": instance.name, "hash": population.instance_hash},
        "objectives": population.objectives,
        "generations": population.generations,
        "seconds": population.seconds,
        "reference": list(population.reference),
        "random_state": population.random_state,
    }
    arrays: dict[str, NDArray[Any]] = {
        "machines": population.genes.machines,
        "columns": population.genes.columns,
        "orders": population.genes.orders,
        "scores": population.scores,
        "history": np.array(population.history, dtype=float).reshape(-1, 3),
    }
    write_archive(path, about, arrays)


def read_task_population(
    path: Path | str, instance: Identified, *, objectives: str | None = None
) -> TaskPopulation:
    """Read a population of a bag or a day; whether its machines can run their tasks, the algorithm will say.

    Raises
    ------
    InstanceError
        If the file is not one, is of another instance, or is ranked by other objectives than are named.
    """
    with opened(path, FORMAT) as archive:
        about = archive.about(FORMAT, _CHECKS, instance.name, instance.content_hash)
        if objectives is not None and about["objectives"] != objectives:
            do = f"go on with the objectives that it was made with, or {BEGIN_ANEW}"
            raise archive.refusal(quote(about["objectives"]), quote(objectives), do, "objectives")
        return _population(archive, about, instance)


def _population(archive: PopulationArchive, about: dict[str, Any], instance: Identified) -> TaskPopulation:
    double, number = np.dtype(np.float64), np.dtype(np.int32)
    history = archive.array("history", (None, 3), double, MOST_NOTES)
    scores = archive.array("scores", (None, None), double, MOST_CHROMOSOMES)
    if scores.shape[1] != 2 or len(scores) < 2:  # noqa: PLR2004 - two scores, two parents
        found = f"{len(scores)} chromosomes of {scores.shape[1]} scores"
        raise archive.refusal(found, "at least 2 chromosomes of 2 scores", BEGIN_ANEW, "scores")
    shape = len(scores), instance.tasks
    machines, columns, orders = (
        archive.array(name, shape, number) for name in ("machines", "columns", "orders")
    )
    return TaskPopulation(
        instance_hash=instance.content_hash,
        objectives=about["objectives"],
        genes=Genes(machines, columns, orders),
        scores=scores,
        generations=about["generations"],
        seconds=about["seconds"],
        reference=(about["reference"][0], about["reference"][1]),
        history=tuple((row[0], int(row[1]), row[2]) for row in history.tolist()),
        random_state=about["random_state"],
    )
