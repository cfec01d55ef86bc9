"""Pages of a facility: one allocation with its machine room, or several methods side by side."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from lpsched.facility.parts import CoreAllocation
from lpsched.facility.result import FacilityResult, FacilityValidation, MethodResult
from lpsched.model.provenance import Estimate
from lpsched.report.facility import UNITS, facility_tables, methods_tables, units_table
from lpsched.report.figures.facility import MethodReward, core_shares_figure, reward_bars_figure, room_figure
from lpsched.report.html.page import PageFigure, Section, Table, from_terminal, made_by, page
from lpsched.units import counted, number, power_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from lpsched.facility.model import Facility
    from lpsched.report.figures.facility import Measured


MOST_SHARES: Final = 8  # allocations whose cores are drawn
BARS: Final = "What each method earns with co-location (CRR) and would earn without (RR), below the bound."
SHARES: Final = "How the cores of the same few nodes divide their time between task types, by each method."


def room_of(instance: Facility, result: FacilityResult | MethodResult) -> Figure:
    """Draw the room of an answer."""
    return room_figure(instance, result.measured, _cores(result))


def facility_page(instance: Facility, result: FacilityResult | MethodResult) -> str:
    """Return the page of one answer: everything that the terminal shows, and the room."""
    shown = from_terminal(facility_tables(instance, result)[1:])  # the first is the headline
    answer = [part for part in shown if not isinstance(part, Table) or part.headers[0] != UNITS[0]]
    sections = [Section("The answer", tuple(answer)), room_section(instance, result.measured, _cores(result))]
    return page(instance.name, result.headline(), sections, footer=made_by(result.provenance, "facility"))


def methods_page(instance: Facility, result: FacilityValidation) -> str:
    """Return the page of several methods: all that the terminal shows, rewards in bars, and how cores are shared."""
    sections = [Section("Methods side by side", tuple(from_terminal(methods_tables(result)[1:])))]
    possible = sum(task.reward * task.arrivals_per_second for task in instance.task_types) or 1.0
    rewards = [
        MethodReward(entry.name, *(Estimate(rate / possible) for rate in (found.reward_rate, found.plain_reward_rate)))
        for entry in result.entries
        if (found := entry.measured) is not None
    ]
    if rewards:
        bars = reward_bars_figure(rewards, bound=Estimate(result.bound / possible))
        sections.append(Section("Rewards", (PageFigure(bars, BARS),)))
    shares = {entry.name: entry.allocation for entry in result.entries if isinstance(entry.allocation, CoreAllocation)}
    if shares:
        drawn = core_shares_figure(instance, dict(list(shares.items())[:MOST_SHARES]))
        sections.append(Section("How nodes are shared", (PageFigure(drawn, SHARES),)))
    return page(instance.name, result.headline(), sections, footer=made_by(result.provenance, "facility"))


def _cores(result: FacilityResult | MethodResult) -> CoreAllocation:
    return result.cores if isinstance(result, FacilityResult) else result.allocation


# The machine room of an allocation, in a figure and in a table of its CRAC units.
CAPTION: Final = (
    "Numbers in the bars are those of the legend, from the most memory-intensive task type to the least. "
    "Nodes are named by their place in the file, from 0."
)


def room_section(facility: Facility, measured: Measured, cores: CoreAllocation) -> Section:
    """Show the room."""
    figure = PageFigure(room_figure(facility, measured, cores), room_in_words(facility, measured), CAPTION)
    return Section("The room", (figure, *from_terminal([units_table(facility, measured, cores.outlets_celsius)])))


def room_in_words(facility: Facility, measured: Measured) -> str:
    """Describe the figure of the room for readers who do not see it."""
    cooling = math.fsum(measured.cooling_watts)
    total = math.fsum(measured.node_watts) + cooling
    warmest, coolest = max(measured.node_inlets_celsius), min(measured.node_inlets_celsius)
    return (
        f"{counted(len(facility.nodes), 'node')} draw in air of {number(coolest)} to {number(warmest)} °C. "
        f"{power_text(total)} of at most {power_text(facility.power_cap_watts)} are drawn, {power_text(cooling)} of it "
        "for cooling. Bars show how the cores of a few nodes divide their time between task types."
    )
