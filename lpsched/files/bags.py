"""Bag files: YAML and JSON, with tables inside or beside them."""

from __future__ import annotations

import json
import re
import warnings
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lpsched.errors import Fault, InstanceError, LpschedWarning, OutputError
from lpsched.files.documents import MOST_JSON_BYTES, MOST_YAML_BYTES, SUFFIXES, read_document
from lpsched.files.tables import csv_file, labels_of, npz_file, parquet_file, read_table_file
from lpsched.files.writing import write_files
from lpsched.instance import FORMAT, Bag, MachineType, Table, TaskType, bag_from_dict
from lpsched.instance.door import in_file_order

if TYPE_CHECKING:
    from collections.abc import Sequence

FEW_PAIRS: Final = 1_000  # up to here a table is written by name
MANY_PAIRS: Final = 100_000  # beyond, into a file of its own
_PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.+/()-]*")
_NOT_TEXT: Final = frozenset(("null", "true", "false", "yes", "no", "on", "off", "y", "n"))


class TableForm(StrEnum):
    """How the tables of a bag are written."""

    NAMES = "names"
    MATRIX = "matrix"
    CSV = "csv"
    NPZ = "npz"
    PARQUET = "parquet"


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
    document = read_document(path)
    found: tuple[Fault, ...] = ()
    try:
        bag = bag_from_dict(document.value, source=str(path), read_file=_TablesBeside(path).read)
    except InstanceError as error:
        found = error.faults
    if found or document.faults:
        faults = in_file_order([*document.faults, *found], document.value)
        lined = [
            fault if fault.file or fault.line else replace(fault, line=document.line_of(fault.path))
            for fault in faults
        ]
        raise InstanceError(str(path), tuple(lined))
    for remark in bag.remarks():
        warnings.warn(f"{path}: {remark}", LpschedWarning, stacklevel=2)
    return bag


class _TablesBeside:
    """Reads tables from files in the bag's own folder or below it, and nowhere else."""

    def __init__(self, bag: Path) -> None:
        self.folder = bag.parent

    def read(self, file: str, key: str, tasks: Sequence[TaskType], machines: Sequence[MachineType]) -> Table:
        path = self.folder / file
        try:
            inside = path.resolve().is_relative_to(self.folder.resolve())
        except (OSError, ValueError, RuntimeError):  # a loop of links, a NUL character
            inside = False
        if not inside:
            needed = "a file in the folder of the bag, or below it"
            fault = Fault((key, "file"), f"the path {file!r}", needed, "copy the table there")
            raise InstanceError(str(path), (fault,))
        return read_table_file(path, key, tasks, machines)


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
    if path.suffix.lower() not in SUFFIXES:
        fault = Fault((), f"the ending {path.suffix!r}", " or ".join(SUFFIXES), "name the output accordingly")
        raise InstanceError(str(path), (fault,))
    form = form if form is not None else _usual_form(bag)
    contents = _table_files(bag, path, form)
    raw = as_dict(bag, form, {key: file.name for file, keys in contents.items() for key in keys[1]})
    is_json = path.suffix.lower() == ".json"
    text = json.dumps(raw, indent=1, ensure_ascii=False) + "\n" if is_json else yaml_text(raw)
    files = {file: content for file, (content, _) in contents.items()} | {path: _encoded(text, path)}
    write_files(files)
    return tuple(files)


def _usual_form(bag: Bag) -> TableForm:
    """Return how a table of this size is written where nobody says how."""
    pairs = bag.seconds.rows * bag.seconds.columns
    if pairs <= FEW_PAIRS:
        return TableForm.NAMES
    return TableForm.MATRIX if pairs <= MANY_PAIRS else TableForm.NPZ


def _encoded(text: str, path: Path) -> bytes:
    """Return the bytes to write, if they can be read again."""
    try:
        content = text.encode()
    except UnicodeEncodeError:  # the name of a table file that is not text
        raise OutputError(f"cannot write {path}: its name is not UTF-8; choose another name") from None
    most, do = MOST_YAML_BYTES, "write .json"
    if path.suffix.lower() == ".json":
        most, do = MOST_JSON_BYTES, "choose --tables npz"
    if len(content) > most:
        raise OutputError(
            f"cannot write {path}: it would have {len(content):,} bytes, more than {most:,}; {do}"
        )
    return content


def _table_files(bag: Bag, path: Path, form: TableForm) -> dict[Path, tuple[bytes, tuple[str, ...]]]:
    """Return the table files of a form: content, and which tables they hold.

    Their names begin with the whole name of the bag's file, so that two bags never share one.
    """
    held = {"seconds": bag.seconds} | ({"watts": bag.watts} if bag.watts is not None else {})
    names, labels = [task.name for task in bag.task_types], labels_of(bag.machine_types)
    if form is TableForm.NPZ:
        return {path.with_name(f"{path.name}.npz"): (npz_file.write(held, names, labels), tuple(held))}
    writers = {TableForm.CSV: csv_file.write, TableForm.PARQUET: parquet_file.write}
    if form not in writers:
        return {}
    return {
        path.with_name(f"{path.name}.{key}.{form}"): (writers[form](table, names, labels), (key,))
        for key, table in held.items()
    }


def as_dict(
    bag: Bag, form: TableForm = TableForm.NAMES, files: dict[str, str] | None = None
) -> dict[str, Any]:
    """Return the bag as a mapping with the keys of a bag file; defaults are left out."""
    raw: dict[str, Any] = {"format": FORMAT, "name": bag.name}
    raw["machine_types"] = [_said(machine) for machine in bag.machine_types]
    raw["task_types"] = [_said(task) for task in bag.task_types]
    for key, table in (("seconds", bag.seconds), ("watts", bag.watts)):
        if table is not None:
            raw[key] = {"file": files[key]} if files else _inline(bag, table, by_name=form is TableForm.NAMES)
    for key, part in (("prices", bag.prices), ("site", bag.site)):
        if said := _said(part):
            raw[key] = said
    return raw


def _said(part: Any) -> dict[str, Any]:  # noqa: ANN401 - any of the Pydantic parts
    said: dict[str, Any] = part.model_dump(exclude_defaults=True)
    if "p_states" in said:
        said["p_states"] = list(said["p_states"])
    return said


def _inline(bag: Bag, table: Table, *, by_name: bool) -> Any:  # noqa: ANN401 - nested plain values
    rows = []
    for cells in table:
        row: list[Any] = []
        for machine in bag.machine_types:
            own, cells = cells[: machine.modes], cells[machine.modes :]  # noqa: PLW2901 - eaten from the left
            row.append(own[0] if machine.p_states is None else own)
        rows.append(row)
    if not by_name:
        return rows
    names = [machine.name for machine in bag.machine_types]
    return {
        task.name: {name: entry for name, entry in zip(names, row, strict=True) if _runs(entry)}
        for task, row in zip(bag.task_types, rows, strict=True)
    }


def _runs(entry: float | list[float | None] | None) -> bool:
    return entry is not None and (not isinstance(entry, list) or any(cell is not None for cell in entry))


def yaml_text(raw: dict[str, Any]) -> str:
    """Write a bag's mapping as YAML for people: one line per type, one line per row of a table.

    Texts that a YAML 1.1 or 1.2 reader could take for something else are quoted.
    """
    lines = []
    for key, value in raw.items():
        if isinstance(value, list):
            lines += [f"{key}:", *(f"  - {_flow(each)}" for each in value)]
        elif isinstance(value, dict) and any(isinstance(inner, dict) for inner in value.values()):
            lines += [f"{key}:", *(f"  {_scalar(name)}: {_flow(inner)}" for name, inner in value.items())]
        else:
            lines.append(f"{key}: {_flow(value)}")
    return "\n".join(lines) + "\n"


def _flow(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_scalar(key)}: {_flow(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return _scalar(value)


def _scalar(value: object) -> str:
    if isinstance(value, str):
        plain = _PLAIN.fullmatch(value) and value.lower() not in _NOT_TEXT
        return value if plain else json.dumps(value, ensure_ascii=False)
    return json.dumps(value)
