"""Compared fronts in tables: the exact one first, then every method's distance from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from lpsched.display import number, upper_text
from lpsched.reports.answers import broken_rules, front_tables
from lpsched.reports.tables import table
from lpsched.result import day_front, front_comparison

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from rich.table import Table

    from lpsched.result.day_front import DayFront
    from lpsched.result.front_comparison import FrontComparison
    from lpsched.result.front_entry import FrontEntry


def comparison_tables(result: FrontComparison) -> list[Table | Text]:
    """Return the exact front of a bag, the methods beside it, and what is wrong with some."""
    reference = result.reference
    energy, makespan = number(reference.energy_joules), number(reference.makespan_seconds)
    heading = Text(
        f"compared with the front of the linear program; hypervolume up to {energy} joules and {makespan} "
        f"seconds, seed {result.seed}"
    )
    answer = table(front_comparison.HEADERS, result.rows(), numbers=range(1, 7))
    return [*front_tables(result.front), heading, answer, *_remarks(result.entries)]


def day_front_tables(result: DayFront) -> list[Table | Text]:
    """Return the methods beside the envelope of a day, and what is wrong with some."""
    name, highest = result.provenance.instance_name, result.envelope[-1]
    heading = Text(
        f"{name}: no schedule earns more than {upper_text(highest.utility)}, and none as much with "
        f"less energy than the envelope says (proved, {len(result.envelope):,} corners); seed {result.seed}"
    )
    answer = table(day_front.HEADERS, result.rows(), numbers=range(1, 10))
    return [heading, answer, *_remarks(result.entries)]


def _remarks(entries: Iterable[FrontEntry[Any, Any]]) -> list[Table | Text]:
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
