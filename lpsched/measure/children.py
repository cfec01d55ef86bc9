"""Child processes: started on their processors, and ended whatever they do."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import functools
import os
import signal
import time
from typing import TYPE_CHECKING, Final, NoReturn, TypedDict

if TYPE_CHECKING:
    from collections.abc import Sequence


# End every process below this one, whatever it does to get away.
#
# Linux hands an orphan to the nearest ancestor that asked for orphans (`adopt_orphans`). So a daemon that forks
# twice and starts a session of its own becomes our child when its parents are gone, and
#
#     we have no child  <=>  nothing that was started below us is left.
#
# Each round signals our children with their process groups. Children that are not yet waited for keep their
# numbers, and so do their groups: no number can have passed to a stranger. A group is signalled as one, between
# two forks, so a loop of forks in one group ends in one round; one that also starts a session in each fork has
# to be hit between two of them, which takes some rounds. First all are asked (SIGTERM), then killed (SIGKILL).
#
# Only a process that starts nothing else may use this (`supervisor.py`): all its children are ended.
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


# Start a program that is pinned from its first instruction, and keep the end of what it says on stderr.
#
# Between fork and exec the new process starts a session, binds itself to its processors, goes into its folder
# and takes /dev/null for stdin and stdout. So its own children are bound as well, and no moment passes on
# another processor. What fails there is told through a pipe that exec closes.
TAIL_BYTES: Final = 2000
READ_BYTES: Final = 65536
MOST_READS: Final = 32  # at the end; a pipe holds at most 1 MiB, and whoever holds it may write for ever


class Start(TypedDict):
    """What to start, and where: the file, its name and arguments, and so on."""

    file: str
    command: list[str]
    folder: str
    environment: dict[str, str]
    place: list[int]
    timeout_seconds: float


class NotStartedError(Exception):
    """A program was not started: `step` (folder, place or program) failed with the error `number`."""

    def __init__(self, step: str, number: int) -> None:
        super().__init__(step, number)
        self.step = step
        self.number = number


class Tail:
    """The read end of a pipe, and the last bytes that came through it."""

    def __init__(self, pipe: int) -> None:
        self.pipe = pipe
        self._last = b""

    def read(self) -> bool:
        """Take what is there; tell whether more may come."""
        with contextlib.suppress(BlockingIOError):
            some = os.read(self.pipe, READ_BYTES)
            self._last = (self._last + some)[-TAIL_BYTES:]
            return bool(some)
        return False

    def words(self) -> str:
        """Take what is there still, and return the last of it."""
        for _ in range(MOST_READS):
            if not self.read():
                break
        return self._last.decode("utf-8", "replace")


def start(what: Start) -> tuple[int, Tail]:
    """Start a program; return its process and its stderr."""
    errors_read, errors_write = os.pipe()
    told_read, told_write = os.pipe()
    process = os.fork()
    if process == 0:
        _become(what, errors_write, told_write)
    os.close(errors_write)
    os.close(told_write)
    with os.fdopen(told_read, "rb") as pipe:
        told = pipe.read()  # nothing, once it runs
    if told:
        os.close(errors_read)
        os.waitpid(process, 0)
        step, number = told.split()
        raise NotStartedError(step.decode("ascii"), int(number))
    os.set_blocking(errors_read, False)
    return process, Tail(errors_read)


def _become(what: Start, errors: int, told: int) -> NoReturn:
    step = "place"
    try:
        os.setsid()
        end_with_parent(signal.SIGKILL)
        _forget_signals()
        _pin(what["place"])
        step = "folder"
        os.chdir(what["folder"])
        step = "program"
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        os.dup2(nothing, 1)
        os.dup2(errors, 2)
        os.execve(what["file"], what["command"], what["environment"])  # noqa: S606 - no shell is wanted
    except OSError as error:
        os.write(told, f"{step} {error.errno or 0}".encode())
    except ValueError:  # a name that no program can have
        os.write(told, f"{step} {errno.EINVAL}".encode())
    finally:
        os._exit(127)


def _pin(place: Sequence[int]) -> None:
    os.sched_setaffinity(0, place)
    if os.sched_getaffinity(0) != set(place):  # Linux takes those that it may, and says nothing of the others
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))


def _forget_signals() -> None:
    """Undo what Python ignores, and what we block or ignore."""
    for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
