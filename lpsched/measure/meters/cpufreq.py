"""Clocks set by cpufreq, in `/sys/devices/system/cpu/cpuN/cpufreq`, and put back as they were.

A processor is held at f, in kHz there, by f as its lowest and its highest frequency:

    scaling_min_freq = scaling_max_freq = f

The lowest may never be above the highest, not even for a moment; so on the way up the highest is written
first, on the way down the lowest.

Which f there are is in `scaling_available_frequencies`; a driver without it (intel_pstate) takes any between
`cpuinfo_min_freq` and `cpuinfo_max_freq`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from lpsched.measure.meters.energy import Troubles

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from types import TracebackType

ROOT: Final = Path("/sys/devices/system/cpu")
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

    Attributes
    ----------
    frequencies_mhz
        Of those asked for, those that every one of the processors offers, fastest first.
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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
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
    processors: Collection[int], asked_mhz: Sequence[float], root: Path = ROOT
) -> tuple[Clocks | None, tuple[str, ...]]:
    """Return what sets the clocks asked for, of these logical processors, and what is not possible.

    `processors` should hold all that share a core: a core follows the faster one.
    """
    try:
        policies = [_policy(folder) for folder in _folders(processors, root)]
    except FileNotFoundError as error:
        missing = Path(error.filename).parent
        return _none(f"there is no {missing}; the machine (often a virtual one) or its kernel has no cpufreq")
    except (OSError, ValueError) as error:
        return _none(str(error))
    for policy in policies:
        try:
            policy.limit(
                *policy.limits()
            )  # writes what is there: nothing changes, but it tells whether one may
        except OSError as error:
            return _none(
                f"{policy.folder / HIGHEST} may not be written ({error.strerror or error}); run as root, or"
                f" let root make {LOWEST} and {HIGHEST} writable"
            )
    possible = [mhz for mhz in asked_mhz if all(policy.khz_of(mhz) is not None for policy in policies)]
    absent = tuple(
        f"{mhz:g} MHz cannot be set: cpufreq offers {_offer(policies)}"
        for mhz in asked_mhz
        if mhz not in possible
    )
    driver = _text(policies[0].folder / "scaling_driver", "driver unknown")
    return (Clocks(policies, possible, driver) if possible else None), absent


def _none(why: str) -> tuple[None, tuple[str, ...]]:
    return None, (f"clocks cannot be set: {why}; everything is measured at the machine's own clock",)


def _folders(processors: Iterable[int], root: Path) -> list[Path]:
    """Return the folders of some processors, one for all those that have one clock."""
    folders = {(root / f"cpu{number}" / "cpufreq").resolve(): None for number in sorted(processors)}
    return list(folders)


def _policy(folder: Path) -> Policy:
    slowest, fastest = _khz(folder / "cpuinfo_min_freq"), _khz(folder / "cpuinfo_max_freq")
    offered = _text(folder / "scaling_available_frequencies", "")
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


def _text(file: Path, otherwise: str) -> str:
    try:
        return file.read_text().strip()
    except OSError:
        return otherwise
