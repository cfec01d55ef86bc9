"""Tables as `.npz`: arrays `seconds` and `watts`, or a single array of any name; NaN cannot run.

Rows and columns are in the order of the file's lists, the P-states of a type side by side. Arrays
`task_types` and `columns` with the names are optional, and checked if they are there. Nothing is unpickled.
"""

from __future__ import annotations

import io
import warnings
import zipfile
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lpsched.errors import LONGEST_NAME, InstanceError, quote

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from lpsched.io.table_contract import TableContract
    from lpsched.model.arrays import Floats
    from lpsched.model.table import Table

NUMBERS: Final = "fiu"  # the kinds of NumPy types that are plain numbers
TEXT: Final = "U"
LONGEST_LABEL: Final = 2 * LONGEST_NAME + 1
LONGEST_HEADER: Final = 10_000  # bytes; NumPy's own limit, but NumPy reads it all before it looks


def read(contract: TableContract) -> Table:
    """Read the table."""
    try:
        with zipfile.ZipFile(io.BytesIO(contract.content())) as archive, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of NumPy, about what we refuse or round anyway
            cells = _cells(contract, archive)
    except InstanceError:
        raise
    except Exception as error:  # noqa: BLE001 - on a broken file zipfile and NumPy raise whatever they like
        needed = "an .npz file as numpy.savez writes it"
        found = f"a broken archive ({type(error).__name__})"
        raise contract.refusal(found, needed, "write it again") from None
    return contract.pack(cells)


def _cells(contract: TableContract, archive: zipfile.ZipFile) -> Floats:
    """Find the array and check what the archive says of its names."""
    members = [name.removesuffix(".npy") for name in archive.namelist()]
    for member, wanted in (("task_types", contract.names), ("columns", contract.labels)):
        if member in members:
            found = _member(contract, archive, member, (len(wanted),), TEXT).tolist()
            _same_names(contract, member, found, wanted)
    if contract.key not in members and len(members) != 1:
        there = f"the arrays {', '.join(map(quote, members[:9]))}" if members else "no arrays"
        raise contract.refusal(there, f"one named {contract.key}", "rename the array")
    member = contract.key if contract.key in members else members[0]
    return _member(contract, archive, member, contract.shape, NUMBERS).astype(float)


def _same_names(contract: TableContract, member: str, found: list[str], wanted: Sequence[str]) -> None:
    for place, (name, expected) in enumerate(zip(found, wanted, strict=True)):
        if name != expected:
            there = f"{quote(name)} at place {place} of its {member}"
            raise contract.refusal(there, quote(expected), f"write it in the order of the {contract.axes.kind}'s lists")


def _member(
    contract: TableContract, archive: zipfile.ZipFile, member: str, shape: tuple[int, ...], kinds: str
) -> NDArray[Any]:
    """Read one array, after its header has shown the right shape and kind."""
    found, dtype = header_of(archive, member, contract.refusal)
    if found != shape:
        needed = f"{' x '.join(map(str, shape))}, as the {contract.axes.kind}'s lists have it"
        there = f"the array {quote(member)} of shape {' x '.join(map(str, found)) or 'none'}"
        raise contract.refusal(there, needed, "mend its shape")
    if dtype.kind not in kinds or dtype.itemsize > 4 * LONGEST_LABEL:
        needed = "plain numbers" if kinds == NUMBERS else f"names of at most {LONGEST_LABEL} characters"
        raise contract.refusal(f"the array {quote(member)} of type {dtype}", needed, "convert it")
    return array_of(archive, member)


def header_of(
    archive: zipfile.ZipFile, member: str, refusal: Callable[[str, str, str], InstanceError]
) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Return the shape and type of an array without unpacking it."""
    with archive.open(f"{member}.npy") as file:
        start = file.read(12)  # magic, version, and the length of the header in two or four bytes
        if int.from_bytes(start[8:10] if start[6:7] == b"\x01" else start[8:12], "little") > LONGEST_HEADER:
            raise refusal(f"the array {quote(member)} with a huge header", "a plain array", "write it again")
    with archive.open(f"{member}.npy") as file:
        version = np.lib.format.read_magic(file)
        wide = version != (1, 0)
        shape, _, dtype = (np.lib.format.read_array_header_2_0 if wide else np.lib.format.read_array_header_1_0)(file)
    return shape, dtype


def array_of(archive: zipfile.ZipFile, member: str) -> NDArray[Any]:
    """Return an array whose header has been looked at; nothing is unpickled."""
    with archive.open(f"{member}.npy") as file:
        array: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
    return array


def write(tables: Mapping[str, Table], names: Sequence[str], labels: Sequence[str]) -> bytes:
    """Return the tables as one archive, with the names."""
    arrays: dict[str, NDArray[Any]] = {"task_types": np.array(names), "columns": np.array(labels)}
    for key, table in tables.items():
        arrays[key] = np.frombuffer(table.packed).reshape(table.rows, table.columns)
    out = io.BytesIO()
    np.savez(out, allow_pickle=False, **arrays)  # times hardly compress, and this reads at once
    return out.getvalue()
