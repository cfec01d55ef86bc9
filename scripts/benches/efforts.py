"""What each effort brings: mean gaps of small bags, and the processor time that they take.

Bags of 30 task types on 9 machine types of 5 machines, with 1 to 100 tasks a machine; for profit sold at 1.2
times what their least energy costs. A gap is |bound - value| / |bound|, the bound proved, the value verified.
Work is counted, so the gaps are the same on every machine; the seconds are not, and are of the process.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Final

from lpsched.bag.solve import solve
from scripts.benches.tight import paper_bag

TASKS: Final = (1, 3, 10, 30, 100)  # a machine
MACHINES: Final = (5,) * 9
EFFORTS: Final = ("fast", "balanced", "auto")
RATIO: Final = 1.2


def main(seeds: int = 5, tasks: tuple[int, ...] = TASKS) -> None:
    """Print a row for each objective and number of tasks: the mean gap of each effort, and its seconds."""
    heads = "".join(f" {effort:>10} {'s':>6}" for effort in EFFORTS)
    print(f"{'objective':>10} {'tasks a machine':>15}{heads}")
    for objective, ratio in (("profit", RATIO), ("makespan", None)):
        for per_machine in tasks:
            cells = ""
            for effort in EFFORTS:
                gaps, seconds = [], []
                for seed in range(seeds):
                    bag = paper_bag(per_machine, seed, machines=MACHINES)
                    begin = time.process_time()
                    result = solve(bag, objective=objective, profit_ratio=ratio, effort=effort)
                    seconds.append(time.process_time() - begin)
                    assert result.gap is not None
                    gaps.append(result.gap)
                cells += f" {statistics.mean(gaps):10.3%} {statistics.mean(seconds):6.2f}"
            print(f"{objective:>10} {per_machine:15}{cells}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5, help="bags for each row")
    parser.add_argument("--tasks", type=int, nargs="+", default=TASKS, help="tasks a machine, a row each")
    given = parser.parse_args()
    main(given.seeds, tuple(given.tasks))
