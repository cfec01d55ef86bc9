"""A table as `.parquet`: a column `task_type`, then one column per label; null and NaN cannot run.

Rows and columns may come in any order. Needs PyArrow, the extra `parquet`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lpsched.errors import InstanceError, quote
from lpsched.io.content import load_arrow
from lpsched.io.table_contract import CORNER, MOST_BYTES, TableContract

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.model.arrays import Floats
    from lpsched.model.table import Table


def read(contract: TableContract) -> Table:
    """Read the table."""
    pa, pq = load_arrow(f"reading {contract.path.name}")
    content = contract.content()
    try:
        file = pq.ParquetFile(pa.BufferReader(content))
        _check_size(contract, file.metadata)
        return contract.pack(_cells(contract, pa, file.read(use_threads=False)))
    except InstanceError:
        raise
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:
        reason = quote(str(error).partition("\n")[0])
        raise contract.refusal(f"a broken file ({reason})", "a Parquet file", "write it again") from None


def _cells(contract: TableContract, pa: Any, arrow: Any) -> Floats:  # noqa: ANN401 - PyArrow has no types
    """Put rows and columns into the order of the contract; by place, since two columns may share a name."""
    labels = list(arrow.column_names)
    corner = labels.index(CORNER) if CORNER in labels else None
    names = [] if corner is None else arrow.column(corner).to_pylist()
    if corner is None or not all(isinstance(name, str) for name in names):
        raise contract.refusal("no names of task types", f"a column {CORNER} of texts", "add it")
    places = [place for place in range(len(labels)) if place != corner]
    faults = contract.mismatches(names, [labels[place] for place in places])
    if faults:
        raise InstanceError(str(contract.path), tuple(faults))
    for place in places:
        kind = arrow.column(place).type
        if not (pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_null(kind)):
            raise contract.refusal(f"the column {quote(labels[place])} of type {kind}", "numbers", "convert it")
    of_label = {labels[place]: arrow.column(place).cast(pa.float64(), safe=False).to_numpy() for place in places}
    row_of = {name: row for row, name in enumerate(names)}
    cells = np.stack([of_label[label] for label in contract.labels], axis=1)
    return np.ascontiguousarray(cells[[row_of[name] for name in contract.names]])


def _check_size(contract: TableContract, metadata: Any) -> None:  # noqa: ANN401 - PyArrow has no types
    rows, columns = len(contract.names), len(contract.labels) + 1
    if (metadata.num_rows, metadata.num_columns) != (rows, columns):
        found = f"{metadata.num_rows} rows and {metadata.num_columns} columns"
        raise contract.refusal(found, f"{rows} rows and {columns} columns, {CORNER} among them", "mend its shape")
    unpacked = sum(metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups))
    if unpacked > MOST_BYTES:
        raise contract.refusal(f"{unpacked:,} bytes unpacked", f"at most {MOST_BYTES:,}", "use plain numbers")


def write(table: Table, names: Sequence[str], labels: Sequence[str]) -> bytes:
    """Return the table as Parquet."""
    pa, pq = load_arrow("writing Parquet")
    cells = np.frombuffer(table.packed).reshape(table.rows, table.columns)
    columns = [pa.array(cells[:, column], from_pandas=True) for column in range(table.columns)]
    arrow = pa.Table.from_arrays([pa.array(names, pa.string()), *columns], names=[CORNER, *labels])
    out = pa.BufferOutputStream()
    pq.write_table(arrow, out)
    content: bytes = out.getvalue().to_pybytes()
    return content
