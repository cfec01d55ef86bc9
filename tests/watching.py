"""Coverage looks on only where it may learn something: it makes Python two to three times slower.

Up to Python 3.13 the lines and branches of a program are seen by a trace function, and while one is set every
instruction is slow, also those of other packages. So it is taken away

- while tests are collected; our own modules are imported before that, with coverage looking on;
- while Numba compiles, and while Matplotlib writes a picture: none of our lines run within;
- in a property test after its first examples, and in a test of many seeds after the first ones;
- in tests of our scripts, which are not covered code, and call what is tested elsewhere (mark: unwatched).

So coverage may tell less than what the tests run, and never more. All tests run whole.

And two test processes at a time compile no function twice: who compiles locks the file of the function, and the
other then finds the code on disk. Compiling a function compiles those of other files that it calls; as files do not
import each other in circles, no two processes wait for each other.
"""

from __future__ import annotations

import functools
import importlib
import os
import pkgutil
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

try:
    import fcntl
except ImportError:  # Windows; two processes may compile the same function there
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

OURS: Final = str(Path(__file__).parent.parent)  # others' files may call each other in circles
EXAMPLES: Final = 8  # of a property test, or seeds of another, at which coverage looks on
HEAVY: Final = ("cvxpy", "matplotlib.figure", "numba", "pulp", "scipy.optimize")  # others' modules, slow to import


def unwatched(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function such that no trace function is set within."""

    @functools.wraps(function)
    def call(*given: Any, **options: Any) -> Any:
        watcher = sys.gettrace()
        if watcher is None:
            return function(*given, **options)
        sys.settrace(None)
        try:
            return function(*given, **options)
        finally:
            watch_again(watcher)

    return call


def watch_again(watcher: Any) -> None:
    """Set the trace function; the caller's frame, of which it saw the beginning, is told to show it its end."""
    sys._getframe(1).f_trace = watcher  # noqa: SLF001 - there is no public way
    sys.settrace(watcher)


def watched_at_first(function: Callable[..., Any], watcher: Any) -> Callable[..., Any]:
    """Return a function that sets the trace function in its first calls only."""
    left = EXAMPLES

    @functools.wraps(function)
    def call(*given: Any, **options: Any) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            return function(*given, **options)
        sys.settrace(watcher)
        try:
            return function(*given, **options)
        finally:
            sys.settrace(None)

    return call


def tells_nothing_new(item: Any) -> bool:
    """Tell whether a test has had its first seeds before this one, or is marked as one that shows what others do."""
    seeds_before = getattr(getattr(item, "callspec", None), "indices", {}).get("seed", 0)
    return seeds_before >= EXAMPLES or item.get_closest_marker("unwatched") is not None


def import_everything(*packages: str) -> None:
    """Import our modules, so that coverage sees their lines, and before them what others wrote."""
    unwatched(import_others)()
    for package in packages:
        for found in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
            if not found.name.endswith("__main__"):
                with suppress(ImportError):  # whoever tests it will tell
                    importlib.import_module(found.name)


def import_others() -> None:
    """Import large packages of others, where they are installed."""
    for name in HEAVY:
        with suppress(ImportError):
            importlib.import_module(name)


@contextmanager
def locked(file: str, held: set[str]) -> Iterator[None]:
    """Keep other processes from compiling what is in a file."""
    if fcntl is None or file in held or not file.startswith(OURS):
        yield
        return
    descriptor = os.open(file, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        held.add(file)
        yield
    finally:
        held.discard(file)
        os.close(descriptor)


def compile_once() -> None:
    """Make Numba look for a function's code on disk only when nobody else is just making it."""
    with suppress(ImportError):
        from numba.core.dispatcher import Dispatcher  # noqa: PLC0415 - an optional package

        compile_now = Dispatcher.compile
        held: set[str] = set()

        @functools.wraps(compile_now)
        def compile_alone(self: Any, signature: Any) -> Any:
            with locked(self.py_func.__code__.co_filename, held):
                return compile_now(self, signature)

        Dispatcher.compile = unwatched(compile_alone)  # type: ignore[method-assign]


def draw_unwatched() -> None:
    """Let nobody look on as Matplotlib writes pictures."""
    with suppress(ImportError):
        from matplotlib.backend_bases import FigureCanvasBase  # noqa: PLC0415 - an optional package

        FigureCanvasBase.print_figure = unwatched(FigureCanvasBase.print_figure)  # type: ignore[method-assign]
