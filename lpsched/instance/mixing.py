"""How air gets around in a facility: the matrix that a user brings, in one of three forms.

Places are numbered nodes first, then CRAC units. Most pairs of places exchange no air, so the matrix is kept
by its entries: immutable bytes, readable without NumPy and seen by NumPy without a copy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from lpsched.instance.sparse import SparseMatrix

MixingForm = Literal["inlet_mix", "alpha", "recirculation"]

# what the forms are called in a file
MIXING_KEYS: Final[dict[MixingForm, str]] = {
    "inlet_mix": "inlet_mix",
    "alpha": "alpha",
    "recirculation": "recirculation_kelvin_per_watt",
}


@dataclass(frozen=True, slots=True)
class Mixing:
    """A matrix, and what its entries mean.

    inlet_mix      [v][u]: the share of the air that v draws in that left u; rows sum to 1
    alpha          [u][v]: the share of the air that leaves u that goes to v; rows sum to 1
    recirculation  [v][w]: kelvin at the inlet of node v for each watt of node w; N x N, one CRAC unit
    """

    form: MixingForm
    matrix: SparseMatrix
