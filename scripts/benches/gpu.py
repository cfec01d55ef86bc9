"""Soft prices on a GPU: a million task types on a thousand machine types, to a proved gap.

The makespan program over random pairs (coefficient of variation 0.5 across task types and 0.35 across machine
types, as in the other benchmarks). The passes run on the device in single precision; the bound is then proved
again from the prices in double precision on the CPU, over all pairs. The value is the largest load of the
soft choices. Needs CuPy (`pip install 'lpsched[gpu]'`); with --device cpu the same code runs in NumPy.
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lpsched.bag.column_generation import Pairs
from lpsched.cancellation import CancelToken
from lpsched.lp.program import Device, array_module
from lpsched.lp.soft_prices import CLOSE, climb

if TYPE_CHECKING:
    from collections.abc import Sequence

ROWS: Final = 20_000  # generated at a time


def random_loads(types: int, machines: int, seed: int) -> Any:  # noqa: ANN401 - an array
    """Return loads in single precision: what each task type would put on each machine type."""
    rng = np.random.default_rng(seed)
    loads = np.empty((types, machines), dtype=np.float32)
    counts = rng.integers(5, 60, machines)
    scale = float(types) * 100.0 / counts.sum()
    for start in range(0, types, ROWS):
        rows = slice(start, min(types, start + ROWS))
        height = rows.stop - start
        mean = rng.gamma(4.0, 0.25, height) * rng.integers(1, 200, height)
        spread = rng.standard_gamma(1.0 / 0.35**2, (height, machines), dtype=np.float32)
        loads[rows] = spread * np.float32(0.35**2) * (mean[:, np.newaxis] / (counts * scale))
    return loads


def main(arguments: Sequence[str] | None = None) -> None:
    """Climb, prove, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda", choices=[each.value for each in Device])
    parser.add_argument("--task-types", type=int, default=1_000_000)
    parser.add_argument("--machine-types", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    xp = array_module(Device(given.device))
    loads = random_loads(given.task_types, given.machine_types, given.seed)
    pairs = Pairs(np, loads, None, None, 0.0, np.arange(given.machine_types))
    print(f"{given.task_types:,} x {given.machine_types:,} pairs on {given.device}")
    climb(pairs.sample(4_000).single(xp), CLOSE, budget=1.0, cancel=CancelToken())  # the kernels are compiled
    clock = time.perf_counter()
    single = pairs.single(xp)
    copied = time.perf_counter() - clock
    clock = time.perf_counter()
    soft = climb(single, CLOSE, budget=1.0, cancel=CancelToken())
    local = CLOSE.temperatures[-1] * single.sizes(soft.prices)
    value = float(single.soften(soft.prices, local).slope.max())
    climbed = time.perf_counter() - clock
    clock = time.perf_counter()
    prices = soft.prices / soft.prices.sum()
    bound = proved(loads, prices)
    proof = time.perf_counter() - clock
    print(f"copy to the device   {copied:8.2f} s")
    print(f"soft prices          {climbed:8.2f} s   {soft.steps} steps")
    print(f"proof in double      {proof:8.2f} s   on the CPU, all pairs")
    print(f"value {value:.9f}   bound {bound:.9f}   gap {(value - bound) / bound:.2e}")


def proved(loads: Any, prices: Any) -> float:  # noqa: ANN401 - arrays
    """Return what the prices prove, in doubles, block after block of rows."""
    total = 0.0
    for start in range(0, len(loads), 500):
        total += float((loads[start : start + 500] * prices).min(axis=1).sum())
    return total


if __name__ == "__main__":
    main()
