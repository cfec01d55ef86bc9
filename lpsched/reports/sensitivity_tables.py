"""The three questions of a pricing study in tables: which price, which electricity, which machines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.text import Text

from lpsched.display import number
from lpsched.reports.tables import FoldingTable, table

if TYPE_CHECKING:
    from rich.table import Table

    from lpsched.result.sensitivity import Sensitivity

MOST_ROWS: Final = 40


def sensitivity_tables(result: Sensitivity) -> list[Table | Text | FoldingTable]:
    """Return the answers; pieces of the electricity price are told where there are few."""
    name = result.provenance.instance_name
    answer: list[Table | Text | FoldingTable] = [
        Text(f"{name}: which price is needed for profit?"),
        table(("", "", ""), result.price_rows()),
    ]
    if result.electricity is not None:
        answer += [
            Text(f"{name}: what may electricity cost{_at(result)}?"),
            table(("", "", ""), result.electricity_rows()),
        ]
    if result.machines:
        rows = tuple(result.machine_rows())
        answer += [
            Text(f"{name}: how many more machines of a type are worthwhile{_at(result)}, all others as now?"),
            FoldingTable(result.machine_headers(), rows[:MOST_ROWS]),
        ]
        if len(rows) > MOST_ROWS:
            answer.append(Text(f"... and {len(rows) - MOST_ROWS:,} more (--json has all)"))
        answer += [Text(note) for note in result.machine_notes()]
    return [*answer, *(Text(note) for note in result.notes)]


def _at(result: Sensitivity) -> str:
    return "" if result.price is None else f" at a price of {number(result.price)} {result.currency}"
