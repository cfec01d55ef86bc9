"""Files that an instance file names: in its own folder or below it, and nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lpsched.errors import Fault, InstanceError
from lpsched.files.matrices import read_matrix_file
from lpsched.files.tables import read_table_file

if TYPE_CHECKING:
    from pathlib import Path

    from lpsched.errors import Place
    from lpsched.instance.fields import Amount
    from lpsched.instance.sparse import SparseMatrix
    from lpsched.instance.table import Axes, Table


class Beside:
    """Reads the tables and matrices beside one file; `kind` is what that is, for messages."""

    def __init__(self, path: Path, kind: str) -> None:
        self.folder = path.parent
        self.kind = kind

    def table(self, file: str, key: str, check: Amount, axes: Axes) -> Table:
        """Read a table.

        Raises
        ------
        InstanceError
            If it is elsewhere, unreadable, or does not fit.
        MissingExtraError
            If it is a Parquet file and PyArrow is not installed.
        """
        return read_table_file(self.inside(file, (key, "file"), "table"), key, check, axes)

    def matrix(self, file: str, path: Place, check: Amount, size: int) -> SparseMatrix:
        """Read a square matrix.

        Raises
        ------
        InstanceError
            If it is elsewhere, unreadable, or does not fit.
        """
        return read_matrix_file(self.inside(file, (*path, "file"), "matrix"), path, check, size)

    def inside(self, file: str, place: Place, word: str) -> Path:
        """Return the path of a file that is named at a place; `word` is what it holds, for messages.

        Raises
        ------
        InstanceError
            If it is elsewhere.
        """
        path = self.folder / file
        try:
            inside = path.resolve().is_relative_to(self.folder.resolve())
        except (OSError, ValueError, RuntimeError):  # a loop of links, a NUL character
            inside = False
        if not inside:
            needed = f"a file in the folder of the {self.kind}, or below it"
            fault = Fault(place, f"the path {file!r}", needed, f"copy the {word} there")
            raise InstanceError(str(path), (fault,))
        return path
