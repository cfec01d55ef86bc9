"""JSON, read strictly: a key given twice, or brackets without end, are faults.

JSON has no line numbers once it is read; a fault is found by its path.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from lpsched.errors import MOST_FAULTS
from lpsched.files.content import one_fault
from lpsched.files.documents.document import DEEPEST, Document, given_twice, integer

if TYPE_CHECKING:
    from pathlib import Path

    from lpsched.errors import Place


class _Repeated(dict[str, Any]):
    """A mapping that stood in the file with a key given twice."""

    twice: tuple[str, ...] = ()


def read_json(path: Path, text: str) -> Document:
    """Read JSON text.

    Raises
    ------
    InstanceError
        If it is not JSON, or nested too deeply.
    """
    repeated: list[_Repeated] = []

    def mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        content = dict(reversed(pairs))  # the first of two equal keys stays
        if len(content) == len(pairs):
            return dict(pairs)
        marked = _Repeated((key, content[key]) for key, _ in pairs)
        times = Counter(key for key, _ in pairs)
        marked.twice = tuple(key for key in marked if times[key] > 1)
        repeated.append(marked)
        return marked

    try:
        value = json.loads(text, object_pairs_hook=mapping, parse_int=integer, parse_constant=float)
    except json.JSONDecodeError as error:
        found = f"broken JSON: {error.msg} (column {error.colno})"
        raise one_fault(path, found, "JSON", "mend the line", error.lineno) from None
    except RecursionError:
        raise one_fault(path, "brackets nested very deeply", "a few levels", "flatten it") from None
    faults = [given_twice((*place, key)) for place, each in _find(value, repeated) for key in each.twice]
    return Document(value, tuple(faults[:MOST_FAULTS]))


def _find(value: object, wanted: list[_Repeated], path: Place = ()) -> list[tuple[Place, _Repeated]]:
    """Return where the marked mappings stand; they are rare, so the walk is too."""
    if not wanted or len(path) > DEEPEST:
        return []
    found = [(path, value)] if isinstance(value, _Repeated) else []
    if isinstance(value, dict):
        for key, inner in value.items():
            found += _find(inner, wanted, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            if isinstance(inner, dict | list):
                found += _find(inner, wanted, (*path, index))
    return found
