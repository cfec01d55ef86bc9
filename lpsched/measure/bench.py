"""A bench: which applications to measure on this machine, alone and together, how often, with which meters."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

from lpsched.model.fields import FrozenDict, plain_hash

# A bench: which applications to measure on this machine, alone and together, how often, with which meters.
#
# This is what a bench file says; `bench_reading.py` reads it, and `measure/` runs it. The two companions are
# applications that come with lpsched, one bound by memory, one by computing: beside them an application shows
# how memory-intensive it is on a machine that does not let us count cache misses.
FORMAT: Final = "lpsched-bench/1"
MEMORY_COMPANION: Final = "memory-companion"
COMPUTE_COMPANION: Final = "compute-companion"
COMPANIONS: Final = (MEMORY_COMPANION, COMPUTE_COMPANION)  # names that no application may have
CLASS_BOUNDS: Final = (1e-5, 1e-3)  # misses per instruction: I below, II between, III from the last one up
SHARE_BOUNDS: Final = (0.1, 0.5)  # of the memory companion's own interference, where misses are not counted
TIMEOUT_SECONDS: Final = 3600.0
SHELL_SIGNS: Final = frozenset(("|", "||", "&", "&&", ";", "<", ">", ">>", "2>", "2>&1", "&>"))

EnergyKind = Literal["auto", "rapl", "command", "stream", "none"]


def _nothing() -> FrozenDict[str, str]:
    return FrozenDict({})


@dataclass(frozen=True, slots=True)
class Application:
    """A program whose runs are all alike: a task type of the bag to come.

    Attributes
    ----------
    command
        The program and its arguments; no shell reads it.
    count
        Tasks of this type in a bag.
    timeout_seconds
        A run that takes longer is killed, and told as failed.
    folder
        Where it runs, relative to the bench file; `None`: beside the bench file.
    environment
        Added to the bench's own.
    """

    name: str
    command: tuple[str, ...]
    count: int = 1
    timeout_seconds: float = TIMEOUT_SECONDS
    folder: str | None = None
    environment: FrozenDict[str, str] = field(default_factory=_nothing)


@dataclass(frozen=True, slots=True)
class Repeats:
    """How often each setting is run: until the mean is known well enough, or `most` times.

    Attributes
    ----------
    least, most
        Of measured runs; the first is at least 2, because one run has no spread.
    within
        Enough is when the confidence interval of the mean time is no wider than this share of it, each way.
    confidence
        Of that interval.
    warm_ups
        Runs of each application that are not measured, before all others.
    """

    least: int = 3
    most: int = 9
    within: float = 0.05
    confidence: float = 0.95
    warm_ups: int = 1


@dataclass(frozen=True, slots=True)
class EnergyChoice:
    """Where energy is read.

    Attributes
    ----------
    kind
        `auto`: RAPL where it can be read, else none; `command`: a program that prints the watts of this
        moment and ends; `stream`: one that goes on and prints them line by line.
    every_seconds
        Between two calls of the command.
    covers
        What the meter sees, in the user's words, such as "the whole node, at the outlet".
    idle_seconds
        How long the idle machine is measured, before all runs and after them.
    """

    kind: EnergyKind = "auto"
    command: tuple[str, ...] = ()
    every_seconds: float = 1.0
    covers: str = ""
    idle_seconds: float = 10.0


@dataclass(frozen=True, slots=True)
class Bench:
    """What a bench file says.

    Attributes
    ----------
    machine_type
        What the measured column is called in a bag; `--machine-type` says otherwise.
    cores
        The places where applications run, one each: the numbers of the logical processors of each place.
        Empty where the file just says how many.
    places
        How many there are, where the file just says that.
    frequencies_mhz
        Clocks to set, fastest first; empty: the machine's own.
    pairs
        Which two run together; `None`: every pair, each also with a copy of itself.
    groups
        Three or more that run together.
    batches
        Whether pairs and groups also run until all have ended, to see what sharing static power saves;
        only where energy is measured.
    class_bounds
        Misses per instruction at which a class of memory intensity ends and the next begins, ascending.
    share_bounds
        The same of the slowdown beside companions, as a share of the memory companion's own.
    limit_seconds
        Of the whole bench; what was measured by then counts.
    """

    name: str
    machine_type: str
    applications: tuple[Application, ...]
    places: int = 0
    cores: tuple[tuple[int, ...], ...] = ()
    frequencies_mhz: tuple[float, ...] = ()
    pairs: tuple[tuple[str, str], ...] | None = None
    groups: tuple[tuple[str, ...], ...] = ()
    batches: bool = True
    repeats: Repeats = Repeats()
    energy: EnergyChoice = EnergyChoice()
    counters: Literal["auto", "none"] = "auto"
    companions: Literal["auto", "always", "never"] = "auto"  # auto: where misses are not counted
    class_bounds: tuple[float, ...] = CLASS_BOUNDS
    share_bounds: tuple[float, ...] = SHARE_BOUNDS
    seed: int = 0
    limit_seconds: float | None = None
    description: str = ""

    @property
    def at_once(self) -> int:
        """How many applications can run at the same time, one in each place."""
        return len(self.cores) or self.places

    @property
    def content_hash(self) -> str:
        """The SHA-256, in hexadecimal, of everything that it says."""
        return plain_hash(self, FORMAT)

    def remarks(self) -> tuple[str, ...]:
        """Return what is legal but suspect."""
        remarks = []
        if self.at_once == 1 and self.pairs is None:
            remarks.append("one core: nothing can run together, so there will be no degradation")
        for application in self.applications:
            signs = [word for word in application.command[1:] if word in SHELL_SIGNS]
            if signs:
                remarks.append(
                    f"{application.name!r} is given {signs[0]!r} as a word: no shell reads a command; "
                    "write [sh, -c, '...'] for one"
                )
        return tuple(remarks)


# How much a bench asks for: settings by kind, and runs, before anything is known about the machine.
#
# With n applications, K clocks (1 where none are asked for), pairs P and groups G that run together:
#
#     alone        n K
#     pairs        2 K for each pair of two applications, K for a pair of copies
#     groups       K for each application of a group, copies once
#     batches      K for each pair and group; only where energy is measured
#     companions   3 for each application and 2 for themselves, at one clock; only on two places or more
#
# Companions run for sure where they are asked for, and perhaps where the machine decides. Each setting is run
# from `least` to `most` times, and each program `warm_ups` times before.
@dataclass(frozen=True, slots=True)
class BenchSize:
    """Settings by kind; `batches` and `companions` may turn out not to run."""

    alone: int
    pairs: int
    groups: int
    batches: int
    companions: int
    least_settings: int
    most_settings: int
    least_runs: int
    most_runs: int


def size_of(bench: Bench) -> BenchSize:
    """Return how much a bench asks for."""
    clocks = max(1, len(bench.frequencies_mhz))
    count = len(bench.applications)
    together = bench.at_once > 1
    pairs = distinct = 0
    if together and bench.pairs is None:
        pairs, distinct = count * count, count * (count + 1) // 2
    elif together and bench.pairs is not None:
        pairs, distinct = sum(len(set(pair)) for pair in bench.pairs), len(bench.pairs)
    groups = sum(len(set(group)) for group in bench.groups)
    wanted = bench.batches and bench.energy.kind != "none"
    batches = clocks * (distinct + len(bench.groups)) if wanted else 0
    companions = 3 * count + 2 if together and bench.companions != "never" else 0
    sure = clocks * (count + pairs + groups)
    least = sure + (batches if bench.energy.kind in {"command", "stream"} else 0)
    least += companions if bench.companions == "always" else 0
    most = sure + batches + companions
    return BenchSize(
        alone=clocks * count,
        pairs=clocks * pairs,
        groups=clocks * groups,
        batches=batches,
        companions=companions,
        least_settings=least,
        most_settings=most,
        least_runs=bench.repeats.least * least + bench.repeats.warm_ups * _programs(bench, sure=True),
        most_runs=bench.repeats.most * most + bench.repeats.warm_ups * _programs(bench, sure=False),
    )


def _programs(bench: Bench, *, sure: bool) -> int:
    """Return how many programs are warmed up, those that surely run or all that may."""
    companions = bench.at_once > 1 and bench.companions in (("always",) if sure else ("always", "auto"))
    return len(bench.applications) + (2 if companions else 0)
