"""Environments of low and of high affinity: the same machines and tasks, which suit each other less or more.

The speeds s_ij = 1 / e_ij of the general-purpose machine types have the singular values and vectors
sigma_1 >= sigma_2 >= ..., u_k and v_k.

*Low.* Only the first pair is kept, sigma_1 u_1 v_1': every task type ranks the machine types alike.

*High.* In turn, for k = 2, 3, ..., some of u_k v_k' is added, which makes sigma_k larger and leaves the other
singular values as they are. No speed may fall below a fifth of what it was; each step takes half of what that
allows, and the turns go around until nothing is left to take.

*Special-purpose machine types* run their own task types ten times as fast as the general-purpose ones do on
average over machine types (of speeds, not of seconds).

The thesis adds as much as leaves no speed negative, in one turn. Taken literally, a speed becomes 0 in the
first step, which no table of seconds can hold, and as often as not stops the steps that follow: over 48
trials the affinity is then 0.10 to 0.17, where the thesis prints 0.14 to 0.18. Half steps and the floor, both
ours, give 0.14 to 0.18. The floor also keeps mean seconds, on which utility depends, near the old ones.

Source: Friese, thesis of 2015, section 3.5.3.2.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from lpsched.instance.array_types import Floats

SPECIAL_SPEEDUP: Final = 10.0
SLOWEST_SHARE: Final = 0.2  # of its speed before; ours
STEP_SHARE: Final = 0.5  # of what is allowed; ours
TURNS: Final = 40  # each leaves at most half of the room of the one before


class Affinity(StrEnum):
    """Which environment: as it is drawn, or with less or more affinity."""

    EXAMPLE = "example"
    LOW = "low"
    HIGH = "high"


def with_affinity(seconds: Floats, special: int, affinity: Affinity) -> Floats:
    """Return seconds of another affinity; the first `special` columns are special-purpose machine types."""
    if affinity is Affinity.EXAMPLE:
        return seconds
    change = low_affinity if affinity is Affinity.LOW else high_affinity
    speeds = change(1.0 / seconds[:, special:])
    fast = np.broadcast_to(SPECIAL_SPEEDUP * speeds.mean(axis=1, keepdims=True), (len(seconds), special))
    own = ~np.isnan(seconds[:, :special])
    return 1.0 / np.hstack((np.where(own, fast, np.nan), speeds))


def low_affinity(speeds: Floats) -> Floats:
    """Return the nearest table in which all task types rank the machine types alike.

    >>> low_affinity(np.array([[4.0, 2.0], [2.0, 4.0]])).round(6).tolist()
    [[3.0, 3.0], [3.0, 3.0]]
    """
    left, sizes, right = np.linalg.svd(speeds, full_matrices=False)
    nearest: Floats = sizes[0] * np.outer(left[:, 0], right[0])
    return nearest


def high_affinity(speeds: Floats) -> Floats:
    """Return a table in which task types differ more in which machine types suit them.

    The difference between rows grows until 2 has become a fifth of itself, and 4 as much more:

    >>> high_affinity(np.array([[4.0, 2.0], [2.0, 4.0]])).round(6).tolist()
    [[5.6, 0.4], [0.4, 5.6]]
    """
    left, _, right = np.linalg.svd(speeds, full_matrices=False)
    steps = [np.outer(left[:, k], right[k]) for k in range(1, min(speeds.shape))]
    floor = SLOWEST_SHARE * speeds
    found = speeds
    for _ in range(TURNS):
        for step in steps:
            found = found + STEP_SHARE * _room(found - floor, step) * step
    return found


def _room(spare: Floats, step: Floats) -> float:
    """Return how often a step can be taken before something that falls has used up what it can spare."""
    falling = step < 0
    return max(0.0, float((spare[falling] / -step[falling]).min())) if falling.any() else 0.0
