"""Tables of seconds or watts in files of their own: `.csv`, `.npz`, `.parquet`.

- `.csv`: a header with the column labels and a first column with the task types, in any order; an empty
  cell cannot run. A label is the machine type's name, or `name:P-state` where it has P-states.
- `.npz`: the table is the array named `seconds` or `watts`, or the only array there is; rows and columns
  in the order of the bag's lists, NaN cannot run. Arrays `task_types` and `columns` with the names are
  optional, and checked if they are there.
- `.parquet`: a column `task_type`, then one column per label; null and NaN cannot run.

Sizes are compared with the bag's lists before anything is unpacked, so a small file cannot fill memory.
"""

from __future__ import annotations

import csv
import io
import zipfile
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lpsched.errors import MOST_FAULTS, Fault, InstanceError, MissingExtraError
from lpsched.files.documents import as_text, read_bytes, resolve
from lpsched.instance import MachineType, Table, TaskType
from lpsched.instance.fields import LARGEST, SMALLEST, check_seconds, check_watts, describe, nearest, quote
from lpsched.instance.table import read_table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path as FilePath

    from numpy.typing import NDArray

    from lpsched.instance.arrays import Floats

MOST_BYTES: Final = 512 * 2**20
SUFFIXES: Final = (".csv", ".npz", ".parquet")
CORNER: Final = "task_type"  # the header of the column of task types
CHECKS: Final = {"seconds": check_seconds, "watts": check_watts}


def read_table_file(
    path: FilePath, key: str, tasks: Sequence[TaskType], machines: Sequence[MachineType]
) -> Table:
    """Read the table `key` of a bag with these types.

    Raises
    ------
    InstanceError
        If the file is unreadable, or does not fit the types, or has a cell that is refused.
    MissingExtraError
        If it is a Parquet file and PyArrow is not installed.
    """
    labels = labels_of(machines)
    reader = _TableFile(path, key, [task.name for task in tasks], labels)
    match path.suffix.lower():
        case ".csv":
            return reader.csv()
        case ".npz":
            return reader.npz()
        case ".parquet":
            return reader.parquet()
        case ending:
            raise reader.refusal(f"the ending {quote(ending)}", " or ".join(SUFFIXES), "convert the table")


def labels_of(machines: Sequence[MachineType]) -> list[str]:
    """Return the labels of a table's columns."""
    return [label for machine in machines for label in machine.columns]


class _TableFile:
    """One file, one table: what is expected of it, and the ways to read it."""

    def __init__(self, path: FilePath, key: str, names: list[str], labels: list[str]) -> None:
        self.path = path
        self.key = key
        self.names = names
        self.labels = labels

    def fault(
        self, found: str, needed: str, do: str, line: int | None = None, at: tuple[str, ...] = ()
    ) -> Fault:
        return Fault((self.key, *at), found, needed, do, line=line, file=self.path.name)

    def refusal(self, found: str, needed: str, do: str) -> InstanceError:
        return InstanceError(str(self.path), (self.fault(found, needed, do),))

    def content(self) -> bytes:
        try:
            return read_bytes(self.path, MOST_BYTES)
        except InstanceError as error:
            fault = error.faults[0]
            raise InstanceError(str(self.path), (self.fault(fault.found, fault.needed, fault.do),)) from None

    # --- CSV

    def csv(self) -> Table:
        try:
            text = as_text(self.path, self.content())
            rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
        except csv.Error as error:
            raise self.refusal(f"broken CSV: {error}", "CSV", "mend the file")
        except InstanceError as error:
            raise InstanceError(
                str(self.path), tuple(self.fault(f.found, f.needed, f.do, f.line) for f in error.faults)
            ) from None
        lines = [(number, row) for number, row in enumerate(rows, start=1) if row]
        header = lines[0][1]
        faults = self._ragged(lines, len(header))
        faults += self._mismatch(header[1:], self.labels, "column")
        faults += self._mismatch([row[0] for _, row in lines[1:]], self.names, "row")
        if faults:
            raise InstanceError(str(self.path), tuple(faults[:MOST_FAULTS]))
        place = {label: column for column, label in enumerate(header) if column}
        order = [place[label] for label in self.labels]
        by_name = {row[0]: row for _, row in lines[1:]}
        matrix = [[_cell(by_name[name][column]) for column in order] for name in self.names]
        plain = [MachineType(name=label, count=1) for label in self.labels]
        tasks = [TaskType(name=name, count=1) for name in self.names]
        table, faults = read_table(matrix, self.key, CHECKS[self.key], tasks, plain)
        if table is None:
            raise InstanceError(str(self.path), tuple(self._named(fault) for fault in faults))
        return table

    def _ragged(self, lines: list[tuple[int, list[str]]], width: int) -> list[Fault]:
        return [
            self.fault(
                f"a row of {len(row)} cells", f"{width} cells, as in the header", "complete the row", number
            )
            for number, row in lines
            if len(row) != width
        ]

    def _mismatch(self, found: list[str], wanted: list[str], kind: str) -> list[Fault]:
        """Return what differs between the names in the file and those of the bag."""
        faults, known, seen = [], set(wanted), set()
        for name in found:
            if name in seen:
                faults.append(self.fault(f"the {kind} {quote(name)} twice", "each once", "remove one"))
            elif name not in known:
                advice = nearest(name, wanted) if len(faults) < 20 else ""  # noqa: PLR2004
                needed = f"only the {kind}s of the bag's lists"
                faults.append(
                    self.fault(f"the {kind} {quote(name)}", needed, advice or "correct or remove it")
                )
            seen.add(name)
        missing = [name for name in wanted if name not in seen]
        if missing:
            others = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
            faults.append(
                self.fault(f"no {kind} {quote(missing[0])}{others}", f"a {kind} for each", "add it")
            )
        return faults

    def _named(self, fault: Fault) -> Fault:
        i, column = fault.path[1], fault.path[2]
        assert isinstance(i, int)
        assert isinstance(column, int)
        return self.fault(fault.found, fault.needed, fault.do, at=(self.names[i], self.labels[column]))

    # --- NumPy

    def npz(self) -> Table:
        try:
            with zipfile.ZipFile(io.BytesIO(self.content())) as archive:
                return self._checked(self._array(archive))
        except (
            zipfile.BadZipFile,
            ValueError,
            OSError,
            EOFError,
            NotImplementedError,
            RuntimeError,
        ) as error:
            if isinstance(error, InstanceError):
                raise
            raise self.refusal(
                f"a broken archive ({error})", "an .npz file as numpy.savez writes it", "write it again"
            )

    def _array(self, archive: zipfile.ZipFile) -> Floats:
        members = [name.removesuffix(".npy") for name in archive.namelist()]
        for member, wanted in (("task_types", self.names), ("columns", self.labels)):
            if member in members:
                names = self._member(archive, member, (len(wanted),), "U").tolist()
                if names != wanted:
                    at = next((k for k, (a, b) in enumerate(zip(names, wanted, strict=True)) if a != b), 0)
                    found = f"{quote(names[at])} at place {at} of its {member}"
                    raise self.refusal(
                        found, quote(wanted[at]), "write the table in the order of the bag's lists"
                    )
        if self.key not in members and len(members) != 1:
            raise self.refusal(
                f"the arrays {', '.join(members[:9]) or 'none'}", f"one named {self.key}", "rename the array"
            )
        shape = (len(self.names), len(self.labels))
        return self._member(archive, self.key if self.key in members else members[0], shape, "fiu").astype(
            float
        )

    def _member(self, archive: zipfile.ZipFile, member: str, shape: tuple[int, ...], kinds: str) -> Floats:
        """Read one array, after its header has shown the right shape and kind."""
        with archive.open(f"{member}.npy") as file:
            version = np.lib.format.read_magic(file)
            read = (
                np.lib.format.read_array_header_1_0
                if version == (1, 0)
                else np.lib.format.read_array_header_2_0
            )
            found, _, dtype = read(file)
        if found != shape:
            needed = f"{' x '.join(map(str, shape))}, as the bag's lists have it"
            raise self.refusal(
                f"the array {member} of shape {' x '.join(map(str, found)) or 'a single number'}",
                needed,
                "mend its shape",
            )
        if dtype.kind not in kinds or dtype.itemsize > 4 * 201:  # names have at most 200 characters
            raise self.refusal(
                f"the array {member} of type {dtype}",
                "plain numbers" if "f" in kinds else "names",
                "convert it",
            )
        with archive.open(f"{member}.npy") as file:
            array: Floats = np.lib.format.read_array(file, allow_pickle=False)
        return array

    # --- Parquet

    def parquet(self) -> Table:
        try:
            import pyarrow as pa  # noqa: PLC0415 - an optional dependency
            import pyarrow.parquet as pq  # noqa: PLC0415
        except ImportError as error:
            raise MissingExtraError(f"reading {self.path.name}", "parquet") from error
        try:
            file = pq.ParquetFile(pa.BufferReader(self.content()))
            self._parquet_size(file.metadata)
            columns = file.read().to_pydict()
        except (pa.ArrowException, OSError, ValueError) as error:
            if isinstance(error, InstanceError):
                raise
            reason = str(error).splitlines()[0]
            raise self.refusal(f"a broken file ({reason})", "a Parquet file", "write it again")
        names = columns.pop(CORNER, None)
        if names is None or not all(isinstance(name, str) for name in names):
            raise self.refusal("no names of task types", f"a column {CORNER} of texts", "add it")
        faults = self._mismatch(list(columns), self.labels, "column") + self._mismatch(
            names, self.names, "row"
        )
        if faults:
            raise InstanceError(str(self.path), tuple(faults[:MOST_FAULTS]))
        order = [names.index(name) for name in self.names] if names != self.names else range(len(names))
        cells = [[columns[label][row] for label in self.labels] for row in order]
        strange = next(
            (cell for row in cells for cell in row if not isinstance(cell, int | float | None)), None
        )
        if strange is not None:
            raise self.refusal(describe(strange), "numbers", "convert the column")
        return self._checked(np.array(cells, dtype=float))

    def _parquet_size(self, metadata: object) -> None:
        rows, columns = metadata.num_rows, metadata.num_columns  # type: ignore[attr-defined]
        shape = (len(self.names), len(self.labels) + 1)
        if (rows, columns) != shape:
            needed = f"{shape[0]} rows and {shape[1]} columns, {CORNER} among them"
            raise self.refusal(f"{rows} rows and {columns} columns", needed, "mend its shape")

    def _checked(self, cells: Floats) -> Table:
        """Pack an array in which NaN is absent; find the cells to refuse at the speed of NumPy."""
        absent = np.isnan(cells)
        least = SMALLEST if self.key == "seconds" else 0.0
        sound = absent | (cells >= SMALLEST) & (cells <= LARGEST) | (cells == least)
        if not sound.all():
            faults = []
            for i, column in np.argwhere(~sound)[:MOST_FAULTS].tolist():
                plain = [MachineType(name=self.labels[column], count=1)]
                task = [TaskType(name=self.names[i], count=1)]
                _, refused = read_table([[float(cells[i, column])]], self.key, CHECKS[self.key], task, plain)
                at = (self.names[i], self.labels[column])
                faults += [self.fault(each.found, each.needed, each.do, at=at) for each in refused]
            raise InstanceError(str(self.path), tuple(faults))
        packed = np.where(absent, np.nan, cells + 0.0).astype(
            "=f8"
        )  # one NaN, no -0.0: equal tables, equal bytes
        return Table(len(packed), packed.shape[1], packed.tobytes())


def _cell(text: str) -> object:
    """Return the number that a CSV cell holds, `None` if it is empty, and other text as it is."""
    return resolve(text.strip())


def write_csv(table: Table, names: Sequence[str], labels: Sequence[str]) -> bytes:
    """Return the table as CSV; an absent cell is empty, a number has all its digits."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([CORNER, *labels])
    for name, row in zip(names, table, strict=True):
        writer.writerow([name, *("" if cell is None else repr(cell) for cell in row)])
    return out.getvalue().encode()


def write_npz(tables: dict[str, Table], names: Sequence[str], labels: Sequence[str]) -> bytes:
    """Return the tables as one archive, with the names."""
    arrays: dict[str, NDArray[Any]] = {
        "task_types": np.array(names, dtype="U"),
        "columns": np.array(labels, dtype="U"),
    }
    for key, table in tables.items():
        arrays[key] = np.frombuffer(table.packed).reshape(table.rows, table.columns)
    out = io.BytesIO()
    np.savez_compressed(out, allow_pickle=False, **arrays)
    return out.getvalue()


def write_parquet(table: Table, names: Sequence[str], labels: Sequence[str]) -> bytes:
    """Return the table as Parquet.

    Raises
    ------
    MissingExtraError
        If PyArrow is not installed.
    """
    try:
        import pyarrow as pa  # noqa: PLC0415 - an optional dependency
        import pyarrow.parquet as pq  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtraError("writing Parquet", "parquet") from error
    cells = np.frombuffer(table.packed).reshape(table.rows, table.columns)
    columns = [
        pa.array(names, pa.string()),
        *(pa.array(cells[:, c], from_pandas=True) for c in range(table.columns)),
    ]
    out = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_arrays(columns, names=[CORNER, *labels]), out)
    content: bytes = out.getvalue().to_pybytes()
    return content
