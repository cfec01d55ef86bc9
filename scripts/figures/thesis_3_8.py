"""Thesis, figure 3.8: what the energy filter's leniency does to Max-Max UPT and Max-Max UPE."""

from __future__ import annotations

from lpsched.io.figure_files import write_figure
from lpsched.units import GIGA
from scripts.figures.shared.arriving_days import TITLES, Runs, arguments, best_place, of, scaled, tell, trials_in_words
from scripts.figures.shared.case_curves import Curve, CurvePanel, curves_figure
from scripts.figures.shared.constrained_days import LENIENCIES, PRINTED_LENIENCY, constrained, energy_constraint

POLICIES = ("max-max-upt", "max-max-upe")


def main() -> None:
    """Run, draw, and print what was measured beside what was printed."""
    asked = arguments(__doc__, "thesis-3-8", trials=1)
    runs = Runs(asked)
    energy = energy_constraint(runs)
    settings = (*LENIENCIES, None)
    cases = {name: [constrained(name, energy, leniency=each) for each in settings] for name in POLICIES}
    runs.run(case for several in cases.values() for case in several)
    found = {name: tuple(runs.mean(case) for case in several) for name, several in cases.items()}
    joules = {
        name: tuple(scaled(runs.mean(case, "energy_joules"), 1.0 / GIGA) for case in several)
        for name, several in cases.items()
    }
    places = tuple("none" if each is None else f"{each:g}" for each in settings)
    panels = [
        CurvePanel("leniency of the energy filter", label, places, curves, limit)
        for label, curves, limit in (
            ("utility earned", tuple(Curve(TITLES[name], each) for name, each in found.items()), None),
            (
                "energy taken, GJ",
                tuple(Curve(TITLES[name], each) for name, each in joules.items()),
                ("energy constraint", energy * asked.part),
            ),
        )
    ]
    write_figure(curves_figure(panels), asked.figure)
    print(f"\nUtility and energy in GJ by leniency, {trials_in_words(asked)}.")
    rows = [
        (place, *(of(each) for name in POLICIES for each in (found[name][at], joules[name][at])))
        for at, place in enumerate(places)
    ]
    tell(("leniency", "Max-Max UPT", "GJ", "Max-Max UPE", "GJ"), rows)
    for name in POLICIES:
        best = best_place(places, found[name])
        print(f"\nBest leniency for {TITLES[name]}: {best}; printed {PRINTED_LENIENCY[name]:g}.", end="")
    print()


if __name__ == "__main__":
    main()
