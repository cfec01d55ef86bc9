"""The page of a facility's allocation: the answer, its facts, the room, and other methods beside it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from lpsched.display import number
from lpsched.reports.page import Picture, Section, Table, page
from lpsched.reports.room import room_picture

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.instance.facility import Facility
    from lpsched.reports.room import Measured
    from lpsched.schedule.facility import CoreAllocation

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
    methods: Table | None = None,
    more: Sequence[Section] = (),
    footer: str = "",
) -> str:
    """Return the page of an allocation as HTML.

    Parameters
    ----------
    measured, cores
        What the verifier measured, and the allocation core by core.
    lead
        The answer in one sentence.
    facts
        Rows of a word, a number with its unit, and how it is known.
    methods
        A row for each method, if several were tried.
    more
        Sections that follow.

    Raises
    ------
    MissingExtraError
        If Matplotlib is not installed.
    """
    picture = Picture(room_picture(facility, measured, cores), room_in_words(facility, measured), CAPTION)
    sections = [Section("The answer", (Table(("what", "how much", "how we know"), tuple(facts)),))]
    if methods is not None:
        sections.append(Section("Methods side by side", (methods,)))
    sections += [Section("The room", (picture, _units(facility, measured, cores))), *more]
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


def _units(facility: Facility, measured: Measured, cores: CoreAllocation) -> Table:
    rows = tuple(
        (unit.name, number(outlet, 5), number(watts, 5))
        for unit, outlet, watts in zip(
            facility.crac_units, cores.outlets_celsius, measured.cooling_watts, strict=True
        )
    )
    return Table(("CRAC unit", "outlet, °C", "power, W"), rows, numbers=True)
