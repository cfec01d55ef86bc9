"""Options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from lpsched.files.bags import TableForm


class Kind(StrEnum):
    """Kinds of files."""

    BAG = "bag"


class Tables(StrEnum):
    """How to write tables; the names of `lpsched.files.bags.TableForm`, without loading it."""

    NAMES = "names"
    MATRIX = "matrix"
    CSV = "csv"
    NPZ = "npz"
    PARQUET = "parquet"


Output = Annotated[Path, typer.Option("-o", "--output", help="The file to write: .yaml or .json.")]
TablesOption = Annotated[
    Tables | None,
    typer.Option(
        "--tables",
        help="Inside the file by name or as a matrix, or in files beside it. "
        "By default: by name up to 1,000 pairs, a matrix up to 100,000, else .npz.",
    ),
]


def form_of(tables: Tables | None) -> TableForm | None:
    """Return the library's name for the choice."""
    from lpsched.files.bags import TableForm

    return None if tables is None else TableForm(tables.value)
