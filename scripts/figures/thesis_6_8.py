"""Figure 6.8 of the thesis: nine machine types; what each machine does at five points of an evolved front."""

from __future__ import annotations

from scripts.figures.shared.data_sets import chapter_6_second
from scripts.figures.shared.thesis_fronts import draw_machines

if __name__ == "__main__":
    draw_machines(__doc__, "thesis-6-8", chapter_6_second(9), falling=False)
