"""A slider on a page: what it says where it begins, as HTML, and all its stretches, as JSON for the browser.

Without JavaScript the page shows the readings where the slider begins. The JSON names every distinct reading
once, because most of them stay as they are from one stretch to the next:

    formats    a unit, a number of digits, and whether it is a bound from above
    readings   null, a word, [format, a, b] for a line, [format, a, b, c, d] for a quotient of lines
    stretches  start, stop, then places in `readings`: one for each label, and for each table a list of rows

It is plain ASCII without `<`, so that no name in it can end the element that holds it.
"""

from __future__ import annotations

import html
import json
import re
from typing import TYPE_CHECKING, Any, Final

from lpsched.reports.page_table import box_html
from lpsched.reports.slider import written

if TYPE_CHECKING:
    from lpsched.reports.slider import FollowingTable, Mark, Reading, Slider

SLIDER_MANY: Final = (
    12  # rows; then the table scrolls in its box, so that what follows it stays near the slider
)
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
        f"{box_html(_classes(table), table.headers, _cells(slider, at))}\n"
        for at, table in enumerate(slider.tables)
    )
    return (
        f'<div class="slider" id="{element}" data-key="{_key(slider.label)}" data-label="{label}">\n'
        f'<p class="explanation" id="{element}-explained">{html.escape(slider.explanation)}</p>\n'
        f'<p class="stands">{label}: <strong>{html.escape(repr(x))}</strong></p>\n'
        f'<dl class="readings">{readings}</dl>\n{tables}'
        f'<script type="application/json">{_json(slider)}</script>\n</div>'
    )


def _classes(table: FollowingTable) -> str:
    return f"table numbers following{' long' if len(table.names) > SLIDER_MANY else ''}"


def _cells(slider: Slider, at: int) -> list[tuple[str, ...]]:
    """Return the rows of one of the tables where the slider begins."""
    here = slider.stretch_at(slider.begins_at)
    return [
        (name, *(written(reading, here, slider.begins_at) for reading in row))
        for name, row in zip(slider.tables[at].names, here.tables[at], strict=True)
    ]


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
        return readings.setdefault(_encoded(reading, formats), len(readings))

    stretches = [
        [
            each.start,
            each.stop,
            [place(reading) for reading in each.readings],
            [[[place(reading) for reading in row] for row in table] for table in each.tables],
            [_mark(mark) for mark in each.marks],
        ]
        for each in slider.stretches
    ]
    told = {
        "begins": slider.begins_at,
        "formats": list(formats),
        "readings": list(readings),
        "stretches": stretches,
    }
    text = json.dumps(told, allow_nan=False, separators=(",", ":"))
    return text.replace("<", r"\u003c").replace(">", r"\u003e").replace("&", r"\u0026")


def _encoded(reading: Reading, formats: dict[tuple[str, int, bool], int]) -> Encoded:
    if isinstance(reading.at_start, str):
        return reading.at_start
    if reading.at_start is None or reading.at_stop is None or isinstance(reading.at_stop, str):
        return None
    kind = formats.setdefault((reading.unit, reading.digits, reading.upper), len(formats))
    return (kind, reading.at_start, reading.at_stop, *(reading.over or ()))


def _mark(mark: Mark) -> list[Any]:
    return [mark.picture, mark.axes, mark.x, mark.y, mark.label]
