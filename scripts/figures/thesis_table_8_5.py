"""Thesis, table 8.5: energy of applications one after another and co-located, at 3.40 GHz.

The joules are those in print: Friese, thesis of 2015, section 8.5. Prints what sharing static power saves,
which the thesis works out for canneal and streamcluster: 30,509 J apart and 24,281 J together. Times are not
in print, so that static and dynamic energy cannot be told apart.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from lpsched.io.figure_files import write_figure
from lpsched.measure.evidence import Saving
from lpsched.report.figures.degradation import savings_figure
from lpsched.report.measured_tables import in_counts, share_text

MHZ: Final = 3400.0
ALONE: Final = {"canneal": 7873.0, "streamcluster": 22636.0, "blackscholes": 9347.0, "bodytrack": 9583.0}
TOGETHER: Final = (
    (("canneal", "blackscholes"), 11055.0),
    (("canneal", "streamcluster"), 24281.0),
    (("canneal", "blackscholes", "bodytrack", "bodytrack"), 28729.0),
    (("canneal", "canneal", "streamcluster", "streamcluster"), 32504.0),
)
PICTURE: Final = Path(__file__).parents[2] / "docs" / "figures" / "thesis-table-8-5.svg"


def savings() -> tuple[Saving, ...]:
    """Return the groups of the table."""
    return tuple(
        Saving(tuple(sorted(names)), sum(ALONE[name] for name in names), joules, mhz=MHZ) for names, joules in TOGETHER
    )


def table() -> list[str]:
    """Return the lines of the table."""
    rows = [
        f"| {in_counts(each.together)} | {each.joules_apart:,.0f} | {each.joules_together:,.0f} "
        f"| {each.joules_saved:,.0f} | {share_text(each.share_saved)} |"
        for each in savings()
    ]
    return ["| together | apart, J | together, J | saved, J | saved |", "| --- | ---: | ---: | ---: | ---: |", *rows]


def main() -> None:
    """Print the table, and draw it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--figure", type=Path, default=PICTURE)
    asked = parser.parse_args()
    print("\n".join(table()))
    write_figure(savings_figure(savings()), asked.figure)


if __name__ == "__main__":
    main()
