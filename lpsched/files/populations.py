"""Population files of a facility's genetic algorithm, as `.npz`: arrays as they are, to go on bit by bit.

    fractions, states      S chromosomes x K cores x I task types
    outlets_celsius        S x U CRAC units
    scores                 S
    history                improvements x 3: seconds, generations, best score
    about                  the bytes of a JSON text: format, facility, co-location, generations, seconds and
                           the state of the bit generator

Doubles of random fractions do not compress, so nothing is compressed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lpsched.files.population_archive import (
    BEGIN_ANEW,
    MOST_CHROMOSOMES,
    PopulationArchive,
    opened,
    write_archive,
)
from lpsched.instance.fields import describe
from lpsched.schedule.population import Population

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from lpsched.files.population_archive import Checks
    from lpsched.instance.facility import Facility

FORMAT: Final = "lpsched-population/1"
MOST_IMPROVEMENTS: Final = 10**6
_CHECKS: Final[Checks] = {"colocation": (lambda value: isinstance(value, bool), "true or false")}


def write_population(population: Population, facility: Facility, path: Path | str) -> None:
    """Write a population; the file is replaced when all of it is written, or not at all.

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    about = {
        "format": FORMAT,
        "instance": {"name": facility.name, "hash": population.instance_hash},
        "colocation": population.colocation,
        "generations": population.generations,
        "seconds": population.seconds,
        "random_state": population.random_state,
    }
    arrays: dict[str, NDArray[Any]] = {
        "fractions": population.fractions,
        "states": population.states,
        "outlets_celsius": population.outlets_celsius,
        "scores": population.scores,
        "history": np.array(population.history, dtype=float).reshape(-1, 3),
    }
    write_archive(path, about, arrays)


def read_population(path: Path | str, facility: Facility, *, colocation: bool | None = None) -> Population:
    """Read a population of a facility; whether its chromosomes keep all limits is for the algorithm to say.

    Raises
    ------
    InstanceError
        If the file is not one, is of another facility, or is ranked by another reward than `colocation` says.
    """
    with opened(path, FORMAT) as archive:
        about = archive.about(FORMAT, _CHECKS, facility.name, facility.content_hash)
        if colocation is not None and about["colocation"] != colocation:
            do = f"go on with the method that it was made with, or {BEGIN_ANEW}"
            needed = str(colocation).lower()
            raise archive.refusal(describe(about["colocation"]), needed, do, "colocation")
        return _population(archive, about, facility)


def _population(archive: PopulationArchive, about: dict[str, Any], facility: Facility) -> Population:
    """Return the population, if its arrays have the facility's sizes and could be what they say."""
    size = archive.length("scores")
    genes = size, facility.cores, len(facility.task_types)
    double, short = np.dtype(np.float64), np.dtype(np.int16)
    history = archive.array("history", (None, 3), double, MOST_IMPROVEMENTS)
    scores = archive.array("scores", (None,), double, MOST_CHROMOSOMES)
    if not size:
        raise archive.refusal("no chromosomes", "at least one", BEGIN_ANEW, "scores")
    fractions = archive.array("fractions", genes, double)
    if fractions.min() < 0.0 or fractions.max() > 1.0:
        raise archive.refusal("a fraction below 0 or above 1", "0 to 1", BEGIN_ANEW, "fractions")
    return Population(
        instance_hash=facility.content_hash,
        colocation=about["colocation"],
        fractions=fractions,
        states=archive.array("states", genes, short),
        outlets_celsius=archive.array("outlets_celsius", (size, len(facility.crac_units)), double),
        scores=scores,
        generations=about["generations"],
        seconds=about["seconds"],
        history=tuple((row[0], int(row[1]), row[2]) for row in history.tolist()),
        random_state=about["random_state"],
    )
