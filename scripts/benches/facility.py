"""How long the platforms of the Heat paper take, at fixed outlet temperatures and at the best; proved gaps.

Fixed: the linear program over patterns, with co-location, at one temperature for all units (the hottest if
every node takes the same share of the cap), until value and bound are within the gap. Free: the search over
all temperatures. Both sides of a gap are proved: the value is that of an allocation, the bound holds for all.
Solving the air (heat) is counted apart, and so is the proof of the free bound in exact arithmetic. Beside it,
what the paper's own non-linear program took in 2014.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from typing import Final

import numpy as np

from lpsched.cancellation import CancelToken
from lpsched.facility.air import even_outlets, facility_arrays, heat_map
from lpsched.facility.outlets.fixed import best_at
from lpsched.facility.outlets.search import best_outlets
from lpsched.facility.solve import proof_of
from lpsched.generate.facility import generate_facility
from lpsched.lp.solvers import HighsSolver


@dataclass(frozen=True)
class Platform:
    """What is asked of a platform: gaps, seconds for the search, and the paper's time."""

    fixed_gap: float
    gap: float
    limit: float
    paper: str


PLATFORMS: Final = {
    "small": Platform(1e-6, 0.005, 60.0, "1 hour"),
    "medium": Platform(1e-6, 0.01, 300.0, "12 hours"),
    "large": Platform(1e-4, 0.03, 1800.0, "over a week"),
}
HEADINGS: Final = ("seed", "heat", "fixed", "gap", "free", "gap", "proof", "boxes", "reward", "paper")


def measured(name: str, seed: int, gap: float | None, limit: float | None) -> str:
    """Return one line of the table."""
    asked = PLATFORMS[name]
    facility = generate_facility(name, np.random.default_rng(seed))
    begin = time.perf_counter()
    arrays, heat = facility_arrays(facility), heat_map(facility)
    air = time.perf_counter() - begin
    outlets = even_outlets(arrays, heat)
    begin = time.perf_counter()
    fixed = best_at(arrays, heat, outlets, solver=HighsSolver(), gap=asked.fixed_gap)
    at_fixed = time.perf_counter() - begin
    begin = time.perf_counter()
    cancel = CancelToken(asked.limit if limit is None else limit)
    free = best_outlets(arrays, heat, solver=HighsSolver(), gap=gap or asked.gap, cancel=cancel)
    searched = time.perf_counter() - begin
    begin = time.perf_counter()
    bound = proof_of(facility, arrays, heat, free, colocation=True).bound
    proved = time.perf_counter() - begin
    return (
        f"{name:8}{seed:5}{air:9.1f}{at_fixed:9.2f}{1.0 - fixed.value / fixed.bound:10.1e}{searched:9.1f}"
        f"{1.0 - free.point.value / bound:9.2%}{proved:9.1f}{free.boxes:7}{free.point.value:10.4f}"
        f"  {asked.paper}"
    )


def main(arguments: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("platforms", nargs="*", choices=[*PLATFORMS, []], help="all, if none is named")
    parser.add_argument("--seeds", type=int, default=1, help="facilities of each platform")
    parser.add_argument("--gap", type=float, help="in place of each platform's own")
    parser.add_argument("--limit", type=float, help="seconds of a search, in place of each platform's own")
    given = parser.parse_args(arguments)
    print("{:8}{:>5}{:>9}{:>9}{:>10}{:>9}{:>9}{:>9}{:>7}{:>10}  {}".format("", *HEADINGS))
    for name in given.platforms or PLATFORMS:
        for seed in range(given.seeds):
            print(measured(name, seed, given.gap, given.limit), flush=True)


if __name__ == "__main__":
    main()
