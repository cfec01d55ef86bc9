"""Heat paper, figure 2: what every method earns on the small platform, means of 24 trials with intervals.

Each trial is a facility of its own, by its seed. GA and GACL get the seconds that NLP and NLPCL took, as in
the paper; every method runs under the same load. Rewards are shares of what all arrivals would bring.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from lpsched.io.figure_files import write_figure
from lpsched.model.provenance import Estimate, estimate_of
from lpsched.report.figures.facility import MethodReward, reward_bars_figure
from scripts.figures.shared.heat_runs import FIGURES, TITLES, Runs, lines

if TYPE_CHECKING:
    from scripts.figures.shared.heat_runs import Line

ORDER = (("lp", "nlp"), ("nlp", "ga"), ("nlp", "nlp-blind"), ("ga", "ga-blind"), ("ga", "greedy"), ("ga", "nlp-blind"))


def trial(seed: int, path: Path, platform: str) -> None:
    """Run every method on one facility."""
    runs = Runs(path, platform, seed)
    runs.ours()
    runs.theirs("greedy")
    for blind in ("", "-blind"):
        program = runs.theirs(f"nlp{blind}")
        runs.theirs(f"ga{blind}", time_limit=program["seconds"])


def share(found: list[Line], name: str, key: str) -> Estimate:
    """Return mean and interval of a reward, as a share of what all arrivals would bring."""
    own = [line for line in found if line["name"] == name and key in line]
    return estimate_of([line[key] / line["possible"] for line in own])


def table(found: list[Line]) -> str:
    """Return the figure as a table in Markdown."""
    rows = ["| method | trials | CRR, % | RR, % | seconds |", "| --- | ---: | ---: | ---: | ---: |"]
    for name, title in TITLES.items():
        own = [line for line in found if line["name"] == name and "crr" in line]
        crr, rr = (written(share(own, name, key)) for key in ("crr", "rr"))
        seconds = estimate_of([line["seconds"] for line in own]).mean
        rows.append(f"| {title} | {len(own)} | {crr} | {rr} | {seconds:.3g} |")
    return "\n".join([*rows, f"| bound, proved | | {written(share(found, 'lp', 'bound'))} | | |"])


def comparisons(found: list[Line]) -> str:
    """Return how often each method earns more than the next, and how much longer NLPCL takes than ours."""
    trials = [{line["name"]: line for line in found if line["seed"] == seed} for seed in seeds_of(found)]
    rows = []
    for better, other in ORDER:
        both = [each for each in trials if "crr" in each[better] and "crr" in each[other]]
        won = sum(each[better]["crr"] > each[other]["crr"] for each in both)
        rows.append(f"{TITLES[better]} earns more than {TITLES[other]} in {won} of {len(both)} trials (CRR)")
    longer = sorted(each["nlp"]["seconds"] / each["lp"]["seconds"] for each in trials)
    span = f"{longer[0]:.3g} to {longer[-1]:.3g}"
    return "\n".join([*rows, f"NLPCL takes {median(longer):.3g} times as long as ours (median; {span})"])


def seeds_of(found: list[Line]) -> list[int]:
    """Return the trials in which every method has run."""
    ran = {seed: {line["name"] for line in found if line["seed"] == seed} for seed in {x["seed"] for x in found}}
    return sorted(seed for seed, names in ran.items() if names >= set(TITLES))


def written(estimate: Estimate) -> str:
    """Return a share in percent, with its interval."""
    return f"{100 * estimate.mean:.2f} ± {100 * (estimate.half_width or 0.0):.2f}"


def main() -> None:
    """Run what has not run yet, draw, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=24)
    parser.add_argument("--platform", default="small")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--runs", type=Path, default=FIGURES / "heat-2.jsonl")
    parser.add_argument("--figure", type=Path, default=FIGURES / "heat-2.svg")
    asked = parser.parse_args()
    one = partial(trial, path=asked.runs, platform=asked.platform)
    with ProcessPoolExecutor(asked.jobs, mp_context=get_context("spawn")) as pool:
        for _ in pool.map(one, range(asked.trials)):
            pass
    found = [line for line in lines(asked.runs) if line["platform"] == asked.platform]
    found = [line for line in found if line["seed"] < asked.trials]
    methods = [
        MethodReward(title, share(found, name, "crr"), share(found, name, "rr")) for name, title in TITLES.items()
    ]
    write_figure(reward_bars_figure(methods, bound=share(found, "lp", "bound")), asked.figure)
    print(f"{table(found)}\n\n{comparisons(found)}")


if __name__ == "__main__":
    main()
