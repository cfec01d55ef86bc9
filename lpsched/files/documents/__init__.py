"""YAML and JSON documents: plain values, or a list of faults."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lpsched.errors import quote
from lpsched.files.content import one_fault, read_text
from lpsched.files.documents.json_file import read_json
from lpsched.files.documents.yaml_file import read_yaml

if TYPE_CHECKING:
    from pathlib import Path

    from lpsched.files.documents.document import Document

MOST_YAML_BYTES: Final = 4 * 2**20  # some five seconds of parsing at the worst; 512 x 16 numbers have 0.2
MOST_JSON_BYTES: Final = 64 * 2**20
SUFFIXES: Final = (".yaml", ".yml", ".json")


def read_document(path: Path) -> Document:
    """Read a YAML or JSON file.

    Raises
    ------
    InstanceError
        If it is not a readable file, not text, too large, or not well formed.
    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise one_fault(
            path, f"the ending {quote(path.suffix)}", " or ".join(SUFFIXES), "rename or convert the file"
        )
    text = read_text(path, MOST_JSON_BYTES if suffix == ".json" else MOST_YAML_BYTES)
    return read_json(path, text) if suffix == ".json" else read_yaml(path, text)
