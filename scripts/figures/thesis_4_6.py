"""Thesis, figure 4.6: what Max Utility has earned by each hour of the day, in four ways."""

from __future__ import annotations

from lpsched.io.figure_files import write_figure
from scripts.figures.shared.arriving_days import Runs, arguments, of, tell, trials_in_words
from scripts.figures.shared.case_curves import Curve, CurvePanel, curves_figure
from scripts.figures.shared.polled_days import WAYS, case

NAME = "max-max-util"


def main() -> None:
    """Run, draw, and print what was measured beside what was printed."""
    asked = arguments(__doc__, "thesis-4-6", trials=6)
    runs = Runs(asked)
    runs.run(case(NAME, way) for way in WAYS)
    traces = {way: runs.trace(case(NAME, way), "utility") for way in WAYS}
    hours = tuple(traces["queued"][0])
    curves = tuple(Curve(way, estimates) for way, (_, estimates) in traces.items())
    panel = CurvePanel("hours of the day", "utility earned so far", hours, curves)
    write_figure(curves_figure([panel]), asked.figure)
    print(f"Max Utility over the day, {trials_in_words(asked)}.")
    quarters = [len(hours) // 4, len(hours) // 2, 3 * len(hours) // 4, len(hours) - 1]
    rows = [(curve.name, *(of(curve.estimates[at]) for at in quarters)) for curve in curves]
    tell(("way", *(f"{hours[at]:.0f} hours" for at in quarters)), rows)
    print("\nPrinted: without the filter nothing more is earned late in the day; polled is slightly steeper.")


if __name__ == "__main__":
    main()
