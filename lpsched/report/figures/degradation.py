"""Figures of degradation: slowdown by programs on other cores, and what running together saves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.measure.evidence import Saving, Setting
from lpsched.measure.measurements import MeasuredApplication, Measurements, class_rank
from lpsched.report.figures import style
from lpsched.report.figures.measured import titled
from lpsched.report.figures.style import GREY, INK, SMALL_LETTERS, STRIPE, WIDTH_INCHES, Tooltip
from lpsched.report.measured_tables import at_clock, in_counts, prediction_error, share_text
from lpsched.units import SECONDS_PER_HOUR, energy_text, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lpsched.model.table import Floats


# Who slows whom: a map of applications, those that suffer in rows, those beside them in columns.
#
#     shade of (a, b)  =  PD[a][b]: how much longer a takes for each core that runs b, as a share of its time
#
# The darker a cell, the larger its share; numbers are percentages, where there is room. Calm applications come
# first, so that memory-intensive ones are at the lower right. A pair that was not measured is hatched.
MOST: Final = 60  # applications
MOST_NUMBERED: Final = 16
CELL_INCHES, SMALL_CELL_INCHES = 0.24, 0.14  # of a row
AROUND_INCHES: Final = 1.75  # names above, the scale of shades below
LONGEST_NAME: Final = 18
MAP_WIDTH_INCHES: Final = WIDTH_INCHES - 1.8
LETTER_INCHES: Final = 0.062
SHADES: Final = "Oranges"  # from white to dark, also in grey
DARK: Final = 0.6  # of the scale, from which on numbers are white


def degradation_map(measurements: Measurements) -> Figure:
    """Draw how much longer each application takes beside each other one."""
    shown = mapped(measurements)
    inches = CELL_INCHES if len(shown) <= MOST_NUMBERED else SMALL_CELL_INCHES
    with style.one_panel(AROUND_INCHES + inches * len(shown)) as (figure, axes):
        _draw_pairs(axes, _percents(measurements, shown))
        _name(axes, shown)
        style.add_scale(figure, axes, "longer for each core that runs the one above, %", pad=0.03)
        return figure


def degradation_tooltips(measurements: Measurements) -> tuple[Tooltip, ...]:
    """Return the text at each pair; of many, at those with the largest slowdown."""
    shown = [each.name for each in mapped(measurements)]
    pairs = [(_share(measurements, a, b), i, j) for i, a in enumerate(shown) for j, b in enumerate(shown)]
    cells = [(share, i, j) for share, i, j in pairs if share is not None]
    words = "{} beside {}\n{} longer for each such core"
    return style.cell_tooltips(cells, lambda share, i, j: words.format(shown[i], shown[j], share_text(share)))


def mapped(measurements: Measurements, most: int | None = MOST) -> tuple[MeasuredApplication, ...]:
    """Return the applications of some measured pair, calm ones first; of very many, the first."""
    names = {each.name for each in measurements.applications}
    pairs = {(a, b) for a, row in measurements.degradation_in_full.items() for b in row if {a, b} <= names}
    known = [each for each in measurements.applications if any(each.name in pair for pair in pairs)]
    return tuple(sorted(known, key=lambda each: class_rank(each.memory_class or "-"))[:most])


def has_gaps(measurements: Measurements) -> bool:
    """Whether some pair on the map was not measured."""
    return bool(np.isnan(_percents(measurements, mapped(measurements))).any())


def _share(measurements: Measurements, name: str, other: str) -> float | None:
    row = measurements.degradation_in_full.get(name)
    return None if row is None else row.get(other)


def _percents(measurements: Measurements, shown: tuple[MeasuredApplication, ...]) -> Floats:
    """Return the map; what was not measured is not a number."""
    shares = [[_share(measurements, suffers.name, other.name) for other in shown] for suffers in shown]
    return 100.0 * np.array(shares, dtype=float)


def _draw_pairs(axes: Axes, percents: Floats) -> None:
    """Shade the pairs, hatch what was not measured, and write percentages into the cells of few."""
    axes.set_facecolor(STRIPE)
    top = max(1.0, float(np.nanmax(percents)))  # a map of noise is not dark
    many = len(percents) > MOST_NUMBERED  # then cells are pixels, which keep a page small
    style.draw_cells(axes, percents, SHADES, top, many=many)
    for i, j in zip(*np.nonzero(np.isnan(percents)), strict=True):
        corners = [j, j + 1, j + 1, j], [i, i, i + 1, i + 1]
        axes.fill(*corners, facecolor=STRIPE, edgecolor=GREY, hatch=None if many else style.HATCH, lw=0)
    for (i, j), percent in np.ndenumerate(percents):
        if not many and not np.isnan(percent):
            words, colour = number(round(percent, 2) + 0.0, 2), "white" if percent > DARK * top else INK
            axes.text(j + 0.5, i + 0.5, words, ha="center", va="center", color=colour, fontsize=7)


def _name(axes: Axes, shown: tuple[MeasuredApplication, ...]) -> None:
    centres = [place + 0.5 for place in range(len(shown))]
    axes.set_yticks(centres, [titled(each) for each in shown])
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    names = [titled(each, LONGEST_NAME) for each in shown]
    axes.set_xticks(centres, names)
    if max(map(len, names)) * LETTER_INCHES > MAP_WIDTH_INCHES / len(names):
        style.slant(axes, "left")
    axes.tick_params(length=0, labelsize=SMALL_LETTERS if len(shown) <= MOST_NUMBERED else 5)
    axes.set(xlabel="beside", ylabel="takes longer")


# Energy apart and together: two bars for each group of applications, after table 8.5 of the thesis.
#
# With P_0 the idle power, t the times alone and T the time together, static energy is
#
#     apart  P_0 sum t,     together  P_0 T
#
# and what is left of the measured energy is dynamic. The two are stacked where they are known; else a bar is
# whole. A diamond is the energy together that times and energies alone predict.
SAVINGS_MOST: Final = 12  # groups
PAIR_INCHES, SAVINGS_AROUND_INCHES = 0.42, 0.95
LONGEST: Final = 44  # letters of a group
ROOM: Final = 1.22  # beyond the longest bar, for words
BAR: Final = 0.36

Static = tuple[float, float]  # joules apart and together


def savings_figure(savings: Sequence[Saving], static: Sequence[Static | None] = ()) -> Figure:
    """Draw groups of applications, each with its static energy where it is known."""
    with style.one_panel(SAVINGS_AROUND_INCHES + PAIR_INCHES * len(savings)) as (figure, axes):
        for row, saving in enumerate(savings):
            _draw(axes, row, saving, static[row] if static else None)
        names = [
            f"{style.lettered(in_counts(each.together), LONGEST)}\n{at_clock(each.mhz).strip()}".strip()
            for each in savings
        ]
        axes.set_yticks(range(len(savings)), names)
        axes.tick_params(axis="y", length=0, labelsize=style.SMALL_LETTERS)
        axes.set(ylim=(len(savings) - 0.45, -0.55), xlim=(0.0, ROOM * axes.get_xlim()[1]))
        axes.set_xlabel("energy, Wh; the upper bar one after another, the lower one all at once")
        style.write_numbers(axes.xaxis, grid="x")
        style.legend_above(figure, axes)
        return figure


def drawn_savings(measurements: Measurements) -> tuple[Saving, ...]:
    """Return what is drawn, what saves most first; of many, those that save most and least."""
    order = sorted(measurements.savings, key=lambda saving: -saving.share_saved)
    return tuple(order if len(order) <= SAVINGS_MOST else order[: SAVINGS_MOST // 2] + order[-SAVINGS_MOST // 2 :])


def static_joules(measurements: Measurements, saving: Saving) -> Static | None:
    """Return the static energy apart and together; `None` where it is not known, or above what was measured."""
    seconds = {each.setting: each.seconds.mean for each in measurements.measured}
    alone = [seconds.get(Setting(name, (), saving.mhz)) for name in saving.together]
    together = seconds.get(Setting(saving.together[0], saving.together[1:], saving.mhz, batch=True))
    if measurements.idle_watts is None or together is None or None in alone:
        return None
    static = measurements.idle_watts * sum(each or 0.0 for each in alone), measurements.idle_watts * together
    return static if static[0] <= saving.joules_apart and static[1] <= saving.joules_together else None


def savings_tooltips(savings: Sequence[Saving], static: Sequence[Static | None]) -> tuple[Tooltip, ...]:
    """Return what each pair of bars says when it is pointed at."""
    tooltips = []
    for row, (each, part) in enumerate(zip(savings, static, strict=True)):
        lines = [
            f"{in_counts(each.together)}{at_clock(each.mhz)}",
            f"{energy_text(each.joules_apart)} apart, {energy_text(each.joules_together)} together",
            f"{energy_text(each.joules_saved)} saved, {share_text(each.share_saved)}",
        ]
        if part is not None:
            lines.append(f"static: {energy_text(part[0])} apart, {energy_text(part[1])} together")
        if each.joules_predicted is not None:
            lines.append(f"predicted: {energy_text(each.joules_predicted)}, off {share_text(prediction_error(each))}")
        tooltips.append(Tooltip(each.joules_together / SECONDS_PER_HOUR, row + BAR / 2, "\n".join(lines)))
    return tuple(tooltips)


def _draw(axes: Axes, row: int, saving: Saving, static: Static | None) -> None:
    """Draw two bars: above apart, below together."""
    apart, together = saving.joules_apart / SECONDS_PER_HOUR, saving.joules_together / SECONDS_PER_HOUR
    for place, (whole, y, colour, word) in enumerate(
        ((apart, row - BAR / 2, style.VERMILION, "apart"), (together, row + BAR / 2, style.BLUE, "together"))
    ):
        if static is None:
            axes.barh(y, whole, height=BAR * 0.92, color=colour, label=word)
            continue
        still = static[place] / SECONDS_PER_HOUR
        light = style.ORANGE if place == 0 else style.SKY
        axes.barh(y, still, height=BAR * 0.92, color=colour, label=f"{word}: static")
        look: style.Look = {"color": light, "hatch": "////", "edgecolor": "white", "linewidth": 0.0}
        axes.barh(y, whole - still, left=still, height=BAR * 0.92, label=f"{word}: dynamic", **look)
    end = together
    if saving.joules_predicted is not None:
        predicted = saving.joules_predicted / SECONDS_PER_HOUR
        end = max(end, predicted)
        style.draw_dots(
            axes, [(predicted, row + BAR / 2)], "D", style.INK, ms=4, mec="white", mew=0.6, label="together, predicted"
        )
    saved = f"{share_text(abs(saving.share_saved))} {'saved' if saving.share_saved >= 0 else 'more'}"
    style.write_beside(axes, f"{energy_text(saving.joules_together)}, {saved}", (end, row + BAR / 2), 6)
    style.write_beside(axes, energy_text(saving.joules_apart), (apart, row - BAR / 2), 6)
