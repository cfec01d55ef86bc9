"""Bands behind a curve that say what is best: not to run, to run at a loss, or to run for profit.

Each has a pale shade, a hatch where it is not to run, and its words where there is room for them: flat in a
broad band, upright in a narrow one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lpsched.reports.pictures import INK, SMALL_LETTERS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.axes import Axes

BANDS: Final = {  # the regime: its words, its shade, its hatch
    "do-not-run": ("do not run", "#fae3d6", "//"),
    "loss": ("run at a loss", "#fdf3cf", ""),
    "profit": ("run for profit", "#ffffff", ""),
}
UPRIGHT: Final = 0.035  # of the width, from which on a band has words
FLAT: Final = 0.28  # and from which on they lie flat


def words_of(regime: str) -> str:
    """Return what a regime says.

    >>> words_of("loss")
    'run at a loss'
    """
    return BANDS[regime][0]


def draw_bands(axes: Axes, stretches: Iterable[tuple[str, float, float]]) -> None:
    """Draw bands behind what is drawn: each regime, where it begins and where it ends, from left to right."""
    left, right = axes.get_xlim()
    joined: dict[str, tuple[float, float]] = {}
    for regime, start, stop in stretches:
        first, _ = joined.get(regime, (start, stop))
        joined[regime] = (first, stop)
    for regime, ends in joined.items():
        start, stop = max(left, ends[0]), min(right, ends[1])
        if stop > start:
            words, shade, hatch = BANDS[regime]
            axes.axvspan(start, stop, facecolor=shade, edgecolor="white", hatch=hatch, linewidth=0, zorder=0)
            share = (stop - start) / (right - left)
            if share > UPRIGHT:
                _write(axes, words, (start + stop) / 2, flat=share > FLAT)


def _write(axes: Axes, words: str, place: float, *, flat: bool) -> None:
    axes.annotate(
        words,
        (place, 0.97),
        xycoords=("data", "axes fraction"),
        ha="center",
        va="top",
        rotation=0 if flat else 90,
        fontsize=SMALL_LETTERS,
        style="italic",
        color=INK,
        bbox={"facecolor": "white", "edgecolor": "none", "boxstyle": "round,pad=0.2", "alpha": 0.85},
        zorder=5,
    )
