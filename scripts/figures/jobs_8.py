"""Jobs paper, figure 8: the leniency of the energy-per-resource filter, Max UPR with place-holders."""

from __future__ import annotations

from typing import Final

from lpsched.online.simulate.options import PER_RESOURCE
from scripts.figures.shared.parallel_figures import draw_leniencies

LENIENCIES: Final = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0)
PRINTED: Final = 4.0

if __name__ == "__main__":
    draw_leniencies(__doc__, "jobs-8", PER_RESOURCE, LENIENCIES, PRINTED)
