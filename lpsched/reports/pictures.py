"""What all pictures share: their width, and how names get into them.

A picture is a Matplotlib `Figure` that belongs to nobody else: no window, no current figure, no settings that
stay. It is as wide as a page of paper between its margins. Colour never carries a meaning alone: there is a
number, a hatch or a word beside it.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import TYPE_CHECKING, Final, TypeVar

from lpsched.files.pictures import load_matplotlib

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.figure import Figure

WIDTH_INCHES: Final = 7.0
INK: Final = "#222222"
RED: Final = "#c1272d"  # limits: redlines and caps, always with a word beside them
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
