"""A page: one HTML file that needs nothing else. Its parts, and how the template is filled.

A title, the summary, then sections of paragraphs, tables, tiles, figures and sliders. It follows the reader's choice of
light or dark, fits a phone and prints; wide tables and figures scroll sideways, each in its own box. All of it can be
read without JavaScript; with it, tables sort and copy, figures have tooltips, and sliders move. Every text is escaped:
it appears exactly as it stands, whatever names a file has; and the page's policy lets no script run but ours, known by
its hash. The same input gives the same bytes.

The markup is in `report/templates/page.html.j2`, the style and the scripts are in `report/browser/`.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from rich.constrain import Constrain
from rich.table import Table as RichTable

from lpsched.io.figure_files import inline_svg, load_jinja
from lpsched.report.tables import WIDEST, CountTable, FoldingTable
from lpsched.text import on_page
from lpsched.units import DIGITS, bound_text, gap_text, number, percent

if TYPE_CHECKING:
    from jinja2 import Template
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from rich.console import ConsoleRenderable

    from lpsched.model.provenance import Provenance
    from lpsched.report.figures.style import Tooltip

WHOLE: Final = 100.0  # percent
UNBROKEN: Final = "\u00a0"  # a space at which no line ends
SHORT: Final = 20  # letters of a number with its unit
LONGEST_NAME: Final = 28  # letters of a name that is not broken
MANY: Final = 30  # rows; then the table scrolls in its box
MANY_FOLLOWING: Final = 14  # rows of a table below a slider, so that what follows it stays near the slider
SCRIPTS: Final = ("numbers.js", "tables.js", "scrolling.js", "tooltips.js", "slider.js", "begin.js")
FEW: Final = 3  # sections that need no list of contents
MOST_COUNTED: Final = 8  # columns of counts; more are lists
BRIEF, UPRIGHT = 14, 75  # letters of a header or name on one line; of all headers of a heat map, then upright
View: TypeAlias = dict[str, Any]  # what the template shows of a part


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
class Tiles:
    """The numbers that matter most, each with its name, in boxes beside each other."""

    facts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class PageFigure:
    """A figure, a description for readers who do not see it, and a caption for all.

    A slider's marks move in the figure of that `name`.
    """

    figure: Figure
    description: str
    caption: str = ""
    name: str = ""
    tooltips: tuple[Tooltip, ...] = ()


# A slider on a page: numbers that follow a position exactly, because they are lines between breakpoints.
#
# Between two breakpoints every number is constant, a line or a quotient of two lines, so it is given at both ends of
# the segment: what the page shows is exact, without a solver. From `start` to `stop`, at x, a line from a to b is
#
#     a + (b - a) (x - start) / (stop - start)
#
# in doubles, from left to right, here and in the browser. A breakpoint belongs to the segment that it begins.
@dataclass(frozen=True, slots=True)
class Reading:
    """A number along a segment: a line from `at_start` to `at_stop`; or a word, which does not change.

    Numbers are written as `lpsched.units.number` writes them, with that many `digits`; shares, whose unit is "%", as
    `percent` does; with `decimals` they have that many, as amounts of money below each other have. With `over`, it is
    that line divided by the line between these two, as the gap of a value is, written by `gap_text`: over 0 it is `-`,
    unless it is 0 itself. With `upper` it is a bound from above (true) or from below (false), by
    `bound_text`.
    """

    at_start: float | str | None
    at_stop: float | str | None
    unit: str = ""
    digits: int = DIGITS
    over: tuple[float, float] | None = None
    upper: bool | None = None
    decimals: int | None = None

    @property
    def ends(self) -> tuple[float, float] | None:
        """The numbers at both ends, if it is one."""
        low, high = self.at_start, self.at_stop
        return (low, high) if isinstance(low, int | float) and isinstance(high, int | float) else None


@dataclass(frozen=True, slots=True)
class Mark:
    """A point that moves in a figure of the page, in the data coordinates of its axes, or of all axes that show it."""

    figure: str  # the figure's `name`
    x: tuple[float, float]  # at the start and the stop of the segment
    y: tuple[float, float]
    axes: int | None = None  # the number of the axes in the figure


@dataclass(frozen=True, slots=True)
class Segment:
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
    """A table whose cells follow the slider: its title, its headers, and the name of each row.

    The first header is that of the names; a row of a segment has a reading for each of the others. A heat map has
    the `totals` of its rows: the colour of a cell is the stronger the larger its share of them.
    """

    title: str
    headers: tuple[str, ...]
    names: tuple[str, ...]
    totals: tuple[float, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Scale:
    """A number by which a position can be read and typed: times `size`, it is the position."""

    label: str
    size: float = 1.0

    @property
    def key(self) -> str:
        """The label as a word for the page's address.

        >>> Scale("profit ratio").key, Scale("price, USD").key
        ('profit-ratio', 'price')
        """
        return re.sub(r"[^a-z0-9]+", "-", self.label.lower().split(",")[0]).strip("-") or "slider"


@dataclass(frozen=True, slots=True)
class Slider:
    """A slider, its initial position, and all its segments by rising position.

    Each segment stops where the next one starts, and all are finite. The first of the scales is that of the position.
    The `breakpoints` are the starts of segments to which buttons go; by default, all. The figures stand below it.
    """

    scales: tuple[Scale, ...]
    explanation: str
    begins_at: float
    labels: tuple[str, ...]
    segments: tuple[Segment, ...]
    tables: tuple[FollowingTable, ...] = ()
    current: float | None = None  # a position that is marked
    breakpoints: tuple[float, ...] = ()
    figures: tuple[PageFigure, ...] = ()

    def __post_init__(self) -> None:
        """Hold the segments against each other and against the labels."""
        assert self.segments, "a slider has a segment"
        assert all(each.start < each.stop for each in self.segments), "a segment has a length"
        assert all(left.stop == right.start for left, right in pairwise(self.segments)), "without holes"
        assert self.segments[0].start <= self.begins_at <= self.segments[-1].stop, "it begins on a segment"
        for each in self.segments:
            assert len(each.readings) == len(self.labels), "a reading for each label"
            for table, rows in zip(self.tables, each.tables, strict=True):
                assert len(rows) == len(table.names), "a row for each name"
                assert all(len(row) + 1 == len(table.headers) for row in rows), "a reading for each header"

    def segment_at(self, x: float) -> Segment:
        """Return the segment on which a position lies; a breakpoint begins one."""
        return next((each for each in self.segments if x < each.stop), self.segments[-1])


def line_at(x: float, segment: Segment, ends: tuple[float, float]) -> float:
    """Return the number at a position of a line along a segment.

    >>> line_at(1.5, Segment(1.0, 2.0, ()), (10.0, 20.0))
    15.0
    """
    if x == segment.stop:
        return ends[1]
    return ends[0] + (ends[1] - ends[0]) * (x - segment.start) / (segment.stop - segment.start)


def written(reading: Reading, segment: Segment, x: float) -> str:
    """Write a reading at a position.

    >>> along = Segment(1.0, 2.0, ())
    >>> written(Reading(1000.0, 2000.0, "J"), along, 1.5), written(Reading("off", "off"), along, 1.5)
    ('1,500 J', 'off')
    >>> written(Reading(1.0, 3.0, over=(4.0, 4.0)), along, 1.5)
    '50 %'
    """
    if reading.ends is None:
        return reading.at_start if isinstance(reading.at_start, str) else "-"
    value = line_at(x, segment, reading.ends) + 0.0  # no minus before a zero
    if reading.over is not None:
        below = line_at(x, segment, reading.over)
        return gap_text(value / below if below else None if value else 0.0)
    if reading.unit == "%":
        return percent(value)
    if reading.decimals is not None:
        return f"{round(value, reading.decimals) + 0.0:,.{reading.decimals}f} {reading.unit}".rstrip()
    text = number(value, reading.digits)
    if reading.upper is not None:
        text = bound_text(value, upper=reading.upper, digits=reading.digits)
    return f"{text} {reading.unit}".rstrip()


Part: TypeAlias = Paragraph | Table | Tiles | PageFigure | Slider


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and the parts below it."""

    heading: str
    parts: tuple[Part, ...]


def from_terminal(shown: Iterable[ConsoleRenderable]) -> list[Part]:
    """Return what the terminal prints as parts of a page.

    >>> from_terminal(["a", FoldingTable(("b", "c"), (("d", "1"),))])
    [Paragraph(text='a'), Table(headers=('b', 'c'), rows=(('d', '1'),), numbers=True)]
    """
    parts: list[Part] = []
    for each in shown:
        match each:
            case Constrain():
                parts += from_terminal([each.renderable])  # type: ignore[list-item]
            case CountTable() if each.counts[1] - each.counts[0] > MOST_COUNTED:
                parts += from_terminal([each.lists(WIDEST)])
            case CountTable():
                parts.append(Table(each.headers, each.rows, numbers=True))
            case FoldingTable():
                parts.append(Table(each.headers, each.rows, numbers=each.has_numbers))
            case RichTable():
                headers = tuple(str(column.header).strip() for column in each.columns)
                rows = zip(*(map(str, column.cells) for column in each.columns), strict=True)
                parts.append(Table(headers, tuple(rows), numbers=all(c.justify == "right" for c in each.columns[1:])))
            case _:
                parts.append(Paragraph(str(each)))
    return parts


def made_by(made: Provenance, kind: str) -> str:
    """Return what a footer says: versions and instance."""
    solver = "" if made.solver in {"none", "simulation"} else f", {made.solver}"
    return f"lpsched {made.lpsched}{solver}; {kind} {made.instance_hash}."


def page(title: str, summary: str, sections: Sequence[Section], *, footer: str = "") -> str:
    """Return the page as HTML.

    >>> text = page("A <room>", "All is well.", [Section("Facts", (Paragraph("1 < 2"),))])
    >>> "<h1>A &lt;room&gt;</h1>" in text, "<p>1 &lt; 2</p>" in text
    (True, True)
    """
    views = [
        {"heading": each.heading, "parts": [_view(part, f"s{at}p{place}") for place, part in enumerate(each.parts)]}
        for at, each in enumerate(sections)
    ]
    return _template().render(
        title=title,
        summary=summary,
        sections=views,
        contents=len(sections) > FEW,
        footer=footer,
        style=style(),
        script=script(),
        policy=_policy(),
    )


def style() -> str:
    """Return the style sheet of a page."""
    return _file("browser", "page.css")


@cache
def script() -> str:
    """Return the script of a page, whose names do not leave it."""
    return '\n(() => {\n"use strict";\n' + "\n".join(_file("browser", name) for name in SCRIPTS) + "})();\n"


@cache
def _file(folder: str, name: str) -> str:
    return files("lpsched.report").joinpath(folder, name).read_text(encoding="utf-8")


@cache
def _template() -> Template:
    jinja2 = load_jinja()
    rules = {"autoescape": True, "trim_blocks": True, "lstrip_blocks": True, "keep_trailing_newline": True}
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, finalize=_shown, **rules)
    template: Template = environment.from_string(_file("templates", "page.html.j2"))
    return template


def _shown(value: object) -> object:
    """Return what the template writes for a value: of a text only what can be shown; HTML of ours as it is."""
    return on_page(value) if type(value) is str else value


@cache
def _policy() -> str:
    """Return what a browser may do with the page: nothing but our style and our script."""
    digest = base64.b64encode(hashlib.sha256(script().encode()).digest()).decode()
    return (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
        f"script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )


def _view(part: Part, element: str) -> View:
    """Return what the template shows of a part, whose ids begin with `element`."""
    match part:
        case Paragraph():
            return {"kind": "paragraph", "text": part.text}
        case Table():
            return {"kind": "table", **_table_view(part)}
        case Tiles():
            return {"kind": "tiles", "facts": part.facts}
        case PageFigure():
            return {"kind": "figure", "id": element, **_figure_view(part, element)}
        case Slider():
            figures = [_view(each, f"{element}f{place}") for place, each in enumerate(part.figures)]
            return {"kind": "slider", "id": element, "figures": figures, **_slider_view(part)}


def _table_view(table: Table) -> View:
    rows = table.rows
    if table.numbers:  # a number and its unit stay on one line, in all columns but the first
        rows = tuple(
            (*row[:1], *(cell.replace(" ", UNBROKEN) if len(cell) <= SHORT else cell for cell in row[1:]))
            for row in rows
        )
    look = "numbers" if table.numbers else "" if any(table.headers) else "facts"
    kinds = ("table", look, _names([row[0] for row in rows]), "long" if len(rows) > MANY else "")
    headers = [_two_lines(each) for each in table.headers] if any(table.headers) else []
    return {"classes": " ".join(filter(None, kinds)), "headers": headers, "rows": rows}


def _two_lines(header: str) -> str:
    r"""Break a long header that has no lines of its own at the space nearest to its middle.

    >>> _two_lines("of the best, %"), _two_lines("gap of one\nmethod"), _two_lines("energy of all machines")
    ('of the best, %', 'gap of one\nmethod', 'energy of\nall machines')
    """
    spaces = [at for at, letter in enumerate(header) if letter == " "]
    if "\n" in header or len(header) <= BRIEF or not spaces:
        return header
    at = min(spaces, key=lambda each: abs(2 * each - len(header)))
    return f"{header[:at]}\n{header[at + 1 :]}"


def _names(first: Sequence[str]) -> str:
    """Return the class of a table whose first column is of names, each on one line; of brief ones on a phone, too."""
    longest = max(map(len, first), default=0)
    return "brief" if longest <= BRIEF else "names" if longest <= LONGEST_NAME else ""


# A tooltip stands at data coordinates of the figure's axes; the page has it in shares of the figure's width and
# height, from the left and from the top, which hold at every size. They are read from the axes once the figure
# is drawn, because only then is its layout known. The texts of all tooltips stand below the figure, folded, as
# a list: for readers who do not see the figure, and the browser takes them from there.
def _figure_view(part: PageFigure, element: str) -> View:
    svg = inline_svg(part.figure, prefix=element)  # draws it, so that its layout is known from here on
    end = svg.index(">")
    tooltips = []
    for each in part.tooltips:
        left, top = place_of(part.figure.axes[each.axes], each.x, each.y)
        inside = all(0.0 <= percent <= WHOLE for percent in (left, top))  # false for what is no number, too
        tooltips.append((f"{left:.2f}" if inside else "", f"{top:.2f}", each.label))
    scales = json.dumps([_scales(axes) for axes in part.figure.axes]) if part.name else ""
    return {"figure": part, "opening": svg[:end], "body": svg[end + 1 :], "scales": scales, "tooltips": tooltips}


def place_of(axes: Axes, x: float, y: float) -> tuple[float, float]:
    """Return where data coordinates are: percent of the figure from its left and from its top."""
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


def _slider_view(slider: Slider) -> View:
    """Return the slider where it begins, which is what a page without JavaScript shows, and its data."""
    x = slider.begins_at
    here = slider.segment_at(x)
    readings = [written(each, here, x) for each in here.readings]
    tables = []
    for table, rows in zip(slider.tables, here.tables, strict=True):
        upright = table.totals and sum(map(len, table.headers)) > UPRIGHT
        kinds = ["table numbers following", "heat" if table.totals else "", "upright" if upright else ""]
        totals = table.totals or (0.0,) * len(rows)
        cells = [
            [(written(each, here, x), f"{each.ends[0] / total:.3f}" if total and each.ends else "") for each in row]
            for row, total in zip(rows, totals, strict=True)
        ]
        kinds += [_names(table.names), "long" if len(table.names) > MANY_FOLLOWING else ""]
        headers = table.headers if table.totals else [_two_lines(each) for each in table.headers]
        shown = {"title": table.title, "note": table.note, "headers": headers, "classes": " ".join(filter(None, kinds))}
        tables.append(shown | {"rows": list(zip(table.names, cells, strict=True))})
    return {
        "slider": slider,
        "position": [(each.label, number(x / each.size, 6)) for each in slider.scales],
        "readings": list(zip(slider.labels, readings, strict=True)),
        "tables": tables,
        "data": _json(slider),
    }


# The slider's data name every distinct reading once, because most of them stay the same from one segment to the next:
#
#     scales     a label, a key for the page's address, a size
#     formats    a unit, a number of digits, whether a bound is from above, and the decimals, if they are fixed
#     readings   null, a word, [format, a, b] for a line, [format, a, b, c, d] for a quotient of lines
#     segments   start, stop, then places in `readings`: one for each label, and for each table a list of rows
#
# It is plain ASCII without `<`, so that no name in it can end the element that holds it.
Encoded = None | str | tuple[int | float, ...]


def _json(slider: Slider) -> str:
    formats: dict[tuple[str, int, bool | None, int | None], int] = {}
    readings: dict[Encoded, int] = {}

    def place(reading: Reading) -> int:
        encoded: Encoded = reading.at_start if isinstance(reading.at_start, str) else None
        if reading.ends is not None:
            looks = reading.unit, reading.digits, reading.upper, reading.decimals
            kind = formats.setdefault(looks, len(formats))
            encoded = (kind, *reading.ends, *(reading.over or ()))
        return readings.setdefault(encoded, len(readings))

    segments = [
        [
            each.start,
            each.stop,
            [place(reading) for reading in each.readings],
            [[[place(reading) for reading in row] for row in table] for table in each.tables],
            [[mark.figure, mark.x, mark.y, mark.axes] for mark in each.marks],
        ]
        for each in slider.segments
    ]
    data = {
        "begins": slider.begins_at,
        "current": slider.current,
        "breakpoints": slider.breakpoints or [each.start for each in slider.segments],
        "scales": [[each.label, each.key, each.size] for each in slider.scales],
        "totals": [table.totals for table in slider.tables],
        "formats": list(formats),
        "readings": list(readings),
        "segments": segments,
    }
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return text.replace("<", r"\u003c").replace(">", r"\u003e").replace("&", r"\u0026")
