"""The slots of a horizon: when each begins and ends, and what electricity costs in it at each site.

    h, T_0 = 0 < T_1 < ... < T_H   slots and their edges, in seconds from the start of the horizon
    s(j)                           the site of machine type j

Everything that is given over time is constant within a slot: a slot ends where any series of any site changes. This is
data, stated once for the program, the verifier and the certificate: no NumPy, and nothing is worked out here but edges.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SiteSlots:
    """What one site pays and may draw in each slot; electricity is counted at its meter, after the PUE."""

    name: str
    tariff: tuple[float, ...]  # money per kWh at the meter; may be negative
    carbon: tuple[float, ...] | None = None  # grams of CO2 per kWh at the meter
    cap_watts: tuple[float, ...] | None = None  # the most watts on average over each slot
    pue: float = 1.0  # watts at the meter for each watt at the machines
    cap_pue: float = 1.0  # watts where the cap is measured, for each watt at the machines: the PUE, or 1
    demand_charge: float = 0.0  # money per kW at the meter of the slot with the highest average power
    moving_costs: tuple[float, ...] = ()  # money for each task of each type that runs here; empty: none


@dataclass(frozen=True, slots=True)
class Slots:
    """All slots of a horizon, and the sites of a bag."""

    edges: tuple[float, ...]  # T_0 = 0, ..., T_H: one more than there are slots
    sites: tuple[SiteSlots, ...]
    site_of: tuple[int, ...]  # of each machine type
    start: int | None = None  # of the horizon, in seconds since 1970 UTC; `None` if nothing depends on the date

    @property
    def count(self) -> int:
        """How many slots there are."""
        return len(self.edges) - 1

    @property
    def horizon(self) -> float:
        """The seconds from the start to the end."""
        return self.edges[-1]


@dataclass(frozen=True, slots=True)
class Weights:
    """What is minimised: a weighted sum of money and grams of CO2, less what finished tasks earn if they are optional.

    `optional`: tasks may be left out, and each one that runs earns its price per task (times `money`); else all run.
    """

    money: float = 1.0
    grams: float = 0.0
    optional: bool = False
