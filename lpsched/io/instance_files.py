"""Files of instances: a document, and its tables in sidecar files."""

from __future__ import annotations

import json
import math
import re
import textwrap
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from lpsched.errors import InputIssue, InstanceError, LpschedWarning, OutputError, Place
from lpsched.io import limits
from lpsched.io.content import write_files
from lpsched.io.documents import SUFFIXES, Document, read_document
from lpsched.io.rows import Gatherer, gather_rows
from lpsched.io.series_files import read_series_file
from lpsched.io.tables import read_matrix_file, read_table_file, write_csv, write_npz, write_parquet
from lpsched.model.base import Instance
from lpsched.model.kinds import name_of
from lpsched.model.problems import in_file_order
from lpsched.model.table import Axes, Column, Named, SparseMatrix, Table, rows_of

if TYPE_CHECKING:
    from lpsched.model.fields import Amount
    from lpsched.model.series import Series
    from lpsched.model.series_reader import SeriesTerms


# What reading and writing have in common for all kinds of instances.
Contents = dict[Path, tuple[bytes, tuple[str, ...]]]  # of each file, and the keys whose values it holds
FEW_PAIRS: Final = 1_000  # up to here a table is written by name
MANY_PAIRS: Final = 100_000  # beyond, into a file of its own


_PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.+/()-]*")
_UNSHOWN: Final = re.compile(r"[^ -~]")  # what may have to be escaped
_NOT_TEXT: Final = frozenset(("null", "true", "false", "yes", "no", "on", "off", "y", "n"))
WIDTH: Final = 100  # characters of a line of words


Some = TypeVar("Some", bound=Instance)


def read_as(model: type[Some], path: Path | str) -> Some:
    """Read an instance from a YAML or JSON file, with the files that it names; suspect input gives warnings."""
    path = Path(path)
    return instance_of(model, read_document(path), path)


def instance_of(model: type[Some], document: Document, path: Path) -> Some:
    """Make an instance of what the file at `path` says; see `read_as`."""
    beside = Sidecars(path, name_of(model.FORMAT))
    return made_of(document, path, lambda raw: model.read(raw, str(path), context=beside))


def made_of(document: Document, path: Path, make: Callable[[object], Some]) -> Some:
    """Make an instance from the content of a file; suspect input gives warnings."""
    issues = list(document.issues)
    try:
        instance = make(document.value)
    except InstanceError as error:
        issues += error.issues
    if issues:
        raise InstanceError(
            str(path),
            tuple(
                each if each.file or each.line else replace(each, line=document.line_of(each.path))
                for each in in_file_order(issues, document.value)
            ),
        )
    for sentence in instance.remarks():
        warnings.warn(f"{path}: {sentence}", LpschedWarning, stacklevel=3)
    return instance


def require_suffix(path: Path) -> None:
    """Raise an error if a file's ending is neither YAML's nor JSON's."""
    if path.suffix.lower() not in SUFFIXES:
        issue = InputIssue((), f"the ending {path.suffix!r}", " or ".join(SUFFIXES), "name the output accordingly")
        raise InstanceError(str(path), (issue,))


def document_bytes(raw: dict[str, Any], path: Path, *, as_yaml: Callable[[dict[str, Any]], str] | None = None) -> bytes:
    """Return the mapping as the bytes of a YAML (by `as_yaml`) or JSON file, if they can be read again."""
    is_json = path.suffix.lower() == ".json"
    text = json.dumps(raw, indent=1, ensure_ascii=False) + "\n" if is_json else (as_yaml or yaml_text)(raw)
    try:
        content = text.encode()
    except UnicodeEncodeError:  # the name of a table file that is not text
        raise OutputError(f"cannot write {path}: its name is not UTF-8; choose another name") from None
    most, do = (limits.MOST_JSON_BYTES, "choose --tables npz") if is_json else (limits.MOST_YAML_BYTES, "write .json")
    if len(content) > most:
        raise OutputError(f"cannot write {path}: it would have {len(content):,} bytes, more than {most:,}; {do}")
    return content


def write_document(
    path: Path, contents: Contents, raw_of: Callable[[dict[str, str]], dict[str, Any]]
) -> tuple[Path, ...]:
    """Write a document and the files beside it; return all, the document last.

    `raw_of` makes the document, given the names of the files by the keys whose values they hold.
    """
    require_suffix(path)
    raw = raw_of({key: file.name for file, (_, keys) in contents.items() for key in keys})
    files = {file: content for file, (content, _) in contents.items()} | {path: document_bytes(raw, path)}
    write_files(files)
    return tuple(files)


def written_tables(
    tables: Mapping[str, Table | None], axes: Axes, form: TableForm | None, files: Mapping[str, str]
) -> dict[str, Any]:
    """Return the keys of a document for its tables: the name of the file of each, or its numbers."""
    return {
        key: {"file": files[key]}
        if key in files
        else inline_table(table, axes.rows, axes.columns, by_name=form is not TableForm.MATRIX)
        for key, table in tables.items()
        if table is not None
    }


def inline_table(
    table: Table, tasks: Sequence[Named], kinds: Sequence[Column], *, by_name: bool
) -> list[list[Any]] | dict[str, dict[str, Any]]:
    """Return a table as it stands inside a file: rows of numbers, or what can run by its names."""
    rows = rows_of(table, kinds)
    if not by_name:
        return rows
    names = [kind.name for kind in kinds]
    return {
        task.name: {
            name: entry
            for name, entry in zip(names, row, strict=True)
            if any(cell is not None for cell in (entry if isinstance(entry, list) else [entry]))
        }
        for task, row in zip(tasks, rows, strict=True)
    }


def yaml_text(raw: dict[str, Any], *, widest: float = math.inf) -> str:
    """Write an instance's mapping as YAML for people: one line per type, row of a table, or cell of curves.

    A mapping of plain values stands in one line, or in one for each where that would be wider than `widest`.
    Words in a list stand side by side, and a long text on several lines. Texts that a YAML 1.1 or 1.2 reader
    could take for something else are quoted.
    """
    lines = []
    for key, value in raw.items():
        if isinstance(value, list) and value and all(isinstance(each, str) and len(each) <= WIDTH for each in value):
            lines += [f"{key}: [", *_wrapped([_scalar(each) for each in value]), "]"]
        elif isinstance(value, list) and not all(isinstance(each, int | float) for each in value):
            lines += [f"{key}:", *(f"  - {_flow(each)}" for each in value)]
        elif isinstance(value, dict) and any(  # curves: a line for each cluster
            isinstance(inner, dict) for each in value.values() if isinstance(each, dict) for inner in each.values()
        ):
            lines.append(f"{key}:")
            for name, curves in value.items():
                inner = [f"    {_scalar(each)}: {_flow(curve)}" for each, curve in curves.items()]
                lines += [f"  {_scalar(name)}:" + ("" if inner else " {}"), *inner]
        elif isinstance(value, dict) and (
            any(isinstance(each, dict) or _begins_with(each, dict) for each in value.values())
            or (len(_flow(value)) > widest and not any(_begins_with(each, list) for each in value.values()))
        ):
            lines += [f"{key}:", *(f"  {_scalar(name)}: {_flow(inner)}" for name, inner in value.items())]
        elif isinstance(value, dict) and value and all(_begins_with(each, list) for each in value.values()):
            for name, inner in value.items():
                lines += [f"{key}:", f"  {_scalar(name)}:", *(f"    - {_flow(each)}" for each in inner)]
        elif isinstance(value, str) and len(value) > WIDTH and "  " not in value:
            words = textwrap.wrap(_scalar(value), WIDTH, break_long_words=False, break_on_hyphens=False)
            lines += [f"{key}:", *(f"  {line}" for line in words)]  # YAML reads each break as a blank
        else:
            lines.append(f"{key}: {_flow(value)}")
    return "\n".join(lines) + "\n"


def _begins_with(value: object, kind: type) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], kind)


def _wrapped(words: list[str]) -> list[str]:
    lines = [""]
    for word in words:
        if len(lines[-1]) + len(word) > WIDTH:
            lines.append("")
        lines[-1] += f" {word}," if lines[-1] else f"  {word},"
    return lines


def _flow(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_scalar(key)}: {_flow(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return _scalar(value)


def _scalar(value: object) -> str:
    if isinstance(value, str):
        plain = _PLAIN.fullmatch(value) and value.lower() not in _NOT_TEXT
        return value if plain else _UNSHOWN.sub(_escaped, json.dumps(value, ensure_ascii=False))
    return json.dumps(value)


def _escaped(found: re.Match[str]) -> str:
    """Return a character as YAML escapes it, unless it can be shown; JSON leaves most of them as they are."""
    letter = found[0]
    is_half = "\ud800" <= letter <= "\udfff"  # for bytes that are no text; the encoder rejects it
    return letter if letter.isprintable() or is_half else f"\\U{ord(letter):08x}"


class TableForm(StrEnum):
    """How the tables of a bag are written."""

    NAMES = "names"
    MATRIX = "matrix"
    CSV = "csv"
    NPZ = "npz"
    PARQUET = "parquet"


def usual_form(table: Table) -> TableForm:
    """Return how a table of this size is written where no form is given."""
    pairs = table.rows * table.columns
    if pairs <= FEW_PAIRS:
        return TableForm.NAMES
    return TableForm.MATRIX if pairs <= MANY_PAIRS else TableForm.NPZ


def table_files(held: dict[str, Table], axes: Axes, path: Path, form: TableForm | None) -> Contents:
    """Return the files of tables beside the instance file at `path`; none for a form inside it.

    Their names begin with the whole name of the instance's file, so that two instances never share one.
    """
    names, labels = axes.names, axes.labels
    if form is TableForm.NPZ:
        return {path.with_name(f"{path.name}.npz"): (write_npz(held, names, labels), tuple(held))}
    if form not in (writers := {TableForm.CSV: write_csv, TableForm.PARQUET: write_parquet}):
        return {}
    return {
        path.with_name(f"{path.name}.{key}.{form}"): (writers[form](table, names, labels), (key,))
        for key, table in held.items()
    }


class Sidecars:
    """Reads the tables, matrices, rows and series beside one file; `kind` is what that is, for messages."""

    def __init__(self, path: Path, kind: str) -> None:
        self.folder, self.kind = path.parent, kind

    def table(self, file: str, key: str, check: Amount, axes: Axes) -> Table:
        """Read a table."""
        return read_table_file(self.inside(file, (key, "file"), "table"), key, check, axes)

    def matrix(self, file: str, path: Place, check: Amount, size: int) -> SparseMatrix:
        """Read a square matrix."""
        return read_matrix_file(self.inside(file, (*path, "file"), "matrix"), path, check, size)

    def rows(self, file: str, key: str, gatherer: Gatherer) -> None:
        """Gather the rows of a file."""
        gather_rows(self.inside(file, (key, "file"), f"file of {key}"), key, gatherer)

    def series(self, file: str, terms: SeriesTerms, place: Place, **named: str | None) -> Series:
        """Read a series; `named` says which columns hold it, and its unit."""
        return read_series_file(self.inside(file, (*place, "file"), "series"), terms, place, **named)

    def inside(self, file: str, place: Place, word: str) -> Path:
        """Return the path of a file that is named at a place; `word` is what it holds, for messages."""
        path = self.folder / file
        try:
            inside = path.resolve().is_relative_to(self.folder.resolve())
        except (OSError, ValueError, RuntimeError):  # a loop of links, a NUL character
            inside = False
        if not inside:
            needed = f"a file in the folder of the {self.kind}, or below it"
            issue = InputIssue(place, f"the path {file!r}", needed, f"copy the {word} there")
            raise InstanceError(str(path), (issue,))
        return path
