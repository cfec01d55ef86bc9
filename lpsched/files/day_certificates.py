"""Certificate files of a day: JSON with exact decimals, and a checksum against accidents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lpsched.certificate.arrivals import FORMAT, OBJECTIVE, DayCertificate
from lpsched.errors import MOST_FAULTS, Fault, InstanceError
from lpsched.files.certificates import CertificateReader, checksum, decimal
from lpsched.files.writing import write_files
from lpsched.instance.fields import describe
from lpsched.instance.frozen import FrozenDict

if TYPE_CHECKING:
    from fractions import Fraction

_TOP: Final = ("format", "lpsched", "instance", "claim", "multipliers", "checksum")
_MULTIPLIERS: Final = ("edges_seconds", "machine_types", "joule")


def as_dict(certificate: DayCertificate, version: str) -> dict[str, Any]:
    """Return what the file says."""
    content = {
        "format": FORMAT,
        "lpsched": version,
        "instance": {"name": certificate.instance_name, "hash": certificate.instance_hash},
        "claim": {"objective": OBJECTIVE, "bound": decimal(certificate.bound)},
        "multipliers": {
            "edges_seconds": [decimal(edge) for edge in certificate.edges],
            "machine_types": {
                name: [decimal(price) for price in prices]
                for name, prices in certificate.machine_prices.items()
            },
            "joule": decimal(certificate.per_joule),
        },
    }
    return content | {"checksum": checksum(content)}


def write_day_certificate(certificate: DayCertificate, path: Path | str, version: str) -> None:
    """Write a certificate.

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    text = json.dumps(as_dict(certificate, version), indent=2, ensure_ascii=False)
    write_files({Path(path): f"{text}\n".encode()})


def day_certificate_from_dict(content: object, source: str, faults: tuple[Fault, ...] = ()) -> DayCertificate:
    """Make a certificate of what a file says; whether it proves its claim is for the checker to say.

    Raises
    ------
    InstanceError
        If it is not one, or was changed since it was written.
    """
    reader = CertificateReader(list(faults))
    top = reader.mapping((), content, _TOP)
    if "format" in top and top["format"] != FORMAT:
        reader.fault(("format",), describe(top["format"]), repr(FORMAT), "name a certificate of a day")
    instance = reader.mapping(("instance",), top.get("instance"), ("name", "hash"))
    claim = reader.mapping(("claim",), top.get("claim"), ("objective", "bound"))
    multipliers = reader.mapping(("multipliers",), top.get("multipliers"), _MULTIPLIERS)
    if not reader.faults:
        expected = checksum({key: value for key, value in top.items() if key != "checksum"})
        if top["checksum"] != expected:
            found = describe(top["checksum"])
            reader.fault(("checksum",), found, expected, "the file was changed: certify again")
    if not reader.faults and claim["objective"] != OBJECTIVE:
        reader.fault(("claim", "objective"), describe(claim["objective"]), repr(OBJECTIVE), "certify again")
    names = {key: reader.text(("instance", key), instance.get(key)) for key in ("name", "hash")}
    certificate = DayCertificate(
        instance_name=names["name"],
        instance_hash=names["hash"],
        bound=reader.number(("claim", "bound"), claim.get("bound")),
        edges=_numbers(reader, ("multipliers", "edges_seconds"), multipliers.get("edges_seconds")),
        machine_prices=_prices(reader, multipliers.get("machine_types")),
        per_joule=reader.number(("multipliers", "joule"), multipliers.get("joule")),
    )
    if reader.faults:
        raise InstanceError(source, tuple(reader.faults[:MOST_FAULTS]))
    return certificate


def _prices(reader: CertificateReader, content: object) -> FrozenDict[str, tuple[Fraction, ...]]:
    path = ("multipliers", "machine_types")
    if not isinstance(content, dict):
        if not reader.faults:
            reader.fault(path, describe(content), "a mapping from machine types", "certify again")
        return FrozenDict()
    return FrozenDict(
        {str(name): _numbers(reader, (*path, str(name)), prices) for name, prices in content.items()}
    )


def _numbers(reader: CertificateReader, path: tuple[str, ...], content: object) -> tuple[Fraction, ...]:
    if not isinstance(content, list):
        if not reader.faults:
            reader.fault(path, describe(content), "a list of exact decimals", "certify again")
        return ()
    return tuple(reader.number((*path, str(place)), each) for place, each in enumerate(content))
