"""How much faster a program runs on n cores than on one: Downey's model.

    A      average parallelism of the program: what it could keep busy on average, at least 1
    sigma  how much its parallelism varies: 0 does not at all; above 1, the program is largely sequential with
           bursts of much parallelism
    n      cores

    sigma <= 1   S(n)  =  A n / (A + sigma (n - 1) / 2)                    for 1 <= n <= A
                 S(n)  =  A n / (sigma (A - 1/2) + n (1 - sigma / 2))      for A <= n <= 2 A - 1
                 S(n)  =  A                                                for n >= 2 A - 1
    sigma >= 1   S(n)  =  n A (sigma + 1) / (sigma (n + A - 1) + A)        for 1 <= n <= A + A sigma - sigma
                 S(n)  =  A                                                from there on

Both agree at sigma = 1. S(1) is 1, and S never falls.

Source: Downey, A model for speedup of parallel programs, technical report UCB/CSD-97-933 (1997).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from lpsched.instance.array_types import Floats, Integers


def speed_up(cores: Integers, parallelism: float, sigma: float) -> Floats:
    """Return how many times faster than one core each number of cores is.

    >>> speed_up(np.array([1, 4, 7, 100]), 4.0, 0.0).tolist()
    [1.0, 4.0, 4.0, 4.0]
    >>> speed_up(np.array([1, 4, 13, 14]), 4.0, 3.0).tolist()
    [1.0, 2.56, 4.0, 4.0]
    """
    n, a = cores.astype(float), parallelism
    if sigma > 1.0:
        rising = n * a * (sigma + 1.0) / (sigma * (n + a - 1.0) + a)
        return np.where(n <= a + a * sigma - sigma, rising, a)
    within = a * n / (a + sigma * (n - 1.0) / 2.0)
    beyond = a * n / (sigma * (a - 0.5) + n * (1.0 - sigma / 2.0))
    return np.where(n <= a, within, np.where(n <= 2.0 * a - 1.0, beyond, a))
