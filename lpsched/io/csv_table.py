"""A table as `.csv`: a header of column labels, a first column of task types, both in any order.

A label is the machine type's name, or `name:P-state` where it has P-states. An empty cell cannot run.
"""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from pydantic_core import PydanticCustomError

from lpsched.errors import MOST_FAULTS, Fault, InstanceError
from lpsched.io.content import MOST_TEXT_BYTES, as_text
from lpsched.io.documents import resolve
from lpsched.io.table_contract import CORNER, TableContract

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lpsched.model.table import Table


def read(contract: TableContract) -> Table:
    """Read the table."""
    try:
        text = as_text(contract.path, contract.content(MOST_TEXT_BYTES))
        lines = lines_of(text)
    except csv.Error as error:
        raise contract.refusal(f"broken CSV: {error}", "CSV", "mend the file") from None
    except InstanceError as error:
        raise contract.here(error) from None
    header, body = lines[0][1], lines[1:]
    faults = [
        contract.fault(f"a row of {len(row)} cells", f"{len(header)}, as in the header", "complete the row", number)
        for number, row in body
        if len(row) != len(header)
    ]
    faults += contract.mismatches([row[0] for _, row in body], header[1:])
    if faults:
        raise InstanceError(str(contract.path), tuple(faults[:MOST_FAULTS]))
    place = {label: column for column, label in enumerate(header) if column}
    order = [place[label] for label in contract.labels]
    by_name = {row[0]: (number, row) for number, row in body}
    return _cells(contract, [by_name[name] for name in contract.names], order)


def lines_of(text: str) -> list[tuple[int, list[str]]]:
    """Return the rows of a CSV that are not empty, each with its line in the file."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    return [(reader.line_num, row) for row in reader if row]


def _cells(contract: TableContract, rows: list[tuple[int, list[str]]], order: list[int]) -> Table:
    check, faults = contract.check, list[Fault]()
    cells = np.full(contract.shape, np.nan)
    for i, (number, row) in enumerate(rows):
        for column, place in enumerate(order):
            value = resolve(row[place].strip())
            try:
                if value is not None:
                    cells[i, column] = check(value)
            except PydanticCustomError as refused:
                if len(faults) < MOST_FAULTS:
                    faults.append(replace(contract.cell_fault(refused, i, column), line=number))
    if faults:
        raise InstanceError(str(contract.path), tuple(faults))
    return contract.pack(cells)


def write(table: Table, names: Sequence[str], labels: Sequence[str]) -> bytes:
    """Return the table as CSV; an absent cell is empty, a number has all its digits."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([CORNER, *labels])
    for name, row in zip(names, table, strict=True):
        writer.writerow([name, *("" if cell is None else repr(cell) for cell in row)])
    return out.getvalue().encode()
