"""Figure 5.5 of the thesis: where a joule brings most utility, 1,000 tasks; the peak in all three panels."""

from __future__ import annotations

from lpsched.io.figure_files import write_figure
from lpsched.online.result.comparisons import peak_of
from lpsched.report.figures.day_fronts import NamedFront, peak_figure
from lpsched.units import number
from scripts.figures.shared.data_sets import chapter_5
from scripts.figures.shared.thesis_fronts import arguments, evolved_days


def main() -> None:
    """Evolve the population seeded with utility per energy, draw it, and print its peak."""
    asked = arguments(__doc__, "thesis-5-5", "2000")
    result = evolved_days(chapter_5(1_000), "utility-per-energy", asked.generations, asked.seed)[-1]
    (entry,) = result.entries
    name = f"utility-per-energy, {asked.generations[-1]:,} generations"
    write_figure(peak_figure(NamedFront(name, entry.points)), asked.figure)
    peak = peak_of(entry)
    assert peak is not None
    rate = number(1e6 * peak.utility / peak.energy_joules, 4)
    print(f"peak: {rate} per MJ, at a utility of {number(peak.utility)} and {number(peak.energy_joules)} J")


if __name__ == "__main__":
    main()
