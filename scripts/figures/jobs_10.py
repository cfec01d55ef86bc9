"""Jobs paper, figure 10: all policies at 10,000 tasks a day under 15 GJ, energy-per-resource filter."""

from __future__ import annotations

from lpsched.online.simulate.options import PER_RESOURCE
from scripts.figures.shared.parallel_days import OWN, PRINTED
from scripts.figures.shared.parallel_figures import draw_policies

if __name__ == "__main__":
    filters = {"per-resource, 4": PRINTED[PER_RESOURCE], "per-resource, 2": OWN}
    draw_policies(__doc__, "jobs-10", 10_000, filters)
