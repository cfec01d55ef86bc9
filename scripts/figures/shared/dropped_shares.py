"""Figures 2.6 and G.1 of the thesis: what the policies of chapter 2 earn with six dropping thresholds."""

from __future__ import annotations

from typing import Final

from lpsched.io.figure_files import write_figure
from lpsched.online.simulate.options import SimulationOptions
from scripts.figures.shared.arriving_days import (
    CHAPTER_2,
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

THRESHOLDS: Final = (0.0, 0.05, 0.5, 1.5, 3.0, 5.0)
BEST: Final = 1.5


def draw_thresholds(what: str, figure: str, tasks: int, printed: str) -> None:
    """Run every policy with every threshold, draw, and print what was measured beside what was printed."""
    asked = arguments(what, figure, trials=1)
    runs = Runs(asked)
    cases = {
        (name, below): Case(chapter_2(tasks), name, SimulationOptions(drop_below=below))
        for below in THRESHOLDS
        for name in CHAPTER_2
    }
    runs.run(cases.values())
    found = {key: runs.mean(each, "share_of_naive") for key, each in cases.items()}
    marks = tuple(
        Marks(
            f"below {below:g} dropped" if below else "none dropped",
            tuple(scaled(found[name, below], 100.0) for name in CHAPTER_2),
        )
        for below in THRESHOLDS
    )
    panel = RowPanel(f"utility earned, % of the naive figure; {tasks:,} tasks a day", marks)
    write_figure(policy_rows_figure([TITLES[name] for name in CHAPTER_2], [panel]), asked.figure)
    print(f"Share of the naive figure at {tasks:,} tasks a day, {trials_in_words(asked)}.")
    rows = [
        (
            TITLES[name],
            *(share(found[name, below]) for below in THRESHOLDS),
            f"{1.0 + runs.over(cases[name, BEST], cases[name, 0.0]).mean:.2f} times",
        )
        for name in CHAPTER_2
    ]
    tell(("policy", *(f"drop {below:g}" for below in THRESHOLDS), "1.5 of 0"), rows)
    print(f"\n{printed}")
    rows = [
        (
            TITLES[name],
            of(runs.mean(cases[name, 0.5], "milliseconds_per_event")),
            of(runs.mean(cases[name, 0.5], "events")),
        )
        for name in CHAPTER_2
    ]
    tell(("policy", "ms/event, dropping 0.5", "events"), rows)
