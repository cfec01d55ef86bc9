"""Profit paper, figure 5: profit over the exact feasible region of energy and makespan; 5 % idle power."""

from __future__ import annotations

import sys

from lpsched.io.figure_files import write_figure
from lpsched.units import number
from scripts.figures.shared.profit_contours import ProfitPanel, ProfitPlane, profit_contours_figure
from scripts.figures.shared.profit_figures import Money, Runs, arguments, points_of, tell


def main(given: list[str] | None = None) -> None:
    """Run the study, draw, and hold the best corners against what `solve` proves."""
    asked = arguments(__doc__ or "", "profit-5", given)
    runs = Runs(asked)
    told = runs.outcome("region")
    corners = points_of(told["corners"])
    money = Money(runs.bag, corners)
    panels, rows = [], []
    for ratio in runs.ratios():
        found, (corner, profit) = runs.outcome("lp", profit_ratio=ratio), money.best(ratio)
        waits = -3600.0 * money.per_joule * told["idle_watts"]
        best = corner if profit > waits else None
        panels.append(ProfitPanel(ratio, money.income(ratio), best, max(profit, waits)))
        where = ["to wait", "-"]
        if best is not None:
            where = [number(best.energy_joules / 1e6), number(best.makespan_seconds / 60)]
        rows.append([number(ratio), *where, number(max(profit, waits), 12), number(found["bound"], 12)])
    plane = ProfitPlane(corners, told["idle_watts"], money.per_joule, money.unit)
    write_figure(profit_contours_figure(plane, panels), asked.figure)
    print(f"{len(corners)} vertices; beyond the first and the last the border rises without end, at")
    print(f"{number(told['idle_watts'] / 1e3)} kW: what all machines draw when idle.\n")
    tell(["ratio", "energy, MJ", "makespan, minutes", f"best of the region, {money.unit}", "bound"], rows)


if __name__ == "__main__":
    main(sys.argv[1:])
