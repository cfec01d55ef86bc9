"""Proof files of a facility: JSON, the boxes of the proof with their prices.

Prices are written in the shortest form that gives the same double again.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field

from lpsched.facility.certificate.boxes import EXACT_FORMAT, Box, FacilityCertificate
from lpsched.facility.certificate.boxes import FORMAT as PROOF_FORMAT
from lpsched.io.content import write_files
from lpsched.io.documents import read_document
from lpsched.io.instance_files import instance_of
from lpsched.model.answers import About, Answer, AnyNumber, AnyNumbers, answer_head, answer_text
from lpsched.model.fields import Several, check_yes
from lpsched.model.kinds import format_of
from lpsched.model.results import json_of

if TYPE_CHECKING:
    from lpsched.io.documents import Document


class ProofFile(Answer):
    """A proof."""

    FORMAT: ClassVar[str] = PROOF_FORMAT
    HINT: ClassVar[str] = "correct it"

    instance: About = Field(kw_only=True)
    colocation: Annotated[bool, check_yes]
    outlets_celsius: AnyNumbers | None = Field(None, kw_only=True)
    bound: AnyNumber
    floor: AnyNumber
    boxes: Annotated[tuple[Box, ...], Several()]


class ExactProofFile(ProofFile):
    """A proof about allocations that keep every limit exactly."""

    FORMAT: ClassVar[str] = EXACT_FORMAT


def proof_as_dict(certificate: FacilityCertificate, version: str) -> dict[str, Any]:
    """Return what the file says."""
    written = PROOF_FORMAT if certificate.granted else EXACT_FORMAT
    head = answer_head(written, version, certificate.instance_name, certificate.instance_hash)
    return head | json_of(certificate, "colocation outlets_celsius bound floor boxes")


def write_proof(certificate: FacilityCertificate, path: Path | str, version: str) -> None:
    """Write a proof; a box to a line.

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    write_files({Path(path): answer_text(proof_as_dict(certificate, version), "boxes")})


def read_proof(path: Path | str) -> FacilityCertificate:
    """Read a proof; whether it proves its claim is for the checker to say.

    Raises
    ------
    InstanceError
        If the file is not one.
    """
    path = Path(path)
    return proof_of(read_document(path), path)


def proof_of(document: Document, path: Path) -> FacilityCertificate:
    """Make a proof of what the file at `path` says."""
    exact = format_of(document.value) == EXACT_FORMAT
    file = instance_of(ExactProofFile if exact else ProofFile, document, path)
    return FacilityCertificate(
        instance_name=file.instance.name,
        instance_hash=file.instance.hash,
        colocation=file.colocation,
        bound=file.bound,
        floor=file.floor,
        boxes=file.boxes,
        outlets_celsius=file.outlets_celsius,
        granted=not exact,
    )
