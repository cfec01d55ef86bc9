"""What whole tasks imply (a least makespan, no pair beyond the deadline, whole units), held by brute force.

Beside the test suite: every schedule of tiny random bags, seed by seed. It prints for each claim how many
cases made it and how many of those are false, and ends with 1 if any is.

    python -m scripts.check_rows --cases 10000 --seed 0
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter

from tests.property.rows import OBJECTIVES, claims, curve_claims, drawn_case, drawn_prices, solved_claims

CURVES = 5  # every so manieth case


def main(arguments: list[str] | None = None) -> int:
    """Hold the claims of so many bags; return 1 if one is false."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cases", type=int, default=1000, help="how many bags")
    parser.add_argument("--seed", type=int, default=0, help="of the first one; the next has the next")
    given = parser.parse_args(arguments)
    tried: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    for seed in range(given.seed, given.seed + given.cases):
        case = drawn_case(seed)
        prices = drawn_prices(case.bag, seed)
        held = [*claims(case, prices)]
        for objective in OBJECTIVES:
            held += solved_claims(case, objective)
        if seed % CURVES == 0:
            held += curve_claims(case)
        for claim, is_true in held:
            tried[claim] += 1
            wrong[claim] += not is_true
            if not is_true:
                print(f"seed {seed}: {claim}: false", flush=True)
    for claim, count in tried.items():
        print(f"{claim:30} {count:7,} cases {wrong[claim]:5,} false")
    return 1 if wrong.total() else 0


if __name__ == "__main__":
    sys.exit(main())
