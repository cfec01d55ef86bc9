"""Thesis, figure 7.6: fuzzy fronts by the 50th percentile and by expected values, one over the other."""

from __future__ import annotations

from lpsched.report.figures.day_fronts import fuzzy_front_figure
from scripts.figures.shared.uncertain_fronts import main

if __name__ == "__main__":
    main(__doc__ or "", "thesis-7-6", [50.0, None], fuzzy_front_figure)
