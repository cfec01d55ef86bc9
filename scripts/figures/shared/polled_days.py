"""Days of the thesis's chapter 4: twelve policies, queued and polled machines, without and with a filter.

32,000 tasks, three P-states, 1.11 GJ; tasks that can earn less than 0.5 are dropped; the filter is the
adaptive one.
"""

from __future__ import annotations

from typing import Final

from lpsched.online.simulate.options import ADAPTIVE, POLLED, QUEUED, SimulationOptions
from scripts.figures.shared.arriving_days import Case, chapter_4

GROUPS: Final = {
    "Random": {"random-batch": "Random"},
    "FCFS": {
        "fcfs": "FCFS, P-state 0",
        "fcfs-all": "FCFS, all P-states",
        "prioritized-fcfs": "Prioritized FCFS, P-state 0",
        "prioritized-fcfs-all": "Prioritized FCFS, all",
    },
    "LCFS": {
        "lcfs": "LCFS, P-state 0",
        "lcfs-all": "LCFS, all P-states",
        "prioritized-lcfs": "Prioritized LCFS, P-state 0",
        "prioritized-lcfs-all": "Prioritized LCFS, all",
    },
    "utility": {"max-max-util": "Max Utility", "max-max-upt": "Max UPT", "max-max-upe": "Max UPE"},
}
NAMES: Final = {name: title for group in GROUPS.values() for name, title in group.items()}
WAYS: Final = {
    "queued": SimulationOptions(machines=QUEUED, drop_below=0.5),
    "queued, filter": SimulationOptions(machines=QUEUED, drop_below=0.5, energy_filter=ADAPTIVE),
    "polled": SimulationOptions(machines=POLLED, drop_below=0.5),
    "polled, filter": SimulationOptions(machines=POLLED, drop_below=0.5, energy_filter=ADAPTIVE),
}


def case(name: str, way: str) -> Case:
    """Return a policy, run in one of the four ways."""
    return Case(chapter_4(), name, WAYS[way])
