"""Start a program that is pinned from its first instruction, and keep the end of what it says on stderr.

Between fork and exec the new process starts a session, binds itself to its processors, goes into its folder
and takes /dev/null for stdin and stdout. So its own children are bound as well, and no moment passes on
another processor. What fails there is told through a pipe that exec closes.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
from typing import TYPE_CHECKING, Final, NoReturn, TypedDict

from lpsched.measure.orphans import end_with_parent

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    """Start a program; return its process and its stderr.

    Raises
    ------
    NotStartedError
        If it could not be started; nothing is left of it.
    """
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
