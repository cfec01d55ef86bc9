"""Figure 5.4 of the thesis: fronts of five first populations, 1,000 tasks; below the proved envelope."""

from __future__ import annotations

from scripts.figures.shared.data_sets import chapter_5
from scripts.figures.shared.thesis_fronts import draw_populations

if __name__ == "__main__":
    draw_populations(__doc__, "thesis-5-4", chapter_5(1_000), "10,100,1000")
