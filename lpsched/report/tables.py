"""Tables of the command line: their one style, and those that results of all kinds have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from lpsched.auditing import HEADERS, Audit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from rich.console import Console, ConsoleOptions

    from lpsched.evolve.fronts import FrontEntry
    from lpsched.model.results import Comparison
    from lpsched.model.risk import Risk


MOST_ROWS: Final = 40  # of task types; a screen or two
UNFINISHED: Final = "No marginal values: the linear program was not solved to the end."
# The one table style: no lines, a bold header, numbers to the right, texts exactly as they stand.
#
# Cells are made `Text`, so that a name such as ``[red]x`` or ``:smile:`` is printed and not interpreted.
# A table of many columns folds: where the terminal is narrower, its columns stand in several tables.
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


def cut(rows: Sequence[object], most: int = MOST_ROWS) -> list[Text]:
    """Return how many rows are left out, if any are."""
    left = len(rows) - most
    return [Text(f"... and {left:,} more (--json has all)")] if left > 0 else []


def cut_table(
    headers: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: Sequence[int] = (), most: int = MOST_ROWS
) -> list[Table | Text]:
    """Return a table of the first rows, and how many are left out."""
    return [table(headers, rows[:most], numbers=numbers), *cut(rows, most)]


def risk_tables(risk: Risk | None) -> list[Table | Text]:
    """Return how a schedule fares if times and powers scatter, or nothing where nobody asked."""
    if risk is None:
        return []
    answer = table(risk.headers(), risk.rows(), numbers=range(1, len(risk.headers())))
    chances = [table(("", "", ""), risk.chance_rows())] if risk.chances else []
    return [Text(risk.heading()), answer, *chances]


def risks_tables(risks: Sequence[tuple[str, Risk | None]], quantities: Sequence[str]) -> list[Table | Text]:
    """Return how schedulers fare if times and powers scatter: a table for each quantity; or nothing."""
    known = [(name, risk) for name, risk in risks if risk is not None]
    if not known:
        return []
    first = known[0][1]
    tables: list[Table | Text] = [Text(first.heading())]
    for quantity in quantities:
        headers = (first.name_of(quantity), *first.heads())
        rows = [(name, *risk.of(quantity)) for name, risk in known]
        tables.append(table(headers, rows, numbers=range(1, len(headers))))
    return tables


def broken_rules(what: str, broken: Sequence[tuple[str, str, str]]) -> list[Table | Text]:
    """Return the rules that schedules or allocations break: name, code, sentence; or nothing."""
    return cut_table((what, "violation", ""), broken) if broken else []


def compared_tables(
    result: Comparison[Any], heading: str, *notes: Table | Text, quantities: Sequence[str] = (), what: str = "schedule"
) -> list[Table | Text]:
    """Return each scheduler beside the bound, notes, how they fare if times scatter, and the rules that are broken."""
    headers = result.headers()
    numbers = [place for place, header in enumerate(headers) if place and header != "valid"]
    answer = table(headers, result.rows(), numbers=numbers)
    sampled = risks_tables([(entry.name, entry.risk) for entry in result.entries], quantities) if quantities else []
    broken = [(entry.name, each.code, each.sentence) for entry in result.entries for each in entry.violations]
    return [Text(heading), answer, *notes, *sampled, *broken_rules(what, broken)]


def audit_tables(result: Audit) -> list[Table | Text]:
    """Return the verdict on each file, and why some are refused."""
    reasons = [(each.name, reason) for each in result.files for reason in each.reasons]
    refused = cut_table(("refused", "because"), reasons) if reasons else []
    return [table(HEADERS, [each.row() for each in result.files]), *refused]


def front_remarks(entries: Iterable[FrontEntry[Any, Any]]) -> list[Table | Text]:
    """Return how evolutions ended, and what is wrong with the methods that brought nothing or too much."""
    found: list[Table | Text] = []
    broken: list[tuple[str, str, str]] = []
    for entry in entries:
        if entry.generations is not None:
            ended = {"generations": "as many as were wanted", "time": "time was up", "stopped": "stopped"}
            why = ended.get(entry.ended or "", entry.ended or "")
            found.append(Text(f"{entry.name}: {entry.generations:,} generations; {why}"))
        if entry.refused > 1:
            found.append(Text(f"{entry.name}: {entry.refused:,} of its schedules break a rule; the first:"))
        broken += [(entry.name, each.code, each.sentence) for each in entry.violations]
    return [*found, *broken_rules("method", broken)]
