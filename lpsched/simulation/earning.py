"""What a task earns, for compiled loops: the same formula as in `instance/utility.py`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from lpsched.compiled import compiled_inside

if TYPE_CHECKING:
    from lpsched.instance.array_types import Floats, Integers


@compiled_inside
def earned(  # noqa: PLR0913, PLR0917 - compiled functions take no options by name
    function: int,
    seconds: float,
    first_interval: Integers,
    after_seconds: Floats,
    starts_at: Floats,
    falls_to: Floats,
    rate_per_second: Floats,
) -> float:
    """Return the utility of a task that ends so many seconds after its arrival."""
    now = first_interval[function]
    while now + 1 < first_interval[function + 1] and after_seconds[now + 1] <= seconds:
        now += 1
    decay = math.exp(-rate_per_second[now] * (seconds - after_seconds[now]))
    utility: float = falls_to[now] + (starts_at[now] - falls_to[now]) * decay
    return utility
