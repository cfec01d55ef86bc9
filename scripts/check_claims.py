"""What answers claim about one more machine or task, held against every schedule of tiny random bags.

Brute force beside the test suite, which makes a few dozen of each: thousands of cases, seed by seed. It
prints every claim that is false, how many of each kind were held, and ends with 1 if any is false.

    python -m scripts.check_claims --cases 1000 --seed 0

    steps      one more machine, and the break-even price of one more task: profit, makespan, energy
    counts     worthwhile at most, at least, and what no number of machines can pass
    prices     prices of electricity between which waiting is best, and from which on no schedule earns
    curve      bounds and regimes over the price of the bag, and the price below which no schedule earns
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from typing import TYPE_CHECKING

from tests.property.claims import drawn_bag, false_counts, false_curve, false_prices, false_steps

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lpsched.bag.model import Bag

EFFORTS = ("fast", "balanced")
TIGHT = 20  # every so manieth case


def claims_of(seed: int, bag: Bag) -> Iterator[tuple[str, list[str] | None]]:
    """Yield each kind of claim, and those that are false; `None` where there is no answer."""
    effort = "tight" if seed % TIGHT == 0 else EFFORTS[seed % len(EFFORTS)]
    yield "steps, profit", false_steps(bag, effort=effort)
    yield "steps, profit, by default", false_steps(bag, effort="balanced", marginals="top")
    yield "steps, makespan", false_steps(bag, objective="makespan", effort=effort)
    yield "steps, energy", false_steps(bag, objective="energy", effort=effort)
    yield "counts", false_counts(bag)
    yield "prices", false_prices(bag)
    yield "curve", false_curve(bag, effort="fast" if seed % 2 else "auto")


def main(arguments: list[str] | None = None) -> int:
    """Hold the claims of so many bags; return 1 if one is false."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cases", type=int, default=1000, help="how many bags")
    parser.add_argument("--seed", type=int, default=0, help="of the first one; the next has the next")
    given = parser.parse_args(arguments)
    held: Counter[str] = Counter()
    wrong = 0
    for seed in range(given.seed, given.seed + given.cases):
        for kind, false in claims_of(seed, drawn_bag(seed)):
            held[kind] += false is not None
            for sentence in false or ():
                wrong += 1
                print(f"seed {seed}: {kind}: {sentence}", flush=True)
    for kind, count in held.items():
        print(f"{count:,} bags: {kind}")
    print(f"{wrong:,} false")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
