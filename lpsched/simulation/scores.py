"""How good is a pair of task and column? Numbers for the loops that map the best pair first.

    score   weight U(end) / per / scale - cost          the higher, the better

    rule            per       scale          weight   cost
    end             minus the end, whatever the task earns
    utility         1         1              1        0
    per time        seconds   1              1        0
    per energy      joules    1              1        0
    weighted, by w  1         U+             1 - w    w joules / joules+       (equation 3)
                    seconds   U+ / seconds-  1 - w    likewise                 (equation 4)
                    joules    U+ / joules-   1 - w    likewise                 (equation 5)

U+ is the largest utility that any function of the day begins with; seconds-, joules- and joules+ are the
least and the most of all pairs that can run. A pair whose weighted score is below 0 is not mapped: its energy
weighs more than its utility. (The text does not say so, but its figures 3.5 to 3.7 come out only so: with
all tasks mapped, no weight leaves energy over as in print.) A pair that takes no energy has an infinite
utility per energy if it earns anything, and 0 if it earns nothing; joules- is the least of those that are
not 0.

Source: Friese, thesis of 2015, sections 2.4.3 and 3.3.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lpsched.simulation.mapping.present import ScoreTables, frozen

if TYPE_CHECKING:
    from lpsched.instance.array_types import Floats
    from lpsched.simulation.state import System


def by_end(system: System) -> ScoreTables:
    """Return the rule of the earliest end."""
    nothing = np.zeros_like(system.seconds)
    return ScoreTables(
        by_end=True, weight=1.0, scale=1.0, per=frozen(nothing), cost=frozen(nothing), least=-np.inf
    )


def by_utility(system: System, weight: float | None = None) -> ScoreTables:
    """Return the rule of the most utility; weighted against energy if there is a weight."""
    return _table(system, np.ones_like(system.seconds), 1.0, weight)


def by_utility_per_time(system: System, weight: float | None = None) -> ScoreTables:
    """Return the rule of the most utility per second; weighted against energy if there is a weight."""
    return _table(system, system.seconds, float(_least(system.seconds[system.can_run])), weight)


def by_utility_per_energy(system: System, weight: float | None = None) -> ScoreTables:
    """Return the rule of the most utility per joule; weighted against energy if there is a weight."""
    return _table(system, system.joules, float(_least(system.joules[system.can_run])), weight)


def _table(system: System, per: Floats, least: float, weight: float | None) -> ScoreTables:
    if weight is None:
        nothing = np.zeros_like(per)
        return ScoreTables(
            by_end=False, weight=1.0, scale=1.0, per=frozen(per), cost=frozen(nothing), least=-np.inf
        )
    most_joules = float(system.joules[system.can_run].max(initial=0.0))
    cost = weight * (system.joules / most_joules) if most_joules > 0.0 else np.zeros_like(per)
    most_utility = float(system.starts_at[system.first_interval[:-1]].max(initial=0.0))
    return ScoreTables(
        by_end=False,
        weight=1.0 - weight,
        scale=most_utility / least,
        per=frozen(per),
        cost=frozen(cost),
        least=0.0,
    )


def _least(amounts: Floats) -> float:
    return float(amounts[amounts > 0.0].min(initial=np.inf)) if (amounts > 0.0).any() else 1.0
