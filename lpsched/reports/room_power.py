"""Where the power of a room goes: to node types, their overhead and their cores, and to the cooling."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lpsched.display import number
from lpsched.reports.pictures import (
    BLUE,
    INK,
    LIMIT_LINE,
    RED,
    RULE,
    SKY,
    SMALL_LETTERS,
    lettered,
    write_numbers,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from lpsched.instance.facility import Facility

PARTS: Final = (  # of a bar: name, colour, hatch
    ("overhead", SKY, "////"),
    ("cores", BLUE, ""),
    ("cooling", RULE, r"\\\\"),
)
MOST_TYPES: Final = 8  # node types in rows of their own
KILO: Final = 1e4  # watts, from which they are told in kilowatts


@dataclass(frozen=True, slots=True)
class PowerRow:
    """What one bar of the power says: watts of the overhead, of the cores and of the cooling."""

    label: str
    overhead: float = 0.0
    cores: float = 0.0
    cooling: float = 0.0


def power_rows(
    facility: Facility, node_watts: Sequence[float], cooling_watts: Sequence[float]
) -> list[PowerRow]:
    """Return the watts of each node type, of the cooling, and of all; small types together in one row."""
    kinds = []
    for j in sorted(set(facility.nodes)):
        kind = facility.node_types[j]
        drawn = [watts for at, watts in zip(facility.nodes, node_watts, strict=True) if at == j]
        overhead = len(drawn) * kind.overhead_watts
        label = f"{lettered(kind.name, 16)} ({len(drawn):,} node{'s' if len(drawn) > 1 else ''})"
        kinds.append(PowerRow(label, overhead, max(0.0, math.fsum(drawn) - overhead)))
    cooling = math.fsum(cooling_watts)
    total = PowerRow("all", sum(each.overhead for each in kinds), sum(each.cores for each in kinds), cooling)
    if len(kinds) > MOST_TYPES:
        kinds.sort(key=lambda each: -(each.overhead + each.cores))
        few = kinds[MOST_TYPES - 1 :]
        rest = sum(each.overhead for each in few), sum(each.cores for each in few)
        kinds = [*kinds[: MOST_TYPES - 1], PowerRow(f"{len(few)} other types", *rest)]
    return [*kinds, PowerRow("cooling", cooling=cooling), total]


def draw_power(axes: Axes, rows: Sequence[PowerRow], cap_watts: float) -> None:
    """Draw the rows as bars from the top down, each part with its hatch, and the cap as a line."""
    unit, scale = ("kW", 1e-3) if cap_watts >= KILO else ("W", 1.0)
    lefts = [0.0] * len(rows)
    for name, colour, hatch in PARTS:
        widths = [scale * getattr(row, name) for row in rows]
        axes.barh(
            range(len(rows)),
            widths,
            0.7,
            left=lefts,
            color=colour,
            hatch=hatch,
            edgecolor=INK,
            linewidth=0.5,
            label=name,
        )
        lefts = [left + width for left, width in zip(lefts, widths, strict=True)]
    for place, end in enumerate(lefts):
        axes.annotate(number(end, 4), (end, place), (3, 0), textcoords="offset points", va="center")
    cap = scale * cap_watts
    axes.axvline(cap, color=RED, linewidth=LIMIT_LINE)
    axes.annotate("cap", (cap, 1.0), (3, -8), ("data", "axes fraction"), "offset points", color=RED)
    axes.set_yticks(range(len(rows)), [row.label for row in rows])
    axes.tick_params(axis="y", length=0)
    axes.invert_yaxis()
    axes.set_xlim(0.0, 1.12 * max(cap, *lefts))
    write_numbers(axes.xaxis)
    axes.set_xlabel(f"power, {unit}")
    axes.set_title(f"Power: {number(lefts[-1], 4)} {unit} of the cap of {number(cap, 4)} {unit}")
    axes.legend(
        loc="lower right", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.2, ncols=3, fontsize=SMALL_LETTERS
    )
