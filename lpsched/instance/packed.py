"""Columns of numbers as the bytes of C doubles or 64-bit integers: immutable, compact, hashed at once."""

from __future__ import annotations

import sys
from array import array


def little_endian(code: str, packed: bytes) -> bytes:
    r"""Return packed numbers as a little-endian machine has them, so that hashes are the same everywhere.

    >>> little_endian("q", array("q", [1]).tobytes())
    b'\x01\x00\x00\x00\x00\x00\x00\x00'
    """
    if sys.byteorder == "little":
        return packed
    cells = array(code, packed)
    cells.byteswap()
    return cells.tobytes()
