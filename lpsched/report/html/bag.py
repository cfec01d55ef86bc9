"""The page of a solve, a front or a price curve."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lpsched.bag.compare.result import FrontComparison
from lpsched.report.html.bag_sections import (
    answer_section,
    front_lead,
    pieces_section,
    price_lead,
    result_lead,
    risk_section,
    schedule_sections,
    sensitivity_sections,
    vertices_section,
)
from lpsched.report.html.page import page
from lpsched.report.html.prices import front_sections, price_sections
from lpsched.units import number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lpsched.bag.compare.result import Overview
    from lpsched.model.provenance import Provenance
    from lpsched.report.html.page import Section


def solve_page(overview: Overview) -> str:
    """Return the page of an answer."""
    result = overview.result
    assert result is not None, "the answer is what the page is about"
    sections = [answer_section(overview, result)]
    sections += [] if result.risk is None else [risk_section(result.risk)]
    sections += price_sections(overview)
    sections += schedule_sections(overview.bag, result.schedule, result)
    return _page(result_lead(overview, result), sections, result.provenance, result.timings)


def price_page(overview: Overview) -> str:
    """Return the page of a price curve."""
    curve = overview.curve
    assert not isinstance(curve, str), "the curve is what the page is about"
    sections = price_sections(overview)
    sections += [] if overview.sensitivity is None else sensitivity_sections(overview.sensitivity)
    sections.append(pieces_section(curve, overview.sensitivity))
    return _page(price_lead(curve), sections, curve.provenance, curve.timings)


def front_page(overview: Overview) -> str:
    """Return the page of a front."""
    found = overview.front
    assert not isinstance(found, str), "the front is what the page is about"
    exact = found.front if isinstance(found, FrontComparison) else found
    sections = [*front_sections(overview), vertices_section(found)]
    return _page(front_lead(found), sections, exact.provenance, exact.timings)


def _page(lead: str, sections: Sequence[Section], made: Provenance, timings: Mapping[str, float]) -> str:
    return page(made.instance_name, lead, sections, footer=footer_of(made, timings, "bag"))


def footer_of(made: Provenance, timings: Mapping[str, float], kind: str) -> str:
    """Return who made a page of what, and how long it took."""
    took = ", ".join(f"{name} {number(seconds, 3)} s" for name, seconds in timings.items())
    found = f"; {took}" if took else ""
    return f"lpsched {made.lpsched}, {made.solver}; {kind} {made.instance_hash}{found}."
