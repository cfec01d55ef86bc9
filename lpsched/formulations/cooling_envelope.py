"""Cooling power over a box of heat and outlet temperature, from below, by planes.

A CRAC unit that takes out Q watts at outlet temperature T draws Q g(T), with g = 1 / CoP convex in T. Over a
box [Q1, Q2] x [l, h] this is not convex, but it is linear in Q: its convex envelope is the hull of the two
edges Q = Q1 and Q = Q2. So for **any** slope b

    Q g(T)  >=  b T  +  m1 + (m2 - m1) (Q - Q1) / (Q2 - Q1),      m_e = min over T of Q_e g(T) - b T,

and the slope that makes the right side largest at a point gives the plane that touches the envelope there.
Any slope is valid, so it need not be found exactly; only the two minima have to be.

`CoolingCurve` refuses a CoP whose reciprocal is not convex in the unit's range of temperatures: for the usual
polynomial, 0.0068 T^2 + 0.0008 T + 0.458, that is below 4.7 C.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.errors import Fault, InstanceError

if TYPE_CHECKING:
    from lpsched.instance.arrays import Floats
    from lpsched.instance.facility_arrays import FacilityArrays

STEPS: Final = 12
SLOPES: Final = 9  # tried at once, and again between the neighbours of the best
REFINEMENTS: Final = 5


@dataclass(frozen=True, slots=True)
class Planes:
    """w >= heat Q + outlet T + constant, one for each unit."""

    heat: Floats
    outlet: Floats
    constant: Floats

    def at(self, heat: Floats, outlets: Floats) -> Floats:
        """Return the right side at a point."""
        value: Floats = self.heat * heat + self.outlet * outlets + self.constant
        return value


class CoolingCurve:
    """g = 1 / CoP of every unit."""

    def __init__(self, arrays: FacilityArrays) -> None:
        _refuse_what_is_not_convex(arrays)
        self.constant, self.linear, self.quadratic = arrays.cop.T

    def at(self, outlets: Floats) -> Floats:
        """Return watts drawn for each watt of heat."""
        cop = self.constant + outlets * (self.linear + outlets * self.quadratic)
        value: Floats = 1.0 / cop
        return value

    def slope(self, outlets: Floats) -> Floats:
        """Return how that changes with each kelvin."""
        value: Floats = -(self.linear + 2.0 * self.quadratic * outlets) * self.at(outlets) ** 2
        return value

    def bend(self, outlets: Floats) -> Floats:
        """Return the second derivative; at least 0."""
        g, rise = self.at(outlets), self.linear + 2.0 * self.quadratic * outlets
        value: Floats = 2.0 * g**2 * (g * rise**2 - self.quadratic)
        return value

    def lowest(self, heat: Floats, slope: Floats, low: Floats, high: Floats) -> Floats:
        """Return the least  heat g(T) - slope T  for T from low to high, or a hair less; heat >= 0.

        Newton's method, by halves where that leaves the bracket. What is convex lies above its tangent, so
        wherever the steps end, the tangent there is a lower bound. Leading axes may be there.
        """
        heat, slope, low, high = np.broadcast_arrays(heat, slope, low, high)
        left, right = low, high
        place = 0.5 * (low + high)
        for _ in range(STEPS):
            rises = heat * self.slope(place) - slope
            left, right = np.where(rises > 0, left, place), np.where(rises > 0, place, right)
            bend = heat * self.bend(place)
            newton = place - rises / np.where(bend > 0, bend, 1.0)
            inside = (bend > 0) & (newton >= left) & (newton <= right)
            place = np.where(inside, newton, 0.5 * (left + right))
        ends = heat * self.slope(low) - slope >= 0, heat * self.slope(high) - slope <= 0
        place = np.where(ends[0], low, np.where(ends[1], high, place))
        rises = np.where(ends[0] | ends[1], 0.0, heat * self.slope(place) - slope)
        value: Floats = heat * self.at(place) - slope * place - np.abs(rises) * (right - left)
        return value

    def tangents(self, heat: Floats, outlets: Floats) -> Planes:
        """Return the planes that touch Q g(T) at a point; they are below it for no more than small steps."""
        g, slope = self.at(outlets), self.slope(outlets)
        return Planes(g, heat * slope, -heat * slope * outlets)


@dataclass(frozen=True, slots=True)
class Ranges:
    """A box: outlet temperatures and heat of every unit, from and to."""

    low: Floats  # celsius
    high: Floats
    least: Floats  # heat
    most: Floats


def planes(curve: CoolingCurve, box: Ranges, heat: Floats, outlets: Floats) -> Planes:
    """Return the planes below Q g(T) on a box that are highest at a point."""
    edges = np.stack([q * curve.slope(t) for q in (box.least, box.most) for t in (box.low, box.high)])
    first, last = edges.min(axis=0), edges.max(axis=0)
    for _ in range(REFINEMENTS):
        slopes = np.linspace(first, last, SLOPES)
        tried = _sloped(curve, box, slopes)
        best = tried.at(heat, outlets).argmax(axis=0)
        units = np.arange(len(best))
        first, last = slopes[np.maximum(best - 1, 0), units], slopes[np.minimum(best + 1, SLOPES - 1), units]
    return Planes(tried.heat[best, units], tried.outlet[best, units], tried.constant[best, units])


def _sloped(curve: CoolingCurve, box: Ranges, slopes: Floats) -> Planes:
    """Return the planes of these slopes in T that touch both edges."""
    both = np.stack((box.least, box.most))[:, np.newaxis]
    first, last = curve.lowest(both, slopes, box.low, box.high)
    width = box.most - box.least
    per_heat = np.where(width > 0, (last - first) / np.where(width > 0, width, 1.0), 0.0)
    # At a box of no width in Q the plane is flat in Q there, and the lower of the two edges is below both.
    lower = np.where(width > 0, first - per_heat * box.least, np.minimum(first, last))
    return Planes(per_heat, slopes, lower)


def _refuse_what_is_not_convex(arrays: FacilityArrays) -> None:
    """Raise an error for a unit whose CoP is not positive, or its reciprocal not convex, in its range.

    CoP^3 g'' / 2 = CoP'^2 - CoP CoP'' / 2 is quadratic in T like CoP itself, and least at the same place.
    """
    faults = []
    for unit, (low, high) in enumerate(zip(arrays.outlet_low, arrays.outlet_high, strict=True)):
        constant, linear, quadratic = arrays.cop[unit]
        vertex = low if quadratic == 0 else min(max(-linear / (2 * quadratic), low), high)
        t = np.array([low, vertex, high])
        cop, rise = constant + t * (linear + t * quadratic), linear + 2 * quadratic * t
        if not ((cop > 0).all() and (rise**2 >= cop * quadratic).all()):
            faults.append(
                Fault(
                    ("crac_units", unit, "outlet_celsius"),
                    f"{low:g} to {high:g} C",
                    "temperatures at which the CoP is positive and its reciprocal convex",
                    "narrow the range (for the usual CoP: 5 C or warmer)",
                )
            )
    if faults:
        raise InstanceError("the facility", tuple(faults))
