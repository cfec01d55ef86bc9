"""Thesis, figure 3.7: utility and energy of Weighted Util over the day, for several weights of energy."""

from __future__ import annotations

from scripts.figures.shared.arriving_days import Runs, arguments, trials_in_words
from scripts.figures.shared.constrained_days import constrained, draw_traces, energy_constraint, weighted

SOME_WEIGHTS = (0.2, 0.4, 0.45, 0.5, 0.55, 0.6)


def main() -> None:
    """Run, draw, and print what was measured beside what was printed."""
    asked = arguments(__doc__, "thesis-3-7", trials=2)
    runs = Runs(asked)
    energy = energy_constraint(runs)
    cases = {f"weight {weight:g}": constrained(weighted("weighted-util", weight), energy) for weight in SOME_WEIGHTS}
    print(f"\nWeighted Util, {trials_in_words(asked)}.")
    draw_traces(runs, cases, energy, asked.figure)
    print("\nPrinted: up to 0.4 the energy is spent before the day ends; above 0.5 much of it is left.")


if __name__ == "__main__":
    main()
