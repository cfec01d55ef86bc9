"""Certificate files: JSON with exact decimals, and a checksum against accidents.

Every number that the proof needs is written as the exact decimal expansion of its double, so that every reader,
in whatever language, gets the same number. A file that is no certificate, or was changed since, raises an
`InstanceError`; one that cannot be written an `OutputError`.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from lpsched.bag.certificate.claim import FORMAT as CERTIFICATE_FORMAT
from lpsched.bag.certificate.claim import FORMATS, Certificate
from lpsched.bag.certificate.patterns import Interval, LeastMakespan
from lpsched.bag.terms import Terms
from lpsched.io.content import write_files
from lpsched.io.documents import read_document
from lpsched.io.instance_files import instance_of
from lpsched.model.answers import AnyName, Double, Exact, ExactPrices, Sealed, answer_head, answer_text, checksum
from lpsched.model.base import Part
from lpsched.model.fields import Several
from lpsched.model.kinds import format_of
from lpsched.model.results import json_of, plain

if TYPE_CHECKING:
    from lpsched.io.documents import Document


class Claim(Part):
    """What is claimed, and under which terms: numbers in place of those of the bag."""

    objective: AnyName
    unit: AnyName
    bound: Exact
    price: Double | None
    power_cap_watts: Double | None
    deadline_seconds: Double | None


class Multipliers(Part):
    """Prices of a second of each machine type, and of a joule above idle."""

    machine_types: ExactPrices
    cap: Exact


class FirstCertificateFile(Sealed):
    """A certificate of the first format: it has neither least makespan nor intervals."""

    FORMAT: ClassVar[str] = FORMATS[0]

    claim: Claim
    multipliers: Multipliers


class CertificateFile(FirstCertificateFile):
    """A certificate."""

    FORMAT: ClassVar[str] = CERTIFICATE_FORMAT

    least_makespan: LeastMakespan | None
    intervals: Annotated[tuple[Interval, ...], Several(needed="null, or a list")] | None


def certificate_as_dict(certificate: Certificate, version: str) -> dict[str, Any]:
    """Return the content of the file."""
    terms = json_of(certificate.terms, "price power_cap_watts deadline_seconds")
    claim = json_of(certificate, "objective unit bound")
    content = answer_head(CERTIFICATE_FORMAT, version, certificate.instance_name, certificate.instance_hash) | {
        "claim": claim | {key: None if value is None else plain(Fraction(value)) for key, value in terms.items()},
        "multipliers": {"machine_types": plain(certificate.machine_prices), "cap": plain(certificate.cap_price)},
        **json_of(certificate, "least_makespan intervals"),
    }
    return content | {"checksum": checksum(content)}


def write_certificate(certificate: Certificate, path: Path | str, version: str) -> None:
    """Write a certificate."""
    write_files({Path(path): answer_text(certificate_as_dict(certificate, version))})


def read_certificate(path: Path | str) -> Certificate:
    """Read a certificate."""
    path = Path(path)
    return certificate_of(read_document(path), path)


def certificate_of(document: Document, path: Path) -> Certificate:
    """Return the certificate in the file at `path`; whether it proves its claim is decided by the checker."""
    model = FirstCertificateFile if format_of(document.value) == FORMATS[0] else CertificateFile
    file = instance_of(model, document, path)
    claim, paid = file.claim, file.multipliers
    terms = Terms(None, claim.price, None, claim.power_cap_watts, claim.deadline_seconds)
    terms.check()
    return Certificate(
        instance_name=file.instance.name,
        instance_hash=file.instance.hash,
        objective=claim.objective,
        unit=claim.unit,
        bound=claim.bound,
        terms=terms,
        machine_prices=paid.machine_types,
        cap_price=paid.cap,
        least_makespan=file.least_makespan if isinstance(file, CertificateFile) else None,
        intervals=file.intervals if isinstance(file, CertificateFile) else None,
    )
