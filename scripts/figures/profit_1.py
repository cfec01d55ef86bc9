"""Profit paper, figure 1: the profit ratio swept without idle power: front, bound, schedules, a power cap."""

from __future__ import annotations

import sys
from typing import Final

from lpsched.io.figure_files import write_figure
from lpsched.units import number
from scripts.figures.shared.profit_figures import Money, Runs, arguments, percent, points_of, schedule_of, tell
from scripts.figures.shared.profit_sweep import Sweep, SweepPoint, profit_sweep_figure

OURS: Final = "balanced"


def main(given: list[str] | None = None) -> None:
    """Run the study, draw, and print what was found."""
    asked = arguments(__doc__ or "", "profit-1", given)
    runs = Runs(asked)
    front = points_of(runs.outcome("front")["vertices"])
    money = Money(runs.bag, front)
    caps = {run.parameters["power_cap"] for run in runs.of(OURS) if "power_cap" in run.parameters}
    cap = min(caps, default=None)
    points, rows = [], []
    for ratio in runs.ratios():
        rounded, free = (runs.outcome(name, profit_ratio=ratio, power_cap=None) for name in ("lp", OURS))
        split = money.best(ratio)[0]
        points.append(SweepPoint(ratio, split, schedule_of(free), free["value"]))
        watts = split.energy_joules / split.makespan_seconds
        row = [number(ratio), number(split.energy_joules / 1e6), number(split.makespan_seconds / 60)]
        row += [number(watts / 1e3, 3), number(free["bound"])]
        row += [cell for each in (rounded, free) for cell in (number(each["value"]), percent(each["gap"]))]
        if cap is not None:
            row.append(number(runs.outcome(OURS, profit_ratio=ratio, power_cap=cap)["value"]))
        rows.append(row)
    write_figure(profit_sweep_figure(Sweep(front, tuple(points), money.unit, cap_watts=cap)), asked.figure)
    headers = ["ratio", "energy, MJ", "makespan, minutes", "kW", f"bound, {money.unit}"]
    headers += ["rounded", "gap", "balanced", "gap"]
    tell(headers + ([] if cap is None else [f"under {number(cap / 1e3)} kW"]), rows)


if __name__ == "__main__":
    main(sys.argv[1:])
