"""An energy meter, its thread, and the power of an idle machine."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Final, Protocol, Self

if TYPE_CHECKING:
    from types import TracebackType

    from lpsched.cancellation import Watch


# An energy meter, and the power of a machine that does nothing.
#
# A meter runs while the bench does. Of any interval that lies behind it tells the energy, in joules, of
# everything that it sees; times are those of `time.monotonic`.
LOOK_SECONDS: Final = 0.05  # between two looks at the watch
MOST_TROUBLES: Final = 20  # a meter that fails in ever new words does not fill memory


class EnergyMeter(Protocol):
    """Something that tells energy, between its `__enter__` and its `__exit__`."""

    @property
    def name(self) -> str:
        """What it is, for the file of measurements."""

    @property
    def covers(self) -> str:
        """What it sees, where the meter itself knows; else empty."""

    @property
    def troubles(self) -> tuple[str, ...]:
        """What went wrong so far, each sentence once."""

    def __enter__(self) -> Self:
        """Begin to measure."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End every thread and process of the meter."""

    def mark(self) -> None:
        """Take a reading now, if the meter can be read at any time; for where an interval begins or ends."""

    def joules(self, begin: float, end: float) -> float | None:
        """Return the energy from `begin` to `end`, both in the past, or `None` with a new trouble.

        Intervals are asked in the order of their beginnings: what lies before the last one is forgotten.
        """


class Troubles:
    """Sentences, each of them once.

    >>> troubles = Troubles()
    >>> troubles.add("it is dark"); troubles.add("it is dark")
    >>> troubles.told
    ('it is dark',)
    """

    def __init__(self) -> None:
        self._told: dict[str, None] = {}

    def add(self, sentence: str) -> None:
        """Keep a sentence that is new, up to a number of them."""
        if len(self._told) < MOST_TROUBLES:
            self._told[sentence] = None

    @property
    def told(self) -> tuple[str, ...]:
        """All that were kept, in order."""
        return tuple(self._told)


def idle_watts(meter: EnergyMeter, seconds: float, watch: Watch) -> float | None:
    """Return the mean power of the next seconds, in which the bench does nothing.

    `None` if the watch is over before, or if the meter does not tell.
    """
    meter.mark()
    begin = time.monotonic()
    while (left := begin + seconds - time.monotonic()) > 0:
        if watch.is_over():
            return None
        time.sleep(min(left, LOOK_SECONDS))
    end = time.monotonic()
    meter.mark()
    joules = meter.joules(begin, end)
    return None if joules is None else joules / (end - begin)


# A meter that reads in a thread of its own, for as long as its `with` block lasts.
class OwnThread(ABC):
    """What reads in the background, and the event that ends it."""

    def __init__(self) -> None:
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    @abstractmethod
    def name(self) -> str:
        """What it is called."""

    @abstractmethod
    def _run(self) -> None:
        """Read until the event is set."""

    def __enter__(self) -> Self:
        """Begin to read."""
        self._stop.clear()
        self._thread = threading.Thread(target=self._run, name=self.name, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the thread, and wait for it."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
