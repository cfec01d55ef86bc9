"""Energy apart and together: two bars for each group of applications, after table 8.5 of the thesis.

With P_0 the idle power, t the times alone and T the time together, static energy is

    apart  P_0 sum t,     together  P_0 T

and what is left of the measured energy is dynamic. The two are stacked where they are known; else a bar is
whole. A diamond is the energy together that times and energies alone predict.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lpsched.io.pictures import drawing_style
from lpsched.measure.measurements import Setting
from lpsched.report.figures import style
from lpsched.report.html.page import Spot
from lpsched.report.measured_tables import at_clock, in_counts, prediction_error, share_text
from lpsched.units import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lpsched.measure.measurements import Measurements, Saving

SAVINGS_MOST: Final = 12  # groups
PAIR_INCHES: Final = 0.42
SAVINGS_AROUND_INCHES: Final = 0.95
LONGEST: Final = 44  # letters of a group
ROOM: Final = 1.22  # beyond the longest bar, for words
BAR: Final = 0.36

Static = tuple[float, float]  # joules apart and together


def savings_picture(savings: Sequence[Saving], static: Sequence[Static | None] = ()) -> Figure:
    """Draw groups of applications, each with its static energy where it is known."""
    with drawing_style():
        figure = style.blank_picture(SAVINGS_AROUND_INCHES + PAIR_INCHES * len(savings))
        axes = figure.subplots()
        unit = style.fitting(style.JOULES, max(max(each.joules_apart, each.joules_together) for each in savings))
        for row, saving in enumerate(savings):
            _draw(axes, row, saving, static[row] if static else None, unit)
        names = [
            f"{style.lettered(in_counts(each.together), LONGEST)}\n{at_clock(each.mhz).strip()}".strip()
            for each in savings
        ]
        axes.set_yticks(range(len(savings)), names)
        axes.tick_params(axis="y", length=0, labelsize=style.SMALL_LETTERS)
        axes.set_ylim(len(savings) - 0.45, -0.55)
        axes.set_xlim(0.0, ROOM * axes.get_xlim()[1])
        axes.set_xlabel(f"energy, {unit.name}; the upper bar one after another, the lower one all at once")
        style.write_numbers(axes.xaxis)
        style.draw_grid(axes, "x")
        style.legend_above(figure, axes)
        return figure


def drawn_savings(measurements: Measurements) -> tuple[Saving, ...]:
    """Return what is drawn, what saves most first; of many, those that save most and least."""
    order = sorted(measurements.savings, key=lambda saving: -saving.share_saved)
    return tuple(order if len(order) <= SAVINGS_MOST else order[: SAVINGS_MOST // 2] + order[-SAVINGS_MOST // 2 :])


def static_joules(measurements: Measurements, saving: Saving) -> Static | None:
    """Return the static energy apart and together; `None` where times or idle power are not known."""
    seconds = {each.setting: each.seconds.mean for each in measurements.measured}
    alone = [seconds.get(Setting(name, (), saving.mhz)) for name in saving.together]
    batch = Setting(saving.together[0], saving.together[1:], saving.mhz, batch=True)
    together = seconds.get(batch)
    if measurements.idle_watts is None or together is None or None in alone:
        return None
    return measurements.idle_watts * sum(each or 0.0 for each in alone), measurements.idle_watts * together


def savings_spots(savings: Sequence[Saving], static: Sequence[Static | None]) -> tuple[Spot, ...]:
    """Return what each pair of bars says when it is pointed at."""
    unit = style.fitting(style.JOULES, max(max(each.joules_apart, each.joules_together) for each in savings))
    spots = []
    for row, (each, part) in enumerate(zip(savings, static, strict=True)):
        lines = [
            f"{in_counts(each.together)}{at_clock(each.mhz)}",
            f"{_joules(each.joules_apart)} apart, {_joules(each.joules_together)} together",
            f"{_joules(each.joules_saved)} saved, {share_text(each.share_saved)}",
        ]
        if part is not None:
            lines.append(f"static: {_joules(part[0])} apart, {_joules(part[1])} together")
        if each.joules_predicted is not None:
            lines.append(f"predicted: {_joules(each.joules_predicted)}, off {share_text(prediction_error(each))}")
        spots.append(Spot(each.joules_together / unit.size, row + BAR / 2, "\n".join(lines)))
    return tuple(spots)


def _joules(joules: float) -> str:
    return f"{number(joules, 5)} J"


def _draw(axes: Axes, row: int, saving: Saving, static: Static | None, unit: style.Unit) -> None:
    """Draw two bars: above apart, below together."""
    apart, together = saving.joules_apart / unit.size, saving.joules_together / unit.size
    for place, (whole, y, colour, word) in enumerate(
        ((apart, row - BAR / 2, style.VERMILION, "apart"), (together, row + BAR / 2, style.BLUE, "together"))
    ):
        if static is None:
            axes.barh(y, whole, height=BAR * 0.92, color=colour, label=word)
            continue
        still = static[place] / unit.size
        light = style.ORANGE if place == 0 else style.SKY
        axes.barh(y, still, height=BAR * 0.92, color=colour, label=f"{word}: static")
        axes.barh(
            y,
            whole - still,
            left=still,
            height=BAR * 0.92,
            color=light,
            hatch="////",
            edgecolor="white",
            linewidth=0.0,
            label=f"{word}: dynamic",
        )
    if saving.joules_predicted is not None:
        axes.plot(
            saving.joules_predicted / unit.size,
            row + BAR / 2,
            "D",
            color=style.INK,
            ms=4,
            mec="white",
            mew=0.6,
            label="together, predicted",
        )
    words = f"{number(together, 3)} {unit.name}, {_saved(saving)}"
    axes.annotate(
        words,
        (max(together, (saving.joules_predicted or 0.0) / unit.size), row + BAR / 2),
        (6, 0),
        textcoords="offset points",
        va="center",
        fontsize=style.SMALL_LETTERS,
    )
    axes.annotate(
        f"{number(apart, 3)} {unit.name}",
        (apart, row - BAR / 2),
        (6, 0),
        textcoords="offset points",
        va="center",
        fontsize=style.SMALL_LETTERS,
    )


def _saved(saving: Saving) -> str:
    word = "saved" if saving.share_saved >= 0 else "more"
    return f"{share_text(abs(saving.share_saved))} {word}"
