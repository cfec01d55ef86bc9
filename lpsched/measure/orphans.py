"""End every process below this one, whatever it does to get away.

Linux hands an orphan to the nearest ancestor that asked for orphans (`adopt_orphans`). So a daemon that forks
twice and starts a session of its own becomes our child when its parents are gone, and

    we have no child  <=>  nothing that was started below us is left.

Each round signals our children with their process groups. Children that are not yet waited for keep their
numbers, and so do their groups: no number can have passed to a stranger. A group is signalled as one, between
two forks, so a loop of forks in one group ends in one round; one that also starts a session in each fork has
to be hit between two of them, which takes some rounds. First all are asked (SIGTERM), then killed (SIGKILL).

Only a process that starts nothing else may use this (`keeper.py`): all its children are ended.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import signal
import time
from typing import Final

PR_SET_PDEATHSIG: Final = 1  # these two are from <linux/prctl.h>
PR_SET_CHILD_SUBREAPER: Final = 36
STEP_SECONDS: Final = 0.001  # between two looks while nothing changes


def adopt_orphans() -> None:
    """Become the parent of every orphan below this process."""
    _prctl(PR_SET_CHILD_SUBREAPER, 1)


def end_with_parent(number: int) -> None:
    """Let this process get a signal when the thread that started it ends."""
    _prctl(PR_SET_PDEATHSIG, number)


def end_children(*, grace_seconds: float, patience_seconds: float) -> tuple[int, ...]:
    """End all children, and theirs; return those that are there still after that much patience."""
    begin = time.monotonic()
    told: dict[int, set[int]] = {signal.SIGTERM: set(), signal.SIGKILL: set()}
    while (reaped := _reap()) is not None:
        seconds = time.monotonic() - begin
        number = signal.SIGTERM if seconds < grace_seconds else signal.SIGKILL
        there = children()
        if seconds > patience_seconds:
            return there
        told[number] -= reaped  # another may have got the number
        fresh = set(there) - told[number]
        for child in fresh:
            _signal(child, number)
        told[number] |= fresh
        if not fresh:
            time.sleep(STEP_SECONDS)
    return ()


def children() -> tuple[int, ...]:
    """Return the children of this process, those too that have ended and were not waited for."""
    own = os.getpid()
    try:
        return tuple(map(int, _read(f"/proc/{own}/task/{own}/children").split()))
    except OSError:  # a kernel without this file
        return tuple(pid for pid, parent in _parents() if parent == own)


def _parents() -> list[tuple[int, int]]:
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):  # noqa: PTH208 - likewise
        with contextlib.suppress(OSError, ValueError, IndexError):  # it has ended since
            after_name = _read(f"/proc/{name}/stat").rpartition(")")[2]
            found.append((int(name), int(after_name.split()[1])))
    return found


def _read(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - pathlib takes long to load
        return file.read()


def _reap() -> set[int] | None:
    """Wait for the children that have ended; `None` if there are no children at all."""
    reaped: set[int] = set()
    while True:
        try:
            child, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return None
        if child == 0:
            return reaped
        reaped.add(child)


def _signal(child: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):  # gone, or another user's by now
        group = os.getpgid(child)
        if group == os.getpgrp():
            os.kill(child, number)
        else:
            os.killpg(group, number)
            os.killpg(group, signal.SIGCONT)  # one that was stopped cannot end


@functools.cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _prctl(option: int, argument: int) -> None:
    if _libc().prctl(option, argument, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl({option}, {argument}): {os.strerror(ctypes.get_errno())}")
