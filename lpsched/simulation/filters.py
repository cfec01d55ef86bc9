"""The energy filter: choices that take more than a fair share of the day's energy are not offered.

At the beginning of a mapping event, in a piece of time with an energy constraint E (see `accounts.py`):

    e_rem     = E - used            used: joules taken, or to be taken by executing and pending tasks (6)
    tau_rem   = sum over machines of the time between its ready time and the end of the day
    tau, e    means of seconds and of joules over all pairs that can run
    budget    = leniency e_rem / (tau_rem / tau)                                                  (7)

and a choice is offered if it takes less than the budget. The adaptive filter estimates how many tasks can
still be run by energy, too, and sets the leniency by how the energy used so far compares with an even spend:

    n         = min(tau_rem / tau, e_rem / e)                                                     (9)
    budget    = lambda e_rem / n                                                                  (10)
    lambda    = (E / T) / (used / (T - tau_rem)),      T: machines times the length of the day    (11)

Where nothing has been used yet, or no machine time is left to run anything in, everything is offered. Where
no energy is left, e_rem / n is e. A machine that is busy beyond the end of the day has no time left.

Source: Friese, thesis of 2015, 3.3.4 and 4.3.3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lpsched.errors import Fault, InstanceError
from lpsched.simulation.options import ADAPTIVE

if TYPE_CHECKING:
    from typing import Literal

    from lpsched.instance.array_types import Floats, Mask
    from lpsched.instance.period import Period
    from lpsched.simulation.accounts import Accounts
    from lpsched.simulation.options import SimulationOptions
    from lpsched.simulation.state import System


@dataclass(frozen=True, slots=True)
class EnergyFilter:
    """A filter of one day: fixed leniency, or adaptive."""

    leniency: float | Literal["adaptive"]
    mean_seconds: float
    mean_joules: float

    def allowed(self, system: System, accounts: Accounts, ready: Floats, piece: int) -> Mask:
        """Return which pairs can run and pass the filter."""
        if math.isinf(accounts.limits[piece]):
            return system.can_run
        passed: Mask = system.can_run & (system.joules < self.budget(accounts, ready, piece))
        passed.flags.writeable = False
        return passed

    def budget(self, accounts: Accounts, ready: Floats, piece: int) -> float:
        """Return the joules that a choice must stay below."""
        begin, end = float(accounts.edges[piece]), float(accounts.edges[piece + 1])
        seconds_left = float(np.maximum(end - ready, 0.0).sum())
        if seconds_left <= 0.0:
            return math.inf
        left, tasks_left = accounts.left(piece), seconds_left / self.mean_seconds
        if self.leniency != ADAPTIVE:
            return self.leniency * left / tasks_left
        used, all_seconds = float(accounts.used[piece]), len(ready) * (end - begin)
        if used <= 0.0 or all_seconds <= seconds_left:
            return math.inf
        tasks_left = min(tasks_left, left / self.mean_joules)  # which is not 0, for something was used
        fair = left / tasks_left if tasks_left > 0.0 else self.mean_joules
        target, so_far = accounts.limits[piece] / all_seconds, used / (all_seconds - seconds_left)
        return float(target / so_far) * fair


def filter_of(options: SimulationOptions, period: Period, system: System) -> EnergyFilter | None:
    """Return the filter that the options ask for; none where the day has no energy constraint.

    Raises
    ------
    InstanceError
        If the period has an energy constraint but no end: nobody knows what a fair share would be.
    """
    if options.energy_filter is None or period.energy_constraint_joules is None:
        return None
    require_an_end(period)
    can_run = system.can_run
    return EnergyFilter(
        options.energy_filter, float(system.seconds[can_run].mean()), float(system.joules[can_run].mean())
    )


def require_an_end(period: Period) -> None:
    """Refuse a period without an end: nobody knows what a fair share of its energy would be.

    Raises
    ------
    InstanceError
        If it has none.
    """
    if period.length_seconds is None:
        found, needed = "a period without an end", "a length, over which energy is spread"
        fault = Fault(("period", "length_seconds"), found, needed, "give it one, or leave out the filter")
        raise InstanceError("the energy filter", (fault,))
