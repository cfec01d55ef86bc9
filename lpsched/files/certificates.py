"""Certificate files: JSON with exact decimals, and a checksum against accidents.

Every number that the proof needs is written as the exact decimal expansion of its double, so that whoever
reads it, in whatever language, has the same number.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from lpsched.certificate.claim import FORMAT, Certificate
from lpsched.errors import Fault, InstanceError
from lpsched.files.documents import read_document
from lpsched.files.writing import write_files
from lpsched.instance.fields import LARGEST, SMALLEST, describe
from lpsched.instance.frozen import FrozenDict
from lpsched.instance.terms import Terms

_DECIMAL: Final = re.compile(r"-?[0-9]{1,309}(\.[0-9]{1,1200})?")  # a double, with room to spare
_CLAIM: Final = ("objective", "unit", "bound", "price", "power_cap_watts", "deadline_seconds")


def decimal(number: float | Fraction) -> str:
    """Write a double, or a fraction that is one, as its exact decimal expansion.

    >>> decimal(0.1), decimal(12.0)
    ('0.1000000000000000055511151231257827021181583404541015625', '12')
    """
    return format(Decimal(float(number)), "f")


def as_dict(certificate: Certificate, version: str) -> dict[str, Any]:
    """Return what the file says."""
    terms = certificate.terms
    content = {
        "format": FORMAT,
        "lpsched": version,
        "instance": {"name": certificate.instance_name, "hash": certificate.instance_hash},
        "claim": {
            "objective": certificate.objective,
            "unit": certificate.unit,
            "bound": decimal(certificate.bound),
            "price": None if terms.price is None else decimal(terms.price),
            "power_cap_watts": None if terms.power_cap_watts is None else decimal(terms.power_cap_watts),
            "deadline_seconds": None if terms.deadline_seconds is None else decimal(terms.deadline_seconds),
        },
        "multipliers": {
            "machine_types": {name: decimal(price) for name, price in certificate.machine_prices.items()},
            "cap": decimal(certificate.cap_price),
        },
    }
    return content | {"checksum": checksum(content)}


def write_certificate(certificate: Certificate, path: Path | str, version: str) -> None:
    """Write a certificate.

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    text = json.dumps(as_dict(certificate, version), indent=2, ensure_ascii=False)
    write_files({Path(path): f"{text}\n".encode()})


def read_certificate(path: Path | str) -> Certificate:
    """Read a certificate.

    Raises
    ------
    InstanceError
        If it is not one, or was changed since it was written.
    """
    path = Path(path)
    document = read_document(path)
    return certificate_from_dict(document.value, str(path), document.faults)


def certificate_from_dict(content: object, source: str, faults: tuple[Fault, ...] = ()) -> Certificate:
    """Make a certificate of what a file says.

    Raises
    ------
    InstanceError
        If it is not one, or was changed since it was written.
    """
    reader = CertificateReader(list(faults))
    top = reader.mapping((), content, ("format", "lpsched", "instance", "claim", "multipliers", "checksum"))
    if "format" in top and top["format"] != FORMAT:
        reader.fault(("format",), describe(top["format"]), repr(FORMAT), "name a certificate")
    instance = reader.mapping(("instance",), top.get("instance"), ("name", "hash"))
    claim = reader.mapping(("claim",), top.get("claim"), _CLAIM)
    multipliers = reader.mapping(("multipliers",), top.get("multipliers"), ("machine_types", "cap"))
    prices = multipliers.get("machine_types")
    if multipliers and not isinstance(prices, dict):
        reader.fault(
            ("multipliers", "machine_types"), describe(prices), "a mapping from machine types", "add it"
        )
    if not reader.faults:
        expected = checksum({key: value for key, value in top.items() if key != "checksum"})
        if top["checksum"] != expected:
            reader.fault(
                ("checksum",), describe(top["checksum"]), expected, "the file was changed: certify again"
            )
    texts = {key: reader.text(("claim", key), claim.get(key)) for key in ("objective", "unit")}
    names = {key: reader.text(("instance", key), instance.get(key)) for key in ("name", "hash")}
    bound = reader.number(("claim", "bound"), claim.get("bound"))
    terms = {
        key: None if claim.get(key) is None else reader.double(("claim", key), claim.get(key))
        for key in ("price", "power_cap_watts", "deadline_seconds")
    }
    paid = {
        str(name): reader.number(("multipliers", "machine_types", str(name)), price)
        for name, price in (prices.items() if isinstance(prices, dict) else ())
    }
    cap = reader.number(("multipliers", "cap"), multipliers.get("cap"))
    if reader.faults:
        raise InstanceError(source, tuple(reader.faults))
    return Certificate(
        instance_name=names["name"],
        instance_hash=names["hash"],
        objective=texts["objective"],
        unit=texts["unit"],
        bound=bound,
        terms=Terms(**terms),
        machine_prices=FrozenDict(paid),
        cap_price=cap,
    )


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

    def double(self, path: tuple[str, ...], value: object) -> float:
        """Return a number that must be a double: what stands in a bag is one."""
        exact = self.number(path, value)
        if exact > 0 and not SMALLEST <= exact <= LARGEST:
            self.fault(
                path, describe(value), f"0, or a number from {SMALLEST:g} to {LARGEST:g}", "certify again"
            )
            return 0.0
        if Fraction(float(exact)) != exact:
            self.fault(path, describe(value), "the exact decimal of a double", "certify again")
        return float(exact)


def checksum(content: dict[str, Any]) -> str:
    """Return what tells whether a file was changed: the SHA-256 of its content, in a canonical form."""
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(canonical.encode()).hexdigest()
