"""Soft prices on a GPU: a million task types on a thousand machine types, to a proved gap.

The makespan program over random pairs (coefficient of variation 0.5 across task types and 0.35 across machine
types, as in the other benchmarks). The passes run on the device in single precision; the bound is then proved
again from the prices in double precision on the CPU, over all pairs. The value is the largest load of the
soft choices. Needs CuPy (`pip install 'lpsched[gpu]'`); with --device cpu the same climb runs in NumPy. With
--room the tables stay on the host if they need more memory than that, as they do where the device has no more.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lpsched.bag.column_generation import Pairs
from lpsched.cancellation import CancelToken
from lpsched.lp import soft_kernels
from lpsched.lp.program import Device, array_module
from lpsched.lp.soft_prices import CLOSE, SoftPrices, climb

if TYPE_CHECKING:
    from collections.abc import Sequence

ROWS: Final = 20_000  # generated at a time
PROVED: Final = 500  # rows of a part of the proof
TIMED: Final = 20  # passes
GIGA: Final = 1e9


def random_loads(types: int, machines: int, seed: int) -> Any:  # noqa: ANN401 - an array
    """Return loads in single precision: what each task type would put on each machine type."""
    loads = np.empty((types, machines), dtype=np.float32)
    counts = np.random.default_rng(seed).integers(5, 60, machines)
    scale = float(types) * 100.0 / counts.sum()

    def fill(start: int) -> None:
        rng = np.random.default_rng([seed, start])
        rows = loads[start : start + ROWS]
        mean = rng.gamma(4.0, 0.25, len(rows)) * rng.integers(1, 200, len(rows))
        rng.standard_gamma(1.0 / 0.35**2, dtype=np.float32, out=rows)
        rows *= (0.35**2 * mean[:, np.newaxis]).astype(np.float32)
        rows /= (counts * scale).astype(np.float32)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(fill, range(0, types, ROWS)))
    return loads


def main(arguments: Sequence[str] | None = None) -> None:
    """Climb, prove, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda", choices=[each.value for each in Device])
    parser.add_argument("--task-types", type=int, default=1_000_000)
    parser.add_argument("--machine-types", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--room", type=float, help="GiB of device memory to use; default: all that is free")
    given = parser.parse_args(arguments)
    xp = array_module(Device(given.device))
    loads = random_loads(given.task_types, given.machine_types, given.seed)
    pairs = Pairs(np, loads, None, None, 0.0, np.arange(given.machine_types))
    print(f"{given.task_types:,} x {given.machine_types:,} pairs on {given.device}, seed {given.seed}")
    room = None
    if xp is not np:
        room = soft_kernels.room(xp) if given.room is None else int(given.room * soft_kernels.GIB)
        needed, free = (number / soft_kernels.GIB for number in (pairs.memory.total, room))
        where = "on the device" if pairs.memory.fits(room) else "on the host, copied in every pass"
        print(f"device memory        {needed:8.2f} GiB needed, {free:.2f} GiB free: tables {where}")
    climb(pairs.sample(4_000).single(xp), CLOSE, budget=1.0, cancel=CancelToken())  # the kernels are compiled
    single, copied = _timed(lambda: pairs.single(xp, room))
    passes = _Counter(single)
    soft, climbed = _timed(lambda: climb(passes, CLOSE, budget=1.0, cancel=CancelToken()))
    local = CLOSE.temperatures[-1] * single.sizes(soft.prices)
    value = float(single.soften(soft.prices, local).slope.max())
    prices = soft.prices / soft.prices.sum()
    bound, proof = _timed(lambda: proved(loads, prices))
    print(f"copy to the device   {copied:8.3f} s")
    print(f"soft prices          {climbed:8.3f} s   {soft.steps} steps, {passes.number} passes over all pairs")
    if xp is not np:
        _bandwidth(single, soft, local)
    print(f"proof in double      {proof:8.3f} s   on the CPU, all pairs")
    print(f"value {value:.9f}   bound {bound:.9f}   gap {(value - bound) / bound:.2e}")


def _timed(run: Callable[[], Any]) -> tuple[Any, float]:
    clock = time.perf_counter()
    result = run()
    return result, time.perf_counter() - clock


class _Counter:
    """Blocks that count the passes over all of them."""

    def __init__(self, pairs: Pairs) -> None:
        self.pairs, self.number = pairs, 0

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the pairs have
        return getattr(self.pairs, name)

    def soften(self, prices: Any, temperatures: Any) -> Any:  # noqa: ANN401 - arrays
        """Return the smooth function, and count."""
        self.number += 1
        return self.pairs.soften(prices, temperatures)


def _bandwidth(pairs: Pairs, soft: SoftPrices, local: Any) -> None:  # noqa: ANN401 - an array
    """Print how fast a pass reads the tables, and how fast the device copies."""
    xp, size = pairs.xp, pairs.loads.nbytes
    number = TIMED if isinstance(pairs.loads, xp.ndarray) else 1
    soften = _on_device(xp, lambda: pairs.soften(soft.prices, local), number)
    print(
        f"one pass             {1e3 * soften:8.3f} ms  {size / soften / GIGA:,.0f} GB/s read, all that it does counted"
    )
    cells = min(pairs.loads.size, 1 << 28)
    here, there = xp.ones(cells, dtype=np.float32), xp.empty(cells, dtype=np.float32)
    copy = _on_device(xp, lambda: xp.copyto(there, here), TIMED)
    print(f"a copy on the device {8 * cells / copy / GIGA:8,.0f} GB/s read and written")


def _on_device(xp: Any, run: Callable[[], Any], number: int) -> float:  # noqa: ANN401 - cupy
    """Return seconds of one run, by the device's clock."""
    run()
    first, last = xp.cuda.Event(), xp.cuda.Event()
    first.record()
    for _ in range(number):
        run()
    last.record()
    last.synchronize()
    return float(xp.cuda.get_elapsed_time(first, last)) / number / 1e3


def proved(loads: Any, prices: Any) -> float:  # noqa: ANN401 - arrays
    """Return what the prices prove, in doubles, part after part of the rows; the parts are added in their order."""

    def part(start: int) -> float:
        return float((loads[start : start + PROVED] * prices).min(axis=1).sum())

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return sum(pool.map(part, range(0, len(loads), PROVED)))


if __name__ == "__main__":
    main()
