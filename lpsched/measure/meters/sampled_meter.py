"""What a command and a stream of watts have in common: a thread that collects samples of power.

The program runs beside the applications that are measured; so on processors that they do not use, where there
are any.
"""

from __future__ import annotations

import os
from abc import abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

from lpsched.measure.meters.energy import Troubles
from lpsched.measure.meters.own_thread import OwnThread
from lpsched.measure.meters.power_samples import PowerSamples

if TYPE_CHECKING:
    from collections.abc import Sequence

PATIENT_SECONDS: Final = 5.0
PATIENT_INTERVALS: Final = 3.0


def longest_gap_seconds(every_seconds: float) -> float:
    """Return how long a meter may be silent.

    >>> longest_gap_seconds(1.0), longest_gap_seconds(10.0)
    (5.0, 30.0)
    """
    return max(PATIENT_SECONDS, PATIENT_INTERVALS * every_seconds)


class SampledMeter(OwnThread):
    """A program that prints watts, and the samples of it.

    Parameters
    ----------
    command
        The program and its arguments.
    every_seconds
        How often watts come.
    folder
        Where it runs.
    processors
        Where it runs, so as not to disturb what is measured; empty: anywhere.
    """

    kind: ClassVar[str]
    covers: str = ""

    def __init__(
        self,
        command: Sequence[str],
        *,
        every_seconds: float,
        folder: Path | None = None,
        processors: frozenset[int] = frozenset(),
    ) -> None:
        super().__init__()
        self.command = tuple(command)
        self.every_seconds = every_seconds
        self.folder = folder
        self.samples = PowerSamples(longest_gap_seconds(every_seconds))
        self._processors = processors
        self._failures = Troubles()  # of the program, in its words
        self._gaps = Troubles()

    @property
    def name(self) -> str:
        """What it is, without arguments: a password may be among them."""
        return f"{self.kind} {Path(self.command[0]).name} every {self.every_seconds:g} s"

    @property
    def troubles(self) -> tuple[str, ...]:
        """What went wrong so far."""
        failed = (f"the power meter ({self.name}) failed: {reason}" for reason in self._failures.told)
        return (*failed, *self._gaps.told)

    def mark(self) -> None:
        """Do nothing: watts come when they come."""

    def joules(self, begin: float, end: float) -> float | None:
        """Return the energy of an interval by the samples inside it."""
        joules = self.samples.joules(begin, end)
        if joules is None and end - begin <= self.samples.longest_gap_seconds:
            self._gaps.add(
                "the energy of some runs is not known: they were shorter than the interval of the meter"
                f" ({self.name}), which told no power while they ran; measure longer runs, or ask"
                " more often (energy: every_seconds)"
            )
        elif joules is None:
            self._gaps.add(
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
