"""Watts out of what a meter prints, or a sentence that says why not.

One power has to stand there: `231.5`, `231.5 W`, `Power: 0.2315 kW`. Units are W, kW and mW (also written
out); a number without a unit is in watts. Where one number alone has a unit of power the others are labels
(`GPU 0: 65.3 W`). Everything else is refused: two powers, because nobody knows which one or whether their sum
is meant; a decimal comma, because 1,234 W is read in two ways; units that are not of power.
"""

from __future__ import annotations

import math
import re
from typing import Final

UNITS: Final = {"w": 1.0, "watt": 1.0, "watts": 1.0, "kw": 1e3, "kilowatt": 1e3, "kilowatts": 1e3}
MILLI: Final = {"mW": 1e-3, "milliwatt": 1e-3, "milliwatts": 1e-3}  # MW would be a megawatt: case matters
NUMBER: Final = re.compile(
    r"(?<!\d:)(?<![\w.,'/+-])"  # neither the rest of a word, a number, a time nor a date
    r"(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)(?P<comma>[,']\d)?[ \t]*(?P<unit>°?[^\W\d_]+|%)?"
)
SHOWN: Final = 60  # characters of what was printed, in a message


def shown(text: str) -> str:
    """Return the beginning of a text, quoted, on one line.

    >>> shown("a" * 100)
    "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa ...'"
    """
    line = " ".join(text[: 10 * SHOWN].split())
    return repr(line if len(line) <= SHOWN else f"{line[:SHOWN]} ...")


def read_watts(text: str) -> float | str:
    r"""Return the power that a text tells, in watts, or what is wrong with it.

    Examples
    --------
    >>> read_watts("GPU 0: 65.3 W")
    65.3
    >>> read_watts("65.3 W\n70.1 W")
    "it printed 2 powers, '65.3 W 70.1 W'; let it print one (add them up, if that is meant)"
    """
    found = list(NUMBER.finditer(text))
    if not found:
        return f"it printed no number, {shown(text)}; let it print watts, such as 231.5"
    if any(match["comma"] for match in found):
        return f"it printed a number with a comma, {shown(text)}; let it print a decimal point"
    with_unit = [match for match in found if _factor(match["unit"]) is not None]
    candidates = with_unit or found
    if len(candidates) > 1:
        many = f"{len(candidates)} {'powers' if with_unit else 'numbers'}"
        return f"it printed {many}, {shown(text)}; let it print one (add them up, if that is meant)"
    unit = candidates[0]["unit"]
    factor = 1.0 if unit is None else _factor(unit)
    if factor is None:
        return f"it printed {shown(text)}, and {unit!r} is not W, kW or mW; let it print watts"
    watts = float(candidates[0]["number"]) * factor
    if not math.isfinite(watts) or watts < 0:
        return f"it printed {shown(text)}, which is no power; let it print watts, 0 or more"
    return watts


def _factor(unit: str | None) -> float | None:
    if unit is None:
        return None
    return MILLI.get(unit, UNITS.get(unit.lower()))
