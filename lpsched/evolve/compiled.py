"""Compiling the loops that a genetic algorithm runs thousands of times a second.

Numba turns a function over arrays into machine code when it is called first, and keeps that code on disk
where some folder may be written to. The plain function stays within reach as `function.py_func`.

A compiled function calls only compiled functions of its own file: what Numba keeps on disk is thrown away
when that file changes, not when a file changes that it calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast

from lpsched.errors import MissingExtraError

try:
    import numba
except ImportError:  # an optional package; whoever asks for the algorithm is told
    numba = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Callable

Function = TypeVar("Function", bound="Callable[..., Any]")


def compiled(function: Function) -> Function:
    """Return the function, compiled at its first call; as it is where there is no Numba."""
    if numba is None:
        return function
    try:
        return cast("Function", numba.njit(cache=True)(function))
    except RuntimeError:  # no folder to keep the code in: it is compiled once in each process
        return cast("Function", numba.njit(function))


def require_compiler() -> None:
    """Refuse to begin without Numba: the plain loops would take a thousand times as long.

    Raises
    ------
    MissingExtraError
        If Numba is not installed.
    """
    if numba is None:
        raise MissingExtraError("the genetic algorithm", "evolve")
