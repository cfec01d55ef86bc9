"""How air gets around in a facility: the matrix that a user brings, in one of three forms.

Places are numbered nodes first, then CRAC units. Most pairs of places exchange no air, so the matrix is kept
by its entries: immutable bytes, readable without NumPy and seen by NumPy without a copy.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from typing import Final, Literal

MixingForm = Literal["inlet_mix", "alpha", "recirculation"]

# what the forms are called in a file
KEYS: Final[dict[MixingForm, str]] = {
    "inlet_mix": "inlet_mix",
    "alpha": "alpha",
    "recirculation": "recirculation_kelvin_per_watt",
}


@dataclass(frozen=True, slots=True)
class SparseMatrix:
    """Rows of (column, value), packed; what is not there is 0.

    >>> matrix = SparseMatrix.of([[(1, 0.5)], []], columns=2)
    >>> matrix.row(0), matrix.row(1), matrix.entries
    ([(1, 0.5)], [], 1)
    """

    rows: int
    columns: int
    starts: bytes = field(repr=False)  # int64, rows + 1
    places: bytes = field(repr=False)  # int64, the column of each value; rising in each row
    packed: bytes = field(repr=False)  # float64

    @classmethod
    def of(cls, rows: list[list[tuple[int, float]]], columns: int) -> SparseMatrix:
        """Pack rows of (column, value); zeros are left out."""
        starts, places, values = array("q", [0]), array("q"), array("d")
        for row in rows:
            for place, value in sorted(row):
                if value != 0.0:
                    places.append(place)
                    values.append(value)
            starts.append(len(places))
        return cls(len(rows), columns, starts.tobytes(), places.tobytes(), values.tobytes())

    @property
    def entries(self) -> int:
        """How many values there are."""
        return len(self.packed) // array("d").itemsize

    def row(self, index: int) -> list[tuple[int, float]]:
        """Return one row: column and value of each entry."""
        starts = memoryview(self.starts).cast("q")
        span = slice(starts[index], starts[index + 1])
        columns, values = memoryview(self.places).cast("q")[span], memoryview(self.packed).cast("d")[span]
        return list(zip(columns.tolist(), values.tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class Mixing:
    """A matrix, and what its entries mean.

    inlet_mix      [v][u]: the share of the air that v draws in that left u; rows sum to 1
    alpha          [u][v]: the share of the air that leaves u that goes to v; rows sum to 1
    recirculation  [v][w]: kelvin at the inlet of node v for each watt of node w; N x N, one CRAC unit
    """

    form: MixingForm
    matrix: SparseMatrix
