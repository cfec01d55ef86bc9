"""The default machine room and prices for measured nodes: assumed values, none of them measured.

One CRAC unit, whose air goes to the nodes and straight back. With P_j the most that a node of type j draws
(idle power and the hungriest application on every core) and C the joules that warm a cubic metre by a kelvin:

    airflow of a node     P_j / (10 K x C): air leaves it 10 K warmer at full power
    redline, outlet       30 C; 15 to 25 C: no redline ever binds
    power cap             what nodes and cooling draw at full power, the outlet at 25 C: it never binds
    arrivals of a task    as many as all nodes could do, if they ran nothing else and nothing slowed it
    its reward            its seconds alone on the first machine type that runs it, at the fastest clock

So the reward rate counts undisturbed core-seconds of work per second: of n cores of the first type it is n at
most.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lpsched.facility.model import PLAIN_AIR, CracUnit, Mixing, SparseMatrix

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lpsched.measure.measurements import Measurements

RISE_KELVIN: Final = 10.0
REDLINE_CELSIUS: Final = 30.0
OUTLET_CELSIUS: Final = (15.0, 25.0)
HEADROOM: Final = 1 + 1e-9  # of the cap, for the rounding of doubles
ASSUMED_ROOM: Final = (
    f"the room is assumed: one CRAC unit, no recirculation, air {RISE_KELVIN:g} K warmer behind a node "
    f"at full power, redline {REDLINE_CELSIUS:g} C, outlet {OUTLET_CELSIUS[0]:g} to {OUTLET_CELSIUS[1]:g} C"
)
ASSUMED_CAP: Final = "the power cap is assumed: what everything draws at full power, cooling included"
ASSUMED_MARKET: Final = (
    "arrivals and rewards are assumed: as many tasks as all nodes could do alone, each worth its seconds "
    "alone on the first machine type, so that the reward rate counts undisturbed core-seconds per second"
)


def airflow_for(full_watts: float) -> float:
    """Return the cubic metres per second that a node needs."""
    return full_watts / (RISE_KELVIN * PLAIN_AIR.density_kg_per_m3 * PLAIN_AIR.joules_per_kg_kelvin)


def unit_for(airflows: Sequence[float]) -> CracUnit:
    """Return the unit that moves the air of all nodes."""
    return CracUnit("crac", sum(airflows), OUTLET_CELSIUS)


def mixing_for(airflows: Sequence[float]) -> Mixing:
    """Return how air gets around: from the unit to every node, and from there back."""
    nodes, total = len(airflows), sum(airflows)
    rows = [[(nodes, 1.0)] for _ in airflows]
    rows.append([(node, flow / total) for node, flow in enumerate(airflows)])
    return Mixing("inlet_mix", SparseMatrix.of(rows, nodes + 1))


def cap_for(full_watts: float, unit: CracUnit) -> float:
    """Return what all draw at full power, cooling included."""
    return full_watts * (1.0 + 1.0 / unit.performance(OUTLET_CELSIUS[1])) * HEADROOM


def market_for(measurements: Sequence[Measurements], cores: Mapping[str, int], application: str) -> tuple[float, float]:
    """Return arrivals per second and reward of an application; `cores` are all of each machine type."""
    able = [each for each in measurements if application in each.seconds]
    arrivals = sum(cores[each.machine_type] / min(each.seconds[application]) for each in able)
    return arrivals, able[0].seconds[application][0]
