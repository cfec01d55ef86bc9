"""Figure 6.7 of the thesis: six machine types; what each machine does at five points of an evolved front."""

from __future__ import annotations

from scripts.figures.shared.data_sets import chapter_6_second
from scripts.figures.shared.thesis_fronts import draw_machines

if __name__ == "__main__":
    draw_machines(__doc__, "thesis-6-7", chapter_6_second(6), falling=False)
