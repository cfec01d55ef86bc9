"""Thesis, figure 2.8: when mapping events come; Max-Max UPT, dropping below 0.5, 50,000 tasks."""

from __future__ import annotations

from typing import Final

from lpsched.io.figure_files import write_figure
from lpsched.online.simulate.options import SimulationOptions
from scripts.figures.shared.arriving_days import (
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

MINUTE: Final = 60.0
TRIGGERS: Final = {  # arrivals, minutes
    "each arrival": (1, None),
    "2, or 0.0576 min": (2, 0.0576),
    "35, or 1 min": (35, 1.0),
    "70, or 2 min": (70, 2.0),
    "347, or 10 min": (347, 10.0),
}


def main() -> None:
    """Run, draw, and print what was measured beside what was printed."""
    asked = arguments(__doc__, "thesis-2-8", trials=2)
    runs = Runs(asked)
    cases = {
        name: Case(
            chapter_2(50_000),
            "max-max-upt",
            SimulationOptions(
                every_arrivals=arrivals, every_seconds=None if minutes is None else MINUTE * minutes, drop_below=0.5
            ),
        )
        for name, (arrivals, minutes) in TRIGGERS.items()
    }
    runs.run(cases.values())
    found = {name: runs.mean(each, "share_of_naive") for name, each in cases.items()}
    marks = Marks("Max-Max UPT", tuple(scaled(each, 100.0) for each in found.values()))
    panel = RowPanel("utility earned, % of the naive figure; tasks below 0.5 dropped", (marks,))
    write_figure(policy_rows_figure(list(TRIGGERS), [panel]), asked.figure)
    print(f"Max-Max UPT by when mapping events come, {trials_in_words(asked)}.")
    rows = [
        (name, share(found[name]), of(runs.mean(each, "events")), of(runs.mean(each, "milliseconds_per_event")))
        for name, each in cases.items()
    ]
    tell(("arrivals, or minutes", "of naive", "events", "ms/event"), rows)
    print("\nPrinted: an event for each arrival is best, but only a little; all events took under 350 ms.")


if __name__ == "__main__":
    main()
