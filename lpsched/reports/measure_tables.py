"""Measurements in the terminal: times and powers, degradation, savings, how well pairs predict, meters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.text import Text

from lpsched.reports.measure_rows import (
    additive_in_words,
    additive_table,
    class_degradation_table,
    classes_table,
    degradation_table,
    failures_table,
    meters_table,
    savings_table,
    times_table,
)
from lpsched.reports.tables import FoldingTable, table

if TYPE_CHECKING:
    from rich.console import ConsoleRenderable

    from lpsched.instance.measurements import Measurements
    from lpsched.reports.page_table import Table

MOST_ROWS: Final = 40
MOST_GROUPS: Final = 12  # applications that ran together
MOST_APPLICATIONS: Final = 16  # of a degradation matrix; more do not fit a screen
WORDS: Final = {"class", "told by"}  # headers of columns without numbers, after the first
ABOVE: Final = "how much longer, as a share of the time alone, for each core that runs another:"


def measure_tables(measurements: Measurements) -> list[ConsoleRenderable]:
    """Return what is known about a type of machine; what was not measured has no table."""
    told: list[ConsoleRenderable] = _listed(times_table(measurements))
    told += _listed(classes_table(measurements))
    told += _degradation(measurements)
    told += _folded(savings_table(measurements), MOST_GROUPS)
    told += _folded(additive_table(measurements), MOST_GROUPS)
    if measurements.additive:
        told.append(Text(additive_in_words(measurements)))
    told += _listed(failures_table(measurements))
    return [*told, table(("", ""), meters_table(measurements).rows)]


def _listed(rows: Table) -> list[ConsoleRenderable]:
    """Return a table of as many rows as a screen or two take."""
    if not rows.rows:
        return []
    numbers = [place for place, header in enumerate(rows.headers) if place and header not in WORDS]
    shown = table(rows.headers, rows.rows[:MOST_ROWS], numbers=numbers if rows.numbers else ())
    return [shown, *_cut(rows, MOST_ROWS)]


def _folded(rows: Table, most: int) -> list[ConsoleRenderable]:
    """Return a table of numbers that folds where it is too wide."""
    return [FoldingTable(rows.headers, rows.rows[:most]), *_cut(rows, most)] if rows.rows else []


def _cut(rows: Table, most: int) -> list[Text]:
    left = len(rows.rows) - most
    return [Text(f"... and {left:,} more (--json has all)")] if left > 0 else []


def _degradation(measurements: Measurements) -> list[ConsoleRenderable]:
    """Return both matrices; the one in full only of few applications."""
    told: list[ConsoleRenderable] = []
    full, by_class = degradation_table(measurements), class_degradation_table(measurements)
    if full.rows and max(len(full.rows), len(full.headers) - 1) > MOST_APPLICATIONS:
        pairs = sum(len(row) for row in measurements.degradation.values())
        told.append(Text(f"degradation of {pairs:,} pairs (--json and --report have all)"))
    else:
        told += _folded(full, MOST_ROWS)
    told += _folded(by_class, MOST_ROWS)
    return [Text(ABOVE), *told] if told else []
