"""Certificate files of a day or of clusters: JSON with exact decimals, and a checksum against accidents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lpsched.errors import MOST_FAULTS, Fault, InstanceError
from lpsched.io.certificates import CertificateReader, checksum, decimal
from lpsched.io.content import write_files
from lpsched.model.fields import FrozenDict, describe
from lpsched.online.certificate.claim import (
    CLUSTERS_FORMAT,
    FORMAT,
    OBJECTIVE,
    WAITING,
    ClustersCertificate,
    DayCertificate,
    of_clusters,
)

if TYPE_CHECKING:
    from fractions import Fraction

_TOP: Final = ("format", "lpsched", "instance", "claim", "multipliers", "checksum")
_MACHINES: Final = "machine_types"
_CLUSTERS: Final = "clusters"


def as_dict(certificate: DayCertificate, version: str) -> dict[str, Any]:
    """Return what the file says."""
    many = isinstance(certificate, ClustersCertificate)
    content = {
        "format": CLUSTERS_FORMAT if many else FORMAT,
        "lpsched": version,
        "instance": {"name": certificate.instance_name, "hash": certificate.instance_hash},
        "claim": {"objective": _objective(certificate), "bound": decimal(certificate.bound)},
        "multipliers": {
            "edges_seconds": [decimal(edge) for edge in certificate.edges],
            _CLUSTERS if many else _MACHINES: {
                name: [decimal(price) for price in prices] for name, prices in certificate.machine_prices.items()
            },
            "joule": decimal(certificate.per_joule),
        },
    }
    return content | {"checksum": checksum(content)}


def _objective(certificate: DayCertificate) -> str:
    return certificate.objective if isinstance(certificate, ClustersCertificate) else OBJECTIVE


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
    many = top.get("format") == CLUSTERS_FORMAT
    parts = _CLUSTERS if many else _MACHINES
    if "format" in top and top["format"] not in {FORMAT, CLUSTERS_FORMAT}:
        needed = f"{FORMAT!r} or {CLUSTERS_FORMAT!r}"
        reader.fault(("format",), describe(top["format"]), needed, "name a certificate of a day or of clusters")
    instance = reader.mapping(("instance",), top.get("instance"), ("name", "hash"))
    claim = reader.mapping(("claim",), top.get("claim"), ("objective", "bound"))
    multipliers = reader.mapping(("multipliers",), top.get("multipliers"), ("edges_seconds", parts, "joule"))
    _check_seal(reader, top)
    _check_objective(reader, claim, (OBJECTIVE, WAITING) if many else (OBJECTIVE,))
    names = {key: reader.text(("instance", key), instance.get(key)) for key in ("name", "hash")}
    certificate = DayCertificate(
        instance_name=names["name"],
        instance_hash=names["hash"],
        bound=reader.number(("claim", "bound"), claim.get("bound")),
        edges=_numbers(reader, ("multipliers", "edges_seconds"), multipliers.get("edges_seconds")),
        machine_prices=_prices(reader, ("multipliers", parts), multipliers.get(parts)),
        per_joule=reader.number(("multipliers", "joule"), multipliers.get("joule")),
    )
    if reader.faults:
        raise InstanceError(source, tuple(reader.faults[:MOST_FAULTS]))
    return of_clusters(certificate, str(claim["objective"])) if many else certificate


def _check_seal(reader: CertificateReader, top: dict[str, Any]) -> None:
    if not reader.faults:
        expected = checksum({key: value for key, value in top.items() if key != "checksum"})
        if top["checksum"] != expected:
            found = describe(top["checksum"])
            reader.fault(("checksum",), found, expected, "the file was changed: certify again")


def _check_objective(reader: CertificateReader, claim: dict[str, Any], known: tuple[str, ...]) -> None:
    if not reader.faults and claim["objective"] not in known:
        needed = " or ".join(repr(each) for each in known)
        reader.fault(("claim", "objective"), describe(claim["objective"]), needed, "certify again")


def _prices(reader: CertificateReader, path: tuple[str, ...], content: object) -> FrozenDict[str, tuple[Fraction, ...]]:
    if not isinstance(content, dict):
        if not reader.faults:
            what = "clusters" if path[-1] == _CLUSTERS else "machine types"
            reader.fault(path, describe(content), f"a mapping from {what}", "certify again")
        return FrozenDict()
    return FrozenDict({str(name): _numbers(reader, (*path, str(name)), prices) for name, prices in content.items()})


def _numbers(reader: CertificateReader, path: tuple[str, ...], content: object) -> tuple[Fraction, ...]:
    if not isinstance(content, list):
        if not reader.faults:
            reader.fault(path, describe(content), "a list of exact decimals", "certify again")
        return ()
    return tuple(reader.number((*path, str(place)), each) for place, each in enumerate(content))
