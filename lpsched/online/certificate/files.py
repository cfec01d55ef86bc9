"""Certificate files of a day or of clusters: JSON with exact decimals, and a checksum against accidents."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from lpsched.io.content import write_files
from lpsched.io.instance_files import instance_of
from lpsched.model.answers import Exact, Exacts, Sealed, answer_head, answer_text, checksum
from lpsched.model.base import Part
from lpsched.model.fields import FrozenDict, OneOf, Several
from lpsched.model.kinds import format_of
from lpsched.model.results import plain
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
    from lpsched.io.documents import Document


class DayClaim(Part):
    """What is claimed of a day."""

    objective: Annotated[str, OneOf((OBJECTIVE,), "certify again")]
    bound: Exact


class ClustersClaim(DayClaim):
    """What is claimed of clusters."""

    objective: Annotated[str, OneOf((OBJECTIVE, WAITING), "certify again")]


class DayMultipliers(Part):
    """Prices of a second of a machine in each slot, and of a joule."""

    edges_seconds: Exacts
    machine_types: Annotated[FrozenDict[str, Exacts], Several(needed="a mapping from machine types")]
    joule: Exact


class ClustersMultipliers(Part):
    """Prices of a second of a node in each slot, and of a joule."""

    edges_seconds: Exacts
    clusters: Annotated[FrozenDict[str, Exacts], Several(needed="a mapping from clusters")]
    joule: Exact


class DayCertificateFile(Sealed):
    """A certificate of a day."""

    FORMAT: ClassVar[str] = FORMAT

    claim: DayClaim
    multipliers: DayMultipliers


class ClustersCertificateFile(Sealed):
    """A certificate of clusters."""

    FORMAT: ClassVar[str] = CLUSTERS_FORMAT

    claim: ClustersClaim
    multipliers: ClustersMultipliers


def certificate_as_dict(certificate: DayCertificate, version: str) -> dict[str, Any]:
    """Return what the file says."""
    of_nodes = isinstance(certificate, ClustersCertificate)
    objective = certificate.objective if isinstance(certificate, ClustersCertificate) else OBJECTIVE
    written = CLUSTERS_FORMAT if of_nodes else FORMAT
    content = answer_head(written, version, certificate.instance_name, certificate.instance_hash) | {
        "claim": {"objective": objective, "bound": plain(certificate.bound)},
        "multipliers": {
            "edges_seconds": plain(certificate.edges),
            "clusters" if of_nodes else "machine_types": plain(certificate.machine_prices),
            "joule": plain(certificate.per_joule),
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
    write_files({Path(path): answer_text(certificate_as_dict(certificate, version))})


def day_certificate_of(document: Document, path: Path) -> DayCertificate:
    """Make a certificate of what the file at `path` says; whether it proves its claim is for the checker to say.

    Raises
    ------
    InstanceError
        If it is not one, or was changed since it was written.
    """
    of_nodes = format_of(document.value) == CLUSTERS_FORMAT
    model: type[DayCertificateFile | ClustersCertificateFile] = (
        ClustersCertificateFile if of_nodes else DayCertificateFile
    )
    file = instance_of(model, document, path)
    claim, paid = file.claim, file.multipliers
    certificate = DayCertificate(
        instance_name=file.instance.name,
        instance_hash=file.instance.hash,
        bound=claim.bound,
        edges=paid.edges_seconds,
        machine_prices=paid.clusters if isinstance(paid, ClustersMultipliers) else paid.machine_types,
        per_joule=paid.joule,
    )
    return of_clusters(certificate, claim.objective) if of_nodes else certificate
