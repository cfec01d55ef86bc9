"""Arrays and data frames as input: tables and lists of types from NumPy, pandas and polars, without depending on them.

A frame of pandas has its names in index and columns. A frame of polars has no index: its first column holds the names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from lpsched.errors import Fault, InstanceError, quote
from lpsched.model.base import Part
from lpsched.model.fields import describe, numbered
from lpsched.model.table import Table

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

DIMENSIONS: Final = 2


def table_from(values: ArrayLike, key: str) -> Table:
    """Return a table of numbers as NumPy reads them; NaN and masked cells are pairs that cannot run.

    >>> table_from([[1, float("nan")]], "seconds").row(0)
    [1.0, None]
    """
    import numpy as np  # noqa: PLC0415 - what reads files does not load it

    filled = np.ma.filled(np.ma.asarray(values, dtype=float), np.nan) if np.ma.isMaskedArray(values) else values
    try:
        cells = np.asarray(filled, dtype=float) + 0.0
    except (TypeError, ValueError) as error:
        raise _refused(
            key, f"no numbers ({str(error).partition('.')[0]})", "an array of numbers, NaN where a pair cannot run"
        ) from None
    if cells.ndim != DIMENSIONS:
        needed = "an array of two dimensions: task types x machine types"
        raise _refused(key, f"an array of {cells.ndim} dimensions", needed)
    cells[np.isnan(cells)] = np.nan  # always with the same bytes
    rows, columns = cells.shape
    return Table(rows, columns, cells.tobytes())


def types_from(given: Any, key: str, word: str) -> list[Any]:  # noqa: ANN401 - many kinds of objects
    """Return types as a file lists them: from counts by name, counts in order, types, or a frame.

    >>> types_from({"cpu": 4}, "machines", "machine"), types_from([4, 2], "machines", "machine")
    ([{'name': 'cpu', 'count': 4}], [{'name': 'machine-1', 'count': 4}, {'name': 'machine-2', 'count': 2}])
    """
    if _is_frame(given):
        columns, names, rows = framed(given)
        return [{"name": name} | dict(zip(columns, row, strict=True)) for name, row in zip(names, rows, strict=True)]
    if hasattr(given, "items") and hasattr(given, "tolist"):  # a series of pandas
        given = {_label(name): count for name, count in zip(given.index, given.tolist(), strict=True)}
    if isinstance(given, Mapping):
        return [{"name": _label(name), "count": count} for name, count in given.items()]
    for method in ("tolist", "to_list"):  # arrays of NumPy, series of polars
        given = getattr(given, method)() if hasattr(given, method) else given
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise _refused(key, describe(given), f"counts by name, counts in the order of the table, or {word} types")
    names = numbered(word, len(given))
    return [
        each if isinstance(each, Part | Mapping) else {"name": name, "count": each}
        for name, each in zip(names, given, strict=True)
    ]


def framed(frame: Any) -> tuple[list[str], list[str], list[list[Any]]]:  # noqa: ANN401 - of pandas or polars
    """Return the names of the columns, the names of the rows, and the cells of a frame."""
    if hasattr(frame, "get_columns"):  # polars
        first, *columns = frame.columns
        rows = [list(row) for row in frame.select(columns).rows()]
        return [*map(str, columns)], [_label(each) for each in frame[first].to_list()], rows
    columns, names = frame.columns.tolist(), frame.index.tolist()
    return [*map(_label, columns)], [*map(_label, names)], frame.to_numpy().tolist()


def aligned(frame: Any, key: str, rows: Sequence[str], columns: Sequence[str]) -> list[list[Any]]:  # noqa: ANN401
    """Return the cells of a frame in the order of these rows and columns."""
    found_columns, found_rows, cells = framed(frame)
    places = []
    for word, found, wanted in (("row", found_rows, rows), ("column", found_columns, columns)):
        position = {name: index for index, name in enumerate(found)}
        lacks = [f"no {word} {quote(name)}" for name in wanted if name not in position]
        lacks += [f"a {word} {quote(name)}, which is no type" for name in position if name not in wanted]
        lacks += [f"a {word} {quote(name)} twice" for name in position if found.count(name) > 1]
        if lacks:
            needed = f"one {word} for each of {', '.join(map(quote, wanted[:5]))}"
            raise _refused(key, lacks[0], needed, "compare the names")
        places.append([position[name] for name in wanted])
    return [[cells[i][j] for j in places[1]] for i in places[0]]


def _is_frame(given: object) -> bool:
    return hasattr(given, "columns") and hasattr(given, "shape") and len(given.shape) == DIMENSIONS


def _label(name: object) -> str:
    return name if isinstance(name, str) else str(name)


def _refused(key: str, found: str, needed: str, do: str = "see help(lpsched.Bag.from_arrays)") -> InstanceError:
    return InstanceError("bag", (Fault((key,), found, needed, do),))
