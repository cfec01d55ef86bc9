"""How long reading a bag takes, as a ratio to what its file costs a bare parser.

Every line is the best of five runs in one process, divided by the best of five of the bare parser on the
same file: PyYAML's CSafeLoader, the json module, numpy.load. The bare parsers check nothing.
"""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import yaml

from lpsched.bag.files import read_bag, write_bag
from lpsched.generate.cov import CovOptions, cov_bag
from lpsched.io.instance_files import TableForm

if TYPE_CHECKING:
    from collections.abc import Callable

RUNS: Final = 5


def best(read: Callable[[Path], object], path: Path) -> float:
    """Return the seconds of the quickest of some runs."""
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        read(path)
        times.append(time.perf_counter() - start)
    return min(times)


def bare_yaml(path: Path) -> object:
    """Parse YAML and check nothing."""
    return yaml.load(path.read_bytes(), Loader=yaml.CSafeLoader)


def bare_json(path: Path) -> object:
    """Parse JSON and check nothing."""
    return json.loads(path.read_bytes())


def bare_npz(path: Path) -> object:
    """Load the lists and both arrays and check nothing."""
    with np.load(path.with_name(f"{path.name}.npz")) as arrays:
        return bare_json(path), arrays["seconds"], arrays["watts"]


CASES: Final = (
    ("512 x 16 by name, YAML", 512, 16, TableForm.NAMES, ".yaml", bare_yaml),
    ("512 x 16 matrix, YAML", 512, 16, TableForm.MATRIX, ".yaml", bare_yaml),
    ("512 x 16 matrix, JSON", 512, 16, TableForm.MATRIX, ".json", bare_json),
    ("10,000 x 200 .npz, JSON", 10_000, 200, TableForm.NPZ, ".json", bare_npz),
)


def main(scale: float = 1.0) -> None:
    """Print one line per file; a scale below 1 makes the tables smaller, to try the script."""
    print(f"{'file, seconds and watts':26} {'lpsched':>10} {'bare':>10} {'ratio':>7}")
    with tempfile.TemporaryDirectory() as folder:
        for title, types, machines, form, suffix, bare in CASES:
            rows = max(1, round(scale * types))
            options = CovOptions(task_types=rows, machines=(1,) * machines, tasks=rows)
            path = Path(folder) / f"bag{suffix}"
            write_bag(cov_bag("bench", np.random.default_rng(0), options), path, form=form)
            ours, theirs = best(read_bag, path), best(bare, path)
            print(f"{title:26} {1000 * ours:7.1f} ms {1000 * theirs:7.1f} ms {ours / theirs:7.2f}")


if __name__ == "__main__":
    main()
