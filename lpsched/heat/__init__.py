"""Air and cooling of a facility: what node powers and outlet temperatures do to inlets and to the cap."""

from lpsched.heat.air import HeatMap, crac_inlets, heat_map, inlet_mix, inlets, rooms
from lpsched.heat.cooling import (
    cooling_watts,
    cop,
    even_outlets,
    heat_removed,
    hottest_common_outlet,
    largest_share,
    total_watts,
)
from lpsched.heat.idle_nodes import no_room, require_room
from lpsched.heat.steps import OutletSteps, outlet_steps

__all__ = [
    "HeatMap",
    "OutletSteps",
    "cooling_watts",
    "cop",
    "crac_inlets",
    "even_outlets",
    "heat_map",
    "heat_removed",
    "hottest_common_outlet",
    "inlet_mix",
    "inlets",
    "largest_share",
    "no_room",
    "outlet_steps",
    "require_room",
    "rooms",
    "total_watts",
]
