"""Jobs paper, figure 7: the leniency of the energy-per-task filter, Max UPR with place-holders."""

from __future__ import annotations

from typing import Final

from lpsched.online.simulate.options import PER_TASK
from scripts.figures.shared.parallel_figures import draw_leniencies

LENIENCIES: Final = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0)
PRINTED: Final = 2.0

if __name__ == "__main__":
    draw_leniencies(__doc__, "jobs-7", PER_TASK, LENIENCIES, PRINTED)
