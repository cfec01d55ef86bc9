"""Rules that all kinds of instances share: names, tables, repeats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pydantic_core import PydanticCustomError

from lpsched.errors import Fault, Place, quote
from lpsched.model.fields import check_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lpsched.model.table import Check, Table

DOUBLE_BYTES: Final = 8


def unnamed(name: object) -> Iterator[Fault]:
    """Return the fault of what is no name for an instance."""
    try:
        check_name(name)
    except PydanticCustomError as refused:
        yield Fault(("name",), **(refused.context or {}))


def unsound(key: str, table: Table | None, shape: tuple[int, int], names: str, check: Check) -> Iterator[Fault]:
    """Return the faults of a table: its shape, and its cells if no reader has checked them."""
    if table is None:
        return
    if (table.rows, table.columns) != shape or len(table.packed) != DOUBLE_BYTES * shape[0] * shape[1]:
        found, needed = f"a table of {table.rows} x {table.columns}", f"{shape[0]} x {shape[1]}, {names}"
        yield Fault((key,), found, needed, "mend its shape")
        return
    for flat, cell in enumerate(table.cells.tolist() if table.checked_as != key else ()):
        try:
            if cell == cell:  # noqa: PLR0124 - not NaN
                check(cell)
        except PydanticCustomError as refused:
            yield Fault((key, *divmod(flat, shape[1])), **(refused.context or {}))


def repeats(names: Sequence[str], path: Place, tail: Place) -> Iterator[Fault]:
    """Return a fault for each name that was given before."""
    seen: set[str] = set()
    for index, name in enumerate(names):
        if name in seen:
            yield Fault((*path, index, *tail), f"{quote(name)} once more", "a name of its own", "rename one")
        seen.add(name)
