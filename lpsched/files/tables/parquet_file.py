"""A table as `.parquet`: a column `task_type`, then one column per label; null and NaN cannot run.

Rows and columns may come in any order. Needs PyArrow, the extra `parquet`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lpsched.errors import InstanceError, MissingExtraError
from lpsched.files.tables.contract import CORNER, MOST_BYTES, TableContract

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.instance import Table


def _arrow(purpose: str) -> tuple[Any, Any]:
    """Load PyArrow when it is needed; it is large, and optional."""
    try:
        import pyarrow as pa  # noqa: PLC0415
        import pyarrow.parquet as pq  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtraError(purpose, "parquet") from error
    return pa, pq


def read(contract: TableContract) -> Table:
    """Read the table.

    Raises
    ------
    InstanceError
        If it is not Parquet, or does not fit the contract.
    MissingExtraError
        If PyArrow is not installed.
    """
    pa, pq = _arrow(f"reading {contract.path.name}")
    content = contract.content()
    try:
        file = pq.ParquetFile(pa.BufferReader(content))
        _check_size(contract, file.metadata)
        arrow = file.read()
        names = arrow.column(CORNER).to_pylist() if CORNER in arrow.column_names else None
    except (pa.ArrowException, OSError, ValueError) as error:
        if isinstance(error, InstanceError):
            raise
        reason = str(error).partition("\n")[0]
        raise contract.refusal(f"a broken file ({reason})", "a Parquet file", "write it again") from None
    if names is None or not all(isinstance(name, str) for name in names):
        raise contract.refusal("no names of task types", f"a column {CORNER} of texts", "add it")
    labels = [label for label in arrow.column_names if label != CORNER]
    faults = contract.mismatches(names, labels)
    if faults:
        raise InstanceError(str(contract.path), tuple(faults))
    for label in labels:
        kind = arrow.column(label).type
        if not (pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_null(kind)):
            raise contract.refusal(f"the column {label!r} of type {kind}", "numbers", "convert it")
    columns = [arrow.column(label).cast(pa.float64()).to_numpy() for label in contract.labels]
    place = {name: row for row, name in enumerate(names)}
    cells = np.stack(columns, axis=1)[[place[name] for name in contract.names]]
    return contract.pack(np.ascontiguousarray(cells))


def _check_size(contract: TableContract, metadata: Any) -> None:  # noqa: ANN401 - PyArrow has no types
    rows, columns = len(contract.names), len(contract.labels) + 1
    if (metadata.num_rows, metadata.num_columns) != (rows, columns):
        found = f"{metadata.num_rows} rows and {metadata.num_columns} columns"
        raise contract.refusal(
            found, f"{rows} rows and {columns} columns, {CORNER} among them", "mend its shape"
        )
    unpacked = sum(metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups))
    if unpacked > MOST_BYTES:
        raise contract.refusal(f"{unpacked:,} bytes unpacked", f"at most {MOST_BYTES:,}", "use plain numbers")


def write(table: Table, names: Sequence[str], labels: Sequence[str]) -> bytes:
    """Return the table as Parquet.

    Raises
    ------
    MissingExtraError
        If PyArrow is not installed.
    """
    pa, pq = _arrow("writing Parquet")
    cells = np.frombuffer(table.packed).reshape(table.rows, table.columns)
    columns = [pa.array(cells[:, column], from_pandas=True) for column in range(table.columns)]
    arrow = pa.Table.from_arrays([pa.array(names, pa.string()), *columns], names=[CORNER, *labels])
    out = pa.BufferOutputStream()
    pq.write_table(arrow, out)
    content: bytes = out.getvalue().to_pybytes()
    return content
