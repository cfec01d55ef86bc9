"""Profit paper, figure 4: the most profit, found directly and on the front; 5 % idle power."""

from __future__ import annotations

import sys
from typing import Final

from lpsched.io.figure_files import write_figure
from lpsched.units import number
from scripts.figures.shared.profit_curves import ProfitCurve, profit_curves_figure
from scripts.figures.shared.profit_figures import SAME, Money, Runs, arguments, points_of, tell

DIRECT: Final = "directly: the bound, proved"
ON_FRONT: Final = "the best point of the exact front"
WAIT: Final = "do-not-run"


def main(given: list[str] | None = None) -> None:
    """Run the study, draw, and print where both part."""
    asked = arguments(__doc__ or "", "profit-4", given)
    runs = Runs(asked)
    pieces = runs.outcome("price")["pieces"]
    money = Money(runs.bag, points_of(runs.outcome("front")["vertices"]))
    bends = [(each["from_ratio"], each["bound_at_from"]) for each in pieces]
    bends.append((pieces[-1]["to_ratio"], pieces[-1]["bound_at_to"]))
    direct = ProfitCurve(DIRECT, *zip(*bends, strict=True))
    front = ProfitCurve(ON_FRONT, direct.ratios, tuple(money.best(ratio)[1] for ratio in direct.ratios))
    size = max(map(abs, direct.profits))
    apart = [one - other > SAME * size for one, other in zip(direct.profits, front.profits, strict=True)]
    parts = direct.ratios[apart.index(False)] if False in apart else None
    waits = max((each["to_ratio"] for each in pieces if each["regime"] == WAIT), default=None)
    marks = [("up to here, waiting is best:", waits), ("below, off the front:", parts)]
    marked = [(words, ratio) for words, ratio in marks if ratio is not None]
    write_figure(profit_curves_figure([direct, front], marked, unit=money.unit), asked.figure)
    rows = []
    for (ratio, one), other, piece in zip(bends, front.profits, pieces, strict=False):
        if ratio <= 1.0 + SAME:
            profits = (number(each if abs(each) > SAME * size else 0.0) for each in (one, other))
            rows.append([number(ratio, 6), *profits, piece["regime"]])
    tell(["ratio", f"directly, {money.unit}", "on the front", "regime from there"], rows)
    print("\n" + "\n".join(f"{words} {number(ratio, 8)}" for words, ratio in marked))


if __name__ == "__main__":
    main(sys.argv[1:])
