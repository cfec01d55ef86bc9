"""Facilities that a genetic algorithm can begin with, and what it needs of them."""

from __future__ import annotations

import contextlib
from itertools import count

import numpy as np

from lpsched.errors import InfeasibleError, InstanceError, NotFoundError
from lpsched.facility.genetic import Breeder
from tests.property.odd_facilities import odd_facility
from tests.property.tiny_facilities import tiny_facility


def plain(function):
    """Return a compiled function as it is written: it runs in Python, and coverage sees it."""
    return function.py_func


def uneven_facility(rng):
    """Draw a facility whose CRAC units have ranges of their own, so that one may blow into a colder one's face."""
    facility = tiny_facility(rng, form="inlet_mix")
    lows = rng.uniform(10.0, 22.0, len(facility.crac_units))
    units = tuple(
        unit.model_copy(update={"outlet_celsius": (float(low), float(low + rng.choice([0.0, 3.0])))})
        for unit, low in zip(facility.crac_units, lows, strict=True)
    )
    return facility.model_copy(update={"crac_units": units})


KINDS = {"tiny": tiny_facility, "odd": odd_facility, "uneven": uneven_facility}


def drawn_breeder(seed, kind="tiny", *, colocation=True):
    """Return the breeder of a random facility, the first that neither the door nor the idle nodes refuse."""
    for attempt in count():
        rng = np.random.default_rng([seed, attempt])
        with contextlib.suppress(InstanceError, InfeasibleError, NotFoundError):
            return Breeder(KINDS[kind](rng), rng, colocation=colocation)
    raise AssertionError("unreachable")
