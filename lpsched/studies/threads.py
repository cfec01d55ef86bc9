"""One thread for each run: many runs at a time would otherwise fight over the cores.

It is also what makes a run the same everywhere. A sum that BLAS shares out among threads is added up in
another order than with one thread, and may differ in its last bits. BLAS reads these variables once, when
NumPy is loaded, so whoever makes runs in its own process sets them before that.
"""

from __future__ import annotations

import os
from typing import Final

ONE_THREAD: Final = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "BLIS_NUM_THREADS": "1",
    "VECLIB_MAXIMUM_THREADS": "1",
}


def use_one_thread() -> None:
    """Let this process, and those that it starts, compute with one thread; NumPy must not be loaded yet."""
    os.environ.update(ONE_THREAD)
