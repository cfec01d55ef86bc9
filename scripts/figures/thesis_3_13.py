"""Thesis, figure 3.13: Max-Max Util over the day plain, with the best filter, and with the best weight."""

from __future__ import annotations

from scripts.figures.shared.arriving_days import Runs, arguments, trials_in_words
from scripts.figures.shared.constrained_days import (
    PRINTED_LENIENCY,
    PRINTED_WEIGHT,
    constrained,
    draw_traces,
    energy_constraint,
    weighted,
)

NAME = "max-max-util"


def main() -> None:
    """Run, draw, and print what was measured beside what was printed."""
    asked = arguments(__doc__, "thesis-3-13", trials=4)
    runs = Runs(asked)
    energy = energy_constraint(runs)
    leniency = PRINTED_LENIENCY[NAME]
    cases = {
        "neither": constrained(NAME, energy),
        f"filter, leniency {leniency:g}": constrained(NAME, energy, leniency=leniency),
        f"weight of energy {PRINTED_WEIGHT:g}": constrained(weighted("weighted-util", PRINTED_WEIGHT), energy),
    }
    print(f"\nMax-Max Util, {trials_in_words(asked)}.")
    draw_traces(runs, cases, energy, asked.figure)
    print("\nPrinted: without either the energy is spent after about 1,000 minutes (16.7 hours); until then the")
    print("filter earns less than that, the weight more; over the whole day the weight earns most.")


if __name__ == "__main__":
    main()
