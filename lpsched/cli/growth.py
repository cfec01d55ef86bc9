"""How well a grown bag keeps the shape of the small one: a table for people, keys for programs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

    from lpsched.generate.grow import Growth, Shape
    from lpsched.generate.moments import Moments

HEADERS = ("moments of", "", "mean", "variation", "skewness", "kurtosis")


def growth_as_json(growth: Growth) -> list[dict[str, Any]]:
    """Return the moments of everything that was sampled."""
    return [
        {
            "table": shape.table,
            "ratios_of": shape.of,
            "real": _as_json(shape.real),
            "density": _as_json(shape.density),
            "new": None if shape.new is None else _as_json(shape.new),
        }
        for shape in growth.shapes
    ]


def _as_json(moments: Moments) -> dict[str, float]:
    return {
        "mean": moments.mean,
        "standard_deviation": moments.deviation,
        "skewness": moments.skewness,
        "kurtosis": moments.kurtosis,
    }


def tell_growth(growth: Growth) -> None:
    """Print the moments on stderr, after what is on stdout."""
    from rich.console import Console

    from lpsched.cli.talk import PIPE_WIDTH

    console = Console(stderr=True, markup=False, highlight=False, emoji=False)
    if not console.is_terminal:
        console.width = PIPE_WIDTH
    with console.capture() as captured:
        console.print(growth_table(growth))
    sys.stdout.flush()
    sys.stderr.write("".join(f"{line.rstrip()}\n" for line in captured.get().splitlines()))


def growth_table(growth: Growth) -> Table:
    """Return the moments of the row means, and of the ratios whose density is farthest off."""
    from lpsched.reports.tables import table

    rows = []
    for key in ("seconds", "watts"):
        shapes = [shape for shape in growth.shapes if shape.table == key]
        ratios = [shape for shape in shapes if shape.of is not None]
        for shape in shapes[:1] + sorted(ratios, key=_misfit)[-1:]:
            what = "row means" if shape.of is None else f"ratios of {shape.of} (least well kept)"
            rows += _rows(f"{key}: {what}", shape)
    return table(HEADERS, rows, numbers=(2, 3, 4, 5))


def _misfit(shape: Shape) -> float:
    real, density = shape.real, shape.density
    return abs(real.skewness - density.skewness) + abs(real.kurtosis - density.kurtosis)


def _rows(what: str, shape: Shape) -> list[tuple[str, ...]]:
    numbers = [("real", shape.real), ("density", shape.density)]
    if shape.new is not None:
        numbers.append(("new", shape.new))
    return [(what if k == 0 else "", label, *_cells(moments)) for k, (label, moments) in enumerate(numbers)]


def _cells(moments: Moments) -> tuple[str, ...]:
    from lpsched.display import number

    variation = moments.deviation / moments.mean if moments.mean else 0.0
    if moments.deviation == 0:
        return number(moments.mean, 5), "0", "-", "-"
    return (
        number(moments.mean, 5),
        *(f"{each + 0.0:.3f}" for each in (variation, moments.skewness, moments.kurtosis)),
    )
