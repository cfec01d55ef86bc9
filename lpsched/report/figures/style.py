"""What all figures share: width, colours, markers, and how numbers and names are written."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypeVar

from lpsched.io.figure_files import drawing_style, load_matplotlib
from lpsched.model.results import along
from lpsched.text import on_page
from lpsched.units import GIGA, JOULES_PER_KWH, KILO, MEGA, SECONDS_PER_DAY, SECONDS_PER_HOUR, number

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.path import Path

    from lpsched.facility.model import Facility
    from lpsched.model.table import Floats


# A figure is a Matplotlib `Figure` of its own: no window, no current figure, no settings that
# stay. It is as wide as a page of paper between its margins. Letters, lines and spines are in `STYLE` of
# `io/figure_files.py`. The colours are those of Okabe and Ito, which all readers can distinguish; but colour never
# carries a meaning alone: there is a number, a shape, a hatch or a word beside it, so that a figure can be
# read in grey.
#
# What a colour means, in every figure: blue is ours (bounds that are proved, and our schedules), red a given limit
# (a cap, a deadline, a redline), light grey where no schedule can be.
WIDTH_INCHES: Final = 7.0
BLUE: Final = "#0072b2"
VERMILION: Final = "#d55e00"
GREEN: Final = "#009e73"
PURPLE: Final = "#cc79a7"
ORANGE: Final = "#e69f00"
SKY: Final = "#56b4e9"
YELLOW: Final = "#f0e442"
BROWN: Final = "#8c510a"  # a ninth and a tenth, where all others are taken
GREY: Final = "#777777"
INK: Final = "#222222"
RED: Final = "#c1272d"  # limits: redlines and caps, always with a word beside them
RULE: Final = "#cccccc"  # lines between rows, idle time, and what is only there to guide the eye
STRIPE: Final = "#f2f2f2"  # behind every other column
FORBIDDEN: Final = "#e6e6e6"  # where no schedule is
LIMIT_LINE: Final = 1.2  # points
CURVE_LINE: Final = 1.4
SMALL_LETTERS: Final = 7
ASIDE: Final[dict[str, Any]] = {"color": INK, "fontsize": SMALL_LETTERS, "style": "italic"}  # words in a figure
MOST_TICK_DIGITS: Final = 12
MOST_TOOLTIPS: Final = 250  # of a figure on a page: more cannot be pointed at
LONGEST_LABEL: Final = 24  # letters of a name in a figure
LEFT_TO_RIGHT: Final = "\u200e"  # a mark without a shape
MOST_COLUMNS: Final = 5  # of a legend
LETTERS_PER_INCH: Final = 16
HANDLE_LETTERS: Final = 8  # that the sign before a legend's label takes

Entry = TypeVar("Entry")
Look: TypeAlias = dict[str, Any]  # of something drawn, as Matplotlib's functions take it


@dataclass(frozen=True, slots=True)
class Tooltip:
    """More about a point of a figure on a page: data coordinates, lines of text, which of the figure's axes."""

    x: float
    y: float
    label: str
    axes: int = 0


def cell_tooltips(
    cells: Iterable[tuple[float, int, int]], words: Callable[[float, int, int], str]
) -> tuple[Tooltip, ...]:
    """Return the text at cells of a map, each given by a number, its row and its column; of many, at the largest."""
    largest = sorted(cells, key=lambda cell: -cell[0])[:MOST_TOOLTIPS]
    return tuple(
        Tooltip(cell[2] + 0.5, cell[1] + 0.5, words(*cell)) for cell in sorted(largest, key=lambda cell: cell[1:])
    )


def blank_figure(height_inches: float) -> Figure:
    """Return an empty figure whose parts arrange themselves."""
    load_matplotlib()
    from matplotlib.figure import Figure  # noqa: PLC0415 - optional

    return Figure(figsize=(WIDTH_INCHES, height_inches), layout="constrained")


@contextmanager
def begun(height_inches: float) -> Iterator[Figure]:
    """Begin a figure, and draw it in our style."""
    with drawing_style():
        yield blank_figure(height_inches)


@contextmanager
def one_panel(height_inches: float) -> Iterator[tuple[Figure, Axes]]:
    """Begin a figure of one panel."""
    with begun(height_inches) as figure:
        yield figure, figure.subplots()


def stacked(*parts: tuple[float, Callable[[Figure | SubFigure], object]]) -> Figure:
    """Return a figure of parts one below the other: how many inches high each is (0: left out), and what draws it."""
    shown = [part for part in parts if part[0]]
    heights = [inches for inches, _ in shown]
    with begun(sum(heights)) as figure:
        several = len(shown) > 1
        places = figure.subfigures(len(shown), 1, height_ratios=heights, squeeze=False)[:, 0] if several else [figure]
        for place, (_, draw) in zip(places, shown, strict=True):
            draw(place)
        return figure


def lettered(name: str, longest: int = LONGEST_LABEL, end: int | None = None) -> str:
    r"""Return a name as Matplotlib shall draw it: exactly as it stands, but cut where it is long, with some `end`.

    A dollar sign would begin a formula, so it gets the backslash that keeps it one. A letter that our font
    does not have is written as its code, so that two such names can still be distinguished. Marks about a name
    that is read from the right keep what stands beside it in its place.

    >>> print(lettered("$x_1$"), lettered("任务"), lettered("a" * 30))
    \$x_1\$ \u4efb\u52a1 aaaaaaaaaaaaaa...aaaaaaa
    """
    drawn = _letters()
    known = "".join(each if ord(each) in drawn and each != "\n" else ascii(each)[1:-1] for each in on_page(name))
    if len(known) > longest:
        end = longest // 3 - 1 if end is None else end
        known = f"{known[: longest - end - 3]}...{known[-end:]}"
    if any(unicodedata.bidirectional(letter) in {"R", "AL"} for letter in known):
        known = f"{LEFT_TO_RIGHT}{known}{LEFT_TO_RIGHT}"
    return known.replace("$", r"\$")


def shortened(names: Sequence[str], longest: int = LONGEST_LABEL) -> list[str]:
    """Return names as `lettered` does, but cut where they stay distinct, or numbered where no cut does that.

    >>> shortened(["node-of-the-east-1-abc", "node-of-the-east-2-abc", "gpu"], 12)
    ['node...1-abc', 'node...2-abc', 'gpu']
    """
    ends = sorted(range(1, longest - 2), key=lambda end: abs(end - (longest // 3 - 1)))
    cuts = ([lettered(name, longest, end) for name in names] for end in ends)
    texts = max(cuts, key=lambda each: len(set(each)))
    if len(set(texts)) < len(set(names)):
        return [f"{at} {lettered(name, longest - 4)}" for at, name in enumerate(names, start=1)]
    return texts


def write_numbers(*several: Axis, grid: Literal["", "x", "y"] = "") -> None:
    """Write the numbers of axes plainly, with separated thousands and as many digits as their steps need."""

    def written(axis: Axis, value: float, _place: object) -> str:
        ticks = axis.get_majorticklocs()
        return tick_text(value, float(ticks[1] - ticks[0]) if len(ticks) > 1 else 0.0)

    for axis in several:
        axis.set_major_formatter(partial(written, axis))
        if grid:
            draw_grid(axis.axes, grid)


def tick_text(value: float, step: float) -> str:
    """Return the number at a tick; the next tick is `step` away.

    >>> tick_text(1_000_000.5, 0.5), tick_text(2500.0, 2500.0), tick_text(0.1 + 0.2, 0.1)
    ('1,000,000.5', '2,500', '0.3')
    """
    if abs(value) < abs(step) / 1e6:  # what rounding left of 0
        return "0"
    digits = 3 + math.floor(math.log10(abs(value / step))) if step else 6  # steps have two: 2.5, 0.25
    return number(value, min(MOST_TICK_DIGITS, max(3, digits)))


def draw_grid(axes: Axes, axis: Literal["x", "y", "both"]) -> None:
    """Draw faint lines across one axis or both, behind everything."""
    axes.grid(visible=True, axis=axis)


def legend_columns(labels: Iterable[str], width_inches: float = WIDTH_INCHES) -> int:
    """Return how many columns of a legend fit side by side."""
    longest = max(map(len, labels))
    return max(1, min(MOST_COLUMNS, int(width_inches * LETTERS_PER_INCH / (longest + HANDLE_LETTERS))))


def line_by_line(entries: Sequence[Entry], columns: int) -> list[Entry]:
    """Return legend entries so that they are read in lines; Matplotlib fills column after column.

    >>> line_by_line("abcde", 2)
    ['a', 'c', 'e', 'b', 'd']
    """
    return [each for column in range(columns) for each in entries[column::columns]]


@cache
def _letters() -> frozenset[int]:
    """Return the code points that our font has a shape for."""
    load_matplotlib()
    from matplotlib.font_manager import findfont, get_font  # noqa: PLC0415 - optional

    return frozenset(get_font(findfont("DejaVu Sans")).get_charmap())


# What figures of fronts share: units that fit the numbers, and a colour and a mark for each method.
SHAPES: Final = ("s", "^", "D", "v", "P", "X", "<", "*")
MARKS: Final = tuple(zip((VERMILION, GREEN, PURPLE, ORANGE, SKY, INK, BROWN, GREY), SHAPES, strict=True))  # in turn
DASHES: Final = ("-", "--", "-.", ":")
HATCH: Final = "//////"  # of cells of a map that have no number
FAR: Final = 30.0  # times the least; then an axis is logarithmic
OURS: Final = BLUE
STYLES: Final = ((OURS, "o"), *MARKS)  # where ours is one of them
MARK_SIZE: Final = 3.5
ROOM: Final = 0.06  # of an axis, beyond all points
MOST_MARKS: Final = 400  # of one method; more cover each other, and fill the file


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit, and how many of the base unit it is."""

    name: str
    size: float


JOULES: Final = (Unit("J", 1.0), Unit("kJ", KILO), Unit("MJ", MEGA), Unit("GJ", GIGA), Unit("TJ", 1e12))
ENERGIES: Final = (  # where electricity has a price
    Unit("J", 1.0),
    Unit("Wh", SECONDS_PER_HOUR),
    Unit("kWh", JOULES_PER_KWH),
    Unit("MWh", KILO * JOULES_PER_KWH),
    Unit("GWh", MEGA * JOULES_PER_KWH),
)
SECONDS: Final = (
    Unit("seconds", 1.0),
    Unit("minutes", 60.0),
    Unit("hours", SECONDS_PER_HOUR),
    Unit("days", SECONDS_PER_DAY),
    Unit("years", 31_557_600.0),
)


def fitting(units: Sequence[Unit], largest: float) -> Unit:
    """Return the largest unit that the largest number is at least two of, else the smallest.

    >>> fitting(SECONDS, 100.0).name, fitting(SECONDS, 200.0).name, fitting(ENERGIES, 0.5).name
    ('seconds', 'minutes', 'J')
    """
    return max((unit for unit in units if largest >= 2 * unit.size), key=lambda unit: unit.size, default=units[0])


def write_dates(axes: Axes, epoch: str, unit: Unit) -> str:
    """Write dates at the ticks of an axis in units since an epoch, within its limits; return the axis's label.

    Where the dates would be beyond the calendar, the numbers stay.
    """
    from matplotlib import dates as untyped  # noqa: PLC0415 - optional

    dates: Any = untyped
    zero, limits = datetime.fromisoformat(epoch), axes.get_xlim()
    try:
        begin, end = (zero + timedelta(seconds=limit * unit.size) for limit in limits)
        locator = dates.AutoDateLocator(tz=UTC)
        values = locator.tick_values(begin, end)
        formatter = dates.ConciseDateFormatter(locator, tz=UTC)
        texts = formatter.format_ticks(values)
        places = [(dates.num2date(value, tz=UTC) - zero).total_seconds() / unit.size for value in values]
    except (OverflowError, ValueError):
        return unit.name
    seen = [(x, text) for x, text in zip(places, texts, strict=True) if limits[0] <= x <= limits[1]]
    axes.set_xticks([x for x, _ in seen], [text for _, text in seen])
    return f"{formatter.get_offset()} (UTC)".strip()


def draw_dots(axes: Axes, dots: Iterable[tuple[float, float]], marker: str, colour: Any, **look: Any) -> None:  # noqa: ANN401
    """Draw marks with no line between them; `look` is what Matplotlib knows of the marks of a line.

    Without a colour, the look has that of faces (`mfc`) and of edges (`mec`).
    """
    places = list(dots)
    axes.plot([x for x, _ in places], [y for _, y in places], linestyle="none", marker=marker, color=colour, **look)


def draw_ring(axes: Axes, dot: tuple[float, float], **look: Any) -> None:  # noqa: ANN401
    """Draw a ring of ink about a dot."""
    draw_dots(axes, [dot], "o", INK, markerfacecolor="none", **look)


def draw_marks(axes: Axes, name: str, dots: Sequence[tuple[float, float]], place: int) -> None:
    """Draw the points of one method."""
    colour, mark = MARKS[place % len(MARKS)]
    shown = [dots[each] for each in along(len(dots), MOST_MARKS)]
    size, edge = (2 * MARK_SIZE, "white") if len(dots) == 1 else (MARK_SIZE, colour)
    draw_dots(axes, shown, mark, None, mfc=colour, ms=size, mec=edge, mew=0.5, zorder=3, label=lettered(name))


def write_beside(axes: Axes, words: str, dot: tuple[float, float], points: float, **look: Any) -> None:  # noqa: ANN401
    """Write words some points to the right of a dot."""
    look = {"fontsize": SMALL_LETTERS} | look
    axes.annotate(words, dot, (points, 0), textcoords="offset points", va="center", **look)


def outline(corners: Sequence[tuple[float, float]]) -> Path:
    """Return rectangles as one path: of each its four corners, and the first once more."""
    from matplotlib.path import Path  # noqa: PLC0415 - optional

    return Path(corners, [Path.MOVETO, *[Path.LINETO] * 3, Path.CLOSEPOLY] * (len(corners) // 5))


def paper(pad: float, **look: Any) -> Look:  # noqa: ANN401
    """Return the white ground of letters that stand on something else."""
    return {"facecolor": "white", "edgecolor": "none", "boxstyle": f"round,pad={pad}", **look}


def draw_cells(axes: Axes, percents: Floats, shades: str, top: float, *, many: bool) -> None:
    """Shade the cells of a map from 0 to `top`, white where there is no number; if there are many, as pixels."""
    rows, columns = percents.shape
    edges = [range(count + 1) for count in (columns, rows)]
    edge = "none" if many else RULE
    scale: Look = {"cmap": shades, "vmin": 0.0, "vmax": top}
    axes.pcolormesh(*edges, percents, edgecolors=edge, linewidth=0.3, rasterized=many, **scale)
    axes.set(xlim=(0, columns), ylim=(rows, 0))
    for spine in axes.spines.values():
        spine.set(visible=True, color=RULE)


def add_scale(figure: Figure | SubFigure, axes: Axes, label: str, **look: Any) -> None:  # noqa: ANN401
    """Say below a map what its shades mean."""
    figure.colorbar(axes.collections[0], ax=axes, location="bottom", shrink=0.5, aspect=40, label=label, **look)


def slant(axes: Axes, side: Literal["left", "right"]) -> None:
    """Write the names along the x axis aslant, that side of them at their ticks."""
    for label in axes.get_xticklabels():
        label.set(rotation=40, rotation_mode="anchor", horizontalalignment=side)


def draw_legend(
    place: Figure | SubFigure | Axes,
    handles: Sequence[Artist],
    labels: Sequence[str],
    loc: str,
    **look: Any,  # noqa: ANN401
) -> None:
    """Draw a legend of as many columns as fit into `width_inches`, read line by line."""
    columns = legend_columns(labels, look.pop("width_inches", WIDTH_INCHES))
    look |= {"loc": loc, "ncols": columns}
    place.legend(line_by_line(handles, columns), line_by_line(labels, columns), **look)


def legend_above(figure: Figure | SubFigure, *several: Axes) -> None:
    """Name all marks above the figure, each once."""
    handles: dict[str, Artist] = {
        label: handle for axes in several for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    if handles:
        draw_legend(figure, list(handles.values()), list(handles), "outside upper left")


def room_about(values: Iterable[float], share: float = ROOM) -> tuple[float, float]:
    """Return the ends of an axis that has some room about all values.

    >>> room_about([1.0, 2.0], 0.1)
    (0.9, 2.1)
    """
    known = list(values)
    low, high = min(known), max(known)
    room = share * (high - low) or share * abs(high) or 1.0
    return low - room, high + room


# How priorities are distinguished in figures: a colour, a shape and a height; dark and tall are the highest.
MAP, PRIORITY_DARK, LIGHT = "magma", 0.12, 0.84  # colours that stay in order in grey, too
TALLEST, LOWEST = 0.92, 0.32  # heights, as shares of the room


@dataclass(frozen=True, slots=True)
class PriorityMark:
    """How one priority is drawn."""

    colour: str
    shape: str
    height: float


def priority_marks(count: int) -> tuple[PriorityMark, ...]:
    """Return the marks of `count` priorities, from the highest."""
    shares = [place / max(1, count - 1) for place in range(count)]
    return tuple(
        PriorityMark(
            shade(MAP, PRIORITY_DARK + (LIGHT - PRIORITY_DARK) * share),
            SHAPES[place % len(SHAPES)],
            TALLEST - (TALLEST - LOWEST) * share,
        )
        for place, share in enumerate(shares)
    )


# How task types are distinguished in a figure: by a number, a colour, and a hatch where there are many.
#
# They are numbered from the most memory-intensive to the least, and coloured from red over yellow to blue in
# that order, a scale that stays readable without red and green. How memory-intensive a class b is, the
# degradation table says: by how much it slows the others down, sum_a PD[a][b]; then by how much it is slowed
# down, sum_a PD[b][a]. Equal ones, and all where there is no table, keep the order of the file.
HATCHES: Final = ("", "////", "----", r"\\\\", "xxxx")  # no dots: each is a circle in the file
PLAIN: Final = 8  # task types that colours and numbers distinguish well
DARK: Final = 0.5  # of the brightness, below which letters are white


@dataclass(frozen=True, slots=True)
class TaskMark:
    """How one task type is drawn."""

    number: int
    label: str  # number, name and class, for the legend
    colour: str
    hatch: str
    letters: str  # the colour of letters upon it


def by_memory_intensity(facility: Facility) -> tuple[int, ...]:
    """Return the task types, as places in the file, from the most memory-intensive to the least."""
    table = facility.degradation
    if table is None:
        return tuple(range(len(facility.task_types)))
    span = range(len(facility.memory_classes))
    done = [sum(table[a, b] or 0.0 for a in span) for b in span]
    suffered = [sum(table[b, a] or 0.0 for a in span) for b in span]
    classes = sorted(span, key=lambda b: (-done[b], -suffered[b], b))
    rank = {b: place for place, b in enumerate(classes)}
    return tuple(sorted(range(len(facility.task_types)), key=lambda i: (rank[facility.class_of[i]], i)))


def task_marks(facility: Facility) -> dict[str, TaskMark]:
    """Return the mark of each task type, the most memory-intensive first."""
    tasks, marks = [facility.task_types[i] for i in by_memory_intensity(facility)], {}
    for place, task in enumerate(tasks):
        colour = shade("RdYlBu", place / max(1, len(tasks) - 1))
        kind = f" ({lettered(task.memory_class, 12)})" if task.memory_class and facility.memory_classes else ""
        label = f"{place + 1}  {lettered(task.name)}{kind}"
        hatch = HATCHES[place % len(HATCHES)] if len(tasks) > PLAIN else ""
        marks[task.name] = TaskMark(place + 1, label, colour, hatch, letters_upon(colour))
    return marks


def shade(scale: str, share: float) -> str:
    """Return the colour at a share of one of Matplotlib's scales."""
    matplotlib = load_matplotlib()
    return str(matplotlib.colors.to_hex(matplotlib.colormaps[scale](share)))


def letters_upon(colour: str) -> str:
    """Return the colour of letters and hatches upon another: white upon dark ones, ink upon light ones."""
    red, green, blue = load_matplotlib().colors.to_rgb(colour)
    return "white" if 0.3 * red + 0.59 * green + 0.11 * blue < DARK else INK
