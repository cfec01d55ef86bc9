"""Energy meters: the interface, a thread that reads, the power of an idle machine, and RAPL."""

from __future__ import annotations

import re
import threading
import time
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

if TYPE_CHECKING:
    from lpsched.cancellation import CancelToken

# A meter runs while the bench does. Of any past interval it reports the energy, in joules, of everything that it
# covers; times are those of `time.monotonic`.
LOOK_SECONDS: Final = 0.05  # between two looks at the token
MOST_TROUBLES: Final = 20  # a meter that fails in ever new words does not fill memory


class Troubles(dict[str, None]):
    """Sentences, each of them once, in order, up to a number of them.

    >>> troubles = Troubles()
    >>> troubles.add("it is dark"); troubles.add("it is dark")
    >>> tuple(troubles)
    ('it is dark',)
    """

    def add(self, sentence: str) -> None:
        """Keep a sentence that is new."""
        if len(self) < MOST_TROUBLES:
            self[sentence] = None


def text_of(file: Path, otherwise: str) -> str:
    """Return the text of a file, or something else where it cannot be read."""
    try:
        return file.read_text().strip()
    except OSError:
        return otherwise


def idle_watts(meter: EnergyMeter, seconds: float, cancel: CancelToken) -> float | None:
    """Return the mean power of the next seconds, in which nothing runs; `None` if cancelled or not measured."""
    meter.mark()
    begin = time.monotonic()
    while (left := begin + seconds - time.monotonic()) > 0:
        if cancel.expired():
            return None
        time.sleep(min(left, LOOK_SECONDS))
    end = time.monotonic()
    meter.mark()
    joules = meter.joules(begin, end)
    return None if joules is None else joules / (end - begin)


class EnergyMeter(ABC):
    """Measures energy between its `__enter__` and its `__exit__`; a thread of its own reads meanwhile.

    `name` is written to the file of measurements; `covers` says what is measured, where the meter itself knows.
    """

    name: str
    covers: str = ""

    def __init__(self) -> None:
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._troubles = Troubles()

    @property
    def troubles(self) -> tuple[str, ...]:
        """What went wrong so far, each sentence once."""
        return tuple(self._troubles)

    @abstractmethod
    def mark(self) -> None:
        """Take a reading now, if the meter can be read at any time; for where an interval begins or ends."""

    @abstractmethod
    def joules(self, begin: float, end: float) -> float | None:
        """Return the energy from `begin` to `end`, both in the past, or `None` with a new trouble.

        Intervals come in the order of their beginnings: readings before the last one are dropped.
        """

    @abstractmethod
    def _run(self) -> None:
        """Read until the event is set."""

    def __enter__(self) -> Self:
        """Begin to measure."""
        self._stop.clear()
        self._thread = threading.Thread(target=self._run, name=self.name, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        """End the thread, and every process of the meter, and wait for it."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()


# Energy from RAPL: counters inside the processor, shown in `/sys/class/powercap` (Intel, and AMD alike).
#
# A zone counts energy since some moment, in `energy_uj`, and begins again at 0 after `max_energy_range_uj`.
# Summed up are all zones `package-*` and the zones `dram` below them. Left out is what would be counted twice:
# `core` and `uncore` are parts of a package, `psys` contains the packages (it counts only where there are
# none), and `intel-rapl-mmio` shows the same counters a second time.
#
# With readings c_0, c_1, ... of a zone of range R, taken often enough that it wraps at most once in between,
#
#     E(t_k) = E(t_{k-1}) + (c_k - c_{k-1}  mod  R),   linear between readings;   joules = E(end) - E(begin)
ROOT: Final = Path("/sys/class/powercap")
ZONE: Final = re.compile(r"intel-rapl:\d+(:\d+)*")  # not intel-rapl-mmio
MOST_MICROWATTS: Final = 5e9  # 5 kW in one zone: sets how often it is read, so that no wrap is missed
SLOWEST_POLL_SECONDS: Final = 10.0
PROBE_SECONDS: Final = 0.5  # a counter that stands still for that long does not count


@dataclass(frozen=True, slots=True)
class Zone:
    """A counter: `package-0`, `dram-0`."""

    name: str
    file: Path
    range_microjoules: int

    def microjoules(self) -> int:
        """Read it."""
        return int(self.file.read_text())


def find_zones(root: Path = ROOT, *, probe_seconds: float = PROBE_SECONDS) -> tuple[Zone, ...] | str:
    """Return the zones to sum up, or why there are none."""
    try:
        there = list(root.iterdir())
    except OSError:
        there = []
    folders = sorted(
        (folder for folder in there if ZONE.fullmatch(folder.name)),
        key=lambda folder: [int(number) for number in folder.name.split(":")[1:]],
    )
    names = {folder.name: text_of(folder / "name", "") for folder in folders}
    chosen = [
        (_label(folder.name, names), folder)
        for folder in folders
        if names[folder.name].startswith("package") or names[folder.name] == "dram"
    ] or [(names[folder.name], folder) for folder in folders if names[folder.name] == "psys"]
    if not chosen:
        return (
            f"there is no RAPL counter in {root}; it needs an Intel or AMD processor with the kernel module"
            " intel_rapl_msr, and in a virtual machine it is mostly missing"
        )
    try:
        zones = tuple(
            Zone(name, folder / "energy_uj", int((folder / "max_energy_range_uj").read_text()))
            for name, folder in chosen
        )
        first = [zone.microjoules() for zone in zones]
    except PermissionError as error:
        return (
            f"{error.filename} may be read by root alone; run as root, or let root say:"
            f" chmod a+r {root}/intel-rapl:*/energy_uj"
        )
    except (OSError, ValueError) as error:
        return f"a RAPL counter cannot be read: {error}"
    end = time.monotonic() + probe_seconds
    while [zone.microjoules() for zone in zones] == first:  # some virtual machines show one that stands still
        if time.monotonic() >= end:
            return f"the RAPL counters in {root} stand still"
        time.sleep(probe_seconds / 50)
    return zones


def _label(zone: str, names: dict[str, str]) -> str:
    """Name a zone: memory is called after its package.

    >>> _label("intel-rapl:1:0", {"intel-rapl:1": "package-1", "intel-rapl:1:0": "dram"})
    'dram-1'
    """
    package = names.get(zone.rpartition(":")[0], "")
    return names[zone] if names[zone] != "dram" else f"dram{package.removeprefix('package')}"


class RaplMeter(EnergyMeter):
    """All zones, read by a thread every `poll_seconds`, and at every mark."""

    def __init__(self, zones: Sequence[Zone], clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._zones, self._clock = tuple(zones), clock
        self._last: list[int] | None = None
        self._readings: list[tuple[float, int]] = []  # times, and microjoules since the first
        self._lock = threading.Lock()
        self.poll_seconds = min(SLOWEST_POLL_SECONDS, *(zone.range_microjoules / MOST_MICROWATTS for zone in zones))
        self.name = f"RAPL {', '.join(zone.name for zone in zones)}"
        memory = any(zone.name.startswith("dram") for zone in zones)
        self.covers = "processor packages and memory" if memory else "processor packages, without memory"
        if zones[0].name == "psys":
            self.covers = "the platform as the processor knows it"

    def __enter__(self) -> Self:
        """Begin to read."""
        self.mark()
        return super().__enter__()

    def mark(self) -> None:
        """Read all counters now; the reading counts for the middle of the time that it took."""
        with self._lock:
            before = self._clock()
            try:
                now = [zone.microjoules() for zone in self._zones]
            except (OSError, ValueError) as error:
                self._troubles.add(f"a RAPL counter cannot be read any more: {error}")
                self._last = None
                self._readings.clear()
                return
            after = self._clock()
            grown = 0
            if self._last is not None:
                grown = sum(
                    (new - old) % zone.range_microjoules
                    for zone, new, old in zip(self._zones, now, self._last, strict=True)
                )
            self._last = now
            total = self._readings[-1][1] if self._readings else 0
            self._readings.append(((before + after) / 2, total + grown))

    def joules(self, begin: float, end: float) -> float | None:
        """Return the energy of an interval; absent if the counters could not be read during it."""
        self.mark()
        with self._lock:
            first, last = self._at(begin), self._at(end)
            early = bisect_left(self._readings, (begin,))
            del self._readings[: max(0, early - 1)]
        return None if first is None or last is None else (last - first) * 1e-6

    def _at(self, seconds: float) -> float | None:
        k = bisect_left(self._readings, (seconds,))
        if k == len(self._readings):
            return None
        (after, above) = self._readings[k]
        if after == seconds:
            return above
        if k == 0:
            return None
        (before, below) = self._readings[k - 1]
        return below + (above - below) * (seconds - before) / (after - before)

    def _run(self) -> None:
        while not self._stop.wait(self.poll_seconds):
            self.mark()
