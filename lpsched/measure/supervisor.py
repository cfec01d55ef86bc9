"""The supervisor: a small process of its own that starts the applications of one run, and ends all of them.

`corun.py` starts it. It adopts orphans and starts nothing but applications, so all processes below it belong to the
run and can be ended without harm to others. It reads stdin and writes lines of JSON to stdout:

    reads                          writes
    the job, one line
                                   {"event": "ready"}         the corunners run
    go
                                   {"event": "ended", ...}    of the measured one, or of all in a batch
                                   {"event": "gone", ...}     nothing is left
    the end of stdin: everything ends, whatever the run is doing; also when the parent was killed

Times are those of `time.monotonic`, which all processes of a machine share. A process that ends wakes the
supervisor at once, unless it is starting another one, which takes some milliseconds. Where there are other processors
than those of the run, it works there. It is started for each run, so it imports no modules that take long to load.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import functools
import json
import math
import os
import select
import signal
import time
from collections.abc import Iterable
from typing import Any, Final, NamedTuple, NoReturn, TypedDict

# End every process below this one, whatever it does to get away.
#
# Linux hands an orphan to the nearest ancestor that adopts orphans (`PR_SET_CHILD_SUBREAPER`). So a daemon that forks
# twice and starts a session of its own becomes our child when its parents are gone, and
#
#     we have no child  <=>  nothing that was started below us is left.
#
# Each round signals our children with their process groups. Children that are not yet waited for keep their
# ids, and so do their groups: no id can belong to another program by now. A group is signalled as one, between
# two forks, so a loop of forks in one group ends in one round; one that also starts a session in each fork has
# to be hit between two of them, which takes some rounds. First all are asked (SIGTERM), then killed (SIGKILL).
#
# Only a process that starts nothing else may use this, such as the supervisor: all its children are ended.
PR_SET_PDEATHSIG: Final = 1  # these two are from <linux/prctl.h>
PR_SET_CHILD_SUBREAPER: Final = 36
STEP_SECONDS: Final = 0.001  # between two looks while nothing changes


def end_with_parent(number: int) -> None:
    """Let this process get a signal when the thread that started it ends."""
    _prctl(PR_SET_PDEATHSIG, number)


def end_children(*, grace_seconds: float, limit_seconds: float) -> tuple[int, ...]:
    """End all children, and theirs; return those that are still there after `limit_seconds`."""
    begin = time.monotonic()
    sent: dict[int, set[int]] = {signal.SIGTERM: set(), signal.SIGKILL: set()}
    while (reaped := _reap()) is not None:
        seconds = time.monotonic() - begin
        number = signal.SIGTERM if seconds < grace_seconds else signal.SIGKILL
        there = children()
        if seconds > limit_seconds:
            return there
        sent[number] -= reaped  # the id may have been given to another one
        fresh = set(there) - sent[number]
        for child in fresh:
            _signal(child, number)
        sent[number] |= fresh
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


# Start a program that is pinned from its first instruction, and keep the end of its stderr.
#
# Between fork and exec the new process starts a session, binds itself to its processors, goes into its folder
# and takes /dev/null for stdin and stdout. So its own children are bound as well, and no moment passes on
# another processor. What fails there is reported through a pipe that exec closes.
TAIL_BYTES: Final = 2000
READ_BYTES: Final = 65536
MOST_READS: Final = 32  # at the end; a pipe holds at most 1 MiB, and another process may keep writing to it


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
        """Read what is there; return whether more may come."""
        with contextlib.suppress(BlockingIOError):
            some = os.read(self.pipe, READ_BYTES)
            self._last = (self._last + some)[-TAIL_BYTES:]
            return bool(some)
        return False

    def words(self) -> str:
        """Read the rest, and return the end of it."""
        for _ in range(MOST_READS):
            if not self.read():
                break
        return self._last.decode("utf-8", "replace")


def start(what: Start) -> tuple[int, Tail]:
    """Start a program; return its process and its stderr."""
    errors_read, errors_write = os.pipe()
    failure_read, failure_write = os.pipe()
    process = os.fork()
    if process == 0:
        _become(what, errors_write, failure_write)
    os.close(errors_write)
    os.close(failure_write)
    with os.fdopen(failure_read, "rb") as pipe:
        failure = pipe.read()  # nothing, once it runs
    if failure:
        os.close(errors_read)
        os.waitpid(process, 0)
        step, number = failure.split()
        raise NotStartedError(step.decode("ascii"), int(number))
    os.set_blocking(errors_read, False)
    return process, Tail(errors_read)


def _become(what: Start, errors: int, failure: int) -> NoReturn:
    step = "place"
    try:
        os.setsid()
        end_with_parent(signal.SIGKILL)
        for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)  # undo what Python ignores, and what we block or ignore
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.sched_setaffinity(0, what["place"])
        if os.sched_getaffinity(0) != set(what["place"]):  # Linux silently leaves out those that it may not use
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))  # noqa: TRY301 - sent to the parent below
        step = "folder"
        os.chdir(what["folder"])
        step = "program"
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        os.dup2(nothing, 1)
        os.dup2(errors, 2)
        os.execve(what["file"], what["command"], what["environment"])  # noqa: S606 - no shell is wanted
    except OSError as error:
        os.write(failure, f"{step} {error.errno or 0}".encode())
    except ValueError:  # a name that no program can have
        os.write(failure, f"{step} {errno.EINVAL}".encode())
    finally:
        os._exit(127)


GRACE_SECONDS: Final = 1.0  # between SIGTERM and SIGKILL
KILL_SECONDS: Final = 10.0  # for processes that do not end even by SIGKILL
MOMENT_SECONDS: Final = 0.1  # in which what is about to end, such as a helper of a program, may do so
MANY_RUNS: Final = 100  # enough to see that a program is too short
MOST_STARTING: Final = 1 / 3  # of the time of a corunner; with more, its starts are the load, not its work
LONGEST_WAIT_SECONDS: Final = 3600.0  # of one poll, whose milliseconds are an int


class Job(TypedDict):
    """What a supervisor runs: the measured program first; `again`: the others are started again."""

    programs: list[Start]
    again: bool


def is_too_short(runs: int, starting_share: float) -> bool:
    """Return whether a program that is restarted spends most of its time starting.

    >>> is_too_short(99, 0.9), is_too_short(100, 0.9), is_too_short(100, 0.3)
    (False, True, False)
    """
    return runs >= MANY_RUNS and starting_share > MOST_STARTING


class _Over(BaseException):
    """The parent wants no more, or has ended."""


class _Failed(Exception):  # noqa: N818 - the application's error, not ours
    def __init__(self, index: int, how: str, number: float, errors: str = "") -> None:
        super().__init__(index, how, number, errors)
        self.message = {"index": index, "how": how, "number": number, "errors": errors}


class _Running(NamedTuple):
    program: int
    tail: Tail
    until: float


class _HasEnded(NamedTuple):
    program: int
    status: int
    errors: str
    end: float


class _Run:
    """One run of a job, from its first start to its end."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._programs = job["programs"]
        self._running: dict[int, _Running] = {}
        self._starts = [0] * len(self._programs)
        self._first = [0.0] * len(self._programs)  # when each was started for the first time
        self._starting_seconds = [0.0] * len(self._programs)
        self._begin = 0.0
        self._wake = _wake_on(signal.SIGCHLD, signal.SIGTERM)
        self._poll = select.poll()
        for pipe in (0, self._wake):
            self._poll.register(pipe, select.POLLIN)

    def perform(self) -> dict[str, Any]:
        """Run to the end, and return the message about it."""
        errors = ""
        if self._job["again"]:
            for index in range(1, len(self._programs)):
                self._start(index)
        _send("ready")
        while True:
            soonest = min((running.until for running in self._running.values()), default=math.inf)
            seconds = min(max(0.0, soonest - time.monotonic()), LONGEST_WAIT_SECONDS)
            ready = {pipe for pipe, _ in self._poll.poll(math.ceil(seconds * 1000))}
            ended = self._ended()
            self._receive(ready)
            for one in ended:
                if one.status != 0:
                    raise _Failed(one.program, "ended", one.status, one.errors)
                if one.program == 0:
                    errors = one.errors
            left = {running.program for running in self._running.values()}
            if ended and self._starts[0] > 0 and (not left or (self._job["again"] and 0 not in left)):
                ends = [one.end for one in ended if one.program == 0 or not self._job["again"]]
                return {"begin": self._begin, "end": ends[-1], "errors": errors}
            self._go_on(ended if self._job["again"] else ())

    def _go_on(self, ended: Iterable[_HasEnded]) -> None:
        """Start again what has ended, unless it is too short; fail on what runs for too long."""
        for index, _, _, end in ended:
            share = self._starting_seconds[index] / (end - self._first[index])
            if is_too_short(self._starts[index], share):
                raise _Failed(index, "short", share)
            self._start(index)
        for index, tail, until in self._running.values():
            if time.monotonic() >= until:
                raise _Failed(index, "late", self._programs[index]["timeout_seconds"], tail.words())

    @property
    def restarts(self) -> int:
        """How often programs were started again."""
        return sum(starts - 1 for starts in self._starts if starts)

    def left_behind(self) -> int:
        """Count processes that outlive their parent by more than a moment."""
        until = time.monotonic() + MOMENT_SECONDS
        while True:
            orphans = set(children()) - set(self._running)
            left = sum(os.waitpid(orphan, os.WNOHANG)[0] == 0 for orphan in orphans)
            if not left or time.monotonic() > until:
                return left
            time.sleep(MOMENT_SECONDS / 20)

    def _start(self, index: int) -> None:
        now = time.monotonic()
        try:
            process, tail = start(self._programs[index])
        except NotStartedError as trouble:
            raise _Failed(index, trouble.step, trouble.number) from None
        self._running[process] = _Running(index, tail, now + self._programs[index]["timeout_seconds"])
        self._poll.register(tail.pipe, select.POLLIN)
        self._first[index] = self._first[index] or now
        self._starts[index] += 1
        self._starting_seconds[index] += time.monotonic() - now

    def _ended(self) -> list[_HasEnded]:
        """Wait for all that have ended; return the programs among them, in the order of their ends."""
        ended = []
        with contextlib.suppress(ChildProcessError):  # no children at all
            while (found := os.waitpid(-1, os.WNOHANG))[0] != 0:
                end = time.monotonic()
                running = self._running.pop(found[0], None)
                if running is None:  # an orphan's end
                    continue
                with contextlib.suppress(KeyError):
                    self._poll.unregister(running.tail.pipe)
                status = os.waitstatus_to_exitcode(found[1])
                ended.append(_HasEnded(running.program, status, running.tail.words(), end))
                os.close(running.tail.pipe)
        return ended

    def _receive(self, ready: set[int]) -> None:
        """Read the stderr of programs, and the messages of the parent."""
        for running in self._running.values():
            if running.tail.pipe in ready and not running.tail.read():
                self._poll.unregister(running.tail.pipe)  # closed, and it may run on
        if self._wake in ready and signal.SIGTERM in os.read(self._wake, 65536):
            raise _Over
        if 0 in ready:
            if not os.read(0, 65536):
                raise _Over
            self._begin = time.monotonic()
            for index in (0,) if self._job["again"] else range(len(self._programs)):
                self._start(index)


def main() -> None:
    """Supervise one run."""
    parent = os.getppid()
    end_with_parent(signal.SIGTERM)
    _prctl(PR_SET_CHILD_SUBREAPER, 1)  # adopt every orphan below this process
    with contextlib.suppress(_Over, BrokenPipeError):
        _supervise()
    if os.getppid() != parent:  # it was killed, and cannot put back the clocks that it has set
        from lpsched.measure.meters.records import restore_left  # noqa: PLC0415 - no run that ends well needs it

        restore_left()


def _supervise() -> None:
    line = b""
    while not line.endswith(b"\n"):
        some = os.read(0, 65536)
        if not some:
            raise _Over
        line += some
    job: Job = json.loads(line)
    used = {processor for program in job["programs"] for processor in program["place"]}
    with contextlib.suppress(OSError):
        os.sched_setaffinity(0, os.sched_getaffinity(0) - used)  # an error if none is left
    run = _Run(job)
    gone: dict[str, Any] = {"restarts": 0, "left_behind": 0}
    try:
        try:
            _send("ended", **run.perform())
        except _Failed as failed:
            _send("ended", failed=failed.message)
        gone = {"restarts": run.restarts, "left_behind": run.left_behind()}
    finally:
        left = end_children(grace_seconds=GRACE_SECONDS, limit_seconds=KILL_SECONDS)
        _send("gone", **gone, left=left)


def _wake_on(*numbers: signal.Signals) -> int:
    """Return a pipe through which signals come as bytes: they wake us, and interrupt nothing halfway."""
    read, write = os.pipe()
    os.set_blocking(read, False)
    os.set_blocking(write, False)
    signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    for number in numbers:
        signal.signal(number, lambda *_: None)
    return read


def _send(event: str, **more: object) -> None:
    os.write(1, json.dumps({"event": event, **more}).encode() + b"\n")
