"""Tables of plans over a horizon."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from lpsched.report.tables import table

if TYPE_CHECKING:
    from rich.console import ConsoleRenderable

    from lpsched.bag.horizon.result import PlanResult


def plan_tables(result: PlanResult) -> list[ConsoleRenderable]:
    """Return the answer: headline and facts."""
    return [Text(result.headline()), table(("", "", ""), result.facts())]
