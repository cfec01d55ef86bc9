"""From a number in doubles to one of which something is proved or verified: hardly further, or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

FINEST: Final = 2.0**-52
TRIES: Final = 40  # the last is some 1e-4 away


def nearby(number: float, holds: Callable[[float], bool], *, upwards: bool = True) -> float | None:
    """Return the number, or one hardly above (below) it, of which a statement holds; `None` if of none near.

    >>> nearby(0.1, lambda x: 3 * x <= 0.3, upwards=False) < 0.1, nearby(1.0, lambda x: x < 0)
    (True, None)
    """
    if holds(number):
        return number
    step = FINEST if upwards else -FINEST
    for _ in range(TRIES):
        tried = number * (1.0 + step) if number else abs(step)
        if holds(tried):
            return tried
        step *= 2.0
    return None
