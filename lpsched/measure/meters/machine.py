"""Facts about this machine: processor, system, cores; cache misses by perf."""

from __future__ import annotations

import os
import platform
import re
import shutil
import signal
import sys
import tempfile
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from lpsched.measure.meters.energy import text_of
from lpsched.measure.meters.power import Answer, ask

# What machine this is: its processor, its system, and which logical processors share a core.
PROCESSORS: Final = Path("/sys/devices/system/cpu")
CPUINFO: Final = Path("/proc/cpuinfo")
NAMES: Final = ("model name", "cpu model", "cpu", "Hardware")  # x86, MIPS, POWER, old ARM
IS_LINUX: Final = sys.platform == "linux"


def processor_name(cpuinfo: Path = CPUINFO) -> str:
    """Return the name that the processor gives itself, else that of its architecture."""
    entries = _entries(cpuinfo)
    name = next((entries[key] for key in NAMES if entries.get(key)), "")
    return " ".join(name.split()) or platform.processor() or platform.machine() or "unknown"


def missed_level(cpuinfo: Path = CPUINFO, architecture: str = platform.machine()) -> str | None:
    """Return which cache perf's event `cache-misses` is about; `None`: the last level, as it should be.

    The kernel gives this event to what each processor has: on Intel last-level misses, on AMD those of the L2
    cache, on ARM and POWER those of the L1 data cache.
    """
    vendor = _entries(cpuinfo).get("vendor_id", "")
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


def _entries(cpuinfo: Path) -> dict[str, str]:
    """Return keys and values of the last processor."""
    try:
        lines = cpuinfo.read_text(errors="replace").split("\n")
    except OSError:
        return {}
    return {key.strip(): value.strip() for key, colon, value in (line.partition(":") for line in lines) if colon}


def allowed_processors() -> frozenset[int]:
    """Return the logical processors that this process may use; none where the system does not say."""
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


# Last-level cache misses and instructions of one program and its children, counted by `perf stat`.
#
#     perf stat -x ; -o FILE -e duration_time,cache-misses,instructions -- COMMAND
#
# writes a line per event: value; unit; event; time counted; percentage of the run that was counted; ...
# The value is `<not supported>` or `<not counted>` where there is none. Where the kernel's part may not be
# counted perf says so in the event, `instructions:u`. A processor with two kinds of cores has an event of each
# kind; a program is counted where it runs, so these are added up. What perf counted in a part of the run only
# it extrapolates: such a number is left out.
#
# perf takes some 40 ms to start; `duration_time` is the time of the program itself, to a few milliseconds. And
# perf ends with 0 when the program was ended by a signal; it only reports that as its last line on stderr,
# `NAME: Segmentation fault`. It ends with 0, too, when the program failed before perf began to wait for it: so
# how a program ended that ran for some milliseconds only is not known.
MISSES: Final = "cache-misses"
INSTRUCTIONS: Final = "instructions"
DURATION: Final = "duration_time"
SEPARATOR: Final = ";"  # a comma is a decimal point in some languages
FULL_PERCENT: Final = 99.0
PROBE_SECONDS: Final = 10.0
SHORTEST_SECONDS: Final = 0.02  # a program that ends earlier may have failed unseen
PARANOID: Final = Path("/proc/sys/kernel/perf_event_paranoid")
SHELL: Final = "/bin/sh"
LAST_LINES: Final = 5
COLUMNS: Final = 5
EVENTS: Final = (  # first as perf likes it, then what programs do without the kernel
    f"{DURATION},{MISSES},{INSTRUCTIONS}",
    f"{DURATION},{MISSES}:u,{INSTRUCTIONS}:u",
)


@dataclass(frozen=True, slots=True)
class Counts:
    """What perf counted of one run."""

    misses: float | None = None
    instructions: float | None = None
    seconds: float | None = None  # of the program, without the start of perf
    crash: str | None = None  # how the program failed, in words, where its exit code does not show it


@dataclass(frozen=True, slots=True)
class PerfCounters:
    """`perf stat` as it works here."""

    perf: str  # the program
    asked: str  # what it is asked for: `duration_time,cache-misses,instructions`
    events: tuple[str, ...]  # misses and instructions as perf named them in a trial, such as `cache-misses:u`
    level: str | None = None  # which cache is missed, if it is not the last level

    @property
    def name(self) -> str:
        """What it is.

        >>> PerfCounters("/usr/bin/perf", EVENTS[0], ("cache-misses:u", "instructions:u")).name
        'perf stat cache-misses:u / instructions:u'
        """
        level = "" if self.level is None else f" (misses of {self.level})"
        return f"perf stat {' / '.join(self.events)}{level}"

    def wrap(self, command: Sequence[str], file: Path) -> tuple[str, ...]:
        """Return a command that runs another and writes its counts to a file."""
        return (self.perf, "stat", "-x", SEPARATOR, "-o", str(file), "-e", self.asked, "--", *command)

    def read(self, file: Path, command: Sequence[str], errors: str = "") -> Counts:
        """Return what a run of `command` wrote, `errors` being the end of its stderr."""
        try:
            text = file.read_text(errors="replace")
        except OSError:
            text = ""
        nanoseconds = read_event(text, DURATION)
        seconds = None if nanoseconds is None else nanoseconds * 1e-9
        crash = crash_of(command[0], errors)
        if crash is None and seconds is not None and seconds < SHORTEST_SECONDS:
            crash = (
                f"ended after {seconds:.2g} s, too early for perf to see how: measure what takes longer, or"
                " count nothing (counters: none)"
            )
        return Counts(read_event(text, MISSES), read_event(text, INSTRUCTIONS), seconds, crash)


def read_event(text: str, event: str) -> float | None:
    r"""Return the sum of what perf counted of an event in full, or `None`.

    >>> text = "1500;;cpu_core/instructions/u;9;100.00;;\n<not counted>;;cpu_atom/instructions/u;0;0.00;;"
    >>> read_event(text, "instructions")
    1500.0
    """
    values = [
        float(value)
        for value, name, percent in _lines(text)
        if _is(event, name) and value.isdigit() and float(percent.replace(",", ".")) >= FULL_PERCENT
    ]
    return sum(values) if values else None


def crash_of(program: str, errors: str) -> str | None:
    r"""Say by which signal a program was ended, if perf says so at the end of stderr.

    >>> crash_of("./solver", "reading\n./solver: Segmentation fault\n")
    'was ended by SIGSEGV'
    """
    last = errors.rstrip().split("\n")[-LAST_LINES:]
    for number in signal.valid_signals():
        if f"{program}: {signal.strsignal(number)}" in last:
            return f"was ended by {signal.Signals(number).name}"
    return None


def find_counters(perf: str | None = None) -> PerfCounters | str:
    """Try `perf stat` with a program that does nothing, and return how it works here, or why it does not."""
    perf = perf or shutil.which("perf")
    if perf is None:
        return "the program perf is not installed (it comes in linux-tools, linux-perf or perf)"
    reasons = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "counts"
        for asked in EVENTS:
            answer = _try(perf, asked, ":", file)
            text = file.read_text() if file.exists() else ""
            counted = [read_event(text, event) for event in (DURATION, MISSES, INSTRUCTIONS)]
            if answer.failure is None and None not in counted:
                break
            reasons.append(_why(answer, text))
        else:
            return reasons[0]
        killed = _try(perf, asked, "sleep 0.2; kill -KILL $$", file)  # perf has to wait by then
        if killed.failure is None and crash_of(SHELL, killed.errors) is None:
            return "perf hides it when a program crashes, and does not say so in English; set LC_ALL=C"
    names = (name for event in (MISSES, INSTRUCTIONS) for _, name, _ in _lines(text) if _is(event, name))
    return PerfCounters(perf, asked, tuple(names))


def _try(perf: str, asked: str, script: str, file: Path) -> Answer:
    command = PerfCounters(perf, asked, ()).wrap((SHELL, "-c", script), file)
    return ask(command, limit_seconds=PROBE_SECONDS, plain=False)


def _why(answer: Answer, text: str) -> str:
    if answer.failure is not None and "paranoid" in answer.errors:
        return (
            f"the kernel does not permit perf to count ({PARANOID} is {text_of(PARANOID, 'not there')}); let root say:"
            " sysctl kernel.perf_event_paranoid=2, and in a container allow the capability PERFMON"
        )
    if answer.failure is not None:
        return f"perf stat does not work, {answer.failure}"
    missing = ", ".join(f"{name} {value}" for value, name, _ in _lines(text) if value.startswith("<"))
    return (
        f"perf stat says {missing or 'nothing'}; the processor does not show its counters here (virtual machines"
        " mostly do not), or they are in use"
    )


def _lines(text: str) -> list[tuple[str, str, str]]:
    """Return value, event and percentage of each line."""
    rows = (line.split(SEPARATOR) for line in text.split("\n"))
    return [(row[0], row[2], row[4]) for row in rows if len(row) >= COLUMNS]


def _is(event: str, name: str) -> bool:
    return re.fullmatch(rf"(?:\w+/)?{event}(?:[:/]\w*)?", name) is not None
