"""Profit paper, figure 3: the profit ratio swept with 5 % idle power: losses that are off the front."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from lpsched.io.figure_files import write_figure
from lpsched.units import number
from scripts.figures.shared.profit_figures import Money, Runs, arguments, is_among, points_of, schedule_of, tell
from scripts.figures.shared.profit_sweep import Sweep, SweepPoint, profit_sweep_figure

if TYPE_CHECKING:
    from lpsched.bag.result import Point


def main(given: list[str] | None = None) -> None:
    """Run the study, draw, and print what was found."""
    asked = arguments(__doc__ or "", "profit-3", given)
    runs = Runs(asked)
    front = points_of(runs.outcome("front")["vertices"])
    region = points_of(runs.outcome("region")["corners"])
    money, on_front = Money(runs.bag, region), Money(runs.bag, front)
    points, rows = [], []
    for ratio in runs.ratios():
        rounded, found = (runs.outcome(name, profit_ratio=ratio) for name in ("lp", "balanced"))
        runs_at_all = found["bound_regime"] != "do-not-run"
        split = money.best(ratio)[0] if runs_at_all else None
        points.append(SweepPoint(ratio, split, schedule_of(found), found["value"]))
        rows.append(
            [
                number(ratio),
                *_place(split, front),
                *map(number, (found["bound"], rounded["value"], found["value"], on_front.best(ratio)[1])),
                found["regime"],
            ]
        )
    fastest = min(region, key=lambda point: point.makespan_seconds)
    border = region[: region.index(fastest) + 1]  # beyond, nobody would go
    sweep = Sweep(front, tuple(points), money.unit, border=border)
    write_figure(profit_sweep_figure(sweep), asked.figure)
    headers = ["ratio", "energy, MJ", "makespan, minutes", "front", f"bound, {money.unit}", "rounded", "balanced"]
    tell([*headers, "best of the front", "regime"], rows)


def _place(split: Point | None, front: tuple[Point, ...]) -> list[str]:
    """Return where the best point is, and whether that is on the front."""
    if split is None:
        return ["-", "-", "-"]
    on = "on" if is_among(split, front) else "off"
    return [number(split.energy_joules / 1e6), number(split.makespan_seconds / 60), on]


if __name__ == "__main__":
    main(sys.argv[1:])
