"""Energy from a program of the user's that goes on and prints watts line by line, such as `nvidia-smi -l 1`.

A line counts for the moment when it arrives; of lines that arrive together only the last. That would be wrong
of a program that prints a line for each of several parts, so one that does so in its trial is refused;
likewise one that keeps its lines back until there are many, as most programs do into a pipe (`stdbuf -oL`
before it helps). Some lines before the first power may be anything. A program that ends is started again
after a pause.
"""

from __future__ import annotations

import os
import select
import subprocess
import time
from typing import Final

from lpsched.measure.meters.asking import CHUNK_BYTES, LOOK_SECONDS, finish, has_ended, how_it_failed, start
from lpsched.measure.meters.sampled_meter import SampledMeter
from lpsched.measure.meters.watts import read_watts

FIRST_SECONDS: Final = 10.0  # for the first line, besides the interval
PAUSE_SECONDS: Final = (
    0.02  # after lines: who talks without end is heard 50 times a second, and waits meanwhile
)
MOST_HEADINGS: Final = 3
BURSTS: Final = 2  # which tell in a trial whether lines come one by one


class WattStream(SampledMeter):
    """A program that prints watts line by line; parameters as in `SampledMeter`."""

    kind = "stream"
    _bursts: tuple[int, ...] = ()  # how many lines came together, the first two times
    _headings: int = 0  # lines before the first power

    def probe(self) -> float | str:
        """Start it until its first line is there, and return the watts, or what is wrong."""
        begin = time.monotonic()
        patience = self.every_seconds + FIRST_SECONDS
        with self:
            while time.monotonic() - begin < patience:
                told = self.samples.within(begin, time.monotonic())
                if told and 1 in self._bursts:
                    return told[0][1]
                if told and len(self._bursts) == BURSTS:
                    break
                if self._failures.told:
                    return self._failures.told[0]
                time.sleep(LOOK_SECONDS)
        if self._bursts:
            return (
                f"it printed {self._bursts[-1]} lines at once; let it print one power at a time: add them up,"
                " if they are of several parts, or put stdbuf -oL before it"
            )
        return f"it printed no line within {patience:g} s; stdbuf -oL before it may help"

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
