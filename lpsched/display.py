"""How numbers are written, for tables in a terminal and in a notebook."""

from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

SMALL: Final = 1e-3
LARGE: Final = 1e15
ROUNDING: Final = 1e-14


def number(value: float | None, digits: int = 6) -> str:
    """Write a number with at least `digits` significant digits and separated thousands.

    >>> number(1234567.891), number(0.000012345), number(None), number(12.0), number(1234.5678)
    ('1,234,568', '1.2345e-05', '-', '12', '1,234.57')
    """
    if value is None:
        return "-"
    if value != 0 and not SMALL <= abs(value) < LARGE:
        return f"{value:.{digits}g}"
    decimals = digits - 1 - math.floor(math.log10(abs(value))) if value else 0
    plain = f"{value:,.{max(0, decimals)}f}"
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def percent(share: float | None) -> str:
    """Write a share as a percentage; what is only the rounding of doubles is none.

    >>> percent(0.01234), percent(None), percent(2e-16)
    ('1.234 %', '-', '0 %')
    """
    if share is None:
        return "-"
    return f"{number(100 * share if abs(share) > ROUNDING else 0.0, 4)} %"


def html_table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table for a notebook; texts appear exactly as they stand.

    >>> html_table(("a",), [("<b>",)])
    '<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>&lt;b&gt;</td></tr></tbody></table>'
    """
    head = "".join(f"<th>{html.escape(header)}</th>" for header in headers)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
