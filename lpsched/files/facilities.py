"""Facility files: YAML and JSON, with tables and the mixing matrix inside or beside them."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lpsched.files.beside import Beside
from lpsched.files.documents import read_document
from lpsched.files.instance_files import (
    Contents,
    TableForm,
    document_bytes,
    inline_table,
    made_of,
    require_suffix,
    table_files,
)
from lpsched.files.matrices import dense_rows, write_csv, write_npz
from lpsched.files.writing import write_files
from lpsched.instance.facility import FORMAT, PLAIN_AIR, Facility, said
from lpsched.instance.facility_door import facility_from_dict
from lpsched.instance.mixing import MIXING_KEYS
from lpsched.instance.table import Axes

if TYPE_CHECKING:
    from lpsched.files.documents.document import Document

FEW_PLACES: Final = 20  # up to here the mixing matrix is written inside the file
MANY_PAIRS: Final = 10_000  # beyond, tables go into a file of their own
RUN: Final = 5  # nodes of one type in a row, on average, from which runs are written


def read_facility(path: Path | str) -> Facility:
    """Read a facility from a YAML or JSON file, and the tables and matrix that it names.

    What is legal but suspect comes as an `LpschedWarning`.

    Raises
    ------
    InstanceError
        If anything is wrong; the error lists every fault in file order.
    MissingExtraError
        If a table is a Parquet file and PyArrow is not installed.
    """
    path = Path(path)
    return facility_of(read_document(path), path)


def facility_of(document: Document, path: Path) -> Facility:
    """Make a facility of what the file at `path` says; see `read_facility`."""
    beside = Beside(path, "facility")

    def make(raw: object) -> Facility:
        return facility_from_dict(
            raw, source=str(path), read_table_file=beside.table, read_matrix_file=beside.matrix
        )

    return made_of(document, path, make)


def write_facility(
    facility: Facility, path: Path | str, *, form: TableForm | None = None
) -> tuple[Path, ...]:
    """Write a facility, without loss; return the files written, the facility's own last.

    Parameters
    ----------
    form
        How to write tables and matrix: inside the file, by name or as rows; or in files beside it. A Parquet
        file holds tables only, so the matrix then goes into an `.npz`. If not given, tables by name up to
        10,000 pairs, else in an `.npz`; the matrix inside up to 20 nodes and units, else in an `.npz`.

    Raises
    ------
    InstanceError
        If the file's ending is neither YAML's nor JSON's.
    OutputError
        If a file cannot be written; then none is.
    """
    path = Path(path)
    require_suffix(path)
    contents = _table_files(facility, path, form) | _matrix_file(facility, path, form)
    raw = as_dict(facility, form, {key: file.name for file, (_, keys) in contents.items() for key in keys})
    files = {file: content for file, (content, _) in contents.items()} | {path: document_bytes(raw, path)}
    write_files(files)
    return tuple(files)


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
        return {path.with_name(f"{path.name}.mixing.csv"): (write_csv(matrix), ("mixing",))}
    return {path.with_name(f"{path.name}.mixing.npz"): (write_npz(matrix), ("mixing",))}


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
    for key, table in (("speeds", facility.speeds), ("watts", facility.watts)):
        raw[key] = (
            {"file": files[key]}
            if key in files
            else inline_table(table, facility.task_types, facility.node_types, by_name=by_name)
        )
    if facility.degradation is not None:
        rows = [[x for x in row if x is not None] for row in facility.degradation]
        raw["degradation"] = _named(facility.classes, rows) if by_name else rows
        if not by_name:
            raw["memory_classes"] = list(facility.classes)
    matrix: object = {"file": files["mixing"]} if "mixing" in files else dense_rows(facility.mixing.matrix)
    raw["mixing"] = {MIXING_KEYS[facility.mixing.form]: matrix}
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
