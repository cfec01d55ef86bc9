"""Reading a certificate: exact decimals, known keys, a checksum."""

from __future__ import annotations

import hashlib
import json
import re
import sys
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

from lpsched.errors import Fault
from lpsched.model.fields import LARGEST, SMALLEST, FrozenDict, describe

_DECIMAL: Final = re.compile(r"-?[0-9]{1,309}(\.[0-9]{1,1200})?")  # a double, with room to spare


def decimal(number: float | Fraction) -> str:
    """Write a double, or a fraction that is one, as its exact decimal expansion.

    >>> decimal(0.1), decimal(12.0)
    ('0.1000000000000000055511151231257827021181583404541015625', '12')
    """
    return format(Decimal(float(number)), "f")


class CertificateReader:
    """Takes a file's content apart, and collects what is wrong with it."""

    def __init__(self, faults: list[Fault]) -> None:
        self.faults = faults

    def fault(self, path: tuple[str, ...], found: str, needed: str, do: str) -> None:
        """Remember what is wrong somewhere."""
        self.faults.append(Fault(path, found, needed, do))

    def mapping(self, path: tuple[str, ...], value: object, keys: tuple[str, ...]) -> dict[str, Any]:
        """Return a mapping that must have just these keys."""
        if not isinstance(value, dict):
            if not self.faults:  # what is inside something broken is not told again
                self.fault(path, describe(value), "a mapping", "name a certificate that lpsched wrote")
            return {}
        for key in sorted(set(keys) - set(value)):
            self.fault((*path, key), "nothing", f"the key {key!r}", "certify again")
        for key in sorted(set(map(str, value)) - set(keys)):
            self.fault((*path, key), "an unknown key", ", ".join(keys), "remove it")
        return value

    def text(self, path: tuple[str, ...], value: object) -> str:
        """Return what must be a text."""
        if not isinstance(value, str) and not self.faults:
            self.fault(path, describe(value), "a text", "certify again")
        return str(value)

    def number(self, path: tuple[str, ...], value: object) -> Fraction:
        """Return what must be an exact decimal, in quotes."""
        if isinstance(value, str) and _DECIMAL.fullmatch(value):
            exact = Fraction(value)
            if abs(exact) <= sys.float_info.max:
                return exact
        if not self.faults:
            self.fault(path, describe(value), "an exact decimal in quotes, such as '12.5'", "certify again")
        return Fraction(0)

    def prices(self, path: tuple[str, ...], value: object) -> FrozenDict[str, Fraction]:
        """Return what must be a mapping from names to exact decimals."""
        if not isinstance(value, dict):
            if not self.faults:
                self.fault(path, describe(value), "a mapping from names to prices", "certify again")
            return FrozenDict()
        return FrozenDict({str(name): self.number((*path, str(name)), each) for name, each in value.items()})

    def double(self, path: tuple[str, ...], value: object) -> float:
        """Return a number that must be a double: what stands in a bag is one."""
        exact = self.number(path, value)
        if exact > 0 and not SMALLEST <= exact <= LARGEST:
            self.fault(path, describe(value), f"0, or a number from {SMALLEST:g} to {LARGEST:g}", "certify again")
            return 0.0
        if Fraction(float(exact)) != exact:
            self.fault(path, describe(value), "the exact decimal of a double", "certify again")
        return float(exact)


def checksum(content: dict[str, Any]) -> str:
    """Return what tells whether a file was changed: the SHA-256 of its content, in a canonical form."""
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(canonical.encode()).hexdigest()
