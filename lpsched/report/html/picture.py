"""A picture on a page, with spots that tell more about a point, and room for marks that move with a slider.

A spot stands at data coordinates of the figure's axes; the page knows it as shares of the picture's width and
height, from the left and from the top, which hold at every size. They are read from the axes once the picture
is drawn, because only then is its layout known. What all spots say stands below the picture, folded, as
a list: it is there for those who do not see the picture, and the browser takes it from there.
"""

from __future__ import annotations

import html
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lpsched.io.pictures import inline_svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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
    return (
        f"<figure{_frame(picture)}>\n"
        f'<div class="picture"><div class="canvas">{opened}{title}{svg[end + 1 :]}</div></div>'
        f"{caption}{told}\n</figure>"
    )


def place_of(axes: Axes, x: float, y: float) -> tuple[float, float]:
    """Return where data coordinates are: percent of the picture from its left and from its top."""
    figure = axes.get_figure(root=True)
    assert figure is not None, "axes belong to a figure"
    across, up = figure.transFigure.inverted().transform(axes.transData.transform((x, y)))
    return WHOLE * float(across), WHOLE - WHOLE * float(up)


def _frame(picture: Picture) -> str:
    """Return the attributes by which a slider finds the picture and its scales, if it has a name."""
    if not picture.name:
        return ""
    scales = json.dumps([_scales(axes) for axes in picture.figure.axes])
    return f' data-picture="{html.escape(picture.name)}" data-scales="{html.escape(scales)}"'


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
    rows = "".join(f"<li{_place(picture, spot)}>{html.escape(spot.label)}</li>" for spot in picture.spots)
    count = len(picture.spots)
    words = "One point" if count == 1 else f"All {count:,} points"
    opened = f'\n<details class="spots"><summary>{words} of the picture in words</summary>'
    return f"{opened}<ul>{rows}</ul></details>"


def _place(picture: Picture, spot: Spot) -> str:
    left, top = place_of(picture.figure.axes[spot.axes], spot.x, spot.y)
    inside = all(0.0 <= percent <= WHOLE for percent in (left, top))  # false for what is no number, too
    return f' data-left="{left:.2f}" data-top="{top:.2f}"' if inside else ""
