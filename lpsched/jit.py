"""Compiling the loops that genetic algorithms and simulated days run thousands of times a second.

Numba turns a function over arrays into machine code when it is called first, and keeps that code on disk
where some folder may be written to. The plain function stays within reach as `function.py_func`.

A compiled function calls only compiled functions of its own folder, and of those above it in its slice: what is on disk
is thrown away when a file there changes; Numba itself would look at the function's own file only. And it remembers
types by the names of their modules: what another version left on disk may not be loaded any more, and is forgotten.

Code on disk is run as it is. So none is loaded from a folder that another user can write to, or exchange by way of a
folder above it: it is then compiled in each process. A full disk or a damaged file costs time, not the answer.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import stat
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

from lpsched.errors import LpschedWarning, MissingExtraError, raise_signal_in

try:
    import numba
except ImportError as error:  # an optional package, checked on use
    raise_signal_in(error)
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
        if (why := why_not_private(Path(kept._cache_path))) is not None:  # noqa: SLF001
            _warn_once(why)
            made._cache.disable()  # noqa: SLF001
            return cast("Function", made)
        _keep_going(made._cache)  # noqa: SLF001
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
def why_not_private(folder: Path) -> str | None:
    """Return why other users might have put code into a folder, in words; `None` if they cannot."""
    if not hasattr(os, "geteuid"):  # Windows keeps folders of users apart
        return None
    try:
        above = {*folder.absolute().parents, *folder.resolve().parents}  # a link may be exchanged as well
        for each in sorted(above):
            status = each.stat()
            if {status.st_uid, each.lstat().st_uid} - {0, os.geteuid()}:
                return f"{each} belongs to another user"
            if not _is_ours(each, status) and not status.st_mode & stat.S_ISVTX:  # as /tmp: each changes only his own
                return f"another user can exchange what is in {each}"
        own = folder.resolve()
        for each in (own, *own.glob("*.nb[ic]")):
            if not _is_ours(each, each.lstat()):
                return f"another user can write to {each}"
    except OSError as error:
        return f"the rights of {folder} are not known ({error.strerror or error})"
    return None


def _is_ours(path: Path, status: os.stat_result) -> bool:
    """Return whether only this user and root can write to a file or folder."""
    if status.st_uid not in (0, os.geteuid()) or status.st_mode & stat.S_IWOTH:
        return False
    return not status.st_mode & stat.S_IWGRP or (_is_alone(status.st_gid) and not _has_acl(path))


@cache
def _is_alone(group: int) -> bool:
    """Return whether a group has no other members than this user and root, as the own group of each user has."""
    import grp  # noqa: PLC0415 - not on Windows
    import pwd  # noqa: PLC0415

    allowed = {0, os.geteuid()}
    try:
        named = {pwd.getpwnam(name).pw_uid for name in grp.getgrgid(group).gr_mem}
    except KeyError:  # a group or a member that is not known here
        return False
    return named | {each.pw_uid for each in pwd.getpwall() if each.pw_gid == group} <= allowed


def _has_acl(path: Path) -> bool:
    """Return whether more rights are listed than the mode shows."""
    try:
        return "system.posix_acl_access" in os.listxattr(path)
    except (AttributeError, OSError):  # a system or a file system without them
        return False


@cache
def _warn_once(why: str) -> None:
    if multiprocessing.parent_process() is None:  # else the one that started us has said so
        warnings.warn(
            f"compiled code on disk is not used, so everything is compiled again: {why}; let NUMBA_CACHE_DIR name a "
            "folder of your own",
            LpschedWarning,
            stacklevel=2,
        )


def _keep_going(kept: Any) -> None:  # noqa: ANN401 - Numba ships no types
    """Let code that cannot be written to disk, or read from there, be compiled."""
    load, save = kept.load_overload, kept.save_overload

    def load_overload(*arguments: Any) -> Any:  # noqa: ANN401
        with contextlib.suppress(Exception):  # a damaged file may raise anything
            return load(*arguments)
        return None

    def save_overload(*arguments: Any) -> None:  # noqa: ANN401
        with contextlib.suppress(OSError):  # no space, no rights any more
            save(*arguments)

    kept.load_overload, kept.save_overload = load_overload, save_overload


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
