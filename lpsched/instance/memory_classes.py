"""Names of memory-intensity classes, from calm (I) to intensive, and of groups by the classes in them.

    bounds u_1 < ... < u_n     below u_1 is class I; from u_k up and below u_{k+1} is class k + 1

A value equal to a bound belongs to the upper class. Groups are named as in tables 8.3 and 8.4 of the thesis.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from itertools import zip_longest
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

NUMERALS: Final = {"C": 100, "XC": 90, "L": 50, "XL": 40, "X": 10, "IX": 9, "V": 5, "IV": 4, "I": 1}
MOST_CLASSES: Final = 399  # what these numerals can write


def class_of(value: float, bounds: Sequence[float]) -> str:
    """Return the class of a value.

    >>> class_of(2.25e-2, (1e-5, 1e-3)), class_of(1e-5, (1e-5, 1e-3)), class_of(7.44e-6, (1e-5, 1e-3))
    ('III', 'II', 'I')
    """
    rest, name = bisect_right(bounds, value) + 1, ""
    assert rest <= MOST_CLASSES, f"{len(bounds)} bounds"
    for numeral, worth in NUMERALS.items():
        name += numeral * (rest // worth)
        rest %= worth
    return name


def class_rank(name: str) -> int:
    """Return the number that a class's name says, to sort by; 0 for a name that is no number.

    >>> [class_rank(name) for name in ("I", "IV", "XII", "calm", "")]
    [1, 4, 12, 0, 0]
    """
    worths = [NUMERALS.get(letter, 0) for letter in name]
    if not all(worths):
        return 0
    return sum(-own if own < after else own for own, after in zip_longest(worths, worths[1:], fillvalue=0))


def group_name(classes: Iterable[str]) -> str:
    """Name applications that run together by how many there are of each class, the most intensive first.

    >>> group_name(["III", "III"]), group_name(["II", "III"])
    ('2 Intensity III', '1 Intensity III and 1 Intensity II')
    >>> group_name(["I", "III", "I", "II"])
    '1 Intensity III, 1 Intensity II, and 2 Intensity I'
    """
    found = sorted(Counter(classes).items(), key=lambda each: (-class_rank(each[0]), each[0]))
    names = [f"{count} Intensity {name}" for name, count in found]
    if len(names) > 2:  # noqa: PLR2004 - a list with commas
        return ", ".join(names[:-1]) + f", and {names[-1]}"
    return " and ".join(names)
