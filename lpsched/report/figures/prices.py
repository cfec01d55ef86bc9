"""Profit over the price, with its regimes; with its sensitivities."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.bag.compare.result import along
from lpsched.io.pictures import drawing_style
from lpsched.report.figures import style
from lpsched.report.html.page import Spot
from lpsched.units import number, upper_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from lpsched.bag.pricing.result import PriceCurve, PricePiece


# Bands behind a curve that say what is best: not to run, to run at a loss, or to run for profit.
#
# Each has a pale shade, a hatch where it is not to run, and its words where there is room for them: flat in a
# broad band, upright in a narrow one.
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
        fontsize=style.SMALL_LETTERS,
        style="italic",
        color=style.INK,
        bbox={"facecolor": "white", "edgecolor": "none", "boxstyle": "round,pad=0.2", "alpha": 0.85},
        zorder=5,
    )


# The most profit at every price: the bound as a line, our schedules below it, and where running pays.
#
#     ratio   the price as a multiple of what the least energy of the bag costs; the price itself where that
#             costs nothing
#     bound   convex and made of straight pieces; a dot where one piece ends and the next begins
#     value   what the best schedule of each piece earns: a line within the piece, a ring where it begins
#
# Bands behind the lines say what is best by the bound: not to run, to run at a loss, or to run for profit. If
# the prices at which that changes are only a small part of all, they have a panel of their own beside the
# whole. A piece without an end is drawn as far as the curve's sampled points go.
#
# Source: Tarplee, Maciejewski and Siegel (2014), section V, where the ratio is swept in steps.
INCHES: Final = 3.6
MOST_PIECES: Final = 600  # more are closer together than a line is wide
MOST_DOTS: Final = 120
NARROW: Final = 0.25  # of the width: below it the changes get a panel of their own
AROUND: Final = 0.35  # of the break-even price, drawn on both sides of the changes
UNSURE: Final = {"loss": "no profit, proved", "profit": "profit is not ruled out from here"}
ROOM: Final = 0.05  # of the height, below and above
Line = tuple[list[float], list[float]]


@dataclass(frozen=True, slots=True)
class Along:
    """The horizontal axis: profit ratios, or prices where energy costs nothing."""

    currency: str
    gamma: float | None  # the price at the ratio 1

    def place(self, price: float) -> float:
        """Return where a price is drawn."""
        return price if self.gamma is None else price / self.gamma

    @property
    def label(self) -> str:
        """What the axis shows."""
        return f"price, {style.lettered(self.currency)}" if self.gamma is None else "profit ratio"

    def words(self, price: float) -> str:
        """Return a price in words, with its ratio if there is one."""
        plain = f"{number(price, 4)} {self.currency}"
        return plain if self.gamma is None else f"{number(self.place(price), 4)} ({plain})"


def along_of(curve: PriceCurve) -> Along:
    """Return the axis of a curve."""
    known = (
        (price, ratio)
        for piece in curve.pieces
        for price, ratio in ((piece.from_price, piece.from_ratio), (piece.to_price, piece.to_ratio))
    )
    gamma = next((price / ratio for price, ratio in known if price and ratio), None)
    return Along(curve.unit.removesuffix("/hour"), gamma)


def price_picture(curve: PriceCurve) -> Figure:
    """Draw the most profit over the profit ratio, or over the price where energy costs nothing.

    The first axes of the figure show the whole curve; the second, if any, the prices at which what is best
    changes.
    """
    with drawing_style():
        figure = style.blank_picture(INCHES)
        draw_price(figure, curve)
        return figure


def draw_price(figure: Figure | SubFigure, curve: PriceCurve) -> None:
    """Draw the curve into a picture or a part of one."""
    axis = along_of(curve)
    near = _near(curve, axis)
    panels = figure.add_gridspec(1, 1 if near is None else 2)
    several = [figure.add_subplot(panels[0, -1])]
    several += [] if near is None else [figure.add_subplot(panels[0, 0])]
    _draw(several[0], curve, axis, _whole(curve, axis))
    if near is not None:
        _draw(several[1], curve, axis, near)
        several[0].set_title("The whole curve")
        several[1].set_title("Where it begins to pay")
        several[0].set_ylabel("")
    style.legend_above(figure, *reversed(several))


def price_spots(curve: PriceCurve) -> tuple[Spot, ...]:
    """Return what to tell about the beginning of each piece, in both panels."""
    axis = along_of(curve)
    panels = [(0, _whole(curve, axis)), *([] if (near := _near(curve, axis)) is None else [(1, near)])]
    found: list[Spot] = []
    for panel, (low, high) in panels:
        inside = [piece for piece in curve.pieces if low <= axis.place(piece.from_price) <= high]
        for place in along(len(inside), style.MOST_SPOTS // len(panels)):
            piece = inside[place]
            label = _words(curve, axis, piece)
            found.append(Spot(axis.place(piece.from_price), piece.bound_at_from, label, panel))
    return tuple(found)


def _words(curve: PriceCurve, axis: Along, piece: PricePiece) -> str:
    """Return the beginning of a piece in a sentence."""
    name = "price" if axis.gamma is None else "profit ratio"
    value = (
        "no schedule is known"
        if piece.value_at_from is None
        else f"a schedule earns {number(piece.value_at_from, 5)} {curve.unit}"
    )
    largest = max(abs(each.bound_at_from) for each in curve.pieces)
    bound = f"at most {upper_text(piece.bound_at_from, 5, largest=largest)} {curve.unit}"
    return f"{name} {axis.words(piece.from_price)}: {_proved(piece)}; {bound}, {value}"


def _proved(piece: PricePiece) -> str:
    """Return what the bound says of a piece; to run for profit only where a schedule does."""
    earns = piece.value_at_from is not None and piece.value_at_from > 0
    return words_of(piece.regime) if earns or piece.regime == "do-not-run" else UNSURE[piece.regime]


def _whole(curve: PriceCurve, axis: Along) -> tuple[float, float]:
    """Return where the curve begins and ends."""
    prices = [curve.pieces[0].from_price, *(point.price for point in curve.points)]
    prices += [price for piece in curve.pieces for price in (piece.from_price, piece.to_price) if price]
    low, high = axis.place(min(prices)), axis.place(max(prices))
    return low, high if high > low else low + 1.0


def _near(curve: PriceCurve, axis: Along) -> tuple[float, float] | None:
    """Return the prices about which what is best changes, if they are a small part of all."""
    changes = [after.from_price for after in curve.pieces if after.regime is not curve.pieces[0].regime][:1]
    changes += [] if curve.break_even_price is None else [curve.break_even_price]
    if not changes:
        return None
    (low, high), even = _whole(curve, axis), axis.place(max(changes))
    first, last = axis.place(min(changes)) - AROUND * even, even * (1.0 + 2.0 * AROUND)
    first, last = max(low, first), min(high, last)
    return (first, last) if 0.0 < last - first < NARROW * (high - low) else None


def _draw(axes: Axes, curve: PriceCurve, axis: Along, ends: tuple[float, float]) -> None:
    """Draw one panel: bands, changes, bound, schedules."""
    low, high = ends
    pieces = _pieces_between(curve.pieces, axis, low, high)
    bound, value = _bound_line(curve, axis, pieces), _value_line(curve, axis, pieces)
    axes.plot(*bound, color=style.BLUE, linewidth=style.CURVE_LINE, zorder=3, label="no schedule earns more, proved")
    starts = [pieces[place] for place in along(len(pieces), MOST_DOTS)]
    _dots(axes, axis, [(piece.from_price, piece.bound_at_from) for piece in starts if piece.from_price > 0])
    axes.plot(*value, color=style.VERMILION, linewidth=1.0, linestyle=(0, (4, 2)), zorder=4, label="our schedules")
    _set_ends(axes, ends, [bound, value])
    _draw_changes(axes, curve, axis)
    draw_bands(axes, [(piece.regime, axis.place(piece.from_price), _end(axis, piece)) for piece in curve.pieces])
    style.write_numbers(axes.xaxis)
    style.write_numbers(axes.yaxis)
    style.draw_grid(axes, "y")
    axes.set_xlabel(axis.label)
    axes.set_ylabel(f"profit, {style.lettered(curve.unit)}")
    if axis.gamma is not None:
        _add_prices(axes, axis, axis.gamma)


def _end(axis: Along, piece: PricePiece) -> float:
    return math.inf if piece.to_price is None else axis.place(piece.to_price)


def _pieces_between(pieces: Sequence[PricePiece], axis: Along, low: float, high: float) -> list[PricePiece]:
    """Return the pieces that can be seen; of very many, some."""
    seen = [
        piece
        for piece in pieces
        if axis.place(piece.from_price) <= high and (piece.to_price is None or axis.place(piece.to_price) >= low)
    ]
    return [seen[place] for place in along(len(seen), MOST_PIECES)]


def _bound_line(curve: PriceCurve, axis: Along, pieces: Sequence[PricePiece]) -> Line:
    """Return the bound: convex, so that the line between any two of its points bounds what is between."""
    spots = [(piece.from_price, piece.bound_at_from) for piece in pieces]
    last = pieces[-1]
    if last.to_price is not None and last.bound_at_to is not None:
        spots.append((last.to_price, last.bound_at_to))
    else:
        spots += [(point.price, point.bound) for point in curve.points if point.price > last.from_price]
    return [axis.place(price) for price, _ in spots], [money for _, money in spots]


def _value_line(curve: PriceCurve, axis: Along, pieces: Sequence[PricePiece]) -> Line:
    """Return what the schedules earn: a stroke for each piece, with a gap between two."""
    places: list[float] = []
    money: list[float] = []
    for piece in pieces:
        ends = [(piece.from_price, piece.value_at_from), (piece.to_price, piece.value_at_to)]
        if piece.to_price is None:
            ends += [(point.price, point.value) for point in curve.points if point.price > piece.from_price]
        known = [(price, value) for price, value in ends if price is not None and value is not None]
        places += [*(axis.place(price) for price, _ in known), math.nan]
        money += [*(value for _, value in known), math.nan]
    return places, money


def _dots(axes: Axes, axis: Along, spots: Sequence[tuple[float, float]]) -> None:
    if not spots:
        return
    axes.plot(
        [axis.place(price) for price, _ in spots],
        [money for _, money in spots],
        linestyle="none",
        marker="o",
        markersize=2.6,
        color=style.BLUE,
        zorder=3,
        label="another way to run is best from here",
    )


def _draw_changes(axes: Axes, curve: PriceCurve, axis: Along) -> None:
    """Draw the two prices that matter most."""
    changes = (
        ("least price to run", curve.least_price_to_run, ":"),
        ("the bound breaks even", curve.break_even_price, "--"),
    )
    for name, price, line in changes:
        if price is not None:
            label = f"{name}: {style.lettered(axis.words(price), 40)}"
            axes.axvline(axis.place(price), color=style.INK, linewidth=1.0, linestyle=line, zorder=2, label=label)


def _set_ends(axes: Axes, ends: tuple[float, float], lines: Sequence[Line]) -> None:
    """Let the axes end where the panel does, with some room below and above what is seen."""
    low, high = ends
    seen = [_height(line, place) for line in lines for place in ends]
    seen += [y for xs, ys in lines for x, y in zip(xs, ys, strict=True) if low <= x <= high]
    known = [y for y in seen if y is not None and math.isfinite(y)] or [0.0]
    bottom, top = min(*known, 0.0), max(*known, 0.0)
    room = ROOM * (top - bottom) or 1.0
    axes.set_xlim(low, high)
    axes.set_ylim(bottom - room, top + room)


def _height(line: Line, place: float) -> float | None:
    """Return a line's height at a place, or none where it is not."""
    spots = list(zip(*line, strict=True))
    for (left, low), (right, high) in itertools.pairwise(spots):
        if left <= place <= right:
            return low if right == left else low + (high - low) * (place - left) / (right - left)
    return None


def _add_prices(axes: Axes, axis: Along, gamma: float) -> None:
    """Write prices along the top, where the bottom has ratios."""
    top = axes.secondary_xaxis("top", functions=(lambda x: np.multiply(x, gamma), lambda x: np.divide(x, gamma)))
    top.set_xlabel(f"price, {style.lettered(axis.currency)}", fontsize=style.SMALL_LETTERS, color=style.GREY)
    top.tick_params(labelsize=style.SMALL_LETTERS, colors=style.GREY)
    top.spines["top"].set_color(style.GREY)
    top.spines["top"].set_visible(True)
    style.write_numbers(top.xaxis)
