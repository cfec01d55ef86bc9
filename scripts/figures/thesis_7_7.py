"""Thesis, figure 7.7: how much energy and utility of each schedule vary, and how many tasks it drops."""

from __future__ import annotations

from lpsched.report.figures.day_fronts import variance_figure
from scripts.figures.shared.uncertain_fronts import main

if __name__ == "__main__":
    main(__doc__ or "", "thesis-7-7", [None], lambda fronts: variance_figure(fronts[0]))
