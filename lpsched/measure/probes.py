"""Interference probes: two small applications, one bound by memory, one by computing; no compiler needed.

memory     copies back and forth between two arrays that together take 1/4, then 3/8, then 1/2 of the
           last-level cache. Alone, they fit; beside another of its kind, or beside anything else that fills the
           cache, they do not, and the copies wait for main memory. A machine whose cache is shared with
           others that we do not see has less of it for us: hence three sizes.
compute    takes square roots of 2,000 numbers again and again: everything stays in the core's own cache.

Each does a fixed amount of work and ends. As a program: `python probes.py memory|compute`; it imports
nothing of lpsched, so that it starts quickly. NumPy does the work in both.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Final

import numpy as np

SHARES: Final = (1 / 4, 3 / 8, 1 / 2)  # of the last-level cache
COPIED_BYTES: Final = 3 * 2**29  # for each of these
BLOCK_BYTES: Final = 2**18  # longer copies may go around the cache
ROOTS: Final = 2_000
ROUNDS: Final = 200_000
USUAL_CACHE_BYTES: Final = 32 * 2**20  # where the system does not say
LARGEST_CACHE_BYTES: Final = 2**29
CACHES: Final = Path("/sys/devices/system/cpu/cpu0/cache")
UNITS: Final = {"K": 2**10, "M": 2**20, "G": 2**30}


def command(kind: str) -> tuple[str, ...]:
    """Return the command that runs a probe: `memory` or `compute`."""
    return (sys.executable, "-P", str(Path(__file__).absolute()), kind)


def last_level_cache_bytes(caches: Path = CACHES) -> int:
    """Return the size of the largest cache of the first processor; a usual one where it is not known."""
    sizes = []
    for file in caches.glob("index*/size"):
        try:
            sizes.append(read_size(file.read_text()))
        except (OSError, ValueError):
            continue
    return min(max(sizes, default=USUAL_CACHE_BYTES), LARGEST_CACHE_BYTES)


def read_size(text: str) -> int:
    r"""Read a size as the kernel writes it.

    >>> read_size("33792K\n"), read_size("8M")
    (34603008, 8388608)
    """
    text = text.strip()
    unit = UNITS.get(text[-1:])
    return int(text) if unit is None else int(text[:-1]) * unit


def memory(cache_bytes: int, work: float = 1.0) -> None:
    """Copy back and forth through a part of the last-level cache; `work` is a multiple of the usual."""
    blocks = [max(1, round(share * cache_bytes / 2 / BLOCK_BYTES)) for share in SHARES]
    one, other = (np.ones((max(blocks), BLOCK_BYTES // 8)) for _ in range(2))
    for count in blocks:
        copy(one[:count], other[:count], max(2, round(work * COPIED_BYTES / (count * BLOCK_BYTES))))


def copy(here: np.ndarray, there: np.ndarray, times: int) -> None:
    """Copy rows from here to there, then back, and so on."""
    for _ in range(times):
        for source, target in zip(here, there, strict=True):
            np.copyto(target, source)
        here, there = there, here


def compute(work: float = 1.0) -> None:
    """Take square roots of numbers that stay in the core's own cache."""
    numbers = np.linspace(1.0, 2.0, ROOTS)
    for _ in range(max(1, round(work * ROUNDS))):
        np.sqrt(numbers, out=numbers)


def main(arguments: list[str] | None = None) -> None:
    """Run a probe."""
    parser = argparse.ArgumentParser(description="A small application that is bound by memory or by computing.")
    parser.add_argument("kind", choices=("memory", "compute"))
    parser.add_argument("--work", type=float, default=1.0, help="how much, as a multiple of the usual")
    parser.add_argument("--seconds", action="store_true", help="print the seconds of processor time to stderr")
    options = parser.parse_args(arguments)
    began = time.process_time()
    if options.kind == "memory":
        memory(last_level_cache_bytes(), options.work)
    else:
        compute(options.work)
    if options.seconds:
        sys.stderr.write(f"{time.process_time() - began}\n")


if __name__ == "__main__":
    main()
