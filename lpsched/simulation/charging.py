"""Energy of a run by the pieces of simulated time, for compiled loops and for engines (see `accounts.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lpsched.compiled import compiled, compiled_inside

if TYPE_CHECKING:
    from lpsched.instance.array_types import Floats


@compiled
def has_energy(  # noqa: PLR0913, PLR0917 - likewise
    edges: Floats,
    limits: Floats,
    used: Floats,
    prorated: bool,  # noqa: FBT001
    piece: int,
    start: float,
    end: float,
    joules: float,
) -> bool:
    """Tell whether every piece from this one on has the energy that a run takes in it."""
    for p in range(piece, len(used)):
        if edges[p] > end:
            break
        if used[p] + joules * share(edges[p], edges[p + 1], start, end, prorated) > limits[p]:
            return False
    return True


@compiled
def charge(  # noqa: PLR0913, PLR0917 - likewise
    edges: Floats,
    used: Floats,
    prorated: bool,  # noqa: FBT001
    piece: int,
    start: float,
    end: float,
    joules: float,
) -> None:
    """Charge every piece from this one on with the energy that a run takes in it."""
    for p in range(piece, len(used)):
        if edges[p] > end:
            break
        used[p] += joules * share(edges[p], edges[p + 1], start, end, prorated)


@compiled_inside
def share(begin: float, end: float, starts: float, ends: float, prorated: bool) -> float:  # noqa: FBT001
    """Return which part of a run counts in a piece; as `Period.share` does."""
    if not prorated:
        return 1.0 if begin < ends <= end else 0.0
    within = min(ends, end) - max(starts, begin)
    if within >= ends - starts:
        return 1.0
    return within / (ends - starts) if within > 0.0 else 0.0
