"""Profit of many samples at once, by the formula of the verifier.

    profit  =  3600 (revenue - overhead - c PUE E - wear) / t  -  depreciation        in money per hour

t is the makespan, E the energy; wear is counted by busy hours, depreciation by all hours of all machines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from lpsched.instance import Bag
    from lpsched.instance.array_types import Floats

SECONDS_PER_HOUR: Final = 3600.0
JOULES_PER_KWH: Final = 3_600_000.0


def profits_per_hour(bag: Bag, makespan: Floats, energy: Floats | None, busy: Floats) -> Floats | None:
    """Return the profit of each sample, or `None` where the bag's prices do not tell it.

    Parameters
    ----------
    makespan, energy
        Seconds and joules of each sample; no energy if the bag has no watts.
    busy
        Machine types x samples: seconds that all machines of a type work.
    """
    prices = bag.prices
    if (prices.per_bag is None and not prices.per_task) or prices.electricity_per_kwh is None:
        return None
    if energy is None and prices.electricity_per_kwh:
        return None
    left = np.full(len(makespan), (prices.per_bag or 0.0) - prices.overhead_per_bag)
    left += sum(task.count * prices.per_task.get(task.name, 0.0) for task in bag.task_types)
    if energy is not None:
        left -= prices.electricity_per_kwh / JOULES_PER_KWH * bag.site.pue * energy
    lost_per_hour = 0.0
    for machine, seconds in zip(bag.machine_types, busy, strict=True):
        left -= machine.wear_per_busy_hour / SECONDS_PER_HOUR * seconds
        if machine.purchase_price and machine.mean_hours_to_failure is not None:
            lost_per_hour += machine.count * machine.purchase_price / machine.mean_hours_to_failure
    with np.errstate(divide="ignore", over="ignore"):  # a single task may, by chance, take next to no time
        return SECONDS_PER_HOUR * left / makespan - lost_per_hour
