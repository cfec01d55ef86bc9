"""Heat paper, figure 3: which task types share the cores of five nodes, by NLPCL, NLP and ours."""

from __future__ import annotations

import argparse
from pathlib import Path

from lpsched import facility
from lpsched.facility.compare import allocate
from lpsched.facility.files import read_facility
from lpsched.io.figure_files import write_figure
from lpsched.report.figures.facility import core_shares_figure
from scripts.figures.shared.heat_runs import FIGURES


def main() -> None:
    """Run the three, and draw the same nodes of each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "facility", type=Path, nargs="?", default=FIGURES.parent.parent / "instances" / "facility-small.yaml"
    )
    parser.add_argument("--figure", type=Path, default=FIGURES / "heat-3.svg")
    parser.add_argument("--time-limit", type=float)
    asked = parser.parse_args()
    instance = read_facility(asked.facility)
    aware, blind = (
        allocate(instance, method="nlp", colocation=each, bound=False, time_limit=asked.time_limit)
        for each in (True, False)
    )
    ours = facility(instance)
    shown = {"NLPCL": aware, "NLP": blind}
    for name, result in shown.items():
        print(f"{name}: CRR {result.measured.reward_rate:.6f}, RR {result.measured.plain_reward_rate:.6f}")
    print(f"ours, core by core: CRR {ours.cores_reward_rate:.6f}")
    allocations = {name: result.allocation for name, result in shown.items()} | {"ours, core by core": ours.cores}
    write_figure(core_shares_figure(instance, allocations), asked.figure)


if __name__ == "__main__":
    main()
