"""How good an answer is known to be."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """How good the answer is known to be."""

    OPTIMAL = "optimal"  # value and bound are within the gap asked for
    FEASIBLE = "feasible"  # a verified schedule, further from its bound than that
    LIMIT = "limit"  # the same, but the time was up first


def relative_gap(value: float, bound: float) -> float | None:
    """Return |bound - value| / |bound|: 0 when they are equal, `None` when only the bound is 0."""
    if value == bound:
        return 0.0
    return abs(bound - value) / abs(bound) if bound else None
