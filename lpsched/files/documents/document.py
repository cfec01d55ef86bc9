"""What a YAML or JSON file says, whichever it was."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from lpsched.errors import Fault, Place

DEEPEST: Final = 12  # levels of nesting; our formats need five
LONGEST_INTEGER: Final = 400  # digits; Python refuses to convert very long ones

_WORDS: Final = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER: Final = re.compile(r"[-+]?[0-9]+")
_FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_SPECIAL: Final = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_PREFIXED: Final = re.compile(r"0x[0-9a-fA-F]{1,400}|0o[0-7]{1,400}")


@dataclass(frozen=True, slots=True)
class Document:
    """What a file says, the faults of its form, and the line of each path (YAML only)."""

    value: object
    faults: tuple[Fault, ...] = ()
    lines: dict[Place, int] = field(default_factory=dict)

    def line_of(self, path: Place) -> int | None:
        """Return the line of a path, or of the nearest thing around it whose line is known."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path)


def given_twice(path: Place, line: int | None = None) -> Fault:
    """Return the fault of a key that stands twice in one mapping."""
    return Fault(path, "a key that was given before", "each key once", "remove one of the two", line=line)


def integer(digits: str) -> int | float:
    """Read a whole number; one of endless digits becomes infinity, which every check refuses."""
    return int(digits) if len(digits) <= LONGEST_INTEGER else float(digits)


def resolve(text: str) -> object:
    """Return the value of a plain scalar under the core rules of YAML 1.2.

    >>> [resolve(text) for text in ("1e9", "0x1F", "no", "12:30", "~", "True", ".5")]
    [1000000000.0, 31, 'no', '12:30', None, True, 0.5]
    """
    if _INTEGER.fullmatch(text):
        return integer(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    if text in _WORDS:
        return _WORDS[text]
    if _SPECIAL.fullmatch(text):
        return float(text.replace(".", ""))
    return int(text, 0) if _PREFIXED.fullmatch(text) else text
