"""Thesis, figure 2.5: the share of the naive figure that each policy of chapter 2 earns without dropping.

33,000 and 50,000 tasks a day, mapping events every minute, nothing dropped. The naive figure alone is the
mean of 50 trials, as in print: 65,051 and 98,708.
"""

from __future__ import annotations

import argparse
from statistics import fmean
from typing import Final

from lpsched.io.figure_files import write_figure
from lpsched.online.simulate.options import SimulationOptions
from scripts.figures.shared.arriving_days import (
    BATCH_ONES,
    CHAPTER_2,
    NAIVE,
    NAIVE_ONES,
    SMART_ONES,
    TITLES,
    Case,
    Runs,
    arguments,
    chapter_2,
    of,
    scaled,
    share,
    tell,
    trials_in_words,
)
from scripts.figures.shared.policy_rows import Marks, RowPanel, policy_rows_figure

NAIVE_TRIALS: Final = 50
PRINTED_NAIVE: Final = {33_000: 65_051, 50_000: 98_708}
PRINTED_MIN_MIN: Final = {33_000: "53.13 %", 50_000: "41.26 %"}
KEEP_ALL: Final = SimulationOptions()


def case(tasks: int, policy: str) -> Case:
    """Return a policy on a day of so many tasks."""
    return Case(chapter_2(tasks), policy, KEEP_ALL)


def tell_naive(asked: argparse.Namespace) -> None:
    """Print the naive figure over 50 trials beside what was printed."""
    runs = Runs(argparse.Namespace(**{**vars(asked), "trials": max(asked.trials, NAIVE_TRIALS)}))
    rows = []
    for tasks, printed in PRINTED_NAIVE.items():
        found = runs.mean(case(tasks, NAIVE))
        rows.append((f"{tasks:,}", of(found), f"{printed:,}", f"{100 * (found.mean / printed - 1):+.2f} %"))
    print(f"The naive figure: every task begins on arrival where it is quickest; {runs.asked.trials} trials.")
    tell(("tasks a day", "measured", "printed", "apart"), rows)


def tell_groups(runs: Runs) -> None:
    """Print how much more batch mode earns than smart immediate mode, and that than naive policies."""
    rows = []
    for tasks in PRINTED_NAIVE:
        groups = (NAIVE_ONES, SMART_ONES, BATCH_ONES)
        means = [fmean(runs.mean(case(tasks, name)).mean for name in group) for group in groups]
        more = f"{means[2] / means[1]:.2f} times"
        rows.append((f"{tasks:,}", *(f"{mean:,.0f}" for mean in means), more))
    tell(("tasks a day", "naive ones earn", "smart ones", "batch ones", "batch of smart"), rows)
    print("\nPrinted: naive ones earn least, batch mode most; at 33,000 tasks batch mode improves on smart")
    print("immediate mode by about 250 %, which is 3.5 times as much.")


def main() -> None:
    """Run, draw, and print what was measured beside what was printed."""
    asked = arguments(__doc__, "thesis-2-5", trials=3)
    tell_naive(asked)
    runs = Runs(asked)
    runs.run(case(tasks, name) for tasks in PRINTED_NAIVE for name in CHAPTER_2)
    shares = {
        (tasks, name): runs.mean(case(tasks, name), "share_of_naive") for tasks in PRINTED_NAIVE for name in CHAPTER_2
    }
    marks = tuple(
        Marks(f"{tasks:,} tasks a day", tuple(scaled(shares[tasks, name], 100.0) for name in CHAPTER_2))
        for tasks in PRINTED_NAIVE
    )
    names = [TITLES[name] for name in CHAPTER_2]
    panel = RowPanel("utility earned, % of the naive figure; no task dropped", marks)
    write_figure(policy_rows_figure(names, [panel]), asked.figure)
    print(f"\nShare of the naive figure, {trials_in_words(asked)}.")
    printed = {"min-min": tuple(PRINTED_MIN_MIN.values())}
    rows = [
        (TITLES[name], *(share(shares[tasks, name]) for tasks in PRINTED_NAIVE), *printed.get(name, ("", "")))
        for name in CHAPTER_2
    ]
    tell(("policy", "33,000", "50,000", "33,000 printed", "50,000 printed"), rows)
    tell_groups(runs)


if __name__ == "__main__":
    main()
