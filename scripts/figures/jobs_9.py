"""Jobs paper, figure 9: all policies at 5,000 tasks a day under 12 GJ, without a filter and with either."""

from __future__ import annotations

from lpsched.online.simulate.options import PER_RESOURCE, PER_TASK
from scripts.figures.shared.parallel_days import OWN, PRINTED
from scripts.figures.shared.parallel_figures import draw_policies

if __name__ == "__main__":
    filters = {
        "no filter": None,
        "per-task, 2": PRINTED[PER_TASK],
        "per-resource, 4": PRINTED[PER_RESOURCE],
        "per-resource, 2": OWN,
    }
    draw_policies(__doc__, "jobs-9", 5_000, filters)
