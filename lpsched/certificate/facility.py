"""Proofs about facilities: what no allocation exceeds while outlets, heat and inlets stay in their ranges.

Take any prices: v_i >= 0 of a task done in a second, mu >= 0 of a watt under the cap, kappa of the air
balances (`air.py`) and eta_u >= 0 of a unit's redline; and lambda >= 0 of reward beyond a floor L, where
only allocations that earn at least L are spoken of. Every allocation keeps its limits, so adding

    lambda (reward - L),   v_i (done - counted),   mu (cap - sum P - sum_u Q_u g_u(T_u)),   eta_u (R_u - s_u)

and kappa times the balances, with the redlines R_v in place of the inlets, makes nothing smaller. What is
then the largest value of   omega reward + alpha T + beta Q   falls apart, into pieces that are each easy:

    lambda, mu and rho     mu cap + rho R + eta R - lambda L
    each task type         arrivals_i max(0, (omega + lambda) r_i - v_i)
    each node              gain_v(p_v) - p_v O_v,   p_v = mu + what a watt takes from the air
    each unit              max of (alpha + A - eta) T + (beta + B - eta / k) Q - mu Q g(T)    (`cooling.py`)

The gain of a node is in `node_patterns.py`. `Proof.reward` is that for omega = 1: a bound. `narrowed` is
that for one outlet T, one heat Q or one inlet T + Q / k, up or down: it proves smaller ranges. Ranges begin
with those of the units, and with 0 <= Q_u <= cap CoP_u: a unit cools, and draws no more than the cap. A gain
falls with the price of a watt, by at least the overhead; so p_v is rounded down.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from lpsched.certificate.air import Air
from lpsched.certificate.cooling import Box, Cooler, coefficients
from lpsched.certificate.fixed_point import (
    ONE,
    PLACES,
    fixed,
    float_down,
    float_up,
    product_up,
    quotient_down,
    quotient_up,
)
from lpsched.certificate.node_patterns import NodeGains
from lpsched.errors import Fault, InstanceError

if TYPE_CHECKING:
    from lpsched.instance.facility import Facility

Side: TypeAlias = Literal["low", "high", "least", "most", "cool", "warm"]  # of outlet, heat and inlet
LOWER: Final = ("low", "least", "cool")


@dataclass(frozen=True, slots=True)
class Ranges:
    """Outlet temperatures, heat and inlet temperatures of each unit, from and to."""

    low: tuple[float, ...]  # celsius
    high: tuple[float, ...]
    least: tuple[float, ...]  # watts, at least 0
    most: tuple[float, ...]
    cool: tuple[float, ...]  # celsius
    warm: tuple[float, ...]

    def is_empty(self) -> bool:
        """Tell whether nothing is left of the range of some outlet, heat or inlet."""
        lower, upper = (*self.low, *self.least, *self.cool), (*self.high, *self.most, *self.warm)
        return any(low > high for low, high in zip(lower, upper, strict=True))

    def with_side(self, side: Side, unit: int, value: float) -> Ranges:
        """Return the ranges with one end moved, inwards only."""
        ends = list(getattr(self, side))
        ends[unit] = max(ends[unit], value) if side in LOWER else min(ends[unit], value)
        return replace(self, **{side: tuple(ends)})


@dataclass(frozen=True, slots=True)
class Prices:
    """Multipliers. None is negative but those of the air; bad ones prove less, never something false."""

    tasks: tuple[float, ...]
    cap: float
    air: tuple[float, ...]  # of the nodes' inlets, then of the units'
    unit_redlines: tuple[float, ...]
    reward: float = 0.0


class Proof:
    """Derives bounds for one facility, from prices and nothing else.

    Raises
    ------
    InstanceError
        If the CoP of a unit is not positive, or its reciprocal not convex, in the range of its outlet.
    """

    def __init__(self, facility: Facility, *, colocation: bool = True) -> None:
        self.facility = facility if colocation else replace(facility, classes=(), degradation=None)
        self._air = Air(facility)
        self._coolers = [Cooler(unit) for unit in facility.crac_units]
        faults = tuple(
            Fault(("crac_units", u, "cop"), "1 / CoP that is not convex", "one that is", "narrow the outlets")
            for u, cooler in enumerate(self._coolers)
            if not cooler.is_convex()
        )
        if faults:
            raise InstanceError(facility.name, faults)

    @cached_property
    def ranges(self) -> Ranges:
        """What outlets and heat can be at all."""
        cap = fixed(self.facility.power_cap_watts)
        low, high = zip(*(unit.outlet_celsius for unit in self.facility.crac_units), strict=True)
        most = []
        for unit in self.facility.crac_units:
            a, b, c = map(fixed, coefficients(unit))
            t = [
                fixed(each) for each in unit.outlet_celsius
            ]  # CoP is at most its terms at the worse end each
            cop = a + max(product_up(b, each) for each in t)
            cop += max(product_up(c, each) for each in (*(product_up(x, x) for x in t), 0))
            most.append(float_up(product_up(cap, cop)))
        zeros = (0.0,) * len(most)
        # a unit cools, so what it draws in is as warm as what it blows; and no warmer than its heat makes it
        warm = [
            float_up(fixed(end) + quotient_up(fixed(heat) << 2 * PLACES, self._air.per_kelvin(u)))
            for u, (end, heat) in enumerate(zip(high, most, strict=True))
        ]
        return Ranges(low, high, zeros, tuple(most), low, tuple(warm))

    def reward(self, ranges: Ranges, prices: Prices, floor: float = 0.0) -> float | None:
        """Return the reward rate that none in these ranges exceeds; `None` if the prices prove nothing."""
        found = self._most(ranges, prices, floor, omega=1)
        return None if found is None else float_up(found)

    def narrowed(self, ranges: Ranges, side: Side, unit: int, prices: Prices, floor: float) -> Ranges | None:
        """Return the ranges with one end where the prices prove it to be; `None` if they prove nothing."""
        sign = -1 if side in LOWER else 1
        outlet = {unit: sign} if side in ("low", "high", "cool", "warm") else {}
        heat = {unit: sign * ONE} if side in ("least", "most") else {}
        if side in ("cool", "warm"):  # T + Q / k, with 1 / k rounded so that nothing becomes smaller
            heat = {unit: -((-sign << 4 * PLACES) // self._air.per_kelvin(unit))}
        found = self._most(ranges, prices, floor, omega=0, outlet=outlet, heat=heat)
        if found is None:
            return None
        return ranges.with_side(side, unit, float_up(found) if sign > 0 else float_down(-found))

    def _most(  # noqa: PLR0913 - the letters above
        self,
        ranges: Ranges,
        prices: Prices,
        floor: float,
        *,
        omega: int,
        outlet: dict[int, int] | None = None,
        heat: dict[int, int] | None = None,
    ) -> int | None:
        facility, nodes = self.facility, len(self.facility.nodes)
        worths, cap, more = [fixed(each) for each in prices.tasks], fixed(prices.cap), fixed(prices.reward)
        etas = [fixed(each) for each in prices.unit_redlines]
        if min(*worths, cap, more, *etas) < 0:
            return None
        air = self._air.weigh([fixed(each) for each in prices.air])
        if min(air.redlines) < 0:
            return None
        total = product_up(cap, fixed(facility.power_cap_watts)) + product_up(more, -fixed(floor))
        for task, worth in zip(facility.task_types, worths, strict=True):
            left = product_up(omega * ONE + more, fixed(task.reward)) - worth
            total += product_up(fixed(task.arrivals_per_second), max(0, left))
        redlines = [fixed(kind.redline_celsius) for kind in facility.node_types]
        overheads = [fixed(kind.overhead_watts) for kind in facility.node_types]
        for j, gains in enumerate(self._gains):
            own = [v for v in range(nodes) if facility.nodes[v] == j]
            prices_of_watts = [cap + air.watts[v] for v in own]
            total += sum(gains.most(gains.lines(worths), prices_of_watts))
            total += sum(product_up(-price, overheads[j]) for price in prices_of_watts)
            total -= (-sum(air.redlines[v] for v in own) * redlines[j]) >> 3 * PLACES
        for u, (unit, cooler) in enumerate(zip(facility.crac_units, self._coolers, strict=True)):
            if unit.redline_celsius is None and etas[u]:
                return None
            total += product_up(etas[u], fixed(unit.redline_celsius or 0.0))
            per_kelvin = quotient_down(etas[u] << 2 * PLACES, self._air.per_kelvin(u))
            total += cooler.most(
                air.outlets[u] + (((outlet or {}).get(u, 0) * ONE - etas[u]) << 2 * PLACES),
                air.heat[u] + (heat or {}).get(u, 0) - per_kelvin,
                cap,
                Box(
                    ranges.low[u],
                    ranges.high[u],
                    Fraction(ranges.least[u]),
                    Fraction(ranges.most[u]),
                    Fraction(ranges.cool[u]),
                    Fraction(ranges.warm[u]),
                    Fraction(self._air.per_kelvin(u), ONE**3),
                ),
            )
        return total

    @cached_property
    def _gains(self) -> list[NodeGains]:
        return [NodeGains(self.facility, j) for j in range(len(self.facility.node_types))]
