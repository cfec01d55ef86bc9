"""Asking a small program for numbers, and reading watts from what it prints."""

from __future__ import annotations

import math
import os
import re
import selectors
import subprocess
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lpsched.measure.corun import end_group, how_it_ended

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterable, Sequence
    from pathlib import Path


# Ask a small program something: it is started, told nothing, listened to for a while, and gone afterwards.
#
# Whatever the program does, the answer comes within the time limit and in bounded memory: it has a session of
# its own, and all of that is killed when it has ended, has talked too much, or has taken too long.
MOST_BYTES: Final = 65_536
CHUNK_BYTES: Final = 4096
LOOK_SECONDS: Final = 0.05  # between two looks at the clock while it is silent
NAP_SECONDS: Final = 0.005  # likewise when it has closed its pipes: its end is near
GRACE_SECONDS: Final = 0.1  # for one that is told to end, until it is killed
PLAIN: Final = {"LC_ALL": "C"}  # numbers with a decimal point, messages in English


@dataclass(frozen=True, slots=True)
class Answer:
    """What a program said."""

    output: str
    errors: str
    begin: float  # when it was started and when its answer was complete, by `time.monotonic`
    end: float
    failure: str | None = None  # why the answer is not to be used, in words; `None` if the program ended well


def ask(
    command: Sequence[str],
    *,
    limit_seconds: float,
    folder: Path | None = None,
    stop: threading.Event | None = None,
    plain: bool = True,
) -> Answer:
    """Run a program to its end and return what it printed; it is killed when `stop` is set.

    Children that it leaves behind are neither waited for, though they hold its pipes, nor left running.
    """
    begin = end = time.monotonic()
    try:
        process = start(command, folder=folder, errors=subprocess.PIPE, plain=plain)
    except OSError as error:
        return Answer("", "", begin, end, f"it cannot be started ({error.strerror or error})")
    assert process.stdout is not None
    assert process.stderr is not None
    printed = {process.stdout.fileno(): b"", process.stderr.fileno(): b""}
    failure = None
    try:
        with selectors.DefaultSelector() as selector:
            for pipe in printed:
                selector.register(pipe, selectors.EVENT_READ)
            while failure is None:
                ready = selector.select(LOOK_SECONDS if selector.get_map() else NAP_SECONDS)
                if not ready and has_ended(process):
                    break
                for key, _ in ready:
                    chunk = os.read(key.fd, MOST_BYTES)
                    printed[key.fd] += chunk
                    end = time.monotonic()
                    if not chunk:
                        selector.unregister(key.fd)
                failure = _excess(printed.values(), time.monotonic() - begin, limit_seconds, stop)
    finally:
        finish(process)
    output, errors = (text.decode(errors="replace") for text in printed.values())
    return Answer(output, errors, begin, end, failure or how_it_failed(process, errors))


def start(command: Sequence[str], *, folder: Path | None, errors: int, plain: bool = True) -> subprocess.Popen[bytes]:
    """Start a program in a session of its own, with nothing to read and its output in a pipe.

    `plain`: in English, with decimal points.
    """
    return subprocess.Popen(  # noqa: S603 - the user's own command
        command,
        cwd=folder,
        env={**os.environ, **(PLAIN if plain else {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=errors,
        bufsize=0,
        start_new_session=True,
    )


def has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Tell whether a program has ended, and leave its remains, so that its number cannot be another's yet."""
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def finish(process: subprocess.Popen[bytes]) -> None:
    """End a program and its group, as far as they are still there."""
    end_group(process, grace_seconds=GRACE_SECONDS)
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()


def how_it_failed(process: subprocess.Popen[bytes], errors: str = "") -> str | None:
    """Say how a program failed that is finished; `None` if it ended well."""
    how = how_it_ended(process.returncode, errors)
    return None if how is None else f"it {how}"


def _excess(printed: Iterable[bytes], seconds: float, limit_seconds: float, stop: threading.Event | None) -> str | None:
    if any(len(text) > MOST_BYTES for text in printed):
        return f"it printed more than {MOST_BYTES} bytes"
    if seconds > limit_seconds:
        return f"it took longer than {limit_seconds:g} s"
    return "it was stopped" if stop is not None and stop.is_set() else None


# Watts out of what a meter prints, or a sentence that says why not.
#
# One power has to stand there: `231.5`, `231.5 W`, `Power: 0.2315 kW`. Units are W, kW and mW (also written
# out); a number without a unit is in watts. Where one number alone has a unit of power the others are labels
# (`GPU 0: 65.3 W`). Everything else is refused: two powers, because nobody knows which one or whether their
# sum is meant; a decimal comma, because 1,234 W is read in two ways; units that are not of power.
UNITS: Final = {"w": 1.0, "watt": 1.0, "watts": 1.0, "kw": 1e3, "kilowatt": 1e3, "kilowatts": 1e3}
MILLI: Final = {"mW": 1e-3, "milliwatt": 1e-3, "milliwatts": 1e-3}  # MW would be a megawatt: case matters
NUMBER: Final = re.compile(
    r"(?<!\d:)(?<![\w.,'/+-])"  # neither the rest of a word, a number, a time nor a date
    r"(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)(?P<comma>[,']\d)?[ \t]*(?P<unit>°?[^\W\d_]+|%)?"
)
SHOWN: Final = 60  # characters of what was printed, in a message


def shown(text: str) -> str:
    """Return the beginning of a text, quoted, on one line.

    >>> shown("a" * 100)
    "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa ...'"
    """
    line = " ".join(text[: 10 * SHOWN].split())
    return repr(line if len(line) <= SHOWN else f"{line[:SHOWN]} ...")


def read_watts(text: str) -> float | str:
    r"""Return the power that a text tells, in watts, or what is wrong with it.

    >>> read_watts("GPU 0: 65.3 W")
    65.3
    >>> read_watts("65.3 W\n70.1 W")
    "it printed 2 powers, '65.3 W 70.1 W'; let it print one (add them up, if that is meant)"
    """
    found = list(NUMBER.finditer(text))
    if not found:
        return f"it printed no number, {shown(text)}; let it print watts, such as 231.5"
    if any(match["comma"] for match in found):
        return f"it printed a number with a comma, {shown(text)}; let it print a decimal point"
    with_unit = [match for match in found if _factor(match["unit"]) is not None]
    candidates = with_unit or found
    if len(candidates) > 1:
        many = f"{len(candidates)} {'powers' if with_unit else 'numbers'}"
        return f"it printed {many}, {shown(text)}; let it print one (add them up, if that is meant)"
    unit = candidates[0]["unit"]
    factor = 1.0 if unit is None else _factor(unit)
    if factor is None:
        return f"it printed {shown(text)}, and {unit!r} is not W, kW or mW; let it print watts"
    watts = float(candidates[0]["number"]) * factor
    if not math.isfinite(watts) or watts < 0:
        return f"it printed {shown(text)}, which is no power; let it print watts, 0 or more"
    return watts


def _factor(unit: str | None) -> float | None:
    return None if unit is None else MILLI.get(unit, UNITS.get(unit.lower()))
