"""The cells of Slurm's accounting: times, energy, counts, states, TRES, lists of nodes; and the energy of a job."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from itertools import product
from types import MappingProxyType
from typing import Final

from lpsched.io import limits

# The cells of Slurm's accounting: how `sacct` writes times, energy, nodes and states.
#     elapsed, limits   [days-]hours:minutes:seconds, or minutes:seconds; `ElapsedRaw` in seconds,
#                       `TimelimitRaw` in minutes; UNLIMITED and Partition_Limit say nothing
#     moments           2024-02-29T14:28:30, or seconds since 1970 (`SLURM_TIME_FORMAT=%s`); Unknown and None
#                       say nothing
#     energy            joules, with K, M, G, T or P for powers of 1,000; 0, and 2^53 or more (2^64 - 2 is how
#                       Slurm says that it does not know), mean that it was not measured
#     counts            of nodes and CPUs, with K, M or G for powers of 1,024 (`--noconvert` avoids them)
#     TRES              trackable resources such as cpu=8,mem=16G,node=1,gres/gpu=2,gres/gpu:a100=2: counts by name
#     nodes             a host list such as node[01-04,7],login; `None assigned` says nothing
#     state             COMPLETED, FAILED, `CANCELLED by 1000` ...; the first word counts
# An empty cell is likewise nothing. Each function returns `None` for nothing, and raises a `ValueError` for
# what it cannot read.
# Sources: the manual pages sacct(1), scontrol(1) and slurm.conf(5); Slurm's `src/sacct/print.c`.
NOTHING: Final = frozenset(
    ("", "unknown", "none", "unlimited", "partition_limit", "infinite", "n/a", "(null)", "none assigned")
)
LARGEST: Final = 2.0**53
MOST_NODES: Final = 1e9
NO_VALUE: Final = 2.0**32 - 2  # from here on, a number of 32 bits says that there is none, or no limit
DECIMAL: Final = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
BINARY: Final = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40, "P": 2**50}
COUNTS: Final = ("", "K", "M", "G")
FEW_NODES: Final = 1_000  # of one list, whose names are kept for the next job that has them
_SPAN: Final = re.compile(r"(?:(\d{1,9})-)?(?:(\d{1,9}):)?(\d{1,9}):(\d{1,2}(?:\.\d{1,9})?)", re.ASCII)
_AMOUNT: Final = re.compile(r"(\d{1,20}(?:\.\d{1,9})?)([KMGTP]?)", re.ASCII)
_WHOLE: Final = re.compile(r"\d{1,15}", re.ASCII)


def seconds_of(cell: str) -> float | None:
    """Return a span of time.

    >>> seconds_of("1-02:00:05"), seconds_of("01:30"), seconds_of("UNLIMITED")
    (93605.0, 90.0, None)
    """
    found = _SPAN.fullmatch(cell)
    if found is None:
        return _nothing(cell)
    days, hours, minutes, seconds = (float(part or 0) for part in found.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60 + seconds


def raw_seconds_of(cell: str) -> float | None:
    """Return a number of seconds."""
    return float(cell) if _WHOLE.fullmatch(cell) else _nothing(cell)


def elapsed_of(cell: str) -> float | None:
    """Return the seconds that a job ran; what Slurm writes for no value is none.

    >>> elapsed_of("90")
    90.0
    """
    seconds = raw_seconds_of(cell)
    if seconds is not None and seconds >= NO_VALUE:
        raise ValueError(cell)
    return seconds


def raw_minutes_of(cell: str) -> float | None:
    """Return a number of minutes, in seconds."""
    minutes = raw_seconds_of(cell)
    return None if minutes is None or minutes >= NO_VALUE else 60.0 * minutes


def moment_of(cell: str) -> float | None:
    """Return a moment in seconds; one without a zone counts as if it were in Greenwich.

    >>> moment_of("1970-01-02T00:00:01"), moment_of("86401"), moment_of("Unknown")
    (86401.0, 86401.0, None)
    """
    if _WHOLE.fullmatch(cell):
        return float(cell)
    if cell.lower() in NOTHING:
        return None
    moment = datetime.fromisoformat(cell)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def joules_of(cell: str) -> float | None:
    """Return an energy, `None` if it was not measured.

    >>> joules_of("101.63K"), joules_of("0"), joules_of("18446744073709551614"), joules_of("18446744073.71G")
    (101630.0, None, None, None)
    """
    found = _AMOUNT.fullmatch(cell)
    if found is None:
        return _nothing(cell)
    whole, _, fraction = found[1].partition(".")
    joules = int(whole + fraction) * DECIMAL[found[2]] / 10.0 ** len(fraction)  # 101.63K is 101,630 exactly
    return joules if 0 < joules < LARGEST else None


def nodes_of(cell: str) -> int | None:
    """Return a number of nodes or CPUs, `None` for 0: the job never had any.

    >>> nodes_of("4"), nodes_of("1.5K"), nodes_of("0")
    (4, 1536, None)
    """
    found = _AMOUNT.fullmatch(cell)
    if found is None or found[2] not in COUNTS:
        return _nothing(cell)
    nodes = float(found[1]) * BINARY[found[2]]
    if not nodes.is_integer() or nodes > MOST_NODES:
        raise ValueError(cell)
    return int(nodes) or None


def state_of(cell: str) -> str:
    """Return the state without what follows it.

    >>> state_of("CANCELLED by 1000"), state_of("OUT_OF_ME+")
    ('CANCELLED', 'OUT_OF_ME')
    """
    return (cell.split() or ["unknown"])[0].rstrip("+").upper()


@lru_cache(maxsize=65_536)  # few resources are asked for again and again
def tres_of(cell: str) -> Mapping[str, float]:
    """Return what a list of trackable resources counts, by name; memory in bytes.

    >>> dict(tres_of("cpu=8,gres/gpu=2,mem=1.5G,node=1"))
    {'cpu': 8.0, 'gres/gpu': 2.0, 'mem': 1610612736.0, 'node': 1.0}
    """
    if cell.lower() in NOTHING:
        return MappingProxyType({})
    counts: dict[str, float] = {}
    for word in cell.split(","):
        name, sign, amount = word.strip().lower().partition("=")
        found = _AMOUNT.fullmatch(amount.upper())
        if not (name and sign):
            raise ValueError(cell)
        if found is None:
            if name in READ_TRES or name.startswith(GPU_TYPE):
                raise ValueError(cell)
            continue  # a resource that is not read
        usual = "M" if name == MEMORY else ""
        count = float(found[1]) * BINARY[found[2] or usual]
        if count < LARGEST:  # 2^64 - 2 and - 1 are how Slurm says that it does not know
            counts[name] = count
    return MappingProxyType(counts)


MEMORY, GPU, GPU_TYPE = "mem", "gres/gpu", "gres/gpu:"
READ_TRES: Final = ("node", "cpu", MEMORY, GPU)


def count_of_tres(name: str, cell: str) -> int | None:
    """Return a count such as that of `cpu`, `None` if there is none.

    >>> count_of_tres("cpu", "cpu=8,node=1"), count_of_tres("gres/gpu", "cpu=8")
    (8, None)
    """
    return _whole(tres_of(cell).get(name, 0.0), cell)


@lru_cache(maxsize=65_536)
def gpus_of_tres(cell: str) -> int | None:
    """Return the GPUs, each counted once: `gres/gpu` counts those of all types that are named.

    >>> gpus_of_tres("gres/gpu=4,gres/gpu:a100=3,gres/gpu:v100=1"), gpus_of_tres("gres/gpu:a100=2")
    (4, 2)
    """
    counts = tres_of(cell)
    typed = sum(count for name, count in counts.items() if name.startswith(GPU_TYPE))
    return _whole(max(counts.get(GPU, 0.0), typed), cell)


def gpus_of_gres(cell: str) -> int | None:
    """Return the GPUs of a generic resource as nodes have it.

    >>> gpus_of_gres("gpu:a100:4(S:0,1),gpu:v100:2,nvme:1"), gpus_of_gres("gpu:2"), gpus_of_gres("(null)")
    (6, 2, None)
    """
    if cell.lower() in NOTHING:
        return None
    total = 0.0
    for word in re.sub(r"\([^()]*\)", "", cell).split(","):
        name, *rest = word.strip().split(":")
        if name.lower() == "gpu":
            found = _AMOUNT.fullmatch((rest or ["1"])[-1].upper())
            total += 1.0 if found is None else float(found[1]) * BINARY[found[2]]
    return _whole(total, cell)


def memory_of(cell: str, nodes: float, cpus: float) -> float | None:
    """Return the bytes that a job asked for: in all, or per node (16Gn) or CPU (4Gc) as Slurm before 21.08 wrote it.

    >>> memory_of("16G", 2, 8) / 2**30, memory_of("16Gn", 2, 8) / 2**30, memory_of("4Gc", 2, 8) / 2**30
    (16.0, 32.0, 32.0)
    """
    text = cell.strip()
    times = {"n": nodes, "c": cpus}.get(text[-1:], 1.0)
    found = _AMOUNT.fullmatch(text.rstrip("nc").upper())
    if found is None:
        return None
    amount = float(found[1]) * BINARY[found[2] or "M"] * times
    return amount if 0 < amount < LARGEST else None


def _whole(count: float, cell: str) -> int | None:
    if not count.is_integer() or count > MOST_NODES:
        raise ValueError(cell)
    return int(count) or None


_PART: Final = re.compile(r"([^\[\],]*)(?:\[([^\[\]]*)\])?")
_RANGE: Final = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?", re.ASCII)


def node_names(cell: str) -> tuple[str, ...]:
    """Return the names that a host list means, each once, in its order; nothing where no node is assigned.

    >>> node_names("n[08-10,3],login"), node_names("r[0-1]n[1-2]"), node_names("None assigned")
    (('n08', 'n09', 'n10', 'n3', 'login'), ('r0n1', 'r0n2', 'r1n1', 'r1n2'), ())
    """
    return _names(cell) if count_nodes(cell) <= FEW_NODES else _names.__wrapped__(cell)


@lru_cache(maxsize=65_536)
def count_nodes(cell: str) -> int:
    """Return how many names a host list has, without writing them out; raise a `ValueError` for one that is none.

    >>> count_nodes("n[08-10,3],login"), count_nodes("r[0-1]n[1-2]"), count_nodes("None assigned")
    (5, 4, 0)
    """
    count = 0
    for parts in _words(cell):
        each = 1
        for part in parts:
            each *= sum(high - low + 1 for low, high, _ in _ranges(part[2], cell))
            if count + each > limits.MOST_NODES:
                raise ValueError(cell)
        count += each
    return count


def _words(cell: str) -> Iterator[list[re.Match[str]]]:
    """Yield the parts of each word of a host list: some letters, and perhaps brackets after them."""
    if cell.lower() in NOTHING:
        return
    words: list[list[str]] = [[]]
    is_inside = False  # brackets, where commas are no ends of words
    for piece in cell.split(","):
        if not is_inside and words[-1]:
            words.append([])
        words[-1].append(piece)
        if "[" in piece or "]" in piece:
            is_inside = piece.rfind("[") > piece.rfind("]")
    for word in map(",".join, words):
        parts = [found for found in _PART.finditer(word.strip()) if found[0]]
        if not parts or "".join(found[0] for found in parts) != word.strip():
            raise ValueError(cell)
        yield parts


@lru_cache(maxsize=1024)
def _names(cell: str) -> tuple[str, ...]:
    names: dict[str, None] = {}
    for parts in _words(cell):
        choices = [
            [
                part[1] + (str(number).zfill(width) if width else "")
                for low, high, width in _ranges(part[2], cell)
                for number in range(low, high + 1)
            ]
            for part in parts
        ]
        names |= dict.fromkeys("".join(chosen) for chosen in product(*choices))
    return tuple(names)


def _ranges(brackets: str | None, cell: str) -> Iterator[tuple[int, int, int]]:
    """Yield the ranges of brackets, and how wide their numbers are: 08-10 is 08, 09, 10; one of width 0 without any."""
    if brackets is None:
        yield 0, 0, 0
        return
    for word in brackets.split(","):
        found = _RANGE.fullmatch(word.strip())
        if found is None or int(found[2] or found[1]) < int(found[1]):
            raise ValueError(cell)
        yield int(found[1]), int(found[2] or found[1]), len(found[1])


def _nothing(cell: str) -> int | None:
    """Return `None` for a cell without a value; raise a `ValueError` for others."""
    if cell.lower() not in NOTHING:
        raise ValueError(cell)
    return None


# The energy of a Slurm job, counted once. Slurm measures whole nodes, step by step, and the steps of a job overlap:
# `extern` is on all nodes of the job for all its time, `batch` (or `interactive`) on its first node for all its time,
# and the numbered steps run while `batch` waits for them. So, of what was measured, the first of these is taken: 1. the
# job's own line (of a job with `extern`, Slurm fills it from that step; else with the sum of all steps); 2. `extern`,
# which covers everything; 3. the larger of `batch` and the sum of the numbered steps: neither covers the other for
# sure. Even the first is the power of whole nodes: on a node that several jobs share, each is charged with all of it.
# Sources: sacct(1), ConsumedEnergy; Slurm's `src/slurmctld/step_mgr.c`.
EXTERN: Final = "extern"
SCRIPTS: Final = ("batch", "interactive")


@dataclass(slots=True)
class Energy:
    """What the lines of one job say, in joules; `None` if they say nothing.

    >>> job = Energy()
    >>> job.take("batch", 90.0); job.take("0", 40.0); job.take("1", 45.0)
    >>> job.joules
    90.0
    >>> job.take("extern", 92.0); job.joules
    92.0
    >>> job.take(None, 93.0); job.joules
    93.0
    """

    own: float | None = None
    extern: float | None = None
    script: float | None = None
    steps: float | None = None

    def take(self, step: str | None, joules: float | None) -> None:
        """Take a line's joules; the step is `None` for the job's own line."""
        if joules is None:
            return
        if step is None:
            self.own = joules
        elif step == EXTERN:
            self.extern = joules
        elif step in SCRIPTS:
            self.script = max(joules, self.script or 0.0)
        else:
            self.steps = (self.steps or 0.0) + joules

    @property
    def joules(self) -> float | None:
        """What the job consumed."""
        most = max((each for each in (self.script, self.steps) if each is not None), default=None)
        return next((each for each in (self.own, self.extern) if each is not None), most)
