"""Certificate files: JSON with exact decimals, and a checksum against accidents.

Every number that the proof needs is written as the exact decimal expansion of its double, so that whoever
reads it, in whatever language, has the same number.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lpsched.bag.certificate.claim import FORMAT, FORMATS, Certificate
from lpsched.bag.certificate.patterns import Interval, LeastMakespan
from lpsched.bag.terms import Terms
from lpsched.errors import Fault, InstanceError
from lpsched.io.certificates import CertificateReader, checksum, decimal
from lpsched.io.content import write_files
from lpsched.io.documents import read_document
from lpsched.model.fields import describe

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction


_TOP: Final = ("format", "lpsched", "instance", "claim", "multipliers", "checksum")
_SINCE_2: Final = ("least_makespan", "intervals")
_CLAIM: Final = ("objective", "unit", "bound", "price", "power_cap_watts", "deadline_seconds")
_LEAST: Final = ("seconds", "task_types", "machine_prices", "cap_price")
_INTERVAL: Final = ("from", "to", "task_prices", "machine_prices", "cap_price", "cells")


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
        "multipliers": {"machine_types": _decimals(certificate.machine_prices), "cap": decimal(certificate.cap_price)},
        "least_makespan": _least_as_dict(certificate.least_makespan),
        "intervals": None if certificate.intervals is None else list(map(_as_dict, certificate.intervals)),
    }
    return content | {"checksum": checksum(content)}


def _least_as_dict(least: LeastMakespan | None) -> dict[str, Any] | None:
    if least is None:
        return None
    return {
        "seconds": decimal(least.seconds),
        "task_types": None if least.task_types is None else list(least.task_types),
        "machine_prices": None if least.machine_prices is None else _decimals(least.machine_prices),
        "cap_price": decimal(least.cap_price),
    }


def _as_dict(interval: Interval) -> dict[str, Any]:
    return {
        "from": decimal(interval.start),
        "to": None if interval.end is None else decimal(interval.end),
        "task_prices": None if interval.task_prices is None else _decimals(interval.task_prices),
        "machine_prices": _decimals(interval.machine_prices),
        "cap_price": decimal(interval.cap_price),
        "cells": interval.cells or None,
    }


def _decimals(prices: Mapping[str, Fraction]) -> dict[str, str]:
    return {name: decimal(price) for name, price in prices.items()}


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
    reader = _BagReader(list(faults))
    first = isinstance(content, dict) and content.get("format") == FORMATS[0]
    top = reader.mapping((), content, _TOP if first else _TOP + _SINCE_2)
    if "format" in top and top["format"] not in FORMATS:
        reader.fault(("format",), describe(top["format"]), repr(FORMAT), "name a certificate")
    instance = reader.mapping(("instance",), top.get("instance"), ("name", "hash"))
    claim = reader.mapping(("claim",), top.get("claim"), _CLAIM)
    multipliers = reader.mapping(("multipliers",), top.get("multipliers"), ("machine_types", "cap"))
    if not reader.faults:
        expected = checksum({key: value for key, value in top.items() if key != "checksum"})
        if top["checksum"] != expected:
            reader.fault(("checksum",), describe(top["checksum"]), expected, "the file was changed: certify again")
    texts = {key: reader.text(("claim", key), claim.get(key)) for key in ("objective", "unit")}
    names = {key: reader.text(("instance", key), instance.get(key)) for key in ("name", "hash")}
    bound = reader.number(("claim", "bound"), claim.get("bound"))
    price, cap_watts, deadline = (
        None if claim.get(key) is None else reader.double(("claim", key), claim.get(key))
        for key in ("price", "power_cap_watts", "deadline_seconds")
    )
    paid = reader.prices(("multipliers", "machine_types"), multipliers.get("machine_types"))
    cap = reader.number(("multipliers", "cap"), multipliers.get("cap"))
    least = None if top.get("least_makespan") is None else reader.least(top["least_makespan"])
    intervals = None if top.get("intervals") is None else reader.intervals(top["intervals"])
    if reader.faults:
        raise InstanceError(source, tuple(reader.faults))
    terms = Terms(price=price, power_cap_watts=cap_watts, deadline_seconds=deadline)
    terms.check()
    return Certificate(
        instance_name=names["name"],
        instance_hash=names["hash"],
        objective=texts["objective"],
        unit=texts["unit"],
        bound=bound,
        terms=terms,
        machine_prices=paid,
        cap_price=cap,
        least_makespan=least,
        intervals=intervals,
    )


class _BagReader(CertificateReader):
    """Reads the least makespan and the intervals of a bag's certificate as well."""

    def least(self, value: object) -> LeastMakespan:
        """Return what must be a least makespan and its proof."""
        path = ("least_makespan",)
        least = self.mapping(path, value, _LEAST)
        types, prices = least.get("task_types"), least.get("machine_prices")
        named = isinstance(types, list) and all(isinstance(name, str) for name in types)
        if types is not None and not named and not self.faults:
            self.fault((*path, "task_types"), describe(types), "null, or a list of names", "certify again")
        return LeastMakespan(
            seconds=self.number((*path, "seconds"), least.get("seconds")),
            task_types=tuple(map(str, types)) if isinstance(types, list) else None,
            machine_prices=None if prices is None else self.prices((*path, "machine_prices"), prices),
            cap_price=self.number((*path, "cap_price"), least.get("cap_price")),
        )

    def intervals(self, value: object) -> tuple[Interval, ...]:
        """Return what must be a list of intervals."""
        if not isinstance(value, list):
            if not self.faults:
                self.fault(("intervals",), describe(value), "null, or a list", "certify again")
            return ()
        return tuple(self._interval(("intervals", str(place)), each) for place, each in enumerate(value))

    def _interval(self, path: tuple[str, ...], value: object) -> Interval:
        each = self.mapping(path, value, _INTERVAL)
        end, priced, cells = each.get("to"), each.get("task_prices"), each.get("cells")
        if cells is not None and (not isinstance(cells, int) or isinstance(cells, bool)):
            if not self.faults:
                self.fault((*path, "cells"), describe(cells), "null, or a whole number", "certify again")
            cells = None
        return Interval(
            start=self.number((*path, "from"), each.get("from")),
            end=None if end is None else self.number((*path, "to"), end),
            task_prices=None if priced is None else self.prices((*path, "task_prices"), priced),
            machine_prices=self.prices((*path, "machine_prices"), each.get("machine_prices")),
            cap_price=self.number((*path, "cap_price"), each.get("cap_price")),
            cells=cells or 0,
        )
