"""The figure of a validation: the number of each scheduler, and the bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from lpsched.io.pictures import drawing_style
from lpsched.report.figures import style
from lpsched.report.html.page import Spot
from lpsched.units import bound_text, gap_text, number

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lpsched.model.results import Comparison


@dataclass(frozen=True, slots=True)
class Verdict:
    """One scheduler. It has no value where it breaks a rule or found nothing; `refused` then says so."""

    name: str
    value: float | None
    bound: float | None
    gap: float | None
    refused: str = ""
    at_most: bool = True  # whether the bound is from above

    @property
    def bound_words(self) -> str:
        """The bound, rounded to the side on which it stays true."""
        return bound_text(self.bound, upper=self.at_most, digits=5)

    @property
    def words(self) -> str:
        """What it achieves, and how far that is from the bound."""
        if self.value is None:
            return self.refused or "no answer"
        value = number(self.value, 4)
        return value if self.gap is None else f"{value}, {gap_text(self.gap)} from the bound"


def verdicts_of(result: Comparison[Any]) -> tuple[Verdict, ...]:
    """Return what a validation says of each scheduler."""
    rows = []
    for each in result.entries:
        failure = getattr(each, "failure", None)
        refused = _broken(rule.code for rule in each.violations) if failure is None else f"no answer: {failure}"
        rows.append(Verdict(each.name, *result.score(each), refused, result.is_upper))
    return tuple(rows)


def _broken(codes: Iterable[str]) -> str:
    """Return the first rule that is broken, and how many more there are."""
    found = list(codes)
    more = f" and {len(found) - 1:,} more" if len(found) > 1 else ""
    return f"invalid: {found[0]}{more}" if found else ""


# Schedulers against the bound: a mark for what each achieves, and a line to what nobody can pass.
#
# The longer the line, the further is a schedule from the bound; the words beside it say how far. A schedule
# that breaks a rule has no mark but the word.
MOST_ROWS: Final = 50
ROW_INCHES: Final = 0.24
AROUND_INCHES: Final = 1.15
FAR: Final = 30.0  # times the least; then the axis is logarithmic
WORDS_ROOM: Final = 0.34  # of the width, right of all marks
ROOM: Final = 0.04
MOST_TICKS: Final = 6


def validation_picture(result: Comparison[Any]) -> Figure:
    """Draw what each scheduler achieves, and how far it is from the bound."""
    with drawing_style():
        verdicts = verdicts_of(result)
        shown = verdicts[:MOST_ROWS]
        figure = style.blank_picture(AROUND_INCHES + ROW_INCHES * max(2, len(shown)))
        axes = figure.subplots()
        _set_ends(axes, result.common_bound, shown)
        _draw_bounds(axes, result.common_bound, shown)
        for row, verdict in enumerate(shown):
            _draw_row(axes, row, verdict)
        axes.set_yticks(range(len(shown)), [style.lettered(each.name) for each in shown])
        axes.set_ylim(max(1, len(shown)) - 0.4, -0.6)
        axes.tick_params(axis="y", length=0)
        left = len(verdicts) - len(shown)
        axes.set_xlabel(style.lettered(result.quantity, 60) + (f"; {left:,} more are not drawn" if left else ""))
        style.legend_above(figure, axes)
        return figure


def validation_spots(result: Comparison[Any]) -> tuple[Spot, ...]:
    """Return what to tell about each mark."""
    verdicts = verdicts_of(result)
    return tuple(
        Spot(each.value, row, f"{each.name}: {each.words}; bound {each.bound_words}")
        for row, each in enumerate(verdicts[:MOST_ROWS])
        if each.value is not None
    )


def _set_ends(axes: Axes, bound: float | None, rows: Sequence[Verdict]) -> None:
    """Let the axis hold all marks, with room for words on the right; logarithmic where marks are far."""
    known = [x for each in rows for x in (each.value, each.bound) if each.value is not None and x is not None]
    known += [] if bound is None else [bound]
    low, high = min(known, default=0.0), max(known, default=1.0)
    if low > 0.0 and high > FAR * low:
        axes.set_xscale("log")
        span = high / low
        axes.set_xlim(low / span**ROOM, high * span ** (WORDS_ROOM / (1 - WORDS_ROOM)))
    else:
        span = high - low or abs(high) or 1.0
        axes.set_xlim(low - ROOM * span, high + span * WORDS_ROOM / (1 - WORDS_ROOM))
        axes.locator_params(axis="x", nbins=MOST_TICKS)
        style.write_numbers(axes.xaxis)
    style.draw_grid(axes, "x")


def _draw_bounds(axes: Axes, bound: float | None, rows: Sequence[Verdict]) -> None:
    """Draw the bound as a line through all rows, or each row's own."""
    label = "bound, proved"
    if bound is not None:
        axes.axvline(bound, color=style.BLUE, linewidth=style.CURVE_LINE, zorder=2, label=label)
        return
    own = [(each.bound, row) for row, each in enumerate(rows) if each.bound is not None and each.value is not None]
    axes.plot(
        [x for x, _ in own],
        [y for _, y in own],
        linestyle="none",
        marker="|",
        markersize=11,
        markeredgewidth=style.CURVE_LINE,
        color=style.BLUE,
        zorder=2,
        label=f"{label}, at the same energy",
    )


def _draw_row(axes: Axes, row: int, verdict: Verdict) -> None:
    """Draw one scheduler: its mark, its distance, and the words."""
    axes.axhline(row, color=style.RULE, linewidth=0.4, zorder=0)
    if verdict.value is None:
        place, colour = axes.get_xlim()[0] if verdict.bound is None else verdict.bound, style.RED
    else:
        if verdict.bound is not None:
            axes.plot([verdict.bound, verdict.value], [row, row], color=style.VERMILION, linewidth=2.0, zorder=1)
        axes.plot(
            verdict.value,
            row,
            linestyle="none",
            marker="o",
            markersize=5,
            color=style.VERMILION,
            markeredgecolor=style.INK,
            markeredgewidth=0.5,
            zorder=3,
            label="what a schedule achieves",
        )
        place, colour = max(verdict.value, verdict.bound or verdict.value), style.INK
    axes.annotate(
        style.lettered(verdict.words, 60),
        (place, row),
        (7, 0),
        textcoords="offset points",
        va="center",
        fontsize=style.SMALL_LETTERS,
        color=colour,
        bbox={"facecolor": "white", "edgecolor": "none", "boxstyle": "round,pad=0.15"},
        zorder=4,
    )
