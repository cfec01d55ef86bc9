"""How long reading a bag takes, as a ratio to what its file costs a bare parser.

Every line is the best of five runs in one process, divided by the best of five of the bare parser on the
same file: PyYAML's CSafeLoader, the json module, numpy.load. The bare parsers check nothing. The last two lines
read a table of 1,000 x 100 that is already in memory; packing its cells without a check is what they are compared with.
"""

from __future__ import annotations

import json
import tempfile
import time
from array import array
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import yaml

from lpsched.bag.files import read_bag, write_bag
from lpsched.bag.model import bag_from_dict
from lpsched.generate.bags import cov_bag
from lpsched.generate.options import CovOptions
from lpsched.io.instance_files import TableForm

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

RUNS: Final = 5


def best(read: Callable[[Any], object], path: object) -> float:
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
    print(f"{'file, seconds and watts':30} {'lpsched':>10} {'bare':>10} {'ratio':>7}")
    with tempfile.TemporaryDirectory() as folder:
        for title, types, machines, form, suffix, bare in CASES:
            rows = max(1, round(scale * types))
            options = CovOptions(task_types=rows, machines=(1,) * machines, tasks=rows)
            path = Path(folder) / f"bag{suffix}"
            write_bag(cov_bag("bench", np.random.default_rng(0), options), path, form=form)
            ours, theirs = best(read_bag, path), best(bare, path)
            print(f"{title:30} {1000 * ours:7.1f} ms {1000 * theirs:7.1f} ms {ours / theirs:7.2f}")
    for title, raw in in_memory(max(1, round(1_000 * scale)), 100):
        ours, theirs = best(bag_from_dict, raw), best(packed, raw["seconds"])
        print(f"{title:30} {1000 * ours:7.1f} ms {1000 * theirs:7.1f} ms {ours / theirs:7.2f}")


def in_memory(rows: int, columns: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Return a bag as mappings and lists, its table as rows and by name."""
    tasks, machines = [f"task {i}" for i in range(rows)], [f"machine {j}" for j in range(columns)]
    matrix = np.random.default_rng(0).uniform(1.0, 100.0, (rows, columns)).tolist()
    bag = {
        "format": "lpsched-bag/1",
        "name": "bench",
        "machine_types": [{"name": name, "count": 1} for name in machines],
        "task_types": [{"name": name, "count": 1} for name in tasks],
    }
    yield f"{rows:,} x {columns} matrix in memory", bag | {"seconds": matrix}
    by_name = {task: dict(zip(machines, row, strict=True)) for task, row in zip(tasks, matrix, strict=True)}
    yield f"{rows:,} x {columns} names in memory", bag | {"seconds": by_name}


def packed(table: dict[str, dict[str, float]] | list[list[float]]) -> array[float]:
    """Pack the cells and check nothing."""
    rows = [row.values() for row in table.values()] if isinstance(table, dict) else table
    return array("d", chain.from_iterable(rows))


if __name__ == "__main__":
    main()
