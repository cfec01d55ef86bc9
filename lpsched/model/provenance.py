"""Provenance and status of answers: how an instance was made, what gave an answer, and how good it is."""

from __future__ import annotations

import bisect
import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache
from importlib.metadata import version
from typing import Any, Final, Protocol

from pydantic_core import PydanticCustomError

from lpsched.errors import InputIssue, Place
from lpsched.model.fields import FrozenDict, Message, check_name, describe

# What a generator notes of itself in a file it makes: its name, the seed, and the options it was given.
#
# A flat mapping of names to numbers, texts, yes or no, or lists of numbers. It is kept word by word, so that
# a generator can make the same again, or another draw of the same kind. It is no part of what the day says.
MOST_ENTRIES: Final = 100
MOST_NUMBERS: Final = 1_000  # of one list
LONGEST_TEXT: Final = 1_000
LARGEST_SEED: Final = 2**128 - 1
LARGEST_NUMBER: Final = 2**128  # whole numbers; no option is larger
NEEDED: Final = f"a number, a text, yes or no, or a list of at most {MOST_NUMBERS:,} numbers"


def frozen_note(note: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the note in immutable form: lists become tuples."""
    return FrozenDict({key: tuple(each) if isinstance(each, list) else each for key, each in note.items()})


def written_note(note: Mapping[str, Any]) -> dict[str, Any]:
    """Return the note as it stands in a file: tuples become lists."""
    return {key: list(each) if isinstance(each, tuple) else each for key, each in note.items()}


def broken_note(note: object, place: Place) -> Iterator[InputIssue]:
    """Return the errors of a note."""
    if not isinstance(note, Mapping):
        needed = "a mapping with the generator's name, its seed and its options"
        yield InputIssue(place, describe(note), needed, "leave it out where no generator made the file")
        return
    if len(note) > MOST_ENTRIES:
        yield InputIssue(place, describe(note), f"at most {MOST_ENTRIES} keys", "drop some")
        return
    for key in ("generator", "seed"):
        if key not in note:
            yield InputIssue((*place, key), "nothing", f"the key {key!r}", "add it, or leave out the whole")
    for key, value in note.items():
        try:
            check_name(key)
        except PydanticCustomError as error:
            yield InputIssue((*place, str(key)), **(error.context or {}))
        if (message := _message(key, value)) is not None:
            yield InputIssue((*place, str(key)), *message)


def _message(key: object, value: object) -> Message | None:
    """Return what is wrong with an entry: what was found, what is needed, and what to do."""
    if key == "generator":
        valid = isinstance(value, str) and 0 < len(value) <= LONGEST_TEXT
        return None if valid else (describe(value), "the name of a generator", "see 'lpsched generate day'")
    if key == "seed":
        valid = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST_SEED
        return None if valid else (describe(value), "a whole number from 0 to 2^128 - 1", "correct it")
    if isinstance(value, str) and len(value) > LONGEST_TEXT:
        return f"a text of {len(value):,} characters", f"at most {LONGEST_TEXT:,}", "shorten it"
    numbers = value if isinstance(value, list | tuple) else [value]
    valid = isinstance(value, bool | str) or (len(numbers) <= MOST_NUMBERS and all(map(_is_number, numbers)))
    return None if valid else (describe(value), NEEDED, "correct it, or drop the key")


def _is_number(value: object) -> bool:
    if isinstance(value, bool):
        return False
    if isinstance(value, int):
        return abs(value) <= LARGEST_NUMBER
    return isinstance(value, float) and math.isfinite(value)


@dataclass(frozen=True, slots=True)
class Provenance:
    """The program, the solver and the instance."""

    lpsched: str
    solver: str
    instance_name: str
    instance_hash: str

    def header(self, kind: str) -> dict[str, Any]:
        """Return the keys that every JSON answer begins with."""
        return {
            "format": kind,
            "lpsched": self.lpsched,
            "solver": self.solver,
            "instance": {"name": self.instance_name, "hash": self.instance_hash},
        }


class Named(Protocol):
    """An instance of any kind: what its file calls it, and the SHA-256 of everything it says."""

    @property
    def name(self) -> str: ...  # noqa: D102 - the class says it
    @property
    def content_hash(self) -> str: ...  # noqa: D102 - the class says it


def provenance_of(instance: Named, solver: str) -> Provenance:
    """Return where an answer about this instance comes from."""
    return Provenance(version_of_lpsched(), solver, instance.name, instance.content_hash)


@cache
def version_of_lpsched() -> str:
    """Return the version that is installed; finding it reads a file."""
    return version("lpsched")


class Status(StrEnum):
    """How good the answer is known to be."""

    OPTIMAL = "optimal"  # value and bound are within the gap asked for
    FEASIBLE = "feasible"  # a verified schedule, further from its bound than that
    LIMIT = "limit"  # the same, but the time was up first


def relative_gap(value: float, bound: float) -> float | None:
    """Return |bound - value| / |bound|: 0 when they are equal, `None` when only the bound is 0."""
    if value == bound:
        return 0.0
    return abs(bound - value) / abs(bound) if bound else None


# The mean of some trials, and how sure we are of it.
#
# Of n trials with mean m and standard deviation s (the sum of squares divided by n - 1) the 95 % confidence
# interval is  m +- t s / sqrt(n),  with t the 97.5 % point of Student's distribution with n - 1 degrees of
# freedom, to three decimals and for the degrees of freedom that printed tables have. Between these we take the row
# before, whose t is larger: the interval is never too narrow.
#
# Source: the probability of Student's distribution for whole degrees of freedom as a finite sum is formulas
# 26.7.3 and 26.7.4 of Abramowitz and Stegun.
FREEDOM: Final = (*range(1, 31), 40, 60, 120)  # degrees of freedom, rows of a table
CONFIDENCE: Final = 0.95


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean of trials, and how far its 95 % confidence interval goes to each side; `None`: one trial."""

    mean: float
    half_width: float | None = None


def estimate_of(trials: Sequence[float]) -> Estimate:
    """Return the mean of at least one trial with its confidence interval.

    >>> estimate_of([1.0, 2.0, 3.0])  # 4.303 x 1 / sqrt(3)
    Estimate(mean=2.0, half_width=2.484338...)
    """
    count = len(trials)
    if count == 1:
        return Estimate(trials[0])
    t = round(student(CONFIDENCE, FREEDOM[bisect.bisect_right(FREEDOM, count - 1) - 1]), 3)
    return Estimate(statistics.fmean(trials), t * statistics.stdev(trials) / math.sqrt(count))


@lru_cache(maxsize=1024)
def student(confidence: float, degrees: int) -> float:
    """Return the t for which |T| <= t has the probability `confidence`.

    With tan(a) = t / sqrt(degrees) the probability grows with a from 0 to pi / 2; a is found by halving.

    >>> round(student(0.95, 8), 3)  # nine runs, as in the thesis
    2.306
    """
    low, high = 0.0, math.pi / 2
    while low < (middle := (low + high) / 2) < high:
        if _probability(middle, degrees) < confidence:
            low = middle
        else:
            high = middle
    return math.sqrt(degrees) * math.tan(high)


def _probability(angle: float, degrees: int) -> float:
    """Return the probability of |T| <= sqrt(degrees) * tan(angle)."""
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = degrees % 2
    term = cosine if odd else 1.0
    total = 0.0
    for k in range(2 + odd, degrees + 1, 2):  # cosine, 2/3 cosine^3 ... or 1, 1/2 cosine^2, 3/8 cosine^4 ...
        total += term
        term *= cosine * cosine * (k - 1) / k
    return 2 / math.pi * (angle + sine * total) if odd else sine * total
