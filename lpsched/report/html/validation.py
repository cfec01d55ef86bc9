"""The page of a validation: schedulers against the bound, of a bag, of a day or of clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lpsched.bag.compare.result import Validation
from lpsched.online.result.clusters_validation import ClustersValidation
from lpsched.online.result.day_validation import HEADERS as DAY_HEADERS
from lpsched.online.result.day_validation import DayValidation
from lpsched.report.figures.validation import validation_picture, validation_spots
from lpsched.report.html.bag import footer_of
from lpsched.report.html.bag_sections import schedule_sections
from lpsched.report.html.page import Paragraph, Picture, Section, Table, page
from lpsched.units import ROUNDING, gap_text, number, share_text, upper_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.bag.compare.result import Entry
    from lpsched.bag.model import Bag
    from lpsched.model.risk import Risk
    from lpsched.report.html.page import Part

Judged = Validation | DayValidation | ClustersValidation

VALIDATION_MOST_ROWS: Final = 1_000
DRAWN: Final = "What each schedule achieves, and how far it is from the bound that none can pass."
OF_DAY: Final = "'of bound' is the share of the most utility possible with the same energy, if no task ever waited."
KINDS: Final = {Validation: "bag", DayValidation: "day", ClustersValidation: "clusters"}


def validation_page(result: Judged, bag: Bag | None = None) -> str:
    """Return the page of schedulers held against the bound.

    Parameters
    ----------
    bag
        If it is a bag: then the best of the schedules is shown machine by machine.
    """
    sections = [_answer(result)]
    risks = [] if isinstance(result, ClustersValidation) else _risks(result)
    if risks:
        sections.append(Section("If times and powers scatter", tuple(risks)))
    broken = [(entry.name, each.code, each.sentence) for entry in result.entries for each in entry.violations]
    if broken:
        more = (
            f" The first {VALIDATION_MOST_ROWS:,} of {len(broken):,} are shown."
            if len(broken) > VALIDATION_MOST_ROWS
            else ""
        )
        told = Paragraph(f"A schedule that breaks a rule is not measured.{more}")
        table = Table(("schedule", "violation", "what it says"), tuple(broken[:VALIDATION_MOST_ROWS]))
        sections.append(Section("Rules that are broken", (told, table)))
    if bag is not None and isinstance(result, Validation):
        best = _best(result)
        if best is not None and best.schedule is not None:
            of_best = schedule_sections(bag, best.schedule)
            sections += [Section(f"{each.heading}: {best.name}", each.parts) for each in of_best]
    made = result.provenance
    return page(made.instance_name, _lead(result), sections, footer=footer_of(made, {}, KINDS[type(result)]))


def _answer(result: Judged) -> Section:
    """Show the table and the picture."""
    headers = DAY_HEADERS if isinstance(result, DayValidation) else _headers(result)
    parts: list[Part] = [Table(headers, tuple(result.rows()), numbers=True)]
    if isinstance(result, DayValidation):
        parts.append(Paragraph(OF_DAY))
    if result.entries:
        picture = Picture(validation_picture(result), DRAWN, spots=validation_spots(result))
        parts.insert(0, picture)
    return Section("Against the bound", tuple(parts))


def _headers(result: Validation | ClustersValidation) -> tuple[str, ...]:
    return result.headers() if isinstance(result, Validation) else result.headers


def _risks(result: Validation | DayValidation) -> list[Part]:
    """Return how schedules fare if times and powers scatter; nothing where nobody asked."""
    parts: list[Part] = []
    known: Sequence[tuple[str, Risk]] = [(each.name, each.risk) for each in result.entries if each.risk is not None]
    for name, risk in known:
        parts.append(Paragraph(f"{name}: {risk.heading()}"))
        parts.append(Table(risk.headers(), tuple(risk.rows()), numbers=True))
    return parts


def _lead(result: Judged) -> str:
    """Return the bound and who comes nearest to it, in one sentence."""
    if isinstance(result, Validation):
        return _lead_of_bag(result)
    valid = [entry.name for entry in result.entries if entry.measured is not None]
    if isinstance(result, DayValidation):
        most = upper_text(result.naive_bound)
        bound = f"No schedule of this day earns more than {most} utility, proved"
        shares = {each.name: each.share_of_bound for each in result.entries if each.measured is not None}
    else:
        amount = result.limit_text(result.bound)
        bound = (
            f"Waiting costs every schedule at least {amount}, proved"
            if result.is_cost
            else f"No schedule earns more than {amount} utility, proved"
        )
        shares = {each.name: result.share_of_bound(each) for each in result.entries if each.measured is not None}
    if not valid:
        return f"{bound}; none of these is valid."
    best = max(valid, key=lambda name: shares[name] or 0.0)
    if isinstance(result, ClustersValidation) and result.is_cost:
        return f"{bound}: that is {share_text(shares[best])} of what it costs {best}, which comes nearest."
    energy = " possible with its energy" if isinstance(result, DayValidation) else ""
    return f"{bound}; {best} comes nearest, with {share_text(shares[best])} of the most{energy}."


def _lead_of_bag(result: Validation) -> str:
    most = "earns more than" if result.objective == "profit" else f"has a smaller {result.objective} than"
    bound = f"No schedule {most} {result.bound_text()} {result.unit}, proved"
    best = _best(result)
    if best is None:
        return f"{bound}; none of these is valid."
    if best.gap is not None and best.gap <= ROUNDING:
        return f"{bound}; {best.name} reaches it."
    return f"{bound}; {best.name} comes nearest, with {number(best.value)}: {gap_text(best.gap)} away."


def _best(result: Validation) -> Entry | None:
    """Return the best valid schedule; of equally good ones the first."""
    known = [(each.value, each) for each in result.entries if each.valid and each.value is not None]
    if not known:
        return None
    sign = 1.0 if result.objective == "profit" else -1.0
    return max(known, key=lambda pair: sign * pair[0])[1]
