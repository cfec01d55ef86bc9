"""How task types are told apart in a picture: by a number, a colour, and a hatch where there are many.

They are numbered from the most memory-intensive to the least, and coloured from red over yellow to blue in
that order, a scale that stays readable without red and green. How memory-intensive a class b is, the
degradation table says: by how much it slows the others down, sum_a PD[a][b]; then by how much it is slowed
down, sum_a PD[b][a]. Equal ones, and all where there is no table, keep the order of the file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lpsched.files.pictures import load_matplotlib
from lpsched.reports.pictures import INK, lettered

if TYPE_CHECKING:
    from lpsched.instance.facility import Facility

HATCHES: Final = ("", "////", "----", r"\\\\", "xxxx")  # no dots: each is a circle in the file
PLAIN: Final = 8  # task types that colours and numbers tell apart well
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
    span = range(len(facility.classes))
    done = [sum(table[a, b] or 0.0 for a in span) for b in span]
    suffered = [sum(table[b, a] or 0.0 for a in span) for b in span]
    classes = sorted(span, key=lambda b: (-done[b], -suffered[b], b))
    rank = {b: place for place, b in enumerate(classes)}
    return tuple(
        sorted(range(len(facility.task_types)), key=lambda i: (rank[facility.class_of[i]], i)),
    )


def task_marks(facility: Facility) -> dict[str, TaskMark]:
    """Return the mark of each task type, the most memory-intensive first.

    Raises
    ------
    MissingExtraError
        If Matplotlib is not installed.
    """
    order = by_memory_intensity(facility)
    return {
        facility.task_types[i].name: _mark(facility, i, place, len(order)) for place, i in enumerate(order)
    }


def _mark(facility: Facility, i: int, place: int, count: int) -> TaskMark:
    load_matplotlib()
    from matplotlib import colormaps  # noqa: PLC0415 - optional
    from matplotlib.colors import to_hex  # noqa: PLC0415

    red, green, blue, _ = colormaps["RdYlBu"](place / max(1, count - 1))
    task = facility.task_types[i]
    kind = f" ({lettered(task.memory_class, 12)})" if task.memory_class and facility.classes else ""
    return TaskMark(
        number=place + 1,
        label=f"{place + 1}  {lettered(task.name)}{kind}",
        colour=to_hex((red, green, blue)),
        hatch=HATCHES[place % len(HATCHES)] if count > PLAIN else "",
        letters="white" if 0.3 * red + 0.59 * green + 0.11 * blue < DARK else INK,
    )
