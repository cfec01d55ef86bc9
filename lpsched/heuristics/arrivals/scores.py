"""What heuristics of days look for: one number for each choice, the higher the better.

A task that takes no energy (or power) has infinite utility per joule (or watt).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from lpsched.heuristics.arrivals.offers import Offers
    from lpsched.instance.array_types import Floats


def by_end(offer: Offers) -> Floats:
    """Score by the completion time, the earliest best."""
    return -offer.ends


def by_energy(offer: Offers) -> Floats:
    """Score by energy, the least best."""
    return -offer.joules


def by_utility(offer: Offers) -> Floats:
    """Score by utility."""
    return offer.utility


def by_utility_per_energy(offer: Offers) -> Floats:
    """Score by utility per joule."""
    return _per(offer.utility, offer.joules)


def by_utility_per_power(offer: Offers) -> Floats:
    """Score by utility per watt."""
    return _per(offer.utility, offer.watts)


def by_utility_per_time(offer: Offers) -> Floats:
    """Score by utility per second of machine time."""
    return _per(offer.utility, offer.seconds)


def _per(earned: Floats, spent: Floats) -> Floats:
    """Return a ratio, infinite where nothing is spent.

    >>> _per(np.array([8.0, 0.0, 3.0]), np.array([4.0, 5.0, 0.0])).tolist()
    [2.0, 0.0, inf]
    """
    return np.divide(earned, spent, out=np.full_like(earned, np.inf), where=spent > 0.0)
