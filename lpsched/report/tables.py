"""The one table style: no lines, a bold header, numbers to the right, texts exactly as they stand.

Cells are made `Text`, so that a name such as ``[red]x`` or ``:smile:`` is printed and not interpreted.
A table of many columns folds: where the terminal is narrower, its columns stand in several tables.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console, ConsoleOptions

BETWEEN: Final = 2  # empty places between two columns


def table(headers: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: Sequence[int] = ()) -> Table:
    """Return a table; the columns in `numbers` are set to the right. Empty headers show no header line."""
    made = Table(box=None, show_header=any(headers), header_style="bold", pad_edge=False, padding=(0, BETWEEN, 0, 0))
    for index, header in enumerate(headers):
        made.add_column(Text(header), justify="right" if index in numbers else "left", overflow="fold")
    for row in rows:
        made.add_row(*(Text(cell) for cell in row))
    return made


@dataclass(frozen=True, slots=True)
class FoldingTable:
    """A table whose columns but the first are numbers; each of the tables it folds into has the first too."""

    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Table | Text]:
        """Fold for the width there is; rows that say nothing in some columns are left out there."""
        for place, columns in enumerate(self.columns_within(options.max_width)):
            if place:
                yield Text()
            kept = [row for row in self.rows if not place or any(row[column] for column in columns)]
            cells = [[row[0], *(row[column] for column in columns)] for row in kept]
            headers = [self.headers[0], *(self.headers[column] for column in columns)]
            yield table(headers, cells, numbers=range(1, len(headers)))

    def columns_within(self, width: int) -> list[list[int]]:
        """Return the columns of each of the tables, as many in each as fit, at least one.

        >>> folding = FoldingTable(("name", "a", "b", "c"), (("four", "1", "22", "3"),))
        >>> folding.columns_within(14), folding.columns_within(13), folding.columns_within(1)
        ([[1, 2, 3]], [[1, 2], [3]], [[1], [2], [3]])
        """
        widths = [max(map(cell_len, column)) for column in zip(self.headers, *self.rows, strict=True)]
        pieces: list[list[int]] = [[]]
        used = widths[0]
        for column in range(1, len(widths)):
            wide = BETWEEN + widths[column]
            if pieces[-1] and used + wide > width:
                pieces.append([])
                used = widths[0]
            pieces[-1].append(column)
            used += wide
        return pieces
