"""The answer of planning a bag by a forecast in tables: the headline, where its numbers come from, and four plans."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lpsched.bag.horizon.result import mass_text
from lpsched.report.tables import fitted, table
from lpsched.units import JOULES_PER_KWH, bound_text, counted, energy_text, gap_text, money_text, number

if TYPE_CHECKING:
    from rich.console import ConsoleRenderable

    from lpsched.bag.horizon.forecasts.replan_result import ForecastPlan, ReplanResult

WORSE: Final = (
    "Here, planning again was worse than planning once: what is better by a forecast may turn out to be worse."
)


def replan_tables(result: ReplanResult) -> list[ConsoleRenderable]:
    """Return the headline, where each number comes from, and the four plans."""
    found: list[ConsoleRenderable] = [
        fitted(result.headline(), size_text(result)),
        table(("", "", ""), result.facts()),
        _plans(result),
    ]
    return [*found, fitted(WORSE)] if _is_worse(result) else found


def size_text(result: ReplanResult) -> str:
    """Return how large the bag is, and how much of it ran."""
    run = sum(result.finished.values())
    some = f"{run:,} of " if run < result.tasks else ""
    size = f"{some}{counted(result.tasks, 'task')} on {counted(result.machines, 'machine')}"
    return f"{result.provenance.instance_name}: {size}, {result.when()}. {result.status_text()}".rstrip()


def _is_worse(result: ReplanResult) -> bool:
    """Return whether planning again was worse than planning once."""
    again, once = (each.from_bound or 0.0 for each in result.plans[:2])
    return again > once


def _plans(result: ReplanResult) -> ConsoleRenderable:
    """Return a row for each plan, and the bound."""
    is_carbon = result.objective == "carbon"
    header = "carbon" if is_carbon else f"{result.objective}, {result.unit}"
    rows = [_row(result, each) for each in result.plans]
    bound = money_text(bound_text(result.bound, upper=result.is_profit))
    if is_carbon:
        bound = mass_text(result.bound, upper=False)
    most = "earns more" if result.is_profit else "emits less" if is_carbon else "costs less"
    rows.append((f"bound: no plan {most} (proved)", bound, "", ""))
    return fitted(table(("with the actual values", header, "from the bound", "energy"), rows, numbers=(1, 2, 3)))


def _row(result: ReplanResult, plan: ForecastPlan) -> tuple[str, str, str, str]:
    name = f"{plan.name}: {plan.meaning}"
    if plan.value is None or plan.costs is None or plan.from_bound is None:
        return f"{name} ({plan.reason})", "-", "-", "-"
    value = mass_text(plan.value) if result.objective == "carbon" else money_text(number(plan.value))
    share = gap_text(plan.from_bound / abs(result.bound)) if result.bound else "-"
    return name, value, share, energy_text(plan.costs.energy_kwh * JOULES_PER_KWH)
