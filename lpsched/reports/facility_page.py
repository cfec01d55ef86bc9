"""Pages of a facility: one allocation with its room, or several methods side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lpsched.display import gap_text, number, upper_text
from lpsched.reports.core_shares import core_shares_picture
from lpsched.reports.page import Picture, Section, Table, page
from lpsched.reports.rewards import MethodReward, reward_bars_picture
from lpsched.reports.room import room_picture
from lpsched.reports.room_page import room_page
from lpsched.result.confidence import Estimate
from lpsched.result.facility import FacilityResult
from lpsched.result.facility_facts import NOT_CERTIFIED, UNIT
from lpsched.result.facility_validation import HEADERS
from lpsched.schedule.facility import CoreAllocation

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from lpsched.instance.facility import Facility
    from lpsched.result.facility_method import MethodResult
    from lpsched.result.facility_validation import FacilityValidation
    from lpsched.result.provenance import Provenance

MOST_SHARES: Final = 8  # allocations whose cores are drawn
BARS: Final = "What each method earns with co-location (CRR) and would earn without (RR), below the bound."
SHARES: Final = "How the cores of the same few nodes divide their time between task types, by each method."


def room_of(instance: Facility, result: FacilityResult | MethodResult) -> Figure:
    """Draw the room of an answer.

    Raises
    ------
    MissingExtraError
        If Matplotlib is not installed.
    """
    return room_picture(instance, result.measured, _cores(result))


def facility_page(instance: Facility, result: FacilityResult | MethodResult) -> str:
    """Return the page of one answer: the sentence, the facts, the room.

    Raises
    ------
    MissingExtraError
        If Matplotlib is not installed.
    """
    earns = f"An allocation that earns {number(result.reward_rate)} {UNIT}, verified"
    lead = f"{earns}, by the method {result.method}."
    if result.bound is not None:
        bound = upper_text(result.bound)
        known = "proved" if result.exactly_proved else NOT_CERTIFIED
        lead = f"{earns}; none can earn more than {bound}, {known}: {gap_text(result.gap)} apart."
    return room_page(
        instance,
        result.measured,
        _cores(result),
        lead=lead,
        facts=result.facts(),
        footer=_footer(result.provenance),
    )


def methods_page(instance: Facility, result: FacilityValidation) -> str:
    """Return the page of several methods: the table, rewards in bars, and who shares cores with whom.

    Raises
    ------
    MissingExtraError
        If Matplotlib is not installed.
    """
    sections = [Section("Methods side by side", (Table(HEADERS, tuple(result.rows()), numbers=True),))]
    possible = sum(task.reward * task.arrivals_per_second for task in instance.task_types) or 1.0
    rewards = [
        MethodReward(
            entry.name,
            Estimate(entry.measured.reward_rate / possible),
            Estimate(entry.measured.plain_reward_rate / possible),
        )
        for entry in result.entries
        if entry.measured is not None
    ]
    if rewards:
        bars = reward_bars_picture(rewards, bound=Estimate(result.bound / possible))
        sections.append(Section("Rewards", (Picture(bars, BARS),)))
    shares = {
        entry.name: entry.allocation
        for entry in result.entries
        if isinstance(entry.allocation, CoreAllocation)
    }
    if shares:
        drawn = core_shares_picture(instance, dict(list(shares.items())[:MOST_SHARES]))
        sections.append(Section("Who shares a node with whom", (Picture(drawn, SHARES),)))
    told = tuple(
        (each.name, each.failure or each.ended) for each in result.entries if each.failure or each.ended
    )
    if told:
        sections.append(Section("How they ended", (Table(("method", "how it ended"), told),)))
    return page(instance.name, _lead(result), sections, footer=_footer(result.provenance))


def _lead(result: FacilityValidation) -> str:
    """Return the bound and who comes nearest to it, in one sentence."""
    known = "proved" if result.exactly_proved else NOT_CERTIFIED
    bound = f"No allocation can earn more than {upper_text(result.bound)} {UNIT}, {known}"
    valid = [each for each in result.entries if each.measured is not None]
    if not valid:
        return f"{bound}; none of these is valid."
    nearest = max(valid, key=lambda each: each.measured.reward_rate if each.measured is not None else 0.0)
    return f"{bound}; {nearest.name} comes nearest, {gap_text(nearest.gap)} below."


def _cores(result: FacilityResult | MethodResult) -> CoreAllocation:
    return result.cores if isinstance(result, FacilityResult) else result.allocation


def _footer(provenance: Provenance) -> str:
    return f"lpsched {provenance.lpsched}, {provenance.solver}; facility {provenance.instance_hash[:16]}"
