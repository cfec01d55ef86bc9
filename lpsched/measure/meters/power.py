"""Power by programs of the user's: asking one, watts in what it prints, and energy from samples of power."""

from __future__ import annotations

import math
import os
import re
import select
import selectors
import subprocess
import threading
import time
from abc import abstractmethod
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import ClassVar, Final

from lpsched.measure.corun import end_group, how_it_ended
from lpsched.measure.meters.energy import EnergyMeter, Troubles

# Run a small program and read what it prints. Whatever it does, the answer comes within the time limit and in bounded
# memory: it has a session of its own, which is killed when it has ended, printed too much, or taken too long.
MOST_BYTES: Final = 65_536
CHUNK_BYTES: Final = 4096
LOOK_SECONDS: Final = 0.05  # between two looks at the clock while it is silent
NAP_SECONDS: Final = 0.005  # likewise when it has closed its pipes: its end is near
GRACE_SECONDS: Final = 0.1  # between SIGTERM and SIGKILL
PLAIN: Final = {"LC_ALL": "C"}  # numbers with a decimal point, messages in English


@dataclass(frozen=True, slots=True)
class Answer:
    """What a program printed."""

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
                if any(len(text) > MOST_BYTES for text in printed.values()):
                    failure = f"it printed more than {MOST_BYTES} bytes"
                elif time.monotonic() - begin > limit_seconds:
                    failure = f"it took longer than {limit_seconds:g} s"
                elif stop is not None and stop.is_set():
                    failure = "it was stopped"
    finally:
        finish(process)
    output, errors = (text.decode(errors="replace") for text in printed.values())
    return Answer(output, errors, begin, end, failure or how_it_failed(process, errors))


def start(command: Sequence[str], *, folder: Path | None, errors: int, plain: bool = True) -> subprocess.Popen[bytes]:
    """Start a program in its own session, without input, its output in a pipe; `plain`: English, decimal points."""
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
    """Return whether a program has ended, without reaping it, so that its process id is not used again yet."""
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


# Watts out of what a meter prints, or a sentence that says why not.
#
# One power has to stand there: `231.5`, `231.5 W`, `Power: 0.2315 kW`. Units are W, kW and mW (also written
# out); a number without a unit is in watts. Where one number alone has a unit of power the others are labels
# (`GPU 0: 65.3 W`). Everything else is rejected: two powers, because it is not clear which one or whether
# their sum is meant; a decimal comma, because 1,234 W is read in two ways; units that are not of power.
UNITS: Final = {"w": 1.0, "watt": 1.0, "watts": 1.0, "kw": 1e3, "kilowatt": 1e3, "kilowatts": 1e3}
MILLI: Final = {"mW": 1e-3, "milliwatt": 1e-3, "milliwatts": 1e-3}  # MW would be a megawatt: case matters
NUMBER: Final = re.compile(
    r"(?<!\d:)(?<![\w.,'/+-])"  # neither the rest of a word, a number, a time nor a date
    r"(?P<number>[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?)(?P<comma>[,']\d)?[ \t]*(?P<unit>°?[^\W\d_]+|%)?"
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
    r"""Return the power in a text, in watts, or what is wrong with it.

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


# Energy from samples of power.
#
# Samples (t_k, p_k), watts p_k at time t_k. Of an interval [b, e] only those inside count, t_1 < ... < t_n:
# one before or after it saw the machine do something else. Between them power is taken as linear, before the
# first and after the last as constant:
#
#     joules = p_1 (t_1 - b)  +  sum_k (p_k + p_{k+1}) / 2 * (t_{k+1} - t_k)  +  p_n (e - t_n)
#
# So an application of constant power is measured without error, wherever the samples lie. Absent where there
# is no sample inside, or where the meter was silent for longer than it may be: then any number is a guess.
class PowerSamples:
    """Samples as they come, in the order of time; one thread may add while another asks.

    Within an interval the meter may be silent for up to `longest_gap_seconds`.

    >>> samples = PowerSamples(longest_gap_seconds=5.0)
    >>> samples.add(1.0, 100.0)
    >>> samples.add(2.0, 200.0)
    >>> samples.joules(0.0, 3.0)  # 100 W for 1 s, 150 W on average for 1 s, 200 W for 1 s
    450.0
    """

    def __init__(self, longest_gap_seconds: float) -> None:
        self.longest_gap_seconds = longest_gap_seconds
        self._samples: deque[tuple[float, float]] = deque()
        self._lock = threading.Lock()

    def add(self, seconds: float, watts: float) -> None:
        """Keep a sample; one that is no later than the last is left out."""
        with self._lock:
            if not self._samples or seconds > self._samples[-1][0]:
                self._samples.append((seconds, watts))

    def within(self, begin: float, end: float) -> list[tuple[float, float]]:
        """Return the samples of an interval, and forget those before it."""
        with self._lock:
            while self._samples and self._samples[0][0] < begin:
                self._samples.popleft()
            return [sample for sample in self._samples if sample[0] <= end]

    def joules(self, begin: float, end: float) -> float | None:
        """Return the energy of an interval by the formula above, or `None`."""
        inside = self.within(begin, end)
        if not inside:
            return None
        (first, first_watts), (last, last_watts) = inside[0], inside[-1]
        times = [begin, *(at for at, _ in inside), end]
        if max(after - before for before, after in pairwise(times)) > self.longest_gap_seconds:
            return None
        between = sum((p + q) / 2 * (u - t) for (t, p), (u, q) in pairwise(inside))
        return first_watts * (first - begin) + between + last_watts * (end - last)


# What a command and a stream of watts have in common: a thread that collects samples of power.
#
# The program runs beside the applications that are measured; so on processors that they do not use, where
# there are any.
LEAST_GAP_SECONDS: Final = 5.0  # a meter may be silent for that long, ...
GAP_INTERVALS: Final = 3.0  # ... or for that many of its intervals, if that is longer


class SampledMeter(EnergyMeter):
    """A program that prints watts every `every_seconds`, and its samples.

    It runs in `folder`, and on `processors`, so as not to disturb what is measured; empty: anywhere.
    """

    kind: ClassVar[str]

    def __init__(
        self,
        command: Sequence[str],
        *,
        every_seconds: float,
        folder: Path | None = None,
        processors: frozenset[int] = frozenset(),
    ) -> None:
        super().__init__()
        self.command, self.every_seconds, self.folder = tuple(command), every_seconds, folder
        self.name = f"{self.kind} {Path(command[0]).name} every {every_seconds:g} s"  # no arguments: perhaps a password
        self.samples = PowerSamples(max(LEAST_GAP_SECONDS, GAP_INTERVALS * every_seconds))
        self._processors = processors
        self._failures = Troubles()  # of the program, in its words

    @property
    def troubles(self) -> tuple[str, ...]:
        """What went wrong so far."""
        failed = (f"the power meter ({self.name}) failed: {reason}" for reason in self._failures)
        return (*failed, *self._troubles)

    def mark(self) -> None:
        """Do nothing: watts come when they come."""

    def joules(self, begin: float, end: float) -> float | None:
        """Return the energy of an interval by the samples inside it."""
        joules = self.samples.joules(begin, end)
        if joules is None and end - begin <= self.samples.longest_gap_seconds:
            self._troubles.add(
                "the energy of some runs is not known: they were shorter than the interval of the meter"
                f" ({self.name}), which reported no power while they ran; measure longer runs, or ask"
                " more often (energy: every_seconds)"
            )
        elif joules is None:
            self._troubles.add(
                f"the energy of some runs is not known: the meter ({self.name}) was silent for more than"
                f" {self.samples.longest_gap_seconds:g} s while they ran"
            )
        return joules

    def _fail(self, reason: str) -> None:
        if not self._stop.is_set():  # what is killed at the end did not fail
            self._failures.add(reason)

    def _run(self) -> None:
        try:
            if self._processors:  # of this thread alone, and of what it starts
                os.sched_setaffinity(0, self._processors)
            self._collect()
        except OSError as error:  # such as too many open files
            self._fail(f"it is not asked any more ({error})")

    @abstractmethod
    def probe(self) -> float | str:
        """Try it once, and return the watts, or what is wrong."""

    @abstractmethod
    def _collect(self) -> None: ...


# Energy from a program of the user's that prints the watts of this moment and ends: IPMI, a wall meter.
#
# It is called every `every_seconds` while the bench runs, and its answer counts for the middle of the call. A
# call that fails is a trouble, not an end: the next one may go well.
CALL_SECONDS: Final = 10.0  # the longest that one call may take


class WattCommand(SampledMeter):
    """A program that prints watts and ends, called again and again."""

    kind = "command"

    def probe(self) -> float | str:
        """Call it once, and return the watts, or what is wrong."""
        answer = ask(self.command, limit_seconds=CALL_SECONDS, folder=self.folder, stop=self._stop)
        watts = answer.failure or read_watts(answer.output)
        if isinstance(watts, float):
            self.samples.add((answer.begin + answer.end) / 2, watts)
        return watts

    def _collect(self) -> None:
        due = time.monotonic()
        while not self._stop.wait(max(0.0, due - time.monotonic())):
            watts = self.probe()
            if isinstance(watts, str):
                self._fail(watts)
            due = max(due + self.every_seconds, time.monotonic())


# Energy from a program of the user's that goes on and prints watts line by line, such as `nvidia-smi -l 1`.
#
# A line counts for the moment when it arrives; of lines that arrive together only the last. That would be wrong of a
# program that prints a line for each of several parts, so one that does so in its trial is rejected; likewise one that
# keeps its lines back until there are many, as most programs do into a pipe (`stdbuf -oL` before it helps). Some lines
# before the first power may be anything. A program that ends is started again after a pause.
FIRST_SECONDS: Final = 10.0  # for the first line, besides the interval
PAUSE_SECONDS: Final = 0.02  # after lines: endless output is read 50 times a second
MOST_HEADINGS: Final = 3
BURSTS: Final = 2  # that show in a trial whether lines come one by one


class WattStream(SampledMeter):
    """A program that prints watts line by line; parameters as in `SampledMeter`."""

    kind = "stream"
    _bursts: tuple[int, ...] = ()  # how many lines came together, the first two times
    _headings: int = 0  # lines before the first power

    def probe(self) -> float | str:
        """Start it until its first line is there, and return the watts, or what is wrong."""
        begin = time.monotonic()
        limit = self.every_seconds + FIRST_SECONDS
        with self:
            while time.monotonic() - begin < limit:
                found = self.samples.within(begin, time.monotonic())
                if found and 1 in self._bursts:
                    return found[0][1]
                if found and len(self._bursts) == BURSTS:
                    break
                if self._failures:
                    return next(iter(self._failures))
                time.sleep(LOOK_SECONDS)
        if self._bursts:
            return (
                f"it printed {self._bursts[-1]} lines at once; let it print one power at a time: add them up,"
                " if they are of several parts, or put stdbuf -oL before it"
            )
        return f"it printed no line within {limit:g} s; stdbuf -oL before it may help"

    def _collect(self) -> None:
        while not self._stop.is_set():
            self._fail(self._listen())
            self._stop.wait(self.every_seconds)

    def _listen(self) -> str:
        """Take lines until the program ends or has to, and say how it ended."""
        try:
            process = start(self.command, folder=self.folder, errors=subprocess.DEVNULL)
        except OSError as error:
            return f"it cannot be started ({error.strerror or error})"
        assert process.stdout is not None
        pipe, rest = process.stdout.fileno(), b""
        try:
            while not self._stop.is_set():
                if not select.select([pipe], [], [], LOOK_SECONDS)[0]:
                    if has_ended(process):  # though a child of it holds the pipe
                        break
                    continue
                chunk = os.read(pipe, CHUNK_BYTES)
                *lines, rest = (rest + chunk).split(b"\n")
                rest = rest[-CHUNK_BYTES:]
                self._take([line.decode(errors="replace") for line in lines if line.strip()])
                if not chunk:
                    break
                self._stop.wait(PAUSE_SECONDS if lines else 0.0)
        finally:
            finish(process)
        return how_it_failed(process) or "it ended"

    def _take(self, lines: list[str]) -> None:
        if not lines:
            return
        watts = read_watts(lines[-1])
        if isinstance(watts, float):
            if len(self._bursts) < BURSTS:
                self._bursts = (*self._bursts, len(lines))
            self.samples.add(time.monotonic(), watts)
        elif not self._bursts and self._headings < MOST_HEADINGS:
            self._headings += 1
        else:
            self._fail(watts)
