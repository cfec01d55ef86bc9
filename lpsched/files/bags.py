"""Bag files: YAML and JSON, with tables inside or beside them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from lpsched.files.beside import Beside
from lpsched.files.documents import read_document
from lpsched.files.instance_files import (
    TableForm,
    document_bytes,
    inline_table,
    made_of,
    require_suffix,
    table_files,
    usual_form,
)
from lpsched.files.writing import write_files
from lpsched.instance import FORMAT, Bag, bag_from_dict
from lpsched.instance.table import Axes

if TYPE_CHECKING:
    from lpsched.files.documents.document import Document


def read_bag(path: Path | str) -> Bag:
    """Read a bag from a YAML or JSON file, and the tables that it names.

    What is legal but suspect comes as an `LpschedWarning`.

    Raises
    ------
    InstanceError
        If anything is wrong; the error lists every fault in file order.
    MissingExtraError
        If a table is a Parquet file and PyArrow is not installed.
    """
    path = Path(path)
    return bag_of(read_document(path), path)


def bag_of(document: Document, path: Path) -> Bag:
    """Make a bag of what the file at `path` says; see `read_bag`."""
    tables = Beside(path, "bag").table
    return made_of(document, path, lambda raw: bag_from_dict(raw, source=str(path), read_file=tables))


def write_bag(bag: Bag, path: Path | str, *, form: TableForm | None = None) -> tuple[Path, ...]:
    """Write a bag, without loss; return the files written, the bag's own last.

    Parameters
    ----------
    form
        How to write the tables: by name or as a matrix inside the file, or in files beside it. If not
        given, by name up to 1,000 pairs, as a matrix up to 100,000, else in an `.npz`.

    Raises
    ------
    InstanceError
        If the file's ending is neither YAML's nor JSON's.
    OutputError
        If a file cannot be written; then none is.
    """
    path = Path(path)
    require_suffix(path)
    form = form if form is not None else usual_form(bag.seconds)
    held = {"seconds": bag.seconds} | ({"watts": bag.watts} if bag.watts is not None else {})
    contents = table_files(held, Axes(bag.task_types, bag.machine_types), path, form)
    raw = as_dict(bag, form, {key: file.name for file, keys in contents.items() for key in keys[1]})
    files = {file: content for file, (content, _) in contents.items()} | {path: document_bytes(raw, path)}
    write_files(files)
    return tuple(files)


def as_dict(
    bag: Bag, form: TableForm = TableForm.NAMES, files: dict[str, str] | None = None
) -> dict[str, Any]:
    """Return the bag as a mapping with the keys of a bag file; defaults are left out."""
    raw: dict[str, Any] = {"format": FORMAT, "name": bag.name}
    raw["machine_types"] = [_said(machine) for machine in bag.machine_types]
    raw["task_types"] = [_said(task) for task in bag.task_types]
    for key, table in (("seconds", bag.seconds), ("watts", bag.watts)):
        if table is not None:
            raw[key] = (
                {"file": files[key]}
                if files
                else inline_table(table, bag.task_types, bag.machine_types, by_name=form is TableForm.NAMES)
            )
    for key, part in (("prices", bag.prices), ("site", bag.site)):
        if said := _said(part):
            raw[key] = said
    return raw


def _said(part: Any) -> dict[str, Any]:  # noqa: ANN401 - any of the Pydantic parts
    said: dict[str, Any] = part.model_dump(exclude_defaults=True)
    if "p_states" in said:
        said["p_states"] = list(said["p_states"])
    return said
