"""The builder of linear programs: variables and rows in the order of the maths, arrays at the end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from lpsched.lp.program import Floats, Indices, Integers, LinearProgram

Terms: TypeAlias = Sequence[tuple[Indices, "Floats | float"]]
RowTerms: TypeAlias = Sequence[tuple["Integers | int", Indices, "Floats | float"]]


class LpBuilder:
    """Collects variables and rows; `build` hands over the program.

    >>> lp = LpBuilder("diet")
    >>> x = lp.variables("x", upper=np.array([4.0, 4.0]))
    >>> lp.objective([(x, np.array([1.0, 2.0]))])
    >>> lp.equal("enough", [(x, 1.0)], 5.0)
    >>> lp.build().row_names
    ('enough',)
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._upper: list[Floats] = []
        self._blocks: dict[str, Indices] = {}
        self._size = 0
        self._costs: list[tuple[Indices, Floats]] = []
        self._offset = 0.0
        self._names: list[str] = []
        self._lower: list[Floats] = []
        self._limits: list[Floats] = []
        self._rows: list[Integers] = []
        self._columns: list[Indices] = []
        self._values: list[Floats] = []

    def variables(self, name: str, upper: Floats | float) -> Indices:
        """Add a block of variables between 0 and `upper`; return their columns, in its shape."""
        upper = np.asarray(upper, dtype=float)
        assert np.all(np.isfinite(upper)), "every variable has a finite upper bound"
        block = np.arange(self._size, self._size + upper.size, dtype=np.int32).reshape(upper.shape)
        self._upper.append(upper.ravel())
        self._blocks[name] = block
        self._size += upper.size
        return block

    def objective(self, terms: Terms, offset: float = 0.0) -> None:
        """Set what is minimised."""
        self._costs = [_flat(block, coefficients) for block, coefficients in terms]
        self._offset = offset

    def at_most(self, name: str, terms: Terms, limit: float) -> None:
        """Add the row: the sum of the terms is at most `limit`."""
        self.at_most_each([name], [(0, *term) for term in terms], limit)

    def equal(self, name: str, terms: Terms, target: float) -> None:
        """Add the row: the sum of the terms is `target`."""
        self.equal_each([name], [(0, *term) for term in terms], target)

    def between(self, name: str, terms: Terms, lower: float, upper: float) -> None:
        """Add the row: the sum of the terms is between two limits, which may be infinite."""
        self._add([name], [(0, *term) for term in terms], lower, upper)

    def at_most_each(self, names: Sequence[str], terms: RowTerms, limit: float) -> None:
        """Add rows, one for each name: a term says for each of its variables in which row it stands."""
        self._add(names, terms, -np.inf, limit)

    def equal_each(self, names: Sequence[str], terms: RowTerms, target: float) -> None:
        """Add rows, one for each name, with the sum of the terms equal to `target` in each."""
        self._add(names, terms, target, target)

    def _add(self, names: Sequence[str], terms: RowTerms, lower: float, upper: float) -> None:
        first = len(self._names)
        for rows, block, coefficients in terms:
            columns, values = _flat(block, coefficients)
            kept = values != 0
            self._rows.append(first + np.broadcast_to(rows, np.shape(block)).ravel()[kept])
            self._columns.append(columns[kept])
            self._values.append(values[kept])
        self._names += names
        self._lower.append(np.full(len(names), lower))
        self._limits.append(np.full(len(names), upper))

    def build(self) -> LinearProgram:
        """Return the program."""
        costs = np.zeros(self._size)
        for block, coefficients in self._costs:
            costs[block] += coefficients
        rows = np.concatenate(self._rows)
        order = np.argsort(rows, kind="stable")
        lengths = np.bincount(rows, minlength=len(self._names))
        return LinearProgram(
            name=self.name,
            costs=costs,
            offset=self._offset,
            upper=np.concatenate(self._upper),
            row_names=tuple(self._names),
            row_lower=np.concatenate(self._lower),
            row_upper=np.concatenate(self._limits),
            starts=np.concatenate(([0], np.cumsum(lengths))).astype(np.int32),
            columns=np.concatenate(self._columns)[order].astype(np.int32),
            values=np.concatenate(self._values)[order],
            blocks=self._blocks,
        )


def _flat(block: Indices, coefficients: Floats | float) -> tuple[Indices, Floats]:
    return np.ravel(block), np.broadcast_to(np.asarray(coefficients, dtype=float), np.shape(block)).ravel()
