"""Cooling power over a box of heat and outlet temperature, from below, by planes.

A CRAC unit that takes out Q watts at outlet temperature T draws Q g(T), g = 1 / CoP convex in T. Its box is

    l <= T <= h,    Q1 <= Q <= Q2,    s1 <= T + Q / k <= s2        s = T + Q / k: the air that it draws in.

There Q g(T) is not convex, but for every T it is linear in Q: its convex envelope is the hull of the edges on
which Q is as small or as large as it may be, Q1 or k (s1 - T), Q2 or k (s2 - T). Along each of them it is
convex in T: g is, and (s - T) g(T) is where g falls. So for **any** slopes a and b

    Q g(T)  >=  a Q + b T + c,      c = min over the edges of Q g(T) - a Q - b T,

and the slopes that make the right side largest at a point give the plane that touches the envelope there. Any
slopes are valid, so they need not be found exactly; only the minima have to be. The limits of s say much: a
unit that blows warm air cannot take out much heat if the air that it draws in is not much warmer.

`CoolingCurve` rejects a CoP whose reciprocal is not convex in the unit's range of temperatures: for the usual
polynomial, 0.0068 T^2 + 0.0008 T + 0.458, that is below 4.7 C.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from lpsched.errors import InputIssue, InstanceError

if TYPE_CHECKING:
    from lpsched.facility.air import FacilityArrays
    from lpsched.model.table import Floats

STEPS: Final = 12
SLOPES: Final = 9  # tried at once, and again nearer to the best
HALVINGS: Final = 5
REFINEMENTS: Final = 12
NARROWER: Final = 0.45
SAMPLES: Final = 33  # points of an edge


class Planes(NamedTuple):
    """w >= heat Q + outlet T + constant, one for each unit."""

    heat: Floats
    outlet: Floats
    constant: Floats

    def at(self, heat: Floats, outlets: Floats) -> Floats:
        """Return the right side at a point."""
        return self.heat * heat + self.outlet * outlets + self.constant


class CoolingCurve:
    """g = 1 / CoP of every unit."""

    def __init__(self, arrays: FacilityArrays, per_kelvin: Floats) -> None:
        _check_convex(arrays)
        self.constant, self.linear, self.quadratic = arrays.cop.T
        self.per_kelvin = per_kelvin  # k
        steepest = np.maximum(self.slope(arrays.outlet_low), self.slope(arrays.outlet_high))
        self.falls = steepest <= 0  # warmer air never costs more: then (s - T) g(T) is convex too

    def at(self, outlets: Floats) -> Floats:
        """Return watts drawn for each watt of heat."""
        cop: Floats = self.constant + outlets * (self.linear + outlets * self.quadratic)
        return 1.0 / cop

    def slope(self, outlets: Floats) -> Floats:
        """Return how that changes with each kelvin."""
        rise: Floats = self.linear + 2.0 * self.quadratic * outlets
        return -rise * self.at(outlets) ** 2

    def bend(self, outlets: Floats) -> Floats:
        """Return the second derivative; at least 0."""
        g, rise = self.at(outlets), self.linear + 2.0 * self.quadratic * outlets
        value: Floats = 2.0 * g**2 * (g * rise**2 - self.quadratic)
        return value

    def lowest(self, heat: Floats, slope: Floats, low: Floats, high: Floats, tilt: Floats | float = 0.0) -> Floats:
        """Return the least  (heat + tilt T) g(T) - slope T  for T from low to high, or a hair less.

        What is in brackets is never below 0, and `tilt` never above. Newton's method, by halves where that
        leaves the bracket. What is convex lies above its tangent, so wherever the steps end, the tangent
        there is a lower bound. Leading axes may be there.
        """
        heat, slope, low, high, tilt = np.broadcast_arrays(heat, slope, low, high, tilt)

        def rise(t: Floats) -> Floats:
            return tilt * self.at(t) + (heat + tilt * t) * self.slope(t) - slope

        left, right, place = low, high, 0.5 * (low + high)
        for _ in range(STEPS):
            rises = rise(place)
            left, right = np.where(rises > 0, left, place), np.where(rises > 0, place, right)
            bend = 2.0 * tilt * self.slope(place) + (heat + tilt * place) * self.bend(place)
            newton = place - rises / np.where(bend > 0, bend, 1.0)
            inside = (bend > 0) & (newton >= left) & (newton <= right)
            place = np.where(inside, newton, 0.5 * (left + right))
        ends = rise(low) >= 0, rise(high) <= 0
        place = np.where(ends[0], low, np.where(ends[1], high, place))
        rises = np.where(ends[0] | ends[1], 0.0, rise(place))
        return (heat + tilt * place) * self.at(place) - slope * place - np.abs(rises) * (right - left)

    def tangents(self, heat: Floats, outlets: Floats) -> Planes:
        """Return the planes that touch Q g(T) at a point; they are below it for no more than small steps."""
        g, slope = self.at(outlets), self.slope(outlets)
        return Planes(g, heat * slope, -heat * slope * outlets)


@dataclass(frozen=True, slots=True)
class Ranges:
    """A box: outlet temperatures, heat, and inlet temperatures of every unit, from and to."""

    low: Floats  # celsius
    high: Floats
    least: Floats  # heat
    most: Floats
    cool: Floats  # celsius
    warm: Floats

    @property
    def ends(self) -> tuple[tuple[Floats, Floats], ...]:
        """The ends of each range: outlets, heat, inlets."""
        return (self.low, self.high), (self.least, self.most), (self.cool, self.warm)


class Edges(NamedTuple):
    """The four edges of each unit's box on which Q is least or most for some T: Q = heat + tilt T, T from to.

    An edge that is not there is a copy of one that is.
    """

    heat: Floats  # 4 x U
    tilt: Floats
    low: Floats
    high: Floats


def edges(curve: CoolingCurve, box: Ranges) -> Edges:
    """Return where a box ends: Q is Q1 or Q2, or as much as the coolest or the warmest inlet allows."""
    k = curve.per_kelvin
    low, high = np.maximum(box.low, box.cool - box.most / k), np.minimum(box.high, box.warm - box.least / k)
    turns, bends = box.cool - box.least / k, box.warm - box.most / k
    zero = np.zeros_like(k)
    heat = np.stack((box.least, k * box.cool, box.most, k * box.warm))
    tilt = np.stack((zero, -k, zero, -k))
    first = np.stack((np.maximum(low, turns), low, low, np.maximum(low, bends)))
    last = np.stack((high, np.minimum(high, turns), np.minimum(high, bends), high))
    there = first <= last
    there[0] |= ~there.any(axis=0)  # an empty box: any bound holds
    copied = np.where(there, np.arange(4)[:, None], there.argmax(axis=0))
    heat, tilt, first, last = (np.take_along_axis(each, copied, axis=0) for each in (heat, tilt, first, last))
    return Edges(heat, tilt, np.minimum(first, last), last)


def planes(curve: CoolingCurve, box: Ranges, heat: Floats, outlets: Floats) -> Planes:
    """Return the planes below Q g(T) on a box that are highest at a point, or nearly."""
    plain, k = _of_two_edges(curve, box, heat, outlets), curve.per_kelvin
    if not ((box.cool > box.low + box.least / k) | (box.warm < box.high + box.most / k)).any():
        return plain  # the limits of the inlets cut nothing off
    cut = _of_four_edges(curve, box, heat, outlets)
    higher = cut.at(heat, outlets) > plain.at(heat, outlets)
    return Planes(*np.where(higher, cut, plain))


def _of_two_edges(curve: CoolingCurve, box: Ranges, heat: Floats, outlets: Floats) -> Planes:
    """Leave the inlets out: then a slope in T makes the slope in Q, and only one has to be sought."""
    ends = np.stack([q * curve.slope(t) for q in (box.least, box.most) for t in (box.low, box.high)])
    first, last = ends.min(axis=0), ends.max(axis=0)
    for _ in range(HALVINGS):
        slopes = np.linspace(first, last, SLOPES)
        tried = _sloped(curve, box, slopes)
        best = tried.at(heat, outlets).argmax(axis=0)
        units = np.arange(len(best))
        first, last = slopes[np.maximum(best - 1, 0), units], slopes[np.minimum(best + 1, SLOPES - 1), units]
    return Planes(*(each[best, units] for each in tried))


def _sloped(curve: CoolingCurve, box: Ranges, slopes: Floats) -> Planes:
    """Return the planes of these slopes in T that touch both edges Q = Q1 and Q = Q2."""
    both = np.stack((box.least, box.most))[:, np.newaxis]
    first, last = curve.lowest(both, slopes, box.low, box.high)
    width = box.most - box.least
    per_heat = np.where(width > 0, (last - first) / np.where(width > 0, width, 1.0), 0.0)
    # At a box of no width in Q the plane is flat in Q there, and the lower of the two edges is below both.
    lower = np.where(width > 0, first - per_heat * box.least, np.minimum(first, last))
    return Planes(per_heat, slopes, lower)


def _of_four_edges(curve: CoolingCurve, box: Ranges, heat: Floats, outlets: Floats) -> Planes:
    """Return planes that know the limits of the inlets.

    Slopes in the inlet s = T + Q / k and in T are sought on a grid, and again nearer to the best, against
    some points of the edges; any slopes will do.
    """
    found, k = edges(curve, box), curve.per_kelvin
    t = np.linspace(found.low, found.high, SAMPLES)
    q = (found.heat + t * found.tilt).reshape(-1, len(k))
    t = t.reshape(q.shape)
    truth, inlet = q * curve.at(t), t + q / k
    middle = 0.5 * (box.low + box.high)
    alpha = k * curve.at(middle)
    beta = heat * curve.slope(middle) - alpha
    wide = np.stack((2.0 * k * curve.at(box.low), 3.0 * np.abs(beta) + k * curve.at(box.low)))
    grid = np.linspace(-1.0, 1.0, SLOPES)
    away_inlet, away_outlet = inlet - (outlets + heat / k), t - outlets
    for _ in range(REFINEMENTS):
        alphas, betas = alpha + grid[:, None] * wide[0], beta + grid[:, None] * wide[1]
        heights = truth - alphas[:, None, None] * away_inlet - betas[None, :, None] * away_outlet
        best = heights.min(axis=2).reshape(-1, len(k)).argmax(axis=0)
        units = np.arange(len(k))
        alpha, beta = alphas[best // SLOPES, units], betas[best % SLOPES, units]
        wide = wide * NARROWER
    per_heat, per_outlet = alpha / k, alpha + beta
    least = curve.lowest(found.heat, per_heat * found.tilt + per_outlet, found.low, found.high, found.tilt)
    return Planes(per_heat, per_outlet, (least - per_heat * found.heat).min(axis=0))


def _check_convex(arrays: FacilityArrays) -> None:
    """Raise an error for a unit whose CoP is not positive, or its reciprocal not convex, in its range.

    CoP^3 g'' / 2 = CoP'^2 - CoP CoP'' / 2 is quadratic in T like CoP itself, and least at the same place.
    """
    issues = []
    for unit, (low, high) in enumerate(zip(arrays.outlet_low, arrays.outlet_high, strict=True)):
        constant, linear, quadratic = arrays.cop[unit]
        vertex = low if quadratic == 0 else min(max(-linear / (2 * quadratic), low), high)
        t = np.array([low, vertex, high])
        cop, rise = constant + t * (linear + t * quadratic), linear + 2 * quadratic * t
        if not ((cop > 0).all() and (rise**2 >= cop * quadratic).all()):
            path, needed = ("crac_units", unit, "outlet_celsius"), "the CoP is positive and its reciprocal convex"
            do = "narrow the range (for the usual CoP: 5 °C or warmer)"
            issues.append(InputIssue(path, f"{low:g} to {high:g} °C", f"temperatures at which {needed}", do))
    if issues:
        raise InstanceError("the facility", tuple(issues))
