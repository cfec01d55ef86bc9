"""Clocks set by cpufreq, put back as they were; also those that a killed run left behind."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from lpsched.measure.meters.energy import Troubles, text_of
from lpsched.measure.meters.machine import PROCESSORS
from lpsched.measure.meters.records import HIGHEST, LOWEST, Record, limits_of, restore_left, set_limits

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


class Clocks:
    """The clocks of some processors; between `__enter__` and `__exit__` they may be set.

    `frequencies_mhz` are, of those asked for, those that every one of the processors offers, fastest first.
    """

    def __init__(self, policies: Sequence[Policy], frequencies_mhz: Sequence[float], driver: str) -> None:
        self.frequencies_mhz = tuple(sorted(frequencies_mhz, reverse=True))
        self.name = f"cpufreq, {driver}"
        self._policies = tuple(policies)
        self._record: Record | None = None
        self._troubles = Troubles()

    @property
    def troubles(self) -> tuple[str, ...]:
        """What went wrong so far."""
        return tuple(self._troubles)

    def __enter__(self) -> Self:
        """Keep how everything is, also on disk (`records.py`)."""
        self._record = Record(policy.folder for policy in self._policies)
        return self

    def __exit__(self, *error: object) -> None:
        """Put everything back."""
        assert self._record is not None
        try:
            if self.set(None) is None:
                self._record.delete()
        finally:
            self._record.close()

    def set(self, mhz: float | None) -> str | None:
        """Hold all processors at a clock, or give them back (`None`); return why that failed."""
        assert self._record is not None, "clocks are set between __enter__ and __exit__"
        failures = []
        for policy in self._policies:
            khz = None if mhz is None else policy.khz_of(mhz)
            wanted = self._record.limits[policy.folder] if khz is None else (khz, khz)
            try:
                if limits_of(policy.folder) != wanted:
                    set_limits(policy.folder, *wanted)
                found = limits_of(policy.folder)
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


def policy_folders(processors: Collection[int], root: Path = PROCESSORS) -> tuple[Path, ...]:
    """Return the folders of the clocks of these logical processors, one for all that share a clock."""
    return tuple({(root / f"cpu{number}" / "cpufreq").resolve(): None for number in sorted(processors)})


def restore_clocks(processors: Collection[int], root: Path = PROCESSORS) -> tuple[str, ...]:
    """Put back what killed runs left set; say so. An error if another run holds the clocks of these processors."""
    return restore_left(policy_folders(processors, root))


def find_clocks(
    processors: Collection[int], wanted_mhz: Sequence[float], root: Path = PROCESSORS
) -> tuple[Clocks | None, tuple[str, ...]]:
    """Return what sets the clocks asked for, of these logical processors, and what is not possible.

    `processors` should hold all that share a core: a core follows the faster one.
    """
    try:
        policies = [_policy(folder) for folder in policy_folders(processors, root)]
    except FileNotFoundError as error:
        missing = Path(error.filename).parent
        return _none(f"there is no {missing}; the machine (often a virtual one) or its kernel has no cpufreq")
    except (OSError, ValueError) as error:
        return _none(str(error))
    for policy in policies:
        try:
            # writes what is there: nothing changes, but it shows whether writing is permitted
            set_limits(policy.folder, *limits_of(policy.folder))
        except OSError as error:
            return _none(
                f"{policy.folder / HIGHEST} may not be written ({error.strerror or error}); run as root, or"
                f" let root make {LOWEST} and {HIGHEST} writable"
            )
    possible = [mhz for mhz in wanted_mhz if all(policy.khz_of(mhz) is not None for policy in policies)]
    absent = tuple(
        f"{mhz:g} MHz cannot be set: cpufreq offers {_offer(policies)}" for mhz in wanted_mhz if mhz not in possible
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
