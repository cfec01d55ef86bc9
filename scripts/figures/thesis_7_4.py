"""Thesis, figures 7.4 and 7.5: the fuzzy front of schedules ranked by expected values, or by a percentile."""

from __future__ import annotations

import sys

from lpsched.report.figures.day_fronts import fuzzy_front_figure
from scripts.figures.shared.uncertain_fronts import main

if __name__ == "__main__":
    given = [word for word in sys.argv[1:] if word.startswith("--percentile=")]
    for word in given:
        sys.argv.remove(word)
    chosen = [float(word.partition("=")[2]) for word in given]
    name = f"thesis-7-5-percentile-{chosen[0]:g}" if chosen else "thesis-7-4"
    main(__doc__ or "", name, chosen or [None], fuzzy_front_figure)
