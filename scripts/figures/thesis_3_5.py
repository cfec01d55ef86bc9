"""Thesis, figures 3.5 and 3.6: Weighted Util and Weighted UPT by the weight of energy."""

from __future__ import annotations

from lpsched.io.figure_files import write_figure
from lpsched.units import GIGA
from scripts.figures.shared.arriving_days import TITLES, Runs, arguments, best_place, of, scaled, tell, trials_in_words
from scripts.figures.shared.case_curves import Curve, CurvePanel, curves_figure
from scripts.figures.shared.constrained_days import WEIGHTS, constrained, energy_constraint, weighted

POLICIES = ("weighted-util", "weighted-upt")


def main() -> None:
    """Run, draw, and print what was measured beside what was printed."""
    asked = arguments(__doc__, "thesis-3-5", trials=1)
    runs = Runs(asked)
    energy = energy_constraint(runs)
    cases = {name: [constrained(weighted(name, each), energy) for each in WEIGHTS] for name in POLICIES}
    runs.run(case for several in cases.values() for case in several)
    utility = {name: tuple(runs.mean(case) for case in several) for name, several in cases.items()}
    joules = {
        name: tuple(scaled(runs.mean(case, "energy_joules"), 1.0 / GIGA) for case in several)
        for name, several in cases.items()
    }
    places = tuple(f"{weight:g}" for weight in WEIGHTS)
    panels = [
        CurvePanel(
            "weight of energy",
            label,
            places,
            tuple(Curve(TITLES[name], estimates) for name, estimates in found.items()),
            limit,
        )
        for label, found, limit in (
            ("utility earned", utility, None),
            ("energy taken, GJ", joules, ("energy constraint", energy * asked.part)),
        )
    ]
    write_figure(curves_figure(panels), asked.figure)
    print(f"\nUtility and energy in GJ by the weight of energy, {trials_in_words(asked)}.")
    rows = [
        (places[place], *(of(each) for name in POLICIES for each in (utility[name][place], joules[name][place])))
        for place in range(len(places))
    ]
    tell(("weight", "Weighted Util", "GJ", "Weighted UPT", "GJ"), rows)
    best = {name: best_place(places, utility[name]) for name in POLICIES}
    print(f"\nBest weights: {best['weighted-util']} for Weighted Util (printed 0.5), ", end="")
    print(f"{best['weighted-upt']} for Weighted UPT (printed: smaller than for Weighted Util).")


if __name__ == "__main__":
    main()
