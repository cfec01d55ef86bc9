"""Energy from samples of power.

Samples (t_k, p_k), watts p_k at time t_k. Of an interval [b, e] only those inside count, t_1 < ... < t_n:
one before or after it saw the machine do something else. Between them power is taken as linear, before the
first and after the last as constant:

    joules = p_1 (t_1 - b)  +  sum_k (p_k + p_{k+1}) / 2 * (t_{k+1} - t_k)  +  p_n (e - t_n)

So an application of constant power is measured without error, wherever the samples lie. Absent where there
is no sample inside, or where the meter was silent for longer than it may be: then any number is a guess.
"""

from __future__ import annotations

import threading
from collections import deque
from itertools import pairwise


class PowerSamples:
    """Samples as they come, in the order of time; one thread may add while another asks.

    Parameters
    ----------
    longest_gap_seconds
        How long the meter may be silent within an interval.

    Examples
    --------
    >>> samples = PowerSamples(longest_gap_seconds=5.0)
    >>> samples.add(1.0, 100.0)
    >>> samples.add(2.0, 200.0)
    >>> samples.joules(0.0, 3.0)  # 100 W for 1 s, 150 W on average for 1 s, 200 W for 1 s
    450.0
    """

    def __init__(self, longest_gap_seconds: float) -> None:
        self.longest_gap_seconds = longest_gap_seconds
        self._samples: deque[tuple[float, float]] = deque()
        self._lock = threading.Lock()

    def add(self, seconds: float, watts: float) -> None:
        """Keep a sample; one that is no later than the last is left out."""
        with self._lock:
            if not self._samples or seconds > self._samples[-1][0]:
                self._samples.append((seconds, watts))

    def within(self, begin: float, end: float) -> list[tuple[float, float]]:
        """Return the samples of an interval, and forget those before it."""
        with self._lock:
            while self._samples and self._samples[0][0] < begin:
                self._samples.popleft()
            return [sample for sample in self._samples if sample[0] <= end]

    def joules(self, begin: float, end: float) -> float | None:
        """Return the energy of an interval by the formula above, or `None`."""
        inside = self.within(begin, end)
        if not inside:
            return None
        (first, first_watts), (last, last_watts) = inside[0], inside[-1]
        times = [begin, *(at for at, _ in inside), end]
        if max(after - before for before, after in pairwise(times)) > self.longest_gap_seconds:
            return None
        between = sum((p + q) / 2 * (u - t) for (t, p), (u, q) in pairwise(inside))
        return first_watts * (first - begin) + between + last_watts * (end - last)
