"""How priorities are told apart in pictures: a colour, a shape and a height; dark and tall are worth most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from lpsched.files.pictures import load_matplotlib

MAP, PRIORITY_DARK, LIGHT = "magma", 0.12, 0.84  # colours that stay in order in grey, and for anybody's eyes
TALLEST, LOWEST = 0.92, 0.32  # heights, as shares of the room
SHAPES: Final = ("s", "^", "D", "v", "P", "X", "<", "*")


@dataclass(frozen=True, slots=True)
class PriorityMark:
    """How one priority is drawn."""

    colour: str
    shape: str
    height: float


def priority_marks(count: int) -> tuple[PriorityMark, ...]:
    """Return the marks of so many priorities, from the highest.

    Raises
    ------
    MissingExtraError
        If Matplotlib is not installed.
    """
    load_matplotlib()
    from matplotlib import colormaps  # noqa: PLC0415 - optional
    from matplotlib.colors import to_hex  # noqa: PLC0415 - optional

    shares = [place / max(1, count - 1) for place in range(count)]
    return tuple(
        PriorityMark(
            to_hex(colormaps[MAP](PRIORITY_DARK + (LIGHT - PRIORITY_DARK) * share)),
            SHAPES[place % len(SHAPES)],
            TALLEST - (TALLEST - LOWEST) * share,
        )
        for place, share in enumerate(shares)
    )
