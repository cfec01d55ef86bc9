"""Pages of a facility: one allocation with its machine room, or several methods side by side."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from lpsched.facility.parts import CoreAllocation
from lpsched.facility.result import NOT_CERTIFIED, UNIT, FacilityResult, FacilityValidation, MethodResult
from lpsched.model.provenance import Estimate, Provenance
from lpsched.report.figures.facility import MethodReward, core_shares_picture, reward_bars_picture, room_picture
from lpsched.report.html.page import Picture, Section, Table, page
from lpsched.units import gap_text, number, upper_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from lpsched.facility.model import Facility
    from lpsched.report.figures.facility import Measured


MOST_SHARES: Final = 8  # allocations whose cores are drawn
BARS: Final = "What each method earns with co-location (CRR) and would earn without (RR), below the bound."
SHARES: Final = "How the cores of the same few nodes divide their time between task types, by each method."


def room_of(instance: Facility, result: FacilityResult | MethodResult) -> Figure:
    """Draw the room of an answer."""
    return room_picture(instance, result.measured, _cores(result))


def facility_page(instance: Facility, result: FacilityResult | MethodResult) -> str:
    """Return the page of one answer: the sentence, the facts, the room."""
    earns = f"An allocation that earns {number(result.reward_rate)} {UNIT}, verified"
    lead = f"{earns}, by the method {result.method}."
    if result.bound is not None:
        bound = upper_text(result.bound)
        known = "proved" if result.exactly_proved else NOT_CERTIFIED
        lead = f"{earns}; none can earn more than {bound}, {known}: {gap_text(result.gap)} apart."
    footer = _footer(result.provenance)
    return room_page(instance, result.measured, _cores(result), lead=lead, facts=result.facts(), footer=footer)


def methods_page(instance: Facility, result: FacilityValidation) -> str:
    """Return the page of several methods: the table, rewards in bars, and who shares cores with whom."""
    sections = [Section("Methods side by side", (Table(result.headers(), tuple(result.rows()), numbers=True),))]
    possible = sum(task.reward * task.arrivals_per_second for task in instance.task_types) or 1.0
    found = [(entry.name, entry.measured) for entry in result.entries if entry.measured is not None]
    rewards = [
        MethodReward(name, Estimate(each.reward_rate / possible), Estimate(each.plain_reward_rate / possible))
        for name, each in found
    ]
    if rewards:
        bars = reward_bars_picture(rewards, bound=Estimate(result.bound / possible))
        sections.append(Section("Rewards", (Picture(bars, BARS),)))
    shares = {entry.name: entry.allocation for entry in result.entries if isinstance(entry.allocation, CoreAllocation)}
    if shares:
        drawn = core_shares_picture(instance, dict(list(shares.items())[:MOST_SHARES]))
        sections.append(Section("Who shares a node with whom", (Picture(drawn, SHARES),)))
    told = tuple((each.name, each.failure or each.ended) for each in result.entries if each.failure or each.ended)
    if told:
        sections.append(Section("How they ended", (Table(("method", "how it ended"), told),)))
    return page(instance.name, _lead(result), sections, footer=_footer(result.provenance))


def _lead(result: FacilityValidation) -> str:
    """Return the bound and who comes nearest to it, in one sentence."""
    known = "proved" if result.exactly_proved else NOT_CERTIFIED
    bound = f"No allocation can earn more than {upper_text(result.bound)} {UNIT}, {known}"
    valid = [(each.measured.reward_rate, each) for each in result.entries if each.measured is not None]
    if not valid:
        return f"{bound}; none of these is valid."
    _, nearest = max(valid, key=lambda pair: pair[0])
    return f"{bound}; {nearest.name} comes nearest, {gap_text(nearest.gap)} below."


def _cores(result: FacilityResult | MethodResult) -> CoreAllocation:
    return result.cores if isinstance(result, FacilityResult) else result.allocation


def _footer(provenance: Provenance) -> str:
    return f"lpsched {provenance.lpsched}, {provenance.solver}; facility {provenance.instance_hash[:16]}"


# The page of a facility's allocation: the answer, its facts, the room, and other methods beside it.
CAPTION: Final = (
    "Numbers in the bars are those of the legend, from the most memory-intensive task type to the least. "
    "Nodes are named by their place in the file, from 0."
)


def room_page(  # noqa: PLR0913 - options are keyword-only
    facility: Facility,
    measured: Measured,
    cores: CoreAllocation,
    *,
    lead: str,
    facts: Sequence[tuple[str, str, str]],
    footer: str = "",
) -> str:
    """Return the page of an allocation as HTML; facts are rows of a word, a number with its unit, how it is known."""
    picture = Picture(room_picture(facility, measured, cores), room_in_words(facility, measured), CAPTION)
    units = tuple(
        (unit.name, number(outlet, 5), number(watts, 5))
        for unit, outlet, watts in zip(facility.crac_units, cores.outlets_celsius, measured.cooling_watts, strict=True)
    )
    of_units = Table(("CRAC unit", "outlet, °C", "power, W"), units, numbers=True)
    answer = Table(("what", "how much", "how we know"), tuple(facts))
    sections = [Section("The answer", (answer,)), Section("The room", (picture, of_units))]
    return page(facility.name, lead, sections, footer=footer)


def room_in_words(facility: Facility, measured: Measured) -> str:
    """Return what the picture of the room shows, for those who do not see it."""
    cooling = math.fsum(measured.cooling_watts)
    total = math.fsum(measured.node_watts) + cooling
    warmest, coolest = max(measured.node_inlets_celsius), min(measured.node_inlets_celsius)
    span = f"{number(coolest, 4)} to {number(warmest, 4)} celsius"
    drawn = f"{number(total, 4)} of at most {number(facility.power_cap_watts, 4)} watts are drawn"
    return (
        f"{len(facility.nodes):,} nodes draw in air of {span}. "
        f"{drawn}, {number(cooling, 4)} of them for cooling. "
        "Bars show how the cores of a few nodes divide their time between task types."
    )
