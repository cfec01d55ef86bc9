"""Compiling the loops that genetic algorithms and simulated days run thousands of times a second.

Numba turns a function over arrays into machine code when it is called first, and keeps that code on disk
where some folder may be written to. The plain function stays within reach as `function.py_func`.

A compiled function calls only compiled functions of its own folder, and of those above it in its slice: what is on disk
is thrown away when a file there changes; Numba itself would look at the function's own file only. And it remembers
types by the names of their modules: what another version left on disk may not be loaded any more, and is forgotten.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

from lpsched.errors import MissingExtraError

try:
    import numba
except ImportError:  # an optional package, checked on use
    numba = None  # type: ignore[assignment]


Function = TypeVar("Function", bound="Callable[..., Any]")


def compiled(function: Function, **options: bool) -> Function:
    """Return the function, compiled at its first call, with options of Numba's; as it is where there is no Numba."""
    if numba is None:
        return function
    njit: Any = numba.njit  # its types know only some of the options
    try:
        made = njit(cache=True, **options)(function)
        kept = made._cache._cache_file  # noqa: SLF001 - there is no public way
        files = stamp(Path(function.__code__.co_filename).parent)
        # Options are not part of Numba's own key: code without a wrapper for Python crashes where one is expected.
        kept._source_stamp = kept._source_stamp, files, tuple(sorted(options))  # noqa: SLF001
    except (RuntimeError, AttributeError):  # no folder to keep the code in, or a Numba that keeps it otherwise
        return cast("Function", njit(**options)(function))  # it is compiled once in each process
    forget_the_unreadable(made)
    return cast("Function", made)


def compiled_inside(function: Function) -> Function:
    """Return the function, compiled where compiled ones call it; called by others, it runs as it is written.

    Without the doors that Python and C would enter by it takes about a third less time to compile.
    """
    made: Any = compiled(function, no_cpython_wrapper=True, no_cfunc_wrapper=True)
    if made is not function:
        made._insert = lambda *_: None  # noqa: SLF001 - Python is to find no door: it would fall through it
        made._compile_for_args = lambda *_, **__: function  # noqa: SLF001 - Numba calls what this returns
    return cast("Function", made)


def threaded(function: Function) -> Function:
    """Return the function, compiled so that other threads run beside it."""
    return compiled(function, nogil=True)


@cache
def stamp(folder: Path) -> tuple[tuple[str, float, int], ...]:
    """Return a key that changes with any compiled file of a folder or of those above it in its slice."""
    above = [each for each in folder.parents if (each.parent / "__init__.py").exists()]
    paths = [path for each in above for path in each.glob("*.py") if __name__ in path.read_text(encoding="utf-8")]
    found = [(path.name, path.stat().st_mtime, path.stat().st_size) for path in (*folder.glob("*.py"), *paths)]
    return tuple(sorted(found))


def forget_the_unreadable(made: Any) -> None:  # noqa: ANN401 - Numba ships no types
    """Empty the list of what is on disk for a function, if it cannot be read: Numba itself would fail."""
    try:
        made._cache._cache_file._load_index()  # noqa: SLF001 - there is no public way
    except Exception:  # noqa: BLE001 - reading it imports whatever modules it names
        with contextlib.suppress(Exception):
            made._cache.flush()  # noqa: SLF001


def is_there() -> bool:
    """Return whether Numba is installed."""
    return numba is not None


def require_compiler(purpose: str = "the genetic algorithm", extra: str = "evolve") -> None:
    """Raise an error without Numba: the plain loops would take a thousand times as long."""
    if numba is None:
        raise MissingExtraError(purpose, extra)
