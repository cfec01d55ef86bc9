"""Thesis, figure 4.4: twelve policies, queued and polled machines, without and with a filter."""

from __future__ import annotations

from statistics import fmean

from lpsched.io.figure_files import write_figure
from scripts.figures.shared.arriving_days import Case, Runs, arguments, chapter_4, of, share, tell, trials_in_words
from scripts.figures.shared.policy_rows import Marks, RowPanel, policy_rows_figure
from scripts.figures.shared.polled_days import GROUPS, NAMES, WAYS, case


def main() -> None:
    """Run, draw, and print what was measured beside what was printed."""
    asked = arguments(__doc__, "thesis-4-4", trials=1)
    runs = Runs(asked)
    runs.run(case(name, way) for name in NAMES for way in WAYS)
    marks = tuple(Marks(way, tuple(runs.mean(case(name, way)) for name in NAMES)) for way in WAYS)
    panel = RowPanel("utility earned", marks)
    write_figure(policy_rows_figure(list(NAMES.values()), [panel]), asked.figure)
    free = runs.mean(Case(chapter_4(None), "max-max-upt"), "energy_joules")
    print(f"70 % of what Max UPT takes without a constraint: {0.7e-9 * free.mean / asked.part:.4f} GJ; ", end="")
    print("printed, and used here: 1.11 GJ.")
    print(f"\nUtility, {trials_in_words(asked)}.")
    rows = [
        (
            title,
            *(of(runs.mean(case(name, way))) for way in WAYS),
            share(runs.over(case(name, "polled"), case(name, "queued"))),
            share(runs.over(case(name, "polled, filter"), case(name, "polled"))),
        )
        for name, title in NAMES.items()
    ]
    tell(("policy", *WAYS, "polled above queued", "filter, polled"), rows)
    rows = [
        (group, *(f"{fmean(runs.mean(case(name, way)).mean for name in names):,.0f}" for way in WAYS))
        for group, names in GROUPS.items()
    ]
    tell(("mean of the group", *WAYS), rows)
    print("\nPrinted: polled earns more than queued for most; the filter helps all but Max UPE; from Random")
    print("over FCFS and LCFS to those that know utility each group earns more; prioritized more than plain.")


if __name__ == "__main__":
    main()
