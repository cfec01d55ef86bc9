"""The most that a CRAC unit can add to a bound, while its outlet and its heat stay in their ranges.

    max over l <= T <= h and Q1 <= Q <= Q2 of     A T + B Q - mu Q g(T),         g = 1 / CoP, mu >= 0, Q1 >= 0

For a given T this is linear in Q, so Q is Q1 or Q2. For a given Q it is concave in T where g is convex: any
tangent g(T) >= g(T0) + g'(T0) (T - T0) makes it linear, and the largest value of that is at l or h. T0 is
sought where the largest value of the curve itself is; elsewhere the bound is weaker, and still one.

With CoP = a + b T + c T^2,  g'' = 2 ((b^2 - a c) + 3 b c T + 3 c^2 T^2) / CoP^3,  least at T = -b / (2 c).
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final

from lpsched.certificate.fixed_point import ONE, PLACES, fixed

if TYPE_CHECKING:
    from lpsched.instance.facility import CracUnit

HALVINGS: Final = 60


def coefficients(unit: CracUnit) -> tuple[float, float, float]:
    """Return the constant, the linear and the quadratic coefficient of the CoP."""
    constant, linear, quadratic = (*unit.cop, 0.0, 0.0)[:3]
    return constant, linear, quadratic


class Cooler:
    """One CRAC unit."""

    def __init__(self, unit: CracUnit) -> None:
        self.name, self.range = unit.name, unit.outlet_celsius
        self._cop = coefficients(unit)

    def is_convex(self) -> bool:
        """Tell whether CoP is positive, and 1 / CoP convex, at all outlet temperatures of the unit."""
        a, b, c = map(Fraction, self._cop)
        low, high = map(Fraction, self.range)
        least = min(max(-b / (2 * c), low), high) if c else low
        positive = all(a + b * t + c * t * t > 0 for t in (low, least, high))
        return positive and (b * b - a * c) + 3 * b * c * least + 3 * c * c * least * least >= 0

    def most(  # noqa: PLR0913, PLR0917 - the letters above
        self, outlet: int, heat: int, cap: int, low: float, high: float, least: float, largest: float
    ) -> int:
        """Return the most that can be added; `outlet` (A) has three times the places of the others."""
        return max(self._at(outlet, heat, cap, low, high, q) for q in (least, largest))

    def _at(self, outlet: int, heat: int, cap: int, low: float, high: float, watts: float) -> int:  # noqa: PLR0913, PLR0917
        touch = fixed(self._best_touch(outlet, cap, low, high, watts))
        a, b, c = map(fixed, self._cop)
        cop = (a << 2 * PLACES) + (b * touch << PLACES) + c * touch * touch  # three times the places
        rise = (b << PLACES) + 2 * c * touch  # of the CoP with T; twice the places
        q = fixed(watts)
        found = []
        for t in (fixed(low), fixed(high)):
            # g there by the tangent: 1 / CoP - rise (t - touch) / CoP^2, as one fraction, rounded down
            g = ((cop - rise * (t - touch)) << 4 * PLACES) // (cop * cop)
            found.append(-((-outlet * t) >> 3 * PLACES) - ((cap * q * g) >> 2 * PLACES))
        return max(found) - ((-heat * q) >> PLACES)

    def _best_touch(self, outlet: int, cap: int, low: float, high: float, watts: float) -> float:
        a, b, c = self._cop
        slope, weight = outlet / ONE**3, cap / ONE * watts
        left, right = low, high
        for _ in range(HALVINGS):
            t = (left + right) / 2
            falls = slope + weight * (b + 2 * c * t) / (a + b * t + c * t * t) ** 2 < 0
            left, right = (left, t) if falls else (t, right)
        return (left + right) / 2
