"""Thesis, table 3.2: task-machine affinity of the example, low and high environments over 48 trials.

Prints ranges over trials of the general-purpose speeds: affinity beside the thesis's, and by how much the two
homogeneities of each trial differ from those of its example environment, of which the thesis says that the
difference can be neglected.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Final, get_args

import numpy as np

from lpsched.bag.arrays import affinity, homogeneity
from lpsched.generate.day import essc_day
from lpsched.generate.options import Affinity, EsscOptions
from lpsched.online.arrays import day_arrays

if TYPE_CHECKING:
    from lpsched.model.table import Floats

PRINTED: Final = {"example": "0.082 to 0.091", "low": "< 1e-15", "high": "0.14 to 0.18"}
TASKS: Final = 100  # of which the tables know nothing
TINY: Final = 1e-15


def measures(seed: int, trial: int, kind: Affinity) -> tuple[float, float, float]:
    """Return affinity, machine performance homogeneity and task difficulty homogeneity of a trial."""
    options = EsscOptions(tasks=TASKS, affinity=kind)
    day = essc_day("x", seed, options, (trial,) if trial else ())
    speeds = 1.0 / day_arrays(day).seconds[:, len(options.special_machines) :]
    found = (affinity(speeds), homogeneity(speeds.sum(axis=0)), homogeneity(speeds.sum(axis=1)))
    assert None not in found, "a hundred task types on nine machine types have all three"
    return found[0] or 0.0, found[1] or 0.0, found[2] or 0.0


def table(trials: int, seed: int) -> list[str]:
    """Return the lines of the table."""
    kinds: tuple[Affinity, ...] = get_args(Affinity)
    found = {kind: np.array([measures(seed, trial, kind) for trial in range(trials)]) for kind in kinds}
    lines = [
        "| environment | thesis | ours | machine performance homogeneity | task difficulty homogeneity |",
        "| --- | --- | --- | --- | --- |",
    ]
    for kind in kinds:
        ours = _range(found[kind][:, 0])
        homogeneities = [
            _range(found[kind][:, k]) + _change(found[kind][:, k] - found["example"][:, k]) for k in (1, 2)
        ]
        lines.append(f"| {kind} | {PRINTED[kind]} | {ours} | {' | '.join(homogeneities)} |")
    return lines


def _range(numbers: Floats) -> str:
    if numbers.max() < TINY:
        return f"< {TINY:g} (at most {numbers.max():.0e})"
    return f"{numbers.min():.3f} to {numbers.max():.3f}"


def _change(differences: Floats) -> str:
    largest = float(np.abs(differences).max())
    return f", off by {largest:.4f} at most" if largest else ""


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--trials", type=int, default=48)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    print("\n".join(table(asked.trials, asked.seed)))


if __name__ == "__main__":
    main()
