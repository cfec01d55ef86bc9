"""Running programs together on pinned processors until the measured one has ended."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from lpsched.errors import MeasureError

if TYPE_CHECKING:
    from lpsched.cancellation import CancelToken
    from lpsched.measure.supervisor import Job

# A program is started without a shell, in its folder, with our environment and what is added to it. It reads nothing,
# its output is discarded, and the end of its stderr is kept.
LONGEST_LINE: Final = 200  # characters of a program's last words in a message
GRACE_SECONDS: Final = 1.0  # between SIGTERM and SIGKILL
SHELL_SIGNAL: Final = 128  # a shell adds the number of a signal to this


@dataclass(frozen=True, slots=True)
class Program:
    """What is started, and what messages call it.

    A program without a slash is looked up in `PATH`; one with a slash is relative to the folder. The environment is
    added to our own. A run that takes longer than its timeout is killed.
    """

    name: str
    command: tuple[str, ...]
    folder: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    timeout_seconds: float = 3600.0

    @property
    def whole_environment(self) -> dict[str, str]:
        """Our environment, and what is added to it."""
        return {**os.environ, **self.environment}

    @property
    def file(self) -> str | None:
        """The file that is run, if there is one that can be."""
        first = self.command[0]
        if os.sep in first:
            return shutil.which(str(self.folder.absolute() / first))
        found = shutil.which(first, path=self.whole_environment.get("PATH", os.defpath))
        return None if found is None else str(Path(found).absolute())


def why_not_startable(program: Program) -> str | None:
    """Return why a program cannot be started, as far as can be seen without starting it, or `None`.

    >>> why_not_startable(Program("a", ("no-such-program",), Path("/")))
    "cannot be started: there is no program 'no-such-program' in PATH"
    """
    if not program.folder.is_dir():
        return not_started("folder", errno.ENOENT, program)
    if program.file is not None:
        return None
    first = program.command[0]
    there = os.sep in first and (program.folder / first).exists()
    return not_started("program", errno.EACCES if there else errno.ENOENT, program)


def not_started(step: str, number: int, program: Program) -> str:
    """Say why a program was not started: its `folder`, its `place` or the `program` failed with a number of `errno`."""
    first = program.command[0]
    why = os.strerror(number)
    if step == "place":
        return f"cannot be pinned to its processors ({why}); we may not use them, see 'taskset -p $$'"
    if step == "folder":
        words = f"no folder '{program.folder}' to run in ({why})"
    elif number == errno.EACCES:
        words = f"'{first}' is not a program that we may run ({why}); chmod +x may help"
    elif number == errno.ENOEXEC:
        words = f"'{first}' is not a program ({why}); a script needs #! in its first line"
    elif number == errno.ENOENT and os.sep not in first:
        words = f"there is no program '{first}' in PATH"
    elif number == errno.ENOENT:
        words = f"no file '{first}', or no such program as its first line names, in '{program.folder}'"
    else:
        words = f"'{first}' ({why})"
    return f"cannot be started: {words}"


def how_it_ended(status: int, errors: str) -> str | None:
    r"""Say how a program failed, or `None` if it ended well.

    The status is its exit code, or the negative number of the signal that ended it; errors are the end of its stderr.

    >>> how_it_ended(3, "reading\nno such input\n"), how_it_ended(-11, ""), how_it_ended(0, "a warning")
    ('ended with exit code 3: no such input', 'was ended by SIGSEGV', None)
    """
    if status == 0:
        return None
    line = last_line(errors)
    if status < 0:
        words = f"was ended by {_signal_name(-status)}"
    elif status > SHELL_SIGNAL and _signal_name(status - SHELL_SIGNAL).startswith("SIG"):
        words = f"ended with exit code {status}, by which a shell reports {_signal_name(status - SHELL_SIGNAL)}"
    else:
        words = f"ended with exit code {status}"
    return f"{words}: {line}" if line else words


def last_line(errors: str) -> str:
    r"""Return the last line that says something, without what would steer a terminal, and not too long.

    >>> last_line("first\n\x1b[31mlast\x1b[0m\n\n")
    '[31mlast[0m'
    """
    lines = ["".join(filter(str.isprintable, line)).strip() for line in errors.splitlines()]
    last = next((line for line in reversed(lines) if line), "")
    return last if len(last) <= LONGEST_LINE else f"{last[:LONGEST_LINE]}..."


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def end_group(process: subprocess.Popen[bytes], *, grace_seconds: float = GRACE_SECONDS) -> None:
    """End a process that has a session of its own, and its group, and wait for it; applications have a supervisor."""
    _signal_group(process.pid, signal.SIGTERM)
    try:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(grace_seconds)
    finally:
        _signal_group(process.pid, signal.SIGKILL)  # also those of its group that outlive it
        process.wait()


def _signal_group(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):  # all gone, or not ours to end
        os.killpg(group, number)


# Run a program, alone or beside corunners, each pinned to its place; report when it began and ended.
#
#    again      corunners are started first, and again whenever they end, until the measured program has ended:
#               it runs under a load that stays the same
#    not again  all are started at once, and the time is that until the last has ended: a batch
#
# A corunner that fails makes the run fail: its load was missing. So does one so short that, after 100 runs or more, a
# third of their time went into starting it: its starts would be the load. A pause between its runs would be a load
# that was not specified.
#
# All programs of a run are below a supervisor (`supervisor.py`), and nothing of them is left when `corun` returns or
# raises; if our own process is killed, the supervisor ends them. What a program leaves behind is ended too. Out of
# reach is what another service starts for it: containers of a daemon, processes on other machines.
LOOK_SECONDS: Final = 0.1  # between two looks at the token
SUPERVISOR_SECONDS: Final = 20.0  # for a supervisor to end; it needs less than 12
PACKAGES: Final = str(Path(__file__).parents[2])
SUPERVISOR: Final = "import sys; sys.path.append(sys.argv[1]); from lpsched.measure.supervisor import main; main()"


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended; `begin` and `end` by `time.monotonic`, `None` if the run failed."""

    begin: float | None = None
    end: float | None = None  # of the measured program; in a batch, of the last one
    restarts: int = 0  # how often a corunner was started again
    failure: str | None = None  # why there is no time, in words
    errors: str = ""  # the end of what the measured program printed to stderr
    left_behind: int = 0  # processes that a program left running and we ended: if they do its work, the time is not its

    @property
    def seconds(self) -> float | None:
        """From begin to end; `None` if the run failed."""
        return None if self.begin is None or self.end is None else self.end - self.begin


def corun(  # noqa: C901, PLR0913 - options, checks, and one loop over the messages
    measured: Program,
    corunners: Sequence[Program],
    places: Sequence[frozenset[int]],
    cancel: CancelToken,
    *,
    again: bool,
    wrap: Callable[[tuple[str, ...]], tuple[str, ...]] | None = None,
    on_start: Callable[[], object] = lambda: None,
    on_end: Callable[[], object] = lambda: None,
) -> Ended | None:
    """Run a program once, on the first place, and corunners on the next ones.

    Places are the numbers of their logical processors; two may be the same. `again`: corunners are started again
    until the measured program has ended; else all run once. `wrap` makes of the measured command one that runs it and
    counts something. `on_start` is called when corunners run, just before the measured program is started; `on_end`
    as soon as the run has ended well. A failed run has ended, too; `None` if the token expired first.
    """
    if sys.platform != "linux":
        raise MeasureError(f"applications can be measured on Linux only, and this is {sys.platform}")
    programs = (measured, *corunners)
    if len(places) < len(programs):
        raise MeasureError(f"{len(programs)} programs need as many places, and there are {len(places)}")
    for index, program in enumerate(programs):
        if why := why_not_startable(program):
            return Ended(failure=_named(index, program, why))
    if wrap is not None:
        programs = (replace(measured, command=wrap(measured.command)), *corunners)
    ended: Ended | None = None
    with _Supervisor(_job(programs, places, again=again)) as supervisor:
        while (message := supervisor.listen(cancel if ended is None else None)) is not None:
            if message["event"] == "ready":
                on_start()
                supervisor.send(b"go\n")
            elif message["event"] == "gone":
                if ended is None:  # ended from outside
                    raise supervisor.lost()
                if left := ", ".join(map(str, message["left"])):
                    names = ", ".join(dict.fromkeys(program.name for program in programs))
                    raise MeasureError(
                        f"{len(message['left'])} processes started by {names} could not be ended (process ids {left}); "
                        "they would disturb what is measured next: end them first"
                    )
                return replace(ended, restarts=message["restarts"], left_behind=message["left_behind"])
            elif "failed" in message:
                errors = message["failed"]["errors"] if message["failed"]["index"] == 0 else ""
                ended = Ended(failure=_failure(programs, **message["failed"]), errors=errors)
            else:
                on_end()
                ended = Ended(message["begin"], message["end"], errors=message["errors"])
    return None


class _Supervisor:
    """A process that supervises one job; it ends, and everything below it, when this is left."""

    def __init__(self, job: Job) -> None:
        self._job = json.dumps(job).encode() + b"\n"
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own program
                [sys.executable, "-I", "-S", "-c", SUPERVISOR, PACKAGES],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,  # or Ctrl-C would reach it
            )
        except OSError as error:
            raise MeasureError(f"no process can be started to watch over the applications ({error})") from error
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._stdin, self._stdout, self._stderr = self._process.stdin, self._process.stdout, self._process.stderr
        self._lines: list[bytes] = []
        self._part = b""

    def __enter__(self) -> Self:
        self.send(self._job)
        return self

    def __exit__(self, *_: object) -> None:
        self._stdin.close()  # which ends it
        try:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(SUPERVISOR_SECONDS)
        finally:
            self._stdout.close()
            self._stderr.close()

    def send(self, line: bytes) -> None:
        """Send a line to the supervisor."""
        left = memoryview(line)
        with contextlib.suppress(BrokenPipeError):  # it is lost, which `listen` reports
            while left:
                left = left[self._stdin.write(left) or 0 :]

    def listen(self, cancel: CancelToken | None) -> dict[str, Any] | None:
        """Wait for the next message of the supervisor; `None` if the token expired first."""
        pipe = self._stdout.fileno()
        while not self._lines:
            if cancel is not None and cancel.expired():
                return None
            left = None if cancel is None else cancel.remaining()
            seconds = LOOK_SECONDS if left is None else min(LOOK_SECONDS, left)
            if select.select([pipe], [], [], seconds)[0]:
                some = os.read(pipe, 65536)
                if not some:
                    raise self.lost()
                *self._lines, self._part = (self._part + some).split(b"\n")
        message: dict[str, Any] = json.loads(self._lines.pop(0))
        return message

    def lost(self) -> MeasureError:
        """Return the error of a supervisor that ended early."""
        why = last_line(self._stderr.read(65536).decode("utf-8", "replace"))
        how = how_it_ended(self._process.wait(), why) or "left"
        return MeasureError(f"the process that watches over the applications {how}; look for some left running")


def _job(programs: Sequence[Program], places: Sequence[frozenset[int]], *, again: bool) -> Job:
    return {
        "again": again,
        "programs": [
            {
                "file": program.file or program.command[0],
                "command": list(program.command),
                "folder": str(program.folder),
                "environment": program.whole_environment,
                "place": sorted(place),
                "timeout_seconds": program.timeout_seconds,
            }
            for program, place in zip(programs, places, strict=False)
        ],
    }


def _failure(programs: Sequence[Program], *, index: int, how: str, number: float, errors: str) -> str:
    program = programs[index]
    if how == "late":
        words = f"took longer than {number:g} seconds"
    elif how == "short":
        words = f"is so short that {number:.0%} of its time are starts, no constant load; give it more work"
    elif how == "ended":
        words = how_it_ended(int(number), errors) or ""
    else:
        words = not_started(how, int(number), program)
    return _named(index, program, words)


def _named(index: int, program: Program, words: str) -> str:
    return words if index == 0 else f"{program.name}, beside it, {words}"
