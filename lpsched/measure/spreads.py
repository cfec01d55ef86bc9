"""Repeated measurements of one number: how well their mean is known, and whether there are enough.

    m = (x_1 + ... + x_n) / n             the mean
    s = sqrt(sum_k (x_k - m)^2 / (n - 1)) the deviation of the sample, for n >= 2
    h = t s / sqrt(n)                     half the width of the interval [m - h, m + h]

t is Student's: with n - 1 degrees of freedom |T| <= t has the probability asked for (the confidence). Enough
is measured when h <= within * m and there are at least `least` runs, or when there are `most`.

Mean and deviation are worked out in fractions and rounded once: the order of the runs does not matter, and
equal ones have a width of exactly 0.

Source: the probability of Student's distribution for whole degrees of freedom as a finite sum is formulas
26.7.3 and 26.7.4 of Abramowitz and Stegun.
"""

from __future__ import annotations

import functools
import math
from statistics import mean, stdev
from typing import TYPE_CHECKING

from lpsched.instance.measurements import Spread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.instance.bench import Repeats


def spread_of(values: Sequence[float], confidence: float) -> Spread:
    """Return mean, deviation and confidence interval of at least one value.

    >>> spread_of([3.0, 5.0], 0.5)  # t = 1 with one degree of freedom
    Spread(mean=4.0, count=2, deviation=1.4142135623730951, low=3.0, high=5.0)
    """
    average = mean(map(float, values))
    if len(values) == 1:
        return Spread(average, 1)
    deviation = stdev(map(float, values))
    half = half_width(deviation, len(values), confidence)
    return Spread(average, len(values), deviation, average - half, average + half)


def half_width(deviation: float, count: int, confidence: float) -> float:
    """Return h of so many values."""
    return student(confidence, count - 1) * deviation / math.sqrt(count)


def enough(seconds: Sequence[float], repeats: Repeats) -> bool:
    """Tell whether a setting with these times needs no more runs."""
    if len(seconds) >= repeats.most:
        return True
    return len(seconds) >= repeats.least and is_narrow(spread_of(seconds, repeats.confidence), repeats)


def is_narrow(spread: Spread, repeats: Repeats) -> bool:
    """Tell whether a mean is known as well as asked; of a single value nobody knows."""
    if spread.deviation is None:
        return False
    return half_width(spread.deviation, spread.count, repeats.confidence) <= repeats.within * spread.mean


@functools.lru_cache(maxsize=1024)
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
