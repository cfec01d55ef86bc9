"""Facts about this machine: processor, system, cores, and clocks by cpufreq."""

from __future__ import annotations

import os
import platform
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from lpsched.measure.meters.energy import Troubles

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence


# What machine this is: its processor, its system, and which logical processors share a core.
PROCESSORS: Final = Path("/sys/devices/system/cpu")
CPUINFO: Final = Path("/proc/cpuinfo")
NAMES: Final = ("model name", "cpu model", "cpu", "Hardware")  # x86, MIPS, POWER, old ARM
IS_LINUX: Final = sys.platform == "linux"


def processor_name(cpuinfo: Path = CPUINFO) -> str:
    """Return the name that the processor gives itself, else that of its architecture."""
    said = _said(cpuinfo)
    told = next((said[name] for name in NAMES if said.get(name)), "")
    return " ".join(told.split()) or platform.processor() or platform.machine() or "unknown"


def missed_level(cpuinfo: Path = CPUINFO, architecture: str = platform.machine()) -> str | None:
    """Return which cache perf's event `cache-misses` is about; `None`: the last level, as it should be.

    The kernel gives this event to what each processor has: on Intel last-level misses, on AMD those of the L2
    cache, on ARM and POWER those of the L1 data cache.
    """
    vendor = _said(cpuinfo).get("vendor_id", "")
    if vendor == "GenuineIntel":
        return None
    if vendor in {"AuthenticAMD", "HygonGenuine"}:
        return "the L2 cache"
    return "the L1 data cache" if architecture.startswith(("aarch64", "arm", "ppc")) else "an unknown cache"


def system_name() -> str:
    """Return the operating system, its kernel and the architecture."""
    try:
        distribution = platform.freedesktop_os_release().get("PRETTY_NAME", "")
    except OSError:
        distribution = ""
    kernel = f"{platform.system()} {platform.release()} {platform.machine()}"
    return f"{distribution}, {kernel}" if distribution else kernel


def _said(cpuinfo: Path) -> dict[str, str]:
    """Return what is said of the last processor: key and value."""
    try:
        lines = cpuinfo.read_text(errors="replace").split("\n")
    except OSError:
        return {}
    return {key.strip(): value.strip() for key, colon, value in (line.partition(":") for line in lines) if colon}


def allowed_processors() -> frozenset[int]:
    """Return the logical processors that this process may use; none where the system does not tell."""
    return frozenset(os.sched_getaffinity(0)) if IS_LINUX else frozenset()


def read_list(text: str) -> tuple[int, ...]:
    r"""Read a list of processors as the kernel writes it.

    >>> read_list("0-2,8\n")
    (0, 1, 2, 8)
    """
    ends = [part.partition("-") for part in text.strip().split(",") if part]
    return tuple(n for first, dash, last in ends for n in range(int(first), int(last if dash else first) + 1))


def siblings_of(processor: int, root: Path = PROCESSORS) -> tuple[int, ...]:
    """Return the logical processors that share a core with this one, itself included."""
    try:
        return read_list((root / f"cpu{processor}" / "topology" / "thread_siblings_list").read_text())
    except (OSError, ValueError):
        return (processor,)


def physical_cores(processors: Collection[int], root: Path = PROCESSORS) -> tuple[tuple[int, ...], ...]:
    """Return these logical processors by core, in the order of the first of each."""
    cores: dict[int, list[int]] = {}
    for processor in sorted(processors):
        cores.setdefault(min(siblings_of(processor, root)), []).append(processor)
    return tuple(tuple(core) for core in cores.values())


# Clocks set by cpufreq, in `/sys/devices/system/cpu/cpuN/cpufreq`, and put back as they were.
#
# A processor is held at f, in kHz there, by f as its lowest and its highest frequency:
#
#     scaling_min_freq = scaling_max_freq = f
#
# The lowest may never be above the highest, not even for a moment; so on the way up the highest is written
# first, on the way down the lowest.
#
# Which f there are is in `scaling_available_frequencies`; a driver without it (intel_pstate) takes any
# between `cpuinfo_min_freq` and `cpuinfo_max_freq`.
NEAR_MHZ: Final = 1.0  # 3401 is not 3400: it stands for turbo in some drivers
NEAR_SHARE: Final = 0.01  # of what is read back: drivers round
LOWEST: Final = "scaling_min_freq"
HIGHEST: Final = "scaling_max_freq"


@dataclass(frozen=True, slots=True)
class Policy:
    """Processors that have one clock, and the folder of it."""

    folder: Path
    offered_khz: tuple[int, ...]  # empty: any between the two below
    slowest_khz: int
    fastest_khz: int

    def khz_of(self, mhz: float) -> int | None:
        """Return a clock as the driver writes it; `None` if it does not offer it."""
        if not self.offered_khz:
            khz = round(mhz * 1000)
            return khz if self.slowest_khz <= khz <= self.fastest_khz else None
        nearest = min(self.offered_khz, key=lambda khz: abs(khz - mhz * 1000))
        return nearest if abs(nearest - mhz * 1000) < NEAR_MHZ * 1000 else None

    def limits(self) -> tuple[int, int]:
        """Read the lowest and the highest clock allowed now."""
        return _khz(self.folder / LOWEST), _khz(self.folder / HIGHEST)

    def limit(self, lowest: int, highest: int) -> None:
        """Set the lowest and the highest clock."""
        order = ((HIGHEST, highest), (LOWEST, lowest))
        for file, khz in order if highest >= self.limits()[1] else reversed(order):
            (self.folder / file).write_text(str(khz))


class Clocks:
    """The clocks of some processors; between `__enter__` and `__exit__` they may be set.

    `frequencies_mhz` are, of those asked for, those that every one of the processors offers, fastest first.
    """

    def __init__(self, policies: Sequence[Policy], frequencies_mhz: Sequence[float], driver: str) -> None:
        self.frequencies_mhz = tuple(sorted(frequencies_mhz, reverse=True))
        self.name = f"cpufreq, {driver}"
        self._policies = tuple(policies)
        self._before: list[tuple[int, int]] | None = None
        self._troubles = Troubles()

    @property
    def troubles(self) -> tuple[str, ...]:
        """What went wrong so far."""
        return self._troubles.told

    def __enter__(self) -> Self:
        """Remember how everything is."""
        self._before = [policy.limits() for policy in self._policies]
        return self

    def __exit__(self, *error: object) -> None:
        """Put everything back."""
        self.set(None)

    def set(self, mhz: float | None) -> str | None:
        """Hold all processors at a clock, or give them back (`None`); return why that failed."""
        assert self._before is not None, "clocks are set between __enter__ and __exit__"
        failures = []
        for policy, before in zip(self._policies, self._before, strict=True):
            khz = None if mhz is None else policy.khz_of(mhz)
            wanted = before if khz is None else (khz, khz)
            try:
                if policy.limits() != wanted:
                    policy.limit(*wanted)
                found = policy.limits()
            except (OSError, ValueError) as error:
                why = getattr(error, "strerror", None) or error
                failures.append(f"the clock in {policy.folder} cannot be set: {why}")
                continue
            if any(abs(now - asked) > NEAR_SHARE * asked for now, asked in zip(found, wanted, strict=True)):
                failures.append(
                    f"{policy.folder} was set to {wanted[0] / 1000:g} to {wanted[1] / 1000:g} MHz and says"
                    f" {found[0] / 1000:g} to {found[1] / 1000:g} MHz"
                )
        for failure in failures:
            self._troubles.add(failure)
        return "; ".join(failures) or None


def find_clocks(
    processors: Collection[int], asked_mhz: Sequence[float], root: Path = PROCESSORS
) -> tuple[Clocks | None, tuple[str, ...]]:
    """Return what sets the clocks asked for, of these logical processors, and what is not possible.

    `processors` should hold all that share a core: a core follows the faster one.
    """
    try:
        folders = {(root / f"cpu{number}" / "cpufreq").resolve(): None for number in sorted(processors)}
        policies = [_policy(folder) for folder in folders]  # one for all processors that have one clock
    except FileNotFoundError as error:
        missing = Path(error.filename).parent
        return _none(f"there is no {missing}; the machine (often a virtual one) or its kernel has no cpufreq")
    except (OSError, ValueError) as error:
        return _none(str(error))
    for policy in policies:
        try:
            policy.limit(*policy.limits())  # writes what is there: nothing changes, but it tells whether one may
        except OSError as error:
            return _none(
                f"{policy.folder / HIGHEST} may not be written ({error.strerror or error}); run as root, or"
                f" let root make {LOWEST} and {HIGHEST} writable"
            )
    possible = [mhz for mhz in asked_mhz if all(policy.khz_of(mhz) is not None for policy in policies)]
    absent = tuple(
        f"{mhz:g} MHz cannot be set: cpufreq offers {_offer(policies)}" for mhz in asked_mhz if mhz not in possible
    )
    driver = text_of(policies[0].folder / "scaling_driver", "driver unknown")
    return (Clocks(policies, possible, driver) if possible else None), absent


def _none(why: str) -> tuple[None, tuple[str, ...]]:
    return None, (f"clocks cannot be set: {why}; everything is measured at the machine's own clock",)


def _policy(folder: Path) -> Policy:
    slowest, fastest = _khz(folder / "cpuinfo_min_freq"), _khz(folder / "cpuinfo_max_freq")
    offered = text_of(folder / "scaling_available_frequencies", "")
    return Policy(folder, tuple(int(khz) for khz in offered.split()), slowest, fastest)


def _offer(policies: Sequence[Policy]) -> str:
    """Name the clocks that every policy offers."""
    if not any(policy.offered_khz for policy in policies):
        slowest = max(policy.slowest_khz for policy in policies)
        fastest = min(policy.fastest_khz for policy in policies)
        return f"{slowest / 1000:g} to {fastest / 1000:g} MHz"
    offers = [set(policy.offered_khz) for policy in policies if policy.offered_khz]
    return ", ".join(f"{khz / 1000:g}" for khz in sorted(set.intersection(*offers), reverse=True)) + " MHz"


def _khz(file: Path) -> int:
    return int(file.read_text())


def text_of(file: Path, otherwise: str) -> str:
    """Return what a file says, or something else where it cannot be read."""
    try:
        return file.read_text().strip()
    except OSError:
        return otherwise
