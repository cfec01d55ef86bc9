"""The answer for schedules of a day in tables."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from rich.text import Text

from lpsched.display import lower_text, number
from lpsched.reports.answers import broken_rules, risks_tables
from lpsched.reports.day import period_words
from lpsched.reports.tables import table
from lpsched.result.day_validation import HEADERS, MEGA

if TYPE_CHECKING:
    from rich.table import Table

    from lpsched.instance.period import Period
    from lpsched.result.day_validation import DayValidation


def _of_period(period: Period) -> str:
    left_out = "what would start later, or break the energy constraint, is left out of a heuristic's schedule"
    return f"counted: {period_words(period)}; {left_out}."


def day_validation_tables(result: DayValidation) -> list[Table | Text]:
    """Return each schedule beside the bound at its energy, and the rules that the invalid ones break."""
    dropped = "" if result.drop_below is None else f", tasks below {number(result.drop_below)} dropped"
    name = result.provenance.instance_name
    heading = Text(
        f"{name}: utility of schedules against the bound without waiting; seed {result.seed}{dropped}"
    )
    note = Text(
        "of bound: of the most utility possible with the same energy, if no task ever waited. "
        f"All tasks together take at least {lower_text(Fraction(result.least_joules) / int(MEGA))} MJ."
        + ("" if result.period.is_whole else f"\n{_of_period(result.period)}")
    )
    numbers = tuple(place for place, header in enumerate(HEADERS) if header not in {"scheduler", "valid"})
    broken = [(entry.name, each.code, each.sentence) for entry in result.entries for each in entry.violations]
    risks = [(entry.name, entry.risk) for entry in result.entries]
    sampled = risks_tables(risks, ("utility", "energy_joules"))
    answer = table(HEADERS, result.rows(), numbers=numbers)
    return [heading, answer, note, *sampled, *broken_rules("schedule", broken)]
