"""How tight answers get: the gap of the paper's method, and of patterns and exchanges after it.

Bags of 30 task types on 9 machine types of 40 machines, as in the paper, with 1 to 100 tasks a machine;
sold at 1.5 times what their least energy costs. A gap is (bound - value) / bound, and both sides are
proved: the bound exactly, the value by verification.
"""

from __future__ import annotations

import argparse
import statistics
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from lpsched.bag.solve import solve
from lpsched.generate.bags import cov_bag
from lpsched.generate.options import CovOptions

if TYPE_CHECKING:
    from lpsched.bag.model import Bag

TASKS: Final = (1, 3, 10, 30, 100)  # a machine
MACHINES: Final = (40,) * 9
IDLE_WATTS: Final = 5.0  # with which the paper's gaps come out
PER_KWH: Final = 0.1
RATIO: Final = 1.5


@dataclass(frozen=True)
class Gaps:
    """The gap before and after, and the seconds between."""

    before: float
    after: float
    seconds: float


def paper_bag(per_machine: int, seed: int, *, task_types: int = 30, machines: tuple[int, ...] = MACHINES) -> Bag:
    """Return a bag of the paper's size with so many tasks a machine."""
    options = CovOptions(
        task_types=task_types,
        machines=machines,
        special_machines=(),
        task_cov=0.5,
        machine_cov=0.35,
        tasks=per_machine * sum(machines),
        idle_watts=IDLE_WATTS,
    )
    bag = cov_bag(f"{per_machine} tasks a machine", np.random.default_rng(seed), options)
    return bag.model_copy(update={"prices": bag.prices.model_copy(update={"electricity_per_kwh": PER_KWH})})


def gaps_of(bag: Bag, limit: float) -> Gaps:
    """Return the gaps of both efforts."""
    fast = solve(bag, objective="profit", profit_ratio=RATIO, effort="fast")
    begin = time.perf_counter()
    tight = solve(bag, objective="profit", profit_ratio=RATIO, effort="tight", time_limit=limit)
    seconds = time.perf_counter() - begin
    assert fast.gap is not None
    assert tight.gap is not None
    return Gaps(fast.gap, tight.gap, seconds)


def main(seeds: int = 10, limit: float = 30.0, tasks: tuple[int, ...] = TASKS) -> None:
    """Print the table; fewer seeds and a shorter limit try the script."""
    print(f"{'tasks a machine':>15} {'paper':>9} {'tight':>9} {'worst':>9} {'seconds':>8}")
    for per_machine in tasks:
        own = [gaps_of(paper_bag(per_machine, seed), limit) for seed in range(seeds)]
        before, after, seconds = (
            statistics.mean(getattr(each, name) for each in own) for name in ("before", "after", "seconds")
        )
        worst = max(each.after for each in own)
        print(f"{per_machine:15} {before:9.3%} {after:9.4%} {worst:9.4%} {seconds:8.1f}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10, help="bags for each row")
    parser.add_argument("--limit", type=float, default=30.0, help="seconds for a bag")
    parser.add_argument("--tasks", type=int, nargs="+", default=TASKS, help="tasks a machine, a row each")
    given = parser.parse_args()
    main(given.seeds, given.limit, tuple(given.tasks))
