"""Bench files: what to measure, and how."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lpsched.files.documents import read_document
from lpsched.files.instance_files import made_of
from lpsched.instance.bench_door import bench_from

if TYPE_CHECKING:
    from lpsched.files.documents.document import Document
    from lpsched.instance.bench import Bench


def read_bench(path: Path | str) -> Bench:
    """Read a bench from a YAML or JSON file.

    What is legal but suspect comes as an `LpschedWarning`.

    Raises
    ------
    InstanceError
        If anything is wrong; the error lists every fault in file order.
    """
    path = Path(path)
    return bench_of(read_document(path), path)


def bench_of(document: Document, path: Path) -> Bench:
    """Make a bench of what the file at `path` says; see `read_bench`."""
    return made_of(document, path, lambda raw: bench_from(raw, str(path)))
