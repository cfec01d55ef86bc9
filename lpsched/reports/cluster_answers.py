"""The answer for schedules of clusters in tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from lpsched.display import number
from lpsched.reports.answers import broken_rules
from lpsched.reports.day import period_words
from lpsched.reports.tables import table

if TYPE_CHECKING:
    from rich.table import Table

    from lpsched.result.clusters_validation import ClustersValidation


def clusters_validation_tables(result: ClustersValidation) -> list[Table | Text]:
    """Return each schedule beside what no schedule can pass, and the rules that the invalid ones break."""
    name, waiting = result.provenance.instance_name, result.waiting
    judged = "utility" if waiting is None else f"cost of waiting ({waiting.measure}, by {waiting.weight})"
    heading = Text(f"{name}: {judged} of schedules against the bound")
    share = "cost that no schedule avoids / cost" if result.is_cost else "utility / what no schedule passes"
    naive = number(0.0 - result.naive_bound if result.is_cost else result.naive_bound)
    quantity = "cost" if result.is_cost else "utility"
    note = f"of bound: {share}. If no task ever waited: {quantity} {naive}."
    if not result.period.is_whole:
        note += f"\ncounted: {period_words(result.period)}."
    headers = result.headers
    numbers = tuple(place for place, header in enumerate(headers) if header not in {"schedule", "valid"})
    broken = [(entry.name, each.code, each.sentence) for entry in result.entries for each in entry.violations]
    answer = table(headers, result.rows(), numbers=numbers)
    return [heading, answer, Text(note), *broken_rules("schedule", broken)]
