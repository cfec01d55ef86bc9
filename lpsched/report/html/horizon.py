"""The page of a plan over a horizon, with sliders along trade-offs where some are given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from lpsched.bag.horizon.result import mass_text
from lpsched.report import horizon as answers
from lpsched.report.figures.horizon import plan_curves, plan_figure, plan_tooltips
from lpsched.report.html.horizon_curves import (
    check_section,
    deadline_trade_off,
    plan_carbon_trade_off,
    trade_off_section,
)
from lpsched.report.html.page import PageFigure, Paragraph, Section, Tiles, from_terminal, made_by, page
from lpsched.report.tables import FoldingTable
from lpsched.units import counted, energy_text, gap_text, money_text, number, power_text

if TYPE_CHECKING:
    from lpsched.bag.horizon.curves import PlanBounds
    from lpsched.bag.horizon.result import PlanResult
    from lpsched.report.html.horizon_curves import Commands

MOST_TABLE_ROWS: Final = 1_000
DRAWN: Final = "Task types are stacked in the order of the legend, from the one that takes most energy."
CAPPED: Final = "The power cap holds for the average of each slot: at single moments power may be higher."
WORTH: Final = "What more would be worth"
CHECKED: Final = (
    "The plan is verified and measured by exact sums; no code is shared with the search that found it. The bound "
    "follows from multipliers, which its certificate holds: it is checked in exact arithmetic, without a solver."
)


def plan_page(
    result: PlanResult, *, bounds: PlanBounds | None = None, extra: Sequence[Section] = (), commands: Commands = ()
) -> str:
    """Return the page of a plan as HTML.

    Parameters
    ----------
    result
        The plan.
    bounds
        Proved bounds at other prices of carbon and for other deadlines; each becomes a section with a slider.
    extra
        Further sections, before how to check the answer.
    commands
        Commands that make and check the answer, each with what it does.
    """
    parts = {name: from_terminal(each) for name, each in answers.plan_parts(result, most=MOST_TABLE_ROWS).items()}
    answer = Section("The answer", (Tiles(tiles_of(result)), Paragraph(answers.size_text(result))))
    sections = [answer, _drawn(result)]
    topics = {
        "In detail": parts["answer"],
        "What it pays for": parts["costs"],
        "Compared with other plans": parts["compared"],
        WORTH: [*parts["machines"], *parts["hours"], *parts["kilowatts"]],
    }
    sections += [Section(heading, tuple(shown)) for heading, shown in topics.items() if shown]
    sections += _beside(result, bounds)
    sections += [*extra, _slots(result), check_section(CHECKED, commands)]
    made = result.provenance
    return page(made.instance_name, result.headline(), sections, footer=made_by(made, "bag"))


def tiles_of(result: PlanResult) -> tuple[tuple[str, str], ...]:
    """Return the numbers that matter most."""
    value, bound = result.texts()
    costs, side = result.costs, "at most" if result.is_profit else "at least"
    tiles = [(f"{result.objective} (verified)", value), (f"{side} (proved)", bound), ("gap", gap_text(result.gap))]
    better = answers.BETTER[result.objective]
    tiles += [
        (f"{better}, compared with '{each.name}'", answers.saves_text(result, each))
        for each in result.baselines
        if each.value is not None
    ]
    tiles.append(("energy", energy_text(costs.energy_kwh * 3.6e6)))
    if result.objective != "carbon" and costs.carbon_grams is not None:
        tiles.append(("carbon", mass_text(costs.carbon_grams)))
    if result.objective != "cost":
        tiles.append(("cost", f"{number(costs.cost)} {result.bag.prices.currency}"))
    return (*tiles, ("peak power, average of a slot", power_text(costs.peak_watts)))


def _beside(result: PlanResult, bounds: PlanBounds | None) -> list[Section]:
    """Show what is proved at other prices of carbon and for other deadlines."""
    if bounds is None:
        return []
    sections = []
    if bounds.carbon is not None:
        found = plan_carbon_trade_off(bounds.carbon, result.costs, result.carbon_price_per_kg)
        sections.append(trade_off_section(found))
    if bounds.deadlines is not None:
        sections.append(trade_off_section(deadline_trade_off(bounds.deadlines, own=True)))
    return [*sections, *([Section("What is left out", (Paragraph(bounds.left_out),))] if bounds.left_out else [])]


def _drawn(result: PlanResult) -> Section:
    """Show power, tariff and carbon intensity over time."""
    drawn = plan_curves(result)
    curves = "the tariff" + (
        " and the carbon intensity" if any(site.carbon is not None for site in drawn.sites) else ""
    )
    steps = drawn.means or counted(len(drawn.edges) - 1, "slot")
    left = f" {counted(drawn.left_out, 'site')} that draw less are not drawn." if drawn.left_out else ""
    capped = f" {CAPPED}" if any(site.cap is not None for site in drawn.sites) else ""
    words = f"Power at the machines by task type over {result.when()}, in {steps}, under {curves}."
    figure = PageFigure(plan_figure(result), words, f"{DRAWN}{capped}{left}", tooltips=plan_tooltips(result))
    return Section("Power over time", (figure,))


def _slots(result: PlanResult) -> Section:
    """List all slots: what is given, what is drawn, and what a kilowatt more would be worth."""
    rows, calendar, money = result.slot_rows, answers.calendar_of(result), result.bag.prices.currency
    columns = {calendar.header: [calendar.span(row.start_seconds, row.end_seconds) for row in rows]}
    if len(result.slots.sites) > 1:
        columns["site"] = [row.site for row in rows]
    columns[f"tariff,\n{money}/kWh"] = [money_text(number(row.tariff)) for row in rows]
    if any(row.carbon is not None for row in rows):
        columns["carbon,\ng/kWh"] = [number(row.carbon) for row in rows]
    columns["average power\nat the machines"] = [power_text(row.average_watts) for row in rows]
    if any(row.cap_watts is not None for row in rows):
        columns["power cap"] = [power_text(row.cap_watts) for row in rows]
        columns[f"one more kW\n(LP), {result.unit}"] = [money_text(number(row.kilowatt)) for row in rows]
    table = FoldingTable(tuple(columns), tuple(zip(*columns.values(), strict=True)))
    return Section("All slots", tuple(from_terminal(table.shortened(MOST_TABLE_ROWS))))
