"""A table on a page; the browser lets it be sorted and copied."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lpsched.display import html_table

if TYPE_CHECKING:
    from collections.abc import Sequence

UNBROKEN: Final = "\u00a0"  # a space at which no line ends
SHORT: Final = 20  # letters of a number with its unit
MANY: Final = 30  # rows; then the table scrolls in its box


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of texts below headers; with `numbers`, all columns but the first are set to the right."""

    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: bool = False


def table_html(table: Table) -> str:
    """Return the table as an element, in a box that scrolls where it is too wide, or has many rows."""
    kind = "table numbers" if table.numbers else "table"
    rows = [_unbroken(row) for row in table.rows] if table.numbers else table.rows
    return box_html(f"{kind}{' long' if len(rows) > MANY else ''}", table.headers, rows)


def box_html(kind: str, headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in a box of these classes."""
    return f'<div class="{kind}">{html_table(headers, rows)}</div>'


def _unbroken(row: tuple[str, ...]) -> tuple[str, ...]:
    """Keep a number and its unit on one line, in all columns but the first."""
    return (*row[:1], *(cell.replace(" ", UNBROKEN) if len(cell) <= SHORT else cell for cell in row[1:]))
