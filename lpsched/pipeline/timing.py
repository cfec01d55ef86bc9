"""How long each stage took."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def timed(timings: dict[str, float], stage: str) -> Iterator[None]:
    """Note the seconds that the block takes."""
    start = time.perf_counter()
    yield
    timings[stage] = time.perf_counter() - start
