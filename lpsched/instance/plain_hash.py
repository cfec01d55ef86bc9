"""The hash of what plain dataclasses say; in which order their mappings stand does not matter."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def plain_hash(part: DataclassInstance, format: str) -> str:  # noqa: A002 - what the key is called
    """Return the SHA-256, in hexadecimal."""
    told: dict[str, Any] = asdict(part)
    digest = hashlib.sha256(format.encode())
    digest.update(json.dumps(told, sort_keys=True, separators=(",", ":")).encode())
    return digest.hexdigest()
