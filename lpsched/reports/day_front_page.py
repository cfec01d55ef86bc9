"""The page of fronts of a day: utility against energy below the line that no schedule passes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lpsched.display import lower_text, number, upper_text
from lpsched.reports.bag_page import footer_of
from lpsched.reports.day_fronts import day_front_picture, day_front_spots
from lpsched.reports.page import Paragraph, Picture, Section, Table, page
from lpsched.result.day_front import HEADERS

if TYPE_CHECKING:
    from lpsched.result.day_front import DayFront

MOST_ROWS: Final = 1_000
LINE: Final = "the line, proved"
DRAWN: Final = "Utility against energy of each method's schedules, and the line that no schedule is above."
PROVED: Final = "Above the line is no schedule: proved."


def day_front_page(result: DayFront) -> str:
    """Return the page of methods on a day, held against its envelope.

    Raises
    ------
    MissingExtraError
        If Matplotlib is not installed.
    """
    picture = Picture(day_front_picture(result), DRAWN, PROVED, spots=day_front_spots(result))
    methods = Table(HEADERS, tuple(result.rows()), numbers=True)
    sections = [Section("Utility against energy", (picture, methods)), _points(result)]
    broken = [(entry.name, each.code, each.sentence) for entry in result.entries for each in entry.violations]
    if broken:
        table = Table(("method", "violation", "what it says"), tuple(broken[:MOST_ROWS]))
        sections.append(Section("Rules that are broken", (table,)))
    made = result.provenance
    return page(made.instance_name, _lead(result), sections, footer=footer_of(made, {}, "day"))


def _lead(result: DayFront) -> str:
    """Return what is proved, and who earns most, in one sentence."""
    highest = upper_text(result.envelope[-1].utility)
    proved = f"No schedule of this day earns more than {highest}, proved"
    found = [entry for entry in result.entries if entry.points]
    if not found:
        return f"{proved}; no method found a schedule."
    most = {entry.name: max(point.utility for point in entry.points) for entry in found}
    best = max(most, key=most.__getitem__)
    return f"{proved}; {best} earns most, {number(most[best])}."


def _points(result: DayFront) -> Section:
    """Tell every point of the picture in numbers."""
    rows = [
        (entry.name, number(each.energy_joules), number(each.utility))
        for entry in result.entries
        for each in entry.points
    ]
    rows += [(LINE, lower_text(each.energy_joules), upper_text(each.utility)) for each in result.envelope]
    left = len(rows) - MOST_ROWS
    more = (Paragraph(f"{left:,} more are not shown."),) if left > 0 else ()
    table = Table(("method", "energy, joules", "utility"), tuple(rows[:MOST_ROWS]), numbers=True)
    return Section("All points", (table, *more))
