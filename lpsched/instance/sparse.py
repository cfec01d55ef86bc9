"""A matrix of few entries: packed bytes, readable without NumPy."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field


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
