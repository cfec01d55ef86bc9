"""Square matrices in files of their own: air mixing as `.npz` or `.csv`.

`.npz`: one dense array (of any name if it is the only one, else named as the key), or the arrays `rows`,
`columns` (whole numbers from 0) and `values` of the entries that are not 0, in any order.
`.csv`: rows of numbers, without names. Places are in the order of the lists, nodes before CRAC units.
"""

from __future__ import annotations

import csv
import io
import warnings
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from pydantic_core import PydanticCustomError

from lpsched.errors import MOST_FAULTS, Fault, InstanceError, quote
from lpsched.io.content import MOST_TEXT_BYTES, as_text, read_bytes
from lpsched.io.csv_table import lines_of
from lpsched.io.documents import resolve
from lpsched.io.npz_table import NUMBERS, array_of, header_of
from lpsched.io.table_contract import MOST_BYTES
from lpsched.model.fields import SMALLEST
from lpsched.model.table import SparseMatrix

if TYPE_CHECKING:
    from pathlib import Path

    from lpsched.errors import Place
    from lpsched.model.arrays import Floats, Integers
    from lpsched.model.fields import Amount

TRIPLETS: Final = ("rows", "columns", "values")
WHOLE: Final = "iu"  # the kinds of NumPy types that are whole numbers


@dataclass(frozen=True, slots=True)
class _Contract:
    """A matrix of `size` x `size`, the place `at` of an instance, in the file `path`."""

    path: Path
    at: Place
    check: Amount
    size: int

    def fault(self, found: str, needed: str, do: str, *inner: int, line: int | None = None) -> Fault:
        return Fault((*self.at, *inner), found, needed, do, line=line, file=self.path.name)

    def refusal(self, found: str, needed: str, do: str) -> InstanceError:
        return InstanceError(str(self.path), (self.fault(found, needed, do),))


def read_matrix_file(path: Path, at: Place, check: Amount, size: int) -> SparseMatrix:
    """Read the matrix that an instance has at the place `at`."""
    contract = _Contract(path, at, check, size)
    readers = {".npz": _read_npz, ".csv": _read_csv}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        needed = " or ".join(readers)
        raise contract.refusal(f"the ending {quote(path.suffix)}", needed, "convert the matrix")
    try:
        return reader(contract)
    except InstanceError as error:
        faults = [
            each if each.path else contract.fault(each.found, each.needed, each.do, line=each.line)
            for each in error.faults
        ]
        raise InstanceError(str(path), tuple(faults)) from None


def _read_csv(contract: _Contract) -> SparseMatrix:
    text = as_text(contract.path, read_bytes(contract.path, MOST_TEXT_BYTES))
    try:
        lines = lines_of(text)
    except csv.Error as error:
        raise contract.refusal(f"broken CSV: {error}", "CSV", "mend the file") from None
    if len(lines) != contract.size:
        raise contract.refusal(
            f"{len(lines)} rows", f"{contract.size}, one for each place, and no header", "mend its shape"
        )
    rows: list[list[tuple[int, float]]] = []
    faults: list[Fault] = []
    for v, (number, row) in enumerate(lines):
        if len(row) != contract.size:
            found = f"a row of {len(row)} cells"
            faults.append(contract.fault(found, f"{contract.size}", "complete the row", v, line=number))
            continue
        own = []
        for u, cell in enumerate(row):
            try:
                own.append((u, contract.check(resolve(cell.strip()))))
            except PydanticCustomError as refused:
                why = refused.context or {}
                faults.append(contract.fault(why["found"], why["needed"], why["do"], v, u, line=number))
        rows.append(own)
        if len(faults) >= MOST_FAULTS:
            break
    if faults:
        raise InstanceError(str(contract.path), tuple(faults[:MOST_FAULTS]))
    return SparseMatrix.of(rows, contract.size)


def _read_npz(contract: _Contract) -> SparseMatrix:
    content = read_bytes(contract.path, MOST_BYTES)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of NumPy, about what we refuse anyway
            members = [name.removesuffix(".npy") for name in archive.namelist()]
            if set(TRIPLETS) <= set(members):
                return _entries(contract, archive)
            return _dense(contract, archive, members)
    except InstanceError:
        raise
    except Exception as error:  # noqa: BLE001 - on a broken file zipfile and NumPy raise whatever they like
        needed = "an .npz file as numpy.savez writes it"
        found = f"a broken archive ({type(error).__name__})"
        raise contract.refusal(found, needed, "write it again") from None


def _dense(contract: _Contract, archive: zipfile.ZipFile, members: list[str]) -> SparseMatrix:
    key = str(contract.at[-1])
    if key not in members and len(members) != 1:
        there = f"the arrays {', '.join(map(quote, members[:9]))}" if members else "no arrays"
        needed = f"one named {key}, or {', '.join(TRIPLETS)}"
        raise contract.refusal(there, needed, "rename the array")
    member = key if key in members else members[0]
    shape, dtype = header_of(archive, member, contract.refusal)
    if shape != (contract.size, contract.size) or dtype.kind not in NUMBERS:
        there = f"the array {quote(member)} of shape {' x '.join(map(str, shape)) or 'none'} and type {dtype}"
        needed = f"{contract.size} x {contract.size} numbers"
        raise contract.refusal(there, needed, "mend its shape or type")
    cells = array_of(archive, member).astype(float)
    rows, columns = np.nonzero(cells)  # NaN is not zero either
    return _packed(contract, rows, columns, cells[rows, columns])


def _entries(contract: _Contract, archive: zipfile.ZipFile) -> SparseMatrix:
    headers = {member: header_of(archive, member, contract.refusal) for member in TRIPLETS}
    length = headers["values"][0]
    for member, (shape, dtype) in headers.items():
        kinds, word = (NUMBERS, "numbers") if member == "values" else (WHOLE, "whole numbers")
        if shape != length or len(shape) != 1 or shape[0] > contract.size**2 or dtype.kind not in kinds:
            there = f"the array {quote(member)} of shape {' x '.join(map(str, shape)) or 'none'}, type {dtype}"
            needed = f"as many {word} as there are entries, at most {contract.size**2:,}"
            raise contract.refusal(there, needed, "write rows, columns and values alike")
    rows, columns = (array_of(archive, member).astype(np.int64) for member in TRIPLETS[:2])
    outside = (rows < 0) | (rows >= contract.size) | (columns < 0) | (columns >= contract.size)
    if outside.any():
        first = int(np.flatnonzero(outside)[0])
        there = f"an entry at row {rows[first]}, column {columns[first]}"
        raise contract.refusal(there, f"numbers from 0 to {contract.size - 1}", "count from 0")
    values = array_of(archive, "values").astype(float)
    order = np.lexsort((columns, rows))
    rows, columns, values = rows[order], columns[order], values[order]
    twice = (np.diff(rows) == 0) & (np.diff(columns) == 0)
    if twice.any():
        first = int(np.flatnonzero(twice)[0])
        there = f"two entries at row {rows[first]}, column {columns[first]}"
        raise contract.refusal(there, "each place once", "add them up")
    kept = values != 0.0
    return _packed(contract, rows[kept], columns[kept], values[kept])


def _packed(contract: _Contract, rows: Integers, columns: Integers, values: Floats) -> SparseMatrix:
    """Pack entries in order of rows and columns, if the check of a single one passes them all."""
    refused = ~((values >= SMALLEST) & (values <= contract.check.most))
    faults = []
    for entry in np.flatnonzero(refused)[:MOST_FAULTS].tolist():
        try:
            contract.check(float(values[entry]))
        except PydanticCustomError as error:
            why = error.context or {}
            place = int(rows[entry]), int(columns[entry])
            faults.append(contract.fault(why["found"], why["needed"], why["do"], *place))
    if faults:
        raise InstanceError(str(contract.path), tuple(faults))
    starts = np.zeros(contract.size + 1, dtype=np.int64)
    np.cumsum(np.bincount(rows, minlength=contract.size), out=starts[1:])
    return SparseMatrix(
        contract.size, contract.size, starts.tobytes(), columns.astype(np.int64).tobytes(), values.tobytes()
    )


def write_npz(matrix: SparseMatrix) -> bytes:
    """Return the entries of a matrix as an archive."""
    starts = np.frombuffer(matrix.starts, dtype=np.int64)
    out = io.BytesIO()
    np.savez_compressed(
        out,
        allow_pickle=False,
        rows=np.repeat(np.arange(matrix.rows, dtype=np.int32), np.diff(starts)),
        columns=np.frombuffer(matrix.places, dtype=np.int64).astype(np.int32),
        values=np.frombuffer(matrix.packed),
    )
    return out.getvalue()


def write_csv(matrix: SparseMatrix) -> bytes:
    """Return a matrix with its zeros as CSV; a number has all its digits."""
    return "".join(f"{','.join(map(repr, row))}\n" for row in matrix.dense()).encode()
