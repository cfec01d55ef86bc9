"""Changed copies of documents such as the content of a YAML file."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def replaced(document: dict[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy with the values at dotted paths replaced; `...` removes one.

    >>> replaced({"types": [{"count": 1, "name": "a"}]}, {"types.0.count": 2, "types.0.name": ...})
    {'types': [{'count': 2}]}
    """
    content = copy.deepcopy(document)
    for path, value in changes.items():
        *steps, last = [int(step) if step.isdigit() else step for step in path.split(".")]
        inner: Any = content
        for step in steps:
            inner = inner[step]
        if value is ...:
            del inner[last]
        else:
            inner[last] = value
    return content
