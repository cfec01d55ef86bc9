"""Figures 6.3 to 6.5 of the thesis: an evolved front over the exact one; machines at five points, falling."""

from __future__ import annotations

from scripts.figures.shared.data_sets import chapter_6_first
from scripts.figures.shared.thesis_fronts import draw_machines

if __name__ == "__main__":
    draw_machines(__doc__, "thesis-6-4", chapter_6_first(), falling=True)
