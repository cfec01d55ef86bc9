"""Exact bounds of air temperatures and cooling power within a box of outlet temperatures."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf, nextafter
from typing import TYPE_CHECKING, Final

from lpsched.model.fixed_point import ONE, PLACES, fixed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lpsched.facility.model import CracUnit, Facility


# Air with prices: what a watt at each node, a kelvin at each redline and at each outlet come to.
#
# Inlets t of the nodes and T of the units' outlets, with f the airflows, M the shares of inlet air, and kappa
# any multipliers of the balances of the nodes' and the units' inlet air (each times its airflow),
#
#     f_v t_v              =  sum_u f_v M_vu (t_u + P_u / (c f_u))  +  sum over units of f_v M_vu T_u
#     f_u T_u + Q_u / c    =  the same sum for unit u               c: joules per cubic metre and kelvin
#
# what is balanced adds nothing. Collected by variables, kappa times the balances is
#
#     sum_v rho_v t_v  -  sum_v P_v taken_v / (c f_v)  +  sum_u A_u T_u  +  sum_u Q_u kappa_u / c,
#     taken_v = sum_w kappa_w f_w M_wv,    rho_v = f_v kappa_v - taken_v,    A_u = f_u kappa_u - taken_u,
#
# and if no rho is negative, t_v may be replaced by its redline. The matrix alpha gives f_w M_wv = f_v
# alpha_vw. With a recirculation matrix D the balances are  t_v = T + sum_w D_vw P_w  and  Q = sum P,  so that
# rho = kappa, A = -sum kappa, and a watt at w takes sum_v kappa_v D_vw + kappa of the unit.
#
# `rho`, `taken` and A are exact; they have three times the places of other numbers.
@dataclass(frozen=True, slots=True)
class Weighed:
    """The coefficients above."""

    redlines: list[int]  # rho, N; three times the places
    watts: list[int]  # what a watt of each node takes from the air, rounded down
    outlets: list[int]  # A, U; three times the places
    heat: list[int]  # of the watts of heat that each unit takes out, rounded up


class Air:
    """The air of a facility."""

    def __init__(self, facility: Facility) -> None:
        kinds, units = facility.node_types, facility.crac_units
        self.nodes, self.units = len(facility.nodes), len(units)
        self.recirculates = facility.mixing.form == "recirculation"
        self.per_m3 = fixed(facility.air.density_kg_per_m3) * fixed(facility.air.joules_per_kg_kelvin)
        self.flows = [fixed(kinds[j].airflow_m3_per_second) for j in facility.nodes]
        self.flows += [fixed(unit.airflow_m3_per_second) for unit in units]
        matrix = facility.mixing.matrix
        self.cells: list[tuple[int, int, int]] = []  # w, v, and f_w M_wv (or D_wv); with twice the places
        for row in range(matrix.rows):
            for column, share in matrix.row(row):
                if self.recirculates:
                    self.cells.append((row, column, fixed(share) << PLACES))
                elif facility.mixing.form == "inlet_mix":
                    self.cells.append((row, column, self.flows[row] * fixed(share)))
                else:  # alpha: what leaves the row goes to the column
                    self.cells.append((column, row, self.flows[row] * fixed(share)))

    def weigh(self, multipliers: Sequence[int]) -> Weighed:
        """Return the coefficients for multipliers of the inlets, nodes first."""
        taken = [0] * (self.nodes + self.units)
        for w, v, share in self.cells:
            taken[v] += multipliers[w] * share
        of_units = range(self.nodes, self.nodes + self.units)
        if self.recirculates:
            of_unit = multipliers[self.nodes]
            return Weighed(
                [each << 2 * PLACES for each in multipliers[: self.nodes]],
                [(each >> 2 * PLACES) + of_unit for each in taken[: self.nodes]],
                [-sum(multipliers[: self.nodes]) << 2 * PLACES],
                [of_unit],
            )
        left = [
            (flow * multiplier << PLACES) - each
            for flow, multiplier, each in zip(self.flows, multipliers, taken, strict=True)
        ]
        # A product of c and f has three times the places, so the quotient of `taken` by it has none.
        return Weighed(
            left[: self.nodes],
            [(taken[v] << PLACES) // (self.per_m3 * self.flows[v]) for v in range(self.nodes)],
            left[self.nodes :],
            [-((-multipliers[u] << 2 * PLACES) // self.per_m3) for u in of_units],
        )

    def per_kelvin(self, unit: int) -> int:
        """Return the watts that warm the air of a unit by one kelvin; three times the places."""
        return self.per_m3 * self.flows[self.nodes + unit]


# The most that a CRAC unit can add to a bound, while its outlet and its heat stay in their ranges.
#
#     max over l <= T <= h, Q1 <= Q <= Q2 and s1 <= T + Q / k <= s2 of     A T + B Q - mu Q g(T),
#
# with g = 1 / CoP, mu >= 0, Q1 >= 0, and s = T + Q / k the inlet. For a given T this is linear in Q, so Q is as small
# or as large as it may be: Q1 or k (s1 - T), Q2 or k (s2 - T). For a given Q it is concave in T where g is convex: any
# tangent g(T) >= g(T0) + g'(T0) (T - T0) makes it linear, and the largest value of that is at an end. Where g falls,
# (s - T) g(T) is convex too, and its tangents do the same along Q = k (s - T); where g does not fall, the limits of s
# are left out. T0 is sought where the largest value of the curve itself is; elsewhere the bound is weaker, still one.
#
# With CoP = a + b T + c T^2,  g'' = 2 ((b^2 - a c) + 3 b c T + 3 c^2 T^2) / CoP^3,  least at T = -b / (2 c).
HALVINGS: Final = 60


@dataclass(frozen=True, slots=True)
class OutletBox:
    """The ranges of one unit: outlet, heat, inlet; and the watts that warm its air by a kelvin."""

    low: float
    high: float
    least: Fraction
    most: Fraction
    cool: Fraction
    warm: Fraction
    per_kelvin: Fraction


def coefficients(unit: CracUnit) -> tuple[float, float, float]:
    """Return the constant, the linear and the quadratic coefficient of the CoP."""
    constant, linear, quadratic = (*unit.cop, 0.0, 0.0)[:3]
    return constant, linear, quadratic


class Cooler:
    """One CRAC unit, its outlet within its own range or another."""

    def __init__(self, unit: CracUnit, outlets: tuple[float, float] | None = None) -> None:
        self.name, self.range = unit.name, unit.outlet_celsius if outlets is None else outlets
        self._cop = coefficients(unit)

    def is_convex(self) -> bool:
        """Return whether CoP is positive, and 1 / CoP convex, at all outlet temperatures of the unit."""
        a, b, c = map(Fraction, self._cop)
        low, high = map(Fraction, self.range)
        least = min(max(-b / (2 * c), low), high) if c else low
        positive = all(a + b * t + c * t * t > 0 for t in (low, least, high))
        return positive and (b * b - a * c) + 3 * b * c * least + 3 * c * c * least * least >= 0

    def falls(self) -> bool:
        """Return whether 1 / CoP never rises with the temperature in the unit's range."""
        _, b, c = map(Fraction, self._cop)
        return all(b + 2 * c * Fraction(t) >= 0 for t in self.range)

    def most(self, outlet: int, heat: int, cap: int, box: OutletBox) -> int:
        """Return the most that can be added; `outlet` (A) has three times the places of the others."""
        if not self.falls():
            heats = float(box.least), float(box.most)
            return max(self._at(outlet, heat, cap, box.low, box.high, q) for q in heats)
        low = max(Fraction(box.low), box.cool - box.most / box.per_kelvin)
        high = min(Fraction(box.high), box.warm - box.least / box.per_kelvin)
        if low > high:  # nothing is in the box, so anything is true of it
            return self._at(outlet, heat, cap, box.low, box.low, float(box.least))
        found = []
        for watts, inlet, is_least in ((box.least, box.cool, True), (box.most, box.warm, False)):
            turn = inlet - watts / box.per_kelvin  # where it is the inlet that limits the heat, not its range
            flat, slanted = ((turn, high), (low, turn)) if is_least else ((low, turn), (turn, high))
            if max(flat[0], low) <= min(flat[1], high):
                ends = _down(max(flat[0], low)), _up(min(flat[1], high))
                found.append(self._at(outlet, heat, cap, *ends, float(watts)))
            if max(slanted[0], low) <= min(slanted[1], high):
                along = max(slanted[0], low), min(slanted[1], high)
                found.append(self._slanted(outlet, heat, cap, inlet, box.per_kelvin, along))
        return max(found)

    def _slanted(  # noqa: PLR0913, PLR0917 - the letters above
        self, outlet: int, heat: int, cap: int, inlet: Fraction, k: Fraction, ends: tuple[Fraction, Fraction]
    ) -> int:
        """Return the most where Q = k (inlet - T): by the tangent of (inlet - T) g(T), which is convex."""
        a, b, c = map(Fraction, self._cop)
        per_outlet, per_heat, mu = Fraction(outlet, ONE**3), Fraction(heat, ONE), Fraction(cap, ONE)
        x, y, z = self._cop
        falling, weight, warm = outlet / ONE**3 - heat / ONE * float(k), cap / ONE * float(k), float(inlet)

        def rise(t: float) -> float:
            near = 1 / (x + y * t + z * t * t)
            return falling + weight * (near + (warm - t) * (y + 2 * z * t) * near * near)

        touch = Fraction(_peak(rise, *map(float, ends)))
        g = 1 / (a + b * touch + c * touch * touch)
        slope = -g - (inlet - touch) * (b + 2 * c * touch) * g * g
        most = max(
            per_outlet * t + per_heat * k * (inlet - t) - mu * k * ((inlet - touch) * g + slope * (t - touch))
            for t in ends
        )
        return -((-most.numerator << PLACES) // most.denominator)

    def _at(  # noqa: PLR0913, PLR0917 - the letters above
        self, outlet: int, heat: int, cap: int, low: float, high: float, watts: float
    ) -> int:
        """Return the most where Q is `watts` and T from low to high: by the tangent of g."""
        x, y, z = self._cop
        slope, weight = outlet / ONE**3, cap / ONE * watts
        touch = fixed(_peak(lambda t: slope + weight * (y + 2 * z * t) / (x + y * t + z * t * t) ** 2, low, high))
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


def _peak(rise: Callable[[float], float], left: float, right: float) -> float:
    """Return where a concave function is largest, nearly; `rise` is its derivative."""
    for _ in range(HALVINGS):
        t = (left + right) / 2
        left, right = (left, t) if rise(t) < 0 else (t, right)
    return (left + right) / 2


def _down(number: Fraction) -> float:
    """Return a double that is not above."""
    nearest = float(number)
    return nearest if Fraction(nearest) <= number else nextafter(nearest, -inf)


def _up(number: Fraction) -> float:
    """Return a double that is not below."""
    nearest = float(number)
    return nearest if Fraction(nearest) >= number else nextafter(nearest, inf)
