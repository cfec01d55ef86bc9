"""Makes the file of a finding smaller while the finding stays."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any, Final

from scripts.fuzzing.mutations import at, places

SECONDS: Final = 20.0
Fails = Callable[[bytes], bool]


def smaller(content: bytes, fails: Fails, seconds: float = SECONDS) -> bytes:
    """Return a smaller content that still fails: fewer keys and items of JSON, then fewer lines, then fewer bytes."""
    until = time.monotonic() + seconds

    def still(candidate: bytes) -> bool:
        return time.monotonic() < until and len(candidate) < len(content) and fails(candidate)

    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        pass
    else:
        content = _smaller_document(document, content, still)
    for mark in (b"\n", b""):
        content = _smaller_parts(content, mark, still)
    return content


def _smaller_document(document: Any, content: bytes, still: Fails) -> bytes:
    """Remove what can go from a document, largest parts first."""
    again = True
    while again:
        again = False
        for path in sorted(places(document), key=len):
            if not path:
                continue
            copy = json.loads(json.dumps(document))
            try:
                del at(copy, path[:-1])[path[-1]]
            except (KeyError, IndexError, TypeError):
                continue  # gone with something before it
            written = json.dumps(copy).encode("utf-8", "surrogatepass")
            if still(written):
                document, content, again = copy, written, True
                break
    return content


def _smaller_parts(content: bytes, mark: bytes, still: Fails) -> bytes:
    """Remove runs of lines, or of bytes, halving the length of the runs."""
    parts = content.split(mark) if mark else [content[place : place + 1] for place in range(len(content))]
    size = len(parts) // 2
    while size:
        place = 0
        while place < len(parts):
            fewer = parts[:place] + parts[place + size :]
            written = mark.join(fewer)
            if still(written):
                parts, content = fewer, written
            else:
                place += size
        size //= 2
    return content
