"""What decides a run besides its task: the versions of Python and of the packages that compute.

Two machines that have the same and compute with one thread (`threads.py`) make the same run, bit for bit.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Final, TypeAlias

from lpsched.errors import WorkersError
from lpsched.studies.threads import ONE_THREAD

COMPUTING: Final = ("lpsched", "numpy", "highspy", "numba", "pymoo", "casadi")  # each in some run
THREADS: Final = "OMP_NUM_THREADS"  # every BLAS heeds it
Packages: TypeAlias = tuple[tuple[str, str | None], ...]


@cache
def installed() -> Packages:
    """Return each name with its version here; finding them reads files.

    >>> [name for name, version in installed()][:2]
    ['Python', 'lpsched']
    """
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    return (("Python", python), *((name, _version(name)) for name in COMPUTING))


def require_same(needed: Packages, where: str) -> None:
    """Refuse to make runs here if something is not as where the study was begun.

    Raises
    ------
    WorkersError
        If a version differs, one of them lacks a package that the other has, or there are more threads.
    """
    if os.environ.get(THREADS) != ONE_THREAD[THREADS]:
        raise WorkersError(
            f"the worker {where} computes with many threads: its runs might come out otherwise; "
            f"start it with {THREADS}=1, as Dask's nannies do"
        )
    found = dict(installed())
    wrong = [
        f"{name} {found.get(name) or 'missing'} instead of {version or 'none'}"
        for name, version in needed
        if found.get(name) != version
    ]
    if wrong:
        raise WorkersError(
            f"the worker {where} has {', '.join(wrong)}: its runs might come out otherwise; "
            "install the same versions everywhere"
        )


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
