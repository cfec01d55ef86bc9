"""Weighted UPE: utility per joule against energy, both between 0 and 1, by a weight w of energy.

The pair of the highest score first, then the best of the rest:

    (1 - w) (U / joules) / (U+ / joules-)  -  w joules / joules+

With + the most and with - the least of the whole system. Tasks whose best score is below 0 wait; see
`scores.py`.

Source: Friese, thesis of 2015, section 3.3.2, equation 5.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from lpsched.simulation.choosing import best_first
from lpsched.simulation.scores import by_utility_per_energy

if TYPE_CHECKING:
    import numpy as np

    from lpsched.simulation.policy import Choose
    from lpsched.simulation.state import Assignments, State

UPE_USUAL: Final = 0.05  # likewise


def weighted_upe(weight: float = UPE_USUAL) -> Choose:
    """Return the rule with this weight of energy, between 0 and 1."""
    scores = partial(by_utility_per_energy, weight=weight)

    def choose(state: State, _rng: np.random.Generator, /) -> Assignments:
        return best_first(state, scores)

    return choose
