"""The shape of some numbers: mean, standard deviation, skewness and kurtosis."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from lpsched.instance.array_types import Floats

NO_SPREAD: Final = 1e-12  # of the mean; what is smaller is rounding


@dataclass(frozen=True, slots=True)
class Moments:
    """Mean, standard deviation, m3 / m2^1.5 and m4 / m2^2 (3 for a normal distribution).

    Equal numbers have neither skewness nor kurtosis; they are given a normal distribution's, 0 and 3.
    """

    mean: float
    deviation: float
    skewness: float = 0.0
    kurtosis: float = 3.0


def moments(values: Floats) -> Moments:
    """Measure numbers as they stand, none of them negative: n, not n - 1, is in the denominators.

    So does `instance/heterogeneity.py`. The five benchmarks of a matrix are all there is of it, and the
    formulas that correct for small samples need more of them than a small matrix has.

    >>> import numpy as np
    >>> moments(np.array([1.0, 1.0, 4.0, 4.0]))
    Moments(mean=2.5, deviation=1.5, skewness=0.0, kurtosis=1.0)
    """
    largest = float(values.max())
    if largest == 0:
        return Moments(0.0, 0.0)
    scaled = (values / largest).tolist()  # so that no power of a huge number overflows
    mean = math.fsum(scaled) / len(scaled)
    second, third, fourth = (
        math.fsum((x - mean) ** power for x in scaled) / len(scaled) for power in (2, 3, 4)
    )
    deviation = math.sqrt(second)
    if deviation <= NO_SPREAD * mean:
        return Moments(mean * largest, 0.0)
    return Moments(mean * largest, deviation * largest, third / deviation**3, fourth / second**2)
