"""A page: one HTML file that needs nothing else. Its figures, tables and slider."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import TYPE_CHECKING, Final, TypeAlias

from lpsched.io.pictures import inline_svg
from lpsched.units import gap_text, html_table, number, percent, upper_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


# A picture on a page, with spots that tell more about a point, and room for marks that move with a slider.
#
# A spot stands at data coordinates of the figure's axes; the page knows it as shares of the picture's width and
# height, from the left and from the top, which hold at every size. They are read from the axes once the picture
# is drawn, because only then is its layout known. What all spots say stands below the picture, folded, as
# a list: it is there for those who do not see the picture, and the browser takes it from there.
WHOLE: Final = 100.0  # percent


@dataclass(frozen=True, slots=True)
class Spot:
    """A point of a picture that tells more: data coordinates, lines of text, which of the figure's axes."""

    x: float
    y: float
    label: str
    axes: int = 0


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture, what it shows for those who do not see it, and a caption for all.

    A slider's marks move in the picture of that `name`.
    """

    figure: Figure
    description: str
    caption: str = ""
    name: str = ""
    spots: tuple[Spot, ...] = ()


def picture_html(picture: Picture, element: str) -> str:
    """Return a picture with its description, which browsers read out and show as a tip."""
    svg = inline_svg(picture.figure, prefix=element)  # draws it, so that its layout is known from here on
    end = svg.index(">")
    opened = f'{svg[:end]} role="img" aria-labelledby="{element}-title">'
    title = f'<title id="{element}-title">{html.escape(picture.description)}</title>'
    told = _spots_html(picture)
    caption = f"\n<figcaption>{html.escape(picture.caption)}</figcaption>" if picture.caption else ""
    frame = ""
    if picture.name:  # by which a slider finds the picture and its scales
        scales = json.dumps([_scales(axes) for axes in picture.figure.axes])
        frame = f' data-picture="{html.escape(picture.name)}" data-scales="{html.escape(scales)}"'
    return (
        f"<figure{frame}>\n"
        f'<div class="picture"><div class="canvas">{opened}{title}{svg[end + 1 :]}</div></div>'
        f"{caption}{told}\n</figure>"
    )


def place_of(axes: Axes, x: float, y: float) -> tuple[float, float]:
    """Return where data coordinates are: percent of the picture from its left and from its top."""
    figure = axes.get_figure(root=True)
    assert figure is not None, "axes belong to a figure"
    across, up = figure.transFigure.inverted().transform(axes.transData.transform((x, y)))
    return WHOLE * float(across), WHOLE - WHOLE * float(up)


def _scales(axes: Axes) -> list[list[float | bool]]:
    """Return for x and for y: is it logarithmic, two numbers, and where they are in percent."""
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    first, last = place_of(axes, left, bottom), place_of(axes, right, top)
    return [
        [axes.get_xscale() == "log", left, right, round(first[0], 3), round(last[0], 3)],
        [axes.get_yscale() == "log", bottom, top, round(first[1], 3), round(last[1], 3)],
    ]


def _spots_html(picture: Picture) -> str:
    """Return the list of what the spots say; those outside the picture have no place, but are told."""
    if not picture.spots:
        return ""
    rows = ""
    for spot in picture.spots:
        left, top = place_of(picture.figure.axes[spot.axes], spot.x, spot.y)
        inside = all(0.0 <= percent <= WHOLE for percent in (left, top))  # false for what is no number, too
        place = f' data-left="{left:.2f}" data-top="{top:.2f}"' if inside else ""
        rows += f"<li{place}>{html.escape(spot.label)}</li>"
    count = len(picture.spots)
    words = "One point" if count == 1 else f"All {count:,} points"
    opened = f'\n<details class="spots"><summary>{words} of the picture in words</summary>'
    return f"{opened}<ul>{rows}</ul></details>"


# A table on a page; the browser lets it be sorted and copied.
UNBROKEN: Final = "\u00a0"  # a space at which no line ends
SHORT: Final = 20  # letters of a number with its unit
MANY: Final = 30  # rows; then the table scrolls in its box


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of texts below headers; with `numbers`, all columns but the first are set to the right."""

    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: bool = False


def table_html(table: Table) -> str:
    """Return the table as an element, in a box that scrolls where it is too wide, or has many rows."""
    kind = "table numbers" if table.numbers else "table"
    rows = table.rows
    if table.numbers:  # a number and its unit stay on one line, in all columns but the first
        rows = tuple(
            (*row[:1], *(cell.replace(" ", UNBROKEN) if len(cell) <= SHORT else cell for cell in row[1:]))
            for row in rows
        )
    return box_html(f"{kind}{' long' if len(rows) > MANY else ''}", table.headers, rows)


def box_html(kind: str, headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in a box of these classes."""
    return f'<div class="{kind}">{html_table(headers, rows)}</div>'


# A slider on a page: numbers that follow a position exactly, because they are lines between breakpoints.
#
# Between two breakpoints every number is constant, a line or a quotient of two lines, so it is told at both
# ends of the stretch and the page needs no solver: what it shows at a position is exact, not interpolated
# between samples. From `start` to `stop`, at the position x, a line from a to b is
#
#     a + (b - a) (x - start) / (stop - start)
#
# in doubles, from left to right, here and in the browser. A breakpoint belongs to the stretch that it begins.
@dataclass(frozen=True, slots=True)
class Reading:
    """A number along a stretch: a line from `at_start` to `at_stop`; or a word, which does not change.

    Numbers are written as `lpsched.units.number` writes them, with that many `digits`; where the unit is
    "%" the number is a share, and is written as `percent` writes it. With `over`, it is that line divided by
    the line between these two, and told in percent: how far a value is from its bound is no line, but one
    divided by another, and is written as `gap_text` writes it. Over 0 it is `-`, unless it is 0 itself. With
    `upper` it is a bound from above, and is written as `bound_text` writes it.
    """

    at_start: float | str | None
    at_stop: float | str | None
    unit: str = ""
    digits: int = 6
    over: tuple[float, float] | None = None
    upper: bool = False

    @property
    def ends(self) -> tuple[float, float] | None:
        """The numbers at both ends, if it is one."""
        low, high = self.at_start, self.at_stop
        return (low, high) if isinstance(low, int | float) and isinstance(high, int | float) else None


@dataclass(frozen=True, slots=True)
class Mark:
    """A point that moves in a picture of the page, in that picture's data coordinates."""

    picture: str  # the picture's `name`
    x: tuple[float, float]  # at the start and the stop of the stretch
    y: tuple[float, float]
    label: str
    axes: int = 0  # which of the figure's axes


@dataclass(frozen=True, slots=True)
class Stretch:
    """From one breakpoint to the next.

    `readings` belong to the slider's `labels`; `tables` holds, for each of the slider's tables, one row for
    each of its rows' names.
    """

    start: float
    stop: float
    readings: tuple[Reading, ...]
    tables: tuple[tuple[tuple[Reading, ...], ...], ...] = ()
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True, slots=True)
class FollowingTable:
    """A table whose cells follow the slider: what it is called, its headers, and the name of each row.

    The first header is that of the names; a row of a stretch has a reading for each of the others.
    """

    title: str
    headers: tuple[str, ...]
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Slider:
    """A labelled slider, where it stands at first, and all its stretches by rising position.

    Each stretch stops where the next one starts, and all are finite.
    """

    label: str  # "profit ratio"
    explanation: str  # a sentence for those who do not see it
    begins_at: float
    labels: tuple[str, ...]
    stretches: tuple[Stretch, ...]
    tables: tuple[FollowingTable, ...] = ()

    def __post_init__(self) -> None:
        """Hold the stretches against each other and against the labels."""
        assert self.stretches, "a slider has a stretch"
        assert all(each.start < each.stop for each in self.stretches), "a stretch has a length"
        assert all(left.stop == right.start for left, right in pairwise(self.stretches)), "without holes"
        assert self.stretches[0].start <= self.begins_at <= self.stretches[-1].stop, "it begins on a stretch"
        for each in self.stretches:
            assert len(each.readings) == len(self.labels), "a reading for each label"
            for table, rows in zip(self.tables, each.tables, strict=True):
                assert len(rows) == len(table.names), "a row for each name"
                assert all(len(row) + 1 == len(table.headers) for row in rows), "a reading for each header"

    def stretch_at(self, x: float) -> Stretch:
        """Return the stretch on which a position lies; a breakpoint begins one."""
        return next((each for each in self.stretches if x < each.stop), self.stretches[-1])


def line_at(x: float, stretch: Stretch, ends: tuple[float, float]) -> float:
    """Return the number at a position of a line along a stretch.

    >>> line_at(1.5, Stretch(1.0, 2.0, ()), (10.0, 20.0))
    15.0
    """
    if x == stretch.stop:
        return ends[1]
    return ends[0] + (ends[1] - ends[0]) * (x - stretch.start) / (stretch.stop - stretch.start)


def written(reading: Reading, stretch: Stretch, x: float) -> str:
    """Write what a reading says at a position.

    >>> along = Stretch(1.0, 2.0, ())
    >>> written(Reading(1000.0, 2000.0, "J"), along, 1.5), written(Reading("off", "off"), along, 1.5)
    ('1,500 J', 'off')
    >>> written(Reading(1.0, 3.0, over=(4.0, 4.0)), along, 1.5)
    '50 %'
    """
    if reading.ends is None:
        return reading.at_start if isinstance(reading.at_start, str) else "-"
    value = line_at(x, stretch, reading.ends) + 0.0  # no minus before a zero
    if reading.over is not None:
        below = line_at(x, stretch, reading.over)
        return gap_text(value / below if below else None if value else 0.0)
    if reading.unit == "%":
        return percent(value)
    told = upper_text(value, reading.digits) if reading.upper else number(value, reading.digits)
    return f"{told} {reading.unit}".rstrip()


# A slider on a page: what it says where it begins, as HTML, and all its stretches, as JSON for the browser.
#
# Without JavaScript the page shows the readings where the slider begins. The JSON names every distinct
# reading once, because most of them stay as they are from one stretch to the next:
#
#     formats    a unit, a number of digits, and whether it is a bound from above
#     readings   null, a word, [format, a, b] for a line, [format, a, b, c, d] for a quotient of lines
#     stretches  start, stop, then places in `readings`: one for each label, and for each table a list of rows
#
# It is plain ASCII without `<`, so that no name in it can end the element that holds it.
SLIDER_MANY: Final = 12  # rows; then the table scrolls in its box, so that what follows it stays near the slider
Encoded = None | str | tuple[int | float, ...]


def slider_html(slider: Slider, element: str) -> str:
    """Return the slider as an element that reads without JavaScript, too."""
    x = slider.begins_at
    here = slider.stretch_at(x)
    label = html.escape(slider.label)
    readings = "".join(
        f"<div><dt>{html.escape(name)}</dt><dd>{html.escape(written(reading, here, x))}</dd></div>"
        for name, reading in zip(slider.labels, here.readings, strict=True)
    )
    tables = "".join(
        f"<h3>{html.escape(table.title)}</h3>\n"
        + box_html(
            f"table numbers following{' long' if len(table.names) > SLIDER_MANY else ''}",
            table.headers,
            [(name, *(written(each, here, x) for each in row)) for name, row in zip(table.names, rows, strict=True)],
        )
        + "\n"
        for table, rows in zip(slider.tables, here.tables, strict=True)
    )
    return (
        f'<div class="slider" id="{element}" data-key="{_key(slider.label)}" data-label="{label}">\n'
        f'<p class="explanation" id="{element}-explained">{html.escape(slider.explanation)}</p>\n'
        f'<p class="stands">{label}: <strong>{html.escape(repr(x))}</strong></p>\n'
        f'<dl class="readings">{readings}</dl>\n{tables}'
        f'<script type="application/json">{_json(slider)}</script>\n</div>'
    )


def _key(label: str) -> str:
    """Return the label as a word for the page's address.

    >>> _key("profit ratio")
    'profit-ratio'
    """
    return re.sub(r"[^a-z0-9]+", "-", label.lower()).strip("-") or "slider"


def _json(slider: Slider) -> str:
    formats: dict[tuple[str, int, bool], int] = {}
    readings: dict[Encoded, int] = {}

    def place(reading: Reading) -> int:
        encoded: Encoded = reading.at_start if isinstance(reading.at_start, str) else None
        if reading.ends is not None:
            kind = formats.setdefault((reading.unit, reading.digits, reading.upper), len(formats))
            encoded = (kind, *reading.ends, *(reading.over or ()))
        return readings.setdefault(encoded, len(readings))

    stretches = [
        [
            each.start,
            each.stop,
            [place(reading) for reading in each.readings],
            [[[place(reading) for reading in row] for row in table] for table in each.tables],
            [[mark.picture, mark.axes, mark.x, mark.y, mark.label] for mark in each.marks],
        ]
        for each in slider.stretches
    ]
    told = {"begins": slider.begins_at, "formats": list(formats), "readings": list(readings), "stretches": stretches}
    text = json.dumps(told, allow_nan=False, separators=(",", ":"))
    return text.replace("<", r"\u003c").replace(">", r"\u003e").replace("&", r"\u0026")


# A page: one HTML file that needs nothing else, and asks nothing of a network.
#
# A title, the answer in one sentence, then sections of paragraphs, tables, pictures and sliders. It follows
# the reader's choice of light or dark, fits a phone and prints; wide tables and pictures scroll sideways,
# each in its own box. All of it reads without JavaScript; with it, tables sort and copy, spots of pictures
# tell more, and sliders move. Every text is escaped: it appears exactly as it stands, whatever a file's names
# say; and the page's policy lets no script run but ours, known by its hash. The same input gives the same
# bytes.
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

    >>> text = page("A <room>", "All is well.", [Section("Facts", (Paragraph("1 < 2"),))])
    >>> "<h1>A &lt;room&gt;</h1>" in text, "<p>1 &lt; 2</p>" in text
    (True, True)
    """
    body = [f"<h1>{html.escape(title)}</h1>", f'<p class="lead">{html.escape(lead)}</p>']
    if len(sections) > FEW:
        headings = enumerate((html.escape(section.heading) for section in sections), start=1)
        links = "".join(f'<li><a href="#section-{at}">{heading}</a></li>' for at, heading in headings)
        body.append(f'<nav class="contents" aria-label="Contents"><ul>{links}</ul></nav>')
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
    return files("lpsched.report").joinpath("browser", name).read_text(encoding="utf-8")


@cache
def _policy() -> str:
    """Return what a browser may do with the page: nothing but our style and our script."""
    digest = base64.b64encode(hashlib.sha256(script().encode()).digest()).decode()
    allowed = (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
        f"script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )
    return f'<meta http-equiv="Content-Security-Policy" content="{allowed}">'


def _sections(sections: Sequence[Section]) -> list[str]:
    """Return all sections; one with a slider and those in which its marks move stand in a box of their own.

    In that box the slider stays in view.
    """
    told = []
    for at, section in enumerate(sections):
        heading = f'<h2 id="section-{at + 1}">{html.escape(section.heading)}</h2>'
        parts = [_element(part, f"s{at}p{place}") for place, part in enumerate(section.parts)]
        told.append("\n".join(["<section>", heading, *parts, "</section>"]))
    for at, section in enumerate(sections):
        sliders = [part for part in section.parts if isinstance(part, Slider)]
        moved = {mark.picture for each in sliders for stretch in each.stretches for mark in stretch.marks}
        followed = [
            place
            for place, other in enumerate(sections)
            if any(isinstance(part, Picture) and part.name in moved for part in other.parts)
        ]
        if followed and followed[-1] > at:
            told[at] = f'<div class="followed">\n{told[at]}'
            told[followed[-1]] += "\n</div>"
    return told


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
