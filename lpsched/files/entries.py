"""What stands in a file of answers, taken apart piece by piece; what is not as it should be becomes a fault.

Each function returns something of the right kind in any case, so that one pass tells all faults. Whether a
number makes sense is for a verifier to say.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from lpsched.errors import Fault, nearest
from lpsched.instance.fields import describe

if TYPE_CHECKING:
    from lpsched.errors import Place


def mapping(
    path: Place, value: object, known: tuple[str, ...], needed: tuple[str, ...], faults: list[Fault]
) -> dict[str, Any]:
    """Return a mapping that has all needed keys and no unknown ones."""
    if not isinstance(value, dict):
        faults.append(
            Fault(path, describe(value), f"a mapping with the keys {', '.join(needed)}", "correct it")
        )
        return {}
    missing = (key for key in needed if key not in value)
    faults += [Fault((*path, key), "nothing", f"the key {key!r}", "add it") for key in missing]
    for key in value:
        if key not in known:
            do = nearest(str(key), known) or "remove it"
            faults.append(Fault((*path, str(key)), "an unknown key", ", ".join(known), do))
    return value


def items(path: Place, value: object, faults: list[Fault]) -> list[Any]:
    """Return a list."""
    if isinstance(value, list):
        return value
    faults.append(Fault(path, describe(value), "a list", "correct it"))
    return []


def name(path: Place, value: object, faults: list[Fault]) -> str:
    """Return a name."""
    if isinstance(value, str):
        return value
    faults.append(Fault(path, describe(value), "a name", "put it in quotes"))
    return ""


def whole(path: Place, value: object, faults: list[Fault]) -> int:
    """Return a whole number."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    faults.append(Fault(path, describe(value), "a whole number", "correct it"))
    return 1


def number(path: Place, value: object, faults: list[Fault]) -> float:
    """Return a finite number."""
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < math.inf:
        try:
            return float(value)
        except OverflowError:
            pass  # a whole number of more than 308 digits
    faults.append(Fault(path, describe(value), "a number", "correct it"))
    return 0.0
