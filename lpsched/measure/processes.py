"""Programs that a bench runs, and how they end, in words.

A program is started without a shell, in its folder, with our environment and what is added to it. It reads
nothing, what it prints is thrown away, and of what it prints as errors the last bit is kept.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import signal
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

LONGEST_LINE: Final = 200  # characters of a program's last words in a message
GRACE_SECONDS: Final = 1.0  # between the polite signal and the other
SHELL_SIGNAL: Final = 128  # a shell adds the number of a signal to this


@dataclass(frozen=True, slots=True)
class Program:
    """What is started.

    Attributes
    ----------
    name
        What messages call it.
    command
        The program and its arguments. A program without a slash is looked up in `PATH`; one with a slash is
        relative to the folder.
    environment
        Added to our own.
    timeout_seconds
        A run that takes longer is killed.
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
    """Say why a program was not started.

    Parameters
    ----------
    step
        What was tried: to go into its `folder`, to pin it to its `place`, or to start the `program`.
    number
        The error's number, from `errno`.
    """
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

    Parameters
    ----------
    status
        Its exit code, or the negative number of the signal that ended it.
    errors
        The end of what it printed to stderr.

    Examples
    --------
    >>> how_it_ended(3, "reading\nno such input\n"), how_it_ended(-11, ""), how_it_ended(0, "a warning")
    ('ended with exit code 3: no such input', 'was ended by SIGSEGV', None)
    """
    if status == 0:
        return None
    line = last_line(errors)
    if status < 0:
        words = f"was ended by {_signal_name(-status)}"
    elif status > SHELL_SIGNAL and _signal_name(status - SHELL_SIGNAL).startswith("SIG"):
        words = f"ended with exit code {status}, by which a shell tells {_signal_name(status - SHELL_SIGNAL)}"
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
    """End a process of ours that has a session of its own, and its group; wait until it is gone.

    This is for small programs that we trust more, such as a meter's; applications run below a keeper.
    """
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
