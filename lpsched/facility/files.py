"""Files of facilities, of their allocations and of their proofs.

A proof is JSON: its boxes with their prices, written in the shortest form that gives the same double again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final

from pydantic import Field

from lpsched.errors import InputIssue
from lpsched.facility.certificate.boxes import EXACT_FORMAT, Box, FacilityCertificate
from lpsched.facility.certificate.boxes import FORMAT as PROOF_FORMAT
from lpsched.facility.model import FORMAT, PLAIN_AIR, Facility, said
from lpsched.facility.parts import MIXING_KEYS, CoreAllocation, CoreFraction, GangAllocation, PatternShare
from lpsched.io.content import write_files
from lpsched.io.documents import read_document
from lpsched.io.instance_files import Contents, TableForm, instance_of, table_files, write_document, written_tables
from lpsched.io.rows import SUFFIXES, write_table
from lpsched.io.tables import write_csv_matrix, write_npz_matrix
from lpsched.model.answers import About, Answer, AnswerPart, AnyNumber, AnyNumbers, answer_head, answer_text
from lpsched.model.base import Rule
from lpsched.model.fields import OneOf, Several, Whole, check_yes
from lpsched.model.kinds import format_of
from lpsched.model.results import json_of, plain
from lpsched.model.table import Axes

if TYPE_CHECKING:
    from lpsched.io.documents import Document


# Facility files: YAML and JSON, with tables and the mixing matrix inside or beside them.
FEW_PLACES: Final = 20  # up to here the mixing matrix is written inside the file
MANY_PAIRS: Final = 10_000  # beyond, tables go into a file of their own
RUN: Final = 5  # nodes of one type in a row, on average, from which runs are written


read_facility: Final = Facility.from_file


def write_facility(facility: Facility, path: Path | str, *, form: TableForm | None = None) -> tuple[Path, ...]:
    """Write a facility, without loss; return the files written, the facility's own last.

    Parameters
    ----------
    form
        How to write tables and matrix: inside the file, by name or as rows; or in files beside it. A Parquet
        file holds tables only, so the matrix then goes into an `.npz`. If not given, tables by name up to
        10,000 pairs, else in an `.npz`; the matrix inside up to 20 nodes and units, else in an `.npz`.
    """
    path = Path(path)
    contents = _table_files(facility, path, form) | _matrix_file(facility, path, form)
    return write_document(path, contents, lambda files: as_dict(facility, form, files))


def _table_files(facility: Facility, path: Path, form: TableForm | None) -> Contents:
    held = {"speeds": facility.speeds, "watts": facility.watts}
    if form is None and facility.speeds.rows * facility.speeds.columns > MANY_PAIRS:
        form = TableForm.NPZ
    return table_files(held, Axes(facility.task_types, facility.node_types), path, form)


def _matrix_file(facility: Facility, path: Path, form: TableForm | None) -> Contents:
    matrix = facility.mixing.matrix
    if form in {TableForm.NAMES, TableForm.MATRIX} or (form is None and matrix.rows <= FEW_PLACES):
        return {}
    if form is TableForm.CSV:
        return {path.with_name(f"{path.name}.mixing.csv"): (write_csv_matrix(matrix), ("mixing",))}
    return {path.with_name(f"{path.name}.mixing.npz"): (write_npz_matrix(matrix), ("mixing",))}


def as_dict(
    facility: Facility, form: TableForm | None = TableForm.NAMES, files: dict[str, str] | None = None
) -> dict[str, Any]:
    """Return the facility as a mapping with the keys of a facility file; defaults are left out.

    What is in `files` is named instead of written out.
    """
    files = files if files is not None else {}
    by_name = form is not TableForm.MATRIX
    raw: dict[str, Any] = {"format": FORMAT, "name": facility.name}
    if facility.description:
        raw["description"] = facility.description
    raw["node_types"] = [said(kind) for kind in facility.node_types]
    raw["nodes"] = _nodes(facility)
    raw["crac_units"] = [said(unit) for unit in facility.crac_units]
    raw["task_types"] = [said(task) for task in facility.task_types]
    axes = Axes(facility.task_types, facility.node_types)
    raw |= written_tables({"speeds": facility.speeds, "watts": facility.watts}, axes, form, files)
    if facility.degradation is not None:
        rows = [[x for x in row if x is not None] for row in facility.degradation]
        raw["degradation"] = _named(facility.memory_classes, rows) if by_name else rows
        if not by_name:
            raw["memory_classes"] = list(facility.memory_classes)
    mixing = facility.mixing
    raw["mixing"] = {MIXING_KEYS[mixing.form]: {"file": files["mixing"]}} if "mixing" in files else mixing.as_dict()
    raw["power_cap_watts"] = facility.power_cap_watts
    if facility.air != PLAIN_AIR:
        raw["air"] = said(facility.air)
    return raw


def _nodes(facility: Facility) -> list[Any]:
    """Return the nodes' types, in runs where that is shorter."""
    names = [facility.node_types[j].name for j in facility.nodes]
    runs = [(name, len(list(group))) for name, group in groupby(names)]
    if RUN * len(runs) > len(names):
        return names
    return [{"type": name, "count": count} if count > 1 else name for name, count in runs]


def _named(names: tuple[str, ...], rows: list[list[float]]) -> dict[str, dict[str, float]]:
    return {name: dict(zip(names, row, strict=True)) for name, row in zip(names, rows, strict=True)}


# Allocation files of a facility, as JSON or YAML: outlet temperatures, and what the cores of each node run.
#
#     form: gang      patterns of a node: what its cores run at once, and for which share of the time
#     form: cores     for each core what it divides its time between
#
# Neighbours often do the same, so an entry of `nodes` speaks for `count` nodes in a row.
MOST_NODES: Final = 10**6  # an entry speaks for many nodes; a slip of the keyboard must not fill the memory
Count = Annotated[int, Whole(1, MOST_NODES)]


@dataclass(frozen=True, slots=True)
class GangNodes(AnswerPart):
    """Nodes in a row that run the same patterns."""

    count: Count
    patterns: Annotated[tuple[PatternShare, ...], Several()]


@dataclass(frozen=True, slots=True)
class CoreNodes(AnswerPart):
    """Nodes in a row whose cores do the same."""

    count: Count
    cores: Annotated[tuple[Annotated[tuple[CoreFraction, ...], Several()], ...], Several()]


def nodes_are_few(nodes: tuple[GangNodes, ...] | tuple[CoreNodes, ...]) -> Iterator[InputIssue]:
    """Return a problem where there are more nodes than any facility has."""
    total = sum(each.count for each in nodes)
    if total > MOST_NODES:
        yield InputIssue(("nodes",), f"{total:,} nodes in all", f"at most {MOST_NODES:,}", "correct the counts")


class AllocationFile(Answer):
    """The file of an allocation; `nodes` depends on the form."""

    FORMAT: ClassVar[str] = "lpsched-allocation/1"
    HINT: ClassVar[str] = "correct it"

    form: Annotated[str, OneOf(("gang", "cores"), "say which of the two it is")]
    outlets_celsius: AnyNumbers
    nodes: Any


class GangFile(AllocationFile):
    """The file of an allocation by patterns."""

    RULES: ClassVar[tuple[Rule, ...]] = (nodes_are_few,)

    nodes: Annotated[tuple[GangNodes, ...], Several()]


class CoresFile(AllocationFile):
    """The file of an allocation by single cores."""

    RULES: ClassVar[tuple[Rule, ...]] = (nodes_are_few,)

    nodes: Annotated[tuple[CoreNodes, ...], Several()]


def allocation_as_dict(allocation: GangAllocation | CoreAllocation, facility: Facility, version: str) -> dict[str, Any]:
    """Return what the file says."""
    form, inside = ("gang", "patterns") if isinstance(allocation, GangAllocation) else ("cores", "cores")
    return answer_head(AllocationFile.FORMAT, version, facility.name, facility.content_hash) | {
        "form": form,
        "outlets_celsius": list(allocation.outlets_celsius),
        "nodes": [{"count": len(list(alike)), inside: plain(what)} for what, alike in groupby(allocation.nodes)],
    }


def write_allocation(
    allocation: GangAllocation | CoreAllocation, facility: Facility, path: Path | str, version: str
) -> None:
    """Write an allocation; an entry of `nodes` to a line. `.csv` and `.parquet` have rows, see `allocation_rows`.

    Raises
    ------
    OutputError
        If it cannot be written.
    MissingExtraError
        If it is to be a Parquet file and PyArrow is not installed.
    """
    if Path(path).suffix.lower() in SUFFIXES:
        write_table(*allocation_rows(allocation, facility), Path(path))
        return
    write_files({Path(path): answer_text(allocation_as_dict(allocation, facility, version), "nodes")})


def allocation_rows(
    allocation: GangAllocation | CoreAllocation, facility: Facility
) -> tuple[dict[str, str], list[tuple[object, ...]]]:
    """Return the columns and rows of an allocation, for spreadsheets: outlet temperatures are not among them.

    Nodes, patterns and cores are numbered from 0. A row of a pattern is what some of its cores run, one of a core is
    what it runs for a fraction of the time.
    """
    first = {"node": "int64", "node_type": "string"}
    last = {"task_type": "string", "p_state": "string"}
    name_of = [facility.node_types[kind].name for kind in facility.nodes]
    rows: list[tuple[object, ...]] = []
    if isinstance(allocation, GangAllocation):
        for v, patterns in enumerate(allocation.nodes):
            for k, pattern in enumerate(patterns):
                rows += [(v, name_of[v], k, pattern.share, r.cores, r.task_type, r.p_state) for r in pattern.runs]
        return first | {"pattern": "int64", "share": "float64", "cores": "int64"} | last, rows
    for v, cores in enumerate(allocation.nodes):
        for k, core in enumerate(cores):
            rows += [(v, name_of[v], k, part.fraction, part.task_type, part.p_state) for part in core]
    return first | {"core": "int64", "fraction": "float64"} | last, rows


def read_allocation(path: Path | str) -> GangAllocation | CoreAllocation:
    """Read an allocation; whether it fits a facility is for the verifier to say.

    Raises
    ------
    InstanceError
        If the file is not one.
    """
    path = Path(path)
    return allocation_of(read_document(path), path)


def allocation_of(document: Document, path: Path) -> GangAllocation | CoreAllocation:
    """Make an allocation of what the file at `path` says."""
    form = document.value.get("form") if isinstance(document.value, dict) else None
    model = GangFile if form == "gang" else CoresFile if form == "cores" else AllocationFile
    file = instance_of(model, document, path)
    if isinstance(file, GangFile):
        return GangAllocation(
            file.outlets_celsius, tuple(each.patterns for each in file.nodes for _ in range(each.count))
        )
    return CoreAllocation(file.outlets_celsius, tuple(each.cores for each in file.nodes for _ in range(each.count)))


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
