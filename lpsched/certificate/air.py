"""Air with prices: what a watt at each node, a kelvin at each redline and at each outlet come to.

Inlets t of the nodes and T of the units' outlets, with f the airflows, M the shares of inlet air, and kappa
any multipliers of the balances of the nodes' and the units' inlet air (each times its airflow),

    f_v t_v              =  sum_u f_v M_vu (t_u + P_u / (c f_u))  +  sum over units of f_v M_vu T_u
    f_u T_u + Q_u / c    =  the same sum for unit u               c: joules per cubic metre and kelvin

what is balanced adds nothing. Collected by variables, kappa times the balances is

    sum_v rho_v t_v  -  sum_v P_v taken_v / (c f_v)  +  sum_u A_u T_u  +  sum_u Q_u kappa_u / c,
    taken_v = sum_w kappa_w f_w M_wv,    rho_v = f_v kappa_v - taken_v,    A_u = f_u kappa_u - taken_u,

and if no rho is negative, t_v may be replaced by its redline. The matrix alpha gives f_w M_wv = f_v alpha_vw.
With a recirculation matrix D the balances are  t_v = T + sum_w D_vw P_w  and  Q = sum P,  so that rho =
kappa, A = -sum kappa, and a watt at w takes sum_v kappa_v D_vw + kappa of the unit.

`rho`, `taken` and A are exact; they have three times the places of other numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lpsched.certificate.fixed_point import PLACES, fixed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.instance.facility import Facility


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
