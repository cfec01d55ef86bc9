"""Text of files: as numbers, and as it is written to terminals, JSON answers and tables for people.

Whatever stands in a file may reach a screen: names, commands, lines of a study, names of files. What would steer a
terminal or turn the direction of writing is shown as its code, and so is the end of a line: within a value it is no
layout, or a name could print a line of its own.
"""

from __future__ import annotations

import html
import json
import math
import re
from decimal import Decimal
from typing import Any, Final
from unicodedata import category

MOST_DIGITS: Final = 308  # of whole numbers that are all in the range of doubles
DEEPEST_JSON: Final = 60  # levels; our formats need five
PLAIN: Final = frozenset((str, int, float, bool, type(None)))  # what holds nothing else
FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n")  # how a cell begins that a spreadsheet computes
_NUMBER: Final = re.compile(r"[-+]?(?:[0-9]+(\.[0-9]*)?|(\.[0-9]+))([eE][-+]?[0-9]+)?")  # whole without its groups
_DIGITS: Final = {"d": re.compile(r"[-+.0-9eE]*"), "q": re.compile(r"[-+0-9]*")}  # of doubles, of whole numbers


def printable(text: str) -> str:
    r"""Return a text in which each character that cannot be printed is shown as its code.

    >>> print(printable("\x1b[31mred\u202e, a\nb"))
    \x1b[31mred\u202e, a\nb
    """
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)


def printable_lines(text: str) -> str:
    """Return a text of several lines likewise; their ends are layout."""
    return "\n".join(map(printable, text.split("\n")))


def on_page(text: str) -> str:
    r"""Return a text for a page, which the template or `html_text` escapes: its lines and its wide blanks stay.

    >>> print(on_page("a\u202eb"))
    a\u202eb
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\n" or category(c) == "Zs" else repr(c)[1:-1] for c in text)


def html_text(text: str) -> str:
    """Return a text as HTML that shows it.

    >>> html_text("<b>")
    '&lt;b&gt;'
    """
    return html.escape(on_page(text))


def printable_json(content: dict[str, Any], *, ascii_only: bool = False) -> str:
    r"""Return an object as JSON in which such characters are escaped; NaN and infinity are bugs, not numbers.

    >>> print(printable_json({"name": "a\u202eb"}))
    {
      "name": "a\u202eb"
    }
    """
    text = json.dumps(content, indent=2, ensure_ascii=ascii_only, allow_nan=False)
    return "\n".join(
        line if line.isprintable() else "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in line)
        for line in text.split("\n")
    )


def harmless_cell(value: object) -> object:
    """Return a cell of a table for people: a printable text, with an apostrophe before what a spreadsheet computes.

    >>> harmless_cell("=1+1"), harmless_cell("gpu"), harmless_cell(-2.5)
    ("'=1+1", 'gpu', -2.5)
    """
    if not isinstance(value, str):
        return value
    return f"'{printable(value)}" if value.startswith(FORMULA) else printable(value)


# Numbers in texts: decimal digits of ASCII with a sign, a point and a power of ten, and nothing else. Python's own
# functions also take 1_000, digits of other scripts, blanks, `infinity` and `nan`.
def integer(digits: str) -> int | float:
    """Read a whole number; one that no double can be near becomes infinity, which every check rejects."""
    return float(digits) if len(digits) > MOST_DIGITS and math.isinf(float(digits)) else int(digits)


def json_value(text: str | bytes, **hooks: Any) -> Any:  # noqa: ANN401 - what `json.loads` takes and returns
    """Return the value of a JSON text, with whole numbers as `integer` reads them.

    Raises
    ------
    ValueError
        If it is no JSON.
    RecursionError
        If it is nested too deeply for what follows, which walks through it level by level.
    """
    if isinstance(text, bytes):
        text = text.decode("utf-8")
    value = (json.JSONDecoder(**_NUMBERS, **hooks) if hooks else _DECODER).decode(text)
    level = [value] if text.count("[") + text.count("{") > DEEPEST_JSON else []  # else it cannot be so deep
    depth = 0
    while level:
        if depth == DEEPEST_JSON:
            raise RecursionError(f"nested more than {DEEPEST_JSON} deep")
        inside = [each.values() if isinstance(each, dict) else each for each in level if isinstance(each, dict | list)]
        level, depth = [each for few in inside if not PLAIN.issuperset(map(type, few)) for each in few], depth + 1
    return value


_NUMBERS: Final[dict[str, Any]] = {"parse_int": integer, "parse_constant": float}
_DECODER: Final = json.JSONDecoder(**_NUMBERS)


def number_in(text: str) -> int | float | None:
    """Return the number that a text is; `None` if it is none.

    >>> number_in("12"), number_in("-.5e3"), number_in("1_000"), number_in(" 1"), number_in("inf")
    (12, -500.0, None, None, None)
    """
    found = _NUMBER.fullmatch(text)
    if found is None:
        return None
    return integer(text) if found.lastindex is None else float(text)


def cell_value(text: str) -> int | float | str | None:
    """Return what a cell of a table in text is: a number, nothing where it is empty, or else its text.

    >>> cell_value(" 2.0 "), cell_value(""), cell_value("0x10")
    (2.0, None, '0x10')
    """
    text = text.strip(" \t")
    number = number_in(text)
    return number if number is not None else text or None


def as_double(cell: object) -> float | None:
    """Return the number that a cell is as a double, infinity beyond their range; `None` if it is none.

    >>> as_double("12"), as_double(10**400), as_double(True), as_double("1_000")
    (12.0, inf, None, None)
    """
    if isinstance(cell, str):
        text = cell.strip(" \t")
        return float(text) if _NUMBER.fullmatch(text) else None
    if isinstance(cell, bool) or not isinstance(cell, int | float | Decimal):
        return None
    try:
        return float(cell)
    except OverflowError:
        return math.inf if cell > 0 else -math.inf


def column_values(cells: list[Any], code: str) -> list[Any]:
    """Return the numbers that the cells of a column are, doubles (d) or whole ones (q); others stay what they are.

    A column with numbers alone is read at once.
    """
    try:
        if _DIGITS[code].fullmatch("".join(cells)):
            plain = code == "q" and max(map(len, cells), default=0) <= MOST_DIGITS
            return list(map(float if code == "d" else int if plain else integer, cells))
    except (TypeError, ValueError):  # an empty cell, or one such as `1-2`
        pass
    return [cell_value(cell) if isinstance(cell, str) else cell for cell in cells]
