"""Figures of which tasks run where."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.io.pictures import drawing_style
from lpsched.report.figures import style
from lpsched.report.figures.loads import bag_loads, draw_loads, loads_inches
from lpsched.report.html.page import Spot
from lpsched.units import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from lpsched.bag.model import Bag
    from lpsched.bag.schedule import Schedule


# Which tasks run where: a map of task types by machine types, shaded by how many of a type run there.
#
#     share of (i, j)  =  tasks of type i that machine type j runs, in any P-state, of all tasks of type i
#
# The darker a cell, the larger its share; numbers are percentages, where there is room. A pair that cannot run
# is hatched, or grey where a cell is too small for that. Names are thinned where they would touch, and of very
# many types those with the most tasks, or that run the most, are drawn.
MOST_ROWS: Final = 240
MOST_COLUMNS: Final = 120
MOST_CELLS: Final = 2_500  # drawn one by one; more are pixels
MOST_NUMBERED_COLUMNS: Final = 16
ROW_INCHES: Final = 0.17
LEAST_INCHES, MOST_INCHES = 0.7, 8.0  # of the map
AROUND_INCHES: Final = 1.45  # names of machine types above, the scale of shades below
NAME_INCHES: Final = 0.13  # that a name needs at least
COLUMN_NAME_INCHES: Final = 0.2
MAP_WIDTH_INCHES: Final = style.WIDTH_INCHES - 1.6
NUMBER_INCHES: Final = 0.12  # that a row needs for numbers in it
LETTER_INCHES: Final = 0.075
LONGEST_NAME: Final = 18  # letters of a machine type
SHADES: Final = "Blues"  # from white to dark, also in grey
DARK: Final = 0.55  # a share from which on numbers are white
HATCH: Final = "//////"
LEAST_SHARE: Final = 0.005  # less is written as "<1"


@dataclass(frozen=True, slots=True)
class Shares:
    """How many tasks of each type run on each machine type; `None` where a pair cannot run."""

    tasks: tuple[str, ...]
    task_counts: tuple[int, ...]
    machines: tuple[str, ...]
    counts: tuple[tuple[int | None, ...], ...]
    tasks_left_out: int = 0
    machines_left_out: int = 0

    @property
    def many(self) -> bool:
        """Whether there are so many cells that they are no more than pixels."""
        return len(self.tasks) * len(self.machines) > MOST_CELLS

    def share(self, i: int, j: int) -> float:
        """Return the share of a task type that a machine type runs."""
        return (self.counts[i][j] or 0) / self.task_counts[i]

    def words(self, i: int, j: int) -> str:
        """Return a cell in a sentence."""
        pair = f"{self.tasks[i]} on {self.machines[j]}"
        count = self.counts[i][j]
        if count is None:
            return f"{pair}: cannot run"
        return f"{pair}: {count:,} of {self.task_counts[i]:,} tasks ({number(100 * self.share(i, j), 3)} %)"


def shares_of(bag: Bag, schedule: Schedule) -> Shares:
    """Return where the tasks of a schedule run; of very many types, the largest."""
    counts: Counter[tuple[str, str]] = Counter()
    for group in schedule.groups:
        for run in group.runs:
            counts[run.task_type, group.machine_type] += group.machines * run.count
    run_by: Counter[str] = Counter()
    for (_, machine), count in counts.items():
        run_by[machine] += count
    rows = _largest([task.count for task in bag.task_types], MOST_ROWS)
    columns = _largest([run_by[machine.name] for machine in bag.machine_types], MOST_COLUMNS)
    modes: dict[int, list[int]] = {}
    for mode, (j, _) in enumerate(bag.modes):
        modes.setdefault(j, []).append(mode)
    names = [bag.machine_types[j].name for j in columns]
    return Shares(
        tuple(bag.task_types[i].name for i in rows),
        tuple(bag.task_types[i].count for i in rows),
        tuple(names),
        tuple(
            tuple(
                counts[bag.task_types[i].name, name]
                if any(bag.seconds[i, mode] is not None for mode in modes[j])
                else None
                for j, name in zip(columns, names, strict=True)
            )
            for i in rows
        ),
        len(bag.task_types) - len(rows),
        len(bag.machine_types) - len(columns),
    )


def _largest(sizes: Sequence[int], most: int) -> list[int]:
    """Return the places of the largest, in their own order."""
    return sorted(sorted(range(len(sizes)), key=lambda place: -sizes[place])[:most])


def share_map(bag: Bag, schedule: Schedule) -> Figure:
    """Draw which share of each task type runs on which machine type."""
    with drawing_style():
        shares = shares_of(bag, schedule)
        figure = style.blank_picture(map_inches(shares))
        draw_map(figure, shares)
        return figure


def map_inches(shares: Shares) -> float:
    """Return how high the picture is."""
    return _cells_inches(shares) + AROUND_INCHES


def _cells_inches(shares: Shares) -> float:
    return min(MOST_INCHES, max(LEAST_INCHES, ROW_INCHES * len(shares.tasks)))


def draw_map(figure: Figure | SubFigure, shares: Shares) -> None:
    """Draw the map into a picture or a part of one."""
    axes, inches = figure.subplots(), _cells_inches(shares)
    _draw_cells(axes, shares)
    _draw_absent(axes, shares)
    if inches / len(shares.tasks) >= NUMBER_INCHES and len(shares.machines) <= MOST_NUMBERED_COLUMNS:
        _write_shares(axes, shares)
    _name(axes, shares, inches)
    _add_scale(figure, axes)


def share_spots(bag: Bag, schedule: Schedule) -> tuple[Spot, ...]:
    """Return what to tell about the cells that run something; of many, those that run the most tasks."""
    shares = shares_of(bag, schedule)
    cells = [(count, i, j) for i, row in enumerate(shares.counts) for j, count in enumerate(row) if count]
    largest = sorted(cells, key=lambda cell: -cell[0])[: style.MOST_SPOTS]
    return tuple(Spot(j + 0.5, i + 0.5, shares.words(i, j)) for _, i, j in sorted(largest, key=lambda cell: cell[1:]))


def _draw_cells(axes: Axes, shares: Shares) -> None:
    """Shade the cells; where there are many, as one image."""
    rows, columns = len(shares.tasks), len(shares.machines)
    percents = np.array([[100.0 * shares.share(i, j) for j in range(columns)] for i in range(rows)])
    percents[percents == 0.0] = np.nan  # is white, and not the first shade
    axes.pcolormesh(
        np.arange(columns + 1),
        np.arange(rows + 1),
        percents,
        cmap=SHADES,
        vmin=0.0,
        vmax=100.0,
        edgecolors="none" if shares.many else style.RULE,
        linewidth=0.3,
        rasterized=shares.many,
    )
    axes.set_ylim(rows, 0)
    axes.set_xlim(0, columns)


def _draw_absent(axes: Axes, shares: Shares) -> None:
    """Hatch the pairs that cannot run, as one shape, in which neighbours are joined."""
    from matplotlib.patches import PathPatch  # noqa: PLC0415 - optional
    from matplotlib.path import Path  # noqa: PLC0415 - optional

    corners: list[tuple[float, float]] = []
    codes: list[np.uint8] = []
    for i, row in enumerate(shares.counts):
        for left, right in _absent_stretches(row):
            corners += [(left, i), (right, i), (right, i + 1), (left, i + 1), (left, i)]
            codes += [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY]
    if corners:
        hatch = None if shares.many else HATCH  # in a pixel it would be noise
        shade = style.FORBIDDEN if shares.many else style.STRIPE
        shape = PathPatch(Path(corners, codes), facecolor=shade, edgecolor=style.GREY, hatch=hatch, linewidth=0.0)
        shape.set(zorder=2, label="cannot run")
        axes.add_patch(shape)


def _absent_stretches(row: Sequence[int | None]) -> list[tuple[int, int]]:
    """Return where pairs that cannot run begin and end.

    >>> _absent_stretches([None, None, 3, None])
    [(0, 2), (3, 4)]
    """
    found: list[tuple[int, int]] = []
    for j, count in enumerate(row):
        if count is None:
            joined = found and found[-1][1] == j
            start = found.pop()[0] if joined else j
            found.append((start, j + 1))
    return found


def _write_shares(axes: Axes, shares: Shares) -> None:
    """Write percentages into the cells that run something."""
    for i, row in enumerate(shares.counts):
        for j, count in enumerate(row):
            if count:
                share = shares.share(i, j)
                axes.text(
                    j + 0.5,
                    i + 0.5,
                    "<1" if share < LEAST_SHARE else f"{100 * share:.0f}",
                    ha="center",
                    va="center",
                    fontsize=6,
                    color="white" if share > DARK else style.INK,
                )


def _name(axes: Axes, shares: Shares, inches: float) -> None:
    """Name rows and columns, as many as there is room for, and say how many types are not drawn."""
    rows, columns = len(shares.tasks), len(shares.machines)
    every_row = max(1, -(-rows * NAME_INCHES // inches))
    every_column = max(1, -(-columns * COLUMN_NAME_INCHES // MAP_WIDTH_INCHES))
    down, across = range(0, rows, int(every_row)), range(0, columns, int(every_column))
    axes.set_yticks([i + 0.5 for i in down], [style.lettered(shares.tasks[i]) for i in down])
    axes.xaxis.tick_top()
    names = [style.lettered(shares.machines[j], LONGEST_NAME) for j in across]
    axes.set_xticks([j + 0.5 for j in across], names)
    if max(map(len, names)) * LETTER_INCHES > MAP_WIDTH_INCHES / len(names):
        for label in axes.get_xticklabels():
            label.set(rotation=40, rotation_mode="anchor", horizontalalignment="left")
    axes.tick_params(length=0 if every_row == every_column == 1 else 2, labelsize=7)
    if shares.tasks_left_out:
        axes.set_ylabel(f"task type; {shares.tasks_left_out:,} types with fewer tasks are not drawn")
    if shares.machines_left_out:
        axes.set_title(f"{shares.machines_left_out:,} machine types that run less are not drawn", pad=12)
    for spine in axes.spines.values():
        spine.set_visible(True)
        spine.set_color(style.RULE)


def _add_scale(figure: Figure | SubFigure, axes: Axes) -> None:
    """Say what shades mean, and what the hatch does."""
    figure.colorbar(
        axes.collections[0],
        ax=axes,
        location="bottom",
        shrink=0.5,
        aspect=40,
        pad=0.02,
        anchor=(0.0, 1.0),
        label="share of the task type's tasks, %",
    )
    if axes.patches:
        beside = axes.legend(loc="upper right", bbox_to_anchor=(1.0, 0.0))
        beside.set_in_layout(False)  # the scale of shades is as high as it


def schedule_picture(bag: Bag, schedule: Schedule) -> Figure:
    """Draw a valid schedule."""
    with drawing_style():
        loads, shares = bag_loads(bag, schedule), shares_of(bag, schedule)
        heights = loads_inches(loads), map_inches(shares)
        figure = style.blank_picture(sum(heights))
        above, below = figure.subfigures(2, 1, height_ratios=heights, squeeze=False)[:, 0]
        draw_loads(above, loads)
        draw_map(below, shares)
        return figure
