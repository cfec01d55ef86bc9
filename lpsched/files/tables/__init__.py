"""Tables of seconds or watts in files of their own: `.csv`, `.npz`, `.parquet`.

Each format has a module with `read` and `write`. What is compressed is compared with the file's lists before
it is unpacked, so a small file cannot fill memory; what is text may have 64 MiB.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lpsched.errors import quote
from lpsched.files.tables import csv_file, npz_file, parquet_file
from lpsched.files.tables.contract import TableContract

if TYPE_CHECKING:
    from pathlib import Path

    from lpsched.instance.fields import Amount
    from lpsched.instance.table import Axes, Table

_READERS: Final = {".csv": csv_file.read, ".npz": npz_file.read, ".parquet": parquet_file.read}


def read_table_file(path: Path, key: str, check: Amount, axes: Axes) -> Table:
    """Read the table `key` between these lists.

    Raises
    ------
    InstanceError
        If the file is unreadable, or does not fit the types, or has a cell that is refused.
    MissingExtraError
        If it is a Parquet file and PyArrow is not installed.
    """
    contract = TableContract(path, key, check, axes)
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise contract.refusal(f"the ending {quote(path.suffix)}", " or ".join(_READERS), "convert the table")
    return reader(contract)
