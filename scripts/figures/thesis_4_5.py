"""Thesis, figure 4.5: which portion of the most possible tasks of priority 1 and of priority 8 earn."""

from __future__ import annotations

from lpsched.io.figure_files import write_figure
from scripts.figures.shared.arriving_days import Runs, arguments, scaled, share, tell, trials_in_words
from scripts.figures.shared.policy_rows import Marks, RowPanel, policy_rows_figure
from scripts.figures.shared.polled_days import NAMES, case

PRIORITIES = {"low": "priority 1", "critical": "priority 8"}
FILTERED = ("queued, filter", "polled, filter")


def main() -> None:
    """Run, draw, and print what was measured beside what was printed."""
    asked = arguments(__doc__, "thesis-4-5", trials=2)
    runs = Runs(asked)
    runs.run(case(name, way) for name in NAMES for way in FILTERED)
    found = {
        (name, way, level): runs.portion(case(name, way), level)
        for name in NAMES
        for way in FILTERED
        for level in PRIORITIES
    }
    panels = [
        RowPanel(
            f"{title}: utility earned, % of the most",
            tuple(Marks(way, tuple(scaled(found[name, way, level], 100.0) for name in NAMES)) for way in FILTERED),
        )
        for level, title in PRIORITIES.items()
    ]
    write_figure(policy_rows_figure(list(NAMES.values()), panels), asked.figure)
    print(f"Portion of the most possible utility, with the adaptive filter, {trials_in_words(asked)}.")
    columns = [(way, level) for level in PRIORITIES for way in FILTERED]
    rows = [(title, *(share(found[name, *each]) for each in columns)) for name, title in NAMES.items()]
    tell(("policy", *(f"{PRIORITIES[level]}, {way.partition(',')[0]}" for way, level in columns)), rows)
    print("\nPrinted: for the high priority polled machines earn more than queued ones; policies that know of")
    print("priority or utility earn a larger portion of priority 8 than of priority 1.")


if __name__ == "__main__":
    main()
