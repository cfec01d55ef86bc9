"""What machine this is: its processor, its system, and which logical processors share a core."""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection

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
    return {
        key.strip(): value.strip() for key, colon, value in (line.partition(":") for line in lines) if colon
    }


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
