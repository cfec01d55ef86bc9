"""Files of populations: chromosomes and the state of the generator, to go on from bit by bit."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from lpsched.errors import InputIssue, InstanceError, quote
from lpsched.evolve.genes import Genes, Identified, TaskPopulation
from lpsched.io.content import one_issue, whole_file
from lpsched.io.tables import array_of, header_of, opened_archive
from lpsched.model.fields import describe
from lpsched.text import json_value

if TYPE_CHECKING:
    import zipfile

    from numpy.typing import NDArray


# What all population files have in common: an `.npz` archive of arrays, and a JSON text `about` them.
#
# Nothing is compressed and nothing is unpickled. The headers of the arrays are checked before anything is
# read, so that junk does not fill the memory.
MOST_LETTERS: Final = 10**6  # of the text `about`; the longest state of a bit generator has some 10,000
MOST_CHROMOSOMES: Final = 10_000
BEGIN_ANEW: Final = "begin without it"
Checks: TypeAlias = "Mapping[str, tuple[Callable[[Any], bool], str]]"


ALWAYS: Final[Checks] = {
    "instance": (lambda value: isinstance(value, dict), "a mapping with name and hash"),
    "generations": (lambda value: type(value) is int and value >= 0, "a whole number from 0 up"),
    "seconds": (lambda value: isinstance(value, float) and 0.0 <= value < math.inf, "a number from 0 up"),
    "random_state": (lambda value: isinstance(value, dict), "a mapping"),
}


def write_archive(path: Path | str, about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write a population; the file is replaced when all of it is written, or not at all."""
    text, packed = np.frombuffer(json.dumps(about).encode(), dtype=np.uint8), io.BytesIO()
    np.savez(packed, allow_pickle=False, about=text, **arrays)  # older NumPy leaves an archive open on a full disk
    with whole_file(Path(path)) as file:
        file.write(packed.getbuffer())


@contextmanager
def opened(path: Path | str, form: str) -> Iterator[PopulationArchive]:
    """Open a population file; errors within are raised as errors of the file."""
    path = Path(path)
    if not path.is_file():
        raise one_issue(path, "no file to read", "a population file", "check its name")
    with opened_archive(path, lambda found: one_issue(path, found, f"a file of format {form}", BEGIN_ANEW)) as archive:
        yield PopulationArchive(path, archive)


class PopulationArchive:
    """Reads the arrays of a population file, each after a look at its header."""

    def __init__(self, path: Path, archive: zipfile.ZipFile) -> None:
        self.path, self.archive = path, archive

    def rejection(self, found: str, needed: str, do: str, *place: str) -> InstanceError:
        """Return the error about the file."""
        return InstanceError(str(self.path), (InputIssue(place, found, needed, do),))

    def about(self, form: str, checks: Checks, name: str, content_hash: str) -> dict[str, Any]:
        """Return what the file says of itself, if it has this format and is of this instance."""
        about = json_value(self.array("about", (None,), np.dtype(np.uint8), MOST_LETTERS).tobytes())
        keys = {"format", *ALWAYS, *checks}
        if not isinstance(about, dict) or about.get("format") != form or set(about) != keys:
            there = describe(about.get("format") if isinstance(about, dict) else about)
            raise self.rejection(there, repr(form), "name a population file", "format")
        for key, (fits, needed) in {**ALWAYS, **checks}.items():
            if not fits(about[key]):
                raise self.rejection(describe(about[key]), needed, BEGIN_ANEW, key)
        if about["instance"].get("hash") != content_hash:
            there = f"a population of {quote(str(about['instance'].get('name')))}, with another hash"
            do = f"name what it was made for, or {BEGIN_ANEW}"
            raise self.rejection(there, f"one of {quote(name)} as it is now", do, "instance")
        return about

    def length(self, name: str) -> int:
        """Return the length of an array, by its header."""
        return header_of(self.archive, name, self.rejection)[0][0]

    def array(
        self, name: str, shape: tuple[int | None, ...], dtype: np.dtype[Any], most: int | None = None
    ) -> NDArray[Any]:
        """Return an array of a shape and type; where the shape leaves a length open, up to `most`."""
        if f"{name}.npy" not in self.archive.namelist():
            raise self.rejection(f"no array {quote(name)}", "one", "name a population file")
        found, kind = header_of(self.archive, name, self.rejection)
        fits = len(found) == len(shape) and all(
            length == wanted if wanted is not None else most is not None and length <= most
            for length, wanted in zip(found, shape, strict=True)
        )
        if not fits or kind != dtype:
            lengths = " x ".join("any" if each is None else str(each) for each in shape)
            there = f"{' x '.join(map(str, found)) or 'one'} cells of type {kind}"
            raise self.rejection(there, f"{lengths} of type {dtype}", BEGIN_ANEW, name)
        read = array_of(self.archive, name)
        if dtype.kind == "f" and not np.isfinite(read).all():
            raise self.rejection("a cell that is no finite number", "numbers", BEGIN_ANEW, name)
        return read


# Population files of NSGA-II, as `.npz`: genes as they are, to go on bit by bit.
#
# machines, columns, orders    S chromosomes x N tasks
# scores                       S x 2
# history                      notes x 3: seconds, generations, hypervolume
# about                        the bytes of a JSON text: format, instance, objectives, generations, seconds, the
#                              reference of the hypervolumes, and the state of the bit generator
_ABOUT: Final = ("objectives", "generations", "seconds", "reference", "random_state")
_GENES: Final = ("machines", "columns", "orders")
FORMAT: Final = "lpsched-task-population/1"
MOST_NOTES: Final = 10**6


def _are_two_numbers(value: object) -> bool:
    return isinstance(value, list) and [type(each) for each in value] == [float] * 2 and all(map(math.isfinite, value))


_CHECKS: Final[Checks] = {
    "objectives": (lambda value: isinstance(value, str), "a text"),
    "reference": (_are_two_numbers, "two numbers"),
}


def write_task_population(population: TaskPopulation, instance: Identified, path: Path | str) -> None:
    """Write a population; the file is replaced when all of it is written, or not at all."""
    about = {"format": FORMAT, "instance": {"name": instance.name, "hash": population.instance_hash}}
    arrays: dict[str, NDArray[Any]] = {name: getattr(population.genes, name) for name in _GENES}
    arrays |= {"scores": population.scores, "history": np.array(population.history, dtype=float).reshape(-1, 3)}
    write_archive(path, about | {key: getattr(population, key) for key in _ABOUT}, arrays)


def read_task_population(path: Path | str, instance: Identified, *, objectives: str | None = None) -> TaskPopulation:
    """Read a population of a bag or a day; whether its machines can run their tasks, the algorithm will say."""
    with opened(path, FORMAT) as archive:
        about = archive.about(FORMAT, _CHECKS, instance.name, instance.content_hash)
        if objectives is not None and about["objectives"] != objectives:
            do = f"go on with the objectives that it was made with, or {BEGIN_ANEW}"
            raise archive.rejection(quote(about["objectives"]), quote(objectives), do, "objectives")
        double, number = np.dtype(np.float64), np.dtype(np.int32)
        history = archive.array("history", (None, 3), double, MOST_NOTES)
        scores = archive.array("scores", (None, None), double, MOST_CHROMOSOMES)
        if scores.shape[1] != 2 or len(scores) < 2:  # noqa: PLR2004 - two scores, two parents
            found = f"{len(scores)} chromosomes of {scores.shape[1]} scores"
            raise archive.rejection(found, "at least 2 chromosomes of 2 scores", BEGIN_ANEW, "scores")
        shape = len(scores), instance.tasks
        genes = Genes(**{name: archive.array(name, shape, number) for name in _GENES})
    return TaskPopulation(
        instance_hash=instance.content_hash,
        genes=genes,
        scores=scores,
        history=tuple((row[0], int(row[1]), row[2]) for row in history.tolist()),
        **{key: about[key] for key in _ABOUT} | {"reference": tuple(about["reference"])},
    )
