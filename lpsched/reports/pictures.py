"""What all pictures share: their width, their colours, and how numbers and names get into them.

A picture is a Matplotlib `Figure` that belongs to nobody else: no window, no current figure, no settings that
stay. It is as wide as a page of paper between its margins. Letters, lines and spines are in `STYLE` of
`files/pictures.py`. The colours are those of Okabe and Ito, which everybody can tell apart; but colour never
carries a meaning alone: there is a number, a shape, a hatch or a word beside it, so that a picture can be
read in grey.

What a colour means, in every picture: blue is ours (bounds that are proved, and our schedules), red a limit
that somebody set (a cap, a deadline, a redline), light grey where no schedule can be.
"""

from __future__ import annotations

import math
import unicodedata
from functools import cache
from typing import TYPE_CHECKING, Final, Literal, TypeVar

from lpsched.display import number
from lpsched.files.pictures import load_matplotlib

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

WIDTH_INCHES: Final = 7.0
BLUE: Final = "#0072b2"
VERMILION: Final = "#d55e00"
GREEN: Final = "#009e73"
PURPLE: Final = "#cc79a7"
ORANGE: Final = "#e69f00"
SKY: Final = "#56b4e9"
YELLOW: Final = "#f0e442"
BROWN: Final = "#8c510a"  # a ninth and a tenth, where all others are taken
GREY: Final = "#777777"
INK: Final = "#222222"
RED: Final = "#c1272d"  # limits: redlines and caps, always with a word beside them
RULE: Final = "#cccccc"  # lines between rows, idle time, and what is only there to guide the eye
STRIPE: Final = "#f2f2f2"  # behind every other column
FORBIDDEN: Final = "#e6e6e6"  # where no schedule is
LIMIT_LINE: Final = 1.2  # points
CURVE_LINE: Final = 1.4
SMALL_LETTERS: Final = 7
MOST_TICK_DIGITS: Final = 12
MOST_SPOTS: Final = 250  # of a picture on a page: more cannot be pointed at
LONGEST_LABEL: Final = 24  # letters of a name in a picture
LEFT_TO_RIGHT: Final = "\u200e"  # a mark without a shape
MOST_COLUMNS: Final = 5  # of a legend
LETTERS_PER_INCH: Final = 16
HANDLE_LETTERS: Final = 8  # that the sign before a legend's label takes

Entry = TypeVar("Entry")


def blank_picture(height_inches: float) -> Figure:
    """Return an empty picture whose parts arrange themselves."""
    load_matplotlib()
    from matplotlib.figure import Figure  # noqa: PLC0415 - optional

    return Figure(figsize=(WIDTH_INCHES, height_inches), layout="constrained")


def lettered(name: str, longest: int = LONGEST_LABEL) -> str:
    r"""Return a name as Matplotlib shall draw it: exactly as it stands, but cut where it is long.

    A dollar sign would begin a formula, so it gets the backslash that keeps it one. A letter that our font
    does not have is written as its code, so that two such names can still be told apart. Marks about a name
    that is read from the right keep what stands beside it in its place.

    >>> print(lettered("$x_1$"), lettered("任务"), lettered("a" * 30))
    \$x_1\$ \u4efb\u52a1 aaaaaaaaaaaaaa...aaaaaaa
    """
    known = "".join(
        letter if ord(letter) in _letters() else letter.encode("ascii", "backslashreplace").decode()
        for letter in name
    )
    if len(known) > longest:
        end = longest // 3 - 1
        known = f"{known[: longest - end - 3]}...{known[-end:]}"
    if any(unicodedata.bidirectional(letter) in {"R", "AL"} for letter in known):
        known = f"{LEFT_TO_RIGHT}{known}{LEFT_TO_RIGHT}"
    return known.replace("$", r"\$")


def write_numbers(axis: Axis) -> None:
    """Write the numbers of an axis plainly, with separated thousands and as many digits as its steps need."""

    def written(value: float, _place: object) -> str:
        ticks = axis.get_majorticklocs()
        return tick_text(value, float(ticks[1] - ticks[0]) if len(ticks) > 1 else 0.0)

    axis.set_major_formatter(written)


def tick_text(value: float, step: float) -> str:
    """Return the number at a tick; the next tick is `step` away.

    >>> tick_text(1_000_000.5, 0.5), tick_text(2500.0, 2500.0), tick_text(0.1 + 0.2, 0.1)
    ('1,000,000.5', '2,500', '0.3')
    """
    if abs(value) < abs(step) / 1e6:  # what rounding left of 0
        return "0"
    digits = 3 + math.floor(math.log10(abs(value / step))) if step else 6  # steps have two: 2.5, 0.25
    return number(value, min(MOST_TICK_DIGITS, max(3, digits)))


def draw_grid(axes: Axes, axis: Literal["x", "y", "both"]) -> None:
    """Draw faint lines across one axis or both, behind everything."""
    axes.grid(visible=True, axis=axis)


def legend_columns(labels: Iterable[str], width_inches: float = WIDTH_INCHES) -> int:
    """Return how many columns of a legend fit side by side."""
    longest = max(map(len, labels))
    return max(1, min(MOST_COLUMNS, int(width_inches * LETTERS_PER_INCH / (longest + HANDLE_LETTERS))))


def line_by_line(entries: Sequence[Entry], columns: int) -> list[Entry]:
    """Return legend entries so that they are read in lines; Matplotlib fills column after column.

    >>> line_by_line("abcde", 2)
    ['a', 'c', 'e', 'b', 'd']
    """
    return [each for column in range(columns) for each in entries[column::columns]]


@cache
def _letters() -> frozenset[int]:
    """Return the code points that our font has a shape for."""
    load_matplotlib()
    from matplotlib.font_manager import findfont, get_font  # noqa: PLC0415 - optional

    return frozenset(get_font(findfont("DejaVu Sans")).get_charmap())
