"""The one table style: no lines, a bold header, numbers to the right, texts exactly as they stand.

Cells are made `Text`, so that a name such as ``[red]x`` or ``:smile:`` is printed and not interpreted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Sequence


def table(headers: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: Sequence[int] = ()) -> Table:
    """Return a table; the columns in `numbers` are set to the right. Empty headers show no header line."""
    made = Table(
        box=None, show_header=any(headers), header_style="bold", pad_edge=False, padding=(0, 2, 0, 0)
    )
    for index, header in enumerate(headers):
        made.add_column(Text(header), justify="right" if index in numbers else "left", overflow="fold")
    for row in rows:
        made.add_row(*(Text(cell) for cell in row))
    return made
