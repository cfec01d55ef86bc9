"""Population files of a genetic algorithm, as `.npz`: arrays as they are, to go on from them bit by bit.

    fractions, states      S chromosomes x K cores x I task types
    outlets_celsius        S x U CRAC units
    scores                 S
    history                improvements x 3: seconds, generations, best score
    about                  the bytes of a JSON text: format, facility, co-location, generations, seconds and
                           the state of the bit generator

Doubles of random fractions do not compress, so nothing is compressed. Nothing is unpickled. The headers of
the arrays are checked before anything is read, so that junk does not fill the memory.
"""

from __future__ import annotations

import json
import math
import warnings
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lpsched.errors import Fault, InstanceError
from lpsched.files.content import one_fault
from lpsched.files.tables.npz_file import array_of, header_of
from lpsched.files.writing import whole_file
from lpsched.instance.fields import describe, quote
from lpsched.schedule.population import Population

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from lpsched.instance.facility import Facility

FORMAT: Final = "lpsched-population/1"
MOST_CHROMOSOMES: Final = 10_000
MOST_IMPROVEMENTS: Final = 10**6
MOST_LETTERS: Final = 10**6  # of the text `about`; the longest state of a bit generator has some 10,000
BEGIN_ANEW: Final = "begin without it"


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_seconds(value: object) -> bool:
    return isinstance(value, float) and math.isfinite(value) and value >= 0.0


_CHECKS: Final[dict[str, tuple[Callable[[Any], bool], str]]] = {
    "instance": (lambda value: isinstance(value, dict), "a mapping with name and hash"),
    "colocation": (lambda value: isinstance(value, bool), "true or false"),
    "generations": (_is_count, "a whole number from 0 up"),
    "seconds": (_is_seconds, "a number from 0 up"),
    "random_state": (lambda value: isinstance(value, dict), "a mapping"),
}
_ABOUT: Final = ("format", *_CHECKS)


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
    with whole_file(Path(path)) as file:
        np.savez(
            file,
            about=np.frombuffer(json.dumps(about).encode(), dtype=np.uint8),
            fractions=population.fractions,
            states=population.states,
            outlets_celsius=population.outlets_celsius,
            scores=population.scores,
            history=np.array(population.history, dtype=float).reshape(-1, 3),
        )


def read_population(path: Path | str, facility: Facility, *, colocation: bool | None = None) -> Population:
    """Read a population of a facility; whether its chromosomes keep all limits is for the algorithm to say.

    Raises
    ------
    InstanceError
        If the file is not one, is of another facility, or is ranked by another reward than `colocation` says.
    """
    path = Path(path)
    if not path.is_file():
        raise one_fault(path, "no file to read", "a population file", "check its name")
    try:
        with zipfile.ZipFile(path) as archive, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of NumPy, about what we refuse anyway
            reader = _Reader(path, archive)
            return reader.population(reader.about(facility, colocation=colocation), facility)
    except InstanceError:
        raise
    except Exception as error:  # noqa: BLE001 - on a broken file zipfile and NumPy raise whatever they like
        found = f"a broken archive ({type(error).__name__})"
        raise one_fault(path, found, f"a file of format {FORMAT}", BEGIN_ANEW) from None


class _Reader:
    """Takes an archive apart."""

    def __init__(self, path: Path, archive: zipfile.ZipFile) -> None:
        self.path, self.archive = path, archive

    def refusal(self, found: str, needed: str, do: str, *place: str) -> InstanceError:
        return InstanceError(str(self.path), (Fault(place, found, needed, do),))

    def about(self, facility: Facility, *, colocation: bool | None) -> dict[str, Any]:
        """Return what the file says of itself, if it fits."""
        about = json.loads(self.array("about", (None,), np.dtype(np.uint8), MOST_LETTERS).tobytes())
        if not isinstance(about, dict) or about.get("format") != FORMAT or set(about) != set(_ABOUT):
            there = describe(about.get("format") if isinstance(about, dict) else about)
            raise self.refusal(there, repr(FORMAT), "name a population file", "format")
        for key, (fits, needed) in _CHECKS.items():
            if not fits(about[key]):
                raise self.refusal(describe(about[key]), needed, BEGIN_ANEW, key)
        if about["instance"].get("hash") != facility.content_hash:
            there = f"a population of {quote(str(about['instance'].get('name')))}, with another hash"
            do = f"name the facility that it was made for, or {BEGIN_ANEW}"
            raise self.refusal(there, f"one of {quote(facility.name)} as it is now", do, "instance")
        if colocation is not None and about["colocation"] != colocation:
            do = f"go on with the method that it was made with, or {BEGIN_ANEW}"
            raise self.refusal(describe(about["colocation"]), str(colocation).lower(), do, "colocation")
        return about

    def population(self, about: dict[str, Any], facility: Facility) -> Population:
        """Return the population, if its arrays have the facility's sizes and could be what they say."""
        size = header_of(self.archive, "scores", self.refusal)[0][0]
        genes = size, facility.cores, len(facility.task_types)
        double, short = np.dtype(np.float64), np.dtype(np.int16)
        history = self.array("history", (None, 3), double, MOST_IMPROVEMENTS)
        scores = self.array("scores", (None,), double, MOST_CHROMOSOMES)
        if not size:
            raise self.refusal("no chromosomes", "at least one", BEGIN_ANEW, "scores")
        fractions = self.array("fractions", genes, double)
        if fractions.min() < 0.0 or fractions.max() > 1.0:
            raise self.refusal("a fraction below 0 or above 1", "0 to 1", BEGIN_ANEW, "fractions")
        return Population(
            instance_hash=facility.content_hash,
            colocation=about["colocation"],
            fractions=fractions,
            states=self.array("states", genes, short),
            outlets_celsius=self.array("outlets_celsius", (size, len(facility.crac_units)), double),
            scores=scores,
            generations=about["generations"],
            seconds=about["seconds"],
            history=tuple((row[0], int(row[1]), row[2]) for row in history.tolist()),
            random_state=about["random_state"],
        )

    def array(
        self, name: str, shape: tuple[int | None, ...], dtype: np.dtype[Any], most: int | None = None
    ) -> NDArray[Any]:
        """Return an array of a shape and type; where the shape leaves a length open, up to `most`."""
        if f"{name}.npy" not in self.archive.namelist():
            raise self.refusal(f"no array {quote(name)}", "one", "name a population file")
        found, kind = header_of(self.archive, name, self.refusal)
        fits = len(found) == len(shape) and all(
            length == wanted if wanted is not None else most is not None and length <= most
            for length, wanted in zip(found, shape, strict=True)
        )
        if not fits or kind != dtype:
            lengths = " x ".join("any" if each is None else str(each) for each in shape)
            there = f"{' x '.join(map(str, found)) or 'one'} cells of type {kind}"
            raise self.refusal(there, f"{lengths} of type {dtype}", BEGIN_ANEW, name)
        read = array_of(self.archive, name)
        if dtype.kind == "f" and not np.isfinite(read).all():
            raise self.refusal("a cell that is no finite number", "numbers", BEGIN_ANEW, name)
        return read
