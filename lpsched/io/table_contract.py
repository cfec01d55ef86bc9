"""What a table file must hold, and the errors when it does not."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from pydantic_core import PydanticCustomError

from lpsched.errors import MOST_FAULTS, Fault, InstanceError, nearest, quote
from lpsched.io.content import read_bytes
from lpsched.model.fields import SMALLEST
from lpsched.model.problems import MOST_ADVISED
from lpsched.model.table import Table

if TYPE_CHECKING:
    from pathlib import Path

    from lpsched.model.arrays import Floats
    from lpsched.model.fields import Amount
    from lpsched.model.table import Axes

MOST_BYTES: Final = 512 * 2**20
CORNER: Final = "task_type"  # the header of the column of task types


@dataclass(frozen=True, slots=True)
class TableContract:
    """The table `key` of a file: the names of its task types are the rows, its labels the columns."""

    path: Path
    key: str
    check: Amount
    axes: Axes

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the rows."""
        return self.axes.names

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the columns."""
        return self.axes.labels

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.names), len(self.labels)

    def content(self, most: int = MOST_BYTES) -> bytes:
        """Return the file's bytes, if there are no more than `most`."""
        try:
            return read_bytes(self.path, most)
        except InstanceError as error:
            raise self.here(error) from None

    def fault(self, found: str, needed: str, do: str, line: int | None = None, at: tuple[str, ...] = ()) -> Fault:
        """Return a fault of this table in this file; `at` names row and column."""
        return Fault((self.key, *at), found, needed, do, line=line, file=self.path.name)

    def refusal(self, found: str, needed: str, do: str) -> InstanceError:
        """Return the error for a file with one fault."""
        return InstanceError(str(self.path), (self.fault(found, needed, do),))

    def here(self, error: InstanceError) -> InstanceError:
        """Return an error about the file as one about this table in it."""
        faults = (self.fault(each.found, each.needed, each.do, each.line) for each in error.faults)
        return InstanceError(str(self.path), tuple(faults))

    def mismatches(self, rows: list[str], columns: list[str]) -> list[Fault]:
        """Return what differs between the names in the file and those of the lists, in any order."""
        return [*self._differ(columns, self.labels, "column"), *self._differ(rows, self.names, "row")]

    def _differ(self, found: list[str], wanted: tuple[str, ...], kind: str) -> list[Fault]:
        known, times = set(wanted), Counter(found)
        faults: list[Fault] = []
        for name, count in times.items():
            if name not in known:
                advice = nearest(name, wanted) if len(faults) < MOST_ADVISED else ""
                needed = f"only {kind}s that the {self.axes.kind}'s lists name"
                faults.append(self.fault(f"the {kind} {quote(name)}", needed, advice or "correct or remove it"))
            elif count > 1:
                faults.append(self.fault(f"the {kind} {quote(name)} {count} times", "each once", "remove one"))
        missing = [name for name in wanted if name not in times]
        if missing:
            others = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
            faults.append(self.fault(f"no {kind} {quote(missing[0])}{others}", f"a {kind} for each", "add it"))
        return faults[:MOST_FAULTS]

    def pack(self, cells: Floats) -> Table:
        """Return the table of an array in which NaN is absent."""
        absent = np.isnan(cells)
        sound = absent | (cells >= max(self.check.least, SMALLEST)) & (cells <= self.check.most)
        if self.check.least == 0.0:
            sound |= cells == 0.0
        faults = [self._refused(cells, i, c) for i, c in np.argwhere(~sound)[:MOST_FAULTS].tolist()]
        if faults:
            raise InstanceError(str(self.path), tuple(faults))
        packed = np.where(absent, np.nan, cells + 0.0)  # one NaN, no -0.0: equal tables have equal bytes
        return Table(*self.shape, packed.tobytes(), checked_as=self.key)

    def _refused(self, cells: Floats, i: int, column: int) -> Fault:
        try:
            self.check(float(cells[i, column]))
        except PydanticCustomError as refused:
            return self.cell_fault(refused, i, column)
        raise AssertionError("NumPy and the check of a single cell agree on what is refused")

    def cell_fault(self, refused: PydanticCustomError, i: int, column: int) -> Fault:
        """Return the fault of a cell that its check refused."""
        why = refused.context or {}
        return self.fault(why["found"], why["needed"], why["do"], at=(self.names[i], self.labels[column]))
