"""A page: one HTML file that needs nothing else, and asks nothing of a network.

A title, the answer in one sentence, then sections of paragraphs, tables, pictures and sliders. It follows the
reader's choice of light or dark, fits a phone and prints; wide tables and pictures scroll sideways, each in
its own box. All of it reads without JavaScript; with it, tables sort and copy, spots of pictures tell more,
and sliders move. Every text is escaped: it appears exactly as it stands, whatever a file's names say; and the
page's policy lets no script run but ours, known by its hash. The same input gives the same bytes.
"""

from __future__ import annotations

import base64
import hashlib
import html
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final, TypeAlias

from lpsched.reports.page_picture import Picture, Spot, picture_html
from lpsched.reports.page_slider import slider_html
from lpsched.reports.page_table import Table, table_html
from lpsched.reports.slider import Slider

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Paragraph", "Part", "Picture", "Section", "Slider", "Spot", "Table", "page"]

SCRIPTS: Final = ("numbers.js", "tables.js", "scrolling.js", "spots.js", "slider.js", "begin.js")
FEW: Final = 3  # sections that need no list of contents


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Some sentences."""

    text: str


Part: TypeAlias = Paragraph | Table | Picture | Slider


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands below it."""

    heading: str
    parts: tuple[Part, ...]


def page(title: str, lead: str, sections: Sequence[Section], *, footer: str = "") -> str:
    """Return the page as HTML.

    Raises
    ------
    MissingExtraError
        If it has a picture and Matplotlib is not installed.

    Examples
    --------
    >>> text = page("A <room>", "All is well.", [Section("Facts", (Paragraph("1 < 2"),))])
    >>> "<h1>A &lt;room&gt;</h1>" in text, "<p>1 &lt; 2</p>" in text
    (True, True)
    """
    body = [f"<h1>{html.escape(title)}</h1>", f'<p class="lead">{html.escape(lead)}</p>']
    if len(sections) > FEW:
        body.append(_contents(sections))
    body += _sections(sections)
    end = f"<footer>{html.escape(footer)}</footer>\n" if footer else ""
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n{_policy()}\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>\n{style()}</style>\n</head>\n<body>\n"
        '<a class="skip" href="#content">Skip to the answer</a>\n'
        f'<main id="content">\n{chr(10).join(body)}\n</main>\n{end}'
        f"<script>{script()}</script>\n</body>\n</html>\n"
    )


@cache
def style() -> str:
    """Return how a page looks."""
    return _file("page.css")


@cache
def script() -> str:
    """Return what a page can do, as one script whose names do not leave it."""
    return '\n(() => {\n"use strict";\n' + "\n".join(_file(name) for name in SCRIPTS) + "})();\n"


def _file(name: str) -> str:
    return files("lpsched.reports").joinpath("browser", name).read_text(encoding="utf-8")


@cache
def _policy() -> str:
    """Return what a browser may do with the page: nothing but our style and our script."""
    digest = base64.b64encode(hashlib.sha256(script().encode()).digest()).decode()
    allowed = (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
        f"script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )
    return f'<meta http-equiv="Content-Security-Policy" content="{allowed}">'


def _contents(sections: Sequence[Section]) -> str:
    links = "".join(
        f'<li><a href="#section-{at + 1}">{html.escape(section.heading)}</a></li>'
        for at, section in enumerate(sections)
    )
    return f'<nav class="contents" aria-label="Contents"><ul>{links}</ul></nav>'


def _sections(sections: Sequence[Section]) -> list[str]:
    """Return all sections; one with a slider and those in which its marks move stand in a box of their own.

    In that box the slider stays in view.
    """
    told = [_section(at, section) for at, section in enumerate(sections)]
    for at, section in enumerate(sections):
        moved = _moved(section)
        followed = [place for place, other in enumerate(sections) if moved & _drawn(other)]
        if followed and followed[-1] > at:
            told[at] = f'<div class="followed">\n{told[at]}'
            told[followed[-1]] += "\n</div>"
    return told


def _section(at: int, section: Section) -> str:
    heading = f'<h2 id="section-{at + 1}">{html.escape(section.heading)}</h2>'
    parts = [_element(part, f"s{at}p{place}") for place, part in enumerate(section.parts)]
    return "\n".join(["<section>", heading, *parts, "</section>"])


def _moved(section: Section) -> set[str]:
    """Return the names of pictures in which the section's sliders move marks."""
    sliders = [part for part in section.parts if isinstance(part, Slider)]
    return {mark.picture for each in sliders for stretch in each.stretches for mark in stretch.marks}


def _drawn(section: Section) -> set[str]:
    return {part.name for part in section.parts if isinstance(part, Picture)}


def _element(part: Part, element: str) -> str:
    match part:
        case Paragraph():
            return f"<p>{html.escape(part.text)}</p>"
        case Table():
            return table_html(part)
        case Picture():
            return picture_html(part, element)
        case Slider():
            return slider_html(part, element)
