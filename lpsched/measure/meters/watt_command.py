"""Energy from a program of the user's that prints the watts of this moment and ends: IPMI, a wall meter.

It is called every so many seconds while the bench runs, and its answer counts for the middle of the call. A
call that fails is a trouble, not an end: the next one may go well.
"""

from __future__ import annotations

import time
from typing import Final

from lpsched.measure.meters.asking import ask
from lpsched.measure.meters.sampled_meter import SampledMeter
from lpsched.measure.meters.watts import read_watts

CALL_SECONDS: Final = 10.0  # the longest that one call may take


class WattCommand(SampledMeter):
    """A program that prints watts and ends, called again and again."""

    kind = "command"

    def probe(self) -> float | str:
        """Call it once, and return the watts, or what is wrong."""
        return self._call()

    def _call(self) -> float | str:
        answer = ask(
            self.command,
            limit_seconds=CALL_SECONDS,
            folder=self.folder,
            stop=self._stop,
        )
        watts = answer.failure or read_watts(answer.output)
        if isinstance(watts, float):
            self.samples.add((answer.begin + answer.end) / 2, watts)
        return watts

    def _collect(self) -> None:
        due = time.monotonic()
        while not self._stop.wait(max(0.0, due - time.monotonic())):
            watts = self._call()
            if isinstance(watts, str):
                self._fail(watts)
            due = max(due + self.every_seconds, time.monotonic())
