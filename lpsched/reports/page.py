"""A page: one HTML file that needs nothing else, no network, no script.

A title, the answer in one sentence, then sections of paragraphs, tables and pictures. It follows the reader's
choice of light or dark, fits a phone and prints; pictures stay on white, as they were drawn, and scroll
sideways where they would get too small to read. Every text is escaped: it appears exactly as it stands,
whatever a file's names say. The same input gives the same bytes.
"""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from lpsched.display import html_table
from lpsched.files.pictures import inline_svg

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

STYLE: Final = """
:root { color-scheme: light dark; --ink: #1b1b1f; --paper: #ffffff; --line: #d5d7dc; --soft: #f4f5f7; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8e8ec; --paper: #16171b; --line: #3a3c44; --soft: #202229; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem 1rem 3rem; max-width: 52rem; overflow-wrap: anywhere;
  color: var(--ink); background: var(--paper); font: 1rem/1.55 system-ui, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .75rem; }
h2 { font-size: 1.2rem; margin: 2.25rem 0 .5rem; }
.lead { font-size: 1.15rem; margin: 0 0 1.5rem; padding: .75rem 1rem; background: var(--soft);
  border-left: 4px solid #0072b2; border-radius: 4px; }
.table { overflow-x: auto; margin: .75rem 0; }
.picture { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; overflow-wrap: normal; }
th, td { text-align: left; vertical-align: top; padding: .35rem .75rem .35rem 0;
  border-bottom: 1px solid var(--line); }
.numbers :is(th, td):not(:first-child) { text-align: right; padding: .35rem 0 .35rem .75rem; }
figure { margin: .75rem 0; padding: .75rem; background: #ffffff; break-inside: avoid;
  border: 1px solid var(--line); border-radius: 6px; }
figure svg { display: block; width: 100%; min-width: 36rem; height: auto; }
figcaption { color: #44464d; font-size: .9rem; margin-top: .5rem; }
footer { margin-top: 3rem; font-size: .85rem; opacity: .75; }
@media print {
  body { max-width: none; padding: 0; font-size: 10pt; }
  h2 { break-after: avoid; }
  figure svg { min-width: 0; max-height: 22cm; }
}
""".strip()


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Some sentences."""

    text: str


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of texts below headers; with `numbers`, all columns but the first are set to the right."""

    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: bool = False


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture, what it shows for those who do not see it, and a caption for all."""

    figure: Figure
    description: str
    caption: str = ""


Part: TypeAlias = Paragraph | Table | Picture


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands below it."""

    heading: str
    parts: tuple[Part, ...]


def page(title: str, lead: str, sections: Sequence[Section], *, footer: str = "") -> str:
    """Return the page as HTML.

    >>> text = page("A <room>", "All is well.", [Section("Facts", (Paragraph("1 < 2"),))])
    >>> "<h1>A &lt;room&gt;</h1>" in text, "<p>1 &lt; 2</p>" in text
    (True, True)
    """
    body = [f"<h1>{html.escape(title)}</h1>", f'<p class="lead">{html.escape(lead)}</p>']
    for at, section in enumerate(sections):
        body.append(f"<section>\n<h2>{html.escape(section.heading)}</h2>")
        body += [_element(part, f"s{at}p{place}") for place, part in enumerate(section.parts)]
        body.append("</section>")
    end = f"<footer>{html.escape(footer)}</footer>\n" if footer else ""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>\n{STYLE}\n</style>\n</head>\n"
        f"<body>\n<main>\n{chr(10).join(body)}\n</main>\n{end}</body>\n</html>\n"
    )


def _element(part: Part, name: str) -> str:
    match part:
        case Paragraph():
            return f"<p>{html.escape(part.text)}</p>"
        case Table():
            kind = "table numbers" if part.numbers else "table"
            return f'<div class="{kind}">{html_table(part.headers, part.rows)}</div>'
        case Picture():
            return _figure(part, name)


def _figure(picture: Picture, name: str) -> str:
    """Return a picture with its description, which browsers read out and show as a tip."""
    svg = inline_svg(picture.figure, prefix=name)
    end = svg.index(">")
    opened = f'{svg[:end]} role="img" aria-labelledby="{name}-title">'
    title = f'<title id="{name}-title">{html.escape(picture.description)}</title>'
    caption = f"\n<figcaption>{html.escape(picture.caption)}</figcaption>" if picture.caption else ""
    return f'<figure>\n<div class="picture">{opened}{title}{svg[end + 1 :]}</div>{caption}\n</figure>'
