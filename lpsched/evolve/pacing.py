"""How long an evolution runs, how often it tells of itself, and what may end it."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

SECONDS: Final = 60.0  # where neither generations nor time are limited
BETWEEN_TELLS: Final = 0.25  # seconds
BETWEEN_KEEPS: Final = 60.0
Ended: TypeAlias = Literal["generations", "time", "stopped"]
